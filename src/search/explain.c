/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c: see explain.h. */
#include "explain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "fewer.h"
#include "number.h"
#include "order.h"
#include "pairs.h"
#include "rank.h"
#include "receptive.h"
#include "result.h"
#include "scope.h"
#include "rules.h"
#include "threads.h"
#include "verify.h"

/* Nodes that a search may hold. */
static int32_t node_budget(const cbx_graph *graph, const cbx_explain_options *options)
{
    int64_t nodes = options->budget / graph->data.num_features;
    return (int32_t)(nodes < INT32_MAX ? nodes : INT32_MAX);
}

cbx_status cbx_factual_view(const cbx_model *model, const cbx_graph *graph,
                            const cbx_explain_options *options, int32_t row, cbx_arena *arena,
                            cbx_view *view, cbx_error *err)
{
    return graph->data.task == CBX_GRAPH
               ? cbx_view_graphs(graph, &row, 1, arena, view, err)
               : cbx_view_nearest(graph, row, cbx_model_factual_hops(model),
                                  node_budget(graph, options), arena, view, err);
}

cbx_status cbx_search_cut(cbx_search *s, const cbx_graph *graph, bool everything, cbx_view *view,
                          cbx_error *err)
{
    cbx_status status;
    if (everything && graph->data.task != CBX_GRAPH)
        status = cbx_receptive_view(s->model, graph, s->whole, s->row,
                                    node_budget(graph, s->options), s->arena, view, err);
    else
        status = cbx_factual_view(s->model, graph, s->options, s->row, s->arena, view, err);
    s->view = view;
    s->complete = !view->left_out && (everything ? cbx_receptive_is_known(s->model)
                                                 : !cbx_model_sees_further(s->model));
    return status ? status : cbx_view_features(graph, view, s->arena, &s->X, err);
}

cbx_status cbx_search_count_removable(cbx_search *s, cbx_error *err)
{
    int64_t m = s->view->m;
    s->num_removable = m;
    if (s->options->edges != CBX_EDGES_UNDIRECTED)
        return CBX_OK;
    int64_t *pair_of = CBX_NEW(s->keep, int64_t, m), *slot_of = CBX_NEW(s->keep, int64_t, m);
    s->pair_of = pair_of;
    s->slot_of = slot_of;
    s->num_removable = pair_of && slot_of ? cbx_pairs_number(s->view, pair_of, slot_of) : -1;
    return s->num_removable < 0 ? cbx_fail_late(err) : CBX_OK;
}

/* The model on the factual graph, in memory that is given back: a search needs as much again. */
static cbx_status run_model(const cbx_search *s, float *logp, cbx_error *err)
{
    cbx_arena  arena = {0};
    cbx_pass   pass;
    cbx_status status = cbx_pass_init(&pass, s->model, s->view, &s->X, false, 1, &arena, err);
    if (!status) {
        cbx_pass_forward(&pass, &s->X, NULL, 0, 0);
        memcpy(logp, pass.logp, (size_t)s->model->num_classes * sizeof *logp);
    }
    cbx_arena_free(&arena);
    return !status && cbx_time_is_up() ? cbx_fail_late(err) : status;
}

static cbx_status ask(cbx_search *s, cbx_error *err)
{
    int32_t    C = s->model->num_classes;
    float     *logp = CBX_NEW(s->arena, float, C);
    cbx_status status = logp ? run_model(s, logp, err) : cbx_fail_memory(err);
    if (status)
        return status;
    s->before = logp;
    if (isnan(logp[0]))
        return cbx_fail_overflow(s->graph, s->row, err);
    s->prediction = s->decision = cbx_best_class(logp, C, -1);
    if (s->complete)
        return CBX_OK;
    /* The factual graph is not all that counts. What is to be explained is the
     * decision on the whole graph. */
    float *whole = CBX_NEW(s->arena, float, C);
    if (!whole)
        return cbx_fail_memory(err);
    status = cbx_check_edits(s->model, s->graph, s->row, NULL, 0, whole, err);
    if (status)
        return status;
    s->decision = cbx_best_class(whole, C, -1);
    if (s->view->left_out || !cbx_receptive_is_known(s->model)) {
        s->before = whole;
        s->prediction = s->decision;
    }
    return CBX_OK;
}

