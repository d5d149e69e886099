/* SPDX-License-Identifier: Apache-2.0 */
/* feature_mask.c: see feature_mask.h. */
#include "feature_mask.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "project.h"
#include "used.h"

/* Entries worked on at a time: their temporaries stay in the nearest cache. */
enum { RUN = 512 };

/* Epochs after which products are multiplied anew, so that rounding errors of
 * adding changes do not pile up. */
enum { REFRESH = 64 };

/* After the first step, which is the great one, striking is worth its pass over
 * all entries only now and then. */
enum { STRIKE = 32 };

/* Entries of the widest vector: rows are padded to whole ones. */
enum { LANES = 16 };

/* Multiplications in the time of an entry. */
static const double ENTRY = 12;
/* The same where memory is written to for the first time; and to make an edit of an entry. */
static const double FIRST_TOUCH = 40, EDIT = 30;

/* ---- memory */

static int64_t padded(int64_t count)
{
    return (count + LANES - 1) / LANES * LANES;
}

static int make_arrays(cbx_feature_mask *F, cbx_arena *arena)
{
    cbx_live *l = &F->live;
    int64_t   size = (int64_t)F->rows * F->f, entries = F->rows * padded(F->f);
    float   **dense[] = {&F->soft_values, &F->hard_values, &F->kept, &F->grad};
    float   **live[] = {&l->x, &l->P, &l->move, &l->lo, &l->hi, &l->span};
    size_t    count = F->box.uniform ? 3 : 6;
    for (size_t i = 0; i < sizeof dense / sizeof *dense; i++)
        if (!(*dense[i] = CBX_NEW(arena, float, size)))
            return -1;
    for (size_t i = 0; i < count; i++)
        if (!(*live[i] = CBX_NEW(arena, float, entries)))
            return -1;
    if (cbx_descent_init(&F->descent, F->s->options, entries, arena))
        return -1;
    l->a = F->descent.a;
    l->b = F->descent.b;
    l->begin = CBX_NEW(arena, int64_t, (size_t)F->rows + 1);
    l->end = CBX_NEW(arena, int64_t, F->rows);
    l->column = CBX_NEW(arena, int32_t, entries);
    F->most_changes = size / 32 + LANES;
    F->since_kept = CBX_NEW(arena, int64_t, F->most_changes);
    F->still_live = CBX_NEW(arena, int32_t, F->f);
    if (cbx_fold_columns_init(&F->narrow, F->s->model->layers, F->f, F->rows, arena))
        return -1;
    return l->begin && l->end && l->column && F->since_kept && F->still_live ? 0 : -1;
}

static int make_box(cbx_feature_mask *F, unsigned faults, cbx_arena *arena)
{
    const cbx_search *s = F->s;
    float            *span = CBX_NEW(arena, float, F->f), *discrete = CBX_NEW(arena, float, F->f);
    float            *lo = CBX_NEW(arena, float, F->f), *hi = CBX_NEW(arena, float, F->f);
    if (!span || !discrete || !lo || !hi)
        return -1;
    /* Features without room have no entries, so they need not be like the others. */
    int32_t first = F->f;
    bool    uniform = true;
    for (int32_t j = 0; j < F->f; j++) {
        lo[j] = s->lo[j];
        hi[j] = s->hi[j];
        span[j] = hi[j] - lo[j];
        discrete[j] = s->discrete[j] ? 1 : 0;
        if (!(lo[j] < hi[j]))
            continue;
        first = first < F->f ? first : j;
        uniform =
            uniform && lo[j] == lo[first] && hi[j] == hi[first] && discrete[j] == discrete[first];
    }
    F->box = (cbx_feature_box){
        lo,    hi, span, discrete, uniform && !faults && !F->allowed, first < F->f ? first : 0,
        faults};
    memcpy(F->bounds, (float *[4]){lo, hi, span, discrete}, sizeof F->bounds);
    return 0;
}

