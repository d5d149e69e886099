/* SPDX-License-Identifier: Apache-2.0 */
/* One question from its options to its answer: targets, what is skipped, time
 * limits, progress and traces. Errors are in test_setup.c. */
#include <math.h>

#include "oracle.h"
#include "policy.h"
#include "own_options.h"
#include "test.h"

TEST(outcomes_have_names)
{
    CHECK(!strcmp(cbx_outcome_name(CBX_FOUND), "found"));
    CHECK(!strcmp(cbx_outcome_name(CBX_NOT_FOUND), "not_found"));
    CHECK(!strcmp(cbx_outcome_name(CBX_SKIPPED), "skipped"));
    CHECK(!strcmp(cbx_outcome_name(CBX_NOT_FINISHED), "cancelled"));
}

TEST(freeing_no_counterfactual_is_fine)
{
    cbx_counterfactual_free(NULL);
}

/* ---- targets */

TEST(next_is_the_class_after_the_prediction)
{
    oracle              o = oracle_make((oracle_shape){0});
    cbx_explain_options a = ASK("target", "next", "epochs", "3");
    uint8_t             seen[4] = {0};
    for (int32_t row = 0; row < 34; row++) {
        cbx_counterfactual *r = explain_row(&o, row, &a);
        CHECK_INT(r->target, (r->prediction + 1) % 4);
        seen[r->prediction] = 1;
        cbx_counterfactual_free(r);
    }
    CHECK(seen[0] && seen[3]); /* among them the last class, whose next is the first */
    oracle_free(&o);
}

TEST(any_takes_whichever_other_class)
{
    oracle              o = oracle_make((oracle_shape){0});
    cbx_explain_options a = ASK("target", "any", "epochs", "80");
    int                 found = 0, not_next = 0;
    for (int32_t row = 0; row < 34; row++) {
        cbx_counterfactual *r = explain_row(&o, row, &a);
        CHECK_INT(r->target, -1);
        found += r->outcome == CBX_FOUND;
        not_next += r->outcome == CBX_FOUND && r->result != (r->prediction + 1) % 4;
        CHECK(r->outcome != CBX_FOUND || r->result != r->prediction);
        cbx_counterfactual_free(r);
    }
    CHECK(found >= 20 && not_next > 0);
    oracle_free(&o);
}

TEST(a_class_is_taken_by_number_or_by_name)
{
    oracle              o = oracle_make((oracle_shape){0});
    cbx_explain_options number = ASK("target", "2", "epochs", "80");
    cbx_explain_options name = ASK("target", "community 2", "epochs", "80");
    int                 found = 0;
    for (int32_t row = 0; row < 10; row++) { /* the first ten are not in class 2 */
        cbx_counterfactual *a = explain_row(&o, row, &number), *b = explain_row(&o, row, &name);
        CHECK(a->target == 2 && b->target == 2);
        CHECK(a->outcome != CBX_FOUND || a->result == 2);
        CHECK(a->outcome == b->outcome && a->num_edits == b->num_edits && a->loss == b->loss);
        found += a->outcome == CBX_FOUND;
        cbx_counterfactual_free(a);
        cbx_counterfactual_free(b);
    }
    CHECK(found > 0);
    oracle_free(&o);
}

TEST(a_class_named_like_a_number_goes_by_its_name)
{
    static const char *const names[] = {"2", "0", "zero"};
    oracle                   o = oracle_make((oracle_shape){.nodes = 12});
    cbx_graph               *named = NULL;
    cbx_error                err = {0};
    cbx_explain_options      a = ASK("target", "2", "epochs", "1");
    o.data.class_names = names;
    oracle_must(cbx_graph_new(&o.data, &named, &err), &err);
    for (int32_t row = 0; row < 12; row++) {
        cbx_counterfactual *r = NULL;
        cbx_status status = cbx_explain_with(o.model, named, row, &a, NULL, NULL, &r, &err);
        if (status == CBX_OK)
            CHECK_INT(r->target, 0);
        else
            CHECK_CONTAINS(err.message, "class 2 already"); /* the name of class 0 */
        cbx_counterfactual_free(r);
    }
    cbx_graph_free(named);
    oracle_free(&o);
}

