/* SPDX-License-Identifier: Apache-2.0 */
/* standardise.c: see standardise.h. */
#include "standardise.h"

#include "combinex/extend.h"

#include <math.h>
#include <string.h>

#include "error.h"

/* What is known of one feature in the training nodes. */
typedef struct column {
    double  sum, squares; /* squares: of values, and then of how far they are from the mean */
    int64_t count;        /* of values that are not 0 */
    float   least, most;
    bool    binary;  /* 0 and 1 is all that was seen */
    bool    shifted; /* the mean is subtracted */
} column;

/* What is not 0 in node i's row: values, and their columns (NULL: 0, 1, 2, …). */
typedef struct row {
    const float   *value;
    const int32_t *name;
    int64_t        count;
} row;

static row row_of(const cbx_graph_data *d, int32_t i)
{
    if (d->x)
        return (row){d->x + (int64_t)i * d->num_features, NULL, d->num_features};
    int64_t begin = d->x_indptr[i];
    return (row){d->x_values + begin, d->x_indices + begin, d->x_indptr[i + 1] - begin};
}

static int32_t name_of(const row *r, int64_t k)
{
    return r->name ? r->name[k] : (int32_t)k;
}

static int64_t mark_training(const cbx_graph_data *d, const uint8_t *part, uint8_t *in)
{
    int64_t count = 0;
    if (d->task == CBX_GRAPH) {
        for (int32_t g = 0; g < d->num_graphs; g++)
            memset(in + d->graph_ptr[g], part[g] == 0,
                   (size_t)(d->graph_ptr[g + 1] - d->graph_ptr[g]));
    } else {
        for (int32_t i = 0; i < d->num_nodes; i++)
            in[i] = part[i] == 0;
    }
    for (int32_t i = 0; i < d->num_nodes; i++)
        count += in[i];
    return count;
}

static void look(const cbx_graph_data *d, const uint8_t *in, int64_t nodes, column *columns)
{
    for (int32_t j = 0; j < d->num_features; j++)
        columns[j] = (column){.least = INFINITY, .most = -INFINITY, .binary = true};
    for (int32_t i = 0; i < d->num_nodes; i++) {
        row r = row_of(d, i);
        for (int64_t k = 0; in[i] && k < r.count; k++) {
            float   v = r.value[k];
            column *c = &columns[name_of(&r, k)];
            if (v == 0)
                continue;
            c->sum += v;
            c->squares += (double)v * v;
            c->count++;
            c->least = fminf(c->least, v);
            c->most = fmaxf(c->most, v);
            c->binary = c->binary && v == 1;
        }
    }
    for (int32_t j = 0; j < d->num_features; j++)
        if (columns[j].count < nodes) {
            columns[j].least = fminf(columns[j].least, 0);
            columns[j].most = fmaxf(columns[j].most, 0);
        }
}

/* Around means, in a second pass: the difference of large sums would be noise. */
static void look_around(const cbx_graph_data *d, const uint8_t *in, int64_t nodes,
                        const float *mean, column *columns)
{
    for (int32_t j = 0; j < d->num_features; j++)
        if (columns[j].shifted)
            columns[j].squares =
                (double)(nodes - columns[j].count) * ((double)mean[j] * (double)mean[j]);
    for (int32_t i = 0; i < d->num_nodes; i++) {
        row r = row_of(d, i);
        for (int64_t k = 0; in[i] && k < r.count; k++) {
            int32_t j = name_of(&r, k);
            double  gap = (double)r.value[k] - mean[j];
            if (columns[j].shifted && r.value[k] != 0)
                columns[j].squares += gap * gap;
        }
    }
}

static bool is_standardised(const column *c, int mode)
{
    const double noise = 1e-6; /* of floats: what varies by so little is a constant */
    double       size = fmax(fabs((double)c->least), fabs((double)c->most));
    return (double)c->most - c->least > noise * size && (mode == CBX_STANDARDISE_ON || !c->binary);
}

bool cbx_standard_applies(const cbx_graph *graph, int mode)
{
    const cbx_graph_data *d = cbx_graph_arrays(graph);
    for (int32_t i = 0; mode == CBX_STANDARDISE_AUTO && i < d->num_nodes; i++) {
        row r = row_of(d, i);
        for (int64_t k = 0; k < r.count; k++)
            if (r.value[k] != 0 && r.value[k] != 1)
                return true;
    }
    return mode == CBX_STANDARDISE_ON;
}

cbx_status cbx_standard_find(cbx_standard *s, const cbx_graph *graph, const uint8_t *part, int mode,
                             const cbx_layer *first, cbx_arena *arena, cbx_error *err)
{
    const cbx_graph_data *d = cbx_graph_arrays(graph);
    column               *columns = CBX_NEW(arena, column, d->num_features);
    uint8_t              *in = CBX_NEW0(arena, uint8_t, d->num_nodes);
    *s = (cbx_standard){.mean = CBX_NEW0(arena, float, d->num_features),
                        .scale = CBX_NEW(arena, float, d->num_features)};
    if (!columns || !in || !s->mean || !s->scale)
        return cbx_fail_memory(err);
    int64_t nodes = mark_training(d, part, in);
    bool    may_shift = cbx_layer_products(first, NULL) > 0 && first->ops->adds_shift;
    bool    may_scale = cbx_layer_entry(first) >= CBX_ENTRY_COLUMNS;
    look(d, in, nodes, columns);
    for (int32_t j = 0; j < d->num_features; j++) {
        column *c = &columns[j];
        c->shifted = may_shift && 2 * c->count >= nodes && is_standardised(c, mode);
        if (c->shifted)
            s->mean[j] = (float)(c->sum / (double)nodes);
    }
    look_around(d, in, nodes, s->mean, columns);
    for (int32_t j = 0; j < d->num_features; j++) {
        double of = (double)(columns[j].shifted ? nodes : columns[j].count);
        float  scale = (float)sqrt(columns[j].squares / of);
        bool   applies =
            may_scale && is_standardised(&columns[j], mode) && isfinite(scale) && scale > 0;
        s->scale[j] = applies ? scale : 1;
        s->mean[j] = applies ? s->mean[j] : 0;
        s->count += applies && (s->scale[j] != 1 || s->mean[j] != 0);
        s->shifts = s->shifts || s->mean[j] != 0;
    }
    return CBX_OK;
}

