/* SPDX-License-Identifier: Apache-2.0 */
/* edge_mask.c: see edge_mask.h. */
#include "edge_mask.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "edit.h"
#include "error.h"
#include "pairs.h"
#include "perturb.h"

/* Multiplications in the time of a slot whose pair is looked up, and of a pair. */
static const double SLOT = 30, PAIR = 10;

/* EP of what is offered, to begin with. The most promising ones are nearest to coming: were all as
 * near, all would come at once. */
static float not_there(int64_t rank)
{
    return -1 - 0.25F * (float)rank;
}

/* An edge that is offered counts as one where it is added. */
static void count_offered(cbx_edge_mask *E, int64_t e, uint8_t cut)
{
    if (E->adding.removed[e] == cut)
        return;
    E->adding.removed[e] = cut;
    E->adding.lost[E->target_of[e]] += cut ? -1 : 1;
}

/* What is left of the graph once edges are cut. */
static void apply_cuts(cbx_edge_mask *E)
{
    const cbx_view *v = E->s->view;
    E->removed = 0;
    for (int64_t e = 0; e < v->m && !cbx_out_of_time_at(e, SLOT); e++) {
        uint8_t cut = E->cut[E->pair_of ? E->pair_of[e] : e];
        bool    offered = E->offered && E->s->offered[e];
        E->hard[e] = cut ? 0 : v->weight ? v->weight[e] : 1;
        E->removed += offered ? !cut : cut;
        if (offered)
            count_offered(E, e, cut);
    }
}

static bool is_offered(const cbx_edge_mask *E, int64_t pair)
{
    return E->offered && E->offered[pair];
}

/* Where edges are offered: what they are to begin with. */
static int take_offers(cbx_edge_mask *E, const cbx_search *s)
{
    const cbx_view *v = s->view;
    cbx_view       *soft = s->offered ? CBX_NEW(s->arena, cbx_view, 1) : NULL;
    E->soft_view = E->hard_view = v;
    if (!s->offered)
        return 0;
    float *lost = CBX_NEW(s->arena, float, v->n);
    E->offered = CBX_NEW0(s->arena, uint8_t, E->pairs);
    E->coming = CBX_NEW(s->arena, uint8_t, E->pairs);
    if (!soft || !lost || !E->offered || !E->coming || cbx_hiding_init(&E->adding, s, s->arena))
        return -1;
    for (int64_t e = 0; e < v->m; e++) {
        int64_t p = E->pair_of ? E->pair_of[e] : e;
        if (!s->offered[e])
            continue;
        E->offered[p] = E->cut[p] = 1;
        /* numbered in the order in which they are offered, in undirected mode two by two */
        E->EP[p] = not_there((v->edge[e] - s->graph->data.num_edges) / (E->pair_of ? 2 : 1));
    }
    memcpy(lost, E->adding.lost, (size_t)v->n * sizeof *lost);
    *soft = E->adding.view;
    soft->removed = NULL;
    soft->outside_count = lost;
    E->soft_view = soft;
    E->hard_view = &E->adding.view;
    return 0;
}

/* Edges at nodes that an offered edge brings along are not of the factual graph, and stay. */
static int fix_what_comes_along(cbx_edge_mask *E, const cbx_search *s)
{
    const cbx_view *v = s->view;
    cbx_places      places;
    if (cbx_places_init(&places, s->narrow))
        return -1;
    for (int64_t p = 0; p < E->pairs; p++) {
        int64_t slot = E->slot_of ? E->slot_of[p] : p;
        int32_t ends[2] = {v->source[slot], E->target_of[slot]};
        for (int way = 0; way < 2 && !E->offered[p]; way++)
            E->fixed[p] |= cbx_places_find(&places, v->node ? v->node[ends[way]] : ends[way]) < 0;
    }
    cbx_places_free(&places);
    return 0;
}

/* Which pairs the rules let go. */
static cbx_status find_fixed(cbx_edge_mask *E, const cbx_search *s, cbx_error *err)
{
    const cbx_view *v = s->view;
    cbx_pairs       pairs;
    if (!cbx_project_is_needed(s) && !E->offered)
        return CBX_OK;
    E->fixed = CBX_NEW(s->arena, uint8_t, E->pairs);
    E->wish = CBX_NEW(s->arena, uint8_t, E->pairs);
    if (!E->fixed || !E->wish)
        return cbx_fail_memory(err);
    for (int64_t p = 0; p < E->pairs; p++) {
        int64_t slot = E->slot_of ? E->slot_of[p] : p;
        E->fixed[p] =
            !is_offered(E, p) && !cbx_project_may_go(s, v->source[slot], E->target_of[slot]);
    }
    if (E->offered && fix_what_comes_along(E, s))
        return cbx_fail_memory(err);
    if (E->offered && cbx_project_limits_additions(s)) {
        E->room = CBX_NEW(s->arena, int64_t, v->n);
        for (int32_t i = 0; E->room && i < v->n; i++)
            E->room[i] = cbx_project_room(s, i);
        if (!E->room)
            return cbx_fail_memory(err);
    }
    if (cbx_pairs_removed_at_once(s, &pairs))
        return cbx_fail_late(err);
    return cbx_shape_new(s, &pairs, &E->shape, err);
}

