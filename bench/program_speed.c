/* SPDX-License-Identifier: Apache-2.0 */
/* program_speed.c: how long one epoch of a search takes with an exported model: a forward pass and
 * the gradients of features and edge weights.
 *
 *     program_speed NODES EDGES FILE.pt2…
 *     program_speed NODES EDGES --layered FEATURES HIDDEN CLASSES
 *
 * prints a line per file: its name, microseconds per epoch, per plan, and bytes. --layered: the
 * same for a GCN of two layers and a linear head that the layered engine runs. Times are the
 * processor's: others on the machine count less. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "blas.h"
#include "kernel.h"
#include "model_options.h"
#include "pass.h"
#include "program.h"
#include "rng.h"

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int64_t size_of(const cbx_program_input *in, int32_t dim, int64_t nodes, int64_t edges)
{
    if (in->size[dim] >= 0)
        return in->size[dim];
    bool by_edge = in->role == CBX_ROLE_EDGE_INDEX || in->role == CBX_ROLE_EDGE_ATTR ||
                   in->role == CBX_ROLE_EDGE_WEIGHT || !strncmp(in->name, "edge_type", 9);
    return by_edge ? edges : in->role == CBX_ROLE_OTHER ? 32 : nodes;
}

static void *fill(const cbx_program_input *in, int64_t count, int64_t nodes, cbx_rng *rng)
{
    void *data = calloc((size_t)count + 1, 8);
    for (int64_t i = 0; i < count; i++) {
        double real = cbx_rng_uniform(rng);
        if (in->type == CBX_REAL32)
            ((float *)data)[i] = (float)real;
        else if (in->type == CBX_REAL64)
            ((double *)data)[i] = real;
        else if (in->role == CBX_ROLE_BATCH)
            ((int64_t *)data)[i] = i * 4 / count;
        else if (in->role == CBX_ROLE_EDGE_INDEX || in->rank == 2)
            ((int64_t *)data)[i] = (int64_t)cbx_rng_below(rng, (uint64_t)nodes);
    }
    return data;
}

/* Seconds of one call: the best of many rounds. */
static double best_of(void (*call)(void *), void *user)
{
    double best = 1e9, begin = seconds();
    for (int round = 0; round < 200 && seconds() - begin < 1; round++) {
        double  start = seconds();
        int64_t calls = 0;
        for (; calls < 1000 && seconds() - start < 0.01; calls++)
            call(user);
        double each = (seconds() - start) / (double)calls;
        best = each < best ? each : best;
    }
    return best;
}

typedef struct job {
    cbx_runner *runner;
    cbx_pass   *pass;
    cbx_matrix  X;
    void       *direction;
    float      *w, *dx, *dw;
} job;

static void epoch(void *user)
{
    job      *j = user;
    cbx_error err;
    (void)cbx_runner_forward(j->runner, &err);
    cbx_runner_backward(j->runner, j->direction);
}

static void layered_epoch(void *user)
{
    job *j = user;
    cbx_pass_forward(j->pass, &j->X, j->w, 0, 0);
    cbx_pass_backward(j->pass, j->direction, j->dx, j->dw, NULL);
}

static void *floats(int64_t count, cbx_rng *rng)
{
    return fill(&(cbx_program_input){.type = CBX_REAL32}, count, 1, rng);
}

static int measure_layered(int64_t nodes, int64_t edges, int32_t features, int32_t hidden,
                           int32_t classes)
{
    cbx_rng    rng = cbx_rng_stream(1, 2, 3, 4);
    cbx_arena  arena = {0};
    cbx_error  err = {0};
    cbx_graph *graph = NULL;
    cbx_model *model = NULL;
    cbx_view   view;
    cbx_pass   pass;
    job        j = {.pass = &pass};
    int64_t   *ends =
        fill(&(cbx_program_input){.type = CBX_INTEGER, .rank = 2}, 2 * edges, nodes, &rng);
    cbx_graph_data data = {.num_nodes = (int32_t)nodes,
                           .num_features = features,
                           .num_classes = classes,
                           .num_edges = edges,
                           .edge_source = ends,
                           .edge_target = ends + edges,
                           .x = floats(nodes * features, &rng)};
    cbx_model_spec spec;
    cbx_fields_default(cbx_model_table(), &spec);
    spec.layers = 2;
    spec.hidden = hidden;
    j.w = floats(edges, &rng);
    j.dx = floats(nodes * features, &rng);
    j.dw = floats(edges, &rng);
    j.direction = floats(nodes * classes, &rng);
    if (cbx_graph_new(&data, &graph, &err) || cbx_model_new_with(graph, &spec, 1, &model, &err) ||
        cbx_view_whole(graph, &arena, &view, &err) ||
        cbx_view_features(graph, &view, &arena, &j.X, &err) ||
        cbx_pass_init(&pass, model, &view, &j.X, true, 1, &arena, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("layered %.1f 0 0\n", best_of(layered_epoch, &j) * 1e6);
    return 0; /* memory goes with the program */
}

static void measure(const cbx_program *p, int64_t nodes, int64_t edges)
{
    const cbx_program_info *info = cbx_program_describe(p);
    cbx_runner_input        inputs[32] = {0};
    cbx_rng                 rng = cbx_rng_stream(1, 2, 3, 4);
    cbx_runner             *r = NULL;
    cbx_error               err = {0};
    for (int32_t i = 0; i < info->num_inputs && i < 32; i++) {
        int64_t count = 1;
        for (int32_t d = 0; d < info->inputs[i].rank; d++)
            count *= inputs[i].size[d] = size_of(&info->inputs[i], d, nodes, edges);
        inputs[i].data = fill(&info->inputs[i], count, nodes, &rng);
        inputs[i].gradient = info->inputs[i].role == CBX_ROLE_X;
        inputs[i].weighted = info->inputs[i].role == CBX_ROLE_EDGE_INDEX;
    }
    cbx_runner_options options = {.gradient = true};
    if (cbx_runner_new(p, &r, &err) || cbx_runner_plan(r, inputs, &options, &err) ||
        cbx_runner_forward(r, &err)) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    void  *direction = fill(&(cbx_program_input){.type = info->output_type},
                            cbx_runner_output(r)->count, nodes, &rng);
    job    j = {.runner = r, .direction = direction};
    double best = best_of(epoch, &j), plan = 1e9;
    for (int round = 0; round < 10; round++) {
        double start = seconds();
        (void)cbx_runner_plan(r, inputs, &options, &err);
        plan = seconds() - start < plan ? seconds() - start : plan;
    }
    printf("%s %.1f %.1f %zu\n", info->path, best * 1e6, plan * 1e6, cbx_runner_bytes(r));
    free(direction);
    for (int32_t i = 0; i < info->num_inputs && i < 32; i++)
        free((void *)inputs[i].data);
    cbx_runner_free(r);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr,
                "program_speed NODES EDGES FILE.pt2... | --layered FEATURES HIDDEN CLASSES\n");
        return 2;
    }
    cbx_error failure = {0};
    if (cbx_blas_begin(&failure)) {
        fprintf(stderr, "%s\n", failure.message);
        return 1;
    }
    if (argc == 7 && !strcmp(argv[3], "--layered"))
        return measure_layered(atoll(argv[1]), atoll(argv[2]), atoi(argv[4]), atoi(argv[5]),
                               atoi(argv[6]));
    for (int i = 3; i < argc; i++) {
        cbx_program *p = NULL;
        cbx_error    err = {0};
        if (cbx_program_load(argv[i], NULL, &p, &err)) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
        measure(p, atoll(argv[1]), atoll(argv[2]));
        cbx_program_free(p);
    }
    return 0;
}
