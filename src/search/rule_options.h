/* SPDX-License-Identifier: Apache-2.0 */
/* rule_options.h: which options are rules; their help begins with that word. What a rule means
 * read_rules.h says. */
#ifndef CBX_RULE_OPTIONS_H
#define CBX_RULE_OPTIONS_H

#include "explain_options.h"
#include "internal.h"

/* Is the option one? */
CBX_INTERNAL bool cbx_option_is_rule(const cbx_option *option);

/* Is this option of cbx_explain_table a rule, and has it been given in this struct? */
CBX_INTERNAL bool cbx_rule_is_given(const cbx_option *option, const void *fields);

/* Is any? */
bool cbx_rules_are_given(const cbx_explain_options *options);

#endif
