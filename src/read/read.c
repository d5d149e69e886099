/* SPDX-License-Identifier: Apache-2.0 */
/* read.c: from a path to a graph: find the files, choose the reader, let it fill a
 * builder, let the sidecar have its say, finish. */
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "graph.h"
#include "read_options.h"
#include "reading.h"
#include "sidecar.h"

#define X(word, text) extern const cbx_reader cbx_reader_##word;
#include "readers.def"
#undef X

static const cbx_reader *const readers[] = {
#define X(word, text) &cbx_reader_##word,
#include "readers.def"
#undef X
};

static const char *const format_choices[] = {"auto",
#define X(word, text) text,
#include "readers.def"
#undef X
                                             NULL};
static const char *const task_choices[] = {"auto", "node", "graph", NULL};

const cbx_option_table *cbx_read_table(void)
{
    static const cbx_option options[] = {
        {"format", CBX_OPTION_CHOICE, offsetof(cbx_read_options, format), "auto", 0, 0,
         format_choices, "what kind of files the data is; auto: found from the files"},
        {"task", CBX_OPTION_CHOICE, offsetof(cbx_read_options, task), "auto", 0, 0, task_choices,
         "tu: a class for each graph (auto) or for each node"},
        {"symmetric", CBX_OPTION_BOOL, offsetof(cbx_read_options, symmetric), "false", 0, 0, NULL,
         "add the reverse of every edge that has none"},
        {"label-column", CBX_OPTION_TEXT, offsetof(cbx_read_options, label_column), NULL, 0, 0,
         NULL,
         "csv: the column of features.csv with the classes; else one called label, class, y "
         "or target"},
        {"sidecar", CBX_OPTION_TEXT, offsetof(cbx_read_options, sidecar), NULL, 0, 0, NULL,
         "JSON with kinds, bounds and names; else the one beside the data is used"},
        {"copy", CBX_OPTION_BOOL, offsetof(cbx_read_options, copy), "false", 0, 0, NULL,
         "read a native file into memory and do not map it: it may then change while it is used"},
    };
    static const cbx_option_table table = CBX_OPTION_TABLE("Data", options, cbx_read_options);
    return &table;
}

const cbx_reader *cbx_reader_at(size_t i)
{
    return i < sizeof readers / sizeof *readers ? readers[i] : NULL;
}

const char *cbx_format_name(size_t i)
{
    return cbx_reader_at(i) ? readers[i]->name : NULL;
}

const char *cbx_format_about(size_t i)
{
    return cbx_reader_at(i) ? readers[i]->about : NULL;
}

static bool has_table(const cbx_bundle *bundle)
{
    const char *name;
    for (size_t i = 0; (name = cbx_bundle_name(bundle, i)); i++)
        if (strstr(name, ".csv") || strstr(name, ".tsv"))
            return true;
    return false;
}

cbx_status cbx_reader_choose(cbx_bundle *bundle, const cbx_read_options *options,
                             const cbx_reader **out, cbx_error *err)
{
    *out = NULL;
    if (options->format > 0) {
        *out = readers[options->format - 1];
        return CBX_OK;
    }
    for (size_t i = 0; cbx_reader_at(i); i++)
        if (readers[i]->detect(bundle)) {
            *out = readers[i];
            return CBX_OK;
        }
    return cbx_fail(err, CBX_INVALID,
                    "%s: not a data set of a known format: 'combinex data formats' lists them%s",
                    cbx_bundle_path(bundle),
                    has_table(bundle) ? "; tables need one of edges, edges.csv or links.csv" : "");
}

/* What every reader would otherwise do for itself. */
static cbx_status complete(cbx_reading *r)
{
    cbx_graph_builder *d = r->builder;
    if (r->options->symmetric)
        d->edge_rules |= CBX_EDGES_BOTH_WAYS;
    if (!d->name)
        d->name = cbx_arena_strdup(&d->arena, cbx_bundle_title(r->bundle));
    if (!d->name)
        return CBX_MEMORY(r);
    return CBX_OK;
}

static bool same_task(const cbx_read_options *o, const cbx_graph *g)
{
    return o->task == CBX_READ_AUTO || (o->task == CBX_READ_GRAPH) == (g->data.task == CBX_GRAPH);
}

