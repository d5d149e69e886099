/* SPDX-License-Identifier: Apache-2.0 */
/* model_output.h: what the numbers that a model gives mean.
 *
 * Searches know log-probabilities of classes. A model run by somebody else gives a row of numbers;
 * a reading makes the one of the other, and leads gradients back. A label is one of two classes, no
 * and yes. A number is no class; whether it is in a range is, and asking for that is aiming. */
#ifndef CBX_MODEL_OUTPUT_H
#define CBX_MODEL_OUTPUT_H

#include "open_options.h"
#include "view.h"

/* In the order of the table's choices. */
typedef enum cbx_meaning {
    CBX_MEANS_AUTO,
    CBX_MEANS_CLASSES,       /* a softmax of them is meant */
    CBX_MEANS_PROBABILITIES, /* of classes */
    CBX_MEANS_LABELS,        /* log-odds, each for itself */
    CBX_MEANS_CHANCES,       /* probabilities, each for itself */
    CBX_MEANS_NUMBERS
} cbx_meaning;

extern const char *const cbx_meaning_names[];

/* The range that a number is to be in: fixed, or so far from what it is of each row. */
typedef struct cbx_range {
    double        low, high;   /* of a fixed one; infinite: no limit */
    double        share, step; /* of a relative one: the least move, up or (negative) down */
    bool          relative;
    const double *base;  /* by node of the data: its number, or its graph's */
    double        scale; /* a distance that counts as much as one unit of log-odds */
} cbx_range;

typedef struct cbx_model_output {
    cbx_meaning      means; /* not auto */
    int32_t          num_scores;
    int32_t          column; /* of labels and numbers: the one that counts */
    const cbx_range *aim;    /* of numbers: what is asked; NULL: nothing, and they are told */
} cbx_model_output;

/* From what the caller said (NULL: nothing) and what the scores look like (`seen`: auto, where
 * nothing is known). `who` begins the message of an error. */
cbx_status cbx_model_output_make(const cbx_open_options *said, cbx_meaning seen, int32_t num_scores,
                                 const char *who, cbx_model_output *reading, cbx_error *err);

/* Of a label: the names of its classes, "no" and "yes" unless the caller said others. */
cbx_status cbx_model_output_name(const cbx_model_output *reading, const cbx_open_options *said,
                                 const char *who, char names[2][64], cbx_error *err);

/* 1: it tells a number. */
int32_t cbx_model_output_classes(const cbx_model_output *reading);

/* Log-probabilities of row i of a view, or its number; NaN where a score is not finite. */
void cbx_model_output_forward(const cbx_model_output *reading, const cbx_view *view, int32_t i,
                              const double *scores, float *log_probs);

/* The gradient of sum(dlogp * log_probs) by the scores. */
void cbx_model_output_backward(const cbx_model_output *reading, const cbx_view *view, int32_t i,
                               const double *scores, const float *log_probs, const float *dlogp,
                               double *dscores);

/* ">=3.5", "<2", "[2,3]", "+10%", "-0.5": all but base and scale. */
cbx_status cbx_range_parse(const char *text, cbx_range *range, cbx_error *err);

#endif
