/* SPDX-License-Identifier: Apache-2.0 */
/* Tables whose columns are sorted all at once, against each column sorted by itself. */
#include "sort_columns.h"

#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "test.h"

enum { MOST_ROWS = 70, MOST_WIDTH = 19 };

static int least_first(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Few different numbers where `few`, so that some are equal. */
static void draw(cbx_rng *rng, double *of, int64_t count, bool few)
{
    for (int64_t k = 0; k < count; k++)
        of[k] = few ? (double)(cbx_rng_next(rng) % 3) : cbx_rng_uniform(rng) - 0.5;
}

static void check(cbx_rng *rng, int64_t rows, int64_t width)
{
    double table[(MOST_ROWS + 1) * MOST_WIDTH], up[(MOST_ROWS + 1) * MOST_WIDTH];
    double down[(MOST_ROWS + 1) * MOST_WIDTH], column[MOST_ROWS];
    draw(rng, table, (rows + 1) * width, rows % 4 == 1);
    memcpy(up, table, sizeof table);
    memcpy(down, table, sizeof table);
    cbx_sort_columns_up(up, rows, width);
    cbx_sort_columns_down(down, rows, width);
    for (int64_t j = 0; j < width; j++) {
        for (int64_t k = 0; k < rows; k++)
            column[k] = table[k * width + j];
        qsort(column, (size_t)rows, sizeof *column, least_first);
        for (int64_t k = 0; k < rows; k++) {
            CHECK(up[k * width + j] == column[k]);
            CHECK(down[k * width + j] == column[rows - 1 - k]);
        }
        CHECK(up[rows * width + j] == table[rows * width + j]); /* what is behind is left alone */
        CHECK(down[rows * width + j] == table[rows * width + j]);
    }
}

TEST(every_column_is_sorted)
{
    cbx_rng rng = cbx_rng_stream(5, 0, 0, 0);
    for (int64_t rows = 0; rows <= MOST_ROWS; rows++)
        for (int64_t width = 1; width <= MOST_WIDTH; width += 6)
            check(&rng, rows, width);
}
