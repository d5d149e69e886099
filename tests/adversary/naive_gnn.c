/* SPDX-License-Identifier: Apache-2.0 */
/* naive_gnn.c: see naive_gnn.h. */
#include "naive_gnn.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef double rows[MAX_NODES][MAX_WIDE];

/* What a node takes of itself and what an edge carries: the adjacency of a layer. */
typedef struct adjacency {
    double own[MAX_NODES], edge[MAX_EDGES];
} adjacency;

static double inverse_root(double degree)
{
    return degree > 1e-38 ? 1 / sqrt(degree) : 0;
}

/* D^-1/2 (A + I) D^-1/2 with D counting edges into a node. A loop that is there keeps its weight,
 * of several the last one's. */
static void adjacency_of_gcn(const naive_graph *g, adjacency *a)
{
    double root[MAX_NODES], loop[MAX_NODES], degree[MAX_NODES] = {0};
    for (int i = 0; i < g->nodes; i++)
        loop[i] = 1;
    for (int e = 0; e < g->edges; e++)
        if (g->target[e] == g->source[e])
            loop[g->target[e]] = g->edge_weight[e];
        else
            degree[g->target[e]] += g->edge_weight[e];
    for (int i = 0; i < g->nodes; i++) {
        root[i] = inverse_root(degree[i] + loop[i]);
        a->own[i] = loop[i] * root[i] * root[i];
    }
    for (int e = 0; e < g->edges; e++) {
        int s = g->source[e], t = g->target[e];
        a->edge[e] = s == t ? 0 : root[s] * g->edge_weight[e] * root[t];
    }
}

/* -D^-1/2 A D^-1/2 without loops, with D counting edges out of a node. */
static void adjacency_of_cheb(const naive_graph *g, adjacency *a)
{
    double degree[MAX_NODES] = {0};
    for (int e = 0; e < g->edges; e++)
        degree[g->source[e]] += g->source[e] == g->target[e] ? 0 : g->edge_weight[e];
    for (int i = 0; i < g->nodes; i++)
        a->own[i] = 0;
    for (int e = 0; e < g->edges; e++) {
        int s = g->source[e], t = g->target[e];
        a->edge[e] =
            s == t ? 0 : -inverse_root(degree[s]) * g->edge_weight[e] * inverse_root(degree[t]);
    }
}

/* Weights as they are, or divided by the number of edges into the node. */
static void adjacency_of_graphconv(const naive_graph *g, bool mean, adjacency *a)
{
    int count[MAX_NODES] = {0};
    for (int e = 0; e < g->edges; e++)
        count[g->target[e]]++;
    for (int i = 0; i < g->nodes; i++)
        a->own[i] = 0;
    for (int e = 0; e < g->edges; e++)
        a->edge[e] = g->edge_weight[e] / (mean ? count[g->target[e]] : 1);
}

static void make_adjacency(const naive_gnn *gnn, const naive_graph *g, adjacency *a)
{
    if (gnn->conv == NAIVE_GCN)
        adjacency_of_gcn(g, a);
    else if (gnn->conv == NAIVE_CHEB)
        adjacency_of_cheb(g, a);
    else
        adjacency_of_graphconv(g, gnn->conv == NAIVE_MEAN, a);
}

static void gather(const naive_graph *g, const adjacency *a, int width, rows in, rows out)
{
    for (int i = 0; i < g->nodes; i++)
        for (int j = 0; j < width; j++)
            out[i][j] = a->own[i] * in[i][j];
    for (int e = 0; e < g->edges; e++)
        for (int j = 0; j < width; j++)
            out[g->target[e]][j] += a->edge[e] * in[g->source[e]][j];
}

/* The largest by component; 0 for a node without edges. */
static void gather_largest(const naive_graph *g, int width, rows in, rows out)
{
    bool any[MAX_NODES] = {0};
    for (int i = 0; i < g->nodes; i++)
        memset(out[i], 0, sizeof out[i]);
    for (int e = 0; e < g->edges; e++) {
        int t = g->target[e];
        for (int j = 0; j < width; j++) {
            double message = g->edge_weight[e] * in[g->source[e]][j];
            out[t][j] = any[t] ? fmax(out[t][j], message) : message;
        }
        any[t] = true;
    }
}

