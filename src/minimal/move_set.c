/* SPDX-License-Identifier: Apache-2.0 */
/* move_set.c: see move_set.h. */
#include "move_set.h"

#include <string.h>

bool cbx_move_same(const cbx_move *a, const cbx_move *b)
{
    return a->kind == b->kind && a->row == b->row && a->column == b->column &&
           a->other == b->other && a->pair == b->pair && a->to == b->to;
}

bool cbx_move_set_has(const cbx_move_set *s, const cbx_move *m)
{
    for (int64_t k = 0; k < s->count; k++)
        if (cbx_move_same(&s->moves[k], m))
            return true;
    return false;
}

bool cbx_move_set_same(const cbx_move_set *a, const cbx_move_set *b)
{
    if (a->count != b->count)
        return false;
    for (int64_t k = 0; k < a->count; k++)
        if (!cbx_move_set_has(b, &a->moves[k]))
            return false;
    return true;
}

bool cbx_move_set_better(const cbx_move_set *a, const cbx_move_set *b)
{
    return a->cost < b->cost || (a->cost == b->cost && a->score > b->score);
}

void cbx_move_set_copy(cbx_move_set *to, const cbx_move_set *from)
{
    cbx_move *moves = to->moves;
    memcpy(moves, from->moves, (size_t)from->count * sizeof *from->moves);
    *to = *from;
    to->moves = moves;
}

void cbx_move_set_add(cbx_move_set *s, const cbx_move *m)
{
    s->moves[s->count++] = *m;
    s->cost += m->cost;
}

void cbx_move_set_take_out_range(cbx_move_set *s, int64_t begin, int64_t end)
{
    for (int64_t k = end - 1; k >= begin; k--) {
        s->cost -= s->moves[k].cost;
    }
    memmove(&s->moves[begin], &s->moves[end], (size_t)(s->count - end) * sizeof *s->moves);
    s->count -= end - begin;
}

void cbx_move_set_take_out(cbx_move_set *s, int64_t k)
{
    cbx_move_set_take_out_range(s, k, k + 1);
}

void cbx_move_set_shortlist(cbx_move_set *sets, int64_t *count, int64_t most, const cbx_move_set *s)
{
    int64_t at = *count;
    for (int64_t k = 0; k < *count; k++)
        if (cbx_move_set_same(&sets[k], s))
            return;
    if (at == most && s->score <= sets[most - 1].score)
        return;
    at = at < most ? at : most - 1;
    cbx_move_set slot = sets[at]; /* memory changes hands, nothing is copied twice */
    for (; at > 0 && sets[at - 1].score < s->score; at--)
        sets[at] = sets[at - 1];
    sets[at] = slot;
    cbx_move_set_copy(&sets[at], s);
    *count += *count < most;
}
