/* SPDX-License-Identifier: Apache-2.0 */
/* Time limits, by a clock that stands still and leaps at one of its readings: each of them is
 * the one at which time is up, of every method. */
#include <math.h>

#include "explainer.h"
#include "oracle.h"
#include "test.h"
#include "own_options.h"

/* So many features that a pass takes several looks at the clock. */
enum { WIDE = 2000 };

static const oracle_shape shapes[] = {
    {"gcn", .nodes = 60, .features = WIDE, .sparse = true, .kind = 'd', .seed = 1},
    {"cheb", 3, .nodes = 60, .features = WIDE, .sparse = true, .kind = 'd', .seed = 2},
    {"graphconv", 1, "max", .nodes = 60, .features = WIDE, .directed = true, .seed = 3},
    {"gcn", .nodes = 60, .graphs = 3, .features = WIDE, .seed = 4}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Multiplications between two looks at the clock: a product is parted into blocks of so many
 * rows, and hidden layers have 12 units. */
static const double MOST_WORK = CBX_LOOK_EVERY + 128.0 * WIDE * 12;

static bool explains(const char *name, const oracle *o)
{
    int i = 0;
    while (strcmp(cbx_explainer_names[i], name) != 0)
        i++;
    return cbx_explainer_explains(cbx_explainer_at(i), o->data.task);
}

static cbx_explain_options limited(const char *name)
{
    cbx_explain_options options =
        ASK("explainer", name, "target", "any", "epochs", "15", "unr-rollouts", "15", "time-limit",
            "1", "rcexplainer-epochs", "1", "rcexplainer-rows", "2", "clear-epochs", "2",
            "clear-rows", "2", "d4-epochs", "2", "d4-rows", "2", "d4-width", "4");
    minimal_of(&options)->robustness = 3;
    minimal_of(&options)->rebuilds = 1;
    minimal_of(&options)->candidates = 6;
    options.total_cfs = 2;
    return options;
}

/* At a reading of the clock (0: never) so many seconds have passed at once. */
static cbx_counterfactual *leaping(const oracle *o, int32_t row, const cbx_explain_options *options,
                                   long reading, double seconds)
{
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    test_clock_stop(reading, seconds);
    CHECK_OK(cbx_explain_with(o->model, o->graph, row, options, NULL, NULL, &r, &err), err);
    test_clock_run();
    return r;
}

/* Readings worth a leap: the first ones, and then fewer and fewer. */
static long next_reading(long k)
{
    return k < 9 ? k + 1 : k + k / 2;
}

/* What holds of any answer, whenever time was up. */
static void check_honest(const oracle *o, const cbx_counterfactual *r, bool is_up)
{
    bool says_so = strstr(r->reason, "the time limit of 1 s") != NULL;
    CHECK(r->outcome != CBX_NOT_FINISHED);
    CHECK(!says_so || is_up);
    CHECK((r->outcome == CBX_FOUND) == (r->num_edits > 0));
    CHECK((r->prediction < 0) == isnan(r->before[0]));
    CHECK(r->prediction >= 0 || (r->outcome == CBX_SKIPPED && says_so));
    for (const cbx_counterfactual *a = r; a; a = a->next) {
        float     after[8];
        cbx_error err = {0};
        if (a == r && r->outcome != CBX_FOUND)
            continue;
        CHECK_INT(a->outcome, CBX_FOUND); /* there is no further answer that is none */
        CHECK_OK(cbx_check_edits(o->model, o->graph, a->row, a->edits, a->num_edits, after, &err),
                 err);
        CHECK(cbx_is_flip(after, a->num_classes, a->prediction, a->target, 0));
    }
}

/* Every method on every model: `check` gets the answer with all the time it wants, and the one
 * with a leap of `seconds` at each reading. */
static void for_each_reading(double seconds,
                             void (*check)(const oracle *o, const cbx_counterfactual *all,
                                           const cbx_counterfactual *r, long reading))
{
    for (int s = 0; s < SHAPES; s++) {
        oracle o = oracle_make(shapes[s]);
        for (int i = 0; cbx_explainer_names[i]; i++) {
            if (!explains(cbx_explainer_names[i], &o))
                continue;
            int                 failed = test_failures();
            cbx_explain_options a = limited(cbx_explainer_names[i]);
            cbx_counterfactual *all = leaping(&o, 1, &a, 0, 0);
            long reads = test_clock_reads(), k = 2; /* the first is the beginning's */
            CHECK(reads > 3 && !strstr(all->reason, "time limit"));
            for (; k <= reads && test_failures() == failed; k = next_reading(k)) {
                cbx_counterfactual *r = leaping(&o, 1, &a, k, seconds);
                check_honest(&o, r, true);
                check(&o, all, r, k);
                cbx_counterfactual_free(r);
            }
            if (test_failures() > failed)
                printf("  (%s, %s, before reading %ld of %ld)\n", shapes[s].conv,
                       cbx_explainer_names[i], k, reads);
            cbx_counterfactual_free(all);
        }
        oracle_free(&o);
    }
}

/* ---- all of the time is up at once */

static void check_ends(const oracle *o, const cbx_counterfactual *all, const cbx_counterfactual *r,
                       long reading)
{
    (void)o, (void)all;
    CHECK(test_work_after_leap() < MOST_WORK);
    CHECK(test_clock_reads() - reading < 8);
    /* Something is found only if all that was left to do was ranking its edits. */
    CHECK(r->outcome != CBX_FOUND || strstr(r->reason, "rank") || !r->reason[0]);
    CHECK(r->certificate != CBX_PROVED_NONE && r->certificate != CBX_OPTIMAL);
}

TEST(whenever_time_is_up_nothing_more_is_computed)
{
    for_each_reading(9, check_ends);
}

/* ---- the search's part of the time is up, and there is some left for its answer */

static int64_t found_early, not_found_early, found_and_said;

static void check_hands_back(const oracle *o, const cbx_counterfactual *all,
                             const cbx_counterfactual *r, long reading)
{
    (void)o, (void)reading;
    bool says_so = strstr(r->reason, "the time limit of 1 s") != NULL;
    found_early += r->outcome == CBX_FOUND;
    not_found_early += r->outcome == CBX_NOT_FOUND;
    found_and_said += r->outcome == CBX_FOUND && says_so;
    CHECK(says_so || (r->outcome == all->outcome && r->certificate == all->certificate));
    CHECK(r->prediction < 0 || r->prediction == all->prediction);
    if (r->certificate == CBX_PROVED_NONE || r->certificate == CBX_OPTIMAL)
        CHECK_INT(r->certificate, all->certificate);
}

TEST(what_was_found_when_the_search_had_to_end_is_verified_and_handed_back)
{
    found_early = not_found_early = found_and_said = 0;
    for_each_reading(0.995, check_hands_back);
    CHECK(found_early > 20 && not_found_early > 20 && found_and_said > 10);
}

/* ---- looking often enough */

TEST(between_two_looks_at_the_clock_little_is_computed)
{
    for (int s = 0; s < SHAPES; s++) {
        oracle o = oracle_make(shapes[s]);
        for (int i = 0; cbx_explainer_names[i]; i++) {
            if (!explains(cbx_explainer_names[i], &o))
                continue;
            cbx_explain_options a = limited(cbx_explainer_names[i]);
            cbx_counterfactual_free(leaping(&o, 1, &a, 0, 0));
            if (!CHECK(test_work_between_reads() < MOST_WORK))
                printf("  (%s, %s: %g of %g)\n", shapes[s].conv, cbx_explainer_names[i],
                       test_work_between_reads(), test_work());
        }
        oracle_free(&o);
    }
}

/* ---- a proof */

TEST(a_proof_that_time_cut_short_is_none)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 10, .features = 1, .kind = 'd'});
    cbx_explain_options a = ASK("explainer", "minimal", "target", "any", "prove", "1000",
                                "time-limit", "1", "edges", "undirected");
    int                 proved = 0;
    minimal_of(&a)->robustness = 0; /* the proof is the last that a search does */
    for (int32_t row = 0; row < 10; row++) {
        cbx_counterfactual *all = leaping(&o, row, &a, 0, 0);
        long                reads = test_clock_reads();
        bool proof = all->certificate == CBX_OPTIMAL || all->certificate == CBX_PROVED_NONE;
        proved += proof;
        for (long k = 2; k <= reads && proof; k = next_reading(k)) {
            cbx_counterfactual *r = leaping(&o, row, &a, k, 0.995);
            bool                says_so = strstr(r->reason, "time limit") != NULL;
            check_honest(&o, r, true);
            CHECK(says_so != (r->certificate == all->certificate));
            cbx_counterfactual_free(r);
        }
        cbx_counterfactual_free(all);
    }
    CHECK(proved > 3);
    oracle_free(&o);
}

/* ---- many targets */

static int count_reasons(void *user, int64_t i, const cbx_counterfactual *r)
{
    int64_t *counts = user;
    (void)i;
    counts[0]++;
    counts[1] += strstr(r->reason, "the time limit of 1 s") != NULL;
    return 0;
}

TEST(every_one_of_many_targets_has_its_own_limit)
{
    oracle              o = oracle_make((oracle_shape){0});
    cbx_explain_options a = ASK("explainer", "combinex", "time-limit", "1", "epochs", "30");
    const int32_t       rows[] = {3, 4, 5, 6, 7};
    cbx_error           err = {0};
    int64_t             counts[2] = {0};
    a.threads = 1;
    test_clock_stop(40, 9); /* within the second, or so */
    CHECK_OK(
        cbx_explain_many_with(o.model, o.graph, rows, 5, &a, count_reasons, NULL, counts, &err),
        err);
    test_clock_run();
    CHECK_INT(counts[0], 5);
    CHECK_INT(counts[1], 1);
    oracle_free(&o);
}
