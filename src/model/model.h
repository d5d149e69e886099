/* SPDX-License-Identifier: Apache-2.0 */
/* model.h: convolutions, a pooling for graph tasks, a linear head.
 *
 *     H_0 = X, or X - mean,  H_l = dropout(relu(conv_l(H_{l-1})))
 *     scores = Z W + b,  Z = H_L, or all H_l side by side; pooled over each graph;
 *     or, where the head has hidden units, dropout(relu(Z W' + b')) in place of Z
 *
 * All parameters are one block, layer after layer and the head last, so that an
 * optimiser, a copy or a gradient is one loop. */
#ifndef CBX_MODEL_H
#define CBX_MODEL_H

#include "internal.h"
#include "layer.h"
#include "oracle.h"

typedef enum cbx_head { CBX_HEAD_LAST, CBX_HEAD_CAT } cbx_head;
typedef enum cbx_pool { CBX_POOL_MEAN, CBX_POOL_SUM, CBX_POOL_MAX } cbx_pool;

extern const char *const cbx_head_names[]; /* last, cat */
extern const char *const cbx_pool_names[]; /* mean, sum, max */

typedef struct cbx_named_parameter {
    char          name[64]; /* "layers.0.lin.weight" */
    cbx_parameter shape;
    int64_t       offset; /* in the block */
} cbx_named_parameter;

typedef struct cbx_note {
    const char      *key, *value;
    struct cbx_note *next;
} cbx_note;

struct cbx_model {
    const cbx_driver    *oracle; /* who runs it, and then it has no layers; NULL: they do */
    cbx_task             task;
    cbx_head             head;
    cbx_pool             pool;
    double               dropout;
    int32_t              num_features, num_classes;
    int32_t              num_layers;
    cbx_layer           *layers;
    int32_t              head_in;     /* units the head sees */
    int32_t              head_hidden; /* units between them and the scores; 0: none */
    bool                 head_sees_no_negatives;
    float               *theta;
    int64_t              size;          /* of theta */
    float               *mean;          /* in theta: what features are less; NULL: nothing */
    float               *first_shift;   /* layers[0].shift: what that makes of its products */
    int32_t              num_shifts;    /* of first_shift */
    int64_t              hidden_offset; /* of the weights of hidden units */
    int64_t              output_offset; /* of those that make scores */
    int32_t              num_parameters;
    cbx_named_parameter *parameters;
    cbx_note            *notes;
    bool                 reproducible; /* computed with in the fixed order */
    cbx_arena            arena;
};

/* What cbx_model_build needs to know; widths[l] is the output of layer l. */
typedef struct cbx_architecture {
    cbx_task             task;
    const cbx_layer_ops *conv;
    cbx_layer_settings   set;
    cbx_head             head;
    cbx_pool             pool;
    double               dropout;
    int32_t              head_hidden;
    int32_t              num_features, num_classes;
    int32_t              num_layers;
    const int32_t       *widths;
    bool                 centred; /* has a parameter input.mean */
} cbx_architecture;

/* A model with all parameters 0. */
cbx_status cbx_model_build(const cbx_architecture *a, cbx_model **out, cbx_error *err);

/* Gives the model the parameter input.mean, with these values. */
cbx_status cbx_model_centre(cbx_model *model, const float *mean, cbx_error *err);

/* Draws fresh parameters. */
void cbx_model_init(cbx_model *model, int64_t seed);

/* Is layer l's output among what the head sees? */
static inline bool cbx_model_head_sees(const cbx_model *m, int32_t l)
{
    return m->head == CBX_HEAD_CAT || l == m->num_layers - 1;
}

/* Units that scores are made of. */
static inline int32_t cbx_model_output_in(const cbx_model *m)
{
    return m->head_hidden ? m->head_hidden : m->head_in;
}

/* Does a node's class depend on more than the edges among the nodes within one hop
 * more than there are layers, or is it unknown what it depends on? */
CBX_INTERNAL bool cbx_model_sees_further(const cbx_model *model);

/* Hops of features that a node's class depends on; where that is not known, some. */
int32_t cbx_model_reach(const cbx_model *model);

/* Hops of a node's factual graph: one more than there are layers (spec.md). */
int32_t cbx_model_factual_hops(const cbx_model *model);

/* cbx_layer_products of what takes in the model's input; 0: nothing is known of it. */
int32_t cbx_model_products(const cbx_model *model, int32_t *widest);

/* Does a feature that is 0 everywhere make no difference, nor its weights? */
bool cbx_model_drops_columns(const cbx_model *model);

/* A model that `oracle`, which it takes over, runs. */
cbx_status cbx_model_run_by(cbx_driver *oracle, cbx_task task, int32_t num_features,
                            int32_t num_classes, cbx_model **out, cbx_error *err);

/* Which edges it depends on beside them: what its layers see together. */
cbx_sight cbx_model_sight(const cbx_model *model);

/* Does every layer take slots that a view marks as removed for edges that are not there? */
bool cbx_model_removes_marked_slots(const cbx_model *model);

#endif
