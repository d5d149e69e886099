/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_send.h: what a row of the first layer sends to the second, by lines.
 *
 * A box around each unit, multiplied with weights, lets every unit be at whichever end is worse.
 * All units of a row move together, though: with the scales of the nodes next to it, and with which
 * of these are left. Two bounds tell of that, of one output at a time: lines above and below each
 * ReLU, and relu(a + b) <= relu(a) + relu(b), which makes a sum over nodes of it. docs/bounds.md
 * has the proofs. */
#ifndef CBX_PATTERN_SEND_H
#define CBX_PATTERN_SEND_H

#include "pattern_rows.h"

/* Makes the boxes of what row i sends closer, with every pattern: those of of[0], which hold
 * already. -1: no time, or no memory. */
int cbx_pattern_send(cbx_patterns *f, int32_t i);

#endif
