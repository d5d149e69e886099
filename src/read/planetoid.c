/* SPDX-License-Identifier: Apache-2.0 */
/* planetoid.c: the pickles ind.NAME.{x,y,tx,ty,allx,ally,graph} and test.index.
 *
 * allx and ally are the nodes 0, 1, …; the rows of tx and ty are those of the nodes
 * that test.index names, in its order. Ids that it leaves out between its ends get
 * no features and class 0. graph maps each node to its neighbours. x and y are the
 * first rows of allx: the training nodes; the 500 after them validate.
 *
 * Edges are made simple and go both ways, sorted by target and then source. All
 * features count as discrete, as the published experiments have it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "pickle.h"

enum { VALIDATION = 500 };

typedef struct planetoid {
    cbx_reading   *r;
    char           name[100];
    cbx_arena      arena;
    unsigned char *bytes[8];
    int            num_bytes;
    cbx_longs      test; /* test.index */
    cbx_sparse     allx, tx;
    cbx_array      ally, ty, y;
} planetoid;

static bool detect(cbx_bundle *bundle)
{
    char        part[8] = "";
    const char *found = cbx_bundle_ending(bundle, ".graph");
    if (!found)
        found = cbx_bundle_chosen(bundle);
    const char *slash = found ? strrchr(found, '/') : NULL;
    found = slash ? slash + 1 : found;
    if (found)
        (void)snprintf(part, sizeof part, "%.4s", found);
    return !strcmp(part, "ind.") && cbx_bundle_ending(bundle, ".test.index");
}

static cbx_status load(planetoid *p, const char *part, char *file, size_t size, const cbx_py **out)
{
    (void)snprintf(file, size, "ind.%s.%s", p->name, part);
    const char *name = cbx_bundle_find(p->r->bundle, file);
    if (!name)
        return cbx_fail(p->r->err, CBX_INVALID, "%s: %s is missing", cbx_bundle_path(p->r->bundle),
                        file);
    return cbx_pickle_read(p->r, name, &p->arena, &p->bytes[p->num_bytes++], out);
}

static cbx_status load_sparse(planetoid *p, const char *part, cbx_sparse *out)
{
    const cbx_py *py;
    char          file[128];
    cbx_status    status = load(p, part, file, sizeof file, &py);
    return status ? status : cbx_py_sparse(py, file, p->r, out);
}

static cbx_status load_labels(planetoid *p, const char *part, cbx_array *out)
{
    const cbx_py *py;
    char          file[128];
    cbx_status    status = load(p, part, file, sizeof file, &py);
    if (status)
        return status;
    if (py->kind != CBX_PY_ARRAY || !py->array || py->array->rank != 2 ||
        !strchr("iufb", py->array->kind))
        return cbx_fail(p->r->err, CBX_INVALID,
                        "%s: %s where an array of nodes x classes was expected", file,
                        cbx_py_name(py));
    *out = *py->array;
    return CBX_OK;
}

static cbx_status read_test_index(planetoid *p)
{
    char      file[128];
    cbx_lines lines = {0};
    char     *line;
    (void)snprintf(file, sizeof file, "ind.%s.test.index", p->name);
    const char *name = cbx_bundle_find(p->r->bundle, file);
    if (!name)
        return cbx_fail(p->r->err, CBX_INVALID, "%s: %s is missing", cbx_bundle_path(p->r->bundle),
                        file);
    cbx_status status = cbx_lines_open(&lines, p->r, name);
    while (!status && !(status = cbx_lines_filled(&lines, &line)) && line) {
        int64_t v;
        if (!cbx_take_int(&line, &v) || !cbx_at_end(&line) || v < 0)
            status = cbx_bad_line(&lines, "the number of a node expected");
        else if (!cbx_bundle_believes(p->r->bundle, v))
            status = cbx_bad_line(&lines, "node %lld in so short a file", (long long)v);
        else if (!cbx_longs_add(&p->test, v))
            status = CBX_MEMORY(p->r);
    }
    cbx_lines_close(&lines);
    return status;
}

static cbx_status check_sizes(planetoid *p)
{
    cbx_error *err = p->r->err;
    if (p->allx.cols != p->tx.cols || p->allx.cols < 1)
        return cbx_fail(err, CBX_INVALID, "ind.%s: allx has %lld features, tx has %lld", p->name,
                        (long long)p->allx.cols, (long long)p->tx.cols);
    if (p->ally.shape[0] != p->allx.rows || p->ty.shape[0] != p->tx.rows ||
        p->ally.shape[1] != p->ty.shape[1] || p->y.shape[0] > p->ally.shape[0])
        return cbx_fail(err, CBX_INVALID,
                        "ind.%s: the sizes of y, ally and ty do not fit allx and tx", p->name);
    if ((int64_t)p->test.count != p->tx.rows)
        return cbx_fail(err, CBX_INVALID, "ind.%s: test.index has %lld lines, tx has %lld rows",
                        p->name, (long long)p->test.count, (long long)p->tx.rows);
    return CBX_OK;
}

static int64_t largest(const cbx_array *a, int64_t row)
{
    int64_t best = 0, width = a->shape[1];
    for (int64_t k = 1; k < width; k++)
        if (cbx_array_real(a, row * width + k) > cbx_array_real(a, row * width + best))
            best = k;
    return best;
}

