/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs and all three gradients against files made with PyG
 * (tests/torch/make_layer_goldens.py). */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pass.h"
#include "safetensors.h"
#include "test.h"

static const float *tensor(const cbx_tensor_file *f, const char *name)
{
    const cbx_tensor *t = cbx_tensors_find(f, name);
    return t ? t->data : NULL;
}

/* A golden holds a graph, a model and what to expect of them in one file; each
 * reader wants a file of its own. */
static bool split_file(const cbx_tensor_file *f, const char *graph_path, const char *model_path)
{
    cbx_tensor graph[8], *model = calloc(f->count, sizeof *model);
    size_t     graphs = 0, models = 0;
    for (size_t i = 0; i < f->count; i++) {
        const char *name = f->tensors[i].name;
        if (!strncmp(name, "layers.", 7) || !strncmp(name, "output_layer.", 13) ||
            !strncmp(name, "hidden_layer.", 13))
            model[models++] = f->tensors[i];
        else if (strncmp(name, "expected.", 9) != 0 && strcmp(name, "coef") != 0)
            graph[graphs++] = f->tensors[i];
    }
    cbx_meta arch = {"arch", cbx_tensors_meta(f, "arch")};
    bool     ok = CHECK(arch.value != NULL);
    ok = ok && CHECK_INT(cbx_tensors_write(graph_path, graph, graphs, NULL, 0, NULL), CBX_OK);
    ok = ok && CHECK_INT(cbx_tensors_write(model_path, model, models, &arch, 1, NULL), CBX_OK);
    free(model);
    return ok;
}

/* Largest difference, relative to the largest expected value, or to `scale` if that is more. */
static double relative_to(double scale, int64_t count, const float *actual, const float *expected)
{
    double worst = 0;
    for (int64_t i = 0; i < count; i++)
        scale = fmax(scale, fabs((double)expected[i]));
    for (int64_t i = 0; i < count; i++) {
        double d = fabs((double)actual[i] - expected[i]) / scale;
        if (isnan(d)) /* would compare as less than anything */
            return INFINITY;
        worst = d > worst ? d : worst;
    }
    return worst;
}

static double relative(int64_t count, const float *actual, const float *expected)
{
    return relative_to(1e-3, count, actual, expected);
}

/* What is observed has no gradient. Differences are relative to `scale` at least. */
static void check_parameters(const cbx_tensor_file *f, const cbx_model *m, const char *prefix,
                             bool observed, double scale, const float *dtheta)
{
    float *values = malloc((size_t)m->size * sizeof *values);
    for (int32_t i = 0; i < m->num_parameters; i++) {
        const cbx_named_parameter *p = &m->parameters[i];
        char                       name[96];
        if (p->shape.observed != observed)
            continue;
        (void)snprintf(name, sizeof name, "%s%s", prefix, p->name);
        const float *expected = tensor(f, name);
        if (!CHECK(expected != NULL))
            continue;
        int32_t in = p->shape.rows ? p->shape.rows : 1, out = p->shape.cols;
        for (int32_t r = 0; r < out; r++)
            for (int32_t c = 0; c < in; c++)
                values[(int64_t)r * in + c] = dtheta[p->offset + (int64_t)c * out + r];
        if (!CHECK(relative_to(scale, (int64_t)in * out, values, expected) < 1e-4))
            printf("  (%s)\n", name);
    }
    free(values);
}

/* What a step of training makes of batch normalisations. A bias in front of one makes no
 * difference: its gradient is a sum of numbers of the size of 1 that should be 0. `dtheta` is
 * scratch. */
static void check_training(const cbx_tensor_file *f, cbx_pass *pass, const cbx_matrix *X,
                           float *dtheta)
{
    const cbx_model *m = pass->model;
    float           *theta = malloc((size_t)m->size * sizeof *theta);
    memcpy(theta, m->theta, (size_t)m->size * sizeof *theta);
    memset(dtheta, 0, (size_t)m->size * sizeof *dtheta);
    pass->training = true;
    cbx_pass_forward(pass, X, NULL, 0, 0);
    int64_t outputs = (int64_t)pass->rows_out * m->num_classes;
    CHECK(test_difference(outputs, pass->logp, tensor(f, "expected.train.log_probs")) < 1e-5);
    cbx_pass_observe(pass, theta);
    check_parameters(f, m, "expected.train.", true, 1e-3, theta);
    cbx_pass_backward(pass, tensor(f, "coef"), NULL, NULL, dtheta);
    check_parameters(f, m, "expected.train.grad.", false, 0.1, dtheta);
    free(theta);
}

