/* SPDX-License-Identifier: Apache-2.0 */
/* own_method.c: a method that the library does not have, added from outside.
 *
 *     own_method GRAPH.safetensors MODEL.safetensors NODE [MOST]
 *
 * "greedy" removes edges one by one, each time the one without which the prediction is least
 * probable, until the class is another, MOST edges at most. */
#include <combinex/extend.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct greedy_settings {
    int64_t most;
} greedy_settings;

static const cbx_option greedy_options[] = {
    {"greedy-most", CBX_OPTION_INT, offsetof(greedy_settings, most), "5", 1, 100, NULL,
     "greedy: edges to remove, at most"},
};
static const cbx_option_table greedy_table = {
    .title = "Greedy", .options = greedy_options, .count = 1, .size = sizeof(greedy_settings)};

typedef struct greedy {
    cbx_method_search     *search;
    const cbx_method_task *task;
    cbx_edit              *edits; /* taken, and room for one more */
    int64_t                count;
    float                 *log_probs;
    int64_t                steps;
} greedy;

/* Tries every removal on top of those taken, and takes the best; whether that flips the class. */
static cbx_status take_best(greedy *g, bool *flips, cbx_error *err)
{
    const cbx_method_task *task = g->task;
    int64_t                best = -1;
    float                  least = 0;
    bool                   hit;
    *flips = false;
    for (int64_t i = 0; i < task->num_removals && !*flips; i++) {
        if (cbx_method_should_stop(g->search, ++g->steps))
            return CBX_OK;
        g->edits[g->count] = task->removals[i];
        cbx_status status =
            cbx_method_try(g->search, g->edits, g->count + 1, g->log_probs, &hit, err);
        if (status != CBX_OK)
            return status;
        if (best < 0 || hit || g->log_probs[task->prediction] < least) {
            best = i;
            least = g->log_probs[task->prediction];
            *flips = hit;
        }
    }
    if (best >= 0)
        g->edits[g->count++] = task->removals[best];
    return CBX_OK;
}

static cbx_status search(cbx_method_search *search_, const cbx_method_task *task, cbx_error *err)
{
    const greedy_settings *settings = task->settings;
    size_t                 classes = (size_t)cbx_model_describe(task->model).num_classes;
    greedy                 g = {.search = search_, .task = task};
    bool                   flips = false;
    cbx_status             status = CBX_OK;
    g.edits = malloc((size_t)settings->most * sizeof *g.edits);
    g.log_probs = malloc(classes * sizeof *g.log_probs);
    if (!g.edits || !g.log_probs)
        status = CBX_NO_MEMORY;
    while (status == CBX_OK && !flips && g.count < settings->most &&
           !cbx_method_should_stop(search_, g.steps))
        status = take_best(&g, &flips, err);
    if (status == CBX_OK && flips)
        status = cbx_method_answer(search_, g.edits, g.count, (double)g.count, err);
    free(g.log_probs);
    free(g.edits);
    return status;
}

int main(int argc, char **argv)
{
    static const cbx_method method = {
        .size = sizeof method, .name = "greedy", .options = &greedy_table, .search = search};
    cbx_graph          *graph = NULL;
    cbx_model          *model = NULL;
    cbx_options        *options = NULL;
    cbx_counterfactual *found = NULL;
    cbx_error           err = {0};
    if (argc < 4 || argc > 5) {
        fprintf(stderr, "usage: own_method GRAPH MODEL NODE [MOST]\n");
        return 2;
    }
    if (cbx_method_register(&method, &err) == CBX_OK &&
        cbx_options_new(cbx_explain_table(), &options, &err) == CBX_OK &&
        cbx_options_set(options, "explainer", "greedy", &err) == CBX_OK &&
        cbx_options_set(options, "target", "any", &err) == CBX_OK &&
        cbx_options_set(options, "greedy-most", argc > 4 ? argv[4] : "5", &err) == CBX_OK &&
        cbx_graph_load(argv[1], &graph, &err) == CBX_OK &&
        cbx_model_load(argv[2], &model, &err) == CBX_OK &&
        cbx_explain(model, graph, atoi(argv[3]), options, NULL, NULL, &found, &err) == CBX_OK)
        printf("node %d: class %d -> class %d, %lld edges removed (%s)\n", (int)found->row,
               (int)found->prediction, (int)found->result, (long long)found->num_edits,
               cbx_outcome_name(found->outcome));

    if (err.status != CBX_OK)
        fprintf(stderr, "own_method: %s\n", err.message);
    cbx_counterfactual_free(found);
    cbx_options_free(options);
    cbx_model_free(model);
    cbx_graph_free(graph);
    return err.status == CBX_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
