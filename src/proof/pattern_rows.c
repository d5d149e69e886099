/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_rows.c: see pattern_rows.h. */
#include "pattern_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "deadline.h"
#include "kernel.h"
#include "lines.h"
#include "pattern_cache.h"
#include "pattern_send.h"
#include "sort_columns.h"

/* ---- rows and their patterns */

void cbx_pattern_left(const cbx_pattern_row *r, int64_t pattern, int32_t *fewest, int32_t *most)
{
    *fewest = 0;
    if (r->by_number) {
        *fewest = r->numbers[pattern];
        *most = r->numbers[pattern + 1] - 1;
        return;
    }
    for (int32_t k = 0; k < r->open; k++)
        *fewest += pattern >> k & 1;
    *most = *fewest;
}

double cbx_pattern_scale(const cbx_pattern_row *r, int64_t pattern)
{
    int32_t fewest, most;
    cbx_pattern_left(r, pattern, &fewest, &most);
    return cbx_pattern_scale_at(r, fewest);
}

/* Can the pattern be, if the edge to `other` is there? */
bool cbx_pattern_allows(const cbx_pattern_row *r, int64_t pattern, int32_t other)
{
    int32_t fewest, most;
    cbx_pattern_left(r, pattern, &fewest, &most);
    if (most < r->fewest_left || fewest > r->most_left)
        return false;
    for (int32_t k = 0; k < r->open; k++)
        if (r->from[k] == other)
            return r->by_number ? most > 0 : cbx_pattern_has(r, pattern, k);
    return true;
}

/* What the row's scale can be, if the edge to `other` is there. */
void cbx_pattern_scales(const cbx_pattern_row *r, int32_t other, double *least, double *most)
{
    double fewest = r->fewest_left;
    for (int32_t k = 0; k < r->open; k++)
        fewest = r->from[k] == other && fewest < 1 ? 1 : fewest;
    *least = 1 / sqrt(r->degree + r->most_left);
    *most = 1 / sqrt(r->degree + fewest);
}

void cbx_pattern_hops(const cbx_pattern_question *q, int32_t *hops)
{
    const cbx_partial_graph *g = q->graph;
    const cbx_view          *v = g->view;
    for (int32_t i = 0; i < v->n; i++)
        hops[i] = i ? INT32_MAX : 0;
    for (int32_t hop = 0; hop < q->net->num_layers; hop++)
        for (int64_t e = 0; e < v->m; e++)
            if (g->present[e] && hops[g->target_of[e]] == hop && hops[v->source[e]] > hop)
                hops[v->source[e]] = hop + 1;
}

/* Patterns by number, one for each where `apart`. */
static int number_patterns(cbx_patterns *f, cbx_pattern_row *r, bool apart)
{
    int32_t left = r->fewest_left;
    if (!(r->numbers = CBX_NEW(&f->arena, int32_t, r->open + 2)))
        return -1;
    for (r->patterns = 0; left <= r->most_left; r->patterns++) {
        double last = apart ? left : floor(f->q->widest * (r->degree + left) - r->degree);
        last = last > left ? last : left;
        r->numbers[r->patterns] = left;
        left = last < r->most_left ? (int32_t)last + 1 : r->most_left + 1;
    }
    r->numbers[r->patterns] = left;
    return 0;
}

/* How many open edges can be left. One may be, at least, though a question has it otherwise: then
 * there is a pattern with each edge, and what is claimed holds for more graphs than it has to. */
static void limit_numbers(cbx_patterns *f, int32_t i)
{
    cbx_pattern_row *r = &f->rows[i];
    int32_t          fewest = f->q->fewest ? f->q->fewest[i] - r->fixed : 0;
    int32_t          most = f->q->most_left ? f->q->most_left[i] - r->fixed : r->open;
    f->impossible = f->impossible || fewest > r->open || most < 0 || fewest > most;
    r->most_left = most < 1 ? 1 : most;
    r->most_left = r->most_left < r->open ? r->most_left : r->open;
    r->fewest_left = fewest < 0 ? 0 : fewest;
    r->fewest_left = r->fewest_left < r->most_left ? r->fewest_left : r->most_left;
}

