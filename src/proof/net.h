/* SPDX-License-Identifier: Apache-2.0 */
/* net.h: a model as the formulas that proofs take: layers Y = M neighbour + X own + bias, where M
 * is A X or a maximum over neighbours, a ReLU behind each, sums, means or maxima over nodes, a
 * linear head; all in double precision. */
#ifndef CBX_NET_H
#define CBX_NET_H

#include "model.h"

typedef struct cbx_net_layer {
    int32_t       n_in, n_out;
    int32_t       reach; /* hops that it looks: 1, or 0 where it sees no edge */
    cbx_norm_kind norm;
    double       *neighbour, *own, *bias;
    bool          maximum;   /* of each input over neighbours, before the product */
    bool          has_own;   /* any of own is not 0 */
    double       *bias_size; /* what the bias is a sum of, without signs */
    /* unit j is the exact negative of unit twin[j], before their ReLUs; -1: of none. Of two the
     * first has the other as its twin, and the other none. Since relu(z) = z + relu(-z), scores
     * that see both can be linear in them, which bounds of one by one would not tell. */
    int32_t *twin;
} cbx_net_layer;

typedef struct cbx_net {
    const cbx_model *model;
    int32_t          num_layers, widest; /* units of the widest layer or input */
    cbx_net_layer   *layers;
    bool max_pool; /* of a graph the head sees the largest of each unit over its nodes */
} cbx_net;

/* *out is NULL where the model is not of that form: nothing is proved then. */
cbx_status cbx_net_of(const cbx_model *model, cbx_arena *arena, cbx_net **out, cbx_error *err);

/* Do rows of any layer see what they were themselves, as with skip connections, beside edges? */
bool cbx_net_has_own(const cbx_net *net);

/* How far from the row that is asked about rows of layer l's output are that count. */
int32_t cbx_net_hops(const cbx_net *net, int32_t l);

/* Weights that layer l's units have in the lead of class a over class b, n_out of them; false:
 * the head does not see the layer. `sizes`: those of the two scores together, without signs. */
bool cbx_net_head(const cbx_net *net, int32_t l, int32_t a, int32_t b, double *weights,
                  double *sizes);

/* What the lead has beside that, and its size. */
double cbx_net_head_bias(const cbx_net *net, int32_t a, int32_t b, double *size);

#endif
