/* SPDX-License-Identifier: Apache-2.0 */
/* spread_row.c: see spread_parts.h. */
#include "spread_parts.h"

#include <math.h>

#include "deadline.h"
#include "kernel.h"

typedef struct row {
    cbx_spread           *s;
    cbx_spread_layer     *y;
    const cbx_node_scale *scales;
    int32_t               l, v;
    int64_t               begin, end; /* entries */
    int32_t               own;        /* the choice of the edge at hand; -1: none … */
    int64_t               own_entry;  /* … and its entry of the list that was added last, or -1 */
    bool                  listed;
} row;

/* Room for `more` entries behind the `had` that there are. */
static int grow_list(cbx_spread *s, cbx_reach_list *list, int64_t had, int64_t more, int32_t width)
{
    if (had + more <= list->room)
        return 0;
    int64_t  room = 2 * (had + more);
    int32_t *choice = CBX_NEW(s->arena, int32_t, room);
    double  *length = CBX_NEW(s->arena, double, room);
    double  *times = CBX_NEW(s->arena, double, room);
    uint8_t *same = CBX_NEW(s->arena, uint8_t, room);
    if (!choice || !length || !times || !same ||
        cbx_spread_grow(s->arena, had, room, width, &list->up, &list->down))
        return -1;
    if (had > 0) {
        memcpy(choice, list->choice, (size_t)had * sizeof *choice);
        memcpy(length, list->length, (size_t)had * sizeof *length);
        memcpy(times, list->times, (size_t)had * sizeof *times);
        memcpy(same, list->same, (size_t)had * sizeof *same);
    }
    list->same = same;
    list->length = length;
    list->times = times;
    list->choice = choice;
    list->room = room;
    return 0;
}

/* The row's entry of the choice: its ups, and the downs behind. */
static int64_t entry_of(row *r, int32_t choice)
{
    cbx_reach_list *list = &r->y->list;
    int32_t        *mark = &r->s->mark[choice];
    if (*mark < 0) {
        *mark = (int32_t)(r->end - r->begin);
        list->choice[r->end] = choice;
        list->length[r->end] = list->times[r->end] = 0;
        cbx_clear(list->up + r->end * r->y->width, r->y->width);
        cbx_clear(list->down + r->end * r->y->width, r->y->width);
        r->end++;
    }
    return (r->begin + *mark) * r->y->width;
}

/* Adds what the input's choices do to another row, `factor` times. */
CBX_HOT static void add_reached(row *r, int32_t from, double factor, const double *up,
                                const double *down, const double *length)
{
    const cbx_reach_list *list = cbx_spread_input(r->s, r->l);
    int32_t               width = r->y->width;
    r->own_entry = -1;
    for (int64_t k = list->begin[from]; k < list->begin[from + 1]; k++) {
        int64_t to = entry_of(r, list->choice[k]);
        r->own_entry = list->choice[k] == r->own ? k : r->own_entry;
        for (int32_t j = 0; j < width; j++) {
            r->y->list.up[to + j] += factor * up[k * width + j];
            r->y->list.down[to + j] += factor * down[k * width + j];
        }
        r->y->list.length[to / width] += fabs(factor) * length[k];
        r->y->list.times[to / width] += fabs(factor) * list->times[k];
    }
}

/* Adds to each open choice with an edge into node w what it gains there. `gain`: removals' ups,
 * removals' downs, additions' ups, additions' downs. */
static void add_scaled(row *r, int32_t w, const double *gain)
{
    const cbx_partial_graph *g = r->s->graph;
    int32_t                  width = r->y->width;
    for (int64_t k = g->at_begin[w]; k < g->at_begin[w + 1]; k++) {
        if (!cbx_choice_is_open(g, g->at[k]))
            continue;
        int64_t       to = entry_of(r, g->at[k]);
        const double *of = gain + (g->choices[g->at[k]].adds ? 2 * width : 0);
        for (int32_t j = 0; j < width; j++) {
            r->y->list.up[to + j] += of[j];
            r->y->list.down[to + j] += of[width + j];
        }
    }
}

