/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c: see columns.h. */
#include "columns.h"

#include <math.h>

#include "bounds.h"
#include "deadline.h"
#include "error.h"
#include "sort.h"

/* Rows that are looked at for what is usual, evenly spaced: more tell little more. */
enum { ROWS = 2048 };

/* Multiplications in the time of looking at a value. */
static const double VALUE = 4;

/* One row of the data, dense or sparse: its entries from `begin` to `end`. */
typedef struct entries {
    const cbx_graph_data *d;
    int64_t               begin, end;
} entries;

static entries row_of(const cbx_graph_data *d, int64_t i)
{
    if (d->x)
        return (entries){d, i * d->num_features, (i + 1) * d->num_features};
    return (entries){d, d->x_indptr[i], d->x_indptr[i + 1]};
}

static int32_t feature_at(const entries *r, int64_t k)
{
    return r->d->x ? (int32_t)(k - r->begin) : r->d->x_indices[k];
}

static float value_at(const entries *r, int64_t k)
{
    return r->d->x ? r->d->x[k] : r->d->x_values[k];
}

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
        entries r = row_of(d, i);
        if (cbx_out_of_time(VALUE * (double)(r.end - r.begin)))
            return cbx_fail_late(err);
        for (int64_t k = r.begin; k < r.end; k++) {
            int32_t j = feature_at(&r, k);
            float   v = value_at(&r, k);
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

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The values other than 0 of some rows, by feature, sorted. */
static cbx_status take_values(const cbx_graph_data *d, cbx_columns *c, int64_t rows,
                              cbx_arena *arena, cbx_error *err)
{
    int32_t f = d->num_features;
    c->begin = CBX_NEW0(arena, int64_t, (size_t)f + 2);
    if (!c->begin)
        return cbx_fail_memory(err);
    int64_t *end = c->begin + 1; /* where the next value of a feature goes; then where it ends */
    for (int taking = 0; taking < 2; taking++) {
        for (int64_t k = 0; k < rows; k++) {
            entries r = row_of(d, k * d->num_nodes / rows);
            if (cbx_out_of_time(VALUE * (double)(r.end - r.begin)))
                return cbx_fail_late(err);
            for (int64_t e = r.begin; e < r.end; e++) {
                int32_t j = feature_at(&r, e);
                float   v = value_at(&r, e);
                if (v == 0 || !(c->of[j].step > 0))
                    continue;
                if (taking)
                    c->values[end[j]++] = v;
                else
                    end[j + 1]++;
            }
        }
        for (int32_t j = 0; j < f && !taking; j++)
            end[j + 1] += end[j];
        if (!taking && !(c->values = CBX_NEW(arena, float, end[f])))
            return cbx_fail_memory(err);
    }
    for (int32_t j = 0; j < f; j++)
        if (cbx_sort(c->values + c->begin[j], c->begin[j + 1] - c->begin[j], sizeof(float),
                     by_value, arena))
            return cbx_fail_late(err);
    return CBX_OK;
}

/* The middle of sorted values among which there are so many zeros more. */
static float middle_with_zeros(const float *values, int64_t count, int64_t zeros)
{
    int64_t below = 0, at = (count + zeros) / 2;
    while (below < count && values[below] < 0)
        below++;
    if (at < below)
        return values[at];
    return at < below + zeros ? 0 : values[at - zeros];
}

static cbx_status measure_scale(cbx_column *column, const float *values, int64_t count,
                                int64_t rows, cbx_arena *arena, cbx_error *err)
{
    double sum = 0, squares = 0;
    float  middle = middle_with_zeros(values, count, rows - count);
    column->scale = 0;
    if (2 * count >= rows) { /* otherwise more than half are 0, and so is their deviation */
        float *off = CBX_NEW(arena, float, rows);
        if (!off)
            return cbx_fail_memory(err);
        for (int64_t k = 0; k < rows; k++)
            off[k] = fabsf((k < count ? values[k] : 0) - middle);
        if (cbx_sort(off, rows, sizeof *off, by_value, arena))
            return cbx_fail_late(err);
        column->scale = off[rows / 2];
    }
    for (int64_t k = 0; k < count; k++)
        sum += (double)values[k];
    double mean = sum / (double)rows;
    for (int64_t k = 0; k < count; k++)
        squares += ((double)values[k] - mean) * ((double)values[k] - mean);
    squares += (double)(rows - count) * mean * mean;
    if (!(column->scale > 0))
        column->scale = (float)sqrt(squares / (double)rows);
    if (!(column->scale > 0))
        column->scale = 1;
    return CBX_OK;
}

static void find_usual(cbx_column *column, const float *values, int64_t count, int64_t rows)
{
    int64_t zeros = rows - count, off = count / 100;
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
    int64_t rows = d->num_nodes < ROWS ? d->num_nodes : ROWS;
    status = measure_ranges(d, c, lo, hi, arena, err);
    if (!status)
        status = take_values(d, c, rows, arena, err);
    for (int32_t j = 0; j < d->num_features && !status; j++) {
        const float *values = c->values + c->begin[j];
        int64_t      count = c->begin[j + 1] - c->begin[j];
        if (!(c->of[j].step > 0))
            continue;
        find_usual(&c->of[j], values, count, rows);
        status = measure_scale(&c->of[j], values, count, rows, arena, err);
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
    const float *values = c->values + c->begin[feature];
    int64_t      count = c->begin[feature + 1] - c->begin[feature];
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
