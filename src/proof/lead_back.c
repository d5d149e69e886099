/* SPDX-License-Identifier: Apache-2.0 */
/* lead_back.c: see lead_back.h. */
#include "lead_back.h"

#include <math.h>
#include <string.h>

#include "kernel.h"
#include "pool_max.h"

/* ---- the head */

/* What every unit that the head sees counts; and the lead now. */
void cbx_lead_start(cbx_lead_bound *b, int32_t ahead, int32_t behind)
{
    const cbx_net   *net = b->spread.net;
    const cbx_model *m = net->model;
    double           size;
    b->now = cbx_net_head_bias(net, ahead, behind, &size);
    for (int32_t l = 0; l < net->num_layers; l++) {
        const cbx_spread_layer *y = &b->spread.layers[l];
        memset(b->weight[l], 0, (size_t)y->rows * (size_t)y->width * sizeof(double));
        if (!cbx_net_head(net, l, ahead, behind, b->before, b->input))
            continue;
        if (net->max_pool) {
            cbx_pool_max_pass(b, l);
            continue;
        }
        int32_t rows = m->task == CBX_GRAPH ? y->rows : 1;
        double  share = m->task == CBX_GRAPH && m->pool == CBX_POOL_MEAN ? 1.0 / y->rows : 1;
        for (int32_t v = 0; v < rows; v++)
            for (int32_t j = 0; j < y->width; j++) {
                int64_t at = (int64_t)v * y->width + j;
                b->weight[l][at] = b->before[j] * share;
                b->now += b->weight[l][at] * cbx_spread_relu(y->now[at]);
            }
    }
}

/* ---- a ReLU */

/* Adds the bend to what a unit of a first product counts where it moves that way, `times` so far.
 */
static void bend_slopes(cbx_slopes *of, int64_t at, double bend, double times)
{
    if (times > 0)
        of->rise[at] += bend * times;
    else
        of->fall[at] += bend * times;
}

/* The same of the first layer, whose features are told one by one: what row u moves by, unit j of
 * row v moves by as often as an edge counts, or itself. */
static void add_first_bend(cbx_lead_bound *b, int32_t v, int32_t j, double bend, double sign)
{
    const cbx_spread     *s = &b->spread;
    const cbx_reach_list *list = &s->layers[0].list;
    int32_t               width = s->layers[0].width;
    for (int64_t k = list->begin[v]; k < list->begin[v + 1]; k++) {
        int32_t u = list->choice[k] - s->graph->count;
        if (u < 0)
            continue;
        if (!s->net->layers[0].maximum) /* else see lead_max.c */
            bend_slopes(&b->message, (int64_t)u * width + j, bend,
                        sign * cbx_spread_factor(s, 0, u, v));
        if (u == v)
            bend_slopes(&b->own, (int64_t)u * width + j, bend, sign);
    }
}

/* What a choice that does this to a row's units gains by their bends. */
CBX_HOT static double gain_by_bends(int32_t width, const double *bend, const double *up,
                                    const double *down)
{
    double sum = 0;
    for (int32_t j = 0; j < width; j++) {
        double moves = bend[j] > 0 ? up[j] : down[j];
        double gain = bend[j] * moves;
        sum += gain > 0 ? gain : 0;
    }
    return sum;
}

/* The same of a row's features: what any of them gains, and what units count if one is told by
 * itself. */
static void add_row_bends(cbx_lead_bound *b, int32_t l, int32_t row, double times, double gain)
{
    int32_t width = b->spread.layers[l].width;
    double *rise = b->word[l].rise + (int64_t)row * width;
    double *fall = b->word[l].fall + (int64_t)row * width;
    b->at_row[l][row] += gain;
    for (int32_t j = 0; b->spread.moves.words && j < width; j++) {
        rise[j] += b->bend[j] > 0 ? times * b->bend[j] : 0;
        fall[j] += b->bend[j] < 0 ? times * b->bend[j] : 0;
    }
}

/* Adds what the row's choices gain by units whose slopes behind the ReLU change where they fall or
 * rise from where they are. */