static void check_pass(const cbx_tensor_file *f, const cbx_graph *g, const cbx_model *m,
                       bool sparse)
{
    cbx_arena  arena = {0};
    cbx_view   view;
    cbx_matrix X;
    cbx_pass   pass;
    CHECK_INT(cbx_view_whole(g, &arena, &view, NULL), CBX_OK);
    CHECK_INT(cbx_view_features(g, &view, &arena, &X, NULL), CBX_OK);
    if (sparse) { /* the same values as CSR, zeros included */
        int64_t *offset = CBX_NEW(&arena, int64_t, X.rows + 1);
        int32_t *column = CBX_NEW(&arena, int32_t, (int64_t)X.rows * X.cols);
        for (int64_t i = 0; i <= X.rows; i++)
            offset[i] = i * X.cols;
        for (int64_t k = 0; k < (int64_t)X.rows * X.cols; k++)
            column[k] = (int32_t)(k % X.cols);
        X.csr = (cbx_csr){offset, column, X.dense};
        X.dense = NULL;
        CHECK_INT(cbx_matrix_transpose(&X, &arena), 0);
    }
    CHECK_INT(cbx_pass_init(&pass, m, &view, &X, true, 1, &arena, NULL), CBX_OK);
    cbx_pass_forward(&pass, &X, NULL, 0, 0);
    int64_t outputs = (int64_t)pass.rows_out * m->num_classes;
    CHECK(test_difference(outputs, pass.logp, tensor(f, "expected.log_probs")) < 1e-5);

    float *dX = CBX_NEW(&arena, float, (int64_t)view.n * m->num_features);
    float *dw = CBX_NEW(&arena, float, view.m), *by_id = CBX_NEW(&arena, float, view.m);
    float *dtheta = CBX_NEW0(&arena, float, m->size);
    cbx_pass_backward(&pass, tensor(f, "coef"), dX, dw, dtheta);
    CHECK(relative((int64_t)view.n * m->num_features, dX, tensor(f, "expected.grad.x")) < 1e-4);
    for (int64_t s = 0; s < view.m; s++)
        by_id[cbx_graph_edge_id(g, s)] = dw[s];
    if (tensor(f, "expected.grad.edge_weight"))
        CHECK(relative(view.m, by_id, tensor(f, "expected.grad.edge_weight")) < 1e-4);
    check_parameters(f, m, "expected.grad.", false, 1e-3, dtheta);
    if (tensor(f, "expected.train.log_probs"))
        check_training(f, &pass, &X, dtheta);
    cbx_arena_free(&arena);
}

static int check_golden(const char *path)
{
    cbx_tensor_file *f = NULL;
    cbx_graph       *g = NULL;
    cbx_model       *m = NULL;
    cbx_error        err = {0};
    const char *graph = test_path("graph.safetensors"), *model = test_path("model.safetensors");
    if (CHECK_OK(cbx_tensors_open(path, &f, &err), err) && split_file(f, graph, model) &&
        CHECK_OK(cbx_graph_load(graph, &g, &err), err) &&
        CHECK_OK(cbx_model_load(model, &m, &err), err)) {
        check_pass(f, g, m, false);
        check_pass(f, g, m, true);
    }
    cbx_graph_free(g);
    cbx_model_free(m);
    cbx_tensors_close(f);
    return 1;
}

static void check_folder(const char *prefix)
{
    const char *folder = test_source("tests/golden/layers");
    DIR        *dir = folder ? opendir(folder) : NULL;
    int         checked = 0;
    if (!CHECK(dir != NULL))
        return;
    for (struct dirent *e; (e = readdir(dir));) {
        char path[1024];
        if (strncmp(e->d_name, prefix, strlen(prefix)) != 0)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        check_golden(path);
        checked++;
    }
    (void)closedir(dir);
    CHECK(checked >= 5);
}

TEST(gcn_agrees_with_pyg_in_outputs_and_all_gradients)
{
    check_folder("gcn");
}

TEST(cheb_agrees_with_pyg_in_outputs_and_all_gradients)
{
    check_folder("cheb");
}

TEST(graphconv_with_add_agrees_with_pyg_in_outputs_and_all_gradients)
{
    check_folder("graphconv-add");
}

TEST(graphconv_with_mean_agrees_with_pyg_in_outputs_and_all_gradients)
{
    check_folder("graphconv-mean");
}

TEST(graphconv_with_max_agrees_with_pyg_in_outputs_and_all_gradients)
{
    check_folder("graphconv-max");
}

TEST(sage_agrees_with_pyg_in_outputs_and_all_gradients)
{
    check_folder("sage");
}

TEST(gin_agrees_with_pyg_in_outputs_and_all_gradients)
{
    check_folder("gin");
}

TEST(gat_agrees_with_pyg_in_outputs_and_all_gradients)
{
    check_folder("gat");
}

TEST(skip_connections_batch_normalisation_and_hidden_units_agree_with_torch)
{
    check_folder("block");
}
