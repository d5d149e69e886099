/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of JSON read again: what was written comes back bit for bit, and what is
 * wrong is refused by name. */
#include "sample.h"

static cbx_counterfactual *read_line(const char *line, char a[65], char b[65])
{
    cbx_counterfactual *c = NULL;
    cbx_error           err = {0};
    CHECK_OK(cbx_counterfactual_parse(line, &c, a, b, &err), err);
    return c;
}

static void check_edits(const cbx_edit *a, const cbx_edit *b, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        CHECK_INT(a[k].op, b[k].op);
        if (b[k].op == CBX_REMOVE_EDGE) {
            CHECK(a[k].source == b[k].source && a[k].target == b[k].target);
            CHECK(a[k].edge == b[k].edge && a[k].undirected == b[k].undirected);
        } else {
            CHECK(a[k].node == b[k].node && a[k].feature == b[k].feature);
            CHECK(!memcmp(&a[k].from, &b[k].from, sizeof a->from)); /* the bits: -0 is not 0 */
            CHECK(!memcmp(&a[k].to, &b[k].to, sizeof a->to));
        }
        CHECK(!memcmp(&a[k].influence, &b[k].influence, sizeof a->influence));
    }
}

static void check_round_trip(const cbx_counterfactual *c)
{
    cbx_graph          *g = sample_graph(c->task, true);
    char               *line = sample_line(c, g), a[65], b[65];
    cbx_counterfactual *r = read_line(line, a, b);
    if (r) {
        CHECK(r->task == c->task && r->row == c->row && r->outcome == c->outcome);
        CHECK(r->prediction == c->prediction && r->target == c->target && r->result == c->result);
        CHECK_INT(r->num_classes, c->num_classes);
        CHECK(test_difference(3, r->before, c->before) < 1e-7);
        CHECK(!r->after == !c->after);
        CHECK(!c->after || test_difference(3, r->after, c->after) < 1e-7);
        CHECK_INT(r->num_edits, c->num_edits);
        CHECK_INT(r->num_edges_removed, c->num_edges_removed);
        CHECK_INT(r->num_features_changed, c->num_features_changed);
        CHECK_INT(r->num_trained, c->num_trained);
        CHECK(r->trained_seconds == c->trained_seconds);
        check_edits(r->edits, c->edits, c->num_edits);
        CHECK(r->reason != NULL);
        CHECK(!strcmp(a, SAMPLE_HASH_A) && !strcmp(b, SAMPLE_HASH_B));
    }
    cbx_counterfactual_free(r);
    free(line);
    cbx_graph_free(g);
}

TEST(what_is_written_is_read_again_bit_for_bit)
{
    cbx_counterfactual all[] = {
        sample_found(CBX_NODE), sample_found(CBX_GRAPH), sample_without(CBX_NOT_FOUND, "none held"),
        sample_without(CBX_SKIPPED, "no \"edge\""), sample_without(CBX_NOT_FINISHED, "")};
    all[0].num_trained = 123456789012;
    all[0].trained_seconds = 1.5;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check_round_trip(&all[i]);
    all[0].target = -1; /* any */
    check_round_trip(&all[0]);
}

TEST(every_float_survives_nine_digits)
{
    cbx_graph *g = sample_graph(CBX_NODE, true);
    uint32_t   bits = 12345;
    for (int round = 0; round < 40; round++) {
        cbx_counterfactual c = sample_found(CBX_NODE);
        cbx_edit           edits[100];
        for (int k = 0; k < 100; k++) {
            float v[3];
            for (int i = 0; i < 3; i++)
                do { /* any finite float */
                    bits = bits * 1664525u + 1013904223u;
                    memcpy(&v[i], &bits, sizeof bits);
                } while (!isfinite(v[i]));
            edits[k] =
                (cbx_edit){.op = CBX_SET_FEATURE, .from = v[0], .to = v[1], .influence = v[2]};
        }
        c.edits = edits;
        c.num_edits = 100;
        char               *line = sample_line(&c, g);
        cbx_counterfactual *r = read_line(line, NULL, NULL);
        if (CHECK(r && r->num_edits == 100))
            check_edits(r->edits, edits, 100);
        cbx_counterfactual_free(r);
        free(line);
    }
    cbx_graph_free(g);
}

