/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: how many are meant, and that a parallel loop does every turn once. */
#include "threads.h"

#include <string.h>

#include "bag.h"
#include "test.h"

TEST(zero_means_all_cores)
{
    CHECK(cbx_threads(0) >= 1);
    CHECK_INT(cbx_threads(0), cbx_threads_default());
    CHECK_INT(cbx_threads(-3), cbx_threads_default());
}

TEST(any_other_number_means_itself_within_reason)
{
    CHECK_INT(cbx_threads(1), 1);
    CHECK_INT(cbx_threads(7), 7);
    CHECK_INT(cbx_threads(1024), 1024);
    CHECK_INT(cbx_threads(INT64_MAX), 1024);
}

static void check_turns(int threads, double work, int count, int step)
{
    bag  b = {0};
    int *done = TAKE(&b, int, count), wrong = 0;
    memset(done, 0, (size_t)count * sizeof *done);
    CBX_PARALLEL_FOR(threads, work, i, count, step, {
        int kept = done[i]; /* a body may have commas, and statements */
        done[i] = kept + 1, (void)kept;
    });
    for (int i = 0; i < count; i++)
        wrong += done[i] != (i % step == 0);
    CHECK_INT(wrong, 0);
    bag_free(&b);
}

TEST(a_loop_does_every_turn_once_on_one_thread_and_on_many)
{
    for (int threads = 1; threads <= 4; threads++) {
        check_turns(threads, 2 * WORTH_A_TEAM, 30001, 1);
        check_turns(threads, 2 * WORTH_A_TEAM, 30001, 64);
        check_turns(threads, 2 * WORTH_A_TEAM, 0, 1);
        check_turns(threads, 1, 1000, 7);
    }
}

#ifdef _OPENMP
static int team(int threads, double work)
{
    int size = 0;
    CBX_PARALLEL_FOR(threads, work, i, threads, 1, if (i == 0) size = omp_get_num_threads());
    return size;
}

TEST(only_large_loops_are_worth_a_team)
{
    CHECK_INT(team(2, WORTH_A_TEAM + 1), 2);
    CHECK_INT(team(2, WORTH_A_TEAM), 1);
    CHECK_INT(team(1, 1e12), 1);
}
#endif

/* Turns that a loop makes when time is up at a reading of the clock. */
static int turns(int threads, long reading)
{
    enum { COUNT = 1000 };
    cbx_deadline d;
    bag          b = {0};
    int         *done = TAKE(&b, int, COUNT), count = 0;
    memset(done, 0, COUNT * sizeof *done);
    test_clock_stop(reading, 9);
    cbx_deadline_begin(&d, 1, NULL, NULL);
    CBX_PARALLEL_FOR(threads, 100.0 * CBX_LOOK_EVERY, i, COUNT, 1, done[i] = 1);
    cbx_deadline_end(&d);
    test_clock_run();
    for (int i = 0; i < COUNT; i++)
        count += done[i];
    bag_free(&b);
    return count;
}

TEST(time_that_is_up_ends_a_loop)
{
    CHECK_INT(turns(1, 0), 1000);
    CHECK_INT(turns(1, 2), 9); /* every tenth turn looks; the first reading is the beginning's */
    CHECK_INT(turns(1, 4), 29);
    CHECK_INT(turns(3, 0), 1000);
    CHECK(turns(3, 2) < 1000);
}
