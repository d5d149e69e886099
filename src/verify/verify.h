/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h: edits, and the class that the whole edited graph has by the model.
 *
 * What a search claims is checked here. This room sees graphs and models and no search, so that
 * no slip of a search can hide itself. */
#ifndef CBX_VERIFY_H
#define CBX_VERIFY_H

#include "model.h"

/* cbx_check_edits for a search: edits whose numbers overflow are no error, and leave NaN. */
cbx_status cbx_verify_edits(const cbx_model *model, const cbx_graph *graph, int32_t row,
                            const cbx_edit *edits, int64_t count, float *log_probs, cbx_error *err);

/* The same, with the number of nodes up to which the whole graph is run. */
cbx_status cbx_verify_within(const cbx_model *model, const cbx_graph *graph, int32_t row,
                             const cbx_edit *edits, int64_t count, int32_t moderate,
                             float *log_probs, cbx_error *err);

/* Is there such a node or graph? */
cbx_status cbx_verify_row(const cbx_graph *graph, int32_t row, cbx_error *err);

#endif
