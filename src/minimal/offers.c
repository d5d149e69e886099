/* SPDX-License-Identifier: Apache-2.0 */
/* offers.c: see offers.h. */
#include "offers.h"

#include "added.h"
#include "deadline.h"
#include "error.h"
#include "sort.h"
#include "widen.h"

/* Candidates whose derivatives are taken together. */
enum { CHUNK = 1024 };

/* Multiplications in the time of looking at a pair, and at an edge. */
static const double PAIR = 60, EDGE = 10;

/* ---- a walk over all that the rules allow */

typedef struct walk {
    const cbx_search *s;
    const cbx_rules  *rules;
    bool              graphs, directed;
    int32_t           from;          /* node that is looked at, and what is known of it: */
    int32_t          *linked, *near; /* by node, `stamp`: an edge leads to `from`; not too far */
    int32_t          *queue, stamp;
    int32_t           row;  /* of the view: `from`; -1: none yet */
    int64_t           to;   /* next partner: a node, or a row of the view */
    cbx_edit          back; /* the other direction, which comes next */
    bool              has_back;
} walk;

static int32_t node_at(const walk *w, int64_t row)
{
    return w->s->view->node ? w->s->view->node[row] : (int32_t)row;
}

static int start(walk *w, const cbx_search *s, const cbx_rules *rules, cbx_arena *arena)
{
    int32_t n = s->graph->data.num_nodes;
    *w = (walk){.s = s,
                .rules = rules,
                .graphs = s->graph->data.task == CBX_GRAPH,
                .directed = s->options->edges != CBX_EDGES_UNDIRECTED,
                .linked = CBX_NEW0(arena, int32_t, n),
                .near = CBX_NEW0(arena, int32_t, n),
                .queue = CBX_NEW(arena, int32_t, n),
                .row = -1};
    return w->linked && w->near && w->queue ? 0 : -1;
}

static void reach(walk *w, int32_t node, int32_t *tail)
{
    if (w->near[node] == w->stamp)
        return;
    w->near[node] = w->stamp;
    w->queue[(*tail)++] = node;
}

/* Marks what is within add_within hops, whichever way edges point. */
static void find_near(walk *w)
{
    const cbx_view *v = w->s->whole;
    int32_t         tail = 0, head = 0;
    reach(w, w->from, &tail);
    for (int64_t h = 0; h < w->rules->add_within && head < tail; h++)
        for (int32_t end = tail; head < end; head++) {
            int32_t node = w->queue[head];
            for (int64_t e = v->offset[node]; e < v->offset[node + 1]; e++)
                reach(w, v->source[e], &tail);
            for (int64_t o = v->out_offset[node]; o < v->out_offset[node + 1]; o++)
                reach(w, v->out_target[o], &tail);
            if (cbx_out_of_time(EDGE * (double)(v->offset[node + 1] - v->offset[node])))
                return;
        }
}

/* From the next row of the view on; false: there are no more. */
static bool next_row(walk *w)
{
    const cbx_graph *g = w->s->graph;
    bool             one = !w->graphs && (w->rules->add_at_target || w->rules->own_edges);
    if (++w->row >= (one ? 1 : w->s->view->n))
        return false;
    w->from = node_at(w, w->row);
    w->to = w->row == 0 && !w->graphs ? 0 : w->row + 1;
    w->stamp++;
    for (int64_t e = g->in_offset[w->from]; e < g->in_offset[w->from + 1]; e++)
        w->linked[g->in_source[e]] = w->stamp;
    if (w->rules->add_within > 0)
        find_near(w);
    return true;
}

/* Partners of the target are all nodes, of others the rows behind. */
static bool next_partner(walk *w, int32_t *node)
{
    bool    any = w->row == 0 && !w->graphs;
    int64_t end = any ? w->s->graph->data.num_nodes : w->s->view->n;
    if (w->to >= end)
        return false;
    *node = any ? (int32_t)w->to : node_at(w, w->to);
    w->to++;
    return true;
}

static bool has_room(const walk *w, int32_t node)
{
    return !cbx_rules_limit_degree(w->rules) ||
           cbx_rules_degree(w->rules, node) < cbx_rules_most_edges(w->rules, node);
}

