/* SPDX-License-Identifier: Apache-2.0 */
/* box.h: what a class can lead by when every feature is anywhere in its range and any of the edges
 * that may go are gone, however many.
 *
 * Boxes from layer to layer, without budgets. They are wide; but of a model whose units are dead,
 * or of ranges that are narrow, they tell that nothing helps. Who knows more of a layer's products
 * (box_back.h) narrows them before they are added up. */
#ifndef CBX_BOX_H
#define CBX_BOX_H

#include "net.h"
#include "scale.h"

typedef struct cbx_box_question {
    const cbx_net           *net;
    const cbx_partial_graph *graph;      /* its choices are the edges that may go */
    const float             *low, *high; /* rows x features: of those that the first layer reads */
} cbx_box_question;

typedef struct cbx_box_layer {
    int32_t         rows_in, rows;
    cbx_node_scale *scales; /* by row that it reads */
    /* rows x units, before their ReLUs: what the model has is in between, and no further from what
     * the formulas make of the model's own inputs of the layer than `rounding`. */
    double *low, *high, *rounding;
} cbx_box_layer;

typedef struct cbx_boxes {
    const cbx_box_question *q;
    cbx_box_layer          *layers;
    double *low, *high; /* of features, as the first layer multiplies them: rows x features */
    double *message_low, *message_high, *own_low, *own_high; /* a layer's products: rows x units */
    double *message_size, *own_size;                         /* without signs */
    double *max_low, *max_high; /* scratch: of one row's neighbours, or of all rows */
    double *weights, *sizes;    /* scratch, of the widest layer */
    double  largest;            /* score of any class, without signs; known where all layers are */
    bool    lost;               /* some unit may be too large for the model's numbers */
} cbx_boxes;

/* Room for all. *known false: of such a question nothing can be told. */
cbx_status cbx_boxes_init(cbx_boxes *b, const cbx_box_question *q, cbx_arena *arena, bool *known,
                          cbx_error *err);

/* The products of layer l, by the boxes of the layer before. False: no time. */
bool cbx_boxes_multiply(cbx_boxes *b, int32_t l);

/* Its boxes, by those products. */
void cbx_boxes_add_up(cbx_boxes *b, int32_t l);

/* All layers are there. */
void cbx_boxes_finish(cbx_boxes *b);

/* All of that, layer by layer. False: no time. */
bool cbx_boxes_compute(cbx_boxes *b);

/* How often the head counts each row of a layer, and how many rows it looks at. */
double cbx_boxes_share(const cbx_boxes *b, int32_t *rows);

/* By how much the head and what is behind it can be wrong about a lead. */
double cbx_boxes_head_rounding(const cbx_boxes *b, int32_t ahead, int32_t behind);

/* The lead of class `ahead` over class `behind`, as the model computes it, at most. */
double cbx_boxes_lead(const cbx_boxes *b, int32_t ahead, int32_t behind);

#endif
