/* SPDX-License-Identifier: Apache-2.0 */
/* addable.c: see addable.h. */
#include "addable.h"

#include "added.h"
#include "deadline.h"

/* Multiplications in the time of looking at a pair, and at an edge. */
static const double PAIR = 60, EDGE = 10;

static int32_t node_at(const cbx_addable *w, int64_t row)
{
    return w->s->view->node ? w->s->view->node[row] : (int32_t)row;
}

int cbx_addable_start(cbx_addable *w, const cbx_search *s, const cbx_rules *rules, cbx_arena *arena)
{
    int32_t n = s->graph->data.num_nodes;
    *w = (cbx_addable){.s = s,
                       .rules = rules,
                       .graphs = s->graph->data.task == CBX_GRAPH,
                       .directed = s->options->edges != CBX_EDGES_UNDIRECTED,
                       .linked = CBX_NEW0(arena, int32_t, n),
                       .near = CBX_NEW0(arena, int32_t, n),
                       .queue = CBX_NEW(arena, int32_t, n),
                       .row = -1};
    return w->linked && w->near && w->queue ? 0 : -1;
}

static void reach(cbx_addable *w, int32_t node, int32_t *tail)
{
    if (w->near[node] == w->stamp)
        return;
    w->near[node] = w->stamp;
    w->queue[(*tail)++] = node;
}

/* Marks what is within add_within hops, whichever way edges point. */
static void find_near(cbx_addable *w)
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

int32_t cbx_addable_rows(const cbx_addable *w)
{
    bool one = !w->graphs && (w->rules->add_at_target || w->rules->own_edges);
    return one ? 1 : w->s->view->n;
}

void cbx_addable_look_at(cbx_addable *w, int32_t row)
{
    const cbx_graph *g = w->s->graph;
    w->row = row;
    w->from = node_at(w, row);
    w->to = row == 0 && !w->graphs ? 0 : row + 1;
    w->stamp++;
    for (int64_t e = g->in_offset[w->from]; e < g->in_offset[w->from + 1]; e++)
        w->linked[g->in_source[e]] = w->stamp;
    if (w->rules->add_within > 0)
        find_near(w);
}

/* From the next row of the view on; false: there are no more. */
static bool next_row(cbx_addable *w)
{
    if (w->row + 1 >= cbx_addable_rows(w))
        return false;
    cbx_addable_look_at(w, w->row + 1);
    return true;
}

/* Partners of the target are all nodes, of others the rows behind. */
static bool next_partner(cbx_addable *w, int32_t *node)
{
    bool    any = w->row == 0 && !w->graphs;
    int64_t end = any ? w->s->graph->data.num_nodes : w->s->view->n;
    if (w->to >= end)
        return false;
    *node = any ? (int32_t)w->to : node_at(w, w->to);
    w->to++;
    return true;
}

static bool has_room(const cbx_addable *w, int32_t node)
{
    return !cbx_rules_limit_degree(w->rules) || cbx_rules_room(w->rules, node) > 0;
}

int64_t cbx_addable_join(const cbx_addable *w, int32_t node, cbx_edit to[2])
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

bool cbx_addable_next(cbx_addable *w, cbx_edit *e)
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
            int64_t count = node == w->from ? 0 : cbx_addable_join(w, node, both);
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
