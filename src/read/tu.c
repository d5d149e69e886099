/* SPDX-License-Identifier: Apache-2.0 */
/* tu.c: the TU collection's text folders.
 *
 *   DS_A.txt                 one edge a line, "1, 2": nodes count from 1
 *   DS_graph_indicator.txt   line i: the graph of node i, from 1, ascending
 *   DS_graph_labels.txt      line i: the class of graph i, any whole number
 *   DS_node_labels.txt       line i: the label, or labels, of node i
 *   DS_node_attributes.txt   line i: the attributes of node i
 *
 * Graph task: features are the attributes and behind them the labels, one-hot;
 * edges are made simple and sorted. Node task: all graphs are one, features are the
 * attributes, the class is the node's label, edges stay as listed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "reading.h"

typedef struct tu {
    cbx_reading *r;
    char         prefix[200];
    cbx_longs    labels; /* n x label_columns */
    int64_t      label_columns;
    cbx_floats   attributes; /* n x num_attributes */
    int64_t      num_attributes;
} tu;

static bool detect(cbx_bundle *bundle)
{
    return cbx_bundle_ending(bundle, "_A.txt") && cbx_bundle_ending(bundle, "_graph_indicator.txt");
}

static const char *file_of(const tu *t, const char *ending)
{
    char name[256];
    (void)snprintf(name, sizeof name, "%s%s", t->prefix, ending);
    return cbx_bundle_find(t->r->bundle, name);
}

static cbx_status missing(const tu *t, const char *ending)
{
    return cbx_fail(t->r->err, CBX_INVALID, "%s: %s%s is missing", cbx_bundle_path(t->r->bundle),
                    t->prefix, ending);
}

static cbx_status read_indicator(tu *t)
{
    cbx_reading *r = t->r;
    cbx_lines    lines = {0};
    const char  *name = file_of(t, "_graph_indicator.txt");
    cbx_longs   *ptr = &r->builder->graph_ptr;
    char        *line;
    int64_t      nodes = 0, graph = 0, last = 0;
    if (!name)
        return missing(t, "_graph_indicator.txt");
    cbx_status status = cbx_lines_open(&lines, r, name);
    while (!status && !(status = cbx_lines_filled(&lines, &line)) && line) {
        if (!cbx_take_int(&line, &graph) || !cbx_at_end(&line)) {
            status = cbx_bad_line(&lines, "the number of a graph expected");
            graph = last;
        } else if (graph < last || graph < 1) {
            status = cbx_bad_line(&lines, "graph %lld comes after graph %lld: they must ascend",
                                  (long long)graph, (long long)last);
            graph = last;
        } else if (!cbx_bundle_believes(r->bundle, graph)) {
            status = cbx_fail(r->err, CBX_INVALID,
                              "%s, line %lld: graph %lld is too many for so short a file",
                              lines.path, (long long)lines.number, (long long)graph);
        }
        for (; !status && last < graph; last++)
            if (!cbx_longs_add(ptr, nodes))
                status = CBX_MEMORY(r);
        nodes++;
    }
    if (!status && !cbx_longs_add(ptr, nodes))
        status = CBX_MEMORY(r);
    r->builder->num_nodes = nodes;
    cbx_lines_close(&lines);
    return status;
}

static cbx_status read_edges(tu *t)
{
    cbx_reading *r = t->r;
    cbx_lines    lines = {0};
    const char  *name = file_of(t, "_A.txt");
    int64_t      n = r->builder->num_nodes;
    char        *line;
    if (!name)
        return missing(t, "_A.txt");
    cbx_status status = cbx_lines_open(&lines, r, name);
    while (!status && !(status = cbx_lines_filled(&lines, &line)) && line) {
        int64_t s, e;
        if (!cbx_take_int(&line, &s) || !cbx_take_int(&line, &e) || !cbx_at_end(&line))
            status = cbx_bad_line(&lines, "two nodes expected, such as '1, 2'");
        else if (s < 1 || s > n || e < 1 || e > n)
            status = cbx_bad_id(&lines, "node", s < 1 || s > n ? s : e, 1, n);
        else if (!cbx_graph_builder_edge(r->builder, s - 1, e - 1))
            status = CBX_MEMORY(r);
    }
    cbx_lines_close(&lines);
    return status;
}

static cbx_status count_lines(cbx_lines *lines, int64_t have, int64_t want)
{
    if (have == want)
        return CBX_OK;
    return cbx_problem(lines->reading, "%s: %lld lines for %lld nodes", lines->path,
                       (long long)have, (long long)want);
}

