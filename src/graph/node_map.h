/* SPDX-License-Identifier: Apache-2.0 */
/* node_map.h: graph ids of a view's nodes, numbered in order of arrival.
 *
 * A hash table, so that a small neighbourhood of a huge graph costs what the
 * neighbourhood costs. A zeroed struct is an empty map. */
#ifndef CBX_NODE_MAP_H
#define CBX_NODE_MAP_H

#include <stdint.h>

typedef struct cbx_node_map {
    int32_t *nodes; /* view -> graph */
    int32_t  count;
    int32_t *table; /* view id + 1 at the hash of its graph id, 0: free */
    uint32_t size;  /* of table, a power of two */
} cbx_node_map;

/* The view id of `node`, new or old; -1 when memory runs out. */
int32_t cbx_node_map_add(cbx_node_map *map, int32_t node);

/* The view id of `node`, or -1. */
int32_t cbx_node_map_find(const cbx_node_map *map, int32_t node);

void cbx_node_map_free(cbx_node_map *map);

#endif
