/* SPDX-License-Identifier: Apache-2.0 */
/* single_edges.c: which single edge, removed or added, changes a node's class? Every pair of nodes
 * is tried, in double precision, on CF-GNNExplainer's model: three GCN layers with ReLU, side by
 * side, and a linear layer. Nothing of combinex has a part in it.
 *
 *     cc -O3 -o single_edges bench/single_edges.c -lm
 *     single_edges INPUT          made by bench/additions.py --every-pair
 *
 * Prints a line a node: its number, its class, and which edges do, as a sum: 1, one that goes; 2,
 * one that comes at the node; 4, one that comes between two nodes within four hops; 8, any other.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 3, WIDEST = 256, CLASSES = 64, HOPS = 4 };

static int     n, width[LAYERS + 1], classes, stamp;
static float  *weight[LAYERS], *bias[LAYERS], *head, *head_bias;
static int   **neighbours, *degree;
static double *was[LAYERS + 1], *now[LAYERS + 1], *message_was[LAYERS], *message_now[LAYERS];
static int    *fresh[LAYERS + 1], *list[LAYERS + 1]; /* by node, `stamp`: is not what it was */
static int     a, b, add;                            /* the pair, and whether its edge comes */

static void *take(FILE *file, size_t size, size_t count)
{
    void *to = malloc(size * count + 1);
    if (!to || fread(to, size, count, file) != count)
        exit(2);
    return to;
}

static double *zeros(size_t count)
{
    return calloc(count + 1, sizeof(double));
}

/* The weights of layer l times what it is given of a node. */
static void send(int l, const double *from, double *to)
{
    for (int j = 0; j < width[l + 1]; j++) {
        to[j] = 0;
        for (int k = 0; k < width[l]; k++)
            to[j] += (double)weight[l][j * width[l] + k] * from[k];
    }
}

static double scale(int node)
{
    return 1 / sqrt(1.0 + degree[node] + (node == a || node == b ? (add ? 1 : -1) : 0));
}

static void gather(int l, int from, double factor, double *sum)
{
    const double *m = l > 0 && fresh[l][from] == stamp ? message_now[l] : message_was[l];
    for (int j = 0; j < width[l + 1]; j++)
        sum[j] += factor * scale(from) * m[(size_t)from * (size_t)width[l + 1] + (size_t)j];
}

/* The output of layer l at a node, with the pair's edge as it is now. */
static void compute(int l, int node, double *to)
{
    double sum[WIDEST] = {0}, own = scale(node);
    gather(l, node, own, sum);
    for (int k = 0; k < degree[node]; k++) {
        int other = neighbours[node][k];
        if (add || !((node == a && other == b) || (node == b && other == a)))
            gather(l, other, own, sum);
    }
    if (add && (node == a || node == b))
        gather(l, node == a ? b : a, own, sum);
    for (int j = 0; j < width[l + 1]; j++) {
        double y = sum[j] + (double)bias[l][j];
        to[j] = y > 0 ? y : 0;
    }
}

static int classify(int node)
{
    int    best = 0, all = width[1] + width[2] + width[3];
    double score[CLASSES];
    for (int c = 0; c < classes; c++) {
        int at = 0;
        score[c] = (double)head_bias[c];
        for (int l = 1; l <= LAYERS; l++)
            for (int j = 0; j < width[l]; j++, at++)
                score[c] +=
                    (double)head[c * all + at] *
                    (fresh[l][node] == stamp ? now
                                             : was)[l][(size_t)node * (size_t)width[l] + (size_t)j];
        best = score[c] > score[best] ? c : best;
    }
    return best;
}

static void touch(int l, int node, int *count)
{
    if (fresh[l][node] == stamp)
        return;
    fresh[l][node] = stamp;
    list[l][(*count)++] = node;
}

/* Every node whose output of layer l is not what it was, given those of the layer before. */
static int spread(int l, int before)
{
    int count = 0;
    touch(l, a, &count);
    touch(l, b, &count);
    for (int k = 0; k < before; k++) {
        int node = list[l - 1][k];
        touch(l, node, &count);
        for (int i = 0; i < degree[node]; i++)
            touch(l, neighbours[node][i], &count);
    }
    return count;
}

/* The model with the pair's edge changed; how many nodes, in list[LAYERS], may have another class.
 */
static int run_changed(void)
{
    int count = 2;
    stamp++;
    list[0][0] = a;
    list[0][1] = b;
    for (int l = 0; l < LAYERS; l++) {
        count = spread(l + 1, count);
        for (int k = 0; k < count; k++) {
            int     node = list[l + 1][k];
            double *to = now[l + 1] + (size_t)node * (size_t)width[l + 1];
            compute(l, node, to);
            if (l + 1 < LAYERS)
                send(l + 1, to, message_now[l + 1] + (size_t)node * (size_t)width[l + 2]);
        }
    }
    return count;
}

