/* SPDX-License-Identifier: Apache-2.0 */
/* random_rules.c: what a question's rules are. To those it is to have more are added, until there
 * are few enough sets of edits to try them all. */
#include <math.h>
#include <string.h>

#include "brute_force.h"

const char *const rule_names[RULES] = {"none",
                                       "keep no-isolated",
                                       "keep connected",
                                       "keep molecule",
                                       "keep-edges",
                                       "own-edges",
                                       "own-features",
                                       "immutable-nodes",
                                       "protected-edges",
                                       "features-to-vary",
                                       "immutable-features",
                                       "immutable (data)",
                                       "permitted-range",
                                       "one-hot",
                                       "one-hot (data)",
                                       "max-edits",
                                       "stopping-threshold",
                                       "edges directed",
                                       "target next",
                                       "target a class",
                                       "costs",
                                       "total-cfs",
                                       "diverse",
                                       "budget",
                                       "time-limit",
                                       "kinds auto",
                                       "start both",
                                       "cancelled",
                                       "only-up, only-down",
                                       "step",
                                       "if-changed",
                                       "as self",
                                       "another method"};

const chemical_element elements[ELEMENTS] = {{"C", 4}, {"Si", 4}, {"N", 3}, {"P", 3},
                                             {"O", 2}, {"S", 2},  {"F", 1}, {"Fe", 0}};

/* ---- what they mean */

static void fix_features(question *q, dice *d)
{
    for (int j = 0; j < q->world.features; j++)
        q->asked_fixed[j] |= dice_chance(d, 0.5);
}

static void protect_edges(question *q, dice *d, double share)
{
    for (int e = 0; e < q->world.edges; e++)
        q->protect_edge[e] |= dice_chance(d, share);
}

/* Ranges that cut values off, between whole numbers too, that hold the only value a feature is
 * to take, and that hold none of the data's. */
static void draw_range(question *q, dice *d)
{
    static const float ranges[][2] = {{-0.1f, 0.1f}, {0.3f, 0.35f}, {0, 0.7f},    {0, 0},
                                      {1, 1},        {1, 2},        {0.2f, 0.8f}, {-0.5f, 1},
                                      {0, 1.5f},     {2, 3},        {-5, 5},      {0.5f, 1}};
    for (int times = dice_between(d, 1, 2); times > 0; times--) {
        int j = dice_below(d, q->world.features);
        int k = dice_below(d, (int)(sizeof ranges / sizeof *ranges));
        q->asked_lo[j] = ranges[k][0];
        q->asked_hi[j] = ranges[k][1];
    }
}

static void draw_target(question *q, dice *d)
{
    edited      as_it_is;
    naive_graph graph;
    int         others = dice_between(d, 1, q->world.classes - 1);
    edit_nothing(q, &as_it_is);
    build_graph(q, &as_it_is, &graph);
    q->target = has_rule(q, RULE_NEXT) ? TARGET_NEXT : TARGET_ANY;
    if (has_rule(q, RULE_CLASS)) /* the prediction itself is refused */
        q->target = (ask_naive(q, &graph, 0, -1).best + others) % q->world.classes;
}

static void draw_costs(question *q, dice *d)
{
    static const double costs[] = {1e-6, 0.1, 0.25, 0.3, 0.5, 1, 1.5, 2, 3, 10, 1e6};
    int                 count = (int)(sizeof costs / sizeof *costs);
    q->edge_cost = costs[dice_below(d, count)];
    q->node_cost = costs[dice_below(d, count)];
    q->feature_cost = costs[dice_below(d, count)];
    q->counts = dice_below(d, COUNTS_DISTANCE + 1);
    q->dear = dice_chance(d, 0.5) ? dice_below(d, q->world.features) : -1;
    q->dear_cost = costs[dice_below(d, count)];
}

