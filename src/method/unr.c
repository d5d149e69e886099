/* SPDX-License-Identifier: Apache-2.0 */
/* unr.c: UNR-Explainer (Kang et al. 2024): Monte-Carlo tree search, with restart, for the
 * connected subgraph around the target without which its place among all nodes is another.
 *
 * The importance of a subgraph is the share of the target's nearest neighbours, in the
 * space of the oracle's last hidden layer, that change when its edges are removed, both
 * directions (neighbours.h). Every node of the tree is a node of the graph, the root the
 * target; its children are some neighbours, drawn when it is expanded. A rollout walks
 * down from the root, with UCB1 choosing the child, and collects the edges on its way:
 *
 *     the greatest of   best importance through the child + c sqrt(ln N / n)
 *
 * (N, n: visits of the root, of the child; a child not visited yet comes first). At each
 * step it may go back to the root instead, with the edges that it has; the step after that
 * takes any child but UCB1's. It ends at a leaf, which is expanded at its second visit.
 * The most important subgraph, of several the one with fewest edges, is the explanation;
 * it is a counterfactual if the class is the target's when it is removed.
 *
 * A subgraph that was met before is not evaluated again. All draws come from one stream
 * for a target, and neighbours are in the order of their numbers in the graph. In the
 * record of a rollout, loss is 1 - importance and edge_loss the number of edges. */
#include <math.h>
#include <string.h>

#include "edit.h"
#include "error.h"
#include "explainers.h"
#include "neighbours.h"
#include "order.h"
#include "project.h"
#include "rng.h"
#include "setup.h"
#include "threads.h"
#include "undirected_adjacency.h"

/* Steps of one rollout; beyond, its leaf is out of reach for want of luck. */
enum { LONGEST_WALK = 4096 };

typedef struct tree_node {
    int32_t at;       /* the view's number */
    int32_t children; /* -1: not expanded */
    int64_t first;    /* child */
    int64_t pair;     /* the edge from the parent */
    int64_t visits;
    double  value; /* best importance of a rollout through here */
} tree_node;

typedef struct known {
    uint64_t key; /* 0: free */
    double   importance;
} known;

typedef struct settings {
    int64_t neighbours; /* nearest, whose change is what counts */
    int64_t rollouts;   /* at most */
    int64_t patience;   /* rollouts without a better one */
    int64_t expansion;  /* children of a tree node; 0: max(3, mean degree) */
    double  exploration, restart;
} settings;

typedef struct state {
    cbx_search              *s;
    const settings          *own;
    cbx_neighbours           near;
    cbx_rng                  rng;
    cbx_undirected_adjacency ways;
    /* the tree */
    tree_node *tree;
    int64_t    size;
    int32_t    expansion;
    int32_t   *hat; /* for drawing children */
    /* one rollout */
    int64_t       *path;
    int32_t        path_length;
    int64_t       *chosen; /* pairs */
    int64_t        num_chosen;
    uint8_t       *is_chosen;
    cbx_lost_edge *removed;
    int64_t        num_removed;
    uint64_t       key;
    /* subgraphs that were met */
    known   *table;
    uint64_t table_mask;
    /* the best */
    double   importance;
    int64_t *best;
    int64_t  num_best;
} state;

/* ---- memory */

static int32_t expansion_of(const cbx_search *s)
{
    const settings       *own = s->settings;
    const cbx_graph_data *d = &s->graph->data;
    double                degree = rint((double)d->num_edges / d->num_nodes);
    if (own->expansion)
        return (int32_t)own->expansion;
    return degree > 3 ? (int32_t)degree : 3;
}

