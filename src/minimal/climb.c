/* SPDX-License-Identifier: Apache-2.0 */
/* climb.c: see climb.h. */
#include "climb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "infeasible.h"
#include "order.h"
#include "rng.h"
#include "take_first.h"

/* Steps of a climb: as many as take about this many values together, within bounds. */
static const double WORK = 1e8;
enum { FEWEST_STEPS = 50, MOST_STEPS = 1000 };

/* Steps without a larger lead, by at least so much, after which a climb is over. */
enum { PATIENCE = 400 };
static const double LARGER = 1e-4;

/* How long a step is, as a share of a feature's range; how far from where they are wishes begin,
 * likewise; and whether all go as far, or each as much as it matters, so that what hardly matters
 * stays as it is. Where one gets stuck another goes on. */
static const struct {
    float step, spread;
    bool  alike;
} CLIMBS[] = {{0.1F, 0, false},     {0.01F, 0, true},     {0.5F, 0, false},
              {0.01F, 0.75F, true}, {0.03F, 0.75F, true}, {0.01F, 1, true}};

/* At last, draws of changes that are many and far: slopes are those of where one stands, and may
 * all lead elsewhere. So many to bounds, and where more can change two for each, at most so many;
 * of those every other one to anywhere. */
enum { FEWEST_DRAWS = 256, MOST_DRAWS = 1024, DRAWS_EACH = 2 };

/* From the draws that come nearest short climbs go on, with this step and this patience: so many
 * steps for each thing that can change, as far as they take no more than the work of one climb. */
enum { MOST_STARTS = 512, START_PATIENCE = 60, STEPS_EACH = 100 };
static const float START_STEP = 0.03F;

/* Where that came so near to a flip, in log-probability, it is worth other draws: so many rounds,
 * as long as they have taken less than this work together. */
enum { MOST_ROUNDS = 4 };
static const double NEAR = 0.1, ROUNDS_WORK = 2e8;

/* A continuous feature is edited once its wish has left it by this share of its range. */
static const float SOME = 0.01F;

typedef struct wish {
    float at, mean, square; /* what is wished; of its latest slopes, and of their squares */
} wish;

typedef struct climb {
    cbx_beam       *F;
    cbx_edit_state *W;
    wish           *feature, *pair; /* by entry of x; by pair: 1 stays, 0 goes */
    uint8_t        *frozen;         /* by entry of x: may not change */
    cbx_rng         rng;
    int64_t         patience; /* steps without a larger lead after which a climb is over */
    double          lead;     /* where the last one ended, … */
    int64_t         taken;    /* … and after how many steps */
    double          nearest;  /* the largest lead of all of them, … */
    int64_t         steps;    /* … and their steps together */
} climb;

/* A draw that can be made again. */
typedef struct start {
    cbx_rng rng;
    bool    inside;
    double  lead;
} start;

/* The nearest draws, the nearest first. */
typedef struct starts {
    start of[MOST_STARTS];
    int   count;
} starts;

static bool may_move(const climb *c, int32_t row, int32_t j)
{
    const cbx_edit_state *W = c->W;
    float                 x = W->x0[(int64_t)row * W->f + j];
    return W->allowed_row[row] && !W->rules->fixed[j] && W->rules->group[j] < 0 &&
           W->hi[j] > W->lo[j] && x >= W->lo[j] && x <= W->hi[j];
}

static cbx_status make_wishes(climb *c, cbx_error *err)
{
    cbx_edit_state *W = c->W;
    cbx_arena      *arena = c->F->s->arena;
    size_t          size = (size_t)W->rows * (size_t)W->f;
    c->feature = CBX_NEW(arena, wish, size);
    c->frozen = CBX_NEW(arena, uint8_t, size);
    c->pair = CBX_NEW(arena, wish, W->pairs);
    if (!c->feature || !c->frozen || !c->pair)
        return cbx_fail_late(err);
    for (int32_t i = 0; i < W->rows; i++)
        for (int32_t j = 0; j < W->f; j++)
            c->frozen[(int64_t)i * W->f + j] = !may_move(c, i, j);
    const cbx_forbidden *no = c->F->forbidden;
    for (int64_t k = 0; k < no->count; k++)
        if (no->moves[k].kind == &cbx_move_feature)
            c->frozen[(int64_t)no->moves[k].row * W->f + no->moves[k].column] = true;
    return CBX_OK;
}

