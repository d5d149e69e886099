/* SPDX-License-Identifier: Apache-2.0 */
/* minimal.c: the explainer "minimal": few edits within the rules, with a certificate. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bounds.h"
#include "deadline.h"
#include "error.h"
#include "explainers.h"
#include "find.h"
#include "infeasible.h"
#include "prices.h"
#include "prove.h"
#include "robustness.h"
#include "root_bound.h"
#include "take_back.h"
#include "wider.h"

/* Values go back by multiples of the steps that rules set. */
static cbx_status find_columns(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                               cbx_error *err)
{
    cbx_status status = cbx_columns_find(setup, rules->fixed, rules->group, rules->lo, rules->hi,
                                         arena, &rules->columns, err);
    for (int32_t j = 0; !status && rules->columns && j < setup->graph->data.num_features; j++) {
        float *step = &rules->columns->of[j].step;
        if (*step > 0 && rules->step[j] > 0)
            *step = cbx_rules_multiple_from(rules->step[j], *step);
    }
    return status;
}

static cbx_status prepare(const cbx_setup *setup, cbx_arena *arena, const void **shared,
                          cbx_error *err)
{
    cbx_minimal_shared *all = CBX_NEW0(arena, cbx_minimal_shared, 1);
    *shared = all;
    if (!all)
        return cbx_fail_memory(err);
    cbx_status status = CBX_OK;
    all->rules = setup->rules;
    if (((const cbx_minimal_options *)setup->settings)->prove > 0 &&
        !(all->rules.fractions = cbx_bounds_fractions(&setup->graph->data, arena)))
        status = cbx_fail_memory(err);
    if (!status)
        status = cbx_prices_read(setup, arena, &all->rules.price, err);
    if (!status)
        status = find_columns(&all->rules, setup, arena, err);
    if (!status && all->rules.most_unusual > 0)
        status = cbx_plausible_prepare(all->rules.plausible, err);
    if (!status)
        status = cbx_explainer_combinex.prepare(setup, arena, &all->spectral_norm, err);
    return status;
}

/* Tells of each edit by which step it does not go back. */
static void tell_steps(const cbx_minimal *found, cbx_edit *edits)
{
    for (int64_t k = 0; k < found->count && found->irreducible; k++) {
        const cbx_move *m = &found->moves[k];
        if (m->kind == &cbx_move_feature && !found->state->rules->step[m->column])
            edits->step = cbx_take_back_step(found->state, m);
        edits += m->kind->edits;
    }
}

/* What counts of how far values go. */
static double way_cost(const cbx_search *s, const cbx_minimal *found)
{
    return cbx_minimal_of(s)->cost == CBX_COST_EDITS
               ? 0
               : cbx_take_back_cost(found->state, found->moves, found->count);
}

/* The edits of what was found, and what is said of them. */
static cbx_status keep(cbx_search *s, cbx_minimal *found, bool optimal, cbx_error *err)
{
    cbx_edit *edits = CBX_NEW(s->keep, cbx_edit, CBX_MOVE_EDITS * found->count);
    if (!edits)
        return cbx_fail_memory(err);
    int64_t         count = cbx_moves_edits(found->state, found->moves, found->count, edits);
    cbx_certificate known = found->irreducible ? CBX_IRREDUCIBLE : CBX_NO_CERTIFICATE;
    tell_steps(found, edits);
    s->others[s->num_others++] = (cbx_alternative){
        .edits = edits,
        .num_edits = count,
        .num_unusual = cbx_take_back_unusual(found->state, found->moves, found->count),
        .l1_mad = found->state->rules->columns
                      ? cbx_take_back_way(found->state, found->moves, found->count)
                      : NAN,
        .fixed_cost = found->cost,
        .cost = found->cost + way_cost(s, found),
        .robustness = cbx_robustness(s, found, cbx_minimal_of(s)->robustness),
        .certificate = optimal ? CBX_OPTIMAL : known};
    return CBX_OK;
}

