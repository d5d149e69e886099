/* SPDX-License-Identifier: Apache-2.0 */
/* name_table.h: names that a page shows, by the number of what they name, each once. */
#ifndef CBX_NAME_TABLE_H
#define CBX_NAME_TABLE_H

#include "json_writer.h"

/* Start with a zeroed struct, or with {.json.ascii = true}. */
typedef struct cbx_name_table {
    cbx_json_writer json; /* {"NUMBER": "NAME", … but for the bracket at the end */
    int32_t        *met;  /* numbers that are in it, in a hash table; -1: none */
    size_t          count, room;
} cbx_name_table;

/* Unless the number has one already. Long names are cut. */
void cbx_name_table_add(cbx_name_table *table, int32_t number, const char *name);

/* All of them as a member, in the order in which they were added. */
void cbx_name_table_put(cbx_json_writer *w, const char *key, cbx_name_table *table);

void cbx_name_table_free(cbx_name_table *table);

#endif
