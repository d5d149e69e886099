/* SPDX-License-Identifier: Apache-2.0 */
/* apart.c: see apart.h. */
#include "apart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a path stands for. A file that is not there yet is a name in a folder. */
typedef struct identity {
    bool  known;
    dev_t device;
    ino_t file;   /* or of its folder: */
    char *name;   /* of what is not there yet, to be freed; NULL: it is there */
    bool  folder; /* it is one */
} identity;

static identity of_info(const struct stat *info)
{
    /* two outputs may go to the same device, and one may come from there */
    bool folder = S_ISDIR(info->st_mode);
    return (identity){S_ISREG(info->st_mode) || folder, info->st_dev, info->st_ino, NULL, folder};
}

static size_t bare_length(const char *path) /* without slashes behind */
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

static identity of_path(const char *path)
{
    identity    id = {0};
    struct stat info;
    char       *target = NULL, *bare = strndup(path, bare_length(path));
    if (bare && !stat(bare, &info)) {
        id = of_info(&info);
    } else if (bare && !cbx_file_target(bare, &target, NULL)) {
        char       *slash = strrchr(target, '/');
        const char *name = slash ? slash + 1 : target;
        char       *folder = slash ? strndup(target, (size_t)(slash - target) + 1) : strdup(".");
        if (folder && !stat(folder, &info))
            id = (identity){true, info.st_dev, info.st_ino, strdup(name), false};
        id.known = id.known && id.name;
        free(folder);
    }
    free(target);
    free(bare);
    return id;
}

static bool same(const identity *a, const identity *b)
{
    return a->known && b->known && a->device == b->device && a->file == b->file &&
           (a->name && b->name ? !strcmp(a->name, b->name) : !a->name && !b->name);
}

/* Whether `path` is the file `id`, or lies in the folder that it is. */
static bool touches(const identity *id, const char *path)
{
    const char *slash = strrchr(path, '/');
    identity    other = of_path(path);
    bool        hit = same(id, &other);
    free(other.name);
    if (!hit && id->folder) {
        char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
        other = folder ? of_path(folder) : (identity){0};
        hit = same(id, &other);
        free(other.name);
        free(folder);
    }
    return hit;
}

bool apart_holds(const char *folder, const char *path)
{
    identity id = of_path(folder);
    bool     holds = touches(&id, path);
    free(id.name);
    return holds;
}

static bool given(const named_file *f)
{
    return f->path && strcmp(f->path, "-") != 0;
}

static int refuse(const named_file *output, const char *what, const char *path)
{
    return fail("%s %s: is the same file as %s, %s, which would be lost: choose another",
                output->what, output->path, what, path);
}

static int check_inputs(const named_file *output, const identity *id, const named_file *inputs,
                        size_t num_inputs, const source *sources, size_t num_sources)
{
    for (size_t i = 0; i < num_inputs; i++)
        if (given(&inputs[i]) && touches(id, inputs[i].path))
            return refuse(output, inputs[i].what, inputs[i].path);
    for (size_t s = 0; s < num_sources; s++) {
        const char *path;
        for (size_t i = 0; (path = cbx_graph_origin(sources[s].graph, i)); i++)
            if (touches(id, path))
                return refuse(output, "the data", path);
    }
    return EXIT_DONE;
}

int apart_check(const named_file *outputs, size_t num_outputs, const named_file *inputs,
                size_t num_inputs, const source *sources, size_t num_sources)
{
    struct stat      info;
    const named_file screen = {"standard output,", "redirected"};
    int              status = EXIT_DONE;
    identity         id = {0};
    if (!fstat(STDOUT_FILENO, &info))
        id = of_info(&info);
    if (id.known)
        status = check_inputs(&screen, &id, inputs, num_inputs, sources, num_sources);
    for (size_t i = 0; i < num_outputs && status == EXIT_DONE; i++) {
        if (!given(&outputs[i]))
            continue;
        id = of_path(outputs[i].path);
        for (size_t k = 0; k < i && status == EXIT_DONE; k++)
            if (given(&outputs[k]) && touches(&id, outputs[k].path))
                status = fail("%s %s: is the same file as %s %s: choose another", outputs[i].what,
                              outputs[i].path, outputs[k].what, outputs[k].path);
        if (status == EXIT_DONE)
            status = check_inputs(&outputs[i], &id, inputs, num_inputs, sources, num_sources);
        free(id.name);
    }
    return status;
}
