/* SPDX-License-Identifier: Apache-2.0 */
/* truth.c: what an input says (shapes.h), noted while it is written. */
#include "shapes.h"

void fuzz_fact(fuzz_sheet *s, double value)
{
    fuzz_truth *t = s->truth;
    if (t->num_facts < FUZZ_FACTS)
        t->facts[t->num_facts++] = value;
}

void fuzz_true_size(fuzz_sheet *s, int64_t nodes, int64_t features)
{
    s->truth->nodes = nodes;
    s->truth->features = features;
}

static bool has(int64_t at, int64_t bound)
{
    return at >= 0 && at < bound;
}

void fuzz_true_edge(fuzz_sheet *s, int64_t from, int64_t to, double weight)
{
    int64_t known = s->truth->nodes ? s->truth->nodes : FUZZ_NODES; /* where that is said first */
    if (has(from, known) && has(to, known))
        s->truth->edges[from][to] += weight;
}

void fuzz_true_x(fuzz_sheet *s, int64_t node, int64_t column, double value)
{
    if (has(node, FUZZ_NODES) && has(column, FUZZ_COLUMNS))
        s->truth->x[node][column] = value;
}

void fuzz_true_y(fuzz_sheet *s, int64_t row, int64_t label)
{
    if (has(row, FUZZ_NODES))
        s->truth->y[row] = label;
}

void fuzz_true_rules(fuzz_sheet *s, int rules)
{
    double(*edges)[FUZZ_NODES] = s->truth->edges;
    for (int i = 0; i < FUZZ_NODES; i++) {
        if (rules & FUZZ_NO_LOOPS)
            edges[i][i] = 0;
        for (int j = 0; j < FUZZ_NODES; j++)
            if ((rules & FUZZ_BOTH_WAYS) && edges[i][j] > 0 && edges[j][i] == 0)
                edges[j][i] = edges[i][j];
    }
    for (int i = 0; i < FUZZ_NODES; i++)
        for (int j = 0; j < FUZZ_NODES; j++)
            if ((rules & FUZZ_ONCE) && edges[i][j] > 0)
                edges[i][j] = 1;
}

void fuzz_true_classes(fuzz_sheet *s, int64_t rows)
{
    int64_t *y = s->truth->y, class[FUZZ_NODES] = {0};
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < rows; j++) { /* each label that is less counts once */
            bool first = y[j] < y[i];
            for (int64_t k = 0; k < j; k++)
                first = first && y[k] != y[j];
            class[i] += first;
        }
    for (int64_t i = 0; i < rows; i++)
        y[i] = class[i];
}
