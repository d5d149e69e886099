/* SPDX-License-Identifier: Apache-2.0 */
/* deadline.c: see deadline.h. */
#include "deadline.h"

#include <math.h>
#include <stddef.h>

#include "clock.h"
#include "error.h"

_Thread_local cbx_deadline *cbx_deadline_here = NULL;

/* A caller who wants to stop waits no longer than this. */
static const double PATIENCE = 0.1;

void cbx_deadline_begin(cbx_deadline *d, double limit, cbx_progress progress, void *user)
{
    double now = cbx_clock();
    *d = (cbx_deadline){.limit = limit,
                        .began = now,
                        .until = limit > 0 ? now + limit : INFINITY,
                        .progress = progress,
                        .user = user,
                        .text = "",
                        .told = now,
                        .before = cbx_deadline_here};
    cbx_deadline_here = d;
}

void cbx_deadline_end(cbx_deadline *d)
{
    cbx_deadline_here = d->before;
}

void cbx_deadline_begin_beside(cbx_deadline *d, const cbx_deadline *other)
{
    cbx_deadline_begin(d, 0, NULL, NULL);
    if (other)
        d->until = other->until - other->reserve - other->held;
}

static void stop(cbx_deadline *d)
{
    atomic_store_explicit(&d->is_up, true, memory_order_relaxed);
}

bool cbx_deadline_begin_alone(cbx_deadline *d)
{
    if (cbx_deadline_here)
        return false;
    cbx_deadline_begin(d, 0, NULL, NULL);
    return true;
}

void cbx_deadline_cancel(void)
{
    cbx_deadline *d = cbx_deadline_here;
    if (!d)
        return;
    d->cancelled = true;
    stop(d);
}

/* What the caller's function does is none of this call's work. */
static void ask(cbx_deadline *d)
{
    if (!d->progress || d->cancelled)
        return;
    cbx_deadline_here = NULL;
    d->cancelled = d->progress(d->user, d->done, d->total, d->text) != 0;
    cbx_deadline_here = d;
    if (d->cancelled)
        stop(d);
}

bool cbx_deadline_look(cbx_deadline *d)
{
    double now = cbx_clock();
    d->work = 0;
    if (d->told >= 0 && now - d->told > PATIENCE)
        ask(d);
    if (d->told < 0 || now - d->told > PATIENCE)
        d->told = now;
    if (now >= d->until - d->reserve - d->held)
        stop(d);
    return cbx_deadline_is_up(d);
}

bool cbx_deadline_tell(cbx_deadline *d, int64_t done, int64_t total, const char *text)
{
    d->done = done;
    d->total = total;
    d->text = text;
    d->told = -1;
    ask(d);
    return cbx_deadline_is_up(d);
}

void cbx_deadline_reserve(cbx_deadline *d, double seconds)
{
    d->reserve = fmin(seconds, d->limit / 2);
}

/* With what was kept until now. */
static void go_on(cbx_deadline *d)
{
    bool is_up = d->cancelled || cbx_clock() >= d->until - d->reserve;
    d->work = 0;
    atomic_store_explicit(&d->is_up, is_up, memory_order_relaxed);
}

void cbx_deadline_use_reserve(cbx_deadline *d)
{
    d->reserve = 0;
    go_on(d);
}

void cbx_deadline_hold(cbx_deadline *d, double share)
{
    double left = d->until - d->reserve - cbx_clock();
    d->held = d->limit > 0 && left > 0 ? share * left : 0;
}

bool cbx_deadline_release(cbx_deadline *d)
{
    bool ended = cbx_deadline_is_up(d);
    d->held = 0;
    if (ended)
        go_on(d);
    return ended;
}

bool cbx_deadline_has(cbx_deadline *d, double seconds)
{
    if (cbx_clock() + seconds > d->until)
        stop(d);
    return !cbx_deadline_is_up(d);
}

double cbx_deadline_elapsed(const cbx_deadline *d)
{
    return cbx_clock() - d->began;
}

cbx_status(cbx_fail_late)(cbx_error *err)
{
    return cbx_time_is_up() ? cbx_fail(err, CBX_CANCELLED, "out of time") : cbx_fail_memory(err);
}
