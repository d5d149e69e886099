/* SPDX-License-Identifier: Apache-2.0 */
/* scene.c: which nodes and edges are drawn; see scene.h. */
#include "scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "added.h"
#include "edit_kind.h"
#include "error.h"
#include "node_name.h"
#include "with_nodes.h"

/* Edits may fill so much of the scene; the rest is for what is around them. */
enum { EDITED_MOST = 44 };

typedef struct picking {
    const cbx_report *report;
    cbx_graph         with; /* the graph, with the edges that answers add */
    cbx_view          view;
    int32_t           own;   /* nodes of the view; behind them, those that answers add, … */
    const cbx_edit  **comes; /* … by these edits */
    int32_t          *place; /* view -> scene, or -1 */
    int32_t          *links; /* of a view's node to those picked */
    int32_t          *of;    /* scene -> view */
    bool             *edited;
    int32_t           count;
} picking;

static int32_t hop_of(const cbx_view *v, int32_t node)
{
    int32_t h = 0;
    while (!v->num_graphs && h < v->hops && node >= v->prefix[h])
        h++;
    return h;
}

static void pick(picking *p, int32_t node)
{
    const cbx_view *v = &p->view;
    if (p->place[node] >= 0 || p->count >= CBX_SCENE_MOST)
        return;
    p->place[node] = p->count;
    p->of[p->count++] = node;
    for (int64_t s = v->offset[node]; s < v->offset[node + 1]; s++)
        p->links[v->source[s]]++;
    for (int64_t s = v->out_offset[node]; s < v->out_offset[node + 1]; s++)
        p->links[v->out_target[s]]++;
}

/* The node and a shortest way from it to the target, which is node 0. */
static void pick_way(picking *p, int32_t node)
{
    const cbx_view *v = &p->view;
    while (p->place[node] < 0 && p->count < CBX_SCENE_MOST) {
        int32_t next = v->n;
        pick(p, node);
        if (v->num_graphs)
            return; /* no target to go to */
        for (int64_t s = v->out_offset[node]; s < v->out_offset[node + 1]; s++)
            if (v->out_target[s] < next) /* numbers grow with the distance */
                next = v->out_target[s];
        if (next >= node)
            return;
        node = next;
    }
}

/* The view's nodes that the edit is about; -1: there is none. What comes is no other. */
static void find_edited(const picking *p, const cbx_places *places, const cbx_edit *e,
                        int32_t nodes[2])
{
    int32_t ends[2];
    cbx_edit_kind_of(e)->nodes(e, ends);
    for (int k = 0; k < 2; k++)
        nodes[k] = cbx_places_find(places, ends[k]);
    for (int32_t i = p->own; i < p->view.n && e->op == CBX_ADD_NODE; i++)
        if (cbx_scene_same_node(p->comes[i - p->own], e))
            nodes[0] = i;
}

static void pick_edited(picking *p, const cbx_places *places, const cbx_edit *e)
{
    int32_t nodes[2];
    find_edited(p, places, e, nodes);
    for (int k = 0; k < 2; k++) {
        if (nodes[k] < 0)
            continue;
        p->edited[nodes[k]] = true;
        if (p->count < EDITED_MOST)
            pick_way(p, nodes[k]);
    }
}

/* Nearest first, then those with most links to what is there, then by number. */
static void pick_rest(picking *p)
{
    const cbx_view *v = &p->view;
    while (p->count < CBX_SCENE_MOST && p->count < v->n) {
        int32_t best = -1, best_hop = 0;
        for (int32_t i = 0; i < v->n; i++) {
            if (p->place[i] >= 0)
                continue;
            int32_t hop = hop_of(v, i);
            if (best >= 0 && hop > best_hop)
                break;
            if (best < 0 || p->links[i] > p->links[best])
                best = i, best_hop = hop;
        }
        pick(p, best);
    }
}

