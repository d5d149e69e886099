/* SPDX-License-Identifier: Apache-2.0 */
/* search.c: small things that methods share. */
#include <math.h>

#include "error.h"
#include "explainer.h"
#include "rules.h"

int32_t cbx_search_class(const cbx_search *s, const float *logp)
{
    double  threshold = s->options->stopping_threshold;
    int32_t C = s->model->num_classes;
    if (isnan(logp[0]))
        return s->prediction;
    int32_t best = cbx_best_class(logp, C, -1);
    return threshold > 0 && !cbx_is_flip(logp, C, s->prediction, -1, threshold) ? s->prediction
                                                                                : best;
}

bool cbx_search_diverged(cbx_search *s, double loss)
{
    s->diverged |= !isfinite(loss);
    return !isfinite(loss);
}

static bool stops(cbx_search *s, int64_t epoch, int64_t epochs, bool last)
{
    cbx_deadline *d = s->deadline;
    return d && (cbx_deadline_tell(d, epoch, epochs, s->found ? "found" : "") ||
                 (!last && cbx_deadline_look(d)));
}

bool cbx_search_should_stop(cbx_search *s, int64_t epoch, int64_t epochs)
{
    return stops(s, epoch, epochs, epoch == epochs);
}

bool cbx_search_should_stop_at(cbx_search *s, int64_t step)
{
    return stops(s, step, s->options->epochs, false);
}

/* Seconds that an edit takes: to collect, verify, rank, copy and forget; to collect, verify, copy
 * and forget; to copy and forget. */
static const double RANKED_EDIT = 5e-7, VERIFIED_EDIT = 1.5e-7, COPIED_EDIT = 5e-8;

void cbx_search_reserve(const cbx_search *s, int64_t edits)
{
    if (s->deadline)
        cbx_deadline_reserve(s->deadline, s->wrap_up + RANKED_EDIT * (double)edits);
}

void cbx_search_reserve_copy(const cbx_search *s)
{
    if (s->deadline)
        cbx_deadline_reserve(s->deadline, COPIED_EDIT * (double)s->num_edits);
}

cbx_status cbx_search_make_edits(cbx_search *s, int64_t count, cbx_error *err)
{
    if (s->deadline && !cbx_deadline_has(s->deadline, VERIFIED_EDIT * (double)count)) {
        s->late = true;
        s->found = false; /* of no use to anybody */
        return cbx_fail_late(err);
    }
    s->edits = CBX_NEW(s->keep, cbx_edit, count);
    s->num_edits = 0;
    return s->edits ? CBX_OK : cbx_fail_memory(err);
}

bool cbx_search_record(cbx_search *s, const cbx_epoch *step)
{
    int64_t t = s->epochs++;
    if (s->trace)
        s->trace[s->num_trace++] = *step;
    if (!step->hit || !(step->loss < (s->found ? s->loss : INFINITY)))
        return false;
    s->found = true;
    s->epoch = t;
    s->loss = step->loss;
    cbx_search_reserve(s, step->changed_features + step->removed_edges);
    return true;
}

void cbx_search_end(cbx_search *s)
{
    s->late = s->late || cbx_time_is_up();
    if (s->deadline)
        cbx_deadline_use_reserve(s->deadline);
}

cbx_status cbx_search_status(cbx_status status)
{
    return status == CBX_CANCELLED && cbx_time_is_up() ? CBX_OK : status;
}

bool cbx_search_gives_up(const cbx_search *s, int64_t t)
{
    int64_t patience = s->options->patience;
    return patience > 0 && s->found && t - s->epoch >= patience;
}

cbx_edit cbx_search_edit_of_feature(const cbx_search *s, int32_t row, int32_t column, float from,
                                    float to)
{
    return (cbx_edit){.op = CBX_SET_FEATURE,
                      .node = s->view->node ? s->view->node[row] : row,
                      .feature = column,
                      .from = from,
                      .to = to,
                      .group = s->rules && s->rules->any ? s->rules->group[column] + 1 : 0};
}

cbx_edit cbx_search_edit_of_slot(const cbx_search *s, int32_t target, int64_t slot, bool undirected)
{
    const cbx_view *v = s->view;
    int32_t         source = v->source[slot];
    return (cbx_edit){.op = CBX_REMOVE_EDGE,
                      .source = v->node ? v->node[source] : source,
                      .target = v->node ? v->node[target] : target,
                      .edge = undirected ? -1
                              : v->edge  ? v->edge[slot]
                                         : slot,
                      .undirected = undirected};
}
