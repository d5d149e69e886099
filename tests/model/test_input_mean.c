/* SPDX-License-Identifier: Apache-2.0 */
/* Models that subtract means from their input, next to plain ones on data from which they were
 * subtracted beforehand. */
#include "standardise.h"

#include <math.h>

#include "../search/oracle.h"
#include "class_bound.h"
#include "pass.h"
#include "test.h"

static const oracle_shape shapes[] = {
    {"gcn", .nodes = 24},
    {"gcn", .nodes = 24, .directed = true, .sparse = true},
    {"gcn", .nodes = 40, .graphs = 8},
    {"graphconv", .nodes = 24, .directed = true},
    {"graphconv", .aggregation = "mean", .nodes = 24, .sparse = true},
    {"graphconv", .aggregation = "max", .nodes = 24},
    {"cheb", .order = 1, .nodes = 24},
    {"cheb", .order = 3, .nodes = 24, .directed = true},
    {"gin", .nodes = 24, .directed = true},
    {"gat", .nodes = 24, .sparse = true},
    {"sage", .nodes = 24, .sparse = true},
    {"gcn", .nodes = 24, .block = true},
    {"cheb", .order = 3, .nodes = 40, .graphs = 8, .block = true},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, FEATURES = 5, CLASSES = 3 };

/* Powers of two divide without rounding. */
static float means[FEATURES] = {1.5f, -0.3f, 0, 2.25f, -4}, none[FEATURES];
static float scales[FEATURES] = {4, 0.5f, 1, 2, 8};

/* A maximum cannot pass a mean on. */
static cbx_standard standard_of(oracle_shape shape)
{
    bool max = shape.aggregation && !strcmp(shape.aggregation, "max");
    return (cbx_standard){
        .mean = max ? none : means, .scale = scales, .count = FEATURES, .shifts = !max};
}

/* The same values and bounds, standardised. */
static cbx_graph *standardised(const oracle *o, const cbx_standard *s, bag *b)
{
    cbx_graph_data d = o->data;
    int32_t        n = d.num_nodes;
    float         *x = TAKE(b, float, n *FEATURES), *lo = TAKE(b, float, FEATURES);
    float         *hi = TAKE(b, float, FEATURES);
    cbx_graph     *graph = NULL;
    cbx_error      err = {0};
    for (int32_t k = 0; k < n * FEATURES; k++) {
        int32_t j = k % FEATURES;
        x[k] = (data_feature(&o->data, k / FEATURES, j) - s->mean[j]) / s->scale[j];
    }
    for (int32_t j = 0; j < FEATURES; j++) {
        lo[j] = (d.feat_min[j] - s->mean[j]) / s->scale[j];
        hi[j] = (d.feat_max[j] - s->mean[j]) / s->scale[j];
    }
    d.x = x;
    d.x_indptr = NULL, d.x_indices = NULL, d.x_values = NULL;
    d.num_x_values = 0;
    d.feat_min = lo, d.feat_max = hi;
    oracle_must(cbx_graph_new(&d, &graph, &err), &err);
    return graph;
}

/* An oracle that takes x, and the same that takes (x - mean) / scale. */
typedef struct pair {
    bag    bag;
    oracle folded, plain;
} pair;

static pair make(oracle_shape shape)
{
    pair         p = {0};
    cbx_error    err = {0};
    cbx_standard s = standard_of(shape);
    shape.seed = 7;
    shape.kind = 'c'; /* whole numbers are not, when they are divided */
    p.plain = oracle_make(shape);
    p.folded = oracle_make(shape);
    CHECK_OK(cbx_standard_fold(&s, p.folded.model, &err), err);
    cbx_graph *graph = standardised(&p.plain, &s, &p.bag);
    cbx_graph_free(p.plain.graph);
    p.plain.graph = graph;
    p.plain.data = *cbx_graph_arrays(graph);
    return p;
}

static void drop(pair *p)
{
    oracle_free(&p->folded);
    oracle_free(&p->plain);
    bag_free(&p->bag);
}

static double apart(const float *a, const float *b, int64_t count)
{
    double most = 0;
    for (int64_t k = 0; k < count; k++)
        most = fmax(most, fabs((double)a[k] - b[k]));
    return most;
}

