/* SPDX-License-Identifier: Apache-2.0 */
/* explain_node.c: what would have to be different for a node to be of another class?
 *
 *     explain_node GRAPH.safetensors MODEL.safetensors NODE */
#include <combinex.h>

#include <stdio.h>
#include <stdlib.h>

static void print_edit(const cbx_edit *e)
{
    if (e->op == CBX_REMOVE_EDGE)
        printf("  remove the edge between nodes %d and %d\n", (int)e->source, (int)e->target);
    else if (e->op == CBX_ADD_EDGE)
        printf("  add an edge between nodes %d and %d\n", (int)e->source, (int)e->target);
    else
        printf("  set feature %d of node %d from %g to %g\n", (int)e->feature, (int)e->node,
               (double)e->from, (double)e->to);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: explain_node GRAPH MODEL NODE\n");
        return 2;
    }
    cbx_graph          *graph = NULL;
    cbx_model          *model = NULL;
    cbx_counterfactual *found = NULL;
    cbx_options        *options = NULL;
    cbx_error           err = {0};

    if (cbx_options_new(cbx_explain_table(), &options, &err) == CBX_OK &&
        cbx_options_set(options, "target", "any", &err) == CBX_OK &&
        cbx_graph_load(argv[1], &graph, &err) == CBX_OK &&
        cbx_model_load(argv[2], &model, &err) == CBX_OK &&
        cbx_explain(model, graph, atoi(argv[3]), options, NULL, NULL, &found, &err) == CBX_OK) {
        printf("node %d: class %d -> class %d (%s)\n", (int)found->row, (int)found->prediction,
               (int)found->result, cbx_outcome_name(found->outcome));
        for (int64_t i = 0; i < found->num_edits; i++)
            print_edit(&found->edits[i]);
    }

    if (err.status != CBX_OK)
        fprintf(stderr, "explain_node: %s\n", err.message);
    cbx_counterfactual_free(found);
    cbx_options_free(options);
    cbx_model_free(model);
    cbx_graph_free(graph);
    return err.status == CBX_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
