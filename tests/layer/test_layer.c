/* SPDX-License-Identifier: Apache-2.0 */
/* The registry, and what every layer in layers.def must do: a backward that is
 * the derivative of forward, the same from sparse and dense features, whatever
 * gradients are wanted, and with any number of threads. */
#include "layer.h"

#include "blas.h"

#include <math.h>
#include <string.h>

#include "../kernel/reference.h"
#include "layer_case.h"
#include "test.h"

TEST(layers_are_found_by_name_and_by_position)
{
    int count = 0;
    for (; cbx_layer_names[count]; count++) {
        const cbx_layer_ops *ops = cbx_layer_at(count);
        if (!CHECK(ops != NULL))
            return;
        CHECK(!strcmp(ops->name, cbx_layer_names[count]));
        CHECK(cbx_layer_find(cbx_layer_names[count]) == ops);
    }
    CHECK(count >= 3);
    CHECK(cbx_layer_at(count) == NULL && cbx_layer_at(-1) == NULL);
    CHECK(cbx_layer_find("no layer") == NULL && cbx_layer_find("") == NULL);
    CHECK(cbx_layer_find("gcn") == &cbx_layer_gcn);
}

TEST(aggregations_are_named_in_the_order_of_their_numbers)
{
    CHECK(!strcmp(cbx_aggregation_names[CBX_ADD], "add"));
    CHECK(!strcmp(cbx_aggregation_names[CBX_MEAN], "mean"));
    CHECK(!strcmp(cbx_aggregation_names[CBX_MAX], "max"));
    CHECK(cbx_aggregation_names[3] == NULL);
}

TEST(a_layer_has_the_parameters_that_pyg_has)
{
    /* 3 x 2 weights and 2 biases: 8; with K = 4, four weights: 26; two weights: 14. */
    static const struct {
        const cbx_layer_ops *ops;
        const char          *names[6];
        int64_t              size;
    } expected[] = {
        {&cbx_layer_gcn, {"lin.weight", "bias"}, 8},
        {&cbx_layer_cheb,
         {"lins.0.weight", "lins.1.weight", "lins.2.weight", "lins.3.weight", "bias"},
         26},
        {&cbx_layer_graphconv, {"lin_rel.weight", "lin_rel.bias", "lin_root.weight"}, 14},
    };
    for (int k = 0; k < 3; k++) {
        cbx_layer     l = {.ops = expected[k].ops, .n_in = 3, .n_out = 2, .set.order = 4};
        cbx_parameter p;
        int32_t       i = 0;
        for (; expected[k].names[i]; i++) {
            bool bias = strstr(expected[k].names[i], "bias");
            if (!CHECK(cbx_block_parameter(&l, i, &p)))
                continue;
            CHECK(!strcmp(p.name, expected[k].names[i]));
            CHECK_INT(p.rows, bias ? 0 : 3);
            CHECK_INT(p.cols, 2);
            CHECK_INT(cbx_parameter_size(&p), bias ? 2 : 6);
        }
        CHECK(!cbx_block_parameter(&l, i, &p));
        CHECK_INT(cbx_layer_size(&l), expected[k].size);
    }
}

TEST(a_parameter_has_the_shape_that_pyg_has)
{
    /* Linear(3, 4), Linear(4, 2) and eps; 2 heads of 3 units side by side, or their mean. */
    static const struct {
        const cbx_layer_ops *ops;
        cbx_layer_settings   set;
        int32_t              n_out;
        struct {
            const char *name;
            int         rank;
            int64_t     shape[3];
        } parameters[5];
    } expected[] = {
        {&cbx_layer_gin,
         {.mlp_hidden = 4, .train_eps = true},
         2,
         {{"nn.0.weight", 2, {4, 3}},
          {"nn.0.bias", 1, {4}},
          {"nn.2.weight", 2, {2, 4}},
          {"nn.2.bias", 1, {2}},
          {"eps", 1, {1}}}},
        {&cbx_layer_gat,
         {.heads = 2},
         6,
         {{"lin.weight", 2, {6, 3}},
          {"att_src", 3, {1, 2, 3}},
          {"att_dst", 3, {1, 2, 3}},
          {"bias", 1, {6}}}},
        {&cbx_layer_gat,
         {.heads = 2, .average_heads = true},
         3,
         {{"lin.weight", 2, {6, 3}},
          {"att_src", 3, {1, 2, 3}},
          {"att_dst", 3, {1, 2, 3}},
          {"bias", 1, {3}}}},
    };
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        cbx_layer l = {
            .ops = expected[k].ops, .n_in = 3, .n_out = expected[k].n_out, .set = expected[k].set};
        cbx_parameter p;
        int32_t       i = 0;
        for (; i < 5 && expected[k].parameters[i].name && cbx_block_parameter(&l, i, &p); i++) {
            int64_t shape[3], size = 1;
            CHECK(!strcmp(p.name, expected[k].parameters[i].name));
            CHECK_INT(cbx_parameter_shape(&p, shape), expected[k].parameters[i].rank);
            for (int d = 0; d < expected[k].parameters[i].rank; d++) {
                CHECK_INT(shape[d], expected[k].parameters[i].shape[d]);
                size *= shape[d];
            }
            CHECK_INT(cbx_parameter_size(&p), size);
        }
        CHECK(i == 5 || !expected[k].parameters[i].name);
        CHECK(!cbx_block_parameter(&l, i, &p));
    }
}

