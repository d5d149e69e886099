/* SPDX-License-Identifier: Apache-2.0 */
/* A model whose first layer has lost its settled columns, against the whole one: outputs, the
 * gradients of the columns that are left and those of edge weights, after each of three
 * narrowings between which the columns that are left go on changing. */
#include "fold_columns.h"

#include <math.h>

#include "pass.h"
#include "samples.h"

typedef struct both {
    sample           s;
    cbx_model       *m;
    cbx_arena        arena;
    cbx_view         view;
    cbx_matrix       X;        /* all columns */
    float           *x, *left; /* its values; those of the columns that are left */
    float           *w, *dX, *dX_left, *dw, *dw_left;
    cbx_pass         wide, slim;
    cbx_fold_columns narrow;
    cbx_rng          rng;
} both;

enum { FEATURES = 120, CLASSES = 3 };

static float draw(cbx_rng *rng)
{
    return (float)(2 * cbx_rng_uniform(rng) - 1);
}

static void open_both(both *b, const char *const *settings, int32_t around)
{
    cbx_error err = {0};
    *b = (both){.rng = cbx_rng_stream(1, 2, 3, 4)};
    b->s = make_sample((sample_shape){
        .nodes = 40, .features = FEATURES, .classes = CLASSES, .weighted = true, .seed = 4});
    b->m = make_model(b->s.graph, 3, settings);
    CHECK_OK(cbx_view_around(b->s.graph, around, 2, &b->arena, &b->view, &err), err);
    size_t size = (size_t)b->view.n * FEATURES, m = (size_t)b->view.m;
    b->x = CBX_NEW(&b->arena, float, size);
    b->left = CBX_NEW(&b->arena, float, size);
    b->dX = CBX_NEW(&b->arena, float, size);
    b->dX_left = CBX_NEW(&b->arena, float, size);
    b->w = CBX_NEW(&b->arena, float, m);
    b->dw = CBX_NEW(&b->arena, float, m);
    b->dw_left = CBX_NEW(&b->arena, float, m);
    b->X = cbx_matrix_dense(b->view.n, FEATURES, b->x);
    for (size_t k = 0; k < size; k++)
        b->left[k] = b->x[k] = cbx_rng_below(&b->rng, 3) ? draw(&b->rng) : 0;
    for (size_t e = 0; e < m; e++)
        b->w[e] = 0.1f + (float)cbx_rng_uniform(&b->rng);
    CHECK_OK(cbx_pass_init(&b->wide, b->m, &b->view, &b->X, true, 1, &b->arena, &err), err);
    CHECK_OK(cbx_pass_init(&b->slim, b->m, &b->view, &b->X, true, 1, &b->arena, &err), err);
    CHECK_INT(cbx_fold_columns_init(&b->narrow, &b->m->layers[0], FEATURES,
                                    cbx_pass_input_rows(&b->wide), &b->arena),
              0);
}

static void close_both(both *b)
{
    cbx_arena_free(&b->arena);
    cbx_model_free(b->m);
    free_sample(&b->s);
}

/* Settles two thirds of the columns that are left. */
static void narrow(both *b)
{
    int32_t keep[FEATURES], before = b->narrow.left, names[FEATURES];
    for (int32_t c = 0; c < before; c++) {
        keep[c] = cbx_rng_below(&b->rng, 3) == 0;
        names[c] = b->narrow.name[c];
    }
    CHECK_INT(cbx_fold_columns_to(&b->narrow, keep, b->left, &b->arena), 0);
    CHECK_INT(cbx_pass_replace_first(&b->slim, &b->narrow.layer, &b->arena), 0);
    CHECK(b->narrow.left < before && b->narrow.left > 0);
    for (int32_t c = 0; c < before; c++)
        CHECK(keep[c] < 0 || b->narrow.name[keep[c]] == names[c]);
}