static cbx_status out_of_bounds(const cbx_search *s, int32_t i, int32_t j, float v, cbx_error *err)
{
    const cbx_graph_data *d = &s->graph->data;
    int32_t               node = s->view->node ? s->view->node[i] : i;
    const char           *who = d->node_names ? d->node_names[node] : "";
    const char           *what = d->feature_names ? d->feature_names[j] : "";
    return cbx_fail(err, CBX_INVALID,
                    "feature %d%s%.60s%s of node %d%s%.60s%s is %g, outside its bounds %g to %g: "
                    "correct the bounds or the data",
                    cbx_used_number(s->used, j), *what ? " (" : "", what, *what ? ")" : "", node,
                    *who ? " (" : "", who, *who ? ")" : "", (double)v, (double)d->feat_min[j],
                    (double)d->feat_max[j]);
}

/* Columns ascend in every row. */
static bool is_stored(const cbx_matrix *X, int32_t row, int32_t column)
{
    int64_t lo = X->csr.offset[row], end = X->csr.offset[row + 1], hi = end;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        if (X->csr.column[middle] < column)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < end && X->csr.column[lo] == column;
}

static cbx_status check_bounds(const cbx_search *s, cbx_error *err)
{
    const cbx_matrix *X = &s->X;
    const double      entry = 4; /* multiplications in the time of one */
    for (int32_t i = 0; i < X->rows; i++) {
        int64_t begin = X->dense ? 0 : X->csr.offset[i];
        int64_t end = X->dense ? X->cols : X->csr.offset[i + 1];
        if (cbx_out_of_time(entry * (double)(end - begin)))
            return cbx_fail_late(err);
        for (int64_t k = begin; k < end; k++) {
            int32_t j = X->dense ? (int32_t)k : X->csr.column[k];
            float   v = X->dense ? X->dense[(int64_t)i * X->cols + k] : X->csr.value[k];
            if (v < s->lo[j] || v > s->hi[j])
                return out_of_bounds(s, i, j, v, err);
        }
    }
    /* A sparse row's other entries are 0. Bounds that shut 0 out can only hold for
     * a column that is stored in every row. */
    if (!X->dense)
        for (int32_t j = 0; j < X->cols; j++) {
            if (s->lo[j] <= 0 && s->hi[j] >= 0)
                continue;
            for (int32_t i = 0; i < X->rows; i++) {
                if (cbx_out_of_time(entry))
                    return cbx_fail_late(err);
                if (!is_stored(X, i, j))
                    return out_of_bounds(s, i, j, 0, err);
            }
        }
    return CBX_OK;
}

/* Names go before numbers. */
static void tell_already(const cbx_graph_data *d, int32_t class, char *text, size_t size)
{
    const char *name = d->class_names && class < d->num_classes ? d->class_names[class] : NULL;
    if (name)
        (void)snprintf(text, size, "the prediction is %s%.100s already",
                       *name >= '0' && *name <= '9' ? "class " : "", name);
    else
        (void)snprintf(text, size, "the prediction is class %d already", class);
}

static cbx_status fail_already(const cbx_graph_data *d, int32_t row, int32_t class, cbx_error *err)
{
    char text[160];
    bool graphs = d->task == CBX_GRAPH;
    tell_already(d, class, text, sizeof text);
    if (d->node_names && !graphs)
        return cbx_fail(err, CBX_INVALID, "%.100s: %s", d->node_names[row], text);
    return cbx_fail(err, CBX_INVALID, "%s %d: %s", graphs ? "graph" : "node", row, text);
}

