/* SPDX-License-Identifier: Apache-2.0 */
/* What bounds claim of all graphs that choices can make, against every one of them: the edited
 * graph is built anew and the model asked, which shares nothing with the bounds. */
#include "lead_bound.h"

#include <math.h>
#include <string.h>

#include "branch.h"
#include "candidates.h"
#include "receptive.h"
#include "small_world.h"
#include "spread_parts.h"

/* Of edges that are there: some are 0, which is a message that can be the largest. */

/* All that have this in their names. */
static void clear_parameter(world *w, const char *of)
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
static void mirror_last_units(world *w)
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

/* What is drawn. */
typedef struct draw {
    bool maximum;  /* layers take the largest of their neighbours */
    bool features; /* may change */
    bool max_pool; /* graphs, of which the head sees the largest of each unit */
    bool parallel; /* layers take sums, and edges are there twice */
} draw;

static void draw_world(world *w, uint64_t seed, draw what)
{
    bool                     maximum = what.maximum;
    static const char *const layers[] = {"gcn", "graphconv", "graphconv", "sage", "cheb"};
    cbx_error                err = {0};
    cbx_options             *o;
    *w = (world){.rng = cbx_rng_stream(seed, 0, 0, 0)};
    w->task = below(w, 2) || what.max_pool ? CBX_GRAPH : CBX_NODE;
    w->n = (int32_t)(3 + below(w, NODES - 2));
    int64_t kind = below(w, 9) / 2;
    bool    undirected = below(w, 3) > 0;
    for (int32_t u = 0; u < w->n; u++)
        for (int32_t v = 0; v < u; v++) {
            w->edge[u][v] = below(w, 5) < 2;
            w->edge[v][u] = undirected ? w->edge[u][v] : below(w, 5) < 2;
        }
    for (int32_t k = 0; k < w->n * FEATURES; k++)
        w->x[k] = (float)(2 * cbx_rng_uniform(&w->rng) - 1);
    bool alike = below(w, 5) == 0; /* then choices do the same to many rows */
    for (int32_t k = FEATURES; k < w->n * FEATURES && alike; k++)
        w->x[k] = w->x[k - FEATURES];
    if (what.parallel)
        kind = 1;
    bool plain = maximum || kind == 1; /* not normalised: edges may have weights */
    if (plain && below(w, 2))
        draw_weights(w);
    bool twice = plain && (what.parallel || below(w, 3) == 0);
    for (int32_t u = 0; u < w->n && twice; u++)
        for (int32_t v = 0; v < w->n; v++)
            w->twice[u][v] = w->edge[u][v] && below(w, 3) == 0;
    w->y[0] = CLASSES - 1;
    w->graph = graph_of(w);
    w->layer = maximum ? "graphconv" : layers[kind];
    CHECK_OK(cbx_options_new(cbx_model_table(), &o, &err), err);
    set(o, "model", w->layer);
    set(o, "hidden", "4");
    set(o, "layers", (const char *[]){"1", "2", "3"}[below(w, 3)]);
    if (kind == 2 || maximum)
        set(o, "aggregation", maximum ? "max" : "mean");
    if (kind == 4 && !maximum)
        set(o, "order", "1");
    set(o, "head", below(w, 2) ? "cat" : "last");
    bool batch_norm = below(w, 4) == 0;
    set(o, "batch-norm", batch_norm ? "true" : "false");
    if (w->task == CBX_GRAPH)
        set(o, "pool", what.max_pool ? "max" : below(w, 2) ? "sum" : "mean");
    CHECK_OK(cbx_model_new(w->graph, o, (int64_t)seed, &w->model, &err), err);
    cbx_options_free(o);
    shake_parameters(w);
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

static int32_t node_of(const question *q, int32_t i)
{
    return q->factual.node ? q->factual.node[i] : i;
}

/* Some edges, each alone or with the one back, may go; and some may come. */
static void draw_choices(question *q, bool together)
{
    const cbx_view *v = &q->all.view;
    for (int64_t e = 0; e < v->m; e++) {
        int32_t s = v->source[e], t = q->graph.target_of[e];
        int64_t slots[4], count = 0;
        for (int64_t k = v->offset[t]; k < v->offset[t + 1]; k++)
            if (v->source[k] == s && q->all.absent[k] == q->all.absent[e])
                slots[count++] = k;
        for (int64_t k = v->offset[s]; together && s != t && k < v->offset[s + 1]; k++)
            if (v->source[k] == t && q->all.absent[k] == q->all.absent[e])
                slots[count++] = k;
        if (q->graph.choice_of[e] < 0 && (!q->all.absent[e] ? below(q->w, 4) : below(q->w, 3) == 0))
            cbx_partial_graph_add(&q->graph, slots, count, s, t, q->all.absent[e]);
    }
}

/* Some features may move: to one value, anywhere within a range, or against another one. */
static void draw_features(question *q)
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

static void ask(question *q, world *w, uint64_t most, bool features)
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
    CHECK_OK(cbx_partial_graph_init(&q->graph, &q->all.view, q->all.absent, m + NODES * FEATURES, m,
                                    &q->arena, &err),
             err);
    int64_t what = features ? below(w, 4) : 0; /* edges, features, or both */
    if (what != 1)
        draw_choices(q, below(w, 2));
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
}