/* The hard pass's first layer takes its products from the cache. */
static int make_cache(cbx_feature_mask *F, cbx_arena *arena)
{
    int32_t widest, products = cbx_model_products(F->s->model, &widest);
    if (!products || F->allowed) /* any value may change then */
        return 0;
    if (cbx_cache_init(&F->cache, products, F->rows, widest, F->most_changes, arena))
        return -1;
    F->hard.cache = &F->cache;
    return 0;
}

/* Entry k's own copy of what the box has for its feature. */
static void copy_box(cbx_live *l, const cbx_feature_box *box, int64_t k)
{
    int32_t column = l->column[k];
    if (box->uniform)
        return;
    l->lo[k] = box->lo[column];
    l->hi[k] = box->hi[column];
    l->span[k] = box->discrete[column] != 0 ? box->span[column] : 0;
}

/* Row i has its last entry before `at`. Fills it up with entries that are beyond their
 * lower bound for good: no gradient, no share in any sum. Returns the next row's begin. */
static int64_t end_row(cbx_live *l, const cbx_feature_box *box, int32_t i, int64_t at)
{
    l->end[i] = at;
    l->count += at - l->begin[i];
    int32_t column = at > l->begin[i] ? l->column[at - 1] : box->first;
    for (int64_t end = l->begin[i] + padded(at - l->begin[i]); at < end; at++) {
        l->column[at] = column;
        l->x[at] = box->lo[column];
        l->P[at] = -INFINITY;
        l->move[at] = box->discrete[column] != 0 ? -1 : -INFINITY;
        l->a[at] = l->b[at] = 0;
        copy_box(l, box, at);
    }
    l->begin[i + 1] = at;
    return at;
}

static cbx_entries entries_at(const cbx_live *l, int64_t k)
{
    cbx_entries e = {.column = l->column + k,
                     .x = l->x + k,
                     .P = l->P + k,
                     .move = l->move + k,
                     .a = l->a + k,
                     .b = l->b + k};
    if (l->lo) {
        e.lo = l->lo + k;
        e.hi = l->hi + k;
        e.span = l->span + k;
    }
    return e;
}

/* Entry k, if the feature has room; within the rules, where there are some. */
static bool fill_entry(cbx_feature_mask *F, int32_t i, int32_t j, int64_t k)
{
    cbx_live *l = &F->live;
    float     lo = F->box.lo[j], hi = F->box.hi[j], x = F->hard_values[(int64_t)i * F->f + j];
    if (!(lo < hi) || (F->allowed && !cbx_project_may_change(F->s, i, j, x, &lo, &hi)))
        return false;
    l->column[k] = j;
    l->x[k] = x;
    l->P[k] = l->move[k] = 0;
    copy_box(l, &F->box, k);
    if (F->allowed) {
        l->lo[k] = lo;
        l->hi[k] = hi;
    }
    return true;
}

/* Every entry is live at first, but those whose bounds leave no room. -1: no time. */
static int fill(cbx_feature_mask *F)
{
    cbx_live *l = &F->live;
    int64_t   at = 0;
    size_t    row = (size_t)F->f * sizeof *F->hard_values;
    cbx_matrix_expand(&F->s->X, F->rows, F->hard_values);
    l->begin[0] = 0;
    for (int32_t i = 0; i < F->rows; i++) {
        if (cbx_out_of_time(FIRST_TOUCH * F->f))
            return -1;
        memcpy(F->soft_values + (int64_t)i * F->f, F->hard_values + (int64_t)i * F->f, row);
        memcpy(F->kept + (int64_t)i * F->f, F->hard_values + (int64_t)i * F->f, row);
        for (int32_t j = 0; j < F->f; j++)
            at += fill_entry(F, i, j, at);
        at = end_row(l, &F->box, i, at);
    }
    return 0;
}

