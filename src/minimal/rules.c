/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c: see rules.h. */
#include "rules.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "error.h"
#include "number.h"
#include "setup.h"

/* ---- reading lists: "3,7-9,age" */

typedef struct reader {
    const char *rule, *at, *begin;
    cbx_error  *err;
} reader;

static cbx_status unexpected(const reader *r, const char *expected)
{
    return cbx_fail_option(r->err, r->rule, "'%s' at position %d: expected %s", r->at,
                           (int)(r->at - r->begin) + 1, expected);
}

/* Length of the word at r->at: up to one of the stops. */
static size_t word(const reader *r, const char *stops)
{
    return strcspn(r->at, stops);
}

static cbx_status read_number(reader *r, double *out, const char *expected)
{
    char *end;
    errno = 0;
    *out = cbx_read_number(r->at, &end);
    if (end == r->at || errno || !isfinite(*out))
        return unexpected(r, expected);
    r->at = end;
    return CBX_OK;
}

/* A feature by number or by name. */
static cbx_status read_feature(reader *r, const cbx_graph *g, int32_t *out)
{
    const cbx_graph_data *d = &g->data;
    size_t                length = word(r, ",:");
    for (int32_t j = 0; d->feature_names && j < d->num_features; j++)
        if (strlen(d->feature_names[j]) == length && !strncmp(d->feature_names[j], r->at, length)) {
            r->at += length;
            *out = j;
            return CBX_OK;
        }
    char *end;
    long  j = strtol(r->at, &end, 10);
    if (end == r->at)
        return unexpected(r, "a feature's number or name");
    if (j < 0 || j >= d->num_features)
        return cbx_fail_option(r->err, r->rule, "feature %ld does not exist: there are 0 to %d", j,
                               d->num_features - 1);
    r->at = end;
    *out = (int32_t)j;
    return CBX_OK;
}

/* The search's number of the first feature, from the data's j on, that it has. */
static int32_t first_left(const cbx_setup *s, int32_t j)
{
    int32_t lo = 0, hi = s->used ? s->used->left : 0;
    while (lo < hi) {
        int32_t middle = lo + (hi - lo) / 2;
        if (s->used->number[middle] < j)
            lo = middle + 1;
        else
            hi = middle;
    }
    return s->used ? lo : j;
}

/* "a" or "a-b", both included. */
static cbx_status read_range(reader *r, const cbx_setup *s, int32_t *from, int32_t *to)
{
    *from = 0;
    cbx_status status = read_feature(r, s->named, from);
    *to = *from;
    if (!status && *r->at == '-') {
        r->at++;
        status = read_feature(r, s->named, to);
    }
    if (!status && *to < *from)
        return cbx_fail_option(r->err, r->rule, "%d-%d counts backwards", *from, *to);
    *from = first_left(s, *from);
    *to = first_left(s, *to + 1) - 1; /* perhaps none of them is left */
    return status;
}

/* Past the comma; an end without one is the end. */
static cbx_status next(reader *r)
{
    if (*r->at == ',')
        r->at++;
    else if (*r->at)
        return unexpected(r, "a comma");
    return CBX_OK;
}

static reader read_rule(const char *rule, const char *text, cbx_error *err)
{
    return (reader){rule, text ? text : "", text ? text : "", err};
}

/* ---- the rules one by one */

static cbx_status mark_features(cbx_rules *rules, const cbx_setup *setup, const char *rule,
                                const char *text, uint8_t value, cbx_error *err)
{
    reader r = read_rule(rule, text, err);
    while (*r.at) {
        int32_t    from, to;
        cbx_status status = read_range(&r, setup, &from, &to);
        if (status || (status = next(&r)))
            return status;
        memset(rules->fixed + from, value, (size_t)(to + 1 - from));
    }
    return CBX_OK;
}

static cbx_status none_permitted(int32_t feature, cbx_error *err)
{
    return cbx_fail_option(err, "permitted-range",
                           "feature %d takes whole numbers within its bounds, and none "
                           "of them is permitted",
                           feature);
}

