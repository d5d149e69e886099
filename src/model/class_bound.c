/* SPDX-License-Identifier: Apache-2.0 */
/* class_bound.c: see class_bound.h. */
#include "class_bound.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "head.h"
#include "class_order.h"

const float *cbx_model_spectral_norms(const cbx_model *m, cbx_arena *arena)
{
    int64_t most = 0;
    for (int32_t i = 0; i < m->num_parameters; i++) {
        const cbx_parameter *p = &m->parameters[i].shape;
        int64_t              size = p->rows ? cbx_spectral_scratch(p->rows, p->cols) : 0;
        most = size > most ? size : most;
    }
    float *spectral_norm = CBX_NEW0(arena, float, m->num_parameters);
    float *scratch = CBX_NEW(arena, float, most);
    if (!spectral_norm || !scratch)
        return NULL;
    for (int32_t i = 0; i < m->num_parameters; i++) {
        const cbx_parameter *p = &m->parameters[i].shape;
        if (p->rows)
            spectral_norm[i] =
                cbx_spectral_bound(p->rows, p->cols, m->theta + m->parameters[i].offset, scratch);
    }
    return spectral_norm;
}

/* Bounds are sums of some thousand floats: so much, and they are bounds still. */
static const double ROUNDING = 1.001;

/* ---- memory */

/* An array of arrays, one for each layer; `moved` has one more. */
static float **make_arrays(const cbx_pass *p, cbx_arena *arena)
{
    return CBX_NEW0(arena, float *, p->model->num_layers + 1);
}

/* Rows of layer l's outputs that the head reads. */
static int32_t rows_shown(const cbx_pass *p, int32_t l)
{
    if (!cbx_model_head_sees(p->model, l))
        return 0;
    return p->model->task == CBX_GRAPH ? p->steps[l].rows_out : 1;
}

static int make_layer(cbx_class_bound *g, int32_t l, cbx_arena *arena)
{
    const cbx_pass *p = g->pass;
    const cbx_step *s = &p->steps[l];
    bool            last = l + 1 == p->model->num_layers; /* its outputs are the head's, at once */
    size_t          width = (size_t)p->model->layers[l].n_out, shown = (size_t)rows_shown(p, l);
    g->size[l] = CBX_NEW0(arena, float, s->rows_in);
    g->moved[l] = CBX_NEW0(arena, float, s->rows_in);
    g->then_value[l] = CBX_NEW0(arena, float, p->view->m);
    g->then_diag[l] = CBX_NEW0(arena, float, p->view->n);
    g->read[l] = CBX_NEW(arena, float, last ? 0 : (size_t)s->rows_out *width);
    g->from_read[l] = CBX_NEW0(arena, float, s->rows_out);
    g->shown[l] = CBX_NEW(arena, float, last ? 0 : shown *width);
    g->from_shown[l] = CBX_NEW0(arena, float, shown);
    return g->size[l] && g->moved[l] && g->then_value[l] && g->then_diag[l] && g->read[l] &&
                   g->from_read[l] && g->shown[l] && g->from_shown[l]
               ? 0
               : -1;
}

static int make_rows(cbx_class_bound *g, cbx_arena *arena)
{
    const cbx_pass *p = g->pass;
    int32_t         L = p->model->num_layers, most = p->view->n;
    float ***const  all[] = {&g->size, &g->moved,     &g->then_value, &g->then_diag,
                             &g->read, &g->from_read, &g->shown,      &g->from_shown};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(*all[i] = make_arrays(p, arena)))
            return -1;
    for (int32_t l = 0; l < L; l++)
        if (make_layer(g, l, arena))
            return -1;
    g->moved[L] = CBX_NEW0(arena, float, p->steps[L - 1].rows_out);
    for (int k = 0; k < 2; k++)
        if (!(g->slope_moved[k] = CBX_NEW0(arena, float, most)))
            return -1;
    g->slope_size = CBX_NEW0(arena, float, most);
    g->slope_diag = CBX_NEW0(arena, float, most);
    g->slope_value = CBX_NEW0(arena, float, p->view->m);
    return g->moved[L] && g->slope_size && g->slope_diag && g->slope_value ? 0 : -1;
}