TEST(no_options_are_the_default_options)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 12});
    cbx_explain_options a;
    cbx_fields_default(cbx_explain_table(), &a);
    cbx_counterfactual *r = explain_row(&o, 1, NULL), *s = explain_row(&o, 1, &a);
    bool                one = r->num_edits == 1; /* which is the least there is */
    CHECK(r->outcome != CBX_FOUND || r->certificate == (one ? CBX_OPTIMAL : CBX_IRREDUCIBLE));
    CHECK_INT(r->num_trace, 0);
    CHECK(r->trace == NULL || r->num_trace == 0);
    CHECK(r->outcome == s->outcome && r->loss == s->loss && r->num_edits == s->num_edits);
    CHECK_INT(r->target, -1); /* any other */
    a.target = NULL;          /* a target that is not there is any */
    cbx_counterfactual_free(s);
    s = explain_row(&o, 1, &a);
    CHECK(r->target == s->target && r->loss == s->loss);
    cbx_counterfactual_free(r);
    cbx_counterfactual_free(s);
    oracle_free(&o);
}

/* ---- skipping */

/* Node 0 has no edge, node 1 one from node 2, node 3 two from 4. */
static oracle lonely_oracle(void)
{
    static const int64_t source[] = {2, 4, 4}, target[] = {1, 3, 3};
    static const float   x[] = {1, 0, 1, 0, 1};
    static const int64_t y[] = {0, 1, 0, 1, 0};
    oracle               o = {.data = {.num_nodes = 5,
                                       .num_features = 1,
                                       .num_edges = 3,
                                       .edge_source = source,
                                       .edge_target = target,
                                       .x = x,
                                       .y = y}};
    cbx_error            err = {0};
    oracle_must(cbx_graph_new(&o.data, &o.graph, &err), &err);
    o.data = *cbx_graph_arrays(o.graph);
    oracle_train(&o, (oracle_shape){0});
    return o;
}

TEST(a_factual_graph_of_less_than_two_edges_is_skipped)
{
    static const char *const reasons[] = {"no edge", "one edge only", "no edge", ""};
    static const int64_t     edges[] = {0, 1, 0, 2}, nodes[] = {1, 2, 1, 2};
    oracle                   o = lonely_oracle();
    cbx_explain_options      a = ASK("epochs", "2");
    a.trace = true;
    for (int32_t row = 0; row < 4; row++) {
        cbx_counterfactual *r = explain_row(&o, row, &a);
        CHECK_INT(r->outcome == CBX_SKIPPED, row < 3);
        CHECK_CONTAINS(r->reason, reasons[row]);
        CHECK_INT(r->num_edges, edges[row]);
        CHECK_INT(r->num_nodes, nodes[row]);
        CHECK_INT(r->epochs, row < 3 ? 0 : 2);
        CHECK(r->num_edits == 0 && r->result == r->prediction && r->after == NULL);
        CHECK_NEAR(exp(r->before[0]) + exp(r->before[1]), 1, 1e-6);
        CHECK_INT(r->num_trace, r->epochs);
        cbx_counterfactual_free(r);
    }
    oracle_free(&o);
}

/* ---- time, progress, traces */

TEST(a_tiny_time_limit_ends_the_search_at_once)
{
    oracle              o = oracle_make((oracle_shape){0});
    cbx_explain_options a = ASK("time-limit", "1e-9", "epochs", "1000000000");
    for (int32_t row = 0; row < 34; row += 5) {
        cbx_counterfactual *r = explain_row(&o, row, &a);
        CHECK(r->outcome == CBX_FOUND || r->outcome == CBX_NOT_FOUND);
        CHECK(r->epochs >= 1 && r->epochs < 1000);
        CHECK_CONTAINS(r->reason, "the time limit of 1e-09 s");
        cbx_counterfactual_free(r);
    }
    oracle_free(&o);
}

TEST(a_time_limit_keeps_the_best_so_far)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 12});
    cbx_explain_options plenty = ASK("epochs", "60", "target", "any", "policy", "constant");
    cbx_explain_options brief =
        ASK("epochs", "1000000000", "time-limit", "1", "target", "any", "policy", "constant");
    int found = 0;
    for (int32_t row = 0; row < 12 && !found; row++) {
        cbx_counterfactual *r = explain_row(&o, row, &plenty);
        bool                easy = r->outcome == CBX_FOUND;
        cbx_counterfactual_free(r);
        if (!easy)
            continue;
        test_clock_stop(100, 0.995); /* it is read once an epoch, and the rest is for verifying */
        r = explain_row(&o, row, &brief);
        test_clock_run();
        CHECK_INT(r->outcome, CBX_FOUND);
        CHECK(r->epochs > 90 && r->epochs < 110 && r->epoch < r->epochs && r->num_edits > 0);
        CHECK_CONTAINS(r->reason, "the time limit of 1 s ended the search");
        cbx_counterfactual_free(r);
        found++;
    }
    CHECK(found == 1);
    oracle_free(&o);
}

