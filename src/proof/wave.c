/* SPDX-License-Identifier: Apache-2.0 */
/* wave.c: see wave.h. */
#include "wave.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "order.h"
#include "threads.h"

/* Smaller waves are for one thread: the others need graphs of their own first. */
enum { WORTH_A_TEAM = 2 };

/* ---- open branches */

static int make_room(cbx_branch *b, cbx_open_branch *one)
{
    *one = (cbx_open_branch){.fate = CBX_NEW(b->arena, uint8_t, b->graph->count),
                             .made = CBX_NEW(b->arena, int32_t, b->most + 1)};
    return one->fate && one->made ? 0 : -1;
}

cbx_open_branch *cbx_wave_push(cbx_branch *b, const cbx_open_branch *from)
{
    if (b->num_open == b->room) {
        int64_t          room = b->room ? 2 * b->room : 2 * CBX_WAVE;
        cbx_open_branch *more = CBX_NEW0(b->arena, cbx_open_branch, room);
        if (!more)
            return NULL;
        if (b->room)
            memcpy(more, b->open, (size_t)b->room * sizeof *more);
        b->open = more;
        b->room = room;
    }
    cbx_open_branch *one = &b->open[b->num_open];
    if (!one->fate && make_room(b, one))
        return NULL;
    memcpy(one->fate, from->fate, (size_t)b->graph->count * sizeof *one->fate);
    one->num_made = from->num_made;
    if (from->num_made)
        memcpy(one->made, from->made, (size_t)from->num_made * sizeof *one->made);
    b->num_open++;
    return one;
}

/* The next one becomes taken[k]; the memory that it had stays where the open ones are. */
static void take(cbx_branch *b, int64_t k)
{
    cbx_open_branch *next = &b->open[--b->num_open], before = b->taken[k];
    b->taken[k] = *next;
    *next = before;
}

/* ---- who bounds them */

cbx_status cbx_wave_init(cbx_branch *b, cbx_error *err)
{
    int most = b->threads < CBX_WAVE ? b->threads : CBX_WAVE;
    b->threads = most > 1 ? most : 1;
    b->bounders = CBX_NEW0(b->arena, cbx_bounder, b->threads);
    b->root = CBX_NEW(b->arena, cbx_partial_graph, 1);
    b->start = CBX_NEW(b->arena, uint8_t, b->graph->count);
    if (!b->bounders || !b->root || !b->start)
        return cbx_fail_memory(err);
    memcpy(b->start, b->graph->fate, (size_t)b->graph->count * sizeof *b->start);
    b->bounders[b->num_bounders++] = (cbx_bounder){.graph = b->graph, .bound = b->bound};
    return cbx_partial_graph_copy(b->root, b->graph, b->arena, err);
}

void cbx_wave_free(cbx_branch *b)
{
    for (int k = 1; k < b->num_bounders; k++)
        cbx_arena_free(&b->bounders[k].arena);
    b->num_bounders = 0;
}

/* A graph of its own, and what bounds it, made as the user's were. */
static int make_bounder(cbx_branch *b, cbx_bounder *one)
{
    bool known = false;
    *one = (cbx_bounder){0};
    one->graph = CBX_NEW(&one->arena, cbx_partial_graph, 1);
    one->bound = CBX_NEW(&one->arena, cbx_lead_bound, 1);
    b->num_bounders++;
    if (!one->graph || !one->bound ||
        cbx_partial_graph_copy(one->graph, b->root, &one->arena, NULL) ||
        cbx_lead_bound_init(one->bound, b->bound->spread.net, one->graph, b->X, &one->arena, &known,
                            NULL) ||
        !known || (b->bound->pairs && cbx_lead_bound_use_pairs(one->bound, &one->arena, NULL)))
        return -1;
    one->graph->budget = b->budget;
    return 0;
}

/* As many as there are threads; fewer where there is no memory. */
static void call_bounders(cbx_branch *b)
{
    while (b->num_bounders < b->threads)
        if (make_bounder(b, &b->bounders[b->num_bounders])) {
            cbx_arena_free(&b->bounders[--b->num_bounders].arena);
            b->threads = b->num_bounders;
        }
}

/* ---- bounds */

/* Twice what the model may be wrong by in any lead that counts. */
static double blur_of(const cbx_branch *b, const cbx_lead_bound *bound)
{
    double most = 0;
    for (int32_t c = 0; c < bound->spread.net->model->num_classes; c++) {
        most = fmax(most, cbx_rounding_of(&bound->sizes, c, b->behind));
        most = fmax(most, cbx_rounding_of(&bound->sizes, b->ahead, c));
    }
    return 2 * most;
}