static int make_tree(state *st)
{
    const cbx_search *s = st->s;
    int64_t           rollouts = st->own->rollouts, most = 1;
    st->expansion = expansion_of(s);
    for (int32_t i = 0; i < s->view->n; i++) {
        int64_t ways = st->ways.from[i + 1] - st->ways.from[i];
        most = ways > most ? ways : most;
    }
    int64_t  children = st->expansion < most ? st->expansion : most;
    uint64_t entries = 16;
    while (entries < 2 * (uint64_t)rollouts)
        entries *= 2;
    st->table_mask = entries - 1;
    st->table = CBX_NEW0(s->arena, known, entries);
    st->tree = CBX_NEW(s->arena, tree_node, 1 + (rollouts + 1) * children);
    st->hat = CBX_NEW(s->arena, int32_t, most);
    st->path = CBX_NEW(s->arena, int64_t, LONGEST_WALK + 1);
    st->chosen = CBX_NEW(s->arena, int64_t, st->ways.pairs);
    st->best = CBX_NEW(s->arena, int64_t, st->ways.pairs);
    st->is_chosen = CBX_NEW0(s->arena, uint8_t, st->ways.pairs);
    st->removed = CBX_NEW(s->arena, cbx_lost_edge, s->view->m);
    return st->table && st->tree && st->hat && st->path && st->chosen && st->best &&
                   st->is_chosen && st->removed
               ? 0
               : -1;
}

/* ---- a rollout */

static void expand(state *st, tree_node *node)
{
    const cbx_way *ways = st->ways.way + st->ways.from[node->at];
    int32_t        count = (int32_t)(st->ways.from[node->at + 1] - st->ways.from[node->at]);
    int32_t        take = count < st->expansion ? count : st->expansion;
    node->first = st->size;
    node->children = take;
    for (int32_t i = 0; i < count; i++)
        st->hat[i] = i;
    for (int32_t i = 0; i < take; i++) {
        int32_t k = i + (int32_t)cbx_rng_below(&st->rng, (uint64_t)(count - i));
        int32_t drawn = st->hat[k];
        st->hat[k] = st->hat[i];
        st->tree[st->size++] =
            (tree_node){.at = ways[drawn].to, .children = -1, .pair = ways[drawn].pair};
    }
}

static int32_t best_child(const state *st, const tree_node *node)
{
    double  c = st->own->exploration, most = -1;
    double  known_visits = cbx_log((double)(st->tree[0].visits > 1 ? st->tree[0].visits : 1));
    int32_t best = 0;
    for (int32_t i = 0; i < node->children; i++) {
        const tree_node *child = &st->tree[node->first + i];
        if (!child->visits)
            return i;
        double score = child->value + c * sqrt(known_visits / (double)child->visits);
        if (score > most) {
            most = score;
            best = i;
        }
    }
    return best;
}

static int64_t step_to(state *st, int64_t child)
{
    int64_t pair = st->tree[child].pair;
    st->path[st->path_length++] = child;
    if (!st->is_chosen[pair]) {
        st->is_chosen[pair] = 1;
        st->chosen[st->num_chosen++] = pair;
        st->key ^= cbx_mix64((uint64_t)pair + 1);
    }
    return child;
}

/* From the root to a leaf; what is chosen on the way is the subgraph. */
static void walk(state *st)
{
    int64_t at = 0;
    bool    restarted = false;
    for (int32_t k = 0; k < LONGEST_WALK && st->tree[at].children >= 0; k++) {
        const tree_node *node = &st->tree[at];
        if (cbx_rng_uniform(&st->rng) < st->own->restart || node->children == 0) {
            restarted = true;
            at = 0;
            continue;
        }
        int32_t child = best_child(st, node);
        if (restarted && node->children > 1) {
            int32_t other = (int32_t)cbx_rng_below(&st->rng, (uint64_t)node->children - 1);
            child = other + (other >= child);
        }
        restarted = false;
        at = step_to(st, node->first + child);
    }
    if (st->tree[at].children < 0 && st->tree[at].visits > 0) {
        expand(st, &st->tree[at]);
        if (st->tree[at].children > 0)
            (void)step_to(st, st->tree[at].first);
    }
}

static void forget_walk(state *st)
{
    for (int64_t k = 0; k < st->num_chosen; k++)
        st->is_chosen[st->chosen[k]] = 0;
    st->num_chosen = 0;
    st->path_length = 0;
    st->key = 0;
}

