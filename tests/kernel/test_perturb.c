/* SPDX-License-Identifier: Apache-2.0 */
/* Perturbed features, forward and backward, against naive references in double. */
#include "perturb.h"

#include <float.h>
#include <math.h>

#include "../core/bag.h"
#include "test.h"
#include "reference.h"

/* ---- tanh */

TEST(tanh_is_right_to_four_units_in_the_seventh_digit)
{
    enum { COUNT = 400001 };
    bag     b = {0};
    float  *x = TAKE(&b, float, COUNT), *y = TAKE(&b, float, COUNT);
    double *expected = TAKE(&b, double, COUNT);
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(-20 + 40.0 * i / (COUNT - 1));
        expected[i] = tanh((double)x[i]);
    }
    cbx_tanh(COUNT, x, y);
    CHECK(worst(COUNT, y, expected) < 4e-7); /* 3e-7 where products and sums are fused */
    for (int i = 0; i < COUNT; i++)          /* odd, bit for bit, and never beyond 1 */
        if (y[i] != -y[COUNT - 1 - i] || fabsf(y[i]) > 1)
            CHECK(x[i] != -x[COUNT - 1 - i] && fabsf(y[i]) <= 1);
    bag_free(&b);
}

/* Near 0, tanh x is x - x^3/3: what counts there is the relative error. */
TEST(tanh_of_small_numbers_keeps_its_digits)
{
    float x[120], y[120];
    for (int i = 0; i < 120; i++)
        x[i] = ldexpf(i % 2 ? -1.3f : 1.7f, -i);
    cbx_tanh(120, x, y);
    for (int i = 0; i < 120; i++)
        CHECK_NEAR(y[i] / tanh((double)x[i]), 1, 4e-7);
}

TEST(tanh_is_exact_at_0_and_far_out)
{
    const float x[] = {0,    -0.0f, 10,     -10,     15,       88.8f,
                       -100, 1e10f, -1e30f, FLT_MAX, INFINITY, -INFINITY};
    float       y[12];
    cbx_tanh(12, x, y);
    CHECK(y[0] == 0 && y[1] == 0);
    for (int i = 2; i < 12; i++)
        CHECK_NEAR(y[i], x[i] > 0 ? 1 : -1, 0);
}

TEST(sigmoid_is_right_to_the_seventh_digit_and_turns_at_0)
{
    enum { COUNT = 100001 };
    bag    b = {0};
    float *x = TAKE(&b, float, COUNT), *y = TAKE(&b, float, COUNT);
    double most = 0;
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(-30 + 60.0 * i / (COUNT - 1));
    cbx_sigmoid(COUNT, x, y);
    for (int i = 0; i < COUNT; i++) {
        most = fmax(most, fabs(y[i] - 1 / (1 + exp(-(double)x[i]))));
        CHECK(y[i] >= 0 && y[i] <= 1 && (y[i] > 0.5f) == (x[i] > 0));
    }
    CHECK(most < 2e-7);
    bag_free(&b);
}

/* ---- rows of features, and what the definition makes of them */

typedef enum kind { DISCRETE, CONTINUOUS, MIXED, KINDS } kind;

typedef struct row {
    bag             bag;
    int64_t         n; /* entries */
    int32_t         f; /* features */
    float          *lo, *hi, *span, *discrete;
    cbx_feature_box box;
    int32_t        *column;
    float          *x, *P, *move, *a, *b, *soft, *hard_values, *crossed, *dX, *grad;
    float          *own_lo, *own_hi, *own_span; /* by entry */
} row;

static cbx_entries entries(const row *r)
{
    return (cbx_entries){r->column, r->x,      r->P,      r->move,    r->a,
                         r->b,      r->own_lo, r->own_hi, r->own_span};
}

/* As one piece. */
static cbx_perturb_sums perturb(int64_t n, const cbx_feature_box *box, const cbx_entries *e,
                                float *crossed)
{
    cbx_perturb_sums sums;
    cbx_perturb(&(cbx_pieces){.count = 1, .begin = {0, n}}, box, e, crossed, &sums);
    return sums;
}

