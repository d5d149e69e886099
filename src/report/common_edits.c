/* SPDX-License-Identifier: Apache-2.0 */
/* common_edits.c: what the flips of many targets have in common.
 *
 * Every feature and edge is counted, and every node that is removed. Beyond that, features are
 * taken one after the other, each time the one that is edited in most of the flips not accounted
 * for yet, until four flips in five are: the core. */
#include <stdlib.h>
#include <string.h>

#include "combinex/kit.h"
#include "error.h"

/* Answers of more edits than MOST have too many features for a core, and noting them all would
 * take more memory than the search. */
enum { ENOUGH_PERCENT = 80, MOST = 100 };

typedef struct note {
    int64_t flip;
    int32_t feature;
} note;

typedef struct edge_note {
    cbx_common_edge edge;
    int64_t         flip;
} edge_note;

typedef struct node_note {
    int32_t node;
    int64_t flip;
} node_note;

typedef struct list {
    void  *items;
    size_t count, room;
} list;

struct cbx_common_edits {
    int64_t             flips;
    list                notes, edges, nodes; /* of note, edge_note, node_note */
    cbx_common_feature *by_feature;          /* by number; flips 0: not met */
    int64_t            *last;                /* flip that the feature was met in, and 1 */
    int32_t             room;
    bool                no_core, no_memory;
    cbx_common          common;
    int32_t            *core;
    int64_t            *core_flips;
};

cbx_status cbx_common_edits_new(cbx_common_edits **out, cbx_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? CBX_OK : cbx_fail_memory(err);
}

/* What was found the last time. */
static void forget(cbx_common_edits *r)
{
    free((void *)r->common.features);
    free((void *)r->common.edges);
    free((void *)r->common.nodes);
    free(r->core);
    free(r->core_flips);
    r->core = NULL;
    r->core_flips = NULL;
    r->common = (cbx_common){.flips = r->flips};
}

void cbx_common_edits_free(cbx_common_edits *r)
{
    if (!r)
        return;
    forget(r);
    free(r->notes.items);
    free(r->edges.items);
    free(r->nodes.items);
    free(r->by_feature);
    free(r->last);
    free(r);
}

/* ------------------------------------------------------------------ taking */

/* A place for one more; NULL when memory runs out. */
static void *more(list *l, size_t size)
{
    if (l->count == l->room) {
        size_t room = l->room ? 2 * l->room : 256;
        void  *items = realloc(l->items, room * size);
        if (!items)
            return NULL;
        l->items = items;
        l->room = room;
    }
    return (char *)l->items + size * l->count++;
}

static bool make_room(cbx_common_edits *r, int32_t feature)
{
    if (feature < r->room)
        return true;
    int64_t want = 2 * (int64_t)feature + 64;
    int32_t room = want > INT32_MAX ? INT32_MAX : (int32_t)want;
    void   *counts = realloc(r->by_feature, (size_t)room * sizeof *r->by_feature);
    if (counts)
        r->by_feature = counts;
    void *last = realloc(r->last, (size_t)room * sizeof *r->last);
    if (last)
        r->last = last;
    if (!counts || !last || feature >= room)
        return false;
    for (int32_t f = r->room; f < room; f++) {
        r->by_feature[f] = (cbx_common_feature){.feature = f};
        r->last[f] = 0;
    }
    r->room = room;
    return true;
}

static bool add_feature(cbx_common_edits *r, const cbx_edit *e)
{
    if (!make_room(r, e->feature))
        return false;
    cbx_common_feature *f = &r->by_feature[e->feature];
    f->raised += e->to > e->from;
    f->lowered += e->to < e->from;
    if (r->last[e->feature] == r->flips + 1) /* a feature counts once a flip */
        return true;
    r->last[e->feature] = r->flips + 1;
    f->flips++;
    note *n = r->no_core ? NULL : more(&r->notes, sizeof *n);
    if (n)
        *n = (note){r->flips, e->feature};
    return n || r->no_core;
}

static bool add_edge(cbx_common_edits *r, const cbx_edit *e)
{
    bool       turn = e->undirected && e->source > e->target;
    edge_note *n = more(&r->edges, sizeof *n);
    if (n)
        *n = (edge_note){{.source = turn ? e->target : e->source,
                          .target = turn ? e->source : e->target,
                          .undirected = e->undirected,
                          .added = e->op == CBX_ADD_EDGE,
                          .reweighted = e->op == CBX_SET_EDGE},
                         r->flips};
    return n != NULL;
}

static bool add_node(cbx_common_edits *r, const cbx_edit *e)
{
    node_note *n = more(&r->nodes, sizeof *n);
    if (n)
        *n = (node_note){e->node, r->flips};
    return n != NULL;
}

static bool add_edit(cbx_common_edits *r, const cbx_edit *e)
{
    switch (e->op) {
    case CBX_REMOVE_EDGE:
    case CBX_ADD_EDGE:
    case CBX_SET_EDGE:
        return add_edge(r, e);
    case CBX_SET_FEATURE:
        return add_feature(r, e);
    case CBX_REMOVE_NODE:
        return add_node(r, e);
    case CBX_ADD_NODE: /* what comes to one graph is no part of another */
        return true;
    }
    return true;
}

void cbx_common_edits_add(cbx_common_edits *r, const cbx_counterfactual *c)
{
    if (c->outcome != CBX_FOUND)
        return;
    r->no_core = r->no_core || c->num_edits > MOST;
    for (int64_t k = 0; k < c->num_edits && !r->no_memory; k++)
        r->no_memory = !add_edit(r, &c->edits[k]);
    r->flips++;
}

