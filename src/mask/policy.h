/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h: α, the price of features against that of edges, over the epochs. */
#ifndef CBX_POLICY_H
#define CBX_POLICY_H

#include "explainer.h"

/* α at epoch t of T, where the losses of edges and features are these. */
double cbx_policy_alpha(const cbx_explain_options *options, int64_t t, double edge_loss,
                        double feature_loss);

#endif
