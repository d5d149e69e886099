/* SPDX-License-Identifier: Apache-2.0 */
/* explainer.h: what a method is given, and what it gives back.
 *
 * explain.c does what all methods share: cutting out the factual graph, asking
 * the oracle, choosing the target, and afterwards verifying, ranking and packing
 * the edits. A method only searches. To add one: a file with a
 * `const cbx_explainer cbx_explainer_NAME` and a line in explainers.def, both in src/method,
 * and a test. */
#ifndef CBX_EXPLAINER_H
#define CBX_EXPLAINER_H

#include "explain_options.h"
#include "class_order.h"
#include "clock.h"
#include "deadline.h"
#include "pass.h"

/* What options with choices can be. */
enum { CBX_EDGES_DIRECTED, CBX_EDGES_UNDIRECTED };
enum { CBX_KINDS_DATA, CBX_KINDS_AUTO };
enum { CBX_OPTIMISER_ADAM, CBX_OPTIMISER_SGD, CBX_OPTIMISER_ADADELTA };
enum { CBX_AS_ANYBODY, CBX_AS_SELF };

/* What a benchmark may ask of a search: seconds of each phase, and the number of
 * feature values stepped, with and without the oracle's pull. */
enum {
    CBX_PHASE_SOFT,
    CBX_PHASE_HARD,
    CBX_PHASE_BACKWARD,
    CBX_PHASE_FEATURES,
    CBX_PHASE_EDGES,
    CBX_PULLED_VALUES,
    CBX_OTHER_VALUES,
    CBX_PHASES
};

/* A further answer. */
typedef struct cbx_alternative {
    cbx_edit       *edits;
    int64_t         num_edits, num_unusual;
    double          cost, fixed_cost; /* all of it; without how far values go */
    double          robustness;       /* -1: not measured */
    double          l1_mad;
    cbx_certificate certificate;
} cbx_alternative;

typedef struct cbx_search {
    /* given */
    const cbx_model           *model;
    const cbx_graph           *graph;
    const cbx_explain_options *options;
    const void                *settings;   /* the method's own options, of cbx_explainer.options */
    int32_t                    row;        /* the node or graph to explain */
    const cbx_view            *view;       /* the factual graph */
    bool                       complete;   /* it has all that the class depends on */
    const cbx_view            *whole;      /* the whole graph, or NULL: not needed */
    cbx_matrix                 X;          /* its features */
    const struct cbx_used     *used;       /* what they are in the data; NULL: the same (used.h) */
    const float               *lo, *hi;    /* bounds, per feature */
    const uint8_t             *discrete;   /* kinds in force, per feature */
    const struct cbx_rules    *rules;      /* what edits are allowed; see project.h */
    int32_t                    prediction; /* of the factual graph */
    int32_t                    decision;   /* of the whole graph: the same, or it is skipped */
    int32_t                    target;     /* -1: any other class */
    const float               *before;     /* log-probabilities of the factual graph */
    int64_t                    num_removable; /* edges, or pairs in undirected mode */
    const int64_t             *pair_of;       /* undirected mode: see pairs.h */
    const int64_t             *slot_of;
    const uint8_t             *offered;    /* by slot: not there, but may be added; NULL: none is */
    const cbx_view            *narrow;     /* the factual graph, where some are offered */
    bool                       offers_all; /* that the rules allow (widen.h) */
    unsigned                   further;    /* kinds of edit, of CBX_EDITS_FURTHER, in use now */
    const struct cbx_layer_inputs *inputs; /* of all nodes, where edges are added; or NULL */
    const struct cbx_newcomers    *newcomers;     /* nodes that may be added; NULL: none may */
    bool                           newcomers_all; /* there are no others that the rules allow */
    cbx_arena    *arena;    /* for whatever the method needs; it goes when it is done */
    cbx_arena    *keep;     /* for what it has found */
    cbx_deadline *deadline; /* the thread's own, or NULL: none */
    double        wrap_up;  /* seconds that verifying and ranking may take */
    const void   *shared;   /* what the method's prepare left */
    double       *phases;   /* CBX_PHASES sums; NULL: no clock is read */
    int           threads;  /* that nobody else uses meanwhile; 0: one */

    /* found: edits in the graph's own ids; influence is filled in later */
    cbx_certificate  certificate;
    bool             never;       /* proved_none: of any input whatever */
    double           reached;     /* the largest lead that was met, as cbx_edit_state_ask says it */
    double           cost;        /* of the edits */
    double           lower_bound; /* of the cost of any answer, proved; 0: not known */
    bool             bound_is_plain; /* it says no more than that something must change */
    double           robustness;     /* -1: not measured */
    double           l1_mad;         /* cbx_counterfactual's; NaN: not known */
    cbx_alternative *others; /* further answers, as many as total_cfs asks for; best first */
    int64_t          num_others;
    bool             found;
    cbx_edit        *edits;
    int64_t          num_edits;
    int64_t          num_unusual;     /* of them that lead to unusual values */
    double           plausibility;    /* cbx_counterfactual's; NaN: not known */
    int64_t          num_trained;     /* parameters that had to be trained first, … */
    double           trained_seconds; /* … and how long that took */
    int64_t          epoch, epochs;
    double           loss;
    bool             late;     /* the search was ended before it was over */
    const char      *why;      /* there is nothing to be found, where that is clear; or NULL */
    const char      *unproved; /* why there is no proof where one was asked for; or NULL */
    bool             diverged; /* some numbers were too large */
    cbx_epoch       *trace;    /* of cbx_explainer_steps entries, or NULL: not wanted */
    int64_t          num_trace;
} cbx_search;

