/* SPDX-License-Identifier: Apache-2.0 */
/* column_values.c: see column_values.h. */
#include "column_values.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "sort.h"

/* Multiplications in the time of looking at a value. */
static const double VALUE = 4;

void cbx_row_expand(const cbx_graph_data *d, int32_t node, float *row)
{
    cbx_row_entries r = cbx_row_entries_of(d, node);
    if (!d->x)
        memset(row, 0, (size_t)d->num_features * sizeof *row);
    for (int64_t k = r.begin; k < r.end; k++)
        row[cbx_row_feature(&r, k)] = cbx_row_value(&r, k);
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

cbx_status cbx_column_values_take(const cbx_graph_data *d, const uint8_t *wanted, int64_t most_rows,
                                  cbx_arena *arena, cbx_column_values *out, cbx_error *err)
{
    int32_t f = d->num_features;
    int64_t rows = d->num_nodes < most_rows ? d->num_nodes : most_rows;
    *out = (cbx_column_values){.rows = rows, .begin = CBX_NEW0(arena, int64_t, (size_t)f + 2)};
    if (!out->begin)
        return cbx_fail_memory(err);
    int64_t *end = out->begin + 1; /* where the next value of a feature goes; then where it ends */
    for (int taking = 0; taking < 2; taking++) {
        for (int64_t k = 0; k < rows; k++) {
            cbx_row_entries r = cbx_row_entries_of(d, k * d->num_nodes / rows);
            if (cbx_out_of_time(VALUE * (double)(r.end - r.begin)))
                return cbx_fail_late(err);
            for (int64_t e = r.begin; e < r.end; e++) {
                int32_t j = cbx_row_feature(&r, e);
                float   v = cbx_row_value(&r, e);
                if (v == 0 || !wanted[j])
                    continue;
                if (taking)
                    out->values[end[j]++] = v;
                else
                    end[j + 1]++;
            }
        }
        for (int32_t j = 0; j < f && !taking; j++)
            end[j + 1] += end[j];
        if (!taking && !(out->values = CBX_NEW(arena, float, end[f])))
            return cbx_fail_memory(err);
    }
    for (int32_t j = 0; j < f; j++)
        if (cbx_sort(out->values + out->begin[j], out->begin[j + 1] - out->begin[j], sizeof(float),
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

/* With so many zeros among them. */
static double standard_deviation(const float *values, int64_t count, int64_t zeros)
{
    double sum = 0, squares = 0, rows = (double)(count + zeros);
    for (int64_t k = 0; k < count; k++)
        sum += (double)values[k];
    double mean = sum / rows;
    for (int64_t k = 0; k < count; k++)
        squares += ((double)values[k] - mean) * ((double)values[k] - mean);
    return sqrt((squares + (double)zeros * mean * mean) / rows);
}

cbx_status cbx_column_values_scale(const cbx_column_values *c, int32_t feature, cbx_arena *arena,
                                   float *scale, cbx_error *err)
{
    const float *values = c->values + c->begin[feature];
    int64_t      count = c->begin[feature + 1] - c->begin[feature], rows = c->rows;
    float        middle = middle_with_zeros(values, count, rows - count);
    *scale = 0;
    if (2 * count >= rows) { /* otherwise more than half are 0, and so is their deviation */
        float *off = CBX_NEW(arena, float, rows);
        if (!off)
            return cbx_fail_memory(err);
        for (int64_t k = 0; k < rows; k++)
            off[k] = fabsf((k < count ? values[k] : 0) - middle);
        if (cbx_sort(off, rows, sizeof *off, by_value, arena))
            return cbx_fail_late(err);
        *scale = off[rows / 2];
    }
    if (!(*scale > 0))
        *scale = (float)standard_deviation(values, count, rows - count);
    if (!(*scale > 0))
        *scale = 1;
    return CBX_OK;
}
