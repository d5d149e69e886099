/* SPDX-License-Identifier: Apache-2.0 */
/* export.c: see export.h. */
#include "export.h"

#include <string.h>

#include "output.h"

const char *const export_choices[] = {"auto", "safetensors", "graphml", "gexf",
                                      "dot",  "csv",         "npz",     NULL};

const char *export_format(int to, const char *path)
{
    const char *told = to ? export_choices[to] : cbx_export_of(path);
    return told ? told : "safetensors";
}

int export_check(int to, const char *path)
{
    bool folder = !strcmp(export_format(to, path), "csv");
    return folder ? output_check_folder(path) : output_check(path);
}

int export_write(const source *s, int to, const cbx_edit *edits, int64_t count, const char *path)
{
    cbx_error err;
    if (cbx_graph_export(s->graph, export_format(to, path), edits, count, path, &err))
        return fail_with(&err);
    return EXIT_DONE;
}
