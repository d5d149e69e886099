/* SPDX-License-Identifier: Apache-2.0 */
/* csv.h: what csv.c and csv_features.c share. */
#ifndef CBX_CSV_H
#define CBX_CSV_H

#include "names.h"
#include "table.h"

enum { CBX_CSV_EDGES, CBX_CSV_FEATURES, CBX_CSV_LABELS, CBX_CSV_ROLES };

typedef struct cbx_csv {
    cbx_reading *r;
    const char  *files[CBX_CSV_ROLES];
    cbx_names    nodes, classes;
    bool         nodes_known; /* a table has named them all */
} cbx_csv;

/* What columns of special meaning may be called. */
extern const char *const cbx_csv_id_words[], *const cbx_csv_label_words[],
                                                 *const cbx_csv_split_words[];

/* Fills nodes, features, and labels and splits where the table has them. */
cbx_status cbx_csv_features(cbx_csv *c, const char *name);

/* The column of labels: the one that the options name, which must be there; else one that is called
 * so; -1: none. */
cbx_status cbx_csv_label_column(cbx_csv *c, const cbx_table *table, int *column);

/* The label and split (columns, or -1) of the table's current row. */
cbx_status cbx_csv_label(cbx_csv *c, cbx_table *table, int64_t node, int label, int split);

#endif
