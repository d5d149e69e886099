/* SPDX-License-Identifier: Apache-2.0 */
/* change.c: see change.h. */
#include "change.h"

int64_t cbx_edits_that_follow(const cbx_counterfactual *c)
{
    int64_t count = 0;
    for (int64_t k = 0; k < c->num_edits; k++)
        count += c->edits[k].op == CBX_SET_FEATURE && c->edits[k].group > 0 && c->edits[k].to == 0;
    return count;
}