TEST(the_model_standardises_or_the_data_was_before)
{
    for (int i = 0; i < SHAPES; i++) {
        pair    p = make(shapes[i]);
        int32_t rows = oracle_rows(&p.plain);
        float  *one = TAKE(&p.bag, float, rows *CLASSES), *two = TAKE(&p.bag, float, rows *CLASSES);
        cbx_error err = {0};
        CHECK_OK(cbx_predict(p.folded.model, p.folded.graph, 1, one, &err), err);
        CHECK_OK(cbx_predict(p.plain.model, p.plain.graph, 1, two, &err), err);
        CHECK(apart(one, two, (int64_t)rows * CLASSES) < 1e-4);
        CHECK_OK(cbx_predict(p.plain.model, p.folded.graph, 1, two, &err), err);
        CHECK(apart(one, two, (int64_t)rows * CLASSES) > 0.01); /* and it makes a difference */
        drop(&p);
    }
}

/* Removing an edge removes what it carried of the means: they cannot be a part of a bias. */
TEST(removed_edges_take_their_share_of_the_means_with_them)
{
    for (int i = 0; i < SHAPES; i++) {
        pair      p = make(shapes[i]);
        cbx_edit  edit = {.op = CBX_REMOVE_EDGE};
        cbx_error err = {0};
        float     one[CLASSES], two[CLASSES];
        edit.source = (int32_t)p.plain.data.edge_source[3];
        edit.target = (int32_t)p.plain.data.edge_target[3];
        edit.edge = 3;
        int32_t row = p.plain.data.task == CBX_GRAPH ? 0 : edit.target;
        CHECK_OK(cbx_check_edits(p.folded.model, p.folded.graph, row, &edit, 1, one, &err), err);
        CHECK_OK(cbx_check_edits(p.plain.model, p.plain.graph, row, &edit, 1, two, &err), err);
        CHECK(apart(one, two, CLASSES) < 1e-4);
        drop(&p);
    }
}

/* dL/dX and dL/dw of L = log p(class 1 of row 0). */
static void gradients(pair *p, const oracle *o, bool dense, float **dX, float **dw)
{
    cbx_arena  arena = {0};
    cbx_view   view;
    cbx_matrix X;
    cbx_pass   pass;
    cbx_error  err = {0};
    CHECK_OK(cbx_view_whole(o->graph, &arena, &view, &err), err);
    CHECK_OK(cbx_view_features(o->graph, &view, &arena, &X, &err), err);
    float *values = TAKE(&p->bag, float, view.n *FEATURES);
    cbx_matrix_expand(&X, view.n, values);
    if (dense)
        X = cbx_matrix_dense(view.n, FEATURES, values);
    CHECK_OK(cbx_pass_init(&pass, o->model, &view, &X, true, 1, &arena, &err), err);
    float *dlogp = TAKE(&p->bag, float, pass.rows_out *CLASSES);
    for (int32_t k = 0; k < pass.rows_out * CLASSES; k++)
        dlogp[k] = k == 1;
    *dX = TAKE(&p->bag, float, view.n *FEATURES);
    *dw = TAKE(&p->bag, float, view.m);
    cbx_pass_forward(&pass, &X, NULL, 0, 0);
    cbx_pass_backward(&pass, dlogp, *dX, *dw, NULL);
    cbx_arena_free(&arena);
}

TEST(gradients_pass_through)
{
    for (int i = 0; i < SHAPES; i++) {
        pair   p = make(shapes[i]);
        float *dX[2], *dw[2];
        gradients(&p, &p.folded, true, &dX[0], &dw[0]);
        gradients(&p, &p.plain, true, &dX[1], &dw[1]);
        for (int32_t k = 0; k < p.plain.data.num_nodes * FEATURES; k++)
            dX[1][k] /= scales[k % FEATURES];
        CHECK(apart(dX[0], dX[1], (int64_t)p.plain.data.num_nodes * FEATURES) < 1e-4);
        CHECK(apart(dw[0], dw[1], p.plain.data.num_edges) < 1e-3);
        drop(&p);
    }
}

/* An answer, made in the standardised data: what is there is what the answer says. */
static void check_answer(const pair *p, oracle_shape shape, const cbx_counterfactual *a)
{
    cbx_standard s = standard_of(shape);
    cbx_edit    *edits = malloc((size_t)(a->num_edits + 1) * sizeof *edits);
    float        logp[CLASSES];
    cbx_error    err = {0};
    for (int64_t e = 0; e < a->num_edits; e++) {
        int32_t j = a->edits[e].feature;
        edits[e] = a->edits[e];
        if (edits[e].op != CBX_SET_FEATURE)
            continue;
        CHECK(edits[e].to >= p->folded.data.feat_min[j] &&
              edits[e].to <= p->folded.data.feat_max[j]);
        edits[e].from = (edits[e].from - s.mean[j]) / s.scale[j];
        edits[e].to = (edits[e].to - s.mean[j]) / s.scale[j];
    }
    CHECK_OK(
        cbx_check_edits(p->plain.model, p->plain.graph, a->row, edits, a->num_edits, logp, &err),
        err);
    CHECK(apart(logp, a->after, CLASSES) < 1e-3);
    free(edits);
}

