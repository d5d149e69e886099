/* SPDX-License-Identifier: Apache-2.0 */
/* standardise.c: see standardise.h. */
#include "standardise.h"

#include <math.h>

#include "error.h"

/* What is known of one feature. */
typedef struct column {
    double sum, squares;
    float  least, most;
    bool   fraction; /* something between or beyond 0 and 1 was seen */
} column;

static void look(const cbx_graph_data *d, column *columns)
{
    for (int32_t j = 0; j < d->num_features; j++)
        columns[j] = (column){.least = INFINITY, .most = -INFINITY};
    for (int64_t k = 0; k < (int64_t)d->num_nodes * d->num_features; k++) {
        float   v = d->x[k];
        column *c = &columns[k % d->num_features];
        c->sum += v;
        c->squares += (double)v * v;
        c->least = v < c->least ? v : c->least;
        c->most = v > c->most ? v : c->most;
        c->fraction = c->fraction || (v != 0 && v != 1);
    }
}

/* Around the mean, in a second pass: the difference of large sums would be noise. */
static double deviation(const cbx_graph_data *d, int32_t j, double mean)
{
    double squares = 0;
    for (int32_t i = 0; i < d->num_nodes; i++) {
        double gap = d->x[(int64_t)i * d->num_features + j] - mean;
        squares += gap * gap;
    }
    return sqrt(squares / d->num_nodes);
}

cbx_status cbx_standard_find(cbx_standard *s, const cbx_graph *graph, cbx_arena *arena,
                             cbx_error *err)
{
    const double          LARGE = 10, APART = 100;
    const cbx_graph_data *d = cbx_graph_view(graph);
    column               *columns = CBX_NEW(arena, column, d->num_features);
    double                largest = 0, smallest = INFINITY;
    *s = (cbx_standard){.mean = CBX_NEW0(arena, float, d->num_features),
                        .scale = CBX_NEW(arena, float, d->num_features)};
    if (!columns || !s->mean || !s->scale)
        return cbx_fail_memory(err);
    for (int32_t j = 0; j < d->num_features; j++)
        s->scale[j] = 1;
    if (!d->x) /* sparse data would not be any more */
        return CBX_OK;
    look(d, columns);
    for (int32_t j = 0; j < d->num_features; j++) {
        double size = sqrt(columns[j].squares / d->num_nodes);
        if (!(columns[j].least < columns[j].most))
            continue; /* a constant says nothing, however large it is */
        largest = size > largest ? size : largest;
        smallest = size < smallest ? size : smallest;
        double mean = columns[j].sum / d->num_nodes;
        float  scale = (float)deviation(d, j, mean);
        if (!columns[j].fraction || !isfinite(scale) || !(scale > 0))
            continue;
        s->mean[j] = (float)mean;
        s->scale[j] = scale;
        s->count++;
    }
    s->needed = s->count > 0 && (largest > LARGE || largest > APART * smallest);
    return CBX_OK;
}

cbx_status cbx_standard_graph(const cbx_standard *s, const cbx_graph *graph, cbx_arena *arena,
                              cbx_graph **out, cbx_error *err)
{
    cbx_graph_data d = *cbx_graph_view(graph);
    int64_t        count = (int64_t)d.num_nodes * d.num_features;
    float         *x = CBX_NEW(arena, float, count);
    if (!x)
        return cbx_fail_memory(err);
    for (int64_t k = 0; k < count; k++) {
        int32_t j = (int32_t)(k % d.num_features);
        x[k] = (d.x[k] - s->mean[j]) / s->scale[j];
    }
    d.x = x;
    d.discrete = NULL; /* kinds and bounds are those of other values */
    d.feat_min = d.feat_max = NULL;
    return cbx_graph_new(&d, out, err);
}

cbx_status cbx_standard_fold(const cbx_standard *s, cbx_model *m, cbx_error *err)
{
    const cbx_layer *first = &m->layers[0];
    cbx_parameter    p;
    float           *W = m->theta;
    for (int32_t i = 0; first->ops->parameter(first, i, &p); i++) {
        for (int32_t j = 0; j < p.rows; j++)
            for (int32_t c = 0; c < p.cols; c++)
                W[(int64_t)j * p.cols + c] /= s->scale[j];
        W += cbx_parameter_size(&p);
    }
    return cbx_model_centre(m, s->mean, err);
}
