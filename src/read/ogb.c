/* SPDX-License-Identifier: Apache-2.0 */
/* ogb.c: OGB's node-property folders, as they come out of their zip or in it.
 *
 *   raw/edge.csv.gz, raw/node-feat.csv.gz, raw/node-label.csv.gz,
 *   raw/num-node-list.csv.gz, split/SCHEME/{train,valid,test}.csv.gz
 *
 * No headers. Edges stay as listed. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "reading.h"

static bool detect(cbx_bundle *bundle)
{
    return cbx_bundle_find(bundle, "edge.csv") && cbx_bundle_find(bundle, "num-node-list.csv");
}

static cbx_status open_part(cbx_reading *r, cbx_lines *lines, const char *name)
{
    const char *file = cbx_bundle_find(r->bundle, name);
    if (!file)
        return cbx_fail(r->err, CBX_INVALID, "%s: raw/%s.gz is missing", cbx_bundle_path(r->bundle),
                        name);
    return cbx_lines_open(lines, r, file);
}

static cbx_status read_count(cbx_reading *r)
{
    cbx_lines  lines = {0};
    char      *line = NULL;
    int64_t    n = 0;
    cbx_status status = open_part(r, &lines, "num-node-list.csv");
    if (!status)
        status = cbx_lines_filled(&lines, &line);
    if (!status && (!line || !cbx_take_int(&line, &n) || !cbx_at_end(&line) || n < 1))
        status =
            cbx_fail(r->err, CBX_INVALID, "%s, line 1: the number of nodes expected", lines.path);
    if (!status)
        status = cbx_lines_filled(&lines, &line);
    if (!status && line)
        status =
            cbx_fail(r->err, CBX_INVALID,
                     "%s: many graphs: only node-property sets, with one, are read", lines.path);
    r->builder->num_nodes = n;
    cbx_lines_close(&lines);
    return status;
}

static cbx_status read_features(cbx_reading *r)
{
    cbx_graph_builder *d = r->builder;
    cbx_lines          lines = {0};
    char              *line, text[48];
    int64_t            rows = 0;
    double             v;
    d->dense = true;
    cbx_status status = open_part(r, &lines, "node-feat.csv");
    for (; !status && !(status = cbx_lines_filled(&lines, &line)) && line; rows++) {
        int64_t columns = 0;
        for (; cbx_take_real(&line, &v); columns++)
            if (!cbx_floats_add(&d->x, (float)v))
                status = CBX_MEMORY(r);
        d->num_features = rows ? d->num_features : columns;
        if (!status && !cbx_at_end(&line))
            status = cbx_bad_line(&lines, "'%s' is not a number", cbx_excerpt(line, text));
        else if (!status && columns != d->num_features)
            status = cbx_bad_line(&lines, "%lld features, the lines before have %lld",
                                  (long long)columns, (long long)d->num_features);
        size_t want = (size_t)((rows + 1) * d->num_features);
        d->x.count = d->x.count < want ? d->x.count : want;
        if (!status && !cbx_floats_fill(&d->x, want, 0))
            status = CBX_MEMORY(r);
    }
    if (!status && rows != d->num_nodes)
        status = cbx_problem(r, "%s: %lld lines for %lld nodes", lines.path, (long long)rows,
                             (long long)d->num_nodes);
    cbx_lines_close(&lines);
    return status;
}

static cbx_status read_edges(cbx_reading *r)
{
    cbx_lines  lines = {0};
    char      *line;
    int64_t    n = r->builder->num_nodes, s, t;
    cbx_status status = open_part(r, &lines, "edge.csv");
    while (!status && !(status = cbx_lines_filled(&lines, &line)) && line) {
        if (!cbx_take_int(&line, &s) || !cbx_take_int(&line, &t) || !cbx_at_end(&line))
            status = cbx_bad_line(&lines, "two nodes expected, such as '1,2'");
        else if (s < 0 || s >= n || t < 0 || t >= n)
            status = cbx_bad_id(&lines, "node", s < 0 || s >= n ? s : t, 0, n);
        else if (!cbx_graph_builder_edge(r->builder, s, t))
            status = CBX_MEMORY(r);
    }
    cbx_lines_close(&lines);
    return status;
}

/* "nan" is how an unknown label is written. */
static cbx_status read_labels(cbx_reading *r)
{
    cbx_lines  lines = {0};
    char      *line;
    double     v;
    cbx_status status = open_part(r, &lines, "node-label.csv");
    while (!status && !(status = cbx_lines_filled(&lines, &line)) && line) {
        bool    good = cbx_take_real(&line, &v) && (isnan(v) || (v == rint(v) && v >= 0));
        int64_t label = !good || isnan(v) ? -1 : v < 2e9 ? (int64_t)v : INT32_MAX;
        if (good && !cbx_at_end(&line))
            status = cbx_fail(r->err, CBX_INVALID,
                              "%s, line %lld: several labels a node: only one is read", lines.path,
                              (long long)lines.number);
        else if (!good || !cbx_bundle_believes(r->bundle, label < 0 ? 0 : label))
            status = cbx_bad_line(&lines, "the number of a class expected");
        if (!status && !cbx_longs_add(&r->builder->y, label))
            status = CBX_MEMORY(r);
    }
    if (!status && (int64_t)r->builder->y.count != r->builder->num_nodes)
        status = cbx_problem(r, "%s: %lld lines for %lld nodes", lines.path,
                             (long long)r->builder->y.count, (long long)r->builder->num_nodes);
    cbx_lines_close(&lines);
    return status;
}

