/* SPDX-License-Identifier: Apache-2.0 */
/* layer.h: what a convolution is to the rest of the house.
 *
 * A layer is a const table of functions and a struct of sizes. Its parameters
 * lie one after the other in a block that the model owns; weights are stored
 * in x out (PyG's files have out x in, and the reader and writer transpose), so
 * that a sparse row of features picks rows of W.
 *
 * To add one: a file with a `const cbx_layer_ops cbx_layer_NAME`, the word in
 * layers.def, a test. docs/adding-a-layer.md walks through it. */
#ifndef CBX_LAYER_H
#define CBX_LAYER_H

#include "internal.h"
#include "norm.h"
#include "layer_settings.h"

typedef struct cbx_layer_ops cbx_layer_ops;

typedef struct cbx_layer {
    const cbx_layer_ops *ops;
    int32_t              n_in, n_out;
    cbx_layer_settings   set;   /* those that ops->settings names mean something */
    const float         *theta; /* parameters, in the order of cbx_block_parameter */
    /* NULL, or for each parameter of_input, in their order, a row of its columns that is added to
     * every row of the input's product with it: what subtracting a constant from the input makes of
     * it. Only for layers that declare adds_shift; parameters have no gradient then. */
    const float *shift;
} cbx_layer;

typedef enum cbx_init {
    CBX_INIT_GLOROT, /* uniform, ± sqrt(6 / (in + out)) */
    CBX_INIT_LINEAR, /* uniform, ± 1 / sqrt(in): torch.nn.Linear */
    CBX_INIT_ZERO    /* and nothing but `value` is left */
} cbx_init;

typedef struct cbx_parameter {
    char     name[24]; /* as PyG names it within the layer: "lin.weight" */
    int32_t  rows;     /* in: how PyG's second dimension reads; 0 for a vector */
    int32_t  cols;     /* out */
    cbx_init init;
    bool     of_input; /* what the layer multiplies its input by: it has n_in rows */
    int32_t  heads;    /* 0, or of a vector that PyG shapes 1 x heads x cols / heads */
    float    value;    /* what is added to that which is drawn */
    bool     observed; /* what training sees, not what it seeks: it has no gradient */
    bool     not_negative;
} cbx_parameter;

static inline int64_t cbx_parameter_size(const cbx_parameter *p)
{
    return (int64_t)(p->rows ? p->rows : 1) * p->cols;
}

/* One application of a layer to (a prefix of) a view. */
typedef struct cbx_step {
    const cbx_view   *view;
    cbx_adjacency     A;                 /* with the layer's own normalisation */
    int32_t           hop;               /* rows within so many hops are computed … */
    int32_t           rows_out, rows_in; /* … which is rows_out; rows_in rows of X are read */
    const cbx_matrix *X;
    float            *Y;     /* rows_out x n_out */
    float            *saved; /* cbx_block_saved floats, from forward to backward */
    float            *tmp;   /* ops->scratch floats */
    int               threads;
    bool              training; /* moments are those of this step's rows */
} cbx_step;

/* Where backward puts what it finds; NULL: not wanted. */
typedef struct cbx_step_grad {
    float *dY;     /* rows_out x n_out, given */
    float *dX;     /* rows_in x n_in, overwritten */
    float *dvalue; /* by slot, added to */
    float *ddiag;  /* by node, added to */
    float *dtheta; /* added to */
} cbx_step_grad;

/* How far outputs may have moved since a layer last ran, row by row, as a bound on
 * the Euclidean distance. */
typedef struct cbx_shift_bound {
    const float *spectral_norm; /* of each parameter: cbx_spectral_bound */
    const float *size;          /* of each row of X when the layer ran, or more */
    const float *moved;         /* how far that row has moved since, or more */
    const float *then_value;    /* the adjacency when it ran (step's A is today's) */
    const float *then_diag;
    float       *out; /* rows_out: the answer */
} cbx_shift_bound;

/* Which edges an output row depends on, beside the features within `reach` hops of it. Each
 * sees all that the ones before it see. */
typedef enum cbx_sight {
    CBX_SIGHT_UNKNOWN,  /* not declared: nothing is concluded */
    CBX_SIGHT_MESSAGES, /* edges along which features come: into nodes within reach - 1 hops */
    CBX_SIGHT_DEGREES,  /* and edges into the nodes within reach hops, which count there */
    CBX_SIGHT_BOTH_WAYS /* and edges out of them, which count there likewise */
} cbx_sight;

/* How a layer takes in its input X. Each says all that the ones before it say. */
typedef enum cbx_entry {
    CBX_ENTRY_UNKNOWN, /* not declared: nothing is concluded */
    /* Column j of X reaches the output through row j of the parameters of_input and no other
     * way, and one times c > 0 with the other divided by c gives the same; and bound_output_shift,
     * where there is one, counts a row's move only times their spectral norm. */
    CBX_ENTRY_COLUMNS,
    CBX_ENTRY_PRODUCTS /* all that the layer needs of X are its products with them */
} cbx_entry;

/* Y = M neighbour + X own + bias. M is A X, where A is the adjacency by the layer's norm; or, if
 * `maximum`, in each column the largest w x of the edges into a node, w being their weights, and 0
 * for a node without edges: the norm is none then. */
