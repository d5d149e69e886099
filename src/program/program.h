/* SPDX-License-Identifier: Apache-2.0 */
/* program.h: any model exported by torch.export, read, run and differentiated.
 *
 * A *program* is what a .pt2 file holds: a list of tensor operations and their weights. It is
 * read once, checked, and shared by any number of threads.
 *
 * A *runner* is a program made ready for one graph: sizes are known, what depends on the graph
 * alone is computed, memory is laid out. Then a search calls it as often as it likes with other
 * features and other edge weights, and nothing is allocated.
 *
 * Edge weights of a model that has none: integers copied out of an edge list carry the number
 * of their edge, its *tag*. A scatter over tagged integers multiplies each summand by its edge's
 * weight and leaves out weight 0. So w = 1 is the model, w_e = 0 is the model on the graph
 * without e, and between them there is a gradient. Edges that the model adds itself, such as
 * self-loops, have weight 1. */
#ifndef CBX_PROGRAM_H
#define CBX_PROGRAM_H

#include "array.h"
#include "combinex.h"

typedef struct cbx_program cbx_program;
typedef struct cbx_runner  cbx_runner;

/* What an input of a program means. */
typedef enum cbx_role {
    CBX_ROLE_OTHER,
    CBX_ROLE_X,           /* real, a row per node */
    CBX_ROLE_EDGE_INDEX,  /* integer, 2 x edges: sources, targets */
    CBX_ROLE_BATCH,       /* integer, the graph of each node */
    CBX_ROLE_EDGE_ATTR,   /* a row, or one number, per edge */
    CBX_ROLE_EDGE_WEIGHT, /* real, one number per edge */
    CBX_ROLES
} cbx_role;

const char *cbx_role_name(cbx_role role);

typedef struct cbx_program_input {
    const char *name;
    cbx_role    role;
    cbx_type    type;
    int32_t     rank;
    int64_t     size[CBX_RANKS];   /* -1: any */
    const char *symbol[CBX_RANKS]; /* of an any size: equal texts are equal sizes */
} cbx_program_input;

/* Further than any graph: the output of a node depends on the whole graph. */
enum { CBX_WHOLE_GRAPH = INT32_MAX };

typedef struct cbx_program_info {
    const char              *path;
    int32_t                  num_inputs;
    const cbx_program_input *inputs;
    const char              *output; /* its name in the file */
    cbx_type                 output_type;
    int32_t                  output_rank;
    int64_t                  output_size[CBX_RANKS]; /* -1: depends on the graph */
    /* The output of node v depends on the features of nodes within hops_x steps, and on edges
     * that touch a node within hops_edges steps; -1: on none. */
    int32_t hops_x, hops_edges;
    int32_t num_operations; /* after simplification */
} cbx_program_info;

typedef struct cbx_program_options {
    /* Which input is which where its name does not tell: "x=features,edge_index=links", each a
     * role's name and an input's. NULL: all by name and shape. */
    const char *roles;
    int32_t     output;    /* which of several outputs; 0: the first */
    bool        unchecked; /* do not compare a removal with w = 0 on a made-up graph */
} cbx_program_options;

/* Reads, simplifies and checks; options may be NULL. Takes time and memory in proportion to
 * the file. A program whose output does not follow edge weights of 0 as it follows the removal of
 * these edges is refused. */
cbx_status cbx_program_load(const char *path, const cbx_program_options *options, cbx_program **out,
                            cbx_error *err);
void       cbx_program_free(cbx_program *program);

const cbx_program_info *cbx_program_describe(const cbx_program *program);

typedef enum cbx_activation {
    CBX_ACTIVATION_NONE,
    CBX_ACTIVATION_SIGMOID,
    CBX_ACTIVATION_SOFTMAX /* or its logarithm */
} cbx_activation;

/* Takes off what the program does to its scores last, and tells what it was. Before any runner is
 * made. */
cbx_activation cbx_program_strip(cbx_program *program);

/* The first input of a role; -1: none. */
int32_t cbx_program_find(const cbx_program *program, cbx_role role);

/* ---- running */

/* One input's values. They are copied, and may go when the plan is made. */
typedef struct cbx_runner_input {
    const void *data; /* contiguous rows of the input's type */
    int64_t     size[CBX_RANKS];
    bool        live;     /* will change from run to run: see cbx_runner_values */
    bool        gradient; /* its gradient is wanted (live, real) */
    bool        weighted; /* an integer input whose columns have weights, such as an edge list */
} cbx_runner_input;

cbx_status cbx_runner_new(const cbx_program *program, cbx_runner **out, cbx_error *err);
void       cbx_runner_free(cbx_runner *runner);

/* Makes ready for a graph: one entry per input of the program, in its order. `gradient`: backward
 * will be called. Weights start as 1. A runner can be planned again and again and keeps its
 * memory. `most` bounds the bytes taken and the elements that a run goes through; 0: no bound. */
typedef struct cbx_runner_options {
    bool   gradient;
    size_t most;
} cbx_runner_options;

cbx_status cbx_runner_plan(cbx_runner *runner, const cbx_runner_input *inputs,
                           const cbx_runner_options *options, cbx_error *err);

/* Where a live input's values are written before a run, and the weights of a weighted one:
 * numbers of the type of cbx_runner_real, one per column. */
void    *cbx_runner_values(cbx_runner *runner, int32_t input);
void    *cbx_runner_weights(cbx_runner *runner, int32_t input);
cbx_type cbx_runner_real(const cbx_runner *runner);

/* Computes the output of the values and weights that are there. Allocates nothing. Fails where
 * an index that the program computed from live values is out of range. */
cbx_status       cbx_runner_forward(cbx_runner *runner, cbx_error *err);
const cbx_array *cbx_runner_output(const cbx_runner *runner); /* contiguous */

/* Gradients of sum(output * direction) at the last forward's values, `direction` being of the
 * output's shape and type. The gradient of a weight of 0 is 0. */
void        cbx_runner_backward(cbx_runner *runner, const void *direction);
const void *cbx_runner_gradient(const cbx_runner *runner, int32_t input);
const void *cbx_runner_weight_gradient(const cbx_runner *runner, int32_t input);

/* Bytes that the plan holds. */
size_t cbx_runner_bytes(const cbx_runner *runner);

#endif
