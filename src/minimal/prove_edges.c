/* SPDX-License-Identifier: Apache-2.0 */
/* prove_edges.c: see prove_edges.h. */
#include "prove_edges.h"

#include <math.h>
#include <string.h>

#include "asking.h"
#include "bound_work.h"
#include "error.h"
#include "prove_none.h"

static bool are_removals(const cbx_edge_proof *p)
{
    for (int64_t k = 0; k < p->count; k++)
        if (p->moves[k].kind != &cbx_move_remove_edge || p->moves[k].cost != p->cheapest)
            return false;
    return p->count > 0 && p->count < INT32_MAX;
}

static cbx_status make_graph(cbx_search *s, const cbx_edit_state *W, const cbx_edge_proof *p,
                             cbx_partial_graph *g, cbx_error *err)
{
    const cbx_view *v = s->view;
    cbx_status      status = cbx_partial_graph_init(g, v, NULL, p->count, v->m, s->arena, err);
    if (status)
        return status;
    for (int64_t k = 0; k < p->count; k++) {
        int64_t pair = p->moves[k].pair, first = W->slots[W->slots_begin[pair]];
        cbx_partial_graph_add(g, W->slots + W->slots_begin[pair],
                              W->slots_begin[pair + 1] - W->slots_begin[pair], v->source[first],
                              W->target_of[first], false);
    }
    return cbx_partial_graph_ready(g, s->arena, err);
}

/* Choices that the proof may leave open. */
static int64_t gap_of(const cbx_search *s, const cbx_edge_proof *p)
{
    return (int64_t)floor(cbx_minimal_of(s)->prove_gap / p->cheapest + 1e-9);
}

/* How many bounds the proof may take: 0 is no limit, and -1 none at all. */
static int64_t most_bounds(const cbx_minimal *found, const cbx_edge_proof *p, const cbx_net *net,
                           const cbx_partial_graph *g, cbx_arena *arena)
{
    cbx_bound_work work;
    if (!(p->share > 0))
        return 0;
    if (cbx_bound_work_of(net, g, arena, &work))
        return -1;
    double bounds = p->share * (double)found->state->asked * work.pass / work.bound;
    return bounds >= 1 ? (int64_t)fmin(bounds, 1e9) : -1;
}

int64_t cbx_prove_largest_set(const cbx_search *s, const cbx_minimal *found,
                              const cbx_edge_proof *p)
{
    int64_t most = p->count;
    if (s->options->max_edits > 0 && s->options->max_edits < most)
        most = s->options->max_edits;
    if (found->count > 0)
        most = (int64_t)fmin((double)most, ceil(found->cost / p->cheapest - 1e-9) - 1);
    return most;
}

int cbx_prove_take_over(cbx_minimal *found, const cbx_move *moves, double each,
                        const cbx_radius_answer *a, cbx_arena *arena)
{
    if (!(found->moves = CBX_NEW(arena, cbx_move, a->upper)))
        return -1;
    for (int64_t k = 0; k < a->upper; k++)
        found->moves[k] = moves[a->flip[k]];
    found->count = a->upper;
    found->cost = (double)a->upper * each;
    found->irreducible = a->lower >= a->upper;
    return 0;
}

/* Do the rules treat nodes alike that the factual graph does not tell apart? Those of what is to be
 * kept, or of degrees, look at the whole graph. */
static bool is_told_alike(const cbx_search *s, const cbx_edit_state *W)
{
    return !W->links && !W->room && !(s->options->stopping_threshold > 0);
}

cbx_status cbx_prove_edges(cbx_search *s, cbx_minimal *found, cbx_edge_proof *proof, cbx_error *err)
{
    cbx_net          *net;
    cbx_partial_graph graph;
    cbx_lead_bound    bound;
    cbx_radius_answer answer;
    int64_t           most = cbx_prove_largest_set(s, found, proof);
    int64_t           gap = gap_of(s, proof), bounds = 0;
    if (!are_removals(proof) || found->state->s != s)
        return CBX_OK;
    cbx_status status = cbx_net_of(s->model, s->arena, &net, err);
    if (!status && net)
        status = make_graph(s, found->state, proof, &graph, err);
    if (status || !net || (bounds = most_bounds(found, proof, net, &graph, s->arena)) < 0)
        return status;
    status = cbx_lead_bound_init(&bound, net, &graph, &s->X, s->arena, &proof->applies, err);
    if (status || !proof->applies)
        return status;
    graph.budget = found->count > 0 && gap > 0 ? most - gap : most; /* smaller sets are enough */
    cbx_asking          a = {.s = s,
                             .W = found->state,
                             .moves = proof->moves,
                             .made = CBX_NEW(s->arena, cbx_move, most + 1),
                             .until = proof->until,
                             .err = err};
    cbx_radius_question q = {.graph = &graph,
                             .bound = &bound,
                             .X = &s->X,
                             .threads = s->threads,
                             .gap = gap,
                             .until = proof->until,
                             .most_bounds = bounds,
                             .asked = cbx_asking_of(&a),
                             .num_classes = s->model->num_classes,
                             .prediction = s->prediction,
                             .target = s->target};
    q.asked.alike = is_told_alike(s, found->state);
    if (!a.made)
        return cbx_fail_memory(err);
    if (!found->count && most == proof->count && !bounds &&
        cbx_prove_none(&a, net, &graph, &bound)) {
        proof->proved = true;
        return CBX_OK;
    }
    status = cbx_radius_find(&q, s->arena, &answer, err);
    if (status || a.status)
        return status ? status : a.status;
    if (answer.upper > 0 &&
        cbx_prove_take_over(found, proof->moves, proof->cheapest, &answer, s->arena))
        return cbx_fail_memory(err);
    found->lower_bound = fmin(found->cost, (double)answer.lower * proof->cheapest);
    proof->proved = answer.lower > most || (answer.upper > 0 && answer.lower >= answer.upper);
    return CBX_OK;
}
