/* SPDX-License-Identifier: Apache-2.0 */
/* oracle.h: a model that is run by somebody else.
 *
 * Most of the house asks a model through a pass (pass.h): scores of a view with features X and
 * edge weights w, and their gradients. A chain of layers does that itself. For any other kind of
 * model this table does it; and what it does not declare is absent: such a model has no layers, so
 * there are no bounds, no products to keep and no embeddings, and what would rest on them is done
 * without. */
#ifndef CBX_ORACLE_H
#define CBX_ORACLE_H

#include "view.h"

/* Further than any graph. */
enum { CBX_HOPS_ALL = INT32_MAX };

typedef struct cbx_driver {
    const char *kind;  /* "program", "callback" */
    void       *model; /* what the functions get */
    /* The class of a node depends on the features of nodes within so many steps, and on edges
     * that touch them, whichever way these lead; CBX_HOPS_ALL: on everything. */
    int32_t hops;
    int32_t edge_dim;      /* attributes that an edge must have; 0: they are not looked at */
    bool    takes_weights; /* of edges, as the data has them */
    bool    one_graph;     /* views hold one graph: it cannot tell several apart */
    bool    estimates; /* gradients are differences of answers: to rank by, not to descend along */
    /* Makes ready for a view, in memory of the arena; X tells the shape of the inputs. */
    cbx_status (*open)(const void *model, const cbx_view *view, const cbx_matrix *X, bool gradient,
                       cbx_arena *arena, void **run, cbx_error *err);
    /* log_probs: by label row of the view; NaN where there is no answer. w: by slot; 0: the edge
     * is not there. */
    void (*forward)(void *run, const cbx_matrix *X, const float *w, float *log_probs);
    /* Gradients of sum(dlogp * log_probs) at the last forward; dX (a row for each node) and dw may
     * be NULL, and are overwritten. */
    void (*backward)(void *run, const float *dlogp, float *dX, float *dw);
    /* Then, of the weights and the attributes that edges are given: by slot, and by slot and
     * attribute; each may be NULL. NULL: nothing is known of them. */
    void (*backward_edges)(void *run, float *by_weight, float *by_attr);
    /* What its numbers mean (src/oracle/model_output.h), and the same model with another reading,
     * which lasts no longer than this one; `owned` is freed with it, and NULL means no memory. */
    const struct cbx_model_output *(*reading)(const void *model);
    void *(*read_as)(const void *model, const struct cbx_model_output *reading, void *owned);
    char class_names[2][64]; /* of a label's classes, or a range's; "": they are the data's */
    const struct cbx_model *numbers; /* of a model that was aimed: the one that tells numbers */
    /* 64 hexadecimal digits that tell this model from others. */
    void (*hash)(const void *model, char hex[65]);
    void (*free)(void *model);
} cbx_driver;

#endif
