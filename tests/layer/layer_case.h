/* SPDX-License-Identifier: Apache-2.0 */
/* layer_case.h: one layer on one view, with everything a step needs.
 *
 * Arrays have their exact sizes: what a layer reads or writes beyond the rows it
 * was promised, or beyond what it asked for in `saved` and `scratch`, is for the
 * sanitizer to see. */
#ifndef CBX_TEST_LAYER_CASE_H
#define CBX_TEST_LAYER_CASE_H

#include <math.h>
#include <string.h>

#include "../graph/random_graph.h"
#include "layer.h"
#include "test.h"

typedef struct layer_case {
    bag        bag;
    cbx_arena  arena;
    cbx_norm   norm;
    cbx_layer  layer;
    cbx_step   step;
    cbx_matrix X;
    float     *theta, *value, *diag; /* what layer and step point to; diag may be NULL */
    int64_t    num_theta, num_values, num_outputs, num_inputs;
} layer_case;

/* The gradients of a backward pass, as cbx_step_grad has them. */
typedef struct layer_grad {
    float *dX, *dvalue, *ddiag, *dtheta;
} layer_grad;

/* What forward and backward write to. Call it again after changing step.X. */
static inline void layer_buffers(layer_case *c)
{
    c->step.X = &c->X;
    c->step.Y = TAKE(&c->bag, float, c->num_outputs);
    c->step.saved = TAKE(&c->bag, float, cbx_block_saved(&c->layer, &c->step));
    c->step.tmp = TAKE(&c->bag, float, c->layer.ops->scratch(&c->layer, &c->step));
}

/* Draws that stand for variances are made such. */
static inline void layer_no_negatives(layer_case *c)
{
    cbx_parameter p;
    float        *at = c->theta;
    for (int32_t i = 0; cbx_block_parameter(&c->layer, i, &p); i++) {
        for (int64_t k = 0; k < cbx_parameter_size(&p) && p.not_negative; k++)
            at[k] = 0.3f + fabsf(at[k]);
        at += cbx_parameter_size(&p);
    }
}

/* `shape` has ops, sizes, order and aggregation; parameters are drawn, rows
 * within `hop` hops computed. X may have more rows than are read. */
static inline void layer_open(layer_case *c, cbx_layer shape, const cbx_view *view, int32_t hop,
                              cbx_matrix X, cbx_rng *rng)
{
    *c = (layer_case){.layer = shape, .X = X};
    int32_t reach = shape.ops->reach(&shape);
    int32_t rows = reach > 0 ? cbx_view_rows(view, hop + reach - 1) : 0;
    float  *w = TAKE(&c->bag, float, view->m);
    c->step = (cbx_step){.view = view, .hop = hop, .threads = 1};
    c->step.rows_out = cbx_view_rows(view, hop);
    c->step.rows_in = cbx_view_rows(view, hop + reach);
    for (int64_t e = 0; e < view->m; e++)
        w[e] = view->weight ? view->weight[e] : 1;
    if (cbx_norm_init(&c->norm, shape.ops->norm(&shape), view, rows, c->step.rows_in, true,
                      &c->arena))
        exit(1);
    cbx_norm_forward(&c->norm, w);
    c->num_values = view->offset[rows];
    c->num_outputs = (int64_t)c->step.rows_out * shape.n_out;
    c->num_inputs = (int64_t)c->step.rows_in * shape.n_in;
    c->num_theta = cbx_layer_size(&shape);
    c->step.A = cbx_norm_adjacency(&c->norm);
    c->step.A.value = c->value = copied(&c->bag, c->num_values, c->norm.value);
    if (c->norm.diag)
        c->step.A.diag = c->diag = copied(&c->bag, c->step.rows_out, c->norm.diag);
    c->layer.theta = c->theta = draws(&c->bag, rng, c->num_theta);
    layer_no_negatives(c);
    layer_buffers(c);
}

static inline void layer_close(layer_case *c)
{
    cbx_arena_free(&c->arena);
    bag_free(&c->bag);
}

/* Scratch is nobody's: what a pass left there must not help the next. */
static inline void layer_spoil(layer_case *c)
{
    size_t count = c->layer.ops->scratch(&c->layer, &c->step);
    for (size_t i = 0; i < count; i++)
        c->step.tmp[i] = NAN;
}

static inline const float *layer_forward(layer_case *c)
{
    layer_spoil(c);
    cbx_block_forward(&c->layer, &c->step);
    return c->step.Y;
}

/* Everything that is wanted, with `start` in what is added to and NaN in what is
 * overwritten. A layer without a diagonal has no ddiag. */
static inline layer_grad layer_backward(layer_case *c, const float *dY, float start)
{
    layer_grad    g = {filled(&c->bag, c->num_inputs, NAN), filled(&c->bag, c->num_values, start),
                    c->diag ? filled(&c->bag, c->step.rows_out, start) : NULL,
                       filled(&c->bag, c->num_theta, start)};
    cbx_step_grad s = {copied(&c->bag, c->num_outputs, dY), g.dX, g.dvalue, g.ddiag, g.dtheta};
    layer_spoil(c);
    cbx_block_backward(&c->layer, &c->step, &s);
    return g;
}