/* Of features in no block, so that there are no groups of which they would be a part. */
static void draw_ways(question *q, dice *d)
{
    for (int j = 0; j < q->world.features; j++) {
        bool alone = q->world.block[j] < 0;
        q->only_up[j] = alone && dice_chance(d, 0.4);
        q->only_down[j] = alone && dice_chance(d, 0.4);
    }
}

static void draw_steps(question *q, dice *d)
{
    static const double steps[] = {1, 2, 3, 0.5, 0.25, 0.1, 0.05, 0.3};
    for (int j = 0; j < q->world.features; j++)
        if (q->world.block[j] < 0 && dice_chance(d, 0.6)) /* counted ones have whole steps */
            q->step[j] = steps[dice_below(d, q->world.discrete[j] || q->kinds_auto ? 3 : 8)];
}

static void draw_relations(question *q, dice *d)
{
    for (int times = dice_between(d, 1, MAX_RELATIONS); times > 0; times--) {
        int a = dice_below(d, q->world.features), b = dice_below(d, q->world.features);
        q->what[q->relations] = a;
        q->with[q->relations++] = b;
    }
}

static void mean_rule(question *q, dice *d, rule r)
{
    q->keep = r == RULE_NO_ISOLATED ? KEEP_NO_ISOLATED
              : r == RULE_CONNECTED ? KEEP_CONNECTED
              : r == RULE_MOLECULE  ? KEEP_MOLECULE
                                    : q->keep;
    q->keep_edges |= r == RULE_KEEP_EDGES;
    q->as_self |= r == RULE_AS_SELF;
    if (r == RULE_WAY)
        draw_ways(q, d);
    if (r == RULE_STEP)
        draw_steps(q, d);
    if (r == RULE_IF_CHANGED)
        draw_relations(q, d);
    q->own_edges |= r == RULE_OWN_EDGES;
    q->own_features |= r == RULE_OWN_FEATURES;
    q->directed |= r == RULE_DIRECTED;
    q->kinds_auto |= r == RULE_KINDS_AUTO;
    q->diverse |= r == RULE_DIVERSE;
    for (int i = 0; i < q->world.nodes && r == RULE_IMMUTABLE_NODES; i++)
        q->immutable_node[i] |= dice_chance(d, 0.3);
    if (r == RULE_PROTECTED_EDGES)
        protect_edges(q, d, 0.3);
    if (r == RULE_FEATURES_TO_VARY || r == RULE_IMMUTABLE_FEATURES)
        fix_features(q, d);
    if (r == RULE_PERMITTED_RANGE)
        draw_range(q, d);
    if (r == RULE_MAX_EDITS)
        q->max_edits = dice_between(d, 1, 4);
    if (r == RULE_MAX_EDITS && dice_chance(d, 0.3))
        q->max_removed = dice_between(d, 1, 2);
    if (r == RULE_THRESHOLD && dice_chance(d, 0.5))
        q->plausible = (double)dice_between(d, 4, 40) / 4;
    else if (r == RULE_THRESHOLD)
        q->threshold = (double)dice_between(d, 2, 19) / 20;
    if (r == RULE_COSTS)
        draw_costs(q, d);
    if (r == RULE_CANCEL)
        q->patience = dice_between(d, 1, 12);
    if (r == RULE_TOTAL_CFS || r == RULE_DIVERSE)
        q->total_cfs = dice_between(d, 2, 5);
}

/* Only edges that lead from what counts to what does not may go. */
static void protect_all_but_leaving(question *q)
{
    bool influence[MAX_NODES];
    find_influence(q, influence);
    for (int e = 0; e < q->world.edges; e++)
        q->protect_edge[e] |= influence[q->world.target[e]] || !influence[q->world.source[e]];
}

static void fix_all_features(question *q)
{
    memset(q->asked_fixed, 1, sizeof q->asked_fixed);
    q->rules |= RULE_BIT(RULE_FEATURES_TO_VARY);
}

