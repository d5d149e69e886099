/* SPDX-License-Identifier: Apache-2.0 */
/* registered_layers.h: layers from outside the library (combinex/extend.h). */
#ifndef CBX_REGISTERED_LAYERS_H
#define CBX_REGISTERED_LAYERS_H

#include "combinex/extend.h"
#include "layer.h"

/* The i-th that was registered, or NULL. */
const cbx_layer_ops *cbx_registered_layer_at(int i);

/* layer.c: the i-th of them has this name from now on. */
void cbx_layers_name(int i, const char *name);

#endif