static cbx_status reading_run(cbx_reading *r, const cbx_reader *reader, cbx_graph **out)
{
    *out = NULL;
    r->builder = cbx_graph_builder_new();
    cbx_status status = r->builder ? reader->read(r) : CBX_MEMORY(r);
    if (!status && !r->problems)
        status = complete(r);
    if (status || r->problems) { /* while checking, all there is to say has been said */
        cbx_graph_builder_free(r->builder);
        r->builder = NULL;
        return status;
    }
    cbx_graph_builder *builder = r->builder;
    r->builder = NULL;
    status = cbx_graph_builder_finish(builder, out, r->err);
    if (status == CBX_INVALID)
        cbx_error_prefix(r->err, cbx_bundle_path(r->bundle));
    return status;
}

cbx_status cbx_reading_came_from(cbx_reading *r, const cbx_bundle *bundle, cbx_graph *graph)
{
    cbx_status  status = CBX_OK;
    const char *path;
    for (size_t i = 0; !status && (path = cbx_bundle_used(bundle, i)); i++)
        status = cbx_graph_came_from(graph, path, r->err);
    return status;
}

cbx_status cbx_reading_graph(cbx_reading *r, const cbx_reader *reader, cbx_graph **out)
{
    bool        copy = r->options->copy;
    const char *path = cbx_bundle_path(r->bundle);
    *out = NULL;
    cbx_status status = !reader->load ? reading_run(r, reader, out)
                        : copy        ? reader->copy(path, out, r->err)
                                      : reader->load(path, out, r->err);
    if (!status && reader->load && r->options->symmetric)
        status = cbx_reading_both_ways(out, r->err);
    if (!status && *out)
        status = cbx_sidecar_apply(r, *out);
    if (!status && *out)
        status = cbx_reading_came_from(r, r->bundle, *out);
    if (!status && *out && !same_task(r->options, *out))
        status = cbx_fail(r->err, CBX_INVALID, "%s: it has no class for each %s",
                          cbx_bundle_path(r->bundle), task_choices[r->options->task]);
    if (status) {
        cbx_graph_free(*out);
        *out = NULL;
    }
    return status;
}

static cbx_status read_bundle(cbx_bundle *bundle, const cbx_read_options *options, cbx_graph **out,
                              cbx_error *err)
{
    const cbx_reader *reader;
    cbx_status        status = cbx_reader_choose(bundle, options, &reader, err);
    if (status)
        return status;
    cbx_reading r = {.bundle = bundle, .options = options, .err = err};
    return cbx_reading_graph(&r, reader, out);
}

cbx_status cbx_graph_read_with(const char *path, const cbx_read_options *options, cbx_graph **out,
                               cbx_error *err)
{
    static const cbx_read_options plain = {0};
    cbx_bundle                   *bundle;
    *out = NULL;
    cbx_status status = cbx_fields_check(cbx_read_table(), options ? options : &plain, err);
    if (!status)
        status = cbx_bundle_open(path, &bundle, err);
    if (status)
        return status;
    status = read_bundle(bundle, options ? options : &plain, out, err);
    cbx_bundle_close(bundle);
    return status;
}

cbx_status cbx_format_detect(const char *path, const char **name, cbx_error *err)
{
    static const cbx_read_options plain = {0};
    const cbx_reader             *reader;
    cbx_bundle                   *bundle;
    *name = NULL;
    cbx_status status = cbx_bundle_open(path, &bundle, err);
    if (status)
        return status;
    status = cbx_reader_choose(bundle, &plain, &reader, err);
    if (!status)
        *name = reader->name;
    cbx_bundle_close(bundle);
    return status;
}

const char *cbx_graph_origin(const cbx_graph *graph, size_t i)
{
    const cbx_origin *origin = graph->origins;
    for (; origin && i > 0; i--)
        origin = origin->next;
    return origin ? origin->path : NULL;
}

cbx_status cbx_graph_read(const char *path, const cbx_options *options, cbx_graph **out,
                          cbx_error *err)
{
    const void *fields;
    *out = NULL;
    cbx_status status = cbx_options_fields(options, cbx_read_table(), &fields, err);
    return status ? status : cbx_graph_read_with(path, fields, out, err);
}