/* JSON cannot say so; the edit is none the worse. */
TEST(an_influence_that_is_no_number_is_written_and_read)
{
    static const float wrong[] = {NAN, INFINITY, -INFINITY};
    cbx_graph         *g = sample_graph(CBX_NODE, true);
    for (int i = 0; i < 6; i++) {
        cbx_counterfactual c = sample_found(CBX_NODE);
        cbx_edit           edit = sample_edits[i % 2];
        edit.influence = wrong[i / 2];
        c.edits = &edit;
        c.num_edits = 1;
        char               *line = sample_line(&c, g);
        cbx_counterfactual *r = line ? read_line(line, NULL, NULL) : NULL;
        CHECK(r && r->num_edits == 1 && r->edits[0].op == edit.op);
        cbx_counterfactual_free(r);
        free(line);
    }
    cbx_graph_free(g);
}

/* ---- a line by hand, and everything that can be wrong with it */

#define BEFORE "\"before\": {\"class\": 1, \"probabilities\": [0.25, 0.75]}"
#define AFTER "\"after\": {\"class\": 0, \"probabilities\": [1, 0]}"
#define EDGE \
    "{\"op\": \"remove_edge\", \"source\": 3, \"target\": 7, \"edge\": 41, \"undirected\": false}"
#define FEATURE "{\"op\": \"set_feature\", \"node\": 5, \"feature\": 6, \"from\": 0.5, \"to\": -1}"

static const char by_hand[] =
    "{\"node\": 9, \"status\": \"found\", \"target\": \"any\", " BEFORE ", " AFTER
    ", \"edits\": [" EDGE ", " FEATURE "], \"data_sha256\": \"" SAMPLE_HASH_A "\"}";

TEST(a_line_by_hand_is_read)
{
    char                a[65], b[65] = "not touched";
    cbx_counterfactual *r = read_line(by_hand, a, b);
    if (!r)
        return;
    CHECK(r->task == CBX_NODE && r->row == 9 && r->outcome == CBX_FOUND && r->num_classes == 2);
    CHECK(r->prediction == 1 && r->result == 0 && r->target == -1);
    CHECK_NEAR(r->before[0], log(0.25), 1e-6);
    CHECK_NEAR(r->after[0], 0, 0);
    CHECK(isinf(r->after[1]) && r->after[1] < 0); /* log 0 */
    CHECK(r->num_edits == 2 && r->num_edges_removed == 1 && r->num_features_changed == 1);
    CHECK(r->edits[0].source == 3 && r->edits[0].target == 7 && r->edits[0].edge == 41);
    CHECK(r->edits[1].node == 5 && r->edits[1].feature == 6 && r->edits[1].to == -1);
    CHECK(r->edits[1].influence == 0);
    CHECK(!strcmp(a, SAMPLE_HASH_A));
    CHECK_INT(b[0], '\0'); /* there was none */
    cbx_counterfactual_free(r);
}

/* by_hand with `from` (its first occurrence) replaced. */
static char *changed(const char *from, const char *to)
{
    const char *at = strstr(by_hand, from);
    size_t      size = sizeof by_hand + strlen(to) + 1;
    char       *line = malloc(size);
    if (!at || !line) {
        CHECK(!"the line holds what is to be replaced");
        (void)snprintf(line, size, "{}");
    } else {
        (void)snprintf(line, size, "%.*s%s%s", (int)(at - by_hand), by_hand, to, at + strlen(from));
    }
    return line;
}

static void refused(const char *line, const char *naming)
{
    cbx_counterfactual dummy, *r = &dummy;
    cbx_error          err = {0};
    char               a[65] = "a", b[65] = "b";
    bool               ok = CHECK_INT(cbx_counterfactual_parse(line, &r, a, b, &err), CBX_INVALID);
    ok = CHECK(r == NULL) && ok;
    ok = CHECK_INT(err.status, CBX_INVALID) && ok;
    ok = CHECK_CONTAINS(err.message, naming) && ok;
    CHECK(!strcmp(a, "a") && !strcmp(b, "b")); /* nothing half-written */
    if (!ok)
        printf("  (%s)\n", line);
    CHECK_INT(cbx_counterfactual_parse(line, &r, NULL, NULL, NULL), CBX_INVALID);
}

