/* SPDX-License-Identifier: Apache-2.0 */
/* infeasible.c: see infeasible.h. */
#include "infeasible.h"

#include <math.h>
#include <stdlib.h>

#include "bound_work.h"
#include "box_back.h"
#include "cells.h"
#include "class_bound.h"
#include "error.h"

static const double SHARE = 1, LEAST_WORK = 4e9;

/* Boxes of more numbers than this are not made: a proof that nobody asked for must not take the
 * memory that the answer needs. */
static const double MOST_NUMBERS = 1e8;

/* Where nothing that scores are made of is ever negative, a class that another outdoes in every
 * weight and in the bias is never the best. */
bool cbx_infeasible_class(const cbx_model *m, int32_t class)
{
    if (!m->head_sees_no_negatives)
        return false;
    int32_t      C = m->num_classes, units = cbx_model_output_in(m);
    const float *W = m->theta + m->output_offset, *b = W + (int64_t)units * C;
    for (int32_t c = 0; c < C; c++) {
        bool outdone = c != class && b[c] >= b[class] && (c < class || b[c] > b[class]);
        for (int32_t k = 0; k < units && outdone; k++)
            outdone = W[(int64_t)k * C + c] >= W[(int64_t)k * C + class];
        if (outdone)
            return true;
    }
    return false;
}

/* By feature: the most that the first layer stretches a move of it alone, as a share of
 * what it stretches any move by. */
static void measure_shares(const cbx_model *m, const float *spectral_norm, float *share)
{
    const cbx_layer *first = &m->layers[0];
    cbx_parameter    p;
    for (int32_t j = 0; j < first->n_in; j++)
        share[j] = 0;
    for (int32_t i = 0; cbx_block_parameter(first, i, &p); i++)
        for (int32_t j = 0; p.of_input && j < p.rows && spectral_norm[i] > 0; j++) {
            const float *row = m->theta + m->parameters[i].offset + (int64_t)j * p.cols;
            share[j] = fmaxf(share[j], cbx_length(p.cols, row) / spectral_norm[i]);
        }
}

static int descending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* How far a row can move with at most so many of its features changed, as the first layer
 * sees it: no further than each of them in turn. `moves`: f floats. */
static float farthest(const cbx_edit_state *W, int32_t row, int64_t edits, const float *share,
                      float *moves)
{
    const cbx_rules *r = W->rules;
    const float     *x = W->x0 + (int64_t)row * W->f;
    double           sum = 0, squares = 0;
    for (int32_t j = 0; j < W->f; j++) {
        float most = fmaxf(fabsf(r->hi[j] - x[j]), fabsf(x[j] - r->lo[j]));
        moves[j] = r->fixed[j] ? 0 : most * share[j];
        squares += r->fixed[j] ? 0 : (double)most * most;
    }
    if (edits > 0 && edits < W->f)
        qsort(moves, (size_t)W->f, sizeof *moves, descending);
    for (int32_t j = 0; j < W->f && (edits == 0 || j < edits); j++)
        sum += moves[j];
    return (float)(fmin(sum, sqrt(squares)) * 1.0001);
}

/* Everywhere that features can be: rows x f each. */
static void find_ranges(const cbx_edit_state *W, float *low, float *high)
{
    const cbx_rules *r = W->rules;
    for (int64_t at = 0; at < (int64_t)W->rows * W->f; at++) {
        int32_t j = (int32_t)(at % W->f);
        bool    free = W->allowed_row[at / W->f] && !r->fixed[j];
        low[at] = free ? fminf(r->lo[j], W->x0[at]) : W->x0[at];
        high[at] = free ? fmaxf(r->hi[j], W->x0[at]) : W->x0[at];
    }
}

static cbx_status find_removals(const cbx_search *s, const cbx_edit_state *W, cbx_partial_graph *g,
                                cbx_error *err)
{
    const cbx_view *v = s->view;
    cbx_status      status = cbx_partial_graph_init(g, v, NULL, W->pairs, v->m, s->arena, err);
    for (int64_t p = 0; p < W->pairs && !status; p++) {
        int64_t first = W->slots[W->slots_begin[p]];
        if (W->allowed_pair[p])
            cbx_partial_graph_add(g, W->slots + W->slots_begin[p],
                                  W->slots_begin[p + 1] - W->slots_begin[p], v->source[first],
                                  W->target_of[first], false);
    }
    g->budget = g->count;
    return status ? status : cbx_partial_graph_ready(g, s->arena, err);
}

static bool is_sought(const cbx_search *s, int32_t class)
{
    return class != s->prediction && (s->target < 0 || class == s->target);
}

/* What cells and going back may take together, in multiplications: so much of what the search took,
 * or about a second where that is more. */
static double most_work(const cbx_search *s, const cbx_edit_state *W, const cbx_box_question *q)
{
    cbx_bound_work work;
    if (cbx_bound_work_of(q->net, q->graph, s->arena, &work))
        return 0;
    return fmax(SHARE * (double)W->asked * work.pass, LEAST_WORK);
}