TEST(patience_ends_a_search_that_finds_nothing_better)
{
    const char *const methods[] = {"combinex", "cf-gnn", "cff"};
    oracle            o = oracle_make((oracle_shape){0});
    int64_t           ended = 0;
    for (int i = 0; i < 3; i++) {
        cbx_explain_options all = ASK("explainer", methods[i], "target", "any");
        cbx_explain_options some = all;
        some.patience = 7;
        for (int32_t row = 0; row < 34; row += 3) {
            cbx_counterfactual *a = explain_row(&o, row, &all), *b = explain_row(&o, row, &some);
            CHECK_INT(b->outcome, a->outcome);
            CHECK_INT(a->epochs, 500);
            if (b->outcome == CBX_FOUND && b->epochs < 500) {
                CHECK_INT(b->epochs, b->epoch + 1 + 7);
                CHECK(b->epoch <= a->epoch && b->loss >= a->loss - 1e-6);
                ended++;
            }
            cbx_counterfactual_free(a);
            cbx_counterfactual_free(b);
        }
    }
    CHECK(ended > 5);
    oracle_free(&o);
}

typedef struct watcher {
    int64_t calls, last, total, stop_at; /* stop_at 0: never */
    bool    ordered;
} watcher;

static int watch(void *user, int64_t done, int64_t total, const char *text)
{
    watcher *w = user;
    w->ordered = (w->calls == 0 || (w->ordered && done > w->last)) && done <= total && text;
    w->calls++;
    w->last = done;
    w->total = total;
    return w->stop_at && done >= w->stop_at;
}

TEST(progress_is_told_and_changes_nothing)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 12});
    cbx_explain_options a = ASK("epochs", "40");
    watcher             w = {0};
    cbx_counterfactual *r = explain_row(&o, 2, &a), *s = NULL;
    cbx_error           err = {0};
    test_clock_stop(0, 0); /* or a step that takes long would be told of twice */
    CHECK_OK(cbx_explain_with(o.model, o.graph, 2, &a, watch, &w, &s, &err), err);
    test_clock_run();
    CHECK(w.calls > 0 && w.calls <= 40 && w.ordered);
    CHECK_INT(w.total, 40);
    CHECK(r->outcome == s->outcome && r->loss == s->loss && r->num_edits == s->num_edits);
    cbx_counterfactual_free(r);
    cbx_counterfactual_free(s);
    oracle_free(&o);
}

TEST(cancelling_is_an_outcome_without_edits)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 12});
    cbx_explain_options a = ASK("epochs", "400", "target", "any");
    a.trace = true;
    for (int64_t stop = 1; stop < 200; stop += 66) { /* before and after something is found */
        watcher             w = {.stop_at = stop};
        cbx_counterfactual *r = NULL;
        cbx_error           err = {0};
        CHECK_OK(cbx_explain_with(o.model, o.graph, 2, &a, watch, &w, &r, &err), err);
        CHECK_INT(r->outcome, CBX_NOT_FINISHED);
        CHECK(r->num_edits == 0 && r->after == NULL && r->result == r->prediction);
        CHECK(r->num_edges_removed == 0 && r->num_features_changed == 0);
        CHECK_INT(w.last, r->epochs);
        CHECK(r->epochs >= stop && r->epochs < 400);
        CHECK_INT(r->num_trace, r->epochs);
        cbx_counterfactual_free(r);
    }
    oracle_free(&o);
}

TEST(who_cancels_is_told_so_and_still_given_how_far_it_came)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 12});
    watcher             w = {.stop_at = 3};
    cbx_options        *options = NULL;
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    CHECK_OK(cbx_options_new(cbx_explain_table(), &options, &err), err);
    CHECK_OK(cbx_explain_preset(options, "paper", &err), err);
    CHECK_OK(cbx_options_set(options, "min-edges", "0", &err), err);
    CHECK_OK(cbx_options_set(options, "trace", "true", &err), err);
    CHECK_INT(cbx_explain(o.model, o.graph, 2, options, watch, &w, &r, &err), CBX_CANCELLED);
    CHECK_INT(err.status, CBX_CANCELLED);
    if (CHECK(r != NULL)) {
        CHECK_INT(r->size, sizeof *r);
        CHECK_INT(r->outcome, CBX_NOT_FINISHED);
        CHECK_INT(r->num_trace, r->epochs);
    }
    cbx_counterfactual_free(r);
    cbx_options_free(options);
    oracle_free(&o);
}

