/* SPDX-License-Identifier: Apache-2.0 */
/* embedding.c: see embedding.h. */
#include "embedding.h"

#include "deadline.h"
#include "error.h"

static int make_products(cbx_embedding *E, int32_t l, int threads, cbx_arena *arena)
{
    const cbx_layer *layer = &E->model->layers[l];
    const float     *W = layer->theta;
    int32_t          n = E->view.n, k = 0;
    cbx_matrix       X = E->X;
    cbx_parameter    p;
    if (l > 0)
        X = cbx_matrix_dense(n, layer->n_in, E->pass.out[l - 1]);
    for (int32_t i = 0; E->matrices[l] && cbx_block_parameter(layer, i, &p); i++) {
        if (p.of_input) {
            float *H = CBX_NEW(arena, float, (size_t)n *(size_t)p.cols);
            if (!H)
                return -1;
            cbx_matrix_times(&X, n, p.cols, W, H, false, threads);
            E->product[l][k++] = H;
        }
        W += cbx_parameter_size(&p);
    }
    return 0;
}

cbx_status cbx_embedding_init(cbx_embedding *E, const cbx_model *model, const cbx_graph *graph,
                              int threads, cbx_arena *arena, cbx_error *err)
{
    *E = (cbx_embedding){.model = model};
    E->width = model->layers[model->num_layers - 1].n_out;
    cbx_status status = cbx_view_whole(graph, arena, &E->view, err);
    if (!status)
        status = cbx_view_features(graph, &E->view, arena, &E->X, err);
    if (!status)
        status = cbx_pass_init(&E->pass, model, &E->view, &E->X, false, threads, arena, err);
    if (status)
        return status;
    cbx_pass_forward(&E->pass, &E->X, NULL, 0, 0);
    E->matrices = CBX_NEW(arena, int32_t, model->num_layers);
    E->product = CBX_NEW0(arena, float **, model->num_layers);
    if (!E->matrices || !E->product)
        return cbx_fail_memory(err);
    for (int32_t l = 0; l < model->num_layers; l++) {
        E->matrices[l] = cbx_layer_products(&model->layers[l], NULL);
        E->product[l] = CBX_NEW0(arena, float *, E->matrices[l]);
        if (!E->product[l] || make_products(E, l, threads, arena))
            return cbx_fail_memory(err);
    }
    return cbx_time_is_up() ? cbx_fail_late(err) : CBX_OK;
}
