/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c: blocks that double in size, so n allocations cost O(log n) mallocs. */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN ((size_t)64)
#define FIRST_BLOCK ((size_t)4096)

struct cbx_arena_block {
    cbx_arena_block *next;
    size_t           size; /* usable bytes */
    size_t           used;
    void            *memory; /* what malloc gave, before alignment */
    unsigned char   *base;   /* aligned */
};

struct cbx_deferred {
    cbx_deferred *next;
    void (*done)(void *what);
    void *what;
};

int cbx_arena_defer(cbx_arena *arena, void (*done)(void *what), void *what)
{
    cbx_deferred *d = cbx_arena_alloc(arena, 1, sizeof *d);
    if (!d) {
        done(what);
        return -1;
    }
    *d = (cbx_deferred){arena->deferred, done, what};
    arena->deferred = d;
    return 0;
}

static void finish_deferred(cbx_arena *arena)
{
    while (arena->deferred) {
        cbx_deferred *d = arena->deferred;
        arena->deferred = d->next;
        d->done(d->what);
    }
}

static cbx_arena_block *block_new(size_t size)
{
    cbx_arena_block *block = malloc(sizeof *block);
    if (!block)
        return NULL;
    block->memory = malloc(size + ALIGN);
    if (!block->memory) {
        free(block);
        return NULL;
    }
    size_t beyond = (size_t)((uintptr_t)block->memory % ALIGN);
    block->base = (unsigned char *)block->memory + (beyond ? ALIGN - beyond : 0);
    block->size = size;
    block->used = 0;
    block->next = NULL;
    return block;
}

int cbx_arena_reserve(cbx_arena *arena, size_t bytes)
{
    cbx_arena_block *top = arena->blocks;
    if (bytes > SIZE_MAX - 2 * ALIGN)
        return -1;
    bytes = (bytes + ALIGN - 1) & ~(ALIGN - 1); /* as allocations are rounded */
    if (top && top->size - top->used >= bytes)
        return 0;
    cbx_arena_block *block = block_new(bytes > FIRST_BLOCK ? bytes : FIRST_BLOCK);
    if (!block)
        return -1;
    block->next = top;
    arena->blocks = block;
    arena->total += block->size;
    return 0;
}

void *cbx_arena_alloc(cbx_arena *arena, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 2) / size)
        return NULL;
    size_t bytes = count * size;
    if (bytes > SIZE_MAX / 2 - ALIGN)
        return NULL;
    bytes = (bytes + ALIGN - 1) & ~(ALIGN - 1);
    if (bytes == 0)
        bytes = ALIGN;
    cbx_arena_block *top = arena->blocks;
    if (!top || top->size - top->used < bytes) {
        /* At least as much again as is held; but a large array gets just what it
         * needs, so that a graph is not held with as much slack again. */
        size_t want = arena->total < ((size_t)1 << 20) ? arena->total : 0;
        if (cbx_arena_reserve(arena, bytes > want ? bytes : want))
            return NULL;
        top = arena->blocks;
    }
    void *at = top->base + top->used;
    top->used += bytes;
    return at;
}

void *cbx_arena_zalloc(cbx_arena *arena, size_t count, size_t size)
{
    void *at = cbx_arena_alloc(arena, count, size);
    if (at)
        memset(at, 0, count * size);
    return at;
}

char *cbx_arena_strdup(cbx_arena *arena, const char *text)
{
    size_t length = strlen(text) + 1;
    char  *copy = cbx_arena_alloc(arena, length, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

void cbx_arena_reset(cbx_arena *arena)
{
    cbx_arena_block *top = arena->blocks;
    finish_deferred(arena);
    if (top && !top->next) {
        top->used = 0;
        return;
    }
    size_t total = arena->total;
    cbx_arena_free(arena);
    if (total) /* a failure here shows at the next allocation */
        (void)cbx_arena_reserve(arena, total);
}

void cbx_arena_free(cbx_arena *arena)
{
    finish_deferred(arena);
    for (cbx_arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block->memory);
        free(block);
    }
    arena->blocks = NULL;
    arena->total = 0;
}