/* With the faults of the published program, values are not what they were even where P is 0. */
static void start_faulty(cbx_feature_mask *F)
{
    const cbx_live *l = &F->live;
    cbx_pieces      one = {.count = 1, .begin = {0, 1}};
    for (int32_t i = 0; i < F->rows; i++)
        for (int64_t k = l->begin[i]; k < l->end[i]; k++) {
            cbx_entries      e = entries_at(l, k);
            cbx_perturb_sums sums;
            float soft, crossed, *hard_values = &F->hard_values[(int64_t)i * F->f + l->column[k]];
            cbx_perturb(&one, &F->box, &e, &crossed, &sums);
            cbx_perturb_values(1, &F->box, &e, &soft, hard_values);
            F->loss += (sums.absolute + sums.squared) * F->scale;
            F->changed += *hard_values != l->x[k];
        }
    memcpy(F->kept, F->hard_values, (size_t)F->rows * (size_t)F->f * sizeof *F->kept);
}

cbx_status cbx_feature_mask_init(cbx_feature_mask *F, const cbx_search *s, int32_t rows,
                                 unsigned faults, cbx_error *err)
{
    *F = (cbx_feature_mask){.s = s, .rows = rows, .f = s->X.cols};
    if (cbx_project_is_needed(s)) {
        F->allowed = CBX_NEW(s->arena, float, (size_t)rows *(size_t)F->f);
        F->original = CBX_NEW(s->arena, float, (size_t)rows *(size_t)F->f);
        if (!F->allowed || !F->original)
            return cbx_fail_memory(err);
    }
    if (make_box(F, faults, s->arena) || make_arrays(F, s->arena))
        return cbx_fail_memory(err);
    F->soft = cbx_matrix_dense(rows, F->f, F->soft_values);
    F->hard = cbx_matrix_dense(rows, F->f, F->allowed ? F->allowed : F->hard_values);
    if (make_cache(F, s->arena))
        return cbx_fail_memory(err);
    F->scale = 1.0 / ((double)s->view->n * cbx_used_all(s->used, F->f));
    if (fill(F))
        return cbx_fail_late(err);
    if (F->allowed) {
        cbx_matrix_expand(&s->X, rows, F->original);
        cbx_matrix_expand(&s->X, rows, F->allowed);
    }
    if (F->box.faults)
        start_faulty(F);
    return CBX_OK;
}

/* ---- an epoch */

/* Where entry k, of a row, is in hard_values and kept. */
static int64_t place_of(const cbx_feature_mask *F, int32_t row, int64_t k)
{
    return (int64_t)row * F->f + F->narrow.name[F->live.column[k]];
}

static void note_crossing(cbx_feature_mask *F, int32_t row, int64_t k, float hard_values)
{
    int64_t place = place_of(F, row, k);
    float   before = F->hard_values[place], x = F->live.x[k];
    F->changed += (hard_values != x) - (before != x);
    F->hard_values[place] = hard_values;
    F->moved = true;
    if (F->cache.count && F->cache.num_changes < F->most_changes)
        F->cache.changes[F->cache.num_changes++] =
            (cbx_change){row, F->narrow.name[F->live.column[k]], hard_values - before};
    else
        F->outdated = true;
    if (F->num_since_kept < F->most_changes)
        F->since_kept[F->num_since_kept++] = place;
    else
        F->kept_all_stale = true;
}

/* The first entry from i on that may have changed: others are passed over a vector at a time. */
static int64_t skip_unchanged(const float *crossed, int64_t i, int64_t count)
{
    for (; i + LANES <= count; i += LANES) {
        uint64_t bits[LANES / 2], any = 0;
        memcpy(bits, crossed + i, sizeof bits);
        for (int k = 0; k < LANES / 2; k++)
            any |= bits[k];
        if (any)
            break;
    }
    return i;
}

/* Thresholded values of a run in which some have changed. Where many have, as continuous ones do,
 * all are made at once. */
static double note_crossings(cbx_feature_mask *F, int32_t row, int64_t k, int64_t count,
                             int64_t how_many, const float *crossed)
{
    const cbx_live *l = &F->live;
    const bool      many = how_many > count / LANES;
    float           soft[RUN], hard_values[RUN];
    double          drift = 0;
    cbx_entries     e = entries_at(l, k);
    if (many)
        cbx_perturb_values(count, &F->box, &e, soft, hard_values);
    for (int64_t i = 0; i < count && how_many > 0; i++) {
        if (i % LANES == 0)
            i = skip_unchanged(crossed, i, count);
        if (i >= count || crossed[i] == 0)
            continue;
        if (!many) {
            e = entries_at(l, k + i);
            cbx_perturb_values(1, &F->box, &e, soft, hard_values + i);
        }
        note_crossing(F, row, k + i, hard_values[i]);
        drift += (double)crossed[i] * crossed[i];
        how_many--;
    }
    return drift;
}

