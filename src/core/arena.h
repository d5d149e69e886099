/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h: memory with one lifetime.
 *
 * Everything a graph, a model or one thread's work needs comes from an arena
 * and goes with it: allocation is a bump, freeing is one call. Pointers stay
 * valid until the arena is reset or freed. A zeroed struct is an empty arena. */
#ifndef CBX_ARENA_H
#define CBX_ARENA_H

#include <stddef.h>

#include "internal.h"

typedef struct cbx_arena_block cbx_arena_block;
typedef struct cbx_deferred    cbx_deferred;

typedef struct cbx_arena {
    cbx_arena_block *blocks;   /* newest first */
    size_t           total;    /* bytes held, for sizing the next block */
    cbx_deferred    *deferred; /* newest first */
} cbx_arena;

/* `count` objects of `size` bytes, 64-byte aligned, not cleared; NULL when
 * memory runs out or count * size overflows. Asking for 0 objects gives a
 * valid pointer. */
CBX_INTERNAL void *cbx_arena_alloc(cbx_arena *arena, size_t count, size_t size);

/* The same, cleared. */
CBX_INTERNAL void *cbx_arena_zalloc(cbx_arena *arena, size_t count, size_t size);

CBX_INTERNAL char *cbx_arena_strdup(cbx_arena *arena, const char *text);

/* For what lives as long as the arena's memory and is not memory of it: `done` gets `what` when the
 * arena is reset or freed, the newest first. -1: no memory, and it is done already. */
int cbx_arena_defer(cbx_arena *arena, void (*done)(void *what), void *what);

/* Forgets all allocations and keeps the memory, as one block, for the next round. */
CBX_INTERNAL void cbx_arena_reset(cbx_arena *arena);

CBX_INTERNAL void cbx_arena_free(cbx_arena *arena);

/* Makes room for later allocations of `bytes` in all: 0 on success. */
int cbx_arena_reserve(cbx_arena *arena, size_t bytes);

/* Typed: CBX_NEW(arena, float, n). */
#define CBX_NEW(arena, type, count) \
    ((type *)cbx_arena_alloc((arena), (size_t)(count), sizeof(type)))
#define CBX_NEW0(arena, type, count) \
    ((type *)cbx_arena_zalloc((arena), (size_t)(count), sizeof(type)))

#endif
