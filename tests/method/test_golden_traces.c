/* SPDX-License-Identifier: Apache-2.0 */
/* Every epoch of the search against traces made with an independent program.
 *
 * tests/golden/traces holds those on small graphs and built-in data, so that
 * every user checks them; the shared folder, where present, has more. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "parsed.h"

static double number(const cbx_json *o, const char *key)
{
    return number_of(cbx_json_get(o, key));
}

/* Relative to the value, with a floor so that 0 may be 1e-9. */
static bool near(double actual, double expected, double tolerance)
{
    return fabs(actual - expected) <= tolerance * fmax(fabs(expected), 1e-4);
}

static bool check_epoch(const cbx_epoch *e, const cbx_json *g, int64_t t)
{
    double tolerance = t < 50 ? 1e-4 : 1e-3;
    bool   ok = near(e->loss, number(g, "loss"), tolerance) &&
              near(e->edge_loss, number(g, "edge_loss"), tolerance) &&
              near(e->feature_loss, number(g, "feature_loss"), tolerance) &&
              near(e->alpha, number(g, "alpha"), 1e-9) && e->eta == number(g, "eta") &&
              e->hit == is_true(cbx_json_get(g, "hit"));
    if (!ok)
        printf(
            "  epoch %lld: loss %.7g (%.7g) edges %.7g (%.7g) features %.7g (%.7g) alpha %g (%g)\n",
            (long long)t, e->loss, number(g, "loss"), e->edge_loss, number(g, "edge_loss"),
            e->feature_loss, number(g, "feature_loss"), e->alpha, number(g, "alpha"));
    return ok;
}

/* Is `few` within 2, or 0.1 %, of `many`? Values on the edge of rounding may fall either way. */
static bool negligible(int64_t few, int64_t many)
{
    return few <= 2 || (double)few <= 0.001 * (double)many;
}

static void check_log_probs(const float *actual, const cbx_json *expected, int32_t classes)
{
    double worst = 0;
    CHECK_INT(count_of(expected), classes);
    for (int32_t k = 0; k < classes; k++) {
        double e = number_of(cbx_json_at(expected, (size_t)k));
        worst = fmax(worst, fabs((double)actual[k] - e) / fmax(fabs(e), 1));
    }
    CHECK(worst <= 1e-3);
}

static bool removes(const cbx_edit *e, int64_t source, int64_t target)
{
    return e->op == CBX_REMOVE_EDGE &&
           ((e->source == source && e->target == target) ||
            (e->undirected && e->source == target && e->target == source));
}

static int64_t entry(const cbx_json *list, size_t i)
{
    return (int64_t)number_of(cbx_json_at(list, i));
}

static void check_removed(const cbx_counterfactual *r, const cbx_json *expected)
{
    int64_t count = count_of(expected), missing = 0, k;
    for (const cbx_json *ends = cbx_json_at(expected, 0); ends; ends = ends->next) {
        for (k = 0; k < r->num_edits && !removes(&r->edits[k], entry(ends, 0), entry(ends, 1)); k++)
            ;
        missing += k == r->num_edits;
    }
    CHECK(negligible(missing, count));
    CHECK(negligible(llabs(r->trace[r->epoch].removed_edges - count), count));
}

/* [node, feature, from, to] of each changed value, where the trace has them. */
static void check_changes(const cbx_counterfactual *r, const cbx_json *expected)
{
    int64_t count = count_of(expected), missing = 0;
    for (const cbx_json *c = cbx_json_at(expected, 0); c; c = c->next) {
        double to = number_of(cbx_json_at(c, 3));
        bool   met = false;
        for (int64_t k = 0; k < r->num_edits && !met; k++) {
            const cbx_edit *e = &r->edits[k];
            met = e->op == CBX_SET_FEATURE && e->node == entry(c, 0) && e->feature == entry(c, 1) &&
                  fabs((double)e->to - to) <= 1e-3 * fmax(fabs(to), 1);
        }
        missing += !met;
    }
    CHECK(negligible(missing, count));
}

