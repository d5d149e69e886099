/* SPDX-License-Identifier: Apache-2.0 */
/* sort.c: short runs by qsort, then merged, from one array to the other and back. */
#include "sort.h"

#include <stdlib.h>
#include <string.h>

#include "deadline.h"

enum { RUN = 4096 };

/* Multiplications in the time of a comparison and a move. */
static const double STEP = 20;

typedef struct order {
    size_t size;
    int (*compare)(const void *, const void *);
} order;

/* No, where time ran out. */
static bool is_sorted(const char *items, int64_t count, const order *by)
{
    for (int64_t k = 1; k < count; k++, items += by->size)
        if (cbx_out_of_time_at(k, STEP) || by->compare(items, items + by->size) > 0)
            return false;
    return true;
}

static int sort_runs(char *items, int64_t count, const order *by)
{
    const double depth = 12; /* comparisons of an item */
    for (int64_t at = 0; at < count; at += RUN) {
        int64_t run = count - at < RUN ? count - at : RUN;
        if (cbx_out_of_time((double)run * depth * STEP))
            return -1;
        qsort(items + (size_t)at * by->size, (size_t)run, by->size, by->compare);
    }
    return 0;
}

/* Two runs that follow each other, of which either may be empty, as one. */
static int merge(const char *first, const char *second, const char *end, char *to, const order *by)
{
    size_t      size = by->size;
    const char *a = first, *b = second;
    for (int64_t k = 0; a < second && b < end; k++, to += size) {
        if (cbx_out_of_time_at(k, STEP))
            return -1;
        const char **from = by->compare(a, b) <= 0 ? &a : &b;
        memcpy(to, *from, size);
        *from += size;
    }
    memcpy(to, a, (size_t)(second - a));
    memcpy(to + (second - a), b, (size_t)(end - b));
    return 0;
}

/* Runs of so many items become half as many of twice as many. */
static int merge_all(const char *from, char *to, int64_t count, int64_t run, const order *by)
{
    for (int64_t at = 0; at < count; at += 2 * run) {
        int64_t middle = at + run < count ? at + run : count;
        int64_t end = at + 2 * run < count ? at + 2 * run : count;
        if (merge(from + (size_t)at * by->size, from + (size_t)middle * by->size,
                  from + (size_t)end * by->size, to + (size_t)at * by->size, by))
            return -1;
    }
    return 0;
}

int cbx_sort(void *items, int64_t count, size_t size, int (*compare)(const void *, const void *),
             cbx_arena *arena)
{
    const order by = {size, compare};
    char       *from = items, *to = NULL;
    if (count < 2 || is_sorted(items, count, &by))
        return 0;
    if (count > RUN && !(to = cbx_arena_alloc(arena, (size_t)count, size)))
        return -1;
    if (sort_runs(from, count, &by))
        return -1;
    for (int64_t run = RUN; run < count; run *= 2) {
        if (merge_all(from, to, count, run, &by))
            return -1;
        char *merged = to;
        to = from;
        from = merged;
    }
    if (from != items)
        memcpy(items, from, (size_t)count * size);
    return 0;
}
