/* SPDX-License-Identifier: Apache-2.0 */
/* walk_bends.c: see walk_bends.h. */
#include "walk_bends.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "kernel.h"
#include "spread_parts.h"
#include "walk_bend_parts.h"

/* Which kids a node is. */
static void list_kids(cbx_walk_bends *b)
{
    const cbx_walks *w = b->walks;
    for (int32_t k = 0; k < w->num_kids; k++)
        b->kid_begin[w->kids[k].node + 2]++;
    for (int32_t i = 0; i < w->n; i++)
        b->kid_begin[i + 2] += b->kid_begin[i + 1];
    for (int32_t k = 0; k < w->num_kids; k++)
        b->kids[b->kid_begin[w->kids[k].node + 1]++] = k;
}

cbx_status cbx_walk_bends_init(cbx_walk_bends *b, const cbx_walks *w, cbx_arena *arena,
                               cbx_error *err)
{
    const cbx_net *net = w->spread->net;
    int64_t        n = w->n, ends = 2 * (int64_t)w->graph->count, steps = CBX_BEND_STEPS;
    *b = (cbx_walk_bends){.walks = w,
                          .arena = arena,
                          .of = CBX_NEW(arena, double, ends *steps),
                          .at = CBX_NEW(arena, double, n *steps),
                          .scale = CBX_NEW(arena, double, n *steps),
                          .most = CBX_NEW(arena, int32_t, n),
                          .made = CBX_NEW(arena, int32_t, n),
                          .units = CBX_NEW(arena, double, 7 * (int64_t)net->widest),
                          .counts = CBX_NEW(arena, double, n *(int64_t)net->widest),
                          .values = CBX_NEW(arena, double, 2 * n),
                          .on = CBX_NEW(arena, int32_t, net->widest),
                          .weighed = CBX_NEW(arena, uint8_t, n),
                          .through = CBX_NEW(arena, double, w->num_rows *(int64_t)net->widest),
                          .kid_begin = CBX_NEW0(arena, int64_t, n + 2),
                          .kids = CBX_NEW(arena, int32_t, w->num_kids + 1),
                          .near = CBX_NEW(arena, uint8_t, n),
                          .hits = CBX_NEW(arena, uint8_t, n),
                          .leaf = CBX_NEW0(arena, double, n),
                          .node = CBX_NEW0(arena, double, n *steps),
                          .end = CBX_NEW0(arena, double, ends *steps),
                          .nodes = CBX_NEW(arena, int32_t, n),
                          .ends = CBX_NEW(arena, int32_t, ends),
                          .node_has = CBX_NEW0(arena, uint8_t, n),
                          .end_has = CBX_NEW0(arena, uint8_t, ends)};
    if (!b->of || !b->at || !b->scale || !b->most || !b->made || !b->units || !b->counts ||
        !b->values || !b->near || !b->through || !b->kid_begin || !b->kids || !b->leaf ||
        !b->node || !b->end || !b->nodes || !b->ends || !b->node_has || !b->end_has)
        return cbx_fail_memory(err);
    if (!b->on || !b->weighed || !b->hits)
        return cbx_fail_memory(err);
    list_kids(b);
    int64_t slots = w->graph->view->m + w->graph->view->n, width = net->widest;
    int64_t most = slots > w->num_leaves ? slots : w->num_leaves;
    b->terms = CBX_NEW(arena, double, width *(most + 1));
    b->biases = CBX_NEW(arena, double, width *((n > w->num_kids ? n : w->num_kids) + 1));
    b->row_biases = CBX_NEW(arena, double, width * w->num_rows);
    b->row_weights = CBX_NEW(arena, double, net->num_layers > 2 ? width * width * w->num_rows : 1);
    if (!b->terms || !b->biases || !b->row_biases || !b->row_weights)
        return cbx_fail_memory(err);
    for (int32_t l = 0; l < 2; l++)
        if (!(b->bent[l] = CBX_NEW(arena, uint8_t, n)))
            return cbx_fail_memory(err);
    for (int32_t l = 0; l < 2 && l < net->num_layers; l++)
        if (!(b->list[l] = CBX_NEW(arena, cbx_bend_list, n * (int64_t)net->layers[l].n_out)))
            return cbx_fail_memory(err);
    return CBX_OK;
}

