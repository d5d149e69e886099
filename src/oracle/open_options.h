/* SPDX-License-Identifier: Apache-2.0 */
/* open_options.h: the options of opening a model as the library's own struct, and what takes it. */
#ifndef CBX_OPEN_OPTIONS_H
#define CBX_OPEN_OPTIONS_H

#include "option_table.h"

/* What the inputs and the outputs of an exported program are, where its file does not tell. */
typedef struct cbx_open_options {
    const char *inputs;  /* "x=NAME,edge_index=NAME": which input is which; NULL: by their names */
    int         scores;  /* auto, classes, probabilities, labels, label-chances, number */
    const char *label;   /* which of several labels or numbers, from 0; NULL: the only one */
    const char *classes; /* names of a label's two classes, such as "no,yes"; NULL: these */
} cbx_open_options;

cbx_status cbx_model_open_with(const char *path, const cbx_open_options *options, cbx_model **out,
                               cbx_error *err);

#endif
