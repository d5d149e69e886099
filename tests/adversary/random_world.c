/* SPDX-License-Identifier: Apache-2.0 */
/* random_world.c: graphs of many shapes, most of them tiny, and their features. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "question.h"

/* ---- edges */

static void say(world *w, const char *word)
{
    size_t length = strlen(w->shape);
    (void)snprintf(w->shape + length, sizeof w->shape - length, "%s%s", length ? " " : "", word);
}

static void add_edge(world *w, int source, int target)
{
    if (w->edges == MAX_EDGES)
        return;
    w->source[w->edges] = source;
    w->target[w->edges++] = target;
}

static void link(world *w, int u, int v)
{
    add_edge(w, u, v);
    add_edge(w, v, u);
}

enum { RING, PATH, STAR, TREE, COMPLETE, SPARSE, DENSE, SHAPES };
static const char *const shape_names[SHAPES] = {"ring",     "path",   "star", "tree",
                                                "complete", "sparse", "dense"};

static void draw_shape(world *w, dice *d, int shape, int begin, int end)
{
    for (int i = begin; i < end; i++)
        for (int j = begin; j < i; j++) {
            bool there = false;
            switch (shape) {
            case RING:
                there = i == j + 1 || (i == end - 1 && j == begin && end - begin > 2);
                break;
            case PATH:
                there = i == j + 1;
                break;
            case STAR:
                there = j == begin;
                break;
            case COMPLETE:
                there = true;
                break;
            case SPARSE:
            case DENSE:
                there = dice_chance(d, shape == DENSE ? 0.6 : 1.5 / (end - begin));
                break;
            default:
                break;
            }
            if (there)
                link(w, i, j);
        }
    for (int i = begin + 1; i < end && shape == TREE; i++)
        link(w, i, dice_between(d, begin, i - 1));
}

/* Drops some directions, so that the graph is no longer symmetric. */
static void make_directed(world *w, dice *d)
{
    int kept = 0;
    for (int e = 0; e < w->edges; e++) {
        w->source[kept] = w->source[e];
        w->target[kept] = w->target[e];
        kept += !dice_chance(d, 0.4);
    }
    w->edges = kept;
    say(w, "directed");
}

static void add_loops(world *w, dice *d)
{
    for (int i = 0; i < w->nodes; i++)
        for (int times = dice_chance(d, 0.4) ? dice_between(d, 1, 2) : 0; times > 0; times--)
            add_edge(w, i, i);
    say(w, "loops");
}

static void repeat_edges(world *w, dice *d)
{
    for (int e = w->edges - 1; e >= 0; e--)
        if (dice_chance(d, 0.25))
            add_edge(w, (int)w->source[e], (int)w->target[e]);
    say(w, "repeats");
}

/* Numbers of edges mean nothing: no order is to be relied on. */
static void shuffle_edges(world *w, dice *d)
{
    for (int e = w->edges - 1; e > 0; e--) {
        int     other = dice_below(d, e + 1);
        int64_t source = w->source[e], target = w->target[e];
        w->source[e] = w->source[other];
        w->target[e] = w->target[other];
        w->source[other] = source;
        w->target[other] = target;
    }
}

static void draw_weights(world *w, dice *d)
{
    w->weighted = dice_chance(d, 0.25);
    bool zeros = dice_chance(d, 0.2);
    for (int e = 0; e < w->edges && w->weighted; e++)
        w->edge_weight[e] = zeros && dice_chance(d, 0.2) ? 0 : (float)dice_real(d, 0.2, 2.5);
    if (w->weighted)
        say(w, zeros ? "weighted with zeros" : "weighted");
}

/* One connected part or two, and perhaps nodes without any edge. */
static void draw_component(world *w, dice *d, int begin, int end)
{
    int shape = dice_below(d, SHAPES);
    if (end - begin > 8) /* so large that a neighbourhood is a small part of it */
        shape = dice_chance(d, 0.7) ? RING : dice_chance(d, 0.5) ? PATH : TREE;
    char word[32];
    (void)snprintf(word, sizeof word, "%s %d", shape_names[shape], end - begin);
    say(w, word);
    draw_shape(w, d, shape, begin, end);
}