/* ----------------------------------------------------------------- finding */

static int by_flips(int64_t a, int64_t b)
{
    return (a < b) - (a > b); /* most first */
}

static int compare_features(const void *a, const void *b)
{
    const cbx_common_feature *x = a, *y = b;
    int                       order = by_flips(x->flips, y->flips);
    return order ? order : (x->feature > y->feature) - (x->feature < y->feature);
}

static int compare_ends(const cbx_common_edge *x, const cbx_common_edge *y)
{
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    if (x->undirected != y->undirected)
        return (int)x->undirected - (int)y->undirected;
    if (x->added != y->added)
        return (int)x->added - (int)y->added;
    return (int)x->reweighted - (int)y->reweighted;
}

static int compare_notes(const void *a, const void *b)
{
    const edge_note *x = a, *y = b;
    int              order = compare_ends(&x->edge, &y->edge);
    return order ? order : (x->flip > y->flip) - (x->flip < y->flip);
}

static int compare_edges(const void *a, const void *b)
{
    const cbx_common_edge *x = a, *y = b;
    int                    order = by_flips(x->flips, y->flips);
    return order ? order : compare_ends(x, y);
}

static bool find_features(cbx_common_edits *r)
{
    cbx_common_feature *met = malloc(((size_t)r->room + 1) * sizeof *met);
    r->common.features = met;
    for (int32_t f = 0; met && f < r->room; f++)
        if (r->by_feature[f].flips)
            met[r->common.num_features++] = r->by_feature[f];
    if (met)
        qsort(met, (size_t)r->common.num_features, sizeof *met, compare_features);
    return met != NULL;
}

static bool find_edges(cbx_common_edits *r)
{
    edge_note       *notes = r->edges.items;
    cbx_common_edge *met = malloc((r->edges.count + 1) * sizeof *met);
    int64_t          count = 0;
    r->common.edges = met;
    if (!met)
        return false;
    if (r->edges.count)
        qsort(notes, r->edges.count, sizeof *notes, compare_notes);
    for (size_t i = 0; i < r->edges.count; i++) {
        bool same = i && !compare_ends(&notes[i].edge, &notes[i - 1].edge);
        if (!same)
            met[count++] = notes[i].edge;
        met[count - 1].flips += !same || notes[i].flip != notes[i - 1].flip;
    }
    qsort(met, (size_t)count, sizeof *met, compare_edges);
    r->common.num_edges = count;
    return true;
}

static int compare_node_notes(const void *a, const void *b)
{
    const node_note *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->flip > y->flip) - (x->flip < y->flip);
}

static int compare_nodes(const void *a, const void *b)
{
    const cbx_common_node *x = a, *y = b;
    int                    order = by_flips(x->flips, y->flips);
    return order ? order : (x->node > y->node) - (x->node < y->node);
}

static bool find_nodes(cbx_common_edits *r)
{
    node_note       *notes = r->nodes.items;
    cbx_common_node *met = malloc((r->nodes.count + 1) * sizeof *met);
    int64_t          count = 0;
    r->common.nodes = met;
    if (!met)
        return false;
    if (r->nodes.count)
        qsort(notes, r->nodes.count, sizeof *notes, compare_node_notes);
    for (size_t i = 0; i < r->nodes.count; i++) {
        bool same = i && notes[i].node == notes[i - 1].node;
        if (!same)
            met[count++] = (cbx_common_node){.node = notes[i].node};
        met[count - 1].flips += !same || notes[i].flip != notes[i - 1].flip;
    }
    qsort(met, (size_t)count, sizeof *met, compare_nodes);
    r->common.num_nodes = count;
    return true;
}

/* The next feature of the core: of those equal, the one with the smallest number. */
static int32_t next_core(const cbx_common_edits *r, const uint8_t *covered, int64_t *times)
{
    const note *notes = r->notes.items;
    int32_t     best = 0;
    memset(times, 0, (size_t)r->room * sizeof *times);
    for (size_t k = 0; k < r->notes.count; k++)
        times[notes[k].feature] += !covered[notes[k].flip];
    for (int32_t f = 1; f < r->room; f++)
        best = times[f] > times[best] ? f : best;
    return best;
}

static bool find_core(cbx_common_edits *r)
{
    const note *notes = r->notes.items;
    int64_t    *times = calloc((size_t)r->room + 1, sizeof *times);
    uint8_t    *covered = calloc((size_t)r->flips + 1, 1);
    cbx_common *c = &r->common;
    r->core = malloc(((size_t)r->room + 1) * sizeof *r->core);
    r->core_flips = malloc(((size_t)r->room + 1) * sizeof *r->core_flips);
    bool there = times && covered && r->core && r->core_flips;
    while (there && 100 * c->covered < ENOUGH_PERCENT * r->flips) {
        int32_t best = next_core(r, covered, times);
        if (!times[best])
            break; /* the rest is edges */
        for (size_t k = 0; k < r->notes.count; k++)
            if (notes[k].feature == best)
                covered[notes[k].flip] = 1;
        c->covered += times[best];
        r->core_flips[c->num_core] = times[best];
        r->core[c->num_core++] = best;
    }
    c->core = r->core;
    c->core_flips = r->core_flips;
    c->core_known = true;
    free(times);
    free(covered);
    return there;
}

cbx_status cbx_common_edits_find(cbx_common_edits *r, const cbx_common **out, cbx_error *err)
{
    forget(r);
    *out = &r->common;
    if (r->no_memory || !find_features(r) || !find_edges(r) || !find_nodes(r) ||
        (!r->no_core && !find_core(r)))
        return cbx_fail_memory(err);
    return CBX_OK;
}
