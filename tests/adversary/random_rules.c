/* SPDX-License-Identifier: Apache-2.0 */
/* random_rules.c: what a question's rules are, and how they are told.
 *
 * Which rules it has comes from its number, so that every combination of two has its turn. Then
 * more are added until there are few enough sets of edits to try them all. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "brute_force.h"

const char *const rule_names[RULES] = {"none",
                                       "keep no-isolated",
                                       "keep connected",
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
                                       "another method"};

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
    static const uint8_t none[MAX_EDGES];
    naive_graph          graph;
    int                  others = dice_between(d, 1, q->world.classes - 1);
    build_graph(q, none, q->world.x, &graph);
    q->target = has_rule(q, RULE_NEXT) ? TARGET_NEXT : TARGET_ANY;
    if (has_rule(q, RULE_CLASS)) /* the prediction itself is refused */
        q->target = (ask_naive(q, &graph, 0, -1).best + others) % q->world.classes;
}

static void draw_costs(question *q, dice *d)
{
    static const double costs[] = {1e-6, 0.1, 0.25, 0.3, 0.5, 1, 1.5, 2, 3, 10, 1e6};
    int                 count = (int)(sizeof costs / sizeof *costs);
    q->edge_cost = costs[dice_below(d, count)];
    q->feature_cost = costs[dice_below(d, count)];
}

static void mean_rule(question *q, dice *d, rule r)
{
    q->keep = r == RULE_NO_ISOLATED ? KEEP_NO_ISOLATED
              : r == RULE_CONNECTED ? KEEP_CONNECTED
                                    : q->keep;
    q->keep_edges |= r == RULE_KEEP_EDGES;
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
    if (r == RULE_THRESHOLD)
        q->threshold = (double)dice_between(d, 2, 19) / 20;
    if (r == RULE_COSTS)
        draw_costs(q, d);
    if (r == RULE_CANCEL)
        q->patience = dice_between(d, 1, 12);
    if (r == RULE_TOTAL_CFS || r == RULE_DIVERSE)
        q->total_cfs = dice_between(d, 2, 5);
}

/* Hardly anything may change: what is proved by having nothing to try. */
static void leave_little(question *q, dice *d)
{
    if (!dice_chance(d, 0.12))
        return;
    if (dice_chance(d, 0.7)) {
        memset(q->asked_fixed, 1, sizeof q->asked_fixed);
        q->rules |= 1u << RULE_FEATURES_TO_VARY;
    }
    protect_edges(q, d, dice_real(d, 0.2, 1));
    q->rules |= 1u << RULE_PROTECTED_EDGES;
}

/* From what is asked and what the data says to what holds. */
static void work_out(question *q)
{
    const world *w = &q->world;
    q->groups = 0;
    for (int j = 0; j < w->features; j++) {
        bool whole = true;
        for (int i = 0; i < w->nodes; i++)
            whole = whole && feature_of(w, i, j) == rintf(feature_of(w, i, j));
        bool group =
            w->block[j] >= 0 && (w->block[j] < w->told_blocks || has_rule(q, RULE_ONE_HOT));
        q->discrete[j] = q->kinds_auto ? whole : w->discrete[j];
        q->fixed[j] = q->asked_fixed[j] || w->immutable[j];
        q->lo[j] = isnan(q->asked_lo[j]) ? w->lo[j] : fmaxf(w->lo[j], q->asked_lo[j]);
        q->hi[j] = isnan(q->asked_hi[j]) ? w->hi[j] : fminf(w->hi[j], q->asked_hi[j]);
        q->group[j] = group ? w->block[j] : -1;
        q->groups += group;
    }
}

/* ---- few enough to try them all */

