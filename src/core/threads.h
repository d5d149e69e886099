/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h: how many, and the loop that splits rows among them.
 *
 * A parallel loop gives each row to exactly one thread and never adds across
 * threads, so results do not depend on their number. */
#ifndef CBX_THREADS_H
#define CBX_THREADS_H

#include <stdint.h>

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
#define CBX_LOOP(i, count, step, ...)                        \
    for (int64_t i = 0; i < (int64_t)(count); i += (step)) { \
        __VA_ARGS__;                                         \
    }

/* CBX_PARALLEL_FOR(threads, work, i, count, step, body): for i = 0, step, … below
 * count. Small loops stay on one thread: starting a team costs some ten
 * microseconds, and threads that wait for the next one spin. `work` counts
 * multiplications or so. The serial loop is written apart because even a team of
 * one is set up and torn down. */
#ifdef _OPENMP
#define CBX_PARALLEL_FOR(threads, work, i, count, step, ...)                   \
    do {                                                                       \
        if ((threads) > 1 && (double)(work) > 1e6) {                           \
            CBX_PRAGMA(omp parallel for schedule(static) num_threads(threads)) \
            CBX_LOOP(i, count, step, __VA_ARGS__)                              \
        } else {                                                               \
            CBX_LOOP(i, count, step, __VA_ARGS__)                              \
        }                                                                      \
    } while (0)
#else
#define CBX_PARALLEL_FOR(threads, work, i, count, step, ...) \
    do {                                                     \
        (void)(threads), (void)(work);                       \
        CBX_LOOP(i, count, step, __VA_ARGS__)                \
    } while (0)
#endif

#endif