/* A step of Adam in three pieces of the same row, one of them empty. */
static cbx_perturb_sums in_pieces(row *r, const cbx_entries *e, const float *dX,
                                  const cbx_adam_rates *rates)
{
    cbx_perturb_sums sums[3], all = {0};
    cbx_pieces pieces = {.count = 3, .begin = {0, r->n / 3, r->n / 3, r->n}, .dX = {dX, dX, dX}};
    cbx_perturb_adam(&pieces, &r->box, e, 0.25f, 0.5f, rates, r->crossed, sums);
    for (int i = 0; i < 3; i++) {
        all.absolute += sums[i].absolute;
        all.squared += sums[i].squared;
        all.drift += sums[i].drift;
        all.idle += sums[i].idle;
        all.crossed += sums[i].crossed;
    }
    return all;
}

/* Moves and values from P. */
static cbx_perturb_sums evaluate(row *r)
{
    cbx_entries      e = entries(r);
    cbx_perturb_sums sums = perturb(r->n, &r->box, &e, r->crossed);
    cbx_perturb_values(r->n, &r->box, &e, r->soft, r->hard_values);
    return sums;
}

/* Bounds of 0 and 1, or of each feature's own. Some values lie on their bounds and
 * some parameters are 0; entries are a subset of the columns, in any number. */
static row make_row(kind k, bool own_bounds, int64_t n, uint64_t seed)
{
    row     r = {.n = n, .f = 11};
    cbx_rng rng = cbx_rng_stream(seed, (uint64_t)k, (uint64_t)n, own_bounds);
    float **by_feature[] = {&r.lo, &r.hi, &r.span, &r.discrete, &r.dX};
    float **by_entry[] = {&r.x,           &r.P,       &r.move, &r.a,      &r.b,      &r.soft,
                          &r.hard_values, &r.crossed, &r.grad, &r.own_lo, &r.own_hi, &r.own_span};
    for (int i = 0; i < 5; i++)
        *by_feature[i] = TAKE(&r.bag, float, r.f);
    for (int i = 0; i < 12; i++)
        *by_entry[i] = TAKE(&r.bag, float, n);
    r.column = TAKE(&r.bag, int32_t, n);
    for (int32_t j = 0; j < r.f; j++) {
        r.discrete[j] = k == DISCRETE || (k == MIXED && j % 2) ? 1 : 0;
        r.lo[j] = own_bounds ? -(float)cbx_rng_below(&rng, 4) : 0;
        r.hi[j] = own_bounds ? r.lo[j] + 1 + (float)cbx_rng_below(&rng, 30) : 1;
        r.span[j] = r.hi[j] - r.lo[j];
        r.dX[j] = draw(&rng, -1, 1);
    }
    r.box = (cbx_feature_box){r.lo, r.hi, r.span, r.discrete, k != MIXED && !own_bounds, 0, 0};
    for (int64_t i = 0; i < n; i++) {
        int32_t j = r.column[i] = (int32_t)cbx_rng_below(&rng, (uint64_t)r.f);
        float   v = draw(&rng, r.lo[j], r.hi[j]);
        v = r.discrete[j] != 0 ? rintf(v) : v;
        r.x[i] = i % 5 == 0 ? r.lo[j] : i % 5 == 1 ? r.hi[j] : v;
        r.P[i] = i % 7 == 0 ? 0 : draw(&rng, -1, 1) * (i % 3 ? 1 : 8);
        r.move[i] = r.a[i] = r.b[i] = 0;
        r.own_lo[i] = r.lo[j];
        r.own_hi[i] = r.hi[j];
        r.own_span[i] = r.discrete[j] != 0 ? r.span[j] : 0;
    }
    return r;
}

