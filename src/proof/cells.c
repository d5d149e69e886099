/* SPDX-License-Identifier: Apache-2.0 */
/* cells.c: see cells.h. */
#include "cell_parts.h"

#include <string.h>

#include "deadline.h"
#include "error.h"
#include "rounding.h"

/* Of more features cells are too many; halvings of one cell, and times that units are looked at
 * again. */
enum { MOST_FEATURES = 4, DEEPEST = 200, ROUNDS = 40 };
/* Weights of the head count so much of their size at least. */
static const double LEAST = 0.01;

/* ---- what applies */

static bool is_simple(const cbx_boxes *b)
{
    const cbx_net  *net = b->q->net;
    const cbx_view *view = b->q->graph->view;
    if (net->num_layers != 3 || net->layers[0].n_in > MOST_FEATURES || net->max_pool ||
        cbx_model_head_sees(net->model, 0))
        return false;
    for (int32_t l = 0; l < 3; l++)
        if (net->layers[l].norm != CBX_NORM_NONE || net->layers[l].maximum ||
            net->layers[l].reach != 1)
            return false;
    for (int64_t e = 0; view->weight && e < view->m; e++)
        if (view->weight[e] != 1)
            return false;
    return true;
}

/* Is every feature on one side of 0 in all rows? Then sums over neighbours are as large as their
 * terms together, which is what rounding goes by. */
static bool has_one_sign(const cbx_boxes *b)
{
    int32_t f = b->q->net->layers[0].n_in;
    for (int32_t k = 0; k < f; k++) {
        double low = 0, high = 0;
        for (int32_t i = 0; i < b->layers[0].rows_in; i++) {
            low = fmin(low, b->low[(int64_t)i * f + k]);
            high = fmax(high, b->high[(int64_t)i * f + k]);
        }
        if (low < 0 && high > 0)
            return false;
    }
    return !b->q->net->model->mean; /* which is taken off what is larger */
}

/* What a unit of the last layer may be uncertain by, for the sake of the nearest class; false: a
 * class is ahead where all of them are dead. */
static bool find_tolerance(cbx_cells *c)
{
    const cbx_net *net = c->b->q->net;
    double         nearest = INFINITY, size;
    for (int32_t j = 0; j < c->third->n_out; j++)
        c->tolerance[j] = 0;
    for (int32_t k = 0; k < net->model->num_classes; k++) {
        if (!c->q->sought[k])
            continue;
        nearest = fmin(nearest, -cbx_net_head_bias(net, k, c->q->behind, &size));
        (void)cbx_net_head(net, 2, k, c->q->behind, c->b->weights, c->b->sizes);
        for (int32_t j = 0; j < c->third->n_out; j++)
            c->tolerance[j] = fmax(c->tolerance[j], fmax(c->b->weights[j], LEAST * c->b->sizes[j]));
    }
    int32_t rows;
    double  share = cbx_boxes_share(c->b, &rows) * rows;
    for (int32_t j = 0; j < c->third->n_out; j++)
        c->tolerance[j] = CBX_CELL_TOLERANCE * nearest / (share * fmax(c->tolerance[j], 1e-30));
    return nearest > 0 && isfinite(nearest);
}

/* Around all rows: their own features, and the sums of what edges bring. */
static void find_space(cbx_cells *c)
{
    const cbx_partial_graph *g = c->b->q->graph;
    int32_t                  f = c->first->n_in;
    c->most_edges = 0;
    for (int32_t k = 0; k < 2 * f; k++) {
        c->low[k] = INFINITY;
        c->high[k] = -INFINITY;
    }
    for (int32_t v = 0; v < c->b->layers[0].rows; v++) {
        int64_t begin = g->view->offset[v], end = g->view->offset[v + 1];
        c->most_edges = fmax(c->most_edges, (double)(end - begin));
        for (int32_t k = 0; k < f; k++) {
            double least = 0, most = 0;
            for (int64_t e = begin; e < end; e++) {
                int64_t at = (int64_t)g->view->source[e] * f + k;
                bool    may_go = g->choice_of[e] >= 0;
                least += may_go ? fmin(c->b->low[at], 0) : c->b->low[at];
                most += may_go ? fmax(c->b->high[at], 0) : c->b->high[at];
            }
            c->low[k] = fmin(c->low[k], c->b->low[(int64_t)v * f + k]);
            c->high[k] = fmax(c->high[k], c->b->high[(int64_t)v * f + k]);
            c->low[f + k] = fmin(c->low[f + k], least);
            c->high[f + k] = fmax(c->high[f + k], most);
        }
    }
    for (int32_t l = 0; l < 3; l++)
        c->rounding[l] =
            1.01 * (2.0 * c->b->q->net->layers[l].n_in + c->most_edges + 16) * CBX_ROUNDING_UNIT;
}

