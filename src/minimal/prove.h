/* SPDX-License-Identifier: Apache-2.0 */
/* prove.h: is there nothing cheaper? By excluding or trying everything that is.
 *
 * Sets of moves go in order of size. Where bounds are known (src/proof) most are excluded without
 * being tried; elsewhere all are. A feature counts with every whole number in its range; one
 * that is continuous has more values than can be tried, and is excluded by bounds or not at all. */
#ifndef CBX_PROVE_H
#define CBX_PROVE_H

#include "minimal.h"

/* Tries every set of moves that is cheaper, until `seconds` have passed. True: there is
 * none, or a cheaper one was found and took its place, and there is none cheaper than
 * that. Where nothing was found, every set there is. However far it came, found->lower_bound is
 * what follows from the sizes that were tried to the end. */
cbx_status cbx_prove(cbx_search *s, cbx_minimal *found, double seconds, bool *proved,
                     cbx_error *err);

#endif
