/* SPDX-License-Identifier: Apache-2.0 */
/* reference.h: a whole model again, in double precision and as plain as can be: dense
 * adjacency, every row of every layer, no prefix, nothing saved. Gradients come from
 * central differences, which in double are good to eight digits. */
#ifndef CBX_TEST_TWIN_H
#define CBX_TEST_TWIN_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pass.h"
#include "rng.h"

typedef struct reference {
    const cbx_model *model;
    const cbx_view  *view;
    int32_t          rows_out;
    double          *theta; /* the model's, to be changed at will */
    double          *X;     /* n x f */
    double          *w;     /* m, by slot */
    double          *coef;  /* rows_out x C: the loss is the sum of coef * logp */
    double          *logp;  /* rows_out x C, of the last reference_loss */
    double           rate;  /* of dropout */
    uint64_t         stream;
} reference;

static inline double *reference_array(int64_t count)
{
    return calloc((size_t)(count > 0 ? count : 1), sizeof(double));
}

static inline reference reference_new(const cbx_model *m, const cbx_view *v, const cbx_matrix *X)
{
    reference t = {.model = m, .view = v};
    float    *dense = calloc((size_t)v->n * (size_t)m->num_features, sizeof *dense);
    t.rows_out = m->task == CBX_GRAPH ? v->num_graphs : cbx_view_rows(v, 0);
    t.theta = reference_array(m->size);
    t.X = reference_array((int64_t)v->n * m->num_features);
    t.w = reference_array(v->m);
    t.coef = reference_array((int64_t)t.rows_out * m->num_classes);
    t.logp = reference_array((int64_t)t.rows_out * m->num_classes);
    cbx_matrix_expand(X, v->n, dense);
    for (int64_t i = 0; i < m->size; i++)
        t.theta[i] = m->theta[i];
    for (int64_t i = 0; i < (int64_t)v->n * m->num_features; i++)
        t.X[i] = dense[i];
    for (int64_t e = 0; e < v->m; e++)
        t.w[e] = v->weight ? v->weight[e] : 1;
    free(dense);
    return t;
}

static inline void reference_free(reference *t)
{
    free(t->theta);
    free(t->X);
    free(t->w);
    free(t->coef);
    free(t->logp);
}

/* Y += A B, A being n x k and B k x m */
static inline void reference_add_product(int32_t n, int32_t k, int32_t m, const double *A,
                                         const double *B, double *Y)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < k; j++)
            for (int32_t c = 0; c < m; c++)
                Y[i * m + c] += A[i * k + j] * B[j * m + c];
}

static inline double inverse_root_of(double degree)
{
    return degree > 0 ? 1 / sqrt(degree) : 0;
}

/* A as the layer normalises it, n x n. */
static inline void reference_adjacency(const reference *t, const cbx_layer *l, double *A)
{
    const cbx_view *v = t->view;
    int32_t         n = v->n;
    bool            gcn = l->ops == &cbx_layer_gcn, cheb = l->ops == &cbx_layer_cheb;
    bool            mean = l->ops == &cbx_layer_sage || l->set.aggregation == CBX_MEAN;
    double         *d = reference_array(n), *loop = reference_array(n);
    memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
    for (int32_t i = 0; i < n; i++)
        loop[i] = 1;
    for (int32_t i = 0; i < n; i++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
            int32_t s = v->source[e];
            double  count = mean ? (double)(v->offset[i + 1] - v->offset[i]) : 1;
            if (!gcn && !cheb) {
                A[i * n + s] += t->w[e] / count;
            } else if (s != i) {
                A[i * n + s] += t->w[e];
                d[gcn ? i : s] += t->w[e];
            } else {
                loop[i] = t->w[e];
            }
        }
    for (int32_t i = 0; i < n && gcn; i++) {
        A[i * n + i] = loop[i];
        d[i] += loop[i];
    }
    for (int32_t i = 0; i < n * n && (gcn || cheb); i++)
        A[i] *= (cheb ? -1 : 1) * inverse_root_of(d[i / n]) * inverse_root_of(d[i % n]);
    free(d);
    free(loop);
}

