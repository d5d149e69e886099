/* SPDX-License-Identifier: Apache-2.0 */
/* kept.c: many explanations, of which each is kept as soon as it is there.
 *
 * The lines are the protocol: whoever wrote one, before or after a crash, alone or in a team, it
 * says what it is about and what it was found with. What is missing is what has no line. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atomic_file.h"
#include "error.h"
#include "graph.h"
#include "line_file.h"
#include "report.h"
#include "threads.h"

enum { ROWS_PER_THREAD = 4 }; /* that a process of a team takes at once */

typedef struct kept {
    const cbx_model           *model;
    const cbx_graph           *graph;
    const int32_t             *rows;
    int64_t                    count;
    const cbx_explain_options *options;
    const char                *path;
    const cbx_bench_team      *team;
    cbx_progress               progress;
    void                      *user;
    char                       graph_hash[65], model_hash[65];
    char                      *now;     /* a line of now, of which */
    const char                *tail;    /* all lines have this: options, hashes, version */
    char                     **lines;   /* by row: those of its answers, or NULL */
    int32_t                   *file_of; /* by row: which file they came from, from 1 on */
    int32_t                    files;
    int32_t                   *missing; /* rows, each once */
    int64_t                    num_missing, before, taken;
    cbx_line_file              part;
    bool                       whole;  /* parts end after the last answer of a row */
    cbx_status                 status; /* of keeping a result */
    cbx_error                  err;
} kept;

/* ------------------------------------------------------------ what is same */

static const char *tail_of(const char *line)
{
    const char *at = strstr(line, ",\"options\":{");
    return at ? at : "";
}

/* How a line ends that is written now. */
static cbx_status make_tail(kept *k, cbx_error *err)
{
    cbx_counterfactual none = {.outcome = CBX_SKIPPED, .reason = "", .scope = "", .prediction = -1};
    cbx_graph_hash(k->graph, k->graph_hash);
    cbx_model_hash(k->model, k->model_hash);
    k->now =
        cbx_counterfactual_json_with(&none, k->graph, k->options, k->graph_hash, k->model_hash);
    k->tail = k->now ? tail_of(k->now) : NULL;
    return k->now ? CBX_OK : cbx_fail_memory(err);
}

/* The first setting in which two tails differ. */
static cbx_status say_setting(const char *then, const char *now, cbx_error *err)
{
    size_t at = 0, from;
    while (then[at] && then[at] == now[at])
        at++;
    for (from = at; from && !strchr(",{", then[from - 1]);)
        from--;
    return cbx_fail(err, CBX_INVALID, "was found with %.*s, and now it is %.*s",
                    (int)strcspn(then + from, ",}"), then + from, (int)strcspn(now + from, ",}"),
                    now + from);
}

/* Refuses a line that this run would not write. */
static cbx_status check_line(const kept *k, const char *line, int32_t *row, cbx_error *err)
{
    char                graph_hash[65], model_hash[65];
    cbx_counterfactual *c;
    cbx_status          status = cbx_counterfactual_parse(line, &c, graph_hash, model_hash, err);
    if (status)
        return status;
    *row = c->row;
    if (strcmp(graph_hash, k->graph_hash) != 0)
        status = cbx_fail(err, CBX_INVALID, "was found with other data");
    else if (strcmp(model_hash, k->model_hash) != 0)
        status = cbx_fail(err, CBX_INVALID, "was found with another model");
    else if (c->task != k->graph->data.task || c->row >= cbx_graph_label_rows(k->graph))
        status = cbx_fail(err, CBX_INVALID, "is about what is not in the data");
    else if (c->outcome != CBX_SKIPPED &&
             c->reproducible != cbx_model_describe(k->model).reproducible)
        status = cbx_fail(err, CBX_INVALID, "was found with%s reproducible",
                          c->reproducible ? "" : "out");
    else if (strcmp(tail_of(line), k->tail) != 0)
        status = say_setting(tail_of(line), k->tail, err);
    cbx_counterfactual_free(c);
    return status;
}

/* ---------------------------------------------------------------- loading */

/* Further answers of a row come behind the first. */
static cbx_status add_line(kept *k, int32_t row, const char *line, cbx_error *err)
{
    size_t had = k->lines[row] ? strlen(k->lines[row]) : 0, size = strlen(line);
    if (had && k->file_of[row] != k->files)
        return CBX_OK; /* a part that was gathered and not yet removed repeats it */
    char *more = realloc(k->lines[row], had + size + 2);
    if (!more)
        return cbx_fail_memory(err);
    memcpy(more + had, line, size + 1);
    more[had + size] = '\n';
    more[had + size + 1] = '\0';
    k->lines[row] = more;
    k->file_of[row] = k->files;
    return CBX_OK;
}

