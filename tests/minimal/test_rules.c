/* SPDX-License-Identifier: Apache-2.0 */
/* Rules: that they are read, that what is wrong with one is said, and that no answer
 * ever breaks one, whatever they are. */
#include <math.h>
#include <stdio.h>

#include "number.h"
#include "../search/oracle.h"
#include "read_rules.h"
#include "rules.h"
#include "setup.h"
#include "test.h"
#include "../search/own_options.h"

/* ---- random rules, and what they forbid, written down a second time */

typedef struct terms {
    char                features[64], fixed[64], ranges[96], nodes[64], edges[96];
    uint8_t             may_vary[8];
    float               lo[8], hi[8];
    int32_t             node[4], edge[4][2];
    cbx_explain_options options;
} terms;

/* As rules call a node: its number, in its graph where there are many. */
static int32_t number_of(const cbx_graph_data *d, int64_t node)
{
    int32_t g = 0;
    while (d->task == CBX_GRAPH && d->graph_ptr[g + 1] <= node)
        g++;
    return (int32_t)(d->task == CBX_GRAPH ? node - d->graph_ptr[g] : node);
}

static void draw_terms(terms *t, const oracle *o, cbx_rng *rng)
{
    const cbx_graph_data *d = &o->data;
    int32_t               f = d->num_features;
    memset(t, 0, sizeof *t);
    cbx_fields_default(cbx_explain_table(), &t->options);
    t->options.threads = 1;
    t->options.target = "any";
    bool all = cbx_rng_below(rng, 2);
    for (int32_t j = 0; j < f; j++) {
        t->may_vary[j] = all || cbx_rng_below(rng, 2);
        t->lo[j] = d->feat_min[j];
        t->hi[j] = d->feat_max[j];
        if (!all && t->may_vary[j])
            (void)snprintf(t->features + strlen(t->features), 16, "%s%d", t->features[0] ? "," : "",
                           (int)j);
    }
    t->options.features_to_vary = all ? "all" : t->features[0] ? t->features : "none";
    int32_t fixed = (int32_t)cbx_rng_below(rng, (uint64_t)f);
    t->may_vary[fixed] = 0;
    (void)snprintf(t->fixed, sizeof t->fixed, "%d", (int)fixed);
    t->options.immutable_features = t->fixed;
    int32_t ranged = (int32_t)cbx_rng_below(rng, (uint64_t)f);
    t->lo[ranged] = d->feat_min[ranged] + 0.25f * (d->feat_max[ranged] - d->feat_min[ranged]);
    t->hi[ranged] = d->feat_max[ranged] - 0.25f * (d->feat_max[ranged] - d->feat_min[ranged]);
    (void)cbx_print(t->ranges, sizeof t->ranges, "%d:%.9g:%.9g", (int)ranged, (double)t->lo[ranged],
                    (double)t->hi[ranged]);
    t->options.permitted_range = t->ranges;
    for (int k = 0; k < 4; k++) {
        t->node[k] = number_of(d, (int64_t)cbx_rng_below(rng, (uint64_t)d->num_nodes));
        int64_t e = (int64_t)cbx_rng_below(rng, (uint64_t)d->num_edges);
        t->edge[k][0] = number_of(d, d->edge_source[e]);
        t->edge[k][1] = number_of(d, d->edge_target[e]);
        (void)snprintf(t->nodes + strlen(t->nodes), 16, "%s%d", k ? "," : "", (int)t->node[k]);
        (void)snprintf(t->edges + strlen(t->edges), 24, "%s%d-%d", k ? "," : "", (int)t->edge[k][0],
                       (int)t->edge[k][1]);
    }
    t->options.immutable_nodes = t->nodes;
    t->options.protected_edges = t->edges;
    t->options.own_features = cbx_rng_below(rng, 4) == 0;
    t->options.own_edges = cbx_rng_below(rng, 4) == 0;
    t->options.keep_edges = cbx_rng_below(rng, 5) == 0;
    t->options.keep = (int)cbx_rng_below(rng, 3);
    t->options.max_edits = (int64_t)cbx_rng_below(rng, 3) * 3;
    t->options.stopping_threshold = cbx_rng_below(rng, 2) ? 0 : 0.6;
    minimal_of(&t->options)->edge_cost = 1 + (double)cbx_rng_below(rng, 3);
    t->options.edges = (int)cbx_rng_below(rng, 2);
}

