/* SPDX-License-Identifier: Apache-2.0 */
/* Counterfactuals as JSON: valid, on one line, and as docs/formats.md says. */
#include "parsed.h"
#include "sample.h"

static cbx_arena arena; /* of what a test reads */

static const cbx_json *object_in(const char *line)
{
    if (!CHECK(line != NULL))
        return NULL;
    CHECK(!strchr(line, '\n')); /* one line */
    const cbx_json *o = parsed(&arena, line, strlen(line));
    CHECK(o && o->kind == CBX_JSON_OBJECT);
    return o;
}

/* The line of a counterfactual, read again. */
static const cbx_json *object_of(const cbx_counterfactual *c, bool names)
{
    cbx_graph      *g = sample_graph(c->task, names);
    char           *line = sample_line(c, g);
    const cbx_json *o = object_in(line);
    free(line);
    cbx_graph_free(g);
    return o;
}

static int64_t integer(const cbx_json *o, const char *key)
{
    if (!CHECK(is_integer(cbx_json_get(o, key))))
        printf("  (%s)\n", key);
    return integer_of(cbx_json_get(o, key));
}

static double real(const cbx_json *o, const char *key)
{
    if (!CHECK(is_number(cbx_json_get(o, key))))
        printf("  (%s)\n", key);
    return number_of(cbx_json_get(o, key));
}

static bool text_is(const cbx_json *o, const char *key, const char *expected)
{
    const char *text = text_of(cbx_json_get(o, key));
    return text && !strcmp(text, expected);
}

/* ---- what is in it */

static void check_side(const cbx_json *side, int64_t class, const float *logp)
{
    const cbx_json *p = cbx_json_get(side, "probabilities");
    CHECK_INT(integer(side, "class"), class);
    CHECK(text_is(side, "name", sample_classes[class]));
    CHECK_INT(count_of(p), 3);
    for (size_t k = 0; k < 3; k++)
        CHECK_NEAR(number_of(cbx_json_at(p, k)), exp((double)logp[k]), 1e-8);
}

TEST(a_found_counterfactual_has_all_its_numbers)
{
    cbx_counterfactual c = sample_found(CBX_NODE);
    const cbx_json    *o = object_of(&c, true);
    CHECK_INT(integer(o, "node"), 2);
    CHECK(cbx_json_get(o, "graph") == NULL && cbx_json_get(o, "reason") == NULL);
    CHECK(text_is(o, "status", "found"));
    CHECK_INT(integer(o, "target"), 1);
    check_side(cbx_json_get(o, "before"), 0, c.before);
    check_side(cbx_json_get(o, "after"), 1, c.after);
    CHECK_INT(integer(o, "edges_removed"), 2);
    CHECK_INT(integer(o, "features_changed"), 3);
    CHECK_INT(integer(o, "nodes"), 3);
    CHECK_INT(integer(o, "edges"), 4);
    CHECK_INT(integer(o, "features"), 5);
    CHECK_INT(integer(o, "epoch"), 17);
    CHECK_INT(integer(o, "epochs"), 500);
    CHECK_NEAR(real(o, "loss"), c.loss, 1e-9);
    CHECK_NEAR(real(o, "seconds"), 0.25, 0);
    CHECK(text_is(o, "data_sha256", SAMPLE_HASH_A) && text_is(o, "model_sha256", SAMPLE_HASH_B));
    CHECK(text_is(o, "version", cbx_version()));
    cbx_arena_free(&arena);
}

static void check_edit(const cbx_json *o, const cbx_edit *e)
{
    if (e->op == CBX_REMOVE_EDGE) {
        CHECK(text_is(o, "op", "remove_edge"));
        CHECK_INT(integer(o, "source"), e->source);
        CHECK_INT(integer(o, "target"), e->target);
        CHECK_INT(is_true(cbx_json_get(o, "undirected")), e->undirected);
        CHECK(cbx_json_get(o, "undirected")->kind == CBX_JSON_BOOL);
        if (e->undirected)
            CHECK(cbx_json_get(o, "edge") == NULL);
        else
            CHECK_INT(integer(o, "edge"), e->edge);
    } else {
        CHECK(text_is(o, "op", "set_feature"));
        CHECK_INT(integer(o, "node"), e->node);
        CHECK_INT(integer(o, "feature"), e->feature);
        CHECK((float)real(o, "from") == e->from && (float)real(o, "to") == e->to);
        CHECK(text_is(o, "name", sample_features[e->feature]));
    }
    CHECK((float)real(o, "influence") == e->influence);
}