static inline void reference_max(const reference *t, int32_t f, const double *H, double *S)
{
    const cbx_view *v = t->view;
    for (int32_t i = 0; i < v->n; i++)
        for (int32_t k = 0; k < f; k++) {
            double best = v->offset[i] < v->offset[i + 1] ? -INFINITY : 0;
            for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
                best = fmax(best, t->w[e] * H[v->source[e] * f + k]);
            S[i * f + k] = best;
        }
}

/* T_k from T_{k-1} and T_{k-2}; T_1 = A T_0 */
static inline void reference_chebyshev(int32_t n, int32_t f, int32_t k, const double *A, double *T)
{
    double *to = T + (int64_t)k * n * f;
    reference_add_product(n, n, f, A, to - (int64_t)n * f, to);
    for (int64_t i = 0; i < (int64_t)n * f && k > 1; i++)
        to[i] = 2 * to[i] - to[i - 2 * (int64_t)n * f];
}

/* relu(((1 + eps) H + sums over edges) W1 + b1) W2 + b2 */
static inline void reference_gin(const reference *t, const cbx_layer *l, const double *H, double *Y)
{
    const cbx_view *v = t->view;
    int32_t         n = v->n, f = l->n_in, out = l->n_out;
    int32_t         m = l->set.mlp_hidden ? (int32_t)l->set.mlp_hidden : out;
    const double   *W1 = t->theta + (l->theta - t->model->theta), *b1 = W1 + f * m;
    const double   *W2 = b1 + m, *b2 = W2 + m * out;
    double          eps = l->set.train_eps ? b2[out] : l->set.eps;
    double         *S = reference_array((int64_t)n * f), *T = reference_array((int64_t)n * m);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < f; k++) {
            S[i * f + k] = (1 + eps) * H[i * f + k];
            for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
                S[i * f + k] += t->w[e] * H[v->source[e] * f + k];
        }
    reference_add_product(n, f, m, S, W1, T);
    for (int32_t i = 0; i < n * m; i++)
        T[i] = fmax(T[i] + b1[i % m], 0);
    reference_add_product(n, m, out, T, W2, Y);
    for (int32_t i = 0; i < n * out; i++)
        Y[i] += b2[i % out];
    free(S);
    free(T);
}

/* One head's sum for node i, from its columns Z of width c; scores not shifted by anything. */
static inline void reference_attend(const reference *t, const cbx_layer *l, int32_t i,
                                    int32_t stride, int32_t c, const double *Z,
                                    const double *source, const double *target, double *sum)
{
    const cbx_view *v = t->view;
    bool            own = !l->set.no_self_loops;
    double          total = 0;
    for (int64_t e = v->offset[i]; e < v->offset[i + 1] + own; e++) {
        bool    last = e == v->offset[i + 1];
        int32_t u = last ? i : v->source[e];
        double  x = 0, w = last ? 1 : t->w[e];
        if (own && !last && u == i)
            continue;
        for (int32_t k = 0; k < c; k++)
            x += Z[u * stride + k] * source[k] + Z[i * stride + k] * target[k];
        x = w * exp(x > 0 ? x : l->set.negative_slope * x);
        total += x;
        for (int32_t k = 0; k < c; k++)
            sum[k] += x * Z[u * stride + k];
    }
    for (int32_t k = 0; k < c; k++)
        sum[k] = total > 0 ? sum[k] / total : 0;
}

