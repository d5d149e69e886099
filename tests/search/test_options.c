/* SPDX-License-Identifier: Apache-2.0 */
/* The options of explaining: defaults, names, presets. */
#include <stdio.h>
#include <string.h>

#include "explainer.h"
#include "rule_options.h"
#include "own_options.h"
#include "test.h"

/* A struct full of rubbish, then defaults. */
static cbx_explain_options defaults(void)
{
    cbx_explain_options o;
    memset(&o, 0x55, sizeof o);
    cbx_fields_default(cbx_explain_table(), &o);
    return o;
}

/* As far as the published settings go. */
static bool same(const cbx_explain_options *a, const cbx_explain_options *b)
{
    static const char *const names[] = {"explainer", "target", "policy",    "alpha",
                                        "decay",     "epochs", "lr",        "optimiser",
                                        "edges",     "kinds",  "time-limit"};
    bool                     all = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        all = all && same_option(a, b, names[i]);
    return all;
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
    CHECK(option_is(&o, "policy", "linear") && option_is(&o, "alpha", "1"));
    CHECK(option_is(&o, "decay", "0.1") && option_is(&o, "select", "loss"));
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
    cbx_explain_options      o = defaults();
    static const char *const rivals[][2] = {
        {"random-keep", "0.5"},       {"cf-gnn-beta", "0.5"},    {"cf-gnn-clip", "2"},
        {"cf-gnn-distance", "soft"},  {"cf-gnn-pull", "target"}, {"cff-lr", "0.05"},
        {"cff-lambda", "0.5"},        {"cff-alpha", "0.5"},      {"cff-gamma", "0.5"},
        {"cff-complement", "masked"}, {"cff-scores", "log"},     {"unr-neighbours", "5"},
        {"unr-rollouts", "1000"},     {"unr-expansion", "0"},    {"unr-exploration", "1"},
        {"unr-restart", "0.2"}};
    for (size_t i = 0; i < sizeof rivals / sizeof *rivals; i++)
        if (!CHECK(option_is(&o, rivals[i][0], rivals[i][1])))
            printf("  (%s)\n", rivals[i][0]);
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
        CHECK_INT(o.epochs, 500);
        CHECK(option_is(&o, "cf-gnn-beta", "0.5") && option_is(&o, "cf-gnn-clip", "2"));
        CHECK(option_is(&o, "cf-gnn-pull", "away") && option_is(&o, "cf-gnn-distance", "hard"));
    }
}

TEST(every_choice_has_its_number)
{
    static const struct {
        const char *option, *names[8];
        size_t      offset;
    } choices[] = {
        {"optimiser", {"adam", "sgd", "adadelta"}, offsetof(cbx_explain_options, optimiser)},
        {"edges", {"directed", "undirected"}, offsetof(cbx_explain_options, edges)},
        {"kinds", {"data", "auto"}, offsetof(cbx_explain_options, kinds)},
        {"explainer",
         {"combinex", "random-edges", "random-features", "ego", "cf-gnn", "cff", "unr", "minimal"},
         offsetof(cbx_explain_options, explainer)},
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
    set_option(&o, "policy", "dynamic");
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

TEST(each_method_brings_its_options_and_no_two_have_a_name)
{
    const cbx_option *a, *b;
    size_t            used = offsetof(cbx_explain_options, own), offset;
    for (size_t i = 0; (a = cbx_option_at(cbx_explain_table(), i)); i++)
        for (size_t k = 0; k < i && (b = cbx_option_at(cbx_explain_table(), k)); k++)
            if (!CHECK(strcmp(a->name, b->name) != 0))
                printf("  (%s)\n", a->name);
    const cbx_option_table *part;
    for (size_t i = 0; (part = cbx_explainer_part(i, &offset)); i++) {
        CHECK_INT(offset, used); /* one behind the other, none upon another */
        used = offset + (part->size + 15) / 16 * 16;
    }
    CHECK(used - offsetof(cbx_explain_options, own) <= CBX_OWN_OPTIONS);
    for (int i = 0; cbx_explainer_at(i); i++) {
        const cbx_explainer *e = cbx_explainer_at(i);
        CHECK((cbx_explainer_settings(e, &(cbx_explain_options){0}) != NULL) ==
              (e->options != NULL));
    }
}
