/* SPDX-License-Identifier: Apache-2.0 */
/* certify.c: see certify.h. */
#include "certify.h"

#include <string.h>

#include "deadline.h"
#include "error.h"
#include "verify.h"

/* Does the whole graph say so of these edits, but for those from `begin` to `end`? `rest`:
 * memory for them. */
static cbx_status reaches_without(const cbx_beam *F, const cbx_edit *edits, int64_t count,
                                  int64_t begin, int64_t end, cbx_edit *rest, bool *out,
                                  cbx_error *err)
{
    const cbx_search *s = F->s;
    float            *logp = CBX_NEW(s->arena, float, s->model->num_classes);
    if (!logp)
        return cbx_fail_memory(err);
    memcpy(rest, edits, (size_t)begin * sizeof *rest);
    memcpy(rest + begin, edits + end, (size_t)(count - end) * sizeof *rest);
    cbx_status status =
        cbx_verify_edits(s->model, s->graph, s->row, rest, count - (end - begin), logp, err);
    *out = !status && cbx_is_flip(logp, s->model->num_classes, s->prediction, s->target,
                                  s->options->stopping_threshold);
    return status;
}

cbx_status cbx_certify(cbx_beam *F, bool *irreducible, cbx_error *err)
{
    *irreducible = false;
    if (F->best.count > CBX_BEAM_HUGE)
        return CBX_OK;
    cbx_edit *edits = CBX_NEW(F->s->arena, cbx_edit, 2 * CBX_MOVE_EDITS * F->best.count);
    if (!edits)
        return cbx_fail_memory(err);
    cbx_edit *rest = edits + CBX_MOVE_EDITS * F->best.count;
    int64_t   k = F->best.count - 1, needed = 0;
    while (needed < F->best.count) {
        int64_t    count = cbx_moves_edits(F->W, F->best.moves, F->best.count, edits), at = 0;
        bool       reaches = false;
        cbx_status status = CBX_OK;
        for (int64_t before = 0; before < k; before++)
            at += F->best.moves[before].kind->edits;
        if (F->best.count > 1)
            status = reaches_without(F, edits, count, at, at + F->best.moves[k].kind->edits, rest,
                                     &reaches, err);
        if (status || cbx_beam_out_of_time(F, F->s->epochs))
            return cbx_search_status(status);
        needed = reaches ? 0 : needed + 1;
        if (reaches)
            cbx_move_set_take_out(&F->best, k);
        k = k > 0 ? k - 1 : F->best.count - 1;
    }
    *irreducible = true;
    return CBX_OK;
}