static int make_row(cbx_patterns *f, int32_t i)
{
    const cbx_partial_graph *g = f->q->graph;
    const cbx_view          *v = g->view;
    cbx_pattern_row         *r = &f->rows[i];
    r->from = CBX_NEW(&f->arena, int32_t, v->offset[i + 1] - v->offset[i]);
    r->of = CBX_NEW0(&f->arena, cbx_pattern_boxes, f->q->net->num_layers);
    r->around_low = CBX_NEW(&f->arena, double *, f->q->net->num_layers);
    r->around_high = CBX_NEW(&f->arena, double *, f->q->net->num_layers);
    if (!r->from || !r->of || !r->around_low || !r->around_high)
        return -1;
    for (int fixed = 0; fixed < 2; fixed++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
            bool open = g->choice_of[e] >= 0 && cbx_choice_is_open(g, g->choice_of[e]);
            if (!g->present[e] || v->source[e] == i || open == fixed)
                continue;
            r->from[r->open + r->fixed] = v->source[e];
            r->open += open;
            r->fixed += !open;
        }
    r->degree = 1 + r->fixed + (v->outside_weight ? (double)v->outside_weight[i] : 0);
    r->by_number = r->open > f->q->most;
    limit_numbers(f, i);
    int64_t layers = f->q->net->num_layers;
    r->values = CBX_NEW(&f->arena, double, layers * r->open);
    r->brought = CBX_NEW(&f->arena, double, layers *(r->open + r->fixed));
    r->patterns = (int64_t)1 << (r->by_number ? 0 : r->open);
    if (!r->values || !r->brought)
        return -1;
    return r->by_number ? number_patterns(f, r, i == 0) : 0;
}

/* ---- forward */

int cbx_by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

void cbx_pattern_add_up(const cbx_pattern_row *r, double *of, int64_t width, bool largest)
{
    if (largest)
        cbx_sort_columns_down(of, r->open, width);
    else
        cbx_sort_columns_up(of, r->open, width);
    for (int64_t k = width; k < r->open * width; k++)
        of[k] += of[k - width];
}

/* What a pattern's edges bring, at least and at most; so many of the open ones are left. */
static void add_edges(const cbx_pattern_row *r, int64_t p, int32_t left, int64_t width, double *low,
                      double *high)
{
    for (int32_t k = 0; k < r->open + r->fixed; k++) {
        bool counts = r->by_number && k < r->open ? k == left - 1 : cbx_pattern_has(r, p, k);
        for (int64_t j = 0; j < width && counts; j++) {
            low[j] += r->least[k * width + j];
            high[j] += r->most[k * width + j];
        }
    }
}

/* Is it time to stop? */
bool cbx_patterns_late(cbx_patterns *f, double work)
{
    enum { STEPS = 64 };
    f->late = f->late || cbx_out_of_time(work) ||
              (++f->steps % STEPS == 0 && f->q->stop && f->q->stop(f->q->user));
    return f->late;
}

/* Of the first layer: messages are known, but for their scale. */
static void bring_first(cbx_patterns *f, int32_t i)
{
    cbx_pattern_row *r = &f->rows[i];
    int64_t          width = f->q->net->layers[0].n_out;
    for (int32_t k = 0; k < r->open + r->fixed; k++) {
        double least = r->least_scale[k], most = r->most_scale[k];
        for (int64_t j = 0; j < width; j++) {
            double m = f->q->spread->base[r->from[k] * width + j];
            r->least[k * width + j] = m > 0 ? least * m : most * m;
            r->most[k * width + j] = m > 0 ? most * m : least * m;
        }
    }
}

/* Of later layers: whatever the other end's patterns send. */
static void bring(cbx_patterns *f, int32_t i, int32_t l)
{
    cbx_pattern_row *r = &f->rows[i];
    int64_t          width = f->q->net->layers[l].n_out;
    for (int32_t k = 0; k < r->open + r->fixed; k++) {
        const cbx_pattern_row   *u = &f->rows[r->from[k]];
        const cbx_pattern_boxes *of = &u->of[l - 1];
        for (int64_t j = 0; j < width; j++) {
            r->least[k * width + j] = INFINITY;
            r->most[k * width + j] = -INFINITY;
        }
        for (int64_t p = 0; p < u->patterns; p++) {
            bool allows = cbx_pattern_allows(u, p, i);
            for (int64_t j = 0; j < width && allows; j++) {
                double low = of->send_low[p * width + j], high = of->send_high[p * width + j];
                r->least[k * width + j] = fmin(r->least[k * width + j], low);
                r->most[k * width + j] = fmax(r->most[k * width + j], high);
            }
        }
    }
}

/* Around the boxes of all patterns of the other ends that edges allow. */
static int find_around(cbx_patterns *f, int32_t i, int32_t l)
{
    cbx_pattern_row *r = &f->rows[i];
    int64_t          width = f->q->net->layers[l - 1].n_out, edges = r->open + r->fixed;
    double          *low = CBX_NEW(&f->arena, double, edges *width);
    double          *high = CBX_NEW(&f->arena, double, edges *width);
    if (!low || !high)
        return -1;
    r->around_low[l] = low;
    r->around_high[l] = high;
    for (int32_t k = 0; k < edges; k++, low += width, high += width) {
        const cbx_pattern_row   *u = &f->rows[r->from[k]];
        const cbx_pattern_boxes *of = &u->of[l - 1];
        bool                     any = false;
        for (int64_t p = 0; p < u->patterns; p++) {
            if (!cbx_pattern_allows(u, p, i))
                continue;
            for (int64_t j = 0; j < width; j++) {
                double least = of->low[p * width + j], most = of->high[p * width + j];
                low[j] = any ? fmin(low[j], least) : least;
                high[j] = any ? fmax(high[j], most) : most;
            }
            any = true;
        }
    }
    return 0;
}

