/* SPDX-License-Identifier: Apache-2.0 */
/* Passes of whole models: values and all three gradients against the reference in double
 * precision, with and without dropout, on whole graphs, around nodes and on batches;
 * and no allocation once a pass is made. */
#include "pass.h"

#include <stdio.h>

#include "samples.h"
#include "test.h"
#include "reference.h"

/* A pass ready to run, on any view of a sample. */
typedef struct bench {
    sample     s;
    cbx_model *m;
    cbx_arena  arena;
    cbx_view   view;
    cbx_matrix X;
    cbx_pass   pass;
} bench;

/* What is random in a sample's parameters: init leaves biases 0, where relu has its
 * kink; these do not. */
static void shake(cbx_model *m)
{
    cbx_rng rng = cbx_rng_stream(5, 6, 7, 8);
    for (int64_t i = 0; i < m->size; i++)
        m->theta[i] += (float)(0.4 * (cbx_rng_uniform(&rng) - 0.4));
}

/* around < 0: the whole graph, or all graphs. */
static bench open_bench(sample_shape shape, const char *const *settings, int32_t around,
                        int32_t hops)
{
    bench     b = {.s = make_sample(shape)};
    cbx_error err = {0};
    b.m = make_model(b.s.graph, 3, settings);
    shake(b.m);
    if (around < 0)
        CHECK_OK(cbx_view_whole(b.s.graph, &b.arena, &b.view, &err), err);
    else
        CHECK_OK(cbx_view_around(b.s.graph, around, hops, &b.arena, &b.view, &err), err);
    CHECK_OK(cbx_view_features(b.s.graph, &b.view, &b.arena, &b.X, &err), err);
    CHECK_INT(cbx_matrix_transpose(&b.X, &b.arena), 0);
    return b;
}

static void close_bench(bench *b)
{
    cbx_arena_free(&b->arena);
    cbx_model_free(b->m);
    free_sample(&b->s);
}

/* Largest difference of `actual` from the reference's slopes at `at`, relative to the
 * largest slope. */
static double difference(const reference *t, int64_t count, double *at, const float *actual)
{
    double  worst = 0, scale = 1e-3;
    double *slope = reference_array(count);
    for (int64_t i = 0; i < count; i++) {
        slope[i] = reference_slope(t, at + i);
        scale = fmax(scale, fabs(slope[i]));
    }
    for (int64_t i = 0; i < count; i++) {
        double d = fabs(actual[i] - slope[i]) / scale;
        if (!(d <= worst))
            worst = d;
    }
    free(slope);
    return worst;
}

static void check_gradients(bench *b, reference *t, const float *dlogp)
{
    cbx_pass *p = &b->pass;
    int64_t   inputs = (int64_t)cbx_pass_input_rows(p) * b->m->num_features;
    float    *dX = CBX_NEW(&b->arena, float, inputs), *dw = CBX_NEW(&b->arena, float, b->view.m);
    float    *dtheta = CBX_NEW0(&b->arena, float, b->m->size);
    bool      whole = b->X.dense || cbx_pass_input_rows(p) == b->X.rows; /* see pass.h */
    memset(dX, 0x7f, (size_t)inputs * sizeof *dX); /* to be overwritten, all of it */
    memset(dw, 0x7f, (size_t)b->view.m * sizeof *dw);
    cbx_pass_backward(p, dlogp, dX, dw, whole ? dtheta : NULL);
    CHECK(difference(t, inputs, t->X, dX) < 1e-4);
    CHECK(difference(t, b->view.m, t->w, dw) < 1e-4);
    for (int32_t i = 0; whole && i < b->m->num_parameters; i++) {
        const cbx_named_parameter *q = &b->m->parameters[i];
        int64_t                    count = cbx_parameter_size(&q->shape);
        if (!q->shape.observed)
            CHECK(difference(t, count, t->theta + q->offset, dtheta + q->offset) < 1e-4);
    }
    /* Rows that the first layer does not read have no influence. */
    for (int64_t i = inputs; i < (int64_t)b->view.n * b->m->num_features; i++)
        CHECK(reference_slope(t, t->X + i) == 0);
    /* Each alone gives the same as all together, and dtheta is added to. */
    float *alone = CBX_NEW(&b->arena, float, inputs);
    float *twice = CBX_NEW(&b->arena, float, b->m->size);
    for (int64_t i = 0; i < b->m->size; i++)
        twice[i] = 1;
    cbx_pass_backward(p, dlogp, alone, NULL, NULL);
    CHECK(!memcmp(alone, dX, (size_t)inputs * sizeof *dX));
    if (!whole)
        return;
    cbx_pass_backward(p, dlogp, NULL, NULL, twice);
    for (int64_t i = 0; i < b->m->size; i++)
        CHECK(fabs(twice[i] - 1 - dtheta[i]) < 1e-5 * fmax(1, fabs(dtheta[i])));
}

