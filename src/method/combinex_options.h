/* SPDX-License-Identifier: Apache-2.0 */
/* combinex_options.h: the options that only combinex has. */
#ifndef CBX_COMBINEX_OPTIONS_H
#define CBX_COMBINEX_OPTIONS_H

#include "policy.h"

enum { CBX_SELECT_LOSS, CBX_SELECT_EDITS };

typedef struct cbx_combinex_options {
    cbx_policy policy;
    int        select; /* which epoch wins */
    /* Not for people: loops with faults of the published program, for benchmarks (the option
     * published-faults); 0: none. */
    int64_t faults;
} cbx_combinex_options;

#endif
