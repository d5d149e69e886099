/* SPDX-License-Identifier: Apache-2.0 */
/* feature_mask.c: see feature_mask.h. */
#include "feature_mask.h"

#include <string.h>

#include "error.h"

/* Entries worked on at a time: their temporaries stay in the nearest cache. */
enum { RUN = 512 };

/* Epochs after which products are multiplied anew, so that rounding errors of
 * adding changes do not pile up. */
enum { REFRESH = 64 };

/* After the first step, which is the great one, striking is worth its pass over
 * all entries only now and then. */
enum { STRIKE = 32 };

/* ---- memory */

static int make_arrays(cbx_feature_mask *F, cbx_arena *arena)
{
    cbx_live *l = &F->live;
    size_t    size = (size_t)F->rows * (size_t)F->f;
    float   **arrays[] = {&F->x, &F->soft_values, &F->firm, &F->kept, &F->grad,
                          &l->x, &l->P,           &l->move, &l->firm};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = CBX_NEW(arena, float, size);
        if (!*arrays[i])
            return -1;
    }
    l->begin = CBX_NEW(arena, int64_t, (size_t)F->rows + 1);
    l->column = CBX_NEW(arena, int32_t, size);
    F->most_changes = (int64_t)size / 8 + 1;
    F->since_kept = CBX_NEW(arena, int64_t, F->most_changes);
    return l->begin && l->column && F->since_kept ? 0 : -1;
}

static int make_box(cbx_feature_mask *F, cbx_arena *arena)
{
    const cbx_search *s = F->s;
    float            *span = CBX_NEW(arena, float, F->f), *discrete = CBX_NEW(arena, float, F->f);
    if (!span || !discrete)
        return -1;
    F->box = (cbx_feature_box){s->lo, s->hi, span, discrete, true};
    for (int32_t j = 0; j < F->f; j++) {
        span[j] = s->hi[j] - s->lo[j];
        discrete[j] = s->discrete[j] ? 1 : 0;
        F->box.uniform = F->box.uniform && s->lo[j] == s->lo[0] && s->hi[j] == s->hi[0] &&
                         discrete[j] == discrete[0];
    }
    return 0;
}

/* The hard pass's first layer takes its products from the cache. */
static int make_cache(cbx_feature_mask *F, cbx_arena *arena)
{
    const cbx_layer *first = &F->s->model->layers[0];
    cbx_parameter    p;
    int32_t          products = 0;
    if (first->aggregation == CBX_MAX) /* looks at X itself */
        return 0;
    for (int32_t i = 0; first->ops->parameter(first, i, &p); i++)
        products += p.rows > 0;
    if (cbx_cache_init(&F->cache, products, F->rows, first->n_out, F->most_changes, arena))
        return -1;
    F->hard.cache = &F->cache;
    return 0;
}

/* Every entry is live at first. */
static void fill(cbx_feature_mask *F)
{
    cbx_live *l = &F->live;
    size_t    size = (size_t)F->rows * (size_t)F->f;
    cbx_matrix_expand(&F->s->X, F->rows, F->x);
    memcpy(F->soft_values, F->x, size * sizeof *F->x);
    memcpy(F->firm, F->x, size * sizeof *F->x);
    memcpy(F->kept, F->x, size * sizeof *F->x);
    memcpy(l->x, F->x, size * sizeof *F->x);
    memcpy(l->firm, F->x, size * sizeof *F->x);
    memset(l->P, 0, size * sizeof *l->P);
    memset(l->move, 0, size * sizeof *l->move);
    for (int32_t i = 0; i <= F->rows; i++)
        l->begin[i] = (int64_t)i * F->f;
    for (int32_t i = 0; i < F->rows; i++)
        for (int32_t j = 0; j < F->f; j++)
            l->column[(int64_t)i * F->f + j] = j;
}

cbx_status cbx_feature_mask_init(cbx_feature_mask *F, const cbx_search *s, int32_t rows,
                                 cbx_error *err)
{
    *F = (cbx_feature_mask){.s = s, .rows = rows, .f = s->X.cols};
    if (make_arrays(F, s->arena) || make_box(F, s->arena) ||
        cbx_descent_init(&F->descent, s->options, (int64_t)rows * F->f, s->arena))
        return cbx_fail_memory(err);
    F->live.a = F->descent.a;
    F->live.b = F->descent.b;
    F->soft = cbx_matrix_dense(rows, F->f, F->soft_values);
    F->hard = cbx_matrix_dense(rows, F->f, F->firm);
    if (make_cache(F, s->arena))
        return cbx_fail_memory(err);
    F->scale = 1.0 / ((double)s->view->n * F->f);
    fill(F);
    return CBX_OK;
}

/* ---- an epoch */

static void note_move(cbx_feature_mask *F, int32_t row, int64_t k, float firm)
{
    cbx_live *l = &F->live;
    int64_t   place = (int64_t)row * F->f + l->column[k];
    float     before = l->firm[k];
    F->changed += (firm != l->x[k]) - (before != l->x[k]);
    l->firm[k] = firm;
    F->firm[place] = firm;
    F->moved = true;
    if (F->cache.count && F->cache.num_changes < F->most_changes)
        F->cache.changes[F->cache.num_changes++] = (cbx_change){row, l->column[k], firm - before};
    if (F->num_since_kept < F->most_changes)
        F->since_kept[F->num_since_kept++] = place;
    else
        F->kept_all_stale = true;
}

