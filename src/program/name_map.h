/* SPDX-License-Identifier: Apache-2.0 */
/* name_map.h: numbers by name, found in constant time however many there are. Names are borrowed.
 */
#ifndef CBX_NAME_MAP_H
#define CBX_NAME_MAP_H

#include "arena.h"
#include "combinex.h"

typedef struct cbx_name_slot {
    const char *name; /* NULL: free */
    int64_t     number;
} cbx_name_slot;

typedef struct cbx_name_map {
    cbx_arena     *arena;
    cbx_name_slot *slot;
    size_t         room, count; /* room: a power of two, or 0 */
} cbx_name_map;

/* Adds a name, or changes its number: false when memory runs out. */
bool cbx_name_put(cbx_name_map *map, const char *name, int64_t number);
/* -1: there is none. */
int64_t cbx_name_get(const cbx_name_map *map, const char *name);

#endif
