/* SPDX-License-Identifier: Apache-2.0 */
/* net.c: see net.h. */
#include "net.h"

#include <math.h>

#include "error.h"
#include "head.h"

static bool is_of_this_form(const cbx_model *m)
{
    if (m->oracle || m->head_hidden)
        return false;
    for (int32_t l = 0; l < m->num_layers; l++)
        if (!m->layers[l].ops->linear || m->layers[l].ops->reach(&m->layers[l]) > 1)
            return false;
    return true;
}

/* Is this what bounds of a maximum take? No mean is taken off what it is of, and nothing scales it.
 */
static bool is_plain_maximum(const cbx_model *m, int32_t l, const cbx_net_layer *layer)
{
    return !(l == 0 && m->mean) && layer->norm == CBX_NORM_NONE;
}

/* Is unit b the negative of unit a, bit by bit? */
static bool are_twins(const cbx_net_layer *l, int32_t a, int32_t b)
{
    bool negative = l->bias[a] == -l->bias[b];
    for (int32_t k = 0; k < l->n_in && negative; k++) {
        int64_t row = (int64_t)k * l->n_out;
        negative =
            l->neighbour[row + a] == -l->neighbour[row + b] && l->own[row + a] == -l->own[row + b];
    }
    return negative;
}

static void find_twins(cbx_net_layer *l)
{
    for (int32_t a = 0; a < l->n_out; a++)
        l->twin[a] = -1;
    for (int32_t a = 0; a < l->n_out; a++) {
        bool taken = false;
        for (int32_t b = 0; b < a; b++)
            taken = taken || l->twin[b] == a;
        for (int32_t b = a + 1; b < l->n_out && !taken && l->twin[a] < 0; b++)
            if (are_twins(l, a, b))
                l->twin[a] = b;
    }
}

static int make_layer(const cbx_layer *from, cbx_net_layer *to, cbx_arena *arena, bool *linear)
{
    size_t size = (size_t)from->n_in * (size_t)from->n_out;
    *to =
        (cbx_net_layer){.n_in = from->n_in, .n_out = from->n_out, .reach = from->ops->reach(from)};
    to->norm = to->reach > 0 ? from->ops->norm(from) : CBX_NORM_NONE;
    to->neighbour = CBX_NEW(arena, double, size);
    to->own = CBX_NEW(arena, double, size);
    to->bias = CBX_NEW(arena, double, from->n_out);
    to->bias_size = CBX_NEW(arena, double, from->n_out);
    to->twin = CBX_NEW(arena, int32_t, from->n_out);
    if (!to->neighbour || !to->own || !to->bias || !to->bias_size || !to->twin)
        return -1;
    *linear = cbx_block_linear(from, to->neighbour, to->own, to->bias, to->bias_size, &to->maximum);
    for (size_t k = 0; *linear && k < size; k++)
        to->has_own = to->has_own || to->own[k] != 0;
    if (*linear)
        find_twins(to);
    return 0;
}

cbx_status cbx_net_of(const cbx_model *model, cbx_arena *arena, cbx_net **out, cbx_error *err)
{
    bool linear = is_of_this_form(model);
    *out = NULL;
    if (!linear)
        return CBX_OK;
    cbx_net *net = CBX_NEW0(arena, cbx_net, 1);
    if (!net || !(net->layers = CBX_NEW(arena, cbx_net_layer, model->num_layers)))
        return cbx_fail_memory(err);
    net->model = model;
    net->num_layers = model->num_layers;
    net->max_pool = model->task == CBX_GRAPH && model->pool == CBX_POOL_MAX;
    for (int32_t l = 0; l < model->num_layers && linear; l++) {
        const cbx_layer *layer = &model->layers[l];
        if (make_layer(layer, &net->layers[l], arena, &linear))
            return cbx_fail_memory(err);
        if (linear && net->layers[l].maximum)
            linear = is_plain_maximum(model, l, &net->layers[l]);
        net->widest = layer->n_out > net->widest ? layer->n_out : net->widest;
        net->widest = layer->n_in > net->widest ? layer->n_in : net->widest;
    }
    *out = linear ? net : NULL;
    return CBX_OK;
}

bool cbx_net_has_own(const cbx_net *net)
{
    for (int32_t l = 0; l < net->num_layers; l++)
        if (net->layers[l].has_own)
            return true;
    return false;
}

int32_t cbx_net_hops(const cbx_net *net, int32_t l)
{
    int32_t hops = 0;
    for (int32_t k = l + 1; k < net->num_layers; k++)
        hops += net->layers[k].reach;
    return hops;
}

bool cbx_net_head(const cbx_net *net, int32_t l, int32_t a, int32_t b, double *weights,
                  double *sizes)
{
    const cbx_model *m = net->model;
    if (!cbx_model_head_sees(m, l))
        return false;
    const float *W = cbx_head_weight(m, l);
    for (int32_t j = 0; j < net->layers[l].n_out; j++, W += m->num_classes) {
        weights[j] = (double)W[a] - W[b];
        sizes[j] = fabs((double)W[a]) + fabs((double)W[b]);
    }
    return true;
}

double cbx_net_head_bias(const cbx_net *net, int32_t a, int32_t b, double *size)
{
    const cbx_model *m = net->model;
    const float     *bias = m->theta + m->output_offset + (int64_t)m->head_in * m->num_classes;
    *size = fabs((double)bias[a]) + fabs((double)bias[b]);
    return (double)bias[a] - bias[b];
}