static void check_bench(bench *b, double rate)
{
    cbx_error err = {0};
    cbx_rng   rng = cbx_rng_stream(1, 1, 1, 1);
    reference t = reference_new(b->m, &b->view, &b->X);
    int64_t   outputs = (int64_t)t.rows_out * b->m->num_classes;
    float    *dlogp = CBX_NEW(&b->arena, float, outputs);
    for (int64_t i = 0; i < outputs; i++) {
        dlogp[i] = (float)(2 * cbx_rng_uniform(&rng) - 1);
        t.coef[i] = dlogp[i];
    }
    t.rate = rate;
    t.stream = 99;
    if (CHECK_OK(cbx_pass_init(&b->pass, b->m, &b->view, &b->X, true, 1, &b->arena, &err), err)) {
        cbx_pass_forward(&b->pass, &b->X, NULL, rate, t.stream);
        (void)reference_loss(&t);
        double worst = 0;
        for (int64_t i = 0; i < outputs; i++)
            worst = fmax(worst, fabs(b->pass.logp[i] - t.logp[i]) / fmax(1, fabs(t.logp[i])));
        CHECK(worst < 1e-5);
        check_gradients(b, &t, dlogp);
    }
    reference_free(&t);
}

static const char *const convs[][4] = {{"model", "gcn"},
                                       {"model", "cheb", "order", "1"},
                                       {"model", "cheb", "order", "3"},
                                       {"model", "graphconv", "aggregation", "add"},
                                       {"model", "graphconv", "aggregation", "mean"},
                                       {"model", "gin", "mlp-hidden", "3"},
                                       {"model", "gin", "train-eps", "true"},
                                       {"model", "gat", "heads", "2"},
                                       {"model", "gat", "no-self-loops", "true"},
                                       {"model", "gat", "average-heads", "true"},
                                       {"model", "sage"},
                                       {"residual", "true", "model", "gin"},
                                       {"batch-norm", "true", "model", "graphconv"},
                                       {"head-hidden", "3", "residual", "true"},
                                       {"model", "graphconv", "aggregation", "max"}};
enum { CONVS = sizeof convs / sizeof *convs, MAX = CONVS - 1 };

/* One model of each conv, on one view, with these further settings. */
static void check_convs(sample_shape shape, const char *name, const char *value, int32_t around,
                        int32_t hops, double rate)
{
    for (int i = 0; i < CONVS; i++) {
        const char *settings[16] = {"layers", "2", "hidden", "4", name, value};
        int         before = test_failures();
        for (int k = 0; k < 4; k++)
            settings[6 + k] = convs[i][k];
        shape.full = i == MAX; /* zeros tie, and a maximum of equals has no slope */
        bench b = open_bench(shape, settings, around, hops);
        check_bench(&b, rate);
        close_bench(&b);
        if (test_failures() > before)
            printf("  (%s %s, %s %s)\n", convs[i][1], convs[i][3] ? convs[i][3] : "", name, value);
    }
}