/* ---- memory */

static int make_cell(const cbx_cells *c, cbx_cell *s, cbx_arena *arena)
{
    s->corner = CBX_NEW(arena, double, (int64_t)c->corners * c->dims);
    s->before = CBX_NEW(arena, double, (int64_t)c->corners * c->first->n_out);
    s->wrong = CBX_NEW(arena, double, c->corners);
    s->total = CBX_NEW(arena, double, c->corners);
    s->open = CBX_NEW(arena, uint8_t, c->third->n_out);
    return s->corner && s->before && s->wrong && s->total && s->open ? 0 : -1;
}

static int make_room(cbx_cells *c, cbx_arena *arena)
{
    int64_t a = c->first->n_out, b = c->second->n_out, w = c->third->n_out;
    int64_t most = CBX_CELL_POINTS + CBX_CELL_MORE_POINTS + 1;
    bool    all = (c->low = CBX_NEW(arena, double, c->dims)) != NULL;
    all = all && (c->high = CBX_NEW(arena, double, c->dims));
    all = all && (c->line = CBX_NEW(arena, double, c->corners *a));
    all = all && (c->gap = CBX_NEW(arena, double, c->corners *a));
    all = all && (c->most = CBX_NEW(arena, double, w));
    all = all && (c->tolerance = CBX_NEW(arena, double, w));
    all = all && (c->allowed = CBX_NEW(arena, double, w));
    all = all && (c->least = CBX_NEW(arena, double, w));
    all = all && (c->again = CBX_NEW0(arena, uint8_t, w));
    all = all && (c->slopes = CBX_NEW(arena, double, 2 * b));
    all = all && (c->points = CBX_NEW(arena, double, c->dims));
    all = all && (c->point_share = CBX_NEW(arena, double, most));
    for (int k = 0; all && k < CBX_WAYS; k++) {
        all = all && (c->largest[k] = CBX_NEW(arena, double, b));
        all = all && (c->above[k] = CBX_NEW(arena, double, w *b));
        all = all && (c->below[k] = CBX_NEW(arena, double, w *b));
        all = all && (c->slope[k] = CBX_NEW(arena, double, b));
        all = all && (c->up[k] = CBX_NEW(arena, double, c->corners *b));
        all = all && (c->down[k] = CBX_NEW(arena, double, c->corners *b));
        all = all && (c->point_up[k] = CBX_NEW(arena, double, most *b));
        all = all && (c->point_z[k] = CBX_NEW(arena, double, most *b));
    }
    all = all && (c->stack = CBX_NEW(arena, cbx_cell, DEEPEST + 1));
    for (int32_t k = 0; all && k <= DEEPEST; k++)
        all = !make_cell(c, &c->stack[k], arena);
    return all ? 0 : -1;
}

/* ---- the first two layers at a point */

void cbx_cells_before(const cbx_cells *c, const double *point, double *before, double *wrong,
                      double *total)
{
    int32_t f = c->first->n_in, n = c->first->n_out;
    double  size = 0;
    memcpy(before, c->first->bias, (size_t)n * sizeof *before);
    for (int32_t j = 0; j < n; j++)
        size += c->first->bias_size[j];
    for (int32_t k = 0; k < 2 * f; k++) {
        const double *w =
            cbx_cells_weights(c->first, k < f ? CBX_OWN : CBX_SENT) + (int64_t)(k % f) * n;
        for (int32_t j = 0; j < n; j++) {
            before[j] += point[k] * w[j];
            size += fabs(point[k] * w[j]);
        }
    }
    *total = 0;
    for (int32_t j = 0; j < n; j++)
        *total += fmax(before[j], 0);
    *wrong = c->rounding[0] * size;
}

