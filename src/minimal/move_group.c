/* SPDX-License-Identifier: Apache-2.0 */
/* move_group.c: a one-hot group of a node points elsewhere: one change, and two edits.
 *
 * Of a row whose group is not one-hot to begin with there is no such move. */
#include <math.h>

#include "move.h"

static cbx_move make(const cbx_edit_state *W, int32_t row, int32_t from, int32_t to, double gain)
{
    return (cbx_move){.kind = &cbx_move_group,
                      .row = row,
                      .column = from,
                      .other = to,
                      .pair = -1,
                      .cost = fmax(W->rules->price[from], W->rules->price[to]),
                      .gain = gain};
}

/* No less than that of the features in it. */
static double cost(const cbx_edit_state *W)
{
    return cbx_move_feature.cost(W);
}

/* By row and group: is it one-hot there? */
static int prepare(cbx_edit_state *W, cbx_arena *arena)
{
    const cbx_rules *r = W->rules;
    int32_t         *on = CBX_NEW(arena, int32_t, r->groups);
    W->one_hot = CBX_NEW(arena, uint8_t, (size_t)W->rows * (size_t)r->groups);
    if (!on || !W->one_hot)
        return -1;
    for (int32_t i = 0; i < W->rows; i++) {
        const float *x = W->x0 + (int64_t)i * W->f;
        for (int32_t g = 0; g < r->groups; g++)
            on[g] = 0;
        for (int32_t j = 0; j < W->f; j++)
            if (r->group[j] >= 0 && x[j] != CBX_GROUP_OFF)
                on[r->group[j]] += x[j] == CBX_GROUP_ON ? 1 : 2;
        for (int32_t g = 0; g < r->groups; g++)
            W->one_hot[(int64_t)i * r->groups + g] = on[g] == 1;
    }
    return 0;
}

static bool may(const cbx_edit_state *W, const cbx_move *m)
{
    const cbx_rules *r = W->rules;
    const float     *x = W->x + (int64_t)m->row * W->f, *x0 = W->x0 + (int64_t)m->row * W->f;
    return W->allowed_row[m->row] && x[m->column] == x0[m->column] && x[m->other] == x0[m->other] &&
           m->other != m->column && r->group[m->other] == r->group[m->column] &&
           W->one_hot[(int64_t)m->row * r->groups + r->group[m->column]] &&
           x[m->column] == CBX_GROUP_ON && cbx_rules_turn(r, m->column, m->other);
}

static void apply(cbx_edit_state *W, const cbx_move *m)
{
    cbx_edit_state_set_feature(W, m->row, m->column, CBX_GROUP_OFF);
    cbx_edit_state_set_feature(W, m->row, m->other, CBX_GROUP_ON);
}

static void undo(cbx_edit_state *W, const cbx_move *m)
{
    cbx_edit_state_set_feature(W, m->row, m->column, cbx_edit_state_original(W, m->row, m->column));
    cbx_edit_state_set_feature(W, m->row, m->other, cbx_edit_state_original(W, m->row, m->other));
}

static cbx_edit edit_of(const cbx_edit_state *W, int32_t row, int32_t column, float to)
{
    return cbx_search_edit_of_feature(W->s, row, column, cbx_edit_state_original(W, row, column),
                                      to);
}

static int64_t write(const cbx_edit_state *W, const cbx_move *m, cbx_edit *edits)
{
    edits[0] = edit_of(W, m->row, m->column, CBX_GROUP_OFF);
    edits[1] = edit_of(W, m->row, m->other, CBX_GROUP_ON);
    return 2;
}

/* Do other changes of the row wait for this group to point elsewhere? */
static bool is_awaited(const cbx_edit_state *W, int32_t i, int32_t column)
{
    const cbx_rules *r = W->rules;
    for (int64_t k = 0; k < r->num_relations; k++)
        if (cbx_rules_has(r, &r->relations[k].with, column) &&
            cbx_edit_state_lacks(W, i, &r->relations[k]))
            return true;
    return false;
}

static void offer(const cbx_edit_state *W, int64_t i, cbx_move_list *list)
{
    const float *x = W->x + i * W->f, *d = W->dX + i * W->f;
    for (int32_t a = 0; W->rules->groups && a < W->f; a++) {
        if (W->rules->group[a] < 0 || x[a] != CBX_GROUP_ON)
            continue;
        bool awaited = is_awaited(W, (int32_t)i, a);
        for (int32_t b = 0; b < W->f; b++) {
            if (W->rules->group[b] != W->rules->group[a] || a == b)
                continue;
            double gain =
                (double)d[a] * (CBX_GROUP_OFF - x[a]) + (double)d[b] * (CBX_GROUP_ON - x[b]);
            cbx_move m = make(W, (int32_t)i, a, b, awaited ? CBX_AWAITED + gain : gain);
            if (m.gain > 0 && may(W, &m))
                cbx_move_list_add(list, &m);
        }
    }
}

static bool next(const cbx_edit_state *W, cbx_move_walk *at, cbx_move *m)
{
    if (W->rules->group[at->column] < 0 || at->stage >= W->f)
        return false;
    *m = make(W, at->row, at->column, at->stage++, 0);
    return true;
}

/* Wherever the group points next, turning off what is on is the same edit. */
static bool overlaps(const cbx_move *a, const cbx_move *b)
{
    return a->row == b->row && a->column == b->column;
}

const cbx_move_kind cbx_move_group = {.site = CBX_AT_ENTRIES,
                                      .edits = 2,
                                      .prepare = prepare,
                                      .cost = cost,
                                      .may = may,
                                      .apply = apply,
                                      .undo = undo,
                                      .write = write,
                                      .offer = offer,
                                      .next = next,
                                      .overlaps = overlaps};
