/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c: tables: an edge list, and tables of features and labels beside it.
 *
 *   edges.csv      source, target and perhaps weight; without a header, too
 *   features.csv   the node's id, then features: numbers as they are, texts one-hot;
 *                  columns called label and split may be here as well
 *   labels.csv     the node's id, its class, perhaps split: train, val, test
 *
 * Ids are any texts. Nodes have the order of the features, or else of the labels,
 * or else of the edges; then there is one feature, which is 1. Edges stay as
 * listed. PREFIXedges.csv goes with PREFIXfeatures.csv and PREFIXlabels.csv. */
#include "csv.h"

#include <stdio.h>
#include <string.h>

#include "combinex/extend.h"
#include "error.h"
#include "read_options.h"
#include "word.h"

/* ---- which file is which */

static const char *const role_words[CBX_CSV_ROLES][6] = {
    {"edges", "edge_list", "edgelist", "links", "edge", NULL},
    {"features", "node_features", "attributes", "nodes", "feats", NULL},
    {"labels", "node_labels", "classes", "targets", "label", NULL}};

/* The role that a name tells, and how long the part before its word is; -1: none. */
static int role_of(const char *name, size_t *prefix)
{
    char   bare[200];
    size_t length = strlen(name);
    if (length > 3 && cbx_same_word(name + length - 3, ".gz"))
        length -= 3;
    if (length < 5 || length >= sizeof bare ||
        (!cbx_same_start(name + length - 4, ".csv", 4) &&
         !cbx_same_start(name + length - 4, ".tsv", 4)))
        return -1;
    length -= 4;
    memcpy(bare, name, length);
    bare[length] = '\0';
    for (int role = 0; role < CBX_CSV_ROLES; role++)
        for (int w = 0; role_words[role][w]; w++) {
            size_t size = strlen(role_words[role][w]);
            if (length >= size && cbx_same_word(bare + length - size, role_words[role][w])) {
                *prefix = length - size;
                /* "node_features" must not leave the prefix "node_" */
                if (*prefix >= 5 && cbx_same_start(bare + *prefix - 5, "node_", 5))
                    *prefix -= 5;
                return role;
            }
        }
    return -1;
}

/* Files with roles, here and not in folders below; of the chosen one's prefix. */
static int find_files(const cbx_bundle *b, const char *files[CBX_CSV_ROLES])
{
    const char *chosen = cbx_bundle_chosen(b), *name, *first = chosen;
    size_t      want = 0, have;
    int         found = 0, role;
    for (role = 0; role < CBX_CSV_ROLES; role++)
        files[role] = NULL;
    if (chosen && role_of(chosen, &want) < 0)
        return 0;
    for (size_t i = 0; (name = cbx_bundle_name(b, i)); i++) {
        role = strchr(name, '/') ? -1 : role_of(name, &have);
        if (role < 0)
            continue;
        if (!first) {
            first = name;
            want = have;
        }
        if (have == want && !strncmp(name, first, want) && !files[role]) {
            files[role] = name;
            found++;
        }
    }
    if (chosen)
        files[role_of(chosen, &want)] = chosen;
    return found;
}

/* "customers.csv" beside edges.csv, where no features are: perhaps they were meant to be read. */
static const char *unread_table(const cbx_bundle *b)
{
    const char *name;
    for (size_t i = 0; (name = cbx_bundle_name(b, i)); i++) {
        size_t prefix, length = strlen(name);
        if (!strchr(name, '/') && role_of(name, &prefix) < 0 && length > 4 &&
            (cbx_same_word(name + length - 4, ".csv") || cbx_same_word(name + length - 4, ".tsv")))
            return name;
    }
    return NULL;
}

static void tell_unread(const cbx_csv *c)
{
    cbx_reading *r = c->r;
    const char  *other = unread_table(r->bundle);
    cbx_error    what = {0};
    if (!r->on_problem || c->files[CBX_CSV_FEATURES] || !other)
        return;
    (void)cbx_fail(&what, CBX_INVALID,
                   "%s: '%.60s' is not read, and there are no features: call it features.csv, or "
                   "nodes.csv",
                   cbx_bundle_path(r->bundle), other);
    r->on_problem(r->user, CBX_PROBLEM_WARNING, what.message);
}

static bool detect(cbx_bundle *bundle)
{
    const char *files[CBX_CSV_ROLES];
    (void)find_files(bundle, files);
    return files[CBX_CSV_EDGES] != NULL;
}

/* ---- edges */

