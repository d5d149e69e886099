/* SPDX-License-Identifier: Apache-2.0 */
/* lie.c: see lie.h. */
#include "lie.h"

#include <stdio.h>
#include <string.h>

#include "space.h"

bool lie_named(const char *name, lie *out)
{
    static const char *const names[LIES] = {"none",    "found",       "irreducible", "step",
                                            "optimal", "lower_bound", "proved_none", "way",
                                            "cost",    "radius",      "robust",      "flips_with",
                                            "node",    "weight",      "newcomer"};
    for (int k = 0; k < LIES; k++)
        if (!strcmp(names[k], name)) {
            *out = (lie)k;
            return true;
        }
    return false;
}

static void set(question *q, const char *name, const char *value)
{
    (void)snprintf(q->settings[q->num_settings][0], MAX_SETTING, "%s", name);
    (void)snprintf(q->settings[q->num_settings++][1], MAX_SETTING, "%s", value);
}

void lie_before(lie kind, question *q)
{
    if (kind == LIE_OPTIMAL)
        set(q, "total-cfs", "5");
    q->total_cfs = kind == LIE_OPTIMAL ? 5 : q->total_cfs;
    if (kind == LIE_NODE || kind == LIE_NEWCOMER) { /* so that answers have some */
        set(q, "node-cost", "0.1");
        q->node_cost = 0.1;
    }
    if (kind != LIE_PROVED_NONE)
        return;
    set(q, "prove", "0");
    set(q, "beam", "1");
    set(q, "candidates", "1");
    set(q, "rebuilds", "0");
    set(q, "epochs", "1");
}

static void count_edits(cbx_counterfactual *a)
{
    a->num_edges_removed = a->num_edges_added = a->num_nodes_removed = 0;
    a->num_edges_reweighted = a->num_nodes_added = 0;
    for (int64_t k = 0; k < a->num_edits; k++) {
        a->num_edges_removed += a->edits[k].op == CBX_REMOVE_EDGE;
        a->num_edges_added += a->edits[k].op == CBX_ADD_EDGE;
        a->num_nodes_removed += a->edits[k].op == CBX_REMOVE_NODE;
        a->num_edges_reweighted += a->edits[k].op == CBX_SET_EDGE;
        a->num_nodes_added += a->edits[k].op == CBX_ADD_NODE;
    }
    a->num_features_changed = a->num_edits - a->num_edges_removed - a->num_edges_added -
                              a->num_nodes_removed - a->num_edges_reweighted - a->num_nodes_added;
}

static cbx_edit needless(const question *q, const place *p)
{
    if (p->kind == PLACE_WEIGHT)
        return (cbx_edit){.op = CBX_SET_EDGE,
                          .source = p->u,
                          .target = p->v,
                          .edge = p->edge,
                          .undirected = p->edge < 0,
                          .weight = p->values[0]};
    if (p->kind == PLACE_NODE)
        return (cbx_edit){.op = CBX_REMOVE_NODE, .node = p->node};
    if (p->kind == PLACE_NEWCOMER)
        return (cbx_edit){.op = CBX_ADD_NODE,
                          .source = q->world.copied[p->node],
                          .target = q->world.at[p->node],
                          .edge = -1,
                          .undirected = !q->directed,
                          .weight = middle_weight(&q->world)};
    if (p->kind == PLACE_EDGE)
        return (cbx_edit){.op = p->comes ? CBX_ADD_EDGE : CBX_REMOVE_EDGE,
                          .source = p->u,
                          .target = p->v,
                          .edge = p->comes ? -1 : p->edge,
                          .undirected = p->edge < 0,
                          .weight = p->comes ? q->world.edge_weight[q->world.edges] : 0};
    return (cbx_edit){.op = CBX_SET_FEATURE,
                      .node = p->node,
                      .feature = p->feature,
                      .from = feature_of(&q->world, p->node, p->feature),
                      .to = p->values[0]};
}

/* Edges of the same nodes, or features of the same node. */
static bool is_near(const cbx_edit *a, const cbx_edit *b)
{
    if (a->op != b->op)
        return false;
    return a->op != CBX_SET_FEATURE && a->op != CBX_REMOVE_NODE
               ? a->source == b->source && a->target == b->target
               : a->node == b->node;
}

/* Some feature that may change and does not yet, changed for nothing. */
static void add_needless(const question *q, cbx_counterfactual *a)
{
    enum { MOST = 64 };
    static _Thread_local cbx_edit edits[MOST];
    dice                          d = {0};
    space                         s;
    find_space(q, &d, &s);
    if (a->num_edits + 1 > MOST)
        return;
    memcpy(edits, a->edits, (size_t)a->num_edits * sizeof *edits);
    for (int k = 0; k < s.count; k++) {
        const place *p = &s.places[k];
        bool         taken = p->kind == PLACE_GROUP;
        cbx_edit     e = needless(q, p);
        for (int64_t i = 0; i < a->num_edits; i++)
            taken = taken || is_near(&a->edits[i], &e);
        if (taken)
            continue;
        edits[a->num_edits++] = e;
        a->edits = edits;
        a->certificate = CBX_IRREDUCIBLE;
        return;
    }
}

