/* SPDX-License-Identifier: Apache-2.0 */
/* feature_mask.c: see feature_mask.h. */
#include "feature_mask.h"

#include <string.h>

#include "error.h"

/* All arrays of rows x f at once. */
static int make_arrays(cbx_feature_mask *F, cbx_arena *arena)
{
    float **arrays[] = {&F->x, &F->move, &F->xp, &F->firm, &F->grad, &F->kept};
    size_t  size = (size_t)F->rows * (size_t)F->f;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = CBX_NEW(arena, float, size);
        if (!*arrays[i])
            return -1;
    }
    F->P = CBX_NEW0(arena, float, size);
    if (!F->P)
        return -1;
    if (F->s->X.dense)
        return 0;
    F->offset = CBX_NEW0(arena, int64_t, (size_t)F->rows + 1);
    F->column = CBX_NEW(arena, int32_t, size);
    F->value = CBX_NEW(arena, float, size);
    return F->offset && F->column && F->value ? 0 : -1;
}

static int make_box(cbx_feature_mask *F, cbx_arena *arena)
{
    const cbx_search *s = F->s;
    float *span = CBX_NEW(arena, float, F->f), *discrete = CBX_NEW(arena, float, F->f);
    if (!span || !discrete)
        return -1;
    for (int32_t j = 0; j < F->f; j++) {
        span[j] = s->hi[j] - s->lo[j];
        discrete[j] = s->discrete[j] ? 1 : 0;
    }
    F->box = (cbx_feature_box){s->lo, s->hi, span, discrete};
    return 0;
}

cbx_status cbx_feature_mask_init(cbx_feature_mask *F, const cbx_search *s, int32_t rows,
                                 cbx_error *err)
{
    *F = (cbx_feature_mask){.s = s, .rows = rows, .f = s->X.cols};
    int64_t size = (int64_t)rows * F->f;
    if (make_arrays(F, s->arena) || make_box(F, s->arena) ||
        cbx_descent_init(&F->descent, s->options, size, s->arena))
        return cbx_fail_memory(err);
    cbx_matrix_expand(&s->X, rows, F->x);
    memcpy(F->firm, F->x, (size_t)size * sizeof *F->x);
    F->soft = cbx_matrix_dense(rows, F->f, F->xp);
    F->hard = cbx_matrix_dense(rows, F->f, F->firm);
    if (!s->X.dense)
        F->hard = (cbx_matrix){.rows = rows, .cols = F->f, .csr = {F->offset, F->column, F->value}};
    F->absolute_scale = 1.0 / ((double)s->view->n * F->f);
    F->squared_scale = 2 * F->absolute_scale;
    return CBX_OK;
}

/* The nonzero entries of firm. */
static void gather(cbx_feature_mask *F)
{
    int64_t at = 0;
    for (int32_t i = 0; i < F->rows; i++) {
        const float *row = F->firm + (int64_t)i * F->f;
        F->offset[i] = at;
        for (int32_t j = 0; j < F->f; j++) {
            F->column[at] = j;
            F->value[at] = row[j];
            at += row[j] != 0;
        }
    }
    F->offset[F->rows] = at;
}

bool cbx_feature_mask_evaluate(cbx_feature_mask *F)
{
    double absolute = 0, squared = 0;
    bool   moved = F->offset && F->offset[F->rows] == 0; /* not gathered yet, or empty */
    F->changed = 0;
    for (int32_t i = 0; i < F->rows; i++) {
        int64_t          at = (int64_t)i * F->f;
        cbx_perturb_sums sums = cbx_perturb_row(F->f, &F->box, F->x + at, F->P + at, F->move + at,
                                                F->xp + at, F->firm + at);
        absolute += sums.absolute;
        squared += sums.squared;
        F->changed += sums.changed;
        moved |= sums.moved;
    }
    F->loss = (absolute + squared) * F->absolute_scale;
    if (moved && F->offset)
        gather(F);
    return moved;
}

void cbx_feature_mask_step(cbx_feature_mask *F, bool pull, double alpha, int64_t t)
{
    if (!pull)
        memset(F->grad, 0, (size_t)F->rows * (size_t)F->f * sizeof *F->grad);
    for (int32_t i = 0; i < F->rows; i++) {
        int64_t at = (int64_t)i * F->f;
        cbx_perturb_row_backward(F->f, &F->box, (float)(alpha * F->absolute_scale),
                                 (float)(alpha * F->squared_scale), F->x + at, F->move + at,
                                 F->xp + at, F->grad + at);
    }
    cbx_descent_step(&F->descent, t, F->grad, F->P);
}

void cbx_feature_mask_keep(cbx_feature_mask *F)
{
    memcpy(F->kept, F->firm, (size_t)F->rows * (size_t)F->f * sizeof *F->kept);
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
