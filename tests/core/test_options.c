/* SPDX-License-Identifier: Apache-2.0 */
/* Options: every type set from text, every way of being wrong, and the message
 * that names the option, the value and what was expected. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "option_table.h"
#include "test.h"

typedef struct sample {
    int64_t     epochs;
    double      rate;
    bool        quiet;
    int         model;
    const char *name;
    const char *label;
    int64_t     seed;
    double      scale;
    int64_t     any;
} sample;

static const char *const models[] = {"gcn", "cheb", "graphconv", NULL};

static const cbx_option options[] = {
    {"epochs", CBX_OPTION_INT, offsetof(sample, epochs), "500", 1, 1000, NULL, "rounds"},
    {"rate", CBX_OPTION_REAL, offsetof(sample, rate), "0.25", -1, 2.5, NULL, "step"},
    {"quiet", CBX_OPTION_BOOL, offsetof(sample, quiet), "true", 0, 0, NULL, "say nothing"},
    {"model", CBX_OPTION_CHOICE, offsetof(sample, model), "cheb", 0, 0, models, "kind"},
    {"name", CBX_OPTION_TEXT, offsetof(sample, name), NULL, 0, 0, NULL, "any"},
    {"label", CBX_OPTION_TEXT, offsetof(sample, label), "none", 0, 0, NULL, "any"},
    {"seed", CBX_OPTION_INT, offsetof(sample, seed), "0", 0, 9e18, NULL, "no upper end"},
    {"scale", CBX_OPTION_REAL, offsetof(sample, scale), "1", 0, DBL_MAX, NULL, "no upper end"},
    {"any", CBX_OPTION_INT, offsetof(sample, any), "0", -1e19, 1e19, NULL, "no end at all"},
};

static const cbx_option_table table = {
    .title = "Sample", .options = options, .count = sizeof options / sizeof *options};

static sample defaults(void)
{
    sample s;
    memset(&s, 0x5a, sizeof s);
    cbx_fields_default(&table, &s);
    return s;
}

static cbx_status set(sample *s, const char *name, const char *value)
{
    cbx_error  err = {0};
    cbx_status status = cbx_fields_set(&table, s, name, value, &err);
    if (status)
        printf("  %s\n", err.message);
    return status;
}

/* Setting fails, changes nothing, and says `why` along with the name and value. */
static void refused(const char *name, const char *value, const char *why)
{
    sample    s = defaults(), before;
    cbx_error err = {0};
    char      option[64];
    memcpy(&before, &s, sizeof s);
    (void)snprintf(option, sizeof option, "%s: ", name);
    CHECK_INT(cbx_fields_set(&table, &s, name, value, &err), CBX_INVALID);
    CHECK_INT(err.status, CBX_INVALID);
    CHECK(!strncmp(err.message, option, strlen(option)));
    CHECK(!strcmp(err.option, name));
    CHECK_CONTAINS(err.message, value);
    CHECK_CONTAINS(err.message, why);
    CHECK(!memcmp(&s, &before, sizeof s));
    CHECK_INT(cbx_fields_set(&table, &s, name, value, NULL), CBX_INVALID);
}

TEST(defaults_fill_every_field)
{
    sample s = defaults();
    CHECK_INT(s.epochs, 500);
    CHECK_NEAR(s.rate, 0.25, 0);
    CHECK(s.quiet);
    CHECK_INT(s.model, 1);
    CHECK(s.name == NULL);
    CHECK(!strcmp(s.label, "none"));
    CHECK_INT(s.seed, 0);
    CHECK_NEAR(s.scale, 1, 0);
    CHECK_INT(cbx_fields_check(&table, &s, NULL), CBX_OK);
}

TEST(whole_numbers_are_set_up_to_their_bounds)
{
    sample s = defaults();
    CHECK_INT(set(&s, "epochs", "1"), CBX_OK);
    CHECK_INT(s.epochs, 1);
    CHECK_INT(set(&s, "epochs", "1000"), CBX_OK);
    CHECK_INT(s.epochs, 1000);
    CHECK_INT(set(&s, "seed", "8999999999999999999"), CBX_OK);
    CHECK_INT(s.seed, 8999999999999999999);
}

TEST(what_is_no_whole_number_is_refused)
{
    refused("epochs", "", "not a whole number");
    refused("epochs", "ten", "not a whole number");
    refused("epochs", "10x", "not a whole number");
    refused("epochs", "1.5", "not a whole number");
    refused("epochs", "1e2", "not a whole number");
    refused("epochs", "0x10", "not a whole number");
}

