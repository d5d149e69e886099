/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c: see judge.h. */
#include "judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "costs.h"
#include "edits.h"

const char *const claim_names[CLAIMS] = {"found",       "irreducible", "optimal", "lower bound",
                                         "proved_none", "skipped",     "robust",  "flips with"};

/* Sets that are tried one by one, at most. */
static const double MOST_SETS = 300000;

/* The last place is for one that is broken. */
void judge_pass(judged *out, claim c, ruling r)
{
    if (out->count == MAX_JUDGED)
        out->count--;
    out->at[out->count].claim = c;
    out->at[out->count].why[0] = 0;
    out->at[out->count++].ruling = r;
}

void judge_complain(judged *out, claim c, const char *format, ...)
{
    va_list list;
    judge_pass(out, c, BROKEN);
    va_start(list, format);
    (void)vsnprintf(out->at[out->count - 1].why, MAX_WHY, format, list);
    va_end(list);
}

/* ---- the claims */

static void judge_found(const question *q, const cbx_counterfactual *a, judged *out)
{
    edited e;
    make_edits(q, a, -1, &e);
    outcome     o = ask_edited(q, a, &e);
    const char *wrong = wrong_edits(q, a, &e);
    if (!wrong)
        wrong = wrong_numbers(q, a, &o);
    if (o.lead < -o.blur)
        judge_complain(out, CLAIM_FOUND, "the edits do not flip: short by %.6g", -o.lead);
    else if (wrong)
        judge_complain(out, CLAIM_FOUND, "the answer %s", wrong);
    else
        judge_pass(out, CLAIM_FOUND, o.lead > o.blur ? HOLDS : UNDECIDED);
}

static ruling is_irreducible(const question *q, const cbx_counterfactual *a, int64_t *needless,
                             double *lead)
{
    ruling r = HOLDS;
    for (int64_t k = 0; k < a->num_edits; k++) {
        edited e;
        make_edits(q, a, k, &e);
        if (!change_together(q, &e))
            continue;
        outcome o = ask_edited(q, a, &e);
        if (o.lead > o.blur) {
            *needless = k;
            *lead = o.lead;
            return BROKEN;
        }
        r = o.lead > -o.blur ? UNDECIDED : r;
    }
    return r;
}

/* Of each edit: alone a step back, or two, four, …, it does not flip. */
static ruling goes_no_further(const question *q, const cbx_counterfactual *a, int64_t *loose,
                              double *value, double *lead)
{
    ruling r = HOLDS;
    for (int64_t k = 0; k < a->num_edits; k++) {
        const cbx_edit *edit = &a->edits[k];
        edited          e;
        if (edit->op != CBX_SET_FEATURE || !(edit->step > 0))
            continue;
        make_edits(q, a, -1, &e);
        float *x = &e.x[edit->node * q->world.features + edit->feature];
        for (float way = edit->step; way < fabsf(edit->to - edit->from); way *= 2) {
            *x = edit->to > edit->from ? edit->to - way : edit->to + way;
            if (!is_plausible(q, e.x, -1e-5))
                continue;
            outcome o = ask_edited(q, a, &e);
            if (o.lead > o.blur && *x != edit->to) {
                *loose = k;
                *value = (double)*x;
                *lead = o.lead;
                return BROKEN;
            }
            r = o.lead > -o.blur ? UNDECIDED : r;
        }
    }
    return r;
}

