/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h: how many, and the loop that splits rows among them.
 *
 * A parallel loop gives each row to exactly one thread and never adds across
 * threads, so results do not depend on their number. */
#ifndef CBX_THREADS_H
#define CBX_THREADS_H

#include <stdint.h>

#include "deadline.h"

#ifdef _OPENMP
#include <omp.h>
static inline int cbx_threads_default(void)
{
    return omp_get_num_procs();
}
static inline int cbx_thread_number(void)
{
    return omp_get_thread_num();
}
#else
static inline int cbx_threads_default(void)
{
    return 1;
}
static inline int cbx_thread_number(void)
{
    return 0;
}
#endif

/* 0 means all cores. */
static inline int cbx_threads(int64_t asked)
{
    return asked > 0 ? (int)(asked > 1024 ? 1024 : asked) : cbx_threads_default();
}

#define CBX_PRAGMA(x) _Pragma(#x)

/* CBX_PARALLEL_FOR(threads, work, i, count, step, body): for i = 0, step, … below
 * count. Small loops stay on one thread: starting a team costs some ten
 * microseconds, and threads that wait for the next one spin. `work` counts
 * multiplications or so. The serial loop is written apart because even a team of
 * one is set up and torn down. When time is up the rest is left undone. */
#define CBX_SERIAL_FOR(work, i, count, step, ...)                      \
    do {                                                               \
        const double round_ = cbx_round_work((work), (count), (step)); \
        for (int64_t i = 0; i < (int64_t)(count); i += (step)) {       \
            if (cbx_out_of_time(round_))                               \
                break;                                                 \
            __VA_ARGS__;                                               \
        }                                                              \
    } while (0)

/* Of all rounds' work one's share. */
static inline double cbx_round_work(double work, int64_t count, int64_t step)
{
    return count > step ? work * (double)step / (double)count : work;
}

#ifdef _OPENMP
/* One thread of the team looks at the clock, the others at what it saw. */
#define CBX_PARALLEL_FOR(threads, work, i, count, step, ...)                            \
    do {                                                                                \
        if ((threads) > 1 && (double)(work) > 1e6) {                                    \
            const cbx_deadline *const deadline_ = cbx_deadline_here;                    \
            const double              round_ = cbx_round_work((work), (count), (step)); \
            CBX_PRAGMA(omp parallel for schedule(static) num_threads(threads))          \
            for (int64_t i = 0; i < (int64_t)(count); i += (step)) {                    \
                if (!cbx_out_of_time(round_) && !cbx_deadline_is_up(deadline_)) {       \
                    __VA_ARGS__;                                                        \
                }                                                                       \
            }                                                                           \
        } else {                                                                        \
            CBX_SERIAL_FOR(work, i, count, step, __VA_ARGS__);                          \
        }                                                                               \
    } while (0)
#else
#define CBX_PARALLEL_FOR(threads, work, i, count, step, ...) \
    do {                                                     \
        (void)(threads);                                     \
        CBX_SERIAL_FOR(work, i, count, step, __VA_ARGS__);   \
    } while (0)
#endif

#endif
