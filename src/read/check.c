/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: reading for problems' sake. Text formats step over bad lines and tell of
 * each; native files have all their values looked at; what is sound gets warnings. */
#include "error.h"
#include "graph_file.h"
#include "problems.h"
#include "reading.h"

/* All values of a native file, before they are believed. */
static cbx_status check_native(cbx_reading *r)
{
    cbx_graph *raw;
    cbx_status status = cbx_graph_file_map(cbx_bundle_path(r->bundle), &raw, r->err);
    if (status)
        return status;
    r->problems += cbx_problems_errors(&raw->data, r->on_problem, r->user);
    cbx_graph_free(raw);
    return CBX_OK;
}

static cbx_status check_bundle(cbx_reading *r)
{
    const cbx_reader *reader;
    cbx_graph        *graph = NULL;
    cbx_status        status = cbx_reader_choose(r->bundle, r->options, &reader, r->err);
    if (!status && reader->load)
        status = check_native(r);
    if (!status && !r->problems)
        status = cbx_reading_graph(r, reader, &graph);
    if (status == CBX_INVALID) { /* the end of what can be read is a problem itself */
        r->on_problem(r->user, CBX_PROBLEM_ERROR, r->err->message);
        return CBX_OK;
    }
    if (!status && graph)
        status = cbx_problems_warnings(graph, r->on_problem, r->user, r->err);
    cbx_graph_free(graph);
    return status;
}

cbx_status cbx_graph_check_with(const char *path, const cbx_read_options *options,
                                cbx_on_problem on_problem, void *user, cbx_error *err)
{
    static const cbx_read_options plain = {0};
    cbx_error                     own = {0};
    cbx_reading r = {.options = options ? options : &plain, .on_problem = on_problem, .user = user};
    r.err = err ? err : &own;
    cbx_status status = cbx_fields_check(cbx_read_table(), r.options, r.err);
    if (!status)
        status = cbx_bundle_open(path, &r.bundle, r.err);
    if (status)
        return status;
    status = check_bundle(&r);
    cbx_bundle_close(r.bundle);
    return status;
}

cbx_status cbx_graph_check(const char *path, const cbx_options *options, cbx_on_problem on_problem,
                           void *user, cbx_error *err)
{
    const void *fields;
    cbx_status  status = cbx_options_fields(options, cbx_read_table(), &fields, err);
    return status ? status : cbx_graph_check_with(path, fields, on_problem, user, err);
}
