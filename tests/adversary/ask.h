/* SPDX-License-Identifier: Apache-2.0 */
/* ask.h: puts a question to the library, through its public interface. */
#ifndef CBX_ADVERSARY_ASK_H
#define CBX_ADVERSARY_ASK_H

#include "question.h"

typedef struct asked {
    cbx_graph          *graph;
    cbx_model          *model;
    cbx_options        *options;
    cbx_counterfactual *answer; /* NULL: refused */
    cbx_error           error;
} asked;

/* Makes the graph, the model and the options. False: see `error`. */
bool ask_prepare(const question *q, asked *a);

/* False: the library refused; see `error`. */
bool ask_explain(const question *q, asked *a);

void ask_free(asked *a);

#endif
