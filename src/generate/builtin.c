/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.c: the list of built-in data sets, their options, and the way from a
 * list of undirected edges to a graph. */
#include "builtin.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

static const cbx_builtin *const builtins[] = {
    &cbx_builtin_karate,    &cbx_builtin_ba_shapes,   &cbx_builtin_tree_cycles,
    &cbx_builtin_tree_grid, &cbx_builtin_erdos_renyi, &cbx_builtin_barabasi_albert,
};
enum { NUM_BUILTINS = sizeof builtins / sizeof *builtins };

/* ---- options */

#define AT(field) offsetof(cbx_generate_options, field)
static const cbx_option generate_options[] = {
    {"nodes", CBX_OPTION_INT, AT(nodes), "1000", 2, 2e9 - 1, NULL,
     "erdos-renyi, barabasi-albert: number of nodes"},
    {"degree", CBX_OPTION_REAL, AT(degree), "10", 0, 2e9, NULL,
     "erdos-renyi, barabasi-albert: mean number of neighbours"},
    {"features", CBX_OPTION_INT, AT(features), "0", 0, 1e6, NULL,
     "number of features; 0: 16 for erdos-renyi and barabasi-albert, else 10"},
    {"classes", CBX_OPTION_INT, AT(classes), "4", 2, 1e6, NULL,
     "erdos-renyi, barabasi-albert: number of classes"},
    /* so many grids still have 32-bit node ids */
    {"motifs", CBX_OPTION_INT, AT(motifs), "0", 0, 1e8, NULL,
     "ba-shapes, tree-cycles, tree-grid: houses, cycles or grids; 0: as published, 80, 60, 80"},
    {"seed", CBX_OPTION_INT, AT(seed), "0", 0, 9007199254740992.0, NULL,
     "of everything drawn at random"},
};
#undef AT

static const cbx_option_table generate_table =
    CBX_OPTION_TABLE("Generator", generate_options, cbx_generate_options);

const cbx_option_table *cbx_generate_table(void)
{
    return &generate_table;
}

/* ---- looking up and making */

const char *cbx_builtin_name(size_t i)
{
    return i < NUM_BUILTINS ? builtins[i]->name : NULL;
}

static const cbx_builtin *find(const char *name)
{
    for (int i = 0; i < NUM_BUILTINS; i++)
        if (!strcmp(builtins[i]->name, name))
            return builtins[i];
    return NULL;
}

const char *cbx_builtin_about(const char *name)
{
    const cbx_builtin *b = find(name);
    return b ? b->about : NULL;
}

static cbx_status unknown(const char *name, cbx_error *err)
{
    const char *names[NUM_BUILTINS + 1] = {NULL};
    char        all[256] = "";
    size_t      at = 0;
    for (int i = 0; i < NUM_BUILTINS; i++) {
        names[i] = builtins[i]->name;
        int wrote = snprintf(all + at, sizeof all - at, "%s%s", i ? ", " : "", names[i]);
        at += wrote > 0 && (size_t)wrote < sizeof all - at ? (size_t)wrote : 0;
    }
    const char *near = cbx_nearest_of(name, names);
    if (near)
        return cbx_fail(err, CBX_INVALID,
                        "no built-in data '%.64s' (did you mean '%s'?); there are %s", name, near,
                        all);
    return cbx_fail(err, CBX_INVALID, "no built-in data '%.64s'; there are %s", name, all);
}

static bool takes(const cbx_builtin *b, const char *option)
{
    bool found = !strcmp(option, "seed");
    for (const char *const *own = b->options; *own && !found; own++)
        found = !strcmp(*own, option);
    return found;
}

/* What was asked for and would not happen is a mistake. */
static cbx_status check_options(const cbx_builtin *b, const cbx_generate_options *options,
                                cbx_error *err)
{
    cbx_status status = cbx_fields_check(&generate_table, options, err);
    for (size_t i = 0; i < generate_table.count && !status; i++) {
        const cbx_option *o = &generate_table.options[i];
        if (!takes(b, o->name) && !cbx_field_is_default(o, options))
            status = cbx_fail_option(err, o->name, "%s has nothing of the kind to choose", b->name);
    }
    return status;
}

