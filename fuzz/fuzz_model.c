/* SPDX-License-Identifier: Apache-2.0 */
/* A model file; one that loads is asked about a graph that fits it. */
#include <math.h>
#include <stdlib.h>

#include "fuzz.h"

enum { WIDEST = 64, NODES = 4 };

static void ask(const cbx_model *model, const cbx_model_info *info)
{
    static const int64_t from[] = {0, 1, 2, 1, 3}, to[] = {1, 0, 1, 2, 3}, ptr[] = {0, 3, 4};
    float                x[NODES * WIDEST] = {0}, out[NODES * WIDEST];
    cbx_error            err = {0};
    cbx_graph           *graph = NULL;
    if (info->num_features > WIDEST || info->num_classes > WIDEST || info->hidden > 512)
        return;
    for (int i = 0; i < NODES * info->num_features; i++)
        x[i] = (float)(i % 3);
    cbx_graph_data data = {.task = info->task,
                           .num_nodes = NODES,
                           .num_features = info->num_features,
                           .num_classes = info->num_classes,
                           .num_graphs = info->task == CBX_GRAPH ? 2 : 0,
                           .num_edges = 5,
                           .edge_source = from,
                           .edge_target = to,
                           .x = x,
                           .graph_ptr = info->task == CBX_GRAPH ? ptr : NULL};
    cbx_status     status = cbx_graph_new(&data, &graph, &err);
    if (!status)
        status = cbx_predict(model, graph, 1, out, &err);
    fuzz_check(status, &err);
    cbx_graph_free(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cbx_error  err = {0};
    cbx_model *model = NULL;
    char       hash[65];
    fuzz_check(cbx_model_load(fuzz_file("m", bytes, size), &model, &err), &err);
    if (!model)
        return 0;
    cbx_model_info info = cbx_model_describe(model);
    cbx_model_hash(model, hash);
    ask(model, &info);
    cbx_model_free(model);
    return 0;
}
