/* SPDX-License-Identifier: Apache-2.0 */
/* What --prove says where edges are all that may change, against all removals of one and of two. */
#include <string.h>

#include "test.h"

enum { NODES = 34, CLASSES = 4, MOST = 80 };

static void set(cbx_options *o, const char *name, const char *value)
{
    cbx_error err = {0};
    CHECK_OK(cbx_options_set(o, name, value, &err), err);
}

static cbx_model *train(const cbx_graph *graph, const char *layer, const char *aggregation)
{
    cbx_error    err = {0};
    cbx_options *shape, *training;
    cbx_model   *model = NULL;
    CHECK_OK(cbx_options_new(cbx_model_table(), &shape, &err), err);
    CHECK_OK(cbx_options_new(cbx_train_table(), &training, &err), err);
    set(shape, "model", layer);
    set(shape, "aggregation", aggregation);
    set(shape, "layers", "2");
    set(shape, "hidden", "8");
    set(training, "epochs", "100");
    CHECK_OK(cbx_model_new(graph, shape, 1, &model, &err), err);
    CHECK_OK(cbx_train(model, graph, training, NULL, NULL, NULL, &err), err);
    cbx_options_free(shape);
    cbx_options_free(training);
    return model;
}

/* Each edge once, as an edit that removes both directions. */
static int64_t list_removals(const cbx_graph_data *d, cbx_edit *edits)
{
    int64_t count = 0;
    for (int64_t e = 0; e < d->num_edges; e++)
        if (d->edge_source[e] < d->edge_target[e] && count < MOST)
            edits[count++] = (cbx_edit){.op = CBX_REMOVE_EDGE,
                                        .source = (int32_t)d->edge_source[e],
                                        .target = (int32_t)d->edge_target[e],
                                        .edge = -1,
                                        .undirected = true};
    return count;
}

/* The fewest removals that change the class; 3: more than two. */
static int64_t fewest(const cbx_model *model, const cbx_graph *graph, int32_t row, int32_t class)
{
    cbx_edit  all[MOST], two[2];
    float     logp[CLASSES];
    cbx_error err = {0};
    int64_t   count = list_removals(cbx_graph_arrays(graph), all);
    for (int64_t size = 1; size <= 2; size++)
        for (int64_t i = 0; i < count; i++)
            for (int64_t k = size == 1 ? i : i + 1; k < (size == 1 ? i + 1 : count); k++) {
                two[0] = all[i];
                two[1] = all[k];
                CHECK_OK(cbx_check_edits(model, graph, row, two, size, logp, &err), err);
                if (cbx_is_flip(logp, cbx_model_describe(model).num_classes, class, -1, 0))
                    return size;
            }
    return 3;
}

static void check_row(const cbx_model *model, const cbx_graph *graph, int32_t row,
                      const cbx_options *o, int64_t *proved)
{
    cbx_error           err = {0};
    cbx_counterfactual *c = NULL;
    CHECK_OK(cbx_explain(model, graph, row, o, NULL, NULL, &c, &err), err);
    int64_t truth = fewest(model, graph, row, c->prediction);
    if (truth < 3) {
        CHECK(c->certificate == CBX_OPTIMAL);
        CHECK_INT(c->num_edits, truth);
        CHECK_NEAR(c->lower_bound, (double)truth, 0);
    } else {
        CHECK(c->certificate == CBX_PROVED_NONE);
    }
    *proved += truth > 1;
    cbx_counterfactual_free(c);
}

static int keep_first(void *user, int64_t i, const cbx_counterfactual *c)
{
    cbx_counterfactual *kept = user;
    (void)i;
    *kept = (cbx_counterfactual){.certificate = c->certificate,
                                 .num_edits = c->num_edits,
                                 .lower_bound = c->lower_bound,
                                 .cost = c->cost,
                                 .outcome = c->outcome,
                                 .row = (int32_t)(c->num_edits ? c->edits[0].source : -1),
                                 .target = (int32_t)(c->num_edits ? c->edits[0].target : -1)};
    return 0;
}

static void check_same(const cbx_counterfactual *a, const cbx_counterfactual *b)
{
    CHECK(a->certificate == b->certificate && a->num_edits == b->num_edits);
    CHECK(a->row == b->row && a->target == b->target);
    CHECK_NEAR(a->lower_bound, b->lower_bound, 0);
}