static void set_scales(cbx_walk_bends *b)
{
    const cbx_walks *w = b->walks;
    for (int32_t i = 0; i < w->n; i++) {
        int64_t ends = 0;
        b->made[i] = 0;
        for (int64_t e = w->end_begin[i]; e < w->end_begin[i + 1]; e++) {
            ends += cbx_walks_is_open(w, w->ends[e]);
            b->made[i] += cbx_walks_is_gone(w, w->ends[e]);
        }
        b->most[i] = (int32_t)(ends < b->removals ? ends : b->removals);
        for (int64_t k = 0; k < CBX_BEND_STEPS; k++)
            b->scale[(int64_t)i * CBX_BEND_STEPS + k] =
                cbx_scale_gcn(w->degree[i] - b->made[i], k < b->most[i] ? k : b->most[i]);
    }
}

/* ---- pieces of the unit at hand */

static double *of_node(cbx_walk_bends *b, int32_t node)
{
    if (!b->node_has[node])
        b->nodes[b->num_nodes++] = node;
    b->node_has[node] = 1;
    return b->node + (int64_t)node * CBX_BEND_STEPS;
}

static double *of_end(cbx_walk_bends *b, int32_t end)
{
    if (!b->end_has[end])
        b->ends[b->num_ends++] = end;
    b->end_has[end] = 1;
    (void)of_node(b, b->walks->at[end]);
    return b->end + (int64_t)end * CBX_BEND_STEPS;
}

/* A node whose value is s term + s^2 sum counts at most `counts` times: what removals at it do, of
 * which one takes away what the other end of its edge brings. */
typedef struct node_value {
    double term, sum;
    int    power; /* of s before the sum: 1 where there is no term, of the unit's own row */
} node_value;

static double power(double s, int p)
{
    return p == 1 ? s : s * s;
}

static void add_end(cbx_walk_bends *b, int32_t end, node_value of, double brings, double counts)
{
    int32_t node = b->walks->at[end];
    double *piece = of_end(b, end), s0 = cbx_bend_scale(b, node, 0);
    for (int64_t k = 1; k <= b->most[node]; k++) {
        double s = cbx_bend_scale(b, node, k);
        double rise = (s - s0) * of.term + (power(s, of.power) - power(s0, of.power)) * of.sum;
        piece[k] += counts * fmax(0, b->towards * (rise / (double)k - power(s, of.power) * brings));
    }
}

/* The same where its edges bring nothing that is told: all of its removals do as much. */
static void add_leaf(cbx_walk_bends *b, int32_t node, double term, double counts)
{
    (void)of_node(b, node);
    b->leaf[node] += counts * fmax(0, b->towards * term);
}

/* What units of a layer before went beyond 0 by, times their weights, `stride` apart. */
static void add_bends(cbx_walk_bends *b, int32_t l, int32_t node, const double *weights,
                      int32_t stride, double counts)
{
    int32_t              width = b->walks->spread->net->layers[l].n_out;
    const cbx_bend_list *list = b->list[l] + (int64_t)node * width;
    for (int32_t j = 0; b->bent[l][node] && j < width; j++, list++) {
        if (list->count == 0)
            continue;
        double times = counts * fmax(0, b->towards * weights[(int64_t)j * stride]);
        for (int64_t i = list->begin; i < list->begin + list->count && times > 0; i++) {
            const cbx_bend *bend = &b->bends[i];
            double         *to = bend->is_end ? of_end(b, bend->of) : of_node(b, bend->of);
            for (int k = 1; k < CBX_BEND_STEPS; k++)
                to[k] += times * bend->share[k];
        }
    }
}

