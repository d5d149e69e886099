/* SPDX-License-Identifier: Apache-2.0 */
/* near_flip.c: oracles that just do not flip. Of weights that are drawn most classes lead by far,
 * or flip with the first edit: then a bound that is too small by a little is never seen. So the
 * bias of one class is moved until sets of some size lead, by little, and no smaller ones do. */
#include <math.h>

#include "brute_force.h"

/* Sets that are tried for it, and the largest that are told apart. */
static const double MOST_SETS = 5000;
enum { SIZES = 8 };

/* By as much as nobody makes up for. */
static const double OUT_OF_REACH = 32;

/* The size of which sets lead furthest of all so far: the largest, or one that is drawn. */
static int draw_size(const double *most, dice *d)
{
    double so_far = most[0];
    int    size = 0;
    for (int k = 1; k <= SIZES; k++) {
        if (!(most[k] > so_far))
            continue;
        if (size == 0 || dice_chance(d, 0.7))
            size = k;
        so_far = most[k];
    }
    return size;
}

void move_near_flip(question *q, dice *d)
{
    edited      as_it_is;
    naive_graph graph;
    space       s;
    double      most[SIZES + 1], before;
    edit_nothing(q, &as_it_is);
    build_graph(q, &as_it_is, &graph);
    int now = ask_naive(q, &graph, 0, -1).best, others = dice_between(d, 1, q->gnn.classes - 1);
    int target = q->target == TARGET_NEXT ? (now + 1) % q->gnn.classes : q->target;
    if (target < 0)
        target = (now + others) % q->gnn.classes;
    find_space(q, d, &s);
    if (q->gnn.head_hidden > 0 || q->threshold > 0 || !s.whole ||
        count_sets(&s, q->max_edits) > MOST_SETS)
        return;
    /* where one class is sought the third ones may stay, and lead both */
    bool others_go = q->target == TARGET_ANY || dice_chance(d, 0.5);
    for (int c = 0; c < q->gnn.classes && others_go; c++)
        q->gnn.head_bias[c] -= c == now || c == target ? 0 : OUT_OF_REACH;
    find_furthest(q, &s, now, target, SIZES, most);
    int size = draw_size(most, d);
    if (size == 0)
        return;
    before = most[0];
    for (int k = 1; k < size; k++)
        before = fmax(before, most[k]);
    double more = -before - (most[size] - before) * dice_real(d, 0.02, 0.98);
    q->gnn.head_bias[target] = (double)(float)(q->gnn.head_bias[target] + more);
}