TEST(a_layer_names_settings_that_there_are)
{
    for (int k = 0; cbx_layer_at(k); k++)
        for (int i = 0; cbx_layer_at(k)->settings && cbx_layer_at(k)->settings[i]; i++) {
            cbx_layer_settings set = cbx_settings_default();
            const char        *name = cbx_layer_at(k)->settings[i];
            cbx_error          err = {0};
            (void)cbx_fields_set(&cbx_settings_table, &set, name, "?", &err);
            CHECK(!strstr(err.message, "no option"));
            CHECK(cbx_layer_has_setting(cbx_layer_at(k), name));
        }
    CHECK(!cbx_layer_has_setting(&cbx_layer_gcn, "heads"));
    CHECK(!cbx_layer_has_setting(&cbx_layer_gat, "order"));
}

TEST(a_layer_looks_as_far_as_it_multiplies_with_the_edges)
{
    for (int32_t order = 1; order <= 4; order++) {
        cbx_layer l = {.n_in = 3, .n_out = 2, .set.order = order};
        CHECK_INT(cbx_layer_gcn.reach(&l), 1);
        CHECK_INT(cbx_layer_cheb.reach(&l), order - 1); /* T_k is k products */
        CHECK_INT(cbx_layer_graphconv.reach(&l), 1);
    }
}

/* ---- variants of each layer, and places to try them */