/* A part may end after the first of several answers; one that was gathered is whole. */
static cbx_status load(kept *k, const char *path, bool whole, cbx_error *err)
{
    char      *text, *line, place[64];
    size_t     size;
    int32_t    row = -1;
    int64_t    number = 0;
    cbx_status status = cbx_text_read(path, &text, &size, err);
    char      *rest = text;
    k->files++;
    while (!status && (line = cbx_line_next(&rest))) {
        number++;
        status = check_line(k, line, &row, err);
        if (!status)
            status = add_line(k, row, line, err);
    }
    free(text);
    if (status && status != CBX_NO_MEMORY) {
        (void)snprintf(place, sizeof place, "line %lld", (long long)number);
        cbx_error_prefix(err, place);
        cbx_error_prefix(err, path);
    }
    if (!status && !whole && row >= 0 && k->options->total_cfs > 1 && k->file_of[row] == k->files) {
        free(k->lines[row]);
        k->lines[row] = NULL;
    }
    return status;
}

/* "PATH.part", or of one process "PATH.RANK.part", to be freed. */
static char *part_path(const char *path, int rank)
{
    size_t size = strlen(path) + 24;
    char  *name = malloc(size);
    if (name && rank < 0)
        (void)snprintf(name, size, "%s.part", path);
    else if (name)
        (void)snprintf(name, size, "%s.%d.part", path, rank);
    return name;
}

/* Is `name` that of a process's part? */
static bool is_part(const char *name, const char *base)
{
    size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || name[length] != '.')
        return false;
    size_t digits = strspn(name + length + 1, "0123456789");
    return digits && digits < 10 && !strcmp(name + length + 1 + digits, ".part");
}

typedef cbx_status (*on_part)(kept *k, const char *part, cbx_error *err);

static cbx_status each_part(kept *k, on_part each, cbx_error *err)
{
    const char *slash = strrchr(k->path, '/'), *base = slash ? slash + 1 : k->path;
    char       *folder = slash ? strndup(k->path, (size_t)(slash - k->path) + 1) : strdup("./");
    DIR        *all = folder ? opendir(folder) : NULL;
    cbx_status  status = CBX_OK;
    if (!all)
        status = folder ? cbx_fail_errno(err, folder, "read") : cbx_fail_memory(err);
    for (struct dirent *e = all ? readdir(all) : NULL; e && !status; e = readdir(all)) {
        if (!is_part(e->d_name, base))
            continue;
        size_t size = strlen(k->path) + strlen(e->d_name) + 2;
        char  *part = malloc(size);
        if (part)
            (void)snprintf(part, size, "%.*s%s", (int)(base - k->path), k->path, e->d_name);
        status = part ? each(k, part, err) : cbx_fail_memory(err);
        free(part);
    }
    if (all)
        (void)closedir(all);
    free(folder);
    return status;
}

static cbx_status load_part(kept *k, const char *part, cbx_error *err)
{
    return load(k, part, k->whole, err);
}

static cbx_status remove_part(kept *k, const char *part, cbx_error *err)
{
    bool own = k->part.path && !strcmp(part, k->part.path);
    return !own && unlink(part) ? cbx_fail_errno(err, part, "remove") : CBX_OK;
}

static cbx_status refuse_part(kept *k, const char *part, cbx_error *err)
{
    struct stat info;
    (void)k;
    if (stat(part, &info) || !info.st_size)
        return CBX_OK;
    return cbx_fail(err, CBX_INVALID,
                    "%s: has answers of a run that was interrupted; the option resume goes on with "
                    "them, and without that file it begins anew",
                    part);
}

/* The gathered part and those of processes. */
static cbx_status load_parts(kept *k, cbx_error *err)
{
    char      *gathered = part_path(k->path, -1);
    cbx_status status = gathered ? load(k, gathered, true, err) : cbx_fail_memory(err);
    free(gathered);
    return status ? status : each_part(k, load_part, err);
}

/* Where there are no parts, a run may have ended, of fewer rows. */
static cbx_status load_file(kept *k, cbx_error *err)
{
    for (int32_t i = 0; i < cbx_graph_label_rows(k->graph); i++)
        if (k->lines[i])
            return CBX_OK;
    return load(k, k->path, true, err);
}