static int by_ends(const void *a, const void *b)
{
    const cbx_scene_edge *x = a, *y = b;
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

void cbx_scene_merge(cbx_scene *s)
{
    int32_t kept = 0;
    qsort(s->edges, (size_t)s->num_edges, sizeof *s->edges, by_ends);
    for (int32_t i = 0; i < s->num_edges; i++) {
        if (kept && !by_ends(&s->edges[kept - 1], &s->edges[i])) {
            for (int way = 0; way < 2; way++) {
                s->edges[kept - 1].there[way] |= s->edges[i].there[way];
                s->edges[kept - 1].added[way] |= s->edges[i].added[way];
            }
        } else {
            s->edges[kept++] = s->edges[i];
        }
    }
    s->num_edges = kept;
    s->undirected = true;
    for (int32_t i = 0; i < kept; i++)
        for (int way = 0; way < 2; way++)
            s->undirected = s->undirected && (s->edges[i].there[way] || s->edges[i].added[way]);
}

void cbx_scene_add_edge(cbx_scene *s, int32_t from, int32_t to, bool added)
{
    bool up = from < to;
    if (from >= 0 && to >= 0 && from != to)
        s->edges[s->num_edges++] = (cbx_scene_edge){.a = up ? from : to,
                                                    .b = up ? to : from,
                                                    .there = {up && !added, !up && !added},
                                                    .added = {up && added, !up && added}};
}

static cbx_status take(const picking *p, cbx_arena *arena, cbx_scene *s, cbx_error *err)
{
    const cbx_view *v = &p->view;
    int64_t         slots = 0;
    for (int32_t i = 0; i < p->count; i++)
        slots += v->offset[p->of[i] + 1] - v->offset[p->of[i]];
    s->nodes = CBX_NEW0(arena, cbx_scene_node, p->count);
    s->edges = CBX_NEW(arena, cbx_scene_edge, slots);
    if (!s->nodes || !s->edges)
        return cbx_fail_memory(err);
    s->num_nodes = p->count;
    s->all_nodes = p->own;
    for (int32_t i = 0; i < p->count; i++) {
        int32_t at = p->of[i];
        s->nodes[i].id = v->node ? v->node[at] : at;
        if (at >= p->own) {
            s->nodes[i].id = p->with.data.num_nodes + at - p->own;
            s->nodes[i].comes = p->comes[at - p->own];
        }
        s->nodes[i].hop = hop_of(v, at);
        s->nodes[i].edited = p->edited[at];
        for (int64_t k = v->offset[at]; k < v->offset[at + 1]; k++)
            cbx_scene_add_edge(s, p->place[v->source[k]], i,
                               (v->edge ? v->edge[k] : k) >= p->with.data.num_edges);
    }
    cbx_scene_merge(s);
    return CBX_OK;
}

/* The edges that answers add, each once. */
static cbx_status add_edges(picking *p, cbx_arena *arena, cbx_error *err)
{
    const cbx_report *r = p->report;
    int64_t           room = 0, count = 0;
    for (size_t k = 0; k < r->count; k++)
        room += r->answers[k]->num_edits;
    cbx_edit *edits = CBX_NEW(arena, cbx_edit, room);
    if (!edits)
        return cbx_fail_memory(err);
    for (size_t k = 0; k < r->count; k++)
        for (int64_t i = 0; i < r->answers[k]->num_edits; i++) {
            const cbx_edit *e = &r->answers[k]->edits[i];
            bool            is_new = e->op == CBX_ADD_EDGE;
            for (int64_t at = 0; at < count && is_new; at++)
                is_new = cbx_edit_compare(&edits[at], e) != 0 &&
                         (edits[at].source != e->target || edits[at].target != e->source ||
                          !(edits[at].undirected || e->undirected));
            if (is_new)
                edits[count++] = *e;
        }
    return cbx_graph_with_edges(r->source.graph, edits, count, arena, &p->with, err);
}

/* Behind the nodes of the view, those that answers add, each once. */
static cbx_status add_nodes(picking *p, cbx_arena *arena, cbx_error *err)
{
    const cbx_report *r = p->report;
    const cbx_view    before = p->view;
    int64_t           room = 0;
    int32_t           count = 0;
    p->own = p->view.n;
    for (size_t k = 0; k < r->count; k++)
        room += r->answers[k]->num_edits;
    p->comes = CBX_NEW(arena, const cbx_edit *, room);
    cbx_new_node *nodes = CBX_NEW(arena, cbx_new_node, room);
    if (!p->comes || !nodes)
        return cbx_fail_memory(err);
    for (size_t k = 0; k < r->count; k++)
        for (int64_t i = 0; i < r->answers[k]->num_edits; i++) {
            const cbx_edit *e = &r->answers[k]->edits[i];
            bool            is_new = e->op == CBX_ADD_NODE;
            for (int32_t at = 0; at < count && is_new; at++)
                is_new = !cbx_scene_same_node(p->comes[at], e);
            if (!is_new)
                continue;
            nodes[count] = (cbx_new_node){e->source, e->target - before.node[0], 1, e->undirected};
            p->comes[count++] = e;
        }
    return count ? cbx_view_with_nodes(&before, nodes, count, cbx_graph_num_edges(&p->with), arena,
                                       &p->view, err)
                 : CBX_OK;
}

static cbx_status look_around(picking *p, cbx_arena *arena, cbx_error *err)
{
    const cbx_report *r = p->report;
    cbx_status        status = add_edges(p, arena, err);
    const cbx_graph  *g = &p->with;
    if (status)
        return status;
    int32_t row = r->answers[0]->row, f = g->data.num_features;
    if (g->data.task == CBX_GRAPH) {
        status = cbx_view_graphs(g, &row, 1, arena, &p->view, err);
        return status ? status : add_nodes(p, arena, err);
    }
    /* as far and as many as the search looks at unless it is told otherwise */
    status = cbx_view_nearest(g, row, cbx_model_describe(r->source.model).num_layers + 1,
                              32000000 / (f > 0 ? f : 1) + 1, arena, &p->view, err);
    p->own = p->view.n;
    return status;
}

static cbx_status from_graph(const cbx_report *r, cbx_arena *arena, cbx_scene *s, cbx_error *err)
{
    picking    p = {.report = r};
    cbx_places places;
    cbx_status status = look_around(&p, arena, err);
    if (status)
        return status;
    p.place = CBX_NEW(arena, int32_t, p.view.n);
    p.links = CBX_NEW0(arena, int32_t, p.view.n);
    p.edited = CBX_NEW0(arena, bool, p.view.n);
    p.of = CBX_NEW(arena, int32_t, CBX_SCENE_MOST);
    if (!p.place || !p.links || !p.edited || !p.of || cbx_places_init(&places, &p.view))
        return cbx_fail_memory(err);
    memset(p.place, -1, (size_t)p.view.n * sizeof *p.place);
    if (r->answers[0]->task == CBX_NODE)
        pick(&p, 0);
    for (size_t k = 0; k < r->count; k++)
        for (int64_t i = 0; i < r->answers[k]->num_edits; i++)
            pick_edited(&p, &places, &r->answers[k]->edits[i]);
    pick_rest(&p);
    cbx_places_free(&places);
    return take(&p, arena, s, err);
}

/* ------------------------------------------------------------------- whole */

static cbx_status name_nodes(const cbx_report *r, cbx_arena *arena, cbx_scene *s, cbx_error *err)
{
    for (int32_t i = 0; i < s->num_nodes; i++) {
        cbx_node_number number;
        const char     *name =
            s->nodes[i].comes ? "new" : cbx_node_name(number, r->source.graph, s->nodes[i].id);
        s->nodes[i].name = name == number ? cbx_arena_strdup(arena, number) : name;
        if (!s->nodes[i].name)
            return cbx_fail_memory(err);
    }
    return CBX_OK;
}

/* A copy of a text that may be NULL, and so is its copy then; false: no memory. */
static bool copy(const char *text, cbx_arena *arena, const char **out)
{
    *out = text ? cbx_arena_strdup(arena, text) : NULL;
    return !text || *out;
}

/* Atoms have letters; where nodes have classes, those tell them apart. */
static cbx_status write_symbols(const cbx_graph *g, cbx_arena *arena, cbx_scene *s, cbx_error *err)
{
    cbx_atoms *atoms = NULL;
    cbx_status status = g && s->task == CBX_GRAPH ? cbx_atoms_new(g, NULL, &atoms, err) : CBX_OK;
    if (status || !atoms)
        return status;
    const char **symbols = CBX_NEW(arena, const char *, g->data.num_features);
    bool         ok = symbols != NULL;
    for (int32_t j = 0; ok && j < g->data.num_features; j++)
        ok = copy(cbx_atoms_feature(atoms, j), arena, &symbols[j]);
    for (int32_t i = 0; ok && i < s->num_nodes; i++)
        ok = copy(cbx_atoms_node(atoms, cbx_scene_like(&s->nodes[i])), arena, &s->nodes[i].symbol);
    s->symbols = symbols;
    cbx_atoms_free(atoms);
    return ok ? CBX_OK : cbx_fail_memory(err);
}

cbx_status cbx_scene_make(const cbx_report *report, cbx_arena *arena, cbx_scene *scene,
                          cbx_error *err)
{
    const cbx_counterfactual *c = report->answers[0];
    *scene = (cbx_scene){.task = c->task};
    if (c->prediction < 0)
        return cbx_fail(err, CBX_INVALID, "%s %d: its class is not known: nothing can be shown",
                        c->task == CBX_GRAPH ? "graph" : "node", c->row);
    cbx_status status = report->source.graph ? from_graph(report, arena, scene, err)
                                             : cbx_scene_from_edits(report, arena, scene, err);
    if (!status)
        status = name_nodes(report, arena, scene, err);
    if (!status)
        status = write_symbols(report->source.graph, arena, scene, err);
    return status ? status : cbx_scene_layout(scene, arena, err);
}

bool cbx_scene_labelled(const cbx_scene *scene, int32_t node)
{
    enum { SMALL = 20 };
    return scene->num_nodes <= SMALL || scene->nodes[node].edited ||
           (scene->task == CBX_NODE && node == 0);
}

int32_t cbx_scene_find(const cbx_scene *scene, int32_t id)
{
    for (int32_t i = 0; i < scene->num_nodes; i++)
        if (scene->nodes[i].id == id)
            return i;
    return -1;
}

int32_t cbx_scene_edge_find(const cbx_scene *scene, int32_t u, int32_t v)
{
    int32_t a = cbx_scene_find(scene, u), b = cbx_scene_find(scene, v);
    for (int32_t i = 0; i < scene->num_edges; i++)
        if ((scene->edges[i].a == a && scene->edges[i].b == b) ||
            (scene->edges[i].a == b && scene->edges[i].b == a))
            return i;
    return -1;
}
