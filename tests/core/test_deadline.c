/* SPDX-License-Identifier: Apache-2.0 */
/* A deadline by a clock that the test moves. */
#include "deadline.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

/* How many rounds of so much work a loop makes before it stops; `most`: it need not. */
static long rounds(double work, long most)
{
    long k = 0;
    while (k < most && !cbx_out_of_time(work))
        k++;
    return k;
}

TEST(without_a_deadline_there_is_always_time)
{
    CHECK(!cbx_time_is_up());
    CHECK_INT(rounds(1e300, 1000), 1000);
}

TEST(no_limit_is_no_end)
{
    cbx_deadline d;
    test_clock_stop(2, 1e12);
    cbx_deadline_begin(&d, 0, NULL, NULL);
    CHECK_INT(rounds(CBX_LOOK_EVERY, 1000), 1000);
    CHECK(test_clock_reads() > 1000); /* though it looked, long after */
    CHECK(!cbx_time_is_up());
    cbx_deadline_end(&d);
    test_clock_run();
}

TEST(a_loop_ends_at_the_first_look_after_the_limit)
{
    cbx_deadline d;
    test_clock_stop(5, 1); /* the first reading is the beginning's */
    cbx_deadline_begin(&d, 1, NULL, NULL);
    CHECK_INT(rounds(CBX_LOOK_EVERY / 10.0, 1000), 39);
    CHECK_INT(test_clock_reads(), 5);
    CHECK(cbx_time_is_up() && !d.cancelled);
    CHECK_INT(rounds(1, 1000), 0); /* and so does every other, without looking */
    CHECK_INT(test_clock_reads(), 5);
    cbx_deadline_end(&d);
    CHECK(!cbx_time_is_up());
    test_clock_run();
}

TEST(a_limit_is_not_over_before_it_is)
{
    cbx_deadline d;
    test_clock_stop(2, 0.999);
    cbx_deadline_begin(&d, 1, NULL, NULL);
    CHECK(!cbx_deadline_look(&d) && !cbx_deadline_look(&d));
    CHECK_NEAR(cbx_deadline_elapsed(&d), 0.999, 1e-9);
    cbx_deadline_end(&d);
    test_clock_run();
}

TEST(short_rounds_ask_now_and_then)
{
    cbx_deadline d;
    test_clock_stop(2, 9);
    cbx_deadline_begin(&d, 1, NULL, NULL);
    int64_t k = 0;
    while (!cbx_out_of_time_at(k, 1000))
        k++;
    CHECK_INT(k % 1024, 0);
    CHECK(k * 1000 <= CBX_LOOK_EVERY && (k + 1024) * 1000 >= CBX_LOOK_EVERY);
    cbx_deadline_end(&d);
    test_clock_run();
}

TEST(what_is_reserved_is_there_afterwards)
{
    cbx_deadline d;
    test_clock_stop(2, 0.8);
    cbx_deadline_begin(&d, 1, NULL, NULL);
    cbx_deadline_reserve(&d, 0.25);
    CHECK(cbx_deadline_look(&d));
    CHECK(cbx_time_is_up());
    cbx_deadline_use_reserve(&d);
    CHECK(!cbx_time_is_up() && !cbx_deadline_look(&d));
    cbx_deadline_end(&d);
    test_clock_run();
}

TEST(no_more_than_half_is_reserved)
{
    cbx_deadline d;
    test_clock_stop(2, 0.49);
    cbx_deadline_begin(&d, 1, NULL, NULL);
    cbx_deadline_reserve(&d, 1e9);
    CHECK(!cbx_deadline_look(&d));
    cbx_deadline_end(&d);
    test_clock_stop(2, 0.51);
    cbx_deadline_begin(&d, 1, NULL, NULL);
    cbx_deadline_reserve(&d, 1e9);
    CHECK(cbx_deadline_look(&d));
    cbx_deadline_end(&d);
    test_clock_run();
}

TEST(a_reserve_that_is_over_too_is_of_no_use)
{
    cbx_deadline d;
    test_clock_stop(2, 2);
    cbx_deadline_begin(&d, 1, NULL, NULL);
    cbx_deadline_reserve(&d, 0.25);
    CHECK(cbx_deadline_look(&d));
    cbx_deadline_use_reserve(&d);
    CHECK(cbx_time_is_up());
    cbx_deadline_end(&d);
    test_clock_run();
}

typedef struct caller {
    int64_t     calls, done, total;
    char        text[16];
    bool        stops;
    bool        saw_a_deadline;
    const char *expected;
} caller;

static int listen(void *user, int64_t done, int64_t total, const char *text)
{
    caller *c = user;
    c->calls++;
    c->done = done;
    c->total = total;
    (void)snprintf(c->text, sizeof c->text, "%s", text);
    c->saw_a_deadline = c->saw_a_deadline || cbx_out_of_time(1e300);
    return c->stops;
}

