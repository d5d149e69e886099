/* SPDX-License-Identifier: Apache-2.0 */
/* edge_columns.h: what the data has of its edges' attributes, column by column. */
#ifndef CBX_EDGE_COLUMNS_H
#define CBX_EDGE_COLUMNS_H

#include "graph.h"

typedef struct cbx_edge_columns {
    int32_t  count;
    bool     one_hot; /* every edge has one that is 1 and the others 0: they tell kinds apart */
    float   *lo, *hi; /* the least and the largest value */
    uint8_t *whole;   /* all are whole numbers */
} cbx_edge_columns;

/* How many values of a whole column are few enough to try them all. */
enum { CBX_EDGE_VALUES = 32 };

/* NULL: no memory. Only of data that has attributes. */
const cbx_edge_columns *cbx_edge_columns_find(const cbx_graph_data *data, cbx_arena *arena);

/* How many values a column can take that are worth trying: all where they are few, else the two
 * ends; and the k-th of them. `all`: are they all? */
int64_t cbx_edge_column_values(const cbx_edge_columns *columns, int32_t column, bool *all);
float   cbx_edge_column_value(const cbx_edge_columns *columns, int32_t column, int64_t k);

/* Can the column have this value? One of a one-hot row can only be 1. */
bool cbx_edge_column_takes(const cbx_edge_columns *columns, int32_t column, float value);

/* The one of a row that is 1 where the others are 0; -1: the row is not one-hot. */
int32_t cbx_edge_row_kind(const float *row, int32_t count);

/* Of an edit of edges, its column; and what the first edge that it means has there, NaN: none. */
static inline int32_t cbx_edit_column(const cbx_edit *e)
{
    return (e->attribute < 0 ? -e->attribute : e->attribute) - 1;
}
CBX_INTERNAL float cbx_edit_attribute_before(const cbx_edit *e, const cbx_graph_data *data);

#endif