static bool is_frozen(const terms *t, int32_t node)
{
    bool found = false;
    for (int k = 0; k < 4; k++)
        found |= t->node[k] == node;
    return found;
}

/* Edges between two nodes, in either direction, that are left after the edits. */
static int64_t left_between(const oracle *o, const cbx_counterfactual *r, int32_t u, int32_t v)
{
    const cbx_graph_data *d = &o->data;
    int64_t               left = 0;
    for (int64_t e = 0; e < d->num_edges; e++) {
        int64_t a = d->edge_source[e], b = d->edge_target[e];
        bool    here = (a == u && b == v) || (a == v && b == u), gone = false;
        for (int64_t k = 0; k < r->num_edits && here; k++) {
            const cbx_edit *x = &r->edits[k];
            if (x->op == CBX_REMOVE_EDGE)
                gone |= x->undirected ? (x->source == a && x->target == b) ||
                                            (x->source == b && x->target == a)
                                      : x->edge == e;
        }
        left += here && !gone;
    }
    return left;
}

/* Can v be reached from u, whichever way edges point? */
static bool joined(const oracle *o, const cbx_counterfactual *r, int32_t u, int32_t v)
{
    int32_t  n = o->data.num_nodes;
    uint8_t *seen = calloc((size_t)n, 1);
    seen[u] = 1;
    for (bool grew = true; grew && !seen[v];) {
        grew = false;
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = 0; b < n && seen[a] == 1; b++)
                if (!seen[b] && left_between(o, r, a, b)) {
                    seen[b] = 1;
                    grew = true;
                }
    }
    bool reached = seen[v];
    free(seen);
    return reached;
}

static void check_edit(const oracle *o, const terms *t, const cbx_counterfactual *r,
                       const cbx_edit *e)
{
    bool own_graph = o->data.task == CBX_GRAPH;
    if (e->op == CBX_SET_FEATURE) {
        CHECK(t->may_vary[e->feature]);
        CHECK(e->to >= t->lo[e->feature] && e->to <= t->hi[e->feature]);
        CHECK(!is_frozen(t, number_of(&o->data, e->node)));
        CHECK(!t->options.own_features || own_graph || e->node == r->row);
        return;
    }
    CHECK(!t->options.keep_edges);
    int32_t from = number_of(&o->data, e->source), to = number_of(&o->data, e->target);
    CHECK(!is_frozen(t, from) && !is_frozen(t, to));
    CHECK(!t->options.own_edges || own_graph || e->source == r->row || e->target == r->row);
    for (int k = 0; k < 4; k++)
        CHECK(!(t->edge[k][0] == from && t->edge[k][1] == to) &&
              !(t->edge[k][0] == to && t->edge[k][1] == from));
    if (t->options.keep == CBX_KEEP_CONNECTED)
        CHECK(joined(o, r, e->source, e->target));
    if (t->options.keep == CBX_KEEP_NO_ISOLATED) {
        int64_t left[2] = {0, 0};
        for (int32_t v = 0; v < o->data.num_nodes; v++) {
            left[0] += v != e->source ? left_between(o, r, e->source, v) : 0;
            left[1] += v != e->target ? left_between(o, r, e->target, v) : 0;
        }
        CHECK(left[0] > 0 && left[1] > 0);
    }
}

