/* SPDX-License-Identifier: Apache-2.0 */
/* Y = A X W in both orders: each is taken where it is cheaper, and both give the
 * same outputs and gradients. */
#include "propagate.h"

#include <math.h>

#include "../kernel/reference.h"
#include "layer_case.h"
#include "test.h"

/* Which order was taken shows in what is saved: S = A X has rows_out x n_in, H =
 * X W has rows_in x n_out. */
static bool aggregates_first(const layer_case *c)
{
    size_t saved = cbx_propagate_saved(&c->layer, &c->step);
    size_t S = (size_t)c->step.rows_out * (size_t)c->layer.n_in;
    size_t H = (size_t)c->step.rows_in * (size_t)c->layer.n_out;
    CHECK(S != H && (saved == S || saved == H));
    CHECK_INT((int64_t)cbx_propagate_scratch(&c->layer, &c->step), (int64_t)saved);
    return saved == S;
}

typedef struct place {
    random_graph r;
    cbx_arena    arena;
    cbx_view     view;
} place;

/* A whole graph, or a receptive field in which the target's row is computed. */
static void find_place(place *p, bool whole)
{
    *p = (place){.r = make_graph((graph_shape){60, 200, 1, .weighted = true, .seed = 6})};
    p->view = layer_view(p->r.graph, whole ? -1 : (int32_t)p->r.data.edge_target[0], 2, &p->arena);
}

static void leave(place *p)
{
    cbx_arena_free(&p->arena);
    free_graph(&p->r);
}

/* X as CSR with every entry stored: sparse features always go through W first. */
static cbx_matrix stored(bag *b, cbx_arena *arena, const cbx_matrix *X)
{
    int64_t  size = (int64_t)X->rows * X->cols;
    int64_t *offset = TAKE(b, int64_t, X->rows + 1);
    int32_t *column = TAKE(b, int32_t, size);
    for (int32_t i = 0; i <= X->rows; i++)
        offset[i] = (int64_t)i * X->cols;
    for (int64_t k = 0; k < size; k++)
        column[k] = (int32_t)(k % X->cols);
    cbx_matrix S = {.rows = X->rows, .cols = X->cols, .csr = {offset, column, X->dense}};
    CHECK_INT(cbx_matrix_transpose(&S, arena), 0);
    return S;
}

/* The product in one order (dense X) and in the other (the same, stored sparse). */
static void compare_orders(const cbx_layer_ops *ops, bool whole, int32_t n_in, int32_t n_out)
{
    place      p;
    bag        b = {0};
    layer_case c;
    cbx_rng    rng = cbx_rng_stream(2, (uint64_t)n_in, (uint64_t)n_out, whole);
    find_place(&p, whole);
    cbx_layer  l = {.ops = ops, .n_in = n_in, .n_out = n_out};
    cbx_matrix X = layer_input(&b, &rng, l, &p.view, 0);
    layer_open(&c, l, &p.view, 0, X, &rng);
    float *dY = draws(&b, &rng, c.num_outputs);
    CHECK(aggregates_first(&c));
    cbx_propagate_forward(&c.layer, &c.step, c.theta);
    const float *Y = c.step.Y;
    layer_grad   a = layer_backward(&c, dY, 0);
    c.X = stored(&b, &p.arena, &X);
    layer_buffers(&c);
    CHECK(!aggregates_first(&c));
    cbx_propagate_forward(&c.layer, &c.step, c.theta);
    CHECK(worst_of_floats(c.num_outputs, c.step.Y, Y) < 1e-5);
    layer_grad    s = {filled(&b, c.num_inputs, NAN), filled(&b, c.num_values, 0),
                    c.diag ? filled(&b, c.step.rows_out, 0) : NULL, filled(&b, c.num_theta, 0)};
    cbx_step_grad g = {dY, s.dX, s.dvalue, s.ddiag, NULL};
    cbx_propagate_backward(&c.layer, &c.step, c.theta, &g, s.dtheta);
    if (ops == &cbx_layer_gcn) /* graphconv's own backward adds its root's part */
        CHECK(worst_of_floats(c.num_inputs, s.dX, a.dX) < 1e-5);
    CHECK(worst_of_floats(c.num_values, s.dvalue, a.dvalue) < 1e-5);
    CHECK(!c.diag || worst_of_floats(c.step.rows_out, s.ddiag, a.ddiag) < 1e-5);
    CHECK(worst_of_floats((int64_t)n_in * n_out, s.dtheta, a.dtheta) < 1e-5);
    layer_close(&c);
    bag_free(&b);
    leave(&p);
}

