/* SPDX-License-Identifier: Apache-2.0 */
/* problems.c: see problems.h. Of each kind of problem the first few are told one by
 * one and the others counted. */
#include "problems.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "number.h"

enum { TOLD = 10 };

typedef struct teller {
    cbx_on_problem on_problem;
    void          *user;
    int64_t        total, of_kind;
} teller;

__attribute__((format(printf, 3, 4))) static void tell(teller *t, cbx_problem_kind kind,
                                                       const char *format, ...)
{
    char    message[CBX_MESSAGE_SIZE];
    va_list args;
    t->total++;
    if (++t->of_kind > TOLD)
        return;
    va_start(args, format);
    cbx_message(message, format, args);
    va_end(args);
    t->on_problem(t->user, kind, message);
}

static void end_of_kind(teller *t, const char *what)
{
    int64_t more = t->of_kind - TOLD;
    t->of_kind = 0;
    if (more <= 0)
        return;
    char message[128];
    (void)snprintf(message, sizeof message, "and %lld more %s like these", (long long)more, what);
    t->on_problem(t->user, CBX_PROBLEM_ERROR, message);
}

static void check_edges(teller *t, const cbx_graph_data *d)
{
    for (int64_t e = 0; e < d->num_edges; e++) {
        long long s = d->edge_source[e], v = d->edge_target[e];
        if (s < 0 || s >= d->num_nodes || v < 0 || v >= d->num_nodes)
            tell(t, CBX_PROBLEM_ERROR, "edge %lld (%lld -> %lld) points outside: nodes are 0 to %d",
                 (long long)e, s, v, d->num_nodes - 1);
    }
    end_of_kind(t, "edges");
    for (int64_t e = 0; d->edge_weight && e < d->num_edges; e++)
        if (!(d->edge_weight[e] >= 0) || isinf(d->edge_weight[e]))
            tell(t, CBX_PROBLEM_ERROR, "edge %lld has weight %g; at least 0 is expected",
                 (long long)e, (double)d->edge_weight[e]);
    end_of_kind(t, "weights");
}

static void check_sparse(teller *t, const cbx_graph_data *d)
{
    for (int32_t i = 0; i < d->num_nodes; i++) {
        if (d->x_indptr[i] > d->x_indptr[i + 1]) {
            tell(t, CBX_PROBLEM_ERROR, "x.indptr[%d] is %lld, less than the entry before", i + 1,
                 (long long)d->x_indptr[i + 1]);
            continue;
        }
        for (int64_t k = d->x_indptr[i]; k < d->x_indptr[i + 1]; k++) {
            int32_t j = d->x_indices[k];
            if (j < 0 || j >= d->num_features)
                tell(t, CBX_PROBLEM_ERROR, "row %d of x has column %d; columns are 0 to %d", i, j,
                     d->num_features - 1);
            else if (k > d->x_indptr[i] && j <= d->x_indices[k - 1])
                tell(t, CBX_PROBLEM_ERROR, "row %d of x: column %d follows %d; they must ascend", i,
                     j, d->x_indices[k - 1]);
            else if (!isfinite(d->x_values[k]))
                tell(t, CBX_PROBLEM_ERROR, "feature %d of node %d is %g", j, i,
                     (double)d->x_values[k]);
        }
    }
    end_of_kind(t, "features");
}

static void check_features(teller *t, const cbx_graph_data *d)
{
    int64_t count = d->x ? (int64_t)d->num_nodes * d->num_features : 0;
    for (int64_t k = 0; k < count; k++)
        if (!isfinite(d->x[k]))
            tell(t, CBX_PROBLEM_ERROR, "feature %lld of node %lld is %g",
                 (long long)(k % d->num_features), (long long)(k / d->num_features),
                 (double)d->x[k]);
    end_of_kind(t, "features");
    if (!d->x)
        check_sparse(t, d);
    for (int32_t j = 0; d->feat_min && d->feat_max && j < d->num_features; j++)
        if (!isfinite(d->feat_min[j]) || !isfinite(d->feat_max[j]) ||
            d->feat_min[j] > d->feat_max[j])
            tell(t, CBX_PROBLEM_ERROR, "feature %d has the bounds %g to %g", j,
                 (double)d->feat_min[j], (double)d->feat_max[j]);
    end_of_kind(t, "bounds");
}

