/* SPDX-License-Identifier: Apache-2.0 */
/* combinex.h: counterfactual explanations of graph neural networks.
 *
 * A session is: load or build a graph, load or train a model (the oracle),
 * ask. Three kinds of things live here:
 *   plain data   structs with public fields and borrowed pointers (cbx_graph_data).
 *                The caller owns them.
 *   machinery    opaque and owned by the library (cbx_graph, cbx_model, cbx_options);
 *                each has one _free, and freeing NULL is fine.
 *   results      one block with one _free.
 *
 * Whatever can fail returns a cbx_status and takes a cbx_error last, which may be NULL. On failure
 * outputs are left untouched or set to NULL, and nothing is half-written. Cancelling is
 * CBX_CANCELLED everywhere, and keeps what there is: cbx_explain's unfinished result, the results
 * that were delivered, a benchmark's folder; a model in training is as it was before.
 *
 * The library never prints, exits or aborts. Calls on different objects may run in different
 * threads, and a graph or a model that nobody is changing may be shared by any number of threads.
 * What it changes for the whole process is this: OpenBLAS, where that is the BLAS, is told to use
 * one thread (openblas_set_num_threads), because threads take targets and rows here; and what
 * combinex/extend.h registers stays. Other state is there for a call, in its own thread. */
#ifndef COMBINEX_H
#define COMBINEX_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#define CBX_API __attribute__((visibility("default")))
#else
#define CBX_API
#endif

#define CBX_VERSION_MAJOR 0
#define CBX_VERSION_MINOR 2
#define CBX_VERSION_PATCH 0
/* "0.2.0": the version of the library that is linked, not of this header. */
CBX_API const char *cbx_version(void);

/* ------------------------------------------------------------------ errors */
typedef enum cbx_status {
    CBX_OK = 0,
    CBX_INVALID,   /* a value, or the content of a file, is wrong */
    CBX_IO,        /* the operating system refused: open, read, write, rename */
    CBX_NO_MEMORY, /* an allocation failed */
    CBX_CANCELLED  /* a function of the caller's asked to stop */
} cbx_status;

#define CBX_MESSAGE_SIZE 512
#define CBX_OPTION_SIZE 32

/* Filled in on failure: which file, place and value, and what was expected. Where an option is
 * wrong, its name as a field ("time_limit") begins the message and is `option`; else that is "". */
typedef struct cbx_error {
    cbx_status status;
    char       message[CBX_MESSAGE_SIZE];
    char       option[CBX_OPTION_SIZE];
} cbx_error;

/* ----------------------------------------------------------------- options */
/* What can be chosen is chosen by name. A table says which options there are; a cbx_options holds
 * a value for each of them, the default to begin with. Wherever the library takes some, NULL
 * stands for the defaults. The command line, its help, the man page and the Python package are
 * made from the same tables, which combinex/extend.h describes. */
typedef struct cbx_option_table cbx_option_table;
typedef struct cbx_options      cbx_options;

CBX_API cbx_status cbx_options_new(const cbx_option_table *table, cbx_options **out,
                                   cbx_error *err);
/* Sets one option from text, which is copied. '-' and '_' are the same in names. The message names
 * the option, the value and what was expected; an unknown name is told with the nearest one. */
CBX_API cbx_status cbx_options_set(cbx_options *options, const char *name, const char *value,
                                   cbx_error *err);
/* Writes the value as cbx_options_set would take it, cut where there is no more room. False: there
 * is no such option, or a text that has no value. */
CBX_API bool cbx_options_get(const cbx_options *options, const char *name, char *text, size_t size);
CBX_API bool cbx_options_is_default(const cbx_options *options, const char *name);
CBX_API void cbx_options_free(cbx_options *options);

/* ---------------------------------------------------------------- progress */
/* Called now and then from the calling thread, in long steps more than once for the same `done`.
 * Non-zero stops the work with CBX_CANCELLED. `text` is a short state, such as a loss. */
typedef int (*cbx_progress)(void *user, int64_t done, int64_t total, const char *text);

/* ------------------------------------------------------------------ graphs */
typedef enum cbx_task {
    CBX_NODE = 0, /* a class for each node */
    CBX_GRAPH     /* a class for each of many graphs */
} cbx_task;

/* A graph, or many in one, as plain borrowed arrays. `n` nodes, `m` directed edges source -> target
 * (an undirected edge is two), `f` features. A *label row* is a node, in graph tasks a graph. */