/* Branches are shared out among threads, and what comes of it is the same. */
TEST(a_proof_says_the_same_with_any_number_of_threads)
{
    cbx_error    err = {0};
    cbx_graph   *graph = NULL;
    cbx_options *o;
    CHECK_OK(cbx_graph_builtin("karate", NULL, &graph, &err), err);
    CHECK_OK(cbx_options_new(cbx_explain_table(), &o, &err), err);
    set(o, "features-to-vary", "none");
    set(o, "max-edits", "3");
    set(o, "beam", "1");
    set(o, "candidates", "1");
    set(o, "rebuilds", "0");
    set(o, "prove", "1000");
    set(o, "time-limit", "0");
    cbx_model *model = train(graph, "gcn", "add");
    for (int32_t row = 0; row < NODES; row += 5) {
        cbx_counterfactual one, more, single, *c = NULL;
        set(o, "threads", "1");
        CHECK_OK(cbx_explain_many(model, graph, &row, 1, o, keep_first, NULL, &one, &err), err);
        set(o, "threads", "4");
        CHECK_OK(cbx_explain_many(model, graph, &row, 1, o, keep_first, NULL, &more, &err), err);
        CHECK_OK(cbx_explain(model, graph, row, o, NULL, NULL, &c, &err), err);
        (void)keep_first(&single, 0, c);
        cbx_counterfactual_free(c);
        check_same(&one, &more);
        check_same(&one, &single);
    }
    cbx_options_free(o);
    cbx_model_free(model);
    cbx_graph_free(graph);
}

/* What is near enough is not proved further, and every bound is one. */
TEST(a_gap_ends_a_proof_and_bounds_stay_bounds)
{
    cbx_error    err = {0};
    cbx_graph   *graph = NULL;
    cbx_options *o;
    int64_t      open = 0;
    CHECK_OK(cbx_graph_builtin("karate", NULL, &graph, &err), err);
    CHECK_OK(cbx_options_new(cbx_explain_table(), &o, &err), err);
    set(o, "features-to-vary", "none");
    set(o, "time-limit", "0");
    cbx_model *model = train(graph, "graphconv", "add");
    for (int32_t row = 0; row < NODES; row += 3) {
        cbx_counterfactual *exact = NULL, *near = NULL, *quick = NULL;
        set(o, "prove", "0");
        CHECK_OK(cbx_explain(model, graph, row, o, NULL, NULL, &quick, &err), err);
        set(o, "prove", "1000");
        if (quick->outcome == CBX_FOUND && quick->num_edits <= 4) {
            CHECK_OK(cbx_explain(model, graph, row, o, NULL, NULL, &exact, &err), err);
            set(o, "prove-gap", "1");
            CHECK_OK(cbx_explain(model, graph, row, o, NULL, NULL, &near, &err), err);
            set(o, "prove-gap", "0");
            CHECK(exact->certificate == CBX_OPTIMAL);
            CHECK_NEAR(exact->lower_bound, exact->cost, 0);
            CHECK(near->lower_bound + 1 >= near->cost && near->lower_bound <= exact->cost);
            CHECK(quick->lower_bound >= 1 && quick->lower_bound <= exact->cost);
            CHECK((near->certificate == CBX_OPTIMAL) == (near->lower_bound == near->cost));
            open += near->certificate != CBX_OPTIMAL;
        }
        cbx_counterfactual_free(exact);
        cbx_counterfactual_free(near);
        cbx_counterfactual_free(quick);
    }
    CHECK(open > 0);
    cbx_options_free(o);
    cbx_model_free(model);
    cbx_graph_free(graph);
}

TEST(what_is_proved_of_removals_is_what_trying_all_finds)
{
    cbx_error    err = {0};
    cbx_graph   *graph = NULL;
    cbx_options *o;
    CHECK_OK(cbx_graph_builtin("karate", NULL, &graph, &err), err);
    CHECK_OK(cbx_options_new(cbx_explain_table(), &o, &err), err);
    set(o, "features-to-vary", "none");
    set(o, "max-edits", "2");
    set(o, "prove", "1000");
    set(o, "time-limit", "0");
    for (int k = 0; k < 3; k++) {
        cbx_model *model = train(graph, k ? "graphconv" : "gcn", k == 2 ? "max" : "add");
        int64_t    proved = 0;
        for (int32_t row = 1; row < NODES; row += 8)
            check_row(model, graph, row, o, &proved);
        CHECK(proved > 0);
        cbx_model_free(model);
    }
    cbx_options_free(o);
    cbx_graph_free(graph);
}

/* ---- one class of three */

/* Pairs of nodes, each with an edge: what its going adds to one unit, or takes away. */
enum { PAIRS = 5, UNITS = 3 };