static int draw_size(dice *d)
{
    if (dice_chance(d, 0.02))
        return dice_between(d, 70, 90); /* where answers are verified on a part of the graph */
    return dice_chance(d, 0.25) ? dice_between(d, 9, 30) : dice_between(d, 2, 7);
}

static void draw_edges(world *w, dice *d)
{
    w->graphs = w->task == CBX_GRAPH ? dice_between(d, 1, MAX_GRAPHS - 1) : 0;
    for (int g = 0; g < (w->graphs ? w->graphs : 1); g++) {
        int begin = w->nodes, size = w->graphs ? dice_between(d, 1, 6) : draw_size(d);
        int split = begin + (size > 3 && dice_chance(d, 0.2) ? dice_between(d, 1, size - 1) : size);
        draw_component(w, d, begin, split);
        if (split < begin + size)
            draw_component(w, d, split, begin + size);
        w->nodes += size;
        if (dice_chance(d, 0.1)) {
            w->nodes++;
            say(w, "and one alone");
        }
        w->graph_ptr[g + 1] = w->nodes;
    }
    if (dice_chance(d, 0.25))
        make_directed(w, d);
    if (dice_chance(d, 0.25))
        add_loops(w, d);
    if (dice_chance(d, 0.15))
        repeat_edges(w, d);
    shuffle_edges(w, d);
    draw_weights(w, d);
}

/* ---- features */

static void draw_blocks(world *w, dice *d, bool by_data, bool by_rule)
{
    int at = 0;
    for (int left = by_data && by_rule ? 2 : dice_between(d, 1, 2);
         left > 0 && w->features - at >= 2; left--) {
        int size = w->features - at > 2 ? dice_between(d, 2, 3) : 2;
        for (int j = at; j < at + size; j++)
            w->block[j] = w->blocks;
        w->blocks++;
        at += size;
    }
    w->told_blocks = by_data ? by_rule ? 1 : w->blocks : 0;
    /* by the data, features of a group need not be neighbours */
    for (int j = w->features - 1; j > 0 && w->told_blocks == w->blocks; j--) {
        int     other = dice_below(d, j + 1);
        int32_t block = w->block[j];
        w->block[j] = w->block[other];
        w->block[other] = block;
    }
}

/* Some feature of a block. */
static int draw_member(const world *w, dice *d, int block)
{
    int j;
    do
        j = dice_below(d, w->features);
    while (w->block[j] != block);
    return j;
}

static void draw_values(world *w, dice *d)
{
    int  most[MAX_FEATURES], least = dice_chance(d, 0.15) ? -1 : 0;
    bool flawed = dice_chance(d, 0.1);
    for (int j = 0; j < w->features; j++)
        most[j] = dice_chance(d, 0.7) ? 1 : dice_between(d, 2, 3);
    for (int i = 0; i < w->nodes; i++) {
        float *x = w->x + i * w->features;
        for (int j = 0; j < w->features; j++)
            x[j] = w->block[j] >= 0 ? 0
                   : w->discrete[j] ? (float)dice_between(d, least, most[j])
                                    : (float)dice_real(d, -1, 1);
        for (int block = 0; block < w->blocks; block++) {
            x[draw_member(w, d, block)] = 1;
            if (flawed && dice_chance(d, 0.2)) /* none or two on */
                x[draw_member(w, d, block)] = (float)dice_below(d, 2);
        }
    }
}

/* The data's own, where nobody says: kinds by whether all values are whole, bounds by the
 * smallest and the largest. */