static float row_size(int64_t width, const float *row)
{
    return cbx_length(width, row) * (float)ROUNDING;
}

/* The lengths of the input's rows, or more by a part of what they have moved since they were
 * measured: they are long, and a quarter more does little harm. */
static void measure_input(cbx_class_bound *g, const cbx_matrix *X)
{
    for (int32_t i = 0; i < g->pass->steps[0].rows_in; i++) {
        g->size[0][i] += g->moved[0][i];
        if (g->size[0][i] <= 1.25f * g->measured[i])
            continue;
        int64_t begin = X->dense ? (int64_t)i * X->cols : X->csr.offset[i];
        int64_t count = X->dense ? X->cols : X->csr.offset[i + 1] - begin;
        if (cbx_out_of_time((double)count))
            return;
        g->measured[i] = row_size(count, (X->dense ? X->dense : X->csr.value) + begin) +
                         (g->beyond ? g->beyond[i] * (float)ROUNDING : 0);
        g->size[0][i] = g->measured[i];
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

/* Layers that are narrow for the number of their edges take hardly longer than their bounds. */
static bool is_costly(const cbx_pass *p)
{
    const double an_edge = 80; /* multiplications in the time that it takes in a bound */
    double       bound = 0, all = 0;
    for (int32_t l = 0; l < p->model->num_layers; l++) {
        const cbx_layer *layer = &p->model->layers[l];
        double rows = p->steps[l].rows_out, edges = (double)p->view->offset[p->steps[l].rows_out];
        bound += an_edge * (edges + rows);
        all += (rows * layer->n_in + edges) * layer->n_out;
    }
    return bound > 0.1 * all;
}

int cbx_class_bound_init(cbx_class_bound *g, cbx_pass *pass, const cbx_matrix *X,
                         const float *spectral_norm, cbx_arena *arena)
{
    const cbx_model *m = pass->model;
    *g = (cbx_class_bound){.pass = pass, .spectral_norm = spectral_norm, .known = true, .best = -1};
    if (m->oracle) { /* who has no layers has no bounds */
        g->known = false;
        g->moved = make_arrays(pass, arena);
        return g->moved && (g->moved[0] = CBX_NEW0(arena, float, cbx_pass_input_rows(pass))) ? 0
                                                                                             : -1;
    }
    g->first = CBX_NEW0(arena, int32_t, m->num_layers + 1);
    g->gap = CBX_NEW0(arena, float, m->num_classes);
    g->pull = CBX_NEW0(arena, float, (size_t)m->num_layers *(size_t)m->num_classes);
    g->seen = CBX_NEW0(arena, float, m->num_layers);
    g->longest = CBX_NEW0(arena, double, m->num_layers);
    g->measured = CBX_NEW0(arena, float, pass->steps[0].rows_in);
    if (!g->first || !g->gap || !g->pull || !g->seen || !g->longest || !g->measured ||
        make_rows(g, arena))
        return -1;
    for (int32_t l = 0; l < m->num_layers; l++) {
        cbx_parameter p;
        int32_t       count = 0;
        while (cbx_block_parameter(&m->layers[l], count, &p))
            count++;
        g->first[l + 1] = g->first[l] + count;
        g->known = g->known && cbx_block_has_bound(&m->layers[l]);
    }
    if (m->mean) {
        g->rounded_in = CBX_NEW(arena, float, pass->steps[0].rows_in);
        g->rounded_out = CBX_NEW(arena, float, pass->steps[0].rows_out);
        if (!g->rounded_in || !g->rounded_out)
            return -1;
    }
    g->plain = is_plain(pass->view);
    g->costly = is_costly(pass);
    for (int32_t i = 0; i < pass->steps[0].rows_in; i++)
        g->size[0][i] = INFINITY;
    measure_input(g, X);
    return 0;
}

/* ---- work */

/* What a move of 1 of what scores are made of by `W`, of so many rows, can take from the best
 * class's lead, `scale` times; and the length of W's longest column. */
static void set_pull(cbx_class_bound *g, int32_t l, int32_t best, const float *W, int32_t rows,
                     double scale)
{
    int32_t C = g->pass->model->num_classes;
    double  longest = 0;
    for (int32_t c = 0; c < C; c++) {
        double difference = 0, own = 0;
        for (int32_t k = 0; k < rows; k++) {
            double d = (double)W[(int64_t)k * C + best] - W[(int64_t)k * C + c];
            difference += d * d;
            own += (double)W[(int64_t)k * C + c] * W[(int64_t)k * C + c];
        }
        g->pull[(int64_t)l * C + c] = (float)(sqrt(difference) * scale * ROUNDING);
        longest = own > longest ? own : longest;
    }
    g->longest[l] = sqrt(longest) * scale;
}

/* What a move of 1 of the head's inputs can take from the best class's lead. Hidden units move no
 * further than their matrix lets them: the first parameter behind the layers'. */
static void set_pulls(cbx_class_bound *g, int32_t best)
{
    const cbx_model *m = g->pass->model;
    const float     *hidden = g->spectral_norm + g->first[m->num_layers];
    for (int32_t l = 0; l < m->num_layers; l++) {
        if (!cbx_model_head_sees(m, l))
            continue;
        if (m->head_hidden)
            set_pull(g, l, best, m->theta + m->output_offset, m->head_hidden, *hidden);
        else
            set_pull(g, l, best, cbx_head_weight(m, l), m->layers[l].n_out, 1);
    }
    g->best = best;
}

/* Gaps now, and what a move of the head's inputs can take from them. */
static void set_gaps(cbx_class_bound *g)
{
    const cbx_pass  *p = g->pass;
    const cbx_model *m = p->model;
    int32_t          C = m->num_classes, best = cbx_best_class(p->logp, C, -1);
    double           size = 0;
    if (best != g->best)
        set_pulls(g, best);
    g->narrowest = INFINITY;
    for (int32_t c = 0; c < C; c++) {
        g->gap[c] = p->logp[best] - p->logp[c];
        g->narrowest = c != best && g->gap[c] < g->narrowest ? g->gap[c] : g->narrowest;
    }
    for (int32_t l = 0; l < m->num_layers; l++)
        if (cbx_model_head_sees(m, l))
            size += g->longest[l] * row_size(m->layers[l].n_out, cbx_head_input(p, l));
    g->rounding = 1e-4 * size;
}

/* Layer l has run: what it does is counted from here. */
static void note_run(cbx_class_bound *g, int32_t l)
{
    const cbx_pass  *p = g->pass;
    const cbx_layer *layer = &p->model->layers[l];
    const cbx_norm  *norm = &p->norms[layer->ops->norm(layer)];
    int32_t          rows = p->steps[l].rows_in, width = layer->n_in;
    memcpy(g->then_value[l], norm->value,
           (size_t)p->view->offset[norm->rows] * sizeof *norm->value);
    if (norm->diag)
        memcpy(g->then_diag[l], norm->diag, (size_t)norm->inputs * sizeof *norm->diag);
    if (l == 0)
        measure_input(g, &p->X);
    for (int32_t i = 0; l > 0 && i < rows; i++) {
        g->size[l][i] = row_size(width, p->out[l - 1] + (int64_t)i * width);
        g->from_read[l - 1][i] = 0;
    }
    memset(g->moved[l], 0, (size_t)rows * sizeof **g->moved);
    if (l > 0)
        memcpy(g->read[l - 1], p->out[l - 1], (size_t)rows * (size_t)width * sizeof *p->out[l - 1]);
}

/* How far layer l's outputs are from what those after it have read of them. */
static void measure_outputs(cbx_class_bound *g, int32_t l)
{
    const cbx_pass *p = g->pass;
    int32_t         width = p->model->layers[l].n_out, shown = rows_shown(p, l);
    for (int32_t i = 0; i < p->steps[l].rows_out; i++) {
        int64_t at = (int64_t)i * width;
        g->from_read[l][i] = cbx_distance(width, p->out[l] + at, g->read[l] + at) * (float)ROUNDING;
        if (i < shown)
            g->from_shown[l][i] =
                cbx_distance(width, p->out[l] + at, g->shown[l] + at) * (float)ROUNDING;
    }
}

/* All layers and the head have run. */
static void note_pass(cbx_class_bound *g)
{
    const cbx_pass *p = g->pass;
    for (int32_t l = 0; l + 1 < p->model->num_layers; l++) {
        size_t shown = (size_t)rows_shown(p, l);
        memcpy(g->shown[l], p->out[l],
               shown * (size_t)p->model->layers[l].n_out * sizeof *p->out[l]);
        memset(g->from_shown[l], 0, shown * sizeof **g->from_shown);
    }
    set_gaps(g);
    g->set = true;
}

/* How far what the head sees of layer l has moved, of how far the rows have: `apart` (NULL:
 * 0) until the layer last ran, and `moved` since. */
static double seen_length(const cbx_pass *p, int32_t l, const float *moved, const float *apart)
{
    double  sum = 0, squares = 0;
    int32_t rows = rows_shown(p, l);
    for (int32_t i = 0; i < rows; i++) {
        double length = moved[i] + (apart ? apart[i] : 0);
        sum += length;
        squares += length * length;
    }
    if (p->model->task != CBX_GRAPH || p->model->pool == CBX_POOL_SUM)
        return sum;
    return p->model->pool == CBX_POOL_MEAN ? sum / rows : sqrt(squares);
}

/* The lead that is left when what the head sees has moved as far as `seen` says. */
static double lead(const cbx_class_bound *g)
{
    const cbx_model *m = g->pass->model;
    int32_t          C = m->num_classes;
    double           least = INFINITY;
    for (int32_t c = 0; c < C; c++) {
        double left = (double)g->gap[c] - g->rounding;
        for (int32_t l = 0; l < m->num_layers; l++)
            left -= (double)g->pull[(int64_t)l * C + c] * g->seen[l];
        if (c != g->best && !(left >= least)) /* NaN is not known either */
            least = left;
    }
    return least;
}

static void bound_layer(cbx_class_bound *g, int32_t l)
{
    const cbx_pass  *p = g->pass;
    const cbx_layer *layer = &p->model->layers[l];
    cbx_block_bound_shift(layer, &p->steps[l],
                          &(cbx_shift_bound){.spectral_norm = g->spectral_norm + g->first[l],
                                             .size = g->size[l],
                                             .moved = g->moved[l],
                                             .then_value = g->then_value[l],
                                             .then_diag = g->then_diag[l],
                                             .out = g->moved[l + 1]});
}

/* A product of floats is that of an input which differs from the true one by no more than this
 * share of its length; and two such outputs are compared. Where a mean is far larger than the
 * deviations around it, that is much of what is left when it is taken off. */
static void measure_rounding(cbx_class_bound *g)
{
    const float      share = 2e-6f;
    const cbx_pass  *p = g->pass;
    const cbx_layer *first = &p->model->layers[0];
    const cbx_norm  *norm = &p->norms[first->ops->norm(first)];
    for (int32_t i = 0; i < p->steps[0].rows_in; i++)
        g->rounded_in[i] = share * (g->size[0][i] + g->moved[0][i]);
    cbx_block_bound_shift(first, &p->steps[0],
                          &(cbx_shift_bound){.spectral_norm = g->spectral_norm + g->first[0],
                                             .size = g->size[0],
                                             .moved = g->rounded_in,
                                             .then_value = norm->value,
                                             .then_diag = norm->diag,
                                             .out = g->rounded_out});
}

/* The lead that is left now that the first `fresh` layers have run. */
static double lead_after(cbx_class_bound *g, int32_t fresh)
{
    const cbx_pass *p = g->pass;
    int32_t         L = p->model->num_layers;
    if (g->rounded_out)
        measure_rounding(g);
    for (int32_t l = 0; l < L; l++) {
        int32_t rows = p->steps[l].rows_out;
        float  *moved = g->moved[l + 1];
        if (l < fresh)
            memset(moved, 0, (size_t)rows * sizeof *moved);
        else
            bound_layer(g, l);
        for (int32_t i = 0; l == 0 && g->rounded_out && i < rows; i++)
            moved[i] += g->rounded_out[i];
        g->seen[l] = 0;
        if (cbx_model_head_sees(p->model, l))
            g->seen[l] = (float)(ROUNDING * seen_length(p, l, moved, g->from_shown[l]));
        for (int32_t i = 0; i < rows; i++)
            moved[i] += g->from_read[l][i];
    }
    return lead(g);
}

void cbx_class_bound_start(cbx_class_bound *g, const cbx_matrix *X, const float *w)
{
    if (g->bounded) /* no pass followed: it was enough */
        g->failures = 0;
    g->bounded = false;
    cbx_pass_start(g->pass, X, w);
}

double cbx_class_bound_lower(cbx_class_bound *g)
{
    const int32_t patience = 6, rest = 6;
    if (!g->known || !g->set)
        return -1;
    if (g->costly && g->failures >= patience && g->rested < rest) {
        g->rested++;
        return -1;
    }
    g->rested = 0;
    g->bounded = true;
    return lead_after(g, 0);
}

/* What running layer l costs, more or less: a product that is known already costs nothing. */
static double cost_of(const cbx_pass *p, int32_t l)
{
    const cbx_layer *layer = &p->model->layers[l];
    return l == 0 && p->X.cache ? 0 : (double)p->steps[l].rows_out * layer->n_in * layer->n_out;
}

/* A pass that stops short leaves less of the lead for those to come. So the less there is to
 * save by stopping after layer l, the more should be left. */
static double least_left(const cbx_class_bound *g, int32_t l, double enough)
{
    const double worth = 1.2; /* as found by trying */
    double       all = 0, saved = 0;
    for (int32_t k = 0; k < g->pass->model->num_layers; k++) {
        all += cost_of(g->pass, k);
        saved += k > l ? cost_of(g->pass, k) : 0;
    }
    return fmax(0, 1 - worth * saved / all) * (g->narrowest - enough);
}

/* After layer l: is it time to ask whether the rest is needed? That takes a bound of every layer
 * to come, so of many layers not every one is a reason. */
static bool asks_after(int32_t l)
{
    return ((l + 1) & l) == 0; /* 0, 1, 3, 7, … */
}

bool cbx_class_bound_run_until_proved(cbx_class_bound *g, double enough)
{
    cbx_pass *p = g->pass;
    bool      ask = g->bounded && enough < INFINITY;
    g->bounded = false;
    for (int32_t l = 0; l < p->model->num_layers; l++) {
        cbx_pass_layer(p, l);
        if (!g->known)
            continue;
        note_run(g, l);
        if (!ask || l + 1 == p->model->num_layers)
            continue;
        measure_outputs(g, l); /* of every layer that ran: the head may see them all */
        if (asks_after(l) && lead_after(g, l + 1) > enough + least_left(g, l, enough)) {
            g->failures = 0;
            return false;
        }
    }
    cbx_pass_finish(p);
    g->failures += ask;
    if (g->known)
        note_pass(g);
    return true;
}

/* ---- slopes */

/* What the lead loses to any class when the inputs' rows move by `input` each and all
 * of the adjacency by `edges`. Linear in both, so it bounds each derivative. */
static double loss_for(cbx_class_bound *g, float input, float edges)
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
        cbx_block_bound_shift(layer, &p->steps[l],
                              &(cbx_shift_bound){.spectral_norm = g->spectral_norm + g->first[l],
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
            most += pull * seen_length(p, l, next, NULL);
        }
        float *other = moved;
        moved = next;
        next = other;
    }
    return most;
}

/* Without edge weights and loops a degree is at least 1, and no value of an adjacency
 * changes by more than an edge's weight does: dw, or through a degree -1/2 w d^3. */
double cbx_class_bound_slope(cbx_class_bound *g)
{
    if (!g->bounded || !g->plain)
        return INFINITY;
    return ROUNDING * fmax(loss_for(g, 1, 0), loss_for(g, 0, 1));
}