static void restrict_once(question *q, dice *d)
{
    const world *w = &q->world;
    int          edge = w->edges ? dice_below(d, w->edges) : 0;
    switch (dice_below(d, 8)) {
    case 0:
        q->asked_fixed[dice_below(d, w->features)] = 1;
        q->rules |= has_rule(q, RULE_FEATURES_TO_VARY) ? 0 : 1u << RULE_IMMUTABLE_FEATURES;
        break;
    case 1:
    case 2:
        if (w->edges) {
            q->protect_edge[edge] = 1;
            q->rules |= 1u << RULE_PROTECTED_EDGES;
        }
        break;
    case 3:
        q->own_features = w->task == CBX_NODE;
        q->rules |= w->task == CBX_NODE ? 1u << RULE_OWN_FEATURES : 0;
        break;
    case 4:
        q->max_edits = q->max_edits > 1 ? q->max_edits - 1 : q->max_edits ? 1 : 4;
        q->rules |= 1u << RULE_MAX_EDITS;
        break;
    default: /* a node that counts, or it would not help */
        q->immutable_node[w->edges && dice_chance(d, 0.8) ? (int)w->source[edge]
                                                          : dice_below(d, w->nodes)] = 1;
        q->rules |= 1u << RULE_IMMUTABLE_NODES;
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

/* ---- how they are told */

__attribute__((format(printf, 3, 4))) static void tell(question *q, const char *name,
                                                       const char *format, ...)
{
    va_list list;
    char   *value = q->settings[q->num_settings][1];
    (void)snprintf(q->settings[q->num_settings++][0], MAX_SETTING, "%s", name);
    va_start(list, format);
    (void)vsnprintf(value, MAX_SETTING, format, list);
    va_end(list);
}

__attribute__((format(printf, 2, 3))) static void append(char *text, const char *format, ...)
{
    va_list list;
    size_t  length = strlen(text);
    va_start(list, format);
    (void)vsnprintf(text + length, MAX_SETTING - length, format, list);
    va_end(list);
}

/* Numbers with commas between; only those that are marked as `value`. */
static void tell_list(question *q, const char *name, const uint8_t *marks, int count, int value)
{
    char text[MAX_SETTING] = "";
    for (int k = 0; k < count; k++)
        if (marks[k] == value)
            append(text, "%s%d", *text ? "," : "", k);
    if (*text)
        tell(q, name, "%s", text);
}

static void tell_features(question *q)
{
    int  f = q->world.features;
    bool none = true;
    for (int j = 0; j < f; j++)
        none = none && q->asked_fixed[j];
    if (!has_rule(q, RULE_FEATURES_TO_VARY))
        tell_list(q, "immutable-features", q->asked_fixed, f, 1);
    else if (none)
        tell(q, "features-to-vary", "none");
    else
        tell_list(q, "features-to-vary", q->asked_fixed, f, 0);
    char ranges[MAX_SETTING] = "", groups[MAX_SETTING] = "";
    for (int j = 0; j < f; j++)
        if (!isnan(q->asked_lo[j]))
            append(ranges, "%s%d:%.9g:%.9g", *ranges ? "," : "", j, (double)q->asked_lo[j],
                   (double)q->asked_hi[j]);
    for (int j = 0, end = 0; j < f && has_rule(q, RULE_ONE_HOT); j = end + 1) {
        for (end = j; end + 1 < f && q->world.block[end + 1] == q->world.block[j]; end++)
            ;
        if (q->world.block[j] >= q->world.told_blocks)
            append(groups, "%s%d-%d", *groups ? "," : "", j, end);
    }
    if (*ranges)
        tell(q, "permitted-range", "%s", ranges);
    if (*groups)
        tell(q, "one-hot", "%s", groups);
}

static void tell_edges(question *q)
{
    const world *w = &q->world;
    char         text[MAX_SETTING] = "";
    tell_list(q, "immutable-nodes", q->immutable_node, w->nodes, 1);
    for (int e = 0; e < w->edges; e++) {
        bool told = !q->protect_edge[e];
        for (int b = 0; b < e && !told; b++)
            told = q->protect_edge[b] &&
                   ((w->source[b] == w->source[e] && w->target[b] == w->target[e]) ||
                    (w->source[b] == w->target[e] && w->target[b] == w->source[e]));
        if (!told && strlen(text) + 16 < MAX_SETTING)
            append(text, "%s%d-%d", *text ? "," : "", (int)w->source[e], (int)w->target[e]);
        else if (!told)
            q->protect_edge[e] = 0; /* no room to tell it */
    }
    if (*text)
        tell(q, "protected-edges", "%s", text);
    tell(q, "edges", "%s", q->directed ? "directed" : "undirected");
    if (q->keep != KEEP_ANY)
        tell(q, "keep", "%s", q->keep == KEEP_CONNECTED ? "connected" : "no-isolated");
    if (q->keep_edges)
        tell(q, "keep-edges", "true");
    if (q->own_edges)
        tell(q, "own-edges", "true");
    if (q->own_features)
        tell(q, "own-features", "true");
}

static void tell_search(question *q, dice *d)
{
    static const char *const others[] = {
        "combinex", "random-edges", "random-features", "ego", "cf-gnn", "cff", "unr"};
    if (has_rule(q, RULE_METHOD)) {
        tell(q, "explainer", "%s", others[dice_below(d, 7)]);
        tell(q, "unr-rollouts", "40");
    }
    tell(q, "epochs", "%d", dice_between(d, 1, has_rule(q, RULE_METHOD) ? 60 : 8));
    tell(q, "robustness", "%d", dice_below(d, 3));
    if (dice_chance(d, 0.3)) { /* a poor search leaves more for the proof to do */
        tell(q, "width", "1");
        tell(q, "tried", "%d", dice_between(d, 1, 3));
    }
    tell(q, "prove", "%s", dice_chance(d, 0.1) ? "0" : dice_chance(d, 0.05) ? "1e-6" : "0.5");
    if (has_rule(q, RULE_START_BOTH))
        tell(q, "start", "both");
    if (has_rule(q, RULE_BUDGET))
        tell(q, "budget", "%d", dice_between(d, 1, q->world.features * q->world.nodes));
    if (has_rule(q, RULE_TIME_LIMIT))
        tell(q, "time-limit", "%g", pow(10, dice_real(d, -9, -2.5)));
    if (q->kinds_auto)
        tell(q, "kinds", "auto");
    if (q->total_cfs > 1)
        tell(q, "total-cfs", "%d", q->total_cfs);
    if (q->diverse)
        tell(q, "diverse", "true");
}

static void tell_answer(question *q)
{
    if (q->target == TARGET_NEXT)
        tell(q, "target", "next");
    else if (q->target == TARGET_ANY)
        tell(q, "target", "any");
    else
        tell(q, "target", "%d", q->target);
    if (q->max_edits)
        tell(q, "max-edits", "%d", q->max_edits);
    if (q->threshold > 0)
        tell(q, "stopping-threshold", "%g", q->threshold);
    if (has_rule(q, RULE_COSTS)) {
        tell(q, "edge-cost", "%g", q->edge_cost);
        tell(q, "feature-cost", "%g", q->feature_cost);
    }
}

void draw_rules(question *q, dice *d)
{
    q->total_cfs = 1;
    q->edge_cost = q->feature_cost = 1;
    for (int j = 0; j < MAX_FEATURES; j++)
        q->asked_lo[j] = q->asked_hi[j] = NAN;
    for (int r = 0; r < RULES; r++)
        if (has_rule(q, (rule)r))
            mean_rule(q, d, (rule)r);
    draw_target(q, d);
    if (!has_rule(q, RULE_METHOD)) {
        leave_little(q, d);
        work_out(q);
        restrict_space(q, d);
    }
    work_out(q);
    tell_features(q);
    tell_edges(q);
    tell_search(q, d);
    tell_answer(q);
}

/* ---- which rules */

/* Those that methods other than minimal know: they limit no edits. */
static bool is_for_all(rule r)
{
    return r == RULE_NONE || r == RULE_DIRECTED || r == RULE_NEXT || r == RULE_CLASS ||
           r == RULE_BUDGET || r == RULE_TIME_LIMIT || r == RULE_KINDS_AUTO || r == RULE_METHOD;
}

static uint32_t combination(int64_t number)
{
    int64_t at = number % (RULES * (RULES + 1) / 2);
    for (int a = 0; a < RULES; a++)
        for (int b = a; b < RULES; b++)
            if (at-- == 0) {
                if (b == RULE_METHOD && !is_for_all((rule)a))
                    a = RULE_NONE;
                return 1u << a | 1u << b;
            }
    return 1u << RULE_NONE;
}

void draw_question(question *q, uint64_t seed, int64_t number)
{
    dice d = dice_of(seed, (uint64_t)number);
    memset(q, 0, sizeof *q);
    q->seed = seed;
    q->number = number;
    q->rules = combination(number);
    draw_world(&q->world, &d, q->rules);
    draw_gnn(&q->gnn, &q->world, &d);
    q->row = dice_below(&d, q->world.task == CBX_GRAPH ? q->world.graphs : q->world.nodes);
    draw_rules(q, &d);
}
