/* SPDX-License-Identifier: Apache-2.0 */
/* data_formats.c: combinex data formats. */
#include <stdio.h>

#include "cli.h"
#include "json.h"
#include "text.h"

enum { NAME_COLUMN = 16 };

typedef struct formats_args {
    general_options general;
} formats_args;

static void print(bool as_json, const char *kind, const char *name, const char *about)
{
    if (as_json) {
        json j = {.out = stdout};
        json_open(&j, NULL, '{');
        json_text(&j, "name", name);
        json_text(&j, "kind", kind);
        json_text(&j, "about", about);
        json_close(&j, '}');
        json_line(&j);
    } else {
        (void)printf("  ");
        text_put(stdout, name, NAME_COLUMN - 2);
        text_wrap(stdout, about, NAME_COLUMN, NAME_COLUMN);
    }
}

static int run(void *args)
{
    const formats_args *a = args;
    bool                as_json = a->general.json;
    if (!as_json)
        (void)printf("Read (--format):\n");
    for (size_t i = 0; cbx_format_name(i); i++)
        print(as_json, "read", cbx_format_name(i), cbx_format_about(i));
    if (!as_json)
        (void)printf("\nWritten (--to):\n");
    for (size_t i = 0; cbx_export_name(i); i++)
        print(as_json, "written", cbx_export_name(i), cbx_export_about(i));
    return EXIT_DONE;
}

const command command_data_formats = {
    .name = "data formats",
    .summary = "list the formats that are read and written",
    .about = "Lists the formats that data sets are read from and written in. docs/formats.md "
             "describes them. With --json, one object per line.",
    .args_size = sizeof(formats_args),
    .examples = (const example[]){{"all of them", "combinex data formats"}, {.why = NULL}},
    .run = run,
};
