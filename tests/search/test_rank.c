/* SPDX-License-Identifier: Apache-2.0 */
/* Influence: the slope of the log-odds at the factual graph, times the change. */
#include <math.h>

#include "naive_oracle.h"
#include "policy.h"
#include "own_options.h"
#include "test.h"

/* log p(result) - log p(prediction). */
static double log_odds(const naive *p, const cbx_counterfactual *r, const double *x,
                       const double *w)
{
    double logp[4];
    naive_predict(p, x, w, logp);
    return logp[r->result] - logp[r->prediction];
}

/* The edit's influence by central differences, in double. */
static double expected(const oracle *o, naive *p, const cbx_counterfactual *r, const cbx_edit *e)
{
    const double h = 1e-6;
    double       odds[2];
    bag          b = {0};
    double      *w = TAKE(&b, double, p->m), *x = TAKE(&b, double, p->n * p->f);
    for (int side = 0; side < 2; side++) {
        double nudge = side ? h : -h;
        memcpy(x, p->x, (size_t)p->n * (size_t)p->f * sizeof *x);
        memcpy(w, p->weight, (size_t)p->m * sizeof *w);
        if (e->op == CBX_SET_FEATURE)
            x[p->local[e->node] * p->f + e->feature] += nudge;
        for (int64_t k = 0; k < p->m && e->op == CBX_REMOVE_EDGE; k++) {
            int64_t from = o->data.edge_source[p->edge[k]], to = o->data.edge_target[p->edge[k]];
            bool    there = from == e->source && to == e->target;
            bool    back = from == e->target && to == e->source;
            if (e->undirected ? there || back : e->edge == p->edge[k])
                w[k] *= 1 + nudge;
        }
        odds[side] = log_odds(p, r, x, w);
    }
    bag_free(&b);
    double slope = (odds[1] - odds[0]) / (2 * h);
    return e->op == CBX_SET_FEATURE ? slope * ((double)e->to - e->from) : -slope;
}

/* Features first, then edges: together, features do it all. */
static void check_influence(oracle_shape shape, cbx_explain_options a)
{
    shape.seed = 1;
    oracle  o = oracle_make(shape);
    int64_t features = 0, edges = 0;
    int32_t rows = oracle_rows(&o);
    for (int32_t i = 0; i < 2 * rows; i++) {
        combinex_of(&a)->policy.shape = i < rows ? CBX_POLICY_LINEAR : CBX_POLICY_EDGES;
        cbx_counterfactual *r = explain_row(&o, i % rows, &a);
        naive               p = naive_make(&o, i % rows);
        for (int64_t k = 0; k < r->num_edits; k++) {
            double e = expected(&o, &p, r, &r->edits[k]);
            CHECK_NEAR(r->edits[k].influence, e, 1e-3 * fabs(e) + 1e-4);
            CHECK(k == 0 || r->edits[k - 1].influence >= r->edits[k].influence);
        }
        features += r->num_features_changed;
        edges += r->num_edges_removed;
        naive_free(&p);
        cbx_counterfactual_free(r);
    }
    if (!CHECK(features > 20 && edges > 0))
        printf("  (%s, %d rows: %lld, %lld)\n", shape.conv, rows, (long long)features,
               (long long)edges);
    oracle_free(&o);
}

TEST(influence_is_the_slope_times_the_change_for_features_and_edges)
{
    cbx_explain_options one = ASK("epochs", "60", "target", "any");
    cbx_explain_options both = ASK("epochs", "60", "target", "any", "edges", "undirected");
    check_influence((oracle_shape){"gcn", .nodes = 20, .directed = true}, one);
    check_influence((oracle_shape){"gcn", .nodes = 20, .sparse = true}, both);
    check_influence((oracle_shape){"graphconv", .nodes = 20, .directed = true}, both);
    check_influence((oracle_shape){"graphconv", .nodes = 60, .graphs = 12}, one);
    check_influence((oracle_shape){"gcn", .nodes = 60, .graphs = 12, .directed = true}, both);
}

/* ---- single edits, in a graph of three nodes and one feature */

/* Node 0 gets 2 -> 0 and 1 -> 2 is there too; x = 1, 2, 3 within 0 and 10. */
static oracle three_nodes(const char *conv)
{
    static const int64_t source[] = {2, 1}, target[] = {0, 2}, y[] = {0, 1, 0};
    static const float   x[] = {1, 2, 3}, lo[] = {0}, hi[] = {10};
    static const uint8_t discrete[] = {0};
    const cbx_graph_data data = {.num_nodes = 3,
                                 .num_features = 1,
                                 .num_edges = 2,
                                 .edge_source = source,
                                 .edge_target = target,
                                 .x = x,
                                 .y = y,
                                 .discrete = discrete,
                                 .feat_min = lo,
                                 .feat_max = hi};
    return oracle_by_hand(&data, conv, "add", 1);
}

TEST(a_single_feature_edit_has_its_influence)
{
    /* Order 1 looks at the node alone: h = 2 x, scores 0 and 6 h - 15, and so the
     * log-odds of class 1 are 12 x - 15: -3 at x = 1, with slope 12. */
    oracle              o = three_nodes("cheb");
    cbx_explain_options a = ASK("policy", "features", "epochs", "60");
    oracle_set(&o, "layers.0.lins.0.weight", (float[]){2});
    oracle_set(&o, "layers.0.bias", (float[]){0});
    oracle_set(&o, "output_layer.weight", (float[]){0, 6});
    oracle_set(&o, "output_layer.bias", (float[]){0, -15});
    cbx_counterfactual *r = explain_row(&o, 0, &a);
    CHECK_INT(r->outcome, CBX_FOUND);
    if (CHECK(r->num_edits == 1)) {
        const cbx_edit *e = &r->edits[0];
        CHECK(e->op == CBX_SET_FEATURE && e->node == 0 && e->feature == 0 && e->from == 1);
        CHECK(e->to > 1.25f && e->to < 3);
        CHECK_NEAR(e->influence, 12 * ((double)e->to - 1), 1e-4);
    }
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

TEST(a_single_edge_edit_has_its_influence)
{
    /* h = 3 w + 1 (node 2's feature and its own), scores 5 h - 8 and 0: the log-odds
     * of class 1 are 3 - 15 w. Removing the edge, to first order: 15. */
    oracle              o = three_nodes("graphconv");
    cbx_explain_options a = ASK("policy", "edges", "epochs", "60");
    oracle_set(&o, "layers.0.lin_rel.weight", (float[]){1});
    oracle_set(&o, "layers.0.lin_rel.bias", (float[]){0});
    oracle_set(&o, "layers.0.lin_root.weight", (float[]){1});
    oracle_set(&o, "output_layer.weight", (float[]){5, 0});
    oracle_set(&o, "output_layer.bias", (float[]){-8, 0});
    for (a.edges = 0; a.edges < 2; a.edges++) {
        cbx_counterfactual *r = explain_row(&o, 0, &a);
        CHECK_INT(r->outcome, CBX_FOUND);
        if (CHECK(r->num_edits == 1)) {
            const cbx_edit *e = &r->edits[0];
            CHECK(e->op == CBX_REMOVE_EDGE && (e->undirected || (e->source == 2 && e->edge == 0)));
            CHECK_NEAR(e->influence, 15, 1e-4);
        }
        cbx_counterfactual_free(r);
    }
    oracle_free(&o);
}