/* The choice's edges in the world, and its features by so much. */
static void toggle(question *q, int32_t choice, float by)
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

/* Whoever what is undone is charged to, the claim holds. */
enum { CHARGES = 3 };

typedef struct trial {
    double   *gain[CHARGES]; /* by choice: as they are, and with all of it charged to either */
    question *q;
    int32_t   a, b;
    double    most;  /* that the bound claims */
    double    least; /* by how much the claim was too high, where it was closest */
    int64_t   local[NODES];
    int64_t   sets;
} trial;

/* Every set of choices from `first` on, on top of what is there: is the lead what gains say? */
static void try_sets(trial *t, int32_t first, int64_t left, const double *claimed)
{
    question *q = t->q;
    double    lead = true_lead(q->w, t->a, t->b), further[CHARGES];
    for (int k = 0; k < CHARGES; k++)
        CHECK(lead <= claimed[k]);
    CHECK(lead <= t->most);
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
        float x[NODES * FEATURES], low = q->graph.choices[c].low, high = q->graph.choices[c].high;
        memcpy(x, q->w->x, sizeof x);
        for (int way = 0; way < (low < high ? 3 : 1); way++) {
            toggle(q, c, low + (high - low) * (float)way / 2);
            try_sets(t, c + 1, left - 1, further);
            toggle(q, c, 0);
            memcpy(q->w->x, x, sizeof x);
        }
        t->local[ends[0]]++;
        t->local[ends[1]] += ends[1] != ends[0];
    }
}

/* The bound's gains, and what they would be with all that is undone charged to one or the other. */
static void list_gains(question *q, trial *t)
{
    const cbx_lead_bound *b = &q->bound;
    for (int k = 0; k < CHARGES; k++)
        CHECK((t->gain[k] = CBX_NEW(&q->arena, double, q->graph.count + 1)) != NULL);
    for (int32_t c = 0; c < q->graph.count; c++)
        t->gain[0][c] = b->gain[c];
    CHECK(cbx_gains_of(&b->gains, q->graph.count, 0, t->gain[1]));
    CHECK(cbx_gains_of(&b->gains, q->graph.count, b->gains.both ? CBX_SHARES : 0, t->gain[2]));
}

