/* SPDX-License-Identifier: Apache-2.0 */
/* hops_prove.c: does a program look as far as its data flow says, and no further?
 *
 * Large graphs are searched, and answers verified, on the part around a node. That the rest makes
 * no difference follows from the operations (src/program/hops.c); here it is tried: nodes of a
 * made-up graph are asked about on the whole of it and on their part. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "pass.h"
#include "program_oracle.h"
#include "receptive.h"
#include "rng.h"

enum { NODES = 96, EDGES = 120, TRIED = 8 };

/* Memory that features may take: what is wider is not tried. */
static const size_t most_values = (size_t)1 << 24;

/* A few edges at each node, most of them to one a little further on, so that a graph of this size
 * has room for several hops; loops and repeated edges among them. */
static cbx_status make_graph(int32_t features, int32_t edge_dim, cbx_arena *arena, cbx_graph **out,
                             cbx_error *err)
{
    cbx_rng  rng = cbx_rng_stream(1, 2, 3, 5);
    int64_t *ends = CBX_NEW(arena, int64_t, 2 * EDGES);
    float   *x = CBX_NEW(arena, float, (size_t)NODES *(size_t)features);
    float   *attr = CBX_NEW(arena, float, (size_t)EDGES *(size_t)edge_dim);
    if (!ends || !x || !attr)
        return cbx_fail_memory(err);
    for (int64_t k = 0; k < (int64_t)EDGES * edge_dim; k++)
        attr[k] = (float)cbx_rng_below(&rng, 2); /* may be the number of a kind */
    for (int64_t e = 0; e < EDGES; e++) {
        int64_t a = (int64_t)cbx_rng_below(&rng, NODES),
                b = (a + (int64_t)cbx_rng_below(&rng, 3)) % NODES;
        bool back = cbx_rng_below(&rng, 2);
        ends[e] = back ? b : a;
        ends[EDGES + e] = back ? a : b;
    }
    for (int64_t k = 0; k < (int64_t)NODES * features; k++)
        x[k] = (float)(2 * cbx_rng_uniform(&rng) - 1);
    cbx_graph_data d = {.num_nodes = NODES,
                        .num_features = features,
                        .num_edges = EDGES,
                        .edge_source = ends,
                        .edge_target = ends + EDGES,
                        .edge_attr = edge_dim ? attr : NULL,
                        .edge_dim = edge_dim,
                        .x = x};
    return cbx_graph_new(&d, out, err);
}

/* With the features of the first `rows` nodes, and 0 for those of the others. */
static cbx_status ask(const cbx_model *model, const cbx_graph *graph, const cbx_view *view,
                      int32_t rows, cbx_arena *arena, cbx_pass *pass, cbx_error *err)
{
    cbx_matrix X;
    cbx_status status = cbx_view_features(graph, view, arena, &X, err);
    float     *seen = CBX_NEW0(arena, float, (size_t)view->n *(size_t)model->num_features);
    if (!status && !seen)
        status = cbx_fail_memory(err);
    if (!status)
        cbx_matrix_expand(&X, rows, seen);
    X = cbx_matrix_dense(view->n, model->num_features, seen);
    if (!status)
        status = cbx_pass_init(pass, model, view, &X, false, 1, arena, err);
    if (!status)
        cbx_pass_forward(pass, &X, NULL, 0, 0);
    return status;
}

static bool same(const float *a, const float *b, int32_t count)
{
    bool equal = true;
    for (int32_t c = 0; c < count; c++)
        equal = equal && (fabs((double)a[c] - (double)b[c]) <= 1e-4 * fmax(1, fabs((double)b[c])) ||
                          (isnan(a[c]) && isnan(b[c])));
    return equal;
}

static cbx_status compare(const cbx_model *model, const cbx_graph *graph, cbx_arena *arena,
                          bool *equal, cbx_error *err)
{
    cbx_view   whole, part;
    cbx_pass   all, one;
    int32_t    C = model->num_classes;
    cbx_status status = cbx_view_whole(graph, arena, &whole, err);
    if (!status)
        status = ask(model, graph, &whole, whole.n, arena, &all, err);
    for (int32_t k = 0; k < TRIED && !status && *equal; k++) {
        int32_t node = k * (NODES / TRIED);
        status = cbx_receptive_view(model, graph, &whole, node, INT32_MAX, arena, &part, err);
        if (!status)
            status = ask(model, graph, &part, cbx_view_rows(&part, cbx_model_reach(model)), arena,
                         &one, err);
        *equal = status || same(one.logp, all.logp + (int64_t)node * C, C);
    }
    return status;
}

cbx_status cbx_hops_prove(cbx_model *model, cbx_error *err)
{
    cbx_arena  arena = {0};
    cbx_graph *graph = NULL;
    cbx_error  ignored = {0};
    bool       equal = true;
    if (model->task != CBX_NODE || !cbx_receptive_is_known(model) ||
        (size_t)model->num_features > most_values / NODES ||
        (size_t)model->oracle->edge_dim > most_values / EDGES)
        return CBX_OK;
    cbx_status status =
        make_graph(model->num_features, model->oracle->edge_dim, &arena, &graph, &ignored);
    if (!status)
        status = compare(model, graph, &arena, &equal, &ignored);
    /* a program that cannot be run on such a graph says so when it is asked */
    if (status || !equal)
        ((cbx_driver *)model->oracle)->hops = CBX_HOPS_ALL;
    cbx_graph_free(graph);
    cbx_arena_free(&arena);
    return status == CBX_NO_MEMORY ? cbx_fail_memory(err) : CBX_OK;
}
