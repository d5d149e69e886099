/* SPDX-License-Identifier: Apache-2.0 */
/* Extreme values and shapes, for every layer and every method: right answers or clear
 * errors, and never a NaN or an infinity in a result. */
#include "numbers.h"
#include "test.h"

/* ------------------------------------------------------------ predictions */

static bool all_finite(const float *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static void say(const odd_graph *g, const odd_layer *l, const char *what)
{
    printf("  (%s, %s %s %lld: %s)\n", g->name, l->conv, l->aggregation, (long long)l->order, what);
}

/* Right in double, or an error that says what is wrong. */
static void check_prediction(const odd_graph *g, const odd_layer *l)
{
    oracle     o = odd_make(g, l, false);
    int32_t    count = g->nodes * g->classes;
    float      logp[ODD_NODES_MAX * 4];
    double     right[ODD_NODES_MAX * 4];
    cbx_error  err = {0};
    double     peak = plain_predict(&o.data, o.model, l, right);
    bool       fine = true;
    cbx_status status = cbx_predict(o.model, o.graph, 1, logp, &err);
    if (status) {
        fine &= CHECK_INT(status, CBX_INVALID);
        fine &= CHECK_CONTAINS(err.message, "not finite");
        fine &= CHECK(peak > 1e36); /* only what single precision cannot hold is refused */
    } else {
        for (int32_t i = 0; i < count && fine; i++)
            fine &= CHECK_NEAR(logp[i], right[i], 2e-5 * fmax(1, peak));
    }
    if (!fine)
        say(g, l, "prediction");
    oracle_free(&o);
}

TEST(predictions_are_those_of_double_precision_or_errors)
{
    for (int g = 0; g < ODD_GRAPHS; g++)
        for (int l = 0; l < LAYER_KINDS; l++)
            check_prediction(&odd_graphs[g], &odd_layers[l]);
}

/* ---------------------------------------------------------------- answers */

static const char *const methods[][2] = {{"minimal", "linear"},       {"combinex", "linear"},
                                         {"combinex", "exponential"}, {"combinex", "sinusoidal"},
                                         {"combinex", "dynamic"},     {"combinex", "constant"},
                                         {"combinex", "features"},    {"combinex", "edges"},
                                         {"cf-gnn", "linear"},        {"cff", "linear"},
                                         {"unr", "linear"},           {"ego", "linear"},
                                         {"random-edges", "linear"},  {"random-features", "linear"},
                                         {"moexp", "linear"},         {"rcexplainer", "linear"},
                                         {"clear", "linear"},         {"d4", "linear"}};
enum { METHODS = sizeof methods / sizeof *methods };

/* It explains graphs only. */
static bool of_graphs(int method)
{
    return !strcmp(methods[method][0], "clear") || !strcmp(methods[method][0], "d4");
}

static bool finite_answer(const cbx_counterfactual *c)
{
    bool fine = CHECK(all_finite(c->before, c->num_classes));
    if (c->after)
        fine &= CHECK(all_finite(c->after, c->num_classes));
    for (int64_t k = 0; k < c->num_edits && fine; k++) {
        const cbx_edit *e = &c->edits[k];
        fine &= CHECK(isfinite(e->influence));
        if (e->op == CBX_SET_FEATURE)
            fine &= CHECK(isfinite(e->from) && isfinite(e->to) && e->from != e->to);
    }
    for (int64_t k = 0; k < c->num_trace && fine; k++) {
        const cbx_epoch *t = &c->trace[k];
        fine &= CHECK(isfinite(t->loss) && isfinite(t->ce) && isfinite(t->edge_loss) &&
                      isfinite(t->feature_loss) && isfinite(t->alpha) && isfinite(t->eta));
    }
    fine &= CHECK(isfinite(c->cost) && isfinite(c->margin) && isfinite(c->robustness));
    fine &= CHECK(isfinite(c->loss) && isfinite(c->seconds));
    return fine;
}

/* The edits give the class that is claimed, on a graph that is made anew. */
static bool holds(const oracle *o, const cbx_counterfactual *c)
{
    cbx_graph *edited = NULL;
    cbx_error  err = {0};
    float      logp[ODD_NODES_MAX * 4];
    bool       fine = CHECK(c->num_edits > 0 && c->after && c->result != c->prediction);
    fine &= CHECK_OK(cbx_graph_apply(o->graph, c->edits, c->num_edits, &edited, &err), err);
    if (fine && CHECK_OK(cbx_predict(o->model, edited, 1, logp, &err), err)) {
        const float *row = logp + (int64_t)c->row * c->num_classes;
        fine &= CHECK_INT(best_of(row, c->num_classes), c->result);
        for (int32_t k = 0; k < c->num_classes && fine; k++)
            fine &= CHECK(fabsf(row[k] - c->after[k]) <= 1e-4f * fmaxf(1, fabsf(row[k])));
    }
    cbx_graph_free(edited);
    return fine;
}

static bool fine_json(const oracle *o, const cbx_counterfactual *c,
                      const cbx_explain_options *options)
{
    char *text = cbx_counterfactual_json_with(c, o->graph, options, NULL, NULL);
    bool  fine = CHECK(text != NULL);
    if (text) {
        fine &= CHECK(!strstr(text, "NaN") && !strstr(text, "nan,") && !strstr(text, "nfinity"));
        fine &= CHECK(!strstr(text, "influence\": null") && !strstr(text, "margin\": null"));
        cbx_counterfactual *again = NULL;
        char                graph[65], model[65];
        cbx_error           err = {0};
        fine &= CHECK_OK(cbx_counterfactual_parse(text, &again, graph, model, &err), err);
        cbx_counterfactual_free(again);
    }
    free(text);
    return fine;
}

typedef struct tally {
    int found, others, refused;
} tally;

static void check_answer(const oracle *o, const odd_graph *g, const odd_layer *l, int method,
                         int32_t row, tally *count)
{
    cbx_counterfactual *c = NULL;
    cbx_error           err = {0};
    cbx_explain_options options =
        ASK("explainer", methods[method][0], "policy", methods[method][1], "epochs", "25", "target",
            "any", "unr-rollouts", "10", "moexp-most", "10", "clear-epochs", "4", "d4-epochs", "2",
            "d4-width", "4", "robustness", "5", "prove", "0.02", "seed", "4");
    options.trace = true;
    cbx_status status = cbx_explain_with(o->model, o->graph, row, &options, NULL, NULL, &c, &err);
    bool       fine = true;
    if (status) {
        fine = CHECK_INT(status, CBX_INVALID) && CHECK_CONTAINS(err.message, "not finite");
        float logp[ODD_NODES_MAX * 4];
        fine = fine && CHECK_INT(cbx_predict(o->model, o->graph, 1, logp, NULL), CBX_INVALID);
        count->refused++;
    } else {
        fine = finite_answer(c) && fine_json(o, c, &options);
        if (c->outcome == CBX_FOUND) {
            fine = fine && holds(o, c);
            count->found++;
        } else {
            count->others++;
        }
    }
    if (!fine) {
        say(g, l, methods[method][0]);
        printf("  (%s, row %d: %s)\n", methods[method][1], row,
               c ? cbx_outcome_name(c->outcome) : err.message);
    }
    cbx_counterfactual_free(c);
}

TEST(every_method_answers_with_finite_numbers_or_says_why_not)
{
    tally count = {0};
    for (int g = 0; g < ODD_GRAPHS; g++)
        for (int l = 0; l < LAYER_KINDS; l++) {
            oracle o = odd_make(&odd_graphs[g], &odd_layers[l], false);
            for (int m = 0; m < METHODS; m++)
                for (int32_t row = 0; row < odd_graphs[g].nodes && row < 2 && !of_graphs(m); row++)
                    check_answer(&o, &odd_graphs[g], &odd_layers[l], m, row, &count);
            oracle_free(&o);
        }
    printf("  %d found, %d not, %d refused\n", count.found, count.others, count.refused);
    CHECK(count.found > 300 && count.others > 300);
}

TEST(whole_graphs_are_answered_likewise)
{
    tally count = {0};
    for (int g = 0; g < ODD_GRAPHS; g++)
        for (int l = 0; l < LAYER_KINDS; l++) {
            oracle o = odd_make(&odd_graphs[g], &odd_layers[l], true);
            for (int m = 0; m < METHODS; m++)
                if (strcmp(methods[m][0], "unr") != 0) /* it embeds nodes */
                    check_answer(&o, &odd_graphs[g], &odd_layers[l], m, 0, &count);
            oracle_free(&o);
        }
    CHECK(count.found > 100 && count.others > 100);
}

/* ------------------------------------------- a probability of exactly zero */

/* One layer: the scores are 1e30 apart, so that exp gives 0 for every class but one. */
TEST(a_class_of_probability_zero_can_be_asked_for_and_is_reported_as_zero)
{
    static const int64_t source[] = {0, 1, 1, 0, 1, 2, 2, 1}, target[] = {1, 0, 0, 1, 2, 1, 1, 2};
    static const float   x[] = {1, 0, 1, 0, 1, 0}, lo[] = {0, 0}, hi[] = {1, 1};
    static const int64_t y[] = {0, 1, 2};
    cbx_graph_data       data = {.num_nodes = 3,
                                 .num_features = 2,
                                 .num_classes = 3,
                                 .num_edges = 8,
                                 .edge_source = source,
                                 .edge_target = target,
                                 .x = x,
                                 .feat_min = lo,
                                 .feat_max = hi,
                                 .y = y};
    oracle               o = oracle_by_hand(&data, "graphconv", "add", 2);
    oracle_set(&o, "layers.0.lin_rel.weight", (float[]){0, 0, 0, 0});
    oracle_set(&o, "layers.0.lin_root.weight", (float[]){1, 0, 0, 1});
    oracle_set(&o, "layers.0.lin_rel.bias", (float[]){0, 0.125f}); /* or no gradient passes */
    /* class 0 for feature 0, class 1 for feature 1, class 2 for neither: never */
    oracle_set(&o, "output_layer.weight", (float[]){1e30f, 0, 0, 4e30f, 0, 0});
    oracle_set(&o, "output_layer.bias", (float[]){0, 0, -1e30f});
    cbx_error err = {0};
    float     logp[9];
    CHECK_OK(cbx_predict(o.model, o.graph, 1, logp, &err), err);
    CHECK(logp[0] == 0 && logp[1] == -5e29f && logp[2] == -2e30f);
    CHECK(exp((double)logp[1]) == 0);
    int reached = 0;
    for (int m = 0; m < METHODS; m++)
        for (int target_class = 1; target_class <= 2 && !of_graphs(m); target_class++) {
            cbx_counterfactual *c = NULL;
            cbx_explain_options options =
                ASK("explainer", methods[m][0], "policy", methods[m][1], "epochs", "60", "target",
                    target_class == 1 ? "1" : "2", "unr-rollouts", "10", "moexp-most", "10", "seed",
                    "4");
            options.trace = true;
            if (!CHECK_OK(cbx_explain_with(o.model, o.graph, 1, &options, NULL, NULL, &c, &err),
                          err))
                continue;
            CHECK(finite_answer(c) && fine_json(&o, c, &options));
            CHECK(target_class == 1 || c->outcome != CBX_FOUND); /* no features lead there */
            reached += c->outcome == CBX_FOUND && holds(&o, c);
            cbx_counterfactual_free(c);
        }
    printf("  %d of %d methods get there\n", reached, METHODS);
    CHECK(reached >= 2); /* Adam squares gradients, and 1e30 has no square in a float */
    oracle_free(&o);
}

/* ------------------------------------------------------------ many classes */

enum { MANY = 100000 };

/* The head gives class k the score -(a - k/MANY)^2 of the hidden value a, but for a
 * constant: the class nearest to a wins. */
TEST(a_hundred_thousand_classes)
{
    static const int64_t source[] = {0, 1, 1, 0}, target[] = {1, 0, 1, 0};
    static const float   x[] = {0.25f, 0.75f}, lo[] = {0}, hi[] = {1};
    static const int64_t y[] = {0, MANY - 1};
    cbx_graph_data       data = {.num_nodes = 2,
                                 .num_features = 1,
                                 .num_classes = MANY,
                                 .num_edges = 4,
                                 .edge_source = source,
                                 .edge_target = target,
                                 .x = x,
                                 .feat_min = lo,
                                 .feat_max = hi,
                                 .y = y};
    oracle               o = oracle_by_hand(&data, "graphconv", "add", 1);
    float               *head = TAKE(&o.bag, float, MANY), *bias = TAKE(&o.bag, float, MANY);
    for (int32_t k = 0; k < MANY; k++) {
        double at = (double)k / MANY;
        head[k] = (float)(2e6 * at);
        bias[k] = (float)(-1e6 * at * at);
    }
    oracle_set(&o, "layers.0.lin_rel.weight", (float[]){0});
    oracle_set(&o, "layers.0.lin_root.weight", (float[]){1});
    oracle_set(&o, "layers.0.lin_rel.bias", (float[]){0});
    oracle_set(&o, "output_layer.weight", head);
    oracle_set(&o, "output_layer.bias", bias);
    float    *logp = TAKE(&o.bag, float, 2 * MANY);
    cbx_error err = {0};
    CHECK_OK(cbx_predict(o.model, o.graph, 1, logp, &err), err);
    CHECK(all_finite(logp, 2 * MANY));
    CHECK(abs(best_of(logp, MANY) - MANY / 4) < 100); /* single precision has 24 bits */
    CHECK(abs(best_of(logp + MANY, MANY) - 3 * MANY / 4) < 100);
    for (int m = 0; m < METHODS; m++) {
        if (of_graphs(m))
            continue;
        cbx_counterfactual *c = NULL;
        cbx_explain_options options =
            ASK("explainer", methods[m][0], "policy", methods[m][1], "epochs", "5", "target", "any",
                "unr-rollouts", "3", "moexp-most", "3", "robustness", "2", "candidates", "4",
                "time-limit", "20");
        if (!CHECK_OK(cbx_explain_with(o.model, o.graph, 0, &options, NULL, NULL, &c, &err), err))
            continue;
        CHECK_INT(c->num_classes, MANY);
        CHECK(finite_answer(c));
        if (c->outcome == CBX_FOUND) {
            float *after = logp;
            CHECK_OK(cbx_check_edits(o.model, o.graph, 0, c->edits, c->num_edits, after, &err),
                     err);
            CHECK_INT(best_of(after, MANY), c->result);
        }
        cbx_counterfactual_free(c);
    }
    oracle_free(&o);
}

/* ---------------------------------------------------------------- measures */

TEST(measures_are_numbers_or_undefined_and_never_infinite)
{
    int checked = 0;
    for (int g = 0; g < ODD_GRAPHS; g++)
        for (int l = 0; l < LAYER_KINDS; l++) {
            oracle             o = odd_make(&odd_graphs[g], &odd_layers[l], false);
            cbx_dataset_means *yard = NULL;
            cbx_error          err = {0};
            for (int m = 0; m < METHODS; m += 13) { /* minimal and random-features */
                cbx_counterfactual *c = NULL;
                cbx_measures        out;
                cbx_explain_options options =
                    ASK("explainer", methods[m][0], "epochs", "20", "target", "any");
                if (cbx_explain_with(o.model, o.graph, 0, &options, NULL, NULL, &c, &err))
                    continue;
                if (!yard &&
                    !CHECK_OK(cbx_dataset_means_new(o.model, o.graph, 1, &yard, &err), err))
                    break;
                bool         fine = CHECK_OK(cbx_measure(yard, c, &out, &err), err);
                bool         found = c->outcome == CBX_FOUND;
                const double values[] = {out.node_sparsity, out.edge_sparsity,
                                         out.distribution_distance, out.embedding_distance};
                for (int k = 0; k < 4 && found; k++)
                    fine &= CHECK(isfinite(values[k]) && values[k] >= 0);
                checked += found;
                if (!fine)
                    say(&odd_graphs[g], &odd_layers[l], methods[m][0]);
                cbx_counterfactual_free(c);
            }
            cbx_dataset_means_free(yard);
            oracle_free(&o);
        }
    CHECK(checked > 20);
}

/* ----------------------------------------------------------- what is refused */

typedef struct refusal {
    const char *what;
    float       value;
} refusal;

TEST(features_bounds_weights_and_parameters_that_are_no_numbers_are_refused)
{
    static const refusal bad[] = {{"NaN", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
    for (size_t i = 0; i < 3; i++) {
        oracle     o = odd_make(&odd_graphs[0], &odd_layers[0], false);
        cbx_error  err = {0};
        cbx_graph *g = NULL;
        float      x[12], weight[8], bound[3], parameter[1024];
        for (int k = 0; k < 12; k++)
            x[k] = k == 7 ? bad[i].value : 1;
        for (int k = 0; k < 1024; k++)
            parameter[k] = k == 7 ? bad[i].value : 1;
        for (int k = 0; k < 8; k++)
            weight[k] = k == 5 ? bad[i].value : 1;
        for (int k = 0; k < 3; k++)
            bound[k] = k == 1 ? bad[i].value : 1;
        cbx_graph_data d = o.data;
        d.x = x;
        CHECK_INT(cbx_graph_new(&d, &g, &err), CBX_INVALID);
        CHECK_CONTAINS(err.message, "feature 1 of node 2 is");
        d = o.data;
        d.edge_weight = weight;
        CHECK_INT(cbx_graph_new(&d, &g, &err), CBX_INVALID);
        CHECK_CONTAINS(err.message, "edge 5");
        d = o.data;
        d.feat_max = bound;
        CHECK_INT(cbx_graph_new(&d, &g, &err), CBX_INVALID);
        CHECK_CONTAINS(err.message, "feature 1");
        d = o.data;
        d.num_features = 0;
        CHECK_INT(cbx_graph_new(&d, &g, &err), CBX_INVALID);
        CHECK_CONTAINS(err.message, "at least one feature");
        const char *name;
        int32_t     rows, cols;
        CHECK(cbx_model_parameter(o.model, 0, &name, &rows, &cols) && rows * cols <= 1024);
        CHECK_INT(cbx_model_set(o.model, 0, parameter, rows * cols, &err), CBX_INVALID);
        CHECK_CONTAINS(err.message, "layers.0");
        CHECK_CONTAINS(err.message, "at 7");
        oracle_free(&o);
    }
}

TEST(one_class_is_nothing_to_tell_apart)
{
    oracle         o = odd_make(&odd_graphs[0], &odd_layers[0], false);
    cbx_graph_data d = o.data;
    cbx_graph     *g = NULL;
    cbx_model     *m = NULL;
    cbx_error      err = {0};
    int64_t        y[4] = {0};
    cbx_model_spec spec;
    cbx_fields_default(cbx_model_table(), &spec);
    d.num_classes = 1;
    d.y = y;
    CHECK_OK(cbx_graph_new(&d, &g, &err), err);
    CHECK_INT(cbx_model_new_with(g, &spec, 1, &m, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "at least two classes, the data has 1");
    CHECK(m == NULL);
    cbx_graph_free(g);
    oracle_free(&o);
}
