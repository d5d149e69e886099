/* SPDX-License-Identifier: Apache-2.0 */
/* question.h: what choices a small world has, and every set of them made: the edited graph is built
 * anew and the model asked, which shares nothing with the bounds. */
#ifndef QUESTION_H
#define QUESTION_H

#include <math.h>
#include <string.h>

#include "candidates.h"
#include "lead_bound.h"
#include "receptive.h"
#include "small_world.h"

/* All that have this in their names. */
static inline void clear_parameter(world *w, const char *of)
{
    const char *name;
    cbx_error   err = {0};
    int32_t     rows, cols;
    float       zeros[64] = {0};
    for (size_t i = 0; cbx_model_parameter(w->model, i, &name, &rows, &cols); i++)
        if (strstr(name, of))
            CHECK_OK(cbx_model_set(w->model, i, zeros, (int64_t)rows * cols, &err), err);
}

/* Makes two of the last layer's four units the negatives of the others, to the head as well. */
static inline void mirror_last_units(world *w)
{
    const char *name;
    cbx_error   err = {0};
    int32_t     rows, cols;
    float       values[4096];
    for (size_t i = 0; cbx_model_parameter(w->model, i, &name, &rows, &cols); i++) {
        int64_t count = (int64_t)(rows ? rows : 1) * (cols ? cols : 1), row = count / CLASSES;
        int64_t units = count / 4;
        bool    last = strstr(name, "layers.") && name[7] == '0' + w->model->num_layers - 1;
        bool    head = !strcmp(name, "output_layer.weight");
        CHECK_OK(cbx_model_get(w->model, i, values, count, &err), err);
        for (int64_t k = 0; last && k < 2 * units; k++)
            values[2 * units + k] = -values[k];
        for (int64_t c = 0; head && c < CLASSES; c++)
            for (int64_t k = (c + 1) * row - 4; k < (c + 1) * row - 2; k++)
                values[k + 2] = -values[k];
        CHECK_OK(cbx_model_set(w->model, i, values, count, &err), err);
    }
}

/* Parameters of layers that are not below 0: with such features no ReLU does anything, and what is
 * claimed of edges that go is hardly more than there is. */
static inline void turn_up_layers(world *w)
{
    change_layers(w, fabs);
}

/* What is drawn. */
typedef struct draw {
    bool maximum;  /* layers take the largest of their neighbours */
    bool features; /* may change */
    bool max_pool; /* graphs, of which the head sees the largest of each unit */
    bool parallel; /* layers take sums, and of three nodes or four edges are there several times */
    bool pairs;    /* GCN: of removals, one way and back, pairs are told */
    bool dense;    /* and of a node, in larger graphs with more edges, of which few may go */
} draw;

