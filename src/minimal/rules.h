/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h: which edits are allowed at all.
 *
 * Rules are not penalties: a search never makes an edit that breaks one. They come as
 * text in the options and are read once a call; what they mean for one target is
 * worked out on its factual graph. */
#ifndef CBX_RULES_H
#define CBX_RULES_H

#include "columns.h"

/* One-hot: one feature of the group is 1 and the others are 0. A row of which that is not true to
 * begin with keeps the group as it is. */
enum { CBX_GROUP_OFF, CBX_GROUP_ON };

/* Of a call: the same for all targets. */
typedef struct cbx_rules {
    const cbx_graph           *graph;
    const cbx_explain_options *options;
    uint8_t                   *fixed;   /* by feature: may not change */
    float                     *lo, *hi; /* by feature: permitted */
    double                    *price;   /* by feature: what changing it costs */
    uint8_t     *fractions; /* by feature: some node has one; NULL: nothing is to be proved */
    int32_t     *group;     /* by feature: its one-hot group, -1: none */
    int32_t      groups;
    cbx_columns *columns; /* what the data has of features with many values; NULL: there is none */
    /* sorted: may not change, nor lose an edge; graph tasks: numbers within a graph */
    int32_t *nodes;
    int64_t  num_nodes;
    int32_t (*edges)[2]; /* sorted pairs, smaller node first: protected */
    int64_t num_edges;
} cbx_rules;

/* Reads the rules that the options hold; an error names the rule and what is wrong. */
cbx_status cbx_rules_init(cbx_rules *rules, const struct cbx_setup *setup, cbx_arena *arena,
                          cbx_error *err);

/* May this node's features change? Which of them is `fixed`. Numbers of the graph. */
bool cbx_rules_node(const cbx_rules *rules, const cbx_search *s, int32_t node);

/* May the feature take this value? */
static inline bool cbx_rules_value(const cbx_rules *rules, int32_t feature, float value)
{
    return value >= rules->lo[feature] && value <= rules->hi[feature];
}

/* May the edges between these two nodes go, as far as the two are concerned? */
bool cbx_rules_pair(const cbx_rules *rules, const cbx_search *s, int32_t u, int32_t v);

#endif
