/* SPDX-License-Identifier: Apache-2.0 */
/* report.h: results that are to be shown, read and checked. */
#ifndef CBX_REPORT_H
#define CBX_REPORT_H

#include "combinex/kit.h"
#include "explain_options.h"
#include "json_writer.h"

/* cbx_counterfactual_json, with the options as they are inside. */
char *cbx_counterfactual_json_with(const cbx_counterfactual *counterfactual, const cbx_graph *graph,
                                   const cbx_explain_options *options, const char *graph_hash,
                                   const char *model_hash);

/* Pages list so many edits of an answer at most, the most influential. */
enum { CBX_EDITS_LISTED = 100 };

typedef struct cbx_report {
    cbx_report_source source;     /* model and graph are both there or both NULL */
    const cbx_json  **lines;      /* the results as they were written, each with the first
                                   * CBX_EDITS_LISTED of its edits */
    cbx_arena            arena;   /* what they are in */
    cbx_counterfactual **answers; /* the same as structs: outcome, classes, edits */
    size_t               count;
    size_t               targets; /* different ones; the lines of one stand together */
} cbx_report;

/* Reads the lines. With a graph and a model, those that do not fit them are refused. */
cbx_status cbx_report_open(cbx_report *report, const char *results, const cbx_report_source *source,
                           cbx_error *err);
void       cbx_report_close(cbx_report *report);

/* The page of one target (page/explanation.js), from all lines. */
cbx_status cbx_report_explanation(const cbx_report *report, const char *path, cbx_error *err);

/* The page of many. */
cbx_status cbx_report_run(const cbx_report *report, const char *path, cbx_error *err);

/* ---- pieces of a result line */

/* The member "name". JSON is UTF-8: a name that is not has no place in it (json_write.c). */
void cbx_json_put_name(cbx_json_writer *w, const char *name);

/* The member "edits" (json_edits.c). */
void cbx_json_put_edits(cbx_json_writer *w, const cbx_counterfactual *counterfactual,
                        const cbx_graph_data *data);

#endif
