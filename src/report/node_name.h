/* SPDX-License-Identifier: Apache-2.0 */
/* node_name.h: what people see of a node. */
#ifndef CBX_NODE_NAME_H
#define CBX_NODE_NAME_H

#include "combinex.h"

typedef char cbx_node_number[16];

/* Its name in the data, or its number: within its graph, where there are many. `graph` may be NULL.
 * Returns a name of the graph or `buffer`. */
const char *cbx_node_name(cbx_node_number buffer, const cbx_graph *graph, int32_t node);

#endif
