/* SPDX-License-Identifier: Apache-2.0 */
/* promise.c: see promise.h. */
#include "promise.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"

/* Of more rows nothing is worked out: they are far away, and count little. */
enum { MOST_ROWS = 4096 };

static int make_room(cbx_promise *P, const cbx_pass *pass, float **slopes, cbx_arena *arena,
                     cbx_arena *work)
{
    const cbx_model *m = P->s->model;
    P->known = CBX_NEW(arena, int32_t, m->num_layers);
    P->pull = CBX_NEW(arena, float *, m->num_layers);
    P->norm = CBX_NEW(arena, cbx_norm_kind, m->num_layers);
    P->crowd = CBX_NEW0(arena, float, P->rows);
    P->count = CBX_NEW0(arena, float, P->rows);
    P->less = m->mean ? CBX_NEW0(arena, double, P->rows) : NULL;
    if (!P->known || !P->pull || !P->norm || !P->crowd || !P->count || (m->mean && !P->less))
        return -1;
    for (int32_t l = 0; l < m->num_layers; l++) {
        const cbx_layer *layer = &m->layers[l];
        int32_t          rows = pass->steps[l].rows_out;
        P->known[l] = rows < P->rows ? rows : P->rows;
        P->norm[l] = layer->ops->norm(layer);
        P->pull[l] = CBX_NEW(arena, float, (size_t)P->known[l] * (size_t)layer->n_in);
        slopes[l] = CBX_NEW(work, float, (size_t)rows *(size_t)layer->n_out);
        if (!P->pull[l] || !slopes[l])
            return -1;
    }
    return 0;
}

/* pull = N slope, row by row */
static void multiply_back(cbx_promise *P, int32_t l, const float *slope)
{
    const cbx_layer *layer = &P->s->model->layers[l];
    const double    *N = P->inputs->neighbour[l];
    for (int32_t i = 0; i < P->known[l]; i++) {
        const float *g = slope + (int64_t)i * layer->n_out;
        float       *to = P->pull[l] + (int64_t)i * layer->n_in;
        if (cbx_out_of_time((double)layer->n_in * layer->n_out))
            return;
        for (int32_t k = 0; k < layer->n_in; k++) {
            double sum = 0;
            for (int32_t j = 0; j < layer->n_out; j++)
                sum += N[(int64_t)k * layer->n_out + j] * g[j];
            to[k] = (float)sum;
            if (l == 0 && P->less)
                P->less[i] += sum * (double)P->s->model->mean[k];
        }
    }
}

/* What an edge more takes from those that are there. A mean is over one more; GCN's degree grows.
 */
static void measure_crowds(cbx_promise *P, const cbx_pass *pass, const float *dw)
{
    const cbx_view *v = P->s->view;
    const cbx_norm *gcn = &pass->norms[CBX_NORM_GCN];
    for (int32_t i = 0; i < P->rows; i++) {
        double sum = 0;
        P->count[i] = v->outside_count ? v->outside_count[i] : 0;
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
            sum += (double)dw[e] * pass->unit[e];
            P->count[i] += 1;
        }
        if (pass->uses[CBX_NORM_MEAN])
            P->crowd[i] -= (float)(sum / ((double)P->count[i] + 1));
        if (pass->uses[CBX_NORM_GCN] && i < gcn->inputs)
            P->crowd[i] += (float)(P->weight * gcn->droot[i]);
        if (cbx_out_of_time((double)P->count[i]))
            return;
    }
}

static cbx_status ask(cbx_promise *P, cbx_arena *arena, cbx_arena *work, cbx_error *err)
{
    const cbx_search *s = P->s;
    int32_t           C = s->model->num_classes;
    float           **slopes = CBX_NEW(work, float *, s->model->num_layers);
    float            *dw = CBX_NEW(work, float, s->view->m), *dlogp = CBX_NEW0(work, float, C);
    cbx_pass          pass;
    if (!slopes || !dw || !dlogp)
        return cbx_fail_memory(err);
    cbx_status status = cbx_pass_init(&pass, s->model, s->view, &s->X, true, 1, work, err);
    if (status)
        return status;
    int32_t rows = cbx_pass_input_rows(&pass);
    P->rows = rows < MOST_ROWS ? rows : MOST_ROWS;
    if (make_room(P, &pass, slopes, arena, work))
        return cbx_fail_memory(err);
    pass.slopes = slopes;
    cbx_pass_forward(&pass, &s->X, NULL, 0, 0);
    int32_t aim = cbx_search_aim(s, pass.logp);
    dlogp[s->target >= 0 ? cbx_best_class(pass.logp, C, aim) : s->prediction] = -1;
    dlogp[aim] = 1;
    cbx_pass_backward(&pass, dlogp, NULL, dw, NULL);
    for (int32_t l = 0; l < s->model->num_layers; l++)
        multiply_back(P, l, slopes[l]);
    measure_crowds(P, &pass, dw);
    return cbx_time_is_up() ? cbx_fail_late(err) : CBX_OK;
}

cbx_status cbx_promise_init(cbx_promise *P, const cbx_search *s, double weight, cbx_arena *arena,
                            cbx_error *err)
{
    cbx_arena work = {0};
    *P = (cbx_promise){.s = s,
                       .inputs = s->inputs,
                       .directed = s->options->edges != CBX_EDGES_UNDIRECTED,
                       .weight = weight};
    cbx_status status = ask(P, arena, &work, err);
    cbx_arena_free(&work);
    return status;
}

/* What GCN scales a node by once it has an edge more. */
static double scale_with(const cbx_promise *P, int32_t node, double more)
{
    double root = P->inputs->root[node];
    double degree = (root > 0 ? 1 / (root * root) : 0) + more;
    return degree > 0 ? 1 / sqrt(degree) : 0;
}

double cbx_promise_into(const cbx_promise *P, int32_t row, int32_t node, int32_t from)
{
    double sum = 0;
    for (int32_t l = 0; l < P->s->model->num_layers; l++) {
        if (row >= P->known[l])
            continue;
        int32_t wide = P->s->model->layers[l].n_in;
        double  dot = cbx_layer_inputs_dot(P->inputs, l, from, P->pull[l] + (int64_t)row * wide);
        double  term = P->weight * (dot - (l == 0 && P->less ? P->less[row] : 0));
        if (P->norm[l] == CBX_NORM_GCN)
            term *=
                scale_with(P, node, P->weight) * scale_with(P, from, P->directed ? 0 : P->weight);
        else if (P->norm[l] == CBX_NORM_MEAN)
            term /= (double)P->count[row] + 1;
        sum += term;
    }
    return row < P->rows ? sum + P->crowd[row] : 0;
}
