/* SPDX-License-Identifier: Apache-2.0 */
/* pass.c: see pass.h. */
#include "pass.h"

#include <string.h>

#include "absent.h"
#include "error.h"
#include "head.h"
#include "rng.h"

static const cbx_layer *layer_at(const cbx_pass *p, int32_t l)
{
    return l == 0 && p->first ? p->first : &p->model->layers[l];
}

/* ---- memory */

/* From the head back: what layer l must compute is what layer l + 1 reads. */
static void plan_rows(cbx_pass *p)
{
    int32_t hop = 0;
    for (int32_t l = p->model->num_layers - 1; l >= 0; l--) {
        const cbx_layer *layer = &p->model->layers[l];
        cbx_step        *s = &p->steps[l];
        s->view = p->view;
        s->threads = p->threads;
        s->hop = hop;
        s->rows_out = cbx_view_rows(p->view, hop);
        hop += layer->ops->reach(layer);
        s->rows_in = cbx_view_rows(p->view, hop);
    }
}

static int make_norms(cbx_pass *p, cbx_arena *arena)
{
    for (int32_t l = 0; l < p->model->num_layers; l++)
        p->uses[p->model->layers[l].ops->norm(&p->model->layers[l])] = true;
    /* The first layer's rows contain those of all others. One of several hops
     * multiplies rows up to one hop short of its inputs. */
    const cbx_step *first = &p->steps[0];
    int32_t         reach = p->model->layers[0].ops->reach(&p->model->layers[0]);
    int32_t         rows = reach > 0 ? cbx_view_rows(p->view, first->hop + reach - 1) : 0;
    for (int k = 0; k < CBX_NORM_COUNT; k++)
        if (p->uses[k] && cbx_norm_init(&p->norms[k], (cbx_norm_kind)k, p->view, rows,
                                        first->rows_in, p->gradient, arena))
            return -1;
    return 0;
}

/* The adjacency must be there before sizes are asked for: the choice of order
 * in propagate.c looks at it. */
static void give_adjacency(cbx_pass *p)
{
    for (int32_t l = 0; l < p->model->num_layers; l++) {
        const cbx_layer *layer = &p->model->layers[l];
        p->steps[l].A = cbx_norm_adjacency(&p->norms[layer->ops->norm(layer)]);
    }
}

/* What a layer saves is for its backward; where there is none, layers take turns. */
static int share_saved(cbx_pass *p, size_t size, cbx_arena *arena)
{
    float *saved = CBX_NEW(arena, float, size);
    p->saved_size = size;
    for (int32_t l = 0; l < p->model->num_layers; l++)
        p->steps[l].saved = saved;
    return saved ? 0 : -1;
}

static int make_layers(cbx_pass *p, const cbx_matrix *X, cbx_arena *arena)
{
    size_t scratch = 0, widest = 0, most_saved = 0;
    p->X = *X;
    for (int32_t l = 0; l < p->model->num_layers; l++) {
        const cbx_layer *layer = &p->model->layers[l];
        cbx_step        *s = &p->steps[l];
        cbx_matrix       hidden = cbx_matrix_dense(s->rows_in, layer->n_in, p->unit); /* any */
        s->X = l == 0 ? &p->X : &hidden;
        size_t size = (size_t)s->rows_out * (size_t)layer->n_out;
        size_t tmp = layer->ops->scratch(layer, s), saved = cbx_block_saved(layer, s);
        p->out[l] = CBX_NEW(arena, float, size);
        s->saved = p->gradient ? CBX_NEW(arena, float, saved) : NULL;
        p->saved_size = l == 0 ? saved : p->saved_size;
        s->Y = p->out[l];
        if (!p->out[l] || (p->gradient && !s->saved))
            return -1;
        most_saved = saved > most_saved ? saved : most_saved;
        scratch = tmp > scratch ? tmp : scratch;
        widest = size > widest ? size : widest;
        s->X = NULL;
    }
    p->tmp_size = scratch;
    if (!p->gradient)
        return share_saved(p, most_saved, arena);
    float *tmp = CBX_NEW(arena, float, scratch);
    float *turns[2] = {CBX_NEW(arena, float, widest), CBX_NEW(arena, float, widest)};
    if (!tmp || !turns[0] || !turns[1])
        return -1;
    for (int32_t l = 0; l < p->model->num_layers; l++) {
        p->steps[l].tmp = tmp;
        p->dout[l] = turns[l & 1];
    }
    return 0;
}