void cbx_cells_add_product(const cbx_cells *c, int way, const double *x, int sign, double *to)
{
    int32_t       n = c->second->n_out;
    const double *W = cbx_cells_weights(c->second, way);
    for (int32_t k = 0; k < c->second->n_in; k++) {
        const double *w = W + (int64_t)k * n;
        if (x[k] == 0)
            continue;
        for (int32_t j = 0; j < n; j++)
            to[j] += sign == 0 || (sign > 0) == (w[j] > 0) ? x[k] * w[j] : 0;
    }
}

void cbx_cells_take_slopes(cbx_cells *c, int32_t unit)
{
    int32_t n = c->second->n_out, w = c->third->n_out;
    for (int way = 0; way < CBX_WAYS; way++)
        for (int32_t p = 0; p < n; p++) {
            double of = cbx_cells_weights(c->third, way)[(int64_t)p * w + unit];
            double slope = fmin(fmax(c->slope[way][p], 0), 1);
            c->above[way][(int64_t)unit * n + p] = fmax(of, 0) + c->rounding[2] * fabs(of);
            c->below[way][(int64_t)unit * n + p] = fmax(-of, 0) * slope;
        }
}

/* ---- between corners */

/* A line below each unit of the first layer, and how far its corners are above: between them relu
 * is below the plane through its values at the corners. */
static void find_lines(const cbx_cells *c, const cbx_cell *s)
{
    int32_t n = c->first->n_out;
    for (int32_t j = 0; j < n; j++) {
        double sum = 0, least = INFINITY, most = -INFINITY;
        for (int32_t k = 0; k < c->corners; k++) {
            double z = s->before[(int64_t)k * n + j];
            sum += z;
            least = fmin(least, z);
            most = fmax(most, z);
        }
        bool rises = least >= 0 || (most > 0 && sum > 0);
        for (int32_t k = 0; k < c->corners; k++) {
            int64_t at = (int64_t)k * n + j;
            c->line[at] = rises ? s->before[at] : 0;
            c->gap[at] = fmax(s->before[at], 0) - c->line[at];
        }
    }
}

/* What the second layer's terms of a row are between, at each corner. */
static void find_terms(const cbx_cells *c, const cbx_cell *s)
{
    int32_t n = c->second->n_out, in = c->second->n_in;
    find_lines(c, s);
    for (int way = 0; way < CBX_WAYS; way++)
        for (int32_t k = 0; k < c->corners; k++) {
            double *up = c->up[way] + (int64_t)k * n, *down = c->down[way] + (int64_t)k * n;
            double  wrong = c->rounding[1] * s->total[k] + (1 + c->rounding[1]) * s->wrong[k];
            memset(down, 0, (size_t)n * sizeof *down);
            cbx_cells_add_product(c, way, c->line + (int64_t)k * in, 0, down);
            memcpy(up, down, (size_t)n * sizeof *up);
            cbx_cells_add_product(c, way, c->gap + (int64_t)k * in, 1, up);
            cbx_cells_add_product(c, way, c->gap + (int64_t)k * in, -1, down);
            for (int32_t j = 0; j < n; j++) {
                double bias = way == CBX_OWN ? c->second->bias[j] : 0;
                double off = wrong * c->largest[way][j] +
                             (way == CBX_OWN ? c->rounding[1] * c->second->bias_size[j] : 0);
                up[j] = fmax(up[j] + bias + off, 0);
                down[j] += bias - off;
            }
        }
}

/* Closes those units of which the cell tells enough. True: some are left. */
static bool settle(cbx_cells *c, const cbx_cell *s)
{
    bool any = false;
    find_terms(c, s);
    c->work += 0.75 * CBX_WAYS * c->corners * c->second->n_in * c->second->n_out;
    for (int32_t j = 0; j < c->third->n_out; j++) {
        s->open[j] = s->open[j] && !c->again[j];
        if (!s->open[j])
            continue;
        double  most = -INFINITY;
        bool    enough = true;
        int32_t k = 0;
        for (; k < c->corners && enough; k++) {
            cbx_adds a = cbx_cells_adds(c, j, k, c->up, c->down);
            most = fmax(most, a.self);
            enough = cbx_cells_enough(c, j, &a, c->allowed[j]);
        }
        c->work += 2.0 * k * c->second->n_out;
        if (enough) {
            c->most[j] = fmax(c->most[j], most);
            s->open[j] = false;
        }
        any = any || s->open[j];
    }
    return any;
}