/* Hardly anything may change, or only edges: proofs that have little to try, and so little that
 * could save them from what they overlook. */
static void leave_little(question *q, dice *d)
{
    if (!dice_chance(d, q->gnn.conv == NAIVE_CHEB ? 0.5 : 0.25))
        return;
    if (dice_chance(d, 0.75)) {
        fix_all_features(q);
        if (dice_chance(d, 0.4))
            return;
    }
    if (dice_chance(d, q->gnn.conv == NAIVE_CHEB ? 0.6 : 0.1)) /* which count in Chebyshev layers */
        protect_all_but_leaving(q);
    else
        protect_edges(q, d, dice_real(d, 0.2, 1));
    q->rules |= RULE_BIT(RULE_PROTECTED_EDGES);
}

/* The first group of its size: the elements are told in order, and the size tells of what. */
static void find_atoms(question *q)
{
    enum { MOST = 2 * MAX_FEATURES }; /* groups that the data shows have numbers of their own */
    int size[MOST] = {0};
    for (int j = 0; j < q->world.features; j++)
        if (q->group[j] >= 0)
            size[q->group[j]]++;
    for (int g = MOST - 1; g >= 0; g--) {
        int alike = 0;
        for (int other = 0; other < MOST; other++)
            alike += size[other] == size[g];
        if (size[g] && alike == 1)
            q->atoms = g;
    }
}

static bool is_one_of_each(const world *w, int a, int b)
{
    int used = 0;
    for (int i = 0; i < w->nodes; i++) {
        int on = 0;
        for (int j = a; j <= b; j++) {
            if (feature_of(w, i, j) != 0 && feature_of(w, i, j) != 1)
                return false;
            on += feature_of(w, i, j) == 1;
        }
        if (on != 1)
            return false;
    }
    for (int j = a; j <= b; j++) {
        bool any = false;
        for (int i = 0; i < w->nodes; i++)
            any = any || feature_of(w, i, j) == 1;
        if (j == a && !any)
            return false;
        used += any;
    }
    return w->nodes >= 20 && 2 * used <= w->nodes;
}

/* Neighbours of which all nodes have one, and which nobody has called a group. */
static void find_shown_groups(question *q)
{
    const world *w = &q->world;
    for (int a = 0; a < w->features; a++)
        for (int b = a; b < w->features && q->group[b] < 0; b++)
            if (b > a && is_one_of_each(w, a, b)) {
                for (int j = a; j <= b; j++)
                    q->group[j] = w->blocks + a;
                q->groups += b - a + 1;
                a = b;
                break;
            }
}

/* From what is asked and what the data says to what holds. */
static void work_out(question *q)
{
    const world *w = &q->world;
    q->groups = 0;
    q->atoms = -1;
    for (int j = 0; j < w->features; j++) {
        bool whole = true;
        for (int i = 0; i < w->nodes; i++)
            whole = whole && feature_of(w, i, j) == rintf(feature_of(w, i, j));
        bool group =
            w->block[j] >= 0 && (w->block[j] < w->told_blocks || has_rule(q, RULE_ONE_HOT));
        /* one that has fractions may take others */
        q->discrete[j] = whole && (q->kinds_auto || w->discrete[j]);
        q->fixed[j] = q->asked_fixed[j] || w->immutable[j];
        q->lo[j] = isnan(q->asked_lo[j]) ? w->lo[j] : fmaxf(w->lo[j], q->asked_lo[j]);
        q->hi[j] = isnan(q->asked_hi[j]) ? w->hi[j] : fminf(w->hi[j], q->asked_hi[j]);
        q->group[j] = group ? w->block[j] : -1;
        q->groups += group;
    }
    if (q->shown_groups)
        find_shown_groups(q);
    if (q->keep == KEEP_MOLECULE)
        find_atoms(q);
}

/* ---- few enough to try them all */

