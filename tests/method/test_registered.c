/* SPDX-License-Identifier: Apache-2.0 */
/* Methods from outside: what they are given, what becomes of their answers, and what is refused. */
#include <string.h>

#include "../search/oracle.h"
#include "combinex/extend.h"
#include "test.h"

typedef struct settings {
    int64_t take;
    double  weight;
} settings;

static const cbx_option options[] = {
    {"taker-take", CBX_OPTION_INT, offsetof(settings, take), "1", 0, 9, NULL, "edges to take"},
    {"taker-weight", CBX_OPTION_REAL, offsetof(settings, weight), "0.5", 0, 1, NULL, "any"},
};
static const cbx_option_table table = {"Taker", options, 2, sizeof(settings), NULL};

/* What the last search saw. */
static struct {
    cbx_method_task task;
    settings        settings;
    bool            flips;
    int             searches;
} seen;

static cbx_status take_some(cbx_method_search *search, const cbx_method_task *task, cbx_error *err)
{
    float logp[8];
    seen.task = *task;
    memcpy(&seen.settings, task->settings, sizeof seen.settings);
    seen.searches++;
    if (cbx_method_should_stop(search, seen.searches))
        return CBX_OK;
    cbx_status status =
        cbx_method_try(search, task->removals, seen.settings.take, logp, &seen.flips, err);
    return status ? status : cbx_method_answer(search, task->removals, seen.settings.take, 3, err);
}

static const cbx_method taker = {
    .size = sizeof taker, .name = "taker", .options = &table, .search = take_some, .user = &seen};

/* Registered once for all tests, as a program does. */
static void be_registered(void)
{
    static bool is;
    cbx_error   err = {0};
    if (!is)
        CHECK_OK(cbx_method_register(&taker, &err), err);
    is = true;
}

static cbx_options *asking(const char *const (*pairs)[2])
{
    cbx_options *o = NULL;
    cbx_error    err = {0};
    be_registered();
    CHECK_OK(cbx_options_new(cbx_explain_table(), &o, &err), err);
    CHECK_OK(cbx_options_set(o, "explainer", "taker", &err), err);
    CHECK_OK(cbx_options_set(o, "target", "any", &err), err);
    for (; pairs && (*pairs)[0]; pairs++)
        CHECK_OK(cbx_options_set(o, (*pairs)[0], (*pairs)[1], &err), err);
    return o;
}

static cbx_model *karate_model(cbx_graph **graph)
{
    cbx_model *model = NULL;
    cbx_error  err = {0};
    CHECK_OK(cbx_graph_builtin("karate", NULL, graph, &err), err);
    CHECK_OK(cbx_model_new(*graph, NULL, 1, &model, &err), err);
    return model;
}

TEST(a_method_from_outside_is_asked_and_its_answer_is_judged_by_the_library)
{
    static const char *const three[][2] = {{"taker_take", "3"}, {"seed", "5"}, {NULL, NULL}};
    cbx_graph               *graph = NULL;
    cbx_model               *model = karate_model(&graph);
    cbx_options             *o = asking(three);
    cbx_counterfactual      *r = NULL;
    cbx_error                err = {0};
    CHECK_OK(cbx_explain(model, graph, 8, o, NULL, NULL, &r, &err), err);
    CHECK_INT(seen.task.row, 8);
    CHECK_INT(seen.task.seed, 5);
    CHECK_INT(seen.task.target, -1);
    CHECK_INT(seen.task.prediction, r->prediction);
    CHECK_INT(seen.task.num_removals, r->num_removable);
    CHECK(seen.task.user == &seen);
    CHECK_INT(seen.settings.take, 3);
    CHECK_NEAR(seen.settings.weight, 0.5, 0);
    CHECK_INT(r->outcome, seen.flips ? CBX_FOUND : CBX_NOT_FOUND);
    if (seen.flips)
        CHECK_INT(r->num_edits, 3);
    char *line = cbx_counterfactual_json(r, graph, o, NULL, NULL);
    CHECK(line && strstr(line, "\"taker-take\":3"));
    free(line);
    cbx_counterfactual_free(r);
    cbx_options_free(o);
    cbx_model_free(model);
    cbx_graph_free(graph);
}

