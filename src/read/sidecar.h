/* SPDX-License-Identifier: Apache-2.0 */
/* sidecar.h: what a small JSON file beside the data says about it: kinds, bounds,
 * names, what cannot be changed, which features exclude each other. It has the
 * last word. docs/formats.md describes it. */
#ifndef CBX_SIDECAR_H
#define CBX_SIDECAR_H

#include "reading.h"

/* The options' sidecar, or combinex.json in a folder or archive, or
 * NAME.combinex.json beside NAME.ending, which may be an archive. Nothing happens where there is
 * none. */
cbx_status cbx_sidecar_apply(cbx_reading *r, cbx_graph *graph);

#endif
