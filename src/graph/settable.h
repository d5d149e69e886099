/* SPDX-License-Identifier: Apache-2.0 */
/* settable.h: a view whose edges can be given other weights and attributes. */
#ifndef CBX_SETTABLE_H
#define CBX_SETTABLE_H

#include "view.h"

/* view->set_weight and, of a view that has attributes, view->set_attr: what edges have to begin
 * with, handed out to be changed. NULL: no memory. */
float *cbx_view_settable_weights(cbx_view *view, cbx_arena *arena);
float *cbx_view_settable_attrs(cbx_view *view, cbx_arena *arena);

#endif
