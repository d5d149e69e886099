/* SPDX-License-Identifier: Apache-2.0 */
/* ir.h: a program inside: values, and the nodes that give them, in an order in which each node
 * comes after what it reads. The reader builds it node by node; a node that computes what an
 * earlier one has computed is not built. */
#ifndef CBX_IR_H
#define CBX_IR_H

#include "op.h"
#include "program.h"

typedef struct cbx_value {
    const char *name; /* in the file */
    cbx_type    type;
    int32_t     rank;
    uint32_t    symbolic;        /* dimensions whose size depends on the graph, as bits */
    int64_t     size[CBX_RANKS]; /* of the others, as the file says; -1: not known */
    bool        number;          /* an integer rather than a tensor */
    bool        made;            /* by rewriting: the file knows nothing of its shape */
    int32_t     node;            /* that gives it; -1: an input or a constant */
    int32_t     input;           /* of the program; -1: none */
    cbx_array  *constant;        /* a weight, or what was computed of weights alone */
} cbx_value;

struct cbx_program {
    cbx_arena          arena;
    cbx_arena          folded; /* what was computed of weights alone */
    cbx_program_info   info;
    cbx_program_input *inputs;
    int32_t           *input_value; /* of each input */
    cbx_value         *values;
    int32_t            num_values;
    cbx_node          *nodes;
    int32_t            num_nodes;
    int32_t            weights; /* the value that holds the edge weights */
    int32_t            output;
    cbx_type           real; /* of weights */
};

struct cbx_builder {
    cbx_program *program;
    cbx_arena   *arena; /* the program's */
    cbx_arena    scratch;
    int32_t      room_values, room_nodes;
    int32_t     *seen; /* nodes by their hash */
    uint32_t     room_seen;
    int32_t      current; /* the node of the file that is being read, for messages */
};

/* A value like another one (NULL: blank); -1 when memory runs out. */
int32_t cbx_build_value(cbx_builder *b, const cbx_value *like);

/* Appends a node whose fields the caller filled in. If an earlier node computes the same, that
 * one's outputs take the place of this one's in `node->output` and nothing is appended. */
cbx_status cbx_build_node(cbx_builder *b, cbx_node *node, cbx_error *err);

/* A helper of `lower`: appends OP with these inputs, whose one output is like the value `like`, of
 * the type given. Integer, real and text arguments stand in `arg`, which may be NULL; its arrays
 * are the inputs in order. The new value, or -1 when memory runs out. */
int32_t cbx_build_call(cbx_builder *b, const char *op, int32_t num_inputs, const int32_t *input,
                       const cbx_arg *arg, int32_t like, cbx_type type);

/* The value as this type: itself, or a conversion. */
int32_t cbx_build_cast(cbx_builder *b, int32_t value, cbx_type type);

/* A tensor without dimensions that holds one number. */
int32_t cbx_build_scalar(cbx_builder *b, double number, cbx_type type);

/* An argument of one literal integer. */
cbx_arg cbx_build_int(cbx_builder *b, int64_t literal);

/* Gives the node as many outputs, the further ones being of this type: room for what an operation
 * keeps for its gradient. */
cbx_status cbx_build_outputs(cbx_builder *b, cbx_node *n, int32_t count, cbx_type type,
                             cbx_error *err);

/* Applies a node's typing, density and `lower`, and appends it. */
cbx_status cbx_build_lowered(cbx_builder *b, cbx_node *node, cbx_error *err);

/* Drops nodes whose outputs nobody reads. */
cbx_status cbx_build_prune(cbx_builder *b, cbx_error *err);

/* "FILE: node 7, 'NAME' (OPERATION): …" */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
cbx_status
cbx_build_fail(const cbx_builder *b, const cbx_node *node, cbx_error *err, const char *format, ...);
#ifdef CBX_ANALYZE /* see error.h */
#define cbx_build_fail(...) (cbx_build_fail(__VA_ARGS__), CBX_INVALID)
#endif

#endif