static double length_of(const cbx_cells *c, const cbx_cell *s, int32_t k)
{
    double square = 0;
    for (int32_t j = 0; j < c->first->n_out; j++) {
        double z = s->before[(int64_t)k * c->first->n_out + j];
        square += z * z;
    }
    return fmax(sqrt(square), 1e-30);
}

/* The two corners whose units differ most in their directions. */
static void find_edge(const cbx_cells *c, const cbx_cell *s, int32_t *from, int32_t *to)
{
    int32_t n = c->first->n_out;
    double  widest = -INFINITY;
    for (int32_t a = 0; a < c->corners; a++)
        for (int32_t b = 0; b < a; b++) {
            double x = length_of(c, s, a), y = length_of(c, s, b);
            double angle =
                -cbx_lines_dot(n, s->before + (int64_t)a * n, s->before + (int64_t)b * n) / (x * y);
            if (angle > widest) {
                widest = angle;
                *from = a;
                *to = b;
            }
        }
}

/* The part of a cell in which the corner `moves` is nearer to `stays`: half of the angle between.
 */
static void halve(const cbx_cells *c, const cbx_cell *s, cbx_cell *part, int32_t stays,
                  int32_t moves)
{
    int32_t d = c->dims, n = c->first->n_out;
    double  x = 1 / length_of(c, s, stays), y = 1 / length_of(c, s, moves);
    memcpy(part->corner, s->corner, (size_t)c->corners * (size_t)d * sizeof(double));
    memcpy(part->before, s->before, (size_t)c->corners * (size_t)n * sizeof(double));
    memcpy(part->wrong, s->wrong, (size_t)c->corners * sizeof(double));
    memcpy(part->total, s->total, (size_t)c->corners * sizeof(double));
    memcpy(part->open, s->open, (size_t)c->third->n_out);
    for (int32_t k = 0; k < d; k++)
        part->corner[moves * d + k] =
            (x * s->corner[stays * d + k] + y * s->corner[moves * d + k]) / (x + y);
    cbx_cells_before(c, part->corner + (int64_t)moves * d, part->before + (int64_t)moves * n,
                     &part->wrong[moves], &part->total[moves]);
}

/* Are there lines for all units at a new corner? Where not, it is a further point to choose by. */
static void look_at(cbx_cells *c, const cbx_cell *s, int32_t corner)
{
    int32_t at = c->num_points;
    cbx_cells_take_point(c, at, s->corner + (int64_t)corner * c->dims);
    for (int32_t j = 0; j < c->third->n_out && !c->given_up; j++) {
        if (!s->open[j] || c->again[j])
            continue;
        cbx_adds a = cbx_cells_adds(c, j, at, c->point_up, c->point_z);
        if (cbx_cells_enough(c, j, &a, cbx_cells_aim(c, j)))
            continue;
        c->num_points = at + 1;
        c->again[j] = true;
        c->given_up =
            at >= CBX_CELL_POINTS + CBX_CELL_MORE_POINTS || !cbx_cells_choose_slopes(c, j);
    }
}

static void explore(cbx_cells *c, int32_t depth)
{
    cbx_cell *s = &c->stack[depth], *part = s + 1;
    int32_t   from = 0, to = 0;
    if (c->given_up || !settle(c, s))
        return;
    double step = 0.75 * CBX_WAYS * c->corners * c->second->n_in * c->second->n_out;
    if (depth == DEEPEST || c->work > c->q->most_work || cbx_out_of_time(step)) {
        c->given_up = true;
        return;
    }
    find_edge(c, s, &from, &to);
    c->work += (double)c->corners * c->corners * c->first->n_out;
    halve(c, s, part, from, to);
    look_at(c, part, to);
    explore(c, depth + 1);
    halve(c, s, part, to, from);
    explore(c, depth + 1);
}

/* One cell that has all of the space in it: from its lowest corner along each dimension as many
 * times as far as there are dimensions. */
