/* SPDX-License-Identifier: Apache-2.0 */
/* random_edges.c: removes edges at random, again and again.
 *
 * Each of `epochs` draws keeps every edge with probability ½ (--random-keep). Where edges may be
 * added (--edits), each of those that are offered (offers.h) comes with the probability that one
 * goes. The loss is CE(target) + the number of edges that go or come (pairs, in undirected mode);
 * the draw of least loss that has the target class is the answer.
 *
 * Whether edge k goes in draw t is a function of (seed, target row, t, k) alone. */
#include "deadline.h"
#include "edge_mask.h"
#include "error.h"
#include "explainers.h"
#include "offers.h"
#include "rng.h"
#include "trial.h"
#include "widen.h"

typedef struct settings {
    double keep; /* probability that an edge stays */
} settings;

static void draw(cbx_edge_mask *E, const int64_t *ids, int64_t t)
{
    const cbx_search *s = E->s;
    const settings   *own = s->settings;
    const double      number = 60; /* multiplications in the time of one */
    for (int64_t p = 0; p < E->pairs && !cbx_out_of_time_at(p, number); p++) {
        cbx_rng rng = cbx_rng_stream((uint64_t)s->options->seed, (uint64_t)s->row, (uint64_t)t,
                                     (uint64_t)ids[p]);
        bool    stays = cbx_rng_uniform(&rng) < own->keep; /* as it is */
        E->cut[p] = stays == (E->offered && E->offered[p]);
    }
    cbx_edge_mask_apply(E);
}

static cbx_status try_draws(cbx_search *s, cbx_error *err)
{
    cbx_edge_mask E;
    cbx_trials    T;
    int64_t       draws = s->options->epochs;
    cbx_status    status = cbx_edge_mask_init(&E, s, err);
    if (status)
        return status;
    s->view = E.hard_view;
    status = cbx_trials_init(&T, s, &s->X, err);
    if (status)
        return status;
    const int64_t *ids = cbx_edge_mask_ids(&E);
    if (!ids)
        return cbx_fail_memory(err);
    for (int64_t t = 0; t < draws; t++) {
        draw(&E, ids, t);
        T.now = (cbx_epoch){.edge_loss = E.loss, .removed_edges = E.removed};
        if (cbx_trials_judge(&T, &s->X, E.hard))
            cbx_edge_mask_keep(&E);
        if (cbx_search_should_stop(s, t + 1, draws))
            break;
    }
    return cbx_edge_mask_collect(&E, s, err);
}

static cbx_status search(cbx_search *s, cbx_error *err)
{
    cbx_search wide;
    cbx_status status = cbx_offers_widen(s, &wide, err);
    if (!status)
        status = try_draws(&wide, err);
    cbx_widen_hand_back(s, &wide);
    return status;
}

#define AT(field) offsetof(settings, field)
static const cbx_option own_options[] = {
    {"random-keep", CBX_OPTION_REAL, AT(keep), "0.5", 0, 1, NULL,
     "random-edges: probability that an edge stays"},
};
#undef AT

static const cbx_option_table own_table = CBX_OPTION_TABLE("random-edges", own_options, settings);

const cbx_explainer cbx_explainer_random_edges = {.name = "random-edges",
                                                  .search = search,
                                                  .options = &own_table,
                                                  .adds_edges = true,
                                                  .edges_only = true};
