/* SPDX-License-Identifier: Apache-2.0 */
/* GNN-MOExp: a star that can be worked out by hand, and small graphs on which every set of edges
 * is tried, on graphs that have nothing else. */
#include "../search/rival.h"

RIVAL_TESTS(moexp, "moexp", true)

TEST(counterfactuals_of_moexp_hold)
{
    CHECK(rival_on_nodes("moexp", "1") > 10);
    CHECK(rival_on_graphs("moexp", "1") > 0);
}

/* ---- by hand
 *
 *     1     3      one GraphConv: h = relu(sum of x over neighbours)
 *      \   /
 *        0         the head's scores are (b, h): class 1 for h > b
 *        |
 *        2
 */
static oracle star(const float *x, float b)
{
    static const int64_t source[] = {0, 1, 0, 2, 0, 3}, target[] = {1, 0, 2, 0, 3, 0};
    static const float   lo[] = {0}, hi[] = {9};
    static const int64_t y[] = {1, 0, 0, 0};
    static const uint8_t discrete[] = {1};
    const cbx_graph_data d = {.num_nodes = 4,
                              .num_edges = 6,
                              .num_features = 1,
                              .num_classes = 2,
                              .edge_source = source,
                              .edge_target = target,
                              .x = x,
                              .y = y,
                              .feat_min = lo,
                              .feat_max = hi,
                              .discrete = discrete};
    oracle               o = oracle_by_hand(&d, "graphconv", "add", 1);
    oracle_set(&o, "layers.0.lin_rel.weight", (float[]){1});
    oracle_set(&o, "layers.0.lin_rel.bias", (float[]){0});
    oracle_set(&o, "layers.0.lin_root.weight", (float[]){0});
    oracle_set(&o, "output_layer.weight", (float[]){0, 1});
    oracle_set(&o, "output_layer.bias", (float[]){b, 0});
    return o;
}

static cbx_counterfactual *explain_star(const float *x, float b, const char *size, const char *most,
                                        const char *answers)
{
    oracle              o = star(x, b);
    cbx_explain_options ask = ASK("explainer", "moexp", "target", "any", "edges", "undirected",
                                  "moexp-size", size, "moexp-most", most, "total-cfs", answers);
    ask.trace = true;
    cbx_counterfactual *r = explain_row(&o, 0, &ask);
    oracle_free(&o);
    return r;
}

/* The neighbours that an answer takes from node 0, as bits: 2, 4 and 8 for 1, 2 and 3. */
static int neighbours_of(const cbx_counterfactual *r)
{
    int bits = 0;
    for (int64_t k = 0; k < r->num_edits; k++)
        bits |= 1 << (r->edits[k].source + r->edits[k].target);
    return bits;
}

/* x = 4, 1 and 0 against b = 3: a, b and c. The lead d of class 1 is 2, and on the tree S alone
 * the sum of its x - 3; of two classes, v(S) = -(s(2) - s(d)) (2 - d), where s is the sigmoid:
 *
 *     d     2       1       -2      -3             ab: 0 - v(b) > 0 - v(a)
 *     v     0    -0.150   -3.046  -4.167           ac: v(a) - v(c)
 *
 *           ab     abc      a      ac      b      bc      c
 *     v     0       0    -0.150  -0.150  -3.046 -3.046  -4.167
 *     mu   3.046  3.046   4.017   4.017  1.121  1.121    0
 *
 * Nothing is better in both than one of the first four. Their places are 0 + 2 or 2 + 0, so a, the
 * smallest, is first, then ab and ac, then abc. Without any of them h is at most 1. */
TEST(the_front_is_tried_first_and_of_equals_the_smallest)
{
    static const float  x[] = {0, 4, 1, 0};
    cbx_counterfactual *r = explain_star(x, 3, "3", "100", "9");
    CHECK_INT(r->outcome, CBX_FOUND);
    CHECK_INT(r->num_edits, 1);
    CHECK_INT(neighbours_of(r), 2);
    CHECK_NEAR(r->loss, 1 + log(1 + exp(-2)), 1e-5);
    CHECK_INT(r->epoch, 0);
    CHECK_INT(r->epochs, 4);
    CHECK_INT(r->num_trace, 4);
    const cbx_counterfactual *second = r->next, *third = second ? second->next : NULL,
                             *last = third ? third->next : NULL;
    if (CHECK(last && !last->next)) {
        CHECK_INT(second->num_edits + third->num_edits, 4);
        CHECK_INT(neighbours_of(second) | neighbours_of(third), 2 + 4 + 8);
        CHECK_INT(neighbours_of(second) & neighbours_of(third), 2);
        CHECK_INT(neighbours_of(last), 2 + 4 + 8);
        CHECK_INT(r->trace[3].removed_edges, 6);
        CHECK_NEAR(r->trace[3].edge_loss, 3, 0);
    }
    cbx_counterfactual_free(r);
}

