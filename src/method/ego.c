/* SPDX-License-Identifier: Apache-2.0 */
/* ego.c: the target and its neighbours, and nothing else.
 *
 * Every edge goes but those among the target and the nodes that have an edge to it. In a
 * graph task the centre is the node with most edges, in and out; of several the first.
 * There is one candidate, so nothing to search: its loss is CE(target) + edges removed. */

#include "edge_mask.h"
#include "error.h"
#include "explainers.h"
#include "trial.h"

static int32_t centre(const cbx_search *s)
{
    const cbx_view *v = s->view;
    int32_t         best = 0;
    int64_t         most = -1;
    if (s->graph->data.task != CBX_GRAPH)
        return 0;
    for (int32_t i = 0; i < v->n; i++) {
        int64_t degree = v->offset[i + 1] - v->offset[i] + v->out_offset[i + 1] - v->out_offset[i];
        if (degree > most) {
            most = degree;
            best = i;
        }
    }
    return best;
}

static cbx_status search(cbx_search *s, cbx_error *err)
{
    const cbx_view *v = s->view;
    cbx_edge_mask   E;
    cbx_trials      T;
    uint8_t        *inside = CBX_NEW0(s->arena, uint8_t, v->n);
    cbx_status      status = inside ? cbx_edge_mask_init(&E, s, err) : cbx_fail_memory(err);
    if (!status)
        status = cbx_trials_init(&T, s, &s->X, err);
    if (status)
        return status;
    int32_t c = centre(s);
    inside[c] = 1;
    for (int64_t e = v->offset[c]; e < v->offset[c + 1]; e++)
        inside[v->source[e]] = 1;
    for (int64_t e = 0; e < v->m; e++)
        E.cut[E.pair_of ? E.pair_of[e] : e] = !(inside[v->source[e]] && inside[E.target_of[e]]);
    cbx_edge_mask_apply(&E);
    T.now = (cbx_epoch){.edge_loss = E.loss, .removed_edges = E.removed};
    if (cbx_trials_judge(&T, &s->X, E.hard))
        cbx_edge_mask_keep(&E);
    (void)cbx_search_should_stop(s, 1, 1);
    return cbx_edge_mask_collect(&E, s, err);
}

static int64_t steps(const void *settings)
{
    (void)settings;
    return 1;
}

const cbx_explainer cbx_explainer_ego = {
    .name = "ego", .search = search, .steps = steps, .uncounted = true, .edges_only = true};
