/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.c: see fuzz.h. */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pt2.h"

void fuzz_stop(const char *why, ...)
{
    va_list args;
    va_start(args, why);
    (void)vfprintf(stderr, why, args);
    va_end(args);
    (void)fputc('\n', stderr);
    abort();
}

void fuzz_check(cbx_status status, const cbx_error *err)
{
    if (status == CBX_NO_MEMORY)
        fuzz_stop("a small input took too much memory: %s", err->message);
    if (status && !err->message[0])
        fuzz_stop("an error without a message");
}

void fuzz_use(cbx_graph *graph)
{
    cbx_graph_stats stats;
    char            hash[65];
    if (!graph)
        return;
    (void)cbx_graph_measure(graph, &stats, NULL);
    cbx_graph_hash(graph, hash);
    cbx_graph_free(graph);
}

/* ---- readers */

static void nothing(void *user, cbx_problem_kind kind, const char *message)
{
    (void)user, (void)kind, (void)message;
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
    fuzz_check(status, &err);
    fuzz_use(graph);
    cbx_bundle_close(r.bundle);
}

void fuzz_read(const cbx_reader *reader, const uint8_t *bytes, size_t size)
{
    read_once(reader, bytes, size, false, CBX_READ_AUTO);
    read_once(reader, bytes, size, true, CBX_READ_NODE);
}

void fuzz_load(const cbx_reader *reader, const uint8_t *bytes, size_t size)
{
    cbx_error   err = {0};
    cbx_graph  *graph = NULL;
    const char *path = fuzz_file("x", bytes, size);
    fuzz_check(reader->load(path, &graph, &err), &err);
    fuzz_use(graph);
    fuzz_check(cbx_graph_check_with(path, NULL, nothing, NULL, &err), &err);
}

/* ---- files */

static char folder[1024];

static void remove_folder(void)
{
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));)
        (void)unlinkat(dirfd(dir), e->d_name, 0);
    if (dir)
        (void)closedir(dir);
    (void)rmdir(folder);
}

static void give_up(const char *what)
{
    perror(what);
    _exit(1);
}

const char *fuzz_folder(void)
{
    const char *base = getenv("TMPDIR");
    if (folder[0])
        return folder;
    (void)snprintf(folder, sizeof folder, "%s/combinex-fuzz-XXXXXX",
                   base && *base ? base : P_tmpdir);
    if (!mkdtemp(folder))
        give_up(folder);
    (void)atexit(remove_folder);
    return folder;
}

const char *fuzz_file(const char *name, const uint8_t *bytes, size_t size)
{
    static char last[1100];
    (void)snprintf(last, sizeof last, "%s/%s", fuzz_folder(), name);
    int fd = open(last, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        give_up(last);
    for (size_t at = 0; at < size;) {
        ssize_t wrote = write(fd, bytes + at, size - at);
        if (wrote < 0)
            give_up(last);
        at += (size_t)wrote;
    }
    (void)close(fd);
    return last;
}

/* ---- text */

char *fuzz_text(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        give_up("malloc");
    if (size)
        memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

char *fuzz_line(char **rest)
{
    char *line = *rest;
    if (!*line)
        return NULL;
    char *end = line + strcspn(line, "\n");
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return line;
}

/* ---- something to ask about */

const cbx_graph *fuzz_graph(void)
{
    static const int64_t     from[] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 0, 2, 2};
    static const int64_t     to[] = {1, 0, 2, 1, 3, 2, 4, 3, 5, 4, 0, 5, 0, 2};
    static const float       x[] = {1, 0, 0.5f, 0, 1, -2, 1, 0, 3, 0, 1, 0, 0, 1, 7, 1, 0, -0.25f};
    static const int64_t     y[] = {0, 1, 2, 0, 1, 2};
    static const char *const names[] = {"left", "right", "size"};
    static cbx_graph        *graph;
    if (graph)
        return graph;
    cbx_graph_data data = {.num_nodes = 6,
                           .num_features = 3,
                           .num_classes = 3,
                           .num_edges = sizeof from / sizeof *from,
                           .edge_source = from,
                           .edge_target = to,
                           .x = x,
                           .y = y,
                           .name = "six",
                           .feature_names = names};
    cbx_error      err = {0};
    if (cbx_graph_new(&data, &graph, &err))
        fuzz_stop("%s", err.message);
    return graph;
}

const cbx_model *fuzz_model(void)
{
    static cbx_model *model;
    cbx_model_spec    spec;
    cbx_error         err = {0};
    if (model)
        return model;
    cbx_fields_default(cbx_model_table(), &spec);
    spec.layers = 2;
    spec.hidden = 4;
    if (cbx_model_new_with(fuzz_graph(), &spec, 7, &model, &err))
        fuzz_stop("%s", err.message);
    return model;
}

cbx_status fuzz_plan(char **rest, cbx_bench_plan *plan, cbx_error *err)
{
    enum { MOST_DATA = 3 };
    static cbx_bench_options o;
    static cbx_bench_data    data[MOST_DATA];
    size_t                   count = 0;
    cbx_fields_default(cbx_bench_table(), &o);
    for (char *line; (line = fuzz_line(rest)) && *line;) {
        char *value = strchr(line, ' ');
        if (value)
            *value++ = '\0';
        if (!strcmp(line, "data") && count < MOST_DATA)
            data[count++] = (cbx_bench_data){value ? value : "", fuzz_graph()};
        else
            (void)cbx_fields_set(cbx_bench_table(), &o, line, value ? value : "", NULL);
    }
    o.folds = o.folds > 8 ? 8 : o.folds;
    return cbx_bench_plan_init(plan, &o, data, count, err);
}

uint8_t *fuzz_with_sidecar(const uint8_t *bytes, size_t size, size_t *whole)
{
    static const char data[] = "==> edges.csv <==\nsource,target\na,b\nb,c\n"
                               "==> features.csv <==\nid,age,tall,short,label\n"
                               "a,31,1,0,x\nb,25.5,0,1,y\nc,4,0,1,x\n"
                               "==> combinex.json <==\n";
    size_t            before = sizeof data - 1;
    uint8_t          *all = malloc(before + size);
    if (!all)
        give_up("malloc");
    memcpy(all, data, before);
    if (size)
        memcpy(all + before, bytes, size);
    *whole = before + size;
    return all;
}

cbx_status fuzz_program(const uint8_t *bytes, size_t size, cbx_program **out, cbx_error *err)
{
    enum { MOST_PARTS = 64 };
    cbx_bundle *bundle = NULL;
    cbx_arena   arena = {0};
    cbx_part    part[MOST_PARTS];
    cbx_parts   parts = {.path = "model.pt2", .part = part};
    const char *name;
    cbx_status  status = cbx_bundle_memory(bytes, size, &bundle, err);
    for (size_t i = 0; !status && i < MOST_PARTS && (name = cbx_bundle_name(bundle, i)); i++) {
        unsigned char *content = NULL;
        size_t         length = 0;
        status = cbx_bundle_slurp(bundle, name, &content, &length, err);
        if (!status)
            part[parts.count++] = (cbx_part){name, content, length};
    }
    if (!status)
        status = cbx_parts_index(&parts, &arena, err);
    if (!status)
        status = cbx_program_from_parts(&parts, NULL, out, err);
    for (size_t i = 0; i < parts.count; i++)
        free((void *)part[i].bytes);
    cbx_arena_free(&arena);
    cbx_bundle_close(bundle);
    return status;
}