/* Entries from `first` on that are worked on together: whole rows while they are short, parts of
 * one that is long. */
typedef struct batch {
    int64_t    first;
    int32_t    row[CBX_MOST_PIECES];
    cbx_pieces pieces;
} batch;

/* The batch that begins with entry k, of a row. Both move on to what follows. */
static void next_batch(const cbx_feature_mask *F, bool pull, int32_t *row, int64_t *k, batch *b)
{
    const cbx_live *l = &F->live;
    cbx_pieces     *p = &b->pieces;
    b->first = *k;
    p->count = 0;
    p->begin[0] = 0;
    while (*row < F->rows && p->count < CBX_MOST_PIECES && p->begin[p->count] < RUN) {
        int64_t left = l->begin[*row + 1] - *k, room = RUN - p->begin[p->count];
        int64_t size = left < room ? left : room;
        if (p->count > 0 && left > room)
            break;
        b->row[p->count] = *row;
        p->dX[p->count] = pull ? F->grad + (int64_t)*row * F->soft.cols : NULL;
        p->begin[p->count + 1] = p->begin[p->count] + size;
        p->count += size > 0;
        *k += size;
        *row += *k == l->begin[*row + 1];
    }
}

static void step_batch(cbx_feature_mask *F, const batch *b, double alpha, float *crossed,
                       cbx_perturb_sums *sums)
{
    float       absolute = (float)(alpha * F->scale), squared = (float)(2 * alpha * F->scale);
    cbx_entries e = entries_at(&F->live, b->first);
    if (F->s->options->optimiser == CBX_OPTIMISER_ADAM) {
        cbx_perturb_adam(&b->pieces, &F->box, &e, absolute, squared, &F->descent.adam, crossed,
                         sums);
        return;
    }
    float grad[RUN];
    for (int32_t i = 0; i < b->pieces.count; i++) {
        int64_t     at = b->pieces.begin[i], count = b->pieces.begin[i + 1] - at;
        cbx_entries piece = entries_at(&F->live, b->first + at);
        cbx_perturb_backward(count, &F->box, &piece, absolute, squared, b->pieces.dX[i], grad);
        cbx_descent_run(&F->descent, b->first + at, count, grad, piece.P);
    }
    cbx_perturb(&b->pieces, &F->box, &e, crossed, sums);
}

/* Is entry k out of bounds for good? Where it is, the clamped soft value and the
 * thresholded one are both at the bound, and stay. */
static bool is_gone(const cbx_feature_mask *F, int32_t row, int64_t k)
{
    const cbx_live *l = &F->live;
    int32_t         j = l->column[k];
    float           lo = F->box.lo[j], hi = F->box.hi[j];
    float raw = l->x[k] + (F->box.discrete[j] != 0 ? F->box.span[j] * l->move[k] : l->move[k]);
    if (raw >= lo && raw <= hi) /* most are: the rest is for few */
        return false;
    float hard_values = F->hard_values[place_of(F, row, k)];
    if (raw < lo)
        return hard_values == lo && cbx_descent_drift(&F->descent, k) <= 0;
    return raw > hi && hard_values == hi && cbx_descent_drift(&F->descent, k) >= 0;
}

static void move_entry(cbx_feature_mask *F, int64_t from, int64_t to)
{
    cbx_live *l = &F->live;
    l->column[to] = l->column[from];
    l->x[to] = l->x[from];
    l->P[to] = l->P[from];
    l->move[to] = l->move[from];
    l->a[to] = l->a[from];
    l->b[to] = l->b[from];
    copy_box(l, &F->box, to);
}