static void add_bends(cbx_lead_bound *b, int32_t l, int32_t v)
{
    const cbx_spread_layer *y = &b->spread.layers[l];
    const cbx_reach_list   *list = &y->list;
    double                  squares = 0, gain = 0;
    for (int32_t j = 0; j < y->width; j++) {
        squares += b->bend[j] * b->bend[j];
        if (l == 0 && b->bend[j] != 0 && cbx_lead_has_features(b))
            add_first_bend(b, v, j, fabs(b->bend[j]), b->bend[j] > 0 ? 1 : -1);
    }
    for (int64_t k = list->begin[v]; k < list->begin[v + 1] && squares > 0; k++) {
        int32_t choice = list->choice[k];
        bool    is_row = cbx_row_moves_is_row(&b->spread.moves, choice);
        if (is_row && l == 0)
            continue;
        if (!list->same[k])
            gain = gain_by_bends(y->width, b->bend, list->up + k * y->width,
                                 list->down + k * y->width);
        if (is_row)
            add_row_bends(b, l, choice - b->spread.graph->count, list->times[k],
                          fmin(gain, sqrt(squares) * list->length[k]));
        else
            b->gain[choice] += gain;
    }
}

/* From weights behind the ReLU to those before it, in b->before. Where a weight is positive, what
 * is above the line is added to the choices; of the two lines, the one that is nearer. */
static bool pass_relu(cbx_lead_bound *b, int32_t l, int32_t v)
{
    const cbx_spread_layer *y = &b->spread.layers[l];
    double                 *weight = b->weight[l] + (int64_t)v * y->width;
    const int32_t          *twin = b->spread.net->layers[l].twin;
    bool                    any = false;
    memset(b->before, 0, (size_t)y->width * sizeof *b->before);
    for (int32_t j = 0; j < y->width; j++)
        if (twin[j] >= 0) { /* relu(z) = z + relu(-z) */
            b->before[j] = weight[j];
            weight[twin[j]] += weight[j];
            weight[j] = 0;
        }
    for (int32_t j = 0; j < y->width; j++) {
        int64_t at = (int64_t)v * y->width + j;
        double  bend = (y->right[at] - y->left[at]) * weight[j];
        b->bend[j] = 0;
        if (weight[j] < 0) {
            b->before[j] += weight[j] * y->under[at];
        } else if (bend > 0 && y->high[at] - y->now[at] < y->now[at] - y->low[at]) {
            b->before[j] += weight[j] * y->left[at];
            b->bend[j] = bend;
        } else {
            b->before[j] += weight[j] * y->right[at];
            b->bend[j] = bend > 0 ? -bend : 0;
        }
        any = any || b->before[j] != 0;
    }
    add_bends(b, l, v);
    return any;
}

/* ---- a layer */

/* Sums in so many parts, which processors add at once. */
enum { PARTS = 8 };

/* How far one unit's share of a sum can move: the more and the less of two numbers. Written without
 * choosing what to load (scripts/check-masks.py). */
static inline void move_of_one(double up, double down, double times, double right, double left,
                               double under, double *more, double *less)
{
    double above = up > 0 ? up : 0, below = up < 0 ? up : 0;
    double a = times * (above * right + below * left), c = times * down * under;
    *more += a > c ? a : c;
    *less += a > c ? c : a;
}

/* By how much a sum of the row's units behind their ReLUs, each `times` so much, can move. */
CBX_HOT static void move_of(const cbx_spread_layer *x, int64_t at, const double *ups,
                            const double *downs, const double *times, double *fall, double *rise)
{
    const double *right = x->right + at, *left = x->left + at, *under = x->under + at;
    double        up[PARTS] = {0}, down[PARTS] = {0}, more = 0, less = 0;
    int32_t       k = 0;
    for (; k + PARTS <= x->width; k += PARTS)
        for (int32_t n = 0; n < PARTS; n++)
            move_of_one(ups[k + n], downs[k + n], times[k + n], right[k + n], left[k + n],
                        under[k + n], &up[n], &down[n]);
    for (; k < x->width; k++)
        move_of_one(ups[k], downs[k], times[k], right[k], left[k], under[k], &more, &less);
    for (int32_t n = 0; n < PARTS; n++) {
        more += up[n];
        less += down[n];
    }
    *rise = more;
    *fall = less;
}

