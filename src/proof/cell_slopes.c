/* SPDX-License-Identifier: Apache-2.0 */
/* cell_slopes.c: see cell_parts.h. Which lines are chosen decides whether something is proved, and
 * never what. */
#include "cell_parts.h"

#include <string.h>

#include "order.h"
#include "rng.h"

/* Steps of choosing. */
enum { STEPS = 300 };
/* Lines are good enough where a row adds no more than that times its features; and how much less
 * than what is allowed is aimed at. */
static const double GOOD = -0.02, SLACK = 0.1;

void cbx_cells_take_point(cbx_cells *c, int32_t i, const double *point)
{
    int32_t n = c->second->n_out;
    double  wrong, total, length = 1;
    for (int32_t k = 0; k < c->dims; k++)
        length += fabs(point[k]);
    c->point_share[i] = 1 / length;
    cbx_cells_before(c, point, c->line, &wrong, &total);
    for (int32_t j = 0; j < c->first->n_out; j++)
        c->line[j] = fmax(c->line[j], 0);
    for (int way = 0; way < CBX_WAYS; way++) {
        double *z = c->point_z[way] + (int64_t)i * n, *up = c->point_up[way] + (int64_t)i * n;
        memset(z, 0, (size_t)n * sizeof *z);
        if (way == CBX_OWN)
            memcpy(z, c->second->bias, (size_t)n * sizeof *z);
        cbx_cells_add_product(c, way, c->line, 0, z);
        for (int32_t j = 0; j < n; j++)
            up[j] = fmax(z[j], 0);
    }
}

/* More often near 1, evenly, near 0, or very near to it: powers that every processor has alike. */
static double bent(double u, int64_t how)
{
    return how == 0 ? sqrt(sqrt(u)) : cbx_own_power(u, how == 1 ? 1 : how == 2 ? 4 : 16);
}

void cbx_cells_draw_points(cbx_cells *c)
{
    static const double reach[] = {0.003, 0.03, 0.3, 1};
    cbx_rng             rng = cbx_rng_stream(3, 1, 4, 1);
    for (c->num_points = 0; c->num_points < CBX_CELL_POINTS; c->num_points++) {
        double *p = c->points, far = c->num_points ? reach[cbx_rng_below(&rng, 4)] : 0;
        for (int32_t k = 0; k < c->dims; k++) {
            double drawn = cbx_rng_uniform(&rng);
            double way = bent(drawn, (int64_t)cbx_rng_below(&rng, 4));
            p[k] = c->low[k] + far * way * (c->high[k] - c->low[k]);
        }
        cbx_cells_take_point(c, c->num_points, p);
    }
}

double cbx_cells_aim(const cbx_cells *c, int32_t unit)
{
    return c->allowed[unit] - SLACK * (c->allowed[unit] - c->least[unit]);
}

/* The worst point for a unit and which of the three it is, as a share of its features' size. */
static double find_worst(cbx_cells *c, int32_t unit, int32_t *worst, int *which)
{
    double most = -INFINITY, bias = c->third->bias[unit] - cbx_cells_aim(c, unit);
    for (int32_t i = 0; i < c->num_points; i++) {
        cbx_adds a = cbx_cells_adds(c, unit, i, c->point_up, c->point_z);
        double   little = cbx_cells_little(c, unit) / 2;
        double   all[3] = {a.self + bias, a.next - little, a.far - little / fmax(c->most_edges, 1)};
        for (int k = 0; k < 3; k++)
            if (all[k] * c->point_share[i] > most) {
                most = all[k] * c->point_share[i];
                *worst = i;
                *which = k;
            }
    }
    return most;
}

/* A step of slopes against what makes the worst point bad. */
static void step_slopes(cbx_cells *c, int32_t unit, int32_t worst, int which, double much)
{
    static const bool counts[3][CBX_WAYS][CBX_WAYS] = {{{true, false}, {false, false}},
                                                       {{false, true}, {true, false}},
                                                       {{false, false}, {false, true}}};
    int32_t           n = c->second->n_out, w = c->third->n_out;
    double            square = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int third = 0; third < CBX_WAYS; third++)
            for (int32_t p = 0; p < n; p++) {
                double of = fmax(-cbx_cells_weights(c->third, third)[(int64_t)p * w + unit], 0),
                       by = 0;
                for (int second = 0; second < CBX_WAYS; second++)
                    if (counts[which][third][second])
                        by +=
                            of * c->point_z[second][(int64_t)worst * n + p] * c->point_share[worst];
                if (pass == 0)
                    square += by * by;
                else if (square > 0)
                    c->slope[third][p] = fmin(fmax(c->slope[third][p] + much / square * by, 0), 1);
            }
}

bool cbx_cells_allow(cbx_cells *c, int32_t unit)
{
    int32_t n = c->second->n_out, w = c->third->n_out;
    double  most = 0;
    for (int32_t i = 0; i < c->num_points; i++) {
        double sum = c->third->bias[unit];
        for (int32_t p = 0; p < n; p++)
            sum += c->third->own[(int64_t)p * w + unit] * c->point_up[CBX_OWN][(int64_t)i * n + p];
        most = fmax(most, sum);
    }
    c->least[unit] = most;
    c->allowed[unit] = most > 0 ? most + c->tolerance[unit] : 0;
    return most < c->tolerance[unit] / CBX_CELL_TOLERANCE;
}

bool cbx_cells_choose_slopes(cbx_cells *c, int32_t unit)
{
    int32_t n = c->second->n_out, worst = 0;
    double  best = INFINITY;
    int     which = 0;
    for (int way = 0; way < CBX_WAYS; way++)
        for (int32_t p = 0; p < n; p++) {
            double sum = 0;
            for (int32_t i = 0; i < CBX_CELL_POINTS; i++)
                sum += c->point_z[CBX_OWN][(int64_t)i * n + p] +
                       c->point_z[CBX_SENT][(int64_t)i * n + p];
            c->slope[way][p] = sum > 0;
        }
    for (int step = 0; step < STEPS && !(best < GOOD); step++) {
        cbx_cells_take_slopes(c, unit);
        double at = find_worst(c, unit, &worst, &which);
        c->work += 8.0 * c->num_points * n;
        if (at < best) {
            best = at;
            memcpy(c->slopes, c->slope[CBX_OWN], (size_t)n * sizeof *c->slopes);
            memcpy(c->slopes + n, c->slope[CBX_SENT], (size_t)n * sizeof *c->slopes);
        }
        step_slopes(c, unit, worst, which, at - GOOD);
    }
    memcpy(c->slope[CBX_OWN], c->slopes, (size_t)n * sizeof *c->slopes);
    memcpy(c->slope[CBX_SENT], c->slopes + n, (size_t)n * sizeof *c->slopes);
    cbx_cells_take_slopes(c, unit);
    return best <= 0;
}
