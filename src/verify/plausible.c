/* SPDX-License-Identifier: Apache-2.0 */
/* plausible.c: see plausible.h. */
#include "plausible.h"

#include <math.h>

#include "column_values.h"
#include "deadline.h"
#include "error.h"
#include "sort.h"

/* Rows that stand for a class; rows of them whose distance to the others is measured; neighbours.
 */
enum { ROWS = 512, MEASURED = 64, NEAREST = 5 };

/* Multiplications in the time of comparing a value. */
static const double VALUE = 2;

typedef struct peers {
    int32_t *nodes; /* NULL: not looked at yet */
    int64_t  count;
    double   usual; /* mean distance to the nearest; NaN: they are too few */
} peers;

struct cbx_plausible {
    const cbx_graph *graph;
    const int32_t   *group;
    double          *weight; /* by feature: distance by difference; NULL: not known yet */
    peers           *of;     /* by class of the data; the last: all rows */
    cbx_arena       *arena;
};

cbx_plausible *cbx_plausible_new(const cbx_graph *graph, const int32_t *group, cbx_arena *arena)
{
    cbx_plausible *p = CBX_NEW0(arena, cbx_plausible, 1);
    if (!p || !(p->of = CBX_NEW0(arena, peers, (size_t)graph->data.num_classes + 1)))
        return NULL;
    p->graph = graph;
    p->group = group;
    p->arena = arena;
    return p;
}

/* ---- distances */

/* Features that some row has neither 0 nor 1 of. */
static cbx_status find_between(const cbx_graph_data *d, uint8_t *between, cbx_error *err)
{
    int64_t rows = d->num_nodes < ROWS ? d->num_nodes : ROWS;
    for (int64_t k = 0; k < rows; k++) {
        cbx_row_entries r = cbx_row_entries_of(d, k * d->num_nodes / rows);
        if (cbx_out_of_time(VALUE * (double)(r.end - r.begin)))
            return cbx_fail_late(err);
        for (int64_t e = r.begin; e < r.end; e++)
            between[cbx_row_feature(&r, e)] |=
                cbx_row_value(&r, e) != 0 && cbx_row_value(&r, e) != 1;
    }
    return CBX_OK;
}

static cbx_status find_weights(cbx_plausible *p, cbx_error *err)
{
    const cbx_graph_data *d = &p->graph->data;
    cbx_column_values     values;
    uint8_t              *between = CBX_NEW0(p->arena, uint8_t, d->num_features);
    double               *weight = CBX_NEW(p->arena, double, d->num_features);
    if (!between || !weight)
        return cbx_fail_memory(err);
    cbx_status status = find_between(d, between, err);
    if (!status)
        status = cbx_column_values_take(d, between, ROWS, p->arena, &values, err);
    for (int32_t j = 0; j < d->num_features && !status; j++) {
        float scale = 1;
        if (between[j])
            status = cbx_column_values_scale(&values, j, p->arena, &scale, err);
        /* two features of a group differ where it points elsewhere */
        weight[j] = p->group[j] >= 0 && !between[j] ? 0.5 : 1 / (double)scale;
    }
    p->weight = status ? NULL : weight;
    return status;
}

/* What `x` is away from a row of zeros. */
static double length_of(const cbx_plausible *p, const float *x)
{
    double sum = 0;
    for (int32_t j = 0; j < p->graph->data.num_features; j++)
        sum += p->weight[j] * fabs((double)x[j]);
    return sum;
}

/* From `x`, of that length, to a row of the data. */
static double distance(const cbx_plausible *p, const float *x, double length, int32_t node)
{
    const cbx_graph_data *d = &p->graph->data;
    cbx_row_entries       r = cbx_row_entries_of(d, node);
    double                sum = d->x ? 0 : length;
    for (int64_t k = r.begin; k < r.end; k++) {
        int32_t j = cbx_row_feature(&r, k);
        double  off = fabs((double)x[j] - (double)cbx_row_value(&r, k));
        sum += p->weight[j] * (d->x ? off : off - fabs((double)x[j]));
    }
    return d->x || sum > 1e-12 * length ? sum : 0; /* what rounding leaves is none */
}

/* The mean of the least distances to others than the node itself. */
static cbx_status nearest_mean(const cbx_plausible *p, const peers *with, int32_t node,
                               const float *x, double *out, cbx_error *err)
{
    double least[NEAREST], sum = 0, length = p->graph->data.x ? 0 : length_of(p, x);
    int    found = 0;
    for (int64_t i = 0; i < with->count; i++) {
        if (with->nodes[i] == node)
            continue;
        cbx_row_entries r = cbx_row_entries_of(&p->graph->data, with->nodes[i]);
        if (cbx_out_of_time(VALUE * (double)(r.end - r.begin)))
            return cbx_fail_late(err);
        double off = distance(p, x, length, with->nodes[i]);
        if (found == NEAREST && off >= least[NEAREST - 1])
            continue;
        int at = found < NEAREST ? found++ : NEAREST - 1;
        for (; at > 0 && least[at - 1] > off; at--)
            least[at] = least[at - 1];
        least[at] = off;
    }
    for (int k = 0; k < found; k++)
        sum += least[k];
    *out = found ? sum / found : NAN;
    return CBX_OK;
}

/* ---- whom a row is compared with */

static bool has_label(const cbx_graph_data *d, int32_t row, int32_t class)
{
    return class == d->num_classes || (d->y && d->y[row] == class);
}

