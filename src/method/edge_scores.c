/* SPDX-License-Identifier: Apache-2.0 */
/* edge_scores.c: see edge_scores.h. */
#include "edge_scores.h"

#include <math.h>

#include "order.h"

double cbx_logistic(double x)
{
    return 1 / (1 + cbx_exp(-x));
}

/* log(1 + e^x) */
static double softplus(double x)
{
    return fmax(x, 0) + cbx_log(1 + cbx_exp(-fabs(x)));
}

double cbx_edge_scores_compare(const cbx_edge_scores *s, const uint8_t *linked, double price,
                               double weight)
{
    double sum = 0;
    for (int32_t i = 0; i < s->n; i++)
        for (int32_t j = 0; j < s->n; j++) {
            int64_t k = (int64_t)i * s->n + j;
            double  at = cbx_edge_score(s, i, j), P = cbx_logistic(at);
            sum += linked[k] ? weight * softplus(-at) : softplus(at);
            s->slope[k] = price * (linked[k] ? -weight * (1 - P) : P);
        }
    return price * sum;
}

static double own_weight(const cbx_view *v, int64_t e)
{
    return v->weight ? (double)v->weight[e] : 1;
}

void cbx_edge_scores_weigh(const cbx_edge_scores *s, const cbx_view *v, float *w)
{
    for (int32_t i = 0; i < v->n; i++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
            w[e] = (float)(cbx_logistic(cbx_edge_score(s, i, v->source[e])) * own_weight(v, e));
}

void cbx_edge_scores_follow(const cbx_edge_scores *s, const cbx_view *v, const float *dw)
{
    for (int32_t i = 0; i < v->n; i++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
            double P = cbx_logistic(cbx_edge_score(s, i, v->source[e]));
            s->slope[(int64_t)i * s->n + v->source[e]] +=
                (double)dw[e] * own_weight(v, e) * P * (1 - P);
        }
}

void cbx_edge_scores_spread(const cbx_edge_scores *s, float *out)
{
    for (int32_t i = 0; i < s->n; i++)
        for (int32_t j = 0; j < s->n; j++) {
            double there = s->slope[(int64_t)i * s->n + j], back = s->slope[(int64_t)j * s->n + i];
            out[i * s->stride + j] = (float)(s->undirected ? (there + back) / 2 : there);
        }
}