/* out += in W' */
static void add_product(const naive_gnn *gnn, int nodes, int layer, int k, int width, rows in,
                        rows out)
{
    for (int i = 0; i < nodes; i++)
        for (int h = 0; h < gnn->hidden; h++)
            for (int j = 0; j < width; j++)
                out[i][h] += in[i][j] * gnn->weight[layer][k][h][j];
}

/* T_0 = x, T_1 = A x, T_k = 2 A T_{k-1} - T_{k-2}; each with weights of its own. */
static void add_chebyshev(const naive_gnn *gnn, const naive_graph *g, const adjacency *a, int layer,
                          int width, rows in, rows out)
{
    rows term[MAX_ORDER];
    memcpy(term[0], in, (size_t)g->nodes * sizeof *in);
    for (int k = 0; k < gnn->order; k++) {
        if (k > 0)
            gather(g, a, width, term[k - 1], term[k]);
        for (int i = 0; i < g->nodes && k > 1; i++)
            for (int j = 0; j < width; j++)
                term[k][i][j] = 2 * term[k][i][j] - term[k - 2][i][j];
        add_product(gnn, g->nodes, layer, k, width, term[k], out);
    }
}

/* MLP((1 + eps) x + sum of neighbours), one hidden layer with ReLU. */
static void add_mlp(const naive_gnn *gnn, const naive_graph *g, const adjacency *a, int layer,
                    int width, rows in, rows out)
{
    rows gathered, inner;
    gather(g, a, width, in, gathered);
    for (int i = 0; i < g->nodes; i++) {
        for (int j = 0; j < width; j++)
            gathered[i][j] += (1 + gnn->eps) * in[i][j];
        memcpy(inner[i], gnn->inner_bias[layer], sizeof gnn->inner_bias[layer]);
    }
    add_product(gnn, g->nodes, layer, 0, width, gathered, inner);
    for (int i = 0; i < g->nodes; i++)
        for (int h = 0; h < gnn->hidden; h++)
            inner[i][h] = inner[i][h] > 0 ? inner[i][h] : 0;
    add_product(gnn, g->nodes, layer, 1, gnn->hidden, inner, out);
}

/* What edge e into a node counts: an attention that adds loops puts out those there are, and there
 * is no negative share. */
static double counted(const naive_gnn *gnn, const naive_graph *g, int e)
{
    bool put_out = !gnn->alone && g->source[e] == g->target[e];
    return put_out || g->edge_weight[e] < 0 ? 0 : g->edge_weight[e];
}

/* One head: `units` columns of H from `first` on go to columns of out from `to` on. */
static void add_head(const naive_gnn *gnn, const naive_graph *g, int layer, int first, int units,
                     int to, double (*H)[MAX_HEADS * MAX_HIDDEN], rows out)
{
    double from[MAX_NODES], into[MAX_NODES];
    for (int i = 0; i < g->nodes; i++) {
        from[i] = into[i] = 0;
        for (int k = first; k < first + units; k++) {
            from[i] += H[i][k] * gnn->score_source[layer][k];
            into[i] += H[i][k] * gnn->score_target[layer][k];
        }
    }
    for (int i = 0; i < g->nodes; i++) {
        double total = 0, sums[MAX_HIDDEN] = {0}, share = gnn->average ? gnn->heads : 1;
        for (int e = gnn->alone ? 0 : -1; e < g->edges; e++) { /* -1: the node's own loop */
            if (e >= 0 && g->target[e] != i)
                continue;
            int    s = e < 0 ? i : g->source[e];
            double score = from[s] + into[i];
            double part =
                (e < 0 ? 1 : counted(gnn, g, e)) * exp(score > 0 ? score : gnn->slope * score);
            total += part;
            for (int k = 0; k < units; k++)
                sums[k] += part * H[s][first + k];
        }
        for (int k = 0; k < units && total > 0; k++)
            out[i][to + k] += sums[k] / total / share;
    }
}

