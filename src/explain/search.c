/* SPDX-License-Identifier: Apache-2.0 */
/* search.c: small things that methods share. */
#include <math.h>

#include "explainer.h"

int32_t cbx_search_class(const cbx_search *s, const float *logp)
{
    return isnan(logp[0]) ? s->prediction : cbx_best_class(logp, s->model->num_classes, -1);
}

bool cbx_search_diverged(cbx_search *s, double loss)
{
    s->diverged |= !isfinite(loss);
    return !isfinite(loss);
}

bool cbx_search_should_stop(cbx_search *s, int64_t epoch, int64_t epochs)
{
    if (s->progress && s->progress(s->user, epoch, epochs, s->found ? "found" : ""))
        s->cancelled = true;
    return s->cancelled || (s->deadline > 0 && cbx_clock() > s->deadline);
}

bool cbx_search_gives_up(const cbx_search *s, int64_t t)
{
    int64_t patience = s->options->patience;
    return patience > 0 && s->found && t - s->epoch >= patience;
}

cbx_edit cbx_edit_of_slot(const cbx_search *s, int32_t target, int64_t slot, bool undirected)
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
