/* SPDX-License-Identifier: Apache-2.0 */
/* generate_options.h: the options of generators as the library's own struct, and what takes it. */
#ifndef CBX_GENERATE_OPTIONS_H
#define CBX_GENERATE_OPTIONS_H

#include "combinex/kit.h"
#include "option_table.h"

typedef struct cbx_generate_options {
    int64_t nodes;    /* erdos-renyi, barabasi-albert */
    double  degree;   /* mean number of neighbours there */
    int64_t features; /* 0: the generator's own */
    int64_t classes;  /* erdos-renyi, barabasi-albert */
    int64_t motifs;   /* houses, cycles or grids attached; 0: the literature's */
    int64_t seed;
} cbx_generate_options;

cbx_status cbx_graph_builtin_with(const char *name, const cbx_generate_options *options,
                                  cbx_graph **out, cbx_error *err);

#endif
