/* SPDX-License-Identifier: Apache-2.0 */
/* attention.c: see attention.h.
 *
 * With g = dY[i], its part of the head, and t[e] = <g, H[u]>, the gradients are
 *
 *     d[e] = share[e] (t[e] - sum over f of w[f] share[f] t[f])
 *     dw[e] = d[e]     dscore[e] = w[e] d[e] leaky'
 *     dH[u] = sum over edges e out of u of w[e] share[e] g + dfrom[u] source + dto[u] target */
#include "attention.h"

#include <math.h>
#include <string.h>

#include "functions.h"
#include "gather.h"

/* What a slot into row i counts: 0 where it is no edge. */
static float weight_of(const cbx_attention *a, int32_t i, int64_t e)
{
    float w = a->A->value[e];
    if ((a->removed && a->removed[e]) || (a->own && a->A->source[e] == i))
        return 0;
    return w > 0 ? w : 0;
}

/* Has weight_of this slot a derivative? At 0 that to the right is taken. */
static bool counts(const cbx_attention *a, int32_t i, int64_t e)
{
    return !(a->removed && a->removed[e]) && !(a->own && a->A->source[e] == i) &&
           a->A->value[e] >= 0;
}

static float leaky(const cbx_attention *a, float x)
{
    return x > 0 ? x : a->slope * x;
}

static float score(const cbx_attention *a, int32_t u, int32_t i, int32_t h)
{
    return leaky(a, a->from[(int64_t)u * a->heads + h] + a->to[(int64_t)i * a->heads + h]);
}

CBX_HOT
static void attention_scores(const cbx_attention *a, int32_t begin, int32_t end)
{
    int32_t width = a->width;
    for (int32_t i = begin; i < end; i++)
        for (int32_t h = 0; h < a->heads; h++) {
            const float *x = a->H + ((int64_t)i * a->heads + h) * width;
            int64_t      at = (int64_t)i * a->heads + h;
            a->from[at] = dot(width, x, a->source + (int64_t)h * width);
            if (i < a->rows_out)
                a->to[at] = dot(width, x, a->target + (int64_t)h * width);
        }
}

/* The largest score of an edge that is there: only those decide, or one that is not there could
 * leave its mark. */
static float top_score(const cbx_attention *a, int32_t i, int32_t h)
{
    float top = a->own ? score(a, i, i, h) : -INFINITY;
    for (int64_t e = a->A->offset[i]; e < a->A->offset[i + 1]; e++) {
        float x = score(a, a->A->source[e], i, h);
        top = weight_of(a, i, e) > 0 && x > top ? x : top;
    }
    return top;
}

static void shares_of(const cbx_attention *a, int32_t i, int32_t h)
{
    const double most = 30; /* of an edge of weight 0, which the top does not bound */
    float        top = top_score(a, i, h);
    double       own = a->own ? CBX_EXP((double)score(a, i, i, h) - top) : 0, sum = own;
    for (int64_t e = a->A->offset[i]; e < a->A->offset[i + 1]; e++) {
        float  w = weight_of(a, i, e);
        double above = (double)score(a, a->A->source[e], i, h) - top;
        double part = counts(a, i, e) && top > -INFINITY ? CBX_EXP(above < most ? above : most) : 0;
        a->share[e * a->heads + h] = (float)part;
        sum += w * part;
    }
    float inverse = sum > 0 ? (float)(1 / sum) : 0;
    for (int64_t e = a->A->offset[i]; e < a->A->offset[i + 1]; e++)
        a->share[e * a->heads + h] *= inverse;
    a->own_share[(int64_t)i * a->heads + h] = (float)own * inverse;
}

/* y += by x, head by head; or their mean. */
static inline void add_heads(const cbx_attention *a, float w, const float *by, const float *x,
                             float *y)
{
    for (int32_t h = 0; h < a->heads; h++, x += a->width)
        axpy(a->width, w * by[h], x, a->mean ? y : y + (int64_t)h * a->width);
}

CBX_HOT
static void attention_sums(const cbx_attention *a, int32_t begin, int32_t end, float *Y)
{
    int64_t wide = (int64_t)a->heads * a->width, out = a->mean ? a->width : wide;
    float   part = a->mean ? 1 / (float)a->heads : 1;
    for (int32_t i = begin; i < end; i++) {
        float *y = Y + i * out;
        memset(y, 0, (size_t)out * sizeof *y);
        if (a->own)
            add_heads(a, part, a->own_share + (int64_t)i * a->heads, a->H + i * wide, y);
        for (int64_t e = a->A->offset[i]; e < a->A->offset[i + 1]; e++) {
            float w = weight_of(a, i, e);
            if (w > 0)
                add_heads(a, part * w, a->share + e * a->heads, a->H + a->A->source[e] * wide, y);
        }
    }
}

static double work_of(const cbx_attention *a, int64_t edges, int32_t rows, int32_t each)
{
    return (double)(edges + rows) * a->heads * each;
}

