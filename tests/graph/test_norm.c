/* SPDX-License-Identifier: Apache-2.0 */
/* Degree normalisation by hand, against a naive reference in double, and its chain
 * rule against central differences of that reference. */
#include "norm.h"

#include <math.h>
#include <string.h>

#include "../kernel/reference.h"
#include "random_graph.h"
#include "test.h"

/* ---- the reference: from a list of edges, one sum at a time */

/* d of node i: its degree to the power of -1/2, or 0. */
static double reference_root(cbx_norm_kind kind, const cbx_view *v, const int32_t *row,
                             const double *w, int32_t i, double *loop)
{
    double degree = 0;
    *loop = 1;
    for (int64_t e = 0; e < v->m; e++) {
        if (row[e] == i && v->source[e] == i)
            *loop = w[e];
        else if ((kind == CBX_NORM_GCN ? row[e] : v->source[e]) == i)
            degree += w[e];
    }
    degree += kind == CBX_NORM_GCN ? *loop : 0;
    if (kind == CBX_NORM_GCN && v->outside_weight)
        degree += v->outside_weight[i];
    return degree > 0 ? 1 / sqrt(degree) : 0;
}

/* Values of all slots, and diag of all nodes (0 where the kind has none). */
static void reference(cbx_norm_kind kind, const cbx_view *v, const int32_t *row, const double *w,
                      double *value, double *diag)
{
    bag     b = {0};
    double *d = TAKE(&b, double, v->n), loop;
    for (int32_t i = 0; i < v->n; i++) {
        d[i] = reference_root(kind, v, row, w, i, &loop);
        diag[i] = kind == CBX_NORM_GCN ? loop * d[i] * d[i] : 0;
    }
    for (int64_t e = 0; e < v->m; e++) {
        int32_t s = v->source[e], t = row[e];
        double  count = v->outside_count ? (double)v->outside_count[t] : 0;
        for (int64_t o = 0; o < v->m; o++)
            count += row[o] == t;
        if (kind == CBX_NORM_GCN || kind == CBX_NORM_CHEB)
            value[e] = s == t ? 0 : (kind == CBX_NORM_GCN ? 1 : -1) * d[s] * w[e] * d[t];
        else
            value[e] = kind == CBX_NORM_MEAN ? w[e] / count : w[e];
    }
    bag_free(&b);
}

/* ---- a case: a kind on a view, with weights and random gradients of the values */

typedef struct norm_case {
    bag       bag;
    cbx_arena arena;
    cbx_view  view;
    cbx_norm  norm;
    int32_t  *row; /* target of each slot */
    float    *w;
    double   *exact; /* w in double */
} norm_case;

static norm_case make_case(cbx_norm_kind kind, const cbx_view *view, int32_t rows, int32_t inputs,
                           cbx_rng *rng)
{
    norm_case c = {.view = *view};
    c.row = TAKE(&c.bag, int32_t, view->m);
    c.w = TAKE(&c.bag, float, view->m);
    c.exact = TAKE(&c.bag, double, view->m);
    for (int32_t i = 0; i < view->n; i++)
        for (int64_t e = view->offset[i]; e < view->offset[i + 1]; e++) {
            c.row[e] = i;
            c.exact[e] = c.w[e] = draw(rng, 0.2, 2);
        }
    CHECK_INT(cbx_norm_init(&c.norm, kind, view, rows, inputs, true, &c.arena), 0);
    return c;
}

static void free_case(norm_case *c)
{
    cbx_arena_free(&c->arena);
    bag_free(&c->bag);
}

static void check_forward(norm_case *c)
{
    double *value = TAKE(&c->bag, double, c->view.m), *diag = TAKE(&c->bag, double, c->view.n);
    c->norm.view = &c->view;
    cbx_norm_forward(&c->norm, c->w);
    reference(c->norm.kind, &c->view, c->row, c->exact, value, diag);
    cbx_adjacency A = cbx_norm_adjacency(&c->norm);
    CHECK(worst(c->view.offset[c->norm.rows], A.value, value) < 1e-6);
    if (c->norm.kind == CBX_NORM_GCN)
        CHECK(worst(c->norm.inputs, A.diag, diag) < 1e-6);
    else
        CHECK(A.diag == NULL);
    CHECK(A.offset == c->view.offset && A.source == c->view.source);
    CHECK(A.out_offset == c->view.out_offset && A.out_target == c->view.out_target &&
          A.out_slot == c->view.out_slot);
}

