/* SPDX-License-Identifier: Apache-2.0 */
/* dice.h: random numbers of the adversary's own (splitmix64). */
#ifndef CBX_ADVERSARY_DICE_H
#define CBX_ADVERSARY_DICE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct dice {
    uint64_t state;
} dice;

static inline uint64_t dice_roll(dice *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A case's own numbers, whichever cases came before. */
static inline dice dice_of(uint64_t seed, uint64_t number)
{
    dice d = {seed * 0x2545f4914f6cdd1du + number};
    d.state = dice_roll(&d) ^ number;
    return d;
}

static inline int dice_below(dice *d, int count)
{
    return (int)(dice_roll(d) % (uint64_t)count);
}

static inline int dice_between(dice *d, int least, int most)
{
    return least + dice_below(d, most - least + 1);
}

static inline bool dice_chance(dice *d, double probability)
{
    return (double)(dice_roll(d) >> 11) * 0x1p-53 < probability;
}

static inline double dice_real(dice *d, double lo, double hi)
{
    return lo + (hi - lo) * ((double)(dice_roll(d) >> 11) * 0x1p-53);
}

#endif