static void add_attention(const naive_gnn *gnn, const naive_graph *g, int layer, int width, rows in,
                          rows out)
{
    double H[MAX_NODES][MAX_HEADS * MAX_HIDDEN];
    int    units = gnn->average ? gnn->hidden : gnn->hidden / gnn->heads;
    for (int i = 0; i < g->nodes; i++)
        for (int k = 0; k < units * gnn->heads; k++) {
            H[i][k] = 0;
            for (int j = 0; j < width; j++)
                H[i][k] += in[i][j] * gnn->heads_weight[layer][k][j];
        }
    for (int h = 0; h < gnn->heads; h++)
        add_head(gnn, g, layer, h * units, units, gnn->average ? 0 : h * units, H, out);
}

/* What the skip connection and the normalisation make of unit h. */
static double around(const naive_gnn *gnn, int layer, int h, int width, const double *in, double y)
{
    for (int j = 0; j < width && gnn->residual; j++)
        y += in[j] * gnn->skip[layer][h][j];
    if (!gnn->norm)
        return y;
    return (y - gnn->norm_mean[layer][h]) / sqrt(gnn->norm_var[layer][h] + 1e-5) *
               gnn->norm_weight[layer][h] +
           gnn->norm_bias[layer][h];
}

static void convolve(const naive_gnn *gnn, const naive_graph *g, const adjacency *a, int layer,
                     int width, rows in, rows out)
{
    rows gathered;
    for (int i = 0; i < g->nodes; i++)
        memcpy(out[i], gnn->bias[layer], sizeof gnn->bias[layer]);
    if (gnn->conv == NAIVE_CHEB) {
        add_chebyshev(gnn, g, a, layer, width, in, out);
    } else if (gnn->conv == NAIVE_GIN) {
        add_mlp(gnn, g, a, layer, width, in, out);
    } else if (gnn->conv == NAIVE_GAT) {
        add_attention(gnn, g, layer, width, in, out);
    } else {
        if (gnn->conv == NAIVE_MAX)
            gather_largest(g, width, in, gathered);
        else
            gather(g, a, width, in, gathered);
        add_product(gnn, g->nodes, layer, 0, width, gathered, out);
        if (gnn->conv != NAIVE_GCN)
            add_product(gnn, g->nodes, layer, 1, width, in, out);
    }
    for (int i = 0; i < g->nodes; i++)
        for (int h = 0; h < gnn->hidden; h++) {
            double y = around(gnn, layer, h, width, in[i], out[i][h]);
            out[i][h] = y > 0 ? y : 0;
        }
}

static double pooled(const naive_gnn *gnn, rows of, int begin, int end, int unit)
{
    if (gnn->pool == POOL_NONE)
        return of[begin][unit];
    double sum = 0, largest = -INFINITY;
    for (int i = begin; i < end; i++) {
        sum += of[i][unit];
        largest = fmax(largest, of[i][unit]);
    }
    return gnn->pool == POOL_MAX ? largest : gnn->pool == POOL_SUM ? sum : sum / (end - begin);
}

static double normalise(int classes, double *scores)
{
    double largest = -INFINITY, size = 0, total = 0;
    for (int c = 0; c < classes; c++) {
        largest = fmax(largest, scores[c]);
        size = fmax(size, fabs(scores[c]));
    }
    for (int c = 0; c < classes; c++)
        total += exp(scores[c] - largest);
    for (int c = 0; c < classes; c++)
        scores[c] -= largest + log(total);
    return size;
}

/* The head's hidden units in place of what it sees; how many. */
static int rectify(const naive_gnn *gnn, int width, double *seen)
{
    double units[MAX_HIDDEN];
    for (int h = 0; h < gnn->head_hidden; h++) {
        units[h] = gnn->head_inner_bias[h];
        for (int k = 0; k < width; k++)
            units[h] += seen[k] * gnn->head_inner[h][k];
        units[h] = units[h] > 0 ? units[h] : 0;
    }
    memcpy(seen, units, (size_t)gnn->head_hidden * sizeof *units);
    return gnn->head_hidden;
}

