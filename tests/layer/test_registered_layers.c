/* SPDX-License-Identifier: Apache-2.0 */
/* Layers from outside: one that computes what graphconv does gives what graphconv gives, in
 * predictions, training, files and explanations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "combinex/extend.h"
#include "test.h"

/* Y[i] = sum of w x_u W_rel + b + x_i W_root, as written in a book. */

static bool parameter(void *user, int32_t i, int32_t n_in, int32_t n_out, cbx_layer_parameter *out)
{
    static const char *const names[] = {"lin_rel.weight", "lin_rel.bias", "lin_root.weight"};
    (void)user;
    if (i >= 3)
        return false;
    *out = (cbx_layer_parameter){.rows = i == 1 ? 0 : n_in, .cols = n_out};
    memcpy(out->name, names[i], strlen(names[i]) + 1);
    return true;
}

static void forward(const cbx_layer_call *c, float *y)
{
    size_t       size = (size_t)c->n_in * (size_t)c->n_out;
    const float *rel = c->parameters, *bias = rel + size, *root = bias + c->n_out;
    for (int32_t i = 0; i < c->rows_out; i++)
        for (int32_t o = 0; o < c->n_out; o++) {
            double sum = bias[o];
            for (int32_t k = 0; k < c->n_in; k++) {
                sum += (double)c->x[(size_t)i * c->n_in + k] * root[k * c->n_out + o];
                for (int64_t e = c->offset[i]; e < c->offset[i + 1]; e++)
                    sum += (double)c->weight[e] * c->x[(size_t)c->source[e] * c->n_in + k] *
                           rel[k * c->n_out + o];
            }
            y[(size_t)i * c->n_out + o] = (float)sum;
        }
}

static void backward(const cbx_layer_call *c, const float *dy, float *dx, float *dweight, float *dp)
{
    size_t       size = (size_t)c->n_in * (size_t)c->n_out;
    const float *rel = c->parameters, *root = rel + size + c->n_out;
    for (int32_t i = 0; i < c->rows_out; i++)
        for (int32_t o = 0; o < c->n_out; o++) {
            float d = dy[(size_t)i * c->n_out + o];
            if (dp)
                dp[size + (size_t)o] += d;
            for (int32_t k = 0; k < c->n_in; k++) {
                size_t at = (size_t)k * c->n_out + o;
                if (dx)
                    dx[(size_t)i * c->n_in + k] += d * root[at];
                if (dp)
                    dp[size + c->n_out + at] += d * c->x[(size_t)i * c->n_in + k];
                for (int64_t e = c->offset[i]; e < c->offset[i + 1]; e++) {
                    size_t from = (size_t)c->source[e] * c->n_in + k;
                    if (dx)
                        dx[from] += d * c->weight[e] * rel[at];
                    if (dweight)
                        dweight[e] += d * c->x[from] * rel[at];
                    if (dp)
                        dp[at] += d * c->weight[e] * c->x[from];
                }
            }
        }
}

static const cbx_layer_kind book = {.size = sizeof book,
                                    .name = "book",
                                    .parameter = parameter,
                                    .forward = forward,
                                    .backward = backward};

static void be_registered(void)
{
    static bool is;
    cbx_error   err = {0};
    if (!is)
        CHECK_OK(cbx_layer_register(&book, &err), err);
    is = true;
}

static cbx_options *options_of(const cbx_option_table *table, const char *const (*pairs)[2])
{
    cbx_options *o = NULL;
    cbx_error    err = {0};
    CHECK_OK(cbx_options_new(table, &o, &err), err);
    for (; (*pairs)[0]; pairs++)
        CHECK_OK(cbx_options_set(o, (*pairs)[0], (*pairs)[1], &err), err);
    return o;
}

static cbx_model *model_of(const cbx_graph *graph, const char *conv)
{
    const char *const pairs[][2] = {
        {"model", conv}, {"hidden", "6"}, {"layers", "2"}, {NULL, NULL}};
    cbx_options *o = options_of(cbx_model_table(), pairs);
    cbx_model   *model = NULL;
    cbx_error    err = {0};
    CHECK_OK(cbx_model_new(graph, o, 3, &model, &err), err);
    cbx_options_free(o);
    return model;
}

