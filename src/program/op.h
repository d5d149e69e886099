/* SPDX-License-Identifier: Apache-2.0 */
/* op.h: the operations of programs, one table entry each.
 *
 * An entry says how an operation is called in files, which arguments it has, how large its
 * outputs are, what it computes and what its gradients are. Nothing else in this room knows
 * operations by name. docs/adding-an-operation.md shows how to add one. */
#ifndef CBX_OP_H
#define CBX_OP_H

#include "arena.h"
#include "array.h"
#include "combinex.h"

enum { CBX_ARGS = 9, CBX_READS = 5 };

typedef struct cbx_op      cbx_op;
typedef struct cbx_node    cbx_node;
typedef struct cbx_call    cbx_call;
typedef struct cbx_builder cbx_builder;
typedef struct cbx_runner  cbx_runner;

/* ---- arguments, as the file gives them */

typedef enum cbx_arg_kind {
    CBX_ARG_NONE,   /* the argument is not there */
    CBX_ARG_ARRAY,  /* a tensor */
    CBX_ARG_ARRAYS, /* a list of tensors, some of them maybe absent */
    CBX_ARG_NUMBER, /* in a table only: a tensor or a real; a real becomes a tensor */
    CBX_ARG_INT,    /* an integer, maybe computed */
    CBX_ARG_INTS,   /* a list of them */
    CBX_ARG_REAL,
    CBX_ARG_LOGIC,
    CBX_ARG_TEXT,
    CBX_ARG_TYPE
} cbx_arg_kind;

/* An integer: a literal, or the number that value `value` has. */
typedef struct cbx_int {
    int64_t literal;
    int32_t value; /* -1: the literal */
} cbx_int;

typedef struct cbx_arg {
    cbx_arg_kind   kind;
    int32_t        first, count; /* of arrays: among the node's inputs */
    const cbx_int *ints;
    double         real;  /* also of a logic: 0 or 1; of a type: its number */
    bool           whole; /* a real that the file wrote as an integer */
    const char    *text;
} cbx_arg;

/* What a table says of an argument. An argument that files may leave out has a fallback. One whose
 * name begins with "cbx." comes from rewriting, and never from a file. */
typedef struct cbx_arg_spec {
    const char  *name; /* NULL: no more arguments */
    cbx_arg_kind kind;
    bool         optional;
    double       fallback; /* of an int, a real or a logic that is left out */
} cbx_arg_spec;

/* For macros that stand for one. */
#define CBX_SPEC(...) \
    {                 \
        __VA_ARGS__   \
    }

/* ---- entries */

/* How types go in and come out. What comes out is written in the file; these are the rules it
 * is held against, and what is converted first. */
typedef enum cbx_typing {
    CBX_TYPING_SAME,    /* output 0 has the type of input 0; further ones are free */
    CBX_TYPING_PROMOTE, /* all inputs become the type of the output */
    CBX_TYPING_COMPARE, /* all inputs become one type, the output is logical */
    CBX_TYPING_CHOICE,  /* as CBX_TYPING_PROMOTE, of all but input 0 */
    CBX_TYPING_FREE     /* whatever the file says */
} cbx_typing;

/* What tags come out; integers only. Views share tags with what they look at. */
typedef enum cbx_tagging {
    CBX_TAGS_NONE,
    CBX_TAGS_MOVE,  /* of the inputs in `tagged_inputs`: moved as the values are */
    CBX_TAGS_MERGE, /* of any input: the first that has one, element by element */
    CBX_TAGS_GATHER /* of the index (input 1) where it has some, else as CBX_TAGS_MOVE of input 0 */
} cbx_tagging;

/* How far an output looks, given how far inputs look: see hops.c. */
typedef enum cbx_reach {
    CBX_REACH_ROWS,    /* row by row */
    CBX_REACH_NOTHING, /* sizes are no features */
    CBX_REACH_OVER,    /* over the dimensions named by argument `reach_arg`; all where it is none */
    CBX_REACH_ALL,     /* over all dimensions */
    CBX_REACH_TAIL,    /* over the last dimensions, as many as argument `reach_arg` has */
    CBX_REACH_PRODUCT, /* over the last dimension of input `reach_arg` */
    CBX_REACH_GATHER,  /* by input 1, along argument `reach_arg`; none: the first */
    CBX_REACH_SCATTER, /* by input 1, along argument `reach_arg`; none: the first */
    CBX_REACH_PROPAGATE /* gathers input 2 by input 3, and scatters by input 1 */
} cbx_reach;

#define CBX_IN(k) (1u << (k))
#define CBX_OUT(k) (1u << (16 + (k)))

struct cbx_op {
    const char  *name; /* as in files, without "torch.ops.aten." */
    cbx_arg_spec args[CBX_ARGS];
    cbx_typing   typing;
    /* Inputs that must be in row-major order without gaps, that may instead be one number for
     * all elements, and that must be matrices a product can read: CBX_IN(k). */
    uint32_t dense, rows, matrices;
    /* Rewrites the node when a program is read, for what is several operations here. Optional. */
    cbx_status (*lower)(cbx_builder *b, cbx_node *node, cbx_error *err);