static double length_of(const double *a, int32_t count)
{
    double sum = 0;
    for (int32_t k = 0; k < count; k++)
        sum += a[k] * a[k];
    return sqrt(sum) * 1.000001;
}

typedef struct term {
    double       now;
    cbx_interval all;  /* whatever is chosen */
    cbx_interval with; /* if the choice at hand is among it */
    double       kept; /* the same, at least, where choices of edges leave it as it is */
} term;

/* The same of the first layer's product. */
static void first_move_of(int32_t width, const double *ups, const double *downs,
                          const double *times, double *fall, double *rise)
{
    *rise = *fall = 0;
    for (int32_t k = 0; k < width; k++) {
        *rise += times[k] * (times[k] > 0 ? ups[k] : downs[k]);
        *fall += times[k] * (times[k] > 0 ? downs[k] : ups[k]);
    }
}

/* Where b->input times row u of the layer's input is; of the first layer that is b->before times
 * its product. `choice`: at hand, or -1. It is asked for choices of edges: one of the budget is an
 * edge then. `factor`: so often the row at hand has it, by an edge that is there; 0: by none. */
static term bound_term(cbx_lead_bound *b, int32_t l, int32_t u, int32_t choice, double factor)
{
    const cbx_spread       *s = &b->spread;
    const cbx_spread_layer *x = &s->layers[l > 0 ? l - 1 : 0];
    const cbx_reach_list   *list = l > 0 ? &x->list : &s->moves.list;
    int64_t                 at = (int64_t)u * x->width;
    int64_t      most = s->graph->budget < s->graph->count ? s->graph->budget : s->graph->count;
    cbx_largest  up = {.best = s->best, .count = most}, down = {.best = b->best, .count = most};
    cbx_largest  features = {.best = b->falls, .count = most > 0 ? most - 1 : 0};
    bool         undone = b->gains.both && choice >= 0 && factor > 0;
    bool         known = false;
    cbx_interval own = {0, 0};
    double       now = 0, rise = 0, fall = 0;
    for (int32_t k = 0; k < x->width; k++)
        now += l > 0 ? b->input[k] * cbx_spread_relu(x->now[at + k])
                     : b->before[k] * x->message[at + k];
    for (int64_t e = list->begin[u]; e < list->begin[u + 1]; e++) {
        int32_t       one = list->choice[e];
        bool          is_row = cbx_row_moves_is_row(&s->moves, one);
        int64_t       repeats = cbx_row_moves_repeats(&s->moves, one, most - 1);
        const double *ups = list->up + e * x->width, *downs = list->down + e * x->width;
        if (most == 1 && choice >= 0 && one != choice && !b->scaled) {
            known = false;
            continue; /* the budget is for this choice */
        }
        if (known && list->same && list->same[e])
            ; /* as before */
        else if (l > 0)
            move_of(x, at, ups, downs, b->input, &fall, &rise);
        else
            first_move_of(x->width, ups, downs, b->before, &fall, &rise);
        known = true;
        if (is_row) {
            double most_move = list->length[e] * length_of(l > 0 ? b->input : b->before, x->width);
            rise = fmin(rise, most_move);
            fall = fmax(fall, -most_move);
        }
        if (b->pairs)
            cbx_pair_gains_move(b->pairs, one, fall, rise);
        if (one == choice)
            own = (cbx_interval){fall, rise};
        else if (undone && !is_row)
            cbx_undone_add(&b->undone, one, -factor * fall);
        if (b->sum.kept && factor != 0)
            cbx_edge_sum_add(&b->sum, one, factor * rise);
        for (int64_t r = repeats; r > 0; r--) {
            cbx_largest_take(&up, rise);
            cbx_largest_take(&down, -fall);
            if (is_row)
                cbx_largest_take(&features, -fall);
        }
    }
    return (term){now,
                  {now - cbx_largest_sum(&down), now + cbx_largest_sum(&up)},
                  {now - cbx_largest_rest(&down) + own.low, now + cbx_largest_rest(&up) + own.high},
                  now - cbx_largest_sum(&features) + own.low};
}