/* What is there becomes one file, in the order of rows; then the parts go. */
static cbx_status gather(kept *k, cbx_error *err)
{
    cbx_atomic_file file;
    char           *path = part_path(k->path, -1);
    cbx_status      status = path ? cbx_atomic_open(&file, path, err) : cbx_fail_memory(err);
    free(path);
    if (status)
        return status;
    for (int64_t i = 0; i < k->count && !status; i++) {
        const char *lines = k->lines[k->rows[i]];
        if (lines)
            status = cbx_atomic_write(&file, lines, strlen(lines), err);
    }
    if (status) {
        cbx_atomic_abandon(&file);
        return status;
    }
    status = cbx_atomic_commit(&file, err);
    return status ? status : each_part(k, remove_part, err);
}

static void forget_lines(kept *k)
{
    for (int32_t i = 0; k->lines && i < cbx_graph_label_rows(k->graph); i++) {
        free(k->lines[i]);
        k->lines[i] = NULL;
    }
}

/* ----------------------------------------------------------------- asking */

static cbx_status find_missing(kept *k, cbx_error *err)
{
    size_t   rows = (size_t)cbx_graph_label_rows(k->graph);
    uint8_t *met = calloc(rows + 1, 1);
    k->missing = malloc(((size_t)k->count + 1) * sizeof *k->missing);
    if (!met || !k->missing) {
        free(met);
        return cbx_fail_memory(err);
    }
    for (int64_t i = 0; i < k->count; i++) {
        int32_t row = k->rows[i];
        if (!k->lines[row] && !met[row])
            k->missing[k->num_missing++] = row;
        met[row] = 1;
    }
    free(met);
    return CBX_OK;
}

/* A cbx_on_result: all answers of a row at once. */
static int keep(void *user, int64_t i, const cbx_counterfactual *c)
{
    kept  *k = user;
    char  *text = NULL;
    size_t size = 0;
    FILE  *out = open_memstream(&text, &size);
    (void)i;
    k->status = out ? CBX_OK : cbx_fail_memory(&k->err);
    for (; c && !k->status; c = c->next) {
        char *line =
            cbx_counterfactual_json_with(c, k->graph, k->options, k->graph_hash, k->model_hash);
        if (!line || fprintf(out, "%s\n", line) < 0)
            k->status = cbx_fail_memory(&k->err);
        free(line);
    }
    if (out && fclose(out) && !k->status)
        k->status = cbx_fail_memory(&k->err);
    if (!k->status)
        k->status = cbx_line_file_add(&k->part, text, size, &k->err);
    free(text);
    return k->status != CBX_OK;
}

static int report(void *user, int64_t done, int64_t total, const char *text)
{
    kept *k = user;
    (void)total;
    return k->progress ? k->progress(k->user, k->before + done, k->count, text) : 0;
}

static cbx_status ask(kept *k, cbx_error *err)
{
    bool    alone = k->team->size <= 1;
    int64_t unit = alone ? k->num_missing : ROWS_PER_THREAD * cbx_threads(k->options->threads);
    int64_t found = k->count - k->num_missing;
    while (true) {
        int64_t at = (alone ? k->taken++ : k->team->take(k->team->user, 0)) * unit;
        int64_t left = k->num_missing - at;
        if (left <= 0)
            return CBX_OK;
        k->before = found + at;
        cbx_status status =
            cbx_explain_many_with(k->model, k->graph, k->missing + at, left < unit ? left : unit,
                                  k->options, keep, report, k, err);
        if (k->status && err)
            *err = k->err;
        if (k->status || status)
            return k->status ? k->status : status;
    }
}

/* --------------------------------------------------------------- together */

static void meet(const kept *k)
{
    if (k->team->size > 1)
        k->team->meet(k->team->user);
}

static cbx_status open_part(kept *k, cbx_error *err)
{
    char      *path = part_path(k->path, k->team->rank);
    cbx_status status = path ? cbx_line_file_open(&k->part, path, err) : cbx_fail_memory(err);
    free(path);
    return status;
}

/* The first process: what is there already becomes one file. */
static cbx_status begin(kept *k, bool resume, cbx_error *err)
{
    char      *gathered = part_path(k->path, -1);
    cbx_status status = gathered ? CBX_OK : cbx_fail_memory(err);
    if (!status && !resume)
        status = refuse_part(k, gathered, err);
    if (!status && !resume)
        status = each_part(k, refuse_part, err);
    free(gathered);
    if (!status)
        status = open_part(k, err);
    if (!status && resume)
        status = load_parts(k, err);
    if (!status && resume)
        status = load_file(k, err);
    if (!status && resume)
        status = gather(k, err);
    forget_lines(k);
    return status;
}

