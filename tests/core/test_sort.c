/* SPDX-License-Identifier: Apache-2.0 */
/* Against qsort. */
#include "sort.h"

#include <stdlib.h>
#include <string.h>

#include "deadline.h"
#include "rng.h"
#include "test.h"

typedef struct item {
    int64_t key;
    int32_t place; /* where it was */
    char    more[5];
} item;

static int64_t comparisons;

static int by_key(const void *a, const void *b)
{
    const item *x = a, *y = b;
    comparisons++;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* 'r': at random, 'f': few different keys, 'a': ascending, 'd': descending. */
static item *make_items(int64_t count, char kind)
{
    item   *items = calloc((size_t)count + 1, sizeof *items);
    cbx_rng rng = cbx_rng_stream((uint64_t)count, (uint64_t)kind, 0, 0);
    for (int64_t i = 0; i < count; i++) {
        items[i].key = kind == 'a'   ? i
                       : kind == 'd' ? -i
                                     : (int64_t)cbx_rng_below(&rng, kind == 'f' ? 7 : UINT32_MAX);
        items[i].place = (int32_t)i;
    }
    return items;
}

TEST(lists_of_all_sizes_are_sorted)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 100, 4095, 4096, 4097, 8192, 8193, 12289, 100000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (const char *kind = "rfad"; *kind; kind++) {
            cbx_arena arena = {0};
            item     *ours = make_items(sizes[s], *kind), *theirs = make_items(sizes[s], *kind);
            CHECK_INT(cbx_sort(ours, sizes[s], sizeof *ours, by_key, &arena), 0);
            qsort(theirs, (size_t)sizes[s], sizeof *theirs, by_key);
            CHECK(!memcmp(ours, theirs, (size_t)sizes[s] * sizeof *ours));
            cbx_arena_free(&arena);
            free(ours);
            free(theirs);
        }
}

TEST(a_sorted_list_takes_one_look)
{
    cbx_arena arena = {0};
    item     *items = make_items(50000, 'a');
    comparisons = 0;
    CHECK_INT(cbx_sort(items, 50000, sizeof *items, by_key, &arena), 0);
    CHECK_INT(comparisons, 49999);
    CHECK(arena.total == 0); /* and no memory */
    free(items);
}

TEST(time_that_is_up_ends_sorting_at_every_stage)
{
    enum { COUNT = 200000 };
    cbx_arena arena = {0};
    long      reads = 0;
    for (long leap = 0; leap <= reads || leap == 0; leap++) { /* the first time, never */
        cbx_deadline d;
        item        *items = make_items(COUNT, 'r');
        test_clock_stop(leap, 9);
        cbx_deadline_begin(&d, 1, NULL, NULL);
        CHECK_INT(cbx_sort(items, COUNT, sizeof *items, by_key, &arena), leap > 1 ? -1 : 0);
        CHECK(cbx_time_is_up() == (leap > 1)); /* the first reading is the beginning's */
        reads = leap ? reads : test_clock_reads();
        CHECK(leap < 2 || test_clock_reads() == leap);
        cbx_deadline_end(&d);
        test_clock_run();
        cbx_arena_reset(&arena);
        free(items);
    }
    CHECK(reads > 10);
    cbx_arena_free(&arena);
}

static cbx_status sort_some(void *user)
{
    (void)user;
    cbx_arena   arena = {0};
    static item many[5000];
    for (int i = 0; i < 5000; i++)
        many[i].key = -i;
    int failed = cbx_sort(many, 5000, sizeof *many, by_key, &arena);
    cbx_arena_free(&arena);
    return failed ? CBX_NO_MEMORY : CBX_OK;
}

TEST(sorting_survives_the_failure_of_any_allocation)
{
    test_each_allocation(sort_some, NULL);
}
