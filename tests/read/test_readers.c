/* SPDX-License-Identifier: Apache-2.0 */
/* All readers alike: the fuzzers' seeds are sound data sets and their files are
 * recognised, and no reader trips over an allocation that fails. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reading.h"
#include "test.h"

typedef struct seed {
    const cbx_reader *reader;
    unsigned char    *bytes;
    size_t            size;
} seed;

typedef void (*each_seed)(const seed *s, const char *name);

static void for_seeds(each_seed call)
{
    for (size_t i = 0; cbx_reader_at(i); i++) {
        const cbx_reader *reader = cbx_reader_at(i);
        char              folder[512], path[1024];
        size_t            seeds = 0;
        if (reader->load) /* tests/data looks after it */
            continue;
        (void)snprintf(path, sizeof path, "fuzz/seeds/%s", reader->name);
        for (char *c = path; *c; c++)
            *c = *c == '-' ? '_' : *c;
        const char *found = test_source(path);
        if (!CHECK(found != NULL))
            continue;
        (void)snprintf(folder, sizeof folder, "%s", found);
        DIR *dir = opendir(folder);
        for (struct dirent *e; dir && (e = readdir(dir));) {
            seed s = {.reader = reader};
            if (e->d_name[0] == '.')
                continue;
            (void)snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
            s.bytes = test_read_file(path, &s.size);
            if (CHECK(s.bytes != NULL))
                call(&s, path);
            free(s.bytes);
            seeds++;
        }
        if (dir)
            (void)closedir(dir);
        CHECK(seeds > 0);
    }
}

static cbx_status read_seed(const seed *s, cbx_graph **graph, cbx_error *err)
{
    cbx_read_options options = {0};
    cbx_reading      r = {.options = &options, .err = err};
    *graph = NULL;
    cbx_status status = cbx_bundle_memory(s->bytes, s->size, &r.bundle, err);
    if (!status)
        status = cbx_reading_graph(&r, s->reader, graph);
    cbx_bundle_close(r.bundle);
    return status;
}

static bool built_without(const cbx_error *err)
{
    return strstr(err->message, "built without") != NULL;
}

static void reads(const seed *s, const char *name)
{
    cbx_graph *graph;
    cbx_error  err = {0};
    cbx_status status = read_seed(s, &graph, &err);
    if (status && !built_without(&err)) {
        printf("  %s: %s\n", name, err.message);
        CHECK_INT(status, CBX_OK);
    }
    cbx_graph_free(graph);
}

TEST(every_seed_is_a_sound_data_set)
{
    for_seeds(reads);
}

static void recognised(const seed *s, const char *name)
{
    cbx_read_options  options = {0};
    const cbx_reader *chosen = NULL;
    cbx_bundle       *bundle;
    cbx_error         err = {0};
    if (!CHECK_OK(cbx_bundle_memory(s->bytes, s->size, &bundle, &err), err))
        return;
    CHECK_OK(cbx_reader_choose(bundle, &options, &chosen, &err), err);
    if (!CHECK(chosen == s->reader))
        printf("  %s: taken for %s\n", name, chosen ? chosen->name : "nothing");
    cbx_bundle_close(bundle);
}

TEST(every_format_is_recognised_by_its_files)
{
    for_seeds(recognised);
}

static cbx_status read_for_memory(void *user)
{
    cbx_graph *graph;
    cbx_error  err = {0};
    cbx_status status = read_seed(user, &graph, &err);
    cbx_graph_free(graph);
    return status;
}

static void survives(const seed *s, const char *name)
{
    cbx_graph *graph;
    cbx_error  err = {0};
    int        before = test_failures();
    if (read_seed(s, &graph, &err))
        return;
    cbx_graph_free(graph);
    test_each_allocation(read_for_memory, (void *)s);
    if (test_failures() > before)
        printf("  (%s)\n", name);
}

TEST(every_reader_survives_every_allocation_that_fails)
{
    for_seeds(survives);
}

/* Cutting a file off anywhere gives an error that names a file or a graph: never a
 * crash, never silence. */
static void cut_off(const seed *s, const char *name)
{
    for (size_t size = 0; size < s->size; size += 1 + s->size / 400) {
        seed           part = *s;
        unsigned char *copy = malloc(size + 1); /* so that reading on is noticed */
        cbx_graph     *graph;
        cbx_error      err = {0};
        if (!copy)
            return;
        memcpy(copy, s->bytes, size);
        part.bytes = copy;
        part.size = size;
        cbx_status status = read_seed(&part, &graph, &err);
        if (!CHECK(status == CBX_OK || (status != CBX_NO_MEMORY && err.message[0])))
            printf("  (%s, %zu bytes)\n", name, size);
        cbx_graph_free(graph);
        free(copy);
    }
}

TEST(files_that_are_cut_off_give_an_error_or_a_graph)
{
    for_seeds(cut_off);
}
