/* SPDX-License-Identifier: Apache-2.0 */
/* layer_inputs.c: see layer_inputs.h. */
#include "layer_inputs.h"

#include <string.h>

#include "deadline.h"
#include "error.h"

/* Of every layer what it multiplies its neighbours by. 1: some layer is not of that form. */
static int find_parts(cbx_layer_inputs *I, cbx_arena *arena, cbx_arena *work)
{
    const cbx_model *m = I->model;
    I->neighbour = CBX_NEW(arena, double *, m->num_layers);
    for (int32_t l = 0; I->neighbour && l < m->num_layers; l++) {
        const cbx_layer *layer = &m->layers[l];
        size_t           size = (size_t)layer->n_in * (size_t)layer->n_out;
        double          *own = CBX_NEW(work, double, size);
        double          *bias = CBX_NEW(work, double, 2 * (size_t)layer->n_out);
        I->neighbour[l] = CBX_NEW(arena, double, size);
        if (!I->neighbour[l] || !own || !bias)
            return -1;
        if (!cbx_block_linear(layer, I->neighbour[l], own, bias, bias + layer->n_out, NULL))
            return 1;
    }
    return I->neighbour ? 0 : -1;
}

/* The whole graph as forward passes of such layers need it: by target only. */
static cbx_view all_of(const cbx_graph *g, const int32_t *prefix)
{
    return (cbx_view){.n = g->data.num_nodes,
                      .m = g->data.num_edges,
                      .offset = g->in_offset,
                      .source = g->in_source,
                      .weight = g->slot_weight,
                      .edge = g->in_edge,
                      .edge_attr = g->data.edge_attr,
                      .edge_dim = g->data.edge_dim,
                      .prefix = prefix};
}

static float *copy(const float *from, size_t count, cbx_arena *arena)
{
    float *to = CBX_NEW(arena, float, count);
    if (to && count)
        memcpy(to, from, count * sizeof *to);
    return to;
}

static cbx_status run(cbx_layer_inputs *I, const cbx_graph *graph, int threads, cbx_arena *arena,
                      cbx_arena *work, cbx_error *err)
{
    const cbx_model *m = I->model;
    int32_t          n = graph->data.num_nodes;
    cbx_view        *view = CBX_NEW(work, cbx_view, 1);
    cbx_pass         pass;
    I->hidden = CBX_NEW0(arena, float *, m->num_layers);
    if (!view || !I->hidden)
        return cbx_fail_memory(err);
    *view = all_of(graph, &graph->data.num_nodes);
    cbx_status status = cbx_view_features(graph, view, arena, &I->X, err);
    if (!status)
        status = cbx_pass_init(&pass, m, view, &I->X, false, threads, work, err);
    if (status)
        return status;
    cbx_pass_start(&pass, &I->X, NULL);
    for (int32_t l = 0; l + 1 < m->num_layers; l++) {
        cbx_pass_layer(&pass, l);
        I->hidden[l + 1] = copy(pass.out[l], (size_t)n * (size_t)m->layers[l].n_out, arena);
        if (!I->hidden[l + 1])
            return cbx_fail_memory(err);
    }
    if (pass.uses[CBX_NORM_GCN] &&
        !(I->root = copy(pass.norms[CBX_NORM_GCN].root, (size_t)n, arena)))
        return cbx_fail_memory(err);
    return cbx_time_is_up() ? cbx_fail_late(err) : CBX_OK;
}

cbx_status cbx_layer_inputs_new(const cbx_model *model, const cbx_graph *graph, int threads,
                                cbx_arena *arena, cbx_layer_inputs **out, cbx_error *err)
{
    cbx_layer_inputs *I = CBX_NEW(arena, cbx_layer_inputs, 1);
    cbx_arena         work = {0};
    *out = NULL;
    if (!I)
        return cbx_fail_memory(err);
    *I = (cbx_layer_inputs){.model = model};
    int        other = find_parts(I, arena, &work);
    cbx_status status = other < 0 ? cbx_fail_memory(err) : CBX_OK;
    if (!other)
        status = run(I, graph, threads, arena, &work, err);
    if (!other && !status)
        *out = I;
    cbx_arena_free(&work);
    return status;
}

/* In several sums at a time: one would wait for itself. */
static double dot(const float *a, const float *b, int32_t count)
{
    float   sums[8] = {0};
    int32_t k = 0;
    for (; k + 8 <= count; k += 8)
        for (int i = 0; i < 8; i++)
            sums[i] += a[k + i] * b[k + i];
    for (; k < count; k++)
        sums[0] += a[k] * b[k];
    return (double)(sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7]);
}

double cbx_layer_inputs_dot(const cbx_layer_inputs *I, int32_t l, int32_t node, const float *pull)
{
    int32_t wide = I->model->layers[l].n_in;
    double  sum = 0;
    if (l > 0)
        return dot(I->hidden[l] + (int64_t)node * wide, pull, wide);
    if (I->X.dense)
        return dot(I->X.dense + (int64_t)node * wide, pull, wide);
    for (int64_t k = I->X.csr.offset[node]; k < I->X.csr.offset[node + 1]; k++)
        sum += (double)I->X.csr.value[k] * pull[I->X.csr.column[k]];
    return sum;
}