static int64_t throw_rules(oracle_shape shape, uint64_t seed, int rounds)
{
    oracle  o = oracle_make(shape);
    cbx_rng rng = cbx_rng_stream(seed, 77, 0, 0);
    int64_t found = 0;
    for (int round = 0; round < rounds; round++) {
        terms t;
        draw_terms(&t, &o, &rng);
        int32_t             row = (int32_t)cbx_rng_below(&rng, (uint64_t)oracle_rows(&o));
        cbx_counterfactual *r = explain_row(&o, row, &t.options);
        if (r->outcome == CBX_FOUND) {
            double cost = (double)r->num_edges_removed * minimal_of(&t.options)->edge_cost +
                          (double)r->num_features_changed;
            CHECK_NEAR(r->cost - (r->l1_mad > 0 ? r->l1_mad : 0), cost, 1e-9);
            CHECK(!t.options.max_edits || r->num_edits <= t.options.max_edits);
            CHECK(exp((double)r->after[r->result]) >= t.options.stopping_threshold - 1e-6);
            for (int64_t k = 0; k < r->num_edits; k++)
                check_edit(&o, &t, r, &r->edits[k]);
            found++;
        }
        cbx_counterfactual_free(r);
    }
    oracle_free(&o);
    return found;
}

TEST(no_answer_breaks_a_rule)
{
    CHECK(throw_rules((oracle_shape){.nodes = 24, .seed = 1}, 1, 120) > 20);
    CHECK(throw_rules((oracle_shape){.nodes = 24, .directed = true, .seed = 2}, 2, 80) > 10);
    CHECK(throw_rules((oracle_shape){.nodes = 30, .conv = "graphconv", .seed = 3}, 3, 80) > 10);
    CHECK(throw_rules((oracle_shape){.nodes = 40, .graphs = 5, .seed = 4}, 4, 60) > 10);
}

/* ---- one-hot groups */

TEST(one_hot_groups_stay_one_hot)
{
    oracle              o = oracle_make((oracle_shape){0}); /* features are the node's number */
    cbx_explain_options a = ASK("target", "any");
    int64_t             found = 0;
    cbx_fields_default(cbx_explain_table(), &a);
    a.target = "any";
    a.one_hot = "0-33";
    a.keep_edges = true;
    for (int32_t row = 0; row < 34; row += 4) {
        cbx_counterfactual *r = explain_row(&o, row, &a);
        if (r->outcome == CBX_FOUND) {
            float x[34][34];
            for (int i = 0; i < 34; i++)
                for (int j = 0; j < 34; j++)
                    x[i][j] = data_feature(&o.data, i, j);
            for (int64_t k = 0; k < r->num_edits; k++)
                x[r->edits[k].node][r->edits[k].feature] = r->edits[k].to;
            for (int i = 0; i < 34; i++) {
                float sum = 0;
                for (int j = 0; j < 34; j++)
                    sum += x[i][j];
                CHECK_NEAR(sum, 1, 0);
            }
            found++;
        }
        cbx_counterfactual_free(r);
    }
    CHECK(found > 0);
    oracle_free(&o);
}

static bool flips_without(const oracle *o, int32_t row, int32_t friend)
{
    cbx_error err = {0};
    float     logp[8];
    int32_t class = -1;
    cbx_edit edit = {
        .op = CBX_REMOVE_EDGE, .source = row, .target = friend, .edge = -1, .undirected = true};
    oracle_must(cbx_check_edits(o->model, o->graph, row, &edit, 0, logp, &err), &err);
    for (int32_t c = 0; c < cbx_model_describe(o->model).num_classes; c++)
        class = class < 0 || logp[c] > logp[class] ? c : class;
    oracle_must(cbx_check_edits(o->model, o->graph, row, &edit, 1, logp, &err), &err);
    return cbx_is_flip(logp, cbx_model_describe(o->model).num_classes, class, -1, 0);
}