static const cbx_layer_settings variants[] = {
    {.order = 1, .heads = 1, .negative_slope = 0.2},
    {.order = 2, .heads = 3, .negative_slope = 0.2, .mlp_hidden = 4},
    {.order = 3, .heads = 3, .negative_slope = 0.2, .no_self_loops = true, .eps = -0.5},
    {.order = 4, .heads = 2, .average_heads = true, .mlp_hidden = 7, .train_eps = true},
    {.order = 1, .aggregation = CBX_MEAN, .heads = 2, .average_heads = true, .no_self_loops = true},
    {.order = 1, .aggregation = CBX_MAX, .heads = 1, .negative_slope = 1, .eps = 2},
    {.order = 2, .heads = 1, .negative_slope = 0.2, .residual = true},
    {.order = 3, .heads = 1, .negative_slope = 0.2, .batch_norm = true},
    {.order = 2, .aggregation = CBX_MEAN, .heads = 3, .residual = true, .batch_norm = true},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* Sizes of a layer; with the last, (AX)W is cheaper even on a whole graph. */
static const int32_t sizes[][2] = {{5, 3}, {3, 3}, {2, 6}};

static cbx_layer variant(const cbx_layer_ops *ops, int v, int size)
{
    return (cbx_layer){
        .ops = ops, .n_in = sizes[size][0], .n_out = sizes[size][1], .set = variants[v]};
}

typedef void (*check)(cbx_layer shape, const cbx_view *view, int32_t hop, uint64_t seed);

/* The check for all variants and sizes, on a whole graph and on two prefixes of
 * a receptive field, with loops and duplicates. */
static void everywhere(const cbx_layer_ops *ops, check run)
{
    CHECK_INT(cbx_blas_begin(NULL), CBX_OK);
    for (int v = 0; v < VARIANTS; v++)
        for (int size = 0; size < 3; size++) {
            uint64_t     seed = (uint64_t)(v * 3 + size);
            random_graph r = make_graph((graph_shape){11, 26, 1, .seed = seed});
            cbx_arena    arena = {0};
            cbx_view     whole = layer_view(r.graph, -1, 0, &arena);
            cbx_view     field = layer_view(r.graph, (int32_t)r.data.edge_target[0], 4, &arena);
            run(variant(ops, v, size), &whole, 0, seed);
            run(variant(ops, v, size), &field, 0, seed);
            run(variant(ops, v, size), &field, 1, seed);
            cbx_arena_free(&arena);
            free_graph(&r);
        }
}

/* Any numbers for the adjacency: a layer must not care where they come from. */
static void scramble(layer_case *c, cbx_rng *rng)
{
    for (int64_t e = 0; e < c->num_values; e++)
        c->value[e] = draw(rng, -0.7, 0.7);
    for (int32_t i = 0; c->diag && i < c->step.rows_out; i++)
        c->diag[i] = draw(rng, -0.7, 0.7);
}

/* ---- gradients */

static double loss(layer_case *c, const float *dY)
{
    const float *Y = layer_forward(c);
    double       sum = 0;
    for (int64_t i = 0; i < c->num_outputs; i++)
        sum += (double)dY[i] * Y[i];
    return sum;
}

/* What a layer's output is in one number at a time, all others held. */
typedef enum smoothness {
    POLYNOMIAL, /* of at most degree 3: cheb's in the adjacency */
    STRAIGHT,   /* pieces that are: a maximum's */
    CURVED      /* pieces that are smooth: what is behind a ReLU or a softmax */
} smoothness;

static smoothness smoothness_of(const cbx_layer *l)
{
    if (l->ops == &cbx_layer_graphconv && l->set.aggregation == CBX_MAX)
        return STRAIGHT;
    return l->ops == &cbx_layer_gin || l->ops == &cbx_layer_gat ? CURVED : POLYNOMIAL;
}

/* dL/d(*at) from L at -2h, -h, 0, h, 2h, which is exact for polynomials up to degree 4, whatever
 * h. NaN where two pieces are seen to meet within 2h: a second or fourth difference tells. */
static double five_points(layer_case *c, const float *dY, float *at, float h, smoothness kind)
{
    float  kept = *at;
    double f[5];
    for (int k = 0; k < 5; k++) {
        *at = kept + (float)(k - 2) * h;
        f[k] = loss(c, dY);
    }
    *at = kept;
    for (int k = 1; k < 4 && kind == STRAIGHT; k++)
        if (fabs(f[k + 1] - 2 * f[k] + f[k - 1]) > 1e-3 * h)
            return NAN;
    if (kind == CURVED && fabs(f[0] - 4 * f[1] + 6 * f[2] - 4 * f[3] + f[4]) > 3e-4 * h)
        return NAN;
    return (8 * (f[3] - f[1]) - (f[4] - f[0])) / (12 * h);
}

/* For polynomials h is large, and rounding does not matter. For curves two steps must agree: a
 * break that one does not see, the other does. */
static double derivative(layer_case *c, const float *dY, float *at, smoothness kind)
{
    if (kind != CURVED)
        return five_points(c, dY, at, kind == STRAIGHT ? 0x1p-6f : 0x1p-4f, kind);
    double wide = five_points(c, dY, at, 0x1p-4f, kind);
    for (float h = 0x1p-5f; h >= 0x1p-7f; h /= 2) {
        double narrow = five_points(c, dY, at, h, kind);
        if (fabs(wide - narrow) < 5e-5 * (1 + fabs(narrow)))
            return narrow;
        wide = narrow;
    }
    return NAN;
}

enum { START = 2 }; /* in gradients that are added to */

/* Numbers whose derivative was compared, of all: one unit near its break takes a small array's. */
static struct {
    int64_t compared, count;
} all;

static void check_array(layer_case *c, const char *name, const float *dY, int64_t count, float *at,
                        const float *gradient, float start)
{
    smoothness kind = smoothness_of(&c->layer);
    int64_t    compared = 0;
    for (int64_t i = 0; i < count; i++) {
        double expected = derivative(c, dY, &at[i], kind);
        if (kind != POLYNOMIAL && isnan(expected))
            continue;
        compared++;
        if (!CHECK_NEAR(gradient[i] - start, expected, 1e-4 * (1 + fabs(expected))))
            printf("  (%s of %s %d of %d, order %d, %s, heads %d, %d -> %d)\n", name,
                   c->layer.ops->name, (int)i, (int)count, (int)c->layer.set.order,
                   cbx_aggregation_names[c->layer.set.aggregation], (int)c->layer.set.heads,
                   c->layer.n_in, c->layer.n_out);
    }
    CHECK(kind == CURVED || 3 * compared >= 2 * count);
    all.compared += compared;
    all.count += count;
}

/* What is observed has no gradient, whatever its derivative. */
static void check_parameters(layer_case *c, const float *dY, const float *dtheta)
{
    cbx_parameter p;
    int64_t       at = 0;
    for (int32_t i = 0; cbx_block_parameter(&c->layer, i, &p); i++) {
        int64_t count = cbx_parameter_size(&p);
        for (int64_t k = 0; k < count && p.observed; k++)
            CHECK_NEAR(dtheta[at + k], START, 0);
        if (!p.observed)
            check_array(c, p.name, dY, count, c->theta + at, dtheta + at, START);
        at += count;
    }
}

static void check_gradients(cbx_layer shape, const cbx_view *view, int32_t hop, uint64_t seed)
{
    cbx_rng    rng = cbx_rng_stream(seed, (uint64_t)hop, 1, 0);
    bag        b = {0};
    layer_case c;
    cbx_matrix X = layer_input(&b, &rng, shape, view, hop);
    layer_open(&c, shape, view, hop, X, &rng);
    scramble(&c, &rng);
    float *dY = draws(&b, &rng, c.num_outputs);
    (void)layer_forward(&c);
    layer_grad g = layer_backward(&c, dY, START);
    check_array(&c, "dX", dY, c.num_inputs, (float *)X.dense, g.dX, 0);
    check_array(&c, "dvalue", dY, c.num_values, c.value, g.dvalue, START);
    if (c.diag)
        check_array(&c, "ddiag", dY, c.step.rows_out, c.diag, g.ddiag, START);
    check_parameters(&c, dY, g.dtheta);
    layer_close(&c);
    bag_free(&b);
}

#define X(name)                                            \
    TEST(name##_backward_is_the_derivative_of_its_forward) \
    {                                                      \
        all.compared = all.count = 0;                      \
        everywhere(&cbx_layer_##name, check_gradients);    \
        CHECK(10 * all.compared >= 9 * all.count);         \
    }
#include "layers.def"
#undef X

/* ---- what a layer declares of its input */

/* Where row j of all that multiplies the input is 0, column j is not seen. */
static void check_columns(cbx_layer shape, const cbx_view *view, int32_t hop, uint64_t seed)
{
    cbx_rng    rng = cbx_rng_stream(seed, (uint64_t)hop, 4, 0);
    bag        b = {0};
    layer_case c;
    if (cbx_layer_entry(&shape) < CBX_ENTRY_COLUMNS)
        return;
    int32_t    column = (int32_t)cbx_rng_below(&rng, (uint64_t)shape.n_in);
    cbx_matrix X = layer_input(&b, &rng, shape, view, hop);
    layer_open(&c, shape, view, hop, X, &rng);
    cbx_parameter p;
    float        *theta = c.theta;
    for (int32_t i = 0; cbx_block_parameter(&shape, i, &p); i++) {
        CHECK(!p.of_input || p.rows == shape.n_in);
        for (int32_t k = 0; k < p.cols && p.of_input; k++)
            theta[(int64_t)column * p.cols + k] = 0;
        theta += cbx_parameter_size(&p);
    }
    const float *before = copied(&b, c.num_outputs, layer_forward(&c));
    for (int32_t i = 0; i < X.rows; i++)
        ((float *)X.dense)[(int64_t)i * X.cols + column] += draw(&rng, -3, 3);
    CHECK(worst_of_floats(c.num_outputs, layer_forward(&c), before) < 1e-5);
    layer_close(&c);
    bag_free(&b);
}

/* A column in another unit, and its weights in that unit's. */
static void check_units(cbx_layer shape, const cbx_view *view, int32_t hop, uint64_t seed)
{
    const float units = 4; /* exact in any order */
    cbx_rng     rng = cbx_rng_stream(seed, (uint64_t)hop, 6, 0);
    bag         b = {0};
    layer_case  c;
    if (cbx_layer_entry(&shape) < CBX_ENTRY_COLUMNS)
        return;
    int32_t    column = (int32_t)cbx_rng_below(&rng, (uint64_t)shape.n_in);
    cbx_matrix X = layer_input(&b, &rng, shape, view, hop);
    layer_open(&c, shape, view, hop, X, &rng);
    const float  *before = copied(&b, c.num_outputs, layer_forward(&c));
    cbx_parameter p;
    float        *theta = c.theta;
    for (int32_t i = 0; cbx_block_parameter(&shape, i, &p); i++) {
        for (int32_t k = 0; k < p.cols && p.of_input; k++)
            theta[(int64_t)column * p.cols + k] /= units;
        theta += cbx_parameter_size(&p);
    }
    for (int32_t i = 0; i < X.rows; i++)
        ((float *)X.dense)[(int64_t)i * X.cols + column] *= units;
    CHECK(worst_of_floats(c.num_outputs, layer_forward(&c), before) < 1e-5);
    layer_close(&c);
    bag_free(&b);
}

/* A shift is what subtracting a constant from the input makes of its products. */
static void check_shift(cbx_layer shape, const cbx_view *view, int32_t hop, uint64_t seed)
{
    cbx_rng    rng = cbx_rng_stream(seed, (uint64_t)hop, 7, 0);
    bag        b = {0};
    layer_case c;
    int32_t    widest, count = cbx_layer_products(&shape, &widest);
    if (!count || !shape.ops->adds_shift)
        return;
    cbx_matrix X = layer_input(&b, &rng, shape, view, hop);
    layer_open(&c, shape, view, hop, X, &rng);
    float        *mean = draws(&b, &rng, shape.n_in), *shift = filled(&b, count * widest, 0);
    float        *at = shift;
    cbx_parameter p;
    const float  *theta = c.theta;
    for (int32_t i = 0; cbx_block_parameter(&shape, i, &p); i++) {
        for (int32_t k = 0; k < p.cols && p.of_input; k++, at++)
            for (int32_t j = 0; j < shape.n_in; j++)
                *at -= mean[j] * theta[(int64_t)j * p.cols + k];
        theta += cbx_parameter_size(&p);
    }
    c.layer.shift = shift;
    layer_buffers(&c);
    const float *shifted = copied(&b, c.num_outputs, layer_forward(&c));
    c.layer.shift = NULL;
    for (int32_t i = 0; i < X.rows; i++)
        for (int32_t j = 0; j < X.cols; j++)
            ((float *)X.dense)[(int64_t)i * X.cols + j] -= mean[j];
    layer_buffers(&c);
    CHECK(worst_of_floats(c.num_outputs, layer_forward(&c), shifted) < 1e-5);
    layer_close(&c);
    bag_free(&b);
}

/* Turns two columns of X, or two rows of a matrix that X is multiplied by, into each other. */
static void turn(float *at, int64_t count, int64_t step, int64_t from_first_to_second)
{
    const float cosine = 0.6f, sine = 0.8f;
    for (int64_t k = 0; k < count; k++, at += step) {
        float *other = at + from_first_to_second, first = *at;
        *at = cosine * first + sine * *other;
        *other = cosine * *other - sine * first;
    }
}

/* (X Q) (Q'W) = X W: a layer that knows its input by its products only cannot tell. */
static void check_products(cbx_layer shape, const cbx_view *view, int32_t hop, uint64_t seed)
{
    cbx_rng    rng = cbx_rng_stream(seed, (uint64_t)hop, 5, 0);
    bag        b = {0};
    layer_case c;
    int32_t    widest, count = cbx_layer_products(&shape, &widest), found = 0;
    CHECK_INT(count > 0, cbx_layer_entry(&shape) == CBX_ENTRY_PRODUCTS);
    if (!count)
        return;
    cbx_matrix X = layer_input(&b, &rng, shape, view, hop);
    layer_open(&c, shape, view, hop, X, &rng);
    const float  *before = copied(&b, c.num_outputs, layer_forward(&c));
    cbx_parameter p;
    float        *theta = c.theta;
    for (int32_t i = 0; cbx_block_parameter(&shape, i, &p); i++) {
        if (p.of_input)
            turn(theta, p.cols, 1, p.cols);
        found += p.of_input && p.cols <= widest;
        theta += cbx_parameter_size(&p);
    }
    CHECK_INT(found, count);
    turn((float *)X.dense, X.rows, X.cols, 1);
    CHECK(worst_of_floats(c.num_outputs, layer_forward(&c), before) < 1e-5);
    layer_close(&c);
    bag_free(&b);
}

#define X(name)                                                 \
    TEST(name##_sees_a_column_by_the_weights_that_it_says)      \
    {                                                           \
        everywhere(&cbx_layer_##name, check_columns);           \
        everywhere(&cbx_layer_##name, check_units);             \
        everywhere(&cbx_layer_##name, check_shift);             \
    }                                                           \
    TEST(name##_that_declares_products_needs_nothing_but_those) \
    {                                                           \
        everywhere(&cbx_layer_##name, check_products);          \
    }
#include "layers.def"
#undef X

/* The same layer, declaring nothing. */
TEST(what_is_not_declared_is_absent)
{
    cbx_layer_ops silent = cbx_layer_gcn;
    silent.entry = NULL;
    int32_t widest;
    CHECK_INT(cbx_layer_entry(&(cbx_layer){.ops = &silent, .n_in = 3, .n_out = 2}), 0);
    CHECK_INT(cbx_layer_products(&(cbx_layer){.ops = &silent, .n_in = 3, .n_out = 2}, &widest), 0);
    CHECK_INT(widest, 0);
}

/* ---- sparse features */

/* The same values as CSR, a third of them zeros that are stored or not. */
static cbx_matrix sparse_copy(bag *b, cbx_arena *arena, cbx_rng *rng, const cbx_matrix *X)
{
    int64_t  at = 0, size = (int64_t)X->rows * X->cols;
    int64_t *offset = TAKE(b, int64_t, X->rows + 1);
    int32_t *column = TAKE(b, int32_t, size);
    float   *value = TAKE(b, float, size);
    for (int64_t k = 0; k < size; k++) {
        if (k % X->cols == 0)
            offset[k / X->cols] = at;
        if (X->dense[k] != 0 || cbx_rng_below(rng, 2)) {
            column[at] = (int32_t)(k % X->cols);
            value[at++] = X->dense[k];
        }
    }
    offset[X->rows] = at;
    cbx_matrix S = {.rows = X->rows, .cols = X->cols, .csr = {offset, column, value}};
    CHECK_INT(cbx_matrix_transpose(&S, arena), 0);
    return S;
}

static void check_sparse(cbx_layer shape, const cbx_view *view, int32_t hop, uint64_t seed)
{
    cbx_rng    rng = cbx_rng_stream(seed, (uint64_t)hop, 2, 0);
    bag        b = {0};
    cbx_arena  arena = {0};
    layer_case c;
    cbx_matrix X = layer_input(&b, &rng, shape, view, hop);
    for (int64_t k = 0; k < (int64_t)X.rows * X.cols; k += 3)
        ((float *)X.dense)[k] = 0;
    layer_open(&c, shape, view, hop, X, &rng);
    float       *dY = draws(&b, &rng, c.num_outputs);
    const float *dense = layer_forward(&c);
    layer_grad   a = layer_backward(&c, dY, 0);
    c.X = sparse_copy(&b, &arena, &rng, &X);
    layer_buffers(&c);
    CHECK(worst_of_floats(c.num_outputs, layer_forward(&c), dense) < 1e-5);
    /* A sparse input's transpose is of all its rows, so parameters' gradients are
     * for views of one prefix, as in training. */
    layer_grad    s = {filled(&c.bag, c.num_inputs, NAN), filled(&c.bag, c.num_values, 0),
                    c.diag ? filled(&c.bag, c.step.rows_out, 0) : NULL,
                    view->hops == 0 ? filled(&c.bag, c.num_theta, 0) : NULL};
    cbx_step_grad out = {dY, s.dX, s.dvalue, s.ddiag, s.dtheta};
    cbx_block_backward(&c.layer, &c.step, &out);
    CHECK(worst_of_floats(c.num_inputs, s.dX, a.dX) < 1e-5);
    CHECK(worst_of_floats(c.num_values, s.dvalue, a.dvalue) < 1e-5);
    CHECK(!c.diag || worst_of_floats(c.step.rows_out, s.ddiag, a.ddiag) < 1e-5);
    CHECK(!s.dtheta || worst_of_floats(c.num_theta, s.dtheta, a.dtheta) < 1e-5);
    layer_close(&c);
    cbx_arena_free(&arena);
    bag_free(&b);
}

#define X(name)                                                     \
    TEST(name##_gives_the_same_from_sparse_features_and_from_dense) \
    {                                                               \
        everywhere(&cbx_layer_##name, check_sparse);                \
    }
#include "layers.def"
#undef X

/* ---- only some gradients wanted */

static void check_wishes(cbx_layer shape, const cbx_view *view, int32_t hop, uint64_t seed)
{
    cbx_rng    rng = cbx_rng_stream(seed, (uint64_t)hop, 3, 0);
    bag        b = {0};
    layer_case c;
    cbx_matrix X = layer_input(&b, &rng, shape, view, hop);
    layer_open(&c, shape, view, hop, X, &rng);
    float *dY = draws(&b, &rng, c.num_outputs);
    (void)layer_forward(&c);
    layer_grad whole = layer_backward(&c, dY, START);
    for (int wish = 0; wish < 8; wish++) {
        cbx_step_grad g = {copied(&b, c.num_outputs, dY), NULL, NULL, NULL, NULL};
        g.dX = wish & 1 ? filled(&b, c.num_inputs, NAN) : NULL;
        g.dvalue = wish & 2 ? filled(&b, c.num_values, START) : NULL;
        g.ddiag = (wish & 2) && c.diag ? filled(&b, c.step.rows_out, START) : NULL;
        g.dtheta = wish & 4 ? filled(&b, c.num_theta, START) : NULL;
        layer_spoil(&c);
        cbx_block_backward(&c.layer, &c.step, &g);
        CHECK(!g.dX || same_bits(c.num_inputs, g.dX, whole.dX));
        CHECK(!g.dvalue || same_bits(c.num_values, g.dvalue, whole.dvalue));
        CHECK(!g.ddiag || same_bits(c.step.rows_out, g.ddiag, whole.ddiag));
        CHECK(!g.dtheta || same_bits(c.num_theta, g.dtheta, whole.dtheta));
    }
    layer_close(&c);
    bag_free(&b);
}

#define X(name)                                         \
    TEST(name##_gives_any_gradients_without_the_others) \
    {                                                   \
        everywhere(&cbx_layer_##name, check_wishes);    \
    }
#include "layers.def"
#undef X

/* ---- threads */

static void check_threads(cbx_layer shape, const cbx_view *view)
{
    cbx_rng    rng = cbx_rng_stream(4, 0, 0, 0);
    bag        b = {0};
    layer_case c;
    layer_grad g[3];
    float     *Y[3];
    layer_open(&c, shape, view, 0, layer_input(&b, &rng, shape, view, 0), &rng);
    float *dY = draws(&b, &rng, c.num_outputs);
    for (int t = 0; t < 3; t++) {
        c.step.threads = 1 << t;
        Y[t] = copied(&b, c.num_outputs, layer_forward(&c));
        g[t] = layer_backward(&c, dY, 0);
        CHECK(same_bits(c.num_outputs, Y[t], Y[0]));
        CHECK(same_bits(c.num_inputs, g[t].dX, g[0].dX));
        CHECK(same_bits(c.num_values, g[t].dvalue, g[0].dvalue));
        CHECK(!c.diag || same_bits(c.step.rows_out, g[t].ddiag, g[0].ddiag));
        CHECK(same_bits(c.num_theta, g[t].dtheta, g[0].dtheta));
    }
    layer_close(&c);
    bag_free(&b);
}

TEST(all_layers_give_the_same_bits_at_any_number_of_threads)
{
    /* Products with the edges are worth a team at the narrower of the two widths. */
    enum { EDGES = 45000, NARROW = 24, WIDE = 31 };
    random_graph r = make_graph((graph_shape){3000, EDGES, 1, .weighted = true, .seed = 8});
    cbx_arena    arena = {0};
    cbx_view     view = layer_view(r.graph, -1, 0, &arena);
    CHECK((double)EDGES * NARROW > WORTH_A_TEAM);
    CHECK_INT(cbx_blas_begin(NULL), CBX_OK);
    for (int i = 0; cbx_layer_at(i); i++)
        for (int aggregation = CBX_ADD; aggregation <= CBX_MAX; aggregation++) {
            cbx_layer l = {.ops = cbx_layer_at(i), .set = cbx_settings_default()};
            l.set.order = 3;
            l.set.aggregation = aggregation;
            l.n_in = WIDE;
            l.n_out = NARROW;
            check_threads(l, &view);
            l.n_in = NARROW; /* the other order of A X W */
            l.n_out = WIDE;
            if (aggregation == CBX_ADD)
                check_threads(l, &view);
        }
    cbx_arena_free(&arena);
    free_graph(&r);
}