/* Steps and evaluates entries k .. k + count - 1 of a row; adds to the sums. */
static void run_entries(cbx_feature_mask *F, int32_t row, int64_t k, int64_t count, bool pull,
                        double alpha, double *absolute, double *squared)
{
    cbx_live *l = &F->live;
    int64_t   base = (int64_t)row * F->f;
    float     grad[RUN], soft[RUN], firm[RUN];
    cbx_perturb_backward(count, &F->box, l->column + k, (float)(alpha * F->scale),
                         (float)(2 * alpha * F->scale), l->x + k, l->move + k,
                         pull ? F->grad + base : NULL, grad);
    cbx_descent_run(&F->descent, k, count, grad, l->P + k);
    cbx_perturb_sums sums = cbx_perturb(count, &F->box, l->column + k, l->x + k, l->P + k,
                                        l->firm + k, l->move + k, soft, firm);
    *absolute += sums.absolute;
    *squared += sums.squared;
    for (int64_t i = 0; i < count; i++)
        F->soft_values[base + l->column[k + i]] = soft[i];
    for (int64_t i = 0; i < count && sums.moved > 0; i++)
        if (firm[i] != l->firm[k + i]) {
            note_move(F, row, k + i, firm[i]);
            sums.moved--;
        }
}

/* Is entry k out of bounds for good? Where it is, the clamped soft value and the
 * thresholded one are both at the bound, and stay. */
static bool is_gone(const cbx_feature_mask *F, int64_t k)
{
    const cbx_live *l = &F->live;
    int32_t         j = l->column[k];
    float           lo = F->box.lo[j], hi = F->box.hi[j];
    float raw = l->x[k] + (F->box.discrete[j] != 0 ? F->box.span[j] * l->move[k] : l->move[k]);
    if (raw < lo)
        return l->firm[k] == lo && cbx_descent_drift(&F->descent, k) <= 0;
    return raw > hi && l->firm[k] == hi && cbx_descent_drift(&F->descent, k) >= 0;
}

/* Strikes off what is gone, keeping its share of L_X. */
static void strike(cbx_feature_mask *F)
{
    cbx_live *l = &F->live;
    int64_t   at = 0, begin = 0;
    for (int32_t i = 0; i < F->rows; i++) {
        int64_t end = l->begin[i + 1];
        for (int64_t k = begin; k < end; k++) {
            if (is_gone(F, k)) {
                double gap = (double)l->firm[k] - l->x[k];
                if (F->box.discrete[l->column[k]] != 0)
                    F->gone_absolute += gap < 0 ? -gap : gap;
                else
                    F->gone_squared += gap * gap;
                continue;
            }
            l->column[at] = l->column[k];
            l->x[at] = l->x[k];
            l->P[at] = l->P[k];
            l->move[at] = l->move[k];
            l->firm[at] = l->firm[k];
            l->a[at] = l->a[k];
            l->b[at] = l->b[k];
            at++;
        }
        begin = end;
        l->begin[i + 1] = at;
    }
}

void cbx_feature_mask_step(cbx_feature_mask *F, bool pull, double alpha, int64_t t)
{
    double absolute = 0, squared = 0;
    F->moved = false;
    cbx_descent_begin(&F->descent, t);
    for (int32_t i = 0; i < F->rows; i++)
        for (int64_t k = F->live.begin[i]; k < F->live.begin[i + 1]; k += RUN) {
            int64_t left = F->live.begin[i + 1] - k;
            run_entries(F, i, k, left < RUN ? left : RUN, pull, alpha, &absolute, &squared);
        }
    F->loss = (absolute + squared + F->gone_absolute + F->gone_squared) * F->scale;
    if (F->cache.count && F->moved) {
        if (F->cache.num_changes == F->most_changes || t % REFRESH == 0)
            cbx_cache_invalidate(&F->cache);
        cbx_cache_update(&F->cache, &F->hard);
    }
    if (t == 0 || t % STRIKE == STRIKE - 1)
        strike(F);
}

/* ---- the best */

void cbx_feature_mask_keep(cbx_feature_mask *F)
{
    if (F->kept_all_stale)
        memcpy(F->kept, F->firm, (size_t)F->rows * (size_t)F->f * sizeof *F->kept);
    for (int64_t i = 0; i < F->num_since_kept && !F->kept_all_stale; i++)
        F->kept[F->since_kept[i]] = F->firm[F->since_kept[i]];
    F->num_since_kept = 0;
    F->kept_all_stale = false;
}

int64_t cbx_feature_mask_count(const cbx_feature_mask *F)
{
    int64_t count = 0;
    for (int64_t k = 0; k < (int64_t)F->rows * F->f; k++)
        count += F->kept[k] != F->x[k];
    return count;
}

int64_t cbx_feature_mask_edits(const cbx_feature_mask *F, cbx_edit *edits)
{
    const cbx_view *v = F->s->view;
    int64_t         count = 0;
    for (int32_t i = 0; i < F->rows; i++)
        for (int32_t j = 0; j < F->f; j++) {
            int64_t k = (int64_t)i * F->f + j;
            if (F->kept[k] != F->x[k])
                edits[count++] = (cbx_edit){.op = CBX_SET_FEATURE,
                                            .edge = -1,
                                            .node = v->node ? v->node[i] : i,
                                            .feature = j,
                                            .from = F->x[k],
                                            .to = F->kept[k]};
        }
    return count;
}
