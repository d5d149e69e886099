/* SPDX-License-Identifier: Apache-2.0 */
/* The sidecar: kinds, bounds, names, what cannot change, what excludes each other. */
#include "bundle_case.h"

#define DATA                                           \
    "==> edges.csv <==\n0,1\n1,2\n\n==> features.csv " \
    "<==\nid,age,a,b,label\n0,30,1,0,0\n1,40,0,1,1\n"  \
    "2,50,1,0,0\n\n==> combinex.json <==\n"

TEST(a_sidecar_has_the_last_word)
{
    cbx_graph *g;
    cbx_error  err = {0};
    if (!CHECK_OK(read_text(DATA
                            "{\"name\": \"friends\", \"kinds\": {\"age\": \"continuous\"},\n"
                            " \"bounds\": {\"age\": [0, 120.5], \"1-2\": [0, 2]},\n"
                            " \"class_names\": [\"no\", \"yes\"], \"immutable\": [\"age\", 2],\n"
                            " \"node_names\": [\"x\", \"y\", \"z\"],\n"
                            " \"groups\": {\"letter\": [\"a\", \"b\"]}}",
                            &g, &err),
                  err))
        return;
    const cbx_graph_data *d = &g->data;
    CHECK(!strcmp(d->name, "friends"));
    CHECK(!d->discrete[0] && d->discrete[1] && d->discrete[2]);
    CHECK(d->feat_min[0] == 0 && d->feat_max[0] == 120.5f && d->feat_max[1] == 2);
    CHECK(!strcmp(d->class_names[1], "yes") && !strcmp(d->node_names[2], "z"));
    CHECK(d->immutable[0] && !d->immutable[1] && d->immutable[2]);
    CHECK_INT(d->num_groups, 1);
    CHECK(d->feature_group[0] == -1 && d->feature_group[1] == 0 && d->feature_group[2] == 0);
    CHECK(!strcmp(d->group_names[0], "letter"));

    /* and the native format keeps all of it */
    const char *path = test_path("kept.safetensors");
    cbx_graph  *back = NULL;
    if (CHECK_OK(cbx_graph_save(g, path, &err), err) &&
        CHECK_OK(cbx_graph_load(path, &back, &err), err)) {
        CHECK(back->data.immutable && back->data.immutable[2] == 1 && !back->data.immutable[1]);
        CHECK_INT(back->data.num_groups, 1);
        CHECK(!strcmp(back->data.group_names[0], "letter") && back->data.feature_group[2] == 0);
    }
    cbx_graph_free(back);
    cbx_graph_free(g);
}

TEST(of_several_that_speak_of_a_feature_the_last_counts)
{
    cbx_graph *g;
    cbx_error  err = {0};
    if (!CHECK_OK(
            read_text(DATA "{\"bounds\": {\"0-2\": [0, 90], \"a\": [0, 3], \"0-1\": [0, 80],"
                           " \"1-2\": [0, 7], \"1\": [0, 5]}, \"immutable\": [\"0-1\", 1, \"0-1\"],"
                           " \"kinds\": {\"0-2\": \"continuous\", \"b\": \"discrete\"}}",
                      &g, &err),
            err))
        return;
    const cbx_graph_data *d = &g->data;
    CHECK(d->feat_max[0] == 80 && d->feat_max[1] == 5 && d->feat_max[2] == 7);
    CHECK(d->immutable[0] && d->immutable[1] && !d->immutable[2]);
    CHECK(!d->discrete[0] && !d->discrete[1] && d->discrete[2]);
    cbx_graph_free(g);
}

TEST(of_features_with_one_name_the_first_is_meant)
{
    cbx_graph *g;
    cbx_error  err = {0};
    if (!CHECK_OK(read_text(DATA "{\"feature_names\": [\"v\", \"2\", \"v\"],"
                                 " \"immutable\": [\"v\", \"2\"]}",
                            &g, &err),
                  err))
        return;
    CHECK(g->data.immutable[0] && g->data.immutable[1] && !g->data.immutable[2]);
    cbx_graph_free(g);
}

TEST(one_kind_is_for_all_features)
{
    cbx_graph *g;
    cbx_error  err = {0};
    if (!CHECK_OK(read_text(DATA "{\"kinds\": \"continuous\"}", &g, &err), err))
        return;
    for (int32_t j = 0; j < 3; j++)
        CHECK(!g->data.discrete[j]);
    cbx_graph_free(g);
}

TEST(what_a_sidecar_has_wrong_is_told)
{
    check_refused(DATA "{\"kind\": {}}", "combinex.json: 'kind' is not a key", "'kinds'");
    check_refused(DATA "{\"kinds\": {\"agee\": \"discrete\"}}", "'agee'", "0 to 2");
    check_refused(DATA "{\"kinds\": {\"3\": \"discrete\"}}", "'3'", "0 to 2");
    check_refused(DATA "{\"kinds\": {\"0\": \"real\"}}", "feature 0", "neither");
    check_refused(DATA "{\"bounds\": {\"0\": [2, 1]}}", "feature 0", "[smallest, largest]");
    check_refused(DATA "{\"bounds\": {\"0\": [2]}}", "feature 0", "[smallest, largest]");
    check_refused(DATA "{\"class_names\": [\"a\"]}", "'class_names'", "2 names");
    check_refused(DATA "{\"immutable\": \"age\"}", "'immutable'", "list");
    check_refused(DATA "{\"groups\": {\"g\": [0], \"h\": [0]}}", "feature 0", "two groups");
    check_refused(DATA "{\"name\":\n\n oops}", "combinex.json, line 3", "");
    check_refused(DATA "[]", "combinex.json", "not a JSON object");
}

TEST(a_native_file_has_its_sidecar_beside_it)
{
    static const int64_t edges[2] = {0, 1};
    const cbx_graph_data data = {.num_nodes = 2,
                                 .num_features = 1,
                                 .num_edges = 1,
                                 .edge_source = edges,
                                 .edge_target = edges + 1,
                                 .x = (const float[]){1, 2}};
    static const char    text[] = "{\"feature_names\": [\"age\"], \"immutable\": [\"age\"]}";
    const char          *path = test_path("native.safetensors");
    cbx_graph           *g = NULL, *read = NULL;
    cbx_error            err = {0};
    if (CHECK_OK(cbx_graph_new(&data, &g, &err), err) &&
        CHECK_OK(cbx_graph_save(g, path, &err), err)) {
        test_write_file(test_path("native.combinex.json"), text, strlen(text));
        if (CHECK_OK(cbx_graph_read_with(path, NULL, &read, &err), err))
            CHECK(!strcmp(read->data.feature_names[0], "age") && read->data.immutable[0]);
    }
    cbx_graph_free(g);
    cbx_graph_free(read);
}
