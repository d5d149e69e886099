/* SPDX-License-Identifier: Apache-2.0 */
/* write.c: a graph, or a graph and the edits of a counterfactual, in the formats of
 * other programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "combinex/kit.h"
#include "edit_kind.h"
#include "error.h"
#include "neighbour.h"
#include "new_nodes.h"
#include "reweighted.h"
#include "writing.h"

#define X(word) extern const cbx_writer cbx_writer_##word;
#include "writers.def"
#undef X

static const cbx_writer *const writers[] = {
#define X(word) &cbx_writer_##word,
#include "writers.def"
#undef X
};

enum { COUNT = sizeof writers / sizeof *writers };

const char *cbx_export_name(size_t i)
{
    return i < COUNT ? writers[i]->name : NULL;
}

const char *cbx_export_about(size_t i)
{
    return i < COUNT ? writers[i]->about : NULL;
}

const char *cbx_export_of(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < COUNT; i++) {
        size_t size = writers[i]->ending ? strlen(writers[i]->ending) : 0;
        if (size && length > size && !strcmp(path + length - size, writers[i]->ending))
            return writers[i]->name;
    }
    return NULL;
}

/* ---- what writers ask */

bool cbx_writing_edge(const cbx_writing *w, int64_t e, cbx_written_edge *out)
{
    const cbx_graph_data *before = &w->graph->data, *after = &w->edited->data;
    bool                  behind = e >= before->num_edges;
    const cbx_graph_data *d = behind ? after : before;
    int64_t               at = behind ? e - cbx_writing_edges(w) + after->num_edges : e;
    *out = (cbx_written_edge){.source = d->edge_source[at],
                              .target = d->edge_target[at],
                              .weight = !behind && w->weight ? w->weight[e]
                                        : d->edge_weight     ? d->edge_weight[at]
                                                             : 1,
                              .removed = !behind && w->removed && w->removed[e],
                              .added = e >= before->num_edges - w->num_came};
    return !w->pairs || out->source <= out->target;
}

bool cbx_writing_weighted(const cbx_writing *w)
{
    return w->graph->data.edge_weight || w->edited->data.edge_weight;
}

static const char *numbered(cbx_label buffer, int64_t number)
{
    (void)snprintf(buffer, sizeof(cbx_label), "%lld", (long long)number);
    return buffer;
}

const char *cbx_writing_node(const cbx_writing *w, int32_t node, cbx_label buffer)
{
    const cbx_graph_data *d = &w->graph->data;
    return d->node_names ? d->node_names[node] : numbered(buffer, node);
}

const char *cbx_writing_feature(const cbx_writing *w, int32_t feature, cbx_label buffer)
{
    const cbx_graph_data *d = &w->graph->data;
    if (d->feature_names)
        return d->feature_names[feature];
    (void)snprintf(buffer, sizeof(cbx_label), "feature_%d", feature);
    return buffer;
}

const char *cbx_writing_class(const cbx_writing *w, int32_t node, cbx_label buffer)
{
    const cbx_graph_data *d = &w->graph->data;
    int32_t               row = d->task == CBX_GRAPH ? cbx_graph_of_node(w->graph, node) : node;
    if (!d->y || d->y[row] < 0)
        return NULL;
    return d->class_names ? d->class_names[d->y[row]] : numbered(buffer, d->y[row]);
}

const char *cbx_writing_split(const cbx_writing *w, int32_t node)
{
    const cbx_graph_data *d = &w->graph->data;
    if (d->num_splits != 1 || d->task == CBX_GRAPH)
        return NULL;
    return d->train_mask && d->train_mask[node] ? "train"
           : d->val_mask && d->val_mask[node]   ? "val"
           : d->test_mask && d->test_mask[node] ? "test"
                                                : NULL;
}

int64_t cbx_writing_edits(const cbx_writing *w, int32_t node, const cbx_edit **first)
{
    int64_t lo = 0, hi = w->num_edits, count = 0;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        if (w->edits[middle].node < node)
            lo = middle + 1;
        else
            hi = middle;
    }
    *first = w->edits + lo;
    while (lo + count < w->num_edits && w->edits[lo + count].node == node)
        count++;
    return count;
}

/* ---- preparing */

static int by_node(const void *a, const void *b)
{
    return cbx_edit_compare(a, b);
}

static cbx_status mark_edges(cbx_writing *w, const cbx_edit *edits, int64_t count, cbx_arena *arena)
{
    const cbx_graph *g = w->graph;
    cbx_view         view;
    uint8_t         *slots = CBX_NEW(arena, uint8_t, g->data.num_edges);
    uint8_t         *ids = CBX_NEW(arena, uint8_t, g->data.num_edges);
    if (!slots || !ids)
        return cbx_fail_memory(w->err);
    cbx_status status = cbx_view_whole(g, arena, &view, w->err);
    cbx_places places = {.view = &view};
    if (!status)
        status = cbx_edits_mark(g, &places, edits, count, slots, w->err);
    for (int64_t s = 0; !status && s < g->data.num_edges; s++)
        ids[cbx_graph_edge_id(g, s)] = slots[s];
    w->removed = ids;
    return status;
}

