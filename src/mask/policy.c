/* SPDX-License-Identifier: Apache-2.0 */
/* policy.c: see policy.h. */
#include "policy.h"

#include <math.h>

#include "order.h"

double cbx_policy_alpha(const cbx_policy *policy, int64_t t, int64_t T, double edge_loss,
                        double feature_loss)
{
    double share = (double)t / (double)T;
    switch (policy->shape) {
    case CBX_POLICY_LINEAR:
        return fmax(0, 1 - share);
    case CBX_POLICY_EXPONENTIAL:
        return cbx_exp(-(double)t / policy->decay);
    case CBX_POLICY_SINUSOIDAL:
        return 0.5 * (1 + cbx_cos_pi(share));
    case CBX_POLICY_DYNAMIC:
        return edge_loss > feature_loss ? 0 : 1;
    case CBX_POLICY_FEATURES:
        return 1;
    case CBX_POLICY_EDGES:
        return 0;
    default:
        return policy->alpha;
    }
}
