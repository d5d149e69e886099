/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas: alignment, growth, sizes nobody has, and what a reset keeps. */
#include "arena.h"

#include <stdint.h>
#include <string.h>

#include "test.h"

TEST(every_allocation_is_aligned_to_64_bytes)
{
    cbx_arena arena = {0};
    for (size_t size = 1; size < 3000; size += 37) {
        void *at = cbx_arena_alloc(&arena, size, 1);
        CHECK(at != NULL);
        CHECK_INT((int64_t)((uintptr_t)at % 64), 0);
    }
    cbx_arena_free(&arena);
}

TEST(asking_for_no_objects_gives_a_pointer_of_its_own)
{
    cbx_arena arena = {0};
    char     *a = cbx_arena_alloc(&arena, 0, 8), *b = cbx_arena_zalloc(&arena, 8, 0);
    char     *c = cbx_arena_alloc(&arena, 1, 1);
    CHECK(a && b && c);
    CHECK(a != b && b != c && a != c);
    cbx_arena_free(&arena);
}

TEST(sizes_that_overflow_give_null_and_do_no_harm)
{
    /* 2^63 objects of 2 bytes are 0 bytes modulo 2^64; SIZE_MAX bytes rounded up
     * to 64 are 0 as well; the last two fit a size_t but no address space. */
    cbx_arena arena = {0};
    CHECK(cbx_arena_alloc(&arena, SIZE_MAX / 2 + 1, 2) == NULL);
    CHECK(cbx_arena_alloc(&arena, SIZE_MAX, 1) == NULL);
    CHECK(cbx_arena_alloc(&arena, 1, SIZE_MAX) == NULL);
    CHECK(cbx_arena_zalloc(&arena, SIZE_MAX / 8 + 1, 8) == NULL);
    CHECK(cbx_arena_alloc(&arena, SIZE_MAX / 2, 1) == NULL);
    CHECK(cbx_arena_alloc(&arena, SIZE_MAX / 2 - 63, 1) == NULL);
    CHECK(cbx_arena_reserve(&arena, SIZE_MAX) != 0);
    CHECK(cbx_arena_reserve(&arena, SIZE_MAX - 63) != 0);
    CHECK_INT((int64_t)arena.total, 0);
    int *still = CBX_NEW(&arena, int, 1);
    if (CHECK(still != NULL))
        *still = 7;
    cbx_arena_free(&arena);
}

TEST(allocations_do_not_overlap_while_the_arena_grows)
{
    cbx_arena      arena = {0};
    unsigned char *at[200];
    for (int i = 0; i < 200; i++) {
        at[i] = cbx_arena_alloc(&arena, (size_t)i * 13, 1);
        memset(at[i], i, (size_t)i * 13);
    }
    for (int i = 0; i < 200; i++)
        for (int k = 0; k < i * 13; k++)
            if (at[i][k] != i) {
                CHECK(!"an allocation was overwritten");
                break;
            }
    cbx_arena_free(&arena);
}

TEST(blocks_double_so_that_many_small_allocations_take_few)
{
    /* 8192 x 64 bytes = 512 KiB: a first block of 4 KiB doubles 7 times. */
    cbx_arena        arena = {0};
    cbx_arena_block *newest = NULL;
    int              blocks = 0;
    for (int i = 0; i < 8192; i++) {
        CHECK(cbx_arena_alloc(&arena, 64, 1) != NULL);
        blocks += arena.blocks != newest;
        newest = arena.blocks;
    }
    CHECK_INT(blocks, 8);
    CHECK_INT((int64_t)arena.total, 8192 * 64);
    cbx_arena_free(&arena);
}

TEST(large_arrays_are_not_held_with_as_much_again)
{
    /* Past 1 MiB a block is as large as what was asked for. */
    cbx_arena arena = {0};
    CHECK(CBX_NEW(&arena, char, 3 << 20) != NULL);
    CHECK(CBX_NEW(&arena, char, 1 << 20) != NULL);
    CHECK_INT((int64_t)arena.total, 4 << 20);
    cbx_arena_free(&arena);
}

TEST(cleared_memory_is_clear_even_when_used_before)
{
    cbx_arena arena = {0};
    memset(CBX_NEW(&arena, char, 4096), 0xff, 4096);
    cbx_arena_reset(&arena);
    const char *again = CBX_NEW0(&arena, char, 4000);
    for (int i = 0; i < 4000; i++)
        if (again[i]) {
            CHECK(!"a byte is not zero");
            break;
        }
    cbx_arena_free(&arena);
}