/* Node 11 of the karate club has one friend, and node 0 knows everyone. */
TEST(the_last_edge_of_a_node_stays_if_it_must)
{
    oracle            o = oracle_make((oracle_shape){0});
    const char *const keeps[] = {"any", "no-isolated", "connected"};
    for (int k = 0; k < 3; k++) {
        cbx_explain_options a;
        cbx_error           err = {0};
        cbx_fields_default(cbx_explain_table(), &a);
        oracle_must(cbx_fields_set(cbx_explain_table(), &a, "keep", keeps[k], &err), &err);
        a.features_to_vary = "none";
        a.own_edges = true;
        a.target = "any";
        cbx_counterfactual *r = explain_row(&o, 11, &a);
        CHECK(k == 0 || r->outcome == CBX_NOT_FOUND);
        if (k > 0)
            CHECK_INT(r->certificate, CBX_PROVED_NONE);
        else
            CHECK(r->certificate != CBX_PROVED_NONE || !flips_without(&o, 11, 0));
        cbx_counterfactual_free(r);
    }
    oracle_free(&o);
}

/* Rules that the data brings: as strict as those of a call. */
TEST(what_the_data_calls_immutable_or_one_hot_is)
{
    oracle              o = oracle_make((oracle_shape){0});
    cbx_graph_data      d = o.data;
    cbx_explain_options a;
    cbx_error           err = {0};
    uint8_t             immutable[34] = {0};
    int32_t             group[34];
    cbx_graph          *own = NULL;
    int64_t             found = 0;
    for (int j = 0; j < 34; j++) {
        immutable[j] = j % 2;
        group[j] = 0;
    }
    cbx_fields_default(cbx_explain_table(), &a);
    a.target = "any";
    a.keep_edges = true;
    d.immutable = immutable;
    d.feature_group = group;
    d.num_groups = 1;
    oracle_must(cbx_graph_new(&d, &own, &err), &err);
    for (int32_t row = 0; row < 34; row += 3) {
        cbx_counterfactual *r = NULL;
        oracle_must(cbx_explain_with(o.model, own, row, &a, NULL, NULL, &r, &err), &err);
        CHECK(r->num_edits % 2 == 0); /* from one to another */
        for (int64_t k = 0; k < r->num_edits; k++)
            CHECK(!immutable[r->edits[k].feature]);
        found += r->outcome == CBX_FOUND;
        cbx_counterfactual_free(r);
    }
    CHECK(found > 0);
    cbx_graph_free(own);
    oracle_free(&o);
}

/* ---- what is wrong with a rule */

