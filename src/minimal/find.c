/* SPDX-License-Identifier: Apache-2.0 */
/* find.c: see find.h. */
#include "find.h"

#include <math.h>

#include "certify.h"
#include "climb.h"
#include "deadline.h"
#include "error.h"
#include "from_combinex.h"
#include "nearer.h"
#include "polish.h"
#include "shortest.h"
#include "take_back.h"
#include "weigh_back.h"

/* Time that is kept from polishing: that each edit is needed is worth more to know than that
 * there may be an answer with one less. Returns whether polishing was ended by it. */
static bool polish_some(cbx_beam *F, cbx_status *status, cbx_error *err)
{
    cbx_deadline *d = F->s->deadline;
    if (d)
        cbx_deadline_hold(d, 1.0 / 3);
    *status = cbx_polish(F, err);
    return d && cbx_deadline_release(d);
}

/* COMBINEX and a climb descend along derivatives; differences of answers are none. */
static bool may_descend(const cbx_search *s)
{
    return !s->model->oracle || !s->model->oracle->estimates;
}

/* Further kinds of edit are what COMBINEX and a climb know nothing of. A search with some comes
 * after one that tried both. */
static bool is_wider(const cbx_search *s)
{
    return s->further != 0;
}

/* A climb makes many changes; and a further answer is another way, not a long way round. */
static bool may_climb(const cbx_search *s, const cbx_forbidden *forbidden)
{
    return !cbx_rules_limit_numbers(s->rules) && forbidden->count == 0;
}

/* Builds up a first answer, within what the state lets features do. */
static cbx_status build_up(cbx_beam *F, cbx_error *err)
{
    cbx_status status = CBX_OK;
    for (int64_t effort = 1; effort <= F->effort && !status; effort *= CBX_BEAM_EFFORT)
        if (!F->best.count && !cbx_time_is_up())
            status = cbx_beam_build_up(F, effort, err);
    return status;
}

/* Without limits on values, and kept only if it takes less than what was found within them. */
static cbx_status build_up_unusual(cbx_beam *F, cbx_error *err)
{
    cbx_move_set usual = {.moves = CBX_NEW(F->s->arena, cbx_move, F->best.count)};
    if (!usual.moves)
        return cbx_fail_memory(err);
    cbx_move_set_copy(&usual, &F->best);
    cbx_edit_state_stay_usual(F->W, false);
    cbx_beam_go_to(F, &(cbx_move_set){.moves = F->sets[0][0].moves});
    cbx_status status = usual.count ? cbx_beam_build_up(F, 1, err) : build_up(F, err);
    if (!status && F->best.count && !cbx_time_is_up())
        status = cbx_polish_reduce(F, &F->best, err);
    if (usual.count && !(F->best.cost < usual.cost)) {
        cbx_move_set_copy(&F->best, &usual);
        cbx_edit_state_stay_usual(F->W, true);
    }
    return status;
}

/* What flips is too unusual, perhaps: again with values that go less and less far. */
static cbx_status build_up_near(cbx_beam *F, cbx_error *err)
{
    static const float reach[] = {4, 2, 1, 0.5F};
    cbx_status         status = CBX_OK;
    for (size_t i = 0; i < sizeof reach / sizeof *reach && !status && !F->best.count; i++) {
        F->W->reach = reach[i];
        cbx_beam_go_to(F, &(cbx_move_set){.moves = F->sets[0][0].moves});
        if (!cbx_time_is_up())
            status = build_up(F, err);
    }
    F->W->reach = INFINITY;
    return status;
}

/* To usual values first; to others where that takes fewer edits, or nothing else does. */
static cbx_status build_up_usual(cbx_beam *F, cbx_error *err)
{
    if (!F->W->rules->columns)
        return build_up(F, err);
    cbx_edit_state_stay_usual(F->W, true);
    cbx_status status = build_up(F, err);
    if (!status && F->best.count && !cbx_time_is_up())
        status = cbx_polish_reduce(F, &F->best, err);
    if (status || F->best.count == 1 || cbx_time_is_up())
        return status;
    return build_up_unusual(F, err);
}

/* Does no feature change? Then there are few enough single moves to try them all. */
static bool has_only_edges(const cbx_edit_state *W)
{
    for (int32_t j = 0; j < W->f; j++)
        if (!W->rules->fixed[j])
            return false;
    return true;
}

/* Derivatives at the factual graph lead astray where one move does it all the same. What an edge
 * does that is not there yet, or a graph without a node, they know least. */
static cbx_status try_single_moves(cbx_beam *F, cbx_error *err)
{
    static const struct {
        unsigned             bit;
        const cbx_move_kind *kind;
    } further[] = {{CBX_EDITS_ADD, &cbx_move_add_edge},
                   {CBX_EDITS_REMOVE_NODES, &cbx_move_remove_node},
                   {CBX_EDITS_WEIGHTS, &cbx_move_set_edge},
                   {CBX_EDITS_ATTRIBUTES, &cbx_move_set_attribute},
                   {CBX_EDITS_ADD_NODES, &cbx_move_add_node}};
    cbx_status status = CBX_OK;
    if (!F->best.count)
        return cbx_beam_try_each(F, NULL, err);
    if (!is_wider(F->s) && F->best.count > 1 && has_only_edges(F->W))
        status = cbx_beam_try_each(F, &cbx_move_remove_edge, err);
    for (size_t i = 0; i < sizeof further / sizeof *further && !status; i++)
        if ((F->s->further & further[i].bit) && F->best.count > 1 && !cbx_time_is_up())
            status = cbx_beam_try_each(F, further[i].kind, err);
    return status;
}

