/* SPDX-License-Identifier: Apache-2.0 */
/* row_moves.h: what choices of features do to a row's products with the first layer's weights; or
 * to its messages, where that layer takes a maximum of them before it multiplies.
 *
 * There may be thousands at a row, of which each moves all units: listed one by one they would not
 * fit. So bounds that go forward know of each row what one of them does at most, unit by unit; what
 * each of them gains is told one by one on the way back (lead_bound.c). */
#ifndef CBX_ROW_MOVES_H
#define CBX_ROW_MOVES_H

#include "net.h"
#include "partial_graph.h"

/* Choices that reach rows, and what each does to the row's units. All of a row's features together
 * are the one numbered by the row, behind the graph's choices. */
typedef struct cbx_reach_list {
    int64_t *begin; /* by row, and one more */
    int32_t *choice;
    double  *up, *down; /* by entry: as many as there are units */
    /* by entry, of a row's features: the length of what one does to all units together; and how
     * often they count, by all ways from their row */
    double  *length, *times;
    uint8_t *same; /* by entry: does it what the one before it does? NULL: not told */
    int64_t  room; /* entries */
} cbx_reach_list;

/* How far a layer's weights stretch what they multiply, from above. */
typedef struct cbx_stretch {
    double  neighbour, own;
    double *columns, *own_columns; /* of one unit */
} cbx_stretch;

/* What features do to a layer's units behind the first where what they go through counts once,
 * whichever of the ReLUs on the way pass it on: `rise` and `fall` of each, features x units, for a
 * move by 1; and the most and the least that one choice of a row does, by entry. */
typedef struct cbx_word_reach {
    double *rise, *fall;
    double *up, *down;
} cbx_word_reach;

typedef struct cbx_row_moves {
    const cbx_net           *net;
    const cbx_partial_graph *graph;
    int32_t                  first; /* of the choices that are of features; the count: none is */
    cbx_reach_list           list;  /* ups and downs of what edges carry; lengths of products */
    double                  *own_up, *own_down, *own_length; /* the same of its own share */
    cbx_word_reach          *words;                          /* by layer; NULL: not known */
    double                  *size;          /* by row: of one choice, times its weights */
    uint8_t                 *columns;       /* by row: the most features that one choice moves */
    double                  *weight_length; /* by feature: of its weights, for what edges carry */
    double                  *own_weight_length;
    cbx_stretch             *stretch; /* by layer; NULL where there are no choices of features */
} cbx_row_moves;

/* Of the first `rows` rows. */
cbx_status cbx_row_moves_init(cbx_row_moves *m, const cbx_net *net, const cbx_partial_graph *graph,
                              int32_t rows, cbx_arena *arena, cbx_error *err);

/* Is it all of a row's features, or one choice? */
static inline bool cbx_row_moves_is_row(const cbx_row_moves *m, int32_t choice)
{
    return choice >= m->graph->count;
}

/* How often it counts, where `features` of the choices that are made are of features. */
static inline int64_t cbx_row_moves_repeats(const cbx_row_moves *m, int32_t choice,
                                            int64_t features)
{
    return cbx_row_moves_is_row(m, choice) ? features : 1;
}

/* Adds what the choices that are made do to what rows send, and to their own products. Returns how
 * many those are. */
int64_t cbx_row_moves_add_made(const cbx_row_moves *m, double *message, double *own,
                               int32_t own_rows);

/* What a choice gains at most of layer l's units, each of which counts `rise` times if it rises and
 * -fall times if it falls. */
double cbx_row_moves_word_gain(const cbx_row_moves *m, const cbx_choice *c, int32_t l,
                               const double *rise, const double *fall);

/* What a choice gains at most, where a unit's product with the weights counts `rise` times if it
 * rises and `fall` times if it falls, and fall <= rise. */
double cbx_row_moves_gain(const cbx_choice *c, const double *weights, int32_t width,
                          const double *rise, const double *fall);

#endif