static void judge_irreducible(const question *q, const cbx_counterfactual *a, judged *out)
{
    int64_t needless = 0, loose = 0;
    double  lead = 0, value = 0;
    ruling  r = is_irreducible(q, a, &needless, &lead);
    ruling  back = goes_no_further(q, a, &loose, &value, &lead);
    if (r == BROKEN)
        judge_complain(out, CLAIM_IRREDUCIBLE,
                       "without the change of edit %lld it flips, too, by %.6g",
                       (long long)needless, lead);
    else if (back == BROKEN)
        judge_complain(out, CLAIM_IRREDUCIBLE,
                       "edit %lld can go back to %.9g, where it leads by %.6g", (long long)loose,
                       value, lead);
    else if ((needless = wrong_step(q, a)) >= 0)
        judge_complain(out, CLAIM_IRREDUCIBLE, "edit %lld has a step of %.9g", (long long)needless,
                       (double)a->edits[needless].step);
    else
        judge_pass(out, CLAIM_IRREDUCIBLE, r == HOLDS ? back : r);
}

/* A set of edits, in words. */
static void describe(const question *q, const space *s, const found_set *set, char *text,
                     size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (int k = 0; k < s->count && at + 48 < size; k++) {
        const place *p = &s->places[k];
        int          c = set->choice[k];
        if (c == 0)
            continue;
        at += (size_t)snprintf(text + at, size - at, "%s", at ? ", " : "");
        if (p->kind == PLACE_EDGE && p->edge >= 0)
            at += (size_t)snprintf(text + at, size - at, "edge %d (%d->%d) %s", p->edge, p->u, p->v,
                                   p->comes ? "there" : "gone");
        else if (p->kind == PLACE_EDGE)
            at += (size_t)snprintf(text + at, size - at, "%d-%d %s", p->u, p->v,
                                   p->comes ? "there" : "gone");
        else if (p->kind == PLACE_WEIGHT)
            at += (size_t)snprintf(text + at, size - at, "%d-%d (edge %d) weighs %g", p->u, p->v,
                                   p->edge, (double)p->values[c - 1]);
        else if (p->kind == PLACE_NODE)
            at += (size_t)snprintf(text + at, size - at, "node %d gone", p->node);
        else if (p->kind == PLACE_NEWCOMER)
            at += (size_t)snprintf(text + at, size - at, "a copy of node %d at %d",
                                   q->world.copied[p->node], q->world.at[p->node]);
        else if (p->kind == PLACE_FEATURE)
            at += (size_t)snprintf(text + at, size - at, "x[%d][%d] = %g", p->node, p->feature,
                                   (double)p->values[c - 1]);
        else
            at += (size_t)snprintf(text + at, size - at, "node %d: feature %d on, not %d", p->node,
                                   p->features[c - 1], p->feature);
    }
}

/* A proof says of what it is one: which rules there are. */
static bool names_rules(const question *q, const char *scope)
{
    static const char *const rules[] = {"stopping-threshold", "max-edits",       "features-to-vary",
                                        "immutable-features", "permitted-range", "one-hot",
                                        "immutable-nodes",    "protected-edges", "own-features",
                                        "own-edges",          "keep-edges",      "keep",
                                        "plausible",          "max-added",       "max-removed",
                                        "add-within",         "max-degree",      "add-to"};
    for (int k = 0; k < q->num_settings; k++)
        for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
            if (!strcmp(q->settings[k][0], rules[r]) && !strstr(scope, rules[r]) &&
                !(!strcmp(rules[r], "one-hot") && !strcmp(q->settings[k][1], "none")))
                return false;
    if (!strstr(scope, "removals of nodes") == q->removes_nodes ||
        !strstr(scope, "edges' weights") == q->weighs ||
        !strstr(scope, "copies of nodes (no two alike at one node)") == q->adds_nodes)
        return false;
    return strstr(scope, q->directed ? "one by one" : "all between") || q->keep_edges;
}

/* Is there a set that costs less than `below`? */
static void judge_by_force(const question *q, const cbx_counterfactual *a, claim c, double below,
                           judged *out)
{
    static const ruling rulings[] = {HOLDS, NOT_MET, UNDECIDED};
    dice                d = dice_of(q->seed + 1, (uint64_t)q->number);
    space               s;
    found_set           set;
    char                text[MAX_WHY - 80];
    find_space(q, &d, &s);
    verdict v = find_set(q, &s, a->prediction, a->target, below, MOST_SETS, &d, &set);
    out->tried += set.tried;
    if (v != VERDICT_FOUND) {
        judge_pass(out, c, rulings[v]);
        return;
    }
    describe(q, &s, &set, text, sizeof text);
    judge_complain(out, c, "%s: class %d, leads by %.6g, costs %g", text, set.outcome.best,
                   set.outcome.lead, set.cost);
}

