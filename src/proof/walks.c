/* SPDX-License-Identifier: Apache-2.0 */
/* walks.c: see walks.h. */
#include "walks.h"

#include <math.h>
#include <string.h>

#include "error.h"
#include "pair_gains.h"
#include "spread_parts.h"

enum { MOST_LAYERS = 3 };

/* Numbers that one of the tables may have: 32 MB. */
static const double LARGEST_TABLE = 4e6;

/* ---- what it is known of */

/* Are all edges there, none of them a loop? */
static bool is_whole(const cbx_partial_graph *g)
{
    for (int64_t e = 0; e < g->view->m; e++)
        if (!g->present[e] || g->view->source[e] == g->target_of[e])
            return false;
    return true;
}

/* The same as for pairs, where a node is asked about and nothing was removed yet. What a row has of
 * itself beside its loop is no walk along edges. */
bool cbx_walks_are_known(const cbx_spread *s)
{
    return s->net->model->task == CBX_NODE && s->net->num_layers <= MOST_LAYERS &&
           !cbx_net_has_own(s->net) && s->graph->count > 0 && s->graph->count < INT32_MAX / 4 &&
           cbx_pair_gains_are_known(s) && is_whole(s->graph);
}

/* ---- ends of choices */

static void find_ends(cbx_walks *w)
{
    const cbx_partial_graph *g = w->graph;
    for (int32_t c = 0; c < g->count; c++) {
        const cbx_choice *k = &g->choices[c];
        for (int32_t i = 0; i < 2; i++) {
            int64_t slot = k->begin + i < k->end ? g->slots[k->begin + i] : -1;
            bool    counts = slot >= 0 && g->target_of[slot] < w->n;
            w->at[2 * c + i] = counts ? g->target_of[slot] : -1;
            w->other[2 * c + i] = slot >= 0 ? g->view->source[slot] : -1;
        }
    }
}

static void sort_ends(cbx_walks *w)
{
    memset(w->end_begin, 0, ((size_t)w->n + 1) * sizeof *w->end_begin);
    for (int32_t e = 0; e < 2 * w->graph->count; e++)
        if (w->at[e] >= 0)
            w->end_begin[w->at[e] + 1]++;
    for (int32_t i = 0; i < w->n; i++)
        w->end_begin[i + 1] += w->end_begin[i];
    for (int32_t e = 2 * w->graph->count - 1; e >= 0; e--)
        if (w->at[e] >= 0)
            w->ends[--w->end_begin[w->at[e] + 1]] = e;
    memmove(w->end_begin, w->end_begin + 1, (size_t)w->n * sizeof *w->end_begin);
    w->end_begin[w->n] = 0;
    for (int32_t e = 0; e < 2 * w->graph->count; e++)
        w->end_begin[w->n] += w->at[e] >= 0;
}

/* The end of the edge in a slot, whose target is a node in reach; -1: it stays. */
static int32_t end_of(const cbx_walks *w, int64_t slot)
{
    const cbx_partial_graph *g = w->graph;
    int32_t                  c = g->choice_of[slot];
    if (c < 0)
        return -1;
    return g->slots[g->choices[c].begin] == slot ? 2 * c : 2 * c + 1;
}

/* ---- the tree */

bool cbx_walks_next(cbx_walk_edges *i, int32_t *source, int32_t *end)
{
    const cbx_view *v = i->w->graph->view;
    if (i->slot < 0) {
        i->slot = v->offset[i->node];
        *source = i->node;
        *end = -1;
        return true;
    }
    if (i->slot == v->offset[i->node + 1])
        return false;
    *source = v->source[i->slot];
    *end = end_of(i->w, i->slot);
    i->slot++;
    return true;
}

static int64_t degree_of(const cbx_walks *w, int32_t node)
{
    return 1 + w->graph->view->offset[node + 1] - w->graph->view->offset[node];
}

/* Is there room for a table of so many? */
static bool has_room(int64_t count, double numbers_each)
{
    return (double)count * numbers_each <= LARGEST_TABLE;
}

