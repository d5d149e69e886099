/* SPDX-License-Identifier: Apache-2.0 */
/* promise.h: what edges would do that are not there, of all at once.
 *
 * One run of the model there and back on the factual graph says how much every layer's output at
 * each node counts. What an edge from u to v would add to it is u's input of that layer, which is
 * known of all nodes (layer_inputs.h), times what the layer does with neighbours: a dot product.
 * Degrees come in as factors of the two nodes, with the new edge counted. */
#ifndef CBX_PROMISE_H
#define CBX_PROMISE_H

#include "layer_inputs.h"
#include "widen.h"

typedef struct cbx_promise {
    const cbx_search       *s;
    const cbx_layer_inputs *inputs;
    bool                    directed;
    double                  weight; /* of an added edge */
    int32_t                 rows;   /* of the view of which anything is known */
    int32_t                *known;  /* by layer: rows that have a pull */
    float                 **pull;   /* by layer: known x n_in */
    double                 *less;   /* by row: the pull of what features are less; NULL: nothing */
    float                  *crowd;  /* by row: what one edge more does, wherever it comes from */
    cbx_norm_kind          *norm;   /* by layer */
    float                  *count;  /* by row: edges into it */
} cbx_promise;

/* Memory of `arena`. */
cbx_status cbx_promise_init(cbx_promise *promise, const cbx_search *s, double weight,
                            cbx_arena *arena, cbx_error *err);

/* By how much the class that is sought would gain on the other, to first order, by an edge from
 * one node of the graph into another, which is this row of the view. */
double cbx_promise_into(const cbx_promise *promise, int32_t row, int32_t node, int32_t from);

#endif
