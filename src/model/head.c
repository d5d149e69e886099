/* SPDX-License-Identifier: Apache-2.0 */
/* head.c: Z W + b, where Z is all that the head sees, side by side.
 *
 * Of a layer that is its output itself (its first rows are the label rows) or its
 * pooling. Side by side they would be one wide matrix; block by block nothing
 * needs copying. What comes of it are the scores, or hidden units, of which a
 * second product makes scores. */
#include "head.h"

#include <string.h>

const float *cbx_head_input(const cbx_pass *p, int32_t l)
{
    return p->model->task == CBX_GRAPH ? p->pooled[l] : p->out[l];
}

/* What the first product makes of Z: its columns, and where it stands in theta. */
static int32_t columns(const cbx_model *m)
{
    return m->head_hidden ? m->head_hidden : m->num_classes;
}

static int64_t first_offset(const cbx_model *m)
{
    return m->head_hidden ? m->hidden_offset : m->output_offset;
}

/* Offset in theta of the rows of the head's first W that belong to layer l. */
static int64_t block(const cbx_model *m, int32_t l)
{
    int64_t rows = 0;
    for (int32_t k = 0; k < l; k++)
        rows += cbx_model_head_sees(m, k) ? m->layers[k].n_out : 0;
    return first_offset(m) + rows * columns(m);
}

const float *cbx_head_weight(const cbx_model *m, int32_t l)
{
    return m->theta + block(m, l);
}

/* Some rows of H, pooled or to be: those of one graph. */
typedef struct segment {
    cbx_pool       pool;
    int32_t        count, width;
    const float   *H;      /* count x width */
    const uint8_t *absent; /* by row, or NULL: it is not there */
} segment;

static segment segment_of(const cbx_pass *p, int32_t l, int32_t graph)
{
    int32_t a = p->view->graph_ptr[graph], b = p->view->graph_ptr[graph + 1];
    int32_t width = p->model->layers[l].n_out;
    return (segment){.pool = p->model->pool,
                     .count = b - a,
                     .width = width,
                     .H = p->out[l] + (int64_t)a * width,
                     .absent = p->view->absent ? p->view->absent + a : NULL};
}

static bool is_there(const segment *s, int32_t row)
{
    return !s->absent || !s->absent[row];
}

static int32_t count_there(const segment *s)
{
    int32_t there = 0;
    for (int32_t i = 0; i < s->count; i++)
        there += is_there(s, i);
    return there;
}

static void pool_graph(const segment *s, float *out)
{
    int32_t width = s->width, first = 0;
    while (first + 1 < s->count && !is_there(s, first))
        first++;
    memcpy(out, s->H + (int64_t)first * width, (size_t)width * sizeof *out);
    for (int32_t i = first + 1; i < s->count; i++) {
        const float *h = s->H + (int64_t)i * width;
        if (!is_there(s, i))
            continue;
        for (int32_t k = 0; k < width; k++)
            if (s->pool != CBX_POOL_MAX)
                out[k] += h[k];
            else
                out[k] = h[k] > out[k] ? h[k] : out[k];
    }
    if (s->pool == CBX_POOL_MEAN)
        for (int32_t k = 0; k < width; k++)
            out[k] /= (float)count_there(s);
}

/* Z W + b */
static void see(cbx_pass *p, float *out)
{
    const cbx_model *m = p->model;
    int32_t          n = columns(m);
    bool             add = false;
    for (int32_t l = 0; l < m->num_layers; l++) {
        if (!cbx_model_head_sees(m, l))
            continue;
        int32_t width = m->layers[l].n_out;
        if (m->task == CBX_GRAPH)
            for (int32_t g = 0; g < p->rows_out; g++) {
                segment s = segment_of(p, l, g);
                pool_graph(&s, p->pooled[l] + (int64_t)g * width);
            }
        cbx_gemm_nn(p->rows_out, n, width, cbx_head_input(p, l), cbx_head_weight(m, l), out, add,
                    p->threads);
        add = true;
    }
    cbx_add_bias(p->rows_out, n, m->theta + first_offset(m) + (int64_t)m->head_in * n, out,
                 p->threads);
}

void cbx_head_hidden(cbx_pass *p)
{
    see(p, p->hidden);
    cbx_relu((int64_t)p->rows_out * p->model->head_hidden, p->hidden, p->threads);
}

void cbx_head_forward(cbx_pass *p)
{
    const cbx_model *m = p->model;
    int32_t          C = m->num_classes, units = m->head_hidden;
    const float     *W = m->theta + m->output_offset;
    if (p->hidden) {
        cbx_gemm_nn(p->rows_out, C, units, p->hidden, W, p->logp, false, p->threads);
        cbx_add_bias(p->rows_out, C, W + (int64_t)units * C, p->logp, p->threads);
    } else {
        see(p, p->logp);
    }
    cbx_log_softmax(p->rows_out, C, p->logp, p->threads);
}

