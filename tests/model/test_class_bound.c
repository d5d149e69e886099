/* SPDX-License-Identifier: Apache-2.0 */
/* What a margin claims, against the model itself: features and edge weights wander
 * off step by step, and whatever was claimed without running must hold when it is. */
#include "class_bound.h"

#include <math.h>

#include "fold_columns.h"
#include "samples.h"

typedef struct walk {
    sample          s;
    cbx_model      *model;
    cbx_arena       arena;
    cbx_view        view;
    cbx_matrix      X;
    float          *x, *w;
    cbx_pass        pass, check;
    cbx_class_bound margin;
    cbx_rng         rng;
    const char     *conv;
} walk;

static float draw(cbx_rng *rng, float size)
{
    return size * (float)(2 * cbx_rng_uniform(rng) - 1);
}

static void start_walk(walk *k, bool graphs, bool weighted, cbx_model *model)
{
    cbx_error  err = {0};
    cbx_matrix X;
    int32_t    row = 1;
    k->model = model;
    if (graphs)
        CHECK_OK(cbx_view_graphs(k->s.graph, &row, 1, &k->arena, &k->view, &err), err);
    else
        CHECK_OK(cbx_view_around(k->s.graph, row, model->num_layers + 1, &k->arena, &k->view, &err),
                 err);
    CHECK_OK(cbx_view_features(k->s.graph, &k->view, &k->arena, &X, &err), err);
    k->x = CBX_NEW(&k->arena, float, (size_t)X.rows *(size_t)X.cols);
    k->w = CBX_NEW(&k->arena, float, k->view.m);
    cbx_matrix_expand(&X, X.rows, k->x);
    k->X = cbx_matrix_dense(X.rows, X.cols, k->x);
    for (int64_t e = 0; e < k->view.m; e++)
        k->w[e] = weighted ? k->view.weight[e] : 0.7f;
    CHECK_OK(cbx_pass_init(&k->pass, model, &k->view, &k->X, true, 1, &k->arena, &err), err);
    CHECK_OK(cbx_pass_init(&k->check, model, &k->view, &k->X, true, 1, &k->arena, &err), err);
    const float *spectral_norm = cbx_model_spectral_norms(model, &k->arena);
    CHECK(spectral_norm &&
          !cbx_class_bound_init(&k->margin, &k->pass, &k->X, spectral_norm, &k->arena));
}

/* Moves rows and weights, and says so. */
static void wander(walk *k, float size)
{
    for (int32_t i = 0; i < k->pass.steps[0].rows_in; i++) {
        double squares = 0;
        for (int32_t j = 0; j < k->X.cols; j++) {
            float by = draw(&k->rng, size);
            k->x[(int64_t)i * k->X.cols + j] += by;
            squares += (double)by * by;
        }
        cbx_class_bound_moved(&k->margin)[i] += (float)(sqrt(squares) * 1.0001);
    }
    for (int64_t e = 0; e < k->view.m; e++)
        k->w[e] = fminf(fmaxf(k->w[e] + draw(&k->rng, size / 4), 0.01f), 1);
}

/* By how much a class leads all others. */
static double lead_of(const cbx_pass *p, int32_t best)
{
    double least = INFINITY;
    for (int32_t c = 0; c < p->model->num_classes; c++)
        if (c != best)
            least = fmin(least, (double)p->logp[best] - p->logp[c]);
    return least;
}

/* The largest derivative of a lead by one feature or edge weight. */
static double steepest(walk *k, int32_t best)
{
    int32_t C = k->model->num_classes, rows = k->pass.steps[0].rows_in;
    float  *d = CBX_NEW0(&k->arena, float, C), *dw = CBX_NEW(&k->arena, float, k->view.m);
    float  *dX = CBX_NEW(&k->arena, float, (size_t)rows *(size_t)k->X.cols);
    double  most = 0;
    for (int32_t c = 0; c < C; c++) {
        if (c == best)
            continue;
        d[best] = 1;
        d[c] = -1;
        cbx_pass_backward(&k->check, d, dX, dw, NULL);
        d[c] = 0;
        for (int64_t i = 0; i < (int64_t)rows * k->X.cols; i++)
            most = fmax(most, fabs((double)dX[i]));
        for (int64_t e = 0; e < k->view.m; e++)
            most = fmax(most, fabs((double)dw[e]));
    }
    return most;
}

