/* SPDX-License-Identifier: Apache-2.0 */
/* same_rows.c: see same_rows.h. */
#include "same_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "rows.h"
#include "standardise.h"

enum { NOBODY = -1 }; /* whose part it is: no process of a team */

/* Does the protocol make no difference to this data set? */
static bool protocols_agree(const cbx_graph *graph)
{
    const cbx_graph_data *d = cbx_graph_arrays(graph);
    for (int32_t j = 0; j < d->num_features; j++)
        if (!d->discrete[j])
            return false;
    return !cbx_standard_applies(graph, CBX_STANDARDISE_AUTO);
}

/* Is there a line that says exactly this? */
static bool has_line(const char *text, const char *line, size_t length)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
        if (strcspn(text, "\n") == length && !strncmp(text, line, length))
            return true;
    return false;
}

/* A line of a plan that answers do not depend on, or of which there may be more than are wanted. */
static bool may_differ(const char *line, bool wanted)
{
    static const char *const each[] = {"protocol ", "data "}, *const more[] = {"model ",
                                                                               "explainer "};
    bool may = false;
    for (int i = 0; i < 2; i++)
        may = may || !strncmp(line, each[i], strlen(each[i])) ||
              (!wanted && !strncmp(line, more[i], strlen(more[i])));
    return may;
}

/* Every line of one that matters must be in the other. */
static cbx_status compare(const char *path, const char *one, const char *other, bool wanted,
                          cbx_error *err)
{
    for (size_t length; *one; one += length + (one[length] == '\n')) {
        length = strcspn(one, "\n");
        if (!may_differ(one, wanted) && !has_line(other, one, length))
            return cbx_fail(err, CBX_INVALID,
                            "%s: its questions are others: '%.*s' is a setting of %s alone", path,
                            (int)length, one, wanted ? "this benchmark" : "that one");
    }
    return CBX_OK;
}

static cbx_status read_plan(const cbx_bench_plan *plan, const char *path, char **text,
                            cbx_error *err)
{
    size_t     size;
    cbx_status status = cbx_text_read(path, text, &size, err);
    if (!status && !*text)
        status =
            cbx_fail(err, CBX_INVALID, "%s: is not there, so no benchmark was begun there", path);
    if (!status)
        status = compare(path, plan->text, *text, true, err);
    return status ? status : compare(path, *text, plan->text, false, err);
}

/* By data set: is it the same in both, and do protocols agree on it? */
static void find_same(const cbx_bench_plan *plan, const char *theirs, bool *same)
{
    for (int32_t i = 0; i < plan->num_data; i++) {
        char line[256], hash[65];
        cbx_graph_hash(plan->data[i].graph, hash);
        int length = snprintf(line, sizeof line, "data %s %s", plan->data[i].name, hash);
        same[i] = has_line(theirs, line, (size_t)length) && protocols_agree(plan->data[i].graph);
    }
}

static cbx_status write_part(const cbx_bench_plan *plan, const char *folder,
                             const cbx_bench_rows *rows, cbx_error *err)
{
    cbx_line_file part;
    cbx_status    status = cbx_bench_part_open(&part, folder, NOBODY, err);
    if (status)
        return status;
    for (int64_t i = 0; i < rows->count && !status; i++)
        status = cbx_bench_part_add(&part, plan, &rows->rows[i], err);
    if (!status)
        status = cbx_line_file_sync(&part, err);
    cbx_line_file_close(&part);
    return status;
}

cbx_status cbx_bench_same_rows(const cbx_bench_plan *plan, const char *from, const char *folder,
                               cbx_error *err)
{
    cbx_bench_rows rows = {0};
    char          *path = cbx_bench_path(from, "plan.txt"), *theirs = NULL;
    bool          *same = calloc((size_t)plan->num_data, sizeof *same);
    cbx_status status = path && same ? read_plan(plan, path, &theirs, err) : cbx_fail_memory(err);
    if (!status) {
        find_same(plan, theirs, same);
        status = cbx_bench_rows_load_of(plan, from, same, &rows, err);
    }
    if (!status)
        status = write_part(plan, folder, &rows, err);
    cbx_bench_rows_free(&rows);
    free(same);
    free(theirs);
    free(path);
    return status;
}
