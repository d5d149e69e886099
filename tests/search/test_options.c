/* SPDX-License-Identifier: Apache-2.0 */
/* The options of explaining: defaults, names, presets. */
#include <string.h>

#include "explainer.h"
#include "rule_options.h"
#include "test.h"

/* A struct full of rubbish, then defaults. */
static cbx_explain_options defaults(void)
{
    cbx_explain_options o;
    memset(&o, 0x55, sizeof o);
    cbx_fields_default(cbx_explain_table(), &o);
    return o;
}

static bool same(const cbx_explain_options *a, const cbx_explain_options *b)
{
    return a->explainer == b->explainer && !strcmp(a->target, b->target) &&
           a->policy == b->policy && a->alpha == b->alpha && a->decay == b->decay &&
           a->epochs == b->epochs && a->learning_rate == b->learning_rate &&
           a->optimiser == b->optimiser && a->edges == b->edges && a->kinds == b->kinds &&
           a->time_limit == b->time_limit;
}

TEST(defaults_are_minimal_answers_and_otherwise_the_published_settings)
{
    cbx_explain_options o = defaults(), minimal = o;
    CHECK(!strcmp(cbx_explainer_at(o.explainer)->name, "minimal"));
    CHECK(!strcmp(o.target, "any"));
    CHECK_INT(cbx_explain_preset_with(&minimal, "minimal", NULL), CBX_OK);
    CHECK(same(&o, &minimal));
    CHECK(!cbx_rules_are_given(&o));
    CHECK_INT(cbx_explain_preset_with(&o, "paper", NULL), CBX_OK);
    CHECK(!strcmp(cbx_explainer_at(o.explainer)->name, "combinex"));
    CHECK(!strcmp(o.target, "next"));
    CHECK_INT(o.policy, 0);
    CHECK_NEAR(o.alpha, 1, 0);
    CHECK_NEAR(o.decay, 0.1, 0);
    CHECK_INT(o.epochs, 500);
    CHECK_NEAR(o.learning_rate, 0.1, 0);
    CHECK_INT(o.optimiser, 0);
    CHECK_NEAR(o.momentum, 0, 0);
    CHECK_INT(o.edges, CBX_EDGES_DIRECTED);
    CHECK_INT(o.kinds, 0);
    CHECK_NEAR(o.time_limit, 500, 0);
    CHECK_INT(o.threads, 0);
    CHECK_INT(o.seed, 0);
    CHECK_INT(o.trace, false);
}

TEST(the_rivals_defaults_are_those_of_their_definitions)
{
    cbx_explain_options o = defaults();
    CHECK_NEAR(o.random_keep, 0.5, 0);
    CHECK_NEAR(o.cf_gnn_beta, 0.5, 0);
    CHECK_NEAR(o.cf_gnn_clip, 2, 0);
    CHECK_INT(o.cf_gnn_distance, CBX_DISTANCE_SOFT);
    CHECK_INT(o.cf_gnn_pull, CBX_PULL_TARGET);
    CHECK_NEAR(o.cff_lr, 0.05, 0);
    CHECK_NEAR(o.cff_lambda, 0.5, 0);
    CHECK_NEAR(o.cff_alpha, 0.5, 0);
    CHECK_NEAR(o.cff_gamma, 0.5, 0);
    CHECK_INT(o.cff_complement, CBX_COMPLEMENT_MASKED);
    CHECK_INT(o.cff_scores, CBX_SCORES_LOG);
    CHECK(o.unr_neighbours == 5 && o.unr_rollouts == 1000 && o.unr_expansion == 0);
    CHECK_NEAR(o.unr_exploration, 1, 0);
    CHECK_NEAR(o.unr_restart, 0.2, 0);
}

TEST(presets_of_cf_gnn_are_what_its_authors_ran)
{
    static const char *const names[] = {"cf-gnn-trees", "cf-gnn-ba-shapes"};
    for (int i = 0; i < 2; i++) {
        cbx_explain_options o = defaults();
        cbx_error           err = {0};
        CHECK_OK(cbx_explain_preset_with(&o, names[i], &err), err);
        CHECK(!strcmp(cbx_explainer_names[o.explainer], "cf-gnn") && !strcmp(o.target, "any"));
        CHECK(o.optimiser == CBX_OPTIMISER_SGD && o.edges == CBX_EDGES_UNDIRECTED);
        CHECK_NEAR(o.learning_rate, i ? 0.01 : 0.1, 0);
        CHECK_NEAR(o.momentum, i ? 0.9 : 0, 0);
        CHECK(o.epochs == 500 && o.cf_gnn_beta == 0.5 && o.cf_gnn_clip == 2);
        CHECK(o.cf_gnn_pull == CBX_PULL_AWAY && o.cf_gnn_distance == CBX_DISTANCE_HARD);
    }
}

