/* SPDX-License-Identifier: Apache-2.0 */
/* Prediction: rows are probabilities, however the work is cut; a model that does not
 * fit is an error that names both sizes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pass.h"
#include "samples.h"
#include "test.h"

static const char *const convs[][4] = {{"model", "gcn"},
                                       {"model", "cheb", "order", "3"},
                                       {"model", "graphconv", "aggregation", "add"},
                                       {"model", "graphconv", "aggregation", "mean"},
                                       {"model", "graphconv", "aggregation", "max"},
                                       {"model", "gin", "eps", "0.5"},
                                       {"model", "gat", "heads", "2"},
                                       {"model", "sage", "residual", "true"},
                                       {"batch-norm", "true", "head-hidden", "5"}};
enum { CONVS = sizeof convs / sizeof *convs };

static cbx_model *model_of(const cbx_graph *g, int conv)
{
    const char *settings[8] = {convs[conv][0], convs[conv][1], convs[conv][2], convs[conv][3]};
    if (!settings[2]) {
        settings[2] = "hidden";
        settings[3] = "20";
    }
    return make_model(g, 4, settings);
}

static float *predict(const cbx_model *m, const cbx_graph *g, int64_t threads)
{
    size_t    count = (size_t)cbx_graph_label_rows(g) * (size_t)m->num_classes;
    float    *logp = malloc((count + 1) * sizeof *logp);
    cbx_error err = {0};
    logp[count] = 77;
    CHECK_OK(cbx_predict(m, g, threads, logp, &err), err);
    CHECK(logp[count] == 77);
    return logp;
}

static sample nodes(bool sparse)
{
    return make_sample((sample_shape){
        .nodes = 60, .features = 9, .classes = 4, .weighted = true, .sparse = sparse, .seed = 1});
}

/* More than two batches of 256. */
static sample graphs(void)
{
    return make_sample((sample_shape){
        .nodes = 2200, .features = 5, .classes = 3, .graphs = 550, .weighted = true, .seed = 2});
}

static void check_sums(sample s)
{
    for (int c = 0; c < CONVS; c++) {
        cbx_model *m = model_of(s.graph, c);
        float     *logp = predict(m, s.graph, 1);
        for (int32_t i = 0; i < cbx_graph_label_rows(s.graph); i++) {
            double sum = 0;
            for (int32_t k = 0; k < m->num_classes; k++)
                sum += exp(logp[i * m->num_classes + k]);
            if (!CHECK_NEAR(sum, 1, 1e-5))
                break;
        }
        free(logp);
        cbx_model_free(m);
    }
    free_sample(&s);
}

TEST(the_probabilities_of_a_row_add_up_to_one)
{
    check_sums(nodes(false));
    check_sums(nodes(true));
    check_sums(graphs());
}

TEST(sparse_and_dense_features_give_the_same)
{
    sample dense = nodes(false), sparse = nodes(true);
    for (int c = 0; c < CONVS; c++) {
        cbx_model *m = model_of(dense.graph, c);
        float     *a = predict(m, dense.graph, 1), *b = predict(m, sparse.graph, 1);
        CHECK(test_difference(60 * 4, a, b) < 1e-5);
        free(a);
        free(b);
        cbx_model_free(m);
    }
    free_sample(&dense);
    free_sample(&sparse);
}

TEST(dropout_is_not_for_prediction)
{
    sample     s = nodes(false);
    cbx_model *a = MODEL(s.graph, 4, "dropout", "0"), *b = MODEL(s.graph, 4, "dropout", "0.9");
    float     *x = predict(a, s.graph, 1), *y = predict(b, s.graph, 1);
    CHECK(!memcmp(x, y, 60 * 4 * sizeof *x));
    free(x);
    free(y);
    cbx_model_free(a);
    cbx_model_free(b);
    free_sample(&s);
}

/* One pass over the view of one graph, or around one node; its first row. */
static void check_row(const cbx_model *m, const cbx_graph *g, int32_t row, int32_t hops,
                      const float *expected)
{
    cbx_arena  arena = {0};
    cbx_view   view;
    cbx_matrix X;
    cbx_pass   pass;
    cbx_error  err = {0};
    cbx_status status = m->task == CBX_GRAPH ? cbx_view_graphs(g, &row, 1, &arena, &view, &err)
                                             : cbx_view_around(g, row, hops, &arena, &view, &err);
    CHECK_OK(status, err);
    CHECK_OK(cbx_view_features(g, &view, &arena, &X, &err), err);
    CHECK_OK(cbx_pass_init(&pass, m, &view, &X, false, 1, &arena, &err), err);
    CHECK_INT(pass.rows_out, 1);
    cbx_pass_forward(&pass, &X, NULL, 0, 0);
    if (!CHECK(test_difference(m->num_classes, pass.logp, expected + row * m->num_classes) < 1e-5))
        printf("  (row %d)\n", row);
    cbx_arena_free(&arena);
}

TEST(graphs_in_batches_give_what_they_give_one_by_one)
{
    sample s = graphs();
    for (int c = 0; c < CONVS; c++) {
        cbx_model *m = model_of(s.graph, c);
        float     *logp = predict(m, s.graph, 1);
        for (int32_t i = 0; i < 550; i += i < 250 || i > 260 ? 7 : 1)
            check_row(m, s.graph, i, 0, logp);
        free(logp);
        cbx_model_free(m);
    }
    free_sample(&s);
}