static cbx_status add_edge(cbx_csv *c, cbx_table *t, const int at[3])
{
    cbx_reading *r = c->r;
    int64_t      ends[2];
    for (int k = 0; k < 2; k++) {
        const char *id = t->fields[at[k]];
        ends[k] = c->nodes_known ? cbx_names_find(&c->nodes, id) : cbx_names_add(&c->nodes, id);
        if (ends[k] < 0 && c->nodes_known)
            return cbx_bad_line(&t->lines, "node '%.60s' has no row in %s", id,
                                c->files[CBX_CSV_FEATURES] ? c->files[CBX_CSV_FEATURES]
                                                           : c->files[CBX_CSV_LABELS]);
        if (ends[k] < 0)
            return CBX_MEMORY(r);
    }
    double weight = 1;
    if (at[2] >= 0 && (!cbx_is_number(t->fields[at[2]], &weight) || !(weight >= 0)))
        return cbx_bad_line(&t->lines, "the weight '%.40s' is not a number of at least 0",
                            t->fields[at[2]]);
    if (!cbx_graph_builder_edge(r->builder, ends[0], ends[1]) ||
        (at[2] >= 0 && !cbx_floats_add(&r->builder->weight, (float)weight)))
        return CBX_MEMORY(r);
    return CBX_OK;
}

static cbx_status read_edges(cbx_csv *c)
{
    static const char *const sources[] = {"source", "src", "from", "node1", "id1", "u", NULL};
    static const char *const targets[] = {"target", "dst", "to", "node2", "id2", "v", NULL};
    static const char *const weights[] = {"weight", "edge_weight", NULL};
    cbx_table                t = {0};
    bool                     more = false;
    int                      at[3] = {0, 1, -1};
    cbx_status               status = cbx_table_open(&t, c->r, c->files[CBX_CSV_EDGES]);
    if (!status && t.num_columns < 2)
        status = cbx_fail(c->r->err, CBX_INVALID, "%s, line %lld: a source and a target expected",
                          t.lines.path, (long long)t.lines.number);
    if (!status && cbx_table_headless(&t)) {
        char **fields = t.fields;
        t.fields = t.columns;
        at[2] = t.num_columns > 2 ? 2 : -1;
        status = add_edge(c, &t, at);
        t.fields = fields;
    } else if (!status) {
        int source = cbx_table_column(&t, sources), target = cbx_table_column(&t, targets);
        at[0] = source >= 0 && target >= 0 ? source : 0;
        at[1] = source >= 0 && target >= 0 ? target : 1;
        at[2] = cbx_table_column(&t, weights);
    }
    while (!status && !(status = cbx_table_next(&t, &more)) && more)
        status = add_edge(c, &t, at);
    cbx_table_close(&t);
    return status;
}

/* ---- classes and splits */

cbx_status cbx_csv_label_column(cbx_csv *c, const cbx_table *t, int *column)
{
    const char *named = c->r->options->label_column;
    const char *names[] = {named, NULL};
    *column = cbx_table_column(t, named ? names : cbx_csv_label_words);
    if (!named || *column >= 0)
        return CBX_OK;
    cbx_nearest      near;
    cbx_did_you_mean suggestion;
    cbx_nearest_begin(&near, named);
    for (size_t k = 0; k < t->num_columns; k++)
        cbx_nearest_try(&near, t->columns[k]);
    return cbx_fail_option(c->r->err, "label-column", "%s has no column '%.60s'%s", t->lines.path,
                           named, cbx_suggest(suggestion, near.best));
}

cbx_status cbx_csv_label(cbx_csv *c, cbx_table *t, int64_t node, int label, int split)
{
    static const char *const words[][3] = {
        {"train", "training", ""}, {"val", "valid", "validation"}, {"test", "testing", ""}};
    cbx_graph_builder *d = c->r->builder;
    if (label >= 0 && *t->fields[label]) {
        int64_t class = cbx_names_add(&c->classes, t->fields[label]);
        if (class < 0 || !cbx_longs_fill(&d->y, (size_t)node + 1, -1))
            return CBX_MEMORY(c->r);
        d->y.at[node] = class;
    }
    if (split < 0 || !*t->fields[split])
        return CBX_OK;
    for (int part = 0; part < CBX_PARTS; part++)
        for (int w = 0; w < 3; w++)
            if (cbx_same_word(t->fields[split], words[part][w])) {
                if (!cbx_bytes_fill(&d->mask[part], (size_t)node + 1, 0))
                    return CBX_MEMORY(c->r);
                d->mask[part].at[node] = 1;
                d->num_splits = 1;
                return CBX_OK;
            }
    return cbx_bad_line(&t->lines, "the split '%.40s' is none of train, val and test",
                        t->fields[split]);
}

