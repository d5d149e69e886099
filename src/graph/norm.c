/* SPDX-License-Identifier: Apache-2.0 */
/* norm.c: degree normalisation and its derivative.
 *
 * With value = ±d[s] w d[t] and d = D^-1/2, the weight of an edge acts directly
 * and through the degree it counts in:
 *
 *     dw      = ± dvalue d[s] d[t] + dD[k]        k = t (gcn) or s (cheb)
 *     dd[i]   = ± sum of dvalue w d[other end] over edges at i, both directions
 *     dD[i]   = -1/2 d^3 dd[i] */
#include "norm.h"

#include <math.h>
#include <string.h>

#include "threads.h"

int cbx_norm_init(cbx_norm *norm, cbx_norm_kind kind, const cbx_view *view, int32_t rows,
                  int32_t inputs, bool gradient, cbx_arena *arena)
{
    *norm = (cbx_norm){.kind = kind, .view = view, .rows = rows, .inputs = inputs};
    bool gcn = kind == CBX_NORM_GCN;
    if (gradient) {
        norm->dvalue = CBX_NEW(arena, float, view->m);
        norm->ddiag = gcn ? CBX_NEW(arena, float, view->n) : NULL;
        norm->droot = CBX_NEW(arena, float, view->n);
        if (!norm->dvalue || !norm->droot || (gcn && !norm->ddiag))
            return -1;
    }
    if (kind == CBX_NORM_NONE)
        return 0;
    norm->value = CBX_NEW(arena, float, view->m);
    norm->root = CBX_NEW(arena, float, view->n);
    norm->diag = gcn ? CBX_NEW(arena, float, view->n) : NULL;
    norm->loop = gcn ? CBX_NEW(arena, float, view->n) : NULL;
    return norm->value && norm->root && (!gcn || (norm->diag && norm->loop)) ? 0 : -1;
}

/* Degrees of zero, and those that underflow, count as no degree at all. */
static float inverse_root(double degree)
{
    return degree > 1e-38 ? (float)(1 / sqrt(degree)) : 0;
}

static bool is_removed(const cbx_view *v, int64_t slot)
{
    return v->removed && v->removed[slot];
}

/* What node i's degree decides, by kind … */
static void degree_gcn(cbx_norm *norm, const float *w, int32_t i)
{
    const cbx_view *v = norm->view;
    float           loop = 1;
    double          degree = 0;
    for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
        if (v->source[e] != i)
            degree += w[e];
        else if (!is_removed(v, e))
            loop = w[e];
    }
    degree += v->outside_weight ? (double)v->outside_weight[i] : 0;
    norm->loop[i] = loop;
    norm->root[i] = inverse_root(degree + loop);
    norm->diag[i] = loop * norm->root[i] * norm->root[i];
}

static void degree_cheb(cbx_norm *norm, const float *w, int32_t i)
{
    const cbx_view *v = norm->view;
    double          degree = 0;
    for (int64_t o = v->out_offset[i]; o < v->out_offset[i + 1]; o++)
        if (v->out_target[o] != i)
            degree += w[v->out_slot[o]];
    norm->root[i] = inverse_root(degree);
}

static void degree_mean(cbx_norm *norm, int32_t i)
{
    const cbx_view *v = norm->view;
    double          count = (double)(v->offset[i + 1] - v->offset[i]);
    count += v->outside_count ? (double)v->outside_count[i] : 0;
    norm->root[i] = count > 0 ? (float)(1 / count) : 0;
}

/* … and the values of the slots into i: ± d[s] w d[i], or w d[i]. */
static void values_scaled(cbx_norm *norm, float sign, const float *w, int32_t i)
{
    const cbx_view *v = norm->view;
    for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
        int32_t s = v->source[e];
        norm->value[e] = s == i ? 0 : sign * norm->root[s] * w[e] * norm->root[i];
    }
}

static void values_mean(cbx_norm *norm, const float *w, int32_t i)
{
    const cbx_view *v = norm->view;
    for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
        norm->value[e] = w[e] * norm->root[i];
}

/* What going through the edges of so many nodes takes, in multiplications. */
static double work_of(const int64_t *offset, int32_t nodes)
{
    const double edge = 6;
    return edge * (double)(offset[nodes] - offset[0] + nodes);
}

static void forward_gcn(cbx_norm *norm, const float *w)
{
    const int64_t *in = norm->view->offset;
    CBX_SERIAL_FOR(work_of(in, norm->inputs), i, norm->inputs, 1, degree_gcn(norm, w, (int32_t)i));
    CBX_SERIAL_FOR(work_of(in, norm->rows), i, norm->rows, 1,
                   values_scaled(norm, 1, w, (int32_t)i));
}

static void forward_cheb(cbx_norm *norm, const float *w)
{
    const cbx_view *v = norm->view;
    CBX_SERIAL_FOR(work_of(v->out_offset, norm->inputs), i, norm->inputs, 1,
                   degree_cheb(norm, w, (int32_t)i));
    CBX_SERIAL_FOR(work_of(v->offset, norm->rows), i, norm->rows, 1,
                   values_scaled(norm, -1, w, (int32_t)i));
}

