/* SPDX-License-Identifier: Apache-2.0 */
/* prove_features.c: see prove_features.h. */
#include "prove_features.h"

#include <math.h>
#include <string.h>

#include "asking.h"
#include "error.h"

/* How often what is left is bounded again without the rest, and while it falls to less than so
 * much. */
enum { ROUNDS = 4 };
/* More choices than this take too much memory to branch on. */
enum { MOST_LEFT = 300000 };
static const double WORTH_A_ROUND = 0.8;

typedef struct proof {
    cbx_search     *s;
    cbx_minimal    *found;
    const cbx_net  *net;
    cbx_edge_proof *p;
    cbx_asking      asking;
    cbx_error      *err;
} proof;

/* Some of the moves, and the bound that is about them alone. */
typedef struct part {
    cbx_move         *moves;
    int64_t           count;
    cbx_arena         arena; /* of the rest */
    cbx_partial_graph graph;
    cbx_lead_bound    bound;
} part;

/* ---- what applies */

/* Can it take more values than are listed? */
static bool is_open(const cbx_edit_state *W, const cbx_move *m)
{
    return m->kind == &cbx_move_feature && !W->values[m->column];
}

static bool is_bounded(const cbx_move *m)
{
    return m->kind == &cbx_move_feature || m->kind == &cbx_move_group ||
           m->kind == &cbx_move_remove_edge;
}

static bool are_bounded(const cbx_edit_state *W, const cbx_edge_proof *p)
{
    const cbx_rules *r = W->rules;
    for (int64_t k = 0; k < p->count; k++)
        if (p->moves[k].cost != p->cheapest || !is_bounded(&p->moves[k]))
            return false;
    for (int32_t j = 0; j < W->f; j++)
        if (!r->fixed[j] && !W->values[j] &&
            (r->price[j] != p->cheapest || !isfinite(r->lo[j]) || !isfinite(r->hi[j])))
            return false;
    return p->count > 0 && p->count < INT32_MAX / 2;
}

/* ---- all moves */

/* May the column of this row go anywhere within its range? */
static bool goes_anywhere(const cbx_edit_state *W, int32_t row, int32_t column)
{
    const cbx_rules *r = W->rules;
    return W->allowed_row[row] && !r->fixed[column] && r->group[column] < 0 && !W->values[column];
}

/* What was listed; of features with more values than that, one for all of them, wherever it may
 * lead. Returns how many there are; `to` NULL: counts them. */
static int64_t list_all(const cbx_edit_state *W, const cbx_edge_proof *p, cbx_move *to)
{
    int64_t count = 0;
    for (int64_t k = 0; k < p->count; k++) {
        if (is_open(W, &p->moves[k]))
            continue;
        if (to)
            to[count] = p->moves[k];
        count++;
    }
    for (int32_t i = 0; i < W->rows; i++)
        for (int32_t j = 0; j < W->f; j++) {
            if (!goes_anywhere(W, i, j))
                continue;
            if (to)
                to[count] = (cbx_move){.kind = &cbx_move_feature,
                                       .row = i,
                                       .column = j,
                                       .other = -1,
                                       .pair = -1,
                                       .cost = p->cheapest};
            count++;
        }
    return count;
}

/* ---- a bound of some moves */

static void add_choice(const cbx_edit_state *W, const cbx_move *m, cbx_partial_graph *g)
{
    const cbx_rules *r = W->rules;
    if (m->kind == &cbx_move_remove_edge) {
        int64_t pair = m->pair, first = W->slots[W->slots_begin[pair]];
        cbx_partial_graph_add(g, W->slots + W->slots_begin[pair],
                              W->slots_begin[pair + 1] - W->slots_begin[pair],
                              W->s->view->source[first], W->target_of[first], false);
    } else if (m->kind == &cbx_move_group) {
        float by = CBX_GROUP_OFF - CBX_GROUP_ON;
        cbx_partial_graph_add_feature(g, m->row, m->column, m->other, by, by);
    } else {
        float x = cbx_edit_state_original(W, m->row, m->column);
        bool  open = is_open(W, m);
        float low = open ? fminf(r->lo[m->column], x) : m->to;
        float high = open ? fmaxf(r->hi[m->column], x) : m->to;
        cbx_partial_graph_add_feature(g, m->row, m->column, -1, low - x, high - x);
    }
}

/* Removals come first, as the walk over moves has them. */
static cbx_status make_part(const proof *p, part *of, bool *known)
{
    const cbx_view *v = p->s->view;
    cbx_status      status =
        cbx_partial_graph_init(&of->graph, v, NULL, of->count, v->m, &of->arena, p->err);
    for (int64_t k = 0; k < of->count && !status; k++)
        add_choice(p->found->state, &of->moves[k], &of->graph);
    if (!status)
        status = cbx_partial_graph_ready(&of->graph, &of->arena, p->err);
    return status ? status
                  : cbx_lead_bound_init(&of->bound, p->net, &of->graph, &p->s->X, &of->arena, known,
                                        p->err);
}

/* ---- which moves matter */

static bool is_sought(const cbx_search *s, int32_t class)
{
    return class != s->prediction && (s->target < 0 || class == s->target);
}

/* Keeps the moves that may be part of a set of up to `size` that flips. -1: no time. */
static int64_t sieve(proof *p, part *of, int64_t size, uint8_t *keep)
{
    const cbx_search *s = p->s;
    int64_t           kept = 0;
    memset(keep, 0, (size_t)of->count);
    of->graph.budget = size;
    if (cbx_asking_stops(&p->asking) || cbx_lead_bound_update(&of->bound))
        return -1;
    for (int32_t c = 0; c < s->model->num_classes; c++) {
        if (!is_sought(s, c))
            continue;
        double most = cbx_lead_bound_of(&of->bound, c, s->prediction);
        if (cbx_asking_stops(&p->asking) || isinf(most))
            return -1;
        for (int64_t k = 0; k < of->count && !(most < 0); k++)
            keep[k] = keep[k] || !(cbx_lead_bound_with(&of->bound, (int32_t)k) < 0);
    }
    for (int64_t k = 0; k < of->count; k++)
        if (keep[k])
            of->moves[kept++] = of->moves[k];
    return kept;
}

