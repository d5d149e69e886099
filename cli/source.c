/* SPDX-License-Identifier: Apache-2.0 */
/* source.c: looking for data sets. */
#include "source.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"
#include "text.h"

#define ENDING ".safetensors"

static char *join(const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char  *text = malloc(size);
    if (text)
        (void)snprintf(text, size, "%s%s%s", a, b, c);
    return text;
}

static bool has_ending(const char *name)
{
    size_t length = strlen(name), ending = strlen(ENDING);
    return length > ending && !strcmp(name + length - ending, ENDING);
}

static bool is_file(const char *path)
{
    struct stat info;
    return !stat(path, &info) && S_ISREG(info.st_mode);
}

static bool is_folder(const char *path)
{
    struct stat info;
    return !stat(path, &info) && S_ISDIR(info.st_mode);
}

/* A folder that happens to be called like a data set is not one. */
static bool is_data_folder(const char *path)
{
    const char *format;
    return is_folder(path) && !cbx_format_detect(path, &format, NULL);
}

static bool is_builtin(const char *name)
{
    for (size_t i = 0; cbx_builtin_name(i); i++) {
        if (!strcmp(cbx_builtin_name(i), name))
            return true;
    }
    return false;
}

char *source_cache(void)
{
    const char *home = getenv("XDG_CACHE_HOME");
    if (home && *home == '/')
        return join(home, "/combinex", "");
    home = getenv("HOME");
    return home && *home ? join(home, "/.cache/combinex", "") : NULL;
}

char *source_folder(size_t i)
{
    const char *list = getenv("COMBINEX_DATA");
    for (; list && *list; list += strspn(list, ":")) {
        size_t length = strcspn(list, ":");
        if (length && i-- == 0)
            return strndup(list, length);
        list += length;
    }
    if (i > 1)
        return NULL;
    if (i == 1)
        return source_cache();
    const char *home = getenv("XDG_DATA_HOME"); /* to be ignored unless absolute */
    if (home && *home == '/')
        return join(home, "/combinex", "");
    home = getenv("HOME");
    return home && *home ? join(home, "/.local/share/combinex", "") : source_cache();
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Whether it is a data set; then the name is cut to what it is called. */
static bool is_data(const char *path, char *name)
{
    static const char *const endings[] = {ENDING, ".zip", ".npz"};
    size_t                   length = strlen(name);
    const char              *format;
    if (is_data_folder(path))
        return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t size = strlen(endings[i]);
        if (length <= size || strcmp(name + length - size, endings[i]) != 0 || !is_file(path))
            continue;
        name[length - size] = '\0';
        return i == 0 || !cbx_format_detect(path, &format, NULL);
    }
    return false;
}

