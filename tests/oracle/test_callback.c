/* SPDX-License-Identifier: Apache-2.0 */
/* Models that the caller runs. The caller here is a chain of layers of the library's own, asked
 * about graphs made of what it is handed, or a sum over edges that is worked out by hand. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "combinex/extend.h"
#include "program_oracle.h"
#include "receptive.h"
#include "test.h"
#include "../search/own_options.h"

typedef struct caller {
    cbx_model            *layers;
    cbx_graph            *graph;
    const cbx_graph_data *data;
    atomic_int            asked, freed;
    int                   fails_at; /* the question that it fails; 0: none */
    bool                  odd;      /* it was handed something that is not in the data */
} caller;

static void count_free(void *user)
{
    ((caller *)user)->freed++;
}

/* Are nodes and edges those of the data that they say they are? */
static bool is_of_the_data(const caller *c, const cbx_asked_graph *g)
{
    bool same = g->num_features == c->data->num_features;
    for (int64_t e = 0; e < g->num_edges; e++)
        same = same && c->data->edge_source[g->edge[e]] == g->node[g->edge_source[e]] &&
               c->data->edge_target[g->edge[e]] == g->node[g->edge_target[e]] &&
               g->edge_weight[e] == 1;
    return same;
}

static int ask_layers(void *user, const cbx_asked_graph *g, float *scores)
{
    caller        *c = user;
    cbx_error      err = {0};
    cbx_graph     *graph = NULL;
    cbx_graph_data d = {.num_nodes = g->num_nodes,
                        .num_features = g->num_features,
                        .num_classes = c->data->num_classes,
                        .num_edges = g->num_edges,
                        .edge_source = g->edge_source,
                        .edge_target = g->edge_target,
                        .x = g->x};
    int32_t        C = c->data->num_classes;
    float         *logp = malloc((size_t)g->num_nodes * (size_t)C * sizeof *logp);
    c->odd = c->odd || !is_of_the_data(c, g);
    bool failed = ++c->asked == c->fails_at || !logp || cbx_graph_new(&d, &graph, &err) ||
                  cbx_predict(c->layers, graph, 1, logp, &err);
    for (int64_t k = 0; !failed && k < (int64_t)g->num_rows * C; k++)
        scores[k] = logp[k] + 3; /* scores, and not log-probabilities */
    cbx_graph_free(graph);
    free(logp);
    return failed;
}

/* Two GCN layers on the karate club. */
static bool open_caller(caller *c, cbx_oracle *oracle)
{
    cbx_error         err = {0};
    cbx_model_spec    spec;
    cbx_train_options train;
    memset(c, 0, sizeof *c);
    cbx_fields_default(cbx_model_table(), &spec);
    cbx_fields_default(cbx_train_table(), &train);
    spec.layers = 2;
    spec.hidden = 8;
    train.epochs = 100;
    bool made = CHECK_OK(cbx_graph_builtin_with("karate", NULL, &c->graph, &err), err) &&
                CHECK_OK(cbx_model_new_with(c->graph, &spec, 1, &c->layers, &err), err) &&
                CHECK_OK(cbx_train_with(c->layers, c->graph, &train, NULL, NULL, NULL, &err), err);
    if (!made)
        return false;
    c->data = cbx_graph_arrays(c->graph);
    *oracle = (cbx_oracle){.name = "layers",
                           .task = CBX_NODE,
                           .num_features = c->data->num_features,
                           .num_scores = c->data->num_classes,
                           .hops = 2,
                           .predict = ask_layers,
                           .free = count_free,
                           .user = c};
    return true;
}

static void close_caller(caller *c)
{
    cbx_model_free(c->layers);
    cbx_graph_free(c->graph);
}

/* The first feature, summed along edges twice. */
static int ask_sum_of_sums(void *user, const cbx_asked_graph *g, float *scores)
{
    float *sum = calloc(2 * (size_t)g->num_nodes, sizeof *sum), *twice = sum + g->num_nodes;
    (void)user;
    for (int64_t e = 0; sum && e < g->num_edges; e++)
        sum[g->edge_target[e]] += g->x[g->edge_source[e] * g->num_features];
    for (int64_t e = 0; sum && e < g->num_edges; e++)
        twice[g->edge_target[e]] += sum[g->edge_source[e]];
    for (int32_t i = 0; sum && i < g->num_rows; i++)
        for (int32_t c = 0; c < 4; c++)
            scores[4 * (int64_t)i + c] = (float)c * twice[i];
    bool failed = !sum;
    free(sum);
    return failed;
}