static void check_bound(question *q)
{
    trial t = {.q = q, .a = 1, .b = (int32_t)(2 * below(q->w, 2)), .least = INFINITY};
    CHECK(!cbx_lead_bound_update(&q->bound));
    t.most = cbx_lead_bound_of(&q->bound, t.a, t.b);
    list_gains(q, &t);
    for (int32_t i = 0; i < q->factual.n; i++)
        t.local[i] = q->graph.local[i];
    CHECK_NEAR(q->bound.now, true_lead(q->w, t.a, t.b), q->bound.rounding);
    double now = q->bound.now + q->bound.rounding + 1e-12; /* the sums were made otherwise */
    try_sets(&t, 0, q->graph.budget, (const double[CHARGES]){now, now, now});
    CHECK(t.sets > 0);
}

/* As branching does: some choices are made, some barred. */
static void settle_some(question *q)
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

static void check_seed(uint64_t seed, draw what)
{
    world    w;
    question q;
    draw_world(&w, seed, what);
    ask(&q, &w, 3, what.features);
    if (CHECK(q.known)) {
        check_bound(&q);
        settle_some(&q);
        check_bound(&q);
    }
    if (test_failures())
        test_check_int((int64_t)seed, -1, w.layer, (int)w.model->num_layers, "seed");
    cbx_arena_free(&q.arena);
    free_world(&w);
}

TEST(no_set_of_choices_within_the_budgets_leads_further_than_the_bound_says)
{
    for (uint64_t seed = 0; seed < 3000 && test_failures() == 0; seed++)
        check_seed(seed, (draw){.features = true});
}

/* One choice takes several edges of a row. */
TEST(nor_where_two_edges_lead_from_one_node_to_another)
{
    for (uint64_t seed = 300000; seed < 301500 && test_failures() == 0; seed++)
        check_seed(seed, (draw){.parallel = true});
}

/* Of more than a few that can be made bounds keep account in other ways. */
TEST(nor_where_many_may_be_made_at_once)
{
    int asked = 0;
    for (uint64_t seed = 200000; asked < 40 && test_failures() == 0; seed++) {
        world    w;
        question q;
        draw_world(&w, seed, (draw){.features = false});
        ask(&q, &w, 3, false);
        q.graph.budget = q.graph.count;
        for (int32_t i = 0; i < q.factual.n; i++)
            q.graph.local[i] = INT32_MAX;
        if (q.known && q.graph.count > CBX_FEW + 1 && q.graph.count < 14) {
            check_bound(&q);
            asked++;
        }
        cbx_arena_free(&q.arena);
        free_world(&w);
    }
    CHECK_INT(asked, 40);
}

TEST(nor_where_layers_take_the_largest_of_their_neighbours)
{
    for (uint64_t seed = 0; seed < 3300 && test_failures() == 0; seed++)
        check_seed(seed, (draw){.maximum = true});
    /* a leader falls below one that is not moved by the same choice */
    check_seed(29636, (draw){.maximum = true});
}

TEST(nor_where_the_features_that_they_are_of_change)
{
    for (uint64_t seed = 100000; seed < 103000 && test_failures() == 0; seed++)
        check_seed(seed, (draw){.maximum = true, .features = true});
}

TEST(nor_where_the_head_sees_the_largest_over_nodes)
{
    for (uint64_t seed = 0; seed < 3000 && test_failures() == 0; seed++)
        check_seed(seed, (draw){.maximum = seed % 4 == 0, .features = true, .max_pool = true});
}

/* ---- branches */

typedef struct asking {
    question *q;
    int32_t   a, b;
} asking;

static void make_choice(void *user, int32_t choice, bool made)
{
    (void)made; /* either way its edges are no longer as they were */
    toggle(((asking *)user)->q, choice, 0);
}

static double lead_of(void *user)
{
    const asking *a = user;
    return true_lead(a->q->w, a->a, a->b);
}

/* Whether any set leads, of a size after smaller ones, or of all sizes at once, is as trying all of
 * them says. Returns the lead that is the furthest. */
