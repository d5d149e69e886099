/* SPDX-License-Identifier: Apache-2.0 */
/* prove_features.h: is there nothing cheaper, where features may change, alone or with removals of
 * edges? Size by size: one bound of all moves (src/proof) leaves those that can be part of a set of
 * that size that flips, and branch and bound is about these alone. */
#ifndef CBX_PROVE_FEATURES_H
#define CBX_PROVE_FEATURES_H

#include "prove_edges.h"

/* What cbx_prove does, of moves of one price. A feature that can take more values than can be
 * listed may go anywhere within its range: then sizes are excluded by bounds alone. Where it does
 * not apply, nothing has changed. */
cbx_status cbx_prove_features(cbx_search *s, cbx_minimal *found, cbx_edge_proof *proof,
                              cbx_error *err);

#endif