/* How many kids and leaves there are. False: too many. */
static bool count_walks(const cbx_walks *w, int64_t *kids, int64_t *leaves)
{
    const int32_t layers = w->spread->net->num_layers;
    const double  widest = w->spread->net->widest, steps = CBX_WALK_REMOVALS + 1;
    const double  each = widest > steps ? widest : steps; /* of a walk: by unit, or by removals */
    int32_t       u, x, end;
    *kids = *leaves = 0;
    for (cbx_walk_edges i = cbx_walks_into(w, 0); cbx_walks_next(&i, &u, &end);) {
        *kids += layers > 1 ? degree_of(w, u) : 0;
        if (!has_room(*kids + *leaves, each))
            return false;
        for (cbx_walk_edges j = cbx_walks_into(w, u); layers > 2 && cbx_walks_next(&j, &x, &end);)
            *leaves += degree_of(w, x);
    }
    return has_room(*kids + *leaves, each) && has_room(degree_of(w, 0), widest * widest) &&
           has_room(w->graph->view->m + w->graph->view->n, widest) &&
           has_room(w->graph->view->n, 3 * steps) &&
           has_room(2 * (int64_t)w->graph->count, steps * steps);
}

static void add_leaves(cbx_walks *w, cbx_walk_kid *kid)
{
    int32_t y, end;
    kid->begin = w->num_leaves;
    for (cbx_walk_edges k = cbx_walks_into(w, kid->node); cbx_walks_next(&k, &y, &end);
         kid->count++)
        w->leaves[w->num_leaves++] = (cbx_walk_leaf){.node = y, .end = end};
}

static void add_kids(cbx_walks *w, cbx_walk_row *row)
{
    int32_t x, end;
    row->begin = w->num_kids;
    row->itself = w->num_kids; /* the loop comes first */
    for (cbx_walk_edges j = cbx_walks_into(w, row->node); cbx_walks_next(&j, &x, &end);
         row->count++) {
        cbx_walk_kid *kid = &w->kids[w->num_kids++];
        *kid = (cbx_walk_kid){.node = x, .end = end, .row = (int32_t)(row - w->rows)};
        if (w->spread->net->num_layers > 2)
            add_leaves(w, kid);
    }
}

static void grow_tree(cbx_walks *w)
{
    int32_t u, end;
    for (cbx_walk_edges i = cbx_walks_into(w, 0); cbx_walks_next(&i, &u, &end);) {
        cbx_walk_row *row = &w->rows[w->num_rows++];
        *row = (cbx_walk_row){.node = u, .end = end, .itself = -1};
        if (w->spread->net->num_layers > 1)
            add_kids(w, row);
    }
}

static cbx_status keep_units(cbx_walks *w, cbx_arena *arena, cbx_error *err)
{
    const cbx_spread *s = w->spread;
    int32_t           layers = s->net->num_layers;
    w->now = CBX_NEW(arena, double *, layers);
    w->weights = CBX_NEW(arena, double, 5 * (int64_t)s->net->widest);
    if (!w->now || !w->weights)
        return cbx_fail_memory(err);
    for (int32_t l = 0; l < layers; l++)
        if (!(w->now[l] = CBX_NEW(arena, double, (int64_t)s->layers[l].rows * s->layers[l].width)))
            return cbx_fail_memory(err);
    return CBX_OK;
}

cbx_status cbx_walks_init(cbx_walks *w, const cbx_spread *s, cbx_arena *arena, bool *known,
                          cbx_error *err)
{
    const cbx_partial_graph *g = s->graph;
    int64_t                  kids, leaves, count = 2 * (int64_t)g->count;
    int32_t                  n = s->layers[0].rows_in;
    *w = (cbx_walks){.spread = s, .graph = g, .n = n};
    *known = count_walks(w, &kids, &leaves);
    if (!*known)
        return CBX_OK;
    w->at = CBX_NEW(arena, int32_t, count);
    w->other = CBX_NEW(arena, int32_t, count);
    w->end_begin = CBX_NEW(arena, int64_t, n + 2);
    w->ends = CBX_NEW(arena, int32_t, count);
    w->degree = CBX_NEW(arena, double, n);
    w->rows = CBX_NEW(arena, cbx_walk_row, degree_of(w, 0));
    w->kids = CBX_NEW(arena, cbx_walk_kid, kids + 1);
    w->leaves = CBX_NEW(arena, cbx_walk_leaf, leaves + 1);
    w->made = CBX_NEW(arena, int32_t, n);
    w->most = CBX_NEW(arena, int32_t, n);
    w->scale = CBX_NEW(arena, double, n *(int64_t)(CBX_WALK_REMOVALS + 1));
    if (!w->at || !w->other || !w->end_begin || !w->ends || !w->degree || !w->rows || !w->kids ||
        !w->leaves || !w->made || !w->most || !w->scale)
        return cbx_fail_memory(err);
    find_ends(w);
    sort_ends(w);
    for (int32_t i = 0; i < n; i++)
        w->degree[i] = s->scales[CBX_NORM_GCN][i].degree;
    grow_tree(w);
    return keep_units(w, arena, err);
}

/* ---- factors */

