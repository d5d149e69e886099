/* SPDX-License-Identifier: Apache-2.0 */
/* data_list.c: combinex data list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "json.h"
#include "source.h"
#include "text.h"

enum { NAME_COLUMN = 20, SIZE_COLUMN = 26 };

typedef struct list_args {
    general_options general;
} list_args;

typedef struct listing {
    bool   json;
    size_t in_folder;
    char  *folder;
} listing;

static int64_t file_size(const char *path)
{
    struct stat info;
    return stat(path, &info) ? 0 : (int64_t)info.st_size;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return !stat(path, &info) && S_ISDIR(info.st_mode);
}

static void print_size(int64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    double                   size = (double)bytes / 1000;
    size_t                   unit = 0;
    while (size >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        size /= 1000;
        unit++;
    }
    (void)printf("%8.*f %s", size < 99.95 ? 1 : 0, size, units[unit]);
}

static void print_builtins(bool as_json)
{
    if (!as_json)
        (void)printf("Built in:\n");
    for (size_t i = 0; cbx_builtin_name(i); i++) {
        const char *name = cbx_builtin_name(i);
        if (as_json) {
            json j = {.out = stdout};
            json_open(&j, NULL, '{');
            json_text(&j, "name", name);
            json_text(&j, "kind", "builtin");
            json_text(&j, "about", cbx_builtin_about(name));
            json_close(&j, '}');
            json_line(&j);
        } else {
            (void)printf("  ");
            text_put(stdout, name, NAME_COLUMN - 2);
            text_wrap(stdout, cbx_builtin_about(name), NAME_COLUMN, NAME_COLUMN);
        }
    }
}

static void print_file(void *user, const char *name, const char *path)
{
    listing *l = user;
    if (l->json) {
        json j = {.out = stdout};
        json_open(&j, NULL, '{');
        json_text(&j, "name", name);
        json_text(&j, "kind", is_folder(path) ? "folder" : "file");
        json_text(&j, "path", path);
        if (!is_folder(path))
            json_int(&j, "bytes", file_size(path));
        json_close(&j, '}');
        json_line(&j);
        return;
    }
    if (l->in_folder++ == 0) {
        (void)printf("\nIn ");
        text_put(stdout, l->folder, 0);
        (void)printf(":\n");
    }
    (void)printf("  ");
    text_put(stdout, name, SIZE_COLUMN - 2);
    if (is_folder(path))
        (void)printf("%11s", "folder");
    else
        print_size(file_size(path));
    (void)printf("\n");
}

/* What is not there yet. */
static void print_remote(bool as_json)
{
    if (!as_json)
        (void)printf("\nTo be had with 'combinex data fetch':\n");
    for (size_t i = 0; cbx_remote_name(i); i++) {
        const char *name = cbx_remote_name(i);
        if (as_json) {
            json j = {.out = stdout};
            json_open(&j, NULL, '{');
            json_text(&j, "name", name);
            json_text(&j, "kind", "remote");
            json_text(&j, "about", cbx_remote_about(name));
            json_close(&j, '}');
            json_line(&j);
        } else {
            (void)printf("  ");
            text_put(stdout, name, NAME_COLUMN - 2);
            text_wrap(stdout, cbx_remote_about(name), NAME_COLUMN, NAME_COLUMN);
        }
    }
}

static int run(void *args)
{
    const list_args *a = args;
    listing          l = {.json = a->general.json};
    size_t           files = 0;

    print_builtins(l.json);
    for (size_t i = 0; (l.folder = source_folder(i)); i++) {
        l.in_folder = 0;
        files += source_list(l.folder, print_file, &l);
        free(l.folder);
    }
    print_remote(l.json);
    if (files || l.json || a->general.quiet)
        return EXIT_DONE;
    (void)printf("\nNo data files; these folders are searched:\n");
    for (size_t i = 0; (l.folder = source_folder(i)); i++) {
        (void)printf("  ");
        text_put(stdout, l.folder, 0);
        (void)printf("\n");
        free(l.folder);
    }
    return EXIT_DONE;
}

const command command_data_list = {
    .name = "data list",
    .summary = "list the data sets: built in, in the data folders, to download",
    .about = "Lists the data sets that can be named: the built-in ones, those in the folders of "
             "COMBINEX_DATA, in the user's own data folder and among the downloads, and those that "
             "can be downloaded. With --json, one object per line.",
    .args_size = sizeof(list_args),
    .examples = (const example[]){{"what there is", "combinex data list"},
                                  {"with a folder of your own",
                                   "COMBINEX_DATA=~/graphs combinex data list"},
                                  {.why = NULL}},
    .run = run,
};