/* Does a node that the pair's edges lead to have more of them than it may? */
static bool is_crowded(const cbx_edge_mask *E, int64_t slot)
{
    return E->room[E->target_of[slot]] < 0 || (E->pair_of && E->room[E->s->view->source[slot]] < 0);
}

static void take_room(const cbx_edge_mask *E, int64_t slot, int64_t edges)
{
    E->room[E->target_of[slot]] -= edges;
    if (E->pair_of)
        E->room[E->s->view->source[slot]] -= edges;
}

/* What comes, as far as there is room for it. */
static void keep_room(const cbx_edge_mask *E)
{
    for (int64_t p = 0; p < E->pairs; p++) {
        int64_t slot = E->slot_of ? E->slot_of[p] : p;
        if (!E->coming[p])
            continue;
        take_room(E, slot, 1);
        if (is_crowded(E, slot)) {
            take_room(E, slot, -1);
            E->coming[p] = 0;
        }
    }
    for (int64_t p = 0; p < E->pairs; p++)
        if (E->coming[p])
            take_room(E, E->slot_of ? E->slot_of[p] : p, -1); /* as it was, for the next */
}

/* What is to be cut, by the rules. */
static void keep_rules(const cbx_edge_mask *E, uint8_t *cut)
{
    for (int64_t p = 0; p < E->pairs; p++)
        cut[p] = !E->fixed[p] && cut[p] != E->inverted;
    for (int64_t p = 0; p < E->pairs && E->offered; p++) {
        E->coming[p] = E->offered[p] && !cut[p];
        cut[p] = !E->offered[p] && cut[p]; /* what is not there does not go */
    }
    if (E->shape)
        (void)cbx_shape_keep(E->shape, cut);
    if (E->room)
        keep_room(E);
    for (int64_t p = 0; p < E->pairs && E->offered; p++)
        cut[p] = E->offered[p] ? !E->coming[p] : cut[p];
    for (int64_t p = 0; p < E->pairs; p++)
        cut[p] = cut[p] != E->inverted;
}

cbx_status cbx_edge_mask_init(cbx_edge_mask *E, const cbx_search *s, cbx_error *err)
{
    const cbx_view *v = s->view;
    *E = (cbx_edge_mask){.s = s, .pairs = v->m};
    E->target_of = cbx_pairs_targets(v, s->arena);
    if (!E->target_of)
        return cbx_fail_memory(err);
    if (s->options->edges == CBX_EDGES_UNDIRECTED) {
        E->pairs = s->num_removable;
        E->pair_of = s->pair_of;
        E->slot_of = s->slot_of;
    }
    float **by_slot[] = {&E->soft, &E->hard, &E->dw}, **by_pair[] = {&E->EP, &E->weight, &E->grad};
    for (int i = 0; i < 3; i++) {
        *by_slot[i] = CBX_NEW(s->arena, float, v->m);
        *by_pair[i] = CBX_NEW(s->arena, float, E->pairs);
        if (!*by_slot[i] || !*by_pair[i])
            return cbx_fail_memory(err);
    }
    E->cut = CBX_NEW0(s->arena, uint8_t, E->pairs);
    E->kept = CBX_NEW0(s->arena, uint8_t, E->pairs);
    if (!E->cut || !E->kept || cbx_descent_init(&E->descent, s->options, E->pairs, s->arena))
        return cbx_fail_memory(err);
    for (int64_t p = 0; p < E->pairs; p++)
        E->EP[p] = 1;
    if (take_offers(E, s))
        return cbx_fail_memory(err);
    apply_cuts(E);
    return find_fixed(E, s, err);
}

/* Σ (1 - w), in several sums at a time: one would wait for itself. */
static double total_cut(int64_t count, const float *w)
{
    double  sums[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; k++)
            sums[k] += 1 - (double)w[i + k];
    for (; i < count; i++)
        sums[0] += 1 - (double)w[i];
    return sums[0] + sums[1] + sums[2] + sums[3];
}

/* How far the weights are from what the graph has. */
static double distance(const cbx_edge_mask *E)
{
    double sum = 0;
    if (!E->offered)
        return total_cut(E->pairs, E->weight);
    for (int64_t p = 0; p < E->pairs; p++)
        sum += E->offered[p] ? (double)E->weight[p] : 1 - (double)E->weight[p];
    return sum;
}

