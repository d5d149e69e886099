/* SPDX-License-Identifier: Apache-2.0 */
/* costs.c: see costs.h. */
#include "costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double price_of(const question *q, int feature)
{
    return feature == q->dear ? q->dear_cost : q->feature_cost;
}

bool has_between(const question *q, int feature)
{
    const world *w = &q->world;
    bool         whole = true;
    for (int i = 0; i < w->nodes; i++)
        whole = whole && feature_of(w, i, feature) == rintf(feature_of(w, i, feature));
    double lo = (double)q->lo[feature], hi = (double)q->hi[feature];
    double step = q->step[feature];
    if (step > 0) { /* its multiples, as floats, are what there is */
        double first = floor(lo / step), last = ceil(hi / step);
        first += (float)(first * step) < q->lo[feature];
        last -= (float)(last * step) > q->hi[feature];
        lo = first * step;
        hi = last * step;
    }
    if (q->group[feature] >= 0 || !(lo < hi))
        return false;
    if (q->kinds_auto ? whole : w->discrete[feature])
        return whole && floor(hi) - ceil(lo) > 1;
    return true;
}

/* A group that points elsewhere costs as much as one feature. */
double fixed_cost(const question *q, const cbx_counterfactual *a)
{
    double cost = 0;
    for (int64_t k = 0; k < a->num_edits; k++) {
        const cbx_edit *e = &a->edits[k];
        if (e->op == CBX_REMOVE_NODE || e->op == CBX_ADD_NODE)
            cost += q->node_cost;
        else if (e->op != CBX_SET_FEATURE)
            cost += q->edge_cost;
        else if (q->group[e->feature] < 0 || e->to != 0)
            cost += price_of(q, e->feature);
    }
    return cost;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median absolute deviation, else the standard deviation, else 1. */
static double scale_of(const world *w, int feature)
{
    double values[MAX_NODES], off[MAX_NODES], mean = 0, squares = 0;
    for (int i = 0; i < w->nodes; i++) {
        values[i] = (double)feature_of(w, i, feature);
        mean += values[i] / w->nodes;
    }
    qsort(values, (size_t)w->nodes, sizeof *values, by_size);
    for (int i = 0; i < w->nodes; i++) {
        off[i] = fabs(values[i] - values[w->nodes / 2]);
        squares += (values[i] - mean) * (values[i] - mean) / w->nodes;
    }
    qsort(off, (size_t)w->nodes, sizeof *off, by_size);
    if (off[w->nodes / 2] > 0)
        return off[w->nodes / 2];
    return squares > 1e-12 * fmax(1, mean * mean) ? sqrt(squares) : 1;
}

/* ---- how usual rows are */

enum { NEAREST = 5, MEASURED = 64 };

static double weight_of(const question *q, int feature)
{
    bool marks = true;
    for (int i = 0; i < q->world.nodes; i++) {
        float v = feature_of(&q->world, i, feature);
        marks = marks && (v == 0 || v == 1);
    }
    if (!marks)
        return 1 / scale_of(&q->world, feature);
    return q->group[feature] >= 0 ? 0.5 : 1;
}

/* To the nearest of all rows but the node's own. */
static double mean_distance(const question *q, const double *weight, int node, const float *row)
{
    const world *w = &q->world;
    double       off[MAX_NODES], sum = 0;
    int          count = 0;
    for (int i = 0; i < w->nodes; i++) {
        if (i == node)
            continue;
        off[count] = 0;
        for (int j = 0; j < w->features; j++)
            off[count] += weight[j] * fabs((double)row[j] - (double)feature_of(w, i, j));
        count++;
    }
    qsort(off, (size_t)count, sizeof *off, by_size);
    for (int k = 0; k < NEAREST; k++)
        sum += off[k];
    return sum / NEAREST;
}

static double usual_distance(const question *q, const double *weight)
{
    const world *w = &q->world;
    int          count = w->nodes < MEASURED ? w->nodes : MEASURED;
    double       off[MEASURED], sum = 0;
    for (int k = 0; k < count; k++) {
        int node = k * w->nodes / count;
        off[k] = mean_distance(q, weight, node, &w->x[node * w->features]);
        sum += off[k];
    }
    qsort(off, (size_t)count, sizeof *off, by_size);
    return off[count / 2] > 1e-12 ? off[count / 2] : sum > 1e-12 ? sum / count : 1;
}

double plausibility_of(const question *q, const float *x)
{
    const world *w = &q->world;
    double       weight[MAX_FEATURES], most = NAN, usual = NAN;
    for (int i = 0; i < w->nodes && w->nodes > NEAREST; i++) {
        const float *row = x + (size_t)i * (size_t)w->features;
        if (!memcmp(row, &w->x[i * w->features], (size_t)w->features * sizeof *row))
            continue;
        for (int j = 0; j < w->features && isnan(usual); j++)
            weight[j] = weight_of(q, j);
        usual = isnan(usual) ? usual_distance(q, weight) : usual;
        most = fmax(most, mean_distance(q, weight, i, row) / usual);
    }
    return most;
}

bool is_plausible(const question *q, const float *x, double slack)
{
    return !(q->plausible > 0) || !(plausibility_of(q, x) > q->plausible * (1 + slack));
}

static bool differ(double a, double b)
{
    return fabs(a - b) > 1e-4 * fmax(1e-6, fabs(b));
}

const char *wrong_cost(const question *q, const cbx_counterfactual *a)
{
    double way = 0, weighed = 0;
    for (int64_t k = 0; k < a->num_edits; k++) {
        const cbx_edit *e = &a->edits[k];
        if (e->op != CBX_SET_FEATURE || !has_between(q, e->feature))
            continue;
        double size = fabs((double)e->to - (double)e->from) / scale_of(&q->world, e->feature);
        way += size;
        weighed += price_of(q, e->feature) * size;
    }
    if (differ(isnan(a->l1_mad) ? 0 : a->l1_mad, way))
        return "goes another way than its l1_mad";
    if (differ(a->cost, fixed_cost(q, a) + (q->counts == COUNTS_EDITS ? 0 : weighed)))
        return "has another cost than its edits";
    return NULL;
}

bool costs_more(const question *q, const cbx_counterfactual *a, const cbx_counterfactual *b)
{
    double more = fixed_cost(q, a) - fixed_cost(q, b);
    if (q->counts == COUNTS_BOTH && fabs(more) > 1e-9 * fixed_cost(q, a))
        return more > 0;
    return a->cost > b->cost + 1e-9 * fmax(1, fabs(b->cost));
}
