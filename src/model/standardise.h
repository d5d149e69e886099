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

enum { CBX_STANDARDISE_OFF, CBX_STANDARDISE_AUTO, CBX_STANDARDISE_ON };

typedef struct cbx_standard {
    float  *mean, *scale; /* by feature; 0 and 1 where it stays as it is */
    int32_t count;        /* features that do not */
    bool    needed;       /* what `auto` goes by */
} cbx_standard;

/* Of all nodes' features; labels are not looked at. Features that are 0 or 1 throughout, or
 * constant, stay as they are, and so does sparse data. `auto` standardises where a feature's root
 * mean square is beyond 10, or beyond 100 times another's. */
cbx_status cbx_standard_find(cbx_standard *standard, const cbx_graph *graph, cbx_arena *arena,
                             cbx_error *err);

/* Does training with this mode standardise? */
static inline bool cbx_standard_applies(const cbx_standard *standard, int mode)
{
    return standard->count > 0 &&
           (mode == CBX_STANDARDISE_ON || (mode == CBX_STANDARDISE_AUTO && standard->needed));
}

/* The graph with standardised features, to be freed before the original one and the arena. */
cbx_status cbx_standard_graph(const cbx_standard *standard, const cbx_graph *graph,
                              cbx_arena *arena, cbx_graph **out, cbx_error *err);

/* Rewrites a model that was trained on that graph for the original one. */
cbx_status cbx_standard_fold(const cbx_standard *standard, cbx_model *model, cbx_error *err);

#endif