static void check_labels(teller *t, const cbx_graph_data *d)
{
    int64_t     rows = d->task == CBX_GRAPH ? d->num_graphs : d->num_nodes;
    int64_t     most = d->num_classes ? d->num_classes : INT32_MAX;
    const char *row = d->task == CBX_GRAPH ? "graph" : "node";
    for (int64_t i = 0; d->y && i < rows; i++)
        if (d->y[i] < -1 || d->y[i] >= most)
            tell(t, CBX_PROBLEM_ERROR, "label %lld of %s %lld is out of range: 0 to %lld, or -1",
                 (long long)d->y[i], row, (long long)i, (long long)most - 1);
    end_of_kind(t, "labels");
    for (int32_t g = 0; d->task == CBX_GRAPH && g < d->num_graphs; g++)
        if (d->graph_ptr[g] > d->graph_ptr[g + 1])
            tell(t, CBX_PROBLEM_ERROR, "graph_ptr[%d] is %lld, less than the entry before", g + 1,
                 (long long)d->graph_ptr[g + 1]);
    end_of_kind(t, "graphs");
}

int64_t cbx_problems_errors(const cbx_graph_data *d, cbx_on_problem on_problem, void *user)
{
    teller t = {on_problem, user, 0, 0};
    check_edges(&t, d);
    check_features(&t, d);
    check_labels(&t, d);
    return t.total;
}

/* ---- warnings */

static void warn_counts(teller *t, const cbx_graph_data *d, const cbx_graph_stats *s)
{
    if (s->duplicate_edges)
        tell(t, CBX_PROBLEM_WARNING, "%lld %s there more than once", (long long)s->duplicate_edges,
             s->duplicate_edges == 1 ? "edge is" : "edges are");
    if (s->self_loops)
        tell(t, CBX_PROBLEM_WARNING, "%lld %s from a node to itself", (long long)s->self_loops,
             s->self_loops == 1 ? "edge leads" : "edges lead");
    if (s->isolated_nodes)
        tell(t, CBX_PROBLEM_WARNING, "%d nodes have no edge to another node", s->isolated_nodes);
    if (!s->undirected && d->num_edges)
        tell(t, CBX_PROBLEM_WARNING,
             "some edges have no reverse; if the graph is undirected, the option symmetric adds "
             "them");
    if (d->num_edges == 0)
        tell(t, CBX_PROBLEM_WARNING, "there are no edges");
}

static cbx_status warn_classes(teller *t, const cbx_graph *g, cbx_error *err)
{
    const cbx_graph_data *d = &g->data;
    int32_t               rows = cbx_graph_label_rows(g), unknown = 0, empty = 0;
    uint8_t              *seen = calloc((size_t)d->num_classes + 1, 1);
    if (!seen)
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < rows; i++) {
        if (d->y && d->y[i] >= 0)
            seen[d->y[i]] = 1;
        else
            unknown++;
    }
    for (int32_t c = 0; c < d->num_classes; c++)
        empty += !seen[c];
    free(seen);
    if (d->num_classes == 0)
        tell(t, CBX_PROBLEM_WARNING,
             "there are no classes, and nothing to train on: tables have them in a column called "
             "label, or in one that label_column names");
    else if (unknown)
        tell(t, CBX_PROBLEM_WARNING, "%d of %d %ss have no class", unknown, rows,
             d->task == CBX_GRAPH ? "graph" : "node");
    if (empty)
        tell(t, CBX_PROBLEM_WARNING, "%d of %d classes have no member", empty, d->num_classes);
    return CBX_OK;
}

