/* SPDX-License-Identifier: Apache-2.0 */
/* wider.c: see wider.h. */
#include "wider.h"

#include <math.h>

#include "error.h"
#include "find.h"
#include "offers.h"
#include "widen.h"

void cbx_wider_note(cbx_search *s, const cbx_search *wide)
{
    if (wide == s)
        return;
    s->late = s->late || wide->late;
    s->epochs = wide->epochs;
    s->reached = fmax(s->reached, wide->reached);
}

cbx_status cbx_wider(cbx_search *s, const cbx_forbidden *none, cbx_minimal *found,
                     cbx_search **wide, cbx_error *err)
{
    const cbx_minimal_shared *shared = s->shared;
    cbx_offers                offers;
    cbx_minimal               more;
    cbx_search               *with = CBX_NEW(s->arena, cbx_search, 1);
    *wide = s;
    if (!with)
        return cbx_fail_memory(err);
    cbx_status status =
        cbx_offers_choose(s, &shared->rules, s->options->add_candidates, &offers, err);
    if (status || offers.count == 0) {
        s->offers_all = !status && offers.all;
        return status;
    }
    status = cbx_widen(s, offers.edits, offers.count, with, err);
    if (status)
        return cbx_search_status(status);
    with->offers_all = offers.all;
    status = cbx_find_from(with, none, found, &more, err);
    cbx_wider_note(s, with);
    if (status || (found->count && !(more.count && more.cost <= found->cost)))
        return status;
    *found = more;
    *wide = with;
    return CBX_OK;
}
