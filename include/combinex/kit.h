/* SPDX-License-Identifier: Apache-2.0 */
/* combinex/kit.h: what comes before and after an explanation (libcombinex-kit).
 *
 * Other formats are read and written, data sets generated and downloaded, results kept as
 * JSON, measured, compared, drawn and shown on a page, and whole benchmarks run. Everything
 * keeps to the rules at the top of combinex.h. */
#ifndef COMBINEX_KIT_H
#define COMBINEX_KIT_H

#include "combinex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------- reading */

/* How files that are not native are read: "format", "task", "symmetric", "sidecar", "copy". */
CBX_API const cbx_option_table *cbx_read_table(void);

/* The i-th format's name, or NULL past the last; and the files it stands for. */
CBX_API const char *cbx_format_name(size_t i);
CBX_API const char *cbx_format_about(size_t i);

/* The format of a file or folder, by its content. */
CBX_API cbx_status cbx_format_detect(const char *path, const char **name, cbx_error *err);

/* Reads a file, a folder or a zip archive of any format (docs/formats.md).
 * `options` may be NULL for the defaults. Native files are mapped, unless the option "copy". */
CBX_API cbx_status cbx_graph_read(const char *path, const cbx_options *options, cbx_graph **out,
                                  cbx_error *err);

/* The i-th file that cbx_graph_read took the graph from, the sidecar included, or NULL past
 * the last: what must not be written to in the same breath. */
CBX_API const char *cbx_graph_origin(const cbx_graph *graph, size_t i);

typedef enum cbx_problem_kind {
    CBX_PROBLEM_ERROR,  /* the data cannot be used like this */
    CBX_PROBLEM_WARNING /* it can, but is it meant? */
} cbx_problem_kind;

typedef void (*cbx_on_problem)(void *user, cbx_problem_kind kind, const char *message);

/* Reads it and tells of all problems, not only the first. What cannot be read any
 * further is the last error told. Fails only when that could not be found out. */
CBX_API cbx_status cbx_graph_check(const char *path, const cbx_options *options,
                                   cbx_on_problem on_problem, void *user, cbx_error *err);

/* --------------------------------------------------------------- downloads */

/* "from", "sha256", "timeout", "overwrite". */
CBX_API const cbx_option_table *cbx_fetch_table(void);

/* The i-th data set that is known to download, or NULL past the last; and one line
 * about it, or NULL. */
CBX_API const char *cbx_remote_name(size_t i);
CBX_API const char *cbx_remote_about(const char *name);

/* Downloads a data set into `folder`, which is made; *path, to be freed, is what
 * cbx_graph_read opens. What was broken off goes on where it stopped. Only https is
 * spoken, but for this machine itself. `progress` counts the bytes of a file. */
CBX_API cbx_status cbx_dataset_fetch(const char *name, const char *folder,
                                     const cbx_options *options, cbx_progress progress, void *user,
                                     char **path, cbx_error *err);

/* ---------------------------------------------------------- built-in data */

/* "karate", and the generators below, which give the same bits
 * for the same options on every machine. */
CBX_API const cbx_option_table *cbx_generate_table(void);

/* The i-th built-in's name and one line about it, or NULL past the last. */
CBX_API const char *cbx_builtin_name(size_t i);
CBX_API const char *cbx_builtin_about(const char *name);

/* `options` may be NULL for the defaults. */
CBX_API cbx_status cbx_graph_builtin(const char *name, const cbx_options *options, cbx_graph **out,
                                     cbx_error *err);

/* ---------------------------------------------------------------- looking */

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

#define CBX_SHOWN_SIZE 8

/* Names and texts may come from a file that somebody else wrote. Writes the first character of
 * *text as it can be shown on a terminal, and a 0, and moves *text past it: the character itself;
 * where it would steer the terminal, what stands for it (\n, \x1b, \u202e); for a byte that is not
 * UTF-8 likewise (\xff). Returns the length of what it wrote; at the end of the text 0. Messages
 * in a cbx_error and for a cbx_on_problem have gone through this. */