/* The edits that join `from` and this node: none, one, or one for each direction. */
static int64_t join(const walk *w, int32_t node, cbx_edit to[2])
{
    const cbx_graph *g = w->s->graph;
    cbx_edit         e = {.op = CBX_ADD_EDGE,
                          .source = node,
                          .target = w->from,
                          .edge = -1,
                          .weight = w->rules->add_weight};
    if (!cbx_rules_addition(w->rules, w->s->row, w->from, node) ||
        (w->rules->add_within > 0 && w->near[node] != w->stamp))
        return 0;
    bool into = w->linked[node] == w->stamp, out = cbx_graph_has_edge(g, w->from, node);
    bool room_here = has_room(w, w->from), room_there = has_room(w, node);
    if (!w->directed) {
        e.undirected = true;
        to[0] = e;
        return !into && !out && room_here && room_there;
    }
    int64_t n = 0;
    if (!into && room_here)
        to[n++] = e;
    e.source = w->from;
    e.target = node;
    if (!out && room_there)
        to[n++] = e;
    return n;
}

/* False: there are no more, or no time. */
static bool next(walk *w, cbx_edit *e)
{
    int32_t  node;
    cbx_edit both[2];
    if (w->has_back) {
        *e = w->back;
        w->has_back = false;
        return true;
    }
    while (w->row >= 0 || next_row(w)) {
        while (next_partner(w, &node)) {
            if (cbx_out_of_time(PAIR))
                return false;
            int64_t count = node == w->from ? 0 : join(w, node, both);
            if (!count)
                continue;
            *e = both[0];
            w->back = both[1];
            w->has_back = count == 2;
            return true;
        }
        if (!next_row(w))
            return false;
    }
    return false;
}

/* ---- the best of many */

static int by_gain(const void *a, const void *b)
{
    const cbx_edit *x = a, *y = b;
    if (x->influence != y->influence)
        return x->influence > y->influence ? -1 : 1;
    return (x->source > y->source) - (x->source < y->source);
}

/* What each would do, to first order, as its influence. */
static cbx_status measure(const cbx_search *s, const cbx_rules *rules, cbx_edit *edits,
                          int64_t count, cbx_arena *arena, cbx_error *err)
{
    cbx_search     here = *s, wide;
    cbx_edit_state W;
    cbx_places     places;
    here.arena = arena;
    cbx_status status = cbx_widen(&here, edits, count, &wide, err);
    if (!status)
        status = cbx_edit_state_init(&W, &wide, rules, err);
    if (status)
        return status;
    (void)cbx_edit_state_slopes(&W);
    if (cbx_time_is_up() || cbx_places_init(&places, wide.view))
        return cbx_fail_late(err);
    for (int64_t k = 0; k < count; k++) {
        cbx_move m;
        edits[k].influence = cbx_moves_of_edit(&W, &edits[k], &places, &m)
                                 ? (float)cbx_move_add_edge_gain(&W, m.pair)
                                 : -1e30F;
    }
    cbx_places_free(&places);
    return CBX_OK;
}

/* Chunk by chunk, the best so far in front. */
static cbx_status choose_best(walk *w, cbx_offers *out, int64_t most, cbx_error *err)
{
    const cbx_search *s = w->s;
    cbx_edit         *edits = CBX_NEW(s->arena, cbx_edit, most + CHUNK);
    cbx_arena         work = {0};
    cbx_status        status = edits ? CBX_OK : cbx_fail_memory(err);
    out->edits = edits;
    out->count = 0;
    for (bool more = true; more && !status;) {
        int64_t n = 0;
        while (n < CHUNK && (more = next(w, &edits[out->count + n])))
            n++;
        status = n ? measure(s, w->rules, edits + out->count, n, &work, err) : CBX_OK;
        if (!status && cbx_sort(edits, out->count + n, sizeof *edits, by_gain, &work))
            status = cbx_fail_late(err);
        if (!status)
            out->count = out->count + n < most ? out->count + n : most;
        cbx_arena_free(&work);
        work = (cbx_arena){0};
    }
    return cbx_search_status(status);
}

cbx_status cbx_offers_choose(const cbx_search *s, const cbx_rules *rules, cbx_offers *out,
                             cbx_error *err)
{
    int64_t most = s->options->add_candidates;
    walk    w;
    *out = (cbx_offers){.edits = CBX_NEW(s->arena, cbx_edit, most + 1)};
    if (!out->edits || start(&w, s, rules, s->arena))
        return cbx_fail_memory(err);
    while (out->count <= most && next(&w, &out->edits[out->count]))
        out->count++;
    out->all = out->count <= most && !cbx_time_is_up();
    if (out->all || cbx_time_is_up())
        return CBX_OK;
    if (start(&w, s, rules, s->arena))
        return cbx_fail_memory(err);
    return choose_best(&w, out, most, err);
}
