/* SPDX-License-Identifier: Apache-2.0 */
/* holds.h: every counterfactual, applied to the graph and shown to the oracle anew, does
 * what it says, whatever the method. */
#ifndef CBX_TEST_HOLDS_H
#define CBX_TEST_HOLDS_H

#include <math.h>

#include "explainer.h"
#include "oracle.h"
#include "test.h"
#include "own_options.h"

/* ---- the edits themselves, against the data */

static inline void check_feature_edit(const cbx_graph_data *d, const cbx_edit *e, uint8_t *seen)
{
    if (!CHECK(e->node >= 0 && e->node < d->num_nodes && e->feature >= 0 &&
               e->feature < d->num_features))
        return;
    CHECK(e->from == data_feature(d, e->node, e->feature));
    CHECK(e->to != e->from);
    CHECK(e->to >= d->feat_min[e->feature] && e->to <= d->feat_max[e->feature]);
    CHECK(!d->discrete[e->feature] || e->to == rintf(e->to));
    CHECK(!seen[(int64_t)e->node * d->num_features + e->feature]++); /* one edit an entry */
}

static inline void check_edge_edit(const cbx_graph_data *d, const cbx_edit *e, bool undirected,
                                   uint8_t *gone)
{
    int64_t count = 0;
    CHECK_INT(e->undirected, undirected);
    for (int64_t k = 0; k < d->num_edges; k++) {
        bool there = d->edge_source[k] == e->source && d->edge_target[k] == e->target;
        bool back = d->edge_source[k] == e->target && d->edge_target[k] == e->source;
        if (undirected ? there || back : there && e->edge == k) {
            CHECK(!gone[k]++); /* one edit an edge */
            count++;
        }
    }
    CHECK(undirected ? count > 0 && e->edge == -1 : count == 1);
}

/* Marks the edges that go in `gone`. */
static inline void check_edits(const cbx_graph_data *d, const cbx_counterfactual *r,
                               const cbx_explain_options *o, uint8_t *seen, uint8_t *gone)
{
    int64_t edges = 0, features = 0;
    for (int64_t k = 0; k < r->num_edits; k++) {
        const cbx_edit *e = &r->edits[k];
        if (e->op == CBX_SET_FEATURE)
            check_feature_edit(d, e, seen);
        else
            check_edge_edit(d, e, o->edges == 1, gone);
        features += e->op == CBX_SET_FEATURE;
        edges += e->op == CBX_REMOVE_EDGE;
        CHECK(isfinite(e->influence));
        CHECK(k == 0 || e->influence <= r->edits[k - 1].influence);
    }
    CHECK(r->num_edits > 0);
    CHECK_INT(r->num_edges_removed, edges);
    CHECK_INT(r->num_features_changed, features);
    CHECK(o->explainer != 0 || combinex_of(o)->policy.shape != CBX_POLICY_FEATURES || edges == 0);
    CHECK(o->explainer != 0 || combinex_of(o)->policy.shape != CBX_POLICY_EDGES || features == 0);
}

/* ---- the graph with the edits, against the result */

static inline void check_edited(const oracle *o, const cbx_counterfactual *r,
                                const cbx_graph *edited, const uint8_t *gone)
{
    const cbx_graph_data *d = &o->data, *n = cbx_graph_arrays(edited);
    int64_t               left = 0, changed = 0;
    int32_t               C = r->num_classes, rows = oracle_rows(o);
    float                *logp = malloc((size_t)rows * (size_t)C * sizeof *logp);
    cbx_error             err = {0};
    for (int64_t k = 0; k < d->num_edges; k++)
        left += !gone[k];
    CHECK_INT(n->num_edges, left);
    for (int32_t i = 0; i < d->num_nodes; i++)
        for (int32_t j = 0; j < d->num_features; j++)
            changed += data_feature(d, i, j) != data_feature(n, i, j);
    CHECK_INT(changed, r->num_features_changed);
    if (CHECK_OK(cbx_predict(o->model, edited, 1, logp, &err), err)) {
        const float *row = logp + (int64_t)r->row * C;
        CHECK(test_difference(C, row, r->after) < 1e-5);
        CHECK_INT(best_of(row, C), r->result);
        CHECK(r->target < 0 ? r->result != r->prediction : r->result == r->target);
    }
    free(logp);
}

static inline void check_found(const oracle *o, const cbx_counterfactual *r,
                               const cbx_explain_options *options)
{
    bag        b = {0};
    size_t     entries = (size_t)o->data.num_nodes * (size_t)o->data.num_features;
    uint8_t   *seen = TAKE(&b, uint8_t, entries), *gone = TAKE(&b, uint8_t, o->data.num_edges);
    cbx_graph *edited = NULL;
    cbx_error  err = {0};
    memset(seen, 0, entries);
    memset(gone, 0, (size_t)o->data.num_edges);
    check_edits(&o->data, r, options, seen, gone);
    CHECK(r->epoch >= 0 && r->epoch < r->epochs);
    CHECK(isfinite(r->loss) && r->seconds >= 0);
    CHECK_INT(r->reason[0], '\0');
    if (CHECK_OK(cbx_graph_apply(o->graph, r->edits, r->num_edits, &edited, &err), err))
        check_edited(o, r, edited, gone);
    cbx_graph_free(edited);
    bag_free(&b);
}

static inline void check_not_found(const cbx_counterfactual *r)
{
    CHECK_INT(r->outcome, CBX_NOT_FOUND);
    CHECK(r->num_edits == 0 && r->num_edges_removed == 0 && r->num_features_changed == 0);
    CHECK(r->after == NULL);
    CHECK_INT(r->result, r->prediction);
}

static inline void check_question(const oracle *o, const cbx_counterfactual *r, int32_t row,
                                  const float *logp)
{
    int32_t C = o->data.num_classes;
    CHECK(r->task == o->data.task && r->row == row && r->num_classes == C);
    CHECK_INT(r->num_features, o->data.num_features);
    CHECK(r->num_nodes > 0 && r->num_nodes <= o->data.num_nodes);
    CHECK(r->num_edges > 1 && r->num_edges <= o->data.num_edges);
    CHECK_INT(best_of(r->before, C), r->prediction);
    if (logp) { /* the factual graph decides as the whole graph does */
        CHECK(test_difference(C, r->before, logp + (int64_t)row * C) < 1e-5);
        CHECK_INT(best_of(logp + (int64_t)row * C, C), r->prediction);
    }
}

/* Explains every `step`-th row; how many of a hundred were found. */
static inline int explain_rows(const oracle *o, const cbx_explain_options *options, int step,
                               bool same)
{
    int       found = 0, asked = 0;
    bag       b = {0};
    float    *logp = TAKE(&b, float, oracle_rows(o) * o->data.num_classes);
    cbx_error err = {0};
    CHECK_OK(cbx_predict(o->model, o->graph, 1, logp, &err), err);
    for (int32_t row = 0; row < oracle_rows(o); row += step, asked++) {
        int                 before = test_failures();
        cbx_counterfactual *r = explain_row(o, row, options);
        check_question(o, r, row, same ? logp : NULL);
        if (r->outcome == CBX_FOUND) /* and what flips is the whole graph's decision */
            CHECK_INT(best_of(logp + (int64_t)row * r->num_classes, r->num_classes), r->prediction);
        if (r->outcome == CBX_FOUND)
            check_found(o, r, options);
        else
            check_not_found(r);
        found += r->outcome == CBX_FOUND;
        cbx_counterfactual_free(r);
        if (test_failures() > before)
            printf("  (row %d)\n", row);
    }
    bag_free(&b);
    return 100 * found / asked;
}

#endif
