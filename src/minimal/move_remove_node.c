/* SPDX-License-Identifier: Apache-2.0 */
/* move_remove_node.c: a node goes, with all its edges, and out of the pooling of its graph.
 *
 * What must be left of the graph (rule keep) is not asked here but of the graph as a whole
 * (edit_state.c): one node may be in the way of another, and both together not. */
#include <math.h>

#include "deadline.h"
#include "move.h"

/* Multiplications in the time of looking at an edge. */
static const double EDGE = 30;

static cbx_move make(const cbx_edit_state *W, int32_t node, double gain)
{
    return (cbx_move){.kind = &cbx_move_remove_node,
                      .row = node,
                      .column = -1,
                      .other = -1,
                      .pair = -1,
                      .cost = cbx_minimal_of(W->s)->node_cost,
                      .gain = gain};
}

static bool is_asked_for(const cbx_edit_state *W)
{
    return (W->rules->edits & CBX_EDITS_REMOVE_NODES) != 0;
}

/* Where nobody asks for it, its cost says nothing of the cheapest. A search that ends before it
 * uses the kind has it to fear still. */
static double cost(const cbx_edit_state *W)
{
    return is_asked_for(W) ? cbx_minimal_of(W->s)->node_cost : INFINITY;
}

/* Is there a rule that holds on to edges? */
static bool holds_edges(const cbx_rules *r)
{
    return r->keep_all_edges || r->num_edges || r->num_nodes;
}

/* By the view's nodes: one that has an edge which must stay, stays. All edges of the graph are
 * looked at, also those that lead out of the view. */
static int keep_bound(const cbx_edit_state *W, uint8_t *allowed)
{
    const cbx_graph *g = W->s->graph;
    cbx_places       places;
    if (cbx_places_init(&places, W->s->view))
        return -1;
    for (int64_t e = 0; e < g->data.num_edges; e++) {
        int32_t ends[2] = {(int32_t)g->data.edge_source[e], (int32_t)g->data.edge_target[e]};
        int32_t at[2] = {cbx_places_find(&places, ends[0]), cbx_places_find(&places, ends[1])};
        bool    stays = (at[0] >= 0 || at[1] >= 0) &&
                     !cbx_rules_pair_with_node(W->rules, W->s->row, ends[0], ends[1]);
        for (int k = 0; k < 2 && stays; k++)
            if (at[k] >= 0)
                allowed[at[k]] = 0;
        if (cbx_out_of_time_at(e, EDGE))
            break;
    }
    cbx_places_free(&places);
    return cbx_time_is_up() ? -1 : 0;
}

/* Does an edge lead out of the view? All edges of the graph are looked at. */
static int look_out(const cbx_edit_state *W, bool *leads_out)
{
    const cbx_graph *g = W->s->graph;
    cbx_places       places;
    *leads_out = false;
    if (cbx_places_init(&places, W->s->view))
        return -1;
    for (int64_t e = 0; e < g->data.num_edges && !cbx_out_of_time_at(e, EDGE); e++)
        *leads_out =
            *leads_out || (cbx_places_find(&places, (int32_t)g->data.edge_source[e]) < 0) !=
                              (cbx_places_find(&places, (int32_t)g->data.edge_target[e]) < 0);
    cbx_places_free(&places);
    return cbx_time_is_up() ? -1 : 0;
}

static int prepare(cbx_edit_state *W, cbx_arena *arena)
{
    if (!(W->s->further & CBX_EDITS_REMOVE_NODES))
        return 0;
    if (W->rules->keep != CBX_KEEP_NOTHING && look_out(W, &W->leads_out))
        return -1;
    W->allowed_node = CBX_NEW0(arena, uint8_t, W->view.n);
    for (int32_t i = 0; W->allowed_node && i < W->own; i++)
        W->allowed_node[i] = cbx_rules_removal(W->rules, W->s->row, cbx_edit_state_node(W, i));
    if (!W->allowed_node)
        return -1;
    return holds_edges(W->rules) ? keep_bound(W, W->allowed_node) : 0;
}

/* ---- removing */

/* Has it an edge that was added, or has a node come to it? Then it cannot go as well. */
static bool is_added_to(const cbx_edit_state *W, int32_t node)
{
    const cbx_view *v = W->s->view;
    const uint8_t  *offered = W->s->offered;
    bool            added = false;
    for (int64_t e = v->offset[node]; offered && e < v->offset[node + 1]; e++)
        added = added || (offered[e] && !W->gone[W->pair_of[e]]);
    for (int64_t o = v->out_offset[node]; offered && o < v->out_offset[node + 1]; o++) {
        int64_t e = v->out_slot[o];
        added = added || (offered[e] && !W->gone[W->pair_of[e]]);
    }
    return added || cbx_move_add_node_is_at(W, node);
}

