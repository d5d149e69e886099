/* SPDX-License-Identifier: Apache-2.0 */
/* graph_file.h: graph files before they are believed. */
#ifndef CBX_GRAPH_FILE_H
#define CBX_GRAPH_FILE_H

#include "combinex.h"
#include "internal.h"

/* The arrays of a graph file, with types and shapes checked but no values: only for
 * finding out what is wrong with them. cbx_graph_load does the rest. */
CBX_INTERNAL cbx_status cbx_graph_file_map(const char *path, cbx_graph **out, cbx_error *err);

/* cbx_graph_load, but in memory: the file may change afterwards. */
CBX_INTERNAL cbx_status cbx_graph_file_copy(const char *path, cbx_graph **out, cbx_error *err);

#endif