void cbx_attention_forward(const cbx_attention *a, float *Y, int threads)
{
    int64_t   edges = a->rows_out ? a->A->offset[a->rows_out] : 0;
    const int exponential = 60; /* multiplications in the time that two scores and one take */
    FOR_CHUNKS(a->rows_in, work_of(a, 0, a->rows_in, 2 * a->width), threads,
               attention_scores(a, begin, end));
    CBX_PARALLEL_FOR(threads, work_of(a, edges, a->rows_out, exponential), i, a->rows_out, 1, {
        for (int32_t h = 0; h < a->heads; h++)
            shares_of(a, (int32_t)i, h);
    });
    FOR_CHUNKS(a->rows_out, work_of(a, edges, a->rows_out, a->width), threads,
               attention_sums(a, begin, end, Y));
}

/* Row i's part of dY in head h, and what it is to be multiplied by. */
static inline const float *gradient(const cbx_attention *a, const float *dY, int64_t i, int32_t h)
{
    return a->mean ? dY + i * a->width : dY + (i * a->heads + h) * a->width;
}

static inline float slope_of(const cbx_attention *a, int32_t u, int32_t i, int32_t h)
{
    float x = a->from[(int64_t)u * a->heads + h] + a->to[(int64_t)i * a->heads + h];
    return x > 0 ? 1 : a->slope;
}

/* dscore of the slots into i, and dto; dvalue if wanted. */
static inline void score_gradients(const cbx_attention *a, const cbx_attention_grad *g, int32_t i,
                                   int32_t h)
{
    const cbx_adjacency *A = a->A;
    const float         *dy = gradient(a, g->dY, i, h), *H = a->H + (int64_t)h * a->width;
    int64_t              wide = (int64_t)a->heads * a->width, at = (int64_t)i * a->heads + h;
    float                part = a->mean ? 1 / (float)a->heads : 1, sum = 0, dto = 0;
    float                own = a->own ? part * dot(a->width, dy, H + i * wide) : 0;
    sum = a->own_share[at] * own;
    for (int64_t e = A->offset[i]; e < A->offset[i + 1]; e++) {
        float t = part * dot(a->width, dy, H + A->source[e] * wide);
        g->dscore[e * a->heads + h] = t;
        sum += weight_of(a, i, e) * a->share[e * a->heads + h] * t;
    }
    for (int64_t e = A->offset[i]; e < A->offset[i + 1]; e++) {
        int64_t slot = e * a->heads + h;
        float   d = a->share[slot] * (g->dscore[slot] - sum);
        if (g->dvalue && counts(a, i, e))
            g->dvalue[e] += d;
        g->dscore[slot] = weight_of(a, i, e) * d * slope_of(a, A->source[e], i, h);
        dto += g->dscore[slot];
    }
    g->own_dscore[at] = a->own_share[at] * (own - sum) * slope_of(a, i, i, h);
    g->dto[at] = dto + g->own_dscore[at];
}

CBX_HOT
static void attention_score_gradients(const cbx_attention *a, const cbx_attention_grad *g,
                                      int32_t begin, int32_t end)
{
    for (int32_t i = begin; i < end; i++)
        for (int32_t h = 0; h < a->heads; h++)
            score_gradients(a, g, i, h);
}

/* dH of row u in head h, and dfrom. */
static inline void input_gradients(const cbx_attention *a, const cbx_attention_grad *g, int32_t u,
                                   int32_t h)
{
    const cbx_adjacency *A = a->A;
    int64_t              at = (int64_t)u * a->heads + h;
    float               *dh = g->dH + at * a->width, part = a->mean ? 1 / (float)a->heads : 1;
    float                dfrom = 0;
    memset(dh, 0, (size_t)a->width * sizeof *dh);
    if (u < a->rows_out) {
        axpy(a->width, part * a->own_share[at], gradient(a, g->dY, u, h), dh);
        axpy(a->width, g->dto[at], a->target + (int64_t)h * a->width, dh);
        dfrom = g->own_dscore[at];
    }
    for (int64_t o = A->out_offset[u]; o < A->out_offset[u + 1]; o++) {
        int32_t i = A->out_target[o];
        if (i >= a->rows_out)
            break;
        int64_t e = A->out_slot[o], slot = e * a->heads + h;
        float   w = weight_of(a, i, e);
        if (w > 0)
            axpy(a->width, part * w * a->share[slot], gradient(a, g->dY, i, h), dh);
        dfrom += g->dscore[slot];
    }
    g->dfrom[at] = dfrom;
    axpy(a->width, dfrom, a->source + (int64_t)h * a->width, dh);
}

CBX_HOT
static void attention_input_gradients(const cbx_attention *a, const cbx_attention_grad *g,
                                      int32_t begin, int32_t end)
{
    for (int32_t u = begin; u < end; u++)
        for (int32_t h = 0; h < a->heads; h++)
            input_gradients(a, g, u, h);
}

void cbx_attention_backward(const cbx_attention *a, const cbx_attention_grad *g, int threads)
{
    int64_t in = a->rows_out ? a->A->offset[a->rows_out] : 0;
    int64_t out = a->rows_in ? a->A->out_offset[a->rows_in] : 0;
    FOR_CHUNKS(a->rows_out, work_of(a, in, a->rows_out, a->width), threads,
               attention_score_gradients(a, g, begin, end));
    if (g->dH)
        FOR_CHUNKS(a->rows_in, work_of(a, out, a->rows_in, a->width), threads,
                   attention_input_gradients(a, g, begin, end));
}
