/* SPDX-License-Identifier: Apache-2.0 */
/* read_rules.h: from the options' text to rules (src/verify/rules.h). */
#ifndef CBX_READ_RULES_H
#define CBX_READ_RULES_H

#include "arena.h"
#include "explain_options.h"

struct cbx_feature_set;
struct cbx_rules;
struct cbx_setup;

/* Reads the rules that the options hold; an error names the rule and what is wrong. */
cbx_status cbx_rules_init(struct cbx_rules *rules, const struct cbx_setup *setup, cbx_arena *arena,
                          cbx_error *err);

/* A set of the data's features in the search's numbers; perhaps none of them is left. */
void cbx_rules_renumber(const struct cbx_setup *setup, struct cbx_feature_set *set);

/* Do edits about `row` that lead to `class` (rules.h) keep the rules of these options? CBX_INVALID:
 * they do not, or the rules are none of this graph's. */
CBX_INTERNAL cbx_status cbx_rules_check_options(const cbx_graph           *graph,
                                                const cbx_explain_options *options, int32_t row,
                                                int32_t class, const cbx_edit *edits, int64_t count,
                                                cbx_error *err);

#endif