/* ---- what the unit adds */

static cbx_bend *new_bend(cbx_walk_bends *b)
{
    if (b->num_bends == b->room) {
        int64_t   room = b->room ? 2 * b->room : 1024;
        cbx_bend *bends = CBX_NEW(b->arena, cbx_bend, room);
        if (!bends)
            return NULL;
        if (b->num_bends)
            memcpy(bends, b->bends, (size_t)b->num_bends * sizeof *bends);
        b->bends = bends;
        b->room = room;
    }
    return &b->bends[b->num_bends++];
}

bool cbx_bend_keep(cbx_walk_bends *b, int32_t of, bool is_end, const double *share, double counts,
                   double *to)
{
    bool any = false;
    for (int k = 1; k < CBX_BEND_STEPS; k++)
        any = any || share[k] > 0;
    if (!any)
        return true;
    cbx_bend *bend = new_bend(b);
    if (!bend)
        return false;
    *bend = (cbx_bend){.of = of, .is_end = is_end};
    memcpy(bend->share, share, sizeof bend->share);
    for (int k = 1; k < CBX_BEND_STEPS; k++)
        to[k] += counts * share[k];
    return true;
}

/* How far all that it is moved towards 0 takes it beyond, of each removal its part: with 2 b ends
 * max(0, sum of pieces - |z|) <= sum of max(0, piece - |z| / 2 b). It counts so much. */
static int share_out(cbx_walk_bends *b, double now, double counts, cbx_bend_list *list)
{
    const cbx_walks *w = b->walks;
    double           part = fabs(now) / (2 * (double)b->removals), share[CBX_BEND_STEPS];
    bool             whole = true;
    list->begin = b->num_bends;
    for (int64_t i = 0; i < b->num_ends && whole; i++) {
        int32_t       e = b->ends[i], node = w->at[e];
        const double *of = b->end + (int64_t)e * CBX_BEND_STEPS;
        const double *at = b->node + (int64_t)node * CBX_BEND_STEPS;
        for (int k = 0; k < CBX_BEND_STEPS; k++) {
            double rise = cbx_bend_rise(b, node, k) * b->leaf[node];
            share[k] = fmax(0, of[k] + at[k] + rise - part) - fmax(0, at[k] + rise - part);
        }
        whole = cbx_bend_keep(b, e, true, share, counts, b->of + (int64_t)e * CBX_BEND_STEPS);
    }
    for (int64_t i = 0; i < b->num_nodes && whole; i++) {
        int32_t       node = b->nodes[i];
        const double *at = b->node + (int64_t)node * CBX_BEND_STEPS;
        for (int k = 0; k < CBX_BEND_STEPS; k++) {
            double rise = cbx_bend_rise(b, node, k) * b->leaf[node];
            share[k] = fmax(0, at[k] + rise - part);
        }
        whole =
            cbx_bend_keep(b, node, false, share, counts, b->at + (int64_t)node * CBX_BEND_STEPS);
    }
    list->count = b->num_bends - list->begin;
    for (int64_t i = 0; i < b->num_ends; i++) {
        memset(b->end + (int64_t)b->ends[i] * CBX_BEND_STEPS, 0, sizeof share);
        b->end_has[b->ends[i]] = 0;
    }
    for (int64_t i = 0; i < b->num_nodes; i++) {
        memset(b->node + (int64_t)b->nodes[i] * CBX_BEND_STEPS, 0, sizeof share);
        b->node_has[b->nodes[i]] = 0;
        b->leaf[b->nodes[i]] = 0;
    }
    b->num_ends = b->num_nodes = 0;
    return whole ? 0 : -1;
}

/* ---- units */

static double *row_units(const cbx_walk_bends *b, int32_t k)
{
    return b->units + (int64_t)k * b->walks->spread->net->widest;
}

static void face(cbx_walk_bends *b, int32_t l, int32_t node, int32_t unit)
{
    b->towards = cbx_bend_now(b, l, node, unit) > 0 ? -1 : 1;
}