/* What a first product of row u counts, whichever way it moves: b->before, `factor` times. */
static void add_slopes(cbx_lead_bound *b, cbx_slopes *of, int32_t u, double factor)
{
    int32_t width = b->spread.layers[0].width;
    int64_t at = (int64_t)u * width;
    for (int32_t j = 0; cbx_lead_has_features(b) && j < width; j++) {
        of->rise[at + j] += factor * b->before[j];
        of->fall[at + j] += factor * b->before[j];
    }
}

static void add_scaled_weights(cbx_lead_bound *b, int32_t l, int32_t u, double factor)
{
    if (l == 0) {
        add_slopes(b, &b->message, u, factor);
        return;
    }
    int32_t width = b->spread.layers[l - 1].width;
    double *weight = b->weight[l - 1] + (int64_t)u * width;
    for (int32_t k = 0; k < width; k++)
        weight[k] += factor * b->input[k];
}

/* Adds an edge from node u, of which `now` is what it brings, to the row's sum. */
static void sum_edge(cbx_lead_bound *b, int32_t u, double now, const cbx_edge_gain *gain)
{
    const cbx_partial_graph *g = b->spread.graph;
    b->sum.now += now;
    for (int64_t k = g->at_begin[u]; k < g->at_begin[u + 1]; k++)
        if (cbx_choice_is_open(g, g->at[k]))
            cbx_edge_sum_add(&b->sum, g->at[k],
                             g->choices[g->at[k]].adds ? gain->addition_source
                                                       : gain->removal_source);
}

/* Others at its nodes were counted with what the edge that goes gains by their degrees. */
static void undo_scales(cbx_lead_bound *b, int32_t u, int32_t v, int32_t choice,
                        const cbx_edge_gain *gain)
{
    const cbx_partial_graph *g = b->spread.graph;
    const int32_t            at[] = {u, v};
    const double             gained[] = {gain->removal_source, gain->removal_target};
    for (int i = 0; i < 2; i++)
        for (int64_t k = g->at_begin[at[i]]; k < g->at_begin[at[i] + 1] && gained[i] < 0; k++)
            if (g->at[k] != choice && cbx_choice_is_open(g, g->at[k]) && !g->choices[g->at[k]].adds)
                cbx_undone_add(&b->undone, g->at[k], -gained[i]);
}

/* The choice takes the edge at hand away, and was counted with so much too little. */
static void charge(cbx_lead_bound *b, cbx_charged to, int32_t choice, double gain)
{
    b->gains.charged[to][choice] += gain;
    if (b->sum.kept)
        b->sum.more[to][choice] += gain;
}

/* The edge's choice takes it away; t is what it brings. */
static void pass_going(cbx_lead_bound *b, int32_t l, int32_t v, int64_t e, const term *t,
                       const cbx_edge_gain *gain)
{
    const cbx_partial_graph *g = b->spread.graph;
    const cbx_node_scale    *scales = b->spread.scales[b->spread.net->layers[l].norm];
    int32_t                  u = g->view->source[e], choice = g->choice_of[e];
    double                   w = g->view->weight ? (double)g->view->weight[e] : 1;
    bool                     paired = g->paired[e], undone = b->gains.both && w > 0;
    double                   low = w * (w > 0 ? t->with.low : t->with.high);
    if (b->sum.kept)
        cbx_edge_sum_add(&b->sum, choice, 0);
    charge(b, CBX_TO_ITSELF, choice,
           cbx_scale_removal_gain(&scales[u], &scales[v], paired, true, gain, low));
    if (!b->gains.both)
        return;
    low = undone ? w * t->kept : low;
    charge(b, CBX_TO_OTHERS, choice,
           cbx_scale_removal_gain(&scales[u], &scales[v], paired, !undone, gain, low));
    if (undone)
        undo_scales(b, u, v, choice, gain);
    /* where several can be between the same nodes, a choice takes as many of the row's: any number
     */
    cbx_undone_end_edge(&b->undone, g->simple ? g->budget - 1 : INT64_MAX);
}

