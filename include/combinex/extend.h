/* SPDX-License-Identifier: Apache-2.0 */
/* combinex/extend.h: adding to the library from outside.
 *
 * UNSTABLE: unlike combinex.h, what is declared here may change from one version to the next, in
 * names, in meaning and in layout. Whoever uses it builds against the version that runs. */
#ifndef COMBINEX_EXTEND_H
#define COMBINEX_EXTEND_H

#include "../combinex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- oracles: models that the caller runs */

/* A graph that the caller's model is asked about: the one to be explained, or a part of it around
 * a node, as some edits leave it. Everything is borrowed for the time of the call. */
typedef struct cbx_asked_graph {
    int32_t      num_nodes, num_features;
    int32_t      num_graphs; /* graph tasks; 0 in node tasks */
    int64_t      num_edges;
    const float *x; /* num_nodes * num_features */
    const int64_t
        *edge_source; /* num_edges: numbers of nodes here; edges that are removed are not */
    const int64_t *edge_target; /* there */
    const float   *edge_weight; /* num_edges: the data's own, and less where a search tries that */
    const int64_t *graph_of;    /* num_nodes: which graph it is of; NULL in node tasks */
    const int64_t *node;        /* num_nodes: which node of the data it is */
    const int64_t *edge;        /* num_edges: which edge of the data, by its position there */
    int32_t        num_rows;    /* of scores: of the first nodes, or of all graphs */
} cbx_asked_graph;

/* Writes num_rows * num_scores numbers. Non-zero: that went wrong, and whatever asked ends as if
 * a cbx_progress had stopped it. */
typedef int (*cbx_oracle_predict)(void *user, const cbx_asked_graph *graph, float *scores);

/* The gradients of sum(direction * scores), by the features (num_nodes * num_features) and by the
 * edge weights (num_edges); either may be NULL: not wanted. Returns as above. */
typedef int (*cbx_oracle_gradient)(void *user, const cbx_asked_graph *graph, const float *direction,
                                   float *by_x, float *by_weight);

typedef void (*cbx_oracle_free)(void *user);

/* A model as functions of the caller's. They may be called by several threads at once, where
 * explanations are made by several. */
typedef struct cbx_oracle {
    const char *name; /* tells this model from others: it becomes the model's hash; NULL: "" */
    cbx_task    task;
    int32_t     num_features;
    int32_t     num_scores; /* of a row */
    /* What they mean, and of several labels or numbers which one is asked about; NULL: they are a
     * softmax's, or one is the log-odds of class 1 against class 0. `inputs` is not looked at. */
    const cbx_open_options *reading;
    /* A node's scores depend on the features of nodes within so many steps and on edges that touch
     * these, whichever way they lead; -1: not known, and then nothing is proved of an answer. */
    int32_t hops;
    bool    one_graph; /* graph tasks: it cannot be asked about several at once */
    /* Scores follow edge weights between 0 and 1, down to 0, which is the graph without the edge.
     * Otherwise weights are the data's own, and the caller may ignore them. */
    bool               follows_weights;
    cbx_oracle_predict predict;
    cbx_oracle_gradient
                    gradient; /* NULL: none. Methods that descend along gradients need it, and */
    cbx_oracle_free free;     /* follows_weights. free: NULL, or called when the model goes */
    void           *user;
} cbx_oracle;

/* A model that these functions run. On failure `free` is not called. */
CBX_API cbx_status cbx_model_of_oracle(const cbx_oracle *oracle, cbx_model **out, cbx_error *err);

#ifdef __cplusplus
}
#endif
#endif
