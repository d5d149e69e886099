/* SPDX-License-Identifier: Apache-2.0 */
/* column_values.h: the values that features have in some rows of the data, and by how much they
 * differ. */
#ifndef CBX_COLUMN_VALUES_H
#define CBX_COLUMN_VALUES_H

#include "graph.h"

/* One row of the data, dense or sparse: its entries from `begin` to `end`. */
typedef struct cbx_row_entries {
    const cbx_graph_data *d;
    int64_t               begin, end;
} cbx_row_entries;

static inline cbx_row_entries cbx_row_entries_of(const cbx_graph_data *d, int64_t i)
{
    if (d->x)
        return (cbx_row_entries){d, i * d->num_features, (i + 1) * d->num_features};
    return (cbx_row_entries){d, d->x_indptr[i], d->x_indptr[i + 1]};
}

static inline int32_t cbx_row_feature(const cbx_row_entries *r, int64_t k)
{
    return r->d->x ? (int32_t)(k - r->begin) : r->d->x_indices[k];
}

static inline float cbx_row_value(const cbx_row_entries *r, int64_t k)
{
    return r->d->x ? r->d->x[k] : r->d->x_values[k];
}

/* All of the row, zeros too: num_features values. */
void cbx_row_expand(const cbx_graph_data *d, int32_t node, float *row);

typedef struct cbx_column_values {
    int64_t  rows;   /* that were looked at, evenly spaced */
    int64_t *begin;  /* by feature, and one more: where its values begin */
    float   *values; /* those other than 0, sorted */
} cbx_column_values;

/* Of at most so many rows, and of the features that are wanted. */
cbx_status cbx_column_values_take(const cbx_graph_data *d, const uint8_t *wanted, int64_t most_rows,
                                  cbx_arena *arena, cbx_column_values *out, cbx_error *err);

/* The feature's median absolute deviation; the standard deviation where that is 0; 1 where both
 * are. */
cbx_status cbx_column_values_scale(const cbx_column_values *values, int32_t feature,
                                   cbx_arena *arena, float *scale, cbx_error *err);

#endif