/* What the choice of the edge at hand does to its message: zeros where it does not reach it. */
static void own_message(const row *r, int64_t entry, const double **up, const double **down)
{
    *up = entry < 0 ? r->s->zeros : r->y->message_up + entry * r->y->width;
    *down = entry < 0 ? r->s->zeros : r->y->message_down + entry * r->y->width;
}

/* An edge that may go. What it brings is counted as it moves already; so what goes with it is what
 * it brings now, and whatever was counted. */
static void bound_going(row *r, int64_t e)
{
    const cbx_partial_graph *g = r->s->graph;
    cbx_spread_layer        *y = r->y;
    int32_t                  u = g->view->source[e], width = y->width, choice = g->choice_of[e];
    const cbx_node_scale    *from = &r->scales[u], *to = &r->scales[r->v];
    double                   w = g->view->weight ? (double)g->view->weight[e] : 1;
    int64_t                  entry = entry_of(r, choice);
    const double            *own_up, *own_down;
    own_message(r, r->own_entry, &own_up, &own_down);
    for (int32_t j = 0; j < width; j++) {
        int64_t       at = (int64_t)u * width + j;
        cbx_interval  all = cbx_interval_times(w, y->message_low[at], y->message_high[at]);
        cbx_interval  rest = cbx_interval_times(w, y->rest_low[at], y->rest_high[at]);
        cbx_interval  own = cbx_interval_times(w, own_down[j], own_up[j]);
        cbx_edge_gain up =
            cbx_scale_edge_gain(from, to, g->paired[e], g->budget, all.low, all.high);
        cbx_edge_gain down =
            cbx_scale_edge_gain(from, to, g->paired[e], g->budget, -all.high, -all.low);
        y->list.up[entry + j] +=
            cbx_scale_removal_gain(from, to, g->paired[e], true, &up, rest.low + own.high);
        y->list.down[entry + j] -=
            cbx_scale_removal_gain(from, to, g->paired[e], true, &down, -rest.high - own.low);
    }
}

/* What an edge is multiplied by can move. */
static void bound_scaled(row *r, int64_t e, double *at_source, double *at_target)
{
    const cbx_partial_graph *g = r->s->graph;
    cbx_spread_layer        *y = r->y;
    int32_t                  u = g->view->source[e], width = y->width;
    const cbx_node_scale    *from = &r->scales[u], *to = &r->scales[r->v];
    for (int32_t j = 0; j < width; j++) {
        double        low = y->message_low[(int64_t)u * width + j];
        double        high = y->message_high[(int64_t)u * width + j];
        cbx_edge_gain up = cbx_scale_edge_gain(from, to, g->paired[e], g->budget, low, high);
        cbx_edge_gain down = cbx_scale_edge_gain(from, to, g->paired[e], g->budget, -high, -low);
        at_source[j] = up.removal_source;
        at_source[width + j] = -down.removal_source;
        at_source[2 * width + j] = up.addition_source;
        at_source[3 * width + j] = -down.addition_source;
        at_target[j] += up.removal_target;
        at_target[width + j] -= down.removal_target;
        at_target[2 * width + j] += up.addition_target;
        at_target[3 * width + j] -= down.addition_target;
    }
}

static void bound_loop(row *r, double *at_target)
{
    cbx_spread_layer *y = r->y;
    int32_t           width = y->width;
    for (int32_t j = 0; j < width; j++) {
        double low = y->message_low[(int64_t)r->v * width + j];
        double high = y->message_high[(int64_t)r->v * width + j], removal, addition;
        cbx_scale_loop_gain(&r->scales[r->v], low, high, &removal, &addition);
        at_target[j] += removal;
        at_target[2 * width + j] += addition;
        cbx_scale_loop_gain(&r->scales[r->v], -high, -low, &removal, &addition);
        at_target[width + j] -= removal;
        at_target[3 * width + j] -= addition;
    }
}