/* Strikes off what is gone, keeping its share of L_X. */
static void retire(cbx_feature_mask *F)
{
    cbx_live *l = &F->live;
    int64_t   at = 0, begin = 0;
    l->count = 0;
    for (int32_t i = 0; i < F->rows; i++) {
        int64_t next = l->begin[i + 1];
        if (cbx_out_of_time(ENTRY * (double)(next - begin)))
            return;
        for (int64_t k = begin; k < l->end[i]; k++) {
            if (is_gone(F, i, k)) {
                float  hard_values = F->hard_values[place_of(F, i, k)];
                double gap = (double)hard_values - l->x[k];
                /* both are at the bound */
                F->soft_values[(int64_t)i * F->soft.cols + l->column[k]] = hard_values;
                if (F->box.discrete[l->column[k]] != 0)
                    F->gone_absolute += gap < 0 ? -gap : gap;
                else
                    F->gone_squared += gap * gap;
                continue;
            }
            if (at < k)
                move_entry(F, k, at);
            at++;
        }
        begin = next;
        at = end_row(l, &F->box, i, at);
    }
}

/* Live entries, bounds and values of the columns that are left, by their new numbers. */
static void renumber(cbx_feature_mask *F, int32_t columns)
{
    cbx_live *l = &F->live;
    for (int32_t c = 0; c < columns; c++)
        for (int b = 0; b < 4 && F->still_live[c] >= 0; b++)
            F->bounds[b][F->still_live[c]] = F->bounds[b][c];
    F->box.first = 0;
    l->count = 0;
    for (int32_t i = 0; i < F->rows; i++) {
        for (int64_t k = l->begin[i]; k < l->end[i]; k++)
            l->column[k] = F->still_live[l->column[k]];
        (void)end_row(l, &F->box, i, l->end[i]);
    }
    F->soft.cols = cbx_fold_columns_left(&F->narrow);
}

/* Takes columns without a live entry out of `soft`, where that is worth the copying. -1: no
 * memory. */
static int narrow_columns(cbx_feature_mask *F)
{
    const cbx_live *l = &F->live;
    const double    worth = 0.8;
    int32_t         columns = F->narrow.left, left = 0;
    memset(F->still_live, 0, (size_t)columns * sizeof *F->still_live);
    for (int32_t i = 0; i < F->rows; i++)
        for (int64_t k = l->begin[i]; k < l->end[i]; k++)
            F->still_live[l->column[k]] = 1;
    for (int32_t c = 0; c < columns; c++)
        left += F->still_live[c];
    if (left + F->rows > worth * F->soft.cols)
        return 0;
    if (cbx_fold_columns_to(&F->narrow, F->still_live, F->soft_values, F->s->arena))
        return -1;
    renumber(F, columns);
    F->narrowed = true;
    return 0;
}

/* Thresholded values become what the rules allow; whether they changed is asked of that. */
static void keep_rules(cbx_feature_mask *F)
{
    float *values = F->grad; /* which the next pass writes anew */
    F->moved = false;
    F->changed = 0;
    cbx_feature_mask_soften(F);
    for (int32_t i = 0; i < F->rows && !cbx_out_of_time(ENTRY * F->f); i++) {
        int64_t at = (int64_t)i * F->f;
        size_t  row = (size_t)F->f * sizeof *values;
        memcpy(values + at, F->hard_values + at, row);
        cbx_project_row(F->s, i, F->original + at, F->soft_values + at, values + at);
        F->moved |= memcmp(F->allowed + at, values + at, row) != 0;
        memcpy(F->allowed + at, values + at, row);
        for (int32_t j = 0; j < F->f; j++)
            F->changed += F->allowed[at + j] != F->original[at + j];
    }
}