/* Is no class that is sought ever ahead? */
static bool none_leads(const cbx_search *s, const cbx_boxes *boxes, cbx_box_back *back)
{
    bool none = true;
    for (int32_t c = 0; c < s->model->num_classes && none; c++)
        none = !is_sought(s, c) || cbx_boxes_lead(boxes, c, s->prediction) < 0 ||
               (back && cbx_box_back_lead(back, c, s->prediction) < 0);
    return none;
}

/* The same by cells, where the model has few features. Takes off the work that it is. */
static cbx_status none_leads_in_cells(const cbx_search *s, cbx_boxes *boxes, double *work,
                                      bool *proved, cbx_error *err)
{
    uint8_t           *sought = CBX_NEW(s->arena, uint8_t, s->model->num_classes);
    cbx_cells_question q = {.sought = sought, .behind = s->prediction, .most_work = *work};
    bool               narrowed;
    if (!sought)
        return cbx_fail_memory(err);
    for (int32_t c = 0; c < s->model->num_classes; c++)
        sought[c] = is_sought(s, c);
    cbx_status status = cbx_cells_narrow(boxes, &q, s->arena, &narrowed, err);
    *work = fmax(0, *work - q.spent);
    *proved = !status && narrowed && none_leads(s, boxes, NULL);
    return status;
}

/* By boxes; where those do not tell, by what takes longer. */
static cbx_status cannot_lead_in(cbx_search *s, const cbx_edit_state *W, const cbx_box_question *q,
                                 bool *proved, cbx_error *err)
{
    cbx_boxes    boxes;
    cbx_box_back back;
    bool         known;
    if ((double)W->rows * (8.0 * q->net->widest + 2.0 * W->f) > MOST_NUMBERS)
        return CBX_OK;
    double     work = most_work(s, W, q);
    cbx_status status = cbx_boxes_init(&boxes, q, s->arena, &known, err);
    if (status || !known)
        return status;
    if (!cbx_boxes_compute(&boxes))
        return cbx_fail_late(err);
    *proved = none_leads(s, &boxes, NULL);
    if (!*proved)
        status = none_leads_in_cells(s, &boxes, &work, proved, err);
    if (status || *proved)
        return status;
    status = cbx_box_back_init(&back, &boxes, work, s->arena, &known, err);
    if (status || !known)
        return status;
    if (!cbx_box_back_narrow(&back))
        return cbx_fail_late(err);
    *proved = none_leads(s, &boxes, &back);
    return back.late ? cbx_fail_late(err) : CBX_OK;
}

/* Edges may go as well. */
static cbx_status cannot_lead(cbx_search *s, const cbx_edit_state *W, bool *proved, cbx_error *err)
{
    cbx_net          *net;
    cbx_partial_graph graph;
    size_t            size = (size_t)W->rows * (size_t)W->f;
    float            *low = CBX_NEW(s->arena, float, size), *high = CBX_NEW(s->arena, float, size);
    if (!low || !high)
        return cbx_fail_memory(err);
    cbx_status status = cbx_net_of(s->model, s->arena, &net, err);
    if (status || !net)
        return status;
    find_ranges(W, low, high);
    status = find_removals(s, W, &graph, err);
    cbx_box_question q = {.net = net, .graph = &graph, .low = low, .high = high};
    return status ? status : cannot_lead_in(s, W, &q, proved, err);
}

/* Where no edge may go: is the way that features can move too short? */
static cbx_status is_too_far(cbx_search *s, const cbx_edit_state *W, bool *proved, cbx_error *err)
{
    const cbx_minimal_shared *shared = s->shared;
    cbx_pass                  pass;
    cbx_class_bound           margin;
    cbx_matrix                X = cbx_matrix_dense(W->rows, W->f, W->x0);
    if (cbx_layer_entry(&s->model->layers[0]) < CBX_ENTRY_COLUMNS)
        return CBX_OK;
    cbx_status status = cbx_pass_init(&pass, s->model, s->view, &X, false, 1, s->arena, err);
    if (status)
        return status;
    float *moves = CBX_NEW(s->arena, float, W->f), *share = CBX_NEW(s->arena, float, W->f);
    if (!moves || !share ||
        cbx_class_bound_init(&margin, &pass, &X, shared->spectral_norm, s->arena))
        return cbx_fail_memory(err);
    measure_shares(s->model, shared->spectral_norm, share);
    cbx_class_bound_start(&margin, &X, NULL);
    (void)cbx_class_bound_run_until_proved(&margin, INFINITY);
    /* a group that points elsewhere is one edit of two features */
    int64_t features = s->options->max_edits * (W->rules->groups ? 2 : 1);
    for (int32_t i = 0; i < W->rows; i++)
        if (W->allowed_row[i])
            cbx_class_bound_moved(&margin)[i] += farthest(W, i, features, share, moves);
    cbx_class_bound_start(&margin, &X, NULL);
    *proved = cbx_class_bound_lower(&margin) > 0;
    return CBX_OK;
}

cbx_status cbx_infeasible(cbx_search *s, const cbx_edit_state *W, bool *proved, cbx_error *err)
{
    cbx_status status = CBX_OK;
    *proved = false;
    if (!W->exact || s->model->oracle || !cbx_moves_are_bounded_but_removals(W))
        return CBX_OK;
    if (!cbx_moves_are_unbounded(W))
        status = is_too_far(s, W, proved, err);
    return status || *proved ? status : cannot_lead(s, W, proved, err);
}
