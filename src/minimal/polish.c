/* SPDX-License-Identifier: Apache-2.0 */
/* polish.c: see polish.h. */
#include "polish.h"

#include "deadline.h"
#include "error.h"
#include "rng.h"

/* The moves from begin to end taken back, if what is left flips without them. */
static cbx_status without(cbx_beam *F, cbx_move_set *s, int64_t begin, int64_t end, bool *flipped,
                          cbx_error *err)
{
    cbx_status status = CBX_OK;
    for (int64_t k = end - 1; k >= begin; k--)
        cbx_move_undo(F->W, &s->moves[k]);
    double score = cbx_edit_state_ask(F->W);
    *flipped = score > CBX_BEAM_SURE; /* else there is nothing to copy, of many moves each time */
    if (*flipped) {
        cbx_move_set_copy(&F->work, s);
        cbx_move_set_take_out_range(&F->work, begin, end);
        F->work.score = score;
        status = cbx_beam_flips(F, &F->work, flipped, err);
    }
    for (int64_t k = begin; k < end && !*flipped; k++)
        cbx_move_do(F->W, &s->moves[k]);
    if (*flipped) {
        cbx_move_set_copy(s, &F->work);
        cbx_move_set_copy(&F->here, &F->work);
    }
    return status;
}

cbx_status cbx_polish_reduce(cbx_beam *F, cbx_move_set *s, cbx_error *err)
{
    /* Above FEW, halves, quarters and so on are tried before single moves; of huge sets no parts
     * smaller than a SHARE-th. */
    enum { FEW = 16, SHARE = 64 };
    cbx_beam_go_to(F, s);
    cbx_move_set_copy(&F->here, s); /* in this order */
    for (int64_t part = s->count > FEW ? s->count / 2 : 1; part > 0;) {
        bool taken = false;
        for (int64_t end = s->count; end > 0 && s->count > 1; end -= part) {
            bool       flipped = false;
            int64_t    begin = end > part ? end - part : 0;
            cbx_status status =
                without(F, s, begin + (end - begin == s->count), end, &flipped, err);
            if (status || cbx_beam_out_of_time(F, F->s->epochs))
                return status;
            taken = taken || flipped;
        }
        part = part == 1 && taken ? 1 : part / 2;
        if (s->count > CBX_BEAM_HUGE && part < s->count / SHARE)
            break;
    }
    return CBX_OK;
}

/* Two moves back, one other forward. */
static cbx_status swap(cbx_beam *F, cbx_error *err)
{
    double       before = F->best.cost;
    cbx_move_set base = {.moves = F->sets[0][0].moves};
    cbx_move_set_copy(&base, &F->best);
    for (int64_t a = 0; a < base.count && base.count > 2; a++)
        for (int64_t b = 0; b < a; b++) {
            cbx_move_set rest = {.moves = F->sets[0][1].moves};
            cbx_move_set_copy(&rest, &base);
            cbx_move_set_take_out(&rest, a);
            cbx_move_set_take_out(&rest, b);
            cbx_status status =
                cbx_beam_expand(F, &rest, 2 * cbx_minimal_of(F->s)->candidates, NULL, NULL, 0, err);
            if (status || cbx_beam_out_of_time(F, F->s->epochs) || F->best.cost < before)
                return status;
        }
    return CBX_OK;
}

/* Some moves back, at random, and others forward, the best one at a time. */
static cbx_status rebuild(cbx_beam *F, cbx_rng *rng, cbx_error *err)
{
    double       before = F->best.cost;
    cbx_move_set now = {.moves = F->sets[0][0].moves};
    cbx_move_set_copy(&now, &F->best);
    uint64_t half = (uint64_t)(now.count + 1) / 2;
    for (int64_t back = 1 + (int64_t)cbx_rng_below(rng, half < 8 ? half : 8); back >= 0; back--)
        if (now.count > 0)
            cbx_move_set_take_out(&now, (int64_t)cbx_rng_below(rng, (uint64_t)now.count));
    while (now.cost + F->cheapest <= before) {
        int64_t    count = 0;
        cbx_status status = cbx_beam_expand(F, &now, cbx_minimal_of(F->s)->candidates / 2 + 1,
                                            F->sets[1], &count, 1, err);
        if (status || count == 0 || F->best.cost < before || cbx_beam_out_of_time(F, F->s->epochs))
            return status;
        cbx_move_set_copy(&now, &F->sets[1][0]);
    }
    return CBX_OK;
}

/* Moves of an answer: up to SWAP_MOST, pairs of them are looked at; a large one
 * is built anew in parts. On smaller ones, which the width of the search and the swaps have
 * covered well, that costs twice the time for one edit in a hundred. */
enum { SWAP_MOST = 12 };

cbx_status cbx_polish(cbx_beam *F, cbx_error *err)
{
    const cbx_minimal_options *o = cbx_minimal_of(F->s);
    cbx_rng rng = cbx_rng_stream((uint64_t)F->s->options->seed, 0x706f6c, (uint64_t)F->s->row, 0);
    double  before;
    cbx_status status;
    do {
        status = cbx_polish_reduce(F, &F->best, err);
        before = F->best.cost;
        if (!status && F->best.count <= SWAP_MOST && !cbx_time_is_up())
            status = swap(F, err);
        for (int64_t k = 0; k < o->rebuilds && !status && F->best.cost == before; k++) {
            if (F->best.count <= CBX_BEAM_LARGE || F->best.count > CBX_BEAM_MOVES ||
                cbx_time_is_up())
                break;
            status = rebuild(F, &rng, err);
        }
        /* One that costs the same and leads by more may have taken its place. */
        if (!status && F->best.cost == before && !cbx_time_is_up())
            status = cbx_polish_reduce(F, &F->best, err);
    } while (!status && F->best.cost < before && !cbx_time_is_up());
    return status;
}
