/* SPDX-License-Identifier: Apache-2.0 */
/* combinex.h: counterfactual explanations of graph neural networks.
 *
 * A session is: load or build a graph, load or train a model (the oracle),
 * ask. Three kinds of things live here:
 *
 *   plain data   structs with public fields and borrowed pointers (cbx_graph_data,
 *                the option structs). The caller owns them.
 *   machinery    opaque and owned by the library (cbx_graph, cbx_model); each has
 *                one _free, and freeing NULL is fine.
 *   results      one block with one _free.
 *
 * Whatever can fail returns a cbx_status and takes a cbx_error last, which may
 * be NULL. On failure outputs are left untouched or set to NULL, and nothing is
 * half-written. The library never prints, exits or aborts, and keeps no global
 * state: calls on different objects may run in different threads, and a graph or
 * a model that nobody is changing may be shared by any number of threads. */
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

/* "0.1.0": the version of the library that is linked, not of this header. */
CBX_API const char *cbx_version(void);

/* ------------------------------------------------------------------ errors */

typedef enum cbx_status {
    CBX_OK = 0,
    CBX_INVALID,   /* a value, or the content of a file, is wrong */
    CBX_IO,        /* the operating system refused: open, read, write, rename */
    CBX_NO_MEMORY, /* an allocation failed */
    CBX_CANCELLED  /* the caller's progress function asked to stop */
} cbx_status;

#define CBX_MESSAGE_SIZE 512

/* Filled in on failure: which file, place and value, and what was expected. */
typedef struct cbx_error {
    cbx_status status;
    char       message[CBX_MESSAGE_SIZE];
} cbx_error;

/* -------------------------------------------------------------------- text */

#define CBX_SHOWN_SIZE 8

/* Names and texts may come from a file that somebody else wrote. Writes the first character of
 * *text as it can be shown on a terminal, and a 0, and moves *text past it: the character itself;
 * where it would steer the terminal, what stands for it (\n, \x1b, \u202e); for a byte that is not
 * UTF-8 likewise (\xff). Returns the length of what it wrote; at the end of the text 0. Messages
 * in a cbx_error and for a cbx_on_problem have gone through this. */
CBX_API size_t cbx_text_next(const char **text, char shown[CBX_SHOWN_SIZE]);

/* ----------------------------------------------------------------- options */

/* Every option struct below is described by a table of these. The command
 * line, its help and its validation are made from the same table. */
typedef enum cbx_option_type {
    CBX_OPTION_INT,    /* int64_t */
    CBX_OPTION_REAL,   /* double */
    CBX_OPTION_BOOL,   /* bool */
    CBX_OPTION_CHOICE, /* int: position in `choices` */
    CBX_OPTION_TEXT    /* const char *, borrowed */
} cbx_option_type;

typedef struct cbx_option {
    const char        *name; /* as on the command line, without the dashes */
    cbx_option_type    type;
    size_t             offset;   /* of the field in its struct */
    const char        *fallback; /* the default, as text; NULL for a text: none */
    double             min, max; /* inclusive; numbers only */
    const char *const *choices;  /* NULL-terminated; choices only */
    const char        *help;
} cbx_option;

typedef struct cbx_option_table {
    const char       *title;
    const cbx_option *options;
    size_t            count;
    size_t            size; /* of the struct; 0: the options do not fill it */
} cbx_option_table;

/* Sets every field of `options` to its default; fields that have none become 0. */
CBX_API void cbx_options_default(const cbx_option_table *table, void *options);

/* Sets one field from text; the message names the option, the value and what
 * was expected. An unknown name is an error that suggests the nearest one. */
CBX_API cbx_status cbx_options_set(const cbx_option_table *table, void *options, const char *name,
                                   const char *value, cbx_error *err);

/* Checks every field against its bounds, for structs filled in by hand. */
CBX_API cbx_status cbx_options_check(const cbx_option_table *table, const void *options,
                                     cbx_error *err);

