/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h: one target from question to answer, whatever the method. */
#ifndef CBX_EXPLAIN_H
#define CBX_EXPLAIN_H

#include "setup.h"

/* The memory of one target at a time. */
typedef struct cbx_workspace {
    cbx_arena kept;    /* for the whole of it */
    cbx_arena scratch; /* for the search */
} cbx_workspace;

void cbx_workspace_free(cbx_workspace *workspace);

/* The factual graph of a row, as the published methods have it: one hop more than there are layers,
 * so that degrees of the nodes that count are complete (spec: L + 1 hops); or the row's graph. */
cbx_status cbx_factual_view(const cbx_model *model, const cbx_graph *graph,
                            const cbx_explain_options *options, int32_t row, cbx_arena *arena,
                            cbx_view *view, cbx_error *err);

/* The factual graph of a search, cut out of `graph`, and its features; `everything`: with whatever
 * else the class depends on. */
cbx_status cbx_search_cut(cbx_search *s, const cbx_graph *graph, bool everything, cbx_view *view,
                          cbx_error *err);

/* What may be removed from it: edges, or pairs of nodes. */
cbx_status cbx_search_count_removable(cbx_search *s, cbx_error *err);

/* One target, in a workspace that is empty or was used for another. `strict`: a target
 * class that is the prediction already is an error, otherwise a reason to skip. `deadline`: the
 * thread's own, or NULL. */
cbx_status cbx_explain_row(const cbx_setup *setup, int32_t row, bool strict,
                           cbx_workspace *workspace, cbx_deadline *deadline,
                           cbx_counterfactual **out, cbx_error *err);

#endif
