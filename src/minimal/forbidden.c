/* SPDX-License-Identifier: Apache-2.0 */
/* forbidden.c: see forbidden.h. */
#include "forbidden.h"

#include "move_set.h"

bool cbx_forbidden_has(const cbx_forbidden *forbidden, const cbx_move *m)
{
    for (int64_t k = 0; k < forbidden->count; k++) {
        const cbx_move *f = &forbidden->moves[k];
        bool            shared = m->kind == f->kind && m->kind->overlaps && m->kind->overlaps(f, m);
        if ((shared && (forbidden->diverse || m->taken_back || f->taken_back)) ||
            cbx_move_same(f, m))
            return true;
    }
    return false;
}
