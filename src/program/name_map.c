/* SPDX-License-Identifier: Apache-2.0 */
/* name_map.c: open addressing, at most half full. */
#include "name_map.h"

#include <string.h>

#include "rng.h"

/* Where the name is, or where it would be. */
static cbx_name_slot *find(cbx_name_slot *slots, size_t room, const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    size_t at = (size_t)cbx_mix64(hash) & (room - 1);
    while (slots[at].name && strcmp(slots[at].name, name) != 0)
        at = (at + 1) & (room - 1);
    return &slots[at];
}

bool cbx_name_put(cbx_name_map *map, const char *name, int64_t number)
{
    if (2 * (map->count + 1) > map->room) {
        size_t         room = map->room ? 2 * map->room : 64;
        cbx_name_slot *slots = CBX_NEW0(map->arena, cbx_name_slot, room);
        if (!slots)
            return false;
        for (size_t i = 0; i < map->room; i++)
            if (map->slot[i].name)
                *find(slots, room, map->slot[i].name) = map->slot[i];
        map->slot = slots;
        map->room = room;
    }
    cbx_name_slot *slot = find(map->slot, map->room, name);
    map->count += slot->name == NULL;
    *slot = (cbx_name_slot){name, number};
    return true;
}

int64_t cbx_name_get(const cbx_name_map *map, const char *name)
{
    if (!map->room)
        return -1;
    const cbx_name_slot *slot = find(map->slot, map->room, name);
    return slot->name ? slot->number : -1;
}
