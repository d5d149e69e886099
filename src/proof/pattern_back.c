/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_back.c: see pattern_back.h. */
#include "pattern_back.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

/* ---- memory */

int cbx_pattern_back_init(cbx_pattern_back *f, const cbx_pattern_question *q)
{
    *f = (cbx_pattern_back){.q = q};
    if (cbx_patterns_init(&f->all, q))
        return -1;
    f->rows = f->all.rows;
    const cbx_net *net = f->q->net;
    cbx_arena     *arena = &f->all.arena;
    int64_t        patterns = 0;
    for (int32_t i = 0; i < f->q->graph->view->n; i++)
        patterns = f->rows[i].patterns > patterns ? f->rows[i].patterns : patterns;
    f->head = CBX_NEW(arena, double, net->widest);
    f->seen = CBX_NEW(arena, double, net->widest);
    f->sizes = CBX_NEW(arena, double, net->widest);
    f->line = CBX_NEW(arena, double *, net->num_layers);
    f->boxed = CBX_NEW(arena, double *, net->num_layers);
    f->turned = CBX_NEW(arena, double *, net->num_layers);
    f->back = CBX_NEW(arena, double *, net->num_layers);
    if (!f->head || !f->seen || !f->sizes || !f->line || !f->back || !f->boxed || !f->turned)
        return -1;
    for (int32_t l = 0; l < net->num_layers; l++) {
        f->line[l] = CBX_NEW(arena, double, net->layers[l].n_out);
        f->back[l] = CBX_NEW(arena, double, net->layers[l].n_in);
        f->boxed[l] = CBX_NEW(arena, double, patterns);
        if (!f->line[l] || !f->back[l] || !f->boxed[l] ||
            /* of the first layer no weights are asked for */
            (l > 0 &&
             !(f->turned[l] = cbx_lines_turn(&net->layers[l], net->layers[l].neighbour, arena))))
            return -1;
    }
    return 0;
}

/* ---- rows by number in the first layer
 *
 * By relu(a + b) <= relu(a) + relu(b), which makes a sum over nodes of each unit with a weight
 * above 0. */

/* r->sums: what edges bring, with none of the open ones left, with the best one, the best two, … */
static void split_edges(const cbx_pattern_back *f, int32_t i, const double *weight)
{
    const cbx_pattern_row *r = &f->rows[i];
    int32_t                width = f->q->net->layers[0].n_out;
    const double          *base = f->q->spread->base;
    double                 stays = 0;
    for (int32_t k = 0; k < r->open + r->fixed; k++) {
        double value = cbx_lines_split(width, weight, r->slope, base + (int64_t)r->from[k] * width);
        value *= value > 0 ? r->most_scale[k] : r->least_scale[k];
        if (k < r->open)
            r->sums[k + 1] = value;
        else
            stays += value;
    }
    cbx_pattern_add_up(r, r->sums + 1, 1, true);
    for (int32_t k = 1; k <= r->open; k++)
        r->sums[k] += stays;
    r->sums[0] = stays;
}

/* The most that the weights come to with a pattern, by those sums; if `scaled`, times the scale. */
static double split_value(const cbx_pattern_back *f, int32_t i, int64_t p, const double *weight,
                          bool scaled)
{
    const cbx_pattern_row *r = &f->rows[i];
    const cbx_net_layer   *net = &f->q->net->layers[0];
    const double          *own = f->q->spread->base + (int64_t)i * net->n_out;
    double                 largest = -INFINITY;
    int32_t                fewest, most;
    cbx_pattern_left(r, p, &fewest, &most);
    for (int32_t left = fewest; left <= most; left++) {
        double s = cbx_pattern_scale_at(r, left);
        for (int32_t k = 0; k < net->n_out; k++)
            f->line[0][k] = s * s * own[k] + net->bias[k];
        double sum = cbx_lines_split(net->n_out, weight, r->slope, f->line[0]) + s * r->sums[left];
        largest = fmax(largest, scaled ? s * sum : sum);
    }
    return largest;
}

/* ---- steps */

static double step(cbx_pattern_back *f, int32_t l, int32_t i, int64_t p, const double *weight,
                   bool scaled);

/* Weights of a row's units with a pattern, by their boxes alone; if `scaled`, times its scale. */
static double value_in_boxes(const cbx_pattern_back *f, int32_t l, int32_t i, int64_t p,
                             const double *weight, bool scaled)
{
    const cbx_pattern_row *r = &f->rows[i];
    int32_t                width = f->q->net->layers[l].n_out, fewest, most;
    int64_t                at = p * width;
    double value = cbx_lines_in_box(width, weight, r->of[l].low + at, r->of[l].high + at);
    cbx_pattern_left(r, p, &fewest, &most);
    return scaled ? value * cbx_pattern_scale_at(r, value > 0 ? fewest : most) : value;
}