/* An edge that may come. */
static void bound_coming(row *r, int64_t e)
{
    const cbx_partial_graph *g = r->s->graph;
    cbx_spread_layer        *y = r->y;
    int32_t                  u = g->view->source[e], width = y->width;
    const cbx_node_scale    *from = &r->scales[u], *to = &r->scales[r->v];
    int64_t                  entry = entry_of(r, g->choice_of[e]);
    const double            *own_up, *own_down;
    own_message(r, cbx_reach_find(cbx_spread_input(r->s, r->l), u, g->choice_of[e]), &own_up,
                &own_down);
    for (int32_t j = 0; j < width; j++) {
        double low = y->rest_low[(int64_t)u * width + j] + own_down[j];
        double high = y->rest_high[(int64_t)u * width + j] + own_up[j];
        y->list.up[entry + j] += cbx_scale_addition_gain(from, to, high);
        y->list.down[entry + j] -= cbx_scale_addition_gain(from, to, -low);
    }
}

static void add_edge(row *r, int64_t e, double *at_source, double *at_target, bool scaled)
{
    const cbx_partial_graph *g = r->s->graph;
    cbx_spread_layer        *y = r->y;
    int32_t                  u = g->view->source[e], width = y->width;
    double w = (g->view->weight ? (double)g->view->weight[e] : 1) * r->scales[u].source.now *
               r->scales[r->v].target.now;
    double *now = y->now + (int64_t)r->v * width;
    for (int32_t j = 0; j < width; j++)
        now[j] += w * y->message[(int64_t)u * width + j];
    if (!r->listed)
        return;
    r->own = g->choice_of[e];
    if (w >= 0)
        add_reached(r, u, w, y->message_up, y->message_down, y->message_length);
    else
        add_reached(r, u, w, y->message_down, y->message_up, y->message_length);
    if (g->choice_of[e] >= 0 && cbx_choice_is_open(g, g->choice_of[e]))
        bound_going(r, e);
    if (!scaled)
        return;
    bound_scaled(r, e, at_source, at_target);
    add_scaled(r, u, at_source);
}

static void add_loop(row *r, double *at_target)
{
    cbx_spread_layer *y = r->y;
    double            factor = r->scales[r->v].loop.now;
    for (int32_t j = 0; j < y->width; j++)
        y->now[(int64_t)r->v * y->width + j] += factor * y->message[(int64_t)r->v * y->width + j];
    if (!r->listed)
        return;
    add_reached(r, r->v, factor, y->message_up, y->message_down, y->message_length);
    bound_loop(r, at_target);
}

/* Adds what the degree does, where a choice takes one of the row's edges away: to the sum of all
 * that are left, which is as the others make it, and at most as far as they all can. */
static void add_degree(row *r)
{
    const cbx_partial_graph *g = r->s->graph;
    const cbx_node_scale    *scale = &r->scales[r->v];
    cbx_reach_list          *list = &r->y->list;
    int32_t                  width = r->y->width;
    const double            *now = r->y->now + (int64_t)r->v * width;
    cbx_allowance may = {cbx_spread_budget(r->s, r->l, r->v), g->budget > 0 ? g->budget - 1 : 0};
    cbx_tops      up = r->s->tops[0], down = r->s->tops[1];
    if (scale->removals == 0)
        return;
    list->begin[r->v + 1] = r->end;
    cbx_spread_tops(r->s, list, list->up, r->v, width, 1, may, NULL, &up);
    cbx_spread_tops(r->s, list, list->down, r->v, width, -1, may, NULL, &down);
    for (int64_t k = g->at_begin[r->v]; k < g->at_begin[r->v + 1]; k++) {
        if (!cbx_choice_is_open(g, g->at[k]))
            continue;
        int64_t to = entry_of(r, g->at[k]);
        double *ups = list->up + to, *downs = list->down + to;
        for (int32_t j = 0; j < width; j++) {
            double high = now[j] + ups[j] + cbx_beside(up.all[j], up.rest[j], ups[j]);
            double low = now[j] + downs[j] - cbx_beside(down.all[j], down.rest[j], -downs[j]);
            ups[j] += cbx_scale_whole_gain(scale, high);
            downs[j] -= cbx_scale_whole_gain(scale, -low);
        }
    }
}