typedef struct cbx_graph_data {
    cbx_task       task;
    int32_t        num_nodes, num_features, edge_dim;
    int32_t        num_classes; /* 0: the largest label + 1; not with class_names */
    int32_t        num_graphs;  /* graph tasks; 0 in node tasks */
    int64_t        num_edges;
    const int64_t *edge_source, *edge_target; /* m: the edge's id is its position here */
    const float   *edge_weight;               /* m, or NULL: all 1 */
    const float   *edge_attr;                 /* m * edge_dim, for programs; or NULL */
    /* features: dense rows, or CSR with ascending columns */
    const float   *x;            /* n * f, or NULL and then: */
    const int64_t *x_indptr;     /* n + 1 */
    const int32_t *x_indices;    /* num_x_values */
    const float   *x_values;     /* num_x_values */
    int64_t        num_x_values; /* must be x_indptr[n]; 0 where x is dense */
    /* feature kinds and bounds; NULL: found from the values */
    const uint8_t *discrete;            /* f: 1 discrete, 0 continuous */
    const float   *feat_min, *feat_max; /* f */
    const int64_t *y;                   /* one per label row, -1 where unknown; or NULL */
    const int64_t *graph_ptr; /* num_graphs + 1: graph g owns nodes ptr[g] .. ptr[g+1]-1 */
    /* published splits: label rows x num_splits, row-major; each NULL if absent */
    int32_t        num_splits;
    const uint8_t *train_mask, *val_mask, *test_mask;
    /* names, or NULL */
    const char        *name;
    const char *const *class_names;   /* num_classes */
    const char *const *feature_names; /* num_features */
    const char *const *node_names;    /* num_nodes */
    /* what else is known of features, or NULL */
    const uint8_t     *immutable;     /* f: 1: cannot be changed, such as an age */
    const int32_t     *feature_group; /* f: which group it is one of, below num_groups, or -1 */
    int32_t            num_groups;    /* of features that exclude each other: one-hot */
    const char *const *group_names;   /* num_groups */
} cbx_graph_data;

typedef struct cbx_graph cbx_graph;
/* Checks `data` and indexes its edges. The arrays stay the caller's and must outlive the graph. */
CBX_API cbx_status cbx_graph_new(const cbx_graph_data *data, cbx_graph **out, cbx_error *err);

/* Reads a safetensors graph file (docs/formats.md). The file is mapped, so it must not be changed
 * in place while the graph lives: reading what was cut off raises SIGBUS, and the library installs
 * no handlers. Replacing the file, as cbx_graph_save does, is no harm. The kit's cbx_graph_read can
 * copy it instead: the option "copy". */
CBX_API cbx_status cbx_graph_load(const char *path, cbx_graph **out, cbx_error *err);
/* Writes one, atomically: `path` holds the old content or the new, never a part. */
CBX_API cbx_status cbx_graph_save(const cbx_graph *graph, const char *path, cbx_error *err);
/* The graph's arrays, with all that could be found filled in. They live as long as the graph. */
CBX_API const cbx_graph_data *cbx_graph_arrays(const cbx_graph *graph);
CBX_API void                  cbx_graph_free(cbx_graph *graph);

/* ------------------------------------------------------------------ models */
typedef struct cbx_model cbx_model;
/* What a model looks like, apart from its sizes at both ends: "model", "layers", "hidden", … */
CBX_API const cbx_option_table *cbx_model_table(void);

typedef struct cbx_model_info {
    cbx_task    task;
    const char *conv;        /* "gcn", … */
    const char *head;        /* "last" or "cat" */
    const char *pool;        /* "none", "mean", "sum", "max" */
    const char *aggregation; /* "add", "mean", "max" */
    int32_t     num_layers, num_features, num_classes;
    int32_t     hidden; /* units of the last convolution */
    int32_t     order;
    int64_t     num_parameters;
    double      dropout;
    bool        reproducible;
} cbx_model_info;

/* For this graph, with freshly drawn parameters (PyG's distributions). */
CBX_API cbx_status cbx_model_new(const cbx_graph *graph, const cbx_options *model_options,
                                 int64_t seed, cbx_model **out, cbx_error *err);

/* Safetensors with PyG's parameter names (docs/formats.md). Nothing stays mapped. */
CBX_API cbx_status cbx_model_load(const char *path, cbx_model **out, cbx_error *err);

