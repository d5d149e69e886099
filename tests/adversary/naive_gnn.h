/* SPDX-License-Identifier: Apache-2.0 */
/* naive_gnn.h: the oracles from their definitions, in double precision, on whole graphs.
 *
 * This is what certificates are held against, so it has nothing of the library: no views, no
 * caches, no weights of zero for edges that are gone. */
#ifndef CBX_ADVERSARY_NAIVE_GNN_H
#define CBX_ADVERSARY_NAIVE_GNN_H

#include <stdbool.h>

enum {
    MAX_NODES = 96,
    MAX_EDGES = 512,
    MAX_FEATURES = 8,
    MAX_HIDDEN = 6,
    MAX_WIDE = 8, /* the larger of the two above */
    MAX_LAYERS = 3,
    MAX_ORDER = 3,
    MAX_HEADS = 3,
    MAX_CLASSES = 4
};

typedef enum naive_conv {
    NAIVE_GCN,
    NAIVE_SUM,
    NAIVE_MEAN,
    NAIVE_MAX,
    NAIVE_GIN,
    NAIVE_GAT,
    NAIVE_CHEB /* the last: it is several, by its order */
} naive_conv;
typedef enum naive_pool { POOL_MEAN, POOL_SUM, POOL_MAX, POOL_NONE } naive_pool;

typedef struct naive_gnn {
    naive_conv conv;
    naive_pool pool;
    int        layers, order, hidden, features, classes;
    bool       cat;            /* the head sees all layers, not only the last */
    bool       centred;        /* features are less by a mean before all else … */
    double     mean[MAX_WIDE]; /* … which is this */
    double     eps;            /* gin's */
    int        heads;          /* gat's */
    bool       average, alone; /* gat: heads of `hidden` units each, of which the mean is taken; no
                                * loops of its own */
    double slope;              /* gat: of scores below 0 */
    /* out x in; gcn has one, graphconv rel and root, gin its MLP's two, cheb one per order */
    double weight[MAX_LAYERS][MAX_ORDER][MAX_HIDDEN][MAX_WIDE];
    double bias[MAX_LAYERS][MAX_HIDDEN];
    double inner_bias[MAX_LAYERS]
                     [MAX_HIDDEN]; /* gin: of the MLP's hidden layer, of `hidden` units */
    /* gat: of all heads, and what scores an edge's ends */
    double heads_weight[MAX_LAYERS][MAX_HEADS * MAX_HIDDEN][MAX_WIDE];
    double score_source[MAX_LAYERS][MAX_HEADS * MAX_HIDDEN];
    double score_target[MAX_LAYERS][MAX_HEADS * MAX_HIDDEN];
    double head[MAX_CLASSES][MAX_LAYERS * MAX_HIDDEN], head_bias[MAX_CLASSES];
    bool   sage;     /* with mean: PyG's other name for it */
    bool   residual; /* what a layer gives is more by its input times `skip` … */
    bool   norm;     /* … and then normalised by these */
    double skip[MAX_LAYERS][MAX_HIDDEN][MAX_WIDE];
    double norm_mean[MAX_LAYERS][MAX_HIDDEN], norm_var[MAX_LAYERS][MAX_HIDDEN];
    double norm_weight[MAX_LAYERS][MAX_HIDDEN], norm_bias[MAX_LAYERS][MAX_HIDDEN];
    int    head_hidden; /* units that the head makes scores of; 0: of what it sees */
    double head_inner[MAX_HIDDEN][MAX_LAYERS * MAX_HIDDEN], head_inner_bias[MAX_HIDDEN];
} naive_gnn;

typedef struct naive_graph {
    int nodes, edges;
    int lost_before, lost_inside; /* nodes that are gone: before those of the row, and of those */
    int came;                     /* nodes more that those of the row are */
    int source[MAX_EDGES], target[MAX_EDGES];
    double edge_weight[MAX_EDGES];
    double x[MAX_NODES][MAX_WIDE];
} naive_graph;

/* Log-probabilities of the nodes `begin` to `end - 1` pooled, or of node `begin` where there is no
 * pool. Returns the largest score in size, by which rounding errors are to be measured. */
double naive_log_probs(const naive_gnn *gnn, const naive_graph *graph, int begin, int end,
                       double *log_probs);

/* How many edges away a node can be and still count. */
int naive_reach(const naive_gnn *gnn);

/* A parameter by PyG's name, or NULL; *stride doubles from row to row. */
double *naive_parameter(naive_gnn *gnn, const char *name, int *stride);

#endif