static double check_branches(question *q)
{
    trial            t = {.q = q, .a = 1, .b = (int32_t)(2 * below(q->w, 2)), .least = INFINITY};
    asking           user = {q, t.a, t.b};
    cbx_branch_asked asked = {.user = &user, .make = make_choice, .lead = lead_of, .alike = true};
    cbx_branch       b;
    cbx_error        err = {0};
    int64_t          budget = q->graph.budget;
    for (int32_t i = 0; i < q->factual.n; i++)
        t.local[i] = q->graph.local[i];
    CHECK(!cbx_lead_bound_update(&q->bound));
    t.most = cbx_lead_bound_of(&q->bound, t.a, t.b);
    list_gains(q, &t);
    double now = q->bound.now + q->bound.rounding + 1e-12;
    try_sets(&t, 0, budget, (const double[CHARGES]){now, now, now});
    double most = t.most - t.least;
    if (most > -1e-4 && most < 1e-4)
        return most; /* too near to a tie for any to be sure */
    CHECK_OK(cbx_branch_init(&b, &q->graph, &q->bound, &q->X, &asked, budget, 1, &q->arena, &err),
             err);
    b.ahead = t.a;
    b.behind = t.b;
    bool leads = true_lead(q->w, t.a, t.b) > 0;
    CHECK(leads || cbx_branch_none_at_all(&b, 100000) == (most < 0));
    for (int64_t size = 1; size <= budget && !leads; size++) {
        b.num_flip = 0;
        leads = !cbx_branch_none_of(&b, size);
        CHECK(!leads || b.num_flip == size);
    }
    CHECK(leads == (most > 0));
    cbx_branch_free(&b);
    return most;
}

TEST(branches_find_a_set_that_leads_where_there_is_one)
{
    int leading = 0, others = 0;
    for (uint64_t seed = 400000; seed < 401200 && test_failures() == 0; seed++) {
        world    w;
        question q;
        draw_world(&w, seed, (draw){.maximum = seed % 5 == 0});
        ask(&q, &w, 4, false);
        if (CHECK(q.known)) {
            double most = check_branches(&q);
            *(most > 0 ? &leading : &others) += 1;
        }
        if (test_failures())
            test_check_int((int64_t)seed, -1, w.layer, (int)w.model->num_layers, "seed");
        cbx_arena_free(&q.arena);
        free_world(&w);
    }
    CHECK(leading > 100 && others > 100);
}

/* Adds to the layer's biases what makes its units of row 0 a half. */
static void centre_layer(question *q, const char *of, int32_t l)
{
    const char *name;
    cbx_error   err = {0};
    int32_t     rows, cols;
    float       values[64];
    for (size_t i = 0; cbx_model_parameter(q->w->model, i, &name, &rows, &cols); i++) {
        if (strcmp(name, of) != 0)
            continue;
        int32_t units = q->bound.spread.layers[l].width;
        CHECK_OK(cbx_model_get(q->w->model, i, values, units, &err), err);
        for (int32_t j = 0; j < units; j++)
            values[j] += 0.5f - (float)q->bound.spread.layers[l].now[j];
        CHECK_OK(cbx_model_set(q->w->model, i, values, units, &err), err);
    }
}

static const double LARGE = 1e5;

/* Alike nodes, each linked to all, of which a maximum is large and what a bias leaves of it is
 * not: what the model loses there it cannot make good, and the next layer sees it through another
 * maximum only. */
