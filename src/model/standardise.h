/* SPDX-License-Identifier: Apache-2.0 */
/* standardise.h: training on features of mean 0 and deviation 1, for data in its own units.
 *
 * A model is trained on (x - mean) / scale, and afterwards rewritten for x itself. The first
 * layer is linear in its input, so scales go into its weights, which then are an ordinary
 * model's. Means do not: what an aggregation makes of a constant depends on the edges. They stay in
 * the model as its parameter input.mean, and the layer adds to each product of its input
 * what they make of it (cbx_layer's shift). Edits, bounds and gradients are in the data's units. */
#ifndef CBX_STANDARDISE_H
#define CBX_STANDARDISE_H

#include "model.h"

enum { CBX_STANDARDISE_AUTO, CBX_STANDARDISE_ON, CBX_STANDARDISE_OFF };

typedef struct cbx_standard {
    float  *mean, *scale; /* by feature; 0 and 1 where it stays as it is */
    int32_t count;        /* features that do not */
    bool    shifts;       /* some mean is not 0 */
} cbx_standard;

/* Of the features of training nodes: those that are training rows (part 0 of cbx_split), or in
 * graphs that are. Constant features stay as they are, and with AUTO those of 0 and 1 do.
 *
 * The mean is subtracted from features that are not 0 in at least half of these nodes, and they are
 * divided by their deviation. Of others a zero means absence and stays one, so that sparse
 * data stays sparse: they are divided by the root mean square of what is not 0. So are all where
 * `first`, the model's layer, takes a maximum, which means would not pass through. How features are
 * stored makes no difference. */
cbx_status cbx_standard_find(cbx_standard *standard, const cbx_graph *graph, const uint8_t *part,
                             int mode, const cbx_layer *first, cbx_arena *arena, cbx_error *err);

/* Can training on this graph differ from training with OFF? Not with AUTO where all is 0 or 1. */
CBX_INTERNAL bool cbx_standard_applies(const cbx_graph *graph, int mode);

/* The graph with standardised features, to be freed before the original one and the arena. */
cbx_status cbx_standard_graph(const cbx_standard *standard, const cbx_graph *graph,
                              cbx_arena *arena, cbx_graph **out, cbx_error *err);

/* Rewrites a model that was trained on that graph for the original one. */
cbx_status cbx_standard_fold(const cbx_standard *standard, cbx_model *model, cbx_error *err);

#endif
