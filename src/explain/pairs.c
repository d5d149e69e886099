/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c: undirected edges: which slots belong together. */
#include <stdlib.h>

#include "explainer.h"

typedef struct ends {
    int32_t low, high;
    int64_t slot;
} ends;

static int by_ends(const void *a, const void *b)
{
    const ends *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

int64_t cbx_number_pairs(const cbx_view *view, cbx_arena *arena, int64_t *pair_of, int64_t *slot_of)
{
    ends *all = CBX_NEW(arena, ends, view->m);
    if (!all)
        return -1;
    for (int32_t i = 0; i < view->n; i++)
        for (int64_t e = view->offset[i]; e < view->offset[i + 1]; e++) {
            int32_t j = view->source[e];
            all[e] = (ends){i < j ? i : j, i < j ? j : i, e};
        }
    if (view->m)
        qsort(all, (size_t)view->m, sizeof *all, by_ends);
    int64_t pairs = 0;
    for (int64_t k = 0; k < view->m; k++) {
        if (k == 0 || all[k].low != all[k - 1].low || all[k].high != all[k - 1].high)
            slot_of[pairs++] = all[k].slot;
        pair_of[all[k].slot] = pairs - 1;
    }
    return pairs;
}