static void check_refused(const oracle *o, const char *option, const char *value,
                          const char *expected)
{
    cbx_explain_options a;
    cbx_error           err = {0};
    cbx_counterfactual *r = NULL;
    cbx_fields_default(cbx_explain_table(), &a);
    a.target = "next";
    oracle_must(cbx_fields_set(cbx_explain_table(), &a, option, value, &err), &err);
    CHECK_INT(cbx_explain_with(o->model, o->graph, 1, &a, NULL, NULL, &r, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, expected);
    CHECK_INT(strlen(err.option), strlen(option));
    for (size_t i = 0; option[i]; i++)
        CHECK_INT(err.option[i], option[i] == '-' ? '_' : option[i]);
    cbx_counterfactual_free(r);
}

TEST(a_rule_that_cannot_be_read_is_refused_with_what_was_expected)
{
    oracle o = oracle_make((oracle_shape){.nodes = 20});
    check_refused(&o, "features-to-vary", "1,x", "a feature's number or name");
    check_refused(&o, "features-to-vary", "1,99", "feature 99 does not exist: there are 0 to 4");
    check_refused(&o, "immutable-features", "3-1", "3-1 counts backwards");
    check_refused(&o, "immutable-features", "1 2", "a comma");
    check_refused(&o, "permitted-range", "1", "as in 3:0:1");
    check_refused(&o, "permitted-range", "1:0", "as in 3:0:1");
    check_refused(&o, "permitted-range", "1:2:1", "2 to 1 of feature 1 is empty");
    check_refused(&o, "permitted-range", "1:nan:1", "a lower bound");
    check_refused(&o, "one-hot", "0-2,2-3", "feature 2 is in two groups");
    check_refused(&o, "immutable-nodes", "1,20", "node 20 does not exist: there are 0 to 19");
    check_refused(&o, "protected-edges", "1", "as in 3-7");
    check_refused(&o, "protected-edges", "1-", "a node's number");
    oracle_free(&o);
}

/* ---- names */

static const char *const people[20] = {"C-0",  "C-1", "C-2", "C-3", "a,b",  "x:y",  "7",
                                       "C-7",  "C-8", "C",   "8",   "C-11", "C-12", "twin",
                                       "twin", "u",   "v",   "w",   "y",    "z"};
static const char *const columns[5] = {"age", "debt-ratio", "city=Rome", "city=Milan", "a,b"};
static const char *const cities[1] = {"city"};
static const int32_t     city[5] = {-1, -1, 0, 0, -1};

typedef struct named_world {
    oracle     o;
    cbx_graph *graph;
    cbx_setup  setup;
    cbx_arena  arena;
} named_world;

static void read_named(named_world *w, const char *option, const char *value, cbx_rules *rules,
                       cbx_error *err)
{
    static cbx_explain_options a;
    cbx_graph_data             d;
    *w = (named_world){.o = oracle_make((oracle_shape){.nodes = 20})};
    d = w->o.data;
    d.node_names = people;
    d.feature_names = columns;
    d.feature_group = city;
    d.group_names = cities;
    d.num_groups = 1;
    oracle_must(cbx_graph_new(&d, &w->graph, err), err);
    cbx_fields_default(cbx_explain_table(), &a);
    a.target = "next";
    oracle_must(cbx_fields_set(cbx_explain_table(), &a, option, value, err), err);
    oracle_must(cbx_setup_init(&w->setup, w->o.model, w->graph, NULL, err), err);
    w->setup.options = &a;
    (void)cbx_rules_init(rules, &w->setup, &w->arena, err);
}

static void forget_named(named_world *w)
{
    cbx_setup_free(&w->setup);
    cbx_arena_free(&w->arena);
    cbx_graph_free(w->graph);
    oracle_free(&w->o);
}

static void check_pair(const char *text, int32_t u, int32_t v)
{
    named_world w;
    cbx_rules   rules = {0};
    cbx_error   err = {0};
    read_named(&w, "protected-edges", text, &rules, &err);
    CHECK(!err.message[0]);
    CHECK_INT(rules.num_edges, 1);
    CHECK_INT(rules.edges[0][0], u);
    CHECK_INT(rules.edges[0][1], v);
    forget_named(&w);
}

TEST(edges_are_protected_by_the_names_of_their_nodes)
{
    check_pair("C-0-C-3", 0, 3); /* names have the mark between them, too */
    check_pair("C-8-C", 8, 9);
    check_pair("C-0:C-3", 0, 3);
    check_pair("\"a,b\"-\"x:y\"", 4, 5);
    check_pair("u-v", 15, 16);
    check_pair("3-4", 3, 4);
    check_pair("7-8", 6, 10); /* a name goes before a number */
    check_pair("@7-@8", 7, 8);
}

static void check_fixed(const char *text, const char *expected)
{
    named_world w;
    cbx_rules   rules = {0};
    cbx_error   err = {0};
    read_named(&w, "immutable-features", text, &rules, &err);
    CHECK(!err.message[0]);
    for (int j = 0; j < 5; j++)
        CHECK_INT(rules.fixed[j], expected[j] == '1');
    forget_named(&w);
}

TEST(features_are_listed_by_name_by_group_and_by_ranges_of_names)
{
    check_fixed("debt-ratio", "01000");
    check_fixed("city", "00110");
    check_fixed("age-debt-ratio", "11000");
    check_fixed("city,age", "10110");
    check_fixed("\"a,b\"", "00001");
    check_fixed("0-1", "11000");
}

static void check_named_refused(const char *option, const char *value, const char *expected)
{
    named_world w;
    cbx_rules   rules = {0};
    cbx_error   err = {0};
    read_named(&w, option, value, &rules, &err);
    CHECK_CONTAINS(err.message, expected);
    forget_named(&w);
}

TEST(a_name_that_is_not_there_is_told_with_the_nearest)
{
    check_named_refused("immutable-nodes", "C-13", "there is no node 'C-13'; did you mean 'C-1");
    check_named_refused("immutable-nodes", "twin",
                        "more than one node is called 'twin': say which, by @13 or @14");
    check_named_refused("protected-edges", "C-0-C-9", "there is no node 'C-9'; did you mean");
    check_named_refused("immutable-features", "agee",
                        "there is no feature 'agee'; did you mean 'age'?");
    check_named_refused("permitted-range", "debtratio:0:1", "did you mean 'debt-ratio'?");
}

/* Graph tasks: of each graph that is explained. */
TEST(nodes_of_graphs_are_numbered_within_their_graph)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 40, .graphs = 8});
    int64_t             graphs = o.data.num_graphs, found = 0;
    cbx_explain_options a;
    cbx_error           err = {0};
    cbx_fields_default(cbx_explain_table(), &a);
    a.target = "any";
    a.keep_edges = true;
    a.immutable_nodes = "0,1";
    for (int32_t row = 0; row < graphs; row++) {
        cbx_counterfactual *r = NULL;
        oracle_must(cbx_explain_with(o.model, o.graph, row, &a, NULL, NULL, &r, &err), &err);
        for (int64_t k = 0; k < r->num_edits; k++)
            CHECK(r->edits[k].node >= o.data.graph_ptr[row] + 2);
        found += r->outcome == CBX_FOUND;
        cbx_counterfactual_free(r);
    }
    CHECK(found > 0);
    oracle_free(&o);
}

