/* SPDX-License-Identifier: Apache-2.0 */
/* robustness.c: see robustness.h. */
#include "robustness.h"

#include "deadline.h"

double cbx_robustness(cbx_search *s, cbx_minimal *found, int64_t samples)
{
    cbx_edit_state *W = found->state;
    cbx_rng         rng = cbx_rng_stream((uint64_t)s->options->seed, 0x726f62, (uint64_t)s->row, 0);
    int64_t         kept = 0, tried = 0;
    for (int64_t k = 0; k < found->count; k++)
        cbx_move_do(W, &found->moves[k]);
    for (; tried < samples && !cbx_search_is_late(s); tried++) {
        cbx_move also[3];
        int64_t  count = 0, wanted = 1 + (int64_t)cbx_rng_below(&rng, 3);
        for (int draw = 0; draw < 50 && count < wanted; draw++) {
            cbx_move m = cbx_moves_draw(W, &rng);
            if (!cbx_move_may(W, &m))
                continue;
            cbx_move_do(W, &m);
            also[count++] = m;
        }
        kept += cbx_edit_state_ask(W) > 0;
        while (count > 0)
            cbx_move_undo(W, &also[--count]);
        if (s->deadline)
            (void)cbx_deadline_look(s->deadline);
    }
    for (int64_t k = found->count - 1; k >= 0; k--)
        cbx_move_undo(W, &found->moves[k]);
    return tried && !cbx_search_is_late(s) ? (double)kept / (double)tried : -1;
}
