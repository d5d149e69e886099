/* SPDX-License-Identifier: Apache-2.0 */
/* explain_trace.c: a search epoch by epoch, as one JSON object: the target, the
 * factual graph's size, what was found, and `trace`, one record an epoch, at the
 * parameters before its step. */
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "json.h"

static void put_option(json *j, const cbx_options *options, const char *name)
{
    const cbx_option_table *table = cbx_explain_table();
    const cbx_option       *option;
    for (size_t i = 0; (option = cbx_option_at(table, i)); i++) {
        if (!strcmp(option->name, name))
            json_option(j, options, option);
    }
}

static void put_row(json *j, const char *key, bool is_it, int32_t row)
{
    if (is_it)
        json_int(j, key, row);
    else
        json_text(j, key, NULL);
}

static void put_floats(json *j, const char *key, const float *values, int32_t count)
{
    json_open(j, key, '[');
    for (int32_t i = 0; i < count; i++)
        json_float(j, NULL, values[i]);
    json_close(j, ']');
}

static int by_ends(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    if (x[0] != y[0])
        return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

/* What an edit and an edge have in common if the edit removes the edge: its id,
 * or, where both directions go, its ends. */
static void edge_key(bool undirected, int64_t edge, int64_t from, int64_t to, int64_t key[2])
{
    key[0] = !undirected ? edge : from < to ? from : to;
    key[1] = !undirected ? 0 : from < to ? to : from;
}

/* The edges that are gone, each direction on its own, in the order of the data. */
static int put_removed(json *j, const cbx_graph_data *d, const cbx_counterfactual *c)
{
    int64_t(*keys)[2] = malloc((size_t)(c->num_edges_removed + 1) * sizeof *keys);
    size_t count = 0;
    bool   undirected = false;
    if (!keys)
        return fail("out of memory");
    for (int64_t i = 0; i < c->num_edits; i++) {
        const cbx_edit *e = &c->edits[i];
        if (e->op != CBX_REMOVE_EDGE)
            continue;
        undirected = e->undirected; /* all are, or none */
        edge_key(undirected, e->edge, e->source, e->target, keys[count++]);
    }
    qsort(keys, count, sizeof *keys, by_ends);
    json_open(j, "removed_edges", '[');
    for (int64_t e = 0; count && e < d->num_edges; e++) {
        int64_t key[2];
        edge_key(undirected, e, d->edge_source[e], d->edge_target[e], key);
        if (!bsearch(key, keys, count, sizeof *keys, by_ends))
            continue;
        json_open(j, NULL, '[');
        json_int(j, NULL, d->edge_source[e]);
        json_int(j, NULL, d->edge_target[e]);
        json_close(j, ']');
    }
    json_close(j, ']');
    free(keys);
    return EXIT_DONE;
}

static void put_epoch(json *j, const cbx_epoch *e)
{
    json_open(j, NULL, '{');
    json_double(j, "loss", e->loss);
    json_double(j, "ce", e->ce);
    json_double(j, "edge_loss", e->edge_loss);
    json_double(j, "feature_loss", e->feature_loss);
    json_double(j, "alpha", e->alpha);
    json_double(j, "eta", e->eta);
    json_bool(j, "hit", e->hit);
    json_int(j, "changed_features", e->changed_features);
    json_int(j, "removed_edges", e->removed_edges);
    json_close(j, '}');
}

static void put_start(json *j, const explain_job *job, const cbx_counterfactual *c)
{
    put_row(j, "node", c->task == CBX_NODE, c->row);
    put_row(j, "graph", c->task == CBX_GRAPH, c->row);
    put_option(j, job->args->options, "policy");
    put_option(j, job->args->options, "epochs");
    json_int(j, "nodes", c->num_nodes);
    json_int(j, "edges", c->num_edges);
    json_int(j, "prediction", c->prediction);
    if (c->target >= 0)
        json_int(j, "target", c->target);
    else
        json_text(j, "target", "any");
    put_floats(j, "log_probs", c->before, c->num_classes);
}

int explain_write_trace(output *out, const explain_job *job, const cbx_counterfactual *c)
{
    int status = output_open(out, job->args->trace);
    if (status)
        return status;
    json j = {.out = out->file};
    json_open(&j, NULL, '{');
    put_start(&j, job, c);
    json_bool(&j, "found", c->outcome == CBX_FOUND);
    if (c->outcome == CBX_FOUND) {
        json_int(&j, "epoch", c->epoch);
        status = put_removed(&j, job->source.view, c);
        json_int(&j, "changed_features", c->num_features_changed);
        put_floats(&j, "cf_log_probs", c->after, c->num_classes);
    }
    json_open(&j, "trace", '[');
    for (int64_t i = 0; i < c->num_trace; i++)
        put_epoch(&j, &c->trace[i]);
    json_close(&j, ']');
    json_close(&j, '}');
    json_line(&j);
    return status ? status : output_finish(out);
}