static void set_scales(cbx_walks *w)
{
    for (int32_t i = 0; i < w->n; i++) {
        double  degree = w->degree[i] - w->made[i];
        double *scale = w->scale + (int64_t)i * (CBX_WALK_REMOVALS + 1);
        if (i == 0)
            degree -= (double)w->at_root;
        for (int64_t k = 0; k <= CBX_WALK_REMOVALS; k++)
            scale[k] = cbx_scale_gcn(degree, k < w->most[i] ? k : w->most[i]);
    }
}

static void count_ends(cbx_walks *w)
{
    memset(w->made, 0, (size_t)w->n * sizeof *w->made);
    memset(w->most, 0, (size_t)w->n * sizeof *w->most);
    for (int32_t e = 0; e < 2 * w->graph->count; e++) {
        if (w->at[e] < 0)
            continue;
        w->made[w->at[e]] += cbx_walks_is_gone(w, e);
        w->most[w->at[e]] += cbx_walks_is_open(w, e);
    }
    for (int32_t i = 0; i < w->n; i++)
        w->most[i] = w->most[i] < w->left ? w->most[i] : (int32_t)w->left;
    w->most[0] = 0; /* its degree is as it will be */
}

/* ---- units */

static void send(const cbx_walks *w, int32_t l, int32_t node, double *message)
{
    const cbx_net_layer *layer = &w->spread->net->layers[l];
    const double        *input = w->now[l - 1] + (int64_t)node * layer->n_in;
    cbx_clear(message, layer->n_out);
    for (int32_t k = 0; k < layer->n_in; k++)
        for (int32_t j = 0; j < layer->n_out && input[k] > 0; j++)
            message[j] += input[k] * layer->neighbour[(int64_t)k * layer->n_out + j];
}

/* What node `from` sends to row `to` of a layer. */
static void receive(const cbx_walks *w, int32_t l, int32_t from, double factor, double *message,
                    double *z)
{
    const cbx_spread_layer *y = &w->spread->layers[l];
    const double           *sent = message;
    if (l == 0)
        sent = y->message + (int64_t)from * y->sent;
    else
        send(w, l, from, message);
    for (int32_t j = 0; j < y->width; j++)
        z[j] += factor * sent[j];
}

void cbx_walks_look(cbx_walks *w, const uint8_t *fate)
{
    const cbx_spread *s = w->spread;
    w->fate = fate;
    w->left = w->at_root = 0;
    count_ends(w);
    set_scales(w);
    for (int32_t l = 0; l < s->net->num_layers; l++)
        for (int32_t v = 0; v < s->layers[l].rows; v++) {
            double *z = w->now[l] + (int64_t)v * s->layers[l].width;
            int32_t from, end;
            memcpy(z, s->net->layers[l].bias, (size_t)s->layers[l].width * sizeof *z);
            for (cbx_walk_edges i = cbx_walks_into(w, v); cbx_walks_next(&i, &from, &end);)
                if (!cbx_walks_is_gone(w, end))
                    receive(w, l, from, cbx_walks_scale(w, v, 0) * cbx_walks_scale(w, from, 0),
                            w->weights, z);
        }
}

/* ---- what each walk brings */

/* Weights of a layer's inputs, from those of its units that are on. */
static void pass(const cbx_walks *w, int32_t l, const double *weights, double *inputs)
{
    const cbx_net_layer *layer = &w->spread->net->layers[l];
    for (int32_t k = 0; k < layer->n_in; k++) {
        const double *W = layer->neighbour + (int64_t)k * layer->n_out;
        inputs[k] = 0;
        for (int32_t j = 0; j < layer->n_out; j++)
            inputs[k] += W[j] * weights[j];
    }
}

/* Leaves those that are on in a row; and what their bias brings. */
static double pick(const cbx_walks *w, int32_t l, int32_t row, const double *weights,
                   double *picked)
{
    const cbx_net_layer *layer = &w->spread->net->layers[l];
    const double        *now = w->now[l] + (int64_t)row * layer->n_out;
    double               bias = 0;
    for (int32_t j = 0; j < layer->n_out; j++) {
        picked[j] = now[j] > 0 ? weights[j] : 0;
        bias += picked[j] * layer->bias[j];
    }
    return bias;
}

/* What a node's features send, times these weights of the first layer's units. */
static double sent(const cbx_walks *w, int32_t node, const double *weights)
{
    const cbx_spread_layer *y = &w->spread->layers[0];
    const double           *message = y->message + (int64_t)node * y->sent;
    double                  sum = 0;
    for (int32_t j = 0; j < y->sent; j++)
        sum += message[j] * weights[j];
    return sum;
}

