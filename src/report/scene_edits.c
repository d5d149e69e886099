/* SPDX-License-Identifier: Apache-2.0 */
/* scene_edits.c: what of an answer is seen, and where. Whatever draws edits asks here which
 * edges and nodes they are. */
#include "edit_kind.h"
#include "error.h"
#include "scene.h"

bool cbx_scene_same_node(const cbx_edit *a, const cbx_edit *b)
{
    return a->op == CBX_ADD_NODE && b->op == CBX_ADD_NODE && !cbx_edit_compare(a, b) &&
           a->undirected == b->undirected;
}

/* The place of the node that an edit adds, or -1. */
static int32_t find_newcomer(const cbx_scene *s, const cbx_edit *e)
{
    for (int32_t i = 0; i < s->num_nodes; i++)
        if (s->nodes[i].comes && cbx_scene_same_node(s->nodes[i].comes, e))
            return i;
    return -1;
}

bool cbx_scene_shows(const cbx_scene *s, int32_t node, const cbx_counterfactual *answer)
{
    bool shown = !s->nodes[node].comes;
    for (int64_t i = 0; i < answer->num_edits && !shown; i++)
        shown = cbx_scene_same_node(s->nodes[node].comes, &answer->edits[i]);
    return shown;
}

int32_t cbx_scene_place_of(const cbx_scene *s, const cbx_edit *e)
{
    switch (e->op) {
    case CBX_REMOVE_EDGE:
    case CBX_ADD_EDGE:
    case CBX_SET_EDGE:
        return cbx_scene_edge_find(s, e->source, e->target);
    case CBX_SET_FEATURE:
    case CBX_REMOVE_NODE:
        return cbx_scene_find(s, e->node);
    case CBX_ADD_NODE:
        return find_newcomer(s, e);
    }
    return -1;
}

/* Directions of the scene's edge that edits of this kind name. */
static int directions(const cbx_scene *s, int32_t edge, const cbx_counterfactual *answer,
                      cbx_edit_op op)
{
    const cbx_scene_edge *e = &s->edges[edge];
    int32_t               a = s->nodes[e->a].id, b = s->nodes[e->b].id;
    int                   bits = 0;
    for (int64_t i = 0; i < answer->num_edits; i++) {
        const cbx_edit *edit = &answer->edits[i];
        if (edit->op != op)
            continue;
        bool along = edit->source == a && edit->target == b;
        bool against = edit->source == b && edit->target == a;
        if (along || against)
            bits |= edit->undirected ? 3 : along ? 1 : 2;
    }
    return bits;
}

/* Is there an edit of this kind at the node? */
static bool has_edit_at(int32_t id, const cbx_counterfactual *answer, cbx_edit_op op)
{
    for (int64_t i = 0; i < answer->num_edits; i++)
        if (answer->edits[i].op == op && answer->edits[i].node == id)
            return true;
    return false;
}

int cbx_scene_removed(const cbx_scene *s, int32_t edge, const cbx_counterfactual *answer)
{
    const cbx_scene_edge *e = &s->edges[edge];
    bool                  with_node =
        cbx_scene_lost(s->nodes[e->a].id, answer) || cbx_scene_lost(s->nodes[e->b].id, answer);
    int bits = with_node ? 3 : directions(s, edge, answer, CBX_REMOVE_EDGE);
    return bits & (e->there[0] + 2 * e->there[1]);
}

int cbx_scene_added(const cbx_scene *s, int32_t edge, const cbx_counterfactual *answer)
{
    const cbx_scene_edge *e = &s->edges[edge];
    int                   added = e->added[0] + 2 * e->added[1];
    if (s->nodes[e->a].comes || s->nodes[e->b].comes) /* with its edge */
        return cbx_scene_shows(s, e->a, answer) && cbx_scene_shows(s, e->b, answer) ? added : 0;
    return directions(s, edge, answer, CBX_ADD_EDGE) & added;
}

int cbx_scene_reweighted(const cbx_scene *s, int32_t edge, const cbx_counterfactual *answer)
{
    const cbx_scene_edge *e = &s->edges[edge];
    return directions(s, edge, answer, CBX_SET_EDGE) & (e->there[0] + 2 * e->there[1]) &
           ~cbx_scene_removed(s, edge, answer);
}

bool cbx_scene_changed(int32_t id, const cbx_counterfactual *answer)
{
    return has_edit_at(id, answer, CBX_SET_FEATURE);
}

bool cbx_scene_lost(int32_t id, const cbx_counterfactual *answer)
{
    return has_edit_at(id, answer, CBX_REMOVE_NODE);
}

const char *cbx_scene_symbol_after(const cbx_scene *scene, int32_t node,
                                   const cbx_counterfactual *answer)
{
    const char *symbol = scene->nodes[node].symbol;
    for (int64_t k = 0; k < answer->num_edits && scene->symbols; k++) {
        const cbx_edit *e = &answer->edits[k];
        if (e->op == CBX_SET_FEATURE && e->node == scene->nodes[node].id && e->to != 0 &&
            scene->symbols[e->feature])
            symbol = scene->symbols[e->feature];
    }
    return symbol;
}

/* ---- without a graph: the target and what the edits name */

static int32_t add_node(cbx_scene *s, int32_t id, bool edited)
{
    int32_t at = cbx_scene_find(s, id);
    if (at < 0 && s->num_nodes < CBX_SCENE_MOST) {
        at = s->num_nodes++;
        s->nodes[at] = (cbx_scene_node){.id = id, .hop = at > 0};
    }
    if (at >= 0)
        s->nodes[at].edited |= edited;
    return at;
}

/* The node that the edit adds, and the one that it comes to. */
static void add_newcomer(cbx_scene *s, const cbx_edit *e)
{
    int32_t at = add_node(s, e->target, true), place = find_newcomer(s, e);
    if (place < 0)
        place = add_node(s, INT32_MAX - s->num_nodes, true); /* a number that nobody has */
    if (place < 0 || at < 0)
        return;
    s->nodes[place].comes = e;
    cbx_scene_add_edge(s, place, at, true);
    if (e->undirected)
        cbx_scene_add_edge(s, at, place, true);
}

cbx_status cbx_scene_from_edits(const cbx_report *r, cbx_arena *arena, cbx_scene *s, cbx_error *err)
{
    int64_t edits = 0;
    for (size_t k = 0; k < r->count; k++)
        edits += r->answers[k]->num_edits;
    s->nodes = CBX_NEW0(arena, cbx_scene_node, CBX_SCENE_MOST);
    s->edges = CBX_NEW(arena, cbx_scene_edge, 2 * edits);
    if (!s->nodes || !s->edges)
        return cbx_fail_memory(err);
    if (r->answers[0]->task == CBX_NODE)
        (void)add_node(s, r->answers[0]->row, false);
    for (size_t k = 0; k < r->count; k++)
        for (int64_t i = 0; i < r->answers[k]->num_edits; i++) {
            const cbx_edit *e = &r->answers[k]->edits[i];
            int32_t         ends[2];
            if (e->op == CBX_ADD_NODE) {
                add_newcomer(s, e);
                continue;
            }
            cbx_edit_kind_of(e)->nodes(e, ends);
            int32_t u = add_node(s, ends[0], true), v = add_node(s, ends[1], true);
            bool    added = e->op == CBX_ADD_EDGE;
            cbx_scene_add_edge(s, u, v, added); /* none from a node to itself */
            if (e->op != CBX_SET_FEATURE && e->op != CBX_REMOVE_NODE && e->undirected)
                cbx_scene_add_edge(s, v, u, added);
        }
    cbx_scene_merge(s);
    return CBX_OK;
}