/* Why there is nothing to search, or NULL. */
static const char *reason_to_skip(const cbx_search *s, char *text, size_t size)
{
    if (s->model->num_classes < 2)
        return "the model knows one class only";
    if (s->decision != s->prediction) {
        (void)snprintf(text, size, "class %d on the factual graph, but %d on the whole graph",
                       s->prediction, s->decision);
        return text;
    }
    if (s->view->m < s->options->min_edges) {
        if (s->view->m < 2)
            return s->view->m ? "the factual graph has one edge only"
                              : "the factual graph has no edge";
        (void)snprintf(text, size, "the factual graph has %lld edges, fewer than %lld",
                       (long long)s->view->m, (long long)s->options->min_edges);
        return text;
    }
    if (s->target != s->prediction)
        return NULL;
    tell_already(&s->graph->data, s->prediction, text, size);
    return text;
}

/* A sentence about the time limit, in memory of the arena, `what` being all of it but the limit's
 * name; NULL: no memory. */
static const char *reason_of_limit(const cbx_search *s, const char *what)
{
    enum { LONGEST = 160 };
    char *text = CBX_NEW(s->arena, char, LONGEST);
    if (text)
        (void)cbx_print(text, LONGEST, "the time limit of %g s %s", s->deadline->limit, what);
    return text;
}

static bool is_cancelled(const cbx_search *s)
{
    return s->deadline && s->deadline->cancelled;
}

/* NULL: no memory. */
static const char *reason_for_nothing(const cbx_search *s)
{
    if (s->late && s->certificate != CBX_PROVED_NONE)
        return reason_of_limit(s, "ended the search");
    if (s->diverged && s->certificate == CBX_NO_CERTIFICATE)
        return "none was met before numbers became too large for single precision";
    if (s->why)
        return s->why;
    if (s->certificate == CBX_NONE_WITHIN_BUDGET && s->unproved)
        return s->unproved;
    if (s->certificate == CBX_NONE_WITHIN_BUDGET)
        return "there may be something that the search did not meet";
    if (s->certificate != CBX_PROVED_NONE)
        return "";
    static const char lead[] = "proved of all ";
    const char       *scope = cbx_scope_of_proof(s);
    char             *text = scope ? CBX_NEW(s->arena, char, sizeof lead + strlen(scope)) : NULL;
    if (text) {
        memcpy(text, lead, sizeof lead - 1);
        memcpy(text + sizeof lead - 1, scope, strlen(scope) + 1);
    }
    return text;
}

/* Without edits. `reason` NULL: no memory was left for it. */
static cbx_status pack_nothing(cbx_search *s, cbx_outcome outcome, const char *reason, double began,
                               cbx_counterfactual **out, cbx_error *err)
{
    s->num_edits = 0;
    if (is_cancelled(s)) {
        outcome = CBX_NOT_FINISHED;
        reason = "";
    }
    return reason ? cbx_result_pack(s, outcome, reason, NULL, cbx_clock() - began, out, err)
                  : cbx_fail_memory(err);
}

/* Edits that were not ranked: nothing is said of their influence. */
static void forget_influence(cbx_search *s)
{
    for (int64_t k = 0; k < s->num_edits; k++)
        s->edits[k].influence = 0;
}

/* Ranks an answer that holds. `reason`: what is to be said of it. */
static cbx_status rank(cbx_search *s, int32_t result, const char **reason, cbx_error *err)
{
    cbx_search_reserve_copy(s);
    cbx_status status = cbx_rank_edits(s, result, err);
    bool       ranked = status == CBX_OK;
    *reason = "";
    status = cbx_search_status(status);
    if (s->deadline)
        cbx_deadline_use_reserve(s->deadline);
    if (status)
        return status;
    if (!ranked)
        forget_influence(s);
    if (s->late || !ranked)
        *reason = reason_of_limit(s, !s->late ? "left no time to rank the edits"
                                     : ranked ? "ended the search"
                                              : "ended the search; the edits are not ranked");
    return *reason ? CBX_OK : cbx_fail_memory(err);
}