static cbx_explain_options options_for(const char *explainer)
{
    cbx_error           err = {0};
    cbx_explain_options o;
    cbx_fields_default(cbx_explain_table(), &o);
    o.target = "any";
    CHECK_OK(cbx_fields_set(cbx_explain_table(), &o, "explainer", explainer, &err), err);
    return o;
}

TEST(a_callback_s_scores_become_log_probabilities)
{
    caller     c;
    cbx_oracle oracle;
    cbx_model *model = NULL;
    cbx_error  err = {0};
    float      told[34 * 4], own[34 * 4];
    if (!open_caller(&c, &oracle) || !CHECK_OK(cbx_model_of_oracle(&oracle, &model, &err), err))
        return;
    CHECK_OK(cbx_predict(model, c.graph, 1, told, &err), err);
    CHECK_OK(cbx_predict(c.layers, c.graph, 1, own, &err), err);
    CHECK(test_difference(34 * 4, told, own) < 1e-5);
    CHECK(!strcmp(cbx_model_describe(model).conv, "callback"));
    cbx_model_free(model);
    CHECK_INT(c.freed, 1);
    close_caller(&c);
}

TEST(minimal_finds_what_flips_a_callback_that_has_no_gradients)
{
    caller     c;
    cbx_oracle oracle;
    cbx_model *model = NULL;
    cbx_error  err = {0};
    int        found = 0;
    if (!open_caller(&c, &oracle) || !CHECK_OK(cbx_model_of_oracle(&oracle, &model, &err), err))
        return;
    cbx_explain_options o = options_for("minimal");
    o.max_edits = 4;
    for (int32_t row = 0; row < 34; row += 4) {
        cbx_counterfactual *a = NULL, *with_gradients = NULL;
        float               logp[4];
        if (!CHECK_OK(cbx_explain_with(model, c.graph, row, &o, NULL, NULL, &a, &err), err) ||
            !CHECK_OK(
                cbx_explain_with(c.layers, c.graph, row, &o, NULL, NULL, &with_gradients, &err),
                err))
            break;
        CHECK_INT(a->outcome, with_gradients->outcome);
        found += a->outcome == CBX_FOUND;
        if (a->outcome == CBX_FOUND) { /* the layers themselves, on the edited graph */
            CHECK_OK(cbx_check_edits(c.layers, c.graph, row, a->edits, a->num_edits, logp, &err),
                     err);
            CHECK(cbx_is_flip(logp, 4, a->prediction, -1, 0));
            CHECK(a->certificate == CBX_IRREDUCIBLE || a->certificate == CBX_OPTIMAL);
        }
        cbx_counterfactual_free(with_gradients);
        cbx_counterfactual_free(a);
    }
    printf("  %d of 9 found, %d questions\n", found, (int)c.asked);
    CHECK(found > 0);
    CHECK(!c.odd);
    cbx_model_free(model);
    close_caller(&c);
}

TEST(methods_that_follow_gradients_refuse_a_callback_without)
{
    caller              c;
    cbx_oracle          oracle;
    cbx_model          *model = NULL;
    cbx_counterfactual *a = NULL;
    cbx_error           err = {0};
    int                 refused = 0;
    if (!open_caller(&c, &oracle) || !CHECK_OK(cbx_model_of_oracle(&oracle, &model, &err), err))
        return;
    for (int k = 0; cbx_explainer_names[k]; k++) {
        cbx_explain_options o = options_for(cbx_explainer_names[k]);
        o.epochs = 20;
        cbx_status status = cbx_explain_with(model, c.graph, 8, &o, NULL, NULL, &a, &err);
        cbx_counterfactual_free(a);
        if (cbx_explainer_at(k)->embeds) /* it needs layers */
            continue;
        if (!cbx_explainer_at(k)->descends) {
            CHECK_OK(status, err);
            continue;
        }
        CHECK_INT(status, CBX_INVALID);
        CHECK_CONTAINS(err.message, "follows gradients");
        CHECK_CONTAINS(err.message, "'minimal' does without");
        refused++;
    }
    CHECK(refused >= 3); /* combinex, cf-gnn, cff */
    cbx_model_free(model);
    close_caller(&c);
}