TEST(as_many_answers_as_are_asked_for)
{
    static const float x[] = {0, 4, 1, 0};
    for (int wanted = 1; wanted <= 3; wanted++) {
        char text[8];
        snprintf(text, sizeof text, "%d", wanted);
        cbx_counterfactual *r = explain_star(x, 3, "3", "100", text);
        int                 count = 0;
        for (const cbx_counterfactual *a = r; a; a = a->next)
            count += a->outcome == CBX_FOUND;
        CHECK_INT(count, wanted);
        CHECK_INT(r->epochs, wanted); /* nothing is asked that nobody wants to know */
        cbx_counterfactual_free(r);
    }
}

/* 2 + 2 against 1: one edge is not enough. */
TEST(a_candidate_has_no_more_edges_than_its_size_allows)
{
    static const float  x[] = {0, 2, 2, 0};
    cbx_counterfactual *one = explain_star(x, 1, "1", "100", "1");
    cbx_counterfactual *two = explain_star(x, 1, "2", "100", "1");
    CHECK_INT(one->outcome, CBX_NOT_FOUND);
    CHECK_INT(one->epochs, 3);
    CHECK_INT(two->outcome, CBX_FOUND);
    CHECK_INT(neighbours_of(two), 2 + 4);
    cbx_counterfactual_free(one);
    cbx_counterfactual_free(two);
}

/* No neighbour counts: all candidates are asked, and none is the answer. */
TEST(of_too_many_candidates_some_of_every_size_are_looked_at)
{
    static const float x[] = {0, 0, 0, 0};
    static const int   sizes_of[][4] = {/* of size 1, 2, 3 */
                                      [1] = {1, 0, 0}, [2] = {1, 1, 0}, [3] = {1, 1, 1},
                                      [4] = {2, 1, 1}, [6] = {2, 2, 1}, /* there is one of size 3 */
                                      [7] = {3, 2, 1}, [9] = {3, 3, 1}};
    for (int most = 1; most <= 9; most++) {
        int  seen[4] = {0};
        char text[8];
        if (!sizes_of[most][0])
            continue;
        snprintf(text, sizeof text, "%d", most);
        cbx_counterfactual *r = explain_star(x, 1, "3", text, "1");
        for (int64_t t = 0; t < r->num_trace; t++)
            seen[(int)r->trace[t].edge_loss - 1]++;
        for (int k = 0; k < 3; k++)
            CHECK_INT(seen[k], sizes_of[most][k]);
        CHECK_INT(r->outcome, CBX_NOT_FOUND);
        cbx_counterfactual_free(r);
    }
}

/* ---- the same without any of the method's code
 *
 * Every set of edges is a number, and each question is put to cbx_predict about a graph that was
 * made for it. All weights are small whole numbers, so that scores are the same to the last bit in
 * whatever order they are summed, and equals are equal. */

enum { MOST_UNITS = 12, SETS = 1 << MOST_UNITS, SIZE = 3 };

typedef struct naive {
    const oracle *o;
    int32_t       row;
    bool          undirected;
    int           units;       /* what can be removed */
    int64_t       unit_of[64]; /* by edge; -1: a loop */
    const float  *before;
    int           prediction;
    double        nu[SETS], mu[SETS];
    bool          is_tree[SETS], front[SETS], hits[SETS];
    int64_t       places[SETS];
} naive;

/* Two nodes with an edge between them, whichever way it leads; or an edge. */
static bool go_together(const naive *N, int64_t a, int64_t b)
{
    const int64_t *source = N->o->data.edge_source, *target = N->o->data.edge_target;
    return N->undirected && ((source[a] == source[b] && target[a] == target[b]) ||
                             (source[a] == target[b] && target[a] == source[b]));
}