static void draw_maxima(world *w, uint64_t seed, double size)
{
    cbx_error    err = {0};
    cbx_options *o;
    *w = (world){.rng = cbx_rng_stream(seed, 7, 8, 9), .n = 4, .layer = "graphconv"};
    for (int32_t u = 0; u < w->n; u++)
        for (int32_t v = 0; v < w->n; v++)
            w->edge[u][v] = u != v;
    for (int32_t k = 0; k < w->n * FEATURES; k++)
        w->x[k] = k < FEATURES ? (float)(size * cbx_rng_uniform(&w->rng)) : w->x[k - FEATURES];
    w->task = seed / 2 % 2 ? CBX_GRAPH : CBX_NODE;
    w->y[0] = CLASSES - 1;
    w->graph = graph_of(w);
    CHECK_OK(cbx_options_new(cbx_model_table(), &o, &err), err);
    set(o, "model", "graphconv");
    set(o, "aggregation", "max");
    set(o, "hidden", "4");
    set(o, "layers", "2");
    if (w->task == CBX_GRAPH)
        set(o, "pool", "max");
    CHECK_OK(cbx_model_new(w->graph, o, (int64_t)seed, &w->model, &err), err);
    cbx_options_free(o);
    clear_parameter(w, "layers.1.lin_root.weight");
}

TEST(what_a_maximum_is_wrong_by_is_counted)
{
    double largest = 0;
    for (uint64_t seed = 0; seed < 50 && test_failures() == 0; seed++) {
        world    w;
        question q;
        draw_maxima(&w, seed, LARGE);
        for (int centred = 0; centred < 2; centred++) {
            ask(&q, &w, 2, false);
            CHECK(!cbx_lead_bound_update(&q.bound));
            if (!centred)
                centre_layer(&q, "layers.0.lin_rel.bias", 0);
            if (!centred)
                cbx_arena_free(&q.arena);
        }
        (void)cbx_lead_bound_of(&q.bound, 1, 0);
        double lead = true_lead(&w, 1, 0);
        CHECK_NEAR(q.bound.now, lead, q.bound.rounding);
        largest = fmax(largest, fabs(q.bound.now - lead));
        cbx_arena_free(&q.arena);
        free_world(&w);
    }
    CHECK(largest > 1e-4);
}

/* A large feature becomes a small one, or the other way round: how far it moves is rounded, too. */
TEST(what_a_feature_under_a_maximum_is_wrong_by_is_counted)
{
    double largest = 0;
    for (uint64_t seed = 0; seed < 50 && test_failures() == 0; seed++) {
        world     w;
        question  q;
        cbx_error err = {0};
        draw_maxima(&w, seed, seed % 2 ? 1 : LARGE);
        clear_parameter(&w, "layers.0.lin_root.weight");
        ask(&q, &w, 2, false);
        for (int32_t k = 0; k < w.n * FEATURES; k++) {
            float to = (float)((seed % 2 ? LARGE : 1) * cbx_rng_uniform(&w.rng)),
                  *x = &w.x[node_of(&q, k / FEATURES) * FEATURES];
            cbx_partial_graph_add_feature(&q.graph, k / FEATURES, k % FEATURES, -1,
                                          to - x[k % FEATURES], to - x[k % FEATURES]);
            q.graph.budget++;
            x[k % FEATURES] = to;
        }
        cbx_net *net;
        CHECK_OK(cbx_partial_graph_ready(&q.graph, &q.arena, &err), err);
        CHECK_OK(cbx_net_of(w.model, &q.arena, &net, &err), err);
        CHECK_OK(cbx_lead_bound_init(&q.bound, net, &q.graph, &q.X, &q.arena, &q.known, &err), err);
        for (int32_t c = q.bound.spread.moves.first; c < q.graph.count; c++) {
            q.graph.local[q.graph.choices[c].row] = INT32_MAX;
            cbx_partial_graph_make(&q.graph, c);
        }
        CHECK(!cbx_lead_bound_update(&q.bound));
        (void)cbx_lead_bound_of(&q.bound, 1, 0);
        double lead = true_lead(&w, 1, 0);
        CHECK_NEAR(q.bound.now, lead, q.bound.rounding);
        largest = fmax(largest, fabs(q.bound.now - lead));
        cbx_arena_free(&q.arena);
        free_world(&w);
    }
    CHECK(largest > 1e-4);
}

TEST(log_probabilities_are_rounded_as_well)
{
    check_seed(27706,
               (draw){.features = true}); /* scores are small there, and their logarithms are not */
}
