/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.h: the built-in data sets, and what they share.
 *
 * Each set is a cbx_builtin in the file that makes it. Generators draw integers
 * and 53-bit uniforms only, so the same options give the same bits on every
 * machine, and keep to O(nodes + edges) time and memory. */
#ifndef CBX_BUILTIN_H
#define CBX_BUILTIN_H

#include "arena.h"
#include "combinex/kit.h"
#include "generate_options.h"
#include "graph.h"
#include "rng.h"

typedef struct cbx_builtin {
    const char *name;
    const char *about; /* one line */
    /* The options that say something about it, NULL-terminated. A seed is never wrong. */
    const char *const *options;
    /* Fills g->data from g's arena. Naming, checking and indexing come after;
     * the options have been checked against their table. */
    cbx_status (*make)(cbx_graph *g, const cbx_generate_options *o, cbx_error *err);
} cbx_builtin;

extern const cbx_builtin cbx_builtin_karate;
extern const cbx_builtin cbx_builtin_ba_shapes, cbx_builtin_tree_cycles, cbx_builtin_tree_grid;
extern const cbx_builtin cbx_builtin_erdos_renyi, cbx_builtin_barabasi_albert;

/* Streams of random numbers, so that asking for more features leaves the edges
 * as they were. */
enum { CBX_DRAW_EDGES = 0x6275, CBX_DRAW_KINDS, CBX_DRAW_FEATURES };

static inline cbx_rng cbx_builtin_rng(const cbx_generate_options *o, int draw)
{
    return cbx_rng_stream((uint64_t)o->seed, (uint64_t)draw, 0, 0);
}

/* An undirected edge, a < b. */
typedef struct cbx_pair {
    int32_t a, b;
} cbx_pair;

/* Makes `count` distinct pairs the graph's edges, both ways, sorted by source and
 * then target. g->data.num_nodes must be set. */
cbx_status cbx_builtin_connect(cbx_graph *g, const cbx_pair *pairs, int64_t count, cbx_error *err);

/* A set of pairs whose size is bounded from the start. */
typedef struct cbx_pair_set {
    cbx_pair *slots; /* open addressing; 0, 0 is an empty slot */
    uint64_t  mask;
    int64_t   count;
} cbx_pair_set;

/* False when memory runs out. */
bool cbx_pair_set_init(cbx_pair_set *set, cbx_arena *arena, int64_t capacity);

/* Adds a -- b, a != b in either order; false if it was there already. */
bool cbx_pair_set_add(cbx_pair_set *set, int32_t a, int32_t b);

/* Moves the pairs together and returns them; the set is a set no more. */
const cbx_pair *cbx_pair_set_list(cbx_pair_set *set);

/* Preferential attachment: nodes `links` … n - 1 come one by one, each with
 * `links` edges to different earlier nodes, likelier the more edges those have.
 * Writes links * (n - links) pairs. `seen` holds n zeros. */
void cbx_grow_preferential(cbx_rng *rng, int32_t n, int32_t links, int32_t *seen, cbx_pair *pairs);

#endif
