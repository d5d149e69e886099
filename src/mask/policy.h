/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h: α, the price of features against that of edges, over the epochs. */
#ifndef CBX_POLICY_H
#define CBX_POLICY_H

#include <stdint.h>

enum {
    CBX_POLICY_LINEAR,
    CBX_POLICY_EXPONENTIAL,
    CBX_POLICY_SINUSOIDAL,
    CBX_POLICY_DYNAMIC,
    CBX_POLICY_CONSTANT,
    CBX_POLICY_FEATURES, /* edges are left alone */
    CBX_POLICY_EDGES     /* features are left alone */
};

typedef struct cbx_policy {
    int    shape;
    double alpha; /* of the constant policy */
    double decay; /* of the exponential policy */
} cbx_policy;

/* α at epoch t of T, where the losses of edges and features are these. */
double cbx_policy_alpha(const cbx_policy *policy, int64_t t, int64_t T, double edge_loss,
                        double feature_loss);

#endif