bool cbx_edge_mask_evaluate(cbx_edge_mask *E)
{
    const cbx_view *v = E->s->view;
    float          *weight = E->weight;
    bool            moved = false;
    if (cbx_out_of_time((double)E->pairs * PAIR))
        return false;
    cbx_sigmoid(E->pairs, E->EP, weight);
    for (int64_t p = 0; p < E->pairs && E->fixed; p++)
        weight[p] = !E->fixed[p] ? weight[p] : E->inverted ? 0 : 1; /* where it has no gradient */
    E->loss = distance(E);
    for (int64_t p = 0; p < E->pairs && !cbx_out_of_time_at(p, PAIR); p++) {
        uint8_t cut = !(weight[p] > 0.5f);
        if (E->wish) {
            E->wish[p] = cut;
            continue;
        }
        moved |= cut != E->cut[p];
        E->cut[p] = cut;
    }
    if (E->wish) {
        keep_rules(E, E->wish);
        moved = memcmp(E->wish, E->cut, (size_t)E->pairs) != 0;
        memcpy(E->cut, E->wish, (size_t)E->pairs);
    }
    for (int64_t e = 0; e < v->m && !cbx_out_of_time_at(e, SLOT); e++)
        E->soft[e] = weight[E->pair_of ? E->pair_of[e] : e] * (v->weight ? v->weight[e] : 1);
    for (int64_t e = 0; e < v->m && E->offered; e++)
        if (E->s->offered[e] && E->cut[E->pair_of ? E->pair_of[e] : e])
            E->soft[e] = 0; /* many that are hardly there would do what none of them does */
    if (moved)
        apply_cuts(E);
    return moved;
}

void cbx_edge_mask_apply(cbx_edge_mask *E)
{
    E->loss = 0;
    if (E->fixed)
        keep_rules(E, E->cut);
    for (int64_t p = 0; p < E->pairs; p++)
        E->loss += is_offered(E, p) ? !E->cut[p] : E->cut[p];
    apply_cuts(E);
}

int64_t *cbx_edge_mask_ids(const cbx_edge_mask *E)
{
    const cbx_view *v = E->s->view;
    int64_t        *ids = CBX_NEW(E->s->arena, int64_t, E->pairs);
    for (int64_t p = 0; p < E->pairs && ids; p++)
        ids[p] = INT64_MAX;
    for (int64_t e = 0; e < v->m && ids; e++) {
        int64_t p = E->pair_of ? E->pair_of[e] : e, id = v->edge ? v->edge[e] : e;
        ids[p] = id < ids[p] ? id : ids[p];
    }
    return ids;
}

void cbx_edge_mask_gradient(cbx_edge_mask *E, bool pull, double price)
{
    const cbx_view *v = E->s->view;
    for (int64_t p = 0; p < E->pairs; p++)
        E->grad[p] = E->weight[p] < 1 ? (float)-price : 0; /* of |w - 1|; 0 where w has reached 1 */
    for (int64_t p = 0; p < E->pairs && E->offered; p++)
        if (E->offered[p])
            E->grad[p] = E->weight[p] > 0 ? (float)price : 0; /* of |w| */
    for (int64_t e = 0; e < v->m && pull && !cbx_out_of_time_at(e, SLOT); e++)
        E->grad[E->pair_of ? E->pair_of[e] : e] += E->dw[e] * (v->weight ? v->weight[e] : 1);
    if (cbx_out_of_time((double)E->pairs * PAIR))
        return;
    for (int64_t p = 0; p < E->pairs; p++)
        E->grad[p] *= E->weight[p] * (1 - E->weight[p]);
}

void cbx_edge_mask_descend(cbx_edge_mask *E, int64_t t)
{
    cbx_descent_begin(&E->descent, t);
    cbx_descent_run(&E->descent, 0, E->pairs, E->grad, E->EP);
}

void cbx_edge_mask_step(cbx_edge_mask *E, bool pull, double price, int64_t t)
{
    cbx_edge_mask_gradient(E, pull, price);
    cbx_edge_mask_descend(E, t);
}

void cbx_edge_mask_keep(cbx_edge_mask *E)
{
    memcpy(E->kept, E->cut, (size_t)E->pairs);
}

int64_t cbx_edge_mask_count(const cbx_edge_mask *E)
{
    int64_t count = 0;
    for (int64_t p = 0; p < E->pairs; p++)
        count += is_offered(E, p) ? !E->kept[p] : E->kept[p];
    return count;
}

int64_t cbx_edge_mask_edits(const cbx_edge_mask *E, cbx_edit *edits)
{
    int64_t count = 0;
    for (int64_t p = 0; p < E->pairs; p++) {
        int64_t slot = E->slot_of ? E->slot_of[p] : p;
        if (E->kept[p] == is_offered(E, p))
            continue;
        edits[count] = cbx_search_edit_of_slot(E->s, E->target_of[slot], slot, E->pair_of != NULL);
        if (is_offered(E, p)) {
            edits[count].op = CBX_ADD_EDGE;
            edits[count].edge = -1;
            edits[count].weight = E->s->view->weight ? E->s->view->weight[slot] : 1;
        }
        count++;
    }
    return count;
}

cbx_status cbx_edge_mask_collect(const cbx_edge_mask *E, cbx_search *s, cbx_error *err)
{
    if (!s->found)
        return CBX_OK;
    cbx_status status = cbx_search_make_edits(s, cbx_edge_mask_count(E), err);
    if (!status)
        s->num_edits = cbx_edge_mask_edits(E, s->edits);
    return status;
}
