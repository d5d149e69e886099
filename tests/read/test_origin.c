/* SPDX-License-Identifier: Apache-2.0 */
/* Where a graph was read from, and --symmetric for files that are graphs as they stand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph.h"
#include "test.h"

static bool came_from(const cbx_graph *g, const char *path)
{
    const char *origin;
    for (size_t i = 0; (origin = cbx_graph_origin(g, i)); i++)
        if (!strcmp(origin, path))
            return true;
    return false;
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    test_write_file(path, text, strlen(text));
}

TEST(a_folder_of_tables_is_the_tables_that_were_read_and_no_other_file)
{
    char       folder[512], path[1024], side[512];
    cbx_graph *g = NULL;
    cbx_error  err = {0};
    (void)snprintf(folder, sizeof folder, "%s", test_path("tables"));
    (void)snprintf(side, sizeof side, "%s", test_path("side.json"));
    (void)mkdir(folder, 0777);
    put(folder, "edges.csv", "a,b\n0,1\n");
    put(folder, "features.csv", "id,age\n0,1\n1,3\n");
    put(folder, "notes.txt", "mine");
    test_write_file(side, "{}", 2);
    cbx_read_options options = {.sidecar = side};
    if (!CHECK_OK(cbx_graph_read_with(folder, &options, &g, &err), err))
        return;
    (void)snprintf(path, sizeof path, "%s/edges.csv", folder);
    CHECK(came_from(g, path));
    (void)snprintf(path, sizeof path, "%s/features.csv", folder);
    CHECK(came_from(g, path));
    CHECK(came_from(g, side));
    (void)snprintf(path, sizeof path, "%s/notes.txt", folder);
    CHECK(!came_from(g, path));
    cbx_graph_free(g);
    CHECK_OK(cbx_graph_builtin_with("karate", NULL, &g, &err), err);
    CHECK(!cbx_graph_origin(g, 0));
    cbx_graph_free(g);
}

/* 0 -> 1 of weight 2, 1 -> 0, 1 -> 2 of weight 3. */
static const char *native(void)
{
    static const int64_t source[] = {0, 1, 1}, target[] = {1, 0, 2};
    static const float   weight[] = {2, 1, 3}, x[] = {1, 2, 3};
    static const int64_t y[] = {0, 1, 1};
    const char          *path = test_path("native.safetensors");
    cbx_graph_data       d = {.num_nodes = 3,
                              .num_features = 1,
                              .num_edges = 3,
                              .edge_source = source,
                              .edge_target = target,
                              .edge_weight = weight,
                              .x = x,
                              .y = y};
    cbx_graph           *g = NULL;
    CHECK_INT(cbx_graph_new(&d, &g, NULL), CBX_OK);
    CHECK_INT(cbx_graph_save(g, path, NULL), CBX_OK);
    cbx_graph_free(g);
    return path;
}

TEST(symmetric_adds_reverses_to_a_native_file_mapped_or_copied)
{
    const char *path = native();
    for (int copy = 0; copy < 2; copy++) {
        cbx_read_options options = {.symmetric = true, .copy = copy};
        cbx_graph       *g = NULL;
        cbx_error        err = {0};
        if (!CHECK_OK(cbx_graph_read_with(path, &options, &g, &err), err))
            return;
        const cbx_graph_data *d = cbx_graph_arrays(g);
        CHECK(came_from(g, path));
        CHECK_INT(d->num_edges, 4);
        CHECK(d->edge_source[2] == 1 && d->edge_target[2] == 2); /* in their old places */
        CHECK(d->edge_source[3] == 2 && d->edge_target[3] == 1 && d->edge_weight[3] == 3);
        CHECK(d->edge_weight[0] == 2 && d->x[2] == 3 && d->y[1] == 1);
        CHECK_INT(g->in_offset[3], 4); /* indexed, too */
        cbx_graph_free(g);
    }
}

static cbx_status read_symmetric(void *user)
{
    cbx_read_options options = {.symmetric = true};
    cbx_graph       *g = NULL;
    cbx_status       status = cbx_graph_read_with(user, &options, &g, NULL);
    CHECK(!status == (g != NULL));
    cbx_graph_free(g);
    return status;
}

TEST(symmetric_survives_every_failing_allocation)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s", native());
    test_each_allocation(read_symmetric, path);
}