/* Two of the same pair would be one edit, and `num_edits` less. */
static cbx_status take_all(cbx_method_search *search, const cbx_method_task *task, cbx_error *err)
{
    for (int64_t i = 0; i < task->num_removals; i++)
        for (int64_t k = 0; k < i; k++)
            CHECK(task->removals[i].source != task->removals[k].source ||
                  task->removals[i].target != task->removals[k].target);
    return cbx_method_answer(search, task->removals, task->num_removals, 0, err);
}

TEST(every_removal_that_a_method_is_offered_is_another)
{
    static const cbx_method  all = {.size = sizeof all, .name = "all", .search = take_all};
    static const char *const modes[] = {"directed", "undirected"};
    cbx_graph               *graph = NULL;
    cbx_model               *model = karate_model(&graph);
    cbx_error                err = {0};
    CHECK_OK(cbx_method_register(&all, &err), err);
    for (int i = 0; i < 2; i++) {
        cbx_counterfactual *r = NULL;
        cbx_options        *o = asking(NULL);
        CHECK_OK(cbx_options_set(o, "explainer", "all", &err), err);
        CHECK_OK(cbx_options_set(o, "edges", modes[i], &err), err);
        CHECK_OK(cbx_explain(model, graph, 8, o, NULL, NULL, &r, &err), err);
        CHECK(r->outcome != CBX_FOUND || r->num_edges_removed == r->num_removable);
        cbx_counterfactual_free(r);
        cbx_options_free(o);
    }
    cbx_model_free(model);
    cbx_graph_free(graph);
}

TEST(options_of_a_method_are_options_like_others)
{
    cbx_options *o = asking(NULL);
    cbx_error    err = {0};
    char         text[32];
    CHECK(cbx_options_get(o, "taker-weight", text, sizeof text) && !strcmp(text, "0.5"));
    CHECK(cbx_options_is_default(o, "taker-weight"));
    CHECK_INT(cbx_options_set(o, "taker-weight", "2", &err), CBX_INVALID);
    CHECK(!strcmp(err.message, "taker_weight: 2 is out of range: 0 to 1"));
    CHECK_INT(cbx_options_set(o, "taker-weigth", "1", &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "did you mean 'taker-weight'?");
    const cbx_option *last = NULL, *option;
    for (size_t i = 0; (option = cbx_option_at(cbx_explain_table(), i)); i++)
        last = option;
    CHECK(last && !strcmp(last->name, "taker-weight"));
    cbx_options_free(o);
}

static void refused(cbx_method method, const char *why)
{
    cbx_error err = {0};
    CHECK_INT(cbx_method_register(&method, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, why);
}

/* A table in a table, without end. */
static const cbx_option_table *itself(size_t i, size_t *offset)
{
    static const cbx_option_table part = {"Part", NULL, 0, 0, itself};
    *offset = 0;
    return i ? NULL : &part;
}

TEST(what_cannot_be_a_method_is_refused)
{
    static const cbx_option       taken[] = {{"epochs", CBX_OPTION_INT, 0, "1", 0, 9, NULL, "x"}};
    static const cbx_option_table hides = {"Hides", taken, 1, sizeof(int64_t), NULL};
    static const cbx_option_table large = {"Large", options, 2, CBX_METHODS_OPTIONS + 1, NULL};
    static const cbx_option_table parted = {"Parted", taken, 0, sizeof(int64_t), itself};
    cbx_method                    m = taker;
    be_registered();
    refused(m, "there is a method 'taker' already");
    m.name = "minimal";
    refused(m, "there is a method 'minimal' already");
    m.name = NULL;
    refused(m, "needs a name and a search function");
    m.name = "other";
    m.search = NULL;
    refused(m, "needs a name and a search function");
    m.search = take_some;
    refused(m, "there is an option 'taker-take' already");
    m.options = &hides;
    refused(m, "there is an option 'epochs' already");
    m.options = &large;
    refused(m, "its options take 4097 bytes");
    m.options = &parted;
    refused(m, "its options are in parts");
    m.options = NULL;
    m.size = 8;
    refused(m, "was built for another version");
}