/* An answer that breaks a rule is none, whatever the search thought of it. */
static cbx_status keeps_rules(const cbx_search *s, const float *after, bool *keeps,
                              const char **reason, cbx_error *err)
{
    static const char lead[] = "what was found breaks a rule, ";
    cbx_error         why = {0};
    cbx_status        status =
        cbx_rules_check(s->rules, s->row, cbx_search_peers(s, after), s->edits, s->num_edits, &why);
    *keeps = status == CBX_OK;
    if (*keeps)
        return CBX_OK;
    char *text = CBX_NEW(s->arena, char, sizeof lead + CBX_MESSAGE_SIZE);
    if (status != CBX_INVALID || !text)
        return cbx_fail_late(err);
    (void)snprintf(text, sizeof lead + CBX_MESSAGE_SIZE, "%s%s", lead, why.message);
    *reason = text;
    return CBX_OK;
}

/* Where there is no time for it, nothing is said. */
static cbx_status measure_plausibility(cbx_search *s, const float *after, cbx_error *err)
{
    s->plausibility = NAN;
    if (!s->rules->plausible)
        return CBX_OK;
    return cbx_search_status(cbx_plausible_edits(s->rules->plausible, cbx_search_peers(s, after),
                                                 s->edits, s->num_edits, &s->plausibility, err));
}

/* One answer, verified and ranked. */
static cbx_status pack_answer(cbx_search *s, double began, cbx_counterfactual **out, cbx_error *err)
{
    const char *reason = "what flips the factual graph does not flip the whole graph";
    float      *after = CBX_NEW(s->arena, float, s->model->num_classes);
    if (!after)
        return cbx_fail_memory(err);
    cbx_status status =
        cbx_verify_edits(s->model, s->graph, s->row, s->edits, s->num_edits, after, err);
    bool holds = !status && cbx_search_hits(s, cbx_search_class(s, after));
    if (holds && s->rules->any)
        status = keeps_rules(s, after, &holds, &reason, err);
    if (holds)
        status = rank(s, cbx_search_class(s, after), &reason, err);
    else if (status == CBX_CANCELLED && cbx_time_is_up())
        reason = reason_of_limit(s, "left no time to verify what was found");
    if (holds && !status)
        status = measure_plausibility(s, after, err);
    if (cbx_search_status(status))
        return status;
    if (holds && s->unproved && !*reason)
        reason = s->unproved;
    if (holds && !is_cancelled(s))
        return cbx_result_pack(s, CBX_FOUND, reason, after, cbx_clock() - began, out, err);
    s->certificate = CBX_NO_CERTIFICATE;
    return pack_nothing(s, CBX_NOT_FOUND, reason, began, out, err);
}

/* Of a model that was aimed: the number that it is about, before and after. */
static cbx_status tell_numbers(const cbx_search *s, cbx_counterfactual *c, cbx_error *err)
{
    const cbx_model *numbers = s->model->oracle ? s->model->oracle->numbers : NULL;
    float            before, after;
    if (!numbers)
        return CBX_OK;
    cbx_status status = cbx_verify_edits(numbers, s->graph, s->row, NULL, 0, &before, err);
    if (!status)
        status = cbx_verify_edits(numbers, s->graph, s->row, c->edits, c->num_edits, &after, err);
    if (status)
        return cbx_search_status(status);
    c->has_numbers = true;
    c->number_before = (double)before;
    c->number_after = (double)after;
    return CBX_OK;
}

static cbx_status finish(cbx_search *s, double began, cbx_counterfactual **out, cbx_error *err)
{
    if (is_cancelled(s) || !s->found)
        return pack_nothing(s, CBX_NOT_FOUND, reason_for_nothing(s), began, out, err);
    cbx_status          status = pack_answer(s, began, out, err);
    cbx_counterfactual *last = *out;
    for (int64_t k = 0; k < s->num_others && !status && last && !cbx_time_is_up(); k++) {
        cbx_counterfactual *answer = NULL;
        s->unproved = NULL; /* of the first alone is anything proved */
        s->edits = s->others[k].edits;
        s->num_edits = s->others[k].num_edits;
        s->num_unusual = s->others[k].num_unusual;
        s->cost = s->others[k].cost;
        s->certificate = s->others[k].certificate;
        s->robustness = s->others[k].robustness;
        s->l1_mad = s->others[k].l1_mad;
        status = pack_answer(s, began, &answer, err);
        if (answer && answer->outcome != CBX_FOUND && cbx_time_is_up()) {
            cbx_counterfactual_free(answer); /* one more that nobody had time for */
            answer = NULL;
        }
        last->next = answer;
        last = answer;
    }
    for (cbx_counterfactual *c = *out; c && !status; c = c->next)
        status = tell_numbers(s, c, err);
    if (status) {
        cbx_counterfactual_free(*out);
        *out = NULL;
    }
    return status;
}