CBX_API size_t cbx_text_next(const char **text, char shown[CBX_SHOWN_SIZE]);

/* ----------------------------------------------------------------- writing */

/* Whatever writes a file here writes it beside the old one and then takes its place. Symbolic
 * links are followed, also one to a file that is not there yet, which is then made. This is
 * the file that writing to `path` would make or replace, to be freed. */
CBX_API cbx_status cbx_file_target(const char *path, char **target, cbx_error *err);

/* Writes a graph for other programs. `format` is one of the names below. With edits
 * (or NULL), formats that people look at (graphml, gexf, dot, csv) keep the removed
 * edges and mark them and what changed; safetensors and npz hold the edited graph.
 * csv makes a folder of `path`, or replaces one that holds its two tables and nothing else. */
CBX_API cbx_status cbx_graph_export(const cbx_graph *graph, const char *format,
                                    const cbx_edit *edits, int64_t count, const char *path,
                                    cbx_error *err);

/* The i-th format's name, or NULL past the last; one line about it; and the format
 * that the ending of a path tells, or NULL. */
CBX_API const char *cbx_export_name(size_t i);
CBX_API const char *cbx_export_about(size_t i);
CBX_API const char *cbx_export_of(const char *path);

/* One line of JSON (docs/formats.md), malloc'ed; NULL when memory runs out. The
 * hashes may be NULL. */
CBX_API char *cbx_counterfactual_json(const cbx_counterfactual *counterfactual,
                                      const cbx_graph *graph, const cbx_options *options,
                                      const char *graph_hash, const char *model_hash);

/* Such a line again, for checking: outcome, row, classes, probabilities and edits. */
CBX_API cbx_status cbx_counterfactual_parse(const char *json, cbx_counterfactual **out,
                                            char graph_hash[65], char model_hash[65],
                                            cbx_error *err);

/* Do the edits of such a line keep the rules among its options? CBX_INVALID: they do not, and the
 * error says which. They must be edits of this graph (cbx_check_edits). */
CBX_API cbx_status cbx_counterfactual_check_rules(const char *json, const cbx_graph *graph,
                                                  cbx_error *err);

/* Do other edits for the same row keep those rules? `result`: the class that they lead to; -1: of a
 * model whose classes are its own (cbx_model_class_name). */
CBX_API cbx_status cbx_edits_check_rules(const char *json, const cbx_graph *graph,
                                         const cbx_edit *edits, int64_t count, int32_t result,
                                         cbx_error *err);

/* ----------------------------------------------------------- long work, kept */

/* Processes that share work. `take` gives the numbers 0, 1, 2, …
 * of a phase, each to one process; `meet` returns when all have called it. */
typedef struct cbx_bench_team {
    int rank, size;
    int64_t (*take)(void *user, int phase);
    void (*meet)(void *user);
    void *user;
} cbx_bench_team;

/* cbx_explain_many with results that are kept: each is, as lines of cbx_counterfactual_json, in a
 * file beside `path` as soon as it is there, "PATH.RANK.part", and at the end all of them are, in
 * the order of rows, in "PATH.part", for the caller to take and to remove. Cancelled or killed,
 * what was done stays. `resume` goes on with that, or where there are no parts with what `path`
 * has, and refuses lines that were found with other data, another model or other options; without
 * it parts that are there are refused. `team` may be NULL. *found: how many were there already. */
CBX_API cbx_status cbx_explain_kept(const cbx_model *model, const cbx_graph *graph,
                                    const int32_t *rows, int64_t count, const cbx_options *options,
                                    const char *path, bool resume, const cbx_bench_team *team,
                                    cbx_progress progress, void *user, int64_t *found,
                                    cbx_error *err);

/* Removes what it keeps beside `path`, gathered or not: once it has been taken, or is worth
 * nothing. What is not there is no error. */
CBX_API cbx_status cbx_explain_forget(const char *path, cbx_error *err);

/* ------------------------------------------------ what many have in common */

