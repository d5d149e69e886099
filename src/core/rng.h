/* SPDX-License-Identifier: Apache-2.0 */
/* rng.h: random numbers that do not depend on the order of work.
 *
 * A stream is made from a seed and up to three numbers (an epoch, a layer, a
 * row), so any thread can draw the numbers of any row and get the same bits. */
#ifndef CBX_RNG_H
#define CBX_RNG_H

#include <stdint.h>

#include "internal.h"

typedef struct cbx_rng {
    uint64_t state;
} cbx_rng;

/* The finaliser of splitmix64: a bijection that scatters neighbouring inputs. */
static inline uint64_t cbx_mix64(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline cbx_rng cbx_rng_stream(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t s = cbx_mix64(seed + 0x9e3779b97f4a7c15u);
    s = cbx_mix64(s ^ (a + 0x9e3779b97f4a7c15u));
    s = cbx_mix64(s ^ (b + 0xd1b54a32d192ed03u));
    s = cbx_mix64(s ^ (c + 0x8cb92ba72f3d8dd7u));
    return (cbx_rng){s};
}

static inline uint64_t cbx_rng_next(cbx_rng *rng)
{
    rng->state += 0x9e3779b97f4a7c15u;
    return cbx_mix64(rng->state);
}

/* [0, 1), 53 bits */
static inline double cbx_rng_uniform(cbx_rng *rng)
{
    return (double)(cbx_rng_next(rng) >> 11) * 0x1.0p-53;
}

/* [0, bound), without bias; bound > 0 */
CBX_INTERNAL uint64_t cbx_rng_below(cbx_rng *rng, uint64_t bound);

/* standard normal */
double cbx_rng_normal(cbx_rng *rng);

/* Fisher–Yates. */
CBX_INTERNAL void cbx_rng_shuffle(cbx_rng *rng, int32_t *items, int64_t count);

#endif