cbx_status cbx_graph_builtin_with(const char *name, const cbx_generate_options *options,
                                  cbx_graph **out, cbx_error *err)
{
    *out = NULL;
    const cbx_builtin *b = find(name);
    if (!b)
        return unknown(name, err);
    cbx_generate_options fallback;
    if (!options) {
        cbx_fields_default(&generate_table, &fallback);
        options = &fallback;
    }
    cbx_status status = check_options(b, options, err);
    if (status)
        return status;
    cbx_graph *g = cbx_graph_empty(err);
    if (!g)
        return CBX_NO_MEMORY;
    g->data.task = CBX_NODE;
    g->data.name = b->name;
    status = b->make(g, options, err);
    if (!status)
        status = cbx_graph_index(g, err);
    if (status) {
        cbx_graph_free(g);
        return status;
    }
    *out = g;
    return CBX_OK;
}

cbx_status cbx_graph_builtin(const char *name, const cbx_options *options, cbx_graph **out,
                             cbx_error *err)
{
    const void *fields;
    *out = NULL;
    cbx_status status = cbx_options_fields(options, &generate_table, &fields, err);
    return status ? status : cbx_graph_builtin_with(name, fields, out, err);
}

/* ---- edges */

/* Groups each pair's ends by the other end: the neighbours of every node, in no
 * order. offset[i + 1] arrives as the start of node i and leaves as its end. */
static void scatter(const cbx_pair *pairs, int64_t count, int64_t *offset, int32_t *neighbour)
{
    for (int64_t k = 0; k < count; k++) {
        neighbour[offset[pairs[k].a + 1]++] = pairs[k].b;
        neighbour[offset[pairs[k].b + 1]++] = pairs[k].a;
    }
}

cbx_status cbx_builtin_connect(cbx_graph *g, const cbx_pair *pairs, int64_t count, cbx_error *err)
{
    int32_t   n = g->data.num_nodes;
    cbx_arena scratch = {0};
    int64_t  *source = CBX_NEW(&g->arena, int64_t, 2 * count);
    int64_t  *target = CBX_NEW(&g->arena, int64_t, 2 * count);
    int64_t  *offset = CBX_NEW0(&scratch, int64_t, (size_t)n + 2);
    int64_t  *next = CBX_NEW(&scratch, int64_t, n);
    int32_t  *neighbour = CBX_NEW(&scratch, int32_t, 2 * count);
    if (!source || !target || !offset || !next || !neighbour) {
        cbx_arena_free(&scratch);
        return cbx_fail_memory(err);
    }
    for (int64_t k = 0; k < count; k++) {
        offset[pairs[k].a + 2]++;
        offset[pairs[k].b + 2]++;
    }
    for (int32_t i = 1; i < n; i++)
        offset[i + 1] += offset[i];
    memcpy(next, offset + 1, (size_t)n * sizeof *next);
    scatter(pairs, count, offset, neighbour);
    /* Handing every node to its neighbours, in the order of nodes, leaves each
     * neighbour's list sorted: a sort in linear time. */
    for (int32_t i = 0; i < n; i++)
        for (int64_t k = offset[i]; k < offset[i + 1]; k++) {
            source[k] = i;
            target[next[neighbour[k]]++] = i;
        }
    g->data.num_edges = 2 * count;
    g->data.edge_source = source;
    g->data.edge_target = target;
    cbx_arena_free(&scratch);
    return CBX_OK;
}

bool cbx_pair_set_init(cbx_pair_set *set, cbx_arena *arena, int64_t capacity)
{
    uint64_t size = 8;
    while (size < (uint64_t)capacity + (uint64_t)capacity / 3) /* full to three quarters at most */
        size *= 2;
    *set = (cbx_pair_set){CBX_NEW0(arena, cbx_pair, size), size - 1, 0};
    return set->slots != NULL;
}

bool cbx_pair_set_add(cbx_pair_set *set, int32_t a, int32_t b)
{
    cbx_pair pair = a < b ? (cbx_pair){a, b} : (cbx_pair){b, a};
    uint64_t at = cbx_mix64((uint64_t)pair.a << 32 | (uint64_t)pair.b) & set->mask;
    for (; set->slots[at].b; at = (at + 1) & set->mask) /* b > a >= 0: 0 is no b */
        if (set->slots[at].a == pair.a && set->slots[at].b == pair.b)
            return false;
    set->slots[at] = pair;
    set->count++;
    return true;
}

const cbx_pair *cbx_pair_set_list(cbx_pair_set *set)
{
    uint64_t to = 0;
    for (uint64_t from = 0; from <= set->mask; from++)
        if (set->slots[from].b)
            set->slots[to++] = set->slots[from];
    return set->slots;
}