/* A search that leaves features alone multiplies the same rows by the same weights in every
 * epoch: once is enough. Of dense rows it may be cheaper to add them up first. */
static int keep_products(cbx_search *s, cbx_product_cache *products)
{
    int32_t widest, count = cbx_model_products(s->model, &widest);
    if (!count || s->X.dense)
        return 0;
    s->X.cache = products;
    return cbx_cache_init(products, count, s->X.rows, widest, 0, s->arena);
}

/* A large search gives its memory back before the answer is verified, packed and handed over,
 * which takes as much again; a small one keeps it for the next. */
static cbx_status search_with(cbx_search *s, const cbx_explainer *explainer, cbx_arena *scratch,
                              cbx_error *err)
{
    const size_t      large = (size_t)16 << 20;
    cbx_product_cache products;
    s->arena = scratch;
    cbx_status status = CBX_OK;
    if (explainer->edges_only && keep_products(s, &products))
        status = cbx_fail_memory(err);
    if (!status)
        status = explainer->search(s, err);
    if (!status && s->found && cbx_rules_limit_numbers(s->rules))
        status = cbx_fewer_edits(s, err);
    if (status == CBX_CANCELLED) /* with nothing to hand back */
        s->found = false;
    s->arena = s->keep;
    s->X.cache = NULL;
    if (scratch->total > large)
        cbx_arena_free(scratch);
    return status;
}

void cbx_workspace_free(cbx_workspace *workspace)
{
    cbx_arena_free(&workspace->kept);
    cbx_arena_free(&workspace->scratch);
}

/* Seconds to keep for the answer. Verifying takes what asking for the class took, and ranking,
 * which an answer can do without, a pass forward and one backward. */
static double time_to_wrap_up(double asked, double limit)
{
    return 1.5 * asked + fmin(2 * asked, 0.2 * limit) + fmin(0.02 * limit, 0.01);
}

/* Time was up before the model had answered. */
static cbx_status pack_unknown(cbx_search *s, double began, cbx_counterfactual **out,
                               cbx_error *err)
{
    int32_t C = s->model->num_classes;
    float  *before = CBX_NEW(s->keep, float, C);
    if (!before)
        return cbx_fail_memory(err);
    cbx_status status = cbx_verify_row(s->graph, s->row, err);
    if (status)
        return status;
    for (int32_t c = 0; c < C; c++)
        before[c] = NAN;
    s->before = before;
    s->prediction = -1;
    s->num_removable = 0;
    s->target = s->target >= 0 ? s->target : CBX_TARGET_ANY;
    return pack_nothing(s, CBX_SKIPPED, reason_of_limit(s, "was over before the class was known"),
                        began, out, err);
}

/* The factual graph, what may be removed from it, and the model's answer. */
static cbx_status ask_for_class(cbx_search *s, bool everything, cbx_view *view, cbx_error *err)
{
    cbx_status status =
        cbx_time_is_up() ? cbx_fail_late(err) : cbx_search_cut(s, s->graph, everything, view, err);
    if (!status)
        status = cbx_search_count_removable(s, err);
    return status ? status : ask(s, err);
}

static cbx_search search_of(const cbx_setup *setup, int32_t row, cbx_arena *arena,
                            cbx_deadline *deadline)
{
    return (cbx_search){.model = setup->model,
                        .graph = setup->graph,
                        .used = setup->used,
                        .options = setup->options,
                        .settings = setup->settings,
                        .row = row,
                        .lo = setup->lo,
                        .hi = setup->hi,
                        .discrete = setup->discrete,
                        .rules = &setup->rules,
                        .target = setup->target,
                        .arena = arena,
                        .keep = arena,
                        .deadline = deadline,
                        .whole = setup->whole,
                        .inputs = setup->inputs,
                        .shared = setup->shared,
                        .phases = setup->phases,
                        .threads = setup->threads,
                        .reached = -INFINITY,
                        .robustness = -1,
                        .l1_mad = NAN,
                        .plausibility = NAN};
}

