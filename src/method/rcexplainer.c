/* SPDX-License-Identifier: Apache-2.0 */
/* rcexplainer.c: RCExplainer (Bajaj et al. 2021) for counterfactuals: a network, trained on many
 * rows, scores edges, and they are removed by their scores until the class is another.
 *
 * rc_train.h has the training, rc_mask.h the network. A search asks the network once and then the
 * oracle, about the graph without the best edge, the best two, …; the first of these that leads
 * to the target is the answer. There are at most as many steps as epochs.
 *
 * In the record of a step, loss is CE(target) + the number of removals. */
#include <math.h>

#include "error.h"
#include "explainers.h"
#include "project.h"
#include "rc_train.h"
#include "sort.h"
#include "trial.h"

/* Multiplications in the time of a pair. */
static const double PAIR = 30;

typedef struct ranked {
    float   score;
    int64_t id; /* an edge's: no view's order decides */
    int64_t pair;
} ranked;

typedef struct state {
    cbx_search *s;
    cbx_rc_mask mask;
    int64_t    *begin, *slots; /* of each pair */
    ranked     *order;
    cbx_view    view; /* with slots that are gone */
    uint8_t    *gone;
    float      *w;
    cbx_trials  trials;
    int32_t    *target_of; /* by slot */
    uint8_t    *goes;      /* by pair, and only where there are rules */
    cbx_shape  *shape;     /* NULL: any will do */
    int64_t    *taken;     /* pairs that were removed, in their order */
    int64_t     num_taken;
} state;