TEST(answers_in_the_datas_units_hold_in_standardised_ones)
{
    static const char *const methods[] = {"combinex", "cf-gnn", "minimal", "unr"};
    int                      found = 0;
    for (int i = 0; i < SHAPES; i++) {
        pair p = make(shapes[i]);
        for (int k = 0; k < 4; k++) {
            if (p.plain.data.task == CBX_GRAPH && k == 3)
                continue;
            cbx_explain_options ask = ASK("explainer", methods[k], "target", "any", "epochs", "40",
                                          "policy", "dynamic", "unr-rollouts", "40");
            for (int32_t row = 0; row < 4; row++) {
                cbx_counterfactual *a = explain_row(&p.folded, row, &ask);
                if (a->outcome == CBX_FOUND) {
                    check_answer(&p, shapes[i], a);
                    found++;
                }
                cbx_counterfactual_free(a);
            }
        }
        drop(&p);
    }
    CHECK(found > 30);
}

/* Edges have no units, and minimal goes by shares of a feature's range. */
TEST(searches_without_units_find_the_same)
{
    static const char *const methods[] = {"minimal", "minimal", "cf-gnn", "unr"};
    int                      proved = 0;
    for (int i = 0; i < SHAPES; i++) {
        pair p = make(shapes[i]);
        for (int k = 0; k < 4; k++) {
            if (p.plain.data.task == CBX_GRAPH && k == 3)
                continue;
            cbx_explain_options ask =
                ASK("explainer", methods[k], "target", "any", "epochs", "40", "unr-rollouts", "40",
                    "prove", "20", "max-edits", k < 2 ? "2" : "0", "features-to-vary",
                    k == 1 ? "none" : "all");
            for (int32_t row = 0; row < 4; row++) {
                cbx_counterfactual *a = explain_row(&p.folded, row, &ask);
                cbx_counterfactual *b = explain_row(&p.plain, row, &ask);
                CHECK_INT(a->outcome, b->outcome);
                CHECK_INT(a->certificate, b->certificate);
                CHECK_INT(a->num_edges_removed, b->num_edges_removed);
                CHECK_INT(a->num_features_changed, b->num_features_changed);
                CHECK_NEAR(a->cost, b->cost, 1e-3);
                proved += a->certificate == CBX_OPTIMAL;
                cbx_counterfactual_free(a), cbx_counterfactual_free(b);
            }
        }
        drop(&p);
    }
    CHECK(proved > 5);
}

/* A trace runs every pass; otherwise bounds prove that some need not be. */
TEST(proofs_hold_with_means)
{
    for (int i = 0; i < SHAPES; i++) {
        pair                p = make(shapes[i]);
        cbx_explain_options plain = ASK("epochs", "120", "policy", "linear", "target", "any");
        cbx_explain_options traced = plain;
        traced.trace = true;
        for (int32_t row = 0; row < 6; row++) {
            cbx_counterfactual *a = explain_row(&p.folded, row, &plain);
            cbx_counterfactual *b = explain_row(&p.folded, row, &traced);
            CHECK_INT(a->outcome, b->outcome);
            CHECK_INT(a->epoch, b->epoch);
            CHECK_INT(a->num_edits, b->num_edits);
            cbx_counterfactual_free(a), cbx_counterfactual_free(b);
        }
        drop(&p);
    }
}

