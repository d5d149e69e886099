/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.h: graphs with extreme values, and every layer in double, straight from its
 * definition, on the whole graph. */
#ifndef CBX_TEST_NUMBERS_H
#define CBX_TEST_NUMBERS_H

#include <math.h>

#include "oracle.h"
#include "test.h"

enum { ODD_EDGES_MAX = 32, ODD_NODES_MAX = 8, ODD_FEATURES = 3, ODD_HIDDEN = 4, ODD_LAYERS = 2 };

typedef struct odd_graph {
    const char *name;
    int32_t     nodes;
    const char *edges; /* "01 12": source, target; each one way */
    /* feature j of node i is first * (i + 1) + second * j, cut to whole numbers for the last */
    double      first, second;
    const float weight; /* of all edges; 0: none given */
    double      spread; /* bounds are the values' own, and this much further; 0: just those */
    int32_t     classes;
} odd_graph;

#define RING "01 10 12 21 23 32 30 03"

static const odd_graph odd_graphs[] = {
    {"ordinary", 4, RING, 0.3, -0.2, 0, 2, 3},
    {"features of 1e30", 4, RING, 1e30, -3e29, 0, 1e30, 3},
    {"features of 1e38", 4, RING, 8e37, -5e37, 0, 0, 3},
    {"features of 1e-42, which is denormal", 4, RING, 1e-42, 3e-42, 0, 1e-41, 3},
    {"features of 1e-42 with wide bounds", 4, RING, 1e-42, 3e-42, 0, 1, 3},
    {"all features zero", 4, RING, 0, 0, 0, 1, 3},
    {"all features zero, and no room", 4, RING, 0, 0, 0, 0, 3},
    {"bounds of 1e30", 4, RING, 0.3, -0.2, 0, 1e30, 3},
    {"bounds of 1e38", 4, RING, 0.3, -0.2, 0, 1.5e38, 3},
    {"edge weights of 1e30", 4, RING, 0.3, -0.2, 1e30f, 2, 3},
    {"edge weights of 1e-42", 4, RING, 0.3, -0.2, 1e-42f, 2, 3},
    {"edge weights of 3e38", 4, RING, 0.3, -0.2, 3e38f, 2, 3},
    {"no edges", 4, "", 0.3, -0.2, 0, 2, 3},
    {"one node", 1, "", 0.3, -0.2, 0, 2, 3},
    {"one node with loops", 1, "00 00 00", 0.3, -0.2, 0, 2, 3},
    {"the same edges three times", 3, "01 01 01 10 10 10 12 21 12 21 12 21", 0.3, -0.2, 0, 2, 3},
    {"loops only", 3, "00 11 22 00 11 22", 0.3, -0.2, 0, 2, 3},
    {"a target of its own", 6, "12 21 23 32 34 43 45 54", 0.3, -0.2, 0, 2, 3},
    {"edges that all lead away", 4, "01 02 03 03", 0.3, -0.2, 0, 2, 3},
    {"edges that all lead here", 4, "10 20 30 30", 0.3, -0.2, 0, 2, 3},
    {"two classes", 4, RING, 0.3, -0.2, 0, 2, 2},
};
enum { ODD_GRAPHS = sizeof odd_graphs / sizeof *odd_graphs };

typedef struct odd_layer {
    const char *conv, *aggregation;
    int64_t     order;
} odd_layer;

static const odd_layer odd_layers[] = {{"gcn", "add", 1},        {"cheb", "add", 1},
                                       {"cheb", "add", 3},       {"graphconv", "add", 1},
                                       {"graphconv", "mean", 1}, {"graphconv", "max", 1}};
enum { LAYER_KINDS = sizeof odd_layers / sizeof *odd_layers };