TEST(whole_numbers_out_of_range_are_refused_with_the_range)
{
    refused("epochs", "0", "1 to 1000");
    refused("epochs", "1001", "1 to 1000");
    refused("epochs", "-5", "1 to 1000");
    refused("epochs", "99999999999999999999", "1 to 1000");
    refused("epochs", "-99999999999999999999", "1 to 1000");
    refused("seed", "-1", "at least 0");
    refused("any", "9223372036854775808", "out of range"); /* 2^63 */
    refused("any", "-9223372036854775809", "out of range");
}

TEST(reals_are_set_up_to_their_bounds)
{
    sample s = defaults();
    CHECK_INT(set(&s, "rate", "-1"), CBX_OK);
    CHECK_NEAR(s.rate, -1, 0);
    CHECK_INT(set(&s, "rate", "2.5"), CBX_OK);
    CHECK_NEAR(s.rate, 2.5, 0);
    CHECK_INT(set(&s, "rate", "1e-3"), CBX_OK);
    CHECK_NEAR(s.rate, 0.001, 0);
    CHECK_INT(set(&s, "scale", "1e300"), CBX_OK);
    CHECK_NEAR(s.scale, 1e300, 0);
}

TEST(what_is_no_number_is_refused)
{
    refused("rate", "", "not a number");
    refused("rate", "fast", "not a number");
    refused("rate", "1,5", "not a number");
    refused("rate", "1 2", "not a number");
    refused("rate", "nan", "not a number");
    refused("scale", "inf", "not a number");
    refused("scale", "-inf", "not a number");
    refused("scale", "1e999", "not a number");
}

TEST(reals_out_of_range_are_refused_with_the_range)
{
    refused("rate", "-1.0001", "-1 to 2.5");
    refused("rate", "2.5001", "-1 to 2.5");
    refused("scale", "-0.5", "at least 0");
}

TEST(booleans_have_four_words_for_each_value)
{
    static const char *const yes[] = {"true", "yes", "on", "1"};
    static const char *const no[] = {"false", "no", "off", "0"};
    for (int i = 0; i < 4; i++) {
        sample s = defaults();
        CHECK_INT(set(&s, "quiet", no[i]), CBX_OK);
        CHECK(!s.quiet);
        CHECK_INT(set(&s, "quiet", yes[i]), CBX_OK);
        CHECK(s.quiet);
    }
    refused("quiet", "maybe", "not true or false");
    refused("quiet", "2", "not true or false");
    refused("quiet", "TRUE", "not true or false");
    refused("quiet", "", "not true or false");
}

TEST(choices_are_set_by_name_and_refused_with_all_names)
{
    sample s = defaults();
    CHECK_INT(set(&s, "model", "graphconv"), CBX_OK);
    CHECK_INT(s.model, 2);
    CHECK_INT(set(&s, "model", "gcn"), CBX_OK);
    CHECK_INT(s.model, 0);
    refused("model", "?", "not one of gcn, cheb, graphconv");
    refused("model", "gc", "not one of gcn, cheb, graphconv");
    refused("model", "", "not one of gcn, cheb, graphconv");
}

TEST(texts_are_borrowed)
{
    sample      s = defaults();
    const char *text = "any text";
    CHECK_INT(set(&s, "name", text), CBX_OK);
    CHECK(s.name == text);
}

TEST(the_first_of_several_words_counts_as_near)
{
    static const char *const words[] = {"epochs", "label-column", "level", NULL};
    CHECK(!strcmp(cbx_nearest_of("labl", words), "label-column"));
    CHECK(!strcmp(cbx_nearest_of("levle", words), "level"));
    CHECK(!cbx_nearest_of("column", words));
}

TEST(an_unknown_option_suggests_the_nearest)
{
    sample    s = defaults();
    cbx_error err = {0};
    CHECK_INT(cbx_fields_set(&table, &s, "epoch", "3", &err), CBX_INVALID);
    CHECK(!strcmp(err.message, "no option 'epoch' (did you mean 'epochs'?)"));
    CHECK_INT(cbx_fields_set(&table, &s, "frobnicate", "3", &err), CBX_INVALID);
    CHECK(!strcmp(err.message, "no option 'frobnicate'"));
}

