/* SPDX-License-Identifier: Apache-2.0 */
/* wider.c: see wider.h. */
#include "wider.h"

#include <math.h>

#include "error.h"
#include "find.h"
#include "newcomers.h"
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

enum { SOME_EDGES = 1, SOME_NODES = 2 };

/* An answer for each set of further kinds: by the bits of CBX_EDITS_FURTHER. */
typedef struct widening {
    cbx_search          *s;
    cbx_search          *wide[4]; /* by SOME_EDGES and SOME_NODES: with those that may be added */
    const cbx_forbidden *none;
    unsigned             kinds; /* that there are */
    cbx_newcomers        newcomers;
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
    if (status || offers.count == 0) {
        s->offers_all = !status && offers.all;
        w->kinds &= ~(unsigned)CBX_EDITS_ADD;
        return status;
    }
    w->wide[SOME_EDGES] = CBX_NEW(s->arena, cbx_search, 1);
    if (!w->wide[SOME_EDGES])
        return cbx_fail_memory(err);
    status = cbx_widen(s, offers.edits, offers.count, w->wide[SOME_EDGES], err);
    w->wide[SOME_EDGES]->offers_all = offers.all; /* who looks at others has not seen them */
    return status;
}

/* The same of nodes, on the factual graph and on that with edges. */
static cbx_status offer_nodes(widening *w, cbx_error *err)
{
    cbx_search               *s = w->s;
    const cbx_minimal_shared *shared = s->shared;
    if (!(w->kinds & CBX_EDITS_ADD_NODES))
        return CBX_OK;
    cbx_status status =
        cbx_newcomers_choose(s, &shared->rules, s->options->add_candidates, &w->newcomers, err);
    if (status || w->newcomers.count == 0) {
        s->newcomers_all = !status && w->newcomers.all;
        if (w->wide[SOME_EDGES])
            w->wide[SOME_EDGES]->newcomers_all = s->newcomers_all;
        w->kinds &= ~(unsigned)CBX_EDITS_ADD_NODES;
        return status;
    }
    for (int edges = 0; edges <= SOME_EDGES && !status; edges++) {
        cbx_search *with = CBX_NEW(s->arena, cbx_search, 1);
        if (!with)
            return cbx_fail_memory(err);
        if (!w->wide[edges])
            continue;
        status = cbx_newcomers_widen(w->wide[edges], &w->newcomers, with, err);
        w->wide[edges | SOME_NODES] = with;
    }
    return status;
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
    *with = *w->wide[(kinds & CBX_EDITS_ADD ? SOME_EDGES : 0) |
                     (kinds & CBX_EDITS_ADD_NODES ? SOME_NODES : 0)];
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
    w->wide[0] = s;
    cbx_status status = offer_edges(w, err);
    if (!status)
        status = offer_nodes(w, err);
    for (unsigned kinds = 1; kinds <= w->kinds && !status; kinds++)
        if (!(kinds & ~w->kinds))
            status = find_with(w, kinds, err);
    if (status)
        return cbx_search_status(status);
    *found = w->answers[w->kinds];
    *wide = found->state->s;
    return CBX_OK;
}
