/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c: see lines.h. */
#include "lines.h"

#include <string.h>

#include "kernel.h"

/* Sums in so many parts, which processors add at once. */
enum { PARTS = 8 };

static double sum_of(const double *part)
{
    double sum = 0;
    for (int k = 0; k < PARTS; k++)
        sum += part[k];
    return sum;
}

/* The line's weight, and what it has beside, which is added. Without choosing what to load, as
 * below. */
static inline double line_of_one(double weight, double low, double high, double *beside)
{
    double bends = low < 0 && high > 0 ? 1 : 0, on = high > 0 ? 1 : 0;
    double chord = high / (bends > 0 ? high - low : 1), end = high > -low ? 1 : 0;
    double slope = bends > 0 ? (weight > 0 ? chord : end) : on;
    double line = weight * slope;
    *beside -= bends > 0 && weight > 0 ? line * low : 0;
    return line;
}

CBX_HOT static double of_relu(int32_t width, const double *weight, const double *low,
                              const double *high, double *restrict before)
{
    double  part[PARTS] = {0}, rest = 0;
    int32_t k = 0;
    for (; k + PARTS <= width; k += PARTS)
        for (int32_t n = 0; n < PARTS; n++)
            before[k + n] = line_of_one(weight[k + n], low[k + n], high[k + n], &part[n]);
    for (; k < width; k++)
        before[k] = line_of_one(weight[k], low[k], high[k], &rest);
    return sum_of(part) + rest;
}

CBX_HOT static double take_lines(int32_t width, const double *weight, const double *above,
                                 const double *below, const double *beside, double *restrict before)
{
    double  part[PARTS] = {0}, rest = 0;
    int32_t k = 0;
    for (; k + PARTS <= width; k += PARTS)
        for (int32_t n = 0; n < PARTS; n++) {
            double up = weight[k + n] > 0 ? weight[k + n] : 0, down = weight[k + n] - up;
            before[k + n] = up * above[k + n] + down * below[k + n];
            part[n] += up * beside[k + n];
        }
    for (; k < width; k++) {
        double up = weight[k] > 0 ? weight[k] : 0, down = weight[k] - up;
        before[k] = up * above[k] + down * below[k];
        rest += up * beside[k];
    }
    return sum_of(part) + rest;
}

CBX_HOT static double dot(int32_t count, const double *a, const double *b)
{
    double  part[PARTS] = {0}, rest = 0;
    int32_t k = 0;
    for (; k + PARTS <= count; k += PARTS)
        for (int32_t n = 0; n < PARTS; n++)
            part[n] += a[k + n] * b[k + n];
    for (; k < count; k++)
        rest += a[k] * b[k];
    return sum_of(part) + rest;
}

/* What a weight above 0 has at most, and one below 0. Written without choosing what to load: gcc
 * 12.2 loads the second vector of a loop of fixed length with the mask of the first
 * (scripts/check-masks.py). */
static inline double in_box_of_one(double weight, double low, double high)
{
    double above = weight > 0 ? weight : 0, below = weight < 0 ? weight : 0;
    double top = high > 0 ? high : 0, bottom = low > 0 ? low : 0;
    return above * top + below * bottom;
}

CBX_HOT static double in_box(int32_t width, const double *weight, const double *low,
                             const double *high)
{
    double  part[PARTS] = {0}, rest = 0;
    int32_t k = 0;
    for (; k + PARTS <= width; k += PARTS)
        for (int32_t n = 0; n < PARTS; n++)
            part[n] += in_box_of_one(weight[k + n], low[k + n], high[k + n]);
    for (; k < width; k++)
        rest += in_box_of_one(weight[k], low[k], high[k]);
    return sum_of(part) + rest;
}

static inline double split_of_one(double weight, double slope, double part)
{
    double above = weight > 0 ? weight : 0, below = weight < 0 ? weight : 0;
    return above * (part > 0 ? part : 0) + below * slope * part;
}

CBX_HOT static double split(int32_t width, const double *weight, const double *slope,
                            const double *parts)
{
    double  part[PARTS] = {0}, rest = 0;
    int32_t k = 0;
    for (; k + PARTS <= width; k += PARTS)
        for (int32_t n = 0; n < PARTS; n++)
            part[n] += split_of_one(weight[k + n], slope[k + n], parts[k + n]);
    for (; k < width; k++)
        rest += split_of_one(weight[k], slope[k], parts[k]);
    return sum_of(part) + rest;
}

CBX_HOT static void multiply(const cbx_net_layer *l, const double *turned, const double *line,
                             double *restrict back)
{
    memset(back, 0, (size_t)l->n_in * sizeof *back);
    for (int32_t j = 0; j < l->n_out; j++) {
        const double *w = turned + (int64_t)j * l->n_in;
        double        by = line[j];
        for (int32_t k = 0; k < l->n_in && by != 0; k++)
            back[k] += by * w[k];
    }
}

/* Clones are static: these are their plain names. */

double cbx_lines_of_relu(const double *weight, const double *low, const double *high, int32_t width,
                         double *before)
{
    return of_relu(width, weight, low, high, before);
}

void cbx_lines_find(int32_t width, const double *low, const double *high, double *above,
                    double *below, double *rest)
{
    for (int32_t k = 0; k < width; k++) {
        rest[k] = 0;
        above[k] = line_of_one(1, low[k], high[k], &rest[k]);
        below[k] = -line_of_one(-1, low[k], high[k], &rest[k]);
    }
}

double cbx_lines_take(int32_t width, const double *weight, const double *above, const double *below,
                      const double *rest, double *before)
{
    return take_lines(width, weight, above, below, rest, before);
}

double cbx_lines_dot(int32_t count, const double *a, const double *b)
{
    return dot(count, a, b);
}

double cbx_lines_split(int32_t width, const double *weight, const double *slope, const double *part)
{
    return split(width, weight, slope, part);
}

double cbx_lines_in_box(int32_t width, const double *weight, const double *low, const double *high)
{
    return in_box(width, weight, low, high);
}

void cbx_lines_multiply(const cbx_net_layer *l, const double *turned, const double *line,
                        double *back)
{
    multiply(l, turned, line, back);
}

double *cbx_lines_turn(const cbx_net_layer *l, const double *W, cbx_arena *arena)
{
    double *turned = CBX_NEW(arena, double, (int64_t)l->n_in * l->n_out);
    for (int32_t k = 0; turned && k < l->n_in; k++)
        for (int32_t j = 0; j < l->n_out; j++)
            turned[(int64_t)j * l->n_in + k] = W[(int64_t)k * l->n_out + j];
    return turned;
}