static cbx_graph *pairs(void)
{
    static const int of_unit[PAIRS] = {0, 1, 2, 2, 2};
    static int64_t   from[2 * PAIRS], to[2 * PAIRS], ends[] = {0, 2 * PAIRS}, label[] = {2};
    static float     x[2 * PAIRS * UNITS]; /* the graph keeps none of these for itself */
    cbx_error        err = {0};
    cbx_graph       *graph = NULL;
    for (int64_t k = 0; k < 2 * PAIRS; k++) {
        from[k] = k;
        to[k] = k ^ 1;
        x[k * UNITS + of_unit[k / 2]] = k % 2 ? -1 : 1;
    }
    cbx_graph_data d = {.task = CBX_GRAPH,
                        .num_nodes = 2 * PAIRS,
                        .num_features = UNITS,
                        .num_classes = 3,
                        .num_graphs = 1,
                        .graph_ptr = ends,
                        .num_edges = 2 * PAIRS,
                        .edge_source = from,
                        .edge_target = to,
                        .x = x,
                        .y = label};
    CHECK_OK(cbx_graph_new(&d, &graph, &err), err);
    return graph;
}

/* Of pairs 0 and 1 the first makes class 1 and 2 lead, 1 more than 2; the other one takes from
 * class 1, and a little from class 2. */
static cbx_model *of_three_classes(const cbx_graph *graph)
{
    static const float own[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, none[UNITS] = {0};
    static const float head[] = {0, 0, 0, 4, -10, 0, 3, -0.1F, 0.5F}, head_bias[] = {0, -1, -1};
    cbx_error          err = {0};
    cbx_options       *o;
    cbx_model         *model = NULL;
    const char        *name;
    int32_t            rows, cols;
    CHECK_OK(cbx_options_new(cbx_model_table(), &o, &err), err);
    set(o, "model", "gcn");
    set(o, "hidden", "3");
    set(o, "layers", "1");
    set(o, "pool", "sum");
    CHECK_OK(cbx_model_new(graph, o, 1, &model, &err), err);
    for (size_t i = 0; cbx_model_parameter(model, i, &name, &rows, &cols); i++) {
        bool is_head = strstr(name, "output_layer") != NULL, is_bias = strstr(name, "bias") != NULL;
        const float *values = is_bias ? is_head ? head_bias : none : is_head ? head : own;
        CHECK_OK(cbx_model_set(model, i, values, is_bias ? UNITS : UNITS * UNITS, &err), err);
    }
    cbx_options_free(o);
    return model;
}

/* The first removal lets class 2 lead the prediction, but not class 1; a second one, by which class
 * 2 gains nothing, makes it the first. A poor search finds a third way. */
TEST(what_leads_the_prediction_and_is_not_the_first_is_no_bound)
{
    cbx_error           err = {0};
    cbx_options        *o;
    cbx_counterfactual *c = NULL;
    float               logp[3];
    const cbx_edit      both[] = {
             {.op = CBX_REMOVE_EDGE, .source = 0, .target = 1, .edge = -1, .undirected = true},
             {.op = CBX_REMOVE_EDGE, .source = 2, .target = 3, .edge = -1, .undirected = true}};
    cbx_graph *graph = pairs();
    cbx_model *model = of_three_classes(graph);
    CHECK_OK(cbx_check_edits(model, graph, 0, both, 1, logp, &err), err);
    CHECK(logp[2] > logp[0] && logp[1] > logp[2]);
    CHECK_OK(cbx_check_edits(model, graph, 0, both, 2, logp, &err), err);
    CHECK(logp[2] > logp[0] && logp[2] > logp[1]);
    CHECK_OK(cbx_options_new(cbx_explain_table(), &o, &err), err);
    set(o, "features-to-vary", "none");
    set(o, "target", "2");
    set(o, "beam", "1");
    set(o, "candidates", "1");
    set(o, "rebuilds", "0");
    set(o, "prove", "1000");
    set(o, "time-limit", "0");
    for (int few = 0; few < 2; few++) {
        set(o, "max-edits", few ? "2" : "0");
        CHECK_OK(cbx_explain(model, graph, 0, o, NULL, NULL, &c, &err), err);
        CHECK(c->certificate == CBX_OPTIMAL);
        CHECK_INT(c->num_edits, 2);
        CHECK_NEAR(c->lower_bound, 2, 0);
        cbx_counterfactual_free(c);
    }
    cbx_options_free(o);
    cbx_model_free(model);
    cbx_graph_free(graph);
}