static inline void reference_gat(const reference *t, const cbx_layer *l, const double *H, double *Y)
{
    bool          mean = l->set.average_heads;
    int32_t       n = t->view->n, f = l->n_in, out = l->n_out, heads = (int32_t)l->set.heads;
    int32_t       wide = mean ? heads * out : out, c = wide / heads;
    const double *W = t->theta + (l->theta - t->model->theta), *source = W + f * wide;
    const double *target = source + wide, *bias = target + wide;
    double       *Z = reference_array((int64_t)n * wide), *sum = reference_array(c);
    reference_add_product(n, f, wide, H, W, Z);
    for (int32_t i = 0; i < n; i++)
        for (int32_t h = 0; h < heads; h++) {
            memset(sum, 0, (size_t)c * sizeof *sum);
            reference_attend(t, l, i, wide, c, Z + h * c, source + h * c, target + h * c, sum);
            for (int32_t k = 0; k < c; k++)
                Y[i * out + (mean ? k : h * c + k)] += mean ? sum[k] / heads : sum[k];
        }
    for (int32_t i = 0; i < n * out; i++)
        Y[i] += bias[i % out];
    free(Z);
    free(sum);
}

/* Those that are sums of products of powers of an adjacency. */
static inline void reference_polynomial(const reference *t, const cbx_layer *l, const double *H,
                                        double *Y)
{
    int32_t       n = t->view->n, f = l->n_in, out = l->n_out, terms = 1;
    const double *W = t->theta + (l->theta - t->model->theta), *bias;
    double       *A = reference_array((int64_t)n * n),
           *T = reference_array((int64_t)(l->set.order + 1) * n * f);
    reference_adjacency(t, l, A);
    if (l->ops == &cbx_layer_cheb) {
        memcpy(T, H, (size_t)n * (size_t)f * sizeof *T);
        for (int32_t k = 1; k < l->set.order; k++)
            reference_chebyshev(n, f, k, A, T);
        terms = l->set.order;
    } else if (l->ops == &cbx_layer_graphconv && l->set.aggregation == CBX_MAX) {
        reference_max(t, f, H, T);
    } else {
        reference_add_product(n, n, f, A, H, T);
    }
    for (int32_t k = 0; k < terms; k++, W += f * out)
        reference_add_product(n, f, out, T + (int64_t)k * n * f, W, Y);
    bias = W;
    for (int32_t i = 0; i < n * out; i++)
        Y[i] += bias[i % out];
    if (l->ops == &cbx_layer_graphconv || l->ops == &cbx_layer_sage)
        reference_add_product(n, f, out, H, bias + out, Y);
    free(A);
    free(T);
}

/* Y (zeroed) = conv(H) */
static inline void reference_conv(const reference *t, const cbx_layer *l, const double *H,
                                  double *Y)
{
    if (l->ops == &cbx_layer_gin)
        reference_gin(t, l, H, Y);
    else if (l->ops == &cbx_layer_gat)
        reference_gat(t, l, H, Y);
    else
        reference_polynomial(t, l, H, Y);
}

/* Y = norm(Y + H S), where the layer has them: behind the convolution's parameters are S, and
 * weight, bias, mean and variance. */
static inline void reference_block(const reference *t, const cbx_layer *l, const double *H,
                                   double *Y)
{
    int32_t       n = t->view->n, f = l->n_in, out = l->n_out;
    const double *at = t->theta + (l->theta - t->model->theta);
    cbx_parameter p;
    for (int32_t i = 0; l->ops->parameter(l, i, &p); i++)
        at += cbx_parameter_size(&p);
    if (l->set.residual) {
        reference_add_product(n, f, out, H, at, Y);
        at += f * out;
    }
    for (int32_t i = 0; i < n * out && l->set.batch_norm; i++) {
        int32_t k = i % out;
        Y[i] = (Y[i] - at[2 * out + k]) / sqrt(at[3 * out + k] + 1e-5) * at[k] + at[out + k];
    }
}

static inline void reference_relu_dropout(const reference *t, int32_t l, int32_t n, int32_t width,
                                          double *Y)
{
    float *mask = malloc((size_t)n * (size_t)width * sizeof *mask);
    for (int32_t i = 0; i < n * width; i++)
        mask[i] = 1;
    if (t->rate > 0)
        cbx_dropout(n, width, t->rate, cbx_mix64(t->stream + (uint64_t)l), mask, 1);
    for (int32_t i = 0; i < n * width; i++)
        Y[i] = Y[i] > 0 && mask[i] > 0 ? Y[i] / (1 - t->rate) : 0;
    free(mask);
}