/* ---- layers behind it */

/* What weights of the units of a row that are on make of the messages of those that send to it, for
 * all units at once: weights are rows of W. */
typedef struct weighing {
    const int32_t *on;
    int32_t        count, width;
    const double  *W;
} weighing;

CBX_HOT static void weigh_all(const weighing *of, const double *message, double *restrict to)
{
    for (int32_t j = 0; j < of->width; j++)
        to[j] = 0;
    for (int32_t k = 0; k < of->count; k++) {
        const double *row = of->W + (int64_t)of->on[k] * of->width;
        double        by = message[of->on[k]];
        for (int32_t j = 0; j < of->width; j++)
            to[j] += by * row[j];
    }
}

static weighing weighing_of(cbx_walk_bends *b, int32_t l, int32_t node, const double *W,
                            int32_t width)
{
    weighing of = {.on = b->on, .width = width, .W = W};
    for (int32_t j = 0; j < b->walks->spread->net->layers[l].n_out; j++)
        if (cbx_bend_now(b, l, node, j) > 0)
            b->on[of.count++] = j;
    return of;
}

/* The terms of all edges into row x of the first layer, for all units that are `width` wide, its
 * loop first; and what its biases bring. Those that nobody will ask for are left out. */
static void weigh_row(cbx_walk_bends *b, int32_t x, const double *W, int32_t width, bool asked,
                      double *terms, double *bias)
{
    const cbx_spread_layer *y = &b->walks->spread->layers[0];
    const weighing          of = weighing_of(b, 0, x, W, width);
    int32_t                 from, end;
    asked = asked || b->most[x] > 0;
    if (asked)
        weigh_all(&of, b->walks->spread->net->layers[0].bias, bias);
    for (cbx_walk_edges i = cbx_walks_into(b->walks, x); cbx_bend_next(&i, &from, &end);)
        if (asked || b->most[from] > 0)
            weigh_all(&of, y->message + (int64_t)from * y->sent,
                      terms + cbx_walks_place(&i) * width);
}

/* A row x of the first layer whose edges' terms those are of one unit, `width` apart: it counts up
 * to `counts` times. Returns its value now, if that is `asked` for. */
static double move_through_first(cbx_walk_bends *b, int32_t x, const double *terms, double bias,
                                 int32_t width, double counts, bool asked)
{
    const cbx_walks *w = b->walks;
    const bool       moves = b->most[x] > 0; /* else its edges stay, and its factor */
    node_value       own = {.power = 2};
    double           s0 = cbx_bend_scale(b, x, 0),
           below = counts * cbx_bend_largest(b, x) * cbx_bend_largest(b, x);
    int32_t y, end;
    for (cbx_walk_edges i = cbx_walks_into(w, x); cbx_bend_next(&i, &y, &end);) {
        if (!moves && !asked && b->most[y] == 0)
            continue;
        double term = terms[cbx_walks_place(&i) * width];
        own.sum += cbx_bend_scale(b, y, 0) * term;
        if (b->most[y] > 0)
            add_leaf(b, y, term, below);
    }
    if (moves || asked)
        own.term = bias;
    for (cbx_walk_edges i = cbx_walks_into(w, x); moves && cbx_bend_next(&i, &y, &end);)
        if (cbx_walks_is_open(w, end))
            add_end(b, end, own, cbx_bend_scale(b, y, 0) * terms[cbx_walks_place(&i) * width],
                    counts);
    return s0 * own.term + s0 * s0 * own.sum;
}

/* Edges into a row, of which each brings the value that is told of its other end. */
static void add_ends(cbx_walk_bends *b, int32_t row, node_value own, const double *brings,
                     double counts)
{
    int32_t x, end;
    for (cbx_walk_edges i = cbx_walks_into(b->walks, row); cbx_bend_next(&i, &x, &end);)
        if (cbx_walks_is_open(b->walks, end))
            add_end(b, end, own, brings[x], counts);
}

