/* SPDX-License-Identifier: Apache-2.0 */
/* index.h: what gathers and scatters share. */
#ifndef CBX_INDEX_H
#define CBX_INDEX_H

#include "ir.h"

/* A tensor as outer x rows x inner elements, and an index that names rows. */
typedef struct cbx_rows {
    int32_t        place; /* of the index among the inputs */
    int64_t        outer, inner;
    int64_t        rows;    /* of the tensor that is indexed */
    int64_t        entries; /* of the index */
    int64_t        step;    /* of the index */
    bool           wraps;   /* a negative index counts from the end */
    const int64_t *index;
} cbx_rows;

/* Input `index` indexes dimension `dim` of input `self`, or, where `each` is set, every element of
 * it. */
cbx_status cbx_rows_shape(const cbx_call *c, cbx_rows *rows, int32_t self, int32_t index,
                          int32_t dim, bool each, cbx_error *err);
/* Does an index that cbx.linear made of one of this shape name every element of `self`, or rows? */
bool cbx_rows_are_each(const cbx_array *self, const cbx_array *index, const cbx_array *shape,
                       int32_t dim);
/* Before a run: where the index is, and whether all its entries name rows. */
cbx_status cbx_rows_open(const cbx_call *c, cbx_rows *rows, cbx_error *err);

static inline int64_t cbx_rows_at(const cbx_rows *r, int64_t entry)
{
    int64_t row = r->index[entry * r->step];
    return row < 0 ? row + r->rows : row;
}

/* Rows that a gather takes, times a factor or none (-1); values. */
typedef struct cbx_gathered {
    int32_t rows, sources, factor;
    cbx_arg wraps;
} cbx_gathered;

/* Is `src`, which a sum along `dim` brings to `self`, such a thing? `shape` is an index of its own
 * for each element, or -1. */
bool cbx_fuse_find(const cbx_program *p, int32_t self, int32_t src, int32_t shape,
                   const cbx_arg *dim, cbx_gathered *out);

/* Rewriting: see lower_index.c. */
cbx_status cbx_lower_index(cbx_builder *b, cbx_node *n, cbx_error *err);
cbx_status cbx_lower_index_put(cbx_builder *b, cbx_node *n, cbx_error *err);
cbx_status cbx_lower_gather(cbx_builder *b, cbx_node *n, cbx_error *err);
cbx_status cbx_lower_scatter(cbx_builder *b, cbx_node *n, cbx_error *err);
cbx_status cbx_lower_index_add(cbx_builder *b, cbx_node *n, cbx_error *err);
cbx_status cbx_lower_nonzero(cbx_builder *b, cbx_node *n, cbx_error *err);

#endif