/* What the head sees of one layer in label row r. */
static inline double reference_seen(const reference *t, const double *H, int32_t width, int32_t r,
                                    int32_t k)
{
    if (t->model->task == CBX_NODE)
        return H[r * width + k];
    int32_t a = t->view->graph_ptr[r], b = t->view->graph_ptr[r + 1];
    double  sum = 0, most = -INFINITY;
    for (int32_t i = a; i < b; i++) {
        sum += H[i * width + k];
        most = fmax(most, H[i * width + k]);
    }
    return t->model->pool == CBX_POOL_MAX   ? most
           : t->model->pool == CBX_POOL_SUM ? sum
                                            : sum / (b - a);
}

/* What one more layer, whose part of the head's first matrix starts at W, adds to its C columns. */
static inline void reference_head(const reference *t, const double *H, int32_t width,
                                  const double *W, int32_t C, double *out)
{
    for (int32_t r = 0; r < t->rows_out; r++)
        for (int32_t k = 0; k < width; k++)
            for (int32_t c = 0; c < C; c++)
                out[r * C + c] += reference_seen(t, H, width, r, k) * W[k * C + c];
}

/* From hidden units, without their bias yet, to scores. */
static inline void reference_scores(const reference *t, double *hidden)
{
    const cbx_model *m = t->model;
    int32_t          units = m->head_hidden;
    const double    *bias = t->theta + m->hidden_offset + m->head_in * units;
    for (int32_t i = 0; i < t->rows_out * units; i++)
        hidden[i] += bias[i % units];
    reference_relu_dropout(t, m->num_layers, t->rows_out, units, hidden);
    reference_add_product(t->rows_out, units, m->num_classes, hidden, t->theta + m->output_offset,
                          t->logp);
}

static inline double reference_loss(const reference *t)
{
    const cbx_model *m = t->model;
    int32_t          n = t->view->n, C = m->num_classes;
    int32_t          columns = m->head_hidden ? m->head_hidden : C;
    const double    *head = t->theta + (m->head_hidden ? m->hidden_offset : m->output_offset);
    const double    *bias = t->theta + m->output_offset + cbx_model_output_in(m) * C;
    double           loss = 0, *H = t->X;
    double          *seen = reference_array((int64_t)t->rows_out * columns);
    memset(t->logp, 0, (size_t)t->rows_out * (size_t)C * sizeof *t->logp);
    for (int32_t l = 0; l < m->num_layers; l++) {
        int32_t width = m->layers[l].n_out;
        double *Y = reference_array((int64_t)n * width);
        reference_conv(t, &m->layers[l], H, Y);
        reference_block(t, &m->layers[l], H, Y);
        reference_relu_dropout(t, l, n, width, Y);
        if (cbx_model_head_sees(m, l)) {
            reference_head(t, Y, width, head, columns, seen);
            head += width * columns;
        }
        if (l > 0)
            free(H);
        H = Y;
    }
    free(H);
    if (m->head_hidden)
        reference_scores(t, seen);
    else
        memcpy(t->logp, seen, (size_t)t->rows_out * (size_t)C * sizeof *seen);
    free(seen);
    for (int32_t r = 0; r < t->rows_out; r++) {
        double *row = t->logp + r * C, most = -INFINITY, sum = 0;
        for (int32_t c = 0; c < C; c++)
            most = fmax(most, row[c] += bias[c]);
        for (int32_t c = 0; c < C; c++)
            sum += exp(row[c] - most);
        for (int32_t c = 0; c < C; c++) {
            row[c] -= most + log(sum);
            loss += t->coef[r * C + c] * row[c];
        }
    }
    return loss;
}

/* dL/d(*at) by central differences. */
static inline double reference_slope(const reference *t, double *at)
{
    double kept = *at, h = 1e-6;
    *at = kept + h;
    double up = reference_loss(t);
    *at = kept - h;
    double down = reference_loss(t);
    *at = kept;
    return (up - down) / (2 * h);
}

#endif