/* The place of the edges into a node in a table of those into all nodes. */
static int64_t place_of(const cbx_walk_bends *b, int32_t node)
{
    return b->walks->graph->view->offset[node] + node;
}

/* ---- the second layer */

/* Of rows of the first layer from which something comes. */
static void weigh_second(cbx_walk_bends *b, const uint8_t *near)
{
    const cbx_net_layer *layer = &b->walks->spread->net->layers[1];
    int32_t              x, end;
    memset(b->weighed, 0, (size_t)b->walks->n);
    for (int32_t u = 0; u < b->walks->n; u++)
        for (cbx_walk_edges i = cbx_walks_into(b->walks, u);
             near[u] && cbx_bend_next(&i, &x, &end);) {
            if (b->weighed[x])
                continue;
            b->weighed[x] = 1;
            weigh_row(b, x, layer->neighbour, layer->n_out, true,
                      b->terms + place_of(b, x) * layer->n_out,
                      b->biases + (int64_t)x * layer->n_out);
        }
}

static void move_second(cbx_walk_bends *b, int32_t u, int32_t unit)
{
    const cbx_net_layer *layer = &b->walks->spread->net->layers[1];
    const int32_t        width = layer->n_out;
    node_value           own = {.power = 1};
    int32_t              x, end;
    for (cbx_walk_edges i = cbx_walks_into(b->walks, u); cbx_bend_next(&i, &x, &end);) {
        b->values[x] = move_through_first(b, x, b->terms + place_of(b, x) * width + unit,
                                          b->biases[(int64_t)x * width + unit], width,
                                          cbx_bend_largest(b, u), b->most[u] > 0);
        own.sum += b->values[x];
        add_bends(b, 0, x, layer->neighbour + unit, width,
                  cbx_bend_largest(b, u) * cbx_bend_largest(b, x));
    }
    add_ends(b, u, own, b->values, 1);
}

/* ---- the third layer, of the asked node */

/* What its units' weights are for inputs of row r of the second layer: through those that are on.
 */
static double *weights_of_row(const cbx_walk_bends *b, int32_t r)
{
    const cbx_net_layer *layers = b->walks->spread->net->layers;
    return b->row_weights + (int64_t)r * layers[1].n_in * layers[2].n_out;
}

static void weigh_third(cbx_walk_bends *b)
{
    const cbx_walks     *w = b->walks;
    const cbx_net_layer *second = &w->spread->net->layers[1], *third = &w->spread->net->layers[2];
    for (int32_t r = 0; r < w->num_rows; r++) {
        const cbx_walk_row *row = &w->rows[r];
        double             *weights = weights_of_row(b, r);
        if (cbx_walks_is_gone(w, row->end))
            continue;
        weighing of = weighing_of(b, 1, row->node, third->neighbour, third->n_out);
        weigh_all(&of, second->bias, b->row_biases + (int64_t)r * third->n_out);
        for (int32_t q = 0; q < second->n_in; q++)
            weigh_all(&of, second->neighbour + (int64_t)q * second->n_out,
                      weights + (int64_t)q * third->n_out);
        for (int32_t k = row->begin; k < row->begin + row->count; k++)
            if (!cbx_walks_is_gone(w, w->kids[k].end))
                weigh_row(b, w->kids[k].node, weights, third->n_out,
                          b->most[row->node] > 0 || b->most[0] > 0,
                          b->terms + (int64_t)w->kids[k].begin * third->n_out,
                          b->biases + (int64_t)k * third->n_out);
    }
}

