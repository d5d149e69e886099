/* SPDX-License-Identifier: Apache-2.0 */
/* undone.h: what other choices did to what an edge brought goes with the edge.
 *
 * Each was counted with what it adds by way of that edge, which can be less than nothing; when the
 * edge goes it was counted with too little. That can be charged to the choice that takes the edge,
 * which then has the worst of all that others may have done; or to those others, and of all edges
 * of a row only as many as can go beside them. Where many edges can go, each of which few choices
 * reach, the latter is far less. Both hold; docs/bounds.md has the proof. */
#ifndef CBX_UNDONE_H
#define CBX_UNDONE_H

#include "edge_sum.h"

typedef enum cbx_charged { CBX_TO_ITSELF, CBX_TO_OTHERS } cbx_charged;

/* Shares in which what is undone can be charged to others, beside none of it. */
enum { CBX_SHARES = 4 };

/* What choices gain at most. What holds with all of it charged to either holds of every share. */
typedef struct cbx_gains {
    double *common;     /* by choice: whoever is charged */
    double *charged[2]; /* by cbx_charged, beside it; the second only where `both` are there */
    bool    both;
    double *paired; /* by choice: by pairs (pair_gains.h), where they `are_paired` */
    bool    are_paired;
} cbx_gains;

/* For so many choices. -1: no memory. */
int cbx_gains_init(cbx_gains *g, int64_t count, cbx_arena *arena);

/* Gains with that many of CBX_SHARES charged to others, and behind those by pairs. False: there are
 * no more. */
bool cbx_gains_of(const cbx_gains *g, int64_t count, int share, double *out);

typedef struct cbx_undone_list {
    int32_t *choice; /* each once */
    uint8_t *has;    /* by choice */
    int64_t  count;
} cbx_undone_list;

typedef struct cbx_undone {
    double         *here;      /* by choice: of the edge at hand */
    double         *most;      /* by choice: the largest of the row's edges, CBX_FEW of them */
    cbx_undone_list edge, row; /* which have any */
} cbx_undone;

/* For so many choices of edges. -1: no memory. */
int cbx_undone_init(cbx_undone *u, int64_t count, cbx_arena *arena);

/* Of the edge at hand: the choice was counted with so much too little, if it goes. */
void cbx_undone_add(cbx_undone *u, int32_t choice, double little);

/* The edge at hand is done; at most `others` can go beside a choice. */
void cbx_undone_end_edge(cbx_undone *u, int64_t others);

/* The row at hand is done: adds it to what choices gain where it is charged to them, and to the
 * row's sum, where one is kept. */
void cbx_undone_end_row(cbx_undone *u, double *gain, cbx_edge_sum *sum);

#endif
