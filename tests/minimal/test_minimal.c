/* SPDX-License-Identifier: Apache-2.0 */
/* Minimal answers: that trying an edit is what making it would be, that answers are
 * small, irreducible and, by brute force, optimal on small graphs; and that no rule is
 * ever broken, whatever the rules. */
#include <math.h>

#include "minimal.h"
#include "infeasible.h"
#include "../search/oracle.h"
#include "test.h"
#include "../search/own_options.h"

static cbx_explain_options few(const char *const *settings)
{
    cbx_explain_options o;
    cbx_error           err = {0};
    cbx_fields_default(cbx_explain_table(), &o);
    o.target = "next";
    o.threads = 1;
    for (; *settings; settings += 2)
        oracle_must(cbx_fields_set(cbx_explain_table(), &o, settings[0], settings[1], &err), &err);
    return o;
}
#define FEW(...) few((const char *const[]){__VA_ARGS__, NULL})

/* ---- what an answer promises */

static bool flips(const oracle *o, const cbx_counterfactual *r, const cbx_edit *edits,
                  int64_t count)
{
    float     logp[8];
    cbx_error err = {0};
    oracle_must(cbx_check_edits(o->model, o->graph, r->row, edits, count, logp, &err), &err);
    return cbx_is_flip(logp, r->num_classes, r->prediction, r->target, r->threshold);
}

static void check_promises(const oracle *o, const cbx_counterfactual *r)
{
    cbx_edit *rest = malloc((size_t)(r->num_edits + 1) * sizeof *rest);
    CHECK(flips(o, r, r->edits, r->num_edits));
    for (int64_t k = 0; k < r->num_edits && r->certificate != CBX_NO_CERTIFICATE; k++) {
        memcpy(rest, r->edits, (size_t)k * sizeof *rest);
        memcpy(rest + k, r->edits + k + 1, (size_t)(r->num_edits - k - 1) * sizeof *rest);
        CHECK(!flips(o, r, rest, r->num_edits - 1));
    }
    CHECK(r->margin > 0);
    CHECK(r->robustness >= 0 && r->robustness <= 1);
    free(rest);
}

static int64_t explain_all(oracle_shape shape, const cbx_explain_options *options, int64_t *edits)
{
    oracle  o = oracle_make(shape);
    int64_t found = 0;
    int32_t every = test_every(3);
    for (int32_t row = 0; row < oracle_rows(&o) && row < 60; row += shape.graphs ? 1 : every) {
        cbx_counterfactual *r = explain_row(&o, row, options);
        if (r->outcome == CBX_FOUND) {
            check_promises(&o, r);
            double price = strtod(minimal_of(options)->feature_cost, NULL);
            double fixed = (double)r->num_edges_removed + price * (double)r->num_features_changed;
            CHECK(r->lower_bound >= 1 && r->lower_bound <= fixed);
            CHECK_INT(r->certificate, r->lower_bound == fixed ? CBX_OPTIMAL : CBX_IRREDUCIBLE);
            found++;
            *edits += r->num_edits;
        } else if (r->outcome == CBX_NOT_FOUND) {
            CHECK(r->certificate == CBX_NONE_WITHIN_BUDGET || r->certificate == CBX_PROVED_NONE);
        }
        cbx_counterfactual_free(r);
    }
    oracle_free(&o);
    return found;
}

TEST(answers_flip_and_every_edit_is_needed)
{
    const oracle_shape shapes[] = {
        {0},
        {.nodes = 60, .seed = 1},
        {.nodes = 60, .kind = 'c', .seed = 2},
        {.nodes = 60, .directed = true, .seed = 3},
        {.nodes = 60, .sparse = true, .tight = true, .seed = 4},
        {.nodes = 80, .graphs = 8, .seed = 5},
        {.nodes = 60, .conv = "graphconv", .seed = 6},
        {.nodes = 60, .conv = "graphconv", .aggregation = "mean", .seed = 7},
        {.nodes = 60, .conv = "graphconv", .aggregation = "max", .seed = 8},
        {.nodes = 60, .conv = "cheb", .order = 1, .seed = 9},
        {.nodes = 60, .conv = "gin", .seed = 10},
        {.nodes = 60, .conv = "gat", .seed = 11},
        {.nodes = 80, .graphs = 8, .block = true, .seed = 13},
        {.nodes = 60, .conv = "sage", .block = true, .seed = 12},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        cbx_explain_options next = FEW("target", "next"), any = FEW("target", "any");
        int64_t             edits = 0, found = explain_all(shapes[i], i % 2 ? &next : &any, &edits);
        CHECK(found >= 4 && edits >= found);
    }
}

