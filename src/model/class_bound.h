/* SPDX-License-Identifier: Apache-2.0 */
/* class_bound.h: is the best class still the best, without running the model?
 *
 * After a full pass the best class leads every other by a gap. Each layer can move
 * its outputs only so far for a given move of its inputs and of its adjacency
 * (cbx_layer_ops.bound_output_shift), and so can the scores. While that bound is less than the
 * gap, the class stands, proved. A search whose prediction is far beyond the border
 * for hundreds of epochs need not compute it hundreds of times.
 *
 * Where the bound is not enough, the first layer is run and its outputs' true move takes
 * the place of the bound, which often is; else the second; and so on. So each layer has a
 * time of its own at which it last ran, earlier for later layers.
 *
 * For passes with one label row. */
#ifndef CBX_CLASS_BOUND_H
#define CBX_CLASS_BOUND_H

#include "pass.h"

typedef struct cbx_class_bound {
    cbx_pass    *pass;
    const float *spectral_norm; /* by parameter of the model */
    int32_t     *first;         /* by layer: its first parameter */
    bool         known;         /* every layer has a bound */
    bool         set;           /* there was a full pass */
    const float *beyond; /* by row of the input: the length of what X does not have, or NULL */
    bool         plain;  /* no edge weights and no loops: cbx_class_bound_slope knows how */
    /* By layer, from when it last ran. `moved` has an entry for the last layer's outputs too. */
    float **size;                    /* lengths of the rows of its input, or more */
    float **moved;                   /* how far those have moved since, or more */
    float  *measured;                /* of the first layer's input: when they were last measured */
    float **then_value, **then_diag; /* its adjacency */
    /* By layer: its outputs as the next layer last read them and, where the head sees them, as
     * the head did; and how far from these they were when it last ran. */
    float **read, **from_read, **shown, **from_shown;
    /* At the last full pass. */
    int32_t best;      /* -1: none yet */
    float  *gap;       /* by class: by how much the best leads it */
    float   narrowest; /* the least of them */
    float  *pull;      /* by layer the head sees, by class: the lead lost for a move of 1 */
    float  *seen;      /* by layer the head sees: how far it has moved */
    double *longest;   /* by layer the head sees: of the head's columns for it */
    double  rounding;  /* of scores of this size */
    bool    costly;    /* bounds take a good part of what passes take */
    bool    bounded;   /* there is a bound for the pass that was started */
    int32_t failures;  /* of proofs, in a row */
    int32_t rested;    /* passes since then without trying */
    /* Of a model with means, whose first products cancel: by row of the first layer's input, and of
     * its output, how far rounding may have moved it; NULL: no further than `rounding` covers. */
    float *rounded_in, *rounded_out;
    float *slope_moved[2], *slope_size, *slope_value, *slope_diag; /* cbx_class_bound_slope's */
} cbx_class_bound;

/* spectral_norm[i] of each of the model's parameters; vectors have 0. NULL: no memory. */
const float *cbx_model_spectral_norms(const cbx_model *model, cbx_arena *arena);

/* X: the input from which moves will be counted. 0 on success. */
int cbx_class_bound_init(cbx_class_bound *margin, cbx_pass *pass, const cbx_matrix *X,
                         const float *spectral_norm, cbx_arena *arena);

/* By row of the input: whoever moves it adds the length of the move. */
static inline float *cbx_class_bound_moved(cbx_class_bound *margin)
{
    return margin->moved[0];
}

/* Starts a pass with edge weights w (NULL: the view's own). Looks at no value of X. */
void cbx_class_bound_start(cbx_class_bound *margin, const cbx_matrix *X, const float *w);

/* The best class leads every other by more than this; below 0: not known. Where proofs
 * cost much and have failed some times in a row it is not known for a while. */
double cbx_class_bound_lower(cbx_class_bound *margin);

/* Runs the pass that was started, or as much of it as proves that the best class leads by
 * more than `enough`; INFINITY: all. True: all of it has run, and there is a new logp. */
bool cbx_class_bound_run_until_proved(cbx_class_bound *margin, double enough);

/* After cbx_class_bound_lower: no derivative of the best score's lead over another, by one
 * entry of X or by one edge weight, is larger than this; INFINITY: not known. */
double cbx_class_bound_slope(cbx_class_bound *margin);

#endif