typedef struct cbx_atoms cbx_atoms;

/* What the nodes of a molecule are. A graph is one by the option keep, or where all columns of a
 * one-hot group are named after elements; else *out is NULL. `options`: of cbx_explain_table, or
 * NULL. It borrows from the graph. */
CBX_API cbx_status cbx_atoms_new(const cbx_graph *graph, const cbx_options *options,
                                 cbx_atoms **out, cbx_error *err);
CBX_API void       cbx_atoms_free(cbx_atoms *atoms);

/* The symbol of the element that a node is, or that a feature stands for; NULL: none is known. */
CBX_API const char *cbx_atoms_node(const cbx_atoms *atoms, int32_t node);
CBX_API const char *cbx_atoms_feature(const cbx_atoms *atoms, int32_t feature);

typedef struct cbx_common_feature {
    int32_t feature;
    int64_t flips;           /* that set it, at one node or more */
    int64_t raised, lowered; /* values, over all of them */
} cbx_common_feature;

typedef struct cbx_common_edge {
    int32_t source, target;
    bool    undirected;
    int64_t flips; /* that remove it, or add it, or give it another weight: */
    bool    added, reweighted;
} cbx_common_edge;

typedef struct cbx_common_node {
    int32_t node;
    int64_t flips; /* that remove it */
} cbx_common_node;

/* Those that take part in most flips first. The core are features taken one after the other,
 * each the one in most of the flips without an earlier one, until four flips in five have one;
 * it is not known where an answer has more than 100 edits. */
typedef struct cbx_common {
    int64_t                   flips;
    const cbx_common_feature *features;
    const cbx_common_edge    *edges;
    const int32_t            *core;
    const int64_t            *core_flips; /* that have no earlier one */
    int64_t                   num_features, num_edges, num_core;
    int64_t                   covered; /* flips that have one of the core */
    bool                      core_known;
    const cbx_common_node    *nodes;
    int64_t                   num_nodes;
} cbx_common;

typedef struct cbx_common_edits cbx_common_edits;

CBX_API cbx_status cbx_common_edits_new(cbx_common_edits **out, cbx_error *err);
/* Takes note of an answer. Want of memory shows in cbx_common_edits_find. */
CBX_API void cbx_common_edits_add(cbx_common_edits *common_edits, const cbx_counterfactual *answer);
/* What `out` holds is there until the next call with this `common_edits`. */
CBX_API cbx_status cbx_common_edits_find(cbx_common_edits *common_edits, const cbx_common **out,
                                         cbx_error *err);
CBX_API void       cbx_common_edits_free(cbx_common_edits *common_edits);

/* ---------------------------------------------------------------- pictures */

/* What goes with results when they are shown. Every field may be NULL or 0. */
typedef struct cbx_report_source {
    const cbx_model   *model; /* with both of these the graph and what undoing edits does are */
    const cbx_graph   *graph; /* shown; without, what the results themselves say */
    const char        *data, *model_file; /* their names in commands; NULL: DATA, MODEL */
    const cbx_options *read;              /* how the data was read */
    const cbx_epoch   *trace;             /* of the search, where there is one target */
    int64_t            num_trace;
    const cbx_common  *common; /* of many targets; NULL: counted from the results */
} cbx_report_source;

/* One HTML file about `results`, lines of cbx_counterfactual_json, that needs nothing
 * else (docs/reports.md): of one target, an explanation; of more, a table of them and what they
 * have in common, for which results may have their first 100 edits only. Written atomically. */
CBX_API cbx_status cbx_report_write(const char *results, const cbx_report_source *source,
                                    const char *path, cbx_error *err);

/* The same target before and after the first answer, side by side, for papers.
 * `format` is "svg", or "png" where the library was built with cairo. */
CBX_API cbx_status cbx_picture_write(const char *results, const cbx_report_source *source,
                                     const char *format, const char *path, cbx_error *err);

/* --------------------------------------------------------------- measuring */

