/* SPDX-License-Identifier: Apache-2.0 */
/* prove.c: is there nothing cheaper? By trying everything that is.
 *
 * Sets of moves are tried in order of size. A feature counts with every whole number in
 * its range; one that is continuous has more values than can be tried, and then
 * nothing is proved. */
#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "minimal.h"
#include "rng.h"

enum { MOST_SET = 64 };

typedef struct proof {
    cbx_search  *s;
    cbx_minimal *found;
    cbx_whatif  *W;
    cbx_move    *moves, chosen[MOST_SET];
    int64_t      count, size;
    int64_t      edits; /* that the chosen moves are */
    double       cheapest, until;
    bool         stopped;
} proof;

/* Are all values that a mutable feature may take known? */
static bool is_countable(const cbx_whatif *W)
{
    const cbx_rules *r = W->rules;
    for (int32_t j = 0; j < W->f; j++)
        if (!r->fixed[j] && r->lo[j] < r->hi[j] && !W->values[j])
            return false;
    return true;
}

/* All moves, with all values; -1: no memory, or no time. */
static int64_t list_moves(proof *p)
{
    for (int writing = 0; writing < 2; writing++) {
        cbx_move_walk at = {0};
        cbx_move      m;
        p->count = 0;
        while (cbx_whatif_walk(p->W, &at, &m)) {
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

/* May the move and `left - 1` more be made, by the number of edits they are? */
static bool has_room(const proof *p, const cbx_move *m, int64_t left)
{
    int64_t most = p->s->options->max_edits;
    return most == 0 || p->edits + cbx_move_edits(m) + left - 1 <= most;
}

/* Sets of exactly `left` more moves, from `first` on. */
static cbx_status try_sets(proof *p, int64_t first, int64_t left, double cost, cbx_error *err)
{
    for (int64_t k = first; k < p->count && !p->stopped; k++) {
        const cbx_move *m = &p->moves[k];
        double          sum = cost + m->cost;
        if (sum + (double)(left - 1) * p->cheapest >= p->found->cost || !has_room(p, m, left) ||
            !cbx_whatif_may(p->W, m))
            continue;
        p->chosen[p->size++] = *m;
        p->edits += cbx_move_edits(m);
        cbx_whatif_do(p->W, m);
        cbx_status status = CBX_OK;
        if (left > 1) {
            status = try_sets(p, k + 1, left - 1, sum, err);
        } else if (cbx_whatif_ask(p->W) > 0) {
            double score;
            status = cbx_whatif_verify(p->W, p->chosen, p->size, &score, err);
            if (!status && score > 0)
                better_one(p, sum);
        }
        cbx_whatif_undo(p->W, m);
        p->size--;
        p->edits -= cbx_move_edits(m);
        p->stopped =
            p->stopped || cbx_clock() > p->until || cbx_search_should_stop_at(p->s, p->s->epochs);
        if (status)
            return status;
    }
    return CBX_OK;
}

cbx_status cbx_minimal_prove(cbx_search *s, cbx_minimal *found, double seconds, bool *proved,
                             cbx_error *err)
{
    proof p = {.s = s, .found = found, .W = found->whatif, .until = cbx_clock() + seconds};
    p.cheapest = fmin(s->options->edge_cost, s->options->feature_cost);
    *proved = false;
    if (!is_countable(p.W) || !p.W->exact)
        return CBX_OK;
    if (list_moves(&p) < 0)
        return cbx_search_status(cbx_fail_late(err));
    int64_t most = p.count < MOST_SET ? p.count : MOST_SET;
    if (s->options->max_edits > 0 && s->options->max_edits < most)
        most = s->options->max_edits;
    for (int64_t size = 1; size <= most && (double)size * p.cheapest < found->cost; size++) {
        cbx_status status = try_sets(&p, 0, size, 0, err);
        if (status || p.stopped)
            return cbx_search_status(status);
    }
    *proved = (double)most * p.cheapest >= found->cost || most == p.count ||
              most == s->options->max_edits;
    return CBX_OK;
}

/* ---- how firmly it stands */

double cbx_minimal_robustness(cbx_search *s, cbx_minimal *found, int64_t samples)
{
    cbx_whatif *W = found->whatif;
    cbx_rng     rng = cbx_rng_stream((uint64_t)s->options->seed, 0x726f62, (uint64_t)s->row, 0);
    int64_t     kept = 0, tried = 0;
    for (int64_t k = 0; k < found->count; k++)
        cbx_whatif_do(W, &found->moves[k]);
    for (; tried < samples && !cbx_search_is_late(s); tried++) {
        cbx_move also[3];
        int64_t  count = 0, wanted = 1 + (int64_t)cbx_rng_below(&rng, 3);
        for (int draw = 0; draw < 50 && count < wanted; draw++) {
            int64_t  entry = (int64_t)cbx_rng_below(&rng, (uint64_t)(W->pairs + W->rows * 8));
            cbx_move m = {.kind = CBX_MOVE_PAIR, .pair = entry};
            if (entry >= W->pairs) {
                int32_t i = (int32_t)((entry - W->pairs) / 8);
                int32_t j = (int32_t)cbx_rng_below(&rng, (uint64_t)W->f);
                float   x = W->x[(int64_t)i * W->f + j], lo = W->rules->lo[j];
                m = (cbx_move){.kind = CBX_MOVE_FEATURE,
                               .row = i,
                               .column = j,
                               .pair = -1,
                               .other = -1,
                               .to = x > lo ? lo : W->rules->hi[j]};
            }
            if (!cbx_whatif_may(W, &m))
                continue;
            cbx_whatif_do(W, &m);
            also[count++] = m;
        }
        kept += cbx_whatif_ask(W) > 0;
        while (count > 0)
            cbx_whatif_undo(W, &also[--count]);
        if (s->deadline)
            (void)cbx_deadline_look(s->deadline);
    }
    for (int64_t k = found->count - 1; k >= 0; k--)
        cbx_whatif_undo(W, &found->moves[k]);
    return tried && !cbx_search_is_late(s) ? (double)kept / (double)tried : -1;
}