static inline void draw_world(world *w, uint64_t seed, draw what)
{
    bool                     maximum = what.maximum;
    static const char *const layers[] = {"gcn", "graphconv", "graphconv", "sage", "cheb"};
    cbx_error                err = {0};
    cbx_options             *o;
    *w = (world){.rng = cbx_rng_stream(seed, 0, 0, 0)};
    w->task = !what.dense && (below(w, 2) || what.max_pool) ? CBX_GRAPH : CBX_NODE;
    w->n = (int32_t)(3 + below(w, what.parallel ? 2 : what.dense ? MOST_NODES - 2 : NODES - 2));
    w->most_choices = what.dense ? 10 : 0;
    int64_t kind = below(w, 9) / 2;
    bool    undirected = what.dense || below(w, 3) > 0;
    int64_t density = what.dense ? 1 + below(w, 5) : 2;
    for (int32_t u = 0; u < w->n; u++)
        for (int32_t v = 0; v < u; v++) {
            w->edge[u][v] = what.parallel || below(w, 5) < density;
            w->edge[v][u] = undirected ? w->edge[u][v] : below(w, 5) < 2;
        }
    for (int32_t k = 0; k < w->n * FEATURES; k++)
        w->x[k] = (float)(2 * cbx_rng_uniform(&w->rng) - (what.parallel ? 0 : 1));
    bool alike = below(w, 5) == 0; /* then choices do the same to many rows */
    for (int32_t k = FEATURES; k < w->n * FEATURES && alike; k++)
        w->x[k] = w->x[k - FEATURES];
    if (what.parallel)
        kind = 1;
    if (what.pairs)
        kind = 0;
    bool plain = maximum || kind == 1; /* not normalised: edges may have weights */
    if (plain && below(w, 2))
        draw_weights(w);
    bool several = plain && (what.parallel || below(w, 3) == 0);
    for (int32_t u = 0; u < w->n && several; u++)
        for (int32_t v = 0; v < w->n; v++)
            w->copies[u][v] = !w->edge[u][v] ? 0 : what.parallel ? (int)below(w, 4) : !below(w, 3);
    w->y[0] = CLASSES - 1;
    w->graph = graph_of(w);
    w->layer = maximum ? "graphconv" : layers[kind];
    CHECK_OK(cbx_options_new(cbx_model_table(), &o, &err), err);
    set(o, "model", w->layer);
    set(o, "hidden", !maximum && !what.max_pool && below(w, 8) == 0 ? "11" : "4");
    set(o, "layers", (const char *[]){"1", "2", "3"}[below(w, 3)]);
    if (kind == 2 || maximum)
        set(o, "aggregation", maximum ? "max" : "mean");
    if (kind == 4 && !maximum)
        set(o, "order", "1");
    set(o, "head", below(w, 2) ? "cat" : "last");
    bool batch_norm = below(w, 4) == 0;
    set(o, "batch-norm", batch_norm ? "true" : "false");
    /* told by the seed: drawn, it would make other worlds of those that tests know by number */
    if (!maximum && kind == 0 && seed / 8 % 8 == 5)
        set(o, "residual", "true");
    if (w->task == CBX_GRAPH)
        set(o, "pool", what.max_pool ? "max" : below(w, 2) ? "sum" : "mean");
    CHECK_OK(cbx_model_new(w->graph, o, (int64_t)seed, &w->model, &err), err);
    cbx_options_free(o);
    shake_parameters(w);
    if ((what.parallel || what.pairs) && (what.dense ? seed % 6 == 0 : seed % 3 > 0))
        turn_up_layers(w);
    if (maximum && what.features && below(w, 3) == 0)
        clear_parameter(w, "lin_root.weight"); /* rows have nothing of their own */
    if (what.max_pool && !batch_norm && below(w, 4) == 0)
        mirror_last_units(w);
}

/* What is asked about: node 0, or the graph. */
typedef struct question {
    world            *w;
    cbx_arena         arena;
    cbx_view          factual;
    cbx_candidates    all;
    cbx_partial_graph graph;
    cbx_matrix        X;
    cbx_lead_bound    bound;
    bool              known;
} question;

static inline int32_t node_of(const question *q, int32_t i)
{
    return q->factual.node ? q->factual.node[i] : i;
}

/* Some edges, each alone or with the one back, may go; and some may come. */
static inline void draw_choices(question *q, bool together)
{
    const cbx_view *v = &q->all.view;
    for (int64_t e = 0; e < v->m; e++) {
        int32_t s = v->source[e], t = q->graph.target_of[e];
        int64_t slots[8], count = 0;
        for (int64_t k = v->offset[t]; k < v->offset[t + 1]; k++)
            if (v->source[k] == s && q->all.absent[k] == q->all.absent[e])
                slots[count++] = k;
        for (int64_t k = v->offset[s]; together && s != t && k < v->offset[s + 1]; k++)
            if (v->source[k] == t && q->all.absent[k] == q->all.absent[e])
                slots[count++] = k;
        if (q->w->most_choices > 0 && q->graph.count == q->w->most_choices)
            break;
        if (q->graph.choice_of[e] < 0 && (!q->all.absent[e] ? below(q->w, 4) : below(q->w, 3) == 0))
            cbx_partial_graph_add(&q->graph, slots, count, s, t, q->all.absent[e]);
    }
}