static cbx_status sort_edits(cbx_writing *w, const cbx_edit *edits, int64_t count, cbx_arena *arena)
{
    cbx_edit *kept = CBX_NEW(arena, cbx_edit, count);
    cbx_graph weighed;
    uint8_t  *lost = CBX_NEW0(arena, uint8_t, w->graph->data.num_nodes);
    if (!kept || !lost)
        return cbx_fail_memory(w->err);
    cbx_status status = cbx_graph_with_weights(w->graph, edits, count, arena, &weighed, w->err);
    if (status)
        return status;
    w->weight = weighed.data.edge_weight;
    for (int64_t i = 0; i < count; i++)
        if (edits[i].op == CBX_REMOVE_NODE)
            w->lost = lost;
    for (int64_t i = 0; i < count; i++) {
        if (edits[i].op == CBX_SET_FEATURE)
            kept[w->num_edits++] = edits[i];
        if (edits[i].op == CBX_REMOVE_NODE)
            lost[edits[i].node] = 1;
        if (edits[i].op == CBX_ADD_EDGE)
            w->num_added += edits[i].undirected ? 2 : 1;
    }
    if (w->num_edits)
        qsort(kept, (size_t)w->num_edits, sizeof *kept, by_node);
    w->edits = kept;
    return CBX_OK;
}

/* Once a pair only where nothing is lost by it: every edge has a reverse, none is
 * there twice or weighted, and a pair is removed or added as a whole or not at all. */
static cbx_status decide_pairs(cbx_writing *w)
{
    cbx_graph_stats  stats;
    cbx_written_edge edge;
    cbx_status       status = cbx_graph_measure(w->graph, &stats, w->err);
    if (status)
        return status;
    int64_t up = 0, down = 0;
    for (int64_t e = 0; e < cbx_writing_edges(w); e++) {
        (void)cbx_writing_edge(w, e, &edge);
        up += (edge.removed || edge.added) && edge.source < edge.target;
        down += (edge.removed || edge.added) && edge.source > edge.target;
    }
    w->pairs = stats.undirected && !stats.duplicate_edges && !cbx_writing_weighted(w) && up == down;
    if (!w->pairs || !up)
        return CBX_OK;
    /* as many each way may still be different pairs: the rest of the pairs must be whole */
    cbx_graph_stats after;
    status = cbx_graph_measure(w->edited, &after, w->err);
    w->pairs = !status && after.undirected;
    return status;
}

/* The edits are made, but nodes that go are still there: their marks say so. */
static cbx_status apply_to_all_nodes(const cbx_writing *w, const cbx_edit *edits, int64_t count,
                                     cbx_graph **edited, cbx_arena *arena)
{
    cbx_edit *others = CBX_NEW(arena, cbx_edit, count);
    int64_t   kept = 0;
    if (!others)
        return cbx_fail_memory(w->err);
    for (int64_t i = 0; i < count; i++)
        if (edits[i].op != CBX_REMOVE_NODE)
            others[kept++] = edits[i];
    return cbx_graph_apply(w->graph, others, kept, edited, w->err);
}

/* `made`: graphs that are to be freed, two of them. */
static cbx_status prepare(cbx_writing *w, const cbx_writer *writer, const cbx_edit *edits,
                          int64_t count, cbx_graph **made, cbx_arena *arena)
{
    cbx_status  status = CBX_OK;
    cbx_graph **edited = &made[1];
    if (edits && !writer->as_data)
        status = cbx_writing_add_nodes(w, &edits, &count, &made[0], arena);
    w->edited = w->graph;
    if (status)
        return status;
    if (edits) {
        status = writer->as_data ? cbx_graph_apply(w->graph, edits, count, edited, w->err)
                                 : apply_to_all_nodes(w, edits, count, edited, arena);
        w->edited = *edited;
        if (!status)
            status = mark_edges(w, edits, count, arena);
        if (!status)
            status = sort_edits(w, edits, count, arena);
    }
    return status ? status : decide_pairs(w);
}

cbx_status cbx_graph_export(const cbx_graph *graph, const char *format, const cbx_edit *edits,
                            int64_t count, const char *path, cbx_error *err)
{
    const cbx_writer *writer = NULL;
    cbx_graph        *made[2] = {NULL, NULL};
    cbx_arena         arena = {0};
    cbx_writing       w = {.graph = graph, .path = path, .err = err};
    for (size_t i = 0; i < COUNT; i++)
        if (!strcmp(writers[i]->name, format))
            writer = writers[i];
    if (!writer)
        return cbx_fail(err, CBX_INVALID, "'%.40s' is not a format to write", format);
    cbx_status status = prepare(&w, writer, edits, count, made, &arena);
    if (!status)
        status = writer->write(&w);
    cbx_graph_free(made[0]);
    cbx_graph_free(made[1]);
    cbx_arena_free(&arena);
    return status;
}

cbx_status cbx_file_target(const char *path, char **target, cbx_error *err)
{
    return cbx_neighbour_target(path, target, err);
}
