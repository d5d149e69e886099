/* SPDX-License-Identifier: Apache-2.0 */
/* rc_mask.c: see rc_mask.h. */
#include "rc_mask.h"

#include <string.h>

#include "deadline.h"
#include "error.h"
#include "train_rows.h"

enum { HIDDEN = 64 };

/* Multiplications in the time of a slot. */
static const double SLOT = 30;

cbx_rc_net cbx_rc_net_make(int32_t width, cbx_task task)
{
    cbx_rc_net net = {.width = width, .parts = task == CBX_GRAPH ? 2 : 3};
    net.hidden = cbx_dense_place(net.parts * width, HIDDEN, true, &net.size);
    net.out = cbx_dense_place(HIDDEN, 1, false, &net.size);
    return net;
}

void cbx_rc_net_draw(const cbx_rc_net *net, uint64_t seed, float *theta)
{
    cbx_dense_draw(&net->hidden, seed, CBX_STREAM_NETWORK, theta);
    cbx_dense_draw(&net->out, seed, CBX_STREAM_NETWORK, theta);
}

/* The embedding of a node of the view. */
static const float *embedding(const cbx_rc_net *net, const cbx_view *v, const float *Z, int32_t i)
{
    return Z + (int64_t)(v->node ? v->node[i] : i) * net->width;
}

static void fill_input(cbx_rc_mask *mask, const cbx_view *v, const float *Z)
{
    const cbx_rc_net *net = mask->net;
    size_t            bytes = (size_t)net->width * sizeof *Z;
    float            *to = mask->input;
    for (int32_t i = 0; i < v->n; i++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
            if (cbx_out_of_time(SLOT + net->hidden.in))
                return;
            memcpy(to, embedding(net, v, Z, v->source[e]), bytes);
            memcpy(to + net->width, embedding(net, v, Z, i), bytes);
            if (net->parts == 3) /* the explained node is the view's first */
                memcpy(to + 2 * (size_t)net->width, embedding(net, v, Z, 0), bytes);
            to += net->hidden.in;
        }
}

cbx_status cbx_rc_mask_init(cbx_rc_mask *mask, const cbx_rc_net *net, const cbx_search *s,
                            const float *Z, cbx_error *err)
{
    const cbx_view *v = s->view;
    *mask = (cbx_rc_mask){.net = net, .slots = (int32_t)v->m};
    if (v->m > INT32_MAX)
        return cbx_fail(err, CBX_INVALID, "the factual graph has %lld edges, more than %d",
                        (long long)v->m, INT32_MAX);
    if (cbx_pairs_removed_at_once(s, &mask->pairs))
        return cbx_fail_late(err);
    mask->share = CBX_NEW0(s->arena, int32_t, mask->pairs.count);
    mask->score = CBX_NEW(s->arena, float, mask->pairs.count);
    mask->input = CBX_NEW(s->arena, float, (size_t)v->m *(size_t)net->hidden.in);
    mask->hidden = CBX_NEW(s->arena, float, (size_t)v->m *HIDDEN);
    mask->dhidden = CBX_NEW(s->arena, float, (size_t)v->m *HIDDEN);
    mask->output = CBX_NEW(s->arena, float, v->m);
    if (!mask->share || !mask->score || !mask->input || !mask->hidden || !mask->dhidden ||
        !mask->output)
        return cbx_fail_memory(err);
    for (int64_t e = 0; e < v->m; e++)
        mask->share[mask->pairs.pair_of[e]]++;
    fill_input(mask, v, Z);
    return cbx_time_is_up() ? cbx_fail_late(err) : CBX_OK;
}

void cbx_rc_mask_forward(cbx_rc_mask *mask, const float *theta)
{
    const cbx_rc_net *net = mask->net;
    cbx_dense_forward(&net->hidden, theta, mask->slots, mask->input, mask->hidden);
    cbx_dense_forward(&net->out, theta, mask->slots, mask->hidden, mask->output);
    memset(mask->score, 0, (size_t)mask->pairs.count * sizeof *mask->score);
    for (int64_t e = 0; e < mask->slots && !cbx_out_of_time_at(e, SLOT); e++) {
        int64_t p = mask->pairs.pair_of[e];
        mask->score[p] += mask->output[e] / (float)mask->share[p];
    }
}

void cbx_rc_mask_backward(cbx_rc_mask *mask, const float *theta, const float *dscore, float *grad)
{
    const cbx_rc_net *net = mask->net;
    for (int64_t e = 0; e < mask->slots && !cbx_out_of_time_at(e, SLOT); e++) {
        int64_t p = mask->pairs.pair_of[e];
        mask->output[e] = dscore[p] / (float)mask->share[p];
    }
    cbx_dense_backward(&net->out, theta, mask->slots, mask->hidden, NULL, mask->output,
                       mask->dhidden, grad);
    cbx_dense_backward(&net->hidden, theta, mask->slots, mask->input, mask->hidden, mask->dhidden,
                       NULL, grad);
}
