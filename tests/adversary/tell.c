/* SPDX-License-Identifier: Apache-2.0 */
/* tell.c: a question's rules as the names and values that the library takes. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "question.h"

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
    tell_list(q, "only-up", q->only_up, f, 1);
    tell_list(q, "only-down", q->only_down, f, 1);
    char steps[MAX_SETTING] = "", relations[MAX_SETTING] = "";
    for (int j = 0; j < f; j++)
        if (q->step[j] > 0)
            append(steps, "%s%d:%g", *steps ? "," : "", j, q->step[j]);
    for (int k = 0; k < q->relations; k++)
        append(relations, "%s%d:%d", k ? "," : "", q->what[k], q->with[k]);
    if (*steps)
        tell(q, "step", "%s", steps);
    if (*relations)
        tell(q, "if-changed", "%s", relations);
    if (*ranges)
        tell(q, "permitted-range", "%s", ranges);
    if (*groups || !q->shown_groups)
        tell(q, "one-hot", "%s", *groups ? groups : "none");
    if (q->plausible > 0)
        tell(q, "plausible", "%g", q->plausible);
}

static void tell_elements(question *q)
{
    char text[MAX_SETTING] = "";
    for (int j = 0; j < q->world.features; j++)
        if (q->group[j] == q->atoms)
            append(text, "%s%s", *text ? "," : "", elements[q->element[j]].symbol);
    tell(q, "elements", "%s", text);
}

static void tell_edges(question *q)
{
    const world *w = &q->world;
    char         text[MAX_SETTING] = "";
    bool         graphs = w->task == CBX_GRAPH; /* whose nodes have numbers of their own */
    int          first = graphs ? first_node(q) : 0, end = graphs ? end_node(q) : w->nodes;
    tell_list(q, "immutable-nodes", q->immutable_node + first, end - first, 1);
    for (int e = 0; e < w->edges; e++) {
        bool told = !q->protect_edge[e] || (int)w->source[e] < first || (int)w->source[e] >= end;
        for (int b = 0; b < e && !told; b++)
            told = q->protect_edge[b] &&
                   ((w->source[b] == w->source[e] && w->target[b] == w->target[e]) ||
                    (w->source[b] == w->target[e] && w->target[b] == w->source[e]));
        if (!told && strlen(text) + 16 < MAX_SETTING)
            append(text, "%s%d-%d", *text ? "," : "", (int)w->source[e] - first,
                   (int)w->target[e] - first);
        else if (!told)
            q->protect_edge[e] = 0; /* no room to tell it */
    }
    if (*text)
        tell(q, "protected-edges", "%s", text);
    tell(q, "edges", "%s", q->directed ? "directed" : "undirected");
    if (q->adds || q->removes_nodes || q->weighs || q->adds_nodes)
        tell(q, "edits", "remove,features%s%s%s%s", q->adds ? ",add" : "",
             q->removes_nodes ? ",remove-nodes" : "", q->weighs ? ",weights" : "",
             q->adds_nodes ? ",add-nodes" : "");
    if (q->adds)
        tell(q, "add-at", "target");
    if (q->adds || q->adds_nodes) {
        tell(q, "add-candidates", "100000");
        if (q->same_type)
            tell(q, "add-to", "same-type");
        else
            tell_list(q, "add-to", q->add_to + first, end - first, 1);
        if (q->add_within && !q->as_self)
            tell(q, "add-within", "%d", q->add_within);
        if (q->max_degree)
            tell(q, "max-degree", "%d", q->max_degree);
    }
    if (q->keep != KEEP_ANY)
        tell(q, "keep", "%s",
             q->keep == KEEP_NO_ISOLATED ? "no-isolated"
             : q->atoms >= 0             ? "molecule"
                                         : "connected");
    if (q->atoms >= 0)
        tell_elements(q);
    if (q->keep_edges)
        tell(q, "keep-edges", "true");
    if (q->own_edges)
        tell(q, "own-edges", "true");
    if (q->own_features)
        tell(q, "own-features", "true");
    if (q->as_self)
        tell(q, "as", "self");
}

static void tell_search(question *q, dice *d)
{
    static const char *const others[] = {
        "combinex", "random-edges", "random-features", "ego", "cf-gnn", "cff", "unr", "moexp"};
    bool descends = has_rule(q, RULE_METHOD) || has_rule(q, RULE_START_BOTH);
    if (has_rule(q, RULE_METHOD)) {
        tell(q, "explainer", "%s", others[dice_below(d, 8)]);
        tell(q, "unr-rollouts", "40");
    }
    tell(q, "epochs", "%d", dice_between(d, 1, descends ? 60 : 8));
    tell(q, "robustness", "%d", dice_below(d, 3));
    if (q->near || dice_chance(d, 0.3)) { /* a poor search leaves more for the proof to do */
        tell(q, "beam", "1");
        tell(q, "candidates", "%d", dice_between(d, 1, q->near ? 1 : 3));
    }
    if (q->near)
        tell(q, "rebuilds", "0");
    tell(q, "prove", "%s",
         dice_chance(d, 0.1)    ? "0"
         : dice_chance(d, 0.05) ? "1e-6"
         : dice_chance(d, 0.2)  ? "0.002"
                                : "0.5");
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
    static const char *const counts[] = {"both", "edits", "distance"};
    if (q->target == TARGET_NEXT)
        tell(q, "target", "next");
    else if (q->target == TARGET_ANY)
        tell(q, "target", "any");
    else
        tell(q, "target", "%d", q->target);
    if (q->max_added)
        tell(q, "max-added", "%d", q->max_added);
    if (q->max_removed)
        tell(q, "max-removed", "%d", q->max_removed);
    if (q->max_edits)
        tell(q, "max-edits", "%d", q->max_edits);
    if (q->threshold > 0)
        tell(q, "stopping-threshold", "%g", q->threshold);
    if (has_rule(q, RULE_COSTS)) {
        tell(q, "edge-cost", "%g", q->edge_cost);
        tell(q, "node-cost", "%g", q->node_cost);
        if (q->dear >= 0)
            tell(q, "feature-cost", "%g,%d:%g", q->feature_cost, q->dear, q->dear_cost);
        else
            tell(q, "feature-cost", "%g", q->feature_cost);
        tell(q, "cost", "%s", counts[q->counts]);
    }
}

void tell_rules(question *q, dice *d)
{
    tell_features(q);
    tell_edges(q);
    tell_search(q, d);
    tell_answer(q);
}
