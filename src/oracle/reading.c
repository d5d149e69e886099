/* SPDX-License-Identifier: Apache-2.0 */
/* reading.c: see reading.h. */
#include "reading.h"

#include <math.h>
#include <stdbool.h>

int32_t cbx_reading_classes(const cbx_reading *r)
{
    return r->num_scores == 1 ? 2 : r->num_scores;
}

/* Of one score, that of class 0 is 0. */
static double score_of(const cbx_reading *r, const double *scores, int32_t class)
{
    return r->num_scores > 1 ? scores[class] : class ? scores[0] : 0;
}

void cbx_reading_forward(const cbx_reading *r, const double *scores, float *log_probs)
{
    int32_t classes = cbx_reading_classes(r);
    double  most = score_of(r, scores, 0), sum = 0;
    bool    finite = true;
    for (int32_t c = 0; c < classes; c++) {
        double score = score_of(r, scores, c);
        most = score > most ? score : most;
        finite = finite && isfinite(score);
    }
    for (int32_t c = 0; c < classes; c++)
        sum += exp(score_of(r, scores, c) - most);
    for (int32_t c = 0; c < classes; c++)
        log_probs[c] = finite ? (float)(score_of(r, scores, c) - most - log(sum)) : NAN;
}

void cbx_reading_backward(const cbx_reading *r, const float *log_probs, const float *dlogp,
                          double *dscores)
{
    int32_t classes = cbx_reading_classes(r), first = r->num_scores == 1 ? 1 : 0;
    double  sum = 0;
    for (int32_t c = 0; c < classes; c++)
        sum += dlogp[c];
    for (int32_t c = first; c < classes; c++)
        dscores[c - first] = dlogp[c] - exp((double)log_probs[c]) * sum;
}
