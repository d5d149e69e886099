/* SPDX-License-Identifier: Apache-2.0 */
/* symbol.c: see symbol.h. */
#include "symbol.h"

#include <string.h>

#include "error.h"
#include "graph.h"
#include "one_hot.h"

/* A capital, and at most two small letters behind it, after the name of a column; or NULL. */
static const char *symbol_in(const char *name)
{
    static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                      small[] = "abcdefghijklmnopqrstuvwxyz";
    const char *behind = name ? strrchr(name, '=') : NULL, *text = behind ? behind + 1 : name;
    if (!text || !*text || !strchr(capitals, *text))
        return NULL;
    size_t more = strspn(text + 1, small);
    return more <= 2 && !text[1 + more] ? text : NULL;
}

/* At least two features, each of them with a symbol. */
static bool has_symbols(const cbx_graph_data *d, const int32_t *group, int32_t which)
{
    int32_t members = 0;
    for (int32_t j = 0; j < d->num_features; j++) {
        if (group[j] != which)
            continue;
        members++;
        if (!symbol_in(d->feature_names[j]))
            return false;
    }
    return members > 1;
}

cbx_status cbx_symbols_find(const cbx_graph *graph, cbx_arena *arena, const char *const **symbols,
                            cbx_error *err)
{
    const cbx_graph_data *d = &graph->data;
    int32_t               groups = d->feature_group ? d->num_groups : 0, which = 0;
    *symbols = NULL;
    if (d->task != CBX_GRAPH || !d->feature_names)
        return CBX_OK;
    int32_t     *group = CBX_NEW(arena, int32_t, d->num_features);
    const char **found = CBX_NEW0(arena, const char *, d->num_features);
    if (!group || !found)
        return cbx_fail_memory(err);
    for (int32_t j = 0; j < d->num_features; j++)
        group[j] = d->feature_group ? d->feature_group[j] : -1;
    int32_t more = cbx_one_hot_find(d, true, groups, group);
    if (more < 0)
        return cbx_fail_memory(err);
    while (which < groups + more && !has_symbols(d, group, which))
        which++;
    if (which == groups + more)
        return CBX_OK;
    for (int32_t j = 0; j < d->num_features; j++)
        if (group[j] == which)
            found[j] = symbol_in(d->feature_names[j]);
    *symbols = found;
    return CBX_OK;
}

const char *cbx_symbol_of(const cbx_graph *graph, const char *const *symbols, int32_t node)
{
    const cbx_graph_data *d = &graph->data;
    int64_t               from = d->x ? 0 : d->x_indptr[node];
    int64_t               to = d->x ? d->num_features : d->x_indptr[node + 1];
    for (int64_t k = from; k < to && symbols; k++) {
        int32_t f = d->x ? (int32_t)k : d->x_indices[k];
        float   value = d->x ? d->x[(int64_t)node * d->num_features + k] : d->x_values[k];
        if (value != 0 && symbols[f])
            return symbols[f];
    }
    return NULL;
}
