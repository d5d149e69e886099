/* SPDX-License-Identifier: Apache-2.0 */
/* gat.c: graph attention (Velickovic et al. 2018), PyG's GATConv.
 *
 *     H = X W,   Y = sums of H over edges, shared out by attention (attention.h), + b
 *
 * Heads stand side by side in H and in Y, or each has n_out columns of H and Y is their mean.
 * Parameters: W (lin.weight), the vectors that score the two ends of an edge (att_src, att_dst),
 * b (bias). Saved: H, the nodes' scores, the edges' shares. Scratch: the gradients of these.
 *
 * There is no bound_output_shift: how much a share moves depends on scores, of which a bound on
 * lengths says too little. */
#include <string.h>

#include "attention.h"
#include "error.h"
#include "layer.h"
#include "threads.h"
#include "traits.h"

static cbx_status check(const cbx_layer *l, cbx_error *err)
{
    if (!l->set.average_heads && l->n_out % l->set.heads)
        return cbx_fail(err, CBX_INVALID,
                        "%d units cannot be shared out among %lld heads: expected a multiple of "
                        "them, or average-heads",
                        l->n_out, (long long)l->set.heads);
    if (l->set.average_heads && l->n_out > INT32_MAX / l->set.heads)
        return cbx_fail(err, CBX_INVALID, "%lld heads of %d units each are too many",
                        (long long)l->set.heads, l->n_out);
    return CBX_OK;
}

/* Columns of H. */
static int32_t columns(const cbx_layer *l)
{
    return l->set.average_heads ? l->n_out * (int32_t)l->set.heads : l->n_out;
}

static bool parameter(const cbx_layer *l, int32_t i, cbx_parameter *out)
{
    int32_t             c = columns(l), heads = (int32_t)l->set.heads;
    const cbx_parameter all[] = {
        {.name = "lin.weight", l->n_in, c, CBX_INIT_GLOROT, .of_input = true},
        {.name = "att_src", 0, c, CBX_INIT_GLOROT, .heads = heads},
        {.name = "att_dst", 0, c, CBX_INIT_GLOROT, .heads = heads},
        {.name = "bias", 0, l->n_out, CBX_INIT_ZERO},
    };
    if (i >= 4)
        return false;
    *out = all[i];
    return true;
}

/* What is saved, or its gradients: the same arrays in the same order. */
typedef struct arrays {
    float *H, *from, *to, *share, *own;
} arrays;

static size_t slots(const cbx_step *s)
{
    return s->rows_out ? (size_t)s->A.offset[s->rows_out] : 0;
}

static arrays arrays_at(const cbx_layer *l, const cbx_step *s, float *at)
{
    size_t heads = (size_t)l->set.heads, in = (size_t)s->rows_in, out = (size_t)s->rows_out;
    arrays a = {.H = at};
    a.from = a.H + in * (size_t)columns(l);
    a.to = a.from + in * heads;
    a.own = a.to + out * heads;
    a.share = a.own + out * heads;
    return a;
}

static size_t floats(const cbx_layer *l, const cbx_step *s)
{
    size_t heads = (size_t)l->set.heads, in = (size_t)s->rows_in, out = (size_t)s->rows_out;
    return in * ((size_t)columns(l) + heads) + (2 * out + slots(s)) * heads;
}

static cbx_attention attention(const cbx_layer *l, const cbx_step *s)
{
    arrays       a = arrays_at(l, s, s->saved);
    const float *vectors = l->theta + (size_t)l->n_in * (size_t)columns(l);
    return (cbx_attention){.A = &s->A,
                           .removed = s->view->removed,
                           .rows_out = s->rows_out,
                           .rows_in = s->rows_in,
                           .heads = (int32_t)l->set.heads,
                           .width = columns(l) / (int32_t)l->set.heads,
                           .mean = l->set.average_heads,
                           .own = !l->set.no_self_loops,
                           .slope = (float)l->set.negative_slope,
                           .H = a.H,
                           .source = vectors,
                           .target = vectors + columns(l),
                           .from = a.from,
                           .to = a.to,
                           .share = a.share,
                           .own_share = a.own};
}

static void forward(const cbx_layer *l, const cbx_step *s)
{
    cbx_attention a = attention(l, s);
    int32_t       c = columns(l);
    cbx_matrix_times(s->X, s->rows_in, c, l->theta, s->saved, false, s->threads);
    if (l->shift)
        cbx_add_bias(s->rows_in, c, l->shift, s->saved, s->threads);
    cbx_attention_forward(&a, s->Y, s->threads);
    cbx_add_bias(s->rows_out, l->n_out, a.target + c, s->Y, s->threads);
}

/* Adds the sums over rows of d[i] H[i], head by head, to those of a vector; `products` has room
 * for them all. */
static void add_vector_gradient(const cbx_attention *a, int32_t rows, const float *d,
                                float *products, float *dvector, int threads)
{
    int64_t wide = (int64_t)a->heads * a->width;
    CBX_PARALLEL_FOR(threads, (double)rows * (double)wide, i, rows, 1, {
        for (int64_t k = 0; k < wide; k++)
            products[i * wide + k] = d[i * a->heads + k / a->width] * a->H[i * wide + k];
    });
    cbx_column_sums(rows, (int32_t)wide, products, dvector, threads);
}

static void backward(const cbx_layer *l, const cbx_step *s, const cbx_step_grad *g)
{
    cbx_attention      a = attention(l, s);
    arrays             d = arrays_at(l, s, s->tmp);
    int32_t            c = columns(l);
    cbx_attention_grad grad = {.dY = g->dY,
                               .dvalue = g->dvalue,
                               .dscore = d.share,
                               .own_dscore = d.own,
                               .dfrom = d.from,
                               .dto = d.to,
                               .dH = g->dX || g->dtheta ? d.H : NULL};
    cbx_attention_backward(&a, &grad, s->threads);
    if (g->dX)
        cbx_gemm_nt(s->rows_in, l->n_in, c, d.H, l->theta, g->dX, false, s->threads);
    if (!g->dtheta)
        return;
    float *vectors = g->dtheta + (size_t)l->n_in * (size_t)c;
    cbx_matrix_t_times(s->X, s->rows_in, c, d.H, g->dtheta, s->threads);
    add_vector_gradient(&a, s->rows_in, d.from, d.H, vectors, s->threads);
    add_vector_gradient(&a, s->rows_out, d.to, d.H, vectors + c, s->threads);
    cbx_column_sums(s->rows_out, l->n_out, g->dY, vectors + 2 * (size_t)c, s->threads);
}

static const char *const settings[] = {"heads", "average-heads", "negative-slope", "no-self-loops",
                                       NULL};

const cbx_layer_ops cbx_layer_gat = {
    .name = "gat",
    .settings = settings,
    .check = check,
    .norm = cbx_trait_no_norm,
    .sight = cbx_trait_messages, /* the softmax is over edges along which the summands come */
    .removes_marked_slots = true,
    .entry = cbx_trait_products,
    .adds_shift = true,
    .reach = cbx_trait_one_hop,
    .parameter = parameter,
    .saved = floats,
    .scratch = floats,
    .forward = forward,
    .backward = backward,
};
