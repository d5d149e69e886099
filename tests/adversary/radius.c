/* SPDX-License-Identifier: Apache-2.0 */
/* radius.c: see radius.h. */
#include "radius.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Sets that are tried one by one, at most. */
static const int64_t MOST_TRIED = 20000;

/* ---- the question */

void draw_radius(const question *q, radius_question *r)
{
    dice d = dice_of(q->seed + 3, (uint64_t)q->number);
    bool graphs = q->world.task == CBX_GRAPH;
    *r = (radius_question){.local = -1, .strength = -1};
    r->edits = graphs && q->world.edges < MAX_EDGES - 16 ? dice_below(&d, 3) : EDITS_REMOVE;
    r->directed = dice_chance(&d, 0.3);
    r->decide = dice_chance(&d, 0.2);
    r->target = dice_chance(&d, 0.3) ? TARGET_NEXT : TARGET_ANY;
    r->budget =
        dice_between(&d, r->edits == EDITS_REMOVE ? 0 : 1, r->edits == EDITS_REMOVE ? 5 : 3);
    r->share = graphs && dice_chance(&d, 0.2) ? (double)dice_between(&d, 1, 60) : 0;
    if (dice_chance(&d, 0.25))
        r->local = dice_between(&d, 0, 2);
    if (graphs && dice_chance(&d, 0.25))
        r->strength = dice_between(&d, 0, 3);
    r->threads = dice_between(&d, 1, 3);
    if (q->alone) { /* what was made to flip by little, nothing else is in the way of */
        r->directed = r->decide = false;
        r->local = r->strength = -1;
        r->share = 0;
        r->target = TARGET_ANY;
        r->budget = dice_between(&d, 2, 8);
    }
}

static cbx_status set(cbx_options *o, const char *name, double value, cbx_error *err)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%g", value);
    return cbx_options_set(o, name, text, err);
}

bool ask_radius(const radius_question *r, const question *q, asked *a, cbx_radius *out)
{
    static const char *const edits[] = {"remove", "add", "both"};
    cbx_options             *o = NULL;
    int32_t                  row = q->row;
    cbx_status               status = cbx_options_new(cbx_robust_table(), &o, &a->error);
    if (!status)
        status = cbx_options_set(o, "edits", edits[r->edits], &a->error);
    if (!status)
        status = cbx_options_set(o, "edges", r->directed ? "directed" : "undirected", &a->error);
    if (!status)
        status = cbx_options_set(o, "decide", r->decide ? "true" : "false", &a->error);
    if (!status)
        status = cbx_options_set(o, "target", r->target == TARGET_NEXT ? "next" : "any", &a->error);
    if (!status)
        status = set(o, "budget", r->budget, &a->error);
    if (!status)
        status = set(o, "share", r->share, &a->error);
    if (!status)
        status = set(o, "local-budget", r->local, &a->error);
    if (!status)
        status = set(o, "local-strength", r->strength, &a->error);
    if (!status)
        status = set(o, "threads", r->threads, &a->error);
    if (!status)
        status = set(o, "time-limit", 2, &a->error);
    if (!status)
        status = cbx_robust(a->model, a->graph, &row, 1, o, NULL, NULL, out, &a->error);
    cbx_options_free(o);
    return !status;
}

/* ---- all sets of edits */

enum { MAX_CHOICES = 8192, MOST_MADE = 16 };

typedef struct pair {
    short u, v, edge; /* edge -1: all between the two, both ways */
    bool  comes;
} pair;

typedef struct trying {
    const question        *q;
    const radius_question *r;
    pair                   choices[MAX_CHOICES];
    int                    count, local[MAX_NODES];
    int                    made[MOST_MADE], num_made;
    int                    prediction, target;
    int64_t                tried, most;
    verdict                verdict; /* of the sets tried since it was last cleared */
    bool                   cut;     /* not all were tried */
} trying;

static bool is_inside(const question *q, int node)
{
    return q->world.task != CBX_GRAPH || (node >= first_node(q) && node < end_node(q));
}