/* By lines that hold for all patterns of row i's k-th neighbour that the edge allows, so that what
 * its edges bring is asked for once: lowers `boxed`, by pattern, where that tells more. */
static void step_all(cbx_pattern_back *f, int32_t l, int32_t i, int32_t k, const double *weight,
                     double *boxed)
{
    int32_t                from = f->rows[i].from[k];
    const cbx_pattern_row *u = &f->rows[from];
    const cbx_net_layer   *net = &f->q->net->layers[l - 1];
    int64_t                edges = u->open + u->fixed, at = (int64_t)k * net->n_out;
    double                *line = f->line[l - 1], *back = f->back[l - 1];
    double                *brought = u->brought + (l - 1) * edges, stays = 0;
    if (cbx_patterns_late(&f->all, 2.0 * net->n_in * net->n_out))
        return;
    double rest = cbx_lines_of_relu(weight, f->rows[i].around_low[l] + at,
                                    f->rows[i].around_high[l] + at, net->n_out, line);
    rest += cbx_lines_dot(net->n_out, line, net->bias);
    cbx_lines_multiply(net, f->turned[l - 1], line, back);
    for (int32_t e = 0; e < edges; e++) {
        brought[e] = cbx_pattern_edge(f, l - 1, from, e, back);
        stays += e < u->open ? 0 : brought[e];
    }
    if (u->by_number)
        cbx_pattern_add_up(u, brought, 1, true);
    for (int64_t p = 0; p < u->patterns; p++) {
        double  largest = -INFINITY;
        int32_t fewest, most;
        if (boxed[p] == -INFINITY)
            continue;
        double own = cbx_pattern_eval(f, l - 2, from, p, back);
        cbx_pattern_left(u, p, &fewest, &most);
        for (int32_t left = fewest; left <= most; left++) {
            double s = cbx_pattern_scale_at(u, left), sum = stays;
            for (int32_t e = 0; e < u->open && !u->by_number; e++)
                sum += p >> e & 1 ? brought[e] : 0;
            sum += u->by_number && left > 0 ? brought[left - 1] : 0;
            largest = fmax(largest, s * (rest + s * (sum + s * own)));
        }
        boxed[p] = fmin(boxed[p], largest);
    }
}

/* What the edge from the k-th other end brings at most, with these weights of what it carries. */
double cbx_pattern_edge(cbx_pattern_back *f, int32_t l, int32_t i, int32_t k, const double *weight)
{
    int32_t          from = f->rows[i].from[k];
    cbx_pattern_row *u = &f->rows[from];
    double           most = -INFINITY;
    if (l == 0) {
        int32_t width = f->q->net->layers[0].n_out;
        double  value = cbx_lines_dot(width, weight, f->q->spread->base + (int64_t)from * width);
        return value * (value > 0 ? f->rows[i].most_scale[k] : f->rows[i].least_scale[k]);
    }
    double *boxed = f->boxed[l];
    bool    split = l == 1 && u->by_number;
    if (split)
        split_edges(f, from, weight);
    for (int64_t p = 0; p < u->patterns; p++) {
        boxed[p] = cbx_pattern_allows(u, p, i) ? value_in_boxes(f, l - 1, from, p, weight, true)
                                               : -INFINITY;
        if (split && boxed[p] > -INFINITY)
            boxed[p] = fmin(boxed[p], split_value(f, from, p, weight, true));
    }
    if (l > 1 && u->patterns > 2)
        step_all(f, l, i, k, weight, boxed);
    for (;;) { /* the one that may be largest next, until none may be larger than what was found */
        int64_t next = 0;
        for (int64_t p = 1; p < u->patterns; p++)
            next = boxed[p] > boxed[next] ? p : next;
        if (!(boxed[next] > most))
            return most;
        most = fmax(most, fmin(boxed[next], step(f, l - 1, from, next, weight, true)));
        boxed[next] = -INFINITY;
    }
}

/* The sum of the `most` largest of those values, which are put in another order: what is on the
 * wrong side of one of them changes sides, until that one is where it belongs. */
static double sum_of_largest(double *values, int64_t count, int64_t most)
{
    int64_t first = 0, last = count - 1;
    double  sum = 0;
    while (first < last) {
        double  middle = values[first + (last - first) / 2];
        int64_t a = first, b = last;
        while (a <= b) {
            while (values[a] > middle)
                a++;
            while (values[b] < middle)
                b--;
            if (a > b)
                break;
            double other = values[a];
            values[a++] = values[b];
            values[b--] = other;
        }
        if (most <= b)
            last = b;
        else if (most >= a)
            first = a;
        else
            break;
    }
    for (int64_t k = 0; k < most; k++)
        sum += values[k];
    return sum;
}

/* The same of all of a pattern's edges, with the fewest that it leaves; of rows by number those
 * that are not counted in it are behind the others in r->values, layer by layer. */