/* L = sum of dvalue * value over slots into the first rows, and of ddiag * diag. */
static double loss(norm_case *c, double *value, double *diag)
{
    double sum = 0;
    reference(c->norm.kind, &c->view, c->row, c->exact, value, diag);
    for (int64_t e = 0; e < c->view.offset[c->norm.rows]; e++)
        sum += c->norm.dvalue[e] * value[e];
    for (int32_t i = 0; i < c->norm.inputs && c->norm.ddiag; i++)
        sum += c->norm.ddiag[i] * diag[i];
    return sum;
}

/* Whether the degree in which the edge counts is 0: no derivative there. */
static bool at_zero(const norm_case *c, int64_t e)
{
    double  loop;
    int32_t end = c->norm.kind == CBX_NORM_GCN ? c->row[e] : c->view.source[e];
    return (c->norm.kind == CBX_NORM_GCN || c->norm.kind == CBX_NORM_CHEB) &&
           reference_root(c->norm.kind, &c->view, c->row, c->exact, end, &loop) == 0;
}

static void check_backward(norm_case *c, cbx_rng *rng)
{
    double *value = TAKE(&c->bag, double, c->view.m), *diag = TAKE(&c->bag, double, c->view.n);
    float  *dw = filled(&c->bag, c->view.m, 3); /* backward adds */
    cbx_norm_clear(&c->norm);
    for (int64_t e = 0; e < c->view.offset[c->norm.rows]; e++)
        c->norm.dvalue[e] += draw(rng, -1, 1);
    for (int32_t i = 0; i < c->norm.inputs && c->norm.ddiag; i++)
        c->norm.ddiag[i] += draw(rng, -1, 1);
    cbx_norm_backward(&c->norm, c->w, dw);
    for (int64_t e = 0; e < c->view.m; e++) {
        double kept = c->exact[e], h = 1e-5;
        if (at_zero(c, e)) {
            CHECK_NEAR(dw[e], 3, 0);
            continue;
        }
        c->exact[e] = kept + h;
        double more = loss(c, value, diag);
        c->exact[e] = kept - h;
        double less = loss(c, value, diag);
        c->exact[e] = kept;
        if (!CHECK_NEAR(dw[e] - 3, (more - less) / (2 * h), 1e-5))
            printf("  (kind %d, slot %d: %d -> %d)\n", c->norm.kind, (int)e, c->view.source[e],
                   c->row[e]);
    }
}

/* All kinds, with this view's first rows and inputs. */
static void check_view(const cbx_view *view, int32_t rows, int32_t inputs, uint64_t seed)
{
    for (int kind = 0; kind < CBX_NORM_COUNT; kind++) {
        cbx_rng   rng = cbx_rng_stream(seed, (uint64_t)kind, 0, 0);
        norm_case c = make_case((cbx_norm_kind)kind, view, rows, inputs, &rng);
        check_forward(&c);
        check_backward(&c, &rng);
        check_backward(&c, &rng); /* nothing is left over from the first time */
        free_case(&c);
    }
}

TEST(all_kinds_agree_with_the_reference_on_whole_graphs)
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        random_graph r = make_graph((graph_shape){14, 45, 1, .undirected = seed % 2, .seed = seed});
        cbx_arena    arena = {0};
        cbx_view     v;
        CHECK_INT(cbx_view_whole(r.graph, &arena, &v, NULL), CBX_OK);
        check_view(&v, v.n, v.n, seed);
        cbx_arena_free(&arena);
        free_graph(&r);
    }
}

TEST(all_kinds_agree_with_the_reference_on_prefixes_of_receptive_fields)
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        random_graph r = make_graph((graph_shape){30, 60, 1, .undirected = seed % 2, .seed = seed});
        cbx_arena    arena = {0};
        cbx_view     v;
        CHECK_INT(cbx_view_around(r.graph, (int32_t)seed, 3, &arena, &v, NULL), CBX_OK);
        for (int32_t hop = 0; hop < 3; hop++)
            check_view(&v, v.prefix[hop], v.prefix[hop + 1], seed);
        cbx_arena_free(&arena);
        free_graph(&r);
    }
}

