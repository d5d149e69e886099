/* SPDX-License-Identifier: Apache-2.0 */
/* attributed.c: folders of attributed graphs.
 *
 *   edgelist.txt   "source target", as listed: one direction, repeats, loops
 *   labels.txt     "node label …", labels from 1; of several the lowest counts
 *   attrs.npz      SciPy's sparse matrix; or
 *   tfidf.txt      "node column value", one entry a line
 *
 * Nodes without a label become class 0, and all features count as discrete, as the
 * published experiments have it. */
#include <stdio.h>
#include <string.h>

#include "arrays.h"
#include "error.h"
#include "scipy.h"

static bool detect(cbx_bundle *bundle)
{
    return cbx_bundle_find(bundle, "edgelist.txt") && cbx_bundle_find(bundle, "labels.txt");
}

static cbx_status read_labels(cbx_reading *r, cbx_longs *y)
{
    cbx_lines   lines = {0};
    const char *name = cbx_bundle_find(r->bundle, "labels.txt");
    char       *line, text[48];
    if (!name)
        return cbx_fail(r->err, CBX_INVALID, "%s: labels.txt is missing",
                        cbx_bundle_path(r->bundle));
    cbx_status status = cbx_lines_open(&lines, r, name);
    while (!status && !(status = cbx_lines_filled(&lines, &line)) && line) {
        int64_t node, label, lowest = 0;
        if (!cbx_take_int(&line, &node) || node < 0 || !cbx_bundle_believes(r->bundle, node)) {
            status =
                cbx_bad_line(&lines, "'%s' is not the number of a node", cbx_excerpt(line, text));
            continue;
        }
        bool wrong = false;
        while (!wrong && cbx_take_int(&line, &label)) {
            wrong = label < 1 || !cbx_bundle_believes(r->bundle, label);
            if (wrong)
                break;
            lowest = lowest == 0 || label < lowest ? label : lowest;
            r->builder->num_classes =
                label > r->builder->num_classes ? label : r->builder->num_classes;
        }
        if (wrong || !cbx_at_end(&line))
            status = cbx_bad_line(&lines, "labels are whole numbers from 1");
        else if (!cbx_longs_fill(y, (size_t)node + 1, 0))
            status = CBX_MEMORY(r);
        else
            y->at[node] = lowest > 0 ? lowest - 1 : 0;
    }
    cbx_lines_close(&lines);
    return status;
}

/* Entries in any order of rows: two passes over the file would do without `row`. */
static cbx_status read_triplets(cbx_reading *r, const char *name, int64_t nodes)
{
    cbx_graph_builder *d = r->builder;
    cbx_lines          lines = {0};
    char              *line;
    int64_t            row, column, columns = 0, last = -1;
    double             v;
    cbx_status         status = cbx_lines_open(&lines, r, name);
    while (!status && !(status = cbx_lines_filled(&lines, &line)) && line) {
        if (!cbx_take_int(&line, &row) || !cbx_take_int(&line, &column) ||
            !cbx_take_real(&line, &v) || !cbx_at_end(&line)) {
            status = cbx_bad_line(&lines, "a node, a column and a value expected");
        } else if (row < 0 || row >= nodes) {
            status = cbx_bad_id(&lines, "node", row, 0, nodes);
        } else if (column < 0 || !cbx_bundle_believes(r->bundle, column)) {
            status = cbx_bad_line(&lines, "%lld is not the number of a column", (long long)column);
        } else if (row < last) {
            status = cbx_bad_line(&lines, "node %lld comes after node %lld: they must ascend",
                                  (long long)row, (long long)last);
        } else {
            bool ok = true;
            for (; ok && last < row; last++)
                ok = cbx_graph_builder_row(d);
            columns = column + 1 > columns ? column + 1 : columns;
            if (!ok || !cbx_graph_builder_entry(d, (int32_t)column, (float)v))
                status = CBX_MEMORY(r);
        }
    }
    for (; !status && last + 1 < nodes; last++)
        if (!cbx_graph_builder_row(d))
            status = CBX_MEMORY(r);
    d->num_features = columns;
    cbx_lines_close(&lines);
    return status;
}

static cbx_status read_features(cbx_reading *r, int64_t nodes)
{
    const char *npz = cbx_bundle_find(r->bundle, "attrs.npz");
    const char *text = cbx_bundle_find(r->bundle, "tfidf.txt");
    r->builder->num_nodes = nodes;
    if (text && !npz)
        return read_triplets(r, text, nodes);
    if (!npz)
        return cbx_fail(r->err, CBX_INVALID, "%s: neither attrs.npz nor tfidf.txt is there",
                        cbx_bundle_path(r->bundle));
    cbx_bundle *inside;
    cbx_status  status = cbx_bundle_inside(r->bundle, npz, &inside, r->err);
    if (status)
        return status;
    status = cbx_scipy_features(r, inside, "");
    cbx_bundle_close(inside);
    return status;
}

static cbx_status read_edges(cbx_reading *r)
{
    cbx_lines   lines = {0};
    const char *name = cbx_bundle_find(r->bundle, "edgelist.txt");
    int64_t     n = r->builder->num_nodes, s, t;
    char       *line;
    if (!name)
        return cbx_fail(r->err, CBX_INVALID, "%s: edgelist.txt is missing",
                        cbx_bundle_path(r->bundle));
    cbx_status status = cbx_lines_open(&lines, r, name);
    while (!status && !(status = cbx_lines_filled(&lines, &line)) && line) {
        if (!cbx_take_int(&line, &s) || !cbx_take_int(&line, &t) || !cbx_at_end(&line))
            status = cbx_bad_line(&lines, "two nodes expected");
        else if (s < 0 || s >= n || t < 0 || t >= n)
            status = cbx_bad_id(&lines, "node", s < 0 || s >= n ? s : t, 0, n);
        else if (!cbx_graph_builder_edge(r->builder, s, t))
            status = CBX_MEMORY(r);
    }
    cbx_lines_close(&lines);
    return status;
}

static cbx_status read(cbx_reading *r)
{
    cbx_graph_builder *d = r->builder;
    cbx_longs          y = {0};
    cbx_status         status = read_labels(r, &y);
    if (!status)
        status = read_features(r, (int64_t)y.count);
    if (!status && (int64_t)y.count > d->num_nodes)
        status = cbx_fail(r->err, CBX_INVALID, "%s: labels for %lld nodes, features for %lld",
                          cbx_bundle_path(r->bundle), (long long)y.count, (long long)d->num_nodes);
    if (!status && (!cbx_longs_fill(&y, (size_t)d->num_nodes, 0) ||
                    !cbx_bytes_fill(&d->discrete, (size_t)d->num_features, 1)))
        status = CBX_MEMORY(r);
    d->y = y;
    return status ? status : read_edges(r);
}

const cbx_reader cbx_reader_attributed = {
    .name = "attributed",
    .about = "attributed graphs: edgelist.txt, labels.txt, attrs.npz or tfidf.txt",
    .detect = detect,
    .read = read,
};
