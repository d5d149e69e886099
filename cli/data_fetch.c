/* SPDX-License-Identifier: Apache-2.0 */
/* data_fetch.c: combinex data fetch. */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "json.h"
#include "progress.h"
#include "source.h"
#include "text.h"

typedef struct fetch_args {
    general_options general;
    const char     *name;
    cbx_options    *fetch;
} fetch_args;

static int unknown(const char *name)
{
    cbx_nearest near;
    cbx_nearest_begin(&near, name);
    for (size_t i = 0; cbx_remote_name(i); i++)
        cbx_nearest_try(&near, cbx_remote_name(i));
    return fail("no data set '%s' is known to download%s%s%s ('combinex data list' shows them)",
                name, near.best[0] ? "; did you mean '" : "", near.best, near.best[0] ? "'?" : "");
}

static void report(const fetch_args *a, const char *path)
{
    if (a->general.json) {
        json j = {.out = stdout};
        json_open(&j, NULL, '{');
        json_text(&j, "name", a->name);
        json_text(&j, "path", path);
        json_close(&j, '}');
        json_line(&j);
    } else if (!a->general.quiet) {
        (void)printf("%s is in ", a->name);
        text_put(stdout, path, 0);
        (void)printf("; 'combinex data info %s' describes it\n", a->name);
    }
}

static int run(void *args)
{
    const fetch_args *a = args;
    cbx_error         err;
    progress          bar;
    char             *path = NULL;
    if (cbx_builtin_about(a->name)) {
        const char *option = args_first_given(cbx_fetch_table(), a->fetch, NULL);
        if (option)
            return usage_error("data fetch", "--%s: %s is built in: there is nothing to download",
                               option, a->name);
        if (!a->general.quiet)
            (void)printf("%s is built in: there is nothing to download\n", a->name);
        return EXIT_DONE;
    }
    if (!cbx_remote_about(a->name))
        return unknown(a->name);
    char *folder = source_cache();
    if (!folder)
        return fail("neither XDG_CACHE_HOME nor HOME says where downloads go");
    progress_begin(&bar, "downloading", a->general.quiet);
    cbx_status status =
        cbx_dataset_fetch(a->name, folder, a->fetch, progress_update, &bar, &path, &err);
    progress_end(&bar);
    free(folder);
    if (status)
        return fail_with(&err);
    report(a, path);
    free(path);
    return EXIT_DONE;
}

const command command_data_fetch = {
    .name = "data fetch",
    .summary = "download a data set",
    .about = "Downloads a data set from where its authors put it, into the folder combinex in "
             "XDG_CACHE_HOME (~/.cache). From then on its name is enough. A download that breaks "
             "off goes on from there the next time, and files with a published SHA-256 are "
             "checked against it.",
    .args_size = sizeof(fetch_args),
    .operands = (const operand[]){{"NAME", OPERAND_REMOTE, offsetof(fetch_args, name), false,
                                   "a data set that 'combinex data list' shows"},
                                  {.name = NULL}},
    .groups =
        (const option_group[]){
            {.table = cbx_fetch_table, .by_name = true, .offset = offsetof(fetch_args, fetch)},
            {.table = NULL}},
    .extras = (const option_extra[]){{.name = "from", .value = "URL"},
                                     {.name = "sha256", .value = "HEX"},
                                     {.name = NULL}},
    .examples = (const example[]){{"a citation graph", "combinex data fetch cora"}, {.why = NULL}},
    .run = run,
};
