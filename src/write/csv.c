/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c: a folder with edges.csv and features.csv, which reads back the same. Edits
 * add a column to each: removed, and what changed. Both tables are new or neither is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "error.h"
#include "word.h"

static void put_field(cbx_text_out *out, const char *text)
{
    if (!text)
        return;
    if (!text[strcspn(text, ",;\"\t\n\r")] && *text != ' ' && *text) {
        cbx_text_put(out, text);
        return;
    }
    cbx_text_put(out, "\"");
    for (; *text; text++) {
        char one[3] = {*text == '\n' || *text == '\r' ? ' ' : *text, 0, 0};
        if (*text == '"')
            one[1] = '"';
        cbx_text_put(out, one);
    }
    cbx_text_put(out, "\"");
}

static void put_part(cbx_text_out *out, const char *text) /* within a quoted field */
{
    for (; *text; text++) {
        char one[3] = {*text, *text == '"' ? '"' : 0, 0};
        cbx_text_put(out, one);
    }
}

/* A feature's name must not look like one of the other columns. */
static void put_heading(cbx_text_out *out, const char *name)
{
    static const char *const taken[] = {"id",    "node",  "node_id", "nodeid", "name",
                                        "index", "label", "class",   "y",      "target",
                                        "split", "part",  "set",     "changed"};
    char                     other[64];
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (cbx_same_word(name, taken[i])) {
            (void)snprintf(other, sizeof other, "feature_%s", name);
            name = other;
            break;
        }
    put_field(out, name);
}

static cbx_status write_edges(const cbx_writing *w, cbx_atomic_folder *folder)
{
    cbx_text_out out;
    cbx_status   status = cbx_text_open_in(&out, folder, "edges.csv", w->err);
    if (status)
        return status;
    cbx_text_print(&out, "source,target%s%s%s\n", cbx_writing_weighted(w) ? ",weight" : "",
                   w->removed ? ",removed" : "", w->num_added ? ",added" : "");
    for (int64_t e = 0; e < cbx_writing_edges(w); e++) {
        cbx_written_edge edge;
        cbx_label        a, b;
        (void)cbx_writing_edge(w, e, &edge); /* each of a pair has a line */
        put_field(&out, cbx_writing_node(w, (int32_t)edge.source, a));
        cbx_text_put(&out, ",");
        put_field(&out, cbx_writing_node(w, (int32_t)edge.target, b));
        if (cbx_writing_weighted(w)) {
            cbx_text_put(&out, ",");
            cbx_text_float(&out, edge.weight);
        }
        if (w->removed)
            cbx_text_put(&out, edge.removed ? ",1" : ",0");
        if (w->num_added)
            cbx_text_put(&out, edge.added ? ",1" : ",0");
        cbx_text_put(&out, "\n");
    }
    return cbx_text_close(&out);
}

static void put_row(const cbx_writing *w, cbx_text_out *out, int32_t i, float *row)
{
    const cbx_graph_data *d = &w->edited->data;
    cbx_label             buffer;
    const cbx_edit       *edits;
    bool                  split = d->num_splits == 1;
    put_field(out, cbx_writing_node(w, i, buffer));
    if (d->y) {
        cbx_text_put(out, ",");
        put_field(out, cbx_writing_class(w, i, buffer));
    }
    if (split) {
        cbx_text_put(out, ",");
        put_field(out, cbx_writing_split(w, i));
    }
    int64_t begin = d->x ? 0 : d->x_indptr[i], end = d->x ? 0 : d->x_indptr[i + 1];
    for (int64_t k = begin; k < end; k++)
        row[d->x_indices[k]] = d->x_values[k];
    const float *values = d->x ? d->x + (int64_t)i * d->num_features : row;
    for (int32_t j = 0; j < d->num_features; j++) {
        cbx_text_put(out, ",");
        if (values[j] != 0)
            cbx_text_float(out, values[j]);
        else
            cbx_text_put(out, "0");
    }
    for (int64_t k = begin; k < end; k++) /* zeros again, for the next */
        row[d->x_indices[k]] = 0;
    if (w->removed) {
        cbx_text_put(out, ",\"");
        if (cbx_writing_lost(w, i))
            cbx_text_put(out, "removed");
        else if (cbx_writing_edits(w, i, &edits))
            cbx_put_changes(w, out, i, put_part, "; ");
        cbx_text_put(out, "\"");
    }
    cbx_text_put(out, "\n");
}

static cbx_status write_features(const cbx_writing *w, cbx_atomic_folder *folder)
{
    const cbx_graph_data *d = &w->edited->data;
    cbx_text_out          out;
    float                *row = calloc((size_t)d->num_features, sizeof *row);
    if (!row)
        return cbx_fail_memory(w->err);
    cbx_status status = cbx_text_open_in(&out, folder, "features.csv", w->err);
    if (!status) {
        cbx_text_print(&out, "id%s%s", d->y ? ",label" : "", d->num_splits == 1 ? ",split" : "");
        for (int32_t j = 0; j < d->num_features; j++) {
            cbx_label buffer;
            cbx_text_put(&out, ",");
            put_heading(&out, cbx_writing_feature(w, j, buffer));
        }
        cbx_text_put(&out, w->removed ? ",changed\n" : "\n");
        for (int32_t i = 0; i < d->num_nodes; i++)
            put_row(w, &out, i, row);
        status = cbx_text_close(&out);
    }
    free(row);
    return status;
}

/* A table has every zero in it: of sparse features that is more than anyone can want. */
static cbx_status check_size(const cbx_writing *w)
{
    const cbx_graph_data *d = &w->edited->data;
    int64_t               fields = (int64_t)d->num_nodes * d->num_features;
    int64_t               said = d->x ? fields : d->x_indptr[d->num_nodes] + d->num_nodes;
    if (fields / 1000 <= said + 16384)
        return CBX_OK;
    return cbx_fail(w->err, CBX_INVALID,
                    "%s: the table would have %lld fields for %lld values that are not 0: use "
                    "another format",
                    w->path, (long long)fields, (long long)d->x_indptr[d->num_nodes]);
}

static cbx_status write(const cbx_writing *w)
{
    static const char *const names[] = {"edges.csv", "features.csv", NULL};
    cbx_atomic_folder        folder;
    if (w->graph->data.task == CBX_GRAPH)
        return cbx_fail(w->err, CBX_INVALID,
                        "%s: tables hold one graph, and this data has many: use another format",
                        w->path);
    cbx_status status = check_size(w);
    if (!status)
        status = cbx_atomic_folder_open(&folder, w->path, names, w->err);
    if (status)
        return status;
    status = write_edges(w, &folder);
    if (!status)
        status = write_features(w, &folder);
    if (!status)
        return cbx_atomic_folder_commit(&folder, w->err);
    cbx_atomic_folder_abandon(&folder);
    return status;
}

const cbx_writer cbx_writer_csv = {
    .name = "csv",
    .about = "a folder with edges.csv and features.csv",
    .ending = NULL,
    .write = write,
};