/* Both models on the karate club, with the same parameters. */
static void make_both(cbx_graph **graph, cbx_model **ours, cbx_model **theirs)
{
    cbx_error   err = {0};
    const char *name;
    int32_t     rows, cols;
    be_registered();
    CHECK_OK(cbx_graph_builtin("karate", NULL, graph, &err), err);
    *ours = model_of(*graph, "graphconv");
    *theirs = model_of(*graph, "book");
    for (size_t i = 0; cbx_model_parameter(*ours, i, &name, &rows, &cols); i++) {
        int64_t count = (int64_t)(rows ? rows : 1) * cols;
        float  *values = malloc((size_t)count * sizeof *values);
        CHECK_OK(cbx_model_get(*ours, i, values, count, &err), err);
        CHECK_OK(cbx_model_set(*theirs, i, values, count, &err), err);
        free(values);
    }
}

static void same_predictions(const cbx_graph *graph, const cbx_model *a, const cbx_model *b)
{
    float     p[34 * 4], q[34 * 4];
    cbx_error err = {0};
    CHECK_OK(cbx_predict(a, graph, 1, p, &err), err);
    CHECK_OK(cbx_predict(b, graph, 1, q, &err), err);
    for (int i = 0; i < 34 * 4; i++)
        CHECK_NEAR(p[i], q[i], 1e-4);
}

TEST(a_layer_from_outside_predicts_and_trains_as_its_like_inside)
{
    static const char *const few[][2] = {{"epochs", "5"}, {"threads", "1"}, {NULL, NULL}};
    cbx_graph               *graph = NULL;
    cbx_model               *ours = NULL, *theirs = NULL;
    cbx_error                err = {0};
    cbx_options             *o = options_of(cbx_train_table(), few);
    make_both(&graph, &ours, &theirs);
    same_predictions(graph, ours, theirs);
    CHECK_OK(cbx_train(ours, graph, o, NULL, NULL, NULL, &err), err);
    CHECK_OK(cbx_train(theirs, graph, o, NULL, NULL, NULL, &err), err);
    same_predictions(graph, ours, theirs);
    cbx_options_free(o);
    cbx_model_free(ours);
    cbx_model_free(theirs);
    cbx_graph_free(graph);
}

TEST(models_of_it_are_written_and_read)
{
    cbx_graph  *graph = NULL;
    cbx_model  *ours = NULL, *theirs = NULL, *again = NULL;
    cbx_error   err = {0};
    const char *path = test_path("book.safetensors");
    make_both(&graph, &ours, &theirs);
    CHECK_OK(cbx_model_save(theirs, path, &err), err);
    CHECK_OK(cbx_model_load(path, &again, &err), err);
    CHECK(!strcmp(cbx_model_describe(again).conv, "book"));
    same_predictions(graph, ours, again);
    cbx_model_free(ours);
    cbx_model_free(theirs);
    cbx_model_free(again);
    cbx_graph_free(graph);
}

TEST(searches_find_the_same_with_it_and_prove_nothing)
{
    static const char *const ways[] = {"combinex", "cf-gnn", "minimal"};
    cbx_graph               *graph = NULL;
    cbx_model               *ours = NULL, *theirs = NULL;
    cbx_error                err = {0};
    make_both(&graph, &ours, &theirs);
    for (int k = 0; k < 3; k++) {
        const char *const   pairs[][2] = {{"explainer", ways[k]},
                                          {"target", "any"},
                                          {"epochs", "30"},
                                          {"prove", k == 2 ? "1" : "0"},
                                          {NULL, NULL}};
        cbx_options        *o = options_of(cbx_explain_table(), pairs);
        cbx_counterfactual *a = NULL, *b = NULL;
        CHECK_OK(cbx_explain(ours, graph, 8, o, NULL, NULL, &a, &err), err);
        CHECK_OK(cbx_explain(theirs, graph, 8, o, NULL, NULL, &b, &err), err);
        CHECK_INT(a->outcome, b->outcome);
        CHECK_INT(a->num_edits, b->num_edits);
        CHECK(b->certificate != CBX_OPTIMAL && b->certificate != CBX_PROVED_NONE);
        cbx_counterfactual_free(a);
        cbx_counterfactual_free(b);
        cbx_options_free(o);
    }
    cbx_model_free(ours);
    cbx_model_free(theirs);
    cbx_graph_free(graph);
}

TEST(what_cannot_be_a_layer_is_refused)
{
    cbx_layer_kind k = book;
    cbx_error      err = {0};
    be_registered();
    CHECK_INT(cbx_layer_register(&k, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "there is a layer 'book' already");
    k.name = "gcn";
    CHECK_INT(cbx_layer_register(&k, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "there is a layer 'gcn' already");
    k.name = "other";
    k.backward = NULL;
    CHECK_INT(cbx_layer_register(&k, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "needs a name");
    k = book;
    k.size = 8;
    CHECK_INT(cbx_layer_register(&k, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "another version");
}