/* Looks for a first answer. */
static cbx_status look(cbx_beam *F, cbx_error *err)
{
    cbx_search               *s = F->s;
    const cbx_minimal_shared *shared = s->shared;
    const bool                descends = may_descend(s) && !is_wider(s) && cbx_moves_any(F->W);
    cbx_status                status = build_up_usual(F, err);
    if (!status && !F->best.count && F->W->rules->columns && F->W->rules->most_unusual > 0)
        status = build_up_near(F, err);
    if (!status && s->target == CBX_TARGET_ANY && F->best.count > CBX_BEAM_LARGE)
        status = cbx_beam_build_for_each_class(F, err);
    if (!status && descends && !cbx_time_is_up() &&
        (!F->best.count || cbx_minimal_of(s)->start == CBX_START_BOTH))
        status = cbx_search_status(cbx_from_combinex(F, shared->spectral_norm, err));
    if (!status && descends && !F->best.count && may_climb(s, F->forbidden) && !cbx_time_is_up())
        status = cbx_search_status(cbx_climb(F, err));
    if (!status && !cbx_time_is_up())
        status = try_single_moves(F, err);
    return status;
}

/* What is known of the best becomes the answer; no move is made any more. */
static void hand_over(cbx_beam *F, cbx_minimal *out)
{
    out->moves = F->best.moves;
    out->count = F->best.count;
    out->cost = F->best.count ? F->best.cost : INFINITY;
    cbx_beam_go_to(F, &(cbx_move_set){.moves = F->sets[0][0].moves});
    cbx_edit_state_stay_usual(F->W, false);
}

/* The move of another state's, on this one's factual graph; false: there is none. */
static bool carry_over(const cbx_edit_state *from, const cbx_move *m, const cbx_edit_state *W,
                       const cbx_places *places, cbx_move *out)
{
    cbx_edit edits[CBX_MOVE_EDITS];
    *out = *m;
    if (m->kind->site != CBX_AT_ENTRIES) {
        (void)cbx_moves_edits(from, m, 1, edits);
        return cbx_moves_of_edit(W, edits, places, out);
    }
    out->row = cbx_places_find(places, cbx_edit_state_node(from, m->row));
    return out->row >= 0 && out->row < W->rows;
}

/* Offers an answer that another state has. */
static cbx_status offer_start(cbx_beam *F, const cbx_minimal *start, cbx_error *err)
{
    cbx_places places;
    bool       all = true;
    if ((start->count > CBX_BEAM_MOVES && cbx_beam_make_room(F, start->count)) ||
        cbx_places_init(&places, F->s->view))
        return cbx_fail_late(err);
    F->work.count = 0;
    F->work.cost = 0;
    for (int64_t k = 0; k < start->count && all; k++) {
        cbx_move m;
        all = carry_over(start->state, &start->moves[k], F->W, &places, &m);
        if (all)
            cbx_move_set_add(&F->work, &m);
    }
    cbx_places_free(&places);
    if (!all)
        return CBX_OK;
    cbx_beam_go_to(F, &F->work);
    F->work.score = cbx_edit_state_ask(F->W);
    return cbx_time_is_up() ? CBX_OK : cbx_beam_offer(F, &F->work, err);
}

cbx_status cbx_find(cbx_search *s, const cbx_forbidden *forbidden, cbx_minimal *out, cbx_error *err)
{
    return cbx_find_from(s, forbidden, NULL, out, err);
}

cbx_status cbx_find_from(cbx_search *s, const cbx_forbidden *forbidden, const cbx_minimal *start,
                         cbx_minimal *out, cbx_error *err)
{
    const cbx_minimal_shared *shared = s->shared;
    cbx_beam                  F;
    *out = (cbx_minimal){.state = CBX_NEW(s->arena, cbx_edit_state, 1)};
    if (!out->state)
        return cbx_fail_memory(err);
    cbx_status status = cbx_edit_state_init(out->state, s, &shared->rules, err);
    if (status)
        return cbx_search_status(status);
    if (cbx_beam_init(&F, s, out->state, forbidden))
        return cbx_fail_memory(err);
    bool begins = start && start->count;
    F.effort = begins ? 1 : CBX_BEAM_EFFORT;
    status = look(&F, err);
    if (!status && begins && !cbx_time_is_up())
        status = offer_start(&F, start, err);
    if (!status && F.best.count && !cbx_time_is_up())
        s->late = polish_some(&F, &status, err);
    if (!status && F.best.count && !cbx_time_is_up())
        status = cbx_take_back(&F, err);
    if (!status && F.best.count && !cbx_time_is_up())
        status = cbx_shortest_choose(&F, err);
    if (!status && F.best.count && !cbx_time_is_up())
        status = cbx_nearer(&F, err);
    if (!status && F.best.count && !cbx_time_is_up())
        status = cbx_weigh_back(&F, err);
    if (!status && F.best.count && !cbx_time_is_up())
        status = cbx_certify(&F, &out->irreducible, err);
    if (!status)
        hand_over(&F, out);
    return status;
}

cbx_status cbx_find_settle(cbx_search *s, cbx_minimal *found, cbx_error *err)
{
    const cbx_forbidden none = {0};
    cbx_beam            F;
    if (cbx_beam_init(&F, s, found->state, &none))
        return cbx_fail_memory(err);
    for (int64_t k = 0; k < found->count; k++)
        cbx_move_set_add(&F.best, &found->moves[k]);
    F.best.cost = found->cost;
    found->irreducible = false;
    cbx_status status = cbx_take_back(&F, err);
    if (!status && !cbx_time_is_up())
        status = cbx_certify(&F, &found->irreducible, err);
    if (!status)
        hand_over(&F, found);
    return status;
}