static const struct {
    const char *from, *to, *naming;
} wrongs[] = {
    {"\"node\": 9", "\"x\": 9", "'node'"},
    {"\"node\": 9", "\"node\": -1", "'node'"},
    {"\"node\": 9", "\"node\": 2147483648", "'node'"},
    {"\"node\": 9", "\"node\": 9.5", "'node'"},
    {"\"node\": 9", "\"node\": \"9\"", "'node'"},
    {"\"node\": 9", "\"node\": null", "'node'"},
    {"\"node\": 9", "\"graph\": -3", "'graph'"},
    {"\"node\": 9", "\"graph\": []", "'graph'"},
    {"\"status\": \"found\", ", "", "'status'"},
    {"\"found\"", "\"lost\"", "'status' is 'lost'"},
    {"\"found\"", "1", "'status'"},
    {"\"target\": \"any\", ", "", "'target'"},
    {"\"any\"", "\"none\"", "'target' is 'none'"},
    {"\"any\"", "2", "'target'"},
    {"\"any\"", "-1", "'target'"},
    {"\"any\"", "null", "'target'"},
    {"\"any\"", "{}", "'target'"},
    {BEFORE ", ", "", "'before' is missing"},
    {BEFORE, "\"before\": 3", "'before'"},
    {BEFORE, "\"before\": {\"class\": 1}", "'before'"},
    {"\"class\": 1", "\"class\": 2", "'class'"},
    {"\"class\": 1", "\"class\": -1", "'class'"},
    {"\"class\": 1, ", "", "'class'"},
    {"[0.25, 0.75]", "[]", "'before'"},
    {"[0.25, 0.75]", "{}", "'before'"},
    {"[0.25, 0.75]", "[0.25, \"x\"]", "'before': probability 1"},
    {"[0.25, 0.75]", "[-0.25, 0.75]", "'before': probability 0"},
    {"[0.25, 0.75]", "[0.25, 1.75]", "'before': probability 1"},
    {"[0.25, 0.75]", "[0.25, null]", "'before': probability 1"},
    {AFTER ", ", "", "'after' is missing"},
    {"[1, 0]", "[1]", "'after'"},
    {"[1, 0]", "[1, 0, 0]", "'after'"},
    {"\"class\": 0", "\"class\": true", "'class'"},
    {AFTER, "\"after\": null", "'after'"},
    {"\"edits\"", "\"changes\"", "'edits'"},
    {"[" EDGE ", " FEATURE "]", "{}", "'edits'"},
    {"[" EDGE, "[3", "edit 0: 'op'"},
    {"\"remove_edge\"", "\"turn_node\"", "edit 0: 'op' is 'turn_node'"},
    {"\"remove_edge\"", "7", "edit 0: 'op'"},
    {"\"op\": \"set_feature\", ", "", "edit 1: 'op'"},
    {"\"source\": 3, ", "", "edit 0: 'source' is missing"},
    {"\"source\": 3", "\"source\": -3", "edit 0: 'source'"},
    {"\"source\": 3", "\"source\": 3000000000", "edit 0: 'source'"},
    {"\"target\": 7", "\"target\": 7.0", "edit 0: 'target'"},
    {"\"target\": 7, ", "", "edit 0: 'target'"},
    {"\"edge\": 41", "\"edge\": -41", "edit 0: 'edge'"},
    {"\"edge\": 41", "\"edge\": \"41\"", "edit 0: 'edge'"},
    {"\"undirected\": false", "\"undirected\": 1", "edit 0: 'undirected'"},
    {"\"undirected\": false", "\"undirected\": \"yes\"", "edit 0: 'undirected'"},
    {"\"undirected\": false", "\"influence\": \"much\"", "edit 0: 'influence'"},
    {"\"node\": 5", "\"node\": -5", "edit 1: 'node'"},
    {"\"node\": 5, ", "", "edit 1: 'node'"},
    {"\"feature\": 6", "\"feature\": true", "edit 1: 'feature'"},
    {"\"feature\": 6, ", "", "edit 1: 'feature'"},
    {"\"from\": 0.5, ", "", "edit 1: 'from'"},
    {"\"from\": 0.5", "\"from\": \"0.5\"", "edit 1: 'from'"},
    {"\"to\": -1", "\"to\": 1e39", "edit 1: 'to'"}, /* no float is as large */
    {"\"to\": -1", "\"to\": null", "edit 1: 'to'"},
    {"\"to\": -1", "\"to\": -1, \"influence\": 1e300", "edit 1: 'influence'"},
    {"\"" SAMPLE_HASH_A "\"", "5", "'data_sha256'"},
    {"\"" SAMPLE_HASH_A "\"", "\"0123\"", "'data_sha256'"},
    {"\"" SAMPLE_HASH_A "\"", "null", "'data_sha256'"},
    {"\"data_sha256\": \"01", "\"model_sha256\": \"xy", "'model_sha256'"},
};

TEST(every_bad_field_is_refused_by_name)
{
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        char *line = changed(wrongs[i].from, wrongs[i].to);
        refused(line, wrongs[i].naming);
        free(line);
    }
}

