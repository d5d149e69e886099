/* SPDX-License-Identifier: Apache-2.0 */
/* random_gnn.c: oracles of every kind, with weights drawn at random. */
#include <math.h>

#include "question.h"

/* Doubles that single precision holds, so that both sides have the same. */
static double draw(dice *d, double size)
{
    return (double)(float)dice_real(d, -size, size);
}

static void draw_layers(naive_gnn *g, dice *d)
{
    double size = dice_real(d, 0.8, 2.5);
    for (int l = 0; l < g->layers; l++)
        for (int h = 0; h < g->hidden; h++) {
            g->bias[l][h] = draw(d, 0.4);
            for (int k = 0; k < MAX_ORDER; k++)
                for (int j = 0; j < MAX_WIDE; j++)
                    g->weight[l][k][h][j] = draw(d, size / sqrt(l == 0 ? g->features : g->hidden));
        }
}

static void draw_attention(naive_gnn *g, dice *d)
{
    g->heads = dice_between(d, 1, MAX_HEADS);
    g->average = dice_chance(d, 0.3);
    g->alone = dice_chance(d, 0.3);
    g->slope = (double)(float)dice_real(d, 0, 1);
    if (!g->average) /* units are shared out */
        g->hidden = g->heads * dice_between(d, 1, MAX_HIDDEN / g->heads);
    for (int l = 0; l < g->layers; l++)
        for (int k = 0; k < MAX_HEADS * MAX_HIDDEN; k++) {
            g->score_source[l][k] = draw(d, 1.5);
            g->score_target[l][k] = draw(d, 1.5);
            for (int j = 0; j < MAX_WIDE; j++)
                g->heads_weight[l][k][j] = draw(d, 2 / sqrt(l == 0 ? g->features : g->hidden));
        }
}

static void draw_mlp(naive_gnn *g, dice *d)
{
    g->eps = dice_chance(d, 0.5) ? 0 : (double)(float)dice_real(d, -1.5, 1);
    for (int l = 0; l < g->layers; l++)
        for (int h = 0; h < g->hidden; h++)
            g->inner_bias[l][h] = draw(d, 0.4);
}

/* A class can have so large a bias that nothing leads away from it, or be outdone by another in
 * everything. */
static void draw_head(naive_gnn *g, dice *d)
{
    int    width = (g->cat ? g->layers : 1) * g->hidden;
    double size = dice_real(d, 0.5, 2), ahead = dice_chance(d, 0.5) ? dice_real(d, 0, 2.5) : 0;
    for (int c = 0; c < g->classes; c++) {
        g->head_bias[c] = draw(d, 0.5);
        for (int k = 0; k < width; k++)
            g->head[c][k] = draw(d, size);
    }
    g->head_bias[dice_below(d, g->classes)] += (double)(float)ahead;
    if (!dice_chance(d, 0.08))
        return;
    int above = dice_below(d, g->classes), below = (above + 1) % g->classes;
    g->head_bias[below] = g->head_bias[above] - (dice_chance(d, 0.9) ? 0.125 : 0);
    for (int k = 0; k < width; k++)
        g->head[below][k] = g->head[above][k] - (dice_chance(d, 0.5) ? 0.25 : 0);
}

/* As of features that were standardised: a maximum has none. */
static void draw_mean(naive_gnn *g, dice *d)
{
    g->centred = g->conv != NAIVE_MAX && dice_chance(d, 0.25);
    for (int j = 0; j < g->features; j++)
        g->mean[j] = g->centred && dice_chance(d, 0.8) ? draw(d, 3) : 0;
}

/* Moments are not those of anything; a mean can be larger than what it leaves. */
static void draw_block(naive_gnn *g, dice *d)
{
    g->residual = dice_chance(d, 0.15);
    g->norm = dice_chance(d, 0.15);
    for (int l = 0; l < g->layers; l++)
        for (int h = 0; h < g->hidden; h++) {
            g->norm_mean[l][h] = draw(d, dice_chance(d, 0.1) ? 20 : 1);
            g->norm_var[l][h] = (double)(float)dice_real(d, 0.05, 2);
            g->norm_weight[l][h] = draw(d, 1.5);
            g->norm_bias[l][h] = draw(d, 0.5);
            for (int j = 0; j < MAX_WIDE; j++)
                g->skip[l][h][j] = draw(d, 1 / sqrt(l == 0 ? g->features : g->hidden));
        }
}

/* Some units, which make scores by the columns of the head that are there. */
static void draw_head_hidden(naive_gnn *g, dice *d)
{
    if (!dice_chance(d, 0.15))
        return;
    int width = (g->cat ? g->layers : 1) * g->hidden;
    g->head_hidden = dice_between(d, 1, g->hidden);
    for (int h = 0; h < g->head_hidden; h++) {
        g->head_inner_bias[h] = draw(d, 0.4);
        for (int k = 0; k < width; k++)
            g->head_inner[h][k] = draw(d, 2 / sqrt(width));
    }
}

void draw_gnn(naive_gnn *g, const world *w, dice *d)
{
    static const naive_conv convs[] = {NAIVE_GCN,  NAIVE_GCN,  NAIVE_GCN,  NAIVE_SUM, NAIVE_SUM,
                                       NAIVE_MEAN, NAIVE_MEAN, NAIVE_MAX,  NAIVE_GIN, NAIVE_GIN,
                                       NAIVE_GAT,  NAIVE_GAT,  NAIVE_CHEB, NAIVE_CHEB};
    *g = (naive_gnn){.features = w->features, .classes = w->classes};
    g->conv = convs[dice_below(d, (int)(sizeof convs / sizeof *convs))];
    g->order = g->conv == NAIVE_CHEB ? dice_between(d, 1, MAX_ORDER) : 1;
    g->layers = dice_chance(d, 0.1) ? 3 : dice_between(d, 1, 2);
    g->hidden = dice_between(d, 2, MAX_HIDDEN);
    g->cat = dice_chance(d, 0.5);
    g->pool = w->task == CBX_GRAPH ? (naive_pool)dice_below(d, 3) : POOL_NONE;
    if (g->conv == NAIVE_GAT)
        draw_attention(g, d);
    if (g->conv == NAIVE_GIN)
        draw_mlp(g, d);
    draw_layers(g, d);
    draw_head(g, d);
    dice own = *d; /* so that these are drawn, and nothing else is for their sake */
    draw_mean(g, &own);
    g->sage = g->conv == NAIVE_MEAN && dice_chance(&own, 0.5);
    draw_block(g, &own);
    draw_head_hidden(g, &own);
}
