/* SPDX-License-Identifier: Apache-2.0 */
/* combinex/extend.h: what adds to the library. UNSTABLE: what is here may change with every
 * version, and whoever uses it builds it anew for each. It is part of libcombinex. */
#ifndef COMBINEX_EXTEND_H
#define COMBINEX_EXTEND_H

#include "combinex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- traces */

/* One epoch of a search, at the parameters before its step. */
struct cbx_epoch {
    double  loss, ce, edge_loss, feature_loss, alpha, eta;
    bool    hit; /* the thresholded graph has the target class */
    int64_t changed_features, removed_edges;
};

/* ---- options */

typedef enum cbx_option_type {
    CBX_OPTION_INT,    /* int64_t */
    CBX_OPTION_REAL,   /* double */
    CBX_OPTION_BOOL,   /* bool */
    CBX_OPTION_CHOICE, /* one of `choices`; kept as an int */
    CBX_OPTION_TEXT    /* const char * */
} cbx_option_type;

/* The library hands out pointers to these only: fields may be added at the end. */
typedef struct cbx_option {
    const char        *name; /* as on the command line, without the dashes: "time-limit" */
    cbx_option_type    type;
    size_t             offset;   /* of its field, in tables of one's own */
    const char        *fallback; /* the default, as text; NULL for a text: none */
    double             min, max; /* inclusive; numbers only */
    const char *const *choices;  /* NULL-terminated; choices only */
    const char        *help;     /* NULL: for programs, not for people */
} cbx_option;

CBX_API const char *cbx_option_table_title(const cbx_option_table *table);

/* The i-th option, or NULL past the last. */
CBX_API const cbx_option *cbx_option_at(const cbx_option_table *table, size_t i);

/* Does this option of the table mean something to models of that kind ("order" does to "cheb")?
 * Those that are not about one kind do to all. */
CBX_API bool cbx_model_takes(const char *conv, const char *option);

/* The i-th of the options that are about this kind of model only ("heads"), or NULL past the last.
 * Its field in `values` is what the model has. `key`: its name in model files; NULL: not there. */
CBX_API const cbx_option *cbx_model_setting(const cbx_model *model, size_t i, const void **values,
                                            const char **key);

/* The number of dimensions that PyG gives the i-th parameter, and their sizes; 0 past the last. */
CBX_API int cbx_model_parameter_shape(const cbx_model *model, size_t i, int64_t shape[3]);

/* A table of one's own: each option says where its field is in a struct of one's own. */
struct cbx_option_table {
    const char       *title;
    const cbx_option *options;
    size_t            count;
    size_t            size; /* of the struct, which is zeroed first; 0: it is not */
    /* NULL, or further tables: the i-th, and where in this one's struct its own lies; NULL past
     * the last */
    const cbx_option_table *(*part)(size_t i, size_t *offset);
};

/* Options that set the fields of `fields`, which is the caller's, as are the texts: those are
 * borrowed, not copied. They are at their defaults now. */
CBX_API cbx_status cbx_options_over(const cbx_option_table *table, void *fields, cbx_options **out,
                                    cbx_error *err);

/* The known word that a mistyped one probably meant. Begin, try every candidate; `best` is then the
 * nearest one, or empty where none is near. Case counts for nothing. */
typedef struct cbx_nearest {
    const char *wanted;
    size_t      least; /* a candidate must come nearer than this */
    char        best[128];
} cbx_nearest;

CBX_API void cbx_nearest_begin(cbx_nearest *near, const char *wanted);
CBX_API void cbx_nearest_try(cbx_nearest *near, const char *candidate);

/* ---- names */

/* What has a name in the data, or a number where it has none. */
typedef enum cbx_graph_part {
    CBX_PART_NODE,
    CBX_PART_GRAPH,
    CBX_PART_CLASS,
    CBX_PART_FEATURE,
    CBX_PART_GROUP /* of features */
} cbx_graph_part;

/* The number of what a person calls `text`: its name in the data; else its number, "8"; "@8" is a
 * number whatever names there are. Fails with the nearest name, and where two have the same. */
CBX_API cbx_status cbx_graph_find(const cbx_graph *graph, cbx_graph_part what, const char *text,
                                  int32_t *number, cbx_error *err);

/* ---- layers */

typedef struct cbx_layer_parameter {
    char    name[24];   /* within the layer, as the model's file has it: "lin.weight" */
    int32_t rows, cols; /* in x out; 0 rows: a vector */
    bool    zero;       /* to begin with; else drawn as torch.nn.Linear draws it */
} cbx_layer_parameter;

/* A layer on (a part of) a graph: y[i], for rows_out rows, from x, which has rows_in, and the edges
 * offset[i] .. offset[i + 1] - 1 into i. Edge e comes from row source[e] and has weight[e]: 1, what
 * the data says or, in a search, something between, where 0 must be as good as no edge. */