/* What is known of each layer's outputs: how far they are from what the head has seen. */
static void check_shown(const walk *k)
{
    const cbx_class_bound *g = &k->margin;
    for (int32_t l = 0; g->known && l + 1 < k->model->num_layers; l++) {
        int32_t width = k->model->layers[l].n_out;
        if (k->model->head == CBX_HEAD_CAT && k->model->task == CBX_NODE)
            CHECK(g->from_shown[l][0] >= cbx_distance(width, k->pass.out[l], g->shown[l]) * 0.999f);
    }
}

typedef struct tally {
    int64_t proved, in_part, slopes, passes;
} tally;

static void take_steps(walk *k, float size, int steps, double enough, tally *count)
{
    for (int t = 0; t < steps; t++) {
        cbx_class_bound_start(&k->margin, &k->X, k->w);
        double lead = cbx_class_bound_lower(&k->margin);
        double slope = cbx_class_bound_slope(&k->margin);
        bool   proved = lead > enough, in_part = false;
        if (!proved)
            in_part = !cbx_class_bound_run_until_proved(&k->margin, enough);
        check_shown(k);
        cbx_pass_forward(&k->check, &k->X, k->w, 0, 0);
        double truth = lead_of(&k->check, k->margin.best);
        if (t > 0 || count->passes > 0)
            CHECK(lead <= truth + 1e-5);
        if (proved || in_part)
            CHECK(truth > enough - 1e-5);
        if (isfinite(slope)) {
            CHECK(steepest(k, k->margin.best) <= slope);
            count->slopes++;
        }
        count->proved += proved;
        count->in_part += in_part;
        count->passes += !proved && !in_part;
        wander(k, size);
    }
}

/* `block`: skip connections, batch normalisation, and so many hidden units in the head. */
static tally try_block(const char *conv, const char *order, const char *aggregation, bool graphs,
                       bool weighted, const char *pool, const char *layers, const char *block)
{
    const char *around = strcmp(block, "0") != 0 ? "true" : "false";
    tally       count = {0};
    for (uint64_t seed = 0; seed < 6; seed++) {
        walk k = {.rng = cbx_rng_stream(seed, 7, graphs, weighted)};
        k.s = make_sample((sample_shape){.nodes = 60,
                                         .features = 6,
                                         .classes = 3,
                                         .graphs = graphs ? 4 : 0,
                                         .weighted = weighted,
                                         .plain = !graphs && !weighted,
                                         .seed = seed});
        cbx_model *m = MODEL(k.s.graph, (int64_t)seed, "model", conv, "order", order, "aggregation",
                             aggregation, "hidden", "10", "layers", layers, "pool", pool,
                             "residual", around, "batch-norm", around, "head-hidden", block);
        start_walk(&k, graphs, weighted, m);
        for (float size = 1e-4f; size < 0.2f; size *= 6)
            take_steps(&k, size, 15, seed % 2 ? 0 : 0.2, &count);
        cbx_model_free(m);
        cbx_arena_free(&k.arena);
        free_sample(&k.s);
    }
    return count;
}

static tally try_deep(const char *conv, const char *order, const char *aggregation, bool graphs,
                      bool weighted, const char *pool, const char *layers)
{
    return try_block(conv, order, aggregation, graphs, weighted, pool, layers, "0");
}

static tally try_models(const char *conv, const char *order, const char *aggregation, bool graphs,
                        bool weighted, const char *pool)
{
    return try_deep(conv, order, aggregation, graphs, weighted, pool, "3");
}

/* Of many layers only some are a reason to ask whether the rest is needed, but the head sees all.
 */
TEST(what_is_claimed_of_a_deep_model_holds)
{
    tally t = try_deep("gcn", "1", "add", false, false, "mean", "7");
    CHECK(t.proved > 20 && t.passes > 20 && t.in_part > 5);
    t = try_deep("gcn", "1", "add", true, false, "mean", "6");
    CHECK(t.passes > 20 && t.in_part > 0);
}

