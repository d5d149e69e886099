/* SPDX-License-Identifier: Apache-2.0 */
/* wave.h: open branches (branch.h), and the bounds of the next few of them at once. */
#ifndef CBX_WAVE_H
#define CBX_WAVE_H

#include "branch.h"

cbx_status cbx_wave_init(cbx_branch *b, cbx_error *err);
void       cbx_wave_free(cbx_branch *b);

/* One branch is open: all sets within the graph's budget. */
void cbx_wave_start(cbx_branch *b);

/* Takes the next `most` branches, or all there are, and bounds them: taken[k] and wave[k], in
 * order. Returns how many. */
int64_t cbx_wave_bound(cbx_branch *b, int64_t most);

/* A further open branch, which is the next one: as `from`. NULL: no memory. */
cbx_open_branch *cbx_wave_push(cbx_branch *b, const cbx_open_branch *from);

/* Nothing is open, and the user's graph is as it was. */
void cbx_wave_end(cbx_branch *b);

#endif
