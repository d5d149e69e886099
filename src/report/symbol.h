/* SPDX-License-Identifier: Apache-2.0 */
/* symbol.h: what is written into nodes: of molecules the elements of their atoms. */
#ifndef CBX_SYMBOL_H
#define CBX_SYMBOL_H

#include "arena.h"
#include "combinex.h"

/* Of data with many graphs, whose nodes have no class to tell them apart: the first one-hot group
 * whose features all have names that look like an element's ("C", "atom=Cl"). (*symbols)[j] is that
 * of feature j, or NULL; *symbols is NULL where there is no such group. They are the graph's texts,
 * or the arena's. */
cbx_status cbx_symbols_find(const cbx_graph *graph, cbx_arena *arena, const char *const **symbols,
                            cbx_error *err);

/* The node's own, or NULL. */
const char *cbx_symbol_of(const cbx_graph *graph, const char *const *symbols, int32_t node);

#endif
