/* SPDX-License-Identifier: Apache-2.0 */
/* from_combinex.h: COMBINEX's answer as a beginning: as many of its edits, in order of influence,
 * as it takes to flip, and of those the ones that are needed. */
#ifndef CBX_FROM_COMBINEX_H
#define CBX_FROM_COMBINEX_H

#include "beam.h"

/* `spectral_norm`: what that method's prepare left. */
cbx_status cbx_from_combinex(cbx_beam *F, const void *spectral_norm, cbx_error *err);

#endif