/* One hop more than a model reaches has all degrees right that it looks at. */
TEST(a_node_in_its_neighbourhood_gives_what_it_gives_in_the_whole_graph)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        sample s = nodes(sparse);
        for (int c = 0; c < CONVS; c++) {
            if (!strcmp(convs[c][1], "cheb"))
                continue; /* counts edges out of a node, which no view around holds all of */
            cbx_model *m = model_of(s.graph, c);
            float     *logp = predict(m, s.graph, 1);
            for (int32_t i = 0; i < 60; i++)
                check_row(m, s.graph, i, cbx_model_reach(m) + 1, logp);
            free(logp);
            cbx_model_free(m);
        }
        free_sample(&s);
    }
}

/* In an undirected graph it holds for cheb too. */
TEST(a_node_of_an_undirected_graph_gives_the_same_under_cheb)
{
    cbx_graph *g = NULL;
    cbx_error  err = {0};
    if (!CHECK_OK(cbx_graph_builtin_with("karate", NULL, &g, &err), err))
        return;
    for (int order = 1; order <= 3; order++) {
        char text[8];
        (void)snprintf(text, sizeof text, "%d", order);
        cbx_model *m = MODEL(g, 1, "model", "cheb", "order", text, "layers", "2");
        float     *logp = predict(m, g, 1);
        for (int32_t i = 0; i < 34; i++)
            check_row(m, g, i, cbx_model_reach(m) + 1, logp);
        free(logp);
        cbx_model_free(m);
    }
    cbx_graph_free(g);
}

TEST(any_number_of_threads_gives_the_same_bits)
{
    sample many =
        make_sample((sample_shape){.nodes = 900, .features = 64, .classes = 4, .seed = 5});
    sample sets = make_sample((sample_shape){
        .nodes = 3000, .features = 40, .classes = 3, .graphs = 300, .sparse = true, .seed = 6});
    for (int k = 0; k < 2; k++)
        for (int c = 0; c < CONVS; c++) {
            const cbx_graph *g = k ? sets.graph : many.graph;
            cbx_model       *m = model_of(g, c);
            float           *one = predict(m, g, 1);
            size_t bytes = (size_t)cbx_graph_label_rows(g) * (size_t)m->num_classes * sizeof *one;
            for (int threads = 0; threads <= 5; threads += threads == 0 ? 2 : 1) {
                float *other = predict(m, g, threads);
                if (!CHECK(!memcmp(one, other, bytes)))
                    printf("  (%s, %d threads)\n", convs[c][1], threads);
                free(other);
            }
            free(one);
            cbx_model_free(m);
        }
    free_sample(&many);
    free_sample(&sets);
}

/* ---- a model that does not fit */

static void check_misfit(const cbx_model *m, const cbx_graph *g, const char *message)
{
    float     logp[4] = {5, 5, 5, 5};
    cbx_error err = {0};
    CHECK_INT(cbx_model_fits(m, g, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, message);
    err.message[0] = '\0';
    CHECK_INT(cbx_predict(m, g, 1, logp, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, message);
    CHECK_INT(cbx_predict(m, g, 1, logp, NULL), CBX_INVALID);
    CHECK(logp[0] == 5);
}

TEST(a_model_that_does_not_fit_is_an_error_that_names_both_sizes)
{
    sample s = nodes(false);
    sample narrow =
        make_sample((sample_shape){.nodes = 20, .features = 8, .classes = 4, .seed = 1});
    sample few = make_sample((sample_shape){.nodes = 20, .features = 9, .classes = 3, .seed = 1});
    sample sets = make_sample(
        (sample_shape){.nodes = 20, .features = 9, .classes = 4, .graphs = 5, .seed = 1});
    cbx_model *m = model_of(s.graph, 0), *small = model_of(few.graph, 0),
              *graph = model_of(sets.graph, 0);
    check_misfit(m, narrow.graph, "the model takes 9 features, the data has 8");
    check_misfit(small, s.graph, "the model knows 3 classes, the data has 4");
    check_misfit(m, sets.graph, "the model is for node classification, the data for graph");
    check_misfit(graph, s.graph, "the model is for graph classification, the data for node");
    CHECK_INT(cbx_model_fits(m, few.graph, NULL), CBX_OK); /* fewer classes do no harm */
    cbx_model_free(m);
    cbx_model_free(small);
    cbx_model_free(graph);
    free_sample(&s);
    free_sample(&narrow);
    free_sample(&few);
    free_sample(&sets);
}

/* ---- memory */

typedef struct asking {
    cbx_model *model;
    cbx_graph *graph;
    float     *logp;
    float     *expected;
} asking;

static cbx_status predict_once(void *user)
{
    asking   *a = user;
    cbx_error err = {0};
    size_t    count = (size_t)cbx_graph_label_rows(a->graph) * (size_t)a->model->num_classes;
    memset(a->logp, 0, count * sizeof *a->logp);
    cbx_status status = cbx_predict(a->model, a->graph, 1, a->logp, &err);
    CHECK(status == err.status);
    if (status == CBX_OK)
        CHECK(!memcmp(a->logp, a->expected, count * sizeof *a->logp));
    /* An arena that finds no memory to start afresh in one block goes on in several. */
    return status == CBX_OK && test_allocation_failed() && a->model->task == CBX_GRAPH
               ? CBX_NO_MEMORY
               : status;
}

TEST(predicting_survives_every_failing_allocation)
{
    sample all[] = {nodes(false), nodes(true), graphs()};
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < CONVS; c++) {
            cbx_model *m = model_of(all[k].graph, c);
            asking a = {m, all[k].graph, malloc(2000 * sizeof(float)), predict(m, all[k].graph, 1)};
            test_each_allocation(predict_once, &a);
            cbx_model_free(m);
            free(a.logp);
            free(a.expected);
        }
        free_sample(&all[k]);
    }
}