/* x times W, of what is between low and high, which are at least 0. */
CBX_HOT static void multiply_boxes(const double *W, int32_t in, int32_t out, const double *low,
                                   const double *high, double *least, double *most)
{
    memset(least, 0, (size_t)out * sizeof *least);
    memset(most, 0, (size_t)out * sizeof *most);
    for (int32_t k = 0; k < in; k++) {
        double        lo = low[k], hi = high[k];
        const double *w = W + (int64_t)k * out;
        for (int32_t j = 0; j < out && hi > 0; j++) {
            least[j] += w[j] * (w[j] > 0 ? lo : hi);
            most[j] += w[j] * (w[j] > 0 ? hi : lo);
        }
    }
}

/* With so many edges left, in unit[0] and unit[1]. */
static void find_box(cbx_patterns *f, int32_t i, int32_t l, int64_t p, int32_t left)
{
    const cbx_pattern_row *r = &f->rows[i];
    const double          *bias = f->q->net->layers[l].bias;
    int64_t                width = f->q->net->layers[l].n_out;
    double                *low = f->unit[0], *high = f->unit[1], s = cbx_pattern_scale_at(r, left);
    for (int64_t j = 0; j < width; j++) {
        low[j] = l ? r->of[l - 1].send_low[p * width + j] : s * f->q->spread->base[i * width + j];
        high[j] = l ? r->of[l - 1].send_high[p * width + j] : low[j];
    }
    add_edges(r, p, left, width, low, high);
    for (int64_t j = 0; j < width; j++) {
        low[j] = s * low[j] + bias[j];
        high[j] = s * high[j] + bias[j];
    }
}

/* Boxes of a pattern: around those of all numbers that it leaves; and likewise of what is behind
 * the ReLU, times the scale, in unit[2] and unit[3]. */
static void find_boxes(cbx_patterns *f, int32_t i, int32_t l, int64_t p)
{
    const cbx_pattern_row *r = &f->rows[i];
    int64_t                width = f->q->net->layers[l].n_out;
    double                *low = r->of[l].low + p * width, *high = r->of[l].high + p * width;
    int32_t                fewest, most;
    cbx_pattern_left(r, p, &fewest, &most);
    for (int32_t left = fewest; left <= most; left++) {
        double s = cbx_pattern_scale_at(r, left);
        find_box(f, i, l, p, left);
        for (int64_t j = 0; j < width; j++) {
            double lo = f->unit[0][j], hi = f->unit[1][j];
            double least = lo > 0 ? s * lo : 0, largest = hi > 0 ? s * hi : 0;
            bool   first = left == fewest;
            low[j] = first || lo < low[j] ? lo : low[j];
            high[j] = first || hi > high[j] ? hi : high[j];
            f->unit[2][j] = first || least < f->unit[2][j] ? least : f->unit[2][j];
            f->unit[3][j] = first || largest > f->unit[3][j] ? largest : f->unit[3][j];
        }
    }
}

static int allocate_boxes(cbx_patterns *f, cbx_pattern_row *r, int32_t l, cbx_arena *arena)
{
    const cbx_net     *net = f->q->net;
    int64_t            width = net->layers[l].n_out;
    int64_t            next = l + 1 < net->num_layers ? net->layers[l + 1].n_out : 0;
    cbx_pattern_boxes *b = &r->of[l];
    *b = (cbx_pattern_boxes){.low = CBX_NEW(arena, double, r->patterns *width),
                             .high = CBX_NEW(arena, double, r->patterns *width),
                             .send_low = CBX_NEW(arena, double, r->patterns *next),
                             .send_high = CBX_NEW(arena, double, r->patterns *next)};
    r->least = CBX_NEW(&f->arena, double, (r->open + r->fixed) * width);
    r->most = CBX_NEW(&f->arena, double, (r->open + r->fixed) * width);
    if (l == 0) {
        b->above = CBX_NEW(arena, double, r->patterns *width);
        b->below = CBX_NEW(arena, double, r->patterns *width);
        b->rest = CBX_NEW(arena, double, r->patterns *width);
    }
    return b->low && b->high && b->send_low && b->send_high && r->least && r->most &&
                   (l > 0 || (b->above && b->below && b->rest))
               ? 0
               : -1;
}