/* What an exported program's inputs and outputs are: "inputs", "scores", "label", "classes". */
CBX_API const cbx_option_table *cbx_open_table(void);
/* The same with `options`, which may be NULL. A model of labels has two classes: no, yes. One of
 * numbers has none: cbx_predict writes a number for each row, and num_classes is 1. */
CBX_API cbx_status cbx_model_open(const char *path, const cbx_options *options, cbx_model **out,
                                  cbx_error *err);

/* The name of a class that is the model's own, of a label or a range; NULL: they are the data's. */
CBX_API const char *cbx_model_class_name(const cbx_model *model, int32_t class_number);

/* Of a model of numbers, one of two classes: is the number in the range? `range` is ">=3.5", "<2",
 * "[2,3]", or, from what the model says of each row of this graph, "+10%" or "-0.5". `numbers`
 * must outlive it. */
CBX_API cbx_status cbx_model_aim(const cbx_model *numbers, const cbx_graph *graph,
                                 const char *range, cbx_model **out, cbx_error *err);

CBX_API cbx_status     cbx_model_save(const cbx_model *model, const char *path, cbx_error *err);
CBX_API cbx_model_info cbx_model_describe(const cbx_model *model);

/* Whatever is computed with this model from now on is computed in one fixed order, which gives the
 * same bits on every x86-64 and arm64 processor, with any BLAS and C library; otherwise bits are
 * the same on one kind of processor. It takes longer (docs/reliability.md). Models are made and
 * loaded without; files do not have it. Time limits still depend on the machine. */
CBX_API void cbx_model_set_reproducible(cbx_model *model, bool reproducible);

/* A note in the model file's metadata ("data", "test_accuracy", …), or NULL. Both are copied. */
CBX_API const char *cbx_model_note(const cbx_model *model, const char *key);
CBX_API cbx_status  cbx_model_set_note(cbx_model *model, const char *key, const char *value,
                                       cbx_error *err);

/* The i-th parameter, as PyG has it ("layers.0.lin.weight", out x in); false past the last. */
CBX_API bool cbx_model_parameter(const cbx_model *model, size_t i, const char **name, int32_t *rows,
                                 int32_t *cols);
/* Copies the i-th parameter out of or into the model; `count` is the values': rows * cols. */
CBX_API cbx_status cbx_model_get(const cbx_model *model, size_t i, float *values, int64_t count,
                                 cbx_error *err);
CBX_API cbx_status cbx_model_set(cbx_model *model, size_t i, const float *values, int64_t count,
                                 cbx_error *err);
CBX_API void       cbx_model_free(cbx_model *model);

/* ---------------------------------------------------------------- training */
/* "epochs", "learning-rate", "split", "seed", … */
CBX_API const cbx_option_table *cbx_train_table(void);
typedef struct cbx_train_result {
    int64_t epochs; /* run */
    int64_t best_epoch;
    double  loss;                                        /* of the last epoch, training rows */
    double  train_accuracy, val_accuracy, test_accuracy; /* NaN for an empty part */
    double  test_auc; /* area under the ROC curve; NaN unless there are two classes */
    int32_t num_train, num_val, num_test;
    int32_t num_standardised; /* features */
    double  seconds;
} cbx_train_result;

/* Trains `model` in place. The same seed gives the same bits at any number of threads, on one kind
 * of processor or, with cbx_model_set_reproducible, on all. */
CBX_API cbx_status cbx_train(cbx_model *model, const cbx_graph *graph, const cbx_options *options,
                             cbx_progress progress, void *user, cbx_train_result *result,
                             cbx_error *err);
/* The split that cbx_train uses, by label row: 0 training, 1 validation, 2 test, 3 no label. */
CBX_API cbx_status cbx_split(const cbx_graph *graph, const cbx_options *options, uint8_t *part,
                             cbx_error *err);

/* -------------------------------------------------------------- prediction */
/* Fails if the model was made for other features, in number or name, or for the other task. */
CBX_API cbx_status cbx_model_fits(const cbx_model *model, const cbx_graph *graph, cbx_error *err);
/* Log-probabilities of every label row: rows * num_classes floats. */
CBX_API cbx_status cbx_predict(const cbx_model *model, const cbx_graph *graph, int64_t threads,
                               float *log_probs, cbx_error *err);