static void collect_edges(state *st, const int64_t *pairs, int64_t count)
{
    st->num_removed = 0;
    for (int64_t k = 0; k < count; k++)
        for (int64_t e = st->ways.lost_from[pairs[k]]; e < st->ways.lost_from[pairs[k] + 1]; e++)
            st->removed[st->num_removed++] = st->ways.lost[e];
}

static cbx_status evaluate(state *st, double *importance, cbx_error *err)
{
    uint64_t key = st->key ? st->key : 1, at = cbx_mix64(key) & st->table_mask;
    collect_edges(st, st->chosen, st->num_chosen);
    while (st->table[at].key && st->table[at].key != key)
        at = (at + 1) & st->table_mask;
    if (!st->table[at].key) {
        cbx_status status = cbx_neighbours_importance(&st->near, st->removed, st->num_removed,
                                                      &st->table[at].importance, err);
        if (status)
            return status;
        st->table[at].key = key;
    }
    *importance = st->table[at].importance;
    return CBX_OK;
}

/* Hands the importance to all on the path; true: it is the best so far. */
static bool reward(state *st, double importance)
{
    tree_node *root = &st->tree[0];
    root->visits++;
    root->value = fmax(root->value, importance);
    for (int32_t k = 0; k < st->path_length; k++) {
        tree_node *node = &st->tree[st->path[k]];
        node->visits++;
        node->value = fmax(node->value, importance);
    }
    if (importance < st->importance ||
        (importance == st->importance && st->num_chosen >= st->num_best))
        return false;
    st->importance = importance;
    st->num_best = st->num_chosen;
    memcpy(st->best, st->chosen, (size_t)st->num_chosen * sizeof *st->best);
    return true;
}

/* ---- the answer */

/* Of the pairs that are marked as chosen. */
static cbx_status make_edits(state *st, cbx_error *err)
{
    cbx_search     *s = st->s;
    const cbx_view *v = s->view;
    bool            undirected = s->options->edges == CBX_EDGES_UNDIRECTED;
    s->edits = CBX_NEW(s->keep, cbx_edit, v->m);
    if (!s->edits)
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < v->n; i++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
            uint8_t *chosen = &st->is_chosen[st->ways.pair_of[e]];
            if (!*chosen)
                continue;
            s->edits[s->num_edits++] = cbx_search_edit_of_slot(s, i, e, undirected);
            *chosen = !undirected; /* one edit for all edges of a pair */
        }
    return CBX_OK;
}

/* Some of the chosen pairs stay where a rule asks for the graph's shape. */
static cbx_status keep_shape(state *st, cbx_error *err)
{
    cbx_pairs  pairs;
    cbx_shape *shape = NULL;
    if (!cbx_project_is_needed(st->s))
        return CBX_OK;
    if (cbx_pairs_of(st->s, &pairs))
        return cbx_fail_late(err);
    cbx_status status = cbx_shape_new(st->s, &pairs, &shape, err);
    if (shape)
        (void)cbx_shape_keep(shape, st->is_chosen);
    return status;
}

/* Is the class the target's when the best subgraph is gone? */
static cbx_status judge(state *st, cbx_error *err)
{
    cbx_search     *s = st->s;
    const cbx_view *v = s->view;
    uint8_t        *drop = CBX_NEW0(s->arena, uint8_t, v->m);
    cbx_view        without;
    cbx_pass        pass;
    if (!drop)
        return cbx_fail_memory(err);
    for (int64_t k = 0; k < st->num_best; k++)
        st->is_chosen[st->best[k]] = 1;
    cbx_status status = keep_shape(st, err);
    if (status)
        return status;
    for (int64_t e = 0; e < v->m; e++)
        drop[e] = st->is_chosen[st->ways.pair_of[e]];
    status = cbx_view_without(v, drop, s->arena, &without, err);
    if (!status)
        status = cbx_pass_init(&pass, s->model, &without, &s->X, false, 1, s->arena, err);
    if (status)
        return status;
    cbx_pass_forward(&pass, &s->X, NULL, 0, 0);
    if (cbx_time_is_up())
        return cbx_fail_late(err);
    s->found = cbx_search_hits(s, cbx_search_class(s, pass.logp));
    if (s->trace)
        s->trace[s->epoch].hit = s->found;
    return s->found ? make_edits(st, err) : CBX_OK;
}

