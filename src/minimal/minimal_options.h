/* SPDX-License-Identifier: Apache-2.0 */
/* minimal_options.h: the options that only minimal has. */
#ifndef CBX_MINIMAL_OPTIONS_H
#define CBX_MINIMAL_OPTIONS_H

#include "explainer.h"

enum { CBX_START_FACTUAL, CBX_START_BOTH };

/* What an answer costs: the fixed parts of its changes, and how far their values go. Both: the
 * fixed parts decide, and where they are equal the way. */
enum { CBX_COST_EDITS, CBX_COST_DISTANCE, CBX_COST_BOTH };

typedef struct cbx_minimal_options {
    int64_t     beam;       /* sets of moves that are followed together */
    int64_t     candidates; /* moves tried from each */
    int64_t     rebuilds;   /* times a part of the answer is built anew, for a cheaper one */
    int         start;      /* where the search begins; both: also at combinex's answer */
    double      edge_cost, node_cost;
    const char *feature_cost; /* as text: of all features, of some */
    int         cost;         /* what answers are compared by */
    bool        diverse;      /* answers share no edit */
    double      prove;        /* seconds for excluding cheaper answers; 0: none */
    double      prove_gap;    /* what an answer may cost more than is proved, to be enough */
    int64_t     robustness;   /* random changes tried on an answer */
} cbx_minimal_options;

extern const cbx_option_table cbx_minimal_table;

/* Those of a search by minimal. */
static inline const cbx_minimal_options *cbx_minimal_of(const cbx_search *s)
{
    return (const cbx_minimal_options *)s->settings;
}

#endif
