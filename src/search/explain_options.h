/* SPDX-License-Identifier: Apache-2.0 */
/* explain_options.h: the options of explaining as the library's own struct, and what takes it.
 * The public functions take a cbx_options and end here. */
#ifndef CBX_EXPLAIN_OPTIONS_H
#define CBX_EXPLAIN_OPTIONS_H

#include "option_table.h"

/* Bytes for the own options of the library's methods; those from outside have CBX_METHODS_OPTIONS.
 */
enum { CBX_OWN_OPTIONS = 1024 };

typedef struct cbx_explain_options {
    int         explainer; /* combinex, cf-gnn, …: position in the table's choices */
    const char *target;    /* "next", "any", or a class by number or name */
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
    int64_t     threads;   /* cbx_explain_many: 0: all cores */
    int64_t     seed;      /* of the methods that draw */
    int64_t     total_cfs; /* different answers to look for, of methods that have several */
    const char *trained;   /* folder for what methods have to train first; NULL or "": nowhere */
    /* rules: what may be edited. Lists are text: "3,7-9", NULL or "": none. */
    double      stopping_threshold; /* probability that the class must reach; 0: just the lead */
    int64_t     max_edits;          /* 0: no limit */
    const char *features_to_vary;   /* numbers, ranges or names; "all", "none" */
    const char *immutable_features;
    const char *permitted_range; /* "feature:low:high,…" */
    const char *only_up, *only_down;
    const char *step;            /* "feature:step,…": the new value is a multiple */
    const char *if_changed;      /* "feature:other,…": only where the other changes as well */
    const char *one_hot;         /* groups, as ranges, of which one is on; "auto", "none" */
    const char *immutable_nodes; /* neither their features nor their edges */
    const char *protected_edges; /* "u-v,…", both directions */
    bool        own_features;    /* only the target's own features */
    bool        own_edges;       /* only edges at the target */
    int         as;              /* anybody, self: both of these */
    bool        keep_edges;      /* no edge at all */
    int         keep;            /* any, no-isolated, connected, molecule: what edits must leave */
    const char *elements;   /* molecule: "C,N,…", of the columns that tell atoms; or names do */
    const char *bonds;      /* molecule: what tells the order of a bond */
    double      plausible;  /* how unusual rows that change may be; 0: no limit */
    const char *edits;      /* kinds of edit: "remove,add,features,…", or "all" */
    int         add_at;     /* any, target: where edges may be added */
    int64_t     add_within; /* hops between the ends of an added edge; 0: any number */
    const char *add_to;     /* nodes, "class:NAME", "same-type": where added edges lead */
    int64_t     max_degree; /* of the ends of an added edge; 0: no limit */
    int64_t     max_added, max_removed; /* edges; 0: no limit */
    double      add_weight;             /* of an added edge; 0: the data's median */
    int64_t     add_candidates;         /* edges that are offered to a search */
    /* the methods' own, one struct behind the other: src/method/explainers.c says whose lie where
     */
    _Alignas(16) unsigned char own[CBX_OWN_OPTIONS + CBX_METHODS_OPTIONS];
} cbx_explain_options;

cbx_status cbx_explain_with(const cbx_model *model, const cbx_graph *graph, int32_t row,
                            const cbx_explain_options *options, cbx_progress progress, void *user,
                            cbx_counterfactual **out, cbx_error *err);

CBX_INTERNAL cbx_status cbx_explain_many_with(const cbx_model *model, const cbx_graph *graph,
                                              const int32_t *rows, int64_t count,
                                              const cbx_explain_options *options,
                                              cbx_on_result on_result, cbx_progress progress,
                                              void *user, cbx_error *err);

/* Does the option edits, which is valid, allow this kind? Does it say "all"? */
CBX_INTERNAL bool cbx_edits_allow(const char *edits, cbx_edit_op op);
CBX_INTERNAL bool cbx_edits_are_all(const char *edits);

CBX_INTERNAL cbx_status cbx_explain_preset_with(cbx_explain_options *options, const char *preset,
                                                cbx_error *err);

#endif