/* Longer answers are swapped and rebuilt in parts; what comes of that is reduced, too. */
TEST(answers_of_many_edits_are_irreducible)
{
    const char    *thresholds[] = {"0.9", "0.99", "0.999"};
    /* nearly all of their rows have an answer: a row without one is most of the time */
    const uint64_t seeds[] = {0, 1, 4, 23};
    int64_t        found = 0, edits = 0;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i += (size_t)test_every(2))
        for (int k = 0; k < 3; k++) {
            uint64_t            seed = seeds[i];
            cbx_explain_options options =
                FEW("target", "next", "stopping-threshold", thresholds[k]);
            minimal_of(&options)->feature_cost = seed % 2 ? "1" : "2";
            oracle_shape shape = {.nodes = 90, .kind = 'd', .seed = 60 + seed};
            shape.conv = seed % 3 ? "gcn" : "graphconv";
            found += explain_all(shape, &options, &edits);
        }
    CHECK(found > 50 / test_every(4) && edits > 3 * found);
}

/* With hardly any search of its own, it has the published method's answer to cut down. */
TEST(what_the_published_method_flips_this_flips)
{
    const oracle_shape shapes[] = {{.nodes = 60, .seed = 21},
                                   {.nodes = 60, .conv = "graphconv", .seed = 22},
                                   {.nodes = 60, .sparse = true, .kind = 'd', .seed = 23}};
    int                flipped = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        oracle              o = oracle_make(shapes[i]);
        cbx_explain_options paper = ASK("target", "next", "edges", "undirected");
        cbx_explain_options small = FEW("target", "next", "beam", "1", "candidates", "1");
        for (int32_t row = 0; row < 30; row++) {
            cbx_counterfactual *a = explain_row(&o, row, &paper), *b = explain_row(&o, row, &small);
            if (a->outcome == CBX_FOUND) {
                flipped++;
                CHECK_INT(b->outcome, CBX_FOUND);
                CHECK(b->num_edits <= a->num_edits);
            }
            cbx_counterfactual_free(a);
            cbx_counterfactual_free(b);
        }
        oracle_free(&o);
    }
    CHECK(flipped > 40);
}

/* ---- trying is making */

TEST(asking_what_if_is_asking_the_edited_graph)
{
    const oracle_shape shapes[] = {
        {0},
        {.nodes = 50, .directed = true, .seed = 3},
        {.nodes = 50, .conv = "graphconv", .aggregation = "mean", .directed = true, .seed = 4},
        {.nodes = 60, .graphs = 6, .seed = 5}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        oracle              o = oracle_make(shapes[i]);
        cbx_explain_options options = FEW("target", "any");
        cbx_arena           arena = {0}, shared_arena = {0};
        cbx_error           err = {0};
        cbx_setup           setup;
        oracle_must(cbx_setup_init(&setup, o.model, o.graph, &options, &err), &err);
        const cbx_minimal_shared *shared = setup.shared;
        cbx_view                  view;
        cbx_search                s = {.model = o.model,
                                       .graph = o.graph,
                                       .options = &options,
                                       .settings = minimal_of(&options),
                                       .row = 2,
                                       .view = &view,
                                       .lo = setup.lo,
                                       .hi = setup.hi,
                                       .discrete = setup.discrete,
                                       .target = -1,
                                       .arena = &arena,
                                       .shared = shared};
        if (o.data.task == CBX_GRAPH)
            oracle_must(cbx_view_graphs(o.graph, &s.row, 1, &arena, &view, &err), &err);
        else
            oracle_must(cbx_view_around(o.graph, s.row, 3, &arena, &view, &err), &err);
        oracle_must(cbx_view_features(o.graph, &view, &arena, &s.X, &err), &err);
        cbx_edit_state W;
        oracle_must(cbx_edit_state_init(&W, &s, &shared->rules, &err), &err);
        cbx_rng  rng = cbx_rng_stream(i, 1, 2, 3);
        cbx_move made[40], m;
        int      count = 0;
        for (int step = 0; step < 120; step++) {
            if (count && (count == 40 || cbx_rng_below(&rng, 3) == 0)) {
                int k = (int)cbx_rng_below(&rng, (uint64_t)count);
                cbx_move_undo(&W, &made[k]);
                made[k] = made[--count];
            } else {
                cbx_move_walk at = {0};
                uint64_t      skip = cbx_rng_below(&rng, 60);
                bool          there = false;
                while (cbx_moves_walk(&W, &at, &m) && skip-- > 0)
                    there = true;
                if (!there || !cbx_move_may(&W, &m))
                    continue;
                cbx_move_do(&W, &m);
                made[count++] = m;
            }
            double score;
            oracle_must(cbx_edit_state_verify(&W, made, count, &score, &err), &err);
            CHECK_NEAR(cbx_edit_state_ask(&W), score, 2e-4 * fmax(1, fabs(score)));
            CHECK_NEAR(cbx_edit_state_slopes(&W), score, 2e-4 * fmax(1, fabs(score)));
        }
        cbx_arena_free(&arena);
        cbx_arena_free(&shared_arena);
        cbx_setup_free(&setup);
        oracle_free(&o);
    }
}