/* So that the next answer is another: without the first move of this one, or, if they are
 * to be diverse, without any of it. */
static cbx_status forbid(cbx_search *s, cbx_forbidden *f, const cbx_minimal *found, cbx_error *err)
{
    int64_t   more = cbx_minimal_of(s)->diverse ? found->count : 1;
    cbx_move *moves = CBX_NEW(s->arena, cbx_move, f->count + more);
    if (!moves)
        return cbx_fail_memory(err);
    if (f->count)
        memcpy(moves, f->moves, (size_t)f->count * sizeof *moves);
    memcpy(moves + f->count, found->moves, (size_t)more * sizeof *moves);
    *f = (cbx_forbidden){moves, f->count + more, cbx_minimal_of(s)->diverse};
    return CBX_OK;
}

/* What is known where nothing was found. */
static cbx_status certify_none(cbx_search *s, const cbx_minimal *found, bool tried_all,
                               cbx_error *err)
{
    s->certificate = CBX_NONE_WITHIN_BUDGET;
    if (cbx_search_is_late(s)) /* a proof cut short is no proof */
        return CBX_OK;
    bool further = (s->rules->edits & CBX_EDITS_FURTHER) != 0; /* were they looked at? */
    bool none = tried_all || (found->state->nothing_flips && !further) ||
                (found->state->exact && !cbx_moves_any(found->state) &&
                 (!further || cbx_moves_are_listed(found->state)));
    bool       tried = found->state->proof_tried && !further;
    cbx_status status = none || tried ? CBX_OK : cbx_infeasible(s, found->state, &none, err);
    if (none && !cbx_time_is_up()) {
        s->certificate = CBX_PROVED_NONE;
        s->lower_bound = 0; /* there is nothing that it could be a bound of */
    }
    return cbx_search_status(status);
}

/* In memory of the answer; NULL: no memory, and then nothing is said. */
static const char *name_open_feature(const cbx_search *s, const cbx_edit_state *W)
{
    enum { LONGEST = 200 };
    char              *text = CBX_NEW(s->keep, char, LONGEST);
    const char *const *names = s->graph->data.feature_names;
    int32_t            j = 0;
    while (j < W->f && (W->rules->fixed[j] || !(W->rules->lo[j] < W->rules->hi[j]) || W->values[j]))
        j++;
    if (!text || j == W->f)
        return text ? "no proof: there are more changes than can be tried" : NULL;
    if (names)
        (void)snprintf(text, LONGEST, "no proof: %.100s can take more values than can be tried",
                       names[j]);
    else
        (void)snprintf(text, LONGEST, "no proof: feature %d can take more values than can be tried",
                       (int)cbx_used_number(s->used, j));
    return text;
}

/* Where nothing is proved, and not for want of time. */
static const char *why_unproved(const cbx_search *s, const cbx_edit_state *W)
{
    if (!W->exact)
        return "no proof: the class depends on more than the search sees";
    if (W->leads_out)
        return "no proof: nodes that the search does not see may have to go as well, by the rule "
               "keep";
    if (!cbx_moves_are_listed(W))
        return name_open_feature(s, W);
    if (cbx_minimal_of(s)->cost == CBX_COST_DISTANCE && W->rules->columns)
        return "no proof: with cost distance, ways are not compared one by one";
    return NULL;
}

/* What any answer costs at least, and whether this one is known to be the cheapest by it. */
static cbx_status bound_cost(cbx_search *s, cbx_minimal *found, bool *proved, cbx_error *err)
{
    if (*proved) {
        s->lower_bound = found->count ? found->cost : 0;
        return CBX_OK;
    }
    cbx_status status = cbx_root_bound(s, found, &s->bound_is_plain, err);
    bool traded = cbx_minimal_of(s)->cost == CBX_COST_DISTANCE && found->state->rules->columns;
    s->lower_bound = found->lower_bound;
    *proved = found->count && found->irreducible && found->lower_bound >= found->cost &&
              found->state->exact && !traded && !cbx_search_is_late(s);
    return status;
}

