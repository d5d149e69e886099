/* SPDX-License-Identifier: Apache-2.0 */
/* weigh_back.c: see weigh_back.h. */
#include "weigh_back.h"

#include <math.h>

#include "deadline.h"

/* Of what the data's weights, or values of an attribute, span: how near one is found. */
static const float SHARE = 0.005F;

/* Rounds over all edges at most: where one has gone back, another may go back as well. */
enum { ROUNDS = 6 };

/* Has the move a weight, or an attribute that is a number, which may go back? */
static bool has_value(const cbx_move *m)
{
    return m->kind == &cbx_move_set_edge || (m->kind == &cbx_move_set_attribute && m->other < 0);
}

static float value_before(const cbx_edit_state *W, const cbx_move *m)
{
    const cbx_view *v = W->s->view;
    int64_t         slot = W->slot_of[m->pair];
    return m->kind == &cbx_move_set_edge ? cbx_view_weight(v, slot)
                                         : cbx_view_attr(v, slot)[m->column];
}

static void set_value(cbx_edit_state *W, const cbx_move *m, float value)
{
    if (m->kind == &cbx_move_set_edge)
        cbx_edit_state_set_weight(W, m->pair, value);
    else
        cbx_edit_state_set_attr(W, m->pair, m->column, value);
}

/* Does the best flip with another value of its k-th move? Leaves the graph so. */
static cbx_status flips_at(cbx_beam *F, int64_t k, float value, bool *out, cbx_error *err)
{
    cbx_move *m = &F->best.moves[k];
    float     to = m->to;
    set_value(F->W, m, value);
    m->to = value;
    F->best.score = cbx_edit_state_ask(F->W);
    cbx_status status = cbx_beam_flips(F, &F->best, out, err);
    m->to = to;
    return status;
}

/* How near a value is found: the next one of whole numbers. */
static float near_enough(const cbx_edit_state *W, const cbx_move *m, bool *whole)
{
    const cbx_rules        *r = W->rules;
    const cbx_edge_columns *columns = r->attributes;
    *whole = m->kind == &cbx_move_set_attribute && columns->whole[m->column];
    if (m->kind == &cbx_move_set_edge)
        return SHARE * (r->weight_hi - r->weight_lo);
    return *whole ? 1 : SHARE * (columns->hi[m->column] - columns->lo[m->column]);
}

/* Between a value that flips and the one that it was, the last that flips. */
static cbx_status weigh_one(cbx_beam *F, int64_t k, cbx_error *err)
{
    cbx_move  *m = &F->best.moves[k];
    bool       whole;
    float      bad = value_before(F->W, m), enough = near_enough(F->W, m, &whole);
    cbx_status status = CBX_OK;
    while (fabsf(m->to - bad) > enough && !status && !cbx_time_is_up()) {
        bool  flips = false;
        float middle = bad + (m->to - bad) / 2;
        middle = whole ? rintf(middle) : middle;
        status = flips_at(F, k, middle, &flips, err);
        if (cbx_beam_out_of_time(F, F->s->epochs))
            break;
        if (flips)
            m->to = middle;
        else
            bad = middle;
    }
    m->taken_back = true;
    set_value(F->W, m, m->to);
    return status;
}

cbx_status cbx_weigh_back(cbx_beam *F, cbx_error *err)
{
    cbx_status status = CBX_OK;
    bool       any = false;
    for (int64_t k = 0; k < F->best.count; k++)
        any = any || has_value(&F->best.moves[k]);
    if (!any || F->best.count > CBX_BEAM_HUGE)
        return CBX_OK;
    cbx_beam_go_to(F, &F->best);
    for (int round = 0; round < ROUNDS && any; round++) {
        any = false;
        for (int64_t k = 0; k < F->best.count && !status && !cbx_time_is_up(); k++) {
            float before = F->best.moves[k].to;
            if (has_value(&F->best.moves[k]))
                status = weigh_one(F, k, err);
            any = any || F->best.moves[k].to != before;
        }
    }
    double score = cbx_edit_state_ask(F->W);
    F->best.score = isfinite(score) ? score : CBX_BEAM_SURE;
    cbx_move_set_copy(&F->here, &F->best); /* which is how the graph is */
    return cbx_search_status(status);
}