TEST(both_orders_give_the_same_outputs_and_gradients)
{
    /* Wider outputs than inputs on a whole graph; on a receptive field, where one
     * row is computed of many read, narrower ones too. */
    compare_orders(&cbx_layer_gcn, true, 3, 17);
    compare_orders(&cbx_layer_gcn, false, 3, 17);
    compare_orders(&cbx_layer_gcn, false, 20, 16);
    compare_orders(&cbx_layer_graphconv, true, 3, 17);
    compare_orders(&cbx_layer_graphconv, false, 20, 16);
}

TEST(the_cheaper_order_is_taken)
{
    /* Whole graph of 60 nodes and 200 edges: edges + rows = 260. With 20 -> 4,
     * XW first costs 60*20*4 + 260*4 = 5840, A X first 60*20*4 + 260*20 = 10000.
     * With 4 -> 20 it is the other way round. */
    static const int32_t widths[2][2] = {{20, 4}, {4, 20}};
    for (int k = 0; k < 2; k++) {
        place      p;
        bag        b = {0};
        layer_case c;
        cbx_rng    rng = cbx_rng_stream(3, 0, 0, 0);
        find_place(&p, true);
        cbx_layer l = {.ops = &cbx_layer_gcn, .n_in = widths[k][0], .n_out = widths[k][1]};
        layer_open(&c, l, &p.view, 0, layer_input(&b, &rng, l, &p.view, 0), &rng);
        CHECK_INT(aggregates_first(&c), k == 1);
        layer_close(&c);
        bag_free(&b);
        leave(&p);
    }
}

TEST(equal_costs_and_prefixes_decide_by_rows)
{
    /* One row of many with 9 -> 8: A X first multiplies one row by W, not all. */
    place      p;
    bag        b = {0};
    layer_case c;
    cbx_rng    rng = cbx_rng_stream(4, 0, 0, 0);
    find_place(&p, false);
    cbx_layer l = {.ops = &cbx_layer_gcn, .n_in = 9, .n_out = 8};
    layer_open(&c, l, &p.view, 0, layer_input(&b, &rng, l, &p.view, 0), &rng);
    CHECK(c.step.rows_out == 1 && c.step.rows_in > 2);
    CHECK(aggregates_first(&c));
    layer_close(&c);
    bag_free(&b);
    leave(&p);
}

TEST(a_product_that_is_known_already_goes_through_w_first)
{
    /* 4 -> 20 would have A X first, were X W not there for nothing. */
    place             p;
    bag               b = {0};
    layer_case        c;
    cbx_product_cache cache;
    cbx_rng           rng = cbx_rng_stream(6, 0, 0, 0);
    find_place(&p, true);
    cbx_layer l = {.ops = &cbx_layer_gcn, .n_in = 4, .n_out = 20};
    layer_open(&c, l, &p.view, 0, layer_input(&b, &rng, l, &p.view, 0), &rng);
    CHECK(aggregates_first(&c));
    const float *Y = layer_forward(&c);
    CHECK_INT(cbx_cache_init(&cache, 1, p.view.n, 20, 0, &p.arena), 0);
    c.X.cache = &cache;
    layer_buffers(&c);
    CHECK(!aggregates_first(&c));
    CHECK(worst_of_floats(c.num_outputs, layer_forward(&c), Y) < 1e-5);
    CHECK(worst_of_floats(c.num_outputs, layer_forward(&c), Y) < 1e-5);
    layer_close(&c);
    bag_free(&b);
    leave(&p);
}

TEST(both_orders_agree_with_plain_loops)
{
    for (int k = 0; k < 2; k++) {
        place      p;
        bag        b = {0};
        layer_case c;
        cbx_rng    rng = cbx_rng_stream(5, (uint64_t)k, 0, 0);
        int32_t    in = k ? 3 : 11, out = k ? 11 : 3;
        find_place(&p, true);
        cbx_layer l = {.ops = &cbx_layer_gcn, .n_in = in, .n_out = out};
        layer_open(&c, l, &p.view, 0, layer_input(&b, &rng, l, &p.view, 0), &rng);
        CHECK_INT(aggregates_first(&c), k);
        double              *Y = TAKE(&b, double, c.num_outputs);
        const cbx_adjacency *A = &c.step.A;
        for (int64_t y = 0; y < c.num_outputs; y++) {
            int64_t i = y / out;
            Y[y] = 0;
            for (int32_t f = 0; f < in; f++) {
                double s = (double)A->diag[i] * c.X.dense[i * in + f];
                for (int64_t e = A->offset[i]; e < A->offset[i + 1]; e++)
                    s += (double)A->value[e] * c.X.dense[(int64_t)A->source[e] * in + f];
                Y[y] += s * c.theta[f * out + y % out];
            }
        }
        cbx_propagate_forward(&c.layer, &c.step, c.theta);
        CHECK(worst(c.num_outputs, c.step.Y, Y) < 1e-5);
        layer_close(&c);
        bag_free(&b);
        leave(&p);
    }
}