/* Wishes for what is, or for something near it. */
static void begin(climb *c, float spread)
{
    cbx_edit_state *W = c->W;
    for (int64_t k = 0; k < (int64_t)W->rows * W->f; k++) {
        int32_t j = (int32_t)(k % W->f);
        float   lo = W->lo[j], hi = W->hi[j];
        float   off = spread > 0 && !c->frozen[k] ? spread * (hi - lo) : 0;
        float   at = W->x0[k] + off * (2 * (float)cbx_rng_uniform(&c->rng) - 1);
        c->feature[k] = (wish){.at = c->frozen[k] ? W->x0[k] : fmaxf(lo, fminf(hi, at))};
    }
    for (int64_t p = 0; p < W->pairs; p++)
        c->pair[p] = (wish){.at = 1};
}

/* Where a value leaps to: a bound, the upper one as often as `up` says; or, inside, anywhere
 * between the two, with an `up` of less than a half most often near the lower one. */
static float landing(climb *c, int32_t column, bool inside, double up)
{
    float  lo = c->W->lo[column], hi = c->W->hi[column];
    double drawn = cbx_rng_uniform(&c->rng);
    if (inside)
        return lo + (hi - lo) * (float)cbx_own_power(drawn, up < 0.5 ? 4 : 1);
    return drawn < up ? hi : lo;
}

/* Wishes for other values, and for pairs to go: how many of them, and how many of the bounds are
 * upper ones, is drawn first. */
static void leap(climb *c, bool inside)
{
    cbx_edit_state *W = c->W;
    double          far = cbx_rng_uniform(&c->rng), up = cbx_rng_uniform(&c->rng);
    double          gone = cbx_rng_uniform(&c->rng);
    for (int64_t k = 0; k < (int64_t)W->rows * W->f; k++) {
        bool  goes = !c->frozen[k] && cbx_rng_uniform(&c->rng) < far;
        float at = goes ? landing(c, (int32_t)(k % W->f), inside, up) : W->x0[k];
        c->feature[k] = (wish){.at = at};
    }
    for (int64_t p = 0; p < W->pairs; p++)
        c->pair[p] = (wish){.at = W->allowed_pair[p] && cbx_rng_uniform(&c->rng) < gone ? 0 : 1};
}

/* What the wish for an entry comes to. */
static float granted(const climb *c, int64_t k)
{
    const cbx_edit_state *W = c->W;
    int32_t               j = (int32_t)(k % W->f);
    float                 lo = W->lo[j], hi = W->hi[j], at = c->feature[k].at;
    float                 now = W->x0[k];
    if (!W->s->discrete[j])
        return fabsf(at - now) > SOME * (hi - lo) ? at : now;
    /* the nearest of the whole numbers, the two bounds and what it was */
    float values[] = {fmaxf(lo, fminf(hi, rintf(at))), lo, hi}, best = now;
    for (int i = 0; i < 3; i++)
        if (fabsf(values[i] - at) < fabsf(best - at))
            best = values[i];
    return best;
}

/* What may not change without something else goes back where that has not changed. */
static void keep_relations(const cbx_edit_state *W, int32_t i)
{
    float *x0 = W->x0 + (int64_t)i * W->f, *x = W->x + (int64_t)i * W->f;
    for (int64_t k = 0; k < W->rules->num_relations; k++) {
        const cbx_relation *relation = &W->rules->relations[k];
        bool                lacks = cbx_edit_state_lacks(W, i, relation);
        for (int32_t j = relation->what.first; j <= relation->what.last && lacks; j++)
            x[j] = cbx_rules_has(W->rules, &relation->what, j) ? x0[j] : x[j];
    }
}

