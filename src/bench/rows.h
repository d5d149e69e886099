/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h: the answers of a benchmark, as lines of a file.
 *
 * While it runs, each process appends to a file of its own, rows.RANK.part. rows.csv.gz
 * holds what was gathered from those: whole, in the order of the plan, each answer
 * once. A line that a crash cut short does not count. */
#ifndef CBX_BENCH_ROWS_H
#define CBX_BENCH_ROWS_H

#include "line_file.h"
#include "plan.h"

typedef struct cbx_bench_row {
    int32_t      data, model, fold, method, row; /* the key; all but `row` by number in the plan */
    cbx_outcome  outcome;
    int64_t      label; /* -1: none */
    int32_t      prediction, target, result;
    cbx_measures measures;
    int32_t      nodes; /* of the factual graph */
    int64_t      edges;
    int64_t      epoch; /* where it was found */
    cbx_certificate certificate;
    double          best_lead; /* where nothing was found: cbx_counterfactual's */
    double          accuracy;  /* of the oracle, on its test rows */
    double          seconds, peak_mb;
} cbx_bench_row;

typedef struct cbx_bench_rows {
    cbx_bench_row *rows; /* ascending by key, each key once */
    int64_t        count;
} cbx_bench_rows;

/* Reads the folder's rows.csv.gz, or rows.csv, unpacked, and parts. */
cbx_status cbx_bench_rows_load(const cbx_bench_plan *plan, const char *folder, cbx_bench_rows *out,
                               cbx_error *err);
/* Only of these data sets, by number in the plan; rows of another plan are passed over. */
cbx_status cbx_bench_rows_load_of(const cbx_bench_plan *plan, const char *folder,
                                  const bool *wanted, cbx_bench_rows *out, cbx_error *err);
void       cbx_bench_rows_free(cbx_bench_rows *rows);

/* Writes them to rows.csv.gz, and then removes the parts and a rows.csv. */
cbx_status cbx_bench_rows_gather(const cbx_bench_plan *plan, const char *folder,
                                 const cbx_bench_rows *rows, cbx_error *err);

/* The row with the key of `key`, or NULL. */
const cbx_bench_row *cbx_bench_rows_find(const cbx_bench_rows *rows, const cbx_bench_row *key);

/* A part, to be appended to. */
cbx_status cbx_bench_part_open(cbx_line_file *part, const char *folder, int rank, cbx_error *err);

cbx_status cbx_bench_part_add(cbx_line_file *part, const cbx_bench_plan *plan,
                              const cbx_bench_row *row, cbx_error *err);

/* "FOLDER/NAME", to be freed; NULL when memory runs out. */
char *cbx_bench_path(const char *folder, const char *name);

/* Writes a whole file, atomically. */
cbx_status cbx_bench_write(const char *path, const char *text, size_t size, cbx_error *err);
/* The same through gzip; what is not packed is read as it is. */
cbx_status cbx_bench_read_packed(const char *path, char **text, cbx_error *err);
cbx_status cbx_bench_write_packed(const char *path, const char *text, size_t size, cbx_error *err);
/* Removes what a process that was killed while writing may have left. */
void cbx_bench_sweep(const char *folder);

#endif
