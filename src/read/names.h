/* SPDX-License-Identifier: Apache-2.0 */
/* names.h: texts numbered in the order in which they first come. The numbers depend on nothing
 * else; where a text lies in the table depends on a secret, so that no file can be made whose
 * texts are all in one place. */
#ifndef CBX_NAMES_H
#define CBX_NAMES_H

#include "arena.h"
#include "vectors.h"

typedef struct cbx_names {
    const char **at; /* count texts */
    int64_t      count;
    size_t       room;
    int64_t     *slots; /* open addressing; number + 1, 0: free */
    size_t       mask;
    uint64_t     secret[2];
} cbx_names;

/* -1: not there. */
int64_t cbx_names_find(const cbx_names *names, const char *text);
/* Its number, new or not; -1 when memory runs out. */
int64_t cbx_names_add(cbx_names *names, const char *text);
void    cbx_names_free(cbx_names *names);

/* The texts in alphabetical order (numbers by value): order[k] is the number of the
 * k-th. `order` holds count. False when memory runs out. */
bool cbx_names_sort(const cbx_names *names, int64_t *order);

/* Whether the i-th text is "i" for every i: then they say nothing. */
bool cbx_names_are_numbers(const cbx_names *names);

/* Copies of all, in the arena; NULL when memory runs out. */
const char **cbx_names_copy(const cbx_names *names, const int64_t *order, cbx_arena *arena);

#endif
