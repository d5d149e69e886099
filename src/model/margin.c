/* SPDX-License-Identifier: Apache-2.0 */
/* margin.c: see margin.h. */
#include "margin.h"

#include <math.h>
#include <string.h>

#include "head.h"
#include "likely.h"

const float *cbx_model_stretch(const cbx_model *m, cbx_arena *arena)
{
    int64_t most = 0;
    for (int32_t i = 0; i < m->num_parameters; i++) {
        const cbx_parameter *p = &m->parameters[i].shape;
        int64_t              size = p->rows ? cbx_spectral_scratch(p->rows, p->cols) : 0;
        most = size > most ? size : most;
    }
    float *stretch = CBX_NEW0(arena, float, m->num_parameters);
    float *scratch = CBX_NEW(arena, float, most);
    if (!stretch || !scratch)
        return NULL;
    for (int32_t i = 0; i < m->num_parameters; i++) {
        const cbx_parameter *p = &m->parameters[i].shape;
        if (p->rows)
            stretch[i] =
                cbx_spectral_bound(p->rows, p->cols, m->theta + m->parameters[i].offset, scratch);
    }
    return stretch;
}

/* Bounds are sums of some thousand floats: so much, and they are bounds still. */
static const double ROUNDING = 1.001;

/* ---- memory */

static int make_rows(cbx_margin *g, cbx_arena *arena)
{
    const cbx_pass *p = g->pass;
    int32_t         L = p->model->num_layers;
    g->size = CBX_NEW0(arena, float *, L);
    g->moved = CBX_NEW0(arena, float *, L + 1);
    if (!g->size || !g->moved)
        return -1;
    for (int32_t l = 0; l <= L; l++) {
        int32_t rows = l < L ? p->steps[l].rows_in : p->steps[L - 1].rows_out;
        g->moved[l] = CBX_NEW0(arena, float, rows);
        if (!g->moved[l])
            return -1;
        if (l == L)
            break;
        g->size[l] = CBX_NEW0(arena, float, rows);
        if (!g->size[l])
            return -1;
    }
    int32_t most = p->view->n;
    for (int k = 0; k < 2; k++)
        if (!(g->slope_moved[k] = CBX_NEW0(arena, float, most)))
            return -1;
    g->slope_size = CBX_NEW0(arena, float, most);
    g->slope_diag = CBX_NEW0(arena, float, most);
    g->slope_value = CBX_NEW0(arena, float, p->view->m);
    return g->slope_size && g->slope_diag && g->slope_value ? 0 : -1;
}

static int make_adjacencies(cbx_margin *g, cbx_arena *arena)
{
    const cbx_pass *p = g->pass;
    for (int k = 0; k < CBX_NORM_COUNT; k++) {
        if (!p->uses[k])
            continue;
        g->then_value[k] = CBX_NEW0(arena, float, p->view->m);
        g->then_diag[k] = CBX_NEW0(arena, float, p->view->n);
        if (!g->then_value[k] || !g->then_diag[k])
            return -1;
    }
    return 0;
}

static float row_size(int64_t width, const float *row)
{
    return cbx_length(width, row) * (float)ROUNDING;
}

static void measure_input(cbx_margin *g, const cbx_matrix *X)
{
    for (int32_t i = 0; i < g->pass->steps[0].rows_in; i++) {
        int64_t begin = X->dense ? (int64_t)i * X->cols : X->csr.offset[i];
        int64_t count = X->dense ? X->cols : X->csr.offset[i + 1] - begin;
        g->size[0][i] = row_size(count, (X->dense ? X->dense : X->csr.value) + begin);
    }
}

