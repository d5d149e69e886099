/* SPDX-License-Identifier: Apache-2.0 */
/* geom_gcn.c: the text files of geom-gcn.
 *
 *   out1_node_feature_label.txt   a header, then "id <tab> features <tab> class";
 *                                 features are 0,1,… or, where the header says
 *                                 feature_amount, the columns that are 1
 *   out1_graph_edges.txt          a header, then "source <tab> target"
 *   NAME_split_….npz              train_mask, val_mask, test_mask: one split each
 *
 * Edges stay directed, self-loops too; they are sorted by source and merged. */
#include <stdio.h>
#include <string.h>

#include "arrays.h"
#include "error.h"

#define NODES "out1_node_feature_label.txt"
#define EDGES "out1_graph_edges.txt"

static bool detect(cbx_bundle *bundle)
{
    return cbx_bundle_find(bundle, NODES) && cbx_bundle_find(bundle, EDGES);
}

typedef struct rows {
    cbx_longs id; /* of each line */
    bool      listed;
    int64_t   columns; /* one more than the largest column that is 1, or all */
} rows;

static cbx_status read_values(cbx_lines *l, char *features, rows *n)
{
    cbx_graph_builder *d = l->reading->builder;
    int64_t            column = 0;
    char               text[48];
    double             v;
    for (; cbx_take_real(&features, &v); column++)
        if (v != 0 && !cbx_graph_builder_entry(d, (int32_t)column, (float)v))
            return CBX_MEMORY(l->reading);
    if (!cbx_at_end(&features))
        return cbx_bad_line(l, "'%s' is not a number", cbx_excerpt(features, text));
    n->columns = n->columns ? n->columns : column;
    if (column != n->columns)
        return cbx_bad_line(l, "%lld features, the lines before have %lld", (long long)column,
                            (long long)n->columns);
    return CBX_OK;
}

static cbx_status read_list(cbx_lines *l, char *features, rows *n)
{
    int64_t column;
    char    text[48];
    while (cbx_take_int(&features, &column)) {
        if (column < 0 || !cbx_bundle_believes(l->reading->bundle, column))
            return cbx_bad_line(l, "%lld is not the number of a feature", (long long)column);
        n->columns = column + 1 > n->columns ? column + 1 : n->columns;
        if (!cbx_graph_builder_entry(l->reading->builder, (int32_t)column, 1))
            return CBX_MEMORY(l->reading);
    }
    return cbx_at_end(&features)
               ? CBX_OK
               : cbx_bad_line(l, "'%s' is not a whole number", cbx_excerpt(features, text));
}

static cbx_status read_node(cbx_lines *l, char *line, rows *n)
{
    cbx_graph_builder *d = l->reading->builder;
    char              *tab = strchr(line, '\t'), *last = tab ? strrchr(line, '\t') : NULL;
    int64_t            id, label;
    if (!tab || tab == last)
        return cbx_bad_line(l, "a node, its features and its class expected, with tabs between");
    *tab = *last = '\0';
    char *class = last + 1;
    if (!cbx_take_int(&line, &id) || id < 0 || !cbx_at_end(&line))
        return cbx_bad_line(l, "'%.40s' is not the number of a node", line);
    if (!cbx_take_int(&class, &label) || label < 0 || !cbx_at_end(&class))
        return cbx_bad_line(l, "'%.40s' is not the number of a class", class);
    if (!cbx_bundle_believes(l->reading->bundle, label))
        return cbx_bad_line(l, "%lld is too large a class", (long long)label);
    if (!cbx_graph_builder_row(d) || !cbx_longs_add(&n->id, id) || !cbx_longs_add(&d->y, label))
        return CBX_MEMORY(l->reading);
    return n->listed ? read_list(l, tab + 1, n) : read_values(l, tab + 1, n);
}

static cbx_status read_nodes(cbx_reading *r, rows *n)
{
    cbx_lines   lines = {0};
    const char *name = cbx_bundle_find(r->bundle, NODES);
    char       *line = NULL;
    if (!name)
        return cbx_fail(r->err, CBX_INVALID, "%s: " NODES " is missing",
                        cbx_bundle_path(r->bundle));
    cbx_status status = cbx_lines_open(&lines, r, name);
    if (!status)
        status = cbx_lines_next(&lines, &line);
    n->listed = line && strstr(line, "feature_amount");
    while (!status && !(status = cbx_lines_filled(&lines, &line)) && line)
        status = read_node(&lines, line, n);
    cbx_lines_close(&lines);
    return status;
}