/* Parameters are drawn; biases are small, so that features decide. */
static inline oracle odd_make(const odd_graph *g, const odd_layer *l, bool graph_task)
{
    oracle   o = {0};
    int64_t *source = TAKE(&o.bag, int64_t, ODD_EDGES_MAX), m = 0;
    int64_t *target = TAKE(&o.bag, int64_t, ODD_EDGES_MAX);
    int64_t *y = TAKE(&o.bag, int64_t, g->nodes), *ends = TAKE(&o.bag, int64_t, 2);
    float   *x = TAKE(&o.bag, float, g->nodes *ODD_FEATURES), *weight = NULL;
    float   *lo = TAKE(&o.bag, float, ODD_FEATURES), *hi = TAKE(&o.bag, float, ODD_FEATURES);
    uint8_t *discrete = TAKE(&o.bag, uint8_t, ODD_FEATURES);
    for (const char *at = g->edges; *at; at += at[2] ? 3 : 2) {
        source[m] = at[0] - '0';
        target[m++] = at[1] - '0';
    }
    for (int32_t j = 0; j < ODD_FEATURES; j++) {
        double low = INFINITY, high = -INFINITY;
        discrete[j] = j == ODD_FEATURES - 1;
        for (int32_t i = 0; i < g->nodes; i++) {
            double v = g->first * (i + 1) + g->second * j;
            x[i * ODD_FEATURES + j] = (float)(discrete[j] ? floor(v) : v);
            low = fmin(low, x[i * ODD_FEATURES + j]);
            high = fmax(high, x[i * ODD_FEATURES + j]);
        }
        lo[j] = (float)(low - g->spread);
        hi[j] = (float)(high + g->spread);
    }
    if (g->weight > 0) {
        weight = TAKE(&o.bag, float, ODD_EDGES_MAX);
        for (int64_t e = 0; e < m; e++)
            weight[e] = g->weight;
    }
    for (int32_t i = 0; i < g->nodes; i++)
        y[i] = i % g->classes;
    ends[0] = 0;
    ends[1] = g->nodes;
    o.data = (cbx_graph_data){.task = graph_task ? CBX_GRAPH : CBX_NODE,
                              .num_nodes = g->nodes,
                              .num_features = ODD_FEATURES,
                              .num_classes = g->classes,
                              .num_graphs = graph_task ? 1 : 0,
                              .graph_ptr = graph_task ? ends : NULL,
                              .num_edges = m,
                              .edge_source = source,
                              .edge_target = target,
                              .edge_weight = weight,
                              .x = x,
                              .discrete = discrete,
                              .feat_min = lo,
                              .feat_max = hi,
                              .y = y};
    cbx_error      err = {0};
    cbx_model_spec spec;
    oracle_must(cbx_graph_new(&o.data, &o.graph, &err), &err);
    o.data = *cbx_graph_arrays(o.graph);
    cbx_fields_default(cbx_model_table(), &spec);
    oracle_must(cbx_fields_set(cbx_model_table(), &spec, "model", l->conv, &err), &err);
    oracle_must(cbx_fields_set(cbx_model_table(), &spec, "aggregation", l->aggregation, &err),
                &err);
    spec.order = l->order;
    spec.layers = ODD_LAYERS;
    spec.hidden = ODD_HIDDEN;
    spec.dropout = 0;
    oracle_must(cbx_model_new_with(o.graph, &spec, 11, &o.model, &err), &err);
    return o;
}

/* ------------------------------------------------------- layers in double */

typedef struct plain_layer {
    const cbx_graph_data *d;
    const cbx_model      *model;
    const char           *conv, *aggregation;
    int                   number, order;
    int32_t               in, out;
} plain_layer;

/* values[o][i] of a parameter; false where there is none. */
static inline bool plain_parameter(const cbx_model *m, const char *wanted, double *values)
{
    const char *name;
    int32_t     rows, cols;
    float       copy[1024];
    for (size_t i = 0; cbx_model_parameter(m, i, &name, &rows, &cols); i++) {
        if (strcmp(name, wanted) != 0)
            continue;
        CHECK_INT(cbx_model_get(m, i, copy, (int64_t)rows * cols, NULL), CBX_OK);
        for (int32_t k = 0; k < rows * cols; k++)
            values[k] = copy[k];
        return true;
    }
    return false;
}

static inline double plain_weight(const cbx_graph_data *d, int64_t e)
{
    return d->edge_weight ? d->edge_weight[e] : 1;
}

/* The factor of edge e, and of a node's own row where there is one. */
static inline double plain_factor(const plain_layer *l, const double *degree, int64_t e)
{
    const cbx_graph_data *d = l->d;
    int64_t               s = d->edge_source[e], t = d->edge_target[e];
    if (!strcmp(l->conv, "graphconv"))
        return plain_weight(d, e);
    if (s == t || degree[s] < 1e-38 || degree[t] < 1e-38) /* as good as none */
        return 0;
    double both = plain_weight(d, e) / sqrt(degree[s]) / sqrt(degree[t]);
    return !strcmp(l->conv, "cheb") ? -both : both;
}

/* gcn counts what arrives, with a loop of weight 1 where there is none (else the last
 * one's); cheb counts what leaves, without loops. */
static inline void plain_degrees(const plain_layer *l, double *degree, double *own)
{
    const cbx_graph_data *d = l->d;
    bool                  cheb = !strcmp(l->conv, "cheb");
    for (int32_t i = 0; i < d->num_nodes; i++) {
        degree[i] = 0;
        own[i] = 1;
    }
    for (int64_t e = 0; e < d->num_edges; e++) {
        if (d->edge_source[e] == d->edge_target[e])
            own[d->edge_source[e]] = plain_weight(d, e);
        else
            degree[cheb ? d->edge_source[e] : d->edge_target[e]] += plain_weight(d, e);
    }
    for (int32_t i = 0; i < d->num_nodes && !cheb; i++)
        degree[i] += own[i];
    for (int32_t i = 0; i < d->num_nodes; i++)
        own[i] = degree[i] > 0 ? own[i] / degree[i] : 0;
}

