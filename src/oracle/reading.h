/* SPDX-License-Identifier: Apache-2.0 */
/* reading.h: what the numbers that a model gives mean.
 *
 * Searches know log-probabilities of classes. A model run by somebody else gives scores; a reading
 * makes the one of the other, and leads gradients back. */
#ifndef CBX_READING_H
#define CBX_READING_H

#include <stdint.h>

typedef struct cbx_reading {
    int32_t num_scores; /* of a row; 1: the log-odds of class 1 against class 0 */
} cbx_reading;

int32_t cbx_reading_classes(const cbx_reading *reading);

/* Log-probabilities of one row; NaN where a score is not finite. */
void cbx_reading_forward(const cbx_reading *reading, const double *scores, float *log_probs);

/* The gradient of sum(dlogp * log_probs) by the scores. */
void cbx_reading_backward(const cbx_reading *reading, const float *log_probs, const float *dlogp,
                          double *dscores);

#endif