size_t source_list(const char *folder, source_each each, void *user)
{
    struct dirent **entries;
    size_t          found = 0;
    int             count = scandir(folder, &entries, not_hidden, alphasort);
    for (int i = 0; i < count; i++) {
        char *name = entries[i]->d_name;
        char *path = join(folder, "/", name);
        if (path && is_data(path, name)) {
            each(user, name, path);
            found++;
        }
        free(path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return found;
}

static void try_file(void *near, const char *name, const char *path)
{
    (void)path;
    cbx_nearest_try(near, name);
}

void source_try_builtins(cbx_nearest *near)
{
    for (size_t i = 0; cbx_builtin_name(i); i++)
        cbx_nearest_try(near, cbx_builtin_name(i));
}

static int not_found(const char *data)
{
    cbx_nearest near;
    cbx_nearest_begin(&near, data);
    char *folder;
    source_try_builtins(&near);
    for (size_t i = 0; (folder = source_folder(i)); i++) {
        (void)source_list(folder, try_file, &near);
        free(folder);
    }
    (void)fail("no data set '%s'%s%s%s", data, near.best[0] ? "; did you mean '" : "", near.best,
               near.best[0] ? "'?" : "");
    (void)fprintf(stderr, "  tried the built-in names ('combinex data list' shows them)\n");
    for (size_t i = 0; (folder = source_folder(i)); i++) {
        (void)fputs("  tried ", stderr);
        text_put(stderr, folder, 0);
        (void)fputc('/', stderr);
        text_put(stderr, data, 0);
        (void)fputs(ENDING ", .zip, .npz and the folder\n", stderr);
        free(folder);
    }
    if (cbx_remote_about(data))
        (void)fprintf(stderr, "  'combinex data fetch %s' downloads it\n", data);
    if (!getenv("COMBINEX_DATA"))
        (void)fprintf(stderr, "  COMBINEX_DATA can name more folders, separated by colons\n");
    return EXIT_FAILED;
}

/* FOLDER/DATA with an ending that data has, or as a folder; NULL: not there. */
static char *find_in_folder(const char *folder, const char *data)
{
    static const char *const endings[] = {ENDING, ".zip", ".npz", ""};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t size = strlen(folder) + strlen(data) + sizeof ENDING + 2;
        char  *path = malloc(size);
        if (!path)
            return NULL;
        (void)snprintf(path, size, "%s/%s%s", folder, data, endings[i]);
        if (*endings[i] ? is_file(path) : is_data_folder(path))
            return path;
        free(path);
    }
    return NULL;
}

static char *find_in_folders(const char *data)
{
    char *folder;
    for (size_t i = 0; (folder = source_folder(i)); i++) {
        char *path = find_in_folder(folder, data);
        free(folder);
        if (path)
            return path;
    }
    return NULL;
}

static bool is_path(const char *data)
{
    return strchr(data, '/') || has_ending(data) || is_file(data) || is_data_folder(data);
}

bool source_is_builtin(const char *data)
{
    return !is_path(data) && is_builtin(data);
}

int source_check_builtin(const char *data, const cbx_options *options)
{
    /* true of any data set in memory, and of these graphs, which are undirected */
    static const char *const hold[] = {"symmetric", "copy", "task", NULL};
    const char *option = options ? args_first_given(cbx_read_table(), options, hold) : NULL;
    if (option)
        return fail("--%s: is about files, and %s is built in", option, data);
    if (options && args_is(options, "task", "graph"))
        return fail("%s: it has no class for each graph", data);
    return EXIT_DONE;
}

int source_find(const char *data, char **path)
{
    *path = NULL;
    if (source_is_builtin(data))
        return EXIT_DONE;
    *path = is_path(data) ? strdup(data) : find_in_folders(data);
    if (!*path && is_folder(data)) /* which reading says more of than that there is no such data */
        *path = strdup(data);
    else if (!*path && !is_path(data))
        return not_found(data);
    return *path ? EXIT_DONE : fail("out of memory");
}

static void look(const char *path, source_look *out)
{
    struct stat info;
    *out = (source_look){0};
    if (stat(path, &info) || !S_ISREG(info.st_mode))
        return;
    *out =
        (source_look){(uint64_t)info.st_dev, (uint64_t)info.st_ino, info.st_size, info.st_mtime, 0};
#ifndef __APPLE__ /* which has no name for it that standards know */
    out->nanoseconds = info.st_mtim.tv_nsec;
#endif
}

int source_open(source *s, const char *data, const cbx_options *options)
{
    cbx_error err;
    *s = (source){0};
    int status = source_find(data, &s->path);
    if (status == EXIT_DONE && !s->path)
        status = source_check_builtin(data, options);
    if (status)
        return status;
    s->copied = options && args_is(options, "copy", "true");
    if (s->path) {
        fault_watch(s->path);
        look(s->path, &s->seen);
    }
    if (s->path ? cbx_graph_read(s->path, options, &s->graph, &err)
                : cbx_graph_builtin(data, NULL, &s->graph, &err)) {
        source_close(s);
        return fail_with(&err);
    }
    s->view = cbx_graph_arrays(s->graph);
    s->name = s->view->name && *s->view->name ? s->view->name : data;
    return EXIT_DONE;
}

void source_close(source *s)
{
    cbx_graph_free(s->graph);
    cbx_graph_free(s->read);
    fault_forget(s->path);
    free(s->path);
    *s = (source){0};
}

/* A new file of this name is no harm: the old one stays mapped. */
int source_unchanged(const source *s)
{
    source_look now;
    if (!s->path || s->copied)
        return EXIT_DONE;
    look(s->path, &now);
    bool same = now.size == s->seen.size && now.seconds == s->seen.seconds &&
                now.nanoseconds == s->seen.nanoseconds;
    if (same || !s->seen.file || now.file != s->seen.file || now.device != s->seen.device)
        return EXIT_DONE;
    return fail("%s: was written to while it was in use, so the result cannot be trusted; --copy "
                "reads it into memory first",
                s->path);
}

const char *source_row(const source *s)
{
    return s->view->task == CBX_NODE ? "node" : "graph";
}

int64_t source_rows(const source *s)
{
    return s->view->task == CBX_NODE ? s->view->num_nodes : s->view->num_graphs;
}

int source_asked(const source *s, const text_list *nodes, const text_list *graphs, int32_t **rows,
                 size_t *count)
{
    bool             node_task = s->view->task == CBX_NODE;
    const text_list *asked = node_task ? nodes : graphs, *other = node_task ? graphs : nodes;
    const char      *row = source_row(s);
    cbx_error        err;
    if (other->count)
        return fail("%s has a class for each %s: use --%s, not --%s", s->name, row, row,
                    node_task ? "graph" : "node");
    *count = asked->count;
    *rows = malloc((asked->count + 1) * sizeof **rows);
    if (!*rows)
        return fail("out of memory for %zu targets", asked->count);
    for (size_t i = 0; i < asked->count; i++)
        if (cbx_graph_find(s->graph, node_task ? CBX_PART_NODE : CBX_PART_GRAPH, asked->texts[i],
                           &(*rows)[i], &err))
            return fail("--%s: %s: %s", row, s->name, err.message);
    return EXIT_DONE;
}

const char *source_class(const source *s, class_text buffer, int64_t label)
{
    if (s->view->class_names && label >= 0 && label < s->view->num_classes)
        return s->view->class_names[label];
    (void)snprintf(buffer, sizeof(class_text), "%lld", (long long)label);
    return buffer;
}
