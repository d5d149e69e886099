/* SPDX-License-Identifier: Apache-2.0 */
/* few.c: the explainer "minimal": few edits within the rules, with a certificate. */
#include <math.h>
#include <string.h>

#include "error.h"
#include "minimal.h"

static cbx_status prepare(const cbx_model *model, const cbx_graph *graph,
                          const cbx_explain_options *options, cbx_arena *arena, const void **shared,
                          cbx_error *err)
{
    cbx_minimal_shared *all = CBX_NEW0(arena, cbx_minimal_shared, 1);
    *shared = all;
    if (!all)
        return cbx_fail_memory(err);
    cbx_status status = cbx_rules_init(&all->rules, graph, options, graph->data.feat_min,
                                       graph->data.feat_max, arena, err);
    if (!status)
        status = cbx_explainer_combinex.prepare(model, graph, options, arena, &all->stretch, err);
    return status;
}

static bool can_move(const cbx_whatif *W)
{
    cbx_move_walk at = {0};
    cbx_move      m;
    return cbx_whatif_walk(W, &at, &m);
}

/* The edits of what was found, kept by the search; further ones as alternatives. */
static cbx_status keep(cbx_search *s, const cbx_minimal *found, cbx_error *err)
{
    cbx_edit *edits = CBX_NEW(s->arena, cbx_edit, 2 * found->count);
    if (!edits)
        return cbx_fail_memory(err);
    int64_t count = cbx_whatif_edits(found->whatif, found->moves, found->count, edits);
    if (!s->found) {
        s->found = true;
        s->edits = edits;
        s->num_edits = count;
        s->cost = found->cost;
        s->certificate = found->irreducible ? CBX_IRREDUCIBLE : CBX_NO_CERTIFICATE;
        return CBX_OK;
    }
    s->others[s->num_others++] = (cbx_alternative){
        edits, count, found->cost, found->irreducible ? CBX_IRREDUCIBLE : CBX_NO_CERTIFICATE};
    return CBX_OK;
}

/* So that the next answer is another: without the first move of this one, or, if they are
 * to be diverse, without any of it. */
static void forbid(cbx_forbidden *f, const cbx_minimal *found, bool diverse)
{
    for (int64_t k = 0; k < (diverse ? found->count : 1); k++)
        f->moves[f->count++] = found->moves[k];
}

static cbx_status search(cbx_search *s, cbx_error *err)
{
    const cbx_explain_options *o = s->options;
    cbx_minimal                found;
    enum { MOST_PER_ANSWER = 401 };
    cbx_forbidden forbidden = {CBX_NEW(s->arena, cbx_move, o->total_cfs * MOST_PER_ANSWER), 0};
    s->others = CBX_NEW0(s->arena, cbx_alternative, o->total_cfs);
    if (!forbidden.moves || !s->others)
        return cbx_fail_memory(err);
    if (s->target >= 0 && cbx_model_never(s->model, s->target)) {
        s->certificate = CBX_PROVED_NONE;
        return CBX_OK;
    }
    for (int64_t k = 0; k < o->total_cfs && !s->cancelled; k++) {
        cbx_status status = cbx_minimal_find(s, &forbidden, &found, err);
        bool       proved = false;
        if (status)
            return status;
        if (k == 0 && o->prove > 0 && !s->cancelled)
            status = cbx_minimal_prove(s, &found, o->prove, &proved, err);
        if (!status && found.count)
            status = keep(s, &found, err);
        if (status)
            return status;
        if (k == 0) {
            if (proved)
                s->certificate = found.count ? CBX_OPTIMAL : CBX_PROVED_NONE;
            else if (!found.count)
                s->certificate = can_move(found.whatif) ? CBX_NONE_WITHIN_BUDGET : CBX_PROVED_NONE;
            if (found.count)
                s->robustness = cbx_minimal_robustness(s, &found, o->robustness);
        }
        if (!found.count)
            break;
        forbid(&forbidden, &found, o->diverse);
    }
    return CBX_OK;
}

const cbx_explainer cbx_explainer_minimal = {
    .name = "minimal", .search = search, .prepare = prepare, .knows_rules = true};