/* ---- rules of values, and of what changes together */

static void check_range(const char *option, const char *text, float lo, float hi, float step,
                        uint8_t way)
{
    named_world w;
    cbx_rules   rules = {0};
    cbx_error   err = {0};
    read_named(&w, option, text, &rules, &err);
    CHECK(!err.message[0]);
    CHECK(rules.any);
    CHECK_INT(rules.way[1], way);
    CHECK(rules.step[1] == step);
    CHECK(rules.lo[1] >= lo && rules.hi[1] <= hi);
    forget_named(&w);
}

TEST(ways_and_steps_are_read_by_name_and_by_number)
{
    check_range("only-up", "debt-ratio", -INFINITY, INFINITY, 0, CBX_WAY_NOT_DOWN);
    check_range("only-down", "age,1", -INFINITY, INFINITY, 0, CBX_WAY_NOT_UP);
    check_range("only-up", "0-1", -INFINITY, INFINITY, 0, CBX_WAY_NOT_DOWN);
    check_range("step", "debt-ratio:0.25", -INFINITY, INFINITY, 0.25F, 0);
    check_range("step", "1:0.25,age:1", -INFINITY, INFINITY, 0.25F, 0);
}

TEST(a_relation_is_between_features_or_groups)
{
    named_world w;
    cbx_rules   rules = {0};
    cbx_error   err = {0};
    read_named(&w, "if-changed", "city:debt-ratio,age:\"a,b\"", &rules, &err);
    CHECK(!err.message[0]);
    CHECK_INT(rules.num_relations, 2);
    CHECK_INT(rules.relations[0].what.first, 2);
    CHECK_INT(rules.relations[0].what.last, 3);
    CHECK_INT(rules.relations[0].with.first, 1);
    CHECK_INT(rules.relations[1].what.first, 0);
    CHECK_INT(rules.relations[1].with.first, 4);
    float before[5] = {0}, city_alone[5] = {0, 0, 1, 0, 0}, both[5] = {0, 2, 1, 0, 0};
    CHECK(!cbx_rules_relations(&rules, before, city_alone));
    CHECK(cbx_rules_relations(&rules, before, both));
    CHECK(cbx_rules_relations(&rules, before, before));
    forget_named(&w);
}

