/* SPDX-License-Identifier: Apache-2.0 */
/* from_combinex.c: see from_combinex.h. */
#include "from_combinex.h"

#include "deadline.h"
#include "error.h"
#include "explainers.h"
#include "polish.h"
#include "rank.h"
#include "verify.h"

/* The class that the edits lead to, and the edits in order of their influence on it. */
static cbx_status rank_for_their_class(cbx_search *s, cbx_error *err)
{
    float *logp = CBX_NEW(s->arena, float, s->model->num_classes);
    if (!logp)
        return cbx_fail_memory(err);
    cbx_status status =
        cbx_verify_edits(s->model, s->graph, s->row, s->edits, s->num_edits, logp, err);
    return status ? status : cbx_rank_edits(s, cbx_search_aim(s, logp), err);
}

/* As many of the edits, in their order, as it takes; reduced, and offered. */
static cbx_status take_first(cbx_fewest *F, const cbx_search *from, const cbx_places *places,
                             cbx_move_set *all, cbx_error *err)
{
    int64_t most = F->s->options->max_edits;
    cbx_fewest_go_to(F, all);
    for (int64_t k = 0, ask = 1; k < from->num_edits; k++) {
        bool     flipped = false;
        cbx_move m;
        if (cbx_moves_of_edit(F->W, &from->edits[k], places, &m) &&
            !cbx_forbidden_has(F->forbidden, &m)) {
            cbx_move_set_add(all, &m);
            cbx_move_do(F->W, &m);
            cbx_move_set_add(&F->here, &m);
        }
        if (all->count < ask && k + 1 < from->num_edits)
            continue;
        ask = all->count + 1 + all->count / 8; /* reducing makes up for steps that are too long */
        all->score = cbx_whatif_ask(F->W);
        cbx_status status = cbx_fewest_flips(F, all, &flipped, err);
        if (!status && flipped)
            status = cbx_polish_reduce(F, all, err);
        if (!status && flipped && (most == 0 || all->edits <= most))
            status = cbx_fewest_offer(F, all, err);
        if (status || flipped)
            return status;
    }
    return CBX_OK;
}

cbx_status cbx_from_combinex(cbx_fewest *F, const void *stretch, cbx_error *err)
{
    cbx_search search = *F->s;
    search.shared = stretch;
    search.found = false; /* that was an answer before this one */
    search.edits = NULL;
    search.num_edits = 0;
    search.keep = search.arena; /* its edits are only a beginning */
    cbx_places places;
    cbx_status status = cbx_explainer_combinex.search(&search, err);
    F->s->epochs = search.epochs;
    if (status || !search.found)
        return status;
    cbx_move_set all = {.moves = CBX_NEW(F->s->arena, cbx_move, search.num_edits)};
    if (!all.moves ||
        (search.num_edits > CBX_FEWEST_MOVES && cbx_fewest_make_room(F, search.num_edits)))
        return cbx_fail_memory(err);
    status = rank_for_their_class(&search, err);
    if (status)
        return status;
    if (cbx_places_init(&places, F->s->view))
        return cbx_fail_late(err);
    status = take_first(F, &search, &places, &all, err);
    cbx_places_free(&places);
    return status;
}