static int drop(void *user, int64_t i, const cbx_counterfactual *result)
{
    (void)user;
    (void)i;
    (void)result;
    return 0;
}

TEST(a_callback_that_fails_ends_the_work_as_if_it_had_been_stopped)
{
    caller              c;
    cbx_oracle          oracle;
    cbx_model          *model = NULL;
    cbx_counterfactual *a = NULL;
    cbx_error           err = {0};
    float               logp[34 * 4];
    int32_t             rows[] = {8, 9, 10, 11};
    if (!open_caller(&c, &oracle) || !CHECK_OK(cbx_model_of_oracle(&oracle, &model, &err), err))
        return;
    cbx_explain_options o = options_for("minimal");
    for (int at = 1; at <= 40; at += 13) {
        c.asked = 0;
        c.fails_at = at;
        CHECK_OK(cbx_explain_with(model, c.graph, 8, &o, NULL, NULL, &a, &err), err);
        CHECK_INT(a->outcome, CBX_NOT_FINISHED);
        CHECK_INT(c.asked, at); /* and no more */
        cbx_counterfactual_free(a);
        c.asked = 0;
        o.threads = 2;
        CHECK_INT(cbx_explain_many_with(model, c.graph, rows, 4, &o, drop, NULL, NULL, &err),
                  CBX_CANCELLED);
    }
    c.asked = 0;
    c.fails_at = 1;
    CHECK_INT(cbx_predict(model, c.graph, 1, logp, &err), CBX_CANCELLED);
    c.asked = 0;
    CHECK_INT(cbx_check_edits(model, c.graph, 8, NULL, 0, logp, &err), CBX_CANCELLED);
    cbx_model_free(model);
    close_caller(&c);
}