/* -------------------------------------------------------------- explaining */
typedef enum cbx_edit_op {
    CBX_REMOVE_EDGE, /* all source -> target with this id; `undirected`: all between the two */
    CBX_SET_FEATURE,
    CBX_ADD_EDGE,    /* where there is none; `undirected`: one each way */
    CBX_REMOVE_NODE, /* `node`, with all its edges */
    CBX_SET_EDGE,    /* those that a removal names get this weight or attribute */
    CBX_ADD_NODE /* graph tasks: a copy of `source` as it was, and an edge from it to `target` */
} cbx_edit_op;

/* `op` says which of the structs is there: members of another say nothing. */
typedef struct cbx_edit {
    cbx_edit_op op;
    float       influence; /* of it alone on the lead, to first order: edits are sorted by it */
    union {
        struct { /* of edges */
            int32_t source, target;
            int64_t edge; /* id; -1: all of them, or a new one */
            bool    undirected;
            int16_t attribute; /* 0: the weight; k: column k - 1 of edge_attr; -k: of one-hot */
            float weight; /* the new one; added, 0: the data's median, or 1 where edges have none */
        };
        struct { /* of a node */
            int32_t node, feature;
            float   from, to;
            int32_t group; /* 0, or 1 + the one-hot group: its edits of a node are one change */
            float   step; /* irreducible: nor can it go back by this, twice, four times, … this */
        };
    };
} cbx_edit;

typedef enum cbx_outcome {
    CBX_FOUND,       /* the edits flip the class: verified on the whole edited graph */
    CBX_NOT_FOUND,   /* none was met within the epochs, or none held on the whole graph */
    CBX_SKIPPED,     /* not searched for: see `reason` */
    CBX_NOT_FINISHED /* cancelled */
} cbx_outcome;

CBX_API const char *cbx_outcome_name(cbx_outcome outcome); /* "found", "not_found", … */
/* What is known of an answer beyond that it holds. */
typedef enum cbx_certificate {
    CBX_NO_CERTIFICATE,
    CBX_IRREDUCIBLE,        /* undoing any one change, or a step of it, loses the flip */
    CBX_OPTIMAL,            /* irreducible, and every cheaper set of changes was excluded */
    CBX_NONE_WITHIN_BUDGET, /* nothing was found; there may be something */
    CBX_PROVED_NONE         /* nothing was found, and there is nothing within the rules */
} cbx_certificate;

CBX_API const char *cbx_certificate_name(cbx_certificate certificate); /* "none", "optimal", … */
typedef struct cbx_epoch cbx_epoch; /* combinex/extend.h: what a trace has of each epoch */

/* Made by the library only. Later versions add fields at the end, and `size` is that of the
 * library's own: a field is there if it ends within. */
typedef struct cbx_counterfactual {
    size_t       size;
    cbx_task     task;
    int32_t      row; /* the node, or the graph */
    cbx_outcome  outcome;
    const char  *reason;             /* why skipped or not found; that time ended the search; "" */
    int32_t      prediction, target; /* classes; target -1: any other */
    int32_t      result;             /* class after the edits; the prediction where none */
    int32_t      num_classes;
    const float *before; /* log-probabilities, num_classes */
    /* Time was up, or the call cancelled, before the class was known: -1, -1, `before` NaN. */
    const float    *after; /* likewise, of the whole edited graph; NULL where there is none */
    int64_t         num_edits, num_edges_removed, num_features_changed;
    const cbx_edit *edits;
    /* the factual graph: what the decision rests on, and what may be edited */
    int32_t num_nodes, num_features;
    int64_t num_edges;
    int32_t num_left_out;  /* links to nodes beyond the option "budget", not followed; 0: none */
    int64_t num_removable; /* edges, or in undirected mode pairs of nodes with an edge */
    int64_t epoch, epochs; /* where it was found; how many were run */
    double  loss, seconds; /* of that epoch; of everything */
    int64_t num_trace;     /* epochs, where a trace is asked for; 0: none, as of minimal */
    const cbx_epoch *trace;
    cbx_certificate  certificate;
    const char      *scope;       /* of what is proved: kinds of edit and rules, in words; or "" */
    double           cost;        /* of the edits, by the options cost, edge-cost, feature-cost */
    double           lower_bound; /* proved: whatever does costs so much at least; 0: not known */
    double           margin;      /* log-probability by which the result leads the next class */
    double           robustness;  /* share of small random changes that keep it; -1: not measured */
    double best_lead; /* where nothing was found: the largest in log-probability; NaN: not known */
    double threshold; /* probability that the class had to reach; 0: just the lead */
    bool   has_numbers; /* of a model of cbx_model_aim: the number before and after; */
    double number_before, number_after; /* the same where nothing was found */
    bool   reproducible;                /* cbx_model_set_reproducible */
    struct cbx_counterfactual *next;    /* another answer, where total-cfs asks for more */
    int64_t num_unusual; /* of minimal: edits that leave the middle 98 % of a feature's values */
    double  l1_mad;      /* how far features went, in median absolute deviations; NaN: not known */
    int64_t num_trained; /* parameters that the method had to train before the first row; 0: none */
    double  trained_seconds; /* that this took, in this call or when they were kept */
    double  plausibility; /* distance of rows that change to real ones; 1: usual; NaN: not known */
    int64_t num_edges_added, num_nodes_removed, num_edges_reweighted, num_nodes_added;
    const char *kinds; /* of edit that were allowed, as the option edits names them */
} cbx_counterfactual;