static double clamp(double v, double lo, double hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

typedef struct reference {
    double move, raw, soft, hard_values;
    bool   tie; /* so close to a half that a float may round the other way */
} reference;

static reference reference_of(const row *r, int64_t i, double P)
{
    int32_t   j = r->column[i];
    bool      whole = r->discrete[j] != 0;
    double    lo = r->lo[j], hi = r->hi[j], d = whole ? (hi - lo) * tanh(P) : P;
    reference t = {.move = whole ? tanh(P) : P, .raw = r->x[i] + d};
    t.soft = clamp(t.raw, lo, hi);
    t.hard_values = clamp(r->x[i] + (whole ? nearbyint(d) : d), lo, hi);
    t.tie = whole && fabs(d - floor(d) - 0.5) < 1e-4;
    return t;
}

static void check_forward(kind k, bool own_bounds, int64_t n)
{
    row              r = make_row(k, own_bounds, n, 1);
    double           absolute = 0, squared = 0, drift = 0;
    int64_t          crossed = 0, idle = 0;
    cbx_perturb_sums sums = evaluate(&r);
    for (int64_t i = 0; i < n; i++) {
        reference t = reference_of(&r, i, r.P[i]);
        double    gap = t.soft - r.x[i], scale = fmax(1, r.span[r.column[i]]);
        CHECK_NEAR(r.move[i], t.move, 4e-7 * fmax(1, fabs(t.move)));
        CHECK_NEAR(r.soft[i], t.soft, 1e-6 * scale);
        if (!t.tie)
            CHECK_NEAR(r.hard_values[i], t.hard_values,
                       r.discrete[r.column[i]] != 0 ? 0 : 1e-6 * scale);
        absolute += r.discrete[r.column[i]] != 0 ? fabs(gap) : 0;
        squared += r.discrete[r.column[i]] != 0 ? 0 : gap * gap;
        drift += gap * gap; /* moves were 0 before */
        crossed += r.hard_values[i] != r.x[i];
        idle += r.P[i] == 0;
        CHECK(r.crossed[i] == r.hard_values[i] - r.x[i]);
        CHECK(r.P[i] != 0 || (r.soft[i] == r.x[i] && r.hard_values[i] == r.x[i]));
    }
    CHECK_NEAR(sums.absolute, absolute, 1e-5 * fmax(1, absolute));
    CHECK_NEAR(sums.squared, squared, 1e-5 * fmax(1, squared));
    CHECK_NEAR(sums.drift, drift, 1e-5 * fmax(1, drift));
    CHECK_INT(sums.crossed, crossed);
    CHECK_INT(sums.idle, idle);
    bag_free(&r.bag);
}

TEST(perturbed_values_and_their_sums_agree_with_the_reference)
{
    static const int64_t sizes[] = {0, 1, 2, 7, 8, 15, 16, 17, 33, 100, 511, 512};
    for (kind k = DISCRETE; k < KINDS; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int own = 0; own < 2; own++)
                check_forward(k, own, sizes[i]);
}

TEST(crossings_and_drift_count_from_the_move_before)
{
    for (kind k = DISCRETE; k < KINDS; k++) {
        row r = make_row(k, true, 50, 2);
        (void)evaluate(&r);
        cbx_perturb_sums same = evaluate(&r);
        CHECK_INT(same.crossed, 0);
        CHECK_NEAR(same.drift, 0, 0);
        float was[50], soft[50];
        memcpy(was, r.hard_values, sizeof was);
        memcpy(soft, r.soft, sizeof soft);
        r.P[3] += 20; /* far enough to cross, unless it is at its upper bound */
        r.P[49] -= 20;
        cbx_perturb_sums other = evaluate(&r);
        CHECK_INT(other.crossed, (r.hard_values[3] != was[3]) + (r.hard_values[49] != was[49]));
        CHECK_NEAR(r.crossed[3], r.hard_values[3] - was[3], 0);
        CHECK_NEAR(r.crossed[4], 0, 0);
        double drift = pow(r.soft[3] - soft[3], 2) + pow(r.soft[49] - soft[49], 2);
        CHECK(drift > 0);
        CHECK_NEAR(other.drift, drift, 1e-5 * drift);
        bag_free(&r.bag);
    }
}

/* One pass of the three is what the three are, one after the other. */
TEST(a_fused_step_of_adam_is_its_three_parts)
{
    for (kind k = DISCRETE; k < KINDS; k++)
        for (int pull = 0; pull < 2; pull++) {
            row r = make_row(k, true, 333, 5), other = make_row(k, true, 333, 5);
            (void)evaluate(&r);
            (void)evaluate(&other);
            for (int t = 1; t < 20; t++) {
                cbx_adam         adam = {0.1, 0.9, 0.999, 1e-8, 0, t};
                cbx_adam_rates   rates = cbx_adam_prepare(&adam);
                cbx_entries      e = entries(&r), parts = entries(&other);
                const float     *dX = pull ? r.dX : NULL;
                cbx_perturb_sums sums = in_pieces(&r, &e, dX, &rates);
                cbx_perturb_backward(r.n, &other.box, &parts, 0.25f, 0.5f, dX, other.grad);
                cbx_adam_apply(&rates, r.n, other.grad, other.a, other.b, other.P);
                cbx_perturb_sums expected = perturb(r.n, &other.box, &parts, other.crossed);
                CHECK_INT(sums.crossed, expected.crossed);
                CHECK_INT(sums.idle, expected.idle);
                CHECK_NEAR(sums.drift, expected.drift, 1e-5 * fmax(1, expected.drift));
                CHECK_NEAR(sums.absolute, expected.absolute, 1e-5 * fmax(1, expected.absolute));
                for (int64_t i = 0; i < r.n; i++) {
                    CHECK_NEAR(r.P[i], other.P[i], 1e-5);
                    CHECK_NEAR(r.move[i], other.move[i], 1e-5);
                }
            }
            bag_free(&r.bag);
            bag_free(&other.bag);
        }
}

/* ---- rounding */

/* One discrete feature from -16 to 16, x = 3. Parameters around atanh(half / 32)
 * include some whose move is exactly the half. */
static void check_tie(float half, float rounded)
{
    enum { COUNT = 4001 };
    const float     lo = -16, hi = 16, span = 32, one = 1;
    cbx_feature_box box = {&lo, &hi, &span, &one, true, 0, 0};
    bag             b = {0};
    int32_t        *column = TAKE(&b, int32_t, COUNT);
    float *x = filled(&b, COUNT, 3), *P = filled(&b, COUNT, 0), *move = filled(&b, COUNT, 0);
    float *soft = filled(&b, COUNT, 0), *hard_values = filled(&b, COUNT, 0);
    int    ties = 0;
    P[0] = (float)(atanh((double)half / 32) * (1 - 1e-4));
    for (int i = 0; i < COUNT; i++) {
        column[i] = 0;
        P[i] = i ? nextafterf(P[i - 1], half > 0 ? 100 : -100) : P[0];
    }
    cbx_entries e = {.column = column, .x = x, .P = P, .move = move};
    (void)perturb(COUNT, &box, &e, soft);
    cbx_perturb_values(COUNT, &box, &e, soft, hard_values);
    for (int i = 0; i < COUNT; i++) {
        double d = 32.0 * move[i]; /* exact in double */
        if ((float)d != half)
            CHECK_NEAR(hard_values[i], 3 + (double)rintf((float)d), 0);
        else if (++ties)
            CHECK_NEAR(hard_values[i], 3 + (double)rounded, 0);
    }
    CHECK(ties > 0);
    bag_free(&b);
}

TEST(ties_round_to_even)
{
    check_tie(0.5f, 0);
    check_tie(1.5f, 2);
    check_tie(2.5f, 2);
    check_tie(3.5f, 4);
    check_tie(-0.5f, 0);
    check_tie(-1.5f, -2);
    check_tie(-2.5f, -2);
}

/* The move is rounded, not the sum, and a value that does not move stays. */
TEST(a_discrete_value_that_is_no_whole_number_moves_by_whole_steps)
{
    const float     lo = 0, hi = 4, span = 4, one = 1;
    cbx_feature_box box = {&lo, &hi, &span, &one, true, 0, 0};
    const float     x[] = {0.3f, 0.3f, 0.3f, 3.7f};
    const int32_t   column[4] = {0};
    float           P[] = {0.05f, 0.26f, -0.26f, 0.26f}; /* tanh .26 * 4 = 1.017 */
    float           move[4] = {0}, soft[4], hard_values[4];
    cbx_entries     e = {.column = column, .x = x, .P = P, .move = move};
    (void)perturb(4, &box, &e, soft);
    cbx_perturb_values(4, &box, &e, soft, hard_values);
    CHECK_NEAR(hard_values[0], 0.3f, 0);
    CHECK_NEAR(hard_values[1], 1.3f, 1e-6);
    CHECK_NEAR(hard_values[2], 0, 0);
    CHECK_NEAR(hard_values[3], 4, 0);
}

/* ---- backward */

/* The sum whose derivative backward gives. */
static double objective(const row *r, int64_t i, double P, bool pull, double absolute,
                        double squared)
{
    reference t = reference_of(r, i, P);
    double    gap = t.soft - r->x[i];
    bool      whole = r->discrete[r->column[i]] != 0;
    return (pull ? r->dX[r->column[i]] * t.soft : 0) +
           (whole ? absolute * fabs(gap) : squared / 2 * gap * gap);
}

static bool near_a_kink(const row *r, int64_t i)
{
    reference t = reference_of(r, i, r->P[i]);
    int32_t   j = r->column[i];
    return fabs(t.raw - r->lo[j]) < 1e-3 || fabs(t.raw - r->hi[j]) < 1e-3 || fabs(r->P[i]) < 1e-3;
}

static int64_t check_backward(kind k, bool own_bounds, bool pull, uint64_t seed)
{
    enum { COUNT = 203 };
    const double h = 1e-6, absolute = 0.25, squared = 0.5;
    row          r = make_row(k, own_bounds, COUNT, seed);
    int64_t      inside = 0;
    (void)evaluate(&r);
    cbx_entries e = entries(&r);
    cbx_perturb_backward(COUNT, &r.box, &e, (float)absolute, (float)squared, pull ? r.dX : NULL,
                         r.grad);
    for (int64_t i = 0; i < COUNT; i++) {
        if (near_a_kink(&r, i))
            continue;
        double slope = (objective(&r, i, r.P[i] + h, pull, absolute, squared) -
                        objective(&r, i, r.P[i] - h, pull, absolute, squared)) /
                       (2 * h);
        CHECK_NEAR(r.grad[i], slope, 2e-5 * fmax(1, fabs(slope)));
        inside += slope != 0;
    }
    bag_free(&r.bag);
    return inside;
}

TEST(the_gradient_agrees_with_central_differences_away_from_kinks)
{
    for (kind k = DISCRETE; k < KINDS; k++)
        for (int own = 0; own < 2; own++) {
            int64_t inside = 0;
            for (uint64_t seed = 0; seed < 6; seed++)
                inside += check_backward(k, own, seed % 2, seed);
            CHECK(inside > 50);
        }
}

TEST(the_clamp_passes_the_gradient_on_its_bounds_and_blocks_it_outside)
{
    /* a continuous feature from -1 to 2 and a discrete one from 0 to 3 */
    const float     lo[] = {-1, 0}, hi[] = {2, 3}, span[] = {3, 3}, discrete[] = {0, 1};
    cbx_feature_box box = {lo, hi, span, discrete, false, 0, 0};
    const float     x[] = {0.5f, 0.5f, 0.5f, 0.5f, 2, -1, 0, 3, 3, 0};
    float           P[] = {1.5f, -1.5f, 1.625f, -1.625f, 0, 0, 0, 0, 0.1f, -0.1f};
    const int32_t   column[] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
    const bool      passes[] = {1, 1, 0, 0, 1, 1, 1, 1, 0, 0};
    const float     dX[] = {10, 20};
    float           move[10] = {0}, soft[10], hard_values[10], grad[10], own[3][10];
    for (int i = 0; i < 10; i++) {
        own[0][i] = lo[column[i]];
        own[1][i] = hi[column[i]];
        own[2][i] = discrete[column[i]] != 0 ? span[column[i]] : 0;
    }
    cbx_entries e = {
        .column = column, .x = x, .P = P, .move = move, .lo = own[0], .hi = own[1], .span = own[2]};
    (void)perturb(10, &box, &e, soft);
    cbx_perturb_values(10, &box, &e, soft, hard_values);
    cbx_perturb_backward(10, &box, &e, 0, 0, dX, grad);
    for (int i = 0; i < 10; i++)
        CHECK_NEAR(grad[i], !passes[i] ? 0 : i < 6 ? 10 : 3 * 20, 0);
    CHECK(soft[0] == 2 && soft[1] == -1 && soft[2] == 2 && soft[3] == -1);
}

TEST(the_gradient_of_the_distance_is_0_where_nothing_moved)
{
    for (kind k = DISCRETE; k < KINDS; k++) {
        row r = make_row(k, true, 60, 3);
        memset(r.P, 0, 60 * sizeof *r.P);
        (void)evaluate(&r);
        cbx_entries e = entries(&r);
        cbx_perturb_backward(60, &r.box, &e, 5, 7, NULL, r.grad);
        for (int i = 0; i < 60; i++)
            CHECK_NEAR(r.grad[i], 0, 0);
        bag_free(&r.bag);
    }
}