static cbx_status read_split(cbx_reading *r, const char *name, int part)
{
    cbx_lines   lines = {0};
    char       *line;
    int64_t     node, n = r->builder->num_nodes;
    const char *file = cbx_bundle_find(r->bundle, name);
    if (!file)
        return CBX_OK;
    cbx_status status = cbx_lines_open(&lines, r, file);
    if (!status && !cbx_bytes_fill(&r->builder->mask[part], (size_t)n, 0))
        status = CBX_MEMORY(r);
    r->builder->num_splits = 1;
    while (!status && !(status = cbx_lines_filled(&lines, &line)) && line) {
        if (!cbx_take_int(&line, &node) || !cbx_at_end(&line))
            status = cbx_bad_line(&lines, "the number of a node expected");
        else if (node < 0 || node >= n)
            status = cbx_bad_id(&lines, "node", node, 0, n);
        else
            r->builder->mask[part].at[node] = 1;
    }
    cbx_lines_close(&lines);
    return status;
}

static cbx_status read(cbx_reading *r)
{
    cbx_status status = read_count(r);
    if (!status)
        status = read_features(r);
    if (!status && r->builder->num_nodes * (r->builder->num_features > 0) >
                       (int64_t)r->builder->x.count) /* before masks of that size */
        status = cbx_fail(r->err, CBX_INVALID, "%s: too few rows of features",
                          cbx_bundle_path(r->bundle));
    if (!status && !cbx_bundle_believes(r->bundle, r->builder->num_nodes))
        status = cbx_fail(r->err, CBX_INVALID, "%s: it says %lld nodes, and is too small for them",
                          cbx_bundle_path(r->bundle), (long long)r->builder->num_nodes);
    if (!status)
        status = read_edges(r);
    if (!status)
        status = read_labels(r);
    if (!status)
        status = read_split(r, "train.csv", CBX_TRAIN);
    if (!status)
        status = read_split(r, "valid.csv", CBX_VAL);
    return status ? status : read_split(r, "test.csv", CBX_TEST);
}

const cbx_reader cbx_reader_ogb = {
    .name = "ogb",
    .about = "OGB node-property folders: raw/edge.csv.gz, raw/node-feat.csv.gz, …",
    .detect = detect,
    .read = read,
};