double naive_log_probs(const naive_gnn *gnn, const naive_graph *g, int begin, int end,
                       double *log_probs)
{
    rows      out[MAX_LAYERS], x;
    adjacency a;
    make_adjacency(gnn, g, &a);
    for (int i = 0; i < g->nodes; i++)
        for (int j = 0; j < gnn->features; j++)
            x[i][j] = g->x[i][j] - (gnn->centred ? gnn->mean[j] : 0);
    for (int l = 0; l < gnn->layers; l++)
        convolve(gnn, g, &a, l, l == 0 ? gnn->features : gnn->hidden, l == 0 ? x : out[l - 1],
                 out[l]);
    double seen[MAX_LAYERS * MAX_HIDDEN];
    int    first = gnn->cat ? 0 : gnn->layers - 1, width = 0;
    for (int l = first; l < gnn->layers; l++)
        for (int h = 0; h < gnn->hidden; h++)
            seen[width++] = pooled(gnn, out[l], begin, end, h);
    if (gnn->head_hidden)
        width = rectify(gnn, width, seen);
    memcpy(log_probs, gnn->head_bias, (size_t)gnn->classes * sizeof *log_probs);
    for (int k = 0; k < width; k++)
        for (int c = 0; c < gnn->classes; c++)
            log_probs[c] += seen[k] * gnn->head[c][k];
    return normalise(gnn->classes, log_probs);
}

int naive_reach(const naive_gnn *gnn)
{
    return gnn->layers * (gnn->conv == NAIVE_CHEB ? gnn->order - 1 : 1);
}

double *naive_parameter(naive_gnn *gnn, const char *name, int *stride)
{
    int  layer = 0, order = 0, read = 0;
    char part[32];
    *stride = 1;
    if (!strcmp(name, "output_layer.bias"))
        return gnn->head_bias;
    if (!strcmp(name, "input.mean"))
        return gnn->mean;
    if (!strcmp(name, "hidden_layer.bias"))
        return gnn->head_inner_bias;
    *stride = MAX_LAYERS * MAX_HIDDEN;
    if (!strcmp(name, "hidden_layer.weight"))
        return gnn->head_inner[0];
    if (!strcmp(name, "output_layer.weight"))
        return gnn->head[0];
    *stride = 1;
    if (sscanf(name, "layers.%d.%31s", &layer, part) != 2 || layer < 0 || layer >= gnn->layers)
        return NULL;
    if (!strcmp(part, "bias") || !strcmp(part, "lin_rel.bias") || !strcmp(part, "nn.2.bias") ||
        !strcmp(part, "lin_l.bias"))
        return gnn->bias[layer];
    if (!strcmp(part, "norm.weight"))
        return gnn->norm_weight[layer];
    if (!strcmp(part, "norm.bias"))
        return gnn->norm_bias[layer];
    if (!strcmp(part, "norm.running_mean"))
        return gnn->norm_mean[layer];
    if (!strcmp(part, "norm.running_var"))
        return gnn->norm_var[layer];
    if (!strcmp(part, "nn.0.bias"))
        return gnn->inner_bias[layer];
    if (!strcmp(part, "att_src"))
        return gnn->score_source[layer];
    if (!strcmp(part, "att_dst"))
        return gnn->score_target[layer];
    *stride = MAX_WIDE;
    if (!strcmp(part, "skip.weight"))
        return gnn->skip[layer][0];
    if (!strcmp(part, "lin.weight") && gnn->conv == NAIVE_GAT)
        return gnn->heads_weight[layer][0];
    if (!strcmp(part, "nn.0.weight"))
        return gnn->weight[layer][0][0];
    if (!strcmp(part, "nn.2.weight"))
        return gnn->weight[layer][1][0];
    if (!strcmp(part, "lin.weight") || !strcmp(part, "lin_rel.weight") ||
        !strcmp(part, "lin_l.weight"))
        return gnn->weight[layer][0][0];
    if (!strcmp(part, "lin_root.weight") || !strcmp(part, "lin_r.weight"))
        return gnn->weight[layer][1][0];
    if (sscanf(part, "lins.%d.weight%n", &order, &read) == 1 && read > 0 && order < gnn->order)
        return gnn->weight[layer][order][0];
    return NULL;
}
