/* SPDX-License-Identifier: Apache-2.0 */
/* edge_scores.h: graphs as networks tell them: a score for every pair of nodes, the log-odds of an
 * edge between them. */
#ifndef CBX_EDGE_SCORES_H
#define CBX_EDGE_SCORES_H

#include "view.h"

typedef struct cbx_edge_scores {
    const float *score; /* of j to i: score[i * stride + j] */
    int64_t      stride;
    int32_t      n;          /* nodes */
    bool         undirected; /* what counts is the mean of both ways */
    double      *slope;      /* n x n: of a loss, by cbx_edge_score of i and j; NULL: not wanted */
} cbx_edge_scores;

static inline double cbx_edge_score(const cbx_edge_scores *s, int32_t i, int32_t j)
{
    double there = (double)s->score[i * s->stride + j];
    return s->undirected ? (there + (double)s->score[j * s->stride + i]) / 2 : there;
}

/* 1 / (1 + e^-x) */
double cbx_logistic(double x);

/* `price` times the sum over pairs of the cross-entropy with what is linked, n x n, whose pairs
 * weigh `weight` times. Overwrites slope. */
double cbx_edge_scores_compare(const cbx_edge_scores *s, const uint8_t *linked, double price,
                               double weight);

/* By slot of the view: its own weight times how likely the edge is; and the slopes of that. */
void cbx_edge_scores_weigh(const cbx_edge_scores *s, const cbx_view *view, float *w);
void cbx_edge_scores_follow(const cbx_edge_scores *s, const cbx_view *view, const float *dw);

/* From slope to the slopes of the scores themselves, which lie as the scores do. */
void cbx_edge_scores_spread(const cbx_edge_scores *s, float *out);

#endif
