/* SPDX-License-Identifier: Apache-2.0 */
/* move_set_attribute.c: the edges between two nodes, or where edges are taken one by one an edge,
 * get another value of one of their attributes; where these are one-hot, another kind.
 *
 * Of whole numbers that are few, all are tried; else the least and the largest that the data has,
 * and what flips is taken back afterwards (weigh_back.h). Edges that are a pair must have the same
 * to begin with. */
#include <math.h>

#include "move.h"

/* other: what the other attributes become, where they tell kinds apart; -1: they stay. */
static cbx_move make(const cbx_edit_state *W, int64_t pair, int32_t column, float to, double gain)
{
    return (cbx_move){.kind = &cbx_move_set_attribute,
                      .column = column,
                      .other = W->rules->attributes->one_hot ? 0 : -1,
                      .pair = pair,
                      .to = to,
                      .cost = cbx_minimal_of(W->s)->edge_cost,
                      .gain = gain};
}

/* Where none can change, their cost says nothing of the cheapest. */
static double cost(const cbx_edit_state *W)
{
    return W->attributable ? cbx_minimal_of(W->s)->edge_cost : INFINITY;
}

static bool is_asked_for(const cbx_edit_state *W)
{
    return (W->rules->edits & CBX_EDITS_ATTRIBUTES) != 0;
}

static const float *own_row(const cbx_edit_state *W, int64_t pair)
{
    return cbx_view_attr(W->s->view, W->slot_of[pair]);
}

/* Where a pair has a value of an attribute. */
static int64_t at_of(const cbx_edit_state *W, int64_t pair, int32_t column)
{
    return pair * W->view.edge_dim + column;
}

/* Have all its edges the same, of one attribute or where they tell kinds of all, and is none of
 * them only offered? */
static bool is_one_value(const cbx_edit_state *W, int64_t pair, int32_t column)
{
    bool    same = true, all = W->rules->attributes->one_hot;
    int32_t first = all ? 0 : column, last = all ? W->view.edge_dim - 1 : column;
    for (int64_t k = W->slots_begin[pair]; k < W->slots_begin[pair + 1]; k++) {
        for (int32_t j = first; j <= last; j++)
            same = same && cbx_view_attr(W->s->view, W->slots[k])[j] == own_row(W, pair)[j];
        same = same && !(W->s->offered && W->s->offered[W->slots[k]]);
    }
    return same;
}

static cbx_edit edit_of(const cbx_edit_state *W, const cbx_move *m)
{
    int64_t  e = W->slot_of[m->pair];
    cbx_edit edit = cbx_search_edit_of_slot(W->s, W->target_of[e], e,
                                            W->s->options->edges == CBX_EDGES_UNDIRECTED);
    edit.op = CBX_SET_EDGE;
    edit.attribute = (int16_t)(W->rules->attributes->one_hot ? -(m->column + 1) : m->column + 1);
    edit.weight = m->to;
    return edit;
}

static int prepare(cbx_edit_state *W, cbx_arena *arena)
{
    if (!W->set_attr)
        return 0;
    int64_t count = W->pairs * W->view.edge_dim;
    W->attr = CBX_NEW(arena, float, count);
    W->attributable = CBX_NEW(arena, uint8_t, count);
    for (int64_t k = 0; W->attr && W->attributable && k < count; k++) {
        int64_t  pair = k / W->view.edge_dim;
        int32_t  column = (int32_t)(k % W->view.edge_dim);
        float    any = cbx_edge_column_value(W->rules->attributes, column, 0);
        cbx_move m = make(W, pair, column, any, 0);
        cbx_edit edit = edit_of(W, &m);
        W->attr[k] = NAN;
        W->attributable[k] =
            is_one_value(W, pair, column) && cbx_rules_attribute(W->rules, W->s->row, &edit);
    }
    return W->attr && W->attributable ? 0 : -1;
}

static bool may(const cbx_edit_state *W, const cbx_move *m)
{
    int64_t at = W->attributable ? at_of(W, m->pair, m->column) : 0;
    return W->attributable && W->attributable[at] && !W->gone[m->pair] && isnan(W->attr[at]) &&
           cbx_edge_column_takes(W->rules->attributes, m->column, m->to) &&
           m->to != own_row(W, m->pair)[m->column];
}

/* NaN: what they were. */
static void give(cbx_edit_state *W, const cbx_move *m, bool made)
{
    bool    all = W->rules->attributes->one_hot;
    int32_t first = all ? 0 : m->column, last = all ? W->view.edge_dim - 1 : m->column;
    for (int32_t j = first; j <= last; j++)
        cbx_edit_state_set_attr(W, m->pair, j, !made ? NAN : j == m->column ? m->to : 0);
}

static void apply(cbx_edit_state *W, const cbx_move *m)
{
    give(W, m, true);
}

static void undo(cbx_edit_state *W, const cbx_move *m)
{
    give(W, m, false);
}