/* Edits the graph to what is wished for. Pairs go only where the rules let them go as things are.
 */
static void grant(climb *c)
{
    cbx_edit_state *W = c->W;
    for (int64_t k = 0; k < (int64_t)W->rows * W->f; k++)
        W->x[k] = c->frozen[k]
                      ? W->x0[k]
                      : cbx_rules_nearest(W->rules, (int32_t)(k % W->f), W->x0[k], granted(c, k));
    for (int32_t i = 0; i < W->rows; i++)
        keep_relations(W, i);
    for (int64_t p = 0; p < W->pairs; p++) {
        cbx_move m = {
            .kind = &cbx_move_remove_edge, .pair = p, .cost = cbx_minimal_of(c->F->s)->edge_cost};
        bool gone = c->pair[p].at < 0.5F;
        if (W->gone[p] && !gone)
            cbx_move_undo(W, &m);
        else if (gone && cbx_move_may(W, &m) && !cbx_forbidden_has(c->F->forbidden, &m))
            cbx_move_do(W, &m);
    }
}

static float pair_slope(const cbx_edit_state *W, int64_t pair)
{
    float slope = 0;
    for (int64_t k = W->slots_begin[pair]; k < W->slots_begin[pair + 1]; k++)
        slope += W->dw[W->slots[k]];
    return slope;
}

/* Moments of what a wish follows, its slope times its range, as Adam has them. */
static const float KEEP = 0.9F, KEEP_SQUARE = 0.999F;

static float remember(wish *w, float slope)
{
    w->mean = KEEP * w->mean + (1 - KEEP) * slope;
    w->square = KEEP_SQUARE * w->square + (1 - KEEP_SQUARE) * slope * slope;
    return fabsf(w->mean);
}

/* A step upwards: its length, what the wish that matters most follows, and, where all go alike as
 * Adam has it, how much of the moments there is after so many steps; 0: they do not. */
typedef struct stride {
    float step, most, mean, square;
} stride;

/* One step of a wish. Alike: Adam's; otherwise as much as it matters beside the one that matters
 * most. */
static void follow(wish *w, stride s, float lo, float hi)
{
    static const float LEAST = 1e-12F;
    float              share = w->mean / s.most;
    if (s.mean > 0)
        share = w->mean / s.mean / (sqrtf(w->square / s.square) + LEAST);
    w->at = fmaxf(lo, fminf(hi, w->at + s.step * (hi - lo) * share));
}

static void follow_slopes(climb *c, int64_t t, float step, bool alike)
{
    cbx_edit_state *W = c->W;
    int64_t         size = (int64_t)W->rows * W->f;
    float           most = 0;
    for (int64_t k = 0; k < size; k++)
        if (!c->frozen[k]) {
            int32_t j = (int32_t)(k % W->f);
            most = fmaxf(most, remember(&c->feature[k], W->dX[k] * (W->hi[j] - W->lo[j])));
        }
    for (int64_t p = 0; p < W->pairs; p++)
        if (W->allowed_pair[p])
            most = fmaxf(most, remember(&c->pair[p], pair_slope(W, p)));
    if (!(most > 0) || !isfinite(most))
        return;
    stride s = {.step = step, .most = most};
    if (alike) {
        s.mean = (float)(1 - cbx_own_power((double)KEEP, t + 1));
        s.square = (float)(1 - cbx_own_power((double)KEEP_SQUARE, t + 1));
    }
    for (int64_t k = 0; k < size; k++)
        if (!c->frozen[k])
            follow(&c->feature[k], s, W->lo[k % W->f], W->hi[k % W->f]);
    for (int64_t p = 0; p < W->pairs; p++)
        if (W->allowed_pair[p])
            follow(&c->pair[p], s, 0, 1);
}

/* The gain of a move is what undoing it would cost, to first order: the dearest come first. */
static int by_gain(const void *a, const void *b)
{
    double x = ((const cbx_move *)a)->gain, y = ((const cbx_move *)b)->gain;
    return (x < y) - (x > y);
}

