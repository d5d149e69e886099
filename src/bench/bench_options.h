/* SPDX-License-Identifier: Apache-2.0 */
/* bench_options.h: the options of benchmarks as the library's own struct, and what takes it. */
#ifndef CBX_BENCH_OPTIONS_H
#define CBX_BENCH_OPTIONS_H

#include "combinex/kit.h"
#include "option_table.h"

typedef struct cbx_bench_options {
    const char *models;     /* "gcn,cheb" or "all" */
    const char *explainers; /* "combinex-lin,ego", … or "all" */
    int64_t     folds;
    int64_t     samples;      /* test rows asked about in each fold, at most */
    int         protocol;     /* published, meant: whose masks, and what is standardised */
    int         preset;       /* paper, none: settings of the searches */
    int64_t     epochs;       /* of a search */
    int64_t     train_epochs; /* of an oracle */
    double      time_limit;   /* seconds for one answer; 0: none */
    int64_t     unr_rollouts;
    const char *published_faults; /* "rounding,shift", …, "all" or "none" */
    int64_t     seed;
    int64_t     jobs;         /* threads; 0: all cores */
    const char *rows_of;      /* another benchmark's folder; NULL: none */
    bool        tables_only;  /* nothing is asked */
    bool        reproducible; /* the same bits on every processor: cbx_model_set_reproducible */
} cbx_bench_options;

cbx_status cbx_bench_run_with(const cbx_bench_options *options, const cbx_bench_data *data,
                              size_t num_data, const char *folder, bool resume,
                              const cbx_bench_team *team, const cbx_bench_hooks *hooks,
                              cbx_bench_result *result, cbx_error *err);

cbx_status cbx_bench_dry_run_with(const cbx_bench_options *options, const cbx_bench_data *data,
                                  size_t num_data, cbx_on_estimate each, void *user,
                                  cbx_error *err);

#endif
