/* SPDX-License-Identifier: Apache-2.0 */
/* undo.h: what undoing edits would do, found out with the model beforehand, so that a
 * page can show it without one. */
#ifndef CBX_UNDO_H
#define CBX_UNDO_H

#include "report.h"

/* How many edits, the most influential first, can be undone in any combination. */
int cbx_undo_free(const cbx_counterfactual *answer);

/* The member "undo": {"free": k, "probabilities": […], "flips": "01…"}: 2^k answers of the model,
 * number b having those of the first k edits that are bits of b, and all others; then one for each
 * edit from k to `shown` - 1, with that one alone undone. `flips` says for each whether
 * the class is reached. The answer must be a flip. The model runs on the whole graph. */
cbx_status cbx_undo_put(cbx_json_writer *w, const cbx_report *report, size_t answer, int64_t shown,
                        cbx_error *err);

#endif