static cbx_status read_labels(cbx_csv *c)
{
    cbx_table  t = {0};
    bool       more = false;
    cbx_status status = cbx_table_open(&t, c->r, c->files[CBX_CSV_LABELS]);
    if (status) {
        cbx_table_close(&t);
        return status;
    }
    int id = cbx_table_column(&t, cbx_csv_id_words),
        label = cbx_table_column(&t, cbx_csv_label_words);
    int split = cbx_table_column(&t, cbx_csv_split_words);
    id = id < 0 ? 0 : id;
    label = label < 0 ? (id == 0 ? 1 : 0) : label;
    if (t.num_columns < 2 || id == label || cbx_table_headless(&t))
        status = cbx_fail(c->r->err, CBX_INVALID,
                          "%s, line %lld: a header with a node's id and its label expected",
                          t.lines.path, (long long)t.lines.number);
    while (!status && !(status = cbx_table_next(&t, &more)) && more) {
        int64_t node = c->nodes_known ? cbx_names_find(&c->nodes, t.fields[id])
                                      : cbx_names_add(&c->nodes, t.fields[id]);
        if (node < 0 && !c->nodes_known)
            status = CBX_MEMORY(c->r);
        else if (node < 0)
            status = cbx_bad_line(&t.lines, "node '%.60s' has no row in %s", t.fields[id],
                                  c->files[CBX_CSV_FEATURES]);
        else
            status = cbx_csv_label(c, &t, node, label, split);
    }
    c->nodes_known = true;
    cbx_table_close(&t);
    return status;
}

/* ---- all together */

/* One feature that is 1: enough for a model to count neighbours. */
static cbx_status constant_feature(cbx_csv *c)
{
    cbx_graph_builder *d = c->r->builder;
    d->dense = true;
    d->num_features = 1;
    return cbx_floats_fill(&d->x, (size_t)c->nodes.count, 1) ? CBX_OK : CBX_MEMORY(c->r);
}

static cbx_status finish(cbx_csv *c)
{
    cbx_graph_builder *d = c->r->builder;
    size_t             n = (size_t)c->nodes.count;
    d->num_nodes = c->nodes.count;
    bool ok = !d->y.count || cbx_longs_fill(&d->y, n, -1);
    for (int part = 0; ok && d->num_splits && part < CBX_PARTS; part++)
        ok = cbx_bytes_fill(&d->mask[part], n, 0);
    if (ok && !cbx_names_are_numbers(&c->nodes))
        ok = (d->node_names = cbx_names_copy(&c->nodes, NULL, &d->arena)) != NULL;
    if (!ok)
        return CBX_MEMORY(c->r);
    cbx_status status = c->files[CBX_CSV_FEATURES] ? CBX_OK : constant_feature(c);
    if (!status && c->classes.count && !cbx_graph_builder_sort_classes(d, &c->classes))
        status = CBX_MEMORY(c->r);
    if (!status && !cbx_graph_builder_fit_features(d))
        status = CBX_MEMORY(c->r);
    return status;
}

static cbx_status read(cbx_reading *r)
{
    cbx_csv    c = {.r = r};
    cbx_status status = CBX_OK;
    (void)find_files(r->bundle, c.files);
    if (!c.files[CBX_CSV_EDGES] && cbx_bundle_chosen(r->bundle)) /* --format csv says it is one */
        c.files[CBX_CSV_EDGES] = cbx_bundle_chosen(r->bundle);
    if (!c.files[CBX_CSV_EDGES])
        return cbx_fail(r->err, CBX_INVALID, "%s: no file called edges.csv",
                        cbx_bundle_path(r->bundle));
    if (c.files[CBX_CSV_FEATURES])
        status = cbx_csv_features(&c, c.files[CBX_CSV_FEATURES]);
    if (!status && c.files[CBX_CSV_LABELS])
        status = read_labels(&c);
    if (!status)
        status = read_edges(&c);
    if (!status)
        tell_unread(&c);
    if (!status && !r->problems)
        status = finish(&c);
    cbx_names_free(&c.nodes);
    cbx_names_free(&c.classes);
    return status;
}

const cbx_reader cbx_reader_csv = {
    .name = "csv",
    .about = "tables: edges.csv, and beside it features.csv and labels.csv",
    .detect = detect,
    .read = read,
};