static cbx_status read_ranges(cbx_rules *rules, const cbx_setup *setup, cbx_error *err)
{
    reader r = read_rule("permitted-range", rules->options->permitted_range, err);
    while (*r.at) {
        int32_t    j = 0;
        double     lo = 0, hi = 0;
        cbx_status status = read_feature(&r, setup->named, &j);
        if (status)
            return status;
        if (*r.at++ != ':') {
            r.at--;
            return unexpected(&r, "':' and the lower bound, as in 3:0:1");
        }
        if ((status = read_number(&r, &lo, "a lower bound")))
            return status;
        if (*r.at++ != ':') {
            r.at--;
            return unexpected(&r, "':' and the upper bound, as in 3:0:1");
        }
        if ((status = read_number(&r, &hi, "an upper bound")) || (status = next(&r)))
            return status;
        if (lo > hi)
            return cbx_fail_option(err, "permitted-range", "%g to %g of feature %d is empty", lo,
                                   hi, j);
        int32_t at = first_left(setup, j);
        if (at == first_left(setup, j + 1)) { /* never used: it is 0, and stays so */
            bool counted =
                rules->options->kinds == CBX_KINDS_AUTO || setup->named->data.discrete[j];
            if (counted && (lo > 0 || hi < 0))
                return none_permitted(j, err);
            continue;
        }
        /* of 0 and -0, fmaxf may give either */
        rules->lo[at] = (float)lo > rules->lo[at] ? (float)lo : rules->lo[at];
        rules->hi[at] = (float)hi < rules->hi[at] ? (float)hi : rules->hi[at];
    }
    return CBX_OK;
}

static cbx_status read_groups(cbx_rules *rules, const cbx_setup *setup, cbx_error *err)
{
    reader r = read_rule("one-hot", rules->options->one_hot, err);
    while (*r.at) {
        int32_t    from, to;
        cbx_status status = read_range(&r, setup, &from, &to);
        if (status || (status = next(&r)))
            return status;
        for (int32_t j = from; j <= to; j++) {
            if (rules->group[j] >= 0)
                return cbx_fail_option(err, "one-hot", "feature %d is in two groups",
                                       cbx_used_number(setup->used, j));
            rules->group[j] = rules->groups;
        }
        rules->groups++;
    }
    return CBX_OK;
}