/* Values with a step go to the end of what is permitted. */
static void go_too_far(const question *q, cbx_counterfactual *a)
{
    cbx_edit *edits = (cbx_edit *)a->edits; /* the answer's own memory */
    for (int64_t k = 0; k < a->num_edits; k++)
        if (edits[k].op == CBX_SET_FEATURE && edits[k].step > 0) {
            edits[k].to =
                edits[k].to > edits[k].from ? q->hi[edits[k].feature] : q->lo[edits[k].feature];
            a->certificate = CBX_IRREDUCIBLE;
        }
}

/* The next one goes instead. */
static void take_another_node(const question *q, cbx_counterfactual *a)
{
    cbx_edit *edits = (cbx_edit *)a->edits; /* the answer's own memory */
    for (int64_t k = 0; k < a->num_edits; k++)
        if (edits[k].op == CBX_REMOVE_NODE)
            edits[k].node = (edits[k].node + 1) % q->world.nodes;
}

/* The last node of the graph that is not like this one; itself where all are alike. */
static int32_t unlike(const question *q, int32_t node)
{
    const world *w = &q->world;
    int32_t      other = node;
    for (int i = first_node(q); i < end_node(q); i++)
        if (memcmp(&w->x[i * w->features], &w->x[node * w->features],
                   (size_t)w->features * sizeof *w->x) != 0)
            other = i;
    return other;
}

/* A node comes that is a copy of another one; where all are alike, its edge is another. */
static void add_another_node(const question *q, cbx_counterfactual *a)
{
    cbx_edit *edits = (cbx_edit *)a->edits; /* the answer's own memory */
    for (int64_t k = 0; k < a->num_edits; k++) {
        if (edits[k].op != CBX_ADD_NODE)
            continue;
        int32_t other = unlike(q, edits[k].source);
        if (other == edits[k].source)
            edits[k].undirected = !edits[k].undirected;
        edits[k].source = other;
    }
}

/* Edges that go are told to weigh more than any does, as are those that weigh something else. */
static void weigh_too_much(const question *q, cbx_counterfactual *a)
{
    cbx_edit *edits = (cbx_edit *)a->edits; /* the answer's own memory */
    float     most = 1;
    for (int e = 0; e < q->world.edges; e++)
        most = q->world.edge_weight[e] > most ? q->world.edge_weight[e] : most;
    for (int64_t k = 0; k < a->num_edits; k++)
        if (edits[k].op == CBX_SET_EDGE || edits[k].op == CBX_REMOVE_EDGE) {
            edits[k].op = CBX_SET_EDGE;
            edits[k].weight = most + 1;
        }
}

void lie_after(lie kind, const question *q, cbx_counterfactual *a)
{
    bool found = a->outcome == CBX_FOUND;
    if (kind == LIE_FOUND && found && a->certificate != CBX_NO_CERTIFICATE && a->num_edits > 1)
        a->num_edits--;
    if (kind == LIE_IRREDUCIBLE && found)
        add_needless(q, a);
    if (kind == LIE_STEP && found)
        go_too_far(q, a);
    for (cbx_counterfactual *each = a; each && kind == LIE_OPTIMAL && found; each = each->next)
        each->certificate = CBX_OPTIMAL;
    if (kind == LIE_LOWER_BOUND && found)
        a->lower_bound = a->cost + 1;
    if (kind == LIE_WAY && found)
        a->l1_mad /= 2;
    if (kind == LIE_COST && found)
        a->cost += a->l1_mad;
    if (kind == LIE_WEIGHT && found)
        weigh_too_much(q, a);
    if (kind == LIE_NODE && found)
        take_another_node(q, a);
    if (kind == LIE_NEWCOMER && found)
        add_another_node(q, a);
    if (kind == LIE_PROVED_NONE && a->outcome == CBX_NOT_FOUND)
        a->certificate = CBX_PROVED_NONE;
    if (kind == LIE_FOUND || kind == LIE_IRREDUCIBLE || kind == LIE_WEIGHT)
        count_edits(a);
}

void lie_of_radius(lie kind, cbx_radius *told)
{
    if (kind == LIE_RADIUS && told->flips_with && told->flips_with < told->budget)
        told->lower_bound = ++told->flips_with;
    if (kind == LIE_ROBUST && told->flips_with) {
        told->robust = 1;
        told->flips_with = 0;
        told->lower_bound = told->budget + 1;
    }
    if (kind == LIE_FLIPS_WITH && told->robust == 1 && told->budget > 0) {
        told->robust = 0;
        told->flips_with = told->lower_bound = told->budget;
    }
}
