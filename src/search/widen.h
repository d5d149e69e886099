/* SPDX-License-Identifier: Apache-2.0 */
/* widen.h: the factual graph with edges that are not there, but may be added.
 *
 * An *offered* edge is a slot of the view like any other that begins as removed: its weight is 0,
 * and it is marked. Adding it is giving it its weight back, and its derivative at 0 says what that
 * would do, to first order. A far node that an edge is offered to brings what it depends on with
 * it. */
#ifndef CBX_WIDEN_H
#define CBX_WIDEN_H

#include "explainer.h"

/* The same search on the factual graph with these edges offered; edits of other kinds are ignored.
 * Memory of s->arena. */
cbx_status cbx_widen(const cbx_search *s, const cbx_edit *offers, int64_t count, cbx_search *wide,
                     cbx_error *err);

/* What a view is once slots can be removed: arrays that say which are. */
typedef struct cbx_hiding {
    cbx_view view;
    float   *w;       /* by slot: weights in force */
    float   *lost;    /* by node: edges into it from outside the view, less those that are gone */
    uint8_t *removed; /* by slot */
    uint8_t *absent;  /* by node; NULL: none may come (newcomers.h) */
} cbx_hiding;

/* That of the search's view, with what is offered removed and newcomers absent. 0 on success. */
int cbx_hiding_init(cbx_hiding *hiding, const cbx_search *s, cbx_arena *arena);

/* What the edge in a slot that is not there would do, to first order, by the derivatives dw at what
 * hiding says. `mean`: the model divides by the number of edges, of which there is one more then.
 */
double cbx_hiding_gain(const cbx_hiding *hiding, const float *dw, bool mean, int32_t target,
                       int64_t slot);

/* Derivatives of the lead of the class that is sought, by what hiding says. */
typedef struct cbx_derivatives {
    float *dw;      /* by slot */
    float *pooling; /* by node: what its leaving or entering a pooling does; NULL: not asked for */
    bool   mean;    /* the model divides by the number of edges */
} cbx_derivatives;

/* Of the wider graph, with what it has more hidden. `pooling` is there where nodes may come. */
cbx_status cbx_hiding_slopes(const cbx_search *wide, cbx_hiding *hiding, cbx_derivatives *out,
                             cbx_error *err);

/* What a search of the wider graph has found becomes what `s` has found. */
void cbx_widen_hand_back(cbx_search *s, const cbx_search *wide);

#endif