static int make_head(cbx_pass *p, cbx_arena *arena)
{
    size_t rows = (size_t)p->rows_out, widest = 0;
    size_t hidden = rows * (size_t)p->model->head_hidden;
    p->logp = CBX_NEW(arena, float, rows *(size_t)p->model->num_classes);
    p->hidden = hidden ? CBX_NEW(arena, float, hidden) : NULL;
    if (!p->logp || (hidden && !p->hidden))
        return -1;
    for (int32_t l = 0; l < p->model->num_layers; l++) {
        size_t width = (size_t)p->model->layers[l].n_out;
        widest = width > widest ? width : widest;
        if (p->model->task != CBX_GRAPH || !cbx_model_head_sees(p->model, l))
            continue;
        p->pooled[l] = CBX_NEW(arena, float, rows *width);
        if (!p->pooled[l])
            return -1;
    }
    if (!p->gradient)
        return 0;
    p->scores_grad = CBX_NEW(arena, float, rows *(size_t)p->model->num_classes);
    p->pool_grad = CBX_NEW(arena, float, p->model->task == CBX_GRAPH ? rows * widest : 0);
    p->hidden_grad = hidden ? CBX_NEW(arena, float, hidden) : NULL;
    return p->scores_grad && p->pool_grad && !p->hidden == !p->hidden_grad ? 0 : -1;
}

/* For a model without layers: room for the answer, and what its oracle needs. */
static cbx_status open_oracle(cbx_pass *p, const cbx_matrix *X, cbx_arena *arena, cbx_error *err)
{
    const cbx_driver *o = p->model->oracle;
    p->logp = CBX_NEW0(arena, float, (size_t)p->rows_out *(size_t)p->model->num_classes);
    return p->logp ? o->open(o->model, p->view, X, p->gradient, arena, &p->run, err)
                   : cbx_fail_memory(err);
}

cbx_status cbx_pass_init(cbx_pass *p, const cbx_model *model, const cbx_view *view,
                         const cbx_matrix *X, bool gradient, int threads, cbx_arena *arena,
                         cbx_error *err)
{
    *p = (cbx_pass){.model = model, .view = view, .gradient = gradient, .threads = threads};
    p->rows_out = model->task == CBX_GRAPH ? view->num_graphs : cbx_view_rows(view, 0);
    p->steps = CBX_NEW0(arena, cbx_step, model->num_layers);
    p->out = CBX_NEW0(arena, float *, model->num_layers);
    p->dout = CBX_NEW0(arena, float *, model->num_layers);
    p->pooled = CBX_NEW0(arena, float *, model->num_layers);
    float *unit = CBX_NEW(arena, float, view->m);
    if (!p->steps || !p->out || !p->dout || !p->pooled || !unit)
        return cbx_fail_memory(err);
    for (int64_t e = 0; e < view->m; e++)
        unit[e] = view->weight ? view->weight[e] : 1;
    p->unit = unit;
    if (model->oracle)
        return open_oracle(p, X, arena, err);
    plan_rows(p);
    if (make_norms(p, arena))
        return cbx_fail_memory(err);
    give_adjacency(p);
    if (make_layers(p, X, arena) || make_head(p, arena))
        return cbx_fail_memory(err);
    return CBX_OK;
}

int cbx_pass_replace_first(cbx_pass *p, const cbx_layer *first, cbx_arena *arena)
{
    cbx_step  *s = &p->steps[0];
    cbx_matrix X = {.rows = s->rows_in, .cols = first->n_in, .dense = p->unit}; /* any */
    s->X = &X;
    /* Fewer columns can turn the order of products around, which takes other sizes. */
    size_t saved_size = cbx_block_saved(first, s), tmp_size = first->ops->scratch(first, s);
    float *saved = s->saved, *tmp = s->tmp;
    s->X = NULL;
    if (saved_size > p->saved_size)
        saved = CBX_NEW(arena, float, saved_size);
    if (p->gradient && tmp_size > p->tmp_size)
        tmp = CBX_NEW(arena, float, tmp_size);
    if (!saved || (p->gradient && !tmp))
        return -1;
    p->saved_size = saved_size > p->saved_size ? saved_size : p->saved_size;
    p->tmp_size = tmp_size > p->tmp_size ? tmp_size : p->tmp_size;
    s->saved = saved;
    for (int32_t l = 0; l < p->model->num_layers; l++)
        p->steps[l].tmp = tmp;
    p->first = first;
    return 0;
}

int32_t cbx_pass_input_rows(const cbx_pass *pass)
{
    return pass->run ? pass->view->n : pass->steps[0].rows_in;
}

/* ---- work */

void cbx_pass_start(cbx_pass *p, const cbx_matrix *X, const float *w)
{
    p->X = *X;
    p->w = w ? w : p->unit;
    p->kept = 1;
    for (int k = 0; k < CBX_NORM_COUNT; k++)
        if (p->uses[k])
            cbx_norm_forward(&p->norms[k], p->w);
    give_adjacency(p);
}

void cbx_pass_layer(cbx_pass *p, int32_t l)
{
    const cbx_layer *layer = layer_at(p, l);
    cbx_step        *s = &p->steps[l];
    cbx_matrix       hidden = {.rows = s->rows_in, .cols = layer->n_in};
    if (l > 0)
        hidden.dense = p->out[l - 1];
    s->X = l == 0 ? &p->X : &hidden;
    s->training = p->training;
    cbx_block_forward(layer, s);
    s->X = NULL;
    cbx_relu((int64_t)s->rows_out * layer->n_out, s->Y, p->threads);
}