static void restrict_once(question *q, dice *d)
{
    const world *w = &q->world;
    int          edge = w->edges ? dice_below(d, w->edges) : 0;
    switch (dice_below(d, 8)) {
    case 0:
        q->asked_fixed[dice_below(d, w->features)] = 1;
        q->rules |= has_rule(q, RULE_FEATURES_TO_VARY) ? 0 : RULE_BIT(RULE_IMMUTABLE_FEATURES);
        break;
    case 1:
    case 2:
        if (w->edges) {
            q->protect_edge[edge] = 1;
            q->rules |= RULE_BIT(RULE_PROTECTED_EDGES);
        }
        break;
    case 3:
        q->own_features = w->task == CBX_NODE;
        q->rules |= w->task == CBX_NODE ? RULE_BIT(RULE_OWN_FEATURES) : 0;
        break;
    case 4:
        q->max_edits = q->max_edits > 1 ? q->max_edits - 1 : q->max_edits ? 1 : 4;
        q->rules |= RULE_BIT(RULE_MAX_EDITS);
        break;
    default: /* a node that counts, or it would not help */
        q->immutable_node[w->edges && dice_chance(d, 0.8) ? (int)w->source[edge]
                                                          : dice_below(d, w->nodes)] = 1;
        q->rules |= RULE_BIT(RULE_IMMUTABLE_NODES);
        break;
    }
    work_out(q);
}

/* A few questions stay as large as they are. */
static void restrict_space(question *q, dice *d)
{
    space  s;
    double most = ldexp(1, dice_between(d, 5, 12));
    if (dice_chance(d, 0.01))
        return;
    for (int times = 0; times < 200; times++) {
        dice again = *d;
        find_space(q, &again, &s);
        if (count_sets(&s, q->max_edits) <= most)
            return;
        restrict_once(q, d);
    }
}

static bool has_edge(const world *w, int u, int v)
{
    for (int e = 0; e < w->edges; e++)
        if (w->source[e] == u && w->target[e] == v)
            return true;
    return false;
}

/* Of an even number, the lower of the two in the middle. */
float middle_weight(const world *w)
{
    for (int e = 0; e < w->edges && w->weighted; e++) {
        int below = 0, same = 0;
        for (int b = 0; b < w->edges; b++) {
            below += w->edge_weight[b] < w->edge_weight[e];
            same += w->edge_weight[b] == w->edge_weight[e];
        }
        if (below <= (w->edges - 1) / 2 && below + same > (w->edges - 1) / 2)
            return w->edge_weight[e] != 0 ? w->edge_weight[e] : 1;
    }
    return 1;
}

static void offer(world *w, int u, int v)
{
    if (w->edges + w->offered == MAX_EDGES)
        return;
    w->source[w->edges + w->offered] = u;
    w->target[w->edges + w->offered] = v;
    w->edge_weight[w->edges + w->offered++] = middle_weight(w);
}

/* Edges that may be added to a few nodes: at the row, or in its graph. */
static void draw_additions(question *q, dice *d)
{
    world *w = &q->world;
    bool   graphs = w->task == CBX_GRAPH;
    int    first = graphs ? first_node(q) : 0, end = graphs ? end_node(q) : w->nodes;
    int    wanted = graphs ? 1 : dice_between(d, 1, 4);
    if (end - first < 2 || !dice_chance(d, 0.3))
        return;
    q->adds = true;
    q->max_added = dice_chance(d, 0.3) ? dice_between(d, 1, 2) : 0;
    q->max_degree = dice_chance(d, 0.2) ? dice_between(d, 1, 5) : 0;
    q->same_type = q->atoms >= 0 && dice_chance(d, 0.3);
    if (q->as_self || dice_chance(d, 0.2)) /* 2 is what it is for oneself */
        q->add_within = q->as_self ? 2 : dice_between(d, 1, 3);
    for (int k = 0; k < wanted; k++)
        q->add_to[dice_between(d, first, end - 1)] = 1;
    if (q->same_type)
        memset(q->add_to + first, 1, (size_t)(end - first));
    for (int u = first; u < end; u++)
        for (int v = first; v < end; v++)
            if (may_get_edge(q, u, v) && !has_edge(w, u, v) && (q->directed || !has_edge(w, v, u)))
                offer(w, u, v);
}

