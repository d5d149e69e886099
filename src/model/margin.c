/* SPDX-License-Identifier: Apache-2.0 */
/* margin.c: see margin.h. */
#include "margin.h"

#include <math.h>
#include <string.h>

#include "head.h"

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
    g->out = CBX_NEW0(arena, float *, L);
    g->size = CBX_NEW0(arena, float *, L);
    g->moved = CBX_NEW0(arena, float *, L + 1);
    if (!g->out || !g->size || !g->moved)
        return -1;
    for (int32_t l = 0; l <= L; l++) {
        int32_t rows = l < L ? p->steps[l].rows_in : p->steps[L - 1].rows_out;
        g->moved[l] = CBX_NEW0(arena, float, rows);
        if (!g->moved[l])
            return -1;
        if (l == L)
            break;
        g->size[l] = CBX_NEW0(arena, float, rows);
        g->out[l] =
            CBX_NEW(arena, float, (size_t)p->steps[l].rows_out *(size_t)p->model->layers[l].n_out);
        if (!g->size[l] || !g->out[l])
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
    g->near_value = CBX_NEW0(arena, float, p->view->m);
    g->near_diag = CBX_NEW0(arena, float, p->view->n);
    g->base = CBX_NEW0(arena, float, p->steps[0].rows_out);
    return g->near_value && g->near_diag && g->base ? 0 : -1;
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

static int32_t best_class(const float *logp, int32_t C)
{
    int32_t best = 0;
    for (int32_t c = 1; c < C; c++)
        best = logp[c] > logp[best] ? c : best;
    return best;
}

/* Gaps now, and what a move of the head's inputs can take from them. */
static void set_gaps(cbx_margin *g)
{
    const cbx_pass  *p = g->pass;
    const cbx_model *m = p->model;
    int32_t          C = m->num_classes, best = best_class(p->logp, C);
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

static void copy_adjacency(const cbx_pass *p, const cbx_norm *norm, float *value, float *diag)
{
    memcpy(value, norm->value, (size_t)p->view->offset[norm->rows] * sizeof *value);
    if (norm->diag)
        memcpy(diag, norm->diag, (size_t)norm->inputs * sizeof *diag);
}

static const cbx_norm *norm_of(const cbx_pass *p, int32_t l)
{
    return &p->norms[p->model->layers[l].ops->norm(&p->model->layers[l])];
}

/* The first layer has run; base[] says how far its outputs have moved. */
static void set_first(cbx_margin *g)
{
    copy_adjacency(g->pass, norm_of(g->pass, 0), g->near_value, g->near_diag);
    /* The input's rows are too long to measure each time. */
    for (int32_t i = 0; i < g->pass->steps[0].rows_in; i++) {
        g->size[0][i] += g->moved[0][i];
        g->moved[0][i] = 0;
    }
}

/* Counts from here. */
static void set(cbx_margin *g)
{
    const cbx_pass *p = g->pass;
    for (int k = 0; k < CBX_NORM_COUNT; k++)
        if (p->uses[k])
            copy_adjacency(p, &p->norms[k], g->then_value[k], g->then_diag[k]);
    for (int32_t l = 0; l + 1 < p->model->num_layers; l++) {
        int32_t width = p->model->layers[l].n_out, rows = p->steps[l].rows_out;
        memcpy(g->out[l], p->out[l], (size_t)rows * (size_t)width * sizeof(float));
        for (int32_t i = 0; i < rows; i++)
            g->size[l + 1][i] = row_size(width, p->out[l] + (int64_t)i * width);
    }
    memset(g->base, 0, (size_t)p->steps[0].rows_out * sizeof *g->base);
    set_first(g);
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

/* moved[l + 1] and on, from moved[l]. */
static void sway_from(cbx_margin *g, int32_t l)
{
    for (; l < g->pass->model->num_layers; l++) {
        const cbx_layer *layer = &g->pass->model->layers[l];
        cbx_norm_kind    kind = layer->ops->norm(layer);
        layer->ops->sway(layer, &g->pass->steps[l],
                         &(cbx_sway){.stretch = g->stretch + g->first[l],
                                     .size = g->size[l],
                                     .moved = g->moved[l],
                                     .then_value = l ? g->then_value[kind] : g->near_value,
                                     .then_diag = l ? g->then_diag[kind] : g->near_diag,
                                     .out = g->moved[l + 1]});
        for (int32_t i = 0; l == 0 && i < g->pass->steps[0].rows_out; i++)
            g->moved[1][i] += g->base[i];
    }
}

double cbx_margin_start(cbx_margin *g, const cbx_matrix *X, const float *w)
{
    cbx_pass_start(g->pass, X, w);
    if (!g->known || !g->set)
        return -1;
    sway_from(g, 0);
    return lead(g);
}

/* How far layer l's outputs really are from what they were. */
static void measure_moves(cbx_margin *g, int32_t l)
{
    const cbx_pass *p = g->pass;
    int32_t         width = p->model->layers[l].n_out;
    for (int32_t i = 0; i < p->steps[l].rows_out; i++) {
        int64_t at = (int64_t)i * width;
        g->moved[l + 1][i] = cbx_distance(width, p->out[l] + at, g->out[l] + at) * (float)ROUNDING;
    }
}

/* The multiplications of layer l, roughly. */
static double work(const cbx_pass *p, int32_t l)
{
    const cbx_layer *layer = &p->model->layers[l];
    int32_t          width = l == 0 && p->X.cache ? 1 : layer->n_in; /* products are known */
    return (double)p->steps[l].rows_out * width * layer->n_out;
}

/* Going on to the end is worth its work if the next passes can then be proved needless:
 * the more so, the more has been done for this one. So much lead makes it needless. */
static double worth_stopping(const cbx_margin *g, int32_t l, double enough)
{
    double  done = 0, all = 0;
    double  least = INFINITY;
    int32_t L = g->pass->model->num_layers;
    for (int32_t k = 0; k < L; k++) {
        all += work(g->pass, k);
        done += k <= l ? work(g->pass, k) : 0;
    }
    for (int32_t c = 0; c < g->pass->model->num_classes; c++)
        if (c != g->best && g->gap[c] < least)
            least = g->gap[c];
    return enough + done / all * fmax(least - enough, 0);
}

bool cbx_margin_finish(cbx_margin *g, double enough)
{
    int32_t L = g->pass->model->num_layers;
    for (int32_t l = 0; l < L; l++) {
        cbx_pass_layer(g->pass, l);
        if (l + 1 == L || !g->known || !g->set)
            continue;
        measure_moves(g, l);
        if (l == 0) {
            memcpy(g->base, g->moved[1], (size_t)g->pass->steps[0].rows_out * sizeof *g->base);
            set_first(g);
        }
        sway_from(g, l + 1);
        if (lead(g) > worth_stopping(g, l, enough))
            return true;
    }
    cbx_pass_finish(g->pass);
    if (g->known)
        set(g);
    return false;
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
        const cbx_norm  *norm = norm_of(p, l);
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
            double pull = 0;
            for (int32_t c = 0; c < m->num_classes; c++)
                pull = fmax(pull, g->pull[(int64_t)l * m->num_classes + c]);
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