/* `at` becomes the search that goes on. */
static cbx_status find_first(cbx_search *s, const cbx_forbidden *none, cbx_minimal *found,
                             cbx_search **at, cbx_error *err)
{
    bool       proved = false;
    cbx_status status = cbx_find(s, none, found, err);
    *at = s;
    if (!status && (s->rules->edits & CBX_EDITS_FURTHER) && !cbx_search_is_late(s))
        status = cbx_wider(s, none, found, at, err);
    double cost = found->cost;
    if (!status && cbx_minimal_of(s)->prove > 0 && !cbx_search_is_late(s))
        status = cbx_prove(s, found, cbx_minimal_of(s)->prove, &proved, err);
    if (!status && cbx_minimal_of(s)->prove > 0 && !proved)
        s->unproved = why_unproved(s, found->state);
    if (!status && found->count && found->cost < cost) {
        status = cbx_find_settle(s, found, err);
        proved = proved && found->irreducible; /* which is part of being optimal */
    }
    if (!status)
        status = bound_cost(s, found, &proved, err);
    if (status)
        return status;
    return found->count ? keep(s, found, proved, err) : certify_none(s, found, proved, err);
}

static bool is_cheaper(const cbx_search *s, const cbx_alternative *a, const cbx_alternative *b)
{
    if (cbx_minimal_of(s)->cost == CBX_COST_BOTH && a->fixed_cost != b->fixed_cost)
        return a->fixed_cost < b->fixed_cost;
    return a->cost < b->cost;
}

/* The first search is the freest, but none promises the least: the cheapest is the answer,
 * and the others follow in order. */
static void answer_with_cheapest(cbx_search *s)
{
    for (int64_t i = 1; i < s->num_others; i++)
        for (int64_t k = i; k > 0 && is_cheaper(s, &s->others[k], &s->others[k - 1]); k--) {
            cbx_alternative cheaper = s->others[k];
            s->others[k] = s->others[k - 1];
            s->others[k - 1] = cheaper;
        }
    if (s->num_others == 0)
        return;
    const cbx_alternative *first = s->others++;
    s->num_others--;
    s->found = true;
    s->edits = first->edits;
    s->num_edits = first->num_edits;
    s->num_unusual = first->num_unusual;
    s->cost = first->cost;
    s->certificate = first->certificate;
    s->robustness = first->robustness;
    s->l1_mad = first->l1_mad;
}

static cbx_status search(cbx_search *s, cbx_error *err)
{
    const cbx_explain_options *o = s->options;
    cbx_minimal                found;
    cbx_forbidden              forbidden = {0};
    s->others = CBX_NEW0(s->keep, cbx_alternative, o->total_cfs);
    if (!s->others)
        return cbx_fail_memory(err);
    if (s->target >= 0 && cbx_infeasible_class(s->model, s->target)) {
        s->certificate = CBX_PROVED_NONE;
        s->never = true;
        return CBX_OK;
    }
    cbx_search *at;
    cbx_status  status = find_first(s, &forbidden, &found, &at, err);
    for (int64_t k = 1; k < o->total_cfs && !status && found.count && !cbx_search_is_late(s); k++) {
        status = forbid(s, &forbidden, &found, err);
        if (!status)
            status = cbx_find(at, &forbidden, &found, err);
        cbx_wider_note(s, at);
        if (!status && found.count)
            status = keep(s, &found, false, err);
    }
    answer_with_cheapest(s);
    return status;
}

const cbx_explainer cbx_explainer_minimal = {.name = "minimal",
                                             .search = search,
                                             .options = &cbx_minimal_table,
                                             .prepare = prepare,
                                             .uncounted = true,
                                             .searches_all = true,
                                             .adds_edges = true,
                                             .removes_nodes = true,
                                             .adds_nodes = true,
                                             .sets_weights = true};