TEST(edits_come_in_order_with_all_their_fields)
{
    cbx_counterfactual c = sample_found(CBX_NODE);
    const cbx_json    *o = object_of(&c, true), *list = cbx_json_get(o, "edits");
    CHECK_INT(count_of(list), SAMPLE_EDITS);
    for (size_t k = 0; k < SAMPLE_EDITS; k++)
        check_edit(cbx_json_at(list, k), &sample_edits[k]);
    cbx_arena_free(&arena);
}

TEST(every_number_of_an_edit_is_read_back)
{
    static const float values[] = {0,     -0.0f,  1,     -1,     2,        0.5f, 1e-5f, -1e-5f,
                                   1e10f, 1e-10f, 3e38f, 1e-45f, 12345678, 1e9f, 1e8f,  0.1f};
    cbx_graph         *g = sample_graph(CBX_NODE, true);
    uint32_t           bits = 7;
    for (int round = 0; round < 2000; round++) {
        cbx_counterfactual c = sample_found(CBX_NODE);
        cbx_edit           edit = {.op = CBX_SET_FEATURE, .from = values[round % 16]};
        do {
            bits = bits * 1664525u + 1013904223u;
            memcpy(&edit.to, &bits, sizeof bits);
        } while (!isfinite(edit.to));
        edit.influence = (float)(bits % 1000) / 7;
        c.edits = &edit;
        c.num_edits = 1;
        char           *line = sample_line(&c, g);
        const cbx_json *o = object_in(line);
        const cbx_json *e = cbx_json_at(cbx_json_get(o, "edits"), 0);
        CHECK((float)real(e, "from") == edit.from && (float)real(e, "to") == edit.to);
        CHECK((float)real(e, "influence") == edit.influence);
        CHECK(cbx_json_get(e, "from")->kind == CBX_JSON_REAL); /* also where it is a whole number */
        free(line);
        cbx_arena_free(&arena);
    }
    cbx_graph_free(g);
}

TEST(a_graph_is_called_graph)
{
    cbx_counterfactual c = sample_found(CBX_GRAPH);
    const cbx_json    *o = object_of(&c, true);
    CHECK_INT(integer(o, "graph"), 2);
    CHECK(cbx_json_get(o, "node") == NULL);
    cbx_arena_free(&arena);
}

TEST(any_target_is_called_any)
{
    cbx_counterfactual c = sample_found(CBX_NODE);
    c.target = -1;
    const cbx_json *o = object_of(&c, true);
    CHECK(text_is(o, "target", "any"));
    cbx_arena_free(&arena);
}

TEST(without_names_there_are_none)
{
    cbx_counterfactual c = sample_found(CBX_NODE);
    const cbx_json    *o = object_of(&c, false), *list = cbx_json_get(o, "edits");
    CHECK(cbx_json_get(cbx_json_get(o, "before"), "name") == NULL);
    CHECK(cbx_json_get(cbx_json_at(list, 0), "name") == NULL);
    cbx_arena_free(&arena);
}

TEST(what_was_not_found_has_a_reason_and_no_after)
{
    static const cbx_outcome outcomes[] = {CBX_NOT_FOUND, CBX_SKIPPED, CBX_NOT_FINISHED};
    for (int i = 0; i < 3; i++) {
        cbx_counterfactual c = sample_without(outcomes[i], i ? "because \"so\"" : "");
        const cbx_json    *o = object_of(&c, true);
        CHECK(text_is(o, "status", cbx_outcome_name(outcomes[i])));
        CHECK(i ? text_is(o, "reason", "because \"so\"") : !cbx_json_get(o, "reason"));
        CHECK(!cbx_json_get(o, "after") && !cbx_json_get(o, "loss"));
        CHECK(!cbx_json_get(o, "epoch"));
        CHECK(cbx_json_get(o, "edits")->kind == CBX_JSON_LIST);
        CHECK_INT(count_of(cbx_json_get(o, "edits")), 0);
        CHECK_INT(integer(o, "edges_removed"), 0);
        CHECK_INT(integer(cbx_json_get(o, "before"), "class"), 0);
        cbx_arena_free(&arena);
    }
}