static void find_units(naive *N)
{
    const cbx_graph_data *d = &N->o->data;
    N->units = 0;
    for (int64_t k = 0; k < d->num_edges; k++) {
        N->unit_of[k] = d->edge_source[k] == d->edge_target[k] ? -1 : N->units;
        for (int64_t j = 0; j < k; j++)
            if (go_together(N, j, k))
                N->unit_of[k] = N->unit_of[j];
        N->units += N->unit_of[k] == N->units;
    }
}

/* Log-probabilities of the graph with the edges of a set and the loops only. */
static void ask_about(const naive *N, int set, float *logp)
{
    const cbx_graph_data *d = &N->o->data;
    cbx_edit              edits[64];
    int64_t               count = 0;
    cbx_graph            *g = NULL;
    cbx_error             err = {0};
    float                 all[64];
    for (int64_t k = 0; k < d->num_edges; k++)
        if (N->unit_of[k] >= 0 && !(set >> N->unit_of[k] & 1))
            edits[count++] = (cbx_edit){.op = CBX_REMOVE_EDGE,
                                        .source = (int32_t)d->edge_source[k],
                                        .target = (int32_t)d->edge_target[k],
                                        .edge = k};
    oracle_must(cbx_graph_apply(N->o->graph, edits, count, &g, &err), &err);
    oracle_must(cbx_predict(N->o->model, g, 1, all, &err), &err);
    memcpy(logp, all + (ptrdiff_t)N->row * d->num_classes, (size_t)d->num_classes * sizeof *logp);
    cbx_graph_free(g);
}

static double closeness(const naive *N, const float *logp)
{
    double there = 0, back = 0;
    for (int32_t c = 0; c < N->o->data.num_classes; c++) {
        double p = N->before[c], q = logp[c];
        there += exp(p) * (p - q);
        back += exp(q) * (q - p);
    }
    return -there - back;
}

static bool reaches_all(const naive *N, int set, int32_t root)
{
    const cbx_graph_data *d = &N->o->data;
    int                   used = 0;
    uint64_t              inside = (uint64_t)1 << root;
    for (bool moved = true; moved;) {
        moved = false;
        for (int64_t k = 0; k < d->num_edges; k++) {
            int unit = (int)N->unit_of[k];
            if (unit < 0 || !(set >> unit & 1) || !(inside >> d->edge_target[k] & 1) ||
                inside >> d->edge_source[k] & 1)
                continue;
            inside |= (uint64_t)1 << d->edge_source[k];
            used |= 1 << unit;
            moved = true;
        }
    }
    return used == set;
}

static bool is_tree(const naive *N, int set)
{
    const cbx_graph_data *d = &N->o->data;
    int                   size = __builtin_popcount((unsigned)set);
    if (size == 0 || size > SIZE)
        return false;
    if (d->task == CBX_NODE)
        return reaches_all(N, set, N->row);
    for (int64_t i = d->graph_ptr[N->row]; i < d->graph_ptr[N->row + 1]; i++)
        if (reaches_all(N, set, (int32_t)i))
            return true;
    return false;
}

static void measure_sets(naive *N)
{
    float logp[8];
    for (int set = 0; set < 1 << N->units; set++) {
        N->is_tree[set] = is_tree(N, set);
        if (set && !N->is_tree[set])
            continue;
        ask_about(N, set, logp);
        N->nu[set] = closeness(N, logp);
        N->mu[set] = -INFINITY;
        for (int u = 0; u < N->units; u++) { /* sets without it have smaller numbers */
            int without = set & ~(1 << u);
            if (without != set && (!without || N->is_tree[without]))
                N->mu[set] = fmax(N->mu[set], N->nu[set] - N->nu[without]);
        }
        ask_about(N, ~set, logp);
        N->hits[set] = best_of(logp, N->o->data.num_classes) != N->prediction;
    }
}

static void compare_sets(naive *N)
{
    for (int a = 0; a < 1 << N->units; a++) {
        N->places[a] = 0;
        N->front[a] = N->is_tree[a];
        for (int b = 0; b < 1 << N->units && N->is_tree[a]; b++) {
            if (!N->is_tree[b])
                continue;
            bool more_nu = N->nu[b] > N->nu[a], more_mu = N->mu[b] > N->mu[a];
            N->places[a] += more_nu + more_mu;
            if ((more_nu && N->mu[b] >= N->mu[a]) || (more_mu && N->nu[b] >= N->nu[a]))
                N->front[a] = false;
        }
    }
}