/* One propagation of rows of `width`, by the layer's rule. */
static inline void plain_spread(const plain_layer *l, const double *in, int32_t width, double *out)
{
    const cbx_graph_data *d = l->d;
    double                degree[ODD_NODES_MAX], own[ODD_NODES_MAX];
    bool                  gcn = !strcmp(l->conv, "gcn"), conv = !strcmp(l->conv, "graphconv");
    plain_degrees(l, degree, own);
    for (int32_t i = 0; i < d->num_nodes; i++)
        for (int32_t j = 0; j < width; j++) {
            double sum = gcn ? own[i] * in[i * width + j] : 0, largest = -INFINITY;
            int    count = 0;
            for (int64_t e = 0; e < d->num_edges; e++) {
                if (d->edge_target[e] != i)
                    continue;
                double v = plain_factor(l, degree, e);
                v *= in[d->edge_source[e] * width + j];
                sum += v;
                largest = fmax(largest, v);
                count++;
            }
            if (conv && !strcmp(l->aggregation, "mean"))
                sum /= count ? count : 1;
            if (conv && !strcmp(l->aggregation, "max"))
                sum = count ? largest : 0;
            out[i * width + j] = sum;
        }
}

static inline void plain_product(const plain_layer *l, const char *part, const double *in,
                                 double *out)
{
    char   name[128];
    double w[256];
    (void)snprintf(name, sizeof name, "layers.%d.%s", l->number, part);
    if (!plain_parameter(l->model, name, w))
        return;
    for (int32_t i = 0; i < l->d->num_nodes; i++)
        for (int32_t h = 0; h < l->out; h++)
            for (int32_t j = 0; j < l->in; j++)
                out[i * l->out + h] += in[i * l->in + j] * w[h * l->in + j];
}

static inline void plain_forward(const plain_layer *l, const double *in, double *out)
{
    enum { ROOM = ODD_NODES_MAX * (ODD_FEATURES + ODD_HIDDEN) };
    double  t[3][ROOM], bias[ODD_HIDDEN] = {0};
    int32_t n = l->d->num_nodes, all = n * l->in;
    char    name[64];
    bool    conv = !strcmp(l->conv, "graphconv");
    memset(out, 0, (size_t)(n * l->out) * sizeof *out);
    (void)snprintf(name, sizeof name, "layers.%d.%s", l->number, conv ? "lin_rel.bias" : "bias");
    (void)plain_parameter(l->model, name, bias);
    plain_spread(l, in, l->in, t[1]);
    if (!strcmp(l->conv, "cheb")) { /* T_0 = x, T_1 = A x, T_k = 2 A T_{k-1} - T_{k-2} */
        memcpy(t[0], in, (size_t)all * sizeof *in);
        for (int k = 0; k < l->order; k++) {
            (void)snprintf(name, sizeof name, "lins.%d.weight", k);
            plain_product(l, name, t[k % 3], out);
            if (k == 0)
                continue;
            plain_spread(l, t[k % 3], l->in, t[(k + 1) % 3]);
            for (int32_t i = 0; i < all; i++)
                t[(k + 1) % 3][i] = 2 * t[(k + 1) % 3][i] - t[(k - 1) % 3][i];
        }
    } else {
        plain_product(l, conv ? "lin_rel.weight" : "lin.weight", t[1], out);
        if (conv)
            plain_product(l, "lin_root.weight", in, out);
    }
    for (int32_t i = 0; i < n * l->out; i++)
        out[i] = fmax(out[i] + bias[i % l->out], 0);
}

/* Log-probabilities of all nodes, and the largest score there was. */
static inline double plain_predict(const cbx_graph_data *d, const cbx_model *m, const odd_layer *k,
                                   double *logp)
{
    cbx_model_info info = cbx_model_describe(m);
    bool           cat = !strcmp(info.head, "cat");
    int32_t        n = d->num_nodes, C = info.num_classes;
    double         x[ODD_NODES_MAX * ODD_FEATURES], out[ODD_LAYERS][ODD_NODES_MAX * ODD_HIDDEN];
    double         head[1024], bias[128], peak = 0;
    for (int32_t i = 0; i < n * ODD_FEATURES; i++)
        x[i] = d->x[i];
    for (int l = 0; l < ODD_LAYERS; l++) {
        plain_layer layer = {
            d,         m, k->conv, k->aggregation, l, (int)k->order, l ? ODD_HIDDEN : ODD_FEATURES,
            ODD_HIDDEN};
        plain_forward(&layer, l ? out[l - 1] : x, out[l]);
    }
    (void)plain_parameter(m, "output_layer.weight", head);
    (void)plain_parameter(m, "output_layer.bias", bias);
    int32_t first = cat ? 0 : ODD_LAYERS - 1, width = (ODD_LAYERS - first) * ODD_HIDDEN;
    for (int32_t i = 0; i < n; i++) {
        double *p = logp + i * C, largest = -INFINITY, total = 0;
        for (int32_t c = 0; c < C; c++) {
            p[c] = bias[c];
            for (int32_t j = 0; j < width; j++) {
                double part = out[first + j / ODD_HIDDEN][i * ODD_HIDDEN + j % ODD_HIDDEN];
                peak = fmax(peak, fabs(part));
                p[c] += part * head[c * width + j];
            }
            largest = fmax(largest, p[c]);
        }
        for (int32_t c = 0; c < C; c++)
            total += exp(p[c] - largest);
        for (int32_t c = 0; c < C; c++)
            p[c] -= largest + log(total);
    }
    return peak;
}

#endif
