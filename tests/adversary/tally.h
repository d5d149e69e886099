/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h: how many claims of which kind were judged how. */
#ifndef CBX_ADVERSARY_TALLY_H
#define CBX_ADVERSARY_TALLY_H

#include "judge.h"

enum {
    ORACLES = 9, /* gcn, graphconv's three, gin, gat, cheb of order 1 to 3 */
    TRAITS = 4   /* sage, skip connections, batch normalisation, hidden units in the head */
};

typedef struct tally {
    int64_t cases, refused, without; /* without: neither found nor proved */
    int64_t tried;                   /* sets of edits */
    int64_t claims[CLAIMS][RULINGS];
    int64_t by_rule[RULES][CLAIMS], broken_by_rule[RULES][CLAIMS];
    int64_t by_oracle[ORACLES][CLAIMS], broken_by_oracle[ORACLES][CLAIMS];
    int64_t by_trait[TRAITS][CLAIMS], broken_by_trait[TRAITS][CLAIMS];
} tally;

void    tally_add(tally *t, const question *q, const judged *j);
void    tally_merge(tally *to, const tally *from);
int64_t tally_broken(const tally *t);
int64_t tally_claims(const tally *t);
void    tally_show(const tally *t);

#endif
