/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h: the tables of a benchmark.
 *
 * A measure is averaged over the targets of a fold that have it, and then over the
 * folds; its deviation is that of the folds (n - 1). Published figures stand beside.
 * What depends on the machine, time and memory, is kept apart, so that the other
 * tables are the same bytes whenever the answers are the same. */
#ifndef CBX_BENCH_SUMMARY_H
#define CBX_BENCH_SUMMARY_H

#include <stdio.h>

#include "rows.h"

typedef enum cbx_bench_measure {
    CBX_VALIDITY,
    CBX_FIDELITY,
    CBX_DISTRIBUTION,
    CBX_NODE_SPARSITY,
    CBX_EDGE_SPARSITY,
    CBX_EMBEDDING,
    CBX_BENCH_MEASURES
} cbx_bench_measure;

typedef struct cbx_bench_measure_info {
    const char *name;   /* in files */
    const char *title;  /* for people */
    bool        higher; /* is better */
} cbx_bench_measure_info;

extern const cbx_bench_measure_info cbx_bench_measure_infos[CBX_BENCH_MEASURES];

typedef enum cbx_bench_verdict {
    CBX_NO_VERDICT,
    CBX_BETTER,
    CBX_EQUAL,
    CBX_WORSE
} cbx_bench_verdict;

/* "", "better", "equal", "worse" */
extern const char *const cbx_bench_verdicts[];

typedef struct cbx_bench_figure {
    double            mean, std;                /* NaN: none */
    double            published, published_std; /* NaN: none */
    cbx_bench_verdict verdict;                  /* ours, next to the published */
    int               place;                    /* 1: best of the cell, 2: second, 0: neither */
} cbx_bench_figure;

typedef struct cbx_bench_spread {
    double mean, median, most; /* most: nine in ten are no larger */
} cbx_bench_spread;

typedef struct cbx_bench_line {
    bool             asked;                   /* the method is asked about this data at all */
    int64_t          targets, found, skipped; /* targets: all, those skipped among them */
    cbx_bench_figure figures[CBX_BENCH_MEASURES];
    cbx_bench_spread features, edges, edits; /* of those found */
    cbx_bench_spread seconds;                /* of all that were searched for, found or not */
    double           peak_mb;
} cbx_bench_line;

typedef struct cbx_bench_cell {
    int32_t         data, model;
    double          accuracy, accuracy_std;
    cbx_bench_line *lines;          /* by method */
    int32_t         winner, second; /* methods, -1: none; see winner.c */
} cbx_bench_cell;

typedef struct cbx_bench_summary {
    const cbx_bench_plan *plan;
    cbx_bench_cell       *cells;
    int32_t               num_cells;
    cbx_arena             arena;
} cbx_bench_summary;

cbx_status cbx_bench_summary_init(cbx_bench_summary *summary, const cbx_bench_plan *plan,
                                  const cbx_bench_rows *rows, cbx_error *err);
void       cbx_bench_summary_free(cbx_bench_summary *summary);

/* Fills in who won each cell; and tells it in words. */
void             cbx_bench_find_winners(cbx_bench_summary *summary);
cbx_bench_winner cbx_bench_winner_of(const cbx_bench_summary *summary, const cbx_bench_cell *cell);

/* A figure as it is printed: those that look the same are the same. */
double cbx_bench_printed(double value);

/* Writes every table to the folder. */
cbx_status cbx_bench_summarise(cbx_bench_summary *summary, const char *folder, cbx_error *err);

/* The figure that the paper prints for this row of its tables: false where none. The data
 * is known by the name of its file. */
bool cbx_bench_published(cbx_task task, const char *data, const char *model, const char *method,
                         cbx_bench_measure measure, double *mean, double *std);

/* The method's rank in each measure, 1 the best, averaged over the cells in which it was
 * asked: num_methods * CBX_BENCH_MEASURES, NaN where there is none. Methods that have no
 * figure share the last ranks, except where they cannot have one. */
void cbx_bench_ranks(const cbx_bench_summary *summary, double *ranks);

/* Each writes one file. */
void cbx_bench_put_csv(FILE *out, const cbx_bench_summary *s);
void cbx_bench_put_timing(FILE *out, const cbx_bench_summary *s);
void cbx_bench_put_markdown(FILE *out, const cbx_bench_summary *s);
void cbx_bench_put_latex(FILE *out, const cbx_bench_summary *s);
void cbx_bench_put_json(FILE *out, const cbx_bench_summary *s);
void cbx_bench_put_svg(FILE *out, const cbx_bench_summary *s, const double *ranks);

/* The page of a benchmark, time and memory included. */
cbx_status cbx_bench_page(const cbx_bench_summary *s, const double *ranks, const char *path,
                          cbx_error *err);

/* "node" or "graph" */
const char *cbx_bench_task_name(const cbx_bench_plan *plan, int32_t data);

#endif