TEST(every_choice_has_its_number)
{
    static const struct {
        const char *option, *names[8];
        size_t      offset;
    } choices[] = {
        {"policy",
         {"linear", "exponential", "sinusoidal", "dynamic", "constant", "features", "edges"},
         offsetof(cbx_explain_options, policy)},
        {"optimiser", {"adam", "sgd", "adadelta"}, offsetof(cbx_explain_options, optimiser)},
        {"edges", {"directed", "undirected"}, offsetof(cbx_explain_options, edges)},
        {"kinds", {"data", "auto"}, offsetof(cbx_explain_options, kinds)},
        {"explainer",
         {"combinex", "random-edges", "random-features", "ego", "cf-gnn", "cff", "unr", "minimal"},
         offsetof(cbx_explain_options, explainer)},
        {"cf-gnn-distance", {"soft", "hard"}, offsetof(cbx_explain_options, cf_gnn_distance)},
        {"cf-gnn-pull", {"target", "away"}, offsetof(cbx_explain_options, cf_gnn_pull)},
        {"cff-complement", {"masked", "whole"}, offsetof(cbx_explain_options, cff_complement)},
        {"cff-scores", {"log", "probability"}, offsetof(cbx_explain_options, cff_scores)},
    };
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        for (int k = 0; k < 8 && choices[i].names[k]; k++) {
            cbx_explain_options o = defaults();
            cbx_error           err = {0};
            CHECK_OK(cbx_fields_set(cbx_explain_table(), &o, choices[i].option, choices[i].names[k],
                                    &err),
                     err);
            CHECK_INT(*(const int *)((const char *)&o + choices[i].offset), k);
        }
}

TEST(the_paper_preset_sets_the_published_settings_and_leaves_the_rest)
{
    cbx_explain_options o, d = defaults();
    cbx_error           err = {0};
    d.explainer = 0; /* what defaults are otherwise */
    d.target = "next";
    d.edges = CBX_EDGES_DIRECTED;
    memset(&o, 0, sizeof o);
    o.target = "any";
    o.policy = 3;
    o.epochs = 7;
    o.threads = 3;
    o.seed = 11;
    o.trace = true;
    CHECK_OK(cbx_explain_preset_with(&o, "paper", &err), err);
    CHECK(same(&o, &d));
    CHECK(o.threads == 3 && o.seed == 11 && o.trace);
}

TEST(presets_have_names_and_each_gives_options_that_hold)
{
    size_t i = 0;
    CHECK(!strcmp(cbx_explain_preset_name(0), "paper"));
    for (; cbx_explain_preset_name(i); i++) {
        cbx_explain_options o = defaults();
        cbx_error           err = {0};
        CHECK_OK(cbx_explain_preset_with(&o, cbx_explain_preset_name(i), &err), err);
        CHECK_OK(cbx_fields_check(cbx_explain_table(), &o, &err), err);
    }
    CHECK(cbx_explain_preset_name(i) == NULL && cbx_explain_preset_name(i + 100) == NULL);
}

TEST(an_unknown_preset_is_refused_and_changes_nothing)
{
    cbx_explain_options o = defaults(), before = o;
    cbx_error           err = {0};
    CHECK_INT(cbx_explain_preset_with(&o, "papers", &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "'papers'");
    CHECK_CONTAINS(err.message, "'paper'");
    CHECK(same(&o, &before));
    CHECK_INT(cbx_explain_preset_with(&o, "", NULL), CBX_INVALID);
}

TEST(every_explainer_of_the_table_is_there)
{
    int i = 0;
    for (; cbx_explainer_names[i]; i++) {
        const cbx_explainer *e = cbx_explainer_at(i);
        if (CHECK(e != NULL))
            CHECK(!strcmp(e->name, cbx_explainer_names[i]) && e->search);
    }
    CHECK(i >= 1);
    CHECK(cbx_explainer_at(i) == NULL && cbx_explainer_at(-1) == NULL);
}
