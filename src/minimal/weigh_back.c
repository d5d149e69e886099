/* SPDX-License-Identifier: Apache-2.0 */
/* weigh_back.c: see weigh_back.h. */
#include "weigh_back.h"

#include <math.h>

#include "deadline.h"

/* Of what the data's weights span: how near a weight is found. */
static const float SHARE = 0.005F;

/* Rounds over all edges: one that goes back may keep another from it, and not the other way round.
 */
enum { ROUNDS = 2 };

static float weight_of(const cbx_edit_state *W, int64_t pair)
{
    const cbx_view *v = W->s->view;
    return v->weight ? v->weight[W->slot_of[pair]] : 1;
}

/* Does the best flip with another weight of its k-th move? Leaves the graph so. */
static cbx_status flips_at(cbx_beam *F, int64_t k, float weight, bool *out, cbx_error *err)
{
    cbx_move *m = &F->best.moves[k];
    float     to = m->to;
    cbx_edit_state_set_weight(F->W, m->pair, weight);
    m->to = weight;
    F->best.score = cbx_edit_state_ask(F->W);
    cbx_status status = cbx_beam_flips(F, &F->best, out, err);
    m->to = to;
    return status;
}

/* Between a weight that flips and the one that it was, the last that flips. */
static cbx_status weigh_one(cbx_beam *F, int64_t k, cbx_error *err)
{
    cbx_move  *m = &F->best.moves[k];
    float      bad = weight_of(F->W, m->pair);
    float      enough = SHARE * (F->W->rules->weight_hi - F->W->rules->weight_lo);
    cbx_status status = CBX_OK;
    while (fabsf(m->to - bad) > enough && !status && !cbx_time_is_up()) {
        bool  flips = false;
        float middle = bad + (m->to - bad) / 2;
        status = flips_at(F, k, middle, &flips, err);
        if (cbx_beam_out_of_time(F, F->s->epochs))
            break;
        if (flips)
            m->to = middle;
        else
            bad = middle;
    }
    m->taken_back = true;
    cbx_edit_state_set_weight(F->W, m->pair, m->to);
    return status;
}

cbx_status cbx_weigh_back(cbx_beam *F, cbx_error *err)
{
    cbx_status status = CBX_OK;
    bool       any = false;
    for (int64_t k = 0; k < F->best.count; k++)
        any = any || F->best.moves[k].kind == &cbx_move_set_edge;
    if (!any || F->best.count > CBX_BEAM_HUGE)
        return CBX_OK;
    cbx_beam_go_to(F, &F->best);
    for (int round = 0; round < ROUNDS; round++)
        for (int64_t k = 0; k < F->best.count && !status && !cbx_time_is_up(); k++)
            if (F->best.moves[k].kind == &cbx_move_set_edge)
                status = weigh_one(F, k, err);
    double score = cbx_edit_state_ask(F->W);
    F->best.score = isfinite(score) ? score : CBX_BEAM_SURE;
    cbx_move_set_copy(&F->here, &F->best); /* which is how the graph is */
    return cbx_search_status(status);
}
