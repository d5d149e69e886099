/* SPDX-License-Identifier: Apache-2.0 */
/* report.h: results that are to be shown, read and checked. */
#ifndef CBX_REPORT_H
#define CBX_REPORT_H

#include <jansson.h>

#include "buffer.h"
#include "combinex.h"

/* Pages list so many edits of an answer at most, the most influential. */
enum { CBX_EDITS_LISTED = 100 };

typedef struct cbx_report {
    cbx_report_source source;     /* model and graph are both there or both NULL */
    json_t           *lines;      /* the results as they were written, an array of objects, each
                                   * with the first CBX_EDITS_LISTED of its edits */
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

/* ---- small things about jansson */

/* Sets a key, taking the value; a NULL value, for want of memory, fails. */
int cbx_json_put(json_t *object, const char *key, json_t *value);
/* A number, or null for what JSON has none for. */
json_t *cbx_json_number(double value);
/* A text. Bytes that are not UTF-8 become U+FFFD. */
json_t *cbx_json_string(const char *text);

/* Adds the edits, as a list (json_edits.c). */
void cbx_json_edits(cbx_buffer *buffer, const cbx_counterfactual *counterfactual,
                    const cbx_graph_data *data);

/* The field `at` that an option describes (json_write.c). */
json_t *cbx_json_option(const cbx_option *option, const void *at);
/* All options that can change a result, by their names. */
json_t *cbx_json_options(const cbx_explain_options *options);

#endif
