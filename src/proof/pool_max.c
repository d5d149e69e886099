/* SPDX-License-Identifier: Apache-2.0 */
/* pool_max.c: see pool_max.h, and docs/bounds.md for why it holds. */
#include "pool_max.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"

/* By how much more a unit's moves may add up to where they are left to the leader's row, which
 * tells them more closely. */
static const double WORTH_PASSING_ON = 1.25;

/* One layer's units. Choices are numbered in the order they are met. */
typedef struct pool {
    cbx_spread             *s;
    const cbx_spread_layer *y;
    cbx_maxima             *m;
    double                  share;     /* of one choice in how far a row is below the leader */
    int32_t                 count;     /* choices */
    int32_t                *choice;    /* by number */
    double                 *runner_up; /* by unit: the largest but the leader's */
    /* number x unit */
    double *beside;    /* what others than the leader rise above it at most */
    double *up, *down; /* what the leader does */
} pool;

cbx_status cbx_pool_max_init(cbx_lead_bound *b, cbx_arena *arena, cbx_error *err)
{
    const cbx_net *net = b->spread.net;
    if (!net->max_pool)
        return CBX_OK;
    b->pooled = CBX_NEW0(arena, cbx_maxima, net->num_layers);
    b->reaching =
        CBX_NEW(arena, int32_t, (int64_t)b->spread.graph->count + b->spread.graph->view->n);
    if (!b->pooled || !b->reaching)
        return cbx_fail_memory(err);
    for (int32_t l = 0; l < net->num_layers; l++) {
        int32_t width = b->spread.layers[l].width;
        b->pooled[l] = (cbx_maxima){.now = CBX_NEW(arena, double, width),
                                    .leader = CBX_NEW(arena, int64_t, width),
                                    .passes_up = CBX_NEW0(arena, uint8_t, width),
                                    .passes_down = CBX_NEW0(arena, uint8_t, width),
                                    .begin = CBX_NEW0(arena, int64_t, 2)};
        const cbx_maxima *m = &b->pooled[l];
        if (!m->now || !m->leader || !m->passes_up || !m->passes_down || !m->begin)
            return cbx_fail_memory(err);
    }
    return CBX_OK;
}

/* ---- what choices do */

/* Numbers all choices that reach any row. */
static void number_choices(pool *p)
{
    const cbx_reach_list *list = &p->y->list;
    for (int64_t k = 0; k < list->begin[p->y->rows]; k++) {
        int32_t *mark = &p->s->mark[list->choice[k]];
        if (*mark < 0) {
            *mark = p->count;
            p->choice[p->count++] = list->choice[k];
        }
    }
}

static void find_leaders(pool *p)
{
    const cbx_spread_layer *y = p->y;
    for (int32_t j = 0; j < y->width; j++) {
        p->m->leader[j] = 0;
        p->m->now[j] = cbx_spread_relu(y->now[j]);
        p->runner_up[j] = -INFINITY;
        for (int32_t v = 1; v < y->rows; v++) {
            double h = cbx_spread_relu(y->now[(int64_t)v * y->width + j]);
            p->runner_up[j] = fmax(p->runner_up[j], fmin(h, p->m->now[j]));
            if (h > p->m->now[j]) {
                p->m->now[j] = h;
                p->m->leader[j] = v;
            }
        }
    }
}

static void take_row(pool *p, int32_t v)
{
    const cbx_spread_layer *y = p->y;
    int32_t                 width = y->width;
    for (int64_t k = y->list.begin[v]; k < y->list.begin[v + 1]; k++) {
        int64_t to = (int64_t)p->s->mark[y->list.choice[k]] * width;
        for (int32_t j = 0; j < width; j++) {
            int64_t at = (int64_t)v * width + j;
            double  up = y->list.up[k * width + j], down = y->list.down[k * width + j];
            double  right = y->right[at], left = y->left[at];
            double  rises = up * (up > 0 ? right : left);
            double  falls = down * y->under[at];
            if (p->m->leader[j] == v) {
                p->up[to + j] = rises;
                p->down[to + j] = falls;
            } else {
                double below = p->m->now[j] - cbx_spread_relu(y->now[at]);
                p->beside[to + j] = fmax(p->beside[to + j], rises - below * p->share);
            }
        }
    }
}