static void copy_gains(int64_t count, const cbx_lead_bound *from, cbx_branch_bound *to)
{
    size_t size = (size_t)count * sizeof(double);
    memcpy(to->gain, from->gain, size);
    memcpy(to->promise, from->promise, size);
    memcpy(to->gains.common, from->gains.common, size);
    memcpy(to->gains.charged[0], from->gains.charged[0], size);
    memcpy(to->gains.charged[1], from->gains.charged[1], size);
    memcpy(to->gains.paired, from->gains.paired, size);
    to->gains.both = from->gains.both;
    to->gains.are_paired = from->gains.are_paired;
    to->partners.count = 0;
    if (from->gains.are_paired)
        cbx_pair_gains_partners(from->pairs, from->promise, &to->partners);
}

static void bound_one(cbx_branch *b, cbx_bounder *by, int64_t k)
{
    cbx_branch_bound *out = &b->wave[k];
    cbx_lead_bound   *bound = by->bound;
    cbx_partial_graph_settle(by->graph, b->taken[k].fate);
    out->lead = INFINITY;
    out->late = cbx_time_is_up();
    if (out->late || out->out_of_memory)
        return;
    if (cbx_lead_bound_update(bound)) {
        out->late = cbx_time_is_up();
        out->out_of_memory = !out->late;
        return;
    }
    out->lead = cbx_lead_bound_of(bound, b->ahead, b->behind) - b->goal;
    out->late = cbx_time_is_up();
    out->goal = b->goal;
    out->now = bound->now - b->goal;
    out->rounding = bound->rounding;
    out->blur = b->use_symmetry && !(out->lead < 0) ? blur_of(b, bound) : 0;
    if (!(out->lead < 0) && !out->late)
        copy_gains(by->graph->count, bound, out);
}

#ifdef _OPENMP
static void bound_as_team(cbx_branch *b, int64_t count, int team)
{
    const cbx_deadline *main = cbx_deadline_here;
    const bool          fixed = cbx_order_is_fixed();
#pragma omp parallel num_threads(team)
    {
        const int    me = cbx_thread_number();
        cbx_deadline own;
        bool         before = cbx_order_fix(fixed);
        if (me)
            cbx_deadline_begin_beside(&own, main);
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = 0; k < count; k++) {
            if (cbx_deadline_is_up(main) && me)
                cbx_deadline_cancel();
            bound_one(b, &b->bounders[me], k);
        }
        if (me)
            cbx_deadline_end(&own);
        (void)cbx_order_fix(before);
    }
}
#endif

/* Room for what is found of one. */
static int make_bound(cbx_branch *b, cbx_branch_bound *bound)
{
    const int64_t count = b->graph->count;
    bound->gain = CBX_NEW(b->arena, double, count);
    bound->promise = CBX_NEW(b->arena, double, count);
    if (b->bound->pairs &&
        !(bound->partners.beside = CBX_NEW(b->arena, double, CBX_PARTNERS *count)))
        return -1;
    return bound->gain && bound->promise ? cbx_gains_init(&bound->gains, count, b->arena) : -1;
}

int64_t cbx_wave_bound(cbx_branch *b, int64_t most)
{
    int64_t count = b->num_open < most ? b->num_open : most;
    for (int64_t k = 0; k < count; k++) {
        take(b, k);
        b->work += cbx_branch_work(b, b->taken[k].fate);
        b->wave[k].out_of_memory = !b->wave[k].gains.charged[1] && make_bound(b, &b->wave[k]);
    }
    b->bounds += count;
#ifdef _OPENMP
    if (b->threads > 1 && count >= WORTH_A_TEAM) {
        call_bounders(b);
        bound_as_team(b, count, b->num_bounders < count ? b->num_bounders : (int)count);
        return count;
    }
#endif
    for (int64_t k = 0; k < count; k++)
        bound_one(b, &b->bounders[0], k);
    return count;
}

void cbx_wave_start(cbx_branch *b)
{
    cbx_open_branch root = {.fate = b->start};
    b->num_open = 0;
    b->budget = b->graph->budget;
    for (int k = 1; k < b->num_bounders; k++) {
        cbx_partial_graph_settle(b->bounders[k].graph, b->root->fate);
        b->bounders[k].graph->budget = b->budget;
    }
    if (!cbx_wave_push(b, &root))
        b->stopped = b->out_of_memory = true;
}

void cbx_wave_end(cbx_branch *b)
{
    b->num_open = 0;
    cbx_partial_graph_settle(b->graph, b->root->fate);
}
