/* SPDX-License-Identifier: Apache-2.0 */
/* pass.h: running a model forward and backward on a view.
 *
 * A pass is the memory for that, sized once from the model, the view and the
 * kind of input, and used any number of times without allocating. Layer l
 * computes only the rows that later layers read. */
#ifndef CBX_PASS_H
#define CBX_PASS_H

#include "internal.h"
#include "model.h"

typedef struct cbx_pass {
    const cbx_model *model;
    const cbx_view  *view;
    cbx_matrix       X; /* of the last forward */
    const float     *w; /* likewise */
    int              threads;
    int32_t          rows_out; /* label rows: of logp */
    float           *unit;     /* the view's own weights, m: used when forward gets none */
    float           *logp;     /* rows_out x num_classes */
    bool             training; /* moments of batch normalisations are those of this pass */
    double           kept;     /* 1 - dropout rate of the last forward */

    void            *run;   /* of a model that an oracle runs, and then nothing below is there */
    const cbx_layer *first; /* what runs in place of the model's first layer, or NULL */
    size_t           saved_size, tmp_size; /* floats of the first layer's `saved`, of `tmp` */

    /* per layer */
    cbx_step *steps;
    float   **out;    /* outputs after relu and dropout */
    float   **pooled; /* graph tasks: rows_out x width, for layers the head sees */
    float   **dout;   /* gradient of out; two buffers taking turns */

    cbx_norm norms[CBX_NORM_COUNT];
    bool     uses[CBX_NORM_COUNT];
    float   *hidden;      /* rows_out x head_hidden, after relu and dropout; NULL: there are none */
    float   *hidden_grad; /* likewise */
    float   *scores_grad; /* rows_out x num_classes */
    float   *pool_grad;   /* graph tasks: rows_out x widest layer */
    float   *leaving;     /* NULL, or by node: what a backward says of its leaving the pooling, or
                           * of its entering it where it is absent */
    float   *by_weight;   /* NULL, or by slot: what it says of the weight that an edge is given */
    float   *by_attr;     /* likewise by slot and attribute; both of a model with an oracle only */
    float  **slopes;      /* NULL, or by layer where backward leaves the gradient by its output
                           * before relu: the caller's */
    bool gradient;
} cbx_pass;

/* X tells the shape and kind of the inputs to come, not their values. */
CBX_INTERNAL cbx_status cbx_pass_init(cbx_pass *pass, const cbx_model *model, const cbx_view *view,
                                      const cbx_matrix *X, bool gradient, int threads,
                                      cbx_arena *arena, cbx_error *err);

/* From now on `first`, of which X will have the columns, runs in place of the model's first
 * layer. It gives the same outputs, so nothing else of the pass changes; dtheta cannot be had.
 * -1: no memory, and nothing has changed. */
int cbx_pass_replace_first(cbx_pass *pass, const cbx_layer *first, cbx_arena *arena);

/* Fills in pass->logp. `w` are edge weights by slot, NULL: the view's own.
 * `rate` is the dropout rate and `stream` its random stream; 0 when predicting. */
CBX_INTERNAL void cbx_pass_forward(cbx_pass *pass, const cbx_matrix *X, const float *w, double rate,
                                   uint64_t stream);

/* The same in parts, for who may stop half-way: start, every layer in order (leaves
 * its output in pass->out[l]), finish. */
void cbx_pass_start(cbx_pass *pass, const cbx_matrix *X, const float *w);
void cbx_pass_layer(cbx_pass *pass, int32_t l);
void cbx_pass_finish(cbx_pass *pass);

/* After a forward in training: the model's parameters, `theta`, take in what was observed. */
void cbx_pass_observe(const cbx_pass *pass, float *theta);

/* After a forward: from dL/dlogp (rows_out x num_classes) to dX (rows of the first
 * layer's input x features, overwritten), dw (by slot, overwritten) and dtheta
 * (added to); each may be NULL. With a sparse X, dtheta needs its transpose and a
 * first layer that reads all of its rows. */
void cbx_pass_backward(cbx_pass *pass, const float *dlogp, float *dX, float *dw, float *dtheta);

/* cbx_predict without its last look: rows that overflowed are NaN. */
cbx_status cbx_predict_unchecked(const cbx_model *model, const cbx_graph *graph, int64_t threads,
                                 float *log_probs, cbx_error *err);

/* The error of a label row whose log-probabilities are NaN. */
cbx_status cbx_fail_overflow(const cbx_graph *graph, int32_t row, cbx_error *err);

/* Rows of X that the first layer reads; rows beyond have no influence. */
int32_t cbx_pass_input_rows(const cbx_pass *pass);

#endif