typedef struct cbx_linear_parts {
    const float *neighbour, *own, *bias; /* in theta; of the first two, NULL: none */
    bool         maximum;
} cbx_linear_parts;

struct cbx_layer_ops {
    const char *name;
    /* options of layer_settings.def that it looks at, NULL behind the last; NULL: none */
    const char *const *settings;
    /* NULL: any sizes and settings will do */
    cbx_status (*check)(const cbx_layer *l, cbx_error *err);
    cbx_norm_kind (*norm)(const cbx_layer *l);
    /* NULL: unknown, and then nothing is proved about models that have the layer */
    cbx_sight (*sight)(const cbx_layer *l);
    /* A slot of weight 0 that the view marks as removed counts as if it were not there. Not
     * declared: weight 0 is only taken for a hint of what removing would do. */
    bool removes_marked_slots;
    /* NULL: unknown, and then no product is kept and no column folded */
    cbx_entry (*entry)(const cbx_layer *l);
    bool adds_shift; /* forward, backward and bound_output_shift know of the layer's shift */
    /* hops the layer looks */
    int32_t (*reach)(const cbx_layer *l);
    /* describes the i-th parameter; false past the last */
    bool (*parameter)(const cbx_layer *l, int32_t i, cbx_parameter *out);
    /* floats needed; X may be sparse or dense */
    size_t (*saved)(const cbx_layer *l, const cbx_step *s);
    size_t (*scratch)(const cbx_layer *l, const cbx_step *s);
    void (*forward)(const cbx_layer *l, const cbx_step *s);
    void (*backward)(const cbx_layer *l, const cbx_step *s, const cbx_step_grad *g);
    /* NULL: no bound is known, and the layer is always run */
    void (*bound_output_shift)(const cbx_layer *l, const cbx_step *s, const cbx_shift_bound *y);
    /* The parts, where the layer is of that form; NULL or false: it is not, and nothing is proved
     * of sets of edits (src/proof) */
    bool (*linear)(const cbx_layer *l, cbx_linear_parts *out);
};

#define X(name) extern const cbx_layer_ops cbx_layer_##name;
#include "layers.def"
#undef X

/* NULL-terminated names, for option tables: "auto", for whom the data is to choose, and layers. */
extern CBX_INTERNAL const char *cbx_layer_choices[];
#define cbx_layer_names (cbx_layer_choices + 1)

/* By position in cbx_layer_names, or by name (NULL: unknown). */
const cbx_layer_ops *cbx_layer_at(int i);
const cbx_layer_ops *cbx_layer_find(const char *name);

/* ---- a layer with what stands around it (block.c): whoever runs layers calls these, not ops */

/* Describes the i-th parameter: those of ops, and then the block's; false past the last. */
bool cbx_block_parameter(const cbx_layer *l, int32_t i, cbx_parameter *out);

/* Floats that forward leaves for backward. */
size_t cbx_block_saved(const cbx_layer *l, const cbx_step *s);

void cbx_block_forward(const cbx_layer *l, const cbx_step *s);

/* g->dY is spoiled. */
void cbx_block_backward(const cbx_layer *l, const cbx_step *s, const cbx_step_grad *g);

/* Is a bound known? Then cbx_block_bound_shift has it. */
bool cbx_block_has_bound(const cbx_layer *l);
void cbx_block_bound_shift(const cbx_layer *l, const cbx_step *s, const cbx_shift_bound *y);

/* The block as Y = M neighbour + X own + bias, in double precision: n_in x n_out, the same, n_out;
 * and what the bias is a sum of, without signs. False: it is not of that form. `maximum`: what M is
 * (cbx_linear_parts); NULL: only products with the adjacency will do. */
bool cbx_block_linear(const cbx_layer *l, double *neighbour, double *own, double *bias,
                      double *bias_size, bool *maximum);

/* After a forward in training: lets the layer's parameters, which are at `theta`, take in what
 * was observed. */
void cbx_block_observe(const cbx_layer *l, const cbx_step *s, float *theta);

/* ---- what is known of a layer */

/* Names of the settings that every layer has, NULL behind the last: they are the block's. */
extern const char *const cbx_block_settings[];

/* Does this setting mean something to the layer? */
bool cbx_layer_has_setting(const cbx_layer_ops *ops, const char *option);

/* CBX_OK, or why there is no layer of these sizes and settings. */
cbx_status cbx_layer_check(const cbx_layer *l, cbx_error *err);

/* As PyG and files have it: the number of dimensions and their sizes. */
int cbx_parameter_shape(const cbx_parameter *p, int64_t shape[3]);

/* Floats of all parameters together. */
int64_t cbx_layer_size(const cbx_layer *l);

/* What the layer declares of its input. */
cbx_entry cbx_layer_entry(const cbx_layer *l);

/* Weight matrices whose products with the input are all that the layer needs of it; 0: it looks
 * at the input itself, as a maximum does, or does not say. `widest`, unless NULL: the most columns
 * that one of them has. */
int32_t cbx_layer_products(const cbx_layer *l, int32_t *widest);

#endif