TEST(what_a_rule_of_values_cannot_mean_is_told_with_what_was_expected)
{
    check_named_refused("only-up", "agee", "only_up: there is no feature 'agee'; did you mean");
    check_named_refused("only-up", "citty", "did you mean 'city'?");
    check_named_refused("only-up", "city", "'city' is a group of features of which one is on");
    check_named_refused("step", "debt-ratio", "expected ':' and a step, as in amount:50");
    check_named_refused("step", "debt-ratio:0", "'0' at position 12: expected a step above 0");
    check_named_refused("step", "debt-ratio:x", "'x' at position 12: expected a step above 0");
    check_named_refused("step", "city:1", "'city' is a group of features of which one is on");
    check_named_refused("if-changed", "city", "expected ':' and what changes with it");
    check_named_refused("if-changed", "city:streat", "if_changed: there is no feature 'streat'");
}

TEST(the_nearest_permitted_value_keeps_all_rules_of_values)
{
    uint8_t   fixed = 0, way = 0;
    float     lo = 0, hi = 1000;
    double    step = 50;
    cbx_rules rules = {.fixed = &fixed, .lo = &lo, .hi = &hi, .step = &step, .way = &way};
    CHECK(cbx_rules_nearest(&rules, 0, 130, 140) == 150);
    CHECK(cbx_rules_nearest(&rules, 0, 130, 2000) == 1000);
    CHECK(!cbx_rules_value(&rules, 0, 130, 140));
    way = CBX_WAY_NOT_DOWN;
    CHECK(cbx_rules_nearest(&rules, 0, 130, 20) == 150);
    way = CBX_WAY_NOT_UP;
    CHECK(cbx_rules_nearest(&rules, 0, 130, 140) == 100);
    CHECK(cbx_rules_nearest(&rules, 0, 30, 900) == 0);
    hi = lo = 900;
    CHECK(cbx_rules_nearest(&rules, 0, 130, 900) == 130); /* where it may not go */
    fixed = 1;
    CHECK(cbx_rules_nearest(&rules, 0, 130, 100) == 130);
}

/* ---- steps */

/* The bounds that a step leaves of a permitted range, of a continuous feature. */
static bool bounds_of_step(const oracle *o, const char *range, const char *step, float *lo,
                           float *hi, cbx_error *err)
{
    cbx_explain_options a = ASK("permitted-range", range, "step", step);
    cbx_setup           setup;
    bool                read = !cbx_setup_init(&setup, o->model, o->graph, &a, err);
    if (read) {
        *lo = setup.rules.lo[1];
        *hi = setup.rules.hi[1];
        cbx_setup_free(&setup);
    }
    return read;
}

/* Floats divided by decimals are not whole: 0.7 / 0.1 is 6.9999999. */
TEST(a_bound_that_is_a_multiple_of_the_step_is_permitted)
{
    static const char *const steps[] = {"0.1", "0.05", "0.2", "0.01", "0.25"};
    oracle                   o = oracle_make((oracle_shape){.nodes = 20});
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (int k = -6; k <= 8; k++) {
            double    value = k * cbx_read_number(steps[i], NULL);
            char      range[64], step[32];
            float     lo = NAN, hi = NAN;
            cbx_error err = {0};
            (void)cbx_print(range, sizeof range, "1:%.9g:%.9g", value, value);
            (void)snprintf(step, sizeof step, "1:%s", steps[i]);
            if (CHECK(bounds_of_step(&o, range, step, &lo, &hi, &err)))
                CHECK(lo == (float)value && hi == (float)value);
        }
    oracle_free(&o);
}

