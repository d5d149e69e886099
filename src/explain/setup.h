/* SPDX-License-Identifier: Apache-2.0 */
/* setup.h: what all targets of one call share. */
#ifndef CBX_SETUP_H
#define CBX_SETUP_H

#include "explainer.h"
#include "internal.h"
#include "used.h"

enum { CBX_TARGET_NEXT = -2, CBX_TARGET_ANY = -1 };

typedef struct cbx_setup {
    const cbx_model           *model; /* both without features that are never used, … */
    const cbx_graph           *graph;
    cbx_used                  *used;  /* … where this is not NULL */
    const cbx_graph           *named; /* the caller's graph: options name its features */
    const cbx_explain_options *options;
    const cbx_explainer       *explainer;
    int32_t                    target; /* a class, or one of the above */
    const float               *lo, *hi;
    const uint8_t             *discrete;
    const cbx_view            *whole;    /* the whole graph, where searches need it, or NULL */
    const void                *shared;   /* the method's own, see explainer.h */
    double                    *phases;   /* see explainer.h; NULL, or for one thread only */
    cbx_explain_options        fallback; /* where the caller gave none */
    cbx_arena                  arena;
} cbx_setup;

cbx_status cbx_setup_init(cbx_setup *setup, const cbx_model *model, const cbx_graph *graph,
                          const cbx_explain_options *options, cbx_error *err);
void       cbx_setup_free(cbx_setup *setup);

/* The memory of one target at a time. */
typedef struct cbx_workspace {
    cbx_arena kept;    /* for the whole of it */
    cbx_arena scratch; /* for the search */
} cbx_workspace;

void cbx_workspace_free(cbx_workspace *workspace);

/* One target, in a workspace that is empty or was used for another. `strict`: a target
 * class that is the prediction already is an error, otherwise a reason to skip. `deadline`: the
 * thread's own, or NULL. */
cbx_status cbx_explain_row(const cbx_setup *setup, int32_t row, bool strict,
                           cbx_workspace *workspace, cbx_deadline *deadline,
                           cbx_counterfactual **out, cbx_error *err);

/* Packs a result into one block. `after` may be NULL. */
cbx_status cbx_result_pack(const cbx_search *s, cbx_outcome outcome, const char *reason,
                           const float *after, double seconds, cbx_counterfactual **out,
                           cbx_error *err);

/* cbx_check_edits, with the number of nodes up to which the whole graph is run. */
cbx_status cbx_check_edits_within(const cbx_model *model, const cbx_graph *graph, int32_t row,
                                  const cbx_edit *edits, int64_t count, int32_t moderate,
                                  float *log_probs, cbx_error *err);

/* Is there such a node or graph? */
cbx_status cbx_check_row(const cbx_graph *graph, int32_t row, cbx_error *err);

/* What the search's certificate, if it is a proof, is a proof of; NULL: no memory. */
const char *cbx_proof_scope(const cbx_search *s);

/* A copy in one block; NULL when memory runs out. */
CBX_INTERNAL cbx_counterfactual *cbx_result_copy(const cbx_counterfactual *from);

/* Fills in the edits' influence, `result` being the class they lead to, and sorts
 * them by it. */
cbx_status cbx_rank_edits(cbx_search *s, int32_t result, cbx_error *err);

#endif