/* Other values, the same in both. */
static void change(both *b)
{
    for (int32_t i = 0; i < b->narrow.rows; i++)
        for (int32_t c = 0; c < b->narrow.left; c++) {
            float *x = b->x + (int64_t)i * FEATURES + b->narrow.name[c];
            *x = cbx_rng_below(&b->rng, 3) ? draw(&b->rng) : 0;
            b->left[(int64_t)i * cbx_fold_columns_left(&b->narrow) + c] = *x;
        }
}

static void check_lengths(const both *b)
{
    for (int32_t i = 0; i < b->narrow.rows; i++) {
        double all = 0, left = 0;
        for (int32_t j = 0; j < FEATURES; j++)
            all += pow(b->x[(int64_t)i * FEATURES + j], 2);
        for (int32_t c = 0; c < b->narrow.left; c++)
            left += pow(b->x[(int64_t)i * FEATURES + b->narrow.name[c]], 2);
        CHECK_NEAR(b->narrow.beyond[i], sqrt(all - left), 1e-4);
    }
}

static void check_same(both *b)
{
    int32_t      columns = cbx_fold_columns_left(&b->narrow);
    cbx_matrix   left = cbx_matrix_dense(b->narrow.rows, columns, b->left);
    const float *dlogp = (const float[CLASSES]){1, -0.5f, 0.25f};
    cbx_pass_forward(&b->wide, &b->X, b->w, 0, 0);
    cbx_pass_forward(&b->slim, &left, b->w, 0, 0);
    for (int32_t c = 0; c < CLASSES; c++)
        CHECK_NEAR(b->slim.logp[c], b->wide.logp[c], 1e-4);
    cbx_pass_backward(&b->wide, dlogp, b->dX, b->dw, NULL);
    cbx_pass_backward(&b->slim, dlogp, b->dX_left, b->dw_left, NULL);
    for (int32_t i = 0; i < b->narrow.rows; i++)
        for (int32_t c = 0; c < b->narrow.left; c++)
            CHECK_NEAR(b->dX_left[(int64_t)i * columns + c],
                       b->dX[(int64_t)i * FEATURES + b->narrow.name[c]], 1e-4);
    for (int64_t e = 0; e < b->view.m; e++)
        CHECK_NEAR(b->dw_left[e], b->dw[e], 1e-4);
    check_lengths(b);
}

static void try_block(const char *conv, const char *order, const char *aggregation,
                      const char *block)
{
    for (int32_t around = 0; around < 40; around += 13) {
        const char *const settings[] = {
            "model",  conv, "order",    order, "aggregation", aggregation, "hidden", "8",
            "layers", "2",  "residual", block, "batch-norm",  block,       NULL};
        both b;
        open_both(&b, settings, around);
        check_same(&b);
        for (int round = 0; round < 3; round++) {
            narrow(&b);
            check_same(&b);
            change(&b);
            check_same(&b);
        }
        close_both(&b);
    }
}

static void try_model(const char *conv, const char *order, const char *aggregation)
{
    try_block(conv, order, aggregation, "false");
    try_block(conv, order, aggregation, "true");
}

TEST(every_layer_of_products_gives_the_same_without_settled_columns)
{
    try_model("gcn", "1", "add");
    try_model("cheb", "1", "add");
    try_model("cheb", "3", "add");
    try_model("graphconv", "1", "add");
    try_model("graphconv", "1", "mean");
    try_model("gin", "1", "add");
    try_model("gat", "1", "add");
    try_model("sage", "1", "add");
}

TEST(no_column_need_be_left)
{
    const char *const settings[] = {"model", "gcn", "hidden", "8", "layers", "2", NULL};
    both              b;
    open_both(&b, settings, 5);
    int32_t keep[FEATURES] = {0};
    CHECK_INT(cbx_fold_columns_to(&b.narrow, keep, b.left, &b.arena), 0);
    CHECK_INT(cbx_pass_replace_first(&b.slim, &b.narrow.layer, &b.arena), 0);
    CHECK_INT(b.narrow.left, 0);
    check_same(&b);
    close_both(&b);
}