cbx_status cbx_explain_row(const cbx_setup *setup, int32_t row, bool strict,
                           cbx_workspace *workspace, cbx_deadline *deadline,
                           cbx_counterfactual **out, cbx_error *err)
{
    double     began = cbx_clock();
    cbx_arena *arena = &workspace->kept;
    cbx_view   view = {0};
    cbx_search s = search_of(setup, row, arena, deadline);
    s.view = &view;
    cbx_arena_reset(arena);
    cbx_arena_reset(&workspace->scratch);
    cbx_status status = ask_for_class(&s, setup->explainer->searches_all, &view, err);
    if (status == CBX_CANCELLED && cbx_time_is_up())
        return pack_unknown(&s, began, out, err);
    if (status)
        return status;
    if (s.target == CBX_TARGET_NEXT)
        s.target = (s.prediction + 1) % s.model->num_classes;
    if (strict && s.target == s.prediction)
        return fail_already(&setup->graph->data, row, s.prediction, err);
    char        text[160];
    const char *reason = reason_to_skip(&s, text, sizeof text);
    if (reason)
        return cbx_result_pack(&s, CBX_SKIPPED, reason, NULL, cbx_clock() - began, out, err);
    bool only_removes = setup->explainer->edges_only && !(setup->rules.edits & CBX_EDITS_ADD);
    if (only_removes && view.m == 0)
        return cbx_result_pack(&s, CBX_NOT_FOUND,
                               "the factual graph has no edge, and this method does nothing but "
                               "remove edges",
                               NULL, cbx_clock() - began, out, err);
    if (only_removes && setup->rules.keep_edges)
        return cbx_result_pack(&s, CBX_NOT_FOUND,
                               "by the rule keep-edges no edge goes, and this method does nothing "
                               "but remove edges",
                               NULL, cbx_clock() - began, out, err);
    s.wrap_up = time_to_wrap_up(cbx_clock() - began, deadline ? deadline->limit : 0);
    cbx_search_reserve(&s, 0);
    status = check_bounds(&s, err);
    if (!status && setup->options->trace) {
        s.trace = CBX_NEW(arena, cbx_epoch, cbx_explainer_steps(setup->explainer, setup->options));
        status = s.trace ? CBX_OK : cbx_fail_memory(err);
    }
    if (!status)
        status = search_with(&s, setup->explainer, &workspace->scratch, err);
    status = cbx_search_status(status);
    cbx_search_end(&s);
    return status ? status : finish(&s, began, out, err);
}

cbx_status cbx_explain_with(const cbx_model *model, const cbx_graph *graph, int32_t row,
                            const cbx_explain_options *options, cbx_progress progress, void *user,
                            cbx_counterfactual **out, cbx_error *err)
{
    cbx_setup           setup;
    cbx_workspace       workspace = {0};
    cbx_deadline        deadline;
    cbx_explain_options fallback = {0};
    *out = NULL;
    if (!options)
        cbx_fields_default(cbx_explain_table(), &fallback);
    options = options ? options : &fallback;
    bool before = cbx_order_fix(model->reproducible);
    cbx_deadline_begin(&deadline, options->time_limit, progress, user);
    cbx_status status = cbx_setup_init(&setup, model, graph, options, err);
    if (!cbx_search_status(status)) {                  /* time that is up already is its to tell */
        setup.threads = cbx_threads(options->threads); /* there is no other row for them */
        status = cbx_explain_row(&setup, row, true, &workspace, &deadline, out, err);
        cbx_workspace_free(&workspace);
        cbx_setup_free(&setup);
    }
    cbx_deadline_end(&deadline);
    (void)cbx_order_fix(before);
    return status;
}