static void pass_edge(cbx_lead_bound *b, int32_t l, int32_t v, int64_t e)
{
    const cbx_partial_graph *g = b->spread.graph;
    cbx_norm_kind            norm = b->spread.net->layers[l].norm;
    int32_t                  u = g->view->source[e], choice = g->choice_of[e];
    const cbx_node_scale    *from = &b->spread.scales[norm][u], *to = &b->spread.scales[norm][v];
    bool                     open = choice >= 0 && cbx_choice_is_open(g, choice);
    double                   w = g->view->weight ? (double)g->view->weight[e] : 1;
    double                   factor = g->present[e] ? w * from->source.now * to->target.now : 0;
    if (g->present[e])
        add_scaled_weights(b, l, u, factor);
    if (!open && (norm == CBX_NORM_NONE || !g->present[e]))
        return;
    b->scaled = norm != CBX_NORM_NONE;
    term t = bound_term(b, l, u, open ? choice : -1, factor);
    if (!g->present[e]) {
        b->gain[choice] += cbx_scale_addition_gain(from, to, t.with.high);
        return;
    }
    if (b->pairs && b->pairs->on)
        cbx_pair_gains_add_edge(b->pairs, e, t.now);
    cbx_interval  all = cbx_interval_times(w, t.all.low, t.all.high);
    cbx_edge_gain gain = cbx_scale_edge_gain(from, to, g->paired[e], g->budget, all.low, all.high);
    b->at_removal[u] += gain.removal_source;
    b->at_removal[v] += gain.removal_target;
    b->at_addition[u] += gain.addition_source;
    b->at_addition[v] += gain.addition_target;
    if (b->sum.kept)
        sum_edge(b, u, factor * t.now, &gain);
    if (open)
        pass_going(b, l, v, e, &t, &gain);
}

static void pass_loop(cbx_lead_bound *b, int32_t l, int32_t v)
{
    const cbx_node_scale *scale = &b->spread.scales[CBX_NORM_GCN][v];
    double                removal, addition;
    add_scaled_weights(b, l, v, scale->loop.now);
    term t = bound_term(b, l, v, -1, 0);
    if (b->pairs && b->pairs->on)
        cbx_pair_gains_add_loop(b->pairs, v, t.now);
    cbx_scale_loop_gain(scale, t.all.low, t.all.high, &removal, &addition);
    b->at_removal[v] += removal;
    b->at_addition[v] += addition;
}

/* b->input = W times b->before */
static void multiply_back(cbx_lead_bound *b, int32_t l, const double *W)
{
    const cbx_net_layer *net = &b->spread.net->layers[l];
    bool                 told = l > 0 || net->maximum; /* else products are asked for */
    for (int32_t k = 0; told && k < net->n_in; k++) {
        double sum = 0;
        for (int32_t j = 0; j < net->n_out; j++)
            sum += W[(int64_t)k * net->n_out + j] * b->before[j];
        b->input[k] = sum;
    }
}

/* From weights before row v's ReLU to those of the layer's inputs. */
static void pass_row(cbx_lead_bound *b, int32_t l, int32_t v)
{
    const cbx_net_layer  *net = &b->spread.net->layers[l];
    const cbx_view       *view = b->spread.graph->view;
    bool                  gcn = net->norm == CBX_NORM_GCN;
    const cbx_node_scale *scale = &b->spread.scales[net->norm][v];
    multiply_back(b, l, net->own);
    if (l > 0)
        add_scaled_weights(b, l, v, 1);
    else
        add_slopes(b, &b->own, v, 1);
    multiply_back(b, l, net->neighbour);
    if (net->maximum)
        cbx_lead_pass_maxima(b, l, v);
    cbx_edge_sum_begin(&b->sum, scale);
    for (int64_t e = view->offset[v]; e < view->offset[v + 1] && !net->maximum; e++)
        if (!gcn || view->source[e] != v)
            pass_edge(b, l, v, e);
    cbx_undone_end_row(&b->undone, b->gains.charged[CBX_TO_OTHERS], &b->sum);
    cbx_edge_sum_end(&b->sum, &b->spread, scale, v, b->gains.both, b->gains.charged);
    if (gcn)
        pass_loop(b, l, v);
}

void cbx_lead_pass(cbx_lead_bound *b, int32_t l, int32_t v)
{
    bool any = pass_relu(b, l, v);
    if (l == 0 && b->spread.net->layers[0].maximum && cbx_lead_has_features(b))
        cbx_lead_tell_maxima(b, v);
    if (any)
        pass_row(b, l, v);
}
