/* SPDX-License-Identifier: Apache-2.0 */
/* result.c: see result.h. */
#include "result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "read_additions.h"
#include "scope.h"
#include "used.h"

/* Carves aligned pieces out of the block; counts when there is none yet. */
typedef struct carver {
    char  *base;
    size_t at;
} carver;

static void *carve(carver *c, const void *from, size_t count, size_t size)
{
    c->at = (c->at + 15) & ~(size_t)15;
    void *to = c->base ? c->base + c->at : NULL;
    if (to && from && count)
        memcpy(to, from, count * size);
    c->at += count * size;
    return to;
}

static void lay_out(carver *c, cbx_counterfactual *r, const cbx_counterfactual *from)
{
    size_t      C = (size_t)from->num_classes;
    const char *scope = from->scope ? from->scope : ""; /* who makes one by hand may leave it out */
    const char *kinds = from->kinds ? from->kinds : "";
    r->before = carve(c, from->before, C, sizeof(float));
    r->after = carve(c, from->after, from->after ? C : 0, sizeof(float));
    r->edits = carve(c, from->edits, (size_t)from->num_edits, sizeof(cbx_edit));
    r->trace = carve(c, from->trace, (size_t)from->num_trace, sizeof(cbx_epoch));
    r->reason = carve(c, from->reason, strlen(from->reason) + 1, 1);
    r->scope = carve(c, scope, strlen(scope) + 1, 1);
    r->kinds = carve(c, kinds, strlen(kinds) + 1, 1);
    if (!from->after)
        r->after = NULL;
}

cbx_counterfactual *cbx_result_copy(const cbx_counterfactual *from)
{
    cbx_counterfactual sizes;
    carver             c = {0};
    (void)carve(&c, NULL, 1, sizeof *from);
    lay_out(&c, &sizes, from);
    c = (carver){.base = malloc(c.at)};
    if (!c.base)
        return NULL;
    cbx_counterfactual *r = carve(&c, from, 1, sizeof *from);
    lay_out(&c, r, from);
    r->size = sizeof *r;
    r->next = NULL;
    return r;
}

static double margin(const float *logp, int32_t C)
{
    int32_t best = cbx_best_class(logp, C, -1), next = cbx_best_class(logp, C, best);
    return next < 0 ? 0 : (double)logp[best] - logp[next];
}

void cbx_result_count_edits(cbx_counterfactual *c)
{
    c->num_edges_removed = c->num_edges_added = c->num_features_changed = 0;
    c->num_nodes_removed = c->num_edges_reweighted = c->num_nodes_added = 0;
    for (int64_t k = 0; k < c->num_edits; k++) {
        switch (c->edits[k].op) {
        case CBX_REMOVE_EDGE:
            c->num_edges_removed++;
            break;
        case CBX_SET_FEATURE:
            c->num_features_changed++;
            break;
        case CBX_ADD_EDGE:
            c->num_edges_added++;
            break;
        case CBX_REMOVE_NODE:
            c->num_nodes_removed++;
            break;
        case CBX_SET_EDGE:
            c->num_edges_reweighted++;
            break;
        case CBX_ADD_NODE:
            c->num_nodes_added++;
            break;
        }
    }
}

cbx_status cbx_result_pack(const cbx_search *s, cbx_outcome outcome, const char *reason,
                           const float *after, double seconds, cbx_counterfactual **out,
                           cbx_error *err)
{
    int32_t     C = s->model->num_classes;
    const char *scope = cbx_scope_of_proof(s);
    char        kinds[CBX_EDITS_TEXT];
    cbx_edits_write(s->rules->edits, kinds);
    if (!scope)
        return cbx_fail_memory(err);
    cbx_counterfactual r = {.task = s->graph->data.task,
                            .row = s->row,
                            .outcome = outcome,
                            .reason = reason,
                            .prediction = s->prediction,
                            .target = s->target,
                            .result = after ? cbx_best_class(after, C, -1) : s->prediction,
                            .num_classes = C,
                            .before = s->before,
                            .after = after,
                            .num_edits = s->num_edits,
                            .edits = s->edits,
                            .num_nodes = s->view->n,
                            .num_features = cbx_used_all(s->used, s->X.cols),
                            .num_edges = s->view->m,
                            .num_left_out = s->view->left_out,
                            .num_removable = s->num_removable,
                            .epoch = s->epoch,
                            .epochs = s->epochs,
                            .loss = s->loss,
                            .seconds = seconds,
                            .num_trace = s->num_trace,
                            .trace = s->trace,
                            .certificate = s->certificate,
                            .scope = scope,
                            .cost = s->cost,
                            .lower_bound = s->lower_bound,
                            .margin = after ? margin(after, C) : 0,
                            .robustness = outcome == CBX_FOUND ? s->robustness : -1,
                            .best_lead =
                                outcome == CBX_NOT_FOUND && isfinite(s->reached) ? s->reached : NAN,
                            .threshold = s->options->stopping_threshold,
                            .reproducible = s->model->reproducible,
                            .num_unusual = outcome == CBX_FOUND ? s->num_unusual : 0,
                            .l1_mad = outcome == CBX_FOUND ? s->l1_mad : NAN,
                            .plausibility = outcome == CBX_FOUND ? s->plausibility : NAN,
                            .num_trained = s->num_trained,
                            .trained_seconds = s->trained_seconds,
                            .kinds = kinds};
    cbx_result_count_edits(&r);
    *out = cbx_result_copy(&r);
    if (!*out)
        return cbx_fail_memory(err);
    cbx_edit *edits = (cbx_edit *)(*out)->edits; /* the copy's own */
    for (int64_t k = 0; s->used && k < s->num_edits; k++)
        if (edits[k].op == CBX_SET_FEATURE)
            edits[k].feature = cbx_used_number(s->used, edits[k].feature);
    return CBX_OK;
}

static const char *const outcomes[] = {"found", "not_found", "skipped", "cancelled"};

const char *cbx_outcome_name(cbx_outcome outcome)
{
    return outcomes[outcome];
}

static const char *const certificates[] = {"none", "irreducible", "optimal", "none_within_budget",
                                           "proved_none"};

const char *cbx_certificate_name(cbx_certificate certificate)
{
    return certificates[certificate];
}

void cbx_counterfactual_free(cbx_counterfactual *counterfactual)
{
    while (counterfactual) {
        cbx_counterfactual *next = counterfactual->next;
        free(counterfactual);
        counterfactual = next;
    }
}