/* Adds what a choice does to one of the row's maxima, of which w are the weights. */
static void add_max_move(row *r, const cbx_max_move *move, const double *w)
{
    const cbx_row_moves *of = &r->s->moves;
    int32_t              width = r->y->width;
    int64_t              to = entry_of(r, move->choice);
    double              *ups = r->y->list.up + to, *downs = r->y->list.down + to;
    if (r->l > 0 || !cbx_row_moves_is_row(of, move->choice)) {
        for (int32_t j = 0; j < width; j++) {
            cbx_interval by = cbx_interval_times(w[j], move->down, move->up);
            ups[j] += by.high;
            downs[j] += by.low;
        }
        return;
    }
    /* it is one of the row's features that moves, or two against each other, and not all of them */
    double columns = of->columns[move->choice - r->s->graph->count];
    for (int32_t j = 0; j < width; j++) {
        cbx_interval by = cbx_interval_times(columns * w[j], move->down, move->up);
        ups[j] = by.high > ups[j] ? by.high : ups[j];
        downs[j] = by.low < downs[j] ? by.low : downs[j];
    }
}

/* What one choice of a row's features does to the maxima of all units is no longer than what it
 * does to the messages that it reaches. So far the entries have nothing but maxima. */
static void limit_maxima(row *r)
{
    const cbx_partial_graph *g = r->s->graph;
    const cbx_reach_list    *list = cbx_spread_input(r->s, r->l);
    cbx_reach_list          *to = &r->y->list;
    int32_t                  width = r->y->width;
    for (int64_t e = g->view->offset[r->v]; e < g->view->offset[r->v + 1]; e++) {
        int32_t u = g->view->source[e];
        double  w = g->view->weight ? fabs((double)g->view->weight[e]) : 1;
        for (int64_t k = list->begin[u]; k < list->begin[u + 1] && g->present[e]; k++)
            if (cbx_row_moves_is_row(&r->s->moves, list->choice[k]))
                to->length[entry_of(r, list->choice[k]) / width] += w * r->y->message_length[k];
    }
    for (int64_t k = r->begin; k < r->end && r->l > 0; k++) { /* the first are of products */
        const cbx_stretch *by = &r->s->moves.stretch[r->l];
        if (cbx_row_moves_is_row(&r->s->moves, to->choice[k]))
            to->length[k] = cbx_spread_limit(to->length[k], by->neighbour, by->columns, width,
                                             to->up + k * width, to->down + k * width);
    }
}

/* Adds the maxima of the row's neighbours, and what choices do to them; before all else, as
 * features are told apart in it. */
static void add_maxima(row *r)
{
    const cbx_maxima *m = &r->y->maxima;
    int32_t           width = r->y->width, in = r->y->in;
    const double     *W = r->s->net->layers[r->l].neighbour;
    double           *now = r->y->now + (int64_t)r->v * width;
    for (int32_t k = 0; k < in; k++)
        for (int32_t j = 0; j < width && m->now[(int64_t)r->v * in + k] != 0; j++)
            now[j] += m->now[(int64_t)r->v * in + k] * W[(int64_t)k * width + j];
    if (!r->listed)
        return;
    for (int64_t k = m->begin[r->v]; k < m->begin[r->v + 1]; k++)
        add_max_move(r, &m->moves[k], W + (int64_t)m->moves[k].unit * width);
    if (cbx_partial_graph_has_features(r->s->graph))
        limit_maxima(r);
}

/* The most entries that a row can have. */
static int64_t most_entries(const row *r)
{
    const cbx_partial_graph *g = r->s->graph;
    const cbx_reach_list    *list = cbx_spread_input(r->s, r->l);
    int64_t                  sum = g->at_begin[r->v + 1] - g->at_begin[r->v];
    int64_t                  all = (int64_t)g->count + g->view->n;
    sum += list->begin[r->v + 1] - list->begin[r->v];
    for (int64_t e = g->view->offset[r->v]; e < g->view->offset[r->v + 1]; e++) {
        int32_t u = g->view->source[e];
        sum += g->at_begin[u + 1] - g->at_begin[u];
        sum += list->begin[u + 1] - list->begin[u];
    }
    return sum < all ? sum : all;
}

/* Choices at one node do the same to rows that see no more of them than its degree. */
static void find_same(row *r)
{
    cbx_reach_list *list = &r->y->list;
    int64_t         width = r->y->width;
    size_t          size = (size_t)width * sizeof(double);
    for (int64_t k = r->begin; k < r->end; k++)
        list->same[k] = k > r->begin && !cbx_row_moves_is_row(&r->s->moves, list->choice[k]) &&
                        !cbx_row_moves_is_row(&r->s->moves, list->choice[k - 1]) &&
                        !memcmp(list->up + k * width, list->up + (k - 1) * width, size) &&
                        !memcmp(list->down + k * width, list->down + (k - 1) * width, size);
}