/* Returns the row's value. */
static double move_row(cbx_walk_bends *b, int32_t r, int32_t unit)
{
    const cbx_walks     *w = b->walks;
    const cbx_walk_row  *row = &w->rows[r];
    const cbx_net_layer *third = &w->spread->net->layers[2];
    const int32_t        width = third->n_out, u = row->node;
    const double        *weights = weights_of_row(b, r) + unit;
    double               s0 = cbx_bend_scale(b, u, 0),
           below = cbx_bend_largest(b, 0) * cbx_bend_largest(b, u) * cbx_bend_largest(b, u);
    node_value own = {.term = b->row_biases[(int64_t)r * width + unit], .power = 2};
    for (int32_t k = row->begin; k < row->begin + row->count; k++) {
        int32_t x = w->kids[k].node;
        if (cbx_walks_is_gone(w, w->kids[k].end))
            continue;
        b->values[x] = move_through_first(b, x, b->terms + (int64_t)w->kids[k].begin * width + unit,
                                          b->biases[(int64_t)k * width + unit], width, below,
                                          b->most[u] > 0 || b->most[0] > 0);
        own.sum += b->values[x];
        add_bends(b, 0, x, weights, width, below * cbx_bend_largest(b, x));
    }
    add_ends(b, u, own, b->values, cbx_bend_largest(b, 0));
    add_bends(b, 1, u, third->neighbour + unit, width,
              cbx_bend_largest(b, 0) * cbx_bend_largest(b, u));
    return s0 * own.term + s0 * s0 * own.sum;
}

static void move_third(cbx_walk_bends *b, int32_t unit)
{
    const cbx_walks *w = b->walks;
    double          *of_rows = b->values + w->n;
    node_value       root = {.power = 1};
    for (int32_t r = 0; r < w->num_rows; r++) {
        if (cbx_walks_is_gone(w, w->rows[r].end))
            continue;
        of_rows[w->rows[r].node] = move_row(b, r, unit);
        root.sum += of_rows[w->rows[r].node];
    }
    add_ends(b, 0, root, of_rows, 1);
}

/* ---- how much each unit's counts in the lead */

/* What weights of layer l's units, of those that are on, are for its inputs. */
static void pass(const cbx_walk_bends *b, int32_t l, int32_t node, const double *weights,
                 double *inputs)
{
    const cbx_net_layer *layer = &b->walks->spread->net->layers[l];
    for (int32_t k = 0; k < layer->n_in; k++) {
        inputs[k] = 0;
        for (int32_t j = 0; j < layer->n_out; j++)
            inputs[k] += cbx_bend_now(b, l, node, j) > 0
                             ? layer->neighbour[(int64_t)k * layer->n_out + j] * weights[j]
                             : 0;
    }
}

/* Adds what weights above 0 of a row's inputs count. */
static void count_into(const cbx_walk_bends *b, int32_t row, int32_t width, const double *weights,
                       double times, double *counts)
{
    int32_t source, end;
    for (cbx_walk_edges i = cbx_walks_into(b->walks, row); cbx_bend_next(&i, &source, &end);)
        for (int32_t k = 0; k < width; k++)
            counts[(int64_t)source * width + k] += times * fmax(0, weights[k]);
}

/* What units of layer l count in the lead: by node and unit, times the node's factor, through the
 * layer behind it at the asked node; directly, of that node; and through the rows of the layer
 * behind, by row and unit, times both factors and that of the row once more. */
static void count_units(cbx_walk_bends *b, int32_t l, int32_t ahead, int32_t behind, double *counts,
                        double *direct)
{
    const cbx_walks *w = b->walks;
    const cbx_net   *net = w->spread->net;
    int32_t          width = net->layers[l].n_out;
    double          *head = row_units(b, 2), *size = row_units(b, 3), *inputs = row_units(b, 4);
    cbx_clear(counts, w->n * (int64_t)width);
    cbx_clear(direct, width);
    cbx_clear(b->through, w->num_rows * (int64_t)net->widest);
    if (cbx_net_head(net, l, ahead, behind, head, size))
        for (int32_t k = 0; k < width; k++)
            direct[k] = fmax(0, head[k]);
    if (l + 1 < net->num_layers && cbx_net_head(net, l + 1, ahead, behind, head, size)) {
        pass(b, l + 1, 0, head, inputs);
        count_into(b, 0, width, inputs, cbx_bend_largest(b, 0), counts);
    }
    if (l + 2 >= net->num_layers || !cbx_net_head(net, l + 2, ahead, behind, head, size))
        return;
    pass(b, l + 2, 0, head, inputs);
    for (int32_t r = 0; r < w->num_rows; r++) {
        double *through = b->through + (int64_t)r * net->widest;
        pass(b, l + 1, w->rows[r].node, inputs, through);
        for (int32_t k = 0; k < width; k++)
            through[k] = cbx_bend_largest(b, 0) * fmax(0, through[k]);
    }
}

