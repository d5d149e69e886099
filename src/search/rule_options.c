/* SPDX-License-Identifier: Apache-2.0 */
/* rule_options.c: see rule_options.h. */
#include "rule_options.h"

#include <string.h>

bool cbx_option_is_rule(const cbx_option *o)
{
    return o->help && !strncmp(o->help, "rule:", 5);
}

bool cbx_rule_is_given(const cbx_option *o, const void *fields)
{
    const void *at = (const char *)fields + o->offset;
    const char *text;
    if (!cbx_option_is_rule(o))
        return false;
    switch (o->type) {
    case CBX_OPTION_INT:
        return *(const int64_t *)at > 0;
    case CBX_OPTION_REAL:
        return *(const double *)at > 0;
    case CBX_OPTION_BOOL:
        return *(const bool *)at;
    case CBX_OPTION_CHOICE:
        return *(const int *)at > 0;
    default:
        text = *(const char *const *)at;
        return text && *text && (!o->fallback || strcmp(text, o->fallback) != 0) &&
               !(!strcmp(o->name, "one-hot") && !strcmp(text, "none"));
    }
}

bool cbx_rules_are_given(const cbx_explain_options *options)
{
    const cbx_option_table *table = cbx_explain_table();
    const cbx_option       *o;
    const void             *of;
    for (size_t i = 0; (o = cbx_fields_at(table, options, i, &of)); i++)
        if (cbx_rule_is_given(o, of))
            return true;
    return false;
}