/* The moves that make the graph what it is now. NULL: no memory. */
static cbx_move *moves_of(const climb *c, int64_t *count)
{
    const cbx_edit_state      *W = c->W;
    const cbx_minimal_options *o = cbx_minimal_of(c->F->s);
    int64_t                    size = (int64_t)W->rows * W->f, n = 0;
    for (int64_t k = 0; k < size; k++)
        n += W->x[k] != W->x0[k];
    for (int64_t p = 0; p < W->pairs; p++)
        n += W->gone[p];
    cbx_move *moves = CBX_NEW(c->F->s->arena, cbx_move, n);
    *count = n;
    n = 0;
    for (int64_t k = 0; moves && k < size; k++)
        if (W->x[k] != W->x0[k])
            moves[n++] = (cbx_move){.kind = &cbx_move_feature,
                                    .row = (int32_t)(k / W->f),
                                    .column = (int32_t)(k % W->f),
                                    .other = -1,
                                    .pair = -1,
                                    .to = W->x[k],
                                    .cost = W->rules->price[k % W->f],
                                    .gain = (double)W->dX[k] * (W->x[k] - W->x0[k])};
    for (int64_t p = 0; moves && p < W->pairs; p++)
        if (W->gone[p])
            moves[n++] = (cbx_move){.kind = &cbx_move_remove_edge,
                                    .pair = p,
                                    .cost = o->edge_cost,
                                    .gain = -pair_slope(W, p)};
    if (moves)
        qsort(moves, (size_t)n, sizeof *moves, by_gain);
    return moves;
}

/* Everything as it was. */
static void climb_down(climb *c)
{
    cbx_edit_state *W = c->W;
    memcpy(W->x, W->x0, (size_t)W->rows * (size_t)W->f * sizeof *W->x);
    for (int64_t p = 0; p < W->pairs; p++)
        if (W->gone[p])
            cbx_move_undo(W, &(cbx_move){.kind = &cbx_move_remove_edge, .pair = p});
    if (W->X.cache) { /* it was not told */
        W->cache.num_changes = 0;
        cbx_cache_invalidate(&W->cache);
    }
}

/* Climbs until the lead is one, no longer rises, or time is up. Returns the last lead. */
static double go_up(climb *c, int64_t steps, float step, bool alike)
{
    double score = -INFINITY, best = -INFINITY;
    for (int64_t t = 0, last = 0; t < steps && t - last < c->patience; t++) {
        c->taken = t + 1;
        c->steps++;
        if (cbx_beam_out_of_time(c->F, t))
            return -INFINITY;
        grant(c);
        score = cbx_edit_state_slopes(c->W);
        cbx_beam_note_lead(c->F, score);
        c->nearest = fmax(c->nearest, score);
        if (score > CBX_BEAM_SURE)
            return score;
        if (score > best + LARGER) {
            best = score;
            last = t;
        }
        follow_slopes(c, t, step, alike);
    }
    return score;
}

/* From where wishes are: what flips is offered, and everything is as it was. */
static cbx_status climb_from_here(climb *c, int64_t steps, float step, bool alike, cbx_error *err)
{
    cbx_move  *moves = NULL;
    int64_t    count = 0;
    cbx_status status = CBX_OK;
    double     score = c->lead = go_up(c, steps, step, alike);
    if (score > CBX_BEAM_SURE && !(moves = moves_of(c, &count)))
        status = cbx_fail_late(err);
    climb_down(c);
    return !status && moves ? cbx_take_first(c->F, moves, count, err) : status;
}

static cbx_rng stream_of(const cbx_beam *F, uint64_t round)
{
    return cbx_rng_stream((uint64_t)F->s->options->seed, (uint64_t)F->s->row, round, 0);
}

static bool is_over(const climb *c)
{
    return c->F->best.count || cbx_search_is_late(c->F->s);
}

