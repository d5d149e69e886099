/* SPDX-License-Identifier: Apache-2.0 */
/* project.c: see project.h. */
#include "project.h"

#include <math.h>
#include <string.h>

#include "error.h"
#include "links.h"
#include "rules.h"

bool cbx_project_is_needed(const cbx_search *s)
{
    return s->rules && s->rules->any;
}

static int32_t node_of(const cbx_search *s, int32_t i)
{
    return s->view->node ? s->view->node[i] : i;
}

/* ---- features */

bool cbx_project_may_change(const cbx_search *s, int32_t i, int32_t j, float x, float *lo,
                            float *hi)
{
    const cbx_rules *r = s->rules;
    *lo = r->way[j] & CBX_WAY_NOT_DOWN ? x : fminf(r->lo[j], x);
    *hi = r->way[j] & CBX_WAY_NOT_UP ? x : fmaxf(r->hi[j], x);
    return *lo < *hi && !r->fixed[j] && cbx_rules_node(r, s->row, node_of(s, i));
}

/* The feature of a group that is on; -1: there is not exactly one. */
static int32_t on_feature(const cbx_rules *r, int32_t group, const float *x, int32_t f)
{
    int32_t on = -1;
    for (int32_t j = 0; j < f; j++) {
        if (r->group[j] != group || x[j] == CBX_GROUP_OFF)
            continue;
        if (on >= 0 || x[j] != CBX_GROUP_ON)
            return -1;
        on = j;
    }
    return on;
}

/* Where the group is to point: the largest that it leans to, or of those that are wished to be on
 * the one in their middle. */
static int32_t pointed_to(const cbx_rules *r, int32_t on, const float *leaning, const float *values,
                          int32_t f)
{
    int32_t best = on, wished = 0, seen = 0;
    for (int32_t j = 0; j < f; j++) {
        bool can = r->group[j] == r->group[on] && j != on && cbx_rules_turn(r, on, j);
        if (can && leaning && leaning[j] > leaning[best])
            best = j;
        wished += can && values[j] == CBX_GROUP_ON;
    }
    for (int32_t j = 0; j < f && !leaning; j++)
        if (r->group[j] == r->group[on] && j != on && values[j] == CBX_GROUP_ON &&
            cbx_rules_turn(r, on, j) && seen++ == wished / 2)
            best = j;
    return best;
}

static void point_groups(const cbx_rules *r, const float *x, const float *leaning, float *values,
                         int32_t f)
{
    for (int32_t g = 0; g < r->groups; g++) {
        int32_t on = on_feature(r, g, x, f);
        int32_t to = on < 0 ? -1 : pointed_to(r, on, leaning, values, f);
        for (int32_t j = 0; j < f; j++)
            if (r->group[j] == g)
                values[j] = on < 0 ? x[j] : j == to ? CBX_GROUP_ON : CBX_GROUP_OFF;
    }
}

/* All of it goes back, with whole groups. */
static void go_back(const cbx_rules *r, const cbx_feature_set *set, const float *x, float *values,
                    int32_t f)
{
    for (int32_t j = set->first; j <= set->last; j++) {
        if (!cbx_rules_has(r, set, j))
            continue;
        values[j] = x[j];
        for (int32_t k = 0; k < f && r->group[j] >= 0; k++)
            values[k] = r->group[k] == r->group[j] ? x[k] : values[k];
    }
}

void cbx_project_row(const cbx_search *s, int32_t i, const float *x, const float *leaning,
                     float *values)
{
    const cbx_rules *r = s->rules;
    int32_t          f = s->X.cols;
    if (!cbx_rules_node(r, s->row, node_of(s, i))) {
        memcpy(values, x, (size_t)f * sizeof *values);
        return;
    }
    for (int32_t j = 0; j < f; j++)
        if (r->group[j] < 0 && values[j] != x[j])
            values[j] = cbx_rules_nearest(r, j, x[j], values[j]);
    point_groups(r, x, leaning, values, f);
    /* what goes back may be what something else changed with */
    for (bool again = r->num_relations > 0; again;) {
        again = false;
        for (int64_t k = 0; k < r->num_relations; k++)
            if (!cbx_rules_relation(r, &r->relations[k], x, values)) {
                go_back(r, &r->relations[k].what, x, values, f);
                again = true;
            }
    }
}

/* ---- edges */

bool cbx_project_may_go(const cbx_search *s, int32_t a, int32_t b)
{
    return cbx_rules_pair(s->rules, s->row, node_of(s, a), node_of(s, b));
}

bool cbx_project_limits_additions(const cbx_search *s)
{
    return cbx_rules_limit_degree(s->rules);
}

int64_t cbx_project_room(const cbx_search *s, int32_t i)
{
    return cbx_rules_room(s->rules, node_of(s, i));
}

struct cbx_shape {
    const cbx_search *s;
    cbx_pairs         pairs;
    int64_t          *begin, *slots; /* of each pair */
    int32_t          *target_of;     /* by slot */
    cbx_links         links;
};

cbx_status cbx_shape_new(const cbx_search *s, const cbx_pairs *pairs, cbx_shape **out,
                         cbx_error *err)
{
    *out = NULL;
    if (!cbx_project_is_needed(s) || s->rules->keep == CBX_KEEP_NOTHING)
        return CBX_OK;
    cbx_shape *shape = CBX_NEW0(s->arena, cbx_shape, 1);
    if (!shape)
        return cbx_fail_memory(err);
    shape->s = s;
    shape->pairs = *pairs;
    shape->target_of = cbx_pairs_targets(s->view, s->arena);
    if (!shape->target_of || cbx_links_init(&shape->links, s->whole, s->arena) ||
        cbx_pairs_group(pairs, s->view->m, s->arena, &shape->begin, &shape->slots))
        return cbx_fail_late(err);
    *out = shape;
    return CBX_OK;
}

/* The whole graph's edges of a pair. */
static void set_links(cbx_shape *shape, int64_t pair, bool gone)
{
    const cbx_view *v = shape->s->view;
    for (int64_t k = shape->begin[pair]; k < shape->begin[pair + 1]; k++)
        shape->links.gone[v->edge ? v->edge[shape->slots[k]] : shape->slots[k]] = gone;
}

static bool breaks_apart(cbx_shape *shape, int64_t pair)
{
    const cbx_search *s = shape->s;
    int64_t           slot = shape->pairs.slot_of[pair];
    int32_t           u = node_of(s, s->view->source[slot]), v = node_of(s, shape->target_of[slot]);
    if (u == v)
        return false;
    return cbx_keeps_one_piece(s->rules->keep)
               ? cbx_links_apart(&shape->links, u, v)
               : cbx_links_none_at(&shape->links, u) || cbx_links_none_at(&shape->links, v);
}

bool cbx_shape_keep(cbx_shape *shape, uint8_t *goes)
{
    bool back = false;
    for (int64_t p = 0; p < shape->pairs.count; p++) {
        if (!goes[p])
            continue;
        set_links(shape, p, true);
        if (breaks_apart(shape, p)) {
            set_links(shape, p, false);
            goes[p] = 0;
            back = true;
        }
    }
    for (int64_t p = 0; p < shape->pairs.count; p++)
        if (goes[p])
            set_links(shape, p, false); /* as it was, for the next */
    return back;
}