/* The lines come in any order; rows go where their ids say. */
static cbx_status place_rows(cbx_reading *r, const rows *n)
{
    cbx_graph_builder *d = r->builder, sorted = {0};
    size_t             count = n->id.count;
    cbx_longs          line_of = {0};
    cbx_status         status = cbx_longs_fill(&line_of, count, -1) ? CBX_OK : CBX_MEMORY(r);
    for (size_t k = 0; !status && k < count; k++) {
        int64_t id = n->id.at[k];
        if (id >= (int64_t)count || line_of.at[id] >= 0)
            status = cbx_problem(r, "%s: node %lld is %s; the nodes must be 0 to %lld, each once",
                                 cbx_bundle_path(r->bundle), (long long)id,
                                 id >= (int64_t)count ? "too large a number" : "there twice",
                                 (long long)count - 1);
        else
            line_of.at[id] = (int64_t)k;
    }
    bool ok = true;
    for (size_t i = 0; !status && !r->problems && ok && i < count; i++) {
        int64_t k = line_of.at[i];
        int64_t end = (size_t)k + 1 < count ? d->indptr.at[k + 1] : (int64_t)d->values.count;
        ok = cbx_graph_builder_row(&sorted) && cbx_longs_add(&sorted.y, d->y.at[k]);
        for (int64_t e = d->indptr.at[k]; ok && e < end; e++)
            ok = cbx_graph_builder_entry(&sorted, d->columns.at[e], d->values.at[e]);
    }
    cbx_longs_free(&line_of);
    cbx_longs_free(&d->indptr);
    cbx_ints_free(&d->columns);
    cbx_floats_free(&d->values);
    cbx_longs_free(&d->y);
    d->indptr = sorted.indptr;
    d->columns = sorted.columns;
    d->values = sorted.values;
    d->y = sorted.y;
    d->num_nodes = (int64_t)count;
    d->num_features = n->columns;
    return status ? status : ok ? CBX_OK : CBX_MEMORY(r);
}

static cbx_status read_edges(cbx_reading *r)
{
    cbx_lines   lines = {0};
    const char *name = cbx_bundle_find(r->bundle, EDGES);
    int64_t     n = r->builder->num_nodes, s, t;
    char       *line;
    if (!name)
        return cbx_fail(r->err, CBX_INVALID, "%s: " EDGES " is missing",
                        cbx_bundle_path(r->bundle));
    cbx_status status = cbx_lines_open(&lines, r, name);
    if (!status)
        status = cbx_lines_next(&lines, &line);
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

static cbx_status read_mask(cbx_reading *r, cbx_bundle *npz, const char *name, int part,
                            int32_t split, int32_t splits)
{
    cbx_graph_builder *d = r->builder;
    cbx_npy            npy;
    const char        *file = cbx_bundle_find(npz, name);
    if (!file)
        return cbx_fail(r->err, CBX_INVALID, "%s: it has no %s", cbx_bundle_path(npz), name);
    cbx_status status = cbx_npy_read(r, npz, file, &npy);
    if (status)
        return status;
    if (npy.array.count != d->num_nodes || !strchr("iufb", npy.array.kind))
        status = cbx_fail(r->err, CBX_INVALID, "%s: %s has %lld values for %lld nodes",
                          cbx_bundle_path(npz), name, (long long)npy.array.count,
                          (long long)d->num_nodes);
    else if (!cbx_bytes_fill(&d->mask[part], (size_t)(d->num_nodes * splits), 0))
        status = CBX_MEMORY(r);
    for (int64_t i = 0; !status && i < d->num_nodes; i++)
        d->mask[part].at[i * splits + split] = cbx_array_real(&npy.array, i) != 0;
    cbx_npy_free(&npy);
    return status;
}

static bool is_split(const char *name)
{
    size_t length = strlen(name);
    return strstr(name, "_split_") && length > 4 && !strcmp(name + length - 4, ".npz");
}

static cbx_status read_splits(cbx_reading *r)
{
    static const char *const masks[] = {"train_mask.npy", "val_mask.npy", "test_mask.npy"};
    cbx_status               status = CBX_OK;
    int32_t                  splits = 0, split = 0;
    const char              *name;
    for (size_t i = 0; (name = cbx_bundle_name(r->bundle, i)); i++)
        splits += is_split(name);
    for (size_t i = 0; !status && (name = cbx_bundle_name(r->bundle, i)); i++) {
        cbx_bundle *npz = NULL;
        if (!is_split(name))
            continue;
        status = cbx_bundle_inside(r->bundle, name, &npz, r->err);
        for (int part = 0; !status && part < CBX_PARTS; part++)
            status = read_mask(r, npz, masks[part], part, split, splits);
        cbx_bundle_close(npz);
        split++;
    }
    r->builder->num_splits = splits;
    return status;
}

static cbx_status read(cbx_reading *r)
{
    rows               n = {0};
    cbx_graph_builder *d = r->builder;
    cbx_status         status = read_nodes(r, &n);
    if (!status)
        status = place_rows(r, &n);
    if (!status)
        status = read_edges(r);
    if (!status)
        status = read_splits(r);
    d->edge_rules = CBX_EDGES_BY_SOURCE;
    if (!status && !cbx_bytes_fill(&d->discrete, (size_t)d->num_features, 1))
        status = CBX_MEMORY(r);
    cbx_longs_free(&n.id);
    return status;
}

const cbx_reader cbx_reader_geom_gcn = {
    .name = "geom-gcn",
    .about = "geom-gcn: " NODES " and " EDGES ", splits as .npz",
    .detect = detect,
    .read = read,
};