/* ---- the optimum, by brute force */

/* All edits there are: removing pairs, setting features to any whole number in bounds. */
static int64_t all_edits(const oracle *o, cbx_edit *edits)
{
    const cbx_graph_data *d = &o->data;
    int64_t               count = 0;
    for (int64_t e = 0; e < d->num_edges; e++)
        if (d->edge_source[e] < d->edge_target[e])
            edits[count++] = (cbx_edit){.op = CBX_REMOVE_EDGE,
                                        .source = (int32_t)d->edge_source[e],
                                        .target = (int32_t)d->edge_target[e],
                                        .edge = -1,
                                        .undirected = true};
    for (int32_t i = 0; i < d->num_nodes; i++)
        for (int32_t j = 0; j < d->num_features; j++)
            for (float to = d->feat_min[j]; to <= d->feat_max[j]; to++) {
                float x = data_feature(d, i, j);
                if (to != x)
                    edits[count++] = (cbx_edit){
                        .op = CBX_SET_FEATURE, .node = i, .feature = j, .from = x, .to = to};
            }
    return count;
}

/* The fewest edits that flip, or 3: more than two. */
static int64_t brute_force(const oracle *o, const cbx_counterfactual *r, const cbx_edit *all,
                           int64_t count, bool pairs)
{
    cbx_edit two[2];
    for (int64_t a = 0; a < count; a++) {
        two[0] = all[a];
        if (flips(o, r, two, 1))
            return 1;
    }
    for (int64_t a = 0; a < count && pairs; a++)
        for (int64_t b = a + 1; b < count; b++) {
            two[0] = all[a];
            two[1] = all[b];
            if (all[a].op == CBX_SET_FEATURE && all[b].op == CBX_SET_FEATURE &&
                all[a].node == all[b].node && all[a].feature == all[b].feature)
                continue;
            if (flips(o, r, two, 2))
                return 2;
        }
    return 3;
}

TEST(the_answer_is_the_optimum_that_brute_force_finds)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 9, .kind = 'd', .seed = 11});
    cbx_explain_options options = FEW("target", "any", "prove", "20");
    cbx_edit           *all = malloc(sizeof *all * 2000);
    int64_t             count = all_edits(&o, all), found = 0, optimal = 0, same = 0;
    for (int32_t row = 0; row < o.data.num_nodes; row++) {
        cbx_counterfactual *r = explain_row(&o, row, &options);
        if (r->outcome == CBX_FOUND) {
            int64_t fewest = brute_force(&o, r, all, count, r->num_edits > 1);
            found++;
            same += fewest == r->num_edits || (fewest == 3 && r->num_edits >= 3);
            optimal += r->certificate == CBX_OPTIMAL;
            if (r->certificate == CBX_OPTIMAL)
                CHECK(r->num_edits <= fewest);
        }
        cbx_counterfactual_free(r);
    }
    CHECK(found >= 5);
    CHECK_INT(same, found);
    CHECK(optimal > 0);
    free(all);
    oracle_free(&o);
}