static int by_score(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* 0 on success */
static int rank_pairs(state *st)
{
    const cbx_view *v = st->s->view;
    int64_t         pairs = st->mask.pairs.count;
    for (int64_t p = 0; p < pairs; p++) {
        int64_t id = INT64_MAX;
        for (int64_t k = st->begin[p]; k < st->begin[p + 1]; k++) {
            int64_t edge = v->edge ? v->edge[st->slots[k]] : st->slots[k];
            id = edge < id ? edge : id;
        }
        if (cbx_out_of_time(PAIR))
            return -1;
        float score = st->mask.score[p]; /* where numbers overflowed, nothing is known */
        st->order[p] = (ranked){isnan(score) ? -INFINITY : score, id, p};
    }
    return cbx_sort(st->order, pairs, sizeof *st->order, by_score, st->s->arena);
}

static cbx_status init(state *st, cbx_search *s, cbx_error *err)
{
    const cbx_rc_shared *shared = s->shared;
    const cbx_view      *v = s->view;
    *st = (state){.s = s, .view = *v, .trials = {.s = s}};
    cbx_trained_tell(&shared->trained, s);
    cbx_status status = cbx_rc_mask_init(&st->mask, &shared->net, s, shared->Z, err);
    if (status)
        return status;
    if (cbx_pairs_group(&st->mask.pairs, v->m, s->arena, &st->begin, &st->slots))
        return cbx_fail_late(err);
    st->order = CBX_NEW(s->arena, ranked, st->mask.pairs.count);
    st->target_of = cbx_pairs_targets(v, s->arena);
    st->taken = CBX_NEW(s->arena, int64_t, st->mask.pairs.count);
    st->gone = CBX_NEW0(s->arena, uint8_t, v->m);
    st->w = CBX_NEW(s->arena, float, v->m);
    if (!st->order || !st->target_of || !st->taken || !st->gone || !st->w)
        return cbx_fail_memory(err);
    if (cbx_project_is_needed(s)) {
        st->goes = CBX_NEW0(s->arena, uint8_t, st->mask.pairs.count);
        status =
            st->goes ? cbx_shape_new(s, &st->mask.pairs, &st->shape, err) : cbx_fail_memory(err);
        if (status)
            return status;
    }
    for (int64_t e = 0; e < v->m; e++)
        st->w[e] = v->weight ? v->weight[e] : 1;
    st->view.removed = st->gone;
    cbx_rc_mask_forward(&st->mask, shared->trained.theta);
    if (cbx_time_is_up() || rank_pairs(st))
        return cbx_fail_late(err);
    return cbx_pass_init(&st->trials.pass, s->model, &st->view, &s->X, false, 1, s->arena, err);
}

/* May the pair go, beside those that have gone? */
static bool may_go(state *st, int64_t p)
{
    const cbx_view *v = st->s->view;
    int64_t         slot = st->mask.pairs.slot_of[p];
    if (!st->goes)
        return true;
    if (!cbx_project_may_go(st->s, v->source[slot], st->target_of[slot]))
        return false;
    st->goes[p] = 1;
    if (!st->shape || !cbx_shape_keep(st->shape, st->goes))
        return true;
    for (int64_t k = 0; k < st->num_taken; k++) /* another may have come back for it */
        st->goes[st->taken[k]] = 1;
    st->goes[p] = 0;
    return false;
}

/* Removes one pair more; how many slots that takes is added to the record. */
static void remove_next(state *st, int64_t p)
{
    st->taken[st->num_taken++] = p;
    for (int64_t k = st->begin[p]; k < st->begin[p + 1]; k++) {
        st->gone[st->slots[k]] = 1;
        st->w[st->slots[k]] = 0;
    }
    st->trials.now.removed_edges += st->begin[p + 1] - st->begin[p];
    st->trials.now.edge_loss++;
}

/* What has gone is the answer. */
static cbx_status write_edits(state *st, cbx_error *err)
{
    cbx_search *s = st->s;
    bool        undirected = s->options->edges == CBX_EDGES_UNDIRECTED;
    cbx_status  status = cbx_search_make_edits(s, st->num_taken, err);
    for (int64_t k = 0; !status && k < st->num_taken; k++) {
        int64_t slot = st->mask.pairs.slot_of[st->taken[k]];
        s->edits[k] = cbx_search_edit_of_slot(s, st->target_of[slot], slot, undirected);
    }
    s->num_edits = status ? 0 : st->num_taken;
    return status;
}

static cbx_status search(cbx_search *s, cbx_error *err)
{
    state      st;
    cbx_status status = init(&st, s, err);
    if (status)
        return status;
    int64_t most = st.mask.pairs.count;
    most = most < s->options->epochs ? most : s->options->epochs;
    for (int64_t k = 0; k < most && !s->found; k++) {
        if (may_go(&st, st.order[k].pair)) {
            remove_next(&st, st.order[k].pair);
            if (cbx_trials_judge(&st.trials, &s->X, st.w))
                status = write_edits(&st, err);
        }
        if (cbx_search_should_stop(s, k + 1, most))
            break;
    }
    return status;
}

static cbx_status prepare(const cbx_setup *setup, cbx_arena *arena, const void **shared,
                          cbx_error *err)
{
    cbx_rc_shared *made = CBX_NEW0(arena, cbx_rc_shared, 1);
    *shared = made;
    return made ? cbx_rc_train(setup, arena, made, err) : cbx_fail_memory(err);
}

#define AT(field) offsetof(cbx_rc_settings, field)
static const cbx_option own_options[] = {
    {"rcexplainer-epochs", CBX_OPTION_INT, AT(epochs), "20", 0, 1e6, NULL,
     "rcexplainer: passes over the rows that it is trained on"},
    {"rcexplainer-patience", CBX_OPTION_INT, AT(patience), "5", 1, 1e6, NULL,
     "rcexplainer: epochs without a lower loss after which training ends; the best are kept"},
    {"rcexplainer-batch", CBX_OPTION_INT, AT(batch), "32", 1, 1e6, NULL,
     "rcexplainer: rows a step"},
    {"rcexplainer-rows", CBX_OPTION_INT, AT(rows), "256", 1, 1e9, NULL,
     "rcexplainer: rows that it is trained on, at most; of more, so many are drawn"},
    {"rcexplainer-walks", CBX_OPTION_INT, AT(walks), "10", 1, 1e6, NULL,
     "rcexplainer: ways from each row to others on which boundaries of classes are looked for"},
    {"rcexplainer-lr", CBX_OPTION_REAL, AT(lr), "0.001", 1e-12, 1e3, NULL,
     "rcexplainer: Adam's learning rate"},
    {"rcexplainer-size", CBX_OPTION_REAL, AT(size), "0.006", 0, 1e9, NULL,
     "rcexplainer: price of the mask's size"},
    {"rcexplainer-entropy", CBX_OPTION_REAL, AT(entropy), "0.1", 0, 1e9, NULL,
     "rcexplainer: price of a mask that is neither 0 nor 1"},
};
#undef AT

static const cbx_option_table own_table =
    CBX_OPTION_TABLE("rcexplainer", own_options, cbx_rc_settings);

const cbx_explainer cbx_explainer_rcexplainer = {.name = "rcexplainer",
                                                 .search = search,
                                                 .options = &own_table,
                                                 .prepare = prepare,
                                                 .uncounted = true,
                                                 .descends = true,
                                                 .embeds = true,
                                                 .edges_only = true};
