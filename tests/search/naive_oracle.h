/* SPDX-License-Identifier: Apache-2.0 */
/* naive_oracle.h: gcn and graphconv (add) in double, straight from their
 * definitions, on the factual graph of a row. */
#ifndef CBX_TEST_NAIVE_ORACLE_H
#define CBX_TEST_NAIVE_ORACLE_H

#include <math.h>

#include "oracle.h"
#include "test.h"

enum { NAIVE_LAYERS = 2, NAIVE_WIDEST = 24 };

typedef struct naive {
    bag           bag;
    int32_t       n, f, C, H; /* H: units per layer */
    int64_t       m;
    int32_t      *local;           /* by node of the graph: its number here, or -1 */
    int32_t      *source, *target; /* m */
    int64_t      *edge;            /* m: ids in the graph */
    double       *weight, *x;      /* m; n * f */
    int32_t       row;             /* the node; -1: mean over all */
    bool          gcn, cat;        /* cat: the head sees both layers */
    const double *lin[NAIVE_LAYERS], *bias[NAIVE_LAYERS], *root[NAIVE_LAYERS], *head, *head_bias;
    double       *out[NAIVE_LAYERS], *degree, *loop; /* scratch */
} naive;

/* A parameter by name, out x in. */
static inline double *naive_parameter(naive *p, const cbx_model *m, int layer, const char *part)
{
    char        wanted[64];
    const char *name;
    int32_t     rows, cols;
    (void)snprintf(wanted, sizeof wanted, "layers.%d.%s", layer, part);
    for (size_t i = 0; cbx_model_parameter(m, i, &name, &rows, &cols); i++) {
        if (strcmp(name, layer < 0 ? part : wanted) != 0)
            continue;
        float  *values = TAKE(&p->bag, float, rows *cols);
        double *copy = TAKE(&p->bag, double, rows *cols);
        CHECK_INT(cbx_model_get(m, i, values, (int64_t)rows * cols, NULL), CBX_OK);
        for (int32_t k = 0; k < rows * cols; k++)
            copy[k] = values[k];
        return copy;
    }
    return NULL;
}

static inline void naive_model(naive *p, const cbx_model *m)
{
    cbx_model_info info = cbx_model_describe(m);
    p->gcn = !strcmp(info.conv, "gcn");
    p->cat = !strcmp(info.head, "cat");
    p->H = info.hidden;
    p->C = info.num_classes;
    for (int l = 0; l < NAIVE_LAYERS; l++) {
        p->lin[l] = naive_parameter(p, m, l, p->gcn ? "lin.weight" : "lin_rel.weight");
        p->bias[l] = naive_parameter(p, m, l, p->gcn ? "bias" : "lin_rel.bias");
        p->root[l] = naive_parameter(p, m, l, "lin_root.weight");
        p->out[l] = TAKE(&p->bag, double, p->n * p->H);
    }
    p->head = naive_parameter(p, m, -1, "output_layer.weight");
    p->head_bias = naive_parameter(p, m, -1, "output_layer.bias");
    p->degree = TAKE(&p->bag, double, p->n);
    p->loop = TAKE(&p->bag, double, p->n);
}

/* Marks the nodes that reach `row` in `hops` steps, or those of graph `row`. */
static inline void naive_mark(const cbx_graph_data *d, int32_t row, int hops, uint8_t *inside)
{
    for (int32_t i = 0; i < d->num_nodes; i++)
        inside[i] =
            d->task == CBX_GRAPH ? i >= d->graph_ptr[row] && i < d->graph_ptr[row + 1] : i == row;
    for (int h = 0; h < hops && d->task == CBX_NODE; h++) {
        for (int64_t e = 0; e < d->num_edges; e++)
            inside[d->edge_source[e]] |=
                inside[d->edge_target[e]] & 1 ? 2 : 0; /* of the next hop */
        for (int32_t i = 0; i < d->num_nodes; i++)
            inside[i] = inside[i] != 0;
    }
}