static cbx_status read_attributes(tu *t)
{
    cbx_reading *r = t->r;
    cbx_lines    lines = {0};
    const char  *name = file_of(t, "_node_attributes.txt");
    char        *line;
    int64_t      rows = 0;
    if (!name)
        return CBX_OK;
    cbx_status status = cbx_lines_open(&lines, r, name);
    for (; !status && !(status = cbx_lines_filled(&lines, &line)) && line; rows++) {
        int64_t columns = 0;
        double  v;
        char    text[48];
        for (; !status && cbx_take_real(&line, &v); columns++) {
            if (!isfinite(v))
                status = cbx_bad_line(&lines, "attribute %lld is %g; it must be finite",
                                      (long long)columns + 1, v);
            if (!status && !cbx_floats_add(&t->attributes, (float)v))
                status = CBX_MEMORY(r);
        }
        t->num_attributes = rows ? t->num_attributes : columns;
        if (!status && !cbx_at_end(&line))
            status = cbx_bad_line(&lines, "'%s' is not a number", cbx_excerpt(line, text));
        else if (!status && columns != t->num_attributes)
            status = cbx_bad_line(&lines, "%lld attributes, the lines before have %lld",
                                  (long long)columns, (long long)t->num_attributes);
        size_t want = (size_t)((rows + 1) * t->num_attributes); /* also when only checking */
        t->attributes.count = t->attributes.count < want ? t->attributes.count : want;
        if (!status && !cbx_floats_fill(&t->attributes, want, 0))
            status = CBX_MEMORY(r);
    }
    if (!status)
        status = count_lines(&lines, rows, r->builder->num_nodes);
    cbx_lines_close(&lines);
    return status;
}

static cbx_status read_node_labels(tu *t)
{
    cbx_reading *r = t->r;
    cbx_lines    lines = {0};
    const char  *name = file_of(t, "_node_labels.txt");
    char        *line;
    int64_t      rows = 0;
    if (!name)
        return CBX_OK;
    cbx_status status = cbx_lines_open(&lines, r, name);
    for (; !status && !(status = cbx_lines_filled(&lines, &line)) && line; rows++) {
        int64_t columns = 0, v;
        for (; !status && cbx_take_int(&line, &v); columns++)
            if (!cbx_longs_add(&t->labels, v))
                status = CBX_MEMORY(r);
        t->label_columns = rows ? t->label_columns : columns;
        if (!status && (columns == 0 || columns != t->label_columns || !cbx_at_end(&line))) {
            status = cbx_bad_line(&lines, "%lld whole numbers expected, as in the first line",
                                  (long long)(t->label_columns ? t->label_columns : 1));
            t->label_columns = t->label_columns ? t->label_columns : 1;
        }
        t->labels.count = t->labels.count < (size_t)((rows + 1) * t->label_columns)
                              ? t->labels.count
                              : (size_t)((rows + 1) * t->label_columns);
        if (!status && !cbx_longs_fill(&t->labels, (size_t)((rows + 1) * t->label_columns), 0))
            status = CBX_MEMORY(r);
    }
    if (!status)
        status = count_lines(&lines, rows, r->builder->num_nodes);
    cbx_lines_close(&lines);
    return status;
}

static cbx_status read_graph_labels(tu *t)
{
    cbx_reading *r = t->r;
    cbx_lines    lines = {0};
    const char  *name = file_of(t, "_graph_labels.txt");
    int64_t      graphs = (int64_t)r->builder->graph_ptr.count - 1;
    char        *line;
    if (!name)
        return CBX_OK;
    cbx_status status = cbx_lines_open(&lines, r, name);
    while (!status && !(status = cbx_lines_filled(&lines, &line)) && line) {
        int64_t v = 0;
        double  real;
        char    text[48], *at = line;
        if (!cbx_take_int(&line, &v)) { /* "1.0" is a class too */
            line = at;
            if (!cbx_take_real(&line, &real) || real != rint(real) || fabs(real) > 1e15)
                status = cbx_bad_line(&lines, "'%s' is not a whole number", cbx_excerpt(at, text));
            else
                v = (int64_t)real;
        }
        if (!status && !cbx_longs_add(&r->builder->y, v))
            status = CBX_MEMORY(r);
    }
    if (!status && (int64_t)r->builder->y.count != graphs) {
        status = cbx_problem(r, "%s: %lld lines for %lld graphs", lines.path,
                             (long long)r->builder->y.count, (long long)graphs);
        r->builder->y.count = 0;
    }
    if (!status && !cbx_graph_builder_number_classes(r->builder, false, true))
        status = CBX_MEMORY(r);
    cbx_lines_close(&lines);
    return status;
}

/* Smallest and largest label of a column. */
static void label_range(const tu *t, int64_t column, int64_t *lo, int64_t *hi)
{
    *lo = *hi = t->labels.at[column];
    for (size_t k = (size_t)column; k < t->labels.count; k += (size_t)t->label_columns) {
        *lo = t->labels.at[k] < *lo ? t->labels.at[k] : *lo;
        *hi = t->labels.at[k] > *hi ? t->labels.at[k] : *hi;
    }
}

static cbx_status label_columns(const tu *t, int64_t *offset, int64_t *first, int64_t *total)
{
    for (int64_t c = 0; c < t->label_columns; c++) {
        int64_t lo, hi;
        label_range(t, c, &lo, &hi);
        uint64_t span = (uint64_t)hi - (uint64_t)lo;
        if (span > (uint64_t)INT32_MAX ||
            !cbx_bundle_believes(t->r->bundle, (int64_t)span + *total))
            return cbx_fail(t->r->err, CBX_INVALID,
                            "%s_node_labels.txt: labels from %lld to %lld are too many to be kinds",
                            t->prefix, (long long)lo, (long long)hi);
        first[c] = lo;
        offset[c] = *total;
        *total += (int64_t)span + 1;
    }
    return CBX_OK;
}