static float standardised(const cbx_standard *s, int32_t j, float value)
{
    return (value - s->mean[j]) / s->scale[j];
}

static cbx_status make_dense(const cbx_standard *s, cbx_graph_data *d, cbx_arena *arena,
                             cbx_error *err)
{
    int64_t count = (int64_t)d->num_nodes * d->num_features;
    float  *x = CBX_NEW(arena, float, count);
    if (!x)
        return cbx_fail_memory(err);
    for (int64_t k = 0; k < count; k++)
        x[k] = standardised(s, (int32_t)(k % d->num_features), d->x[k]);
    d->x = x;
    return CBX_OK;
}

/* Columns with a mean are stored in every row now: they were in half of the training ones. */
static cbx_status make_sparse(const cbx_standard *s, cbx_graph_data *d, cbx_arena *arena,
                              cbx_error *err)
{
    int32_t  full = 0, f = d->num_features;
    int64_t  at = 0;
    int32_t *shifted = CBX_NEW(arena, int32_t, f);
    for (int32_t j = 0; j < f && shifted; j++)
        if (s->mean[j] != 0)
            shifted[full++] = j;
    int64_t  most = d->num_x_values + (int64_t)full * d->num_nodes;
    int64_t *indptr = CBX_NEW(arena, int64_t, (size_t)d->num_nodes + 1);
    int32_t *indices = CBX_NEW(arena, int32_t, most);
    float   *values = CBX_NEW(arena, float, most);
    if (!shifted || !indptr || !indices || !values)
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < d->num_nodes; i++) {
        int32_t next = 0;
        int64_t end = d->x_indptr[i + 1];
        indptr[i] = at;
        for (int64_t k = d->x_indptr[i]; k < end || next < full;) {
            int32_t stored = k < end ? d->x_indices[k] : f, due = next < full ? shifted[next] : f;
            int32_t j = stored < due ? stored : due;
            indices[at] = j;
            values[at++] = standardised(s, j, stored == j ? d->x_values[k] : 0);
            k += stored == j;
            next += due == j;
        }
    }
    indptr[d->num_nodes] = at;
    d->x_indptr = indptr, d->x_indices = indices, d->x_values = values;
    d->num_x_values = at;
    return CBX_OK;
}

cbx_status cbx_standard_graph(const cbx_standard *s, const cbx_graph *graph, cbx_arena *arena,
                              cbx_graph **out, cbx_error *err)
{
    cbx_graph_data d = *cbx_graph_arrays(graph);
    cbx_status     status = d.x ? make_dense(s, &d, arena, err) : make_sparse(s, &d, arena, err);
    d.discrete = NULL; /* kinds and bounds are those of other values */
    d.feat_min = d.feat_max = NULL;
    return status ? status : cbx_graph_new(&d, out, err);
}

cbx_status cbx_standard_fold(const cbx_standard *s, cbx_model *m, cbx_error *err)
{
    const cbx_layer *first = &m->layers[0];
    cbx_parameter    p;
    cbx_status       status = s->shifts ? cbx_model_centre(m, s->mean, err) : CBX_OK;
    float           *W = m->theta;
    if (status)
        return status;
    for (int32_t i = 0; cbx_block_parameter(first, i, &p); i++) {
        for (int32_t j = 0; j < p.rows && p.of_input; j++)
            for (int32_t c = 0; c < p.cols; c++)
                W[(int64_t)j * p.cols + c] /= s->scale[j];
        W += cbx_parameter_size(&p);
    }
    /* Once more, for these weights; there is room for it now. */
    return s->shifts ? cbx_model_centre(m, s->mean, err) : CBX_OK;
}

cbx_status cbx_model_rescale(cbx_model *model, const float *mean, const float *scale,
                             int32_t num_features, cbx_error *err)
{
    cbx_arena arena = {0};
    if (model->oracle)
        return cbx_fail(err, CBX_INVALID, "a model of the kind '%s' has no layers to rewrite",
                        model->oracle->kind);
    if (num_features != model->num_features)
        return cbx_fail(err, CBX_INVALID, "%d means and scales, and the model takes %d features",
                        (int)num_features, (int)model->num_features);
    if (model->mean)
        return cbx_fail(err, CBX_INVALID, "the model subtracts a mean already");
    cbx_standard s = {.mean = CBX_NEW(&arena, float, num_features),
                      .scale = CBX_NEW(&arena, float, num_features),
                      .count = num_features};
    cbx_status   status = s.mean && s.scale ? CBX_OK : cbx_fail_memory(err);
    for (int32_t j = 0; j < num_features && !status; j++) {
        if (!isfinite(mean[j]) || !isfinite(scale[j]) || !(scale[j] > 0))
            status = cbx_fail(err, CBX_INVALID,
                              "feature %d: mean %g and scale %g: expected numbers, and a scale "
                              "above 0",
                              (int)j, (double)mean[j], (double)scale[j]);
        s.mean[j] = mean[j];
        s.scale[j] = scale[j];
        s.shifts = s.shifts || mean[j] != 0;
    }
    if (!status)
        status = cbx_standard_fold(&s, model, err);
    cbx_arena_free(&arena);
    return status;
}
