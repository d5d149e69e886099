/* SPDX-License-Identifier: Apache-2.0 */
/* class_order.c: see class_order.h. */
#include "class_order.h"

#include <stdbool.h>

int32_t cbx_best_class(const float *logp, int32_t count, int32_t except)
{
    int32_t best = -1;
    for (int32_t k = 0; k < count; k++)
        if (k != except && (best < 0 || logp[k] > logp[best]))
            best = k;
    return best;
}

int32_t cbx_next_class(const float *logp, int32_t count, int32_t last)
{
    int32_t best = -1;
    for (int32_t k = 0; k < count; k++) {
        bool after = last < 0;
        if (last >= 0)
            after = logp[k] < logp[last] || (k > last && logp[k] == logp[last]);
        if (after && (best < 0 || logp[k] > logp[best]))
            best = k;
    }
    return best;
}