static void check_trace(const cbx_counterfactual *r, const cbx_explain_options *a)
{
    int64_t           best = -1;
    const cbx_policy *policy = &combinex_of(a)->policy;
    CHECK_INT(r->epochs, a->epochs);
    CHECK_INT(r->num_trace, a->epochs);
    for (int64_t t = 0; t < r->num_trace; t++) {
        const cbx_epoch *e = &r->trace[t];
        double sum = e->eta * e->ce + (1 - e->alpha) * e->edge_loss + e->alpha * e->feature_loss;
        CHECK_NEAR(e->loss, sum, 1e-12);
        CHECK_NEAR(e->alpha, cbx_policy_alpha(policy, t, a->epochs, e->edge_loss, e->feature_loss),
                   1e-12);
        CHECK(e->eta == 1 || (e->eta == 0 && e->hit));
        CHECK(e->ce >= 0 && e->edge_loss >= 0 && e->feature_loss >= 0);
        CHECK(policy->shape != CBX_POLICY_FEATURES || (e->edge_loss == 0 && e->removed_edges == 0));
        CHECK(policy->shape != CBX_POLICY_EDGES ||
              (e->feature_loss == 0 && e->changed_features == 0));
        if (e->hit && (best < 0 || e->loss < r->trace[best].loss))
            best = t;
    }
    /* at first nothing is removed, and a weight is σ(1) */
    const cbx_epoch *first = &r->trace[0];
    CHECK(!first->hit && first->changed_features == 0 && first->removed_edges == 0);
    if (policy->shape != CBX_POLICY_FEATURES && a->edges == 0)
        CHECK_NEAR(first->edge_loss, (double)r->num_edges * 0.2689414213699951, 1e-4);
    if (r->outcome != CBX_FOUND)
        return;
    CHECK_INT(r->epoch, best);
    CHECK_NEAR(r->loss, r->trace[best].loss, 0);
    CHECK_INT(r->num_features_changed, r->trace[best].changed_features);
    CHECK(a->edges == 1 || r->num_edges_removed == r->trace[best].removed_edges);
}

TEST(a_trace_has_an_entry_an_epoch_and_the_result_is_its_best)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 16, .directed = true});
    cbx_explain_options a = ASK("epochs", "70", "target", "any", "alpha", "0.3");
    int                 found = 0;
    a.trace = true;
    int *policy = &combinex_of(&a)->policy.shape;
    for (*policy = CBX_POLICY_LINEAR; *policy <= CBX_POLICY_EDGES; (*policy)++)
        for (int32_t row = 0; row < 16; row += 3) {
            a.edges = row & 1;
            cbx_counterfactual *r = explain_row(&o, row, &a);
            check_trace(r, &a);
            found += r->outcome == CBX_FOUND;
            cbx_counterfactual_free(r);
        }
    CHECK(found > 10);
    oracle_free(&o);
}

/* ---- kinds of features */

TEST(kinds_auto_treats_whole_numbers_as_discrete_whatever_the_data_says)
{
    oracle     o = oracle_make((oracle_shape){.nodes = 12});
    uint8_t    none[5] = {0};
    cbx_graph *g = NULL;
    cbx_error  err = {0};
    o.data.discrete = none; /* all continuous, it says */
    oracle_must(cbx_graph_new(&o.data, &g, &err), &err);
    int64_t broken[2] = {0}, found[2] = {0}, fractions = 0;
    for (int k = 0; k < 2; k++) {
        cbx_explain_options a = ASK("kinds", k ? "auto" : "data", "epochs", "60", "policy",
                                    "features", "target", "any");
        for (int32_t row = 0; row < 12; row++) {
            cbx_counterfactual *r = NULL;
            CHECK_OK(cbx_explain_with(o.model, g, row, &a, NULL, NULL, &r, &err), err);
            for (int64_t i = 0; r && i < r->num_edits; i++) { /* even features hold whole numbers */
                const cbx_edit *e = &r->edits[i];
                bool            bound =
                    e->to == o.data.feat_min[e->feature] || e->to == o.data.feat_max[e->feature];
                float by = e->to - e->from;
                broken[k] += e->feature % 2 == 0 && e->to != rintf(e->to);
                fractions += k == 1 && e->feature % 2 && !bound && fabsf(by - rintf(by)) > 0.01f;
            }
            found[k] += r && r->outcome == CBX_FOUND;
            cbx_counterfactual_free(r);
        }
    }
    CHECK(found[0] > 0 && found[1] > 0);
    CHECK(broken[0] > 0);
    CHECK_INT(broken[1], 0);
    CHECK(fractions > 0); /* and the others move by any amount */
    cbx_graph_free(g);
    oracle_free(&o);
}