static void find_kinds_and_bounds(world *w)
{
    for (int j = 0; j < w->features; j++) {
        bool  whole = true;
        float lo = INFINITY, hi = -INFINITY;
        for (int i = 0; i < w->nodes; i++) {
            float x = feature_of(w, i, j);
            whole = whole && x == rintf(x);
            lo = fminf(lo, x);
            hi = fmaxf(hi, x);
        }
        w->discrete[j] = w->told_kinds ? w->discrete[j] : whole;
        w->lo[j] = lo;
        w->hi[j] = hi;
    }
}

static void draw_bounds(world *w, dice *d)
{
    w->told_bounds = dice_chance(d, 0.6);
    for (int j = 0; j < w->features && w->told_bounds; j++) {
        float wider = w->discrete[j] ? (float)dice_below(d, dice_chance(d, 0.1) ? 12 : 2)
                                     : (float)dice_real(d, 0, 0.5);
        if (w->block[j] != -1) {
            w->lo[j] = dice_chance(d, 0.05) ? -1 : 0;
            w->hi[j] = dice_chance(d, 0.05) ? 2 : 1;
        } else if (dice_chance(d, 0.3)) {
            w->hi[j] += dice_chance(d, 0.2) ? wider + 0.5f : wider;
        } else if (w->lo[j] == w->hi[j]) {
            w->hi[j] += 1;
        }
    }
}

static void make_sparse(world *w)
{
    int at = 0;
    for (int i = 0; i < w->nodes; i++) {
        w->indptr[i] = at;
        for (int j = 0; j < w->features; j++)
            if (feature_of(w, i, j) != 0) {
                w->indices[at] = j;
                w->values[at++] = feature_of(w, i, j);
            }
    }
    w->indptr[w->nodes] = at;
}

static void draw_features(world *w, dice *d, uint64_t rules)
{
    bool by_data = rules & (RULE_BIT(RULE_ONE_HOT_DATA) | RULE_BIT(RULE_MOLECULE)),
         by_rule = rules & RULE_BIT(RULE_ONE_HOT);
    bool mixed = dice_chance(d, 0.2);
    w->features = dice_between(d, by_data || by_rule ? 2 : 1, by_data || by_rule ? 5 : 3);
    w->told_kinds = dice_chance(d, 0.7);
    for (int j = 0; j < w->features; j++) {
        w->block[j] = -1;
        w->discrete[j] = !(mixed && dice_chance(d, 0.6));
        w->immutable[j] = rules & RULE_BIT(RULE_IMMUTABLE_DATA) && dice_chance(d, 0.4);
    }
    if (by_data || by_rule)
        draw_blocks(w, d, by_data, by_rule);
    for (int j = 0; j < w->features; j++)
        w->discrete[j] |= w->block[j] != -1;
    for (int j = 0; j < w->features; j++)
        w->told[j] = w->block[j] < w->told_blocks ? w->block[j] : -1;
    draw_values(w, d);
    /* fractions that the data calls discrete all the same, at some nodes */
    for (int j = 0; j < w->features && w->told_kinds && dice_chance(d, 0.04); j++)
        for (int i = 0; i < w->nodes && w->block[j] < 0; i++)
            w->x[i * w->features + j] += dice_chance(d, 0.2) ? (float)dice_below(d, 4) / 4 : 0;
    /* whole numbers that the data calls continuous: what kinds=auto is for */
    for (int j = 0; j < w->features && rules & RULE_BIT(RULE_KINDS_AUTO); j++)
        w->discrete[j] = w->discrete[j] && w->told_kinds && dice_chance(d, 0.5);
    find_kinds_and_bounds(w);
    draw_bounds(w, d);
    w->sparse = dice_chance(d, 0.3);
    make_sparse(w);
}

void draw_world(world *w, dice *d, uint64_t rules)
{
    memset(w, 0, sizeof *w);
    w->task = dice_chance(d, 0.25) ? CBX_GRAPH : CBX_NODE;
    w->classes = dice_chance(d, 0.6) ? 2 : dice_between(d, 3, MAX_CLASSES);
    draw_edges(w, d);
    draw_features(w, d, rules);
}
