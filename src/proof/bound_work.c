/* SPDX-License-Identifier: Apache-2.0 */
/* bound_work.c: see bound_work.h. */
#include "bound_work.h"

#include <math.h>

/* What a multiplication of bounds, in double precision and with signs to look at, takes more than
 * one of the model's. */
static const double DEARER = 8;

/* Choices with an edge into node v. */
static double choices_at(const cbx_partial_graph *g, int32_t v)
{
    return (double)(g->at_begin[v + 1] - g->at_begin[v]);
}

/* From how many choices reach each row to how many do a layer on. */
static void spread(const cbx_partial_graph *g, const double *before, double *after)
{
    const cbx_view *v = g->view;
    for (int32_t i = 0; i < v->n; i++) {
        double reach = before[i] + choices_at(g, i);
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
            reach += before[v->source[e]];
        after[i] = fmin(reach, g->count);
    }
}

int cbx_bound_work_of(const cbx_net *net, const cbx_partial_graph *graph, cbx_arena *arena,
                      cbx_bound_work *out)
{
    int32_t n = graph->view->n;
    double *reach = CBX_NEW(arena, double, n), *next = CBX_NEW(arena, double, n);
    *out = (cbx_bound_work){0};
    if (!reach || !next)
        return -1;
    for (int32_t l = 0; l < net->num_layers; l++) {
        const cbx_net_layer *layer = &net->layers[l];
        double product = (double)layer->n_in * layer->n_out * (layer->has_own ? 2 : 1);
        double rows = 0, entries = 0;
        for (int32_t v = 0; v < n; v++) {
            if (l == 0) /* of degrees, those of what a row is linked to count as well */
                reach[v] = layer->norm == CBX_NORM_NONE ? 0 : choices_at(graph, v);
            else
                rows += 1 + 2 * reach[v]; /* up and down */
        }
        spread(graph, reach, next);
        for (int32_t v = 0; v < n; v++)
            entries += next[v];
        /* maxima have entries of their own, which are multiplied behind them */
        double own = layer->maximum ? 2 * entries * layer->n_in * layer->n_out : 0;
        out->bound += DEARER * (rows * product + own + 4 * entries * layer->n_out);
        out->pass += n * product + (double)graph->view->m * layer->n_out;
        double *swap = reach;
        reach = next;
        next = swap;
    }
    return 0;
}