static void judge_optimal(const question *q, const cbx_counterfactual *a, judged *out)
{
    int64_t needless = 0;
    double  lead = 0, value = 0;
    if (is_irreducible(q, a, &needless, &lead) == BROKEN)
        judge_complain(out, CLAIM_OPTIMAL,
                       "not irreducible: without the change of edit %lld it flips, too, by %.6g",
                       (long long)needless, lead);
    else if (goes_no_further(q, a, &needless, &value, &lead) == BROKEN)
        judge_complain(out, CLAIM_OPTIMAL,
                       "not irreducible: edit %lld can go back to %.9g, where it leads by %.6g",
                       (long long)needless, value, lead);
    else
        judge_by_force(q, a, CLAIM_OPTIMAL, fixed_cost(q, a), out);
    if (!names_rules(q, a->scope))
        judge_complain(out, CLAIM_OPTIMAL, "its scope leaves a rule out: %s", a->scope);
}

/* Of all inputs: whatever the edges and the features. */
static void judge_never(const question *q, const cbx_counterfactual *a, judged *out)
{
    dice        d = dice_of(q->seed + 2, (uint64_t)q->number);
    naive_graph graph;
    for (int times = 0; times < 200; times++) {
        edited e;
        edit_nothing(q, &e);
        double size = pow(10, dice_real(&d, -2, 2));
        for (int i = 0; i < q->world.edges + q->world.offered; i++)
            e.gone[i] = (uint8_t)dice_below(&d, 2);
        for (int i = 0; i < q->world.nodes && q->removes_nodes; i++)
            e.lost[i] = i != first_node(q) && dice_chance(&d, 0.2);
        for (int i = 0; i < q->world.newcomers && q->adds_nodes; i++)
            e.came[i] = !e.lost[q->world.at[i]] && dice_chance(&d, 0.2);
        for (int i = 0; i < q->world.nodes * q->world.features; i++)
            e.x[i] = (float)dice_real(&d, -size, size);
        build_graph(q, &e, &graph);
        outcome o = ask_naive(q, &graph, a->prediction, a->target);
        if (o.lead > o.blur) {
            judge_complain(out, CLAIM_PROVED_NONE, "an input that leads there, by %.6g", o.lead);
            return;
        }
    }
}

static void judge_none(const question *q, const cbx_counterfactual *a, judged *out)
{
    bool never = !strcmp(a->scope, "all inputs");
    judge_by_force(q, a, CLAIM_PROVED_NONE, INFINITY, out);
    if (never)
        judge_never(q, a, out);
    else if (!names_rules(q, a->scope))
        judge_complain(out, CLAIM_PROVED_NONE, "its scope leaves a rule out: %s", a->scope);
}

/* ---- several answers */

static bool same_edit(const cbx_edit *a, const cbx_edit *b)
{
    return same_place(a, b) && (a->op != CBX_SET_FEATURE || a->to == b->to);
}

static int64_t shared_edits(const cbx_counterfactual *a, const cbx_counterfactual *b)
{
    int64_t shared = 0;
    for (int64_t i = 0; i < a->num_edits; i++)
        for (int64_t k = 0; k < b->num_edits; k++)
            shared += same_edit(&a->edits[i], &b->edits[k]);
    return shared;
}

