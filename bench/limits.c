/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c: how long an explanation takes that has a time limit.
 *
 *     combinex_limits DATA MODEL LIMIT[,LIMIT…] [--hubs N] [--row N] [--explainer NAME]
 *
 * Explains the nodes with most edges into them, or the graphs with most edges, with every
 * method (or one) and every limit. A time is that of cbx_explain, from call to return: memory
 * is given back in it, data and model are read before. One line of JSON each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "combinex/kit.h"
#include "explain_options.h"

enum { MOST = 64 };

typedef struct job {
    cbx_graph  *graph;
    cbx_model  *model;
    const char *explainer; /* NULL: all */
    double      limits[MOST];
    int         num_limits, num_rows;
    int32_t     rows[MOST];
} job;

static void stop(const char *what)
{
    fprintf(stderr, "combinex_limits: %s\n", what);
    exit(1);
}

static int64_t edges_of(const cbx_graph_data *d, const int64_t *into, int32_t row)
{
    int64_t begin = row, end = row + 1, sum = 0;
    if (d->task == CBX_GRAPH) {
        begin = d->graph_ptr[row];
        end = d->graph_ptr[row + 1];
    }
    for (int64_t i = begin; i < end; i++)
        sum += into[i];
    return sum;
}

/* The `count` rows with most edges, by picking the best left each time. */
static void find_hubs(job *j, int count)
{
    const cbx_graph_data *d = cbx_graph_arrays(j->graph);
    int32_t               rows = d->task == CBX_GRAPH ? d->num_graphs : d->num_nodes;
    int64_t              *into = calloc((size_t)d->num_nodes + 1, sizeof *into);
    if (!into)
        stop("out of memory");
    for (int64_t e = 0; e < d->num_edges; e++)
        into[d->edge_target[e]]++;
    for (int k = 0; k < count && k < rows && k < MOST; k++) {
        int32_t best = -1;
        int64_t most = -1;
        for (int32_t r = 0; r < rows; r++) {
            bool taken = false;
            for (int i = 0; i < k; i++)
                taken = taken || j->rows[i] == r;
            int64_t edges = taken ? -1 : edges_of(d, into, r);
            if (edges > most) {
                most = edges;
                best = r;
            }
        }
        j->rows[j->num_rows++] = best;
    }
    free(into);
}

/* Seconds of the processor that this process had. */
static double used(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void explain(const job *j, const char *explainer, double limit, int32_t row)
{
    cbx_explain_options options;
    cbx_counterfactual *found = NULL;
    cbx_error           err = {0};
    cbx_fields_default(cbx_explain_table(), &options);
    if (cbx_fields_set(cbx_explain_table(), &options, "explainer", explainer, &err))
        stop(err.message);
    options.target = "any";
    options.time_limit = limit;
    options.threads = 1;
    double from = cbx_clock(), used_before = used();
    if (cbx_explain_with(j->model, j->graph, row, &options, NULL, NULL, &found, &err))
        stop(err.message);
    double seconds = cbx_clock() - from, cpu = used() - used_before;
    printf(
        "{\"explainer\":\"%s\",\"row\":%d,\"limit\":%g,\"seconds\":%.4f,\"cpu\":%.4f,\"nodes\":%d,"
        "\"edges\":%lld,\"status\":\"%s\",\"certificate\":\"%s\",\"reason\":\"%s\"}\n",
        explainer, row, limit, seconds, cpu, found->num_nodes, (long long)found->num_edges,
        cbx_outcome_name(found->outcome), cbx_certificate_name(found->certificate), found->reason);
    (void)fflush(stdout);
    cbx_counterfactual_free(found);
}

static void read_limits(job *j, const char *text)
{
    for (char *end; *text && j->num_limits < MOST; text = *end ? end + 1 : end) {
        j->limits[j->num_limits++] = strtod(text, &end);
        if (end == text)
            stop("limits are numbers with commas between them");
    }
}

int main(int argc, char **argv)
{
    job       j = {0};
    int       hubs = 1;
    cbx_error err = {0};
    if (argc < 4)
        stop("usage: combinex_limits DATA MODEL LIMIT[,LIMIT…] [--hubs N] [--row N] "
             "[--explainer NAME]");
    for (int i = 4; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--hubs"))
            hubs = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--row") && j.num_rows < MOST)
            j.rows[j.num_rows++] = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--explainer"))
            j.explainer = argv[i + 1];
        else
            stop(argv[i]);
    }
    read_limits(&j, argv[3]);
    if (cbx_graph_load(argv[1], &j.graph, &err) || cbx_model_load(argv[2], &j.model, &err))
        stop(err.message);
    if (!j.num_rows)
        find_hubs(&j, hubs);
    bool               graphs = cbx_graph_arrays(j.graph)->task == CBX_GRAPH;
    const char *const *names = cbx_explain_table()->options[0].choices;
    for (int i = 0; names[i]; i++) {
        if ((j.explainer && strcmp(names[i], j.explainer) != 0) ||
            (graphs && !strcmp(names[i], "unr"))) /* explains nodes only */
            continue;
        for (int l = 0; l < j.num_limits; l++)
            for (int k = 0; k < j.num_rows; k++)
                explain(&j, names[i], j.limits[l], j.rows[k]);
    }
    cbx_model_free(j.model);
    cbx_graph_free(j.graph);
    return 0;
}