/* A struct filled in by hand fails its check, and the message has both parts. */
static void fails_check(const sample *s, const char *name, const char *value)
{
    cbx_error err = {0};
    CHECK_INT(cbx_fields_check(&table, s, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, name);
    CHECK_CONTAINS(err.message, value);
}

TEST(a_struct_filled_in_by_hand_is_checked_field_by_field)
{
    sample s = defaults();
    s.epochs = 0;
    fails_check(&s, "epochs", "0 is out of range: 1 to 1000");
    s.epochs = INT64_MAX;
    fails_check(&s, "epochs", "9223372036854775807 is out of range: 1 to 1000");
    s = defaults();
    s.rate = 2.75;
    fails_check(&s, "rate", "2.75 is out of range: -1 to 2.5");
    s.rate = -2;
    fails_check(&s, "rate", "-2 is out of range: -1 to 2.5");
    s = defaults();
    s.model = 3;
    fails_check(&s, "model", "choice 3 of 3");
    s.model = -1;
    fails_check(&s, "model", "choice -1 of 3");
    s = defaults();
    s.seed = -1;
    fails_check(&s, "seed", "-1 is out of range: at least 0");
}

TEST(a_check_finds_numbers_that_are_none)
{
    sample s = defaults();
    s.rate = NAN;
    fails_check(&s, "rate", "nan");
    s = defaults();
    s.scale = INFINITY;
    fails_check(&s, "scale", "inf");
}

TEST(a_check_accepts_the_bounds_themselves)
{
    sample s = defaults();
    s.epochs = 1000;
    s.rate = -1;
    s.model = 2;
    CHECK_INT(cbx_fields_check(&table, &s, NULL), CBX_OK);
    s.epochs = 1;
    s.rate = 2.5;
    s.model = 0;
    CHECK_INT(cbx_fields_check(&table, &s, NULL), CBX_OK);
}

TEST(a_table_may_have_more_options_than_are_compared_for_a_suggestion)
{
    static char       names[300][16];
    static cbx_option many[300];
    cbx_error         err = {0};
    int64_t           value = 0;
    for (int i = 0; i < 300; i++) {
        (void)snprintf(names[i], sizeof names[i], "option-%d", i);
        many[i] = (cbx_option){names[i], CBX_OPTION_INT, 0, "0", 0, 10, NULL, ""};
    }
    cbx_option_table large = {.title = "Large", .options = many, .count = 300};
    CHECK_INT(cbx_fields_set(&large, &value, "option-299", "7", &err), CBX_OK);
    CHECK_INT(value, 7);
    CHECK_INT(cbx_fields_set(&large, &value, "optoin-3", "7", &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "option-");
}

TEST(many_choices_are_listed_as_far_as_they_fit)
{
    static char        words[100][16];
    static const char *list[101];
    cbx_error          err = {0};
    int                value = 0;
    for (int i = 0; i < 100; i++) {
        (void)snprintf(words[i], sizeof words[i], "choice-%d", i);
        list[i] = words[i];
    }
    cbx_option       one = {"kind", CBX_OPTION_CHOICE, 0, NULL, 0, 0, list, ""};
    cbx_option_table small = {.title = "Small", .options = &one, .count = 1};
    CHECK_INT(cbx_fields_set(&small, &value, "kind", "x", &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "choice-0, choice-1");
    CHECK(strlen(err.message) < 320);
}

TEST(an_option_is_its_default_until_it_has_another_value)
{
    static const struct {
        const char *name, *same, *other;
    } cases[] = {{"epochs", "500", "501"}, {"rate", "0.250", "0.3"},     {"quiet", "yes", "no"},
                 {"model", "cheb", "gcn"}, {"label", "none", "nothing"}, {"seed", "0", "1"},
                 {"scale", "1.0", "2"},    {"name", NULL, "x"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample            s = defaults();
        const cbx_option *o = options;
        while (strcmp(o->name, cases[i].name) != 0)
            o++;
        CHECK(cbx_field_is_default(o, &s));
        if (cases[i].same)
            CHECK_INT(set(&s, o->name, cases[i].same), CBX_OK);
        CHECK(cbx_field_is_default(o, &s));
        CHECK_INT(set(&s, o->name, cases[i].other), CBX_OK);
        CHECK(!cbx_field_is_default(o, &s));
    }
    sample s = defaults();
    s.label = NULL; /* by hand */
    CHECK(!cbx_field_is_default(&options[5], &s));
}

TEST(the_version_is_that_of_the_header)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%d.%d.%d", CBX_VERSION_MAJOR, CBX_VERSION_MINOR,
                   CBX_VERSION_PATCH);
    CHECK(!strcmp(cbx_version(), text));
}

/* ------------------------------------------------------------ options by name */

/* What an option's value is as text, or "(none)". */
static const char *value_of(const cbx_options *o, const char *name)
{
    static char text[64];
    return cbx_options_get(o, name, text, sizeof text) ? text : "(none)";
}

static const cbx_option_table whole_table = {.title = "Sample",
                                             .options = options,
                                             .count = sizeof options / sizeof *options,
                                             .size = sizeof(sample)};

TEST(options_begin_at_their_defaults_and_say_so)
{
    cbx_options *o = NULL;
    cbx_error    err = {0};
    CHECK_OK(cbx_options_new(&whole_table, &o, &err), err);
    CHECK(!strcmp(value_of(o, "epochs"), "500"));
    CHECK(!strcmp(value_of(o, "rate"), "0.25"));
    CHECK(!strcmp(value_of(o, "quiet"), "true"));
    CHECK(!strcmp(value_of(o, "model"), "cheb"));
    CHECK(!strcmp(value_of(o, "name"), "(none)"));
    CHECK(!strcmp(value_of(o, "label"), "none"));
    CHECK(!strcmp(value_of(o, "nonsense"), "(none)"));
    CHECK(cbx_options_is_default(o, "model"));
    CHECK_OK(cbx_options_set(o, "model", "gcn", &err), err);
    CHECK(!cbx_options_is_default(o, "model"));
    cbx_options_free(o);
    cbx_options_free(NULL);
}

TEST(what_is_set_by_name_comes_back_bit_by_bit)
{
    static const char *const pairs[][2] = {
        {"epochs", "7"},         {"rate", "0.1"},
        {"scale", "1e-300"},     {"scale", "0.30000000000000004"},
        {"quiet", "false"},      {"model", "graphconv"},
        {"name", "a text, long"}};
    cbx_options *o = NULL;
    cbx_error    err = {0};
    CHECK_OK(cbx_options_new(&whole_table, &o, &err), err);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        CHECK_OK(cbx_options_set(o, pairs[i][0], pairs[i][1], &err), err);
        CHECK(!strcmp(value_of(o, pairs[i][0]), pairs[i][1]));
    }
    cbx_options_free(o);
}

TEST(texts_set_by_name_are_copied)
{
    char         text[] = "first";
    cbx_options *o = NULL;
    cbx_error    err = {0};
    CHECK_OK(cbx_options_new(&whole_table, &o, &err), err);
    CHECK_OK(cbx_options_set(o, "name", text, &err), err);
    text[0] = 'w';
    CHECK(!strcmp(value_of(o, "name"), "first"));
    cbx_options_free(o);
}

TEST(dashes_and_underscores_are_the_same_in_names_and_messages_have_the_latter)
{
    static const cbx_option one[] = {{"time-limit", CBX_OPTION_REAL, 0, "5", 0, 9, NULL, "s"}};
    static const cbx_option_table timed = {"Timed", one, 1, sizeof(double), NULL};
    cbx_options                  *o = NULL;
    cbx_error                     err = {0};
    CHECK_OK(cbx_options_new(&timed, &o, &err), err);
    CHECK_OK(cbx_options_set(o, "time_limit", "3", &err), err);
    CHECK(!strcmp(value_of(o, "time-limit"), "3"));
    CHECK_INT(cbx_options_set(o, "time-limit", "10", &err), CBX_INVALID);
    CHECK(!strcmp(err.message, "time_limit: 10 is out of range: 0 to 9"));
    CHECK(!strcmp(err.option, "time_limit"));
    CHECK_INT(cbx_options_set(o, "timelimit", "3", &err), CBX_INVALID);
    CHECK(err.option[0] == '\0');
    cbx_options_free(o);
}

TEST(options_over_a_struct_fill_it_in_and_borrow_texts)
{
    sample       s;
    const char  *text = "any";
    cbx_options *o = NULL;
    cbx_error    err = {0};
    CHECK_OK(cbx_options_over(&whole_table, &s, &o, &err), err);
    CHECK_INT(s.epochs, 500);
    CHECK_OK(cbx_options_set(o, "epochs", "3", &err), err);
    CHECK_OK(cbx_options_set(o, "name", text, &err), err);
    cbx_options_free(o);
    CHECK_INT(s.epochs, 3);
    CHECK(s.name == text);
}

TEST(options_of_another_table_are_refused)
{
    cbx_options *o = NULL;
    cbx_graph   *graph = NULL;
    cbx_error    err = {0};
    CHECK_OK(cbx_options_new(cbx_train_table(), &o, &err), err);
    CHECK_INT(cbx_graph_builtin("karate", o, &graph, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "'Training' where those of 'Generator' belong");
    CHECK(graph == NULL);
    cbx_options_free(o);
}