struct cbx_setup; /* what all targets of a call share: setup.h */

typedef struct cbx_explainer {
    const char *name;
    cbx_status (*search)(cbx_search *search, cbx_error *err);
    const cbx_option_table *options; /* NULL, or those that only this method has */
    /* NULL, or work that the targets of a call share, done once before the first. What
     * it leaves in `shared`, in memory of `arena`, every search gets. It may refuse. */
    cbx_status (*prepare)(const struct cbx_setup *setup, cbx_arena *arena, const void **shared,
                          cbx_error *err);
    bool descends; /* along gradients: a model that has none is refused */
    bool embeds;   /* looks at embeddings: a model without layers is refused */
    /* The factual graph is all that the class depends on, which can be more than the published
     * methods look at (spec: one hop more than there are layers). */
    bool searches_all;
    bool nodes_only, graphs_only; /* data sets of the other task are refused */
    bool uncounted;     /* its time does not grow with a number of steps that is known beforehand */
    bool adds_edges;    /* option edits: it can add some; else that is refused */
    bool removes_nodes; /* likewise: it can remove some */
    bool adds_nodes;    /* likewise: it can add some to graphs */
    bool sets_weights;  /* likewise: it can change those of edges */
    bool edges_only;    /* where there is no edge, there is nothing to search */
    /* NULL: the most steps a search takes is options->epochs */
    int64_t (*steps)(const void *settings);
} cbx_explainer;

/* The table of methods. It is made in src/method, which this room does not see. */
extern const char                *cbx_explainer_names[]; /* NULL-terminated */
CBX_INTERNAL const cbx_explainer *cbx_explainer_at(int i);

static inline bool cbx_explainer_explains(const cbx_explainer *explainer, cbx_task task)
{
    return task == CBX_GRAPH ? !explainer->nodes_only : !explainer->graphs_only;
}

/* The i-th table of options that a method brings, and where its struct lies in the options; NULL
 * past the last. */
const cbx_option_table *cbx_explainer_part(size_t i, size_t *offset);

/* The struct of this method's own options; NULL: it has none. */
CBX_INTERNAL const void *cbx_explainer_settings(const cbx_explainer       *explainer,
                                                const cbx_explain_options *options);

static inline int64_t cbx_explainer_steps(const cbx_explainer       *explainer,
                                          const cbx_explain_options *options)
{
    return explainer->steps ? explainer->steps(cbx_explainer_settings(explainer, options))
                            : options->epochs;
}

/* Is this class what the search is for? */
static inline bool cbx_search_hits(const cbx_search *s, int32_t class)
{
    return s->target < 0 ? class != s->prediction : class == s->target;
}

/* The class that the search leads to, by what the oracle says now: the target, or where any other
 * class will do the likeliest of them. */
static inline int32_t cbx_search_aim(const cbx_search *s, const float *logp)
{
    return s->target >= 0 ? s->target : cbx_best_class(logp, s->model->num_classes, s->prediction);
}

/* The class by which the data labels rows like those that lead to this answer: the best of
 * log-probabilities; -1: the model's classes are its own. */
static inline int32_t cbx_search_peers(const cbx_search *s, const float *logp)
{
    return cbx_model_class_name(s->model, 0) ? -1 : cbx_best_class(logp, s->model->num_classes, -1);
}

/* The class of the row that is searched for; where numbers overflowed, and nothing is known, or
 * where it is less likely than the options ask for, the prediction, which is never a hit. */
int32_t cbx_search_class(const cbx_search *s, const float *logp);

/* Has the search left the numbers that single precision holds? */
bool cbx_search_diverged(cbx_search *s, double loss);

/* Says where the search is; true: stop, out of time or cancelled. After the last epoch there
 * is nothing that time could end. */
bool cbx_search_should_stop(cbx_search *s, int64_t epoch, int64_t epochs);

/* The same of a search that does not know which step is its last. */
bool cbx_search_should_stop_at(cbx_search *s, int64_t step);

/* Keeps time for verifying and ranking an answer of so many edits. */
void cbx_search_reserve(const cbx_search *s, int64_t edits);

/* Keeps time for handing over the edits that there are. */
void cbx_search_reserve_copy(const cbx_search *s);

/* Room for an answer of so many edits, of which there are none yet. Fails where there is no time
 * left to verify them: memory that is not taken need not be given back either. */
cbx_status cbx_search_make_edits(cbx_search *s, int64_t count, cbx_error *err);

/* Was it ended already, or is it now? What a search asks of its own memory may be wrong then. */
static inline bool cbx_search_is_late(const cbx_search *s)
{
    return s->late || cbx_time_is_up();
}

/* A step is over: it goes to the trace. True: it hits, at a lower loss than any before,
 * and the caller must remember its edits. */
bool cbx_search_record(cbx_search *s, const cbx_epoch *step);

/* Searching is over, and what is left of the time is for its answer. */
void cbx_search_end(cbx_search *s);

/* That time is up is no failure where there is something to hand back: this status then. */
cbx_status cbx_search_status(cbx_status status);

/* After epoch t: has there been nothing better for as long as the user is patient? */
bool cbx_search_gives_up(const cbx_search *s, int64_t t);

/* The edit that gives feature `column` of the view's node `row` another value. */
cbx_edit cbx_search_edit_of_feature(const cbx_search *s, int32_t row, int32_t column, float from,
                                    float to);

/* The edit that removes the edge in this slot of the view. */
cbx_edit cbx_search_edit_of_slot(const cbx_search *s, int32_t target, int64_t slot,
                                 bool undirected);

#endif