/* The factual graph of a row. */
static inline naive naive_make(const oracle *o, int32_t row)
{
    const cbx_graph_data *d = &o->data;
    naive                 p = {.f = d->num_features};
    uint8_t              *inside = TAKE(&p.bag, uint8_t, d->num_nodes);
    p.source = TAKE(&p.bag, int32_t, d->num_edges);
    p.target = TAKE(&p.bag, int32_t, d->num_edges);
    p.edge = TAKE(&p.bag, int64_t, d->num_edges);
    p.weight = TAKE(&p.bag, double, d->num_edges);
    p.x = TAKE(&p.bag, double, d->num_nodes *p.f);
    p.local = TAKE(&p.bag, int32_t, d->num_nodes);
    naive_mark(d, row, NAIVE_LAYERS + 1, inside);
    for (int32_t i = 0; i < d->num_nodes; i++) {
        p.local[i] = inside[i] ? p.n++ : -1;
        for (int32_t j = 0; j < p.f && inside[i]; j++)
            p.x[p.local[i] * p.f + j] = data_feature(d, i, j);
    }
    for (int64_t e = 0; e < d->num_edges; e++) {
        p.source[p.m] = p.local[d->edge_source[e]];
        p.target[p.m] = p.local[d->edge_target[e]];
        p.weight[p.m] = d->edge_weight ? d->edge_weight[e] : 1;
        p.edge[p.m] = e;
        p.m += p.source[p.m] >= 0 && p.target[p.m] >= 0;
    }
    p.row = d->task == CBX_GRAPH ? -1 : p.local[row];
    naive_model(&p, o->model);
    return p;
}

static inline void naive_free(naive *p)
{
    bag_free(&p->bag);
}

/* What reaches node i: sums[0..width). */
static inline void naive_gather(const naive *p, int32_t i, const double *in, int32_t width,
                                const double *w, double *sums)
{
    double own = p->gcn ? p->loop[i] / p->degree[i] : 0;
    for (int32_t j = 0; j < width; j++)
        sums[j] = p->gcn && p->degree[i] > 0 ? own * in[i * width + j] : 0;
    for (int64_t e = 0; e < p->m; e++) {
        double both = p->degree[p->source[e]] * p->degree[i];
        if (p->target[e] != i || (p->gcn && (p->source[e] == i || both <= 0)))
            continue;
        double factor = p->gcn ? w[e] / sqrt(both) : w[e];
        for (int32_t j = 0; j < width; j++)
            sums[j] += factor * in[p->source[e] * width + j];
    }
}

static inline void naive_layer(const naive *p, int l, const double *in, int32_t width,
                               const double *w)
{
    double sums[NAIVE_WIDEST];
    for (int32_t i = 0; i < p->n; i++) {
        p->degree[i] = p->loop[i] = 1;
        for (int64_t e = 0; e < p->m; e++)
            if (p->target[e] == i && p->source[e] == i)
                p->loop[i] = w[e]; /* the last one's */
        p->degree[i] = p->loop[i];
        for (int64_t e = 0; e < p->m; e++)
            p->degree[i] += p->target[e] == i && p->source[e] != i ? w[e] : 0;
    }
    for (int32_t i = 0; i < p->n; i++) {
        naive_gather(p, i, in, width, w, sums);
        for (int32_t h = 0; h < p->H; h++) {
            double y = p->bias[l][h];
            for (int32_t j = 0; j < width; j++) {
                y += sums[j] * p->lin[l][h * width + j];
                y += p->gcn ? 0 : in[i * width + j] * p->root[l][h * width + j];
            }
            p->out[l][i * p->H + h] = y > 0 ? y : 0;
        }
    }
}

/* Log-probabilities with these features (n * f) and edge weights (m). */
static inline void naive_predict(const naive *p, const double *x, const double *w, double *logp)
{
    naive_layer(p, 0, x, p->f, w);
    naive_layer(p, 1, p->out[0], p->H, w);
    int32_t first = p->cat ? 0 : 1, width = (NAIVE_LAYERS - first) * p->H;
    double  seen[NAIVE_LAYERS * NAIVE_WIDEST] = {0}, largest = -INFINITY, total = 0;
    for (int32_t i = 0; i < p->n; i++)
        for (int32_t k = 0; k < width && (p->row < 0 || p->row == i); k++)
            seen[k] += p->out[first + k / p->H][i * p->H + k % p->H] / (p->row < 0 ? p->n : 1);
    for (int32_t c = 0; c < p->C; c++) {
        logp[c] = p->head_bias[c];
        for (int32_t k = 0; k < width; k++)
            logp[c] += seen[k] * p->head[c * width + k];
        largest = fmax(largest, logp[c]);
    }
    for (int32_t c = 0; c < p->C; c++)
        total += exp(logp[c] - largest);
    for (int32_t c = 0; c < p->C; c++)
        logp[c] -= largest + log(total);
}

#endif
