/* SPDX-License-Identifier: Apache-2.0 */
/* names.c: what a person calls the parts of a graph. */
#include <stdlib.h>
#include <string.h>

#include "combinex/extend.h"
#include "error.h"
#include "graph.h"
#include "word.h"

typedef struct named {
    const char        *noun;
    const char *const *names; /* or NULL */
    int32_t            count;
    const char *const *groups; /* what several of them together are called, or NULL */
    int32_t            num_groups;
} named;

static named parts_of(const cbx_graph *g, cbx_graph_part what)
{
    const cbx_graph_data *d = &g->data;
    switch (what) {
    case CBX_PART_NODE:
        return (named){"node", d->node_names, d->num_nodes, NULL, 0};
    case CBX_PART_GRAPH:
        return (named){"graph", NULL, d->num_graphs, NULL, 0};
    case CBX_PART_CLASS:
        return (named){"class", d->class_names, d->num_classes, NULL, 0};
    case CBX_PART_FEATURE:
        return (named){"feature", d->feature_names, d->num_features, d->group_names, d->num_groups};
    case CBX_PART_GROUP:
        return (named){"group of features", d->group_names, d->num_groups, NULL, 0};
    }
    return (named){"part", NULL, 0, NULL, 0};
}

static bool is_number(const char *text)
{
    text += *text == '-';
    size_t digits = strspn(text, "0123456789");
    return digits && digits < 12 && !text[digits];
}

static cbx_status find_number(const named *n, const char *text, int32_t *number, cbx_error *err)
{
    long long k = strtoll(text, NULL, 10);
    if (!n->count)
        return cbx_fail(err, CBX_INVALID, "%s %s does not exist: there is none", n->noun, text);
    if (k < 0 || k >= n->count)
        return cbx_fail(err, CBX_INVALID, "%s %s does not exist: there are 0 to %d", n->noun, text,
                        (int)n->count - 1);
    *number = (int32_t)k;
    return CBX_OK;
}

static cbx_status unknown(const named *n, const char *text, cbx_error *err)
{
    cbx_nearest      near;
    cbx_did_you_mean suggestion;
    cbx_nearest_begin(&near, text);
    for (int32_t i = 0; n->names && i < n->count; i++)
        cbx_nearest_try(&near, n->names[i]);
    for (int32_t i = 0; n->groups && i < n->num_groups; i++)
        cbx_nearest_try(&near, n->groups[i]);
    if (!n->names)
        return cbx_fail(err, CBX_INVALID,
                        "there is no %s '%.100s': they have no names here, only numbers", n->noun,
                        text);
    return cbx_fail(err, CBX_INVALID, "there is no %s '%.100s'%s", n->noun, text,
                    cbx_suggest(suggestion, near.best));
}

cbx_status cbx_graph_find(const cbx_graph *graph, cbx_graph_part what, const char *text,
                          int32_t *number, cbx_error *err)
{
    named   n = parts_of(graph, what);
    int32_t found = -1;
    *number = 0;
    if (text[0] == '@' && is_number(text + 1))
        return find_number(&n, text + 1, number, err);
    for (int32_t i = 0; n.names && i < n.count; i++) {
        if (strcmp(n.names[i], text) != 0)
            continue;
        if (found >= 0)
            return cbx_fail(err, CBX_INVALID,
                            "more than one %s is called '%.100s': say which, by @%d or @%d", n.noun,
                            text, (int)found, (int)i);
        found = i;
    }
    if (found < 0)
        return is_number(text) ? find_number(&n, text, number, err) : unknown(&n, text, err);
    *number = found;
    return CBX_OK;
}