static void warn_splits(teller *t, const cbx_graph *g)
{
    const cbx_graph_data *d = &g->data;
    int64_t               twice = 0, count = (int64_t)cbx_graph_label_rows(g) * d->num_splits;
    for (int64_t k = 0; k < count; k++)
        twice += (d->train_mask && d->train_mask[k]) + (d->val_mask && d->val_mask[k]) +
                     (d->test_mask && d->test_mask[k]) >
                 1;
    if (twice)
        tell(t, CBX_PROBLEM_WARNING, "%lld rows are in two parts of a split", (long long)twice);
}

/* An error, although the graph can be read: nothing can be explained with it. */
static void tell_outside(teller *t, const cbx_graph_data *d, int64_t at, int64_t outside)
{
    int32_t row = 0;
    while (!d->x && d->x_indptr[row + 1] <= at)
        row++;
    row = d->x ? (int32_t)(at / d->num_features) : row;
    int32_t j = d->x ? (int32_t)(at % d->num_features) : d->x_indices[at];
    char    node[16], feature[16];
    (void)snprintf(node, sizeof node, "%d", (int)row);
    (void)snprintf(feature, sizeof feature, "%d", (int)j);
    tell(t, CBX_PROBLEM_ERROR,
         "%lld feature %s outside %s feature's bounds, the first %g, feature "
         "'%.60s' of node '%.60s', where the bounds are %g to %g: correct the bounds or the data",
         (long long)outside, outside == 1 ? "value lies" : "values lie",
         outside == 1 ? "its" : "their", (double)(d->x ? d->x[at] : d->x_values[at]),
         d->feature_names ? d->feature_names[j] : feature,
         d->node_names ? d->node_names[row] : node, (double)d->feat_min[j], (double)d->feat_max[j]);
}

static cbx_status warn_features(teller *t, const cbx_graph_data *d, cbx_error *err)
{
    size_t   f = (size_t)d->num_features;
    float   *lo = calloc(f, sizeof *lo), *hi = calloc(f, sizeof *hi);
    int64_t *seen = calloc(f, sizeof *seen), outside = 0, constant = 0, first = 0;
    if (!lo || !hi || !seen) {
        free(lo), free(hi), free(seen);
        return cbx_fail_memory(err);
    }
    int64_t count = d->x ? (int64_t)d->num_nodes * d->num_features : d->x_indptr[d->num_nodes];
    for (int64_t k = 0; k < count; k++) {
        int32_t j = d->x ? (int32_t)(k % d->num_features) : d->x_indices[k];
        float   v = d->x ? d->x[k] : d->x_values[k];
        lo[j] = !seen[j] || v < lo[j] ? v : lo[j];
        hi[j] = !seen[j] || v > hi[j] ? v : hi[j];
        seen[j]++;
        bool within = v >= d->feat_min[j] && v <= d->feat_max[j];
        first = !within && !outside ? k : first;
        outside += !within;
    }
    for (size_t j = 0; j < f; j++) {
        if (seen[j] < d->num_nodes) {
            lo[j] = lo[j] < 0 ? lo[j] : 0;
            hi[j] = hi[j] > 0 ? hi[j] : 0;
        }
        constant += lo[j] == hi[j];
    }
    free(lo), free(hi), free(seen);
    if (constant)
        tell(t, CBX_PROBLEM_WARNING, "%lld %s the same value everywhere", (long long)constant,
             constant == 1 ? "feature has" : "features have");
    if (outside)
        tell_outside(t, d, first, outside);
    return CBX_OK;
}

cbx_status cbx_problems_warnings(const cbx_graph *g, cbx_on_problem on_problem, void *user,
                                 cbx_error *err)
{
    teller          t = {on_problem, user, 0, 0};
    cbx_graph_stats stats;
    cbx_status      status = cbx_graph_measure(g, &stats, err);
    if (status)
        return status;
    warn_counts(&t, &g->data, &stats);
    warn_splits(&t, g);
    status = warn_classes(&t, g, err);
    return status ? status : warn_features(&t, &g->data, err);
}
