/* SPDX-License-Identifier: Apache-2.0 */
/* traits.c: see traits.h. */
#include "traits.h"

cbx_norm_kind cbx_trait_no_norm(const cbx_layer *l)
{
    (void)l;
    return CBX_NORM_NONE;
}

cbx_sight cbx_trait_messages(const cbx_layer *l)
{
    (void)l;
    return CBX_SIGHT_MESSAGES;
}

cbx_entry cbx_trait_products(const cbx_layer *l)
{
    (void)l;
    return CBX_ENTRY_PRODUCTS;
}

int32_t cbx_trait_one_hop(const cbx_layer *l)
{
    (void)l;
    return 1;
}