static void check_result(const cbx_counterfactual *r, const cbx_json *g)
{
    const cbx_json *trace = cbx_json_get(g, "trace");
    bool            found = is_true(cbx_json_get(g, "found"));
    CHECK_INT(r->num_nodes, (int64_t)number(g, "nodes"));
    CHECK_INT(r->num_edges, (int64_t)number(g, "edges"));
    CHECK_INT(r->prediction, (int64_t)number(g, "prediction"));
    CHECK_INT(r->target, (int64_t)number(g, "target"));
    CHECK_INT(r->outcome, found ? CBX_FOUND : CBX_NOT_FOUND);
    check_log_probs(r->before, cbx_json_get(g, "log_probs"), r->num_classes);
    CHECK_INT(r->num_trace, count_of(trace));
    const cbx_json *epoch = cbx_json_at(trace, 0);
    for (int64_t t = 0; t < r->num_trace && epoch; t++, epoch = epoch->next)
        if (!CHECK(check_epoch(&r->trace[t], epoch, t)))
            break;
    if (!found || r->outcome != CBX_FOUND)
        return;
    int64_t changed = (int64_t)number(g, "changed_features");
    CHECK(negligible(llabs(r->num_features_changed - changed), changed));
    check_removed(r, cbx_json_get(g, "removed_edges"));
    check_changes(r, cbx_json_get(g, "changes"));
    check_log_probs(r->after, cbx_json_get(g, "cf_log_probs"), r->num_classes);
}

/* Sets the option that `key` of the trace names, where it names one. */
static void set_option(cbx_explain_options *o, const char *option, const cbx_json *g,
                       const char *key)
{
    const cbx_json *value = cbx_json_get(g, key);
    char            text[64];
    cbx_error       err = {0};
    if (!value)
        return;
    if (is_number(value))
        (void)cbx_print(text, sizeof text, "%.17g", number_of(value));
    const char *given = value->text ? value->text : text;
    CHECK_OK(cbx_fields_set(cbx_explain_table(), o, option, given, &err), err);
}

static void explain(const cbx_graph *graph, const char *model_path, const cbx_json *g,
                    bool undirected)
{
    cbx_model          *model = NULL;
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    cbx_explain_options o;
    bool                node = is_integer(cbx_json_get(g, "node"));
    cbx_fields_default(cbx_explain_table(), &o);
    o.target = "next";
    CHECK_INT(cbx_explain_preset_with(&o, "paper", NULL), CBX_OK);
    o.trace = true;
    o.edges = undirected;
    set_option(&o, "policy", g, "policy");
    set_option(&o, "epochs", g, "epochs");
    set_option(&o, "optimiser", g, "optimiser");
    set_option(&o, "lr", g, "lr");
    set_option(&o, "momentum", g, "momentum");
    set_option(&o, "edges", g, "edge_mode"); /* "edges" is a number of edges there */
    set_option(&o, "target", g, "target_option");
    set_option(&o, "explainer", g, "explainer");
    set_option(&o, "seed", g, "seed");
    set_option(&o, "cf-gnn-pull", g, "cf_gnn_pull");
    set_option(&o, "cf-gnn-distance", g, "cf_gnn_distance");
    set_option(&o, "cff-complement", g, "cff_complement");
    set_option(&o, "cff-scores", g, "cff_scores");
    set_option(&o, "unr-rollouts", g, "unr_rollouts");
    if (CHECK_OK(cbx_model_load(model_path, &model, &err), err) &&
        CHECK_OK(cbx_explain_with(model, graph, (int32_t)number(g, node ? "node" : "graph"), &o,
                                  NULL, NULL, &r, &err),
                 err))
        check_result(r, g);
    cbx_counterfactual_free(r);
    cbx_model_free(model);
}

/* FOLDER/NAME.safetensors, or the built-in of that name where there is no such file. */
static cbx_graph *open_graph(const char *folder, const char *name)
{
    char       path[1024];
    cbx_graph *graph = NULL;
    cbx_error  err = {0};
    (void)snprintf(path, sizeof path, "%s/%s.safetensors", folder, name);
    FILE      *file = fopen(path, "rb");
    cbx_status status = file ? cbx_graph_load(path, &graph, &err)
                             : cbx_graph_builtin_with(name, NULL, &graph, &err);
    if (file)
        (void)fclose(file);
    CHECK_OK(status, err);
    return graph;
}