/* From the gradient of scores to that of hidden units, before their relu. */
static void hidden_grad(cbx_pass *p, float *dtheta)
{
    const cbx_model *m = p->model;
    int32_t          C = m->num_classes, units = m->head_hidden, rows = p->rows_out;
    const float     *W = m->theta + m->output_offset;
    cbx_gemm_nt(rows, units, C, p->scores_grad, W, p->hidden_grad, false, p->threads);
    cbx_relu_backward((int64_t)rows * units, (float)(1 / p->kept), p->hidden, p->hidden_grad,
                      p->threads);
    if (!dtheta)
        return;
    float *dW = dtheta + m->output_offset;
    cbx_gemm_tn(units, C, rows, p->hidden, p->scores_grad, dW, true, p->threads);
    cbx_column_sums(rows, C, p->scores_grad, dW + (int64_t)units * C, p->threads);
}

/* What the first product is to get back. */
static const float *first_grad(const cbx_pass *p)
{
    return p->hidden ? p->hidden_grad : p->scores_grad;
}

void cbx_head_scores_grad(cbx_pass *p, const float *dlogp, float *dtheta)
{
    const cbx_model *m = p->model;
    int32_t          C = m->num_classes;
    memcpy(p->scores_grad, dlogp, (size_t)p->rows_out * (size_t)C * sizeof *dlogp);
    cbx_log_softmax_backward(p->rows_out, C, p->logp, p->scores_grad, p->threads);
    if (p->hidden)
        hidden_grad(p, dtheta);
    if (!dtheta)
        return;
    int32_t n = columns(m);
    for (int32_t l = 0; l < m->num_layers; l++)
        if (cbx_model_head_sees(m, l))
            cbx_gemm_tn(m->layers[l].n_out, n, p->rows_out, cbx_head_input(p, l), first_grad(p),
                        dtheta + block(m, l), true, p->threads);
    cbx_column_sums(p->rows_out, n, first_grad(p),
                    dtheta + first_offset(m) + (int64_t)m->head_in * n, p->threads);
}

/* Hands a graph's gradient to its nodes. Nodes that share a maximum share it. */
static void unpool_graph(const segment *s, const float *pooled, const float *grad, float *dH)
{
    int32_t width = s->width, there = count_there(s);
    for (int32_t k = 0; k < width; k++) {
        int32_t among = s->pool == CBX_POOL_SUM ? 1 : there;
        if (s->pool == CBX_POOL_MAX) {
            among = 0;
            for (int32_t i = 0; i < s->count; i++)
                among += is_there(s, i) && s->H[(int64_t)i * width + k] == pooled[k];
        }
        float share = grad[k] / (float)among;
        for (int32_t i = 0; i < s->count; i++)
            if (is_there(s, i) &&
                (s->pool != CBX_POOL_MAX || s->H[(int64_t)i * width + k] == pooled[k]))
                dH[(int64_t)i * width + k] += share;
    }
}

/* What the pooling of column k loses, or wins, where row i goes. */
static double change_without(const segment *s, int32_t i, int32_t k, float pooled, int32_t there)
{
    int32_t width = s->width;
    float   own = s->H[(int64_t)i * width + k], next = 0;
    bool    any = false;
    if (s->pool == CBX_POOL_SUM)
        return -(double)own;
    if (s->pool == CBX_POOL_MEAN)
        return there > 1 ? ((double)pooled - own) / (there - 1) : 0;
    if (own < pooled)
        return 0;
    for (int32_t j = 0; j < s->count; j++) {
        float other = s->H[(int64_t)j * width + k];
        if (j == i || !is_there(s, j))
            continue;
        next = any && next > other ? next : other;
        any = true;
    }
    return any ? (double)next - own : 0;
}

/* What it wins, or loses, where row i comes. */
static double change_with(const segment *s, int32_t i, int32_t k, float pooled, int32_t there)
{
    float own = s->H[(int64_t)i * s->width + k];
    if (s->pool == CBX_POOL_SUM)
        return (double)own;
    if (s->pool == CBX_POOL_MEAN)
        return ((double)own - pooled) / (there + 1);
    return own > pooled ? (double)own - pooled : 0;
}

/* To first order: by node, what the loss gains where it leaves the pooling, or enters it. */
static void leave_or_enter(const segment *s, const float *pooled, const float *grad, float *gain)
{
    int32_t there = count_there(s);
    for (int32_t i = 0; i < s->count; i++)
        for (int32_t k = 0; k < s->width; k++)
            if (grad[k] != 0)
                gain[i] +=
                    (float)(grad[k] * (is_there(s, i) ? change_without(s, i, k, pooled[k], there)
                                                      : change_with(s, i, k, pooled[k], there)));
}

void cbx_head_backward(cbx_pass *p, int32_t l)
{
    const cbx_model *m = p->model;
    int32_t          width = m->layers[l].n_out;
    const float     *W = cbx_head_weight(m, l);
    if (m->task != CBX_GRAPH) {
        cbx_gemm_nt(p->rows_out, width, columns(m), first_grad(p), W, p->dout[l], true, p->threads);
        return;
    }
    cbx_gemm_nt(p->rows_out, width, columns(m), first_grad(p), W, p->pool_grad, false, p->threads);
    for (int32_t g = 0; g < p->rows_out; g++) {
        segment      s = segment_of(p, l, g);
        int32_t      a = p->view->graph_ptr[g];
        const float *pooled = p->pooled[l] + (int64_t)g * width;
        const float *grad = p->pool_grad + (int64_t)g * width;
        unpool_graph(&s, pooled, grad, p->dout[l] + (int64_t)a * width);
        if (p->leaving)
            leave_or_enter(&s, pooled, grad, p->leaving + a);
    }
}
