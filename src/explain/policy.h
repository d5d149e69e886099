/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h: α, the price of features against that of edges, over the epochs. */
#ifndef CBX_POLICY_H
#define CBX_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "combinex.h"

enum {
    CBX_POLICY_LINEAR,
    CBX_POLICY_EXPONENTIAL,
    CBX_POLICY_SINUSOIDAL,
    CBX_POLICY_DYNAMIC,
    CBX_POLICY_CONSTANT,
    CBX_POLICY_FEATURES, /* edges are left alone */
    CBX_POLICY_EDGES     /* features are left alone */
};

extern const char *const cbx_policy_names[];

/* α at epoch t of T, where the losses of edges and features are these. */
double cbx_policy_alpha(const cbx_explain_options *options, int64_t t, double edge_loss,
                        double feature_loss);

#endif
