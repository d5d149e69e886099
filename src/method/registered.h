/* SPDX-License-Identifier: Apache-2.0 */
/* registered.h: methods from outside the library (combinex/extend.h). */
#ifndef CBX_REGISTERED_H
#define CBX_REGISTERED_H

#include "explainer.h"

/* The i-th that was registered, or NULL. */
const cbx_explainer *cbx_registered_at(int i);

/* explainers.c: bytes that are left for options of methods. */
size_t cbx_explainers_room(void);

/* explainers.c: the i-th of them has this name from now on. */
void cbx_explainers_name(int i, const char *name);

#endif