static double *scratch(const cbx_walks *w, int32_t k)
{
    return w->weights + (int64_t)k * w->spread->net->widest;
}

/* A row's units behind the ReLUs of the first layer count so much. */
static void weigh_first(cbx_walks *w, cbx_walk_row *row, const double *weights)
{
    double *picked = scratch(w, 0);
    row->term += pick(w, 0, row->node, weights, picked);
    for (int32_t k = row->begin; k < row->begin + row->count; k++)
        w->kids[k].term += sent(w, w->kids[k].node, picked);
}

/* The same of the second layer. */
static void weigh_second(cbx_walks *w, cbx_walk_row *row, const double *weights)
{
    double *picked = scratch(w, 0), *inputs = scratch(w, 1), *of_kid = scratch(w, 2);
    row->term += pick(w, 1, row->node, weights, picked);
    pass(w, 1, picked, inputs);
    for (int32_t k = row->begin; k < row->begin + row->count; k++) {
        cbx_walk_kid *kid = &w->kids[k];
        kid->term += pick(w, 0, kid->node, inputs, of_kid);
        for (int32_t i = kid->begin; i < kid->begin + kid->count; i++)
            w->leaves[i].term = sent(w, w->leaves[i].node, of_kid);
    }
}

static void clear(cbx_walks *w)
{
    for (int32_t k = 0; k < w->num_rows; k++)
        w->rows[k].term = 0;
    for (int32_t k = 0; k < w->num_kids; k++)
        w->kids[k].term = 0;
    for (int32_t k = 0; k < w->num_leaves; k++)
        w->leaves[k].term = 0;
}

void cbx_walks_weigh(cbx_walks *w, int32_t ahead, int32_t behind)
{
    const cbx_net *net = w->spread->net;
    double         size;
    clear(w);
    w->constant = cbx_net_head_bias(net, ahead, behind, &size);
    for (int32_t l = 0; l < net->num_layers; l++) {
        double *picked = scratch(w, 3), *inputs = scratch(w, 4);
        if (!cbx_net_head(net, l, ahead, behind, scratch(w, 0), scratch(w, 1)))
            continue;
        w->constant += pick(w, l, 0, scratch(w, 0), picked);
        if (l > 0)
            pass(w, l, picked, inputs);
        for (int32_t k = 0; k < w->num_rows; k++)
            if (l == 0)
                w->rows[k].term += sent(w, w->rows[k].node, picked);
            else
                (l == 1 ? weigh_first : weigh_second)(w, &w->rows[k], inputs);
    }
}

/* ---- as things are now */

static void sum_kid(cbx_walks *w, const cbx_walk_row *row, cbx_walk_kid *kid)
{
    double s = cbx_walks_scale(w, kid->node, 0);
    kid->gone = cbx_walks_is_gone(w, kid->end);
    kid->sum = kid->loop = kid->back = 0;
    for (int32_t i = kid->begin; i < kid->begin + kid->count; i++) {
        const cbx_walk_leaf *leaf = &w->leaves[i];
        if (cbx_walks_is_gone(w, leaf->end))
            continue;
        if (leaf->node == kid->node)
            kid->loop = leaf->term;
        else
            kid->sum += cbx_walks_scale(w, leaf->node, 0) * leaf->term;
        if (leaf->node == row->node && leaf->node != kid->node)
            kid->back = leaf->term;
    }
    kid->value = s * kid->term + s * s * (kid->sum + s * kid->loop);
}

static void sum_row(cbx_walks *w, cbx_walk_row *row)
{
    double s = cbx_walks_scale(w, row->node, 0), itself = 0;
    row->gone = cbx_walks_is_gone(w, row->end);
    row->sum = 0;
    for (int32_t k = row->begin; k < row->begin + row->count && !row->gone; k++) {
        cbx_walk_kid *kid = &w->kids[k];
        sum_kid(w, row, kid);
        if (k == row->itself)
            itself = kid->value;
        else if (!kid->gone)
            row->sum += kid->value;
    }
    row->value = s * row->term + s * s * (row->sum + itself);
}

void cbx_walks_settle(cbx_walks *w, const uint8_t *fate, int64_t left, int64_t at_root)
{
    double sum = 0;
    w->fate = fate;
    w->left = left;
    w->at_root = at_root;
    count_ends(w);
    set_scales(w);
    for (int32_t k = 0; k < w->num_rows; k++) {
        sum_row(w, &w->rows[k]);
        sum += w->rows[k].gone ? 0 : w->rows[k].value;
    }
    w->lead = w->constant + cbx_walks_scale(w, 0, 0) * sum;
}