/* Some features may move: to one value, anywhere within a range, or against another one. */
static inline void draw_features(question *q)
{
    int32_t rows = cbx_view_rows(&q->all.view, q->w->model->num_layers);
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < FEATURES; j++) {
            float by = (float)(2 * cbx_rng_uniform(&q->w->rng) - 1);
            float to = (float)(2 * cbx_rng_uniform(&q->w->rng) - 1);
            switch (below(q->w, 6)) {
            case 0:
                cbx_partial_graph_add_feature(&q->graph, i, j, -1, by, by);
                break;
            case 1:
                cbx_partial_graph_add_feature(&q->graph, i, j, -1, fminf(by, to), fmaxf(by, to));
                break;
            case 2:
                cbx_partial_graph_add_feature(&q->graph, i, j, (j + 1) % FEATURES, by, by);
                break;
            default:
                break;
            }
        }
}

static inline void ask(question *q, world *w, uint64_t most, bool features)
{
    cbx_error err = {0};
    int32_t   row = 0;
    *q = (question){.w = w};
    bool adds = w->task == CBX_GRAPH && below(w, 3) > 0;
    if (w->task == CBX_GRAPH)
        CHECK_OK(cbx_view_graphs(w->graph, &row, 1, &q->arena, &q->factual, &err), err);
    else
        CHECK_OK(
            cbx_receptive_view(w->model, w->graph, NULL, 0, 1000, &q->arena, &q->factual, &err),
            err);
    CHECK_OK(cbx_candidates_find(&q->factual, adds, NULL, &q->arena, &q->all, &err), err);
    CHECK_OK(cbx_view_features(w->graph, &q->factual, &q->arena, &q->X, &err), err);
    int64_t m = q->all.view.m;
    CHECK_OK(cbx_partial_graph_init(&q->graph, &q->all.view, q->all.absent, m + w->n * FEATURES, m,
                                    &q->arena, &err),
             err);
    int64_t what = features ? below(w, 4) : 0; /* edges, features, or both */
    if (what != 1)
        draw_choices(q, w->most_choices > 0 || below(w, 2));
    if (what > 0)
        draw_features(q);
    for (int32_t i = 0; i < q->factual.n && below(w, 2); i++)
        q->graph.local[i] = below(w, 4);
    q->graph.budget = 1 + below(w, most);
    CHECK_OK(cbx_partial_graph_ready(&q->graph, &q->arena, &err), err);
    cbx_net *net;
    CHECK_OK(cbx_net_of(w->model, &q->arena, &net, &err), err);
    CHECK_OK(cbx_lead_bound_init(&q->bound, net, &q->graph, &q->X, &q->arena, &q->known, &err),
             err);
    if (q->known)
        CHECK_OK(cbx_lead_bound_use_pairs(&q->bound, &q->arena, &err), err);
}

/* The choice's edges in the world, and its features by so much. */
static inline void toggle(question *q, int32_t choice, float by)
{
    const cbx_choice *c = &q->graph.choices[choice];
    float            *x = q->w->x + (c->row < 0 ? 0 : node_of(q, c->row) * FEATURES);
    if (c->row >= 0)
        x[c->column] += by;
    if (c->other >= 0)
        x[c->other] -= by;
    bool *before = NULL;
    for (int64_t k = c->begin; k < c->end; k++) {
        int64_t e = q->graph.slots[k];
        bool   *edge =
            &q->w->edge[node_of(q, q->all.view.source[e])][node_of(q, q->graph.target_of[e])];
        if (edge != before) /* of two between the same nodes the matrix knows one */
            *edge = !*edge;
        before = edge;
    }
}

/* As branching does: some choices are made, some barred. */
static inline void settle_some(question *q)
{
    for (int32_t c = 0; c < q->graph.count && q->graph.budget > 1; c++) {
        int64_t what = below(q->w, 6);
        if (what == 0)
            q->graph.fate[c] = CBX_BARRED;
        float by = q->graph.choices[c].low;
        if (what == 1 && cbx_choice_is_open(&q->graph, c) && by == q->graph.choices[c].high) {
            cbx_partial_graph_make(&q->graph, c);
            toggle(q, c, by);
        }
    }
}