TEST(a_reset_keeps_all_memory_as_one_block)
{
    cbx_arena arena = {0};
    for (int i = 0; i < 100; i++)
        CHECK(cbx_arena_alloc(&arena, 1000, 1) != NULL);
    size_t total = arena.total;
    cbx_arena_reset(&arena);
    CHECK_INT((int64_t)arena.total, (int64_t)total);
    const cbx_arena_block *only = arena.blocks;
    for (int i = 0; i < 100; i++)
        CHECK(cbx_arena_alloc(&arena, 1000, 1) != NULL);
    CHECK(arena.blocks == only);
    CHECK_INT((int64_t)arena.total, (int64_t)total);
    cbx_arena_free(&arena);
}

TEST(a_reset_of_one_block_gives_the_same_memory_again)
{
    cbx_arena   arena = {0};
    const void *first = cbx_arena_alloc(&arena, 100, 1);
    cbx_arena_reset(&arena);
    CHECK(cbx_arena_alloc(&arena, 1, 1) == first);
    cbx_arena_free(&arena);
}

TEST(an_empty_arena_can_be_reset_and_freed)
{
    cbx_arena arena = {0};
    cbx_arena_reset(&arena);
    CHECK(arena.blocks == NULL);
    cbx_arena_free(&arena);
    cbx_arena_free(&arena);
    CHECK_INT((int64_t)arena.total, 0);
}

TEST(what_was_reserved_needs_no_other_block)
{
    /* 5001 bytes are no multiple of 64, and an allocation is rounded up to one. */
    cbx_arena arena = {0};
    CHECK_INT(cbx_arena_reserve(&arena, 5001), 0);
    const cbx_arena_block *only = arena.blocks;
    CHECK(cbx_arena_alloc(&arena, 5001, 1) != NULL);
    CHECK(arena.blocks == only);
    cbx_arena_free(&arena);
}

TEST(reserving_what_is_there_does_nothing)
{
    cbx_arena arena = {0};
    CHECK_INT(cbx_arena_reserve(&arena, 10000), 0);
    size_t total = arena.total;
    CHECK_INT(cbx_arena_reserve(&arena, 10000), 0);
    CHECK_INT((int64_t)arena.total, (int64_t)total);
    CHECK(cbx_arena_alloc(&arena, 1, 1) != NULL);
    CHECK_INT(cbx_arena_reserve(&arena, total - 64), 0);
    CHECK_INT((int64_t)arena.total, (int64_t)total);
    cbx_arena_free(&arena);
}

TEST(a_copied_text_is_another_text_with_the_same_letters)
{
    cbx_arena   arena = {0};
    char        text[] = "Weiß";
    const char *copy = cbx_arena_strdup(&arena, text), *empty = cbx_arena_strdup(&arena, "");
    text[0] = 'x';
    CHECK(copy && !strcmp(copy, "Weiß"));
    CHECK(empty && !*empty);
    /* 64 letters fill a unit of the arena: the end of the text needs another, which
     * is not clear by chance. */
    const char *letters = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    cbx_arena_reset(&arena);
    memset(CBX_NEW(&arena, char, 1024), 'x', 1024);
    cbx_arena_reset(&arena);
    copy = cbx_arena_strdup(&arena, letters);
    CHECK(copy && !strcmp(copy, letters));
    cbx_arena_free(&arena);
}

static cbx_status grow_and_reset(void *user)
{
    cbx_arena arena = {0};
    bool      ok = true;
    (void)user;
    for (size_t i = 1; i <= 6 && ok; i++)
        ok = cbx_arena_alloc(&arena, i * 3000, 1) && cbx_arena_strdup(&arena, "text") &&
             cbx_arena_zalloc(&arena, i, 1000);
    if (ok) { /* a reset that gets no memory leaves an arena that still works */
        cbx_arena_reset(&arena);
        ok = arena.blocks != NULL;
        CHECK(ok || cbx_arena_alloc(&arena, 1, 1));
    }
    cbx_arena_free(&arena);
    return ok ? CBX_OK : CBX_NO_MEMORY;
}

TEST(an_arena_survives_the_failure_of_any_allocation)
{
    test_each_allocation(grow_and_reset, NULL);
}
