/* SPDX-License-Identifier: Apache-2.0 */
/* used.h: searching without the features that no node has.
 *
 * A sparse graph may have many more features than are ever used: those take no room in a file.
 * One that is 0 everywhere, with bounds that leave it nothing else, adds nothing to any sum, and no
 * edit can change it; but a search holds whole rows. Where such features are most of many, it
 * runs on a graph and a model without them, and tells its edits in the data's own numbers. */
#ifndef CBX_USED_H
#define CBX_USED_H

#include "model.h"

typedef struct cbx_used {
    cbx_graph  graph; /* borrows all but its features */
    cbx_model *model;
    int32_t   *number; /* of each feature that is left, in the data */
    int32_t    left, all;
} cbx_used;

/* *out is NULL where there is nothing to gain. */
cbx_status cbx_used_find(const cbx_model *model, const cbx_graph *graph, cbx_arena *arena,
                         cbx_used **out, cbx_error *err);
void       cbx_used_free(cbx_used *used); /* what does not lie in the arena */

/* The values that are left, in memory of the arena; NULL: no memory, or `from` is NULL. */
float   *cbx_used_floats(const cbx_used *used, const float *from, cbx_arena *arena);
uint8_t *cbx_used_bytes(const cbx_used *used, const uint8_t *from, cbx_arena *arena);
int32_t *cbx_used_ints(const cbx_used *used, const int32_t *from, cbx_arena *arena);

/* Features of the data, of which a search has `here`. */
static inline int32_t cbx_used_all(const cbx_used *used, int32_t here)
{
    return used ? used->all : here;
}

/* What the data calls feature j of the search. */
static inline int32_t cbx_used_number(const cbx_used *used, int32_t j)
{
    return used ? used->number[j] : j;
}

#endif
