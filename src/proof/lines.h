/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h: weights of what is behind a layer's ReLUs, taken back to before them by lines, and to
 * the layer's input. What bounds that go back from the head have in common. */
#ifndef CBX_LINES_H
#define CBX_LINES_H

#include "net.h"

/* From weights behind a ReLU to weights before it, of units in [low, high]: a line above, through
 * the ends where the weight is positive, else relu's own value at one of them. Returns what the
 * line has beside. */
double cbx_lines_of_relu(const double *weight, const double *low, const double *high, int32_t width,
                         double *before);

/* The same lines, apart from any weights: above, with `rest` beside, for those above 0, and below
 * for those below 0; and then with weights. */
void   cbx_lines_find(int32_t width, const double *low, const double *high, double *above,
                      double *below, double *rest);
double cbx_lines_take(int32_t width, const double *weight, const double *above, const double *below,
                      const double *rest, double *before);

/* The most that weights of units behind their ReLUs come to, which are in [low, high] before them:
 * by intervals alone. */
double cbx_lines_in_box(int32_t width, const double *weight, const double *low, const double *high);

/* Weights of units behind their ReLUs, whose sums are told part by part: of this part a weight
 * above 0 takes relu's value, one below 0 the line of that slope. */
double cbx_lines_split(int32_t width, const double *weight, const double *slope,
                       const double *part);

double cbx_lines_dot(int32_t count, const double *a, const double *b);

/* W of a layer, n_in x n_out, with rows and columns exchanged; NULL: no memory. */
double *cbx_lines_turn(const cbx_net_layer *l, const double *W, cbx_arena *arena);

/* W times weights before the ReLU, of which many are 0: those of what the layer multiplies. */
void cbx_lines_multiply(const cbx_net_layer *l, const double *turned, const double *line,
                        double *back);

#endif