static bool has_edge(const world *w, int u, int v)
{
    for (int e = 0; e < w->edges; e++)
        if (w->source[e] == u && w->target[e] == v)
            return true;
    return false;
}

static void add_choice(trying *t, int u, int v, int edge, bool comes)
{
    bool told = false;
    for (int k = 0; k < t->count && edge < 0 && !told && !(comes && t->r->directed); k++) {
        const pair *p = &t->choices[k];
        told = (p->u == u && p->v == v) || (p->u == v && p->v == u);
    }
    if (told)
        return;
    t->cut = t->cut || t->count == MAX_CHOICES;
    if (t->count < MAX_CHOICES)
        t->choices[t->count++] = (pair){(short)u, (short)v, (short)edge, comes};
}

static void list_choices(trying *t)
{
    const question *q = t->q;
    const world    *w = &q->world;
    bool            influence[MAX_NODES];
    find_influence(q, influence);
    for (int e = 0; e < w->edges && t->r->edits != EDITS_ADD; e++) {
        int u = (int)w->source[e], v = (int)w->target[e];
        if (edge_counts(q, influence, e) && is_inside(q, v))
            add_choice(t, u, v, t->r->directed ? e : -1, false);
    }
    for (int u = first_node(q); u < end_node(q) && t->r->edits != EDITS_REMOVE; u++)
        for (int v = first_node(q); v < end_node(q); v++)
            if (u != v && !has_edge(w, u, v) && !has_edge(w, v, u))
                add_choice(t, u, v, -1, true);
}

static void find_local(trying *t)
{
    const world *w = &t->q->world;
    int          degree[MAX_NODES] = {0}, largest = 0;
    for (int e = 0; e < w->edges; e++)
        degree[w->target[e]] += is_inside(t->q, (int)w->target[e]);
    for (int v = 0; v < w->nodes; v++)
        largest = degree[v] > largest ? degree[v] : largest;
    for (int v = 0; v < w->nodes; v++) {
        int by_degree = degree[v] - largest + t->r->strength;
        t->local[v] = t->r->local >= 0 ? t->r->local : MAX_CHOICES;
        if (t->r->strength >= 0 && by_degree < t->local[v])
            t->local[v] = by_degree;
    }
}

static void put(naive_graph *g, int u, int v, double weight)
{
    g->source[g->edges] = u;
    g->target[g->edges] = v;
    g->edge_weight[g->edges++] = weight;
}

static bool goes(const trying *t, int e)
{
    const world *w = &t->q->world;
    int          u = (int)w->source[e], v = (int)w->target[e];
    for (int k = 0; k < t->num_made; k++) {
        const pair *p = &t->choices[t->made[k]];
        if (!p->comes &&
            (p->edge >= 0 ? p->edge == e : (p->u == u && p->v == v) || (p->u == v && p->v == u)))
            return true;
    }
    return false;
}

/* By how much what is sought leads the prediction with the edits made. */
static outcome ask(const trying *t)
{
    static _Thread_local naive_graph graph;
    const question                  *q = t->q;
    edited                           as_it_is;
    edit_nothing(q, &as_it_is);
    build_graph(q, &as_it_is, &graph);
    graph.edges = 0;
    for (int e = 0; e < q->world.edges; e++)
        if (!goes(t, e))
            put(&graph, (int)q->world.source[e], (int)q->world.target[e],
                q->world.weighted ? (double)q->world.edge_weight[e] : 1);
    for (int k = 0; k < t->num_made; k++) {
        const pair *p = &t->choices[t->made[k]];
        if (p->comes)
            put(&graph, p->u, p->v, 1);
        if (p->comes && !t->r->directed)
            put(&graph, p->v, p->u, 1);
    }
    outcome o = ask_naive(q, &graph, t->prediction, -1);
    o.lead = -INFINITY; /* no probability is asked for here */
    for (int c = 0; c < q->gnn.classes; c++)
        if (c != t->prediction && (t->target < 0 || c == t->target))
            o.lead = fmax(o.lead, o.log_probs[c] - o.log_probs[t->prediction]);
    return o;
}