/* A class that only a value in the middle reaches: f(x) = relu(x) - 2 relu(x - 2) - 1 is
 * above 0 for x = 2 alone, of x = 0 .. 4. */
TEST(a_proof_tries_values_between_the_bounds)
{
    static const int64_t source[] = {0, 1, 1, 2}, target[] = {1, 0, 2, 1}, y[] = {0, 1, 0};
    static const float   x[] = {0, 4, 0}, lo[] = {0}, hi[] = {4};
    static const uint8_t discrete[] = {1};
    oracle               o = oracle_by_hand(&(cbx_graph_data){.num_nodes = 3,
                                                              .num_features = 1,
                                                              .num_edges = 4,
                                                              .num_classes = 2,
                                                              .edge_source = source,
                                                              .edge_target = target,
                                                              .x = x,
                                                              .y = y,
                                                              .feat_min = lo,
                                                              .feat_max = hi,
                                                              .discrete = discrete},
                                            "graphconv", "add", 2);
    oracle_set(&o, "layers.0.lin_rel.weight", (float[]){0, 0});
    oracle_set(&o, "layers.0.lin_rel.bias", (float[]){0, -2});
    oracle_set(&o, "layers.0.lin_root.weight", (float[]){1, 1});
    oracle_set(&o, "output_layer.weight", (float[]){0, 0, 1, -2});
    oracle_set(&o, "output_layer.bias", (float[]){0, -1});
    cbx_explain_options options = FEW("target", "1", "prove", "5");
    cbx_counterfactual *r = explain_row(&o, 0, &options);
    CHECK_INT(r->outcome, CBX_FOUND);
    CHECK_INT(r->certificate, CBX_OPTIMAL);
    CHECK_INT(r->num_edits, 1);
    if (r->num_edits == 1)
        CHECK_NEAR(r->edits[0].to, 2, 0);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

/* Every smaller set is excluded, so nothing the proof finds may be cheaper. */
TEST(a_proof_finds_nothing_cheaper_on_the_karate_club)
{
    oracle              o = oracle_make((oracle_shape){0});
    cbx_explain_options quick = FEW("target", "any"), proved = FEW("target", "any", "prove", "2");
    int64_t             same = 0, count = 0, optimal = 0;
    for (int32_t row = 0; row < 34; row += 3) {
        cbx_counterfactual *a = explain_row(&o, row, &quick), *b = explain_row(&o, row, &proved);
        if (a->outcome == CBX_FOUND && b->certificate == CBX_OPTIMAL) {
            CHECK(b->num_edits <= a->num_edits);
            optimal++;
            same += a->num_edits == b->num_edits;
        }
        count++;
        cbx_counterfactual_free(a);
        cbx_counterfactual_free(b);
    }
    CHECK(optimal >= 4 && 10 * same >= 9 * optimal);
    oracle_free(&o);
}

/* ---- none */

TEST(nothing_that_may_change_is_a_proof_that_there_is_none)
{
    oracle              o = oracle_make((oracle_shape){0});
    cbx_explain_options options = FEW("features-to-vary", "none", "keep-edges", "true");
    cbx_counterfactual *r = explain_row(&o, 5, &options);
    CHECK_INT(r->outcome, CBX_NOT_FOUND);
    CHECK_INT(r->certificate, CBX_PROVED_NONE);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

TEST(a_class_that_another_outdoes_in_all_weights_is_out_of_reach)
{
    oracle     o = oracle_make((oracle_shape){.nodes = 40, .seed = 2});
    cbx_model *m = o.model;
    int32_t    C = m->num_classes;
    CHECK(!cbx_infeasible_class(m, 0) || !cbx_infeasible_class(m, 1));
    for (int32_t k = 0; k <= m->head_in; k++) /* class 2 becomes class 1 less something */
        m->theta[m->output_offset + (int64_t)k * C + 2] =
            m->theta[m->output_offset + (int64_t)k * C + 1] - 0.1f * (float)(k % 3) - 0.01f;
    CHECK(cbx_infeasible_class(m, 2));
    cbx_explain_options options = FEW("target", "2");
    cbx_counterfactual *r = explain_row(&o, 3, &options);
    CHECK_INT(r->outcome, CBX_NOT_FOUND);
    CHECK_INT(r->certificate, CBX_PROVED_NONE);
    CHECK_CONTAINS(r->reason, "proved");
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

/* ---- more than one answer */

/* A group that points elsewhere turns one feature off and another on: one edit. */
static int64_t edits_of(const cbx_counterfactual *r)
{
    return r->outcome == CBX_FOUND ? r->num_edits - r->num_features_changed / 2 : 0;
}

TEST(at_most_so_many_edits_count_a_group_that_points_elsewhere_as_one)
{
    oracle  o = oracle_make((oracle_shape){0}); /* the club: one-hot identities */
    int64_t with_groups = 0;
    for (int64_t most = 1; most <= 5; most++)
        for (int32_t row = 0; row < 12; row++)
            for (int proving = 0; proving < 2; proving++) {
                cbx_explain_options options =
                    FEW("target", "any", "one-hot", "0-33", "prove", proving ? "0.05" : "0");
                options.max_edits = most;
                cbx_counterfactual *r = explain_row(&o, row, &options);
                CHECK(edits_of(r) <= most);
                with_groups += r->num_features_changed;
                cbx_counterfactual_free(r);
            }
    CHECK(with_groups > 0);
    oracle_free(&o);
}

TEST(answers_come_cheapest_first)
{
    oracle  o = oracle_make((oracle_shape){0});
    int64_t several = 0;
    for (int32_t row = 0; row < 34; row++) {
        cbx_explain_options options =
            FEW("target", "any", "total-cfs", "5", "candidates", "3", "beam", "1", "rebuilds", "0");
        cbx_counterfactual *r = explain_row(&o, row, &options);
        for (const cbx_counterfactual *a = r; a && a->next; a = a->next) {
            CHECK(a->cost <= a->next->cost);
            CHECK(a->robustness >= 0 && a->next->robustness >= 0);
            several += a->cost < a->next->cost;
        }
        cbx_counterfactual_free(r);
    }
    CHECK(several > 0);
    oracle_free(&o);
}

TEST(a_search_without_epochs_has_no_trace)
{
    oracle              o = oracle_make((oracle_shape){0});
    cbx_explain_options options = FEW("target", "any");
    options.trace = true;
    cbx_counterfactual *r = explain_row(&o, 8, &options);
    CHECK_INT(r->outcome, CBX_FOUND);
    CHECK_INT(r->num_trace, 0);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

TEST(further_answers_are_other_answers)
{
    for (int diverse = 0; diverse < 2; diverse++) {
        oracle              o = oracle_make((oracle_shape){0});
        cbx_explain_options options =
            FEW("target", "any", "total-cfs", "4", "diverse", diverse ? "true" : "false");
        cbx_counterfactual *r = explain_row(&o, 7, &options);
        int                 count = 0;
        for (const cbx_counterfactual *a = r; a; a = a->next, count++) {
            CHECK_INT(a->outcome, CBX_FOUND);
            CHECK(flips(&o, a, a->edits, a->num_edits));
            for (const cbx_counterfactual *b = a->next; b; b = b->next) {
                int64_t shared = 0;
                for (int64_t i = 0; i < a->num_edits; i++)
                    for (int64_t k = 0; k < b->num_edits; k++)
                        shared += a->edits[i].op == b->edits[k].op &&
                                  a->edits[i].node == b->edits[k].node &&
                                  a->edits[i].feature == b->edits[k].feature &&
                                  a->edits[i].source == b->edits[k].source &&
                                  a->edits[i].target == b->edits[k].target;
                CHECK(shared < a->num_edits || shared < b->num_edits);
                CHECK(!diverse || shared == 0);
            }
        }
        CHECK(count >= 2);
        cbx_counterfactual_free(r);
        oracle_free(&o);
    }
}
