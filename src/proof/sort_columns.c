/* SPDX-License-Identifier: Apache-2.0 */
/* sort_columns.c: see sort_columns.h. */
#include "sort_columns.h"

#include "kernel.h"

/* The larger ones to the first row. */
CBX_HOT static void exchange(int64_t width, double *restrict first, double *restrict second)
{
    for (int64_t j = 0; j < width; j++) {
        double a = first[j], b = second[j];
        first[j] = a > b ? a : b;
        second[j] = a > b ? b : a;
    }
}

/* Rows `apart` from each other, of those that runs of `run` rows are merged to: from `begin` on. */
static void merge(double *of, int64_t rows, int64_t width, int64_t run, int64_t apart,
                  int64_t begin, int up)
{
    for (int64_t i = begin; i < begin + apart && i + apart < rows; i++) {
        double *a = of + i * width, *b = a + apart * width;
        if (i / (2 * run) == (i + apart) / (2 * run))
            exchange(width, up ? b : a, up ? a : b);
    }
}

static void sort(double *of, int64_t rows, int64_t width, int up)
{
    for (int64_t run = 1; run < rows; run *= 2)
        for (int64_t apart = run; apart >= 1; apart /= 2)
            for (int64_t begin = apart % run; begin + apart < rows; begin += 2 * apart)
                merge(of, rows, width, run, apart, begin, up);
}

void cbx_sort_columns_down(double *of, int64_t rows, int64_t width)
{
    sort(of, rows, width, 0);
}

void cbx_sort_columns_up(double *of, int64_t rows, int64_t width)
{
    sort(of, rows, width, 1);
}