/* Those of all moves that matter for sets of this size; what is known of them alone leaves fewer.
 * -1: no time. */
static int64_t reduce(proof *p, part *all, int64_t size, part *left)
{
    uint8_t *keep = CBX_NEW(&left->arena, uint8_t, all->count);
    left->moves = CBX_NEW(&left->arena, cbx_move, all->count);
    if (!keep || !left->moves) {
        p->asking.status = cbx_fail_memory(p->err);
        return -1;
    }
    /* the moves of `all` stay: a copy is thinned out */
    cbx_move *moves = all->moves;
    memcpy(left->moves, moves, (size_t)all->count * sizeof *moves);
    all->moves = left->moves;
    left->count = sieve(p, all, size, keep);
    all->moves = moves;
    for (int round = 0; round < ROUNDS && left->count > 0; round++) {
        part    next = {.moves = left->moves, .count = left->count};
        bool    known;
        int64_t before = left->count;
        p->asking.status = make_part(p, &next, &known);
        left->count = p->asking.status ? -1 : sieve(p, &next, size, keep);
        cbx_arena_free(&next.arena);
        if ((double)left->count > WORTH_A_ROUND * (double)before)
            break;
    }
    return left->count;
}

/* ---- sizes */

/* Is there a set of `size` among these moves, where there is no smaller one? True: it was decided,
 * and answer->upper tells. */
static bool decide(proof *p, part *left, int64_t size, cbx_radius_answer *answer)
{
    bool              known;
    const cbx_search *s = p->s;
    for (int64_t k = 0; k < left->count; k++)
        if (left->count > MOST_LEFT || is_open(p->found->state, &left->moves[k]))
            return false;
    p->asking.status = make_part(p, left, &known);
    left->graph.budget = size;
    p->asking.moves = left->moves;
    p->asking.made = CBX_NEW(&left->arena, cbx_move, size + 1);
    if (!p->asking.status && !p->asking.made)
        p->asking.status = cbx_fail_memory(p->err);
    if (p->asking.status)
        return false;
    cbx_radius_question q = {.graph = &left->graph,
                             .bound = &left->bound,
                             .X = &s->X,
                             .threads = s->threads,
                             .asked = cbx_asking_of(&p->asking),
                             .num_classes = s->model->num_classes,
                             .prediction = s->prediction,
                             .target = s->target,
                             .known = size};
    cbx_status          status = cbx_radius_find(&q, &left->arena, answer, p->err);
    if (!p->asking.status)
        p->asking.status = status;
    return !p->asking.status && (answer->lower > size || answer->upper == size);
}

/* True: the size is excluded, or a set of it was found and took the place of what was. */
static bool settle(proof *p, part *all, int64_t size)
{
    part              left = {0};
    cbx_radius_answer answer = {.lower = size + 1};
    bool              settled = reduce(p, all, size, &left) == 0;
    if (left.count > 0)
        settled = decide(p, &left, size, &answer);
    if (settled && answer.upper > 0 &&
        cbx_prove_take_over(p->found, left.moves, p->p->cheapest, &answer, p->s->arena))
        p->asking.status = cbx_fail_memory(p->err);
    cbx_arena_free(&left.arena);
    return settled && !p->asking.status;
}

/* Need sets of this size not be excluded, as what was found costs hardly more? */
static bool is_near_enough(const proof *p, int64_t size)
{
    return p->found->count &&
           (double)size * p->p->cheapest + cbx_minimal_of(p->s)->prove_gap >= p->found->cost;
}

static void go_through_sizes(proof *p, part *all)
{
    cbx_minimal *found = p->found;
    int64_t      most = cbx_prove_largest_set(p->s, found, p->p), size = 1;
    while (size <= most && !is_near_enough(p, size) && settle(p, all, size)) {
        found->lower_bound = fmin(found->cost, (double)(size + 1) * p->p->cheapest);
        most = cbx_prove_largest_set(p->s, found, p->p); /* there may be a set by now */
        size++;
    }
    p->p->proved = size > most && !p->asking.status;
}

cbx_status cbx_prove_features(cbx_search *s, cbx_minimal *found, cbx_edge_proof *proved,
                              cbx_error *err)
{
    cbx_net *net;
    part     all = {0};
    proof    p = {.s = s, .found = found, .p = proved, .err = err};
    p.asking = (cbx_asking){.s = s, .W = found->state, .until = proved->until, .err = err};
    if (!are_bounded(found->state, proved) || found->state->s != s)
        return CBX_OK;
    cbx_status status = cbx_net_of(s->model, s->arena, &net, err);
    if (status || !net)
        return status;
    p.net = net;
    all.count = list_all(found->state, proved, NULL);
    if (all.count >= INT32_MAX / 2)
        return CBX_OK;
    if (!(all.moves = CBX_NEW(&all.arena, cbx_move, all.count)))
        status = cbx_fail_memory(err);
    if (!status) {
        (void)list_all(found->state, proved, all.moves);
        status = make_part(&p, &all, &proved->applies);
    }
    if (!status && proved->applies) {
        go_through_sizes(&p, &all);
        status = p.asking.status;
    }
    cbx_arena_free(&all.arena);
    return status;
}