static const sample_shape nodes = {
    .nodes = 11, .features = 5, .classes = 3, .weighted = true, .seed = 1};
static const sample_shape sparse = {
    .nodes = 11, .features = 5, .classes = 3, .weighted = true, .sparse = true, .seed = 2};
static const sample_shape graphs = {
    .nodes = 13, .features = 4, .classes = 2, .graphs = 4, .weighted = true, .seed = 3};

TEST(values_and_gradients_agree_with_the_reference_for_the_last_layers_head)
{
    check_convs(nodes, "head", "last", -1, 0, 0);
}

TEST(values_and_gradients_agree_with_the_reference_for_the_head_of_all_layers)
{
    check_convs(nodes, "head", "cat", -1, 0, 0);
}

TEST(values_and_gradients_agree_with_the_reference_for_sparse_features)
{
    check_convs(sparse, "head", "cat", -1, 0, 0);
}

TEST(values_and_gradients_agree_with_the_reference_for_every_pool)
{
    check_convs(graphs, "pool", "mean", -1, 0, 0);
    check_convs(graphs, "pool", "sum", -1, 0, 0);
    check_convs(graphs, "pool", "max", -1, 0, 0);
}

TEST(values_and_gradients_agree_with_the_reference_for_pools_of_all_layers)
{
    static const char *const pools[] = {"mean", "sum", "max"};
    for (int i = 0; i < 3; i++) {
        const char *settings[] = {"layers", "3",    "hidden", "4", "head",
                                  "cat",    "pool", pools[i], NULL};
        bench       b = open_bench(graphs, settings, -1, 0);
        check_bench(&b, 0);
        close_bench(&b);
    }
}

TEST(values_and_gradients_agree_with_the_reference_around_a_node)
{
    for (int32_t hops = 0; hops <= 5; hops++) /* fewer than the reach, and more */
        check_convs(nodes, "head", hops % 2 ? "cat" : "last", 4, hops, 0);
    check_convs(sparse, "head", "cat", 7, 3, 0);
}

TEST(gradients_with_dropout_are_those_of_the_units_that_were_kept)
{
    check_convs(nodes, "head", "cat", -1, 0, 0.4);
    check_convs(graphs, "pool", "mean", -1, 0, 0.5);
    check_convs(nodes, "head", "last", 4, 3, 0.3);
}

TEST(deep_and_narrow_models_agree_with_the_reference)
{
    bench b = open_bench(
        nodes, (const char *const[]){"layers", "5", "hidden", "2", "head", "cat", NULL}, 2, 6);
    check_bench(&b, 0);
    close_bench(&b);
    b = open_bench(nodes, (const char *const[]){"layers", "1", "hidden", "1", NULL}, -1, 0);
    check_bench(&b, 0);
    close_bench(&b);
}

TEST(edge_weights_given_replace_the_views_own)
{
    bench     b = open_bench(nodes, (const char *const[]){"hidden", "4", NULL}, -1, 0);
    cbx_error err = {0};
    reference t = reference_new(b.m, &b.view, &b.X);
    float    *w = CBX_NEW(&b.arena, float, b.view.m);
    for (int64_t e = 0; e < b.view.m; e++)
        t.w[e] = w[e] = e % 5 ? (float)(1 + e % 3) : 0; /* some edges are gone */
    CHECK_OK(cbx_pass_init(&b.pass, b.m, &b.view, &b.X, false, 1, &b.arena, &err), err);
    cbx_pass_forward(&b.pass, &b.X, w, 0, 0);
    (void)reference_loss(&t);
    for (int64_t i = 0; i < (int64_t)b.view.n * b.m->num_classes; i++)
        CHECK_NEAR(b.pass.logp[i], t.logp[i], 1e-5 * fmax(1, fabs(t.logp[i])));
    reference_free(&t);
    close_bench(&b);
}