/* With features of 0 all that moves when an edge goes is what it carried of the means. */
static void hold_bounds(oracle_shape shape, int *sharp)
{
    pair            p = make(shape);
    cbx_arena       arena = {0};
    cbx_view        view;
    cbx_pass        pass;
    cbx_class_bound margin;
    cbx_error       err = {0};
    const float    *spectral_norm = cbx_model_spectral_norms(p.folded.model, &arena);
    CHECK_OK(cbx_view_whole(p.folded.graph, &arena, &view, &err), err);
    float     *w = TAKE(&p.bag, float, view.m), *zeros = TAKE(&p.bag, float, view.n *FEATURES);
    cbx_matrix X = cbx_matrix_dense(view.n, FEATURES, zeros);
    for (int32_t k = 0; k < view.n * FEATURES; k++)
        zeros[k] = 0;
    CHECK_OK(cbx_pass_init(&pass, p.folded.model, &view, &X, false, 1, &arena, &err), err);
    CHECK_INT(cbx_class_bound_init(&margin, &pass, &X, spectral_norm, &arena), 0);
    for (int64_t gone = 0; gone < view.m; gone++) {
        for (int64_t e = 0; e < view.m; e++)
            w[e] = 1;
        cbx_class_bound_start(&margin, &X, w);
        (void)cbx_class_bound_run_until_proved(&margin, INFINITY);
        int32_t best = best_of(pass.logp, CLASSES);
        w[gone] = 0.9f;
        cbx_class_bound_start(&margin, &X, w);
        double bound = cbx_class_bound_lower(&margin), lead = INFINITY;
        (void)cbx_class_bound_run_until_proved(&margin, INFINITY);
        for (int32_t c = 0; c < CLASSES; c++)
            lead = c == best ? lead : fmin(lead, (double)pass.logp[best] - pass.logp[c]);
        CHECK(bound <= lead + 1e-4);
        *sharp += bound > 0;
    }
    cbx_arena_free(&arena);
    drop(&p);
}

TEST(bounds_count_what_edges_carry_of_the_means)
{
    int sharp = 0;
    for (int i = 0; i < SHAPES; i++)
        if (!shapes[i].graphs && !shapes[i].order)
            hold_bounds(shapes[i], &sharp);
    CHECK(sharp > 0);
}

static double lead_of(const float *logp, int32_t best)
{
    double lead = INFINITY;
    for (int32_t c = 0; c < CLASSES; c++)
        lead = c == best ? lead : fmin(lead, (double)logp[best] - logp[c]);
    return lead;
}

/* Of means that are far larger than what is left of the features without them, floats lose most
 * digits. Truth is the same model on x - mean, which is exact here. */
TEST(bounds_count_what_rounding_makes_of_large_means)
{
    enum { NODES = 24 };
    int    sharp = 0, lost = 0;
    float  large[FEATURES];
    double size[] = {10, 1e3, 1e5, 1e6};
    for (int k = 0; k < 16; k++) {
        oracle folded =
            oracle_make((oracle_shape){"gcn", .nodes = NODES, .kind = 'c', .seed = (uint64_t)k});
        oracle plain =
            oracle_make((oracle_shape){"gcn", .nodes = NODES, .kind = 'c', .seed = (uint64_t)k});
        cbx_arena arena = {0};
        cbx_error err = {0};
        float     x[NODES * FEATURES], rest[NODES * FEATURES];
        for (int32_t j = 0; j < FEATURES; j++)
            large[j] = (float)size[k % 4] * (float)(j + 1);
        for (int32_t i = 0; i < NODES * FEATURES; i++) {
            x[i] = data_feature(&plain.data, i / FEATURES, i % FEATURES) + large[i % FEATURES];
            rest[i] = x[i] - large[i % FEATURES];
        }
        CHECK_OK(cbx_model_centre(folded.model, large, &err), err);
        cbx_view        view;
        cbx_pass        pass, truth;
        cbx_class_bound margin;
        cbx_matrix      X = cbx_matrix_dense(NODES, FEATURES, x),
                   R = cbx_matrix_dense(NODES, FEATURES, rest);
        CHECK_OK(cbx_view_whole(folded.graph, &arena, &view, &err), err);
        CHECK_OK(cbx_pass_init(&pass, folded.model, &view, &X, false, 1, &arena, &err), err);
        CHECK_OK(cbx_pass_init(&truth, plain.model, &view, &R, false, 1, &arena, &err), err);
        CHECK_INT(cbx_class_bound_init(&margin, &pass, &X,
                                       cbx_model_spectral_norms(folded.model, &arena), &arena),
                  0);
        cbx_class_bound_start(&margin, &X, NULL);
        (void)cbx_class_bound_run_until_proved(&margin, INFINITY);
        int32_t best = best_of(pass.logp, CLASSES);
        cbx_class_bound_start(&margin, &X, NULL);
        double bound = cbx_class_bound_lower(&margin);
        cbx_pass_forward(&truth, &R, NULL, 0, 0);
        double lead = lead_of(truth.logp, best);
        CHECK(bound <= lead + 1e-5);
        sharp += bound > 0;
        lost += lead_of(pass.logp, best) - lead > 1e-3; /* what floats say and is not so */
        cbx_arena_free(&arena);
        oracle_free(&folded);
        oracle_free(&plain);
    }
    CHECK(sharp > 0 && lost > 0);
}