/* Where "-nNODE" or "-gGRAPH" starts. */
static const char *find_number(const char *file)
{
    for (const char *at = file; (at = strchr(at, '-')); at++)
        if ((at[1] == 'n' || at[1] == 'g') && at[2] >= '0' && at[2] <= '9')
            return at;
    return NULL;
}

/* NAME-MODEL-nNODE-METHOD[-undirected].json, beside NAME-MODEL.model.safetensors;
 * the graph is DATA/NAME.safetensors, or built in. */
static void check_file(const char *folder, const char *data, const char *file)
{
    char        path[1024], model[1024], stem[256];
    const char *cut = find_number(file);
    (void)snprintf(stem, sizeof stem, "%.*s", cut ? (int)(cut - file) : 0, file);
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    (void)snprintf(model, sizeof model, "%s/%s.model.safetensors", folder, stem);
    char *dash = strrchr(stem, '-');
    if (!CHECK(dash != NULL))
        return;
    *dash = '\0';
    int             before = test_failures();
    cbx_arena       arena = {0};
    const cbx_json *g = parsed_file(&arena, path);
    cbx_graph      *graph = open_graph(data, stem);
    if (g && graph)
        explain(graph, model, g, strstr(file, "-undirected") != NULL);
    if (test_failures() > before)
        printf("  (%s)\n", file);
    cbx_graph_free(graph);
    cbx_arena_free(&arena);
}

static int check_folder(const char *folder, const char *data, const char *prefix)
{
    DIR *dir = folder ? opendir(folder) : NULL;
    int  checked = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        size_t length = strlen(e->d_name);
        if (strncmp(e->d_name, prefix, strlen(prefix)) != 0 || length < 6 ||
            strcmp(e->d_name + length - 5, ".json") != 0)
            continue;
        check_file(folder, data, e->d_name);
        checked++;
    }
    if (dir)
        (void)closedir(dir);
    return checked;
}

static void check_shared(const char *prefix, int least)
{
    const char *folder = test_shared("golden"), *data = test_shared("data");
    if (!folder || !data) {
        test_skip("the shared traces are not here");
        return;
    }
    CHECK(check_folder(folder, data, prefix) >= least);
}

static void check_committed(const char *prefix, int least)
{
    const char *folder = test_source("tests/golden/traces");
    CHECK(check_folder(folder, folder, prefix) >= least);
}

TEST(traces_on_built_in_data_agree)
{
    check_committed("karate", 61);
}

TEST(traces_on_a_directed_graph_with_self_loops_agree)
{
    check_committed("loops", 14);
}

TEST(traces_on_a_graph_with_edge_weights_agree)
{
    check_committed("weighted", 12);
}

TEST(traces_with_discrete_and_continuous_features_agree)
{
    check_committed("mixed", 13);
}

TEST(traces_with_maxima_of_real_numbers_agree)
{
    check_committed("reals", 2);
}

TEST(traces_with_sparse_features_agree)
{
    check_committed("sparse", 11);
}

TEST(traces_on_small_graph_tasks_agree)
{
    check_committed("groups", 11);
}

TEST(traces_on_karate_with_gcn_agree)
{
    check_shared("karate-gcn", 20);
}

TEST(traces_on_karate_with_cheb_agree)
{
    check_shared("karate-cheb", 8);
}

TEST(traces_on_karate_with_graphconv_agree)
{
    check_shared("karate-graphconv", 6);
}

TEST(traces_on_citeseer_agree)
{
    check_shared("citeseer", 6);
}

TEST(traces_on_cornell_agree)
{
    check_shared("cornell", 8);
}

TEST(traces_on_graph_tasks_agree)
{
    check_shared("AIDS", 8);
    check_shared("ENZYMES", 2);
}
