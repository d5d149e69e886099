/* SPDX-License-Identifier: Apache-2.0 */
/* linqs.c: NAME.content and NAME.cites.
 *
 *   NAME.content   "id w1 … wf class", a node a line
 *   NAME.cites     "cited citing"; papers without content are left out
 *
 * As usual with these sets, edges are made simple and go both ways. */
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "names.h"
#include "reading.h"

static bool detect(cbx_bundle *bundle)
{
    return cbx_bundle_ending(bundle, ".content") && cbx_bundle_ending(bundle, ".cites");
}

/* Cuts the next word off; NULL: no more. */
static char *word(char **at)
{
    char *from = *at + strspn(*at, " \t"), *end = from + strcspn(from, " \t");
    if (end == from)
        return NULL;
    *at = *end ? end + 1 : end;
    *end = '\0';
    return from;
}

static cbx_status read_node(cbx_lines *l, char *line, cbx_names *nodes, cbx_names *classes)
{
    cbx_graph_builder *d = l->reading->builder;
    char              *id = word(&line), *last = NULL, *next;
    int64_t            before = nodes->count, columns = 0;
    if (!id)
        return CBX_OK;
    if (cbx_names_add(nodes, id) < 0)
        return CBX_MEMORY(l->reading);
    if (nodes->count == before)
        return cbx_bad_line(l, "node '%.60s' is there already", id);
    if (!cbx_graph_builder_row(d))
        return CBX_MEMORY(l->reading);
    for (; (next = word(&line)); last = next) {
        double v;
        char  *at = last;
        if (!last)
            continue;
        if (!cbx_take_real(&at, &v))
            return cbx_bad_line(l, "'%.40s' is not a number (feature %lld)", last,
                                (long long)columns + 1);
        if (v != 0 && !cbx_graph_builder_entry(d, (int32_t)columns, (float)v))
            return CBX_MEMORY(l->reading);
        columns++;
    }
    if (d->num_features < 0)
        d->num_features = columns;
    if (!last || columns != d->num_features)
        return cbx_bad_line(l, "%lld features and a class, the lines before have %lld",
                            (long long)columns, (long long)d->num_features);
    int64_t class = cbx_names_add(classes, last);
    return class >= 0 && cbx_longs_add(&d->y, class) ? CBX_OK : CBX_MEMORY(l->reading);
}

static cbx_status read_content(cbx_reading *r, cbx_names *nodes, cbx_names *classes)
{
    cbx_lines   lines = {0};
    const char *name = cbx_bundle_ending(r->bundle, ".content");
    char       *line;
    if (!name)
        return cbx_fail(r->err, CBX_INVALID, "%s: no file called NAME.content",
                        cbx_bundle_path(r->bundle));
    cbx_status status = cbx_lines_open(&lines, r, name);
    while (!status && !(status = cbx_lines_filled(&lines, &line)) && line)
        status = read_node(&lines, line, nodes, classes);
    cbx_lines_close(&lines);
    return status;
}

static cbx_status read_cites(cbx_reading *r, const cbx_names *nodes)
{
    cbx_lines   lines = {0};
    const char *name = cbx_bundle_ending(r->bundle, ".cites");
    char       *line;
    int64_t     unknown = 0;
    if (!name)
        return cbx_fail(r->err, CBX_INVALID, "%s: no file called NAME.cites",
                        cbx_bundle_path(r->bundle));
    cbx_status status = cbx_lines_open(&lines, r, name);
    while (!status && !(status = cbx_lines_filled(&lines, &line)) && line) {
        char *cited = word(&line), *citing = word(&line);
        if (!citing || word(&line)) {
            status = cbx_bad_line(&lines, "two nodes expected");
            continue;
        }
        int64_t to = cbx_names_find(nodes, cited), from = cbx_names_find(nodes, citing);
        if (to < 0 || from < 0)
            unknown++;
        else if (!cbx_graph_builder_edge(r->builder, from, to))
            status = CBX_MEMORY(r);
    }
    if (!status && unknown && r->on_problem) {
        char message[160];
        (void)snprintf(message, sizeof message, "%lld links to nodes without content are left out",
                       (long long)unknown);
        r->on_problem(r->user, CBX_PROBLEM_WARNING, message);
    }
    cbx_lines_close(&lines);
    return status;
}

/* Classes in alphabetical order. */
static cbx_status sort_classes(cbx_reading *r, const cbx_names *classes)
{
    cbx_graph_builder *d = r->builder;
    int64_t           *order = CBX_NEW(&d->arena, int64_t, classes->count);
    int64_t           *rank = CBX_NEW(&d->arena, int64_t, classes->count);
    if (!order || !rank || !cbx_names_sort(classes, order))
        return CBX_MEMORY(r);
    for (int64_t k = 0; k < classes->count; k++)
        rank[order[k]] = k;
    for (size_t i = 0; i < d->y.count; i++)
        d->y.at[i] = rank[d->y.at[i]];
    d->num_classes = classes->count;
    d->class_names = cbx_names_copy(classes, order, &d->arena);
    return d->class_names ? CBX_OK : CBX_MEMORY(r);
}

static cbx_status read(cbx_reading *r)
{
    cbx_names          nodes = {0}, classes = {0};
    cbx_graph_builder *d = r->builder;
    cbx_status         status = read_content(r, &nodes, &classes);
    d->num_nodes = nodes.count;
    d->num_features = d->num_features < 0 ? 0 : d->num_features;
    if (!status)
        status = read_cites(r, &nodes);
    if (!status)
        status = sort_classes(r, &classes);
    if (!status && !cbx_names_are_numbers(&nodes)) {
        d->node_names = cbx_names_copy(&nodes, NULL, &d->arena);
        status = d->node_names ? CBX_OK : CBX_MEMORY(r);
    }
    d->edge_rules = CBX_EDGES_NO_LOOPS | CBX_EDGES_BOTH_WAYS | CBX_EDGES_BY_TARGET;
    cbx_names_free(&nodes);
    cbx_names_free(&classes);
    return status;
}

const cbx_reader cbx_reader_linqs = {
    .name = "linqs",
    .about = "LINQS: NAME.content and NAME.cites",
    .detect = detect,
    .read = read,
};