static int64_t write(const cbx_edit_state *W, const cbx_move *m, cbx_edit *edits)
{
    edits[0] = edit_of(W, m);
    return 1;
}

/* ---- listing */

/* Where derivatives say nothing, a move is tried after those of which they say something. */
static const double UNKNOWN = 1e-30;

static double slope_of(const cbx_edit_state *W, int64_t pair, int32_t column)
{
    double slope = 0;
    for (int64_t k = W->slots_begin[pair]; k < W->slots_begin[pair + 1]; k++)
        slope += (double)W->by_attr[W->slots[k] * W->view.edge_dim + column];
    return slope;
}

/* To first order, with what another column loses where kinds change. */
static double gain_of(const cbx_edit_state *W, int64_t pair, int32_t column, float to)
{
    const float *own = own_row(W, pair);
    double       gain = slope_of(W, pair, column) * ((double)to - own[column]);
    if (W->rules->attributes->one_hot)
        gain -= slope_of(W, pair, cbx_edge_row_kind(own, W->view.edge_dim));
    return gain;
}

static void offer(const cbx_edit_state *W, int64_t p, cbx_move_list *list)
{
    bool all;
    for (int32_t j = 0; W->attributable && j < W->view.edge_dim; j++) {
        int64_t values = cbx_edge_column_values(W->rules->attributes, j, &all);
        for (int64_t k = 0; W->attributable[at_of(W, p, j)] && k < values; k++) {
            float    to = cbx_edge_column_value(W->rules->attributes, j, k);
            double   gain = gain_of(W, p, j, to);
            cbx_move m = make(W, p, j, to, gain == 0 ? UNKNOWN : gain);
            if (m.gain > 0 && may(W, &m))
                cbx_move_list_add(list, &m);
        }
    }
}

/* The stage counts values, column after column. */
static bool next(const cbx_edit_state *W, cbx_move_walk *at, cbx_move *m)
{
    bool    all;
    int64_t left = at->stage;
    for (int32_t j = 0; W->attributable && W->matters[at->pair] && j < W->view.edge_dim; j++) {
        int64_t values = cbx_edge_column_values(W->rules->attributes, j, &all);
        if (left < values) {
            *m = make(W, at->pair, j, cbx_edge_column_value(W->rules->attributes, j, left), 0);
            at->stage++;
            return true;
        }
        left -= values;
    }
    return false;
}

/* Between the ends of a column are more than anybody can try. */
static bool is_listed(const cbx_edit_state *W)
{
    bool listed = !is_asked_for(W) || W->attributable, all;
    for (int64_t k = 0; W->attributable && listed && k < W->pairs * W->view.edge_dim; k++) {
        int32_t column = (int32_t)(k % W->view.edge_dim);
        (void)cbx_edge_column_values(W->rules->attributes, column, &all);
        listed = all || !W->attributable[k] || !W->matters[k / W->view.edge_dim];
    }
    return listed;
}

static bool is_unbounded(const cbx_edit_state *W)
{
    return is_asked_for(W);
}

static bool of_edit(const cbx_edit_state *W, const cbx_edit *e, const cbx_places *places,
                    cbx_move *m)
{
    cbx_edit removal = *e;
    removal.op = CBX_REMOVE_EDGE;
    if (e->op != CBX_SET_EDGE || !e->attribute || !W->attributable ||
        !cbx_move_remove_edge.of_edit(W, &removal, places, m))
        return false;
    *m = make(W, m->pair, cbx_edit_column(e), e->weight, (double)e->influence);
    return true;
}

/* Whichever value it gets; of kinds, whichever kind. */
static bool overlaps(const cbx_move *a, const cbx_move *b)
{
    return a->pair == b->pair && (a->other == 0 || a->column == b->column);
}

static int64_t ways(const cbx_edit_state *W)
{
    return W->attributable ? W->pairs * W->view.edge_dim : 0;
}

static cbx_move draw(const cbx_edit_state *W, int64_t way, cbx_rng *rng)
{
    bool    all;
    int32_t column = (int32_t)(way % W->view.edge_dim);
    int64_t values = cbx_edge_column_values(W->rules->attributes, column, &all);
    int64_t k = values ? (int64_t)cbx_rng_below(rng, (uint64_t)values) : 0;
    return make(W, way / W->view.edge_dim, column,
                cbx_edge_column_value(W->rules->attributes, column, k), 0);
}

const cbx_move_kind cbx_move_set_attribute = {.site = CBX_AT_PAIRS,
                                              .edits = 1,
                                              .prepare = prepare,
                                              .cost = cost,
                                              .may = may,
                                              .apply = apply,
                                              .undo = undo,
                                              .write = write,
                                              .offer = offer,
                                              .next = next,
                                              .is_listed = is_listed,
                                              .is_unbounded = is_unbounded,
                                              .of_edit = of_edit,
                                              .overlaps = overlaps,
                                              .ways = ways,
                                              .draw = draw};
