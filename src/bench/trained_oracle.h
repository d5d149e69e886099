/* SPDX-License-Identifier: Apache-2.0 */
/* trained_oracle.h: the trained models of a benchmark, kept as files in its folder. */
#ifndef CBX_TRAINED_ORACLE_H
#define CBX_TRAINED_ORACLE_H

#include "plan.h"

/* Trains the fold's oracle and saves it, unless the folder has it already: a file that
 * was trained otherwise is not it. */
cbx_status cbx_bench_oracle_make(const cbx_bench_plan *plan, const char *folder, int32_t data,
                                 int32_t model, int32_t fold, cbx_progress progress, void *user,
                                 cbx_error *err);

/* Loads it, and its accuracy on its test rows (NaN: there are none). */
cbx_status cbx_bench_oracle_load(const cbx_bench_plan *plan, const char *folder, int32_t data,
                                 int32_t model, int32_t fold, cbx_model **out, double *accuracy,
                                 cbx_error *err);

#endif
