/* SPDX-License-Identifier: Apache-2.0 */
/* graph_json.h: model.json while it is read. graph_json.c finds inputs, outputs and what is needed;
 * node_json.c reads one node. */
#ifndef CBX_GRAPH_JSON_H
#define CBX_GRAPH_JSON_H

#include "pt2.h"

typedef struct cbx_graph_reader {
    cbx_builder               *b;
    const cbx_parts           *parts;
    const cbx_program_options *options;
    cbx_arena                 *scratch;
    const cbx_json           **node; /* of the file; as many as num_nodes */
    const cbx_json           **spec; /* input_specs; as many as num_specs */
    int64_t                    num_nodes, num_specs;
    int64_t                    at;      /* the node that is being looked at */
    cbx_name_map               made_by; /* name -> node, or num_nodes + spec */
    bool                      *needed;  /* of each of these */
    const cbx_json           **tensor;  /* tensor_values */
    cbx_name_map               tensors; /* name -> place there */
    cbx_name_map               value;   /* name -> value */
    cbx_numbers                weights, constants;
    cbx_error                 *err;
} cbx_graph_reader;

/* Text of a member; NULL: it is no text. */
const char *cbx_text_of(const cbx_json *object, const char *key);
/* The name in {"as_tensor": {"name": …}}, {"as_sym_int": {"as_name": …}} and the like; NULL: none.
 */
const char *cbx_name_of(const cbx_json *arg);
/* Calls `visit` with every name in an argument, also in lists. */
cbx_status cbx_each_name(cbx_graph_reader *r, const cbx_json *arg,
                         cbx_status (*visit)(cbx_graph_reader *r, const char *name));

/* A value for a tensor of this name, of the type and rank that the file gives it; -1: failed. */
int32_t cbx_graph_tensor(cbx_graph_reader *r, const char *name);

/* Reads node r->at, and builds it. */
cbx_status cbx_node_read(cbx_graph_reader *r);

#endif