TEST(an_oracle_that_cannot_be_is_refused_and_stays_the_caller_s)
{
    caller     c;
    cbx_oracle good;
    cbx_model *model = NULL;
    cbx_error  err = {0};
    if (!open_caller(&c, &good))
        return;
    cbx_oracle none = good, hops = good, scores = good;
    none.predict = NULL;
    hops.hops = -2;
    scores.num_scores = 0;
    CHECK_INT(cbx_model_of_oracle(&none, &model, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "no function predict");
    CHECK_INT(cbx_model_of_oracle(&hops, &model, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "hops is -2");
    CHECK_INT(cbx_model_of_oracle(&scores, &model, &err), CBX_INVALID);
    CHECK_INT(c.freed, 0);
    close_caller(&c);
}

static cbx_status make_and_ask(void *user)
{
    caller    *c = user;
    cbx_model *model = NULL;
    cbx_error  err = {0};
    float      logp[34 * 4];
    cbx_oracle oracle = {.num_features = c->data->num_features,
                         .num_scores = 4,
                         .hops = -1,
                         .predict = ask_layers,
                         .user = c};
    cbx_status status = cbx_model_of_oracle(&oracle, &model, &err);
    if (!status)
        status = cbx_predict(model, c->graph, 1, logp, &err);
    cbx_model_free(model);
    return status == CBX_CANCELLED ? CBX_NO_MEMORY : status; /* it was the caller's own memory */
}

TEST(memory_that_runs_out_is_an_error_of_a_callback_too)
{
    caller     c;
    cbx_oracle oracle;
    if (!open_caller(&c, &oracle))
        return;
    test_each_allocation(make_and_ask, &c);
    close_caller(&c);
}

TEST(hops_that_are_too_few_are_noticed_and_not_believed)
{
    for (int32_t hops = 1; hops <= 2; hops++) { /* it has two layers */
        caller     c;
        cbx_oracle oracle;
        cbx_model *model = NULL;
        cbx_error  err = {0};
        if (!open_caller(&c, &oracle))
            return;
        static const cbx_graph_data any; /* its edges are made up here */
        c.data = &any;
        oracle.hops = hops;
        oracle.predict = ask_sum_of_sums;
        CHECK_OK(cbx_model_of_oracle(&oracle, &model, &err), err);
        CHECK_OK(cbx_hops_prove(model, &err), err);
        CHECK_INT(cbx_receptive_is_known(model), hops == 2);
        cbx_model_free(model);
        close_caller(&c);
    }
}

/* ---- gradients of the caller's own: log-odds = sum over edges u -> v of w x_u, less 1 */

static int ask_sum(void *user, const cbx_asked_graph *g, float *scores)
{
    (void)user;
    for (int32_t i = 0; i < g->num_rows; i++)
        scores[i] = -1;
    for (int64_t e = 0; e < g->num_edges; e++)
        if (g->edge_target[e] < g->num_rows)
            scores[g->edge_target[e]] += g->edge_weight[e] * g->x[g->edge_source[e]];
    return 0;
}

static int ask_slopes(void *user, const cbx_asked_graph *g, const float *direction, float *by_x,
                      float *by_weight)
{
    (void)user;
    if (by_x)
        memset(by_x, 0, (size_t)g->num_nodes * sizeof *by_x);
    for (int64_t e = 0; e < g->num_edges; e++) {
        int64_t u = g->edge_source[e], v = g->edge_target[e];
        float   d = v < g->num_rows ? direction[v] : 0;
        if (by_x)
            by_x[u] += d * g->edge_weight[e];
        if (by_weight)
            by_weight[e] = d * g->x[u];
    }
    return 0;
}

TEST(every_method_that_follows_gradients_follows_a_callback_s)
{
    /* node 0 hears 2 + 2 - 1 > 0: class 1; with one edge fewer still, with neither no more */
    static const int64_t     source[] = {1, 2, 3, 0}, target[] = {0, 0, 0, 1};
    static const float       x[] = {0, 2, 2, -1};
    static const char *const methods[] = {"combinex", "cf-gnn", "minimal"};
    cbx_graph_data           d = {.num_nodes = 4,
                                  .num_features = 1,
                                  .num_classes = 2,
                                  .num_edges = 4,
                                  .edge_source = source,
                                  .edge_target = target,
                                  .x = x};
    cbx_oracle               oracle = {.num_features = 1,
                                       .num_scores = 1,
                                       .hops = 1,
                                       .follows_weights = true,
                                       .predict = ask_sum,
                                       .gradient = ask_slopes};
    cbx_graph               *graph = NULL;
    cbx_model               *model = NULL;
    cbx_error                err = {0};
    float                    logp[8];
    if (!CHECK_OK(cbx_graph_new(&d, &graph, &err), err) ||
        !CHECK_OK(cbx_model_of_oracle(&oracle, &model, &err), err))
        return;
    CHECK_OK(cbx_predict(model, graph, 1, logp, &err), err);
    CHECK_NEAR(logp[1] - logp[0], 2, 1e-6); /* 2 + 2 - 1 - 1 */
    for (int k = 0; k < 3; k++) {
        cbx_counterfactual *a = NULL;
        cbx_explain_options o = options_for(methods[k]);
        o.epochs = 300;
        set_option(&o, "cf-gnn-beta", "0.01");
        if (!CHECK_OK(cbx_explain_with(model, graph, 0, &o, NULL, NULL, &a, &err), err))
            continue;
        CHECK_INT(a->outcome, CBX_FOUND);
        cbx_counterfactual_free(a);
    }
    cbx_model_free(model);
    cbx_graph_free(graph);
}

/* What every node has counts for every node, wherever it is. */
static int ask_everything(void *user, const cbx_asked_graph *g, float *scores)
{
    float sum = 0;
    for (int32_t i = 0; i < g->num_nodes; i++)
        sum += g->x[i];
    for (int32_t i = 0; i < g->num_rows; i++) {
        scores[2 * i] = 0;
        scores[2 * i + 1] = 0.25F * sum - 4 + g->x[i];
    }
    return (void)user, 0;
}

TEST(of_a_model_that_sees_everything_the_whole_graphs_class_is_explained)
{
    enum { NODES = 40 };
    int64_t        source[NODES - 1], target[NODES - 1];
    float          x[NODES], logp[2 * NODES];
    cbx_graph     *graph = NULL;
    cbx_model     *model = NULL;
    cbx_error      err = {0};
    cbx_oracle     oracle = {.task = CBX_NODE,
                             .num_features = 1,
                             .num_scores = 2,
                             .hops = -1,
                             .predict = ask_everything};
    cbx_graph_data d = {.num_nodes = NODES,
                        .num_features = 1,
                        .num_classes = 2,
                        .num_edges = NODES - 1,
                        .edge_source = source,
                        .edge_target = target,
                        .x = x};
    for (int i = 0; i < NODES; i++)
        x[i] = (float)(i % 2);
    for (int i = 0; i + 1 < NODES; i++) { /* a path, of which no part has all */
        source[i] = i;
        target[i] = i + 1;
    }
    CHECK_OK(cbx_graph_new(&d, &graph, &err), err);
    CHECK_OK(cbx_model_of_oracle(&oracle, &model, &err), err);
    CHECK_OK(cbx_predict(model, graph, 1, logp, &err), err);
    cbx_explain_options o = options_for("minimal");
    for (int32_t row = 0; row < NODES; row += 13) {
        cbx_counterfactual *r = NULL;
        CHECK_OK(cbx_explain_with(model, graph, row, &o, NULL, NULL, &r, &err), err);
        CHECK_INT(r->prediction, 1);
        CHECK(r->outcome != CBX_SKIPPED);
        for (int c = 0; c < 2; c++)
            CHECK_NEAR(r->before[c], logp[2 * row + c], 1e-6);
        cbx_counterfactual_free(r);
    }
    cbx_model_free(model);
    cbx_graph_free(graph);
}

/* The mean of the first feature over each graph, against 0.6. */
static int ask_mean(void *user, const cbx_asked_graph *g, float *scores)
{
    int *smallest = user;
    *smallest = g->num_nodes < *smallest ? g->num_nodes : *smallest;
    for (int32_t k = 0; k < g->num_graphs; k++) {
        double sum = 0, count = 0;
        for (int32_t i = 0; i < g->num_nodes; i++)
            if (g->graph_of[i] == k) {
                sum += (double)g->x[(int64_t)i * g->num_features];
                count++;
            }
        scores[2 * (int64_t)k] = 0.6F;
        scores[2 * (int64_t)k + 1] = (float)(sum / count);
    }
    return 0;
}

TEST(nodes_that_are_removed_are_not_in_the_graph_that_is_asked)
{
    int                 smallest = 7;
    const float         x[] = {1, 1, 1, 0, 0, 0, 1};
    const int64_t       source[] = {0, 1, 4}, target[] = {1, 2, 5}, ptr[] = {0, 4, 7};
    const int64_t       y[] = {1, 0};
    cbx_graph_data      d = {.task = CBX_GRAPH,
                             .num_nodes = 7,
                             .num_features = 1,
                             .num_graphs = 2,
                             .num_classes = 2,
                             .num_edges = 3,
                             .edge_source = source,
                             .edge_target = target,
                             .x = x,
                             .y = y,
                             .graph_ptr = ptr};
    cbx_oracle          oracle = {.name = "mean",
                                  .task = CBX_GRAPH,
                                  .num_features = 1,
                                  .num_scores = 2,
                                  .hops = -1,
                                  .predict = ask_mean,
                                  .user = &smallest};
    cbx_graph          *graph = NULL;
    cbx_model          *model = NULL;
    cbx_counterfactual *c = NULL;
    cbx_error           err = {0};
    cbx_explain_options options = options_for("minimal");
    CHECK_OK(cbx_graph_new(&d, &graph, &err), err);
    CHECK_OK(cbx_model_of_oracle(&oracle, &model, &err), err);
    set_option(&options, "edits", "remove,remove-nodes");
    set_option(&options, "prove", "60");
    for (int32_t row = 0; row < 2 && graph && model; row++) {
        CHECK_OK(cbx_explain_with(model, graph, row, &options, NULL, NULL, &c, &err), err);
        CHECK_INT(c->outcome, CBX_FOUND);
        CHECK_INT(c->num_nodes_removed, 2); /* 1, 0 of the first; the 1 alone of the second */
        CHECK_INT(c->num_edits, 2);
        CHECK_INT(c->certificate, CBX_OPTIMAL);
        cbx_counterfactual_free(c);
    }
    CHECK_INT(smallest, 1);
    c = NULL;
    set_option(&options, "edits", "add-nodes");
    CHECK_INT(cbx_explain_with(model, graph, 0, &options, NULL, NULL, &c, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "nodes cannot be added for a model of the kind 'callback'");
    const cbx_edit come = {
        .op = CBX_ADD_NODE, .source = 3, .target = 0, .edge = -1, .undirected = true};
    float logp[2][2]; /* but what they do can be asked: its mean falls */
    CHECK_OK(cbx_check_edits(model, graph, 0, NULL, 0, logp[0], &err), err);
    CHECK_OK(cbx_check_edits(model, graph, 0, &come, 1, logp[1], &err), err);
    CHECK(logp[1][1] < logp[0][1]);
    cbx_model_free(model);
    cbx_graph_free(graph);
}
