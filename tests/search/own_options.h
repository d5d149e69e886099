/* SPDX-License-Identifier: Apache-2.0 */
/* own_options.h: options that one method has, in a struct that is filled in already. */
#ifndef OWN_OPTIONS_H
#define OWN_OPTIONS_H

#include <string.h>

#include "combinex_options.h"
#include "explainers.h"
#include "json.h"
#include "minimal_options.h"
#include "test.h"

static inline cbx_combinex_options *combinex_of(const cbx_explain_options *o)
{
    return (cbx_combinex_options *)cbx_explainer_settings(&cbx_explainer_combinex, o);
}

static inline cbx_minimal_options *minimal_of(const cbx_explain_options *o)
{
    return (cbx_minimal_options *)cbx_explainer_settings(&cbx_explainer_minimal, o);
}

static inline void set_option(cbx_explain_options *o, const char *name, const char *value)
{
    cbx_error err = {0};
    CHECK_OK(cbx_fields_set(cbx_explain_table(), o, name, value, &err), err);
}

static inline cbx_json option_of(const cbx_explain_options *o, const char *name)
{
    const cbx_option *option;
    const void       *of;
    for (size_t i = 0; (option = cbx_fields_at(cbx_explain_table(), o, i, &of)); i++)
        if (!strcmp(option->name, name))
            return cbx_json_option(option, of);
    CHECK(!"there is such an option");
    return (cbx_json){.kind = CBX_JSON_NULL};
}

static inline bool same_option(const cbx_explain_options *a, const cbx_explain_options *b,
                               const char *name)
{
    cbx_json x = option_of(a, name), y = option_of(b, name);
    return x.kind == y.kind && x.integer == y.integer && x.number == y.number &&
           (x.text && y.text ? !strcmp(x.text, y.text) : x.text == y.text);
}

/* Has it this value? */
static inline bool option_is(const cbx_explain_options *o, const char *name, const char *value)
{
    cbx_explain_options other = *o;
    set_option(&other, name, value);
    return same_option(o, &other, name);
}

#endif
