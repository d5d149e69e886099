/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c: see columns.h. */
#include "columns.h"

#include <math.h>

#include "bounds.h"
#include "deadline.h"
#include "error.h"

/* Rows that are looked at for what is usual, evenly spaced: more tell little more. */
enum { ROWS = 2048 };

/* Multiplications in the time of looking at a value. */
static const double VALUE = 4;

/* ---- which features are counted here */

static cbx_status find_steps(const cbx_setup *setup, cbx_columns *c, const uint8_t *fixed,
                             const int32_t *group, const float *lo, const float *hi,
                             cbx_arena *arena, bool *any, cbx_error *err)
{
    const cbx_graph_data *d = &setup->graph->data;
    const uint8_t        *fractions = NULL;
    for (int32_t j = 0; j < d->num_features; j++) {
        if (fixed[j] || group[j] >= 0 || !(lo[j] < hi[j]) ||
            (setup->discrete[j] && hi[j] - lo[j] <= 1))
            continue;
        if (setup->discrete[j] && !fractions && !(fractions = cbx_bounds_fractions(d, arena)))
            return cbx_fail_memory(err);
        if (setup->discrete[j] &&
            fractions[j]) /* a mask says so; which values it has, nobody knows */
            continue;
        c->of[j].whole = setup->discrete[j];
        c->of[j].step = 1;
        *any = true;
    }
    return CBX_OK;
}

/* Steps of a hundredth of the range: of the data's values, or of those that are permitted where the
 * data has one only. */
static cbx_status measure_ranges(const cbx_graph_data *d, cbx_columns *c, const float *lo,
                                 const float *hi, cbx_arena *arena, cbx_error *err)
{
    size_t   f = (size_t)d->num_features;
    float   *least = CBX_NEW(arena, float, f), *most = CBX_NEW(arena, float, f);
    int32_t *seen = CBX_NEW0(arena, int32_t, f);
    if (!least || !most || !seen)
        return cbx_fail_memory(err);
    for (int64_t i = 0; i < d->num_nodes; i++) {
        cbx_row_entries r = cbx_row_entries_of(d, i);
        if (cbx_out_of_time(VALUE * (double)(r.end - r.begin)))
            return cbx_fail_late(err);
        for (int64_t k = r.begin; k < r.end; k++) {
            int32_t j = cbx_row_feature(&r, k);
            float   v = cbx_row_value(&r, k);
            least[j] = seen[j] ? fminf(least[j], v) : v;
            most[j] = seen[j]++ ? fmaxf(most[j], v) : v;
        }
    }
    for (size_t j = 0; j < f; j++) {
        if (seen[j] < d->num_nodes) { /* the entries that are not stored */
            least[j] = seen[j] ? fminf(least[j], 0) : 0;
            most[j] = seen[j] ? fmaxf(most[j], 0) : 0;
        }
        float range = most[j] > least[j] ? most[j] - least[j] : hi[j] - lo[j];
        if (c->of[j].step > 0 && !c->of[j].whole)
            c->of[j].step = range / 100;
    }
    return CBX_OK;
}

/* ---- what is usual */

static void find_usual(cbx_column *column, const cbx_column_values *all, int32_t j)
{
    const float *values = all->values + all->begin[j];
    int64_t      count = all->begin[j + 1] - all->begin[j], rows = all->rows;
    int64_t      zeros = rows - count, off = count / 100;
    column->lo = column->hi = 0;
    if (count == 0)
        return;
    column->lo = values[off];
    column->hi = values[count - 1 - off];
    if (100 * zeros >= rows) {
        column->lo = fminf(column->lo, 0);
        column->hi = fmaxf(column->hi, 0);
    }
}

cbx_status cbx_columns_find(const cbx_setup *setup, const uint8_t *fixed, const int32_t *group,
                            const float *lo, const float *hi, cbx_arena *arena, cbx_columns **out,
                            cbx_error *err)
{
    const cbx_graph_data *d = &setup->graph->data;
    cbx_columns          *c = CBX_NEW0(arena, cbx_columns, 1);
    bool                  any = false;
    *out = NULL;
    if (!c || !(c->of = CBX_NEW0(arena, cbx_column, d->num_features)))
        return cbx_fail_memory(err);
    cbx_status status = find_steps(setup, c, fixed, group, lo, hi, arena, &any, err);
    if (status || !any || d->num_nodes == 0)
        return status;
    uint8_t *between = CBX_NEW(arena, uint8_t, d->num_features);
    if (!between)
        return cbx_fail_memory(err);
    status = measure_ranges(d, c, lo, hi, arena, err);
    for (int32_t j = 0; j < d->num_features; j++)
        between[j] = c->of[j].step > 0;
    if (!status)
        status = cbx_column_values_take(d, between, ROWS, arena, &c->values, err);
    for (int32_t j = 0; j < d->num_features && !status; j++) {
        if (!between[j])
            continue;
        find_usual(&c->of[j], &c->values, j);
        status = cbx_column_values_scale(&c->values, j, arena, &c->of[j].scale, err);
    }
    *out = status ? NULL : c;
    return status;
}

/* How many of the sorted values are below. */
static int64_t rank_of(const float *values, int64_t count, float value)
{
    int64_t lo = 0, hi = count;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        if (values[middle] < value)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

float cbx_columns_between(const cbx_columns *c, int32_t feature, float from, float to)
{
    const float *values = c->values.values + c->values.begin[feature];
    int64_t      count = c->values.begin[feature + 1] - c->values.begin[feature];
    if (count == 0)
        return to;
    int64_t at = (rank_of(values, count, from) + rank_of(values, count, to)) / 2;
    float   v = values[at < count ? at : count - 1];
    return (v - from) * (to - v) > 0 ? v : to;
}

bool cbx_column_is_left(const cbx_column *column, float from, float to)
{
    return column->step > 0 && ((to < column->lo && to < from) || (to > column->hi && to > from));
}
