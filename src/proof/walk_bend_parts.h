/* SPDX-License-Identifier: Apache-2.0 */
/* walk_bend_parts.h: what the files of walk_bends.h share. Units of the first layer see sums of
 * what does not change, which is told closely (walk_bends_first.c); those behind see trees. */
#ifndef CBX_WALK_BEND_PARTS_H
#define CBX_WALK_BEND_PARTS_H

#include "walk_bends.h"

/* The next edge into a node, of those that have not gone. */
static inline bool cbx_bend_next(cbx_walk_edges *i, int32_t *source, int32_t *end)
{
    bool any = cbx_walks_next(i, source, end);
    while (any && cbx_walks_is_gone(i->w, *end))
        any = cbx_walks_next(i, source, end);
    return any;
}

static inline double cbx_bend_scale(const cbx_walk_bends *b, int32_t node, int64_t k)
{
    return b->scale[(int64_t)node * CBX_BEND_STEPS + k];
}

static inline double cbx_bend_largest(const cbx_walk_bends *b, int32_t node)
{
    return cbx_bend_scale(b, node, b->most[node]);
}

/* What each of k removals at a node raises its factor by. */
static inline double cbx_bend_rise(const cbx_walk_bends *b, int32_t node, int64_t k)
{
    return k ? (cbx_bend_scale(b, node, k) - cbx_bend_scale(b, node, 0)) / (double)k : 0;
}

static inline double cbx_bend_message(const cbx_walk_bends *b, int32_t node, int32_t unit)
{
    const cbx_spread_layer *y = &b->walks->spread->layers[0];
    return y->message[(int64_t)node * y->sent + unit];
}

static inline double cbx_bend_now(const cbx_walk_bends *b, int32_t l, int32_t node, int32_t unit)
{
    return b->walks->now[l][(int64_t)node * b->walks->spread->layers[l].width + unit];
}

/* Keeps these shares, if there are any, and adds them to the lead. False: no memory. */
bool cbx_bend_keep(cbx_walk_bends *b, int32_t of, bool is_end, const double *share, double counts,
                   double *to);

/* Before units of row x of the first layer. */
void cbx_bend_count_hits(cbx_walk_bends *b, int32_t x);

/* Shares of a unit of the first layer, which counts its node's factor times `counts`, and `direct`.
 * -1: no memory. */
int cbx_bend_share_first(cbx_walk_bends *b, int32_t x, int32_t unit, double counts, double direct,
                         cbx_bend_list *list);

#endif