/* A process alone that had nothing to go on with has them in order: nothing needs to be read. */
static cbx_status take_own(const kept *k, cbx_error *err)
{
    char      *own = part_path(k->path, k->team->rank), *all = part_path(k->path, -1);
    cbx_status status = own && all ? CBX_OK : cbx_fail_memory(err);
    if (!status && rename(own, all))
        status = cbx_fail_errno(err, all, "write");
    free(own);
    free(all);
    return status;
}

static cbx_status work(kept *k, bool resume, int64_t *found, cbx_error *err)
{
    bool       first = k->team->rank == 0;
    char      *gathered = part_path(k->path, -1);
    cbx_status status = gathered ? CBX_OK : cbx_fail_memory(err);
    if (!status)
        status = first ? begin(k, resume, err) : CBX_OK;
    if (status) {
        free(gathered);
        return status;
    }
    meet(k);
    status = first ? CBX_OK : open_part(k, err);
    if (!status)
        status = cbx_line_file_clear(&k->part, err); /* it has been gathered */
    if (!status)
        status = load(k, gathered, true, err);
    free(gathered);
    if (!status)
        status = find_missing(k, err);
    *found = status ? 0 : k->count - k->num_missing;
    if (!status)
        status = ask(k, err);
    if (!status)
        status = cbx_line_file_sync(&k->part, err);
    cbx_line_file_close(&k->part);
    if (status && !(status == CBX_CANCELLED && k->team->size <= 1))
        return status;
    if (!status && k->team->size <= 1 && k->num_missing == k->count)
        return take_own(k, err);
    meet(k);
    forget_lines(k);
    cbx_error  late;
    cbx_status gathering = CBX_OK;
    k->whole = true;
    if (first)
        gathering = load_parts(k, &late);
    if (first && !gathering)
        gathering = gather(k, &late);
    if (!status && gathering && err)
        *err = late;
    return status ? status : gathering;
}

/* A part with nothing in it would only be in the way. */
static void sweep(const kept *k)
{
    struct stat info;
    char       *own = part_path(k->path, k->team->rank);
    if (own && !stat(own, &info) && !info.st_size)
        (void)unlink(own);
    free(own);
}

cbx_status cbx_explain_forget(const char *path, cbx_error *err)
{
    kept       k = {.path = path, .part = {.fd = -1}};
    char      *gathered = part_path(path, -1);
    cbx_status status = gathered ? CBX_OK : cbx_fail_memory(err);
    if (!status && unlink(gathered) && errno != ENOENT)
        status = cbx_fail_errno(err, gathered, "remove");
    free(gathered);
    return status ? status : each_part(&k, remove_part, err);
}

cbx_status cbx_explain_kept(const cbx_model *model, const cbx_graph *graph, const int32_t *rows,
                            int64_t count, const cbx_options *options, const char *path,
                            bool resume, const cbx_bench_team *team, cbx_progress progress,
                            void *user, int64_t *found, cbx_error *err)
{
    static const cbx_bench_team alone = {.size = 1};
    cbx_explain_options         fallback;
    const void                 *fields;
    int64_t                     unwanted;
    cbx_fields_default(cbx_explain_table(), &fallback);
    cbx_status status = cbx_options_fields(options, cbx_explain_table(), &fields, err);
    if (status)
        return status;
    kept   k = {.model = model,
                .graph = graph,
                .rows = rows,
                .count = count,
                .options = fields ? fields : &fallback,
                .path = path,
                .team = team ? team : &alone,
                .progress = progress,
                .user = user,
                .part = {.fd = -1}};
    size_t all = (size_t)cbx_graph_label_rows(graph);
    k.lines = calloc(all + 1, sizeof *k.lines);
    k.file_of = calloc(all + 1, sizeof *k.file_of);
    status = k.lines && k.file_of ? make_tail(&k, err) : cbx_fail_memory(err);
    if (!status)
        status = work(&k, resume, found ? found : &unwanted, err);
    cbx_line_file_close(&k.part);
    sweep(&k);
    forget_lines(&k);
    free(k.lines);
    free(k.file_of);
    free(k.missing);
    free(k.now);
    return status;
}
