/* SPDX-License-Identifier: Apache-2.0 */
/* deadline.h: when a call must be over, and who may end it before.
 *
 * One object carries the time limit of an explanation and the caller's progress function
 * from the call to the answer. It belongs to the thread that runs the call: long loops,
 * wherever they are, count their work and look at it, and need not be handed it.
 *
 *     for (…; i < n; i++) {
 *         if (cbx_out_of_time(cost))   -- multiplications or so that the round takes
 *             break;
 *
 * The clock is read once in CBX_LOOK_EVERY of these. Once time is up it stays so, and every
 * loop that looks ends at once: what it leaves is not to be read. Who asks for a number
 * asks cbx_time_is_up() before he believes it; who builds something that is walked through
 * later fails with cbx_fail_late. */
#ifndef CBX_DEADLINE_H
#define CBX_DEADLINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "combinex.h"

/* Work between two looks at the clock: about a millisecond's. */
enum { CBX_LOOK_EVERY = 4000000 };

typedef struct cbx_deadline {
    double               limit; /* seconds, as asked for; 0: none */
    double               began;
    double               until;     /* on cbx_clock; INFINITY: no limit … */
    double               reserve;   /* … and so much earlier for work that others follow, */
    double               held;      /* and again so much */
    double               work;      /* since the clock was last read */
    atomic_bool          is_up;     /* by time or by the caller */
    bool                 cancelled; /* by the caller */
    cbx_progress         progress;  /* or NULL; with what it was last told, and when */
    void                *user;
    int64_t              done, total;
    const char          *text;
    double               told;   /* negative: since the clock was last read */
    struct cbx_deadline *before; /* the thread's own until this one began */
} cbx_deadline;

/* From now on the thread's own, for `limit` seconds (0: without end), until it ends. */
void cbx_deadline_begin(cbx_deadline *deadline, double limit, cbx_progress progress, void *user);
void cbx_deadline_end(cbx_deadline *deadline);

/* Of a thread that helps another one: time is up for it when it is for that one, whose deadline
 * this is (NULL: it has none). Nobody is told. */
void cbx_deadline_begin_beside(cbx_deadline *deadline, const cbx_deadline *other);

/* The same without end, where the thread has none, so that cbx_deadline_cancel has what to act on.
 * False: it has one, and this one must not be ended. */
bool cbx_deadline_begin_alone(cbx_deadline *deadline);

/* Somebody who is asked in the course of the thread's work cannot go on: it ends as if the caller
 * had stopped it. */
void cbx_deadline_cancel(void);

/* Reads the clock, and asks the caller if he has not been for a while. True: time is up. */
bool cbx_deadline_look(cbx_deadline *deadline);

/* Tells the caller where the work is. True: he has had enough, or time is up already. */
bool cbx_deadline_tell(cbx_deadline *deadline, int64_t done, int64_t total, const char *text);

/* Keeps the last `seconds`, or half of the limit if that is less, for what comes after the
 * work that looks from now on. */
void cbx_deadline_reserve(cbx_deadline *deadline, double seconds);

/* That work is over, on time or not: the reserve is there to be used. */
void cbx_deadline_use_reserve(cbx_deadline *deadline);

/* Keeps a share of what is left, the reserve apart, from the work up to cbx_deadline_release,
 * which tells whether that was ended by it; there is time again then. */
void cbx_deadline_hold(cbx_deadline *deadline, double share);
bool cbx_deadline_release(cbx_deadline *deadline);

/* Are so many seconds left? If not, time is up. */
bool cbx_deadline_has(cbx_deadline *deadline, double seconds);

/* Seconds since it began. */
double cbx_deadline_elapsed(const cbx_deadline *deadline);

extern _Thread_local cbx_deadline *cbx_deadline_here; /* NULL: none */

static inline bool cbx_deadline_is_up(const cbx_deadline *d)
{
    return d && atomic_load_explicit(&d->is_up, memory_order_relaxed);
}

/* Has the thread run out of time? Reads no clock. */
static inline bool cbx_time_is_up(void)
{
    return cbx_deadline_is_up(cbx_deadline_here);
}

/* So much work is about to be done: is there time for it? */
static inline bool cbx_out_of_time(double work)
{
    cbx_deadline *d = cbx_deadline_here;
    if (!d || cbx_deadline_is_up(d))
        return d;
    d->work += work;
    return d->work >= CBX_LOOK_EVERY && cbx_deadline_look(d);
}

/* The same for rounds so short that one in a thousand asks; k counts them. */
static inline bool cbx_out_of_time_at(int64_t k, double work)
{
    return (k & 1023) == 0 && cbx_out_of_time(1024 * work);
}

/* CBX_CANCELLED, for who has nothing to hand back; CBX_NO_MEMORY, where it is not time that ran
 * out. */
cbx_status cbx_fail_late(cbx_error *err);
#ifdef CBX_ANALYZE /* see error.h */
#define cbx_fail_late(err) (cbx_fail_late(err), CBX_CANCELLED)
#endif

#endif
