/* SPDX-License-Identifier: Apache-2.0 */
/* column_names.c: see column_names.h. */
#include "column_names.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "json_writer.h"

static const char KEY[] = "feature_names";

/* A JSON list of them; NULL: no memory. */
static char *list_of(const cbx_graph_data *d)
{
    cbx_json_writer w = {.digits = 0};
    cbx_json_open(&w, NULL, '[');
    for (int32_t j = 0; j < d->num_features; j++)
        cbx_json_put_text(&w, NULL, d->feature_names[j]);
    cbx_json_close(&w, ']');
    return cbx_json_take(&w);
}

cbx_status cbx_model_keep_names(cbx_model *model, const cbx_graph *graph, cbx_error *err)
{
    if (!graph->data.feature_names)
        return CBX_OK;
    char      *list = list_of(&graph->data);
    cbx_status status = list ? cbx_model_set_note(model, KEY, list, err) : cbx_fail_memory(err);
    free(list);
    return status;
}

static cbx_status differ(size_t column, const char *was, const char *is, cbx_error *err)
{
    if (!is)
        return cbx_fail(err, CBX_INVALID,
                        "the model was trained on other columns: column %zu was '%.80s', and the "
                        "data has no more than %zu",
                        column, was, column);
    if (!was)
        return cbx_fail(err, CBX_INVALID,
                        "the model was trained on other columns: it knows %zu, and the next of the "
                        "data is '%.80s'",
                        column, is);
    return cbx_fail(err, CBX_INVALID,
                    "the model was trained on other columns: column %zu was '%.80s', and is "
                    "'%.80s' in the data",
                    column, was, is);
}

/* Both lists are JSON, and not the same text. */
static cbx_status find_difference(const char *was, const char *is, cbx_error *err)
{
    cbx_arena       arena = {0};
    const cbx_json *lists[2] = {NULL, NULL}, *at[2];
    cbx_json_error  why;
    cbx_status      status = cbx_json_parse(was, strlen(was), &arena, &lists[0], &why);
    if (!status)
        status = cbx_json_parse(is, strlen(is), &arena, &lists[1], &why);
    if (status == CBX_NO_MEMORY)
        status = cbx_fail_memory(err);
    else if (status || lists[0]->kind != CBX_JSON_LIST)
        status = cbx_fail(err, CBX_INVALID, "the model's note '%s' is not a list of names", KEY);
    for (size_t j = 0; !status && (j < lists[0]->count || j < lists[1]->count); j++) {
        for (int k = 0; k < 2; k++)
            at[k] = cbx_json_at(lists[k], j);
        const char *a = at[0] ? at[0]->text : NULL, *b = at[1] ? at[1]->text : NULL;
        if (!a || !b || strcmp(a, b) != 0)
            status = differ(j, a, b, err);
    }
    cbx_arena_free(&arena);
    return status;
}

cbx_status cbx_model_check_names(const cbx_model *model, const cbx_graph_data *d, cbx_error *err)
{
    const char *was = cbx_model_note(model, KEY);
    if (!was || !d->feature_names)
        return CBX_OK;
    char *is = list_of(d);
    if (!is)
        return cbx_fail_memory(err);
    cbx_status status = strcmp(was, is) != 0 ? find_difference(was, is, err) : CBX_OK;
    free(is);
    return status;
}
