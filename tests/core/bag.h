/* SPDX-License-Identifier: Apache-2.0 */
/* bag.h: the arrays of one test, and random numbers to fill them.
 *
 * Every array is a malloc of its own and of its exact size, unlike an arena's,
 * so that the sanitizer sees the first float read or written beyond the end. */
#ifndef CBX_TEST_BAG_H
#define CBX_TEST_BAG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

/* threads.h's: loops of less work stay on one thread, and tests of many threads
 * must have more of it. test_threads.c holds the two together. */
#define WORTH_A_TEAM 1e6

typedef struct bag {
    void **items; /* a zeroed struct is an empty bag */
    size_t count;
} bag;

static inline void *bag_take(bag *b, size_t count, size_t size)
{
    void **items = realloc(b->items, (b->count + 1) * sizeof *items);
    void  *item = malloc(count * size);
    if (!items || (!item && count && size)) {
        perror("the test itself");
        exit(1);
    }
    b->items = items;
    b->items[b->count++] = item;
    return item;
}

static inline void bag_free(bag *b)
{
    for (size_t i = 0; i < b->count; i++)
        free(b->items[i]);
    free(b->items);
    *b = (bag){0};
}

#define TAKE(b, type, count) ((type *)bag_take((b), (size_t)(count), sizeof(type)))

/* [low, high) */
static inline float draw(cbx_rng *rng, double low, double high)
{
    return (float)(low + (high - low) * cbx_rng_uniform(rng));
}

/* `count` of them in [-1, 1) */
static inline float *draws(bag *b, cbx_rng *rng, int64_t count)
{
    float *v = TAKE(b, float, count);
    for (int64_t i = 0; i < count; i++)
        v[i] = draw(rng, -1, 1);
    return v;
}

static inline float *filled(bag *b, int64_t count, float value)
{
    float *v = TAKE(b, float, count);
    for (int64_t i = 0; i < count; i++)
        v[i] = value;
    return v;
}

static inline float *copied(bag *b, int64_t count, const float *from)
{
    float *v = TAKE(b, float, count);
    if (count)
        memcpy(v, from, (size_t)count * sizeof *v);
    return v;
}

static inline bool same_bits(int64_t count, const float *a, const float *b)
{
    return count == 0 || !memcmp(a, b, (size_t)count * sizeof *a);
}

#endif
