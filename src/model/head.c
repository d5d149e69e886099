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

static void pool_graph(cbx_pool pool, int32_t count, int32_t width, const float *H, float *out)
{
    memcpy(out, H, (size_t)width * sizeof *out);
    for (int32_t i = 1; i < count; i++) {
        const float *h = H + (int64_t)i * width;
        for (int32_t k = 0; k < width; k++)
            if (pool != CBX_POOL_MAX)
                out[k] += h[k];
            else
                out[k] = h[k] > out[k] ? h[k] : out[k];
    }
    if (pool == CBX_POOL_MEAN)
        for (int32_t k = 0; k < width; k++)
            out[k] /= (float)count;
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
                int32_t a = p->view->graph_ptr[g], b = p->view->graph_ptr[g + 1];
                pool_graph(m->pool, b - a, width, p->out[l] + (int64_t)a * width,
                           p->pooled[l] + (int64_t)g * width);
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
static void unpool_graph(cbx_pool pool, int32_t count, int32_t width, const float *H,
                         const float *pooled, const float *grad, float *dH)
{
    for (int32_t k = 0; k < width; k++) {
        int32_t among = pool == CBX_POOL_SUM ? 1 : count;
        if (pool == CBX_POOL_MAX) {
            among = 0;
            for (int32_t i = 0; i < count; i++)
                among += H[(int64_t)i * width + k] == pooled[k];
        }
        float share = grad[k] / (float)among;
        for (int32_t i = 0; i < count; i++)
            if (pool != CBX_POOL_MAX || H[(int64_t)i * width + k] == pooled[k])
                dH[(int64_t)i * width + k] += share;
    }
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
        int32_t a = p->view->graph_ptr[g], b = p->view->graph_ptr[g + 1];
        unpool_graph(m->pool, b - a, width, p->out[l] + (int64_t)a * width,
                     p->pooled[l] + (int64_t)g * width, p->pool_grad + (int64_t)g * width,
                     p->dout[l] + (int64_t)a * width);
    }
}