static void begin(cbx_cells *c)
{
    cbx_cell *s = &c->stack[0];
    for (int32_t k = 0; k < c->corners; k++) {
        double *p = s->corner + (int64_t)k * c->dims;
        memcpy(p, c->low, (size_t)c->dims * sizeof *p);
        for (int32_t j = 0; j < c->dims; j++) { /* and a little more, for rounding */
            double little = 1e-3 * (1 + fabs(c->low[j]));
            p[j] -= 1e-6 * little;
            p[j] += j == k - 1 ? c->dims * 1.001 * (c->high[j] - c->low[j]) + little : 0;
        }
        cbx_cells_before(c, p, s->before + (int64_t)k * c->first->n_out, &s->wrong[k],
                         &s->total[k]);
    }
    for (int32_t j = 0; j < c->third->n_out; j++) {
        s->open[j] = c->again[j];
        c->most[j] = c->again[j] ? -INFINITY : c->most[j];
        c->again[j] = false;
    }
}

/* All units; and those again for which other lines were chosen on the way. */
static void explore_all(cbx_cells *c)
{
    bool any = true;
    for (int32_t j = 0; j < c->third->n_out; j++)
        c->again[j] = true;
    for (int round = 0; any && !c->given_up; round++) {
        begin(c);
        explore(c, 0);
        any = false;
        for (int32_t j = 0; j < c->third->n_out; j++)
            any = any || c->again[j];
        c->given_up = c->given_up || (any && round == ROUNDS);
    }
}

/* ---- all of it */

static void find_largest(cbx_cells *c)
{
    int32_t n = c->second->n_out;
    for (int way = 0; way < CBX_WAYS; way++)
        for (int32_t j = 0; j < n; j++) {
            c->largest[way][j] = 0;
            for (int32_t k = 0; k < c->second->n_in; k++)
                c->largest[way][j] =
                    fmax(c->largest[way][j],
                         fabs(cbx_cells_weights(c->second, way)[(int64_t)k * n + j]));
        }
}

static void lower_tops(const cbx_cells *c)
{
    cbx_box_layer *y = &c->b->layers[2];
    int32_t        n = c->third->n_out;
    for (int64_t at = 0; at < (int64_t)y->rows * n; at++) {
        int32_t j = (int32_t)(at % n);
        double  bias = c->third->bias[j] + c->rounding[2] * c->third->bias_size[j];
        double  others =
            2 * CBX_CELL_LITTLE * c->tolerance[j]; /* those next to it, and further ones */
        y->high[at] = fmin(y->high[at], c->most[j] + bias + others);
        y->low[at] = fmin(y->low[at], y->high[at]);
    }
}

/* Lines for all units. *known false: there are none that tell enough. */
static cbx_status choose_lines(cbx_cells *c, bool *known, cbx_error *err)
{
    *known = true;
    for (int32_t j = 0; j < c->third->n_out && *known; j++) {
        if (cbx_out_of_time(8.0 * CBX_CELL_POINTS * c->second->n_out))
            return cbx_fail_late(err);
        *known =
            cbx_cells_allow(c, j) && cbx_cells_choose_slopes(c, j) && c->work <= c->q->most_work;
    }
    return CBX_OK;
}

cbx_status cbx_cells_narrow(cbx_boxes *boxes, cbx_cells_question *q, cbx_arena *arena,
                            bool *narrowed, cbx_error *err)
{
    const cbx_net_layer *layers = boxes->q->net->layers;
    bool                 known;
    *narrowed = false;
    q->spent = 0;
    if (!is_simple(boxes) || !has_one_sign(boxes))
        return CBX_OK;
    cbx_cells c = {.b = boxes, .q = q, .first = layers, .second = layers + 1, .third = layers + 2};
    c.dims = 2 * c.first->n_in;
    c.corners = c.dims + 1;
    if (make_room(&c, arena))
        return cbx_fail_memory(err);
    if (!find_tolerance(&c))
        return CBX_OK;
    find_space(&c);
    find_largest(&c);
    cbx_cells_draw_points(&c);
    cbx_status status = choose_lines(&c, &known, err);
    if (!status && known)
        explore_all(&c);
    q->spent = c.work;
    if (status || !known)
        return status;
    if (cbx_time_is_up())
        return cbx_fail_late(err);
    if (!c.given_up) {
        lower_tops(&c);
        cbx_boxes_finish(boxes);
        *narrowed = true;
    }
    return CBX_OK;
}
