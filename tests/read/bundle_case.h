/* SPDX-License-Identifier: Apache-2.0 */
/* bundle_case.h: reading files that a test writes down as text. */
#ifndef CBX_BUNDLE_CASE_H
#define CBX_BUNDLE_CASE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "reading.h"
#include "test.h"

typedef struct problems {
    int  errors, warnings;
    char text[8][CBX_MESSAGE_SIZE];
} problems;

static inline void collect(void *user, cbx_problem_kind kind, const char *message)
{
    problems *p = user;
    int       at = p->errors + p->warnings;
    if (at < 8)
        (void)snprintf(p->text[at], sizeof p->text[at], "%s", message);
    p->errors += kind == CBX_PROBLEM_ERROR;
    p->warnings += kind == CBX_PROBLEM_WARNING;
}

/* Reads "==> NAME <==" bundles with the reader that knows them; with `found`, for
 * all their problems. */
static inline cbx_status read_bytes(const void *bytes, size_t size, const cbx_read_options *options,
                                    problems *found, cbx_graph **graph, cbx_error *err)
{
    static const cbx_read_options plain = {0};
    const cbx_reader             *reader;
    cbx_reading                   r = {.options = options ? options : &plain, .err = err};
    *graph = NULL;
    if (found) {
        r.on_problem = collect;
        r.user = found;
    }
    cbx_status status = cbx_bundle_memory(bytes, size, &r.bundle, err);
    if (!status)
        status = cbx_reader_choose(r.bundle, r.options, &reader, err);
    if (!status)
        status = cbx_reading_graph(&r, reader, graph);
    cbx_bundle_close(r.bundle);
    return status;
}

static inline cbx_status read_text(const char *text, cbx_graph **graph, cbx_error *err)
{
    return read_bytes(text, strlen(text), NULL, NULL, graph, err);
}

/* The text cannot be read, and the message says each of these. */
static inline void check_refused(const char *text, const char *a, const char *b)
{
    cbx_graph *graph;
    cbx_error  err = {0};
    CHECK_INT(read_text(text, &graph, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, a);
    CHECK_CONTAINS(err.message, b);
    cbx_graph_free(graph);
}

static inline bool has_edge(const cbx_graph *g, int64_t source, int64_t target)
{
    for (int64_t e = 0; e < g->data.num_edges; e++)
        if (g->data.edge_source[e] == source && g->data.edge_target[e] == target)
            return true;
    return false;
}

static inline float value_at(const cbx_graph *g, int32_t node, int32_t feature)
{
    const cbx_graph_data *d = &g->data;
    if (d->x)
        return d->x[(int64_t)node * d->num_features + feature];
    for (int64_t k = d->x_indptr[node]; k < d->x_indptr[node + 1]; k++)
        if (d->x_indices[k] == feature)
            return d->x_values[k];
    return 0;
}

#endif