/* Is a tried before b? Neither before the other: they are equals. */
static bool is_before(const naive *N, int a, int b)
{
    if (N->front[a] != N->front[b])
        return N->front[a];
    if (N->places[a] != N->places[b])
        return N->places[a] < N->places[b];
    return __builtin_popcount((unsigned)a) < __builtin_popcount((unsigned)b);
}

static int set_of(const naive *N, const cbx_counterfactual *r)
{
    const cbx_graph_data *d = &N->o->data;
    int                   set = 0;
    for (int64_t k = 0; k < r->num_edits; k++)
        for (int64_t e = 0; e < d->num_edges; e++)
            if (N->undirected ? d->edge_source[e] == r->edits[k].source &&
                                    d->edge_target[e] == r->edits[k].target
                              : e == r->edits[k].edge)
                set |= 1 << N->unit_of[e];
    return set;
}

/* Trees that hit, or of those the ones on the front. */
static int count_hits(const naive *N, bool of_front)
{
    int count = 0;
    for (int set = 0; set < 1 << N->units; set++)
        count += N->is_tree[set] && N->hits[set] && (N->front[set] || !of_front);
    return count;
}

/* How many trees were tried before this one was, at least and at most. */
static void count_before(const naive *N, int set, int *least, int *most)
{
    *least = *most = 0;
    for (int other = 0; other < 1 << N->units; other++) {
        if (!N->is_tree[other] || other == set)
            continue;
        *least += is_before(N, other, set);
        *most += !is_before(N, set, other);
    }
}

static void check_first(const naive *N, const cbx_counterfactual *r)
{
    int set = set_of(N, r), least, most;
    CHECK(N->is_tree[set] && N->hits[set]);
    for (int other = 0; other < 1 << N->units; other++)
        CHECK(!N->is_tree[other] || !N->hits[other] || !is_before(N, other, set));
    count_before(N, set, &least, &most);
    CHECK(r->epoch >= least && r->epoch <= most);
}

static void check_answers(const naive *N, const cbx_counterfactual *r)
{
    int trees = 0, last = 0, answers = 0;
    for (int set = 0; set < 1 << N->units; set++)
        trees += N->is_tree[set];
    CHECK_INT(r->outcome == CBX_FOUND, count_hits(N, false) > 0);
    if (r->outcome != CBX_FOUND) {
        CHECK_INT(r->epochs, trees);
        return;
    }
    check_first(N, r);
    for (const cbx_counterfactual *a = r; a; a = a->next, answers++) {
        int set = set_of(N, a);
        CHECK(a == r || (N->is_tree[set] && N->hits[set] && N->front[set]));
        CHECK(a == r || (set != last && !is_before(N, set, last)));
        last = set;
    }
    int of_front = count_hits(N, true);
    CHECK_INT(answers, of_front ? of_front : 1);
}

/* ---- graphs and models of small whole numbers */

static int whole(cbx_rng *rng, int low, int high)
{
    return low + (int)cbx_rng_below(rng, (uint64_t)(high - low + 1));
}