TEST(options_are_those_that_can_change_the_result)
{
    const cbx_option_table *table = cbx_explain_table();
    cbx_counterfactual      c = sample_found(CBX_NODE);
    cbx_graph              *g = sample_graph(CBX_NODE, true);
    cbx_explain_options     o;
    cbx_error               err = {0};
    memset(&o, 0, sizeof o);
    cbx_fields_default(table, &o);
    CHECK_OK(cbx_fields_set(table, &o, "policy", "dynamic", &err), err);
    o.target = sample_classes[2];
    o.epochs = 123;
    o.learning_rate = 0.05;
    char             *line = cbx_counterfactual_json_with(&c, g, &o, NULL, NULL);
    const cbx_json   *all = object_in(line), *options = cbx_json_get(all, "options");
    const cbx_option *option;
    for (size_t i = 0; (option = cbx_option_at(table, i)); i++) {
        /* threads cannot, nor where things are kept; what has no help is no user's */
        bool there = cbx_json_get(options, option->name) != NULL;
        bool cannot = !strcmp(option->name, "threads") || !strcmp(option->name, "trained");
        if (!CHECK_INT(there, option->help && !cannot))
            printf("  (%s)\n", option->name);
    }
    CHECK(text_is(options, "policy", "dynamic") && text_is(options, "edges", "undirected"));
    CHECK(text_is(options, "target", sample_classes[2]));
    CHECK_INT(integer(options, "epochs"), 123);
    CHECK_NEAR(real(options, "lr"), 0.05, 1e-10);
    CHECK(!cbx_json_get(all, "data_sha256") && !cbx_json_get(all, "model_sha256"));
    cbx_arena_free(&arena);
    free(line);
    line = cbx_counterfactual_json_with(&c, g, NULL, NULL, NULL);
    all = object_in(line);
    CHECK(cbx_json_get(all, "options") == NULL);
    cbx_arena_free(&arena);
    free(line);
    cbx_graph_free(g);
}

/* Edits read from a file may name features that this graph does not have. */
TEST(a_feature_beyond_the_names_has_none)
{
    cbx_counterfactual c = sample_found(CBX_NODE);
    cbx_edit           far = {.op = CBX_SET_FEATURE, .node = 0, .feature = 2000000000, .to = 1};
    c.edits = &far;
    c.num_edits = 1;
    const cbx_json *o = object_of(&c, true), *edit = cbx_json_at(cbx_json_get(o, "edits"), 0);
    CHECK_INT(integer(edit, "feature"), 2000000000);
    CHECK(cbx_json_get(edit, "name") == NULL);
    cbx_arena_free(&arena);
}

TEST(names_that_are_not_utf8_are_left_out)
{
    static const char *const latin[] = {"k\xe4se", "\xff", "\xc3", "ok", "\xed\xa0\x80"};
    cbx_counterfactual       c = sample_found(CBX_NODE);
    cbx_graph               *plain = sample_graph(CBX_NODE, false), *g = NULL;
    cbx_graph_data           d = *cbx_graph_arrays(plain);
    cbx_explain_options      o;
    cbx_error                err = {0};
    memset(&o, 0, sizeof o);
    cbx_fields_default(cbx_explain_table(), &o);
    CHECK_INT(cbx_explain_preset_with(&o, "paper", NULL), CBX_OK);
    d.class_names = d.feature_names = latin;
    o.target = latin[1];
    CHECK_OK(cbx_graph_new(&d, &g, &err), err);
    char           *line = cbx_counterfactual_json_with(&c, g, &o, NULL, NULL);
    const cbx_json *all = object_in(line), *list = cbx_json_get(all, "edits");
    CHECK(cbx_json_get(cbx_json_get(all, "before"), "name") == NULL);
    CHECK(cbx_json_get(cbx_json_at(list, 0), "name") == NULL);
    CHECK(cbx_json_get(cbx_json_get(all, "options"), "target")->kind == CBX_JSON_NULL);
    CHECK_INT(integer(cbx_json_get(all, "before"), "class"), 0);
    cbx_arena_free(&arena);
    free(line);
    cbx_graph_free(g);
    cbx_graph_free(plain);
}

/* ---- against docs/formats.md */

/* Is this key in the first column of the counterfactuals' table? */
static bool documented(const char *page, const char *key)
{
    char wanted[64];
    (void)snprintf(wanted, sizeof wanted, "`%s`", key);
    const char *line = strstr(page, "## Counterfactuals");
    for (; line; line = strchr(line + 1, '\n')) {
        const char *end = strstr(line, " |"), *at = strstr(line, wanted);
        if (!strncmp(line, "\nAn edit is", 11))
            return false;
        if (!strncmp(line, "\n| ", 3) && end && at && at < end)
            return true;
    }
    return false;
}

/* The i-th key in the table's first column, or false. */
static bool documented_key(const char *page, int i, char *key, size_t size)
{
    const char *line = strstr(page, "## Counterfactuals");
    for (; line && strncmp(line, "\nAn edit is", 11) != 0; line = strchr(line + 1, '\n')) {
        const char *end = strncmp(line, "\n| `", 4) ? NULL : strstr(line, " |");
        for (const char *at = end ? strchr(line, '`') : NULL; at && at < end;) {
            const char *close = strchr(at + 1, '`');
            if (i-- == 0) {
                (void)snprintf(key, size, "%.*s", (int)(close - at - 1), at + 1);
                return true;
            }
            at = strchr(close + 1, '`');
        }
    }
    return false;
}