static void try_set(trying *t)
{
    outcome o = ask(t);
    verdict v = o.lead > o.blur ? VERDICT_FOUND : o.lead > -o.blur ? VERDICT_UNSURE : VERDICT_NONE;
    t->tried++;
    t->verdict = v > t->verdict ? v : t->verdict;
}

/* All sets of `left` more choices, from `first` on. */
static void try_sets(trying *t, int first, int left)
{
    if (left == 0) {
        try_set(t);
        return;
    }
    for (int k = first; k < t->count && t->verdict != VERDICT_FOUND; k++) {
        const pair *p = &t->choices[k];
        if (t->local[p->u] < 1 || t->local[p->v] < 1)
            continue;
        if (t->tried >= t->most) {
            t->cut = true;
            return;
        }
        t->local[p->u]--;
        t->local[p->v] -= p->u != p->v;
        t->made[t->num_made++] = k;
        try_sets(t, k + 1, left - 1);
        t->num_made--;
        t->local[p->v] += p->u != p->v;
        t->local[p->u]++;
    }
}

/* Of sets of just so many. */
static verdict try_size(trying *t, int64_t size)
{
    t->verdict = VERDICT_NONE;
    t->cut = t->cut || size > MOST_MADE;
    if (size <= MOST_MADE)
        try_sets(t, 0, (int)size);
    return t->verdict;
}

/* ---- the claims */

static const char *contradiction(const radius_question *r, const cbx_radius *told)
{
    int64_t edges = told->budget;
    if (r->budget > 0 && told->budget > r->budget)
        return "the budget is more than was asked for";
    if (told->flips_with > edges || told->lower_bound > edges + 1)
        return "it speaks of more edits than the budget has";
    if (told->lower_bound < 1 || (told->flips_with && told->lower_bound > told->flips_with))
        return "the lower bound is above what flips, or less than one";
    if (told->robust != (told->flips_with ? 0 : told->lower_bound > edges ? 1 : -1))
        return "what is robust does not follow from the bounds";
    return NULL;
}

static bool is_lone(const trying *t)
{
    outcome o = ask(t);
    return o.lead < -o.blur;
}

/* Sizes below the bound, and then the one that is said to flip. */
static void judge_bounds(trying *t, const cbx_radius *told, judged *out)
{
    bool unsure = false;
    for (int64_t size = 1; size < told->lower_bound && !t->cut; size++) {
        verdict v = try_size(t, size);
        unsure = unsure || v == VERDICT_UNSURE;
        if (v == VERDICT_FOUND) {
            judge_complain(out, CLAIM_RADIUS, "%lld edits change the class, fewer than %lld",
                           (long long)size, (long long)told->lower_bound);
            return;
        }
    }
    judge_pass(out, CLAIM_RADIUS, unsure ? UNDECIDED : t->cut ? NOT_MET : HOLDS);
    if (!told->flips_with)
        return;
    bool    cut = t->cut;
    verdict v = try_size(t, told->flips_with);
    if (v == VERDICT_NONE && !cut && !t->cut)
        judge_complain(out, CLAIM_FLIPS_WITH, "no set of %lld edits changes the class",
                       (long long)told->flips_with);
    else
        judge_pass(out, CLAIM_FLIPS_WITH,
                   v == VERDICT_FOUND    ? HOLDS
                   : v == VERDICT_UNSURE ? UNDECIDED
                                         : NOT_MET);
}

void judge_radius(const question *q, const radius_question *r, const cbx_radius *told, judged *out)
{
    static _Thread_local trying t;
    const char                 *wrong = contradiction(r, told);
    t = (trying){.q = q, .r = r, .prediction = told->prediction, .most = MOST_TRIED, .target = -1};
    if (r->target == TARGET_NEXT)
        t.target = (told->prediction + 1) % q->gnn.classes;
    if (t.target != told->target)
        wrong = "the target is not the next class, or any";
    if (wrong) {
        judge_complain(out, CLAIM_RADIUS, "%s", wrong);
        return;
    }
    if (!is_lone(&t)) /* a tie, which is nobody's */
        return;
    list_choices(&t);
    find_local(&t);
    judge_bounds(&t, told, out);
    out->tried += t.tried;
}