/* Whether the option's field holds what cbx_options_default puts there. */
CBX_API bool cbx_option_is_default(const cbx_option *option, const void *options);

/* ------------------------------------------------------------------- files */

/* Whatever writes a file here writes it beside the old one and then takes its place. Symbolic
 * links are followed, also one to a file that is not there yet, which is then made. This is
 * the file that writing to `path` would make or replace, to be freed. */
CBX_API cbx_status cbx_file_target(const char *path, char **target, cbx_error *err);

/* ---------------------------------------------------------------- progress */

/* Called now and then from the thread that made the call, where a step takes long more than
 * once for the same `done`; returning non-zero stops the work with CBX_CANCELLED. `text` is a
 * short state, such as a loss. */
typedef int (*cbx_progress)(void *user, int64_t done, int64_t total, const char *text);

/* ------------------------------------------------------------------ graphs */

typedef enum cbx_task {
    CBX_NODE = 0, /* a class for each node */
    CBX_GRAPH     /* a class for each of many graphs */
} cbx_task;

/* A graph, or many graphs in one, as plain borrowed arrays. `n` nodes, `m`
 * directed edges source -> target (an undirected edge is stored twice), `f`
 * features. A *label row* is a node in node tasks and a graph in graph tasks. */
typedef struct cbx_graph_data {
    cbx_task task;
    int32_t  num_nodes;
    int32_t  num_features;
    int32_t  num_classes; /* 0: the largest label + 1; not with class_names */
    int32_t  num_graphs;  /* graph tasks; 0 in node tasks */
    int64_t  num_edges;

    const int64_t *edge_source; /* m: the edge's id is its position here */
    const int64_t *edge_target; /* m */
    const float   *edge_weight; /* m, or NULL: all 1 */

    /* features: dense rows, or CSR with ascending columns */
    const float   *x;            /* n * f, or NULL and then: */
    const int64_t *x_indptr;     /* n + 1 */
    const int32_t *x_indices;    /* num_x_values */
    const float   *x_values;     /* num_x_values */
    int64_t        num_x_values; /* must be x_indptr[n]; 0 where x is dense */

    /* feature kinds and bounds; NULL: found from the values */
    const uint8_t *discrete; /* f: 1 discrete, 0 continuous */
    const float   *feat_min; /* f */
    const float   *feat_max; /* f */

    const int64_t *y;         /* one per label row, -1 where unknown; or NULL */
    const int64_t *graph_ptr; /* num_graphs + 1: graph g owns nodes ptr[g] .. ptr[g+1]-1 */

    /* published splits: label rows x num_splits, row-major; each NULL if absent */
    int32_t        num_splits;
    const uint8_t *train_mask;
    const uint8_t *val_mask;
    const uint8_t *test_mask;

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

/* Checks `data` and indexes its edges by target node. The arrays stay the
 * caller's and must outlive the graph. */
CBX_API cbx_status cbx_graph_new(const cbx_graph_data *data, cbx_graph **out, cbx_error *err);

/* Reads a safetensors graph file (docs/formats.md). The file is mapped, so it must not be
 * changed in place while the graph lives: reading what was cut off raises SIGBUS, for which
 * the library, as it installs no handlers, has no answer. Replacing the file by another, as
 * cbx_graph_save does, is no harm. cbx_graph_read can copy it instead: options.copy. */
CBX_API cbx_status cbx_graph_load(const char *path, cbx_graph **out, cbx_error *err);

/* Writes one, atomically: `path` holds the old content or the new, never a part. */
CBX_API cbx_status cbx_graph_save(const cbx_graph *graph, const char *path, cbx_error *err);

/* The graph's arrays, with everything that was NULL or 0 and could be found
 * filled in. They live as long as the graph. */
CBX_API const cbx_graph_data *cbx_graph_view(const cbx_graph *graph);

#define CBX_DEGREE_BINS 33

typedef struct cbx_graph_stats {
    int64_t self_loops;
    int64_t duplicate_edges; /* beyond the first of each source, target */
    int32_t isolated_nodes;  /* no edge but self-loops */
    int32_t max_in_degree;
    int64_t nonzero_features; /* entries of x that are not 0 */
    int32_t discrete_features;
    bool    undirected; /* every u -> v has its v -> u */
    /* nodes by in-degree: [0] has none, [k] has 2^(k-1) to 2^k - 1 */
    int64_t degrees[CBX_DEGREE_BINS];
    /* share of edges between nodes of one class, among those where both are known;
     * NaN in graph tasks and where there are none */
    double homophily;
} cbx_graph_stats;

CBX_API cbx_status cbx_graph_measure(const cbx_graph *graph, cbx_graph_stats *out, cbx_error *err);

/* Finds neighbouring features of which every node has exactly one, as one-hot codes
 * do: group[j] (num_features) is the number of feature j's group, or -1. */
CBX_API cbx_status cbx_graph_one_hot(const cbx_graph *graph, int32_t *group, int32_t *count,
                                     cbx_error *err);

CBX_API void cbx_graph_free(cbx_graph *graph);

/* ------------------------------------------------------------------ models */

typedef struct cbx_model cbx_model;

/* What a model looks like, apart from its sizes at both ends. */
typedef struct cbx_model_spec {
    int     conv;        /* gcn, cheb, graphconv: position in the table's choices */
    int64_t layers;      /* convolutions */
    int64_t hidden;      /* units a layer; 0: 128 for gcn, else 64 */
    int64_t order;       /* cheb's K */
    int     aggregation; /* graphconv's: add, mean, max */
    int     head;        /* auto, last, cat: what the linear head sees */
    int     pool;        /* graph tasks: mean, sum, max */
    double  dropout;
} cbx_model_spec;

CBX_API const cbx_option_table *cbx_model_table(void);

typedef struct cbx_model_info {
    cbx_task    task;
    const char *conv;        /* "gcn", … */
    const char *head;        /* "last" or "cat" */
    const char *pool;        /* "none", "mean", "sum", "max" */
    const char *aggregation; /* "add", "mean", "max" */
    int32_t     num_layers;
    int32_t     num_features;
    int32_t     num_classes;
    int32_t     hidden; /* units of the last convolution */
    int32_t     order;
    int64_t     num_parameters;
    double      dropout;
    bool        reproducible;
} cbx_model_info;

/* A model for this graph with freshly drawn parameters (PyG's distributions). */
CBX_API cbx_status cbx_model_new(const cbx_graph *graph, const cbx_model_spec *spec, int64_t seed,
                                 cbx_model **out, cbx_error *err);

/* Safetensors with PyG's parameter names (docs/formats.md). Nothing stays mapped. */
CBX_API cbx_status cbx_model_load(const char *path, cbx_model **out, cbx_error *err);

/* What the inputs and the outputs of an exported program are, where its file does not tell. */
typedef struct cbx_open_options {
    const char *inputs;  /* "x=NAME,edge_index=NAME": which input is which; NULL: by their names */
    int         scores;  /* auto, classes, probabilities, labels, label-chances, number */
    const char *label;   /* which of several labels or numbers, from 0; NULL: the only one */
    const char *classes; /* names of a label's two classes, such as "no,yes"; NULL: these */
} cbx_open_options;

CBX_API const cbx_option_table *cbx_open_table(void);

/* The same with `options`, which may be NULL. A model of labels has two classes: no, yes. One of
 * numbers has none: cbx_predict writes a number for each row, and num_classes is 1. */
CBX_API cbx_status cbx_model_open(const char *path, const cbx_open_options *options,
                                  cbx_model **out, cbx_error *err);

/* The name of a class that is the model's own: of a label, or of a range (cbx_model_aim); NULL: its
 * classes are the data's. */
CBX_API const char *cbx_model_class_name(const cbx_model *model, int32_t class_number);

/* Of a model of numbers, one of two classes: is the number in the range? `range` is ">=3.5", "<2",
 * "[2,3]", or, from what the model says of each row of this graph, "+10%" or "-0.5". `numbers`
 * must outlive it. */
CBX_API cbx_status cbx_model_aim(const cbx_model *numbers, const cbx_graph *graph,
                                 const char *range, cbx_model **out, cbx_error *err);

CBX_API cbx_status cbx_model_save(const cbx_model *model, const char *path, cbx_error *err);

CBX_API cbx_model_info cbx_model_describe(const cbx_model *model);

/* Whatever is computed with this model from now on (training, predictions, explanations, checks,
 * measures) is computed in one fixed order, which gives the same bits on every x86-64 and arm64
 * processor, with any BLAS and C library. Otherwise bits are the same on one kind of processor.
 * It takes longer (docs/reliability.md). Models are made and loaded without; files do not have
 * it. Time limits still depend on the machine. */
CBX_API void cbx_model_set_reproducible(cbx_model *model, bool reproducible);

/* A free-form note kept in the model file's metadata ("data", "test_accuracy",
 * …); NULL where there is none. Setting copies both strings. */
CBX_API const char *cbx_model_note(const cbx_model *model, const char *key);
CBX_API cbx_status  cbx_model_set_note(cbx_model *model, const char *key, const char *value,
                                       cbx_error *err);

/* The i-th parameter, as PyG names and shapes it ("layers.0.lin.weight",
 * out x in). Returns false past the last. */
CBX_API bool cbx_model_parameter(const cbx_model *model, size_t i, const char **name, int32_t *rows,
                                 int32_t *cols);

/* Copies the i-th parameter out of or into the model. `count` is what `values` has room for or
 * holds: rows * cols. */
CBX_API cbx_status cbx_model_get(const cbx_model *model, size_t i, float *values, int64_t count,
                                 cbx_error *err);
CBX_API cbx_status cbx_model_set(cbx_model *model, size_t i, const float *values, int64_t count,
                                 cbx_error *err);

CBX_API void cbx_model_free(cbx_model *model);

/* ---------------------------------------------------------------- training */

typedef struct cbx_train_options {
    int64_t epochs;
    double  learning_rate;
    double  weight_decay;
    double  clip;        /* largest gradient norm; 0: no clipping */
    int64_t batch;       /* graphs a step, graph tasks; nodes always go together */
    int     split;       /* random, kfold, public */
    double  train_share; /* of the random split */
    double  val_share;   /* of all rows, taken from the training part */
    int64_t folds;       /* of the kfold split */
    int64_t fold;        /* which one; random: another shuffle; public: column of the masks */
    int64_t patience;    /* stop after so many epochs without a better validation loss; 0: never */
    int     standardise; /* auto, on, off: train on features of mean 0 and deviation 1 */
    int64_t seed;
    int64_t threads; /* 0: all cores */
} cbx_train_options;

CBX_API const cbx_option_table *cbx_train_table(void);

typedef struct cbx_train_result {
    int64_t epochs; /* run */
    int64_t best_epoch;
    double  loss;                                        /* of the last epoch, training rows */
    double  train_accuracy, val_accuracy, test_accuracy; /* NaN for an empty part */
    int32_t num_train, num_val, num_test;
    int32_t num_standardised; /* features */
    double  seconds;
} cbx_train_result;

/* Trains `model` in place. The same seed gives the same bits at any number of
 * threads, on one kind of processor or, with cbx_model_set_reproducible, on all. On failure or
 * cancellation the model is as it was before. */
CBX_API cbx_status cbx_train(cbx_model *model, const cbx_graph *graph,
                             const cbx_train_options *options, cbx_progress progress, void *user,
                             cbx_train_result *result, cbx_error *err);

/* The split that cbx_train uses: part[i] is 0 for training, 1 validation,
 * 2 test, 3 unused (no label), one per label row. */
CBX_API cbx_status cbx_split(const cbx_graph *graph, const cbx_train_options *options,
                             uint8_t *part, cbx_error *err);

/* -------------------------------------------------------------- prediction */

/* Fails, naming both sizes, if the model was made for other features, or for
 * the other task. */
CBX_API cbx_status cbx_model_fits(const cbx_model *model, const cbx_graph *graph, cbx_error *err);

/* Log-probabilities of every label row: rows * num_classes floats. */
CBX_API cbx_status cbx_predict(const cbx_model *model, const cbx_graph *graph, int64_t threads,
                               float *log_probs, cbx_error *err);

/* -------------------------------------------------------------- explaining */

typedef enum cbx_edit_op { CBX_REMOVE_EDGE, CBX_SET_FEATURE } cbx_edit_op;

/* `op` says which of the structs is there: members of another say nothing. */
typedef struct cbx_edit {
    cbx_edit_op op;
    /* how much the edit alone moves log p(target class) - log p(prediction), to
     * first order: edits are sorted by it, largest first */
    float influence;
    union {
        /* CBX_REMOVE_EDGE: every edge source -> target with this id, or, where
         * `undirected`, all edges between the two */
        struct {
            int32_t source, target;
            int64_t edge; /* id; -1: all of them */
            bool    undirected;
        };
        /* CBX_SET_FEATURE */
        struct {
            int32_t node, feature;
            float   from, to;
            int32_t group; /* 0, or 1 + the one-hot group: its edits of a node are one change */
        };
    };
} cbx_edit;

typedef enum cbx_outcome {
    CBX_FOUND,       /* the edits flip the class: verified on the whole edited graph */
    CBX_NOT_FOUND,   /* none was met within the epochs, or none held on the whole graph */
    CBX_SKIPPED,     /* not searched for: see `reason` */
    CBX_NOT_FINISHED /* cancelled */
} cbx_outcome;

/* "found", "not_found", "skipped", "cancelled" */
CBX_API const char *cbx_outcome_name(cbx_outcome outcome);

/* What is known of an answer beyond that it holds. */
typedef enum cbx_certificate {
    CBX_NO_CERTIFICATE,
    CBX_IRREDUCIBLE,        /* undoing any one change loses the flip */
    CBX_OPTIMAL,            /* irreducible, and every cheaper set of changes was excluded */
    CBX_NONE_WITHIN_BUDGET, /* nothing was found; there may be something */
    CBX_PROVED_NONE         /* nothing was found, and there is nothing within the rules */
} cbx_certificate;

/* "none", "irreducible", "optimal", "none_within_budget", "proved_none" */
CBX_API const char *cbx_certificate_name(cbx_certificate certificate);

/* One epoch of a search, at the parameters before its step. */
typedef struct cbx_epoch {
    double  loss, ce, edge_loss, feature_loss, alpha, eta;
    bool    hit; /* the thresholded graph has the target class */
    int64_t changed_features, removed_edges;
} cbx_epoch;

typedef struct cbx_counterfactual {
    cbx_task     task;
    int32_t      row; /* the node, or the graph */
    cbx_outcome  outcome;
    const char  *reason;             /* why skipped or not found; that time ended the search; "" */
    int32_t      prediction, target; /* classes; target -1: any other */
    int32_t      result;             /* class after the edits; the prediction where none */
    int32_t      num_classes;
    const float *before; /* log-probabilities, num_classes */
    /* Where time was up, or the call cancelled, before the class was known: prediction and
     * result are -1, and `before` is NaN. */
    const float *after; /* likewise, of the whole edited graph; NULL where there is none */

    int64_t         num_edits, num_edges_removed, num_features_changed;
    const cbx_edit *edits;

    /* the factual graph: what the decision rests on, and what may be edited */
    int32_t num_nodes, num_features;
    int64_t num_edges;
    int32_t num_left_out;  /* links to nodes beyond options.budget, not followed; 0: none */
    int64_t num_removable; /* edges, or in undirected mode pairs of nodes with an edge */

    int64_t epoch, epochs; /* where it was found; how many were run */
    double  loss;          /* of that epoch */
    double  seconds;

    int64_t          num_trace; /* epochs, where a trace is asked for; 0: none, as of minimal */
    const cbx_epoch *trace;

    cbx_certificate certificate;
    /* optimal and proved_none: among which edits there is none (cheaper), in words: the kinds of
     * edit and the rules; otherwise "" */
    const char *scope;
    double      cost;         /* of the edits, by options.edge_cost and feature_cost */
    double      margin;       /* log-probability by which the result leads the next class */
    double      robustness;   /* share of small random changes that keep it; -1: not measured */
    double      best_lead;    /* where nothing was found: the largest lead of the sought class that
                               * was met, in log-probability; NaN: not known */
    double      threshold;    /* probability that the class had to reach; 0: just the lead */
    bool        has_numbers;  /* of a model of cbx_model_aim: the number before and after; */
    double      number_before, number_after; /* the same where nothing was found */
    bool        reproducible;                /* cbx_model_set_reproducible */
    struct cbx_counterfactual *next; /* another answer, where options.total_cfs asks for more */
} cbx_counterfactual;

typedef struct cbx_explain_options {
    int         explainer; /* combinex, cf-gnn, …: position in the table's choices */
    const char *target;    /* "next", "any", or a class by number or name */
    int         policy;    /* linear, exponential, sinusoidal, dynamic, constant, features, edges */
    double      alpha;     /* of the constant policy */
    double      decay;     /* of the exponential policy */
    int64_t     epochs;
    int64_t     patience; /* epochs without a better answer after which a search ends; 0: never */
    double      learning_rate;
    int         optimiser;  /* adam, sgd, adadelta */
    double      momentum;   /* of sgd, Nesterov's */
    int         edges;      /* directed, undirected: what one edge edit removes */
    int         kinds;      /* data, auto: where feature kinds come from */
    int64_t     min_edges;  /* a factual graph with fewer is skipped; 0: none is */
    int64_t     budget;     /* feature values of a factual graph; more: the nearest nodes only */
    double      time_limit; /* seconds for one target; the best so far is returned; 0: none */
    bool        trace;
    int64_t     threads; /* cbx_explain_many: 0: all cores */
    int64_t     seed;    /* of the methods that draw */
    /* random-edges */
    double random_keep; /* probability that an edge stays */
    /* cf-gnn */
    double cf_gnn_beta;     /* price of a removed edge */
    double cf_gnn_clip;     /* largest norm of a gradient; 0: no clipping */
    int    cf_gnn_distance; /* soft, hard: weights lost, with a gradient, or edges removed */
    int    cf_gnn_pull;     /* target, away: towards the target class, or only off the prediction */
    /* cff */
    double cff_lr, cff_lambda, cff_alpha, cff_gamma;
    int    cff_complement; /* masked, whole: what the counterfactual term sees */
    int    cff_scores;     /* log, probability: what a margin is taken of */
    /* unr */
    int64_t unr_neighbours; /* nearest, whose change is what counts */
    int64_t unr_rollouts;   /* at most */
    int64_t unr_patience;   /* rollouts without a better one */
    int64_t unr_expansion;  /* children of a tree node; 0: max(3, mean degree) */
    double  unr_exploration, unr_restart;
    /* which epoch of combinex wins: loss, edits */
    int select;
    /* minimal: what an edit costs, how many answers, what to prove of the first */
    int64_t width;    /* sets of moves that are followed together */
    int64_t tried;    /* moves tried from each */
    int64_t rebuilds; /* times a part of the answer is built anew, for a cheaper one */
    int     start;    /* factual, both: where the search begins; both: also at combinex's answer */
    double  edge_cost, feature_cost;
    int64_t total_cfs;
    bool    diverse;    /* answers share no edit */
    double  prove;      /* seconds for excluding cheaper answers; 0: none */
    int64_t robustness; /* random changes tried on an answer */
    /* rules of minimal: what may be edited. Lists are text: "3,7-9", NULL or "": none. */
    double      stopping_threshold; /* probability that the class must reach; 0: just the lead */
    int64_t     max_edits;          /* 0: no limit */
    const char *features_to_vary;   /* numbers, ranges or names; "all", "none" */
    const char *immutable_features;
    const char *permitted_range; /* "feature:low:high,…" */
    const char *one_hot;         /* groups of features, as ranges, of which one is on */
    const char *immutable_nodes; /* neither their features nor their edges */
    const char *protected_edges; /* "u-v,…", both directions */
    bool        own_features;    /* only the target's own features */
    bool        own_edges;       /* only edges at the target */
    bool        keep_edges;      /* no edge at all */
    int         keep;            /* any, no-isolated, connected: what removing edges must leave */
    /* Not in the table: combinex's loops with faults of the published program, for benchmarks
     * (cbx_bench_options.published_faults); 0: none. */
    int64_t faults;
} cbx_explain_options;

CBX_API const cbx_option_table *cbx_explain_table(void);

/* Sets the options that the preset names and leaves the others: "paper" is the
 * published settings of combinex, "cf-gnn-trees" and "cf-gnn-ba-shapes" are cf-gnn's. */
CBX_API cbx_status  cbx_explain_preset(cbx_explain_options *options, const char *preset,
                                       cbx_error *err);
CBX_API const char *cbx_explain_preset_name(size_t i); /* NULL past the last */

/* Why this class, and what would change it? `row` is a node or a graph. Finding
 * nothing is a result, not an error. */
CBX_API cbx_status cbx_explain(const cbx_model *model, const cbx_graph *graph, int32_t row,
                               const cbx_explain_options *options, cbx_progress progress,
                               void *user, cbx_counterfactual **out, cbx_error *err);

/* Called once per row in the order of rows, one call at a time, possibly from
 * another thread; the result is freed after it returns. Non-zero stops. */
typedef int (*cbx_on_result)(void *user, int64_t i, const cbx_counterfactual *result);

/* Many rows, spread over threads. Each result is what cbx_explain would give.
 * `progress` (or NULL) is told now and then how many rows are done. */
CBX_API cbx_status cbx_explain_many(const cbx_model *model, const cbx_graph *graph,
                                    const int32_t *rows, int64_t count,
                                    const cbx_explain_options *options, cbx_on_result on_result,
                                    cbx_progress progress, void *user, cbx_error *err);

CBX_API void cbx_counterfactual_free(cbx_counterfactual *counterfactual);

/* Log-probabilities (num_classes) of `row` on the whole graph with these edits. */
CBX_API cbx_status cbx_check_edits(const cbx_model *model, const cbx_graph *graph, int32_t row,
                                   const cbx_edit *edits, int64_t count, float *log_probs,
                                   cbx_error *err);

/* Is this a flip: the target class (-1: any but the prediction) leads, with at least
 * this probability? */
CBX_API bool cbx_reaches(const float *log_probs, int32_t num_classes, int32_t prediction,
                         int32_t target, double threshold);

/* A new graph with the edits applied; it owns what it needs. */
CBX_API cbx_status cbx_graph_apply(const cbx_graph *graph, const cbx_edit *edits, int64_t count,
                                   cbx_graph **out, cbx_error *err);

/* SHA-256 of what decides a prediction, as 64 hexadecimal digits and a 0. */
CBX_API void cbx_graph_hash(const cbx_graph *graph, char hex[65]);
CBX_API void cbx_model_hash(const cbx_model *model, char hex[65]);

#ifdef __cplusplus
}
#endif
#endif