typedef struct cbx_layer_call {
    size_t         size; /* of this struct; later versions add fields at the end */
    int32_t        n_in, n_out;
    int32_t        rows_in, rows_out;
    const int64_t *offset;
    const int32_t *source;
    const float   *weight;
    const float   *x;          /* rows_in x n_in */
    const float   *parameters; /* one after the other */
    void          *user;       /* the layer's */
} cbx_layer_call;

/* Looks one hop. Nothing else is known of it, so nothing is proved about models that have it: no
 * certificate but `irreducible`, no bounds in place of passes. */
typedef struct cbx_layer_kind {
    size_t      size; /* sizeof(cbx_layer_kind) */
    const char *name; /* what the option "model" and files call it */
    /* Describes the i-th parameter; false past the last. The first has n_in x n_out. */
    bool (*parameter)(void *user, int32_t i, int32_t n_in, int32_t n_out, cbx_layer_parameter *out);
    void (*forward)(const cbx_layer_call *call, float *y); /* overwrites */
    /* Adds to what is not NULL: dx (rows_in x n_in), dweight (by edge), dparameters. */
    void (*backward)(const cbx_layer_call *call, const float *dy, float *dx, float *dweight,
                     float *dparameters);
    void *user;
} cbx_layer_kind;

#define CBX_LAYERS_MOST 16

/* From now on the layer is there for the whole process, which the program says before other threads
 * use the library. The struct is copied; what it points to must last. */
CBX_API cbx_status cbx_layer_register(const cbx_layer_kind *kind, cbx_error *err);

/* ---- methods */

/* One target that a method is asked about. */
typedef struct cbx_method_search cbx_method_search;

typedef struct cbx_method_task {
    size_t           size; /* of this struct; later versions add fields at the end */
    const cbx_model *model;
    const cbx_graph *graph; /* may lack features that no node has; edits are in its numbers */
    int32_t          row;
    int32_t          prediction;
    int32_t          target; /* the class to reach; -1: any but the prediction */
    int64_t          epochs; /* the option of that name: steps to take, at most */
    int64_t          seed;
    /* an edit for each edge, or pair of nodes with an edge, that the decision rests on */
    const cbx_edit *removals;
    int64_t         num_removals;
    const void     *settings; /* the struct of the method's own options; NULL: it has none */
    void           *user;     /* the method's */
} cbx_method_task;

/* A method searches, and nothing else: choosing targets, verifying its answer on the whole edited
 * graph, ranking edits, time limits, threads and files are done for it, as for those in src/method.
 * It may be asked about several targets at once, from different threads. */
typedef struct cbx_method {
    size_t      size; /* sizeof(cbx_method) */
    const char *name; /* what the option "explainer" calls it */
    /* NULL, or options of its own, by names that begin with the method's, for its own struct */
    const cbx_option_table *options;
    cbx_status (*search)(cbx_method_search *search, const cbx_method_task *task, cbx_error *err);
    void *user;
} cbx_method;

#define CBX_METHODS_MOST 16
#define CBX_METHODS_OPTIONS 4096

/* From now on the method is there for the whole process, which the program says before other
 * threads use the library and before it makes options. The struct is copied; what it points to must
 * last. At most CBX_METHODS_MOST, whose options take CBX_METHODS_OPTIONS bytes in all. */
CBX_API cbx_status cbx_method_register(const cbx_method *method, cbx_error *err);

/* What the class would be with these edits, on the whole graph: log_probs (num_classes) and whether
 * that is what the search is for. */
CBX_API cbx_status cbx_method_try(cbx_method_search *search, const cbx_edit *edits, int64_t count,
                                  float *log_probs, bool *flips, cbx_error *err);

/* Says where the search is. True: time is up, or the call was cancelled, and the best answer so far
 * is the answer. */
CBX_API bool cbx_method_should_stop(cbx_method_search *search, int64_t step);

/* The answer, in place of an earlier one; `loss` is the method's own measure of it. */
CBX_API cbx_status cbx_method_answer(cbx_method_search *search, const cbx_edit *edits,
                                     int64_t count, double loss, cbx_error *err);

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
    const cbx_options *reading; /* of cbx_open_table */
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

/* Rewrites a model of layers that takes (x - mean) / scale for one that takes x itself, so that edits,
 * bounds and gradients are in the data's units. Both are by feature; scales are above 0. A first layer
 * that takes a maximum has no mean to subtract. */
CBX_API cbx_status cbx_model_rescale(cbx_model *model, const float *mean, const float *scale,
                                     int32_t num_features, cbx_error *err);

/* A model that these functions run. On failure `free` is not called. */
CBX_API cbx_status cbx_model_of_oracle(const cbx_oracle *oracle, cbx_model **out, cbx_error *err);

#ifdef __cplusplus
}
#endif
#endif