static void finish(cbx_pass *p, double rate, uint64_t stream)
{
    if (p->run) {
        if (cbx_is_anyone_absent(p->view))
            cbx_forward_without_absent(p);
        else
            p->model->oracle->forward(p->run, &p->X, p->w, p->logp);
        return;
    }
    if (p->hidden)
        cbx_head_hidden(p);
    if (p->hidden && rate > 0)
        cbx_dropout(p->rows_out, p->model->head_hidden, rate, stream, p->hidden, p->threads);
    cbx_head_forward(p);
}

void cbx_pass_finish(cbx_pass *p)
{
    finish(p, 0, 0);
}

void cbx_pass_forward(cbx_pass *p, const cbx_matrix *X, const float *w, double rate,
                      uint64_t stream)
{
    cbx_pass_start(p, X, w);
    p->kept = 1 - rate;
    for (int32_t l = 0; l < p->model->num_layers; l++) {
        cbx_pass_layer(p, l);
        if (rate > 0)
            cbx_dropout(p->steps[l].rows_out, p->model->layers[l].n_out, rate,
                        cbx_mix64(stream + (uint64_t)l), p->out[l], p->threads);
    }
    finish(p, rate, cbx_mix64(stream + (uint64_t)p->model->num_layers));
}

void cbx_pass_observe(const cbx_pass *p, float *theta)
{
    for (int32_t l = 0; l < p->model->num_layers; l++) {
        const cbx_layer *layer = &p->model->layers[l];
        cbx_step         s = p->steps[l];
        cbx_matrix hidden = {.rows = s.rows_in, .cols = layer->n_in, .dense = p->unit}; /* any */
        s.X = l == 0 ? &p->X : &hidden;
        cbx_block_observe(layer, &s, theta + (layer->theta - p->model->theta));
    }
}

static void layer_backward(cbx_pass *p, int32_t l, float *dX, bool dw, float *dtheta)
{
    const cbx_layer *layer = layer_at(p, l);
    cbx_step        *s = &p->steps[l];
    cbx_norm        *norm = &p->norms[layer->ops->norm(layer)];
    cbx_matrix       hidden = {.rows = s->rows_in, .cols = layer->n_in};
    if (l > 0)
        hidden.dense = p->out[l - 1];
    s->X = l == 0 ? &p->X : &hidden;
    /* A dropped unit is 0, like one that relu cut, and passes nothing either. */
    cbx_relu_backward((int64_t)s->rows_out * layer->n_out, (float)(1 / p->kept), p->out[l],
                      p->dout[l], p->threads);
    if (p->slopes)
        memcpy(p->slopes[l], p->dout[l],
               (size_t)s->rows_out * (size_t)layer->n_out * sizeof(float));
    cbx_step_grad g = {.dY = p->dout[l],
                       .dX = l > 0 ? p->dout[l - 1] : dX,
                       .dvalue = dw ? norm->dvalue : NULL,
                       .ddiag = dw ? norm->ddiag : NULL,
                       .dtheta = dtheta ? dtheta + (layer->theta - p->model->theta) : NULL};
    cbx_block_backward(layer, s, &g);
    s->X = NULL;
}

void cbx_pass_backward(cbx_pass *p, const float *dlogp, float *dX, float *dw, float *dtheta)
{
    const cbx_model *m = p->model;
    if (p->run) {
        if (cbx_is_anyone_absent(p->view)) /* derivatives only rank: those with them will do */
            m->oracle->forward(p->run, &p->X, p->w, p->logp);
        m->oracle->backward(p->run, dlogp, dX, dw);
        if ((p->by_weight || p->by_attr) && m->oracle->backward_edges)
            m->oracle->backward_edges(p->run, p->by_weight, p->by_attr);
        return;
    }
    if (dw)
        for (int k = 0; k < CBX_NORM_COUNT; k++)
            if (p->uses[k])
                cbx_norm_clear(&p->norms[k]);
    cbx_head_scores_grad(p, dlogp, dtheta);
    if (p->leaving && p->view->n)
        memset(p->leaving, 0, (size_t)p->view->n * sizeof *p->leaving);
    for (int32_t l = m->num_layers - 1; l >= 0; l--) {
        if (l == m->num_layers - 1)
            memset(p->dout[l], 0,
                   (size_t)p->steps[l].rows_out * (size_t)m->layers[l].n_out * sizeof(float));
        if (cbx_model_head_sees(m, l))
            cbx_head_backward(p, l);
        layer_backward(p, l, dX, dw != NULL, dtheta);
    }
    if (!dw)
        return;
    memset(dw, 0, (size_t)p->view->m * sizeof *dw);
    for (int k = 0; k < CBX_NORM_COUNT; k++)
        if (p->uses[k])
            cbx_norm_backward(&p->norms[k], p->w, dw);
}