TEST(all_kinds_agree_with_the_reference_where_nodes_have_edges_outside)
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        random_graph r = make_graph((graph_shape){40, 120, 1, .weighted = seed % 2, .seed = seed});
        int32_t      node = (int32_t)r.data.edge_target[0];
        cbx_arena    arena = {0};
        cbx_view     v;
        CHECK_INT(cbx_view_cone(r.graph, node, 2, &arena, &v, NULL), CBX_OK);
        check_view(&v, v.prefix[1], v.prefix[2], seed);
        CHECK_INT(cbx_view_nearest(r.graph, node, 4, 9, &arena, &v, NULL), CBX_OK);
        check_view(&v, v.prefix[2], v.prefix[3], seed);
        cbx_arena_free(&arena);
        free_graph(&r);
    }
}

TEST(edges_of_weight_zero_leave_no_degree_and_pass_no_gradient)
{
    /* Every other edge weighs nothing. Where a whole degree is 0 the reference has no
     * derivative, and backward adds nothing at all. */
    int zeros[CBX_NORM_COUNT] = {0};
    for (int kind = 0; kind < CBX_NORM_COUNT; kind++)
        for (uint64_t seed = 0; seed < 8; seed++) {
            random_graph r = make_graph((graph_shape){16, 28, 1, .seed = seed});
            cbx_arena    arena = {0};
            cbx_view     v;
            cbx_rng      rng = cbx_rng_stream(seed, (uint64_t)kind, 7, 0);
            CHECK_INT(cbx_view_whole(r.graph, &arena, &v, NULL), CBX_OK);
            norm_case c = make_case((cbx_norm_kind)kind, &v, v.n, v.n, &rng);
            for (int64_t e = 0; e < v.m; e++)
                if (cbx_rng_below(&rng, 2) || c.row[e] == v.source[e])
                    c.exact[e] = c.w[e] = 0;
            for (int64_t e = 0; e < v.m; e++)
                zeros[kind] += at_zero(&c, e);
            check_forward(&c);
            check_backward(&c, &rng);
            free_case(&c);
            cbx_arena_free(&arena);
            free_graph(&r);
        }
    CHECK(zeros[CBX_NORM_GCN] > 0 && zeros[CBX_NORM_CHEB] > 0);
}

/* ---- by hand */

typedef struct hand {
    cbx_arena  arena;
    cbx_graph *graph;
    cbx_view   view;
    cbx_norm   norm;
} hand;

/* Edges sorted by target, so that slots are ids. */
static void by_hand(hand *h, cbx_norm_kind kind, int32_t nodes, int64_t edges,
                    const int64_t *source, const int64_t *target, const float *w)
{
    static const float x[8] = {0};
    cbx_graph_data     d = {.num_nodes = nodes,
                            .num_features = 1,
                            .num_edges = edges,
                            .edge_source = source,
                            .edge_target = target,
                            .x = x};
    memset(h, 0, sizeof *h);
    CHECK_INT(cbx_graph_new(&d, &h->graph, NULL), CBX_OK);
    CHECK_INT(cbx_view_whole(h->graph, &h->arena, &h->view, NULL), CBX_OK);
    CHECK_INT(cbx_norm_init(&h->norm, kind, &h->view, nodes, nodes, true, &h->arena), 0);
    cbx_norm_forward(&h->norm, w);
}

static void free_hand(hand *h)
{
    cbx_arena_free(&h->arena);
    cbx_graph_free(h->graph);
}

TEST(gcn_on_a_path_of_three_nodes)
{
    /* 0 - 1 - 2 with loops added: degrees 2, 3, 2. Values 1/sqrt(2*3), diagonal
     * 1/2, 1/3, 1/2. */
    const int64_t source[] = {1, 0, 2, 1}, target[] = {0, 1, 1, 2};
    const float   w[] = {1, 1, 1, 1};
    hand          h;
    by_hand(&h, CBX_NORM_GCN, 3, 4, source, target, w);
    for (int e = 0; e < 4; e++)
        CHECK_NEAR(h.norm.value[e], 1 / sqrt(6), 1e-7);
    CHECK_NEAR(h.norm.diag[0], 1.0 / 2, 1e-7);
    CHECK_NEAR(h.norm.diag[1], 1.0 / 3, 1e-7);
    CHECK_NEAR(h.norm.diag[2], 1.0 / 2, 1e-7);
    free_hand(&h);
}