TEST(a_proof_is_written_with_its_kinds_of_edit_and_its_rules)
{
    cbx_explain_options options;
    cbx_counterfactual  c = sample_found(CBX_NODE);
    cbx_graph          *g = sample_graph(CBX_NODE, false);
    cbx_fields_default(cbx_explain_table(), &options);
    options.target = "next";
    options.keep_edges = true;
    options.max_edits = 4;
    options.immutable_features = "2";
    char *line = cbx_counterfactual_json_with(&c, g, &options, NULL, NULL);
    CHECK_CONTAINS(line, "\"proof\":{\"scope\":\"removals of edges (one by one)\",\"kinds\":"
                         "[\"set_feature\"],\"rules\":{\"max-edits\":4,\"immutable-features\":"
                         "\"2\",\"keep-edges\":true}}");
    free(line);
    c.scope = ""; /* nothing is proved */
    line = cbx_counterfactual_json_with(&c, g, &options, NULL, NULL);
    CHECK(!strstr(line, "\"proof\""));
    free(line);
    cbx_graph_free(g);
}

/* As it is told where all kinds of edit were asked for. */
static const cbx_json *object_of_all_kinds(const cbx_counterfactual *c)
{
    cbx_explain_options options;
    cbx_graph          *g = sample_graph(c->task, true);
    cbx_fields_default(cbx_explain_table(), &options);
    options.edits = "all";
    char           *line = cbx_counterfactual_json_with(c, g, &options, "0", "1");
    const cbx_json *o = object_in(line);
    free(line);
    cbx_graph_free(g);
    return o;
}

TEST(all_kinds_of_edit_are_told_by_name)
{
    cbx_counterfactual c = sample_found(CBX_NODE);
    c.kinds = "remove,features,remove-nodes";
    const cbx_json *o = object_of_all_kinds(&c), *proof = cbx_json_get(o, "proof");
    CHECK(text_is(o, "kinds", "remove,features,remove-nodes"));
    const cbx_json *kinds = cbx_json_get(proof, "kinds");
    CHECK(!strcmp(cbx_json_at(kinds, 2)->text, "remove_node") && !cbx_json_at(kinds, 3));
    o = object_of(&c, true); /* where they were named, the option tells them */
    CHECK(!cbx_json_get(o, "kinds"));
    cbx_arena_free(&arena);
}

TEST(the_fields_are_those_that_the_documentation_names)
{
    size_t             size;
    const char        *path = test_source("docs/formats.md");
    char              *page = path ? (char *)test_read_file(path, &size) : NULL, key[64];
    cbx_counterfactual all[] = {sample_found(CBX_NODE), sample_found(CBX_GRAPH),
                                sample_without(CBX_SKIPPED, "the factual graph has no edge")};
    const cbx_json    *o[3];
    if (!CHECK(page != NULL))
        return;
    all[1].reproducible = true;
    all[1].l1_mad = 1.5;
    all[1].num_unusual = 1;
    all[1].plausibility = 1.2;
    all[1].num_trained = 1;
    all[1].lower_bound = 2;
    all[1].num_edges_added = all[1].num_nodes_added = 1;
    all[1].num_edges_reweighted = 1;
    all[1].kinds = "remove,add,features";
    for (int i = 0; i < 3; i++) {
        o[i] = i == 1 ? object_of_all_kinds(&all[i]) : object_of(&all[i], true);
        for (const cbx_json *m = cbx_json_at(o[i], 0); m; m = m->next)
            if (!CHECK(documented(page, m->key)))
                printf("  (%s is not documented)\n", m->key);
    }
    int count = 0;
    for (; documented_key(page, count, key, sizeof key); count++)
        if (!CHECK(cbx_json_get(o[0], key) || cbx_json_get(o[1], key) || cbx_json_get(o[2], key)))
            printf("  (%s is not written)\n", key);
    CHECK(count >= 20);
    cbx_arena_free(&arena);
    free(page);
}

/* ---- memory */

static cbx_status write_once(void *user)
{
    cbx_counterfactual c = sample_found(CBX_NODE);
    char              *line = sample_line(&c, user);
    bool               got = line != NULL;
    free(line);
    return got ? CBX_OK : CBX_NO_MEMORY;
}

TEST(writing_survives_the_failure_of_any_allocation)
{
    for (int names = 0; names < 2; names++) {
        cbx_graph *g = sample_graph(CBX_NODE, names);
        test_each_allocation(write_once, g);
        cbx_graph_free(g);
    }
}
