/* SPDX-License-Identifier: Apache-2.0 */
/* robust_options.h: the options of cbx_robust as a struct. */
#ifndef CBX_ROBUST_OPTIONS_H
#define CBX_ROBUST_OPTIONS_H

#include "option_table.h"

typedef struct cbx_robust_options {
    int         edits;          /* remove, add, both */
    int         edges;          /* directed, undirected: what one edit removes or adds */
    const char *target;         /* "any", "next", or a class by number or name */
    int64_t     budget;         /* edits; 0: no limit */
    double      share;          /* of the row's edges, per cent: a budget; 0: none */
    int64_t     local_budget;   /* edits at each node; -1: no limit */
    int64_t     local_strength; /* likewise, by degree; -1: no limit */
    bool        decide;
    double      time_limit;
    int64_t     threads;
} cbx_robust_options;

#endif