/* Six nodes: a path, two further edges, a loop; every edge both ways, or whichever way. */
static void small_graph(oracle *o, cbx_rng *rng, bool graph_task, bool directed)
{
    static const int64_t ends[] = {0, 6}, classes[] = {0, 1, 2, 0, 1, 2};
    static const float   lo[] = {-9, -9}, hi[] = {9, 9};
    static const uint8_t discrete[] = {1, 1};
    int64_t             *source = TAKE(&o->bag, int64_t, 32), *target = TAKE(&o->bag, int64_t, 32);
    float               *x = TAKE(&o->bag, float, 12);
    int64_t              m = 0;
    for (int k = 0; k < 7; k++) {
        int a = k < 5 ? k : whole(rng, 0, 5), b = k < 5 ? k + 1 : (a + whole(rng, 2, 4)) % 6;
        if (!directed || whole(rng, 0, 1)) {
            source[m] = a;
            target[m++] = b;
        }
        if (!directed || whole(rng, 0, 3)) {
            source[m] = b;
            target[m++] = a;
        }
    }
    source[m] = target[m] = whole(rng, 0, 5);
    m++;
    for (int i = 0; i < 12; i++)
        x[i] = (float)whole(rng, 0, 2);
    const cbx_graph_data d = {.task = graph_task ? CBX_GRAPH : CBX_NODE,
                              .num_nodes = 6,
                              .num_edges = m,
                              .num_features = 2,
                              .num_classes = 3,
                              .num_graphs = graph_task ? 1 : 0,
                              .graph_ptr = graph_task ? ends : NULL,
                              .edge_source = source,
                              .edge_target = target,
                              .x = x,
                              .y = classes,
                              .feat_min = lo,
                              .feat_max = hi,
                              .discrete = discrete};
    cbx_error            err = {0};
    oracle_must(cbx_graph_new(&d, &o->graph, &err), &err);
    o->data = *cbx_graph_arrays(o->graph);
}

static void small_model(oracle *o, cbx_rng *rng)
{
    cbx_model_spec spec;
    cbx_error      err = {0};
    const char    *name;
    int32_t        rows, cols;
    cbx_fields_default(cbx_model_table(), &spec);
    oracle_must(cbx_fields_set(cbx_model_table(), &spec, "model", "graphconv", &err), &err);
    oracle_must(cbx_fields_set(cbx_model_table(), &spec, "pool", "max", &err), &err);
    spec.layers = 2;
    spec.hidden = 2;
    oracle_must(cbx_model_new_with(o->graph, &spec, 1, &o->model, &err), &err);
    for (size_t i = 0; cbx_model_parameter(o->model, i, &name, &rows, &cols); i++) {
        float values[64], unit = strncmp(name, "output_layer", 12) ? 1 : 0.125f;
        unit = strstr(name, "lin_root") ? 0 : unit; /* what counts comes along edges */
        for (int32_t k = 0; k < rows * cols; k++)
            values[k] = unit * (float)whole(rng, -2, 3);
        oracle_must(cbx_model_set(o->model, i, values, (int64_t)rows * cols, &err), &err);
    }
}

/* 0: more to remove than sets have room for; 1: not found; 2: found */
static int check_case(uint64_t seed, bool graph_task, bool directed, bool undirected)
{
    static naive N;
    oracle       o = {0};
    cbx_rng      rng = cbx_rng_stream(seed, graph_task, directed, undirected);
    float        before[8];
    int          failed = test_failures();
    small_graph(&o, &rng, graph_task, directed);
    small_model(&o, &rng);
    N = (naive){.o = &o, .undirected = undirected, .before = before};
    N.row = graph_task ? 0 : (int32_t)(seed % 6);
    find_units(&N);
    cbx_explain_options ask =
        ASK("explainer", "moexp", "target", "any", "edges", undirected ? "undirected" : "directed",
            "moexp-size", "3", "moexp-most", "10000", "total-cfs", "1000", "min-edges", "0");
    cbx_counterfactual *r = explain_row(&o, N.row, &ask);
    bool                small = N.units <= MOST_UNITS && r->outcome != CBX_SKIPPED;
    if (small) {
        ask_about(&N, ~0, before);
        N.prediction = best_of(before, 3);
        measure_sets(&N);
        compare_sets(&N);
        check_answers(&N, r);
    }
    if (test_failures() > failed)
        printf("  (seed %d, %s, %s graph, %s edits)\n", (int)seed, graph_task ? "graph" : "node",
               directed ? "directed" : "undirected", undirected ? "undirected" : "directed");
    int outcome = !small ? 0 : r->outcome == CBX_FOUND ? 2 : 1;
    cbx_counterfactual_free(r);
    oracle_free(&o);
    return outcome;
}

TEST(answers_are_those_of_trying_every_set_of_edges)
{
    int outcomes[3] = {0};
    for (uint64_t seed = 0; seed < 100; seed++)
        for (int kind = 0; kind < 8; kind++)
            if (kind & 2 || kind & 4) /* else there are too many units */
                outcomes[check_case(seed, kind & 1, kind & 2, kind & 4)]++;
    CHECK(outcomes[1] > 50 && outcomes[2] > 50);
}
