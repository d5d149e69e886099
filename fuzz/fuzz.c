/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.c: see fuzz.h. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void stop(const char *why, const cbx_error *err)
{
    (void)fprintf(stderr, "%s: %s\n", why, err->message);
    abort(); /* what every fuzzer takes for a find */
}

static void nothing(void *user, cbx_problem_kind kind, const char *message)
{
    (void)user, (void)kind, (void)message;
}

static void check(cbx_status status, const cbx_error *err)
{
    if (status == CBX_NO_MEMORY)
        stop("a small input took too much memory", err);
    if (status && !err->message[0])
        stop("an error without a message", err);
}

/* What a reader calls a graph can be measured and hashed. */
static void use(cbx_graph *graph)
{
    cbx_graph_stats stats;
    char            hash[65];
    if (!graph)
        return;
    (void)cbx_graph_measure(graph, &stats, NULL);
    cbx_graph_hash(graph, hash);
    cbx_graph_free(graph);
}

static void read_once(const cbx_reader *reader, const uint8_t *bytes, size_t size, bool checking,
                      int task)
{
    cbx_read_options options = {.task = task, .symmetric = size % 2 == 1};
    cbx_error        err = {0};
    cbx_graph       *graph = NULL;
    cbx_reading      r = {.options = &options, .err = &err};
    r.on_problem = checking ? nothing : NULL;
    cbx_status status = cbx_bundle_memory(bytes, size, &r.bundle, &err);
    if (!status) {
        (void)reader->detect(r.bundle);
        status = cbx_reading_graph(&r, reader, &graph);
    }
    check(status, &err);
    use(graph);
    cbx_bundle_close(r.bundle);
}

void fuzz_read(const cbx_reader *reader, const uint8_t *bytes, size_t size)
{
    read_once(reader, bytes, size, false, CBX_READ_AUTO);
    read_once(reader, bytes, size, true, CBX_READ_NODE);
}

static char folder[] = "/tmp/combinex-fuzz-XXXXXX", path[64];

static void remove_folder(void)
{
    (void)unlink(path);
    (void)rmdir(folder);
}

void fuzz_load(const cbx_reader *reader, const uint8_t *bytes, size_t size)
{
    cbx_error  err = {0};
    cbx_graph *graph = NULL;
    if (!path[0] && !mkdtemp(folder)) {
        perror(folder);
        exit(1);
    }
    if (!path[0]) {
        (void)snprintf(path, sizeof path, "%s/x", folder);
        (void)atexit(remove_folder);
    }
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f)) {
        perror(path);
        exit(1);
    }
    check(reader->load(path, &graph, &err), &err);
    use(graph);
    check(cbx_graph_check(path, NULL, nothing, NULL, &err), &err);
}
