/* SPDX-License-Identifier: Apache-2.0 */
/* random_features.c: moves features at random, again and again.
 *
 * In each of `epochs` draws every value x of the factual graph moves by U (max - min) +
 * min, with U uniform in [0, 1) and the feature's bounds; a discrete feature's move is
 * rounded, ties to even, and the result is clamped to the bounds. The loss is CE(target) +
 * mean |change|; the draw of least loss that has the target class is the answer.
 *
 * The k-th value of a node in draw t is the k-th number of the stream (seed, target row,
 * t, node), so it does not matter in which order they are drawn: those of nodes that the oracle
 * does not look at are drawn only where the others hit. */
#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "explainers.h"
#include "order.h"
#include "project.h"
#include "rng.h"
#include "trial.h"
#include "used.h"

typedef struct state {
    cbx_search *s;
    int32_t     n, f;
    float      *x, *drawn, *kept; /* n x f */
    double     *low, *span;       /* f */
    double     *whole;            /* f: 1 where discrete */
} state;

static cbx_status prepare(state *st, cbx_error *err)
{
    cbx_search *s = st->s;
    size_t      f = (size_t)s->X.cols, size = (size_t)s->view->n * f;
    st->n = s->view->n;
    st->f = s->X.cols;
    float  **by_value[] = {&st->x, &st->drawn, &st->kept};
    double **by_feature[] = {&st->low, &st->span, &st->whole};
    for (int i = 0; i < 3; i++) {
        *by_value[i] = CBX_NEW(s->arena, float, size);
        *by_feature[i] = CBX_NEW(s->arena, double, f);
        if (!*by_value[i] || !*by_feature[i])
            return cbx_fail_memory(err);
    }
    cbx_matrix_expand(&s->X, st->n, st->x);
    for (int32_t j = 0; j < st->f; j++) {
        st->low[j] = s->lo[j];
        st->span[j] = (double)s->hi[j] - s->lo[j];
        st->whole[j] = s->discrete[j] ? 1 : 0;
    }
    return CBX_OK;
}

/* One row; what was drawn, and in `change` the sum, in any order, of |drawn - x|; returns how many
 * values differ. The stream's k-th number is a function of k, so this vectorises. */
CBX_HOT
static int64_t draw_row(int32_t f, uint64_t start, const float *restrict x,
                        const double *restrict low, const double *restrict span,
                        const double *restrict whole, const float *restrict lo,
                        const float *restrict hi, float *restrict drawn, double *change)
{
    double  sum = 0;
    int64_t count = 0;
#pragma omp simd reduction(+ : sum, count)
    for (int32_t j = 0; j < f; j++) {
        uint64_t bits = cbx_mix64(start + ((uint64_t)j + 1) * 0x9e3779b97f4a7c15u);
        double   move = (double)(int64_t)(bits >> 11) * 0x1.0p-53 * span[j] + low[j];
        move = whole[j] != 0 ? rint(move) : move;
        float v = (float)(x[j] + move);
        v = v < lo[j] ? lo[j] : v;
        v = v > hi[j] ? hi[j] : v;
        drawn[j] = v;
        sum += fabs((double)v - x[j]);
        count += v != x[j];
    }
    *change = sum;
    return count;
}

/* The same sum from first to last. */
static double ordered_change(int32_t f, const float *x, const float *drawn)
{
    double sum = 0;
    for (int32_t j = 0; j < f; j++)
        sum += fabs((double)drawn[j] - x[j]);
    return sum;
}

/* Makes of the row what the rules allow; returns how many values differ more than did. */
static int64_t keep_rules(const state *st, int32_t i, double *change)
{
    const float *x = st->x + (int64_t)i * st->f;
    float       *drawn = st->drawn + (int64_t)i * st->f;
    int64_t      more = 0;
    for (int32_t j = 0; j < st->f; j++)
        more -= drawn[j] != x[j];
    cbx_project_row(st->s, i, x, NULL, drawn);
    for (int32_t j = 0; j < st->f; j++)
        more += drawn[j] != x[j];
    *change = ordered_change(st->f, x, drawn);
    return more;
}

/* Rows from `begin` on and before `end`; adds up how much they have changed. */
static void draw(const state *st, int64_t t, int32_t begin, int32_t end, double *change,
                 cbx_epoch *now)
{
    const cbx_search *s = st->s;
    const cbx_view   *v = s->view;
    const double      number = 10; /* multiplications in the time of one */
    for (int32_t i = begin; i < end && !cbx_out_of_time(number * st->f); i++) {
        int64_t row = (int64_t)i * st->f;
        cbx_rng rng = cbx_rng_stream((uint64_t)s->options->seed, (uint64_t)s->row, (uint64_t)t,
                                     (uint64_t)(v->node ? v->node[i] : i));
        double  moved;
        now->changed_features += draw_row(st->f, rng.state, st->x + row, st->low, st->span,
                                          st->whole, s->lo, s->hi, st->drawn + row, &moved);
        if (cbx_project_is_needed(s))
            now->changed_features += keep_rules(st, i, &moved);
        *change +=
            cbx_order_is_fixed() ? ordered_change(st->f, st->x + row, st->drawn + row) : moved;
    }
}

/* One draw; true: it is the best so far. */
static bool try_draw(const state *st, cbx_trials *T, const cbx_matrix *X, int64_t t)
{
    int32_t read = cbx_pass_input_rows(&T->pass);
    double  change = 0;
    T->now = (cbx_epoch){.alpha = 1};
    draw(st, t, 0, read, &change, &T->now);
    cbx_trials_ask(T, X, NULL);
    if (T->now.hit || st->s->trace)
        draw(st, t, read, st->n, &change, &T->now);
    T->now.feature_loss = change / ((double)st->n * cbx_used_all(st->s->used, st->f));
    return cbx_trials_record(T);
}

static const double EDIT = 60; /* multiplications in the time of one */

static cbx_status collect(const state *st, int64_t count, cbx_error *err)
{
    cbx_search *s = st->s;
    cbx_status  status = cbx_search_make_edits(s, count, err);
    if (status)
        return status;
    for (int32_t i = 0; i < st->n; i++)
        for (int32_t j = 0; j < st->f; j++) {
            int64_t k = (int64_t)i * st->f + j;
            if (cbx_out_of_time_at(k, EDIT))
                return cbx_fail_late(err);
            if (st->kept[k] != st->x[k])
                s->edits[s->num_edits++] =
                    cbx_search_edit_of_feature(s, i, j, st->x[k], st->kept[k]);
        }
    return CBX_OK;
}

static cbx_status search(cbx_search *s, cbx_error *err)
{
    state      st = {.s = s};
    cbx_trials T;
    int64_t    draws = s->options->epochs, count = 0;
    cbx_status status = prepare(&st, err);
    if (status)
        return status;
    cbx_matrix X = cbx_matrix_dense(st.n, st.f, st.drawn);
    status = cbx_trials_init(&T, s, &X, err);
    if (status)
        return status;
    for (int64_t t = 0; t < draws; t++) {
        if (try_draw(&st, &T, &X, t)) {
            memcpy(st.kept, st.drawn, (size_t)st.n * (size_t)st.f * sizeof *st.kept);
            count = T.now.changed_features;
        }
        if (cbx_search_should_stop(s, t + 1, draws))
            break;
    }
    cbx_search_end(s);
    return s->found ? collect(&st, count, err) : CBX_OK;
}

const cbx_explainer cbx_explainer_random_features = {.name = "random-features", .search = search};
