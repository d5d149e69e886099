/* SPDX-License-Identifier: Apache-2.0 */
/* spread_tops.c: see spread_parts.h. */
#include "spread_parts.h"

#include "kernel.h"

/* Is any of these larger than the last that is kept? */
CBX_HOT static bool find_larger(int32_t width, const double *of, double sign,
                                const double *restrict last, double *restrict value)
{
    int larger = 0;
    for (int32_t j = 0; j < width; j++) {
        value[j] = sign * of[j];
        larger |= value[j] > last[j];
    }
    return larger;
}

/* Puts each where it belongs among those that are kept; the least of them falls out. */
CBX_HOT static void take(int64_t most, int32_t width, double *restrict best, double *restrict value)
{
    for (int64_t k = 0; k < most; k++)
        for (int32_t j = 0; j < width; j++) {
            double kept = best[k * width + j], new = value[j];
            best[k * width + j] = kept > new ? kept : new;
            value[j] = kept > new ? new : kept;
        }
}

static int64_t repeats_of(const cbx_spread *s, int32_t choice, int64_t most, cbx_allowance may)
{
    return cbx_row_moves_repeats(&s->moves, choice, most < may.features ? most : may.features);
}

/* All units side by side. */
static void find_few(const cbx_spread *s, const cbx_reach_list *list, const double *of, int32_t row,
                     int32_t width, double sign, cbx_allowance may, const uint8_t *same,
                     int64_t most, cbx_tops *out)
{
    double *best = s->few, *value = best + CBX_FEW * (int64_t)width;
    bool    larger = true;
    cbx_clear(best, CBX_FEW * (int64_t)width);
    for (int64_t k = list->begin[row]; k < list->begin[row + 1]; k++) {
        if (!larger && same && same[k])
            continue;
        for (int64_t r = repeats_of(s, list->choice[k], most, may); r > 0; r--) {
            larger = find_larger(width, of + k * width, sign, best + (most - 1) * width, value);
            if (larger)
                take(most, width, best, value);
        }
    }
    cbx_clear(out->all, width);
    for (int64_t k = 0; k < most; k++)
        for (int32_t j = 0; j < width; j++)
            out->all[j] += best[k * width + j];
    for (int32_t j = 0; j < width; j++) {
        out->rest[j] = out->all[j] - best[(most - 1) * width + j];
    }
}

static void find_many(const cbx_spread *s, const cbx_reach_list *list, const double *of,
                      int32_t row, int32_t width, double sign, cbx_allowance may, int64_t most,
                      cbx_tops *out)
{
    for (int32_t j = 0; j < width; j++) {
        cbx_largest largest = {.best = s->best, .count = most};
        for (int64_t k = list->begin[row]; k < list->begin[row + 1]; k++)
            for (int64_t r = repeats_of(s, list->choice[k], most, may); r > 0; r--)
                cbx_largest_take(&largest, sign * of[k * width + j]);
        out->all[j] = cbx_largest_sum(&largest);
        out->rest[j] = cbx_largest_rest(&largest);
    }
}

void cbx_spread_tops(const cbx_spread *s, const cbx_reach_list *list, const double *of, int32_t row,
                     int32_t width, double sign, cbx_allowance may, const uint8_t *same,
                     cbx_tops *out)
{
    int64_t most = may.budget < s->graph->count ? may.budget : s->graph->count;
    if (most > CBX_FEW) {
        find_many(s, list, of, row, width, sign, may, most, out);
    } else if (most > 0) {
        find_few(s, list, of, row, width, sign, may, same, most, out);
    } else {
        cbx_clear(out->all, width);
        cbx_clear(out->rest, width);
    }
}
