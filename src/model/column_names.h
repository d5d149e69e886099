/* SPDX-License-Identifier: Apache-2.0 */
/* column_names.h: the names of the columns that a model was trained on, kept among its notes.
 *
 * A table whose columns were swapped fits a model as far as sizes go, and all answers are wrong. */
#ifndef CBX_COLUMN_NAMES_H
#define CBX_COLUMN_NAMES_H

#include "model.h"

/* Notes the names of the graph's features; nothing, where it has none. */
cbx_status cbx_model_keep_names(cbx_model *model, const cbx_graph *graph, cbx_error *err);

/* Are the graph's features those, in that order? So are any where one of the two has no names. The
 * error tells the first that is not. */
cbx_status cbx_model_check_names(const cbx_model *model, const cbx_graph_data *d, cbx_error *err);

/* cbx_model_fits but for names: for who asks often. */
cbx_status cbx_model_fits_sizes(const cbx_model *model, const cbx_graph *graph, cbx_error *err);

#endif
