/* SPDX-License-Identifier: Apache-2.0 */
/* node_map.c: open addressing, linear probing, at most half full. */
#include "node_map.h"

#include <stdlib.h>

#include "rng.h"

static uint32_t place(const cbx_node_map *map, int32_t node)
{
    uint32_t at = (uint32_t)cbx_mix64((uint64_t)(uint32_t)node) & (map->size - 1);
    while (map->table[at] && map->nodes[map->table[at] - 1] != node)
        at = (at + 1) & (map->size - 1);
    return at;
}

static int grow(cbx_node_map *map)
{
    uint32_t size = map->size ? map->size * 2 : 64;
    if (size == 0) /* 2^31 nodes need a table of 2^32: not in this life */
        return -1;
    int32_t *table = calloc(size, sizeof *table);
    int32_t *nodes = realloc(map->nodes, size / 2 * sizeof *nodes);
    if (nodes)
        map->nodes = nodes;
    if (!table || !nodes) {
        free(table);
        return -1;
    }
    free(map->table);
    map->table = table;
    map->size = size;
    for (int32_t i = 0; i < map->count; i++)
        table[place(map, nodes[i])] = i + 1;
    return 0;
}

int32_t cbx_node_map_add(cbx_node_map *map, int32_t node)
{
    if ((uint32_t)map->count >= map->size / 2 && grow(map))
        return -1;
    uint32_t at = place(map, node);
    if (!map->table[at]) {
        map->nodes[map->count++] = node;
        map->table[at] = map->count;
    }
    return map->table[at] - 1;
}

int32_t cbx_node_map_find(const cbx_node_map *map, int32_t node)
{
    return map->size ? map->table[place(map, node)] - 1 : -1;
}

void cbx_node_map_free(cbx_node_map *map)
{
    free(map->nodes);
    free(map->table);
    *map = (cbx_node_map){0};
}