/* Attributes and one-hot labels; sparse first, since labels may be many. */
static cbx_status graph_features(tu *t)
{
    cbx_graph_builder *d = t->r->builder;
    int64_t            total = t->num_attributes, *offset, *first;
    cbx_arena          work = {0};
    offset = CBX_NEW(&work, int64_t, t->label_columns);
    first = CBX_NEW(&work, int64_t, t->label_columns);
    cbx_status status =
        offset && first ? label_columns(t, offset, first, &total) : CBX_MEMORY(t->r);
    bool plain = total == 0; /* nothing is known: one feature that is 1 everywhere */
    d->num_features = plain ? 1 : total;
    for (int64_t i = 0; !status && i < d->num_nodes; i++) {
        bool ok = cbx_graph_builder_row(d);
        for (int64_t j = 0; ok && j < t->num_attributes; j++)
            ok =
                cbx_graph_builder_entry(d, (int32_t)j, t->attributes.at[i * t->num_attributes + j]);
        for (int64_t c = 0; ok && c < t->label_columns; c++)
            ok = cbx_graph_builder_entry(
                d, (int32_t)(t->labels.at[i * t->label_columns + c] - first[c] + offset[c]), 1);
        if (ok && plain)
            ok = cbx_graph_builder_entry(d, 0, 1);
        if (!ok)
            status = CBX_MEMORY(t->r);
    }
    cbx_arena_free(&work);
    return status;
}

static cbx_status node_task(tu *t)
{
    cbx_graph_builder *d = t->r->builder;
    int64_t            lo, hi;
    if (!t->num_attributes || t->label_columns != 1)
        return cbx_fail(t->r->err, CBX_INVALID,
                        "%s: a node task needs %s_node_attributes.txt and one label a line in "
                        "%s_node_labels.txt",
                        cbx_bundle_path(t->r->bundle), t->prefix, t->prefix);
    label_range(t, 0, &lo, &hi);
    uint64_t span = (uint64_t)hi - (uint64_t)lo;
    if (span > (uint64_t)INT32_MAX || !cbx_bundle_believes(t->r->bundle, (int64_t)span))
        return cbx_fail(t->r->err, CBX_INVALID, "%s_node_labels.txt: %lld is too large a class",
                        t->prefix, (long long)hi);
    for (size_t i = 0; i < t->labels.count; i++)
        t->labels.at[i] -= lo;
    d->y = t->labels;
    t->labels = (cbx_longs){0};
    d->num_classes = (int64_t)span + 1;
    d->dense = true;
    d->x = t->attributes;
    t->attributes = (cbx_floats){0};
    d->num_features = t->num_attributes;
    d->task = CBX_NODE;
    cbx_longs_free(&d->graph_ptr);
    return CBX_OK;
}

static cbx_status graph_task(tu *t)
{
    cbx_graph_builder *d = t->r->builder;
    d->task = CBX_GRAPH;
    d->edge_rules = CBX_EDGES_NO_LOOPS | CBX_EDGES_BY_SOURCE;
    cbx_status status = read_graph_labels(t);
    if (!status)
        status = graph_features(t);
    /* As arrays where that is affordable: that is what most code expects of them. */
    if (!status &&
        (double)d->num_features * (double)d->num_nodes <
            64.0 * (double)cbx_bundle_bytes(t->r->bundle) &&
        !cbx_graph_builder_make_dense(d))
        status = CBX_MEMORY(t->r);
    return status;
}

static cbx_status read(cbx_reading *r)
{
    tu          t = {.r = r};
    const char *a = cbx_bundle_ending(r->bundle, "_A.txt");
    const char *slash = a ? strrchr(a, '/') : NULL;
    if (!a)
        return cbx_fail(r->err, CBX_INVALID, "%s: no file called NAME_A.txt",
                        cbx_bundle_path(r->bundle));
    a = slash ? slash + 1 : a;
    size_t length = (size_t)(strstr(a, "_A.txt") - a);
    (void)snprintf(t.prefix, sizeof t.prefix, "%.*s", (int)(length < 199 ? length : 199), a);
    cbx_status status = read_indicator(&t);
    if (!status)
        status = read_edges(&t);
    if (!status)
        status = read_attributes(&t);
    if (!status)
        status = read_node_labels(&t);
    if (!status && !r->problems)
        status = r->options->task == CBX_READ_NODE ? node_task(&t) : graph_task(&t);
    r->builder->name = cbx_arena_strdup(&r->builder->arena, t.prefix);
    if (!status && !r->builder->name)
        status = CBX_MEMORY(r);
    cbx_longs_free(&t.labels);
    cbx_floats_free(&t.attributes);
    return status;
}

const cbx_reader cbx_reader_tu = {
    .name = "tu",
    .about = "TU collection: NAME_A.txt, NAME_graph_indicator.txt, …; also zipped",
    .detect = detect,
    .read = read,
};