/* Nodes whose units of a layer count: so many steps from the asked one. */
static void mark_near(const cbx_walk_bends *b, int32_t steps, uint8_t *near)
{
    const cbx_walks *w = b->walks;
    int32_t          u, x, end;
    memset(near, 0, (size_t)w->n);
    near[0] = 1;
    for (cbx_walk_edges i = cbx_walks_into(w, 0); steps > 0 && cbx_bend_next(&i, &u, &end);) {
        near[u] = 1;
        for (cbx_walk_edges j = cbx_walks_into(w, u); steps > 1 && cbx_bend_next(&j, &x, &end);)
            near[x] = 1;
    }
}

static int tell_layer(cbx_walk_bends *b, int32_t l, const double *counts, const double *direct)
{
    const cbx_walks *w = b->walks;
    int32_t          width = w->spread->net->layers[l].n_out;
    cbx_bend_list    none;
    mark_near(b, w->spread->net->num_layers - 1 - l, b->near);
    if (l < 2)
        memset(b->bent[l], 0, (size_t)w->n);
    if (l == 1)
        weigh_second(b, b->near);
    else if (l == 2)
        weigh_third(b);
    for (int32_t i = 0; i < w->n; i++) {
        if (l == 0 && b->near[i])
            cbx_bend_count_hits(b, i);
        for (int32_t j = 0; b->near[i] && j < width; j++) {
            int64_t unit = (int64_t)i * width + j;
            double own = i == 0 ? direct[j] : 0, most = counts[unit] * cbx_bend_largest(b, i) + own;
            if (cbx_out_of_time(1000))
                return -1;
            face(b, l, i, j);
            if (l == 1)
                move_second(b, i, j);
            else if (l == 2)
                move_third(b, j);
            if (l == 0 ? cbx_bend_share_first(b, i, j, counts[unit], own, &b->list[0][unit])
                       : share_out(b, cbx_bend_now(b, l, i, j), most,
                                   l == 1 ? &b->list[1][unit] : &none))
                return -1;
            if (l < 2 && b->list[l][unit].count > 0)
                b->bent[l][i] = 1;
        }
    }
    return 0;
}

int cbx_walk_bends_tell(cbx_walk_bends *b, int64_t removals, int32_t ahead, int32_t behind)
{
    const cbx_walks *w = b->walks;
    b->removals = removals;
    b->num_bends = 0;
    set_scales(b);
    cbx_clear(b->of, 2 * (int64_t)w->graph->count * CBX_BEND_STEPS);
    cbx_clear(b->at, w->n * (int64_t)CBX_BEND_STEPS);
    for (int32_t l = 0; l < w->spread->net->num_layers; l++) {
        double *direct = row_units(b, 6);
        count_units(b, l, ahead, behind, b->counts, direct);
        if (tell_layer(b, l, b->counts, direct))
            return -1;
    }
    for (int32_t e = 0; e < 2 * w->graph->count; e++)
        for (int k = 0; k < CBX_BEND_STEPS && w->at[e] >= 0 && cbx_walks_is_open(w, e); k++)
            b->of[(int64_t)e * CBX_BEND_STEPS + k] += b->at[(int64_t)w->at[e] * CBX_BEND_STEPS + k];
    return 0;
}