/* "explainer", "target", "epochs", "time-limit", …; "trace" asks for the epochs of a search. */
CBX_API const cbx_option_table *cbx_explain_table(void);

/* Sets the options that the preset names and leaves the others: "paper" has combinex's published
 * settings, "minimal" that method's, "cf-gnn-trees" and "cf-gnn-ba-shapes" cf-gnn's. */
CBX_API cbx_status  cbx_explain_preset(cbx_options *options, const char *preset, cbx_error *err);
CBX_API const char *cbx_explain_preset_name(size_t i); /* NULL past the last */

/* Why this class, and what would change it? `row` is a node or a graph. Finding nothing is a
 * result, not an error. With CBX_CANCELLED there mostly is one, too: CBX_NOT_FINISHED, no edits. */
CBX_API cbx_status cbx_explain(const cbx_model *model, const cbx_graph *graph, int32_t row,
                               const cbx_options *options, cbx_progress progress, void *user,
                               cbx_counterfactual **out, cbx_error *err);

/* Called once per row in their order, one call at a time, possibly from another thread; the result
 * is freed after it returns. Non-zero cancels. */
typedef int (*cbx_on_result)(void *user, int64_t i, const cbx_counterfactual *result);

/* Many rows, spread over threads: what cbx_explain gives of each. `progress` is told how many. */
CBX_API cbx_status cbx_explain_many(const cbx_model *model, const cbx_graph *graph,
                                    const int32_t *rows, int64_t count, const cbx_options *options,
                                    cbx_on_result on_result, cbx_progress progress, void *user,
                                    cbx_error *err);
CBX_API void       cbx_counterfactual_free(cbx_counterfactual *counterfactual);

/* Log-probabilities (num_classes) of `row` on the whole graph with these edits. */
CBX_API cbx_status cbx_check_edits(const cbx_model *model, const cbx_graph *graph, int32_t row,
                                   const cbx_edit *edits, int64_t count, float *log_probs,
                                   cbx_error *err);

/* Does the target class (-1: any but the prediction) lead, with at least this probability? */
CBX_API bool cbx_is_flip(const float *log_probs, int32_t num_classes, int32_t prediction,
                         int32_t target, double threshold);

/* A new graph with the edits applied; it owns what it needs. */
CBX_API cbx_status cbx_graph_apply(const cbx_graph *graph, const cbx_edit *edits, int64_t count,
                                   cbx_graph **out, cbx_error *err);

typedef struct cbx_radius {
    int32_t row, prediction, target; /* target -1: any other class */
    int     robust; /* 1: no edits within the budgets change the class; 0: some do; -1: not known */
    int64_t budget; /* edits that were allowed */
    int64_t lower_bound; /* proved: whatever changes it has so many edits at least */
    int64_t flips_with;  /* so many edits change it; 0: none that do are known */
    double  seconds;
} cbx_radius;

/* How many edits of edges change the class? `out`: one per row. The table: "edits", "budget", … */
CBX_API const cbx_option_table *cbx_robust_table(void);
CBX_API cbx_status cbx_robust(const cbx_model *model, const cbx_graph *graph, const int32_t *rows,
                              int64_t count, const cbx_options *options, cbx_progress progress,
                              void *user, cbx_radius *out, cbx_error *err);

/* SHA-256 of what decides a prediction, as 64 hexadecimal digits and a 0. */
CBX_API void cbx_graph_hash(const cbx_graph *graph, char hex[65]);
CBX_API void cbx_model_hash(const cbx_model *model, char hex[65]);

#ifdef __cplusplus
}
#endif
#endif