TEST(gcn_counts_weights_into_a_node_and_not_out_of_it)
{
    /* 0 -> 1 of weight 3: degrees 1 and 4, value 3 / sqrt(1*4), diagonal 1, 1/4. */
    const int64_t source[] = {0}, target[] = {1};
    const float   w[] = {3};
    hand          h;
    by_hand(&h, CBX_NORM_GCN, 2, 1, source, target, w);
    CHECK_NEAR(h.norm.value[0], 1.5, 1e-7);
    CHECK_NEAR(h.norm.diag[0], 1, 1e-7);
    CHECK_NEAR(h.norm.diag[1], 0.25, 1e-7);
    free_hand(&h);
}

TEST(gcn_keeps_a_loop_that_is_there_and_the_last_of_several)
{
    /* Node 0 has loops of 5 and 7 and an edge of 2 from node 1: the 7 counts,
     * degree 9, diagonal 7/9. Node 1 has none: degree 1. Value 2 / sqrt(9*1).
     * A loop's slot is 0: its weight stands in the diagonal. */
    const int64_t source[] = {0, 1, 0}, target[] = {0, 0, 0};
    const float   w[] = {5, 2, 7};
    float         dw[3] = {0};
    hand          h;
    by_hand(&h, CBX_NORM_GCN, 2, 3, source, target, w);
    CHECK_NEAR(h.norm.value[0], 0, 0);
    CHECK_NEAR(h.norm.value[1], 2.0 / 3, 1e-7);
    CHECK_NEAR(h.norm.value[2], 0, 0);
    CHECK_NEAR(h.norm.diag[0], 7.0 / 9, 1e-7);
    CHECK_NEAR(h.norm.diag[1], 1, 1e-7);
    /* L = diag[0] = c / (c + b), c = 7, b = 2: dc = b / 81, db = -c / 81. The
     * first loop counts nowhere; gradients of loops' slots are nobody's. */
    cbx_norm_clear(&h.norm);
    h.norm.ddiag[0] = 1;
    h.norm.dvalue[0] = h.norm.dvalue[2] = 100;
    cbx_norm_backward(&h.norm, w, dw);
    CHECK_NEAR(dw[0], 0, 0);
    CHECK_NEAR(dw[1], -7.0 / 81, 1e-7);
    CHECK_NEAR(dw[2], 2.0 / 81, 1e-7);
    free_hand(&h);
}

TEST(cheb_counts_weights_out_of_a_node_and_drops_loops)
{
    /* 0 -> 1 of 4, 1 -> 0 of 9, 1 -> 2 of 7, loop at 0 of 5: degrees out 4, 16, 0.
     * Values -4/sqrt(4*16), -9/sqrt(16*4), and 0 into the node that has none. */
    const int64_t source[] = {0, 1, 0, 1}, target[] = {0, 0, 1, 2};
    const float   w[] = {5, 9, 4, 7};
    hand          h;
    by_hand(&h, CBX_NORM_CHEB, 3, 4, source, target, w);
    CHECK_NEAR(h.norm.value[0], 0, 0);
    CHECK_NEAR(h.norm.value[1], -9.0 / 8, 1e-7);
    CHECK_NEAR(h.norm.value[2], -4.0 / 8, 1e-7);
    CHECK_NEAR(h.norm.value[3], 0, 0);
    CHECK(h.norm.diag == NULL);
    free_hand(&h);
}

TEST(mean_divides_by_the_number_of_edges_and_not_by_weights)
{
    /* Three edges into node 0, a loop among them; one into node 1. */
    const int64_t source[] = {0, 1, 1, 0}, target[] = {0, 0, 0, 1};
    const float   w[] = {6, 3, 0, 5};
    hand          h;
    by_hand(&h, CBX_NORM_MEAN, 3, 4, source, target, w);
    CHECK_NEAR(h.norm.value[0], 2, 1e-6);
    CHECK_NEAR(h.norm.value[1], 1, 1e-7);
    CHECK_NEAR(h.norm.value[2], 0, 0);
    CHECK_NEAR(h.norm.value[3], 5, 0);
    free_hand(&h);
}

TEST(without_normalisation_values_are_the_weights_themselves)
{
    const int64_t source[] = {0}, target[] = {1};
    const float   w[] = {3};
    hand          h;
    by_hand(&h, CBX_NORM_NONE, 2, 1, source, target, w);
    CHECK(cbx_norm_adjacency(&h.norm).value == w);
    CHECK(cbx_norm_adjacency(&h.norm).diag == NULL);
    free_hand(&h);
}