/* Random dense rows of exactly the size that is read. */
static inline cbx_matrix layer_input(bag *b, cbx_rng *rng, cbx_layer shape, const cbx_view *view,
                                     int32_t hop)
{
    int32_t rows = cbx_view_rows(view, hop + shape.ops->reach(&shape));
    return cbx_matrix_dense(rows, shape.n_in, draws(b, rng, (int64_t)rows * shape.n_in));
}

/* A view of the whole graph, or (node >= 0) around a node; a cone if hops < 0. */
static inline cbx_view layer_view(const cbx_graph *g, int32_t node, int32_t hops, cbx_arena *arena)
{
    cbx_view v;
    if (node < 0   ? cbx_view_whole(g, arena, &v, NULL)
        : hops < 0 ? cbx_view_cone(g, node, -hops, arena, &v, NULL)
                   : cbx_view_around(g, node, hops, arena, &v, NULL))
        exit(1);
    return v;
}

/* Runs the layer on a receptive field of the graph and on the whole of it, and
 * gives the largest difference among the rows that both compute. The field is one
 * hop larger than what is read, so that the degrees of all nodes read are whole; or
 * it is a cone, which has just what is read and knows the degrees. */
static inline double prefix_difference(cbx_layer shape, graph_shape s, int32_t hop, bool cone,
                                       int *rows)
{
    random_graph r = make_graph(s);
    cbx_arena    arena = {0};
    double       most = 0;
    int32_t      reach = hop + shape.ops->reach(&shape), hops = cone ? -reach : reach + 1;
    cbx_view     all = layer_view(r.graph, -1, 0, &arena);
    for (int32_t node = 0; node < s.nodes; node += 3) {
        cbx_view   part = layer_view(r.graph, node, hops, &arena);
        cbx_matrix X[2];
        layer_case c[2];
        for (int k = 0; k < 2; k++) { /* the same draws, so the same parameters */
            const cbx_view *v = k ? &part : &all;
            cbx_rng         rng = cbx_rng_stream(s.seed, (uint64_t)node, 0, 0);
            if (cbx_view_features(r.graph, v, &arena, &X[k], NULL))
                exit(1);
            layer_open(&c[k], shape, v, k ? hop : 0, X[k], &rng);
            (void)layer_forward(&c[k]);
        }
        for (int64_t i = 0; i < c[1].num_outputs; i++) {
            int64_t row = part.node[i / shape.n_out];
            double  d = (double)c[1].step.Y[i] - c[0].step.Y[row * shape.n_out + i % shape.n_out];
            most = isnan(d) ? INFINITY : fmax(most, fabs(d));
        }
        *rows += c[1].step.rows_in < all.n ? c[1].step.rows_out : 0;
        layer_close(&c[0]);
        layer_close(&c[1]);
    }
    cbx_arena_free(&arena);
    free_graph(&r);
    return most;
}

/* A layer of one feature and one unit on three nodes, 0 -> 2 of weight 2 and 1 -> 2 of weight 3. */
static inline void layer_by_hand(cbx_layer_settings set, const cbx_layer_ops *ops, const float *x,
                                 const float *theta, int64_t count, const double *expected)
{
    cbx_graph_data d = {.num_nodes = 3,
                        .num_features = 1,
                        .num_edges = 2,
                        .edge_source = (int64_t[]){0, 1},
                        .edge_target = (int64_t[]){2, 2},
                        .edge_weight = (float[]){2, 3},
                        .x = x};
    cbx_graph     *g = NULL;
    cbx_arena      arena = {0};
    cbx_rng        rng = {0};
    layer_case     c;
    CHECK_INT(cbx_graph_new(&d, &g, NULL), CBX_OK);
    cbx_view  v = layer_view(g, -1, 0, &arena);
    cbx_layer l = {.ops = ops, .n_in = 1, .n_out = 1, .set = set};
    layer_open(&c, l, &v, 0, cbx_matrix_dense(3, 1, x), &rng);
    if (CHECK_INT(c.num_theta, count))
        memcpy(c.theta, theta, (size_t)count * sizeof *theta);
    const float *Y = layer_forward(&c);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(Y[i], expected[i], 1e-6);
    layer_close(&c);
    cbx_arena_free(&arena);
    cbx_graph_free(g);
}

/* On receptive fields and cones as on the whole graph. */
static inline void check_prefixes(cbx_layer l)
{
    int rows = 0;
    for (uint64_t seed = 0; seed < 4; seed++)
        for (int32_t hop = 0; hop < 3; hop++) {
            graph_shape s = {
                60,          130, 6, .undirected = seed & 1, .weighted = true, .sparse = seed & 2,
                .seed = seed};
            CHECK(prefix_difference(l, s, hop, false, &rows) < 1e-5);
            CHECK(prefix_difference(l, s, hop, true, &rows) < 1e-5);
        }
    CHECK(rows > 100);
}

#endif
