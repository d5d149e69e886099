/* SPDX-License-Identifier: Apache-2.0 */
/* project.h: rules for methods that know nothing of them.
 *
 * A method wishes for values of features and for edges to go. Before the oracle is asked, what it
 * wishes for becomes the nearest thing that the rules allow: what may not change stays, values move
 * to permitted ones, a one-hot group points to one of its features, what may not change without
 * something else goes back, and edges that must stay come back. How many edits there may be is seen
 * to when the search is over (fewer.h). Where no rule is given nothing here does anything. */
#ifndef CBX_PROJECT_H
#define CBX_PROJECT_H

#include "pairs.h"

/* Is there any rule? */
bool cbx_project_is_needed(const cbx_search *s);

/* May this feature of the view's node i, which is x, change? Where it may, from *lo to *hi, x
 * among them. */
bool cbx_project_may_change(const cbx_search *s, int32_t i, int32_t feature, float x, float *lo,
                            float *hi);

/* The features of the view's node i, as they are and as wished for, which become what is allowed. A
 * one-hot group goes where `leaning` is largest; NULL: to a feature that is wished to be on. */
void cbx_project_row(const cbx_search *s, int32_t i, const float *x, const float *leaning,
                     float *values);

/* May edges between these two nodes of the view go? */
bool cbx_project_may_go(const cbx_search *s, int32_t a, int32_t b);

/* Is there a limit to the edges that a node has once some are added? And how many more may lead to
 * the view's node i. */
bool    cbx_project_limits_additions(const cbx_search *s);
int64_t cbx_project_room(const cbx_search *s, int32_t i);

/* Keeps the graph's shape, where a rule asks for one. */
typedef struct cbx_shape cbx_shape;

/* `pairs`: what goes at once. *out is NULL where no rule asks. */
cbx_status cbx_shape_new(const cbx_search *s, const cbx_pairs *pairs, cbx_shape **out,
                         cbx_error *err);

/* By pair: goes. What would break the shape comes back; true: something did. */
bool cbx_shape_keep(cbx_shape *shape, uint8_t *goes);

#endif