TEST(what_is_claimed_of_a_node_holds)
{
    const char *const models[][3] = {{"gcn", "1", "add"},        {"graphconv", "1", "add"},
                                     {"graphconv", "1", "mean"}, {"graphconv", "1", "max"},
                                     {"cheb", "1", "add"},       {"gin", "1", "add"}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        for (int weighted = 0; weighted < 2; weighted++) {
            tally t = try_models(models[i][0], models[i][1], models[i][2], false, weighted, "mean");
            CHECK(t.proved > 20 && t.passes > 20 && t.in_part > 5);
            CHECK(weighted || t.slopes > 0);
        }
}

TEST(what_is_claimed_of_a_graph_holds)
{
    const char *const pools[] = {"mean", "sum", "max"};
    for (int i = 0; i < 3; i++) {
        tally t = try_models("gcn", "1", "add", true, false, pools[i]);
        CHECK(t.proved > 5 && t.passes > 20 && t.in_part > 0);
    }
}

TEST(what_is_claimed_of_skip_connections_normalised_layers_and_hidden_units_holds)
{
    const char *const convs[] = {"gcn", "sage", "gin"};
    for (size_t i = 0; i < sizeof convs / sizeof *convs; i++)
        for (int graphs = 0; graphs < 2; graphs++) {
            tally t = try_block(convs[i], "1", "add", graphs, false, "mean", "2", "7");
            CHECK(t.proved > 5 && t.passes > 20);
        }
}

TEST(what_has_no_bound_is_always_run)
{
    const char *const models[][2] = {{"cheb", "3"}, {"gat", "1"}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        tally t = try_models(models[i][0], models[i][1], "add", false, false, "mean");
        CHECK_INT(t.proved, 0);
        CHECK_INT(t.in_part, 0);
        CHECK(t.passes > 0);
    }
}

/* Of an input whose columns have left for the layer's weights (fold_columns.h) less can be measured
 * than an edge's weight moves. */
TEST(what_has_left_the_input_counts)
{
    enum { FEATURES = 100 }; /* more than there are rows */
    walk             k = {.rng = cbx_rng_stream(1, 8, 0, 0)};
    cbx_fold_columns narrow;
    int32_t          keep[FEATURES] = {1};
    k.s = make_sample(
        (sample_shape){.nodes = 60, .features = FEATURES, .classes = 3, .plain = true, .seed = 1});
    cbx_model *m = MODEL(k.s.graph, 1, "model", "gcn", "hidden", "10", "layers", "3");
    start_walk(&k, false, false, m);
    int32_t rows = k.pass.steps[0].rows_in;
    float  *left = CBX_NEW(&k.arena, float, (size_t)rows *FEATURES);
    memcpy(left, k.x, (size_t)rows * FEATURES * sizeof *left);
    CHECK_INT(cbx_fold_columns_init(&narrow, &m->layers[0], FEATURES, rows, &k.arena), 0);
    CHECK_INT(cbx_fold_columns_to(&narrow, keep, left, &k.arena), 0);
    CHECK_INT(cbx_pass_replace_first(&k.pass, &narrow.layer, &k.arena), 0);
    k.margin.beyond = narrow.beyond;
    cbx_matrix X = cbx_matrix_dense(rows, cbx_fold_columns_left(&narrow), left);
    for (int32_t i = 0; i < rows; i++)
        cbx_class_bound_moved(&k.margin)[i] = 1e3f; /* so that rows are measured again */
    cbx_class_bound_start(&k.margin, &X, k.w);
    CHECK(cbx_class_bound_run_until_proved(&k.margin, INFINITY));
    for (int32_t i = 0; i < rows; i++) {
        double length = cbx_length(FEATURES, k.x + (int64_t)i * FEATURES);
        CHECK(length > 1 && k.margin.size[0][i] >= length && k.margin.size[0][i] < 100);
        CHECK_NEAR(cbx_class_bound_moved(&k.margin)[i], 0, 0);
    }
    cbx_model_free(m);
    cbx_arena_free(&k.arena);
    free_sample(&k.s);
}
