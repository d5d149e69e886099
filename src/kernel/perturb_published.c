/* SPDX-License-Identifier: Apache-2.0 */
/* perturb_published.c: see perturb_published.h. */
#include "perturb_published.h"

#include <math.h>

#include "adam.h"

static float clamp(float v, float lo, float hi)
{
    v = v < lo ? lo : v;
    return v > hi ? hi : v;
}

/* What the loops know of an entry. */
typedef struct entry {
    unsigned faults;
    float    x, lo, hi, span; /* span 0: continuous */
} entry;

static entry entry_at(const cbx_feature_box *box, const cbx_entries *e, int64_t k)
{
    return (entry){box->faults, e->x[k], e->lo[k], e->hi[k], e->span[k]};
}

/* Fills up a row, and has no share in anything. */
static bool is_padding(const cbx_entries *e, int64_t k)
{
    return isinf(e->P[k]);
}

/* Before the clamp. `shift` adds the lower bound to every discrete move. */
static float raw_of(entry v, float move)
{
    if (v.span == 0)
        return v.x + move;
    return (v.faults & CBX_FAULT_SHIFT ? v.lo : 0) + v.span * move + v.x;
}

static float soft_of(entry v, float move)
{
    return clamp(raw_of(v, move), v.lo, v.hi);
}

/* `rounding` rounds the value and not the move. `shift`, of a continuous feature, adds the
 * bound nearest to 0, to which the masked discrete part was clamped. */
static float hard_of(entry v, float move)
{
    float shift = v.faults & CBX_FAULT_SHIFT ? v.lo : 0;
    if (v.span == 0)
        return soft_of(v, move) + (v.faults & CBX_FAULT_SHIFT ? clamp(0, v.lo, v.hi) : 0);
    if (v.faults & CBX_FAULT_ROUNDING)
        return clamp(rintf(raw_of(v, move)), v.lo, v.hi);
    return clamp(v.x + rintf(shift + v.span * move), v.lo, v.hi);
}

/* What counts as the distance from x: to the soft value, or, with `loss`, of a discrete
 * feature to x + tanh P clamped to [0, 1], of a continuous one P. */
static float gap_of(entry v, float move)
{
    if (!(v.faults & CBX_FAULT_LOSS))
        return soft_of(v, move) - v.x;
    return v.span == 0 ? move : clamp(v.x + move, 0, 1) - v.x;
}

/* The derivative of that distance by P; 0 where the clamp is in force. */
static float gap_slope(entry v, float move)
{
    float slope = v.span == 0 ? 1 : 1 - move * move, raw = raw_of(v, move);
    if (!(v.faults & CBX_FAULT_LOSS))
        return raw >= v.lo && raw <= v.hi ? slope * (v.span == 0 ? 1 : v.span) : 0;
    return v.span == 0 || (v.x + move >= 0 && v.x + move <= 1) ? slope : 0;
}

static float gradient_of(entry v, float move, float absolute, float squared, float pull)
{
    float gap = gap_of(v, move), raw = raw_of(v, move);
    float sign = gap > 0 ? 1.0f : gap < 0 ? -1.0f : 0.0f;
    float price = v.span == 0 ? squared * gap : absolute * sign;
    float slope = v.span == 0 ? 1 : v.span * (1 - move * move);
    bool  inside = raw >= v.lo && raw <= v.hi;
    return price * gap_slope(v, move) + (inside ? pull * slope : 0);
}

void cbx_published_perturb(const cbx_pieces *pieces, const cbx_feature_box *box,
                           const cbx_entries *e, float *crossed, cbx_perturb_sums *sums)
{
    for (int32_t piece = 0; piece < pieces->count; piece++) {
        cbx_perturb_sums *s = &sums[piece];
        *s = (cbx_perturb_sums){0};
        for (int64_t k = pieces->begin[piece]; k < pieces->begin[piece + 1]; k++) {
            entry v = entry_at(box, e, k);
            crossed[k] = 0;
            if (is_padding(e, k))
                continue;
            float before = e->move[k], move = e->P[k];
            if (v.span != 0)
                cbx_tanh(1, &e->P[k], &move);
            float gap = gap_of(v, move), step = soft_of(v, move) - soft_of(v, before);
            s->absolute += v.span == 0 ? 0 : fabsf(gap);
            s->squared += v.span == 0 ? gap * gap : 0;
            s->drift += step * step;
            s->idle += e->P[k] == 0;
            crossed[k] = hard_of(v, move) - hard_of(v, before);
            s->crossed += crossed[k] != 0;
            e->move[k] = move;
        }
    }
}

void cbx_published_backward(int64_t count, const cbx_feature_box *box, const cbx_entries *e,
                            float absolute, float squared, const float *dX, float *grad)
{
    for (int64_t k = 0; k < count; k++)
        grad[k] = is_padding(e, k) ? 0
                                   : gradient_of(entry_at(box, e, k), e->move[k], absolute, squared,
                                                 dX ? dX[e->column[k]] : 0);
}

void cbx_published_adam(const cbx_pieces *pieces, const cbx_feature_box *box, const cbx_entries *e,
                        float absolute, float squared, const cbx_adam_rates *rates, float *crossed,
                        cbx_perturb_sums *sums)
{
    for (int32_t piece = 0; piece < pieces->count; piece++)
        for (int64_t k = pieces->begin[piece]; k < pieces->begin[piece + 1]; k++) {
            if (is_padding(e, k))
                continue;
            float pull = pieces->dX[piece] ? pieces->dX[piece][e->column[k]] : 0;
            float g = gradient_of(entry_at(box, e, k), e->move[k], absolute, squared, pull);
            e->a[k] = cbx_adam_mean(*rates, g, e->a[k]);
            e->b[k] = cbx_adam_square(*rates, g, e->b[k]);
            e->P[k] -= cbx_adam_fall(*rates, e->a[k], e->b[k]);
        }
    cbx_published_perturb(pieces, box, e, crossed, sums);
}

void cbx_published_values(int64_t count, const cbx_feature_box *box, const cbx_entries *e,
                          float *soft, float *hard_values)
{
    for (int64_t k = 0; k < count; k++) {
        entry v = entry_at(box, e, k);
        soft[k] = soft_of(v, e->move[k]);
        if (hard_values)
            hard_values[k] = hard_of(v, e->move[k]);
    }
}