static void judge_series(const question *q, const cbx_counterfactual *first, judged *out)
{
    int count = 0;
    for (const cbx_counterfactual *a = first; a; a = a->next) {
        count++;
        for (const cbx_counterfactual *b = first; b != a; b = b->next) {
            int64_t shared = shared_edits(a, b);
            if (shared == a->num_edits && shared == b->num_edits)
                judge_complain(out, CLAIM_FOUND, "two answers are one");
            else if (q->diverse && shared > 0)
                judge_complain(out, CLAIM_FOUND, "answers that are to be diverse share an edit");
            else if (costs_more(q, b, a))
                judge_complain(out, CLAIM_FOUND, "a cheaper answer comes after");
        }
    }
    if (count > q->total_cfs)
        judge_complain(out, CLAIM_FOUND, "there are more answers than asked for");
}

/* ---- all of it */

/* Where how far values go counts as much as how many there are, and some go far or less far, no set
 * of edits is known to be the cheapest. */
static bool is_traded(const question *q)
{
    bool any = false;
    for (int j = 0; j < q->world.features; j++)
        any = any || (!q->fixed[j] && has_between(q, j));
    return any && q->counts == COUNTS_DISTANCE;
}

static void judge_one(const question *q, const cbx_counterfactual *a, judged *out)
{
    if (a->certificate == CBX_OPTIMAL && is_traded(q))
        judge_complain(out, CLAIM_OPTIMAL, "edits are traded against how far values go");
    if (a->lower_bound > 0)
        judge_by_force(q, a, CLAIM_LOWER_BOUND, a->lower_bound, out);
    if (a->lower_bound > 0 && a->outcome == CBX_FOUND && a->lower_bound > fixed_cost(q, a) + 1e-9)
        judge_complain(out, CLAIM_LOWER_BOUND, "it costs %g, less than the bound %g",
                       fixed_cost(q, a), a->lower_bound);
    if (a->outcome == CBX_FOUND) {
        judge_found(q, a, out);
        if (a->certificate == CBX_IRREDUCIBLE)
            judge_irreducible(q, a, out);
        else if (a->certificate == CBX_OPTIMAL)
            judge_optimal(q, a, out);
    } else if (a->certificate == CBX_PROVED_NONE) {
        judge_none(q, a, out);
    } else if (a->outcome == CBX_SKIPPED && !has_rule(q, RULE_METHOD) &&
               !strncmp(a->reason, "the factual graph has", 21)) {
        judge_by_force(q, a, CLAIM_SKIPPED, INFINITY, out);
    }
}

/* The class that is to be explained, and its numbers. Ties are nobody's: false. The other methods
 * tell the numbers of the factual graph, which for Chebyshev layers need not be those of the whole
 * graph, and what differs in class they skip. */
static bool judge_prediction(const question *q, const cbx_counterfactual *a, judged *out)
{
    edited      as_it_is;
    naive_graph graph;
    edit_nothing(q, &as_it_is);
    build_graph(q, &as_it_is, &graph);
    outcome o = ask_naive(q, &graph, a->prediction, -1);
    double  lead = lead_of(q, &o, a->prediction);
    bool    exempt = has_rule(q, RULE_METHOD) && q->gnn.conv == NAIVE_CHEB;
    if (lead > -o.blur && !exempt && !are_close(q, a->before, &o))
        judge_complain(out, CLAIM_FOUND,
                       "the log-probabilities before any edit are not the graph's");
    if (lead > -o.blur && lead < o.blur)
        judge_pass(out, CLAIM_FOUND, UNDECIDED);
    if (lead < -o.blur && a->outcome != CBX_SKIPPED)
        judge_complain(out, CLAIM_FOUND, "the class before any edit is not %d", a->prediction);
    return lead > o.blur;
}

void judge(const question *q, const cbx_counterfactual *answer, judged *out)
{
    *out = (judged){0};
    if (!judge_prediction(q, answer, out))
        return;
    if (answer->outcome == CBX_FOUND)
        judge_series(q, answer, out);
    for (const cbx_counterfactual *a = answer; a; a = a->next)
        judge_one(q, a, out);
}
