/* SPDX-License-Identifier: Apache-2.0 */
/* first_steps.c: train a small model on the karate club, then ask it. */
#include <combinex/kit.h>

#include <stdio.h>
#include <stdlib.h>

/* The share of rows whose most probable class is their label. */
static double accuracy(const cbx_graph_data *data, const float *log_probs)
{
    int32_t right = 0;
    for (int32_t i = 0; i < data->num_nodes; i++) {
        const float *row = log_probs + (size_t)i * (size_t)data->num_classes;
        int32_t      best = 0;
        for (int32_t c = 1; c < data->num_classes; c++)
            if (row[c] > row[best])
                best = c;
        right += best == data->y[i];
    }
    return (double)right / data->num_nodes;
}

int main(void)
{
    cbx_graph       *graph = NULL;
    cbx_model       *model = NULL;
    float           *log_probs = NULL;
    cbx_options     *train = NULL;
    cbx_train_result result;
    cbx_error        err = {0};

    if (cbx_options_new(cbx_train_table(), &train, &err) != CBX_OK ||
        cbx_options_set(train, "epochs", "50", &err) != CBX_OK ||
        cbx_graph_builtin("karate", NULL, &graph, &err) != CBX_OK ||
        cbx_model_new(graph, NULL, 1, &model, &err) != CBX_OK ||
        cbx_train(model, graph, train, NULL, NULL, &result, &err) != CBX_OK)
        goto done;

    const cbx_graph_data *data = cbx_graph_arrays(graph);
    log_probs = malloc((size_t)data->num_nodes * (size_t)data->num_classes * sizeof *log_probs);
    if (!log_probs) {
        err = (cbx_error){.status = CBX_NO_MEMORY, .message = "out of memory"};
        goto done;
    }
    if (cbx_predict(model, graph, 0, log_probs, &err) != CBX_OK)
        goto done;
    printf("combinex %s: %d nodes, accuracy %.2f\n", cbx_version(), (int)data->num_nodes,
           accuracy(data, log_probs));

done:
    if (err.status != CBX_OK)
        fprintf(stderr, "first_steps: %s\n", err.message);
    free(log_probs);
    cbx_options_free(train);
    cbx_model_free(model);
    cbx_graph_free(graph);
    return err.status == CBX_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