static void keep_start(starts *near, start one)
{
    int k = near->count;
    if (k == MOST_STARTS && near->of[--k].lead >= one.lead)
        return;
    near->count = k + 1;
    for (; k > 0 && near->of[k - 1].lead < one.lead; k--)
        near->of[k] = near->of[k - 1];
    near->of[k] = one;
}

/* Changes that are drawn. */
static cbx_status draw(climb *c, int64_t draws, starts *near, cbx_error *err)
{
    cbx_status status = CBX_OK;
    for (int64_t i = 0; i < draws && !status && !is_over(c); i++) {
        start one = {.rng = c->rng, .inside = i >= FEWEST_DRAWS && i % 2};
        leap(c, one.inside);
        status = climb_from_here(c, 1, 0, true, err);
        one.lead = c->lead;
        keep_start(near, one);
    }
    return status;
}

/* Short climbs from where draws came nearest, of so many steps together. */
static cbx_status climb_from_draws(climb *c, int64_t steps, int64_t together, const starts *near,
                                   cbx_error *err)
{
    cbx_status status = CBX_OK;
    c->patience = START_PATIENCE;
    for (int k = 0; k < near->count && together > 0 && !status && !is_over(c); k++) {
        c->rng = near->of[k].rng;
        leap(c, near->of[k].inside);
        status = climb_from_here(c, steps < together ? steps : together, START_STEP, true, err);
        together -= c->taken;
    }
    return status;
}

/* Before more is drawn: is there anything to find? */
static cbx_status ask_for_proof(climb *c, cbx_error *err)
{
    c->W->proof_tried = true;
    return cbx_infeasible(c->F->s, c->W, &c->W->nothing_flips, err);
}

/* Is another round of draws worth it? A step of a program, or of a model that is asked outside,
 * takes too long for that. */
static bool is_promising(const climb *c, uint64_t round, double size)
{
    return round == 0 || (round < MOST_ROUNDS && c->nearest > -NEAR && !c->F->s->model->oracle &&
                          (double)c->steps * size < ROUNDS_WORK);
}

/* Draws, and climbs from the nearest of them; again with others where they came near. */
static cbx_status try_draws(climb *c, int64_t steps, double size, cbx_error *err)
{
    double     draws = fmin((double)steps, fmax(FEWEST_DRAWS, fmin(MOST_DRAWS, DRAWS_EACH * size)));
    double     together = fmin(STEPS_EACH * size, WORK / fmax(size, 1));
    cbx_status status = CBX_OK;
    c->steps = 0;
    for (uint64_t round = 0; is_promising(c, round, size) && !status && !is_over(c); round++) {
        starts near = {.count = 0};
        if (round == 1 && (status = ask_for_proof(c, err)))
            return status;
        if (c->W->nothing_flips)
            break;
        if (round > 0)
            c->rng = stream_of(c->F, round);
        status = draw(c, (int64_t)draws, &near, err);
        if (!status)
            status = climb_from_draws(c, steps, (int64_t)together, &near, err);
    }
    return status;
}

cbx_status cbx_climb(cbx_beam *F, cbx_error *err)
{
    climb c = {
        .F = F, .W = F->W, .patience = PATIENCE, .nearest = -INFINITY, .rng = stream_of(F, 0)};
    cbx_move_set none = {.moves = F->sets[0][0].moves};
    double       size = (double)F->W->rows * F->W->f + (double)F->W->pairs;
    int64_t      steps = (int64_t)fmax(FEWEST_STEPS, fmin(MOST_STEPS, WORK / fmax(size, 1)));
    cbx_beam_go_to(F, &none);
    cbx_status status = make_wishes(&c, err);
    for (size_t i = 0; i < sizeof CLIMBS / sizeof *CLIMBS && !status && !F->best.count; i++) {
        begin(&c, CLIMBS[i].spread);
        status = climb_from_here(&c, steps, CLIMBS[i].step, CLIMBS[i].alike, err);
        if (cbx_search_is_late(F->s))
            return status;
    }
    return status ? status : try_draws(&c, steps, size, err);
}