static void forward_mean(cbx_norm *norm, const float *w)
{
    CBX_SERIAL_FOR(work_of(norm->view->offset, norm->rows), i, norm->rows, 1, {
        degree_mean(norm, (int32_t)i);
        values_mean(norm, w, (int32_t)i);
    });
}

void cbx_norm_update_degree(cbx_norm *norm, const float *w, int32_t i)
{
    if (norm->kind == CBX_NORM_GCN)
        degree_gcn(norm, w, i);
    else if (norm->kind == CBX_NORM_CHEB)
        degree_cheb(norm, w, i);
    else if (norm->kind == CBX_NORM_MEAN)
        degree_mean(norm, i);
}

void cbx_norm_update_values(cbx_norm *norm, const float *w, int32_t i)
{
    if (norm->kind == CBX_NORM_MEAN)
        values_mean(norm, w, i);
    else if (norm->kind != CBX_NORM_NONE)
        values_scaled(norm, norm->kind == CBX_NORM_GCN ? 1 : -1, w, i);
}

void cbx_norm_forward(cbx_norm *norm, const float *w)
{
    switch (norm->kind) {
    case CBX_NORM_GCN:
        forward_gcn(norm, w);
        break;
    case CBX_NORM_CHEB:
        forward_cheb(norm, w);
        break;
    case CBX_NORM_MEAN:
        forward_mean(norm, w);
        break;
    default:
        norm->value = (float *)w; /* read only */
    }
}

void cbx_norm_clear(cbx_norm *norm)
{
    const cbx_view *v = norm->view;
    if (norm->dvalue)
        memset(norm->dvalue, 0, (size_t)v->offset[norm->rows] * sizeof *norm->dvalue);
    if (norm->ddiag)
        memset(norm->ddiag, 0, (size_t)v->n * sizeof *norm->ddiag);
}

/* The direct part of dw, and dd at both ends; returns nothing that depends on
 * which end's degree counts. */
static void backward_ends(cbx_norm *norm, float sign, const float *w, float *dw)
{
    const cbx_view *v = norm->view;
    for (int32_t i = 0; i < norm->rows; i++) {
        if (cbx_out_of_time(work_of(v->offset + i, 1)))
            return;
        float root = norm->root[i], sum = 0;
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
            int32_t s = v->source[e];
            if (s == i)
                continue;
            float g = sign * norm->dvalue[e];
            dw[e] += g * norm->root[s] * root;
            sum += g * w[e] * norm->root[s];
            norm->droot[s] += g * w[e] * root;
        }
        norm->droot[i] += sum;
    }
}

/* dd becomes dD; in double, because d^3 of a tiny degree is no float */
static void roots_to_degrees(cbx_norm *norm)
{
    for (int32_t i = 0; i < norm->inputs; i++) {
        double d = norm->root[i];
        norm->droot[i] = (float)(-0.5 * d * d * d * norm->droot[i]);
    }
}

static void backward_gcn(cbx_norm *norm, const float *w, float *dw)
{
    const cbx_view *v = norm->view;
    for (int32_t i = 0; i < norm->inputs; i++)
        norm->droot[i] = 2 * norm->ddiag[i] * norm->loop[i] * norm->root[i];
    backward_ends(norm, 1, w, dw);
    roots_to_degrees(norm);
    for (int32_t i = 0; i < norm->inputs; i++) {
        if (cbx_out_of_time(work_of(v->offset + i, 1)))
            return;
        int64_t own = -1; /* only the last loop of a node counts */
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
            if (v->source[e] != i)
                dw[e] += norm->droot[i];
            else if (!is_removed(v, e))
                own = e;
        }
        if (own >= 0)
            dw[own] += norm->ddiag[i] * norm->root[i] * norm->root[i] + norm->droot[i];
    }
}

static void backward_cheb(cbx_norm *norm, const float *w, float *dw)
{
    const cbx_view *v = norm->view;
    memset(norm->droot, 0, (size_t)norm->inputs * sizeof *norm->droot);
    backward_ends(norm, -1, w, dw);
    roots_to_degrees(norm);
    for (int32_t j = 0; j < norm->inputs; j++) {
        if (cbx_out_of_time(work_of(v->out_offset + j, 1)))
            return;
        for (int64_t o = v->out_offset[j]; o < v->out_offset[j + 1]; o++)
            if (v->out_target[o] != j)
                dw[v->out_slot[o]] += norm->droot[j];
    }
}

void cbx_norm_backward(cbx_norm *norm, const float *w, float *dw)
{
    const cbx_view *v = norm->view;
    switch (norm->kind) {
    case CBX_NORM_GCN:
        backward_gcn(norm, w, dw);
        break;
    case CBX_NORM_CHEB:
        backward_cheb(norm, w, dw);
        break;
    default:
        for (int32_t i = 0; i < norm->rows; i++)
            for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
                dw[e] += norm->dvalue[e] * (norm->kind == CBX_NORM_MEAN ? norm->root[i] : 1);
    }
}

cbx_adjacency cbx_norm_adjacency(const cbx_norm *norm)
{
    const cbx_view *v = norm->view;
    return (cbx_adjacency){v->offset,     v->source,     norm->value, norm->diag,
                           v->out_offset, v->out_target, v->out_slot};
}
