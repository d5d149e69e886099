/* SPDX-License-Identifier: Apache-2.0 */
/* nearer.h: of answers that cost as many edits, one whose values go less far.
 *
 * A search takes what leads furthest, and taking its values back leaves the features that it chose.
 * Others would have done with less. So it is searched again where no value may go further than half
 * as far as the best answer's furthest, and so on; and each move that goes far is sought a
 * replacement for. */
#ifndef CBX_NEARER_H
#define CBX_NEARER_H

#include "beam.h"

/* The best, taken back, gives way to what costs no more edits, leaves the usual values no more
 * often, and goes less far. */
cbx_status cbx_nearer(cbx_beam *F, cbx_error *err);

#endif