/* Of layer l of row i, in this memory. */
static int make_boxes_in(cbx_patterns *f, int32_t i, int32_t l, cbx_arena *arena)
{
    const cbx_net     *net = f->q->net;
    cbx_pattern_row   *r = &f->rows[i];
    int64_t            width = net->layers[l].n_out;
    bool               sends = l + 1 < net->num_layers;
    int64_t            next = sends ? net->layers[l + 1].n_out : 0;
    cbx_pattern_boxes *b = &r->of[l];
    double             work = (double)r->patterns * (double)(next + r->open + r->fixed + 1);
    if (allocate_boxes(f, r, l, arena) || cbx_patterns_late(f, 2 * work * (double)width))
        return -1;
    if (l == 0)
        bring_first(f, i);
    else
        bring(f, i, l);
    if (l > 1 && find_around(f, i, l))
        return -1;
    if (r->by_number) {
        cbx_pattern_add_up(r, r->least, width, false);
        cbx_pattern_add_up(r, r->most, width, true);
    }
    for (int64_t p = 0; p < r->patterns; p++) {
        find_boxes(f, i, l, p);
        if (l == 0)
            cbx_lines_find((int32_t)width, b->low + p * width, b->high + p * width,
                           b->above + p * width, b->below + p * width, b->rest + p * width);
        if (sends)
            multiply_boxes(net->layers[l + 1].neighbour, (int32_t)width, (int32_t)next, f->unit[2],
                           f->unit[3], b->send_low + p * next, b->send_high + p * next);
    }
    return l == 0 && sends ? cbx_pattern_send(f, i) : 0;
}

static int make_boxes(cbx_patterns *f, int32_t i, int32_t l)
{
    cbx_pattern_cache *cache = l == 0 ? f->q->cache : NULL;
    if (cache && cbx_pattern_cache_find(cache, i, &f->rows[i]))
        return 0;
    cbx_arena *kept = cache ? cbx_pattern_cache_room(cache, i, &f->rows[i]) : NULL;
    if (make_boxes_in(f, i, l, kept ? kept : &f->arena))
        return -1;
    if (kept)
        cbx_pattern_cache_keep(cache, i, &f->rows[i]);
    return 0;
}

/* What the scales of a row's neighbours can be, and below which slopes its ReLUs are not: 1 of
 * units that its neighbours raise more than they lower them. Any slope from 0 to 1 would do. */
static int make_edges(cbx_patterns *f, int32_t i)
{
    cbx_pattern_row *r = &f->rows[i];
    int64_t          width = f->q->net->layers[0].n_out;
    int32_t          edges = r->open + r->fixed;
    r->least_scale = CBX_NEW(&f->arena, double, edges);
    r->most_scale = CBX_NEW(&f->arena, double, edges);
    r->slope = r->by_number ? CBX_NEW0(&f->arena, double, width) : NULL;
    r->sums = r->by_number ? CBX_NEW(&f->arena, double, r->open + 1) : NULL;
    if (!r->least_scale || !r->most_scale || (r->by_number && (!r->slope || !r->sums)))
        return -1;
    for (int32_t k = 0; k < edges; k++) {
        cbx_pattern_scales(&f->rows[r->from[k]], i, &r->least_scale[k], &r->most_scale[k]);
        for (int64_t j = 0; j < width && r->by_number; j++)
            r->slope[j] += f->q->spread->base[r->from[k] * width + j];
    }
    for (int64_t j = 0; j < width && r->by_number; j++)
        r->slope[j] = r->slope[j] > 0;
    return 0;
}

static int forward(cbx_patterns *f)
{
    const cbx_net *net = f->q->net;
    int32_t        n = f->q->graph->view->n;
    for (int32_t i = 0; i < n; i++)
        if (f->hops[i] <= net->num_layers && make_row(f, i))
            return -1;
    for (int32_t i = 0; i < n; i++)
        if (f->hops[i] < net->num_layers && make_edges(f, i))
            return -1;
    for (int32_t l = 0; l < net->num_layers; l++)
        for (int32_t i = 0; i < n; i++)
            if (f->hops[i] < net->num_layers - l && make_boxes(f, i, l))
                return -1;
    return 0;
}

int cbx_patterns_init(cbx_patterns *f, const cbx_pattern_question *q)
{
    int32_t n = q->graph->view->n;
    int64_t widest = q->net->widest > n ? q->net->widest : n;
    *f = (cbx_patterns){.q = q};
    f->rows = CBX_NEW0(&f->arena, cbx_pattern_row, n);
    f->hops = CBX_NEW(&f->arena, int32_t, n);
    f->best = CBX_NEW(&f->arena, double, widest);
    for (int k = 0; k < 4; k++)
        if (!(f->unit[k] = CBX_NEW(&f->arena, double, q->net->widest)))
            return -1;
    if (!f->rows || !f->hops || !f->best)
        return -1;
    cbx_pattern_hops(q, f->hops);
    return forward(f);
}

void cbx_patterns_free(cbx_patterns *f)
{
    cbx_arena_free(&f->arena);
}