TEST(tiny_degrees_have_finite_gradients)
{
    /* 0 <-> 1 of weight a and b: cheb's values are -a / sqrt(a b) and -b / sqrt(a b),
     * and the derivative of their sum is 0 where a = b. The two parts that cancel
     * are 1/a = 1e30, right to 1e-7 of that; d^3 = 1e45 on the way is no float. */
    const int64_t source[] = {1, 0}, target[] = {0, 1};
    const float   w[] = {1e-30f, 1e-30f};
    float         dw[2] = {0};
    hand          h;
    by_hand(&h, CBX_NORM_CHEB, 2, 2, source, target, w);
    CHECK_NEAR(h.norm.value[0], -1, 1e-6);
    cbx_norm_clear(&h.norm);
    h.norm.dvalue[0] = h.norm.dvalue[1] = 1;
    cbx_norm_backward(&h.norm, w, dw);
    CHECK_NEAR(dw[0] * 1e-30, 0, 1e-6);
    CHECK_NEAR(dw[1] * 1e-30, 0, 1e-6);
    free_hand(&h);
}

TEST(degrees_too_small_for_a_float_count_as_none)
{
    const int64_t source[] = {1, 0}, target[] = {0, 1};
    const float   w[] = {1e-45f, 1};
    float         dw[2] = {0};
    hand          h;
    by_hand(&h, CBX_NORM_CHEB, 2, 2, source, target, w);
    CHECK_NEAR(h.norm.value[0], 0, 0);
    CHECK_NEAR(h.norm.value[1], 0, 0);
    cbx_norm_clear(&h.norm);
    h.norm.dvalue[0] = h.norm.dvalue[1] = 1;
    cbx_norm_backward(&h.norm, w, dw);
    CHECK_NEAR(dw[0], 0, 0);
    CHECK_NEAR(dw[1], 0, 0);
    free_hand(&h);
}

/* ---- memory */

typedef struct request {
    cbx_view      view;
    cbx_norm_kind kind;
} request;

static cbx_status init(void *user)
{
    const request *r = user;
    cbx_arena      arena = {0};
    cbx_norm       norm;
    int failed = cbx_norm_init(&norm, r->kind, &r->view, r->view.n, r->view.n, true, &arena);
    cbx_arena_free(&arena);
    return failed ? CBX_NO_MEMORY : CBX_OK;
}

TEST(norms_survive_the_failure_of_any_allocation)
{
    static const graph_shape shapes[] = {
        {20, 30, 1, .seed = 1}, {300, 1200, 1, .seed = 2}, {2500, 900, 1, .seed = 3}};
    for (int i = 0; i < 3; i++)
        for (int kind = 0; kind < CBX_NORM_COUNT; kind++) {
            random_graph r = make_graph(shapes[i]);
            cbx_arena    arena = {0};
            request      ask = {.kind = (cbx_norm_kind)kind};
            CHECK_INT(cbx_view_whole(r.graph, &arena, &ask.view, NULL), CBX_OK);
            test_each_allocation(init, &ask);
            cbx_arena_free(&arena);
            free_graph(&r);
        }
}

TEST(clearing_leaves_nothing_of_an_earlier_pass)
{
    const int64_t source[] = {1, 0}, target[] = {0, 1};
    const float   w[] = {1, 1};
    hand          h;
    by_hand(&h, CBX_NORM_GCN, 2, 2, source, target, w);
    for (int k = 0; k < 2; k++)
        h.norm.dvalue[k] = h.norm.ddiag[k] = 7;
    cbx_norm_clear(&h.norm);
    for (int k = 0; k < 2; k++)
        CHECK(h.norm.dvalue[k] == 0 && h.norm.ddiag[k] == 0);
    free_hand(&h);
}

TEST(no_gradient_needs_no_memory_for_one)
{
    random_graph r = make_graph((graph_shape){20, 30, 1, .seed = 1});
    cbx_arena    arena = {0};
    cbx_view     v;
    cbx_norm     norm;
    CHECK_INT(cbx_view_whole(r.graph, &arena, &v, NULL), CBX_OK);
    for (int kind = 0; kind < CBX_NORM_COUNT; kind++) {
        CHECK_INT(cbx_norm_init(&norm, (cbx_norm_kind)kind, &v, v.n, v.n, false, &arena), 0);
        CHECK(!norm.dvalue && !norm.ddiag && !norm.droot);
        cbx_norm_clear(&norm);
    }
    cbx_arena_free(&arena);
    free_graph(&r);
}
