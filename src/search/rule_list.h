/* SPDX-License-Identifier: Apache-2.0 */
/* rule_list.h: lists in rules, as people write them: "3,7-9,age", "C-8-C-33", "income:0:40000",
 * "amount:50", "city:address".
 *
 * Entries are separated by commas. Names may have any character: where a mark of the list is among
 * them, what counts is whether the parts are known, and double quotes settle it. */
#ifndef CBX_RULE_LIST_H
#define CBX_RULE_LIST_H

#include "arena.h"
#include "graph.h"
#include "rules.h"

typedef struct cbx_rule_list {
    const cbx_graph *graph; /* whose names they are */
    const char      *rule;
    const char      *begin, *at; /* the text, and the entry that is read */
    const char      *end;        /* of that */
    char            *word;       /* room for any part of it, without quotes */
    cbx_error       *err;
} cbx_rule_list;

/* `text` may be NULL: an empty list. */
cbx_status cbx_rule_list_begin(cbx_rule_list *list, const cbx_graph *graph, const char *rule,
                               const char *text, cbx_arena *arena, cbx_error *err);

/* Is there an entry? Then it is read by one of the functions below, and left by _next. */
bool cbx_rule_list_more(const cbx_rule_list *list);
void cbx_rule_list_next(cbx_rule_list *list);

/* A feature, a group's features, or a range, "a-b", both included. */
cbx_status cbx_rule_list_features(cbx_rule_list *list, cbx_feature_set *set);

/* "what:with", both of them features, groups or ranges. */
cbx_status cbx_rule_list_relation(cbx_rule_list *list, cbx_relation *relation);

/* "feature:step"; a range has one step. */
cbx_status cbx_rule_list_step(cbx_rule_list *list, cbx_feature_set *set, double *step);

/* "feature:low:high". */
cbx_status cbx_rule_list_limits(cbx_rule_list *list, int32_t *feature, double *lo, double *hi);

/* "feature:price", of a feature, a group or a range, and a price alone, which is that of all
 * features. */
cbx_status cbx_rule_list_price(cbx_rule_list *list, cbx_feature_set *set, double *price);

/* A node; and two of them, "u-v" or "u:v". In graph tasks they are numbers within a graph. */
cbx_status cbx_rule_list_node(cbx_rule_list *list, int32_t *node);
cbx_status cbx_rule_list_pair(cbx_rule_list *list, int32_t *u, int32_t *v);

#endif