/* A graph keeps a node at least; and nothing of one that goes has changed. */
static bool may(const cbx_edit_state *W, const cbx_move *m)
{
    return W->allowed_node && W->allowed_node[m->row] && W->num_absent + 1 < W->own &&
           !is_added_to(W, m->row);
}

static void apply(cbx_edit_state *W, const cbx_move *m)
{
    cbx_edit_state_set_node(W, m->row, true);
}

static void undo(cbx_edit_state *W, const cbx_move *m)
{
    cbx_edit_state_set_node(W, m->row, false);
}

static int64_t write(const cbx_edit_state *W, const cbx_move *m, cbx_edit *edits)
{
    edits[0] = (cbx_edit){.op = CBX_REMOVE_NODE, .node = cbx_edit_state_node(W, m->row)};
    return 1;
}

/* ---- listing */

/* Where derivatives say nothing, a move is tried after those of which they say something. */
static const double UNKNOWN = 1e-30;

static double gain_of(const cbx_edit_state *W, int32_t node)
{
    const cbx_view *v = W->s->view;
    double          gain = W->leaving ? (double)W->leaving[node] : 0;
    for (int64_t e = v->offset[node]; e < v->offset[node + 1]; e++)
        gain -= (double)W->dw[e] * W->w[e];
    for (int64_t o = v->out_offset[node]; o < v->out_offset[node + 1]; o++)
        if (v->out_target[o] != node)
            gain -= (double)W->dw[v->out_slot[o]] * W->w[v->out_slot[o]];
    return gain;
}

static void offer(const cbx_edit_state *W, int64_t node, cbx_move_list *list)
{
    if (!W->allowed_node || !W->allowed_node[node])
        return;
    double   gain = gain_of(W, (int32_t)node);
    cbx_move m = make(W, (int32_t)node, gain == 0 ? UNKNOWN : gain);
    if (m.gain > 0 && may(W, &m))
        cbx_move_list_add(list, &m);
}

/* Can the class depend on the node? In a graph that is pooled on each; else by its edges, or where
 * somebody else runs the model in ways that nobody knows. Where something must be left of the
 * graph, one on which nothing depends may have to go for another to go. */
static bool matters(const cbx_edit_state *W, int32_t node)
{
    const cbx_view *v = W->s->view;
    bool            any = W->s->graph->data.task == CBX_GRAPH || W->s->model->oracle ||
               W->rules->keep != CBX_KEEP_NOTHING;
    for (int64_t e = v->offset[node]; !any && e < v->offset[node + 1]; e++)
        any = W->matters[W->pair_of[e]];
    for (int64_t o = v->out_offset[node]; !any && o < v->out_offset[node + 1]; o++)
        any = W->matters[W->pair_of[v->out_slot[o]]];
    return any;
}

static bool next(const cbx_edit_state *W, cbx_move_walk *at, cbx_move *m)
{
    if (at->stage++ || !W->allowed_node || !W->allowed_node[at->node] || !matters(W, at->node))
        return false;
    *m = make(W, at->node, 0);
    return true;
}

/* A search that does not use the kind has not looked at it; and where something must be left of the
 * graph, nodes that no search sees may have to go as well. */
static bool is_listed(const cbx_edit_state *W)
{
    return !is_asked_for(W) || (W->allowed_node && !W->leads_out);
}

static bool is_unbounded(const cbx_edit_state *W)
{
    return is_asked_for(W);
}

static bool of_edit(const cbx_edit_state *W, const cbx_edit *e, const cbx_places *places,
                    cbx_move *m)
{
    int32_t i = e->op == CBX_REMOVE_NODE ? cbx_places_find(places, e->node) : -1;
    if (i < 0 || !W->allowed_node)
        return false;
    *m = make(W, i, (double)e->influence);
    return true;
}

static int64_t ways(const cbx_edit_state *W)
{
    return W->allowed_node ? W->own : 0;
}

static cbx_move draw(const cbx_edit_state *W, int64_t way, cbx_rng *rng)
{
    (void)rng;
    return make(W, (int32_t)way, 0);
}

const cbx_move_kind cbx_move_remove_node = {.site = CBX_AT_NODES,
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
                                            .ways = ways,
                                            .draw = draw};