/* Whoever what is undone is charged to, and by pairs, half of each to either, the claim holds. */
enum { CHARGES = 4 };

typedef struct trial {
    double   *gain[CHARGES]; /* by choice: as they are, and with all of it charged to either */
    question *q;
    int32_t   a, b;
    double    most;  /* that the bound claims */
    double    least; /* by how much the claim was too high, where it was closest */
    int64_t   local[MOST_NODES];
    int64_t   sets, paired;
    int32_t   made[16]; /* choices, and how many */
    int64_t   num_made;
} trial;

/* What pairs claim of the set that is made: alone and both, nothing halved. */
static inline double claimed_by_pairs(const trial *t)
{
    const cbx_lead_bound *b = &t->q->bound;
    const cbx_pair_gains *p = b->pairs;
    double                sum = b->now + b->rounding + 1e-12;
    for (int64_t i = 0; i < t->num_made; i++) {
        int32_t own = p->place[t->made[i]];
        sum += p->alone[own];
        for (int64_t k = 0; k < i; k++)
            sum += p->both[(int64_t)own * p->count + p->place[t->made[k]]];
    }
    return sum;
}

/* Every set of choices from `first` on, on top of what is there: is the lead what gains say? */
static inline void try_sets(trial *t, int32_t first, int64_t left, const double *claimed)
{
    question *q = t->q;
    double    lead = true_lead(q->w, t->a, t->b), further[CHARGES];
    for (int k = 0; k < CHARGES; k++)
        CHECK(lead <= claimed[k]);
    CHECK(lead <= t->most);
    if (t->paired)
        CHECK(lead <= claimed_by_pairs(t));
    t->least = fmin(t->least, t->most - lead);
    t->sets++;
    for (int32_t c = first; c < q->graph.count && left > 0 && test_failures() == 0; c++) {
        const int32_t *ends = q->graph.choices[c].ends;
        if (q->graph.fate[c] != CBX_FREE || t->local[ends[0]] < 1 || t->local[ends[1]] < 1)
            continue;
        t->local[ends[0]]--;
        t->local[ends[1]] -= ends[1] != ends[0];
        for (int k = 0; k < CHARGES; k++)
            further[k] = claimed[k] + t->gain[k][c];
        float x[MOST_NODES * FEATURES], low = q->graph.choices[c].low,
                                        high = q->graph.choices[c].high;
        memcpy(x, q->w->x, sizeof x);
        for (int way = 0; way < (low < high ? 3 : 1); way++) {
            toggle(q, c, low + (high - low) * (float)way / 2);
            t->made[t->num_made++] = c;
            try_sets(t, c + 1, left - 1, further);
            t->num_made--;
            toggle(q, c, 0);
            memcpy(q->w->x, x, sizeof x);
        }
        t->local[ends[0]]++;
        t->local[ends[1]] += ends[1] != ends[0];
    }
}

/* The bound's gains, and what they would be with all that is undone charged to one or the other. */
static inline void list_gains(question *q, trial *t)
{
    const cbx_lead_bound *b = &q->bound;
    for (int k = 0; k < CHARGES; k++)
        CHECK((t->gain[k] = CBX_NEW(&q->arena, double, q->graph.count + 1)) != NULL);
    for (int32_t c = 0; c < q->graph.count; c++)
        t->gain[0][c] = b->gain[c];
    CHECK(cbx_gains_of(&b->gains, q->graph.count, 0, t->gain[1]));
    CHECK(cbx_gains_of(&b->gains, q->graph.count, b->gains.both ? CBX_SHARES : 0, t->gain[2]));
    memcpy(t->gain[3], b->gains.are_paired ? b->gains.paired : b->gain,
           (size_t)q->graph.count * sizeof(double));
    t->paired += b->gains.are_paired;
}

#endif
