/* SPDX-License-Identifier: Apache-2.0 */
/* The options of explaining: defaults, names, presets. */
#include <string.h>

#include "explainer.h"
#include "test.h"

/* A struct full of rubbish, then defaults. */
static cbx_explain_options defaults(void)
{
    cbx_explain_options o;
    memset(&o, 0x55, sizeof o);
    cbx_options_default(cbx_explain_table(), &o);
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

TEST(defaults_are_the_published_settings)
{
    cbx_explain_options o = defaults();
    CHECK_INT(o.explainer, 0);
    CHECK(!strcmp(o.target, "next"));
    CHECK_INT(o.policy, 0);
    CHECK_NEAR(o.alpha, 1, 0);
    CHECK_NEAR(o.decay, 0.1, 0);
    CHECK_INT(o.epochs, 500);
    CHECK_NEAR(o.learning_rate, 0.1, 0);
    CHECK_INT(o.optimiser, 0);
    CHECK_NEAR(o.momentum, 0, 0);
    CHECK_INT(o.edges, 0);
    CHECK_INT(o.kinds, 0);
    CHECK_NEAR(o.time_limit, 500, 0);
    CHECK_INT(o.threads, 0);
    CHECK_INT(o.seed, 0);
    CHECK_INT(o.trace, false);
}

TEST(every_choice_has_its_number)
{
    static const struct {
        const char *option, *names[7];
        size_t      offset;
    } choices[] = {
        {"policy",
         {"linear", "exponential", "sinusoidal", "dynamic", "constant", "features", "edges"},
         offsetof(cbx_explain_options, policy)},
        {"optimiser", {"adam", "sgd", "adadelta"}, offsetof(cbx_explain_options, optimiser)},
        {"edges", {"directed", "undirected"}, offsetof(cbx_explain_options, edges)},
        {"kinds", {"data", "auto"}, offsetof(cbx_explain_options, kinds)},
        {"explainer", {"combinex"}, offsetof(cbx_explain_options, explainer)},
    };
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        for (int k = 0; k < 7 && choices[i].names[k]; k++) {
            cbx_explain_options o = defaults();
            cbx_error           err = {0};
            CHECK_OK(cbx_options_set(cbx_explain_table(), &o, choices[i].option,
                                     choices[i].names[k], &err),
                     err);
            CHECK_INT(*(const int *)((const char *)&o + choices[i].offset), k);
        }
}

TEST(the_paper_preset_sets_the_published_settings_and_leaves_the_rest)
{
    cbx_explain_options o, d = defaults();
    cbx_error           err = {0};
    memset(&o, 0, sizeof o);
    o.target = "any";
    o.policy = 3;
    o.epochs = 7;
    o.threads = 3;
    o.seed = 11;
    o.trace = true;
    CHECK_OK(cbx_explain_preset(&o, "paper", &err), err);
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
        CHECK_OK(cbx_explain_preset(&o, cbx_explain_preset_name(i), &err), err);
        CHECK_OK(cbx_options_check(cbx_explain_table(), &o, &err), err);
    }
    CHECK(cbx_explain_preset_name(i) == NULL && cbx_explain_preset_name(i + 100) == NULL);
}

TEST(an_unknown_preset_is_refused_and_changes_nothing)
{
    cbx_explain_options o = defaults(), before = o;
    cbx_error           err = {0};
    CHECK_INT(cbx_explain_preset(&o, "papers", &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "'papers'");
    CHECK_CONTAINS(err.message, "'paper'");
    CHECK(same(&o, &before));
    CHECK_INT(cbx_explain_preset(&o, "", NULL), CBX_INVALID);
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