int cbx_feature_mask_step(cbx_feature_mask *F, bool pull, double alpha, int64_t t)
{
    double           loss = F->gone_absolute + F->gone_squared, soft = 0, hard = 0;
    float            crossed[RUN];
    cbx_perturb_sums sums[CBX_MOST_PIECES];
    batch            b;
    F->moved = F->narrowed = false;
    F->idle = 0;
    cbx_descent_begin(&F->descent, t);
    int64_t k = 0;
    for (int32_t row = 0; row < F->rows;) {
        if (cbx_out_of_time(ENTRY * RUN))
            return 0;
        next_batch(F, pull, &row, &k, &b);
        step_batch(F, &b, alpha, crossed, sums);
        for (int32_t i = 0; i < b.pieces.count; i++) {
            int64_t at = b.pieces.begin[i], count = b.pieces.begin[i + 1] - at;
            loss += sums[i].absolute + sums[i].squared;
            F->idle += sums[i].idle;
            soft += sums[i].drift;
            if (sums[i].crossed > 0)
                hard +=
                    note_crossings(F, b.row[i], b.first + at, count, sums[i].crossed, crossed + at);
            if (b.first + at + count < F->live.begin[b.row[i] + 1])
                continue; /* the row goes on in the next batch */
            F->soft_drift[b.row[i]] += (float)sqrt(soft);
            F->hard_drift[b.row[i]] += (float)sqrt(hard);
            soft = hard = 0;
        }
    }
    F->loss = loss * F->scale;
    if (F->allowed) {
        keep_rules(F);
        return 0;
    }
    if ((t != 0 && t % STRIKE != STRIKE - 1) || F->box.faults) /* which know no end */
        return 0;
    retire(F);
    /* where the first layer is linear in X */
    return F->cache.count && !cbx_time_is_up() ? narrow_columns(F) : 0;
}

void cbx_feature_mask_soften(cbx_feature_mask *F)
{
    const cbx_live *l = &F->live;
    float           soft[RUN];
    for (int32_t i = 0; i < F->rows; i++)
        for (int64_t k = l->begin[i]; k < l->end[i]; k += RUN) {
            int64_t     left = l->end[i] - k, count = left < RUN ? left : RUN;
            cbx_entries e = entries_at(l, k);
            float      *row = F->soft_values + (int64_t)i * F->soft.cols;
            if (cbx_out_of_time(ENTRY * (double)count))
                return;
            cbx_perturb_values(count, &F->box, &e, soft, NULL);
            for (int64_t c = 0; c < count; c++)
                row[e.column[c]] = soft[c];
        }
}

void cbx_feature_mask_harden(cbx_feature_mask *F, int64_t t)
{
    if (!F->cache.count)
        return;
    if (F->outdated || t - F->refreshed >= REFRESH) {
        cbx_cache_invalidate(&F->cache);
        F->refreshed = t;
    }
    cbx_cache_update(&F->cache, &F->hard);
    F->outdated = false;
}

/* ---- the best */

void cbx_feature_mask_keep(cbx_feature_mask *F)
{
    if (F->allowed) {
        memcpy(F->kept, F->allowed, (size_t)F->rows * (size_t)F->f * sizeof *F->kept);
        return;
    }
    if (F->kept_all_stale)
        memcpy(F->kept, F->hard_values, (size_t)F->rows * (size_t)F->f * sizeof *F->kept);
    for (int64_t i = 0; i < F->num_since_kept && !F->kept_all_stale; i++)
        F->kept[F->since_kept[i]] = F->hard_values[F->since_kept[i]];
    F->num_since_kept = 0;
    F->kept_all_stale = false;
}

/* The search is over, so the features as they were take the soft values' place. */
int64_t cbx_feature_mask_count(cbx_feature_mask *F)
{
    const float *x = F->soft_values;
    int64_t      count = 0;
    cbx_matrix_expand(&F->s->X, F->rows, F->soft_values);
    for (int64_t k = 0; k < (int64_t)F->rows * F->f; k++)
        count += F->kept[k] != x[k];
    return count;
}

int64_t cbx_feature_mask_edits(cbx_feature_mask *F, cbx_edit *edits)
{
    const float *x = F->soft_values;
    int64_t      count = 0;
    for (int32_t i = 0; i < F->rows && !cbx_out_of_time(EDIT * F->f); i++)
        for (int32_t j = 0; j < F->f; j++) {
            int64_t k = (int64_t)i * F->f + j;
            if (F->kept[k] != x[k])
                edits[count++] = cbx_search_edit_of_feature(F->s, i, j, x[k], F->kept[k]);
        }
    return count;
}
