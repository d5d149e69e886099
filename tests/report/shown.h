/* SPDX-License-Identifier: Apache-2.0 */
/* shown.h: the karate club, a model of it, and results to show. */
#ifndef CBX_TEST_SHOWN_H
#define CBX_TEST_SHOWN_H

#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "test.h"

typedef struct shown {
    cbx_graph        *graph;
    cbx_model        *model;
    char             *lines;
    cbx_report_source source;
} shown;

static inline cbx_explain_options shown_options(void)
{
    cbx_explain_options o;
    cbx_fields_default(cbx_explain_table(), &o);
    o.target = "any";
    return o;
}

/* Results about one row, with all answers, a line each; malloc'ed. */
static inline char *shown_lines(const cbx_graph *g, const cbx_model *m, int32_t row,
                                const cbx_explain_options *o)
{
    cbx_counterfactual *c = NULL;
    cbx_error           err = {0};
    char               *all = calloc(1, 1 << 20);
    char                hashes[2][65];
    cbx_graph_hash(g, hashes[0]);
    cbx_model_hash(m, hashes[1]);
    CHECK_OK(cbx_explain_with(m, g, row, o, NULL, NULL, &c, &err), err);
    for (const cbx_counterfactual *at = c; at; at = at->next) {
        char *line = cbx_counterfactual_json_with(at, g, o, hashes[0], hashes[1]);
        strcat(strcat(all, line), "\n");
        free(line);
    }
    cbx_counterfactual_free(c);
    return all;
}

static inline shown shown_make(int32_t row, const cbx_explain_options *o)
{
    shown             s = {.graph = NULL};
    cbx_error         err = {0};
    cbx_train_options t;
    cbx_model_spec    spec;
    cbx_fields_default(cbx_train_table(), &t);
    cbx_fields_default(cbx_model_table(), &spec);
    t.epochs = 100;
    CHECK_OK(cbx_graph_builtin_with("karate", NULL, &s.graph, &err), err);
    CHECK_OK(cbx_model_new_with(s.graph, &spec, 1, &s.model, &err), err);
    CHECK_OK(cbx_train_with(s.model, s.graph, &t, NULL, NULL, NULL, &err), err);
    s.lines = shown_lines(s.graph, s.model, row, o);
    s.source = (cbx_report_source){.model = s.model, .graph = s.graph};
    return s;
}

static inline void shown_free(shown *s)
{
    free(s->lines);
    cbx_model_free(s->model);
    cbx_graph_free(s->graph);
}

#endif
