/* SPDX-License-Identifier: Apache-2.0 */
/* graph_builder.h: a graph while it is being read.
 *
 * Readers add edges, features and labels as they come; finishing puts edges and
 * rows in order, checks everything and makes a graph that owns the arrays. */
#ifndef CBX_GRAPH_BUILDER_H
#define CBX_GRAPH_BUILDER_H

#include "arena.h"
#include "combinex/kit.h"
#include "names.h"
#include "vectors.h"

enum { CBX_TRAIN, CBX_VAL, CBX_TEST, CBX_PARTS };

/* What to do with edges, in this order. */
enum {
    CBX_EDGES_NO_LOOPS = 1,
    CBX_EDGES_BOTH_WAYS = 2, /* add what has no reverse */
    CBX_EDGES_BY_SOURCE = 4, /* sort by source, then target, and merge duplicates */
    CBX_EDGES_BY_TARGET = 8  /* sort by target, then source, and merge */
};

/* What becomes of an entry that is there twice in a row of sparse features. */
typedef enum cbx_twice { CBX_TWICE_SAME, CBX_TWICE_ADD } cbx_twice;

typedef struct cbx_graph_builder {
    cbx_task   task;
    int64_t    num_nodes;    /* -1: not known yet */
    int64_t    num_features; /* likewise */
    int64_t    num_classes;  /* 0: from the labels */
    int32_t    num_splits;
    cbx_longs  source, target;
    cbx_floats weight; /* empty: all 1 */
    int        edge_rules;

    bool       dense;
    cbx_floats x; /* dense: rows one after the other */
    cbx_longs  indptr;
    cbx_ints   columns;
    cbx_floats values; /* sparse */
    cbx_twice  twice;

    cbx_longs y, graph_ptr;
    cbx_bytes mask[CBX_PARTS]; /* rows x num_splits */
    cbx_bytes discrete, immutable;
    cbx_ints  group;

    cbx_arena    arena; /* names */
    const char  *name;
    const char **class_names, **feature_names, **node_names, **group_names;
    int32_t      num_groups;
} cbx_graph_builder;

cbx_graph_builder *cbx_graph_builder_new(void); /* NULL: no memory */
void               cbx_graph_builder_free(cbx_graph_builder *builder);

/* These return false when memory runs out. */
bool cbx_graph_builder_edge(cbx_graph_builder *builder, int64_t source, int64_t target);
/* A sparse entry of the row that was begun last. Zeros are left out at the end. */
bool cbx_graph_builder_row(cbx_graph_builder *builder);
bool cbx_graph_builder_entry(cbx_graph_builder *builder, int32_t column, float value);

/* Makes sparse features dense where that takes little, and dense ones sparse where
 * it saves much, for readers that cannot know. */
bool cbx_graph_builder_fit_features(cbx_graph_builder *builder);
bool cbx_graph_builder_make_dense(cbx_graph_builder *builder);

/* Labels are any whole numbers: makes them 0, 1, … in ascending order. -1 stays if
 * `keep_unknown`. With `name`, class names are what the numbers were. */
bool cbx_graph_builder_number_classes(cbx_graph_builder *builder, bool keep_unknown, bool name);

/* Labels are numbers of `classes`' texts, or -1: makes them numbers in alphabetical order, and
 * the texts the classes' names, unless those are 0, 1, … */
bool cbx_graph_builder_sort_classes(cbx_graph_builder *builder, const cbx_names *classes);

/* Sorts and merges as edge_rules say. */
cbx_status cbx_graph_builder_order_edges(cbx_graph_builder *builder, cbx_error *err);

/* The graph owns the builder from here on, also on failure. */
cbx_status cbx_graph_builder_finish(cbx_graph_builder *builder, cbx_graph **out, cbx_error *err);

#endif