TEST(a_caller_is_told_where_the_work_is)
{
    cbx_deadline d;
    caller       c = {0};
    test_clock_stop(0, 0);
    cbx_deadline_begin(&d, 1, listen, &c);
    CHECK(!cbx_deadline_tell(&d, 3, 10, "found"));
    CHECK(c.calls == 1 && c.done == 3 && c.total == 10 && !strcmp(c.text, "found"));
    CHECK(!cbx_deadline_look(&d) && c.calls == 1); /* not twice in a moment */
    cbx_deadline_end(&d);
    test_clock_run();
}

TEST(a_caller_who_has_not_been_asked_for_a_while_is_asked_again)
{
    cbx_deadline d;
    caller       c = {0};
    test_clock_stop(3, 0.5);
    cbx_deadline_begin(&d, 60, listen, &c);
    (void)cbx_deadline_tell(&d, 3, 10, "");
    CHECK(!cbx_deadline_look(&d));
    CHECK(!cbx_deadline_look(&d)); /* half a second later */
    CHECK(c.calls == 2 && c.done == 3 && c.total == 10);
    c.stops = true;
    CHECK(!cbx_deadline_look(&d));
    CHECK_INT(c.calls, 2);
    CHECK(cbx_deadline_tell(&d, 4, 10, ""));
    CHECK(d.cancelled && cbx_time_is_up());
    CHECK(cbx_deadline_tell(&d, 5, 10, "") && c.calls == 3); /* who has stopped is left alone */
    cbx_deadline_use_reserve(&d);
    CHECK(cbx_time_is_up()); /* and his word stands */
    cbx_deadline_end(&d);
    test_clock_run();
}

TEST(what_a_caller_computes_is_not_under_the_deadline)
{
    cbx_deadline d;
    caller       c = {0};
    test_clock_stop(2, 9);
    cbx_deadline_begin(&d, 1, listen, &c);
    CHECK(cbx_deadline_look(&d));
    (void)cbx_deadline_tell(&d, 1, 1, "");
    CHECK(c.calls >= 1 && !c.saw_a_deadline);
    CHECK(cbx_time_is_up()); /* it is back */
    cbx_deadline_end(&d);
    test_clock_run();
}

TEST(deadlines_nest)
{
    cbx_deadline outer, inner;
    test_clock_stop(3, 2);
    cbx_deadline_begin(&outer, 100, NULL, NULL);
    cbx_deadline_begin(&inner, 1, NULL, NULL);
    CHECK(cbx_deadline_look(&inner) && cbx_time_is_up());
    cbx_deadline_end(&inner);
    CHECK(!cbx_time_is_up() && !cbx_deadline_look(&outer));
    cbx_deadline_end(&outer);
    test_clock_run();
}

TEST(failing_late_is_told_from_failing_for_memory)
{
    cbx_deadline d;
    cbx_error    err = {0};
    CHECK_INT(cbx_fail_late(&err), CBX_NO_MEMORY);
    test_clock_stop(2, 9);
    cbx_deadline_begin(&d, 1, NULL, NULL);
    CHECK_INT(cbx_fail_late(&err), CBX_NO_MEMORY);
    CHECK(cbx_deadline_look(&d));
    CHECK_INT(cbx_fail_late(&err), CBX_CANCELLED);
    CHECK_INT(err.status, CBX_CANCELLED);
    cbx_deadline_end(&d);
    test_clock_run();
}

TEST(what_is_held_back_is_there_after_it_is_released)
{
    cbx_deadline d;
    test_clock_stop(3, 0.55); /* the second is hold's */
    cbx_deadline_begin(&d, 1, NULL, NULL);
    cbx_deadline_reserve(&d, 0.25);
    cbx_deadline_hold(&d, 1.0 / 3); /* of 0.75 */
    CHECK(cbx_deadline_look(&d));
    CHECK(cbx_deadline_release(&d));
    CHECK(!cbx_time_is_up() && !cbx_deadline_look(&d));
    cbx_deadline_end(&d);
    test_clock_run();
}

TEST(what_is_held_back_from_no_limit_is_nothing)
{
    cbx_deadline d;
    test_clock_stop(3, 1e9);
    cbx_deadline_begin(&d, 0, NULL, NULL);
    cbx_deadline_hold(&d, 1.0 / 3);
    CHECK(!cbx_deadline_look(&d));
    CHECK(!cbx_deadline_release(&d));
    cbx_deadline_end(&d);
    test_clock_run();
}

TEST(a_hold_released_in_time_has_ended_nothing)
{
    cbx_deadline d;
    test_clock_stop(3, 0.6);
    cbx_deadline_begin(&d, 1, NULL, NULL);
    cbx_deadline_hold(&d, 1.0 / 3);
    CHECK(!cbx_deadline_look(&d));
    CHECK(!cbx_deadline_release(&d));
    cbx_deadline_end(&d);
    test_clock_run();
}