    size_t state; /* bytes of its own, cleared before the first `shape` */
    /* Sets the outputs: cbx_out_new, cbx_out_view, or cbx_out_number. Called when a graph is
     * planned, and before each run where sizes depend on live values. */
    cbx_status (*shape)(cbx_call *c, cbx_error *err);
    /* Computes outputs that are no views. NULL where there are none. */
    cbx_status (*forward)(cbx_call *c, cbx_error *err);
    /* Writes the gradients of inputs whose mode asks for it, in their order, from those of the
     * outputs. NULL: there is none, and no gradient passes. */
    void (*backward)(cbx_call *c);
    uint32_t passes; /* inputs that backward knows: CBX_IN(k); 0: all */
    /* What backward reads for the gradient of input k: CBX_IN(i) | CBX_OUT(i). The last entry is
     * that of all further inputs. */
    uint32_t reads[CBX_READS];

    cbx_tagging tags;
    uint32_t    tagged_inputs; /* 0: input 0 */
    /* Of CBX_TAGS_MOVE and CBX_TAGS_GATHER: fills the tags of output 0. */
    cbx_status (*move_tags)(cbx_call *c, cbx_error *err);

    uint32_t  shape_inputs; /* of which nothing but the shape is read: CBX_IN(k) */
    cbx_reach reach;
    int8_t    reach_arg;
    bool      stops;      /* no gradient passes: detach */
    bool      reshapes;   /* as a view: every element is there, once */
    bool      data_sized; /* the size of its output depends on its input's values */
};

struct cbx_node {
    const cbx_op *op;
    const char   *name; /* in the file, for messages */
    cbx_arg       arg[CBX_ARGS];
    int32_t       num_inputs, num_outputs;
    int32_t      *input; /* values; -1: absent */
    int32_t      *output;
    bool          detached; /* of a scatter: what it scatters was detached */
};

/* The table: NULL past the last. */
const cbx_op *cbx_op_at(size_t i);
/* By its name in files, or NULL. */
const cbx_op *cbx_op_find(const char *name);

/* ---- calls: a node that is being planned or run */

typedef enum cbx_mode {
    CBX_GRAD_NONE, /* not wanted */
    CBX_GRAD_SET,
    CBX_GRAD_ADD
} cbx_mode;

struct cbx_call {
    const cbx_node *node;
    cbx_runner     *runner;
    cbx_array     **in; /* NULL: absent */
    cbx_array     **out;
    uint8_t        *mode; /* cbx_mode of each input */
    void           *state;
    bool            live;    /* run again for each run */
    bool            known;   /* the inputs' values are there */
    bool            planned; /* outputs have storages: sizes are being found again */
    bool            dynamic;
};

/* The k-th argument: its array, NULL where absent; its place among the inputs. */
cbx_array *cbx_call_array(const cbx_call *c, int32_t k);
int32_t    cbx_call_place(const cbx_call *c, int32_t k);
bool       cbx_call_has(const cbx_call *c, int32_t k);
/* Of input `place`: does it change from run to run, and do its integers carry tags? */
bool        cbx_call_is_live(const cbx_call *c, int32_t place);
bool        cbx_call_is_tagged(const cbx_call *c, int32_t place);
int64_t     cbx_call_int(const cbx_call *c, int32_t k); /* the first of a list */
double      cbx_call_real(const cbx_call *c, int32_t k);
const char *cbx_call_text(const cbx_call *c, int32_t k);
/* Up to CBX_RANKS of them; how many there are. */
int32_t cbx_call_ints(const cbx_call *c, int32_t k, int64_t out[CBX_RANKS]);
/* Argument k as a dimension of an array of this rank, counted from its end where negative. */
cbx_status cbx_call_dim(const cbx_call *c, int32_t k, int32_t rank, int32_t *dim, cbx_error *err);
/* A list of dimensions as bits; all of them where there are none. */
cbx_status cbx_call_dims(const cbx_call *c, int32_t k, int32_t rank, uint32_t *bits,
                         cbx_error *err);

/* Output k is an array of its own, of this rank and these sizes. Its type is the node's. */
cbx_status cbx_out_new(cbx_call *c, int32_t k, int32_t rank, const int64_t *size, cbx_error *err);
/* Output 0 is one, of the shape that these broadcast to. */
cbx_status cbx_out_broadcast(cbx_call *c, int32_t count, cbx_array *const *of, cbx_error *err);
/* Output k is a view of input `of`, whose fields the caller then changes in place. */
cbx_array *cbx_out_view(cbx_call *c, int32_t k, int32_t of);
/* Output k is a number. */
void cbx_out_number(cbx_call *c, int32_t k, int64_t number);
/* Output k is absent. */
void cbx_out_absent(cbx_call *c, int32_t k);
/* The gradient of input k, from an array that is a broadcast of it, or it of the array. */
void cbx_grad_put(cbx_call *c, int32_t k, const cbx_array *from, const void *data);
/* A gradient that starts from 0 and is added to: clears it where the mode is to set it. */
void cbx_grad_open(cbx_call *c, int32_t k);

/* Tags of CBX_TAGS_MERGE. */
cbx_status cbx_tags_merge(cbx_call *c, cbx_error *err);
/* The tags of an input as an array of integers; -1 everywhere where it has none. */
cbx_array cbx_tags_of(const cbx_array *a);

/* A message that names the node: "FILE: NODE (OPERATION): …". */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
cbx_status
cbx_call_fail(const cbx_call *c, cbx_error *err, const char *format, ...);
#ifdef CBX_ANALYZE /* see error.h */
#define cbx_call_fail(...) (cbx_call_fail(__VA_ARGS__), CBX_INVALID)
#endif

#endif
