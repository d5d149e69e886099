/* SPDX-License-Identifier: Apache-2.0 */
/* explain_options.h: the options of explaining as the library's own struct, and what takes it.
 * The public functions take a cbx_options and end here. */
#ifndef CBX_EXPLAIN_OPTIONS_H
#define CBX_EXPLAIN_OPTIONS_H

#include "option_table.h"

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
    int64_t beam;       /* sets of moves that are followed together */
    int64_t candidates; /* moves tried from each */
    int64_t rebuilds;   /* times a part of the answer is built anew, for a cheaper one */
    int     start; /* factual, both: where the search begins; both: also at combinex's answer */
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
    /* Not for people: combinex's loops with faults of the published program, for benchmarks
     * (the option published-faults); 0: none. */
    int64_t faults;
    /* of methods from outside: src/method/registered.c says whose lie where */
    _Alignas(16) unsigned char own[CBX_METHODS_OPTIONS];
} cbx_explain_options;

cbx_status cbx_explain_with(const cbx_model *model, const cbx_graph *graph, int32_t row,
                            const cbx_explain_options *options, cbx_progress progress, void *user,
                            cbx_counterfactual **out, cbx_error *err);

CBX_INTERNAL cbx_status cbx_explain_many_with(const cbx_model *model, const cbx_graph *graph,
                                              const int32_t *rows, int64_t count,
                                              const cbx_explain_options *options,
                                              cbx_on_result on_result, cbx_progress progress,
                                              void *user, cbx_error *err);

CBX_INTERNAL cbx_status cbx_explain_preset_with(cbx_explain_options *options, const char *preset,
                                                cbx_error *err);

#endif