static void read_input(FILE *file, uint8_t **edge)
{
    int32_t *size = take(file, sizeof *size, 7);
    n = size[0];
    classes = size[6];
    for (int l = 0; l <= LAYERS; l++)
        width[l] = size[2 + l];
    int64_t *ends = take(file, sizeof *ends, 2 * (size_t)size[1]);
    float   *x = take(file, sizeof *x, (size_t)n * (size_t)width[0]);
    for (int l = 0; l < LAYERS; l++) {
        weight[l] = take(file, sizeof(float), (size_t)width[l] * (size_t)width[l + 1]);
        bias[l] = take(file, sizeof(float), (size_t)width[l + 1]);
    }
    head = take(file, sizeof(float), (size_t)classes * (size_t)(width[1] + width[2] + width[3]));
    head_bias = take(file, sizeof(float), (size_t)classes);
    *edge = calloc((size_t)n * (size_t)n, 1);
    neighbours = calloc((size_t)n, sizeof *neighbours);
    degree = calloc((size_t)n, sizeof *degree);
    for (int64_t k = 0; k < size[1]; k++)
        if (ends[k] != ends[size[1] + k])
            (*edge)[ends[k] * n + ends[size[1] + k]] = (*edge)[ends[size[1] + k] * n + ends[k]] = 1;
    for (int i = 0; i < n; i++) {
        neighbours[i] = malloc((size_t)n * sizeof(int));
        for (int j = 0; j < n; j++)
            if ((*edge)[(size_t)i * (size_t)n + (size_t)j])
                neighbours[i][degree[i]++] = j;
    }
    for (int l = 0; l <= LAYERS; l++) {
        was[l] = zeros((size_t)n * (size_t)width[l]);
        now[l] = zeros((size_t)n * (size_t)width[l]);
        fresh[l] = calloc((size_t)n, sizeof(int));
        list[l] = calloc((size_t)n + 2, sizeof(int));
    }
    for (size_t k = 0; k < (size_t)n * (size_t)width[0]; k++)
        was[0][k] = (double)x[k];
}

/* The model on the graph as it is. */
static void run_unchanged(void)
{
    a = b = -1;
    stamp = 1;
    for (int l = 0; l < LAYERS; l++) {
        size_t in = (size_t)width[l], out = (size_t)width[l + 1];
        message_was[l] = zeros((size_t)n * out);
        message_now[l] = zeros((size_t)n * out);
        for (int i = 0; i < n; i++)
            send(l, was[l] + (size_t)i * in, message_was[l] + (size_t)i * out);
        add = 1;
        for (int i = 0; i < n; i++)
            compute(l, i, was[l + 1] + (size_t)i * out);
    }
}

/* Nodes within HOPS of a node. */
static void find_near(int node, uint8_t *near, int *queue)
{
    int tail = 1, head_at = 0;
    memset(near, 0, (size_t)n);
    near[node] = 1;
    queue[0] = node;
    for (int h = 0; h < HOPS; h++)
        for (int end = tail; head_at < end; head_at++)
            for (int k = 0; k < degree[queue[head_at]]; k++) {
                int other = neighbours[queue[head_at]][k];
                if (!near[other])
                    queue[tail++] = other;
                near[other] = 1;
            }
}

int main(int argc, char **argv)
{
    FILE    *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    uint8_t *edge;
    if (!file)
        return 2;
    read_input(file, &edge);
    (void)fclose(file);
    if (classes > CLASSES || width[1] > WIDEST || width[2] > WIDEST || width[3] > WIDEST)
        return 2;
    run_unchanged();
    int *class = calloc((size_t)n, sizeof *class), *does = calloc((size_t)n, sizeof *does);
    int      *queue = calloc((size_t)n + 1, sizeof *queue);
    uint8_t **near = calloc((size_t)n, sizeof *near);
    for (int i = 0; i < n; i++) {
        class[i] = classify(i);
        near[i] = malloc((size_t)n);
        find_near(i, near[i], queue);
    }
    for (int u = 0; u < n; u++)
        for (int v = u + 1; v < n; v++) {
            a = u;
            b = v;
            add = !edge[(size_t)u * (size_t)n + (size_t)v];
            for (int k = run_changed() - 1; k >= 0; k--) {
                int i = list[LAYERS][k];
                if (classify(i) != class[i])
                    does[i] |= !add ? 1 : i == u || i == v ? 2 : near[i][u] && near[i][v] ? 4 : 8;
            }
        }
    for (int i = 0; i < n; i++)
        (void)printf("%d %d %d\n", i, class[i], does[i]);
    return 0;
}