/* Counts the nodes of the class; where `nodes` is not NULL, writes those of ROWS places. */
static int64_t walk_nodes(const cbx_graph *g, int32_t class, int64_t count, int32_t *nodes)
{
    const cbx_graph_data *d = &g->data;
    int64_t               at = 0, kept = 0, most = count < ROWS ? count : ROWS;
    for (int32_t row = 0; row < cbx_graph_label_rows(g); row++) {
        if (!has_label(d, row, class))
            continue;
        int64_t begin = d->task == CBX_GRAPH ? d->graph_ptr[row] : row;
        int64_t end = d->task == CBX_GRAPH ? d->graph_ptr[row + 1] : row + 1;
        for (int64_t i = begin; i < end; i++, at++)
            if (nodes && kept < most && at == kept * count / most)
                nodes[kept++] = (int32_t)i;
    }
    return at;
}

static int by_distance(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What is usual among them: the median; where most rows are the same as others, the mean; where
 * all are, 1. */
static cbx_status measure_usual(const cbx_plausible *p, peers *who, cbx_error *err)
{
    int64_t count = who->count < MEASURED ? who->count : MEASURED;
    double  off[MEASURED], sum = 0;
    float  *x = CBX_NEW(p->arena, float, p->graph->data.num_features);
    if (!x)
        return cbx_fail_memory(err);
    for (int64_t k = 0; k < count; k++) {
        int32_t node = who->nodes[k * who->count / count];
        cbx_row_expand(&p->graph->data, node, x);
        cbx_status status = nearest_mean(p, who, node, x, &off[k], err);
        if (status)
            return status;
        sum += off[k];
    }
    if (cbx_sort(off, count, sizeof *off, by_distance, p->arena))
        return cbx_fail_late(err);
    who->usual = off[count / 2];
    if (!(who->usual > 0))
        who->usual = sum > 0 ? sum / (double)count : 1;
    return CBX_OK;
}

static cbx_status find_peers(const cbx_plausible *p, int32_t class, peers *out, cbx_error *err)
{
    int64_t all = walk_nodes(p->graph, class, 0, NULL);
    peers   who = {.nodes = CBX_NEW(p->arena, int32_t, ROWS), .usual = NAN};
    if (!who.nodes)
        return cbx_fail_memory(err);
    who.count = all < ROWS ? all : ROWS;
    (void)walk_nodes(p->graph, class, all, who.nodes);
    cbx_status status = who.count > NEAREST ? measure_usual(p, &who, err) : CBX_OK;
    if (!status)
        *out = who;
    return status;
}

/* Made ready by one thread at a time; what is ready no longer changes. */
static cbx_status look_up(cbx_plausible *p, int32_t class, const peers **out, cbx_error *err)
{
    int32_t    all = p->graph->data.num_classes;
    cbx_status status = CBX_OK;
    class = class < 0 || class > all ? all : class;
#pragma omp critical(cbx_plausible)
    {
        if (!p->weight)
            status = find_weights(p, err);
        if (!status && !p->of[class].nodes)
            status = find_peers(p, class, &p->of[class], err);
        if (!status && class != all && isnan(p->of[class].usual) && !p->of[all].nodes)
            status = find_peers(p, all, &p->of[all], err);
    }
    *out = !status && isnan(p->of[class].usual) ? &p->of[all] : &p->of[class];
    return status;
}

cbx_status cbx_plausible_prepare(cbx_plausible *p, cbx_error *err)
{
    const peers *ignored;
    cbx_status   status = CBX_OK;
    for (int32_t class = 0; class <= p->graph->data.num_classes && !status; class ++)
        status = look_up(p, class, &ignored, err);
    return status;
}

/* ---- asking */

cbx_status cbx_plausible_row(cbx_plausible *p, int32_t node, int32_t class, const float *x,
                             double *out, cbx_error *err)
{
    const peers *who;
    *out = NAN;
    cbx_status status = look_up(p, class, &who, err);
    if (!status && !isnan(who->usual))
        status = nearest_mean(p, who, node, x, out, err);
    *out /= who->usual;
    return status;
}

static int by_node(const void *a, const void *b)
{
    const cbx_edit *x = *(const cbx_edit *const *)a, *y = *(const cbx_edit *const *)b;
    return (x->node > y->node) - (x->node < y->node);
}

/* Those that set a feature, by node; -1: no memory, or no time. */
static int64_t sort_edits(const cbx_edit *edits, int64_t count, const cbx_edit **sorted,
                          cbx_arena *arena)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++)
        if (edits[k].op == CBX_SET_FEATURE)
            sorted[kept++] = &edits[k];
    return cbx_sort(sorted, kept, sizeof(const cbx_edit *), by_node, arena) ? -1 : kept;
}

cbx_status cbx_plausible_edits(cbx_plausible *p, int32_t class, const cbx_edit *edits,
                               int64_t count, double *out, cbx_error *err)
{
    cbx_arena        arena = {0};
    float           *x = CBX_NEW(&arena, float, p->graph->data.num_features);
    const cbx_edit **sorted = CBX_NEW(&arena, const cbx_edit *, count);
    int64_t          kept = x && sorted ? sort_edits(edits, count, sorted, &arena) : -1;
    cbx_status       status = kept < 0 ? cbx_fail_late(err) : CBX_OK;
    *out = NAN;
    for (int64_t k = 0; k < kept && !status;) {
        double  off = NAN;
        int32_t node = sorted[k]->node;
        cbx_row_expand(&p->graph->data, node, x);
        for (; k < kept && sorted[k]->node == node; k++)
            x[sorted[k]->feature] = sorted[k]->to;
        status = cbx_plausible_row(p, node, class, x, &off, err);
        *out = fmax(*out, off);
    }
    cbx_arena_free(&arena);
    return status;
}