TEST(a_step_is_one_that_values_can_take)
{
    static const char *const steps[] = {"1:1e-50", "1:1e50", "1:0", "1:-1", "1:1e300", "1:5"};
    oracle                   o = oracle_make((oracle_shape){.nodes = 20});
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        float     lo, hi;
        cbx_error err = {0};
        CHECK(!bounds_of_step(&o, "1:0.3:0.6", steps[i], &lo, &hi, &err));
        CHECK_CONTAINS(err.message, "expected a step");
    }
    oracle_free(&o);
}

/* ---- every method */

/* Rows of nodes, and of graphs, with what all methods that explain them say under one rule. */
static void by_every_method(const char *rule, const char *value,
                            bool (*keeps)(const cbx_counterfactual *r))
{
    const oracle_shape shapes[] = {{.nodes = 20}, {.nodes = 60, .graphs = 10}};
    for (int task = 0; task < 2; task++) {
        oracle  o = oracle_make(shapes[task]);
        int64_t found = 0;
        for (int k = 0; cbx_explainer_names[k]; k++)
            for (int32_t row = 0; row < 10; row++) {
                cbx_explain_options a =
                    ASK("explainer", cbx_explainer_names[k], rule, value, "epochs", "40",
                        "clear-epochs", "5", "d4-epochs", "1", "d4-layers", "1", "d4-width", "4");
                cbx_error           err = {0};
                cbx_counterfactual *r = NULL;
                if (!cbx_explainer_explains(cbx_explainer_at(k), o.data.task))
                    continue;
                oracle_must(cbx_explain_with(o.model, o.graph, row, &a, NULL, NULL, &r, &err),
                            &err);
                CHECK(r->outcome != CBX_FOUND || keeps(r));
                found += r->outcome == CBX_FOUND;
                cbx_counterfactual_free(r);
            }
        CHECK(found > 0);
        oracle_free(&o);
    }
}

static bool has_two_edits_at_most(const cbx_counterfactual *r)
{
    return r->num_edits <= 2;
}

TEST(no_method_makes_more_edits_than_are_allowed)
{
    by_every_method("max-edits", "2", has_two_edits_at_most);
}

static bool is_likely(const cbx_counterfactual *r)
{
    return exp((double)r->after[r->result]) >= 0.6;
}

TEST(a_class_that_is_not_likely_enough_is_no_answer_of_any_method)
{
    by_every_method("stopping-threshold", "0.6", is_likely);
}

static bool leaves_node_0(const cbx_counterfactual *r)
{
    for (int64_t i = 0; i < r->num_edits; i++) {
        const cbx_edit *e = &r->edits[i];
        int32_t         first = r->task == CBX_GRAPH ? 6 * r->row : 0; /* six nodes a graph */
        if (e->op == CBX_SET_FEATURE ? e->node == first : e->source == first || e->target == first)
            return false;
    }
    return true;
}

TEST(no_method_touches_a_node_that_is_to_stay)
{
    by_every_method("immutable-nodes", "0", leaves_node_0);
}

static bool removes_nothing(const cbx_counterfactual *r)
{
    for (int64_t i = 0; i < r->num_edits; i++)
        if (r->edits[i].op == CBX_REMOVE_EDGE)
            return false;
    return true;
}

TEST(no_method_removes_edges_that_are_to_stay)
{
    by_every_method("keep-edges", "true", removes_nothing);
}

TEST(a_method_of_edges_alone_says_that_none_may_go)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 20});
    cbx_explain_options a = ASK("explainer", "ego", "keep-edges", "true");
    cbx_error           err = {0};
    cbx_counterfactual *r = NULL;
    oracle_must(cbx_explain_with(o.model, o.graph, 1, &a, NULL, NULL, &r, &err), &err);
    CHECK_INT(r->outcome, CBX_NOT_FOUND);
    CHECK_CONTAINS(r->reason, "by the rule keep-edges no edge goes");
    cbx_counterfactual_free(r);
    oracle_free(&o);
}
