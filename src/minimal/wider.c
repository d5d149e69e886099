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

/* An answer for each set of further kinds: by the bits of CBX_EDITS_FURTHER. */
typedef struct widening {
    cbx_search          *s, *offered; /* without and with edges that may be added */
    const cbx_forbidden *none;
    unsigned             kinds; /* that there are */
    cbx_minimal          answers[CBX_EDITS_FURTHER + 1];
} widening;

/* The factual graph with what may be added to it; the kind is taken out where that is nothing. */
static cbx_status offer_edges(widening *w, cbx_error *err)
{
    cbx_search               *s = w->s;
    const cbx_minimal_shared *shared = s->shared;
    cbx_offers                offers;
    if (!(w->kinds & CBX_EDITS_ADD))
        return CBX_OK;
    cbx_status status =
        cbx_offers_choose(s, &shared->rules, s->options->add_candidates, &offers, err);
    s->offers_all = !status && offers.all;
    if (status || offers.count == 0) {
        w->kinds &= ~(unsigned)CBX_EDITS_ADD;
        return status;
    }
    w->offered = CBX_NEW(s->arena, cbx_search, 1);
    return w->offered ? cbx_widen(s, offers.edits, offers.count, w->offered, err)
                      : cbx_fail_memory(err);
}

static bool is_cheaper(const cbx_minimal *a, const cbx_minimal *b)
{
    return a->count && (!b->count || a->cost < b->cost);
}

/* The cheapest answer with one of these kinds less. */
static const cbx_minimal *start_of(const widening *w, unsigned kinds)
{
    const cbx_minimal *best = &w->answers[kinds & (kinds - 1)]; /* without the first */
    for (unsigned bit = 1; bit <= kinds; bit <<= 1)
        if ((kinds & bit) && is_cheaper(&w->answers[kinds & ~bit], best))
            best = &w->answers[kinds & ~bit];
    return best;
}

/* With these kinds, from the best answer that has one less: it costs no more than any of those. */
static cbx_status find_with(widening *w, unsigned kinds, cbx_error *err)
{
    const cbx_minimal *start = start_of(w, kinds);
    cbx_minimal       *out = &w->answers[kinds];
    cbx_search        *with = CBX_NEW(w->s->arena, cbx_search, 1);
    *out = *start;
    if (!with)
        return cbx_fail_memory(err);
    if (cbx_search_is_late(w->s))
        return CBX_OK;
    *with = kinds & CBX_EDITS_ADD ? *w->offered : *w->s;
    with->keep = w->s->arena;
    with->further = kinds;
    cbx_minimal more;
    cbx_status  status = cbx_find_from(with, w->none, start, &more, err);
    cbx_wider_note(w->s, with);
    if (!status && !(start->count && !(more.count && more.cost <= start->cost)))
        *out = more;
    return status;
}

cbx_status cbx_wider(cbx_search *s, const cbx_forbidden *none, cbx_minimal *found,
                     cbx_search **wide, cbx_error *err)
{
    widening *w = CBX_NEW0(s->arena, widening, 1);
    *wide = s;
    if (!w)
        return cbx_fail_memory(err);
    *w = (widening){.s = s, .none = none, .kinds = s->rules->edits & CBX_EDITS_FURTHER};
    w->answers[0] = *found;
    cbx_status status = offer_edges(w, err);
    for (unsigned kinds = 1; kinds <= w->kinds && !status; kinds++)
        if (!(kinds & ~w->kinds))
            status = find_with(w, kinds, err);
    if (status)
        return cbx_search_status(status);
    *found = w->answers[w->kinds];
    *wide = found->state->s;
    return CBX_OK;
}
