/* SPDX-License-Identifier: Apache-2.0 */
/* perturb_published.h: perturb.h's loops with faults of the program that the paper's
 * figures come from.
 *
 * A benchmark turns them on one by one, to see which of its differences from those figures
 * they make. Nothing else does, so these loops are plain. perturb.h calls them where the box
 * has faults; it is not uniform then. */
#ifndef CBX_PERTURB_PUBLISHED_H
#define CBX_PERTURB_PUBLISHED_H

#include "perturb.h"

void cbx_published_perturb(const cbx_pieces *pieces, const cbx_feature_box *box,
                           const cbx_entries *e, float *crossed, cbx_perturb_sums *sums);
void cbx_published_backward(int64_t count, const cbx_feature_box *box, const cbx_entries *e,
                            float absolute, float squared, const float *dX, float *grad);
void cbx_published_adam(const cbx_pieces *pieces, const cbx_feature_box *box, const cbx_entries *e,
                        float absolute, float squared, const cbx_adam_rates *rates, float *crossed,
                        cbx_perturb_sums *sums);
void cbx_published_values(int64_t count, const cbx_feature_box *box, const cbx_entries *e,
                          float *soft, float *hard_values);

#endif
