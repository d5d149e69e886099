/* SPDX-License-Identifier: Apache-2.0 */
/* traits.h: what most layers declare of themselves, whatever their settings. */
#ifndef CBX_TRAITS_H
#define CBX_TRAITS_H

#include "layer.h"

cbx_norm_kind cbx_trait_no_norm(const cbx_layer *l);  /* CBX_NORM_NONE */
cbx_sight     cbx_trait_messages(const cbx_layer *l); /* CBX_SIGHT_MESSAGES */
cbx_entry     cbx_trait_products(const cbx_layer *l); /* CBX_ENTRY_PRODUCTS */
int32_t       cbx_trait_one_hop(const cbx_layer *l);

#endif