static void record(state *st, double importance)
{
    cbx_search *s = st->s;
    s->epochs++;
    if (s->trace)
        s->trace[s->num_trace++] = (cbx_epoch){.loss = 1 - importance,
                                               .edge_loss = (double)st->num_chosen,
                                               .removed_edges = st->num_removed};
}

static cbx_status run(state *st, cbx_error *err)
{
    cbx_search *s = st->s;
    int64_t     most = st->own->rollouts, since = 0;
    st->importance = -1;
    st->size = 1;
    st->tree[0] = (tree_node){.children = -1};
    expand(st, &st->tree[0]);
    for (int64_t t = 0; t < most && st->tree[0].children && since < st->own->patience; t++) {
        double importance = 0;
        forget_walk(st);
        walk(st);
        cbx_status status = cbx_search_status(evaluate(st, &importance, err));
        if (status)
            return status;
        if (cbx_time_is_up())
            break;
        record(st, importance);
        since++;
        if (reward(st, importance)) {
            since = 0;
            s->epoch = t;
            s->loss = 1 - importance;
        }
        if (importance >= 1 || cbx_search_should_stop(s, t + 1, most))
            break;
    }
    forget_walk(st);
    cbx_search_end(s);
    return st->num_best ? judge(st, err) : CBX_OK;
}

static cbx_status search(cbx_search *s, cbx_error *err)
{
    state      st = {.s = s, .own = s->settings};
    cbx_status status =
        cbx_neighbours_init(&st.near, s->shared, s->row, st.own->neighbours, s->arena, err);
    if (!status && (cbx_undirected_adjacency_init(&st.ways, s) || make_tree(&st)))
        status = cbx_fail_late(err);
    st.rng = cbx_rng_stream((uint64_t)s->options->seed, (uint64_t)s->row, 0, 0);
    if (!status)
        status = run(&st, err);
    cbx_patch_free(&st.near.patch);
    return status;
}

/* ---- registration */

static cbx_status prepare(const cbx_setup *setup, cbx_arena *arena, const void **shared,
                          cbx_error *err)
{
    cbx_embedding *E = CBX_NEW(arena, cbx_embedding, 1);
    *shared = E;
    return E ? cbx_embedding_init(E, setup->model, setup->graph,
                                  cbx_threads(setup->options->threads), arena, err)
             : cbx_fail_memory(err);
}

static int64_t steps(const void *own)
{
    return ((const settings *)own)->rollouts;
}

#define AT(field) offsetof(settings, field)
static const cbx_option own_options[] = {
    {"unr-neighbours", CBX_OPTION_INT, AT(neighbours), "5", 1, 1e6, NULL,
     "unr: nearest nodes in the embedding; the share of them that changes is what counts"},
    {"unr-rollouts", CBX_OPTION_INT, AT(rollouts), "1000", 1, 1e7, NULL,
     "unr: subgraphs looked at, at most"},
    {"unr-patience", CBX_OPTION_INT, AT(patience), "500", 1, 1e7, NULL,
     "unr: rollouts without a better subgraph after which the search ends"},
    {"unr-expansion", CBX_OPTION_INT, AT(expansion), "0", 0, 1e6, NULL,
     "unr: ways to go on from a node, at most; 0: the mean degree, and at least 3"},
    {"unr-exploration", CBX_OPTION_REAL, AT(exploration), "1", 0, 1e6, NULL,
     "unr: UCB1's constant"},
    {"unr-restart", CBX_OPTION_REAL, AT(restart), "0.2", 0, 0.99, NULL,
     "unr: probability of going back to the target at each step"},
};
#undef AT

static const cbx_option_table own_table = CBX_OPTION_TABLE("unr", own_options, settings);

const cbx_explainer cbx_explainer_unr = {.name = "unr",
                                         .search = search,
                                         .options = &own_table,
                                         .prepare = prepare,
                                         .steps = steps,
                                         .nodes_only = true, /* neighbours in the embedding */
                                         .embeds = true,
                                         .edges_only = true};
