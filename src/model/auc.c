/* SPDX-License-Identifier: Apache-2.0 */
/* auc.c: see auc.h. */
#include "auc.h"

#include <math.h>
#include <stdlib.h>

static int by_score(const void *a, const void *b)
{
    double x = ((const cbx_scored *)a)->score, y = ((const cbx_scored *)b)->score;
    return (x > y) - (x < y);
}

double cbx_auc(cbx_scored *scored, int64_t count)
{
    double positives = 0, won = 0; /* pairs of the two kinds in which the positive is higher */
    if (count)
        qsort(scored, (size_t)count, sizeof *scored, by_score);
    double below = 0; /* others with a lower score */
    for (int64_t k = 0, end; k < count; k = end) {
        double here = 0, others = 0;
        for (end = k; end < count && scored[end].score == scored[k].score; end++) {
            here += scored[end].positive;
            others += !scored[end].positive;
        }
        won += here * (below + others / 2);
        positives += here;
        below += others;
    }
    return positives > 0 && below > 0 ? won / (positives * below) : NAN;
}