TEST(a_class_that_was_not_known_in_time_is_read_as_such)
{
    cbx_graph *g = sample_graph(CBX_NODE, true);
    for (int outcome = CBX_SKIPPED; outcome <= CBX_NOT_FINISHED; outcome++) {
        cbx_counterfactual c = sample_without((cbx_outcome)outcome, "too late"), *r = NULL;
        cbx_error          err = {0};
        c.prediction = c.result = -1;
        char *line = sample_line(&c, g);
        CHECK(!strstr(line, "before"));
        CHECK_OK(cbx_counterfactual_parse(line, &r, NULL, NULL, &err), err);
        CHECK(r && r->outcome == (cbx_outcome)outcome && r->prediction == -1 && r->result == -1);
        cbx_counterfactual_free(r);
        free(line);
    }
    cbx_graph_free(g);
    refused("{\"node\": 1, \"status\": \"not_found\", \"target\": 1, \"edits\": []}",
            "'before' is missing");
}

TEST(what_is_not_one_json_object_is_refused)
{
    static const char *const texts[] = {
        "", " ", "[]", "3", "null", "\"node\"", "{} {}", "{\"a\":}", "{\"a\": 1,}", "{\"a\": NaN}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        refused(texts[i], "not a JSON object");
    refused("{\"node\": 1, \"node\": 2}", "not a JSON object"); /* which one? */
    refused("{}", "'node' is missing");
}

TEST(what_need_not_be_there_may_be_missing)
{
    static const char *const without[][2] = {{", \"data_sha256\": \"" SAMPLE_HASH_A "\"", ""},
                                             {", \"undirected\": false", ""},
                                             {"\"edge\": 41, ", ""},
                                             {"[" EDGE ", " FEATURE "]", "[]"},
                                             {"\"node\": 9", "\"node\": 9, \"more\": [1, 2]"}};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        char               *line = changed(without[i][0], without[i][1]);
        cbx_counterfactual *r = read_line(line, NULL, NULL);
        CHECK(r && (i != 2 || r->edits[0].edge == -1) && (i != 3 || r->num_edits == 0));
        cbx_counterfactual_free(r);
        free(line);
    }
}

/* ---- damage */

TEST(no_part_of_a_line_is_a_line)
{
    cbx_graph         *g = sample_graph(CBX_NODE, true);
    cbx_counterfactual c = sample_found(CBX_NODE);
    char              *line = sample_line(&c, g);
    size_t             length = strlen(line);
    for (size_t cut = 0; cut < length; cut++) {
        char *part = malloc(cut + 1); /* of its own size, for the sanitizer */
        memcpy(part, line, cut);
        part[cut] = '\0';
        cbx_counterfactual *r = NULL;
        cbx_error           err = {0};
        if (!CHECK_INT(cbx_counterfactual_parse(part, &r, NULL, NULL, &err), CBX_INVALID))
            printf("  (%zu of %zu bytes)\n", cut, length);
        CHECK(r == NULL && err.message[0]);
        free(part);
    }
    free(line);
    cbx_graph_free(g);
}

TEST(a_damaged_line_is_read_or_refused_but_never_worse)
{
    static const char damage[] = {'\0' + 1, '"', '{', '}', '[', ']', ',', '9', '-', 'e', '\\', -1};
    char              line[sizeof by_hand];
    for (size_t at = 0; at + 1 < sizeof by_hand; at++)
        for (size_t k = 0; k < sizeof damage; k++) {
            cbx_counterfactual *r = NULL;
            char                a[65], b[65];
            memcpy(line, by_hand, sizeof line);
            line[at] = damage[k];
            cbx_status status = cbx_counterfactual_parse(line, &r, a, b, NULL);
            CHECK(status == CBX_OK ? r != NULL : status == CBX_INVALID && !r);
            cbx_counterfactual_free(r);
        }
}

/* ---- memory */

static cbx_status read_once(void *user)
{
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    char                a[65], b[65];
    cbx_status          status = cbx_counterfactual_parse(user, &r, a, b, &err);
    CHECK_INT(err.status, status);
    CHECK((r != NULL) == (status == CBX_OK));
    cbx_counterfactual_free(r);
    return status;
}

TEST(reading_survives_the_failure_of_any_allocation)
{
    cbx_graph         *g = sample_graph(CBX_NODE, true);
    cbx_counterfactual c = sample_found(CBX_NODE);
    char              *line = sample_line(&c, g);
    test_each_allocation(read_once, line);
    test_each_allocation(read_once, (void *)(uintptr_t)by_hand);
    free(line);
    cbx_graph_free(g);
}
