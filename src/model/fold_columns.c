/* SPDX-License-Identifier: Apache-2.0 */
/* fold_columns.c: see fold_columns.h. */
#include "fold_columns.h"

#include <math.h>
#include <string.h>

int cbx_fold_columns_init(cbx_fold_columns *n, const cbx_layer *wide, int32_t columns, int32_t rows,
                          cbx_arena *arena)
{
    *n = (cbx_fold_columns){.wide = wide, .rows = rows, .left = columns};
    if (wide)
        n->layer = *wide;
    n->name = CBX_NEW(arena, int32_t, columns);
    n->beyond = CBX_NEW0(arena, float, rows);
    if (!n->name || !n->beyond)
        return -1;
    for (int32_t c = 0; c < columns; c++)
        n->name[c] = c;
    return 0;
}

/* Room for the first narrowing, to so many columns, does for those to come. */
static int make_room(cbx_fold_columns *n, int32_t columns, cbx_arena *arena)
{
    if (n->theta)
        return 0;
    cbx_layer     layer = *n->wide;
    cbx_parameter p;
    size_t        width = 0; /* of all products side by side */
    layer.n_in = columns;
    for (int32_t i = 0; cbx_block_parameter(&layer, i, &p); i++)
        width += p.of_input ? (size_t)p.cols : 0;
    n->settled = CBX_NEW0(arena, float, width *(size_t)n->rows);
    n->theta = CBX_NEW(arena, float, cbx_layer_size(&layer));
    return n->settled && n->theta ? 0 : -1;
}

/* Adds a column's share to the sums; `name` is its number in the wide layer. */
static void settle(cbx_fold_columns *n, const float *column, int64_t stride, int32_t name)
{
    float        *sum = n->settled;
    const float  *theta = n->wide->theta;
    cbx_parameter p;
    for (int32_t i = 0; cbx_block_parameter(n->wide, i, &p); i++) {
        const float *weights = theta + (int64_t)name * p.cols;
        for (int32_t r = 0; r < n->rows && p.of_input; r++, sum += p.cols) {
            float x = column[r * stride];
            for (int32_t k = 0; k < p.cols && x != 0; k++)
                sum[k] += x * weights[k];
        }
        theta += cbx_parameter_size(&p);
    }
    for (int32_t r = 0; r < n->rows; r++) {
        float x = column[r * stride];
        n->beyond[r] = x != 0 ? sqrtf(n->beyond[r] * n->beyond[r] + x * x) : n->beyond[r];
    }
}

/* What multiplies the input: the rows of columns that are left, and the sums. The rest stays. */
static void fill_theta(cbx_fold_columns *n)
{
    const float  *from = n->wide->theta, *sum = n->settled;
    float        *to = n->theta;
    cbx_parameter p;
    for (int32_t i = 0; cbx_block_parameter(n->wide, i, &p); i++) {
        int64_t size = cbx_parameter_size(&p);
        size_t  row = (size_t)p.cols * sizeof *to;
        for (int32_t c = 0; c < n->left && p.of_input; c++, to += p.cols)
            memcpy(to, from + (int64_t)n->name[c] * p.cols, row);
        if (p.of_input) {
            memcpy(to, sum, row * (size_t)n->rows);
            to += (int64_t)n->rows * p.cols;
            sum += (int64_t)n->rows * p.cols;
        } else {
            memcpy(to, from, (size_t)size * sizeof *to);
            to += size;
        }
        from += size;
    }
}

static void rewrite(const cbx_fold_columns *n, const int32_t *keep, int32_t before, int32_t columns,
                    float *X)
{
    int32_t after = cbx_fold_columns_left(n);
    for (int32_t r = 0; r < n->rows; r++) {
        const float *from = X + (int64_t)r * columns;
        float       *to = X + (int64_t)r * after;
        for (int32_t c = 0; c < before; c++)
            if (keep[c] >= 0)
                to[keep[c]] = from[c];
        for (int32_t k = 0; k < n->rows; k++)
            to[n->left + k] = k == r;
    }
}

int cbx_fold_columns_to(cbx_fold_columns *n, int32_t *keep, float *X, cbx_arena *arena)
{
    int32_t before = n->left, columns = cbx_fold_columns_left(n), left = 0;
    for (int32_t c = 0; c < before; c++)
        left += keep[c] != 0;
    if (make_room(n, left + n->rows, arena))
        return -1;
    n->left = 0;
    for (int32_t c = 0; c < before; c++) {
        if (!keep[c]) {
            settle(n, X + c, columns, n->name[c]);
            keep[c] = -1;
            continue;
        }
        n->name[n->left] = n->name[c];
        keep[c] = n->left++;
    }
    n->layer.n_in = n->left + n->rows;
    n->layer.theta = n->theta;
    fill_theta(n);
    rewrite(n, keep, before, columns, X);
    return 0;
}