static double edge_values(cbx_pattern_back *f, int32_t l, int32_t i, int64_t p,
                          const double *weight)
{
    const cbx_pattern_row *r = &f->rows[i];
    double                 sum = 0, *values = r->values + (int64_t)l * r->open;
    for (int32_t k = 0; k < r->open + r->fixed; k++) {
        if (r->by_number && k < r->open)
            values[k] = cbx_pattern_edge(f, l, i, k, weight);
        else if (cbx_pattern_has(r, p, k))
            sum += cbx_pattern_edge(f, l, i, k, weight);
    }
    return r->by_number ? sum + sum_of_largest(values, r->open, r->numbers[p]) : sum;
}

/* A row's sum, of `rest`, what edges bring and its own share, at most over the numbers of edges
 * that the pattern leaves; if `scaled`, times the scale. */
static double row_sum(cbx_pattern_back *f, int32_t l, int32_t i, int64_t p, const double *weight,
                      double rest, double own, bool scaled)
{
    const cbx_pattern_row *r = &f->rows[i];
    double                 edges = edge_values(f, l, i, p, weight), largest = -INFINITY;
    int32_t                fewest, most;
    cbx_pattern_left(r, p, &fewest, &most);
    double *more = r->values + (int64_t)l * r->open + fewest;
    if (most > fewest) {
        (void)sum_of_largest(more, r->open - fewest, most - fewest);
        qsort(more, (size_t)(most - fewest), sizeof *more, cbx_by_size);
    }
    for (int32_t left = fewest; left <= most; left++) {
        double s = cbx_pattern_scale_at(r, left), sum = rest + s * (edges + s * own);
        largest = fmax(largest, scaled ? s * sum : sum);
        edges += left < most ? more[left - fewest] : 0;
    }
    return largest;
}

/* By lines through the ends of boxes, or by the boxes. */
static double step(cbx_pattern_back *f, int32_t l, int32_t i, int64_t p, const double *weight,
                   bool scaled)
{
    const cbx_net_layer     *net = &f->q->net->layers[l];
    const cbx_pattern_row   *r = &f->rows[i];
    const cbx_pattern_boxes *b = &r->of[l];
    int64_t                  at = p * net->n_out;
    double                   own, boxed = value_in_boxes(f, l, i, p, weight, scaled);
    if (cbx_patterns_late(&f->all, 2.0 * net->n_in * net->n_out))
        return INFINITY;
    double *line = f->line[l], *back = l ? f->back[l] : line;
    double  rest =
        l ? cbx_lines_of_relu(weight, b->low + at, b->high + at, net->n_out, line)
           : cbx_lines_take(net->n_out, weight, b->above + at, b->below + at, b->rest + at, line);
    rest += cbx_lines_dot(net->n_out, line, net->bias);
    if (l == 0) {
        own = cbx_lines_dot(net->n_out, line, f->q->spread->base + (int64_t)i * net->n_out);
    } else {
        cbx_lines_multiply(net, f->turned[l], line, back);
        own = cbx_pattern_eval(f, l - 1, i, p, back);
    }
    return fmin(row_sum(f, l, i, p, back, rest, own, scaled), boxed);
}

double cbx_pattern_eval(cbx_pattern_back *f, int32_t l, int32_t i, int64_t p, const double *weight)
{
    double value = step(f, l, i, p, weight, false);
    if (l > 0 || !f->rows[i].by_number)
        return value;
    split_edges(f, i, weight);
    return fmin(value, split_value(f, i, p, weight, false));
}

/* The lead with a pattern of the first row. */
double cbx_pattern_lead_with(cbx_pattern_back *f, int64_t p, int32_t ahead, int32_t behind)
{
    const cbx_net         *net = f->q->net;
    const cbx_pattern_row *r = &f->rows[0];
    double size, s = cbx_pattern_scale(r, p), sum = cbx_net_head_bias(net, ahead, behind, &size);
    memset(f->head, 0, (size_t)net->widest * sizeof *f->head);
    /* f->head: what comes back of the layer behind, then what the head sees of this one as well */
    for (int32_t l = net->num_layers - 1; l >= 0; l--) {
        const cbx_net_layer     *y = &net->layers[l];
        const cbx_pattern_boxes *b = &r->of[l];
        int64_t                  at = p * y->n_out;
        double                  *line = f->line[l], *back = f->back[l];
        if (cbx_net_head(net, l, ahead, behind, f->seen, f->sizes))
            for (int32_t j = 0; j < y->n_out; j++)
                f->head[j] += f->seen[j];
        if (l == 0)
            return sum + cbx_pattern_eval(f, 0, 0, p, f->head);
        sum += cbx_lines_of_relu(f->head, b->low + at, b->high + at, y->n_out, line);
        sum += cbx_lines_dot(y->n_out, line, y->bias);
        cbx_lines_multiply(y, f->turned[l], line, back);
        sum += s * edge_values(f, l, 0, p, back);
        for (int32_t k = 0; k < y->n_in; k++)
            f->head[k] = s * s * back[k];
    }
    return sum;
}