/* How good a counterfactual is. NaN: not defined, because none was found or the
 * row has no label. */
typedef struct cbx_measures {
    double  fidelity;              /* 1[prediction is the label] - 1[result is the label] */
    double  node_sparsity;         /* changed feature values / those of the factual graph */
    double  edge_sparsity;         /* directed edges gone / those of the factual graph */
    double  distribution_distance; /* of mean features: edited factual graph to data set */
    double  embedding_distance;    /* the same of the oracle's last hidden layer */
    int64_t features_changed, edges_removed; /* edits; 0 where none was found */
} cbx_measures;

/* The data set's means that distances are taken from. Borrows both; may be shared
 * by threads. */
typedef struct cbx_dataset_means cbx_dataset_means;

CBX_API cbx_status cbx_dataset_means_new(const cbx_model *model, const cbx_graph *graph,
                                         int64_t threads, cbx_dataset_means **out, cbx_error *err);
CBX_API void       cbx_dataset_means_free(cbx_dataset_means *means);
CBX_API cbx_status cbx_measure(const cbx_dataset_means *means, const cbx_counterfactual *answer,
                               cbx_measures *out, cbx_error *err);

/* ------------------------------------------------------------ benchmarking */

/* A benchmark trains an oracle for every data set, model and fold, asks every method
 * about the same test rows, and measures. All of it lies in one folder: the oracles,
 * rows.csv.gz (one line per answer) and tables made from that (docs/reproduction.md). */
CBX_API const cbx_option_table *cbx_bench_table(void);

typedef struct cbx_bench_data {
    const char      *name; /* of its cells; neither commas nor quotes */
    const cbx_graph *graph;
} cbx_bench_data;

/* The i-th data set of the paper, by the name of its file; NULL past the last. */
CBX_API const char *cbx_bench_paper_data(size_t i);

/* Who won a cell, a data set with a model: the highest validity, to three digits, and among
 * equals the fewest edits in the mean. Methods that are asked for another target than the
 * rest do not compete. Names last as long as the data's do. */
typedef struct cbx_bench_winner {
    const char *data, *model;
    const char *method, *second;           /* NULL: no method, or no other, found anything */
    double      validity, second_validity; /* mean over folds */
    double      edits, second_edits;       /* mean over what was found */
} cbx_bench_winner;

/* What the caller hears; each may be NULL. `failed` is told of work that failed
 * while the rest goes on; `won`, at the end, of each cell, where the process is the first of
 * its team. */
typedef struct cbx_bench_hooks {
    cbx_progress progress;
    void (*failed)(void *user, const char *message);
    void (*won)(void *user, const cbx_bench_winner *cell);
    void *user;
} cbx_bench_hooks;

typedef struct cbx_bench_result {
    int64_t oracles, answers; /* there now, in the folder */
    int64_t asked;            /* of the answers: by this call and process */
    int64_t failures;         /* oracles and methods, in this call and process */
} cbx_bench_result;

/* `resume`: goes on with what the folder has, which must have been begun with the
 * same settings. `team` may be NULL. Cancelling keeps what is there. */
CBX_API cbx_status cbx_bench_run(const cbx_options *options, const cbx_bench_data *data,
                                 size_t num_data, const char *folder, bool resume,
                                 const cbx_bench_team *team, const cbx_bench_hooks *hooks,
                                 cbx_bench_result *result, cbx_error *err);

/* One data set with one model: what is to be done, and about how long that takes on one
 * thread, from a few short trials. */
typedef struct cbx_bench_estimate {
    const char *data, *model;
    int64_t     oracles, answers;
    double      seconds;
    double      training; /* of these, for the oracles */
} cbx_bench_estimate;

typedef int (*cbx_on_estimate)(void *user, const cbx_bench_estimate *cell);

CBX_API cbx_status cbx_bench_dry_run(const cbx_options *options, const cbx_bench_data *data,
                                     size_t num_data, cbx_on_estimate each, void *user,
                                     cbx_error *err);

#ifdef __cplusplus
}
#endif
#endif
