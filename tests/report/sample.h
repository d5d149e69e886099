/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h: a small graph with names that need care, and a counterfactual on it
 * made by hand. */
#ifndef CBX_TEST_SAMPLE_H
#define CBX_TEST_SAMPLE_H

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

/* Quotes, a backslash, control characters, two, three and four bytes of UTF-8. */
static const char *const sample_classes[] = {"say \"no\"", "C:\\new\nline\t\x01", "käse 木 🎉"};
static const char *const sample_features[] = {"plain", "a \"b\"", "größe", "", "日本"};

/* Three nodes (or graphs), five features, three classes. */
static inline cbx_graph *sample_graph(cbx_task task, bool names)
{
    static const int64_t source[] = {0, 1, 1, 2}, target[] = {1, 0, 2, 1}, loops[] = {0, 1, 2, 2};
    static const int64_t ends[] = {0, 1, 2, 3}, y[] = {0, 1, 2};
    static const float   x[15] = {0};
    cbx_graph_data       d = {.task = task,
                              .num_nodes = 3,
                              .num_features = 5,
                              .num_classes = 3,
                              .num_graphs = task == CBX_GRAPH ? 3 : 0,
                              .num_edges = 4,
                              .edge_source = task == CBX_GRAPH ? loops : source,
                              .edge_target = task == CBX_GRAPH ? loops : target,
                              .x = x,
                              .y = y,
                              .graph_ptr = task == CBX_GRAPH ? ends : NULL,
                              .class_names = names ? sample_classes : NULL,
                              .feature_names = names ? sample_features : NULL};
    cbx_graph           *g = NULL;
    cbx_error            err = {0};
    CHECK_OK(cbx_graph_new(&d, &g, &err), err);
    return g;
}

/* Numbers that are hard to write: thirds, the smallest and the largest, -0. */
static const cbx_edit sample_edits[] = {
    {.op = CBX_SET_FEATURE,
     .node = 2,
     .feature = 1,
     .from = 1.0f / 3,
     .to = 0x1.fffffep-1f,
     .influence = 12.345678f},
    {.op = CBX_REMOVE_EDGE, .source = 1, .target = 2, .edge = 2, .influence = 1e-30f},
    {.op = CBX_REMOVE_EDGE,
     .source = 0,
     .target = 1,
     .edge = -1,
     .undirected = true,
     .influence = -0.0f},
    {.op = CBX_SET_FEATURE,
     .node = 0,
     .feature = 4,
     .from = FLT_MAX,
     .to = -FLT_MIN,
     .influence = -0.1f},
    {.op = CBX_SET_FEATURE,
     .node = 1,
     .feature = 2,
     .from = 0x1p-149f,
     .to = 0x1.000002p24f,
     .group = 3,
     .influence = -3.3333333f},
};
enum { SAMPLE_EDITS = sizeof sample_edits / sizeof *sample_edits };

static inline cbx_counterfactual sample_found(cbx_task task)
{
    static const float before[] = {-0.105360516f, -2.9957323f, -2.9957323f};
    static const float after[] = {-3.912023f, -0.040821995f, -3.912023f};
    return (cbx_counterfactual){.task = task,
                                .row = 2,
                                .outcome = CBX_FOUND,
                                .reason = "",
                                .prediction = 0,
                                .target = 1,
                                .result = 1,
                                .num_classes = 3,
                                .before = before,
                                .after = after,
                                .num_edits = SAMPLE_EDITS,
                                .num_edges_removed = 2,
                                .num_features_changed = 3,
                                .edits = sample_edits,
                                .num_nodes = 3,
                                .num_features = 5,
                                .num_edges = 4,
                                .num_removable = 4,
                                .epoch = 17,
                                .epochs = 500,
                                .loss = 0.123456789012345,
                                .seconds = 0.25,
                                .certificate = CBX_OPTIMAL,
                                .scope = "removals of edges (one by one)",
                                .cost = 5,
                                .margin = 3.8712,
                                .robustness = 0.875,
                                .threshold = 0.5};
}

/* One that was skipped, not found or cancelled. */
static inline cbx_counterfactual sample_without(cbx_outcome outcome, const char *reason)
{
    cbx_counterfactual c = sample_found(CBX_NODE);
    c.outcome = outcome;
    c.reason = reason;
    c.result = c.prediction;
    c.after = NULL;
    c.edits = NULL;
    c.num_edits = c.num_edges_removed = c.num_features_changed = 0;
    return c;
}

#define SAMPLE_HASH_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SAMPLE_HASH_B "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static inline char *sample_line(const cbx_counterfactual *c, const cbx_graph *g)
{
    cbx_explain_options o;
    memset(&o, 0, sizeof o);
    cbx_fields_default(cbx_explain_table(), &o);
    o.target = "next";
    return cbx_counterfactual_json_with(c, g, &o, SAMPLE_HASH_A, SAMPLE_HASH_B);
}

#endif