static bool is_plain(const cbx_view *v)
{
    bool loop = v->weight != NULL;
    for (int32_t i = 0; i < v->n && !loop; i++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
            loop = loop || v->source[e] == i;
    return !loop;
}

int cbx_margin_init(cbx_margin *g, cbx_pass *pass, const cbx_matrix *X, const float *stretch,
                    cbx_arena *arena)
{
    const cbx_model *m = pass->model;
    *g = (cbx_margin){.pass = pass, .stretch = stretch, .known = true};
    g->first = CBX_NEW0(arena, int32_t, m->num_layers + 1);
    g->gap = CBX_NEW0(arena, float, m->num_classes);
    g->pull = CBX_NEW0(arena, float, (size_t)m->num_layers *(size_t)m->num_classes);
    g->seen = CBX_NEW0(arena, float, m->num_layers);
    if (!g->first || !g->gap || !g->pull || !g->seen || make_rows(g, arena) ||
        make_adjacencies(g, arena))
        return -1;
    for (int32_t l = 0; l < m->num_layers; l++) {
        cbx_parameter p;
        int32_t       count = 0;
        while (m->layers[l].ops->parameter(&m->layers[l], count, &p))
            count++;
        g->first[l + 1] = g->first[l] + count;
        g->known = g->known && m->layers[l].ops->sway;
    }
    g->plain = is_plain(pass->view);
    measure_input(g, X);
    return 0;
}

/* ---- work */

/* Gaps now, and what a move of the head's inputs can take from them. */
static void set_gaps(cbx_margin *g)
{
    const cbx_pass  *p = g->pass;
    const cbx_model *m = p->model;
    int32_t          C = m->num_classes, best = cbx_best_class(p->logp, C, -1);
    double           size = 0;
    g->best = best;
    for (int32_t c = 0; c < C; c++)
        g->gap[c] = p->logp[best] - p->logp[c];
    for (int32_t l = 0; l < m->num_layers; l++) {
        if (!cbx_model_head_sees(m, l))
            continue;
        const float *W = cbx_head_weight(m, l);
        int32_t      width = m->layers[l].n_out;
        double       longest = 0;
        for (int32_t c = 0; c < C; c++) {
            double difference = 0, own = 0;
            for (int32_t k = 0; k < width; k++) {
                double d = (double)W[(int64_t)k * C + best] - W[(int64_t)k * C + c];
                difference += d * d;
                own += (double)W[(int64_t)k * C + c] * W[(int64_t)k * C + c];
            }
            g->pull[(int64_t)l * C + c] = (float)(sqrt(difference) * ROUNDING);
            longest = own > longest ? own : longest;
        }
        size += sqrt(longest) * row_size(width, cbx_head_input(p, l));
    }
    g->rounding = 1e-4 * size;
}

/* Counts from here. */
static void set(cbx_margin *g)
{
    const cbx_pass *p = g->pass;
    for (int k = 0; k < CBX_NORM_COUNT; k++) {
        if (!p->uses[k])
            continue;
        const cbx_norm *norm = &p->norms[k];
        memcpy(g->then_value[k], norm->value,
               (size_t)p->view->offset[norm->rows] * sizeof *norm->value);
        if (norm->diag)
            memcpy(g->then_diag[k], norm->diag, (size_t)norm->inputs * sizeof *norm->diag);
    }
    /* The input's rows are too long to measure each time. */
    for (int32_t i = 0; i < p->steps[0].rows_in; i++) {
        g->size[0][i] += g->moved[0][i];
        g->moved[0][i] = 0;
    }
    for (int32_t l = 1; l < p->model->num_layers; l++)
        for (int32_t i = 0; i < p->steps[l].rows_in; i++) {
            int32_t width = p->model->layers[l].n_in;
            g->size[l][i] = row_size(width, p->out[l - 1] + (int64_t)i * width);
        }
    set_gaps(g);
    g->set = true;
}

/* How far what the head sees of layer l has moved, of how far the rows have. */
static double seen_length(const cbx_pass *p, int32_t l, const float *moved)
{
    double  sum = 0, squares = 0;
    int32_t rows = p->model->task == CBX_GRAPH ? p->steps[l].rows_out : 1;
    for (int32_t i = 0; i < rows; i++) {
        sum += moved[i];
        squares += (double)moved[i] * moved[i];
    }
    if (p->model->task != CBX_GRAPH || p->model->pool == CBX_POOL_SUM)
        return sum;
    return p->model->pool == CBX_POOL_MEAN ? sum / rows : sqrt(squares);
}

/* The lead that is left when what the head sees has moved as far as `moved` says. */
static double lead(cbx_margin *g)
{
    const cbx_model *m = g->pass->model;
    int32_t          C = m->num_classes;
    double           least = INFINITY;
    for (int32_t l = 0; l < m->num_layers; l++)
        g->seen[l] = cbx_model_head_sees(m, l)
                         ? (float)(seen_length(g->pass, l, g->moved[l + 1]) * ROUNDING)
                         : 0;
    for (int32_t c = 0; c < C; c++) {
        double left = (double)g->gap[c] - g->rounding;
        for (int32_t l = 0; l < m->num_layers; l++)
            left -= (double)g->pull[(int64_t)l * C + c] * g->seen[l];
        if (c != g->best && !(left >= least)) /* NaN is not known either */
            least = left;
    }
    return least;
}

double cbx_margin_start(cbx_margin *g, const cbx_matrix *X, const float *w)
{
    cbx_pass *p = g->pass;
    cbx_pass_start(p, X, w);
    if (!g->known || !g->set)
        return -1;
    for (int32_t l = 0; l < p->model->num_layers; l++) {
        const cbx_layer *layer = &p->model->layers[l];
        cbx_norm_kind    kind = layer->ops->norm(layer);
        layer->ops->sway(layer, &p->steps[l],
                         &(cbx_sway){.stretch = g->stretch + g->first[l],
                                     .size = g->size[l],
                                     .moved = g->moved[l],
                                     .then_value = g->then_value[kind],
                                     .then_diag = g->then_diag[kind],
                                     .out = g->moved[l + 1]});
    }
    return lead(g);
}

void cbx_margin_finish(cbx_margin *g)
{
    for (int32_t l = 0; l < g->pass->model->num_layers; l++)
        cbx_pass_layer(g->pass, l);
    cbx_pass_finish(g->pass);
    if (g->known)
        set(g);
}

/* ---- slopes */

/* What the lead loses to any class when the inputs' rows move by `input` each and all
 * of the adjacency by `edges`. Linear in both, so it bounds each derivative. */
static double loss_for(cbx_margin *g, float input, float edges)
{
    const cbx_pass  *p = g->pass;
    const cbx_model *m = p->model;
    double           most = 0;
    float           *moved = g->slope_moved[0], *next = g->slope_moved[1];
    for (int32_t i = 0; i < p->steps[0].rows_in; i++)
        moved[i] = input;
    for (int32_t l = 0; l < m->num_layers; l++) {
        const cbx_layer *layer = &m->layers[l];
        const cbx_norm  *norm = &p->norms[layer->ops->norm(layer)];
        for (int32_t i = 0; i < p->steps[l].rows_in; i++) {
            g->slope_size[i] = g->size[l][i] + g->moved[l][i];
            g->slope_diag[i] = norm->diag ? norm->diag[i] - edges : 0;
        }
        for (int64_t e = 0; e < p->view->offset[p->steps[l].rows_out]; e++)
            g->slope_value[e] = norm->value[e] - edges;
        layer->ops->sway(layer, &p->steps[l],
                         &(cbx_sway){.stretch = g->stretch + g->first[l],
                                     .size = g->slope_size,
                                     .moved = moved,
                                     .then_value = g->slope_value,
                                     .then_diag = g->slope_diag,
                                     .out = next});
        if (cbx_model_head_sees(m, l)) {
            const float *pulls = g->pull + (int64_t)l * m->num_classes;
            double       pull = 0;
            for (int32_t c = 0; c < m->num_classes; c++)
                pull = pulls[c] > pull ? pulls[c] : pull;
            most += pull * seen_length(p, l, next);
        }
        float *other = moved;
        moved = next;
        next = other;
    }
    return most;
}

/* Without edge weights and loops a degree is at least 1, and no value of an adjacency
 * changes by more than an edge's weight does: dw, or through a degree -1/2 w d^3. */
double cbx_margin_slope(cbx_margin *g)
{
    if (!g->known || !g->set || !g->plain)
        return INFINITY;
    return ROUNDING * fmax(loss_for(g, 1, 0), loss_for(g, 0, 1));
}
