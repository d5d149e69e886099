/* SPDX-License-Identifier: Apache-2.0 */
/* take_first.c: see take_first.h. */
#include "take_first.h"

#include "error.h"
#include "polish.h"

cbx_status cbx_take_first(cbx_beam *F, const cbx_move *moves, int64_t count, cbx_error *err)
{
    int64_t      most = F->s->options->max_edits;
    cbx_move_set all = {.moves = CBX_NEW(F->s->arena, cbx_move, count)};
    if (!all.moves || (count > CBX_BEAM_MOVES && cbx_beam_make_room(F, count)))
        return cbx_fail_memory(err);
    cbx_beam_go_to(F, &all);
    for (int64_t k = 0, ask = 1; k < count; k++) {
        bool flipped = false;
        if (cbx_move_may(F->W, &moves[k]) && !cbx_forbidden_has(F->forbidden, &moves[k])) {
            cbx_move_set_add(&all, &moves[k]);
            cbx_move_do(F->W, &moves[k]);
            cbx_move_set_add(&F->here, &moves[k]);
        }
        if (all.count < ask && k + 1 < count)
            continue;
        ask = all.count + 1 + all.count / 8; /* reducing makes up for steps that are too long */
        all.score = cbx_edit_state_ask(F->W);
        cbx_beam_note_lead(F, all.score);
        cbx_status status = cbx_beam_flips(F, &all, &flipped, err);
        if (!status && flipped)
            status = cbx_polish_reduce(F, &all, err);
        if (!status && flipped && (most == 0 || all.count <= most))
            status = cbx_beam_offer(F, &all, err);
        if (status || flipped)
            return status;
    }
    return CBX_OK;
}