/* Room for as many moves as there can be, and for what they are found by. */
static int make_room(pool *p)
{
    int64_t          size = (int64_t)p->count * p->y->width;
    int64_t          bytes = (3 * size + p->y->width) * (int64_t)sizeof(double);
    cbx_max_scratch *scratch = &p->s->maximum;
    if (bytes > scratch->room) {
        scratch->bytes = CBX_NEW(p->s->arena, char, 2 * bytes);
        scratch->room = scratch->bytes ? 2 * bytes : 0;
    }
    if (size > p->m->room) {
        p->m->moves = CBX_NEW(p->s->arena, cbx_max_move, 2 * size);
        p->m->room = p->m->moves ? 2 * size : 0;
    }
    if (bytes > scratch->room || size > p->m->room)
        return -1;
    p->runner_up = (double *)(void *)scratch->bytes;
    p->beside = p->runner_up + p->y->width;
    p->up = p->beside + size;
    p->down = p->up + size;
    for (int64_t k = 0; k < size; k++) {
        p->beside[k] = -INFINITY;
        p->up[k] = p->down[k] = 0;
    }
    return 0;
}

/* All moves of a unit. As no row goes, nothing falls below the leader: weights below 0 are always
 * passed on. */
static void tell_unit(pool *p, int32_t j, int64_t *end)
{
    double all = 0, passed = 0;
    double nearest = (p->runner_up[j] - p->m->now[j]) * p->share;
    for (int32_t c = 0; c < p->count; c++) {
        int64_t at = (int64_t)c * p->y->width + j;
        double  beside = p->beside[at], up = fmax(0, fmax(beside, p->up[at]));
        double  above = fmax(0, fmax(beside, nearest) - p->down[at]);
        all += up;
        passed += above + fmax(p->up[at], 0);
        if (up != 0 || above != 0)
            p->m->moves[(*end)++] =
                (cbx_max_move){.choice = p->choice[c], .unit = j, .up = up, .above = above};
    }
    p->m->passes_down[j] = 1;
    p->m->passes_up[j] = passed <= WORTH_PASSING_ON * all;
}

static int compute(pool *p)
{
    int64_t end = 0;
    number_choices(p);
    int failed = make_room(p);
    for (int32_t c = 0; failed && c < p->count; c++)
        p->s->mark[p->choice[c]] = -1;
    if (failed)
        return -1;
    find_leaders(p);
    for (int32_t v = 0; v < p->y->rows; v++)
        take_row(p, v);
    for (int32_t j = 0; j < p->y->width; j++)
        tell_unit(p, j, &end);
    p->m->begin[1] = end;
    for (int32_t c = 0; c < p->count; c++)
        p->s->mark[p->choice[c]] = -1;
    double work = (double)(p->y->list.begin[p->y->rows] + p->count + p->y->rows);
    return cbx_out_of_time(8 * work * p->y->width) ? -1 : 0;
}

int cbx_pool_max_compute(cbx_lead_bound *b)
{
    cbx_spread *s = &b->spread;
    int64_t     budget = s->graph->budget > 0 ? s->graph->budget : 1;
    for (int32_t l = 0; b->pooled && l < s->net->num_layers; l++) {
        pool p = {.s = s,
                  .y = &s->layers[l],
                  .m = &b->pooled[l],
                  .share = 1 / (double)budget,
                  .choice = b->reaching};
        if (cbx_model_head_sees(s->net->model, l) && compute(&p))
            return -1;
    }
    return 0;
}

/* ---- the way back */

void cbx_pool_max_pass(cbx_lead_bound *b, int32_t l)
{
    const cbx_maxima *m = &b->pooled[l];
    int32_t           width = b->spread.layers[l].width;
    for (int32_t j = 0; j < width; j++) {
        double weight = b->before[j];
        b->now += weight * m->now[j];
        if (weight > 0 ? m->passes_up[j] : m->passes_down[j])
            b->weight[l][m->leader[j] * width + j] += weight;
    }
    for (int64_t e = 0; e < m->begin[1]; e++) {
        const cbx_max_move *move = &m->moves[e];
        double              weight = b->before[move->unit];
        double              gain = weight * (m->passes_up[move->unit] ? move->above : move->up);
        if (!(weight > 0))
            continue;
        if (cbx_row_moves_is_row(&b->spread.moves, move->choice))
            b->at_maxima[move->choice - b->spread.graph->count] += gain;
        else
            b->gain[move->choice] += gain;
    }
}
