/* SPDX-License-Identifier: Apache-2.0 */
/* prove.c: see prove.h. */
#include "prove.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "prove_features.h"

enum { MOST_SET = 64 };

typedef struct proof {
    cbx_search     *s;
    cbx_minimal    *found;
    cbx_edit_state *W;
    cbx_move       *moves, chosen[MOST_SET];
    int64_t         count, size;
    double          cheapest, until;
    bool            stopped;
} proof;

/* All moves, with all values; -1: no memory, or no time. */
static int64_t list_moves(proof *p)
{
    for (int writing = 0; writing < 2; writing++) {
        cbx_move_walk at = {0};
        cbx_move      m;
        p->count = 0;
        while (cbx_moves_walk(p->W, &at, &m)) {
            if (writing)
                p->moves[p->count] = m;
            p->count++;
        }
        if (!writing && !(p->moves = CBX_NEW(p->s->arena, cbx_move, p->count)))
            return -1;
    }
    return cbx_time_is_up() ? -1 : p->count;
}

/* All smaller sets, and so all parts of this one, have been tried: it is irreducible. */
static void better_one(proof *p, double cost)
{
    p->found->irreducible = true;
    memcpy(p->found->moves, p->chosen, (size_t)p->size * sizeof *p->chosen);
    p->found->count = p->size;
    p->found->cost = cost;
}

/* Sets of exactly `left` more moves, from `first` on. */
static cbx_status try_sets(proof *p, int64_t first, int64_t left, double cost, cbx_error *err)
{
    for (int64_t k = first; k < p->count && !p->stopped; k++) {
        const cbx_move *m = &p->moves[k];
        double          sum = cost + m->cost;
        if (sum + (double)(left - 1) * p->cheapest >= p->found->cost || !cbx_move_may(p->W, m))
            continue;
        p->chosen[p->size++] = *m;
        cbx_move_do(p->W, m);
        cbx_status status = CBX_OK;
        if (left > 1) {
            status = try_sets(p, k + 1, left - 1, sum, err);
        } else if (cbx_edit_state_ask(p->W) > 0) {
            double score;
            status = cbx_edit_state_verify(p->W, p->chosen, p->size, &score, err);
            if (!status && score > 0)
                better_one(p, sum);
        }
        cbx_move_undo(p->W, m);
        p->size--;
        p->stopped =
            p->stopped || cbx_clock() > p->until || cbx_search_should_stop_at(p->s, p->s->epochs);
        if (status)
            return status;
    }
    return CBX_OK;
}

cbx_status cbx_prove(cbx_search *s, cbx_minimal *found, double seconds, bool *proved,
                     cbx_error *err)
{
    proof p = {.s = s, .found = found, .W = found->state, .until = cbx_clock() + seconds};
    p.cheapest = cbx_moves_cheapest(p.W);
    *proved = false;
    /* sets are tried by their fixed parts: where those are traded, there may be better ones */
    bool traded = cbx_minimal_of(s)->cost == CBX_COST_DISTANCE && p.W->rules->columns;
    if (!cbx_moves_are_listed_but_features(p.W) || !p.W->exact || (traded && found->count))
        return CBX_OK;
    if (list_moves(&p) < 0)
        return cbx_search_status(cbx_fail_late(err));
    cbx_edge_proof edges = {
        .moves = p.moves, .count = p.count, .cheapest = p.cheapest, .until = p.until};
    cbx_status status = cbx_prove_edges(s, found, &edges, err);
    if (!status && !edges.applies)
        status = cbx_prove_features(s, found, &edges, err);
    *proved = edges.proved && !(traded && found->count);
    if (status || edges.applies || !cbx_moves_are_listed(p.W))
        return cbx_search_status(status);
    int64_t most = p.count < MOST_SET ? p.count : MOST_SET;
    if (s->options->max_edits > 0 && s->options->max_edits < most)
        most = s->options->max_edits;
    for (int64_t size = 1; size <= most && (double)size * p.cheapest < found->cost; size++) {
        if (found->count && (double)size * p.cheapest + cbx_minimal_of(s)->prove_gap >= found->cost)
            return CBX_OK; /* near enough */
        status = try_sets(&p, 0, size, 0, err);
        if (status || p.stopped)
            return cbx_search_status(status);
        /* what is cheaper than the best has a move more */
        found->lower_bound = fmin(found->cost, (double)(size + 1) * p.cheapest);
    }
    *proved = ((double)most * p.cheapest >= found->cost || most == p.count ||
               most == s->options->max_edits) &&
              !(traded && found->count); /* the proof itself may have found one */
    return CBX_OK;
}