/* Nodes in order: allx, then the test rows where test.index puts them. */
static cbx_status place_rows(planetoid *p)
{
    cbx_graph_builder *d = p->r->builder;
    int64_t            n = p->allx.rows;
    for (size_t k = 0; k < p->test.count; k++)
        n = p->test.at[k] + 1 > n ? p->test.at[k] + 1 : n;
    int64_t *row_of = CBX_NEW(&p->arena, int64_t, n);
    if (!row_of)
        return CBX_MEMORY(p->r);
    for (int64_t i = 0; i < n; i++)
        row_of[i] = -1;
    for (size_t k = 0; k < p->test.count; k++)
        row_of[p->test.at[k]] = (int64_t)k;
    d->num_nodes = n;
    d->num_features = p->allx.cols;
    d->num_classes = p->ally.shape[1];
    d->twice = CBX_TWICE_ADD;
    for (int64_t i = 0; i < n; i++) {
        int64_t row = row_of[i];
        bool    known = row >= 0 || i < p->allx.rows;
        bool    ok = row >= 0           ? cbx_sparse_row(&p->tx, row, d)
                     : i < p->allx.rows ? cbx_sparse_row(&p->allx, i, d)
                                        : cbx_graph_builder_row(d);
        int64_t label = !known ? 0 : row >= 0 ? largest(&p->ty, row) : largest(&p->ally, i);
        if (!ok || !cbx_longs_add(&d->y, label))
            return CBX_MEMORY(p->r);
    }
    return CBX_OK;
}

static cbx_status make_masks(planetoid *p)
{
    cbx_graph_builder *d = p->r->builder;
    int64_t            train = p->y.shape[0], n = d->num_nodes;
    int64_t            val = train + VALIDATION < n ? train + VALIDATION : n;
    for (int part = 0; part < CBX_PARTS; part++)
        if (!cbx_bytes_fill(&d->mask[part], (size_t)n, 0))
            return CBX_MEMORY(p->r);
    for (int64_t i = 0; i < val; i++)
        d->mask[i < train ? CBX_TRAIN : CBX_VAL].at[i] = 1;
    for (size_t k = 0; k < p->test.count; k++)
        d->mask[CBX_TEST].at[p->test.at[k]] = 1;
    d->num_splits = 1;
    return cbx_bytes_fill(&d->discrete, (size_t)d->num_features, 1) ? CBX_OK : CBX_MEMORY(p->r);
}

static cbx_status read_graph(planetoid *p)
{
    const cbx_py      *graph;
    char               file[128];
    cbx_graph_builder *d = p->r->builder;
    cbx_status         status = load(p, "graph", file, sizeof file, &graph);
    if (status)
        return status;
    if (graph->kind != CBX_PY_DICT)
        return cbx_fail(p->r->err, CBX_INVALID, "%s: %s where a dict was expected", file,
                        cbx_py_name(graph));
    for (size_t i = 0; !status && i + 1 < graph->count; i += 2) {
        const cbx_py *node = graph->items[i], *list = graph->items[i + 1];
        if (node->kind != CBX_PY_INT || list->kind != CBX_PY_LIST) {
            status = cbx_problem(p->r, "%s: entry %llu is not a node with a list", file,
                                 (unsigned long long)i / 2);
            continue;
        }
        for (size_t k = 0; !status && k < list->count; k++) {
            int64_t to = list->items[k]->integer;
            if (list->items[k]->kind != CBX_PY_INT || to < 0 || to >= d->num_nodes ||
                node->integer < 0 || node->integer >= d->num_nodes)
                status = cbx_problem(
                    p->r, "%s: node %lld has the neighbour %lld; nodes are 0 to %lld", file,
                    (long long)node->integer, (long long)to, (long long)d->num_nodes - 1);
            else if (!cbx_graph_builder_edge(d, node->integer, to))
                status = CBX_MEMORY(p->r);
        }
    }
    d->edge_rules = CBX_EDGES_NO_LOOPS | CBX_EDGES_BOTH_WAYS | CBX_EDGES_BY_TARGET;
    return status;
}

static void name_of(planetoid *p)
{
    const char *file = cbx_bundle_ending(p->r->bundle, ".graph");
    if (!file)
        file = cbx_bundle_chosen(p->r->bundle);
    const char *slash = file ? strrchr(file, '/') : NULL;
    file = slash ? slash + 1 : file ? file : "";
    (void)snprintf(p->name, sizeof p->name, "%.90s", strncmp(file, "ind.", 4) ? file : file + 4);
    p->name[strcspn(p->name, ".")] = '\0';
}

static cbx_status read(cbx_reading *r)
{
    planetoid  p = {.r = r};
    cbx_status status;
    name_of(&p);
    status = read_test_index(&p);
    if (!status)
        status = load_sparse(&p, "allx", &p.allx);
    if (!status)
        status = load_sparse(&p, "tx", &p.tx);
    if (!status)
        status = load_labels(&p, "ally", &p.ally);
    if (!status)
        status = load_labels(&p, "ty", &p.ty);
    if (!status)
        status = load_labels(&p, "y", &p.y);
    if (!status)
        status = check_sizes(&p);
    if (!status)
        status = place_rows(&p);
    if (!status)
        status = make_masks(&p);
    if (!status)
        status = read_graph(&p);
    r->builder->name = cbx_arena_strdup(&r->builder->arena, p.name);
    if (!status && !r->builder->name)
        status = CBX_MEMORY(r);
    for (int i = 0; i < p.num_bytes; i++)
        free(p.bytes[i]);
    cbx_longs_free(&p.test);
    cbx_arena_free(&p.arena);
    return status;
}

const cbx_reader cbx_reader_planetoid = {
    .name = "planetoid",
    .about = "Planetoid pickles: ind.NAME.x, ind.NAME.graph, ind.NAME.test.index, …",
    .detect = detect,
    .read = read,
};
