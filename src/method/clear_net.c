/* SPDX-License-Identifier: Apache-2.0 */
/* clear_net.c: see clear_net.h. */
#include "clear_net.h"

#include <math.h>
#include <string.h>

#include "order.h"
#include "train_rows.h"

cbx_clear_net cbx_clear_net_make(int32_t nodes, int32_t features, int32_t classes, int32_t hidden,
                                 int32_t latent)
{
    cbx_clear_net net = {.nodes = nodes,
                         .features = features,
                         .classes = classes,
                         .hidden = hidden,
                         .latent = latent};
    const int32_t outputs[] = {nodes * features, nodes * nodes};
    cbx_dense    *decoders[] = {net.x, net.a};
    net.encode = cbx_dense_place(features, hidden, true, &net.size);
    net.mean = cbx_dense_place(hidden + classes, latent, false, &net.size);
    net.spread = cbx_dense_place(hidden + classes, latent, false, &net.size);
    for (int k = 0; k < 2; k++) {
        decoders[k][0] = cbx_dense_place(latent + classes, hidden, true, &net.size);
        decoders[k][1] = cbx_dense_place(hidden, hidden, true, &net.size);
        decoders[k][2] = cbx_dense_place(hidden, outputs[k], false, &net.size);
    }
    return net;
}

void cbx_clear_net_draw(const cbx_clear_net *net, uint64_t seed, float *theta)
{
    const cbx_dense *layers[] = {&net->encode, &net->mean, &net->spread, &net->x[0], &net->x[1],
                                 &net->x[2],   &net->a[0], &net->a[1],   &net->a[2]};
    for (size_t k = 0; k < sizeof layers / sizeof *layers; k++)
        cbx_dense_draw(layers[k], seed, CBX_STREAM_NETWORK, theta);
}

double cbx_clear_net_bytes(int32_t nodes, int32_t features, int32_t hidden)
{
    double outputs = (double)nodes * ((double)nodes + features);
    return sizeof(float) * outputs * (5.0 * (hidden + 1) + 4); /* of each parameter Adam has five */
}

static int make_gradients(cbx_clear_flow *f, cbx_arena *arena)
{
    const cbx_clear_net *net = f->net;
    for (int k = 0; k < 3; k++) {
        f->dx[k] = CBX_NEW(arena, float, net->x[k].out);
        f->da[k] = CBX_NEW(arena, float, net->a[k].out);
        if (!f->dx[k] || !f->da[k])
            return -1;
    }
    f->dmu = CBX_NEW(arena, float, net->latent);
    f->dspread = CBX_NEW(arena, float, net->latent);
    f->dH = CBX_NEW(arena, float, (size_t)f->n *(size_t)net->hidden);
    f->dseen = CBX_NEW(arena, float, net->mean.in);
    f->dcode = CBX_NEW(arena, float, net->x[0].in);
    f->more = CBX_NEW(arena, float, net->x[0].in + net->mean.in);
    return f->dmu && f->dspread && f->dH && f->dseen && f->dcode && f->more ? 0 : -1;
}

int cbx_clear_flow_init(cbx_clear_flow *f, const cbx_clear_net *net, int32_t n, const float *S,
                        bool gradient, cbx_arena *arena)
{
    *f = (cbx_clear_flow){.net = net, .n = n, .S = S};
    f->H = CBX_NEW(arena, float, (size_t)n *(size_t)net->hidden);
    f->seen = CBX_NEW(arena, float, net->mean.in);
    f->mu = CBX_NEW(arena, float, net->latent);
    f->spread = CBX_NEW(arena, float, net->latent);
    f->noise = CBX_NEW0(arena, float, net->latent);
    f->code = CBX_NEW(arena, float, net->x[0].in);
    if (!f->H || !f->seen || !f->mu || !f->spread || !f->noise || !f->code)
        return -1;
    for (int k = 0; k < 3; k++) {
        f->x[k] = CBX_NEW(arena, float, net->x[k].out);
        f->a[k] = CBX_NEW(arena, float, net->a[k].out);
        if (!f->x[k] || !f->a[k])
            return -1;
    }
    return gradient ? make_gradients(f, arena) : 0;
}

static void put_class(const cbx_clear_net *net, int32_t class, float *to)
{
    for (int32_t c = 0; c < net->classes; c++)
        to[c] = c == class;
}

void cbx_clear_encode(cbx_clear_flow *f, const float *theta, int32_t class)
{
    const cbx_clear_net *net = f->net;
    cbx_dense_forward(&net->encode, theta, f->n, f->S, f->H);
    memset(f->seen, 0, (size_t)net->hidden * sizeof *f->seen);
    cbx_column_sums(f->n, net->hidden, f->H, f->seen, 1);
    cbx_scale(net->hidden, 1 / (float)f->n, f->seen);
    put_class(net, class, f->seen + net->hidden);
    cbx_dense_forward(&net->mean, theta, 1, f->seen, f->mu);
    cbx_dense_forward(&net->spread, theta, 1, f->seen, f->spread);
}

void cbx_clear_decode(cbx_clear_flow *f, const float *theta, int32_t class)
{
    const cbx_clear_net *net = f->net;
    for (int32_t k = 0; k < net->latent; k++)
        f->code[k] = f->mu[k] + f->noise[k] * (float)cbx_exp(0.5 * (double)f->spread[k]);
    put_class(net, class, f->code + net->latent);
    for (int k = 0; k < 3; k++) {
        cbx_dense_forward(&net->x[k], theta, 1, k ? f->x[k - 1] : f->code, f->x[k]);
        cbx_dense_forward(&net->a[k], theta, 1, k ? f->a[k - 1] : f->code, f->a[k]);
    }
}

/* Through one decoder; what comes to the code is put into `to`. */
static void decoder_backward(const cbx_clear_flow *f, const cbx_dense *layers, float *const *out,
                             float *const *dout, const float *theta, float *to, float *grad)
{
    for (int k = 2; k >= 0; k--)
        cbx_dense_backward(&layers[k], theta, 1, k ? out[k - 1] : f->code, out[k], dout[k],
                           k ? dout[k - 1] : to, grad);
}

void cbx_clear_backward(cbx_clear_flow *f, const float *theta, float *grad)
{
    const cbx_clear_net *net = f->net;
    decoder_backward(f, net->x, f->x, f->dx, theta, f->dcode, grad);
    decoder_backward(f, net->a, f->a, f->da, theta, f->more, grad);
    for (int32_t k = 0; k < net->latent; k++) {
        float d = f->dcode[k] + f->more[k];
        float sigma = (float)cbx_exp(0.5 * (double)f->spread[k]);
        f->dmu[k] += d;
        f->dspread[k] += 0.5f * d * f->noise[k] * sigma;
    }
    cbx_dense_backward(&net->mean, theta, 1, f->seen, f->mu, f->dmu, f->dseen, grad);
    cbx_dense_backward(&net->spread, theta, 1, f->seen, f->spread, f->dspread, f->more, grad);
    for (int32_t i = 0; i < f->n; i++)
        for (int32_t k = 0; k < net->hidden; k++)
            f->dH[(int64_t)i * net->hidden + k] = (f->dseen[k] + f->more[k]) / (float)f->n;
    cbx_dense_backward(&net->encode, theta, f->n, f->S, f->H, f->dH, NULL, grad);
}
