/* SPDX-License-Identifier: Apache-2.0 */
/* auc.h: how well scores tell two classes apart, whatever the threshold. */
#ifndef CBX_AUC_H
#define CBX_AUC_H

#include <stdbool.h>
#include <stdint.h>

/* Of a score, and whether the class is the one that it should be higher for. */
typedef struct cbx_scored {
    double score;
    bool   positive;
} cbx_scored;

/* The area under the ROC curve: the probability that one of the positive, drawn at random, has the
 * higher score than one of the others, equal scores counting half. NaN where one of the two kinds
 * is missing. Sorts the list. */
double cbx_auc(cbx_scored *scored, int64_t count);

#endif
