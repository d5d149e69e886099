/* SPDX-License-Identifier: Apache-2.0 */
/* from_combinex.c: see from_combinex.h. */
#include "from_combinex.h"

#include "error.h"
#include "explainers.h"
#include "rank.h"
#include "take_first.h"
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

/* The edits as moves, those that there are. */
static cbx_status moves_of_edits(const cbx_beam *F, const cbx_search *from, cbx_move *moves,
                                 int64_t *count, cbx_error *err)
{
    cbx_places places;
    *count = 0;
    if (cbx_places_init(&places, F->s->view))
        return cbx_fail_late(err);
    for (int64_t k = 0; k < from->num_edits; k++)
        *count += cbx_moves_of_edit(F->W, &from->edits[k], &places, &moves[*count]);
    cbx_places_free(&places);
    return CBX_OK;
}

cbx_status cbx_from_combinex(cbx_beam *F, const void *spectral_norm, cbx_error *err)
{
    cbx_search search = *F->s;
    cbx_rules  rules = *search.rules;
    rules.edits &= ~(unsigned)CBX_EDITS_ADD; /* what is added is offered to the moves */
    search.rules = &rules;
    search.settings = cbx_explainer_settings(&cbx_explainer_combinex, search.options);
    search.shared = spectral_norm;
    search.found = false; /* that was an answer before this one */
    search.edits = NULL;
    search.num_edits = 0;
    search.keep = search.arena; /* its edits are only a beginning */
    cbx_status status = cbx_explainer_combinex.search(&search, err);
    F->s->epochs = search.epochs;
    if (status || !search.found)
        return status;
    cbx_move *moves = CBX_NEW(F->s->arena, cbx_move, search.num_edits);
    int64_t   count;
    if (!moves)
        return cbx_fail_memory(err);
    status = rank_for_their_class(&search, err);
    if (!status)
        status = moves_of_edits(F, &search, moves, &count, err);
    return status ? status : cbx_take_first(F, moves, count, err);
}
