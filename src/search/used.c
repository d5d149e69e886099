/* SPDX-License-Identifier: Apache-2.0 */
/* used.c: see used.h. */
#include "used.h"

#include <string.h>

#include "error.h"

/* Below so many features a row is small whatever it holds. */
enum { FEW = 1 << 16 };

#define GATHER(name, type)                                               \
    type *name(const cbx_used *used, const type *from, cbx_arena *arena) \
    {                                                                    \
        type *to = from ? CBX_NEW(arena, type, used->left) : NULL;       \
        for (int32_t j = 0; to && j < used->left; j++)                   \
            to[j] = from[used->number[j]];                               \
        return to;                                                       \
    }
GATHER(cbx_used_floats, float)
GATHER(cbx_used_bytes, uint8_t)
GATHER(cbx_used_ints, int32_t)

typedef const char *text;
static GATHER(used_texts, text)

    /* Marks what is stored, may be something else than 0, or takes part in a group. */
    static int32_t mark(const cbx_graph_data *d, uint8_t *used)
{
    int32_t left = 0;
    for (int64_t k = 0; k < d->x_indptr[d->num_nodes]; k++)
        used[d->x_indices[k]] = 1;
    for (int32_t j = 0; j < d->num_features; j++) {
        used[j] = used[j] || d->feat_min[j] != 0 || d->feat_max[j] != 0 ||
                  (d->feature_group && d->feature_group[j] >= 0);
        left += used[j];
    }
    return left;
}

static bool make_graph(cbx_used *u, const cbx_graph *graph, cbx_arena *arena)
{
    const cbx_graph_data *from = &graph->data;
    int64_t               stored = from->x_indptr[from->num_nodes];
    int32_t              *column = CBX_NEW(arena, int32_t, stored);
    cbx_arena             scratch = {0};
    int32_t              *place = CBX_NEW(&scratch, int32_t, from->num_features);
    if (column && place) {
        for (int32_t j = 0; j < u->left; j++)
            place[u->number[j]] = j;
        for (int64_t k = 0; k < stored; k++)
            column[k] = place[from->x_indices[k]];
    }
    bool ok = column && place;
    cbx_arena_free(&scratch);
    u->graph = *graph;
    u->graph.arena = (cbx_arena){0};
    u->graph.backing = NULL;
    u->graph.release = NULL;
    cbx_graph_data *d = &u->graph.data;
    d->num_features = u->left;
    d->x_indices = column;
    d->feat_min = cbx_used_floats(u, from->feat_min, arena);
    d->feat_max = cbx_used_floats(u, from->feat_max, arena);
    d->discrete = cbx_used_bytes(u, from->discrete, arena);
    d->immutable = cbx_used_bytes(u, from->immutable, arena);
    d->feature_group = cbx_used_ints(u, from->feature_group, arena);
    d->feature_names = used_texts(u, from->feature_names, arena);
    return ok && d->feat_min && d->feat_max && d->discrete && !d->immutable == !from->immutable &&
           !d->feature_group == !from->feature_group && !d->feature_names == !from->feature_names;
}

/* All parameters; of the first layer's matrices the rows that are left, and of the means those.
 * What the means of all features make of its products stays. */
static cbx_status make_model(cbx_used *u, const cbx_model *model, cbx_arena *arena, cbx_error *err)
{
    const cbx_layer *first = &model->layers[0];
    int32_t         *widths = CBX_NEW(arena, int32_t, model->num_layers);
    cbx_parameter    p;
    if (!widths)
        return cbx_fail_memory(err);
    for (int32_t l = 0; l < model->num_layers; l++)
        widths[l] = model->layers[l].n_out;
    cbx_architecture a = {.task = model->task,
                          .conv = first->ops,
                          .set = first->set,
                          .head = model->head,
                          .pool = model->pool,
                          .dropout = model->dropout,
                          .head_hidden = model->head_hidden,
                          .num_features = u->left,
                          .num_classes = model->num_classes,
                          .num_layers = model->num_layers,
                          .widths = widths,
                          .centred = model->mean != NULL};
    cbx_status       status = cbx_model_build(&a, &u->model, err);
    for (int32_t i = 0; !status && i < model->num_parameters; i++) {
        const cbx_parameter *wide = &model->parameters[i].shape;
        const float         *from = model->theta + model->parameters[i].offset;
        float               *to = u->model->theta + u->model->parameters[i].offset;
        bool                 is_mean = model->mean && from == model->mean;
        bool                 of_feature = cbx_block_parameter(first, i, &p) ? p.of_input : is_mean;
        if (!of_feature)
            memcpy(to, from, (size_t)cbx_parameter_size(wide) * sizeof *to);
        int32_t cols = wide->rows ? wide->cols : 1;
        for (int32_t j = 0; of_feature && j < u->left; j++)
            memcpy(to + (int64_t)j * cols, from + (int64_t)u->number[j] * cols,
                   (size_t)cols * sizeof *to);
    }
    if (!status && model->mean)
        memcpy(u->model->first_shift, model->first_shift,
               (size_t)model->num_shifts * sizeof *model->first_shift);
    if (!status)
        cbx_model_set_reproducible(u->model, model->reproducible);
    return status;
}

cbx_status cbx_used_find(const cbx_model *model, const cbx_graph *graph, cbx_arena *arena,
                         cbx_used **out, cbx_error *err)
{
    const cbx_graph_data *d = &graph->data;
    cbx_arena             scratch = {0};
    *out = NULL;
    if (d->x || d->num_features <= FEW || !cbx_model_drops_columns(model))
        return CBX_OK;
    uint8_t *used = CBX_NEW0(&scratch, uint8_t, d->num_features);
    int32_t  left = used ? mark(d, used) : 0;
    if (used && (left == 0 || left > d->num_features / 4)) {
        cbx_arena_free(&scratch);
        return CBX_OK;
    }
    cbx_used  *u = CBX_NEW0(arena, cbx_used, 1);
    cbx_status status = used && u ? CBX_OK : cbx_fail_memory(err);
    if (!status) {
        u->all = d->num_features;
        u->number = CBX_NEW(arena, int32_t, left);
        for (int32_t j = 0; u->number && j < d->num_features; j++)
            if (used[j])
                u->number[u->left++] = j;
        status = u->number && make_graph(u, graph, arena) ? CBX_OK : cbx_fail_memory(err);
    }
    cbx_arena_free(&scratch);
    if (!status)
        status = make_model(u, model, arena, err);
    if (status)
        cbx_used_free(u);
    else
        *out = u;
    return status;
}

void cbx_used_free(cbx_used *used)
{
    if (used)
        cbx_model_free(used->model);
}
