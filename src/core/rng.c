/* SPDX-License-Identifier: Apache-2.0 */
/* rng.c: the draws that are more than a line. */
#include "rng.h"

#include <math.h>

#include "order.h"

uint64_t cbx_rng_below(cbx_rng *rng, uint64_t bound)
{
    /* Values below 2^64 mod bound would make the first results likelier. */
    uint64_t skip = (0 - bound) % bound;
    uint64_t draw;
    do
        draw = cbx_rng_next(rng);
    while (draw < skip);
    return draw % bound;
}

double cbx_rng_normal(cbx_rng *rng)
{
    /* Marsaglia's polar method; the second value is dropped, so that a stream's
     * n-th draw does not depend on what was drawn before it was asked for. */
    double u, v, s;
    do {
        u = 2 * cbx_rng_uniform(rng) - 1;
        v = 2 * cbx_rng_uniform(rng) - 1;
        s = u * u + v * v;
    } while (s >= 1 || s == 0);
    return u * sqrt(-2 * cbx_log(s) / s);
}

void cbx_rng_shuffle(cbx_rng *rng, int32_t *items, int64_t count)
{
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = (int64_t)cbx_rng_below(rng, (uint64_t)i + 1);
        int32_t kept = items[i];
        items[i] = items[j];
        items[j] = kept;
    }
}