TEST(a_pass_may_be_used_again_with_other_inputs)
{
    bench     b = open_bench(nodes, (const char *const[]){"hidden", "4", NULL}, -1, 0);
    cbx_error err = {0};
    int64_t   size = (int64_t)b.X.rows * b.X.cols, outputs = (int64_t)b.view.n * b.m->num_classes;
    float    *other = CBX_NEW(&b.arena, float, size), *first = CBX_NEW(&b.arena, float, outputs);
    CHECK_OK(cbx_pass_init(&b.pass, b.m, &b.view, &b.X, true, 1, &b.arena, &err), err);
    cbx_pass_forward(&b.pass, &b.X, NULL, 0, 0);
    memcpy(first, b.pass.logp, (size_t)outputs * sizeof *first);
    for (int64_t i = 0; i < size; i++)
        other[i] = 1 - b.X.dense[i];
    cbx_matrix Y = cbx_matrix_dense(b.X.rows, b.X.cols, other);
    cbx_pass_forward(&b.pass, &Y, NULL, 0, 0);
    CHECK(memcmp(first, b.pass.logp, (size_t)outputs * sizeof *first) != 0);
    cbx_pass_forward(&b.pass, &b.X, NULL, 0, 0);
    CHECK(!memcmp(first, b.pass.logp, (size_t)outputs * sizeof *first));
    close_bench(&b);
}

/* ---- memory */

static void check_no_allocation(sample_shape shape, const char *const *settings, int threads)
{
    bench     b = open_bench(shape, settings, -1, 0);
    cbx_error err = {0};
    float    *dX = CBX_NEW(&b.arena, float, (int64_t)b.view.n *b.m->num_features);
    float *dw = CBX_NEW(&b.arena, float, b.view.m), *dtheta = CBX_NEW(&b.arena, float, b.m->size);
    CHECK_OK(cbx_pass_init(&b.pass, b.m, &b.view, &b.X, true, threads, &b.arena, &err), err);
    int64_t outputs = (int64_t)b.pass.rows_out * b.m->num_classes;
    float  *dlogp = CBX_NEW0(&b.arena, float, outputs);
    long    before = test_allocations();
    for (int i = 0; i < 3; i++) {
        cbx_pass_forward(&b.pass, &b.X, NULL, i ? 0.5 : 0, 1);
        cbx_pass_backward(&b.pass, dlogp, dX, dw, dtheta);
    }
    CHECK_INT(test_allocations(), before);
    close_bench(&b);
}

TEST(forward_and_backward_do_not_allocate)
{
    for (int i = 0; i < CONVS; i++) {
        const char  *settings[8] = {convs[i][0], convs[i][1], convs[i][2], convs[i][3]};
        sample_shape many = {.nodes = 400, .features = 70, .classes = 3, .graphs = 20, .seed = 4};
        check_no_allocation(nodes, settings, 1);
        check_no_allocation(sparse, settings, 1);
        check_no_allocation(graphs, settings, 1);
        check_no_allocation(many, settings, 2);
    }
    long before = test_allocations();
    void *volatile some = malloc(1); /* the counter counts */
    free(some);
    CHECK(test_allocations() == before + 1);
}

static cbx_status init_once(void *user)
{
    bench     *b = user;
    cbx_arena  arena = {0};
    cbx_error  err = {0};
    cbx_pass   pass;
    cbx_status status = cbx_pass_init(&pass, b->m, &b->view, &b->X, true, 1, &arena, &err);
    CHECK(status == err.status);
    cbx_arena_free(&arena);
    return status;
}

TEST(making_a_pass_survives_every_failing_allocation)
{
    for (int i = 0; i < CONVS; i++) {
        const char *settings[8] = {convs[i][0], convs[i][1], convs[i][2], convs[i][3]};
        bench       b = open_bench(graphs, settings, -1, 0);
        test_each_allocation(init_once, &b);
        close_bench(&b);
    }
}