/* From `now` and the list to the box and the slopes behind the ReLU. */
static void close_row(row *r)
{
    cbx_spread_layer *y = r->y;
    cbx_allowance     may = {cbx_spread_budget(r->s, r->l, r->v), r->s->graph->budget};
    y->list.begin[r->v + 1] = r->end;
    find_same(r);
    cbx_tops up = r->s->tops[0], down = r->s->tops[1];
    cbx_spread_tops(r->s, &y->list, y->list.up, r->v, y->width, 1, may, y->list.same, &up);
    cbx_spread_tops(r->s, &y->list, y->list.down, r->v, y->width, -1, may, y->list.same, &down);
    for (int32_t j = 0; j < y->width; j++) {
        int64_t at = (int64_t)r->v * y->width + j;
        double  now = y->now[at];
        y->high[at] = now + up.all[j];
        y->low[at] = now - down.all[j];
        double low = y->low[at], high = y->high[at];
        y->under[at] = now > 0 ? 1 : 0;
        y->right[at] = now > 0 ? 1 : high > 0 ? high / (high - now) : 0;
        y->left[at] = now <= 0 ? 0 : low < 0 ? now / (now - low) : 1;
    }
    for (int64_t k = r->begin; k < r->end; k++)
        r->s->mark[y->list.choice[k]] = -1;
}

int cbx_spread_row(cbx_spread *s, int32_t l, int32_t v)
{
    const cbx_partial_graph *g = s->graph;
    const cbx_view          *view = g->view;
    cbx_spread_layer        *y = &s->layers[l];
    cbx_norm_kind            norm = s->net->layers[l].norm;
    bool                     gcn = norm == CBX_NORM_GCN, scaled = norm != CBX_NORM_NONE;
    double *at_target = s->gain, *at_source = at_target + 4 * (int64_t)s->net->widest;
    row     r = {.s = s, .y = y, .scales = s->scales[norm], .l = l, .v = v};
    r.begin = r.end = y->list.begin[v];
    r.listed = !(s->last_is_linear && l == s->net->num_layers - 1);
    if (s->net->layers[l].maximum && cbx_spread_maxima(s, l, v))
        return -1;
    if (r.listed && grow_list(s, &y->list, r.begin, most_entries(&r), y->width))
        return -1;
    cbx_clear(at_target, 4 * (int64_t)y->width);
    cbx_clear(y->now + (int64_t)v * y->width, y->width);
    if (s->net->layers[l].maximum)
        add_maxima(&r);
    for (int64_t e = view->offset[v]; e < view->offset[v + 1] && !s->net->layers[l].maximum; e++) {
        if (gcn && view->source[e] == v)
            continue;
        if (g->present[e])
            add_edge(&r, e, at_source, at_target, scaled);
        else if (r.listed && g->choice_of[e] >= 0 && cbx_choice_is_open(g, g->choice_of[e]))
            bound_coming(&r, e);
    }
    if (scaled && r.listed && r.scales[v].whole)
        add_degree(&r);
    for (int32_t j = 0; j < y->width; j++)
        y->now[(int64_t)v * y->width + j] +=
            s->net->layers[l].bias[j] + y->own[(int64_t)v * y->width + j];
    if (r.listed && s->net->layers[l].has_own)
        add_reached(&r, v, 1, y->own_up, y->own_down, y->own_length);
    if (gcn)
        add_loop(&r, at_target);
    if (scaled && r.listed)
        add_scaled(&r, v, at_target);
    close_row(&r);
    double work = (double)(r.end - r.begin + 8) * y->width * 8;
    if (s->net->layers[l].maximum)
        work += (double)(view->offset[v + 1] - view->offset[v]) * y->in * 8 +
                (double)(y->maxima.begin[v + 1] - y->maxima.begin[v]) * y->width;
    return cbx_out_of_time(work) ? -1 : 0;
}