static int by_node(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int by_pair(const void *a, const void *b)
{
    int first = by_node(a, b);
    return first ? first : by_node((const int32_t *)a + 1, (const int32_t *)b + 1);
}

static cbx_status read_node(reader *r, const cbx_graph *g, int32_t *out)
{
    char *end;
    long  v = strtol(r->at, &end, 10);
    if (end == r->at)
        return unexpected(r, "a node's number");
    if (v < 0 || v >= g->data.num_nodes)
        return cbx_fail_option(r->err, r->rule, "node %ld does not exist: there are 0 to %d", v,
                               g->data.num_nodes - 1);
    r->at = end;
    *out = (int32_t)v;
    return CBX_OK;
}

static cbx_status read_nodes(cbx_rules *rules, cbx_arena *arena, cbx_error *err)
{
    reader r = read_rule("immutable-nodes", rules->options->immutable_nodes, err);
    rules->nodes = CBX_NEW(arena, int32_t, strlen(r.at) + 1);
    if (!rules->nodes)
        return cbx_fail_memory(err);
    while (*r.at) {
        cbx_status status = read_node(&r, rules->graph, &rules->nodes[rules->num_nodes]);
        if (status || (status = next(&r)))
            return status;
        rules->num_nodes++;
    }
    qsort(rules->nodes, (size_t)rules->num_nodes, sizeof *rules->nodes, by_node);
    return CBX_OK;
}

static cbx_status read_edges(cbx_rules *rules, cbx_arena *arena, cbx_error *err)
{
    reader r = read_rule("protected-edges", rules->options->protected_edges, err);
    rules->edges = (int32_t(*)[2])CBX_NEW(arena, int32_t, 2 * strlen(r.at) + 2);
    if (!rules->edges)
        return cbx_fail_memory(err);
    while (*r.at) {
        int32_t    u = 0, v = 0;
        cbx_status status = read_node(&r, rules->graph, &u);
        if (status)
            return status;
        if (*r.at++ != '-') {
            r.at--;
            return unexpected(&r, "'-' and the other node, as in 3-7");
        }
        if ((status = read_node(&r, rules->graph, &v)) || (status = next(&r)))
            return status;
        rules->edges[rules->num_edges][0] = u < v ? u : v;
        rules->edges[rules->num_edges++][1] = u < v ? v : u;
    }
    qsort(rules->edges, (size_t)rules->num_edges, sizeof *rules->edges, by_pair);
    return CBX_OK;
}

/* A permitted range within which a feature that is counted has no value. */
static cbx_status check_ranges(const cbx_rules *rules, const cbx_setup *setup, cbx_error *err)
{
    for (int32_t j = 0; j < rules->graph->data.num_features; j++)
        if (setup->discrete[j] && rules->lo[j] > rules->hi[j])
            return none_permitted(cbx_used_number(setup->used, j), err);
    return CBX_OK;
}

/* What the data says of its features: bounds, one-hot groups. */
static int start_from_data(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena)
{
    const cbx_graph_data *d = &rules->graph->data;
    size_t                f = (size_t)d->num_features;
    rules->fixed = CBX_NEW0(arena, uint8_t, f);
    rules->lo = CBX_NEW(arena, float, f);
    rules->hi = CBX_NEW(arena, float, f);
    rules->group = CBX_NEW(arena, int32_t, f);
    if (!rules->fixed || !rules->lo || !rules->hi || !rules->group)
        return -1;
    rules->groups = d->feature_group ? d->num_groups : 0;
    for (size_t j = 0; j < f; j++) {
        rules->lo[j] = setup->lo[j];
        rules->hi[j] = setup->hi[j];
        rules->group[j] = d->feature_group ? d->feature_group[j] : -1;
    }
    return 0;
}

/* Features that may not change. */
static cbx_status read_fixed(cbx_rules *rules, const cbx_setup *setup, cbx_error *err)
{
    const cbx_explain_options *o = rules->options;
    const cbx_graph_data      *d = &rules->graph->data;
    cbx_status                 status = CBX_OK;
    if (o->features_to_vary && *o->features_to_vary && strcmp(o->features_to_vary, "all") != 0) {
        memset(rules->fixed, 1, (size_t)d->num_features);
        if (strcmp(o->features_to_vary, "none") != 0)
            status = mark_features(rules, setup, "features-to-vary", o->features_to_vary, 0, err);
    }
    for (int32_t j = 0; j < d->num_features && d->immutable; j++)
        rules->fixed[j] = rules->fixed[j] || d->immutable[j];
    return status
               ? status
               : mark_features(rules, setup, "immutable-features", o->immutable_features, 1, err);
}

cbx_status cbx_rules_init(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                          cbx_error *err)
{
    *rules = (cbx_rules){.graph = setup->graph, .options = setup->options};
    if (start_from_data(rules, setup, arena))
        return cbx_fail_memory(err);
    cbx_status status = read_fixed(rules, setup, err);
    if (!status)
        status = read_ranges(rules, setup, err);
    if (!status)
        status = cbx_bounds_round(&setup->graph->data, setup->discrete, rules->lo, rules->hi, arena)
                     ? cbx_fail_memory(err)
                     : check_ranges(rules, setup, err);
    if (!status)
        status = read_groups(rules, setup, err);
    if (!status)
        status = read_nodes(rules, arena, err);
    if (!status && setup->options->prove > 0 &&
        !(rules->fractions = cbx_bounds_fractions(&setup->graph->data, arena)))
        status = cbx_fail_memory(err);
    if (!status)
        status = read_edges(rules, arena, err);
    return status ? status
                  : cbx_columns_find(setup, rules->fixed, rules->group, rules->lo, rules->hi, arena,
                                     &rules->columns, err);
}

static bool is_immutable(const cbx_rules *rules, int32_t node)
{
    return rules->num_nodes && bsearch(&node, rules->nodes, (size_t)rules->num_nodes,
                                       sizeof *rules->nodes, by_node) != NULL;
}

static bool is_own(const cbx_search *s, int32_t node)
{
    return s->graph->data.task == CBX_GRAPH || node == s->row;
}

bool cbx_rules_node(const cbx_rules *rules, const cbx_search *s, int32_t node)
{
    return (!rules->options->own_features || is_own(s, node)) && !is_immutable(rules, node);
}

bool cbx_rules_pair(const cbx_rules *rules, const cbx_search *s, int32_t u, int32_t v)
{
    int32_t pair[2] = {u < v ? u : v, u < v ? v : u};
    if (rules->options->keep_edges || (rules->options->own_edges && !is_own(s, u) && !is_own(s, v)))
        return false;
    if (is_immutable(rules, u) || is_immutable(rules, v))
        return false;
    return !rules->num_edges ||
           !bsearch(pair, rules->edges, (size_t)rules->num_edges, sizeof *rules->edges, by_pair);
}