static bool is_first_of_its_kind(const world *w, int first, int node)
{
    for (int i = first; i < node; i++)
        if (!memcmp(&w->x[i * w->features], &w->x[node * w->features],
                    (size_t)w->features * sizeof *w->x))
            return false;
    return true;
}

/* Copies of each kind of node that may be added to the graph, at the nodes that may get edges. */
static void draw_newcomers(question *q, dice *d)
{
    world *w = &q->world;
    if (w->task != CBX_GRAPH || !dice_chance(d, 0.7))
        return;
    if (!q->adds)
        q->add_to[dice_between(d, first_node(q), end_node(q) - 1)] = 1;
    for (int at = first_node(q); at < end_node(q); at++)
        for (int i = first_node(q); i < end_node(q) && q->add_to[at]; i++) {
            if (!is_first_of_its_kind(w, first_node(q), i))
                continue;
            if (w->newcomers == MAX_NEW || w->nodes + w->newcomers == MAX_NODES ||
                w->edges + w->offered + 2 * w->newcomers + 2 > MAX_EDGES) {
                w->newcomers = 0; /* more than there is room for: none */
                return;
            }
            w->copied[w->newcomers] = i;
            w->at[w->newcomers++] = at;
        }
    q->adds_nodes = true;
    if (q->adds)
        return;
    q->max_added = dice_chance(d, 0.3) ? dice_between(d, 1, 2) : 0;
    q->max_degree = dice_chance(d, 0.2) ? dice_between(d, 1, 5) : 0;
}

static bool weights_differ(const world *w)
{
    bool differ = false;
    for (int e = 1; e < w->edges && w->weighted; e++)
        differ = differ || w->edge_weight[e] != w->edge_weight[0];
    return differ;
}

/* Edges that are changed together weigh the same. */
static void draw_weights(question *q, dice *d)
{
    world *w = &q->world;
    q->weighs = weights_differ(w) && dice_chance(d, 0.4);
    for (int a = 0; a < w->edges && q->weighs && !q->directed; a++)
        for (int b = a + 1; b < w->edges; b++)
            if (w->source[a] == w->target[b] && w->target[a] == w->source[b])
                w->edge_weight[b] = w->edge_weight[a];
    q->weighs = q->weighs && weights_differ(w);
}

void draw_rules(question *q, dice *d)
{
    q->total_cfs = 1;
    q->edge_cost = q->feature_cost = q->node_cost = 1;
    q->dear = -1;
    for (int j = 0; j < MAX_FEATURES; j++)
        q->element[j] = dice_below(d, ELEMENTS);
    for (int j = 0; j < MAX_FEATURES; j++)
        q->asked_lo[j] = q->asked_hi[j] = NAN;
    for (int r = 0; r < RULES; r++)
        if (has_rule(q, (rule)r))
            mean_rule(q, d, (rule)r);
    draw_target(q, d);
    q->shown_groups = !has_rule(q, RULE_ONE_HOT) && dice_chance(d, 0.7);
    if (!has_rule(q, RULE_METHOD)) {
        if (!q->alone) {
            draw_weights(q, d);
            work_out(q); /* what an atom is */
            draw_additions(q, d);
            q->removes_nodes = dice_chance(d, 0.3);
            draw_newcomers(q, d);
            leave_little(q, d);
        } else {
            fix_all_features(q);
        }
        work_out(q);
        restrict_space(q, d);
    }
    work_out(q);
    if (q->dear >= 0 && q->group[q->dear] >= 0) /* a place in the space has one cost */
        q->dear = -1;
    tell_rules(q, d);
}
