/* SPDX-License-Identifier: Apache-2.0 */
/* model.c: building a model, its parameters by name, its notes. */
#include "model.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "column_names.h"
#include "error.h"
#include "model_options.h"
#include "rng.h"

const char *const cbx_head_names[] = {"last", "cat", NULL};
const char *const cbx_pool_names[] = {"mean", "sum", "max", NULL};

/* The table's "head" has one choice more than cbx_head. */
static const char *const head_choices[] = {"auto", "last", "cat", NULL};

static const cbx_option model_options[] = {
    {"model", CBX_OPTION_CHOICE, offsetof(cbx_model_spec, conv), "auto", 0, 0, cbx_layer_choices,
     "kind of convolution; auto: gcn where all features are 0 or 1, else sage"},
    {"layers", CBX_OPTION_INT, offsetof(cbx_model_spec, layers), "3", 1, 64, NULL,
     "number of convolutions"},
    {"hidden", CBX_OPTION_INT, offsetof(cbx_model_spec, hidden), "0", 0, 65536, NULL,
     "units per layer; 0: 128 for gcn, 64 for the others"},
#define X(type, field, kind, name, key, fallback, min, max, choices, help) \
    {name, kind, offsetof(cbx_model_spec, field), fallback, min, max, choices, help},
#include "layer_settings.def"
#undef X
    {"head", CBX_OPTION_CHOICE, offsetof(cbx_model_spec, head), "auto", 0, 0, head_choices,
     "what the head sees: the last layer or all of them; auto: all for gcn on nodes"},
    {"head-hidden", CBX_OPTION_INT, offsetof(cbx_model_spec, head_hidden), "0", 0, 65536, NULL,
     "units of a hidden layer in the head; 0: the head is linear"},
    {"pool", CBX_OPTION_CHOICE, offsetof(cbx_model_spec, pool), "mean", 0, 0, cbx_pool_names,
     "graph tasks: how a graph's nodes are combined"},
    {"dropout", CBX_OPTION_REAL, offsetof(cbx_model_spec, dropout), "0.5", 0, 0.99, NULL,
     "share of units dropped while training"},
};

static const cbx_option_table model_table =
    CBX_OPTION_TABLE("Model", model_options, cbx_model_spec);

static cbx_layer_settings settings_of(const cbx_model_spec *spec)
{
    return (cbx_layer_settings){
#define X(type, field, ...) .field = spec->field,
#include "layer_settings.def"
#undef X
    };
}

const cbx_option_table *cbx_model_table(void)
{
    return &model_table;
}

/* ---- building */

static cbx_status add_layers(cbx_model *m, const cbx_architecture *a, cbx_error *err)
{
    m->layers = CBX_NEW0(&m->arena, cbx_layer, a->num_layers);
    if (!m->layers)
        return cbx_fail_memory(err);
    int32_t width = a->num_features, count = 5; /* the head's, and input.mean */
    for (int32_t l = 0; l < a->num_layers; l++) {
        m->layers[l] =
            (cbx_layer){.ops = a->conv, .n_in = width, .n_out = a->widths[l], .set = a->set};
        cbx_status status = cbx_layer_check(&m->layers[l], err);
        if (status)
            return status;
        width = a->widths[l];
        m->head_in = m->head == CBX_HEAD_CAT ? m->head_in + width : width;
        cbx_parameter p;
        for (int32_t i = 0; cbx_block_parameter(&m->layers[l], i, &p); i++)
            count++;
    }
    m->parameters = CBX_NEW0(&m->arena, cbx_named_parameter, count);
    return m->parameters ? CBX_OK : cbx_fail_memory(err);
}

static void add_parameter(cbx_model *m, const cbx_parameter *shape, const char *prefix)
{
    cbx_named_parameter *p = &m->parameters[m->num_parameters++];
    (void)snprintf(p->name, sizeof p->name, "%s%s", prefix, shape->name);
    p->shape = *shape;
    p->offset = m->size;
    m->size += cbx_parameter_size(shape);
}

static void add_linear(cbx_model *m, int32_t in, int32_t out, const char *prefix)
{
    cbx_parameter weight = {.name = "weight", in, out, CBX_INIT_LINEAR};
    cbx_parameter bias = {.name = "bias", 0, out, CBX_INIT_LINEAR};
    add_parameter(m, &weight, prefix);
    add_parameter(m, &bias, prefix);
}

static void name_parameters(cbx_model *m)
{
    for (int32_t l = 0; l < m->num_layers; l++) {
        char prefix[32];
        (void)snprintf(prefix, sizeof prefix, "layers.%d.", l);
        cbx_parameter p;
        for (int32_t i = 0; cbx_block_parameter(&m->layers[l], i, &p); i++)
            add_parameter(m, &p, prefix);
    }
    m->hidden_offset = m->size;
    if (m->head_hidden)
        add_linear(m, m->head_in, m->head_hidden, "hidden_layer.");
    m->output_offset = m->size;
    add_linear(m, cbx_model_output_in(m), m->num_classes, "output_layer.");
}

static void place_layers(cbx_model *m)
{
    const float *at = m->theta;
    for (int32_t l = 0; l < m->num_layers; l++) {
        m->layers[l].theta = at;
        at += cbx_layer_size(&m->layers[l]);
    }
}

/* Room for a mean, all 0. */
static cbx_status add_mean(cbx_model *m, cbx_error *err)
{
    int32_t widest, products = cbx_layer_products(&m->layers[0], &widest), f = m->num_features;
    int64_t before = m->size;
    if (!products || !m->layers[0].ops->adds_shift)
        return cbx_fail(err, CBX_INVALID,
                        "a first layer of the kind '%s' with the aggregation '%s' cannot have an "
                        "input.mean",
                        m->layers[0].ops->name,
                        cbx_aggregation_names[m->layers[0].set.aggregation]);
    float *theta = CBX_NEW0(&m->arena, float, (size_t)before + (size_t)f);
    m->num_shifts = products * widest;
    m->first_shift = CBX_NEW0(&m->arena, float, m->num_shifts);
    if (!theta || !m->first_shift)
        return cbx_fail_memory(err);
    memcpy(theta, m->theta, (size_t)before * sizeof *theta);
    m->theta = theta;
    m->mean = theta + before;
    m->layers[0].shift = m->first_shift;
    add_parameter(m, &(cbx_parameter){.name = "mean", 0, f, CBX_INIT_ZERO}, "input.");
    place_layers(m);
    return CBX_OK;
}

/* (X - 1 mean') W = X W + 1 shift' */
static void find_shift(cbx_model *m)
{
    const cbx_layer *first = &m->layers[0];
    const float     *W = first->theta;
    float           *shift = m->first_shift;
    cbx_parameter    p;
    for (int32_t i = 0; cbx_block_parameter(first, i, &p); i++) {
        for (int32_t c = 0; c < p.cols && p.of_input; c++) {
            double sum = 0;
            for (int32_t j = 0; j < p.rows; j++)
                sum -= (double)m->mean[j] * W[(int64_t)j * p.cols + c];
            *shift++ = (float)sum;
        }
        W += cbx_parameter_size(&p);
    }
}

cbx_status cbx_model_centre(cbx_model *m, const float *mean, cbx_error *err)
{
    cbx_status status = m->mean ? CBX_OK : add_mean(m, err);
    if (status)
        return status;
    memcpy(m->mean, mean, (size_t)m->num_features * sizeof *mean);
    find_shift(m);
    return CBX_OK;
}

cbx_status cbx_model_build(const cbx_architecture *a, cbx_model **out, cbx_error *err)
{
    *out = NULL;
    cbx_model *m = calloc(1, sizeof *m);
    if (!m)
        return cbx_fail_memory(err);
    m->task = a->task;
    m->head = a->head;
    m->pool = a->pool;
    m->dropout = a->dropout;
    m->head_hidden = a->head_hidden;
    m->num_features = a->num_features;
    m->num_classes = a->num_classes;
    m->num_layers = a->num_layers;
    m->head_sees_no_negatives = true; /* behind every layer is a relu: pass.c */
    cbx_status status = add_layers(m, a, err);
    if (status)
        goto failed;
    name_parameters(m);
    m->theta = CBX_NEW0(&m->arena, float, m->size);
    if (!m->theta) {
        status = cbx_fail_memory(err);
        goto failed;
    }
    place_layers(m);
    if (a->centred && (status = add_mean(m, err)))
        goto failed;
    *out = m;
    return CBX_OK;
failed:
    cbx_model_free(m);
    return status;
}

cbx_status cbx_model_run_by(cbx_driver *oracle, cbx_task task, int32_t num_features,
                            int32_t num_classes, cbx_model **out, cbx_error *err)
{
    cbx_model *m = *out = calloc(1, sizeof *m);
    if (!m) {
        oracle->free(oracle->model);
        return cbx_fail_memory(err);
    }
    m->task = task;
    m->num_features = num_features;
    m->num_classes = num_classes;
    m->oracle = CBX_NEW(&m->arena, cbx_driver, 1);
    if (m->oracle) {
        memcpy((void *)m->oracle, oracle, sizeof *oracle);
        return CBX_OK;
    }
    oracle->free(oracle->model);
    cbx_model_free(m);
    *out = NULL;
    return cbx_fail_memory(err);
}

void cbx_model_free(cbx_model *model)
{
    if (!model)
        return;
    if (model->oracle)
        model->oracle->free(model->oracle->model);
    cbx_arena_free(&model->arena);
    free(model);
}

void cbx_model_init(cbx_model *m, int64_t seed)
{
    for (int32_t i = 0; i < m->num_parameters; i++) {
        const cbx_named_parameter *p = &m->parameters[i];
        int64_t                    count = cbx_parameter_size(&p->shape);
        float                     *v = m->theta + p->offset;
        /* A Linear's bias is bounded by its weight's input, not by its own shape:
         * the weight is the parameter before it. */
        int32_t fan_in = p->shape.rows ? p->shape.rows : (p - (i > 0))->shape.rows;
        double  bound = 0;
        int64_t shape[3];
        int     rank = cbx_parameter_shape(&p->shape, shape);
        if (p->shape.init == CBX_INIT_GLOROT)
            bound = sqrt(6.0 / (double)(shape[rank - 2] + shape[rank - 1]));
        else if (p->shape.init == CBX_INIT_LINEAR)
            bound = 1 / sqrt((double)fan_in);
        cbx_rng rng = cbx_rng_stream((uint64_t)seed, 1, (uint64_t)i, 0);
        for (int64_t k = 0; k < count; k++)
            v[k] = p->shape.value + (float)((2 * cbx_rng_uniform(&rng) - 1) * bound);
    }
}

/* Are some features more than 0 or 1? Those of a node say more of it than their mean over
 * neighbours does, and sage looks at both. */
static bool has_values_between(const cbx_graph_data *d)
{
    bool any = false;
    for (int32_t j = 0; j < d->num_features && !any; j++)
        any = !d->discrete[j] || d->feat_min[j] < 0 || d->feat_max[j] > 1;
    return any;
}

cbx_status cbx_model_new_with(const cbx_graph *graph, const cbx_model_spec *spec, int64_t seed,
                              cbx_model **out, cbx_error *err)
{
    *out = NULL;
    cbx_model_spec fallback;
    if (!spec) {
        cbx_fields_default(&model_table, &fallback);
        spec = &fallback;
    }
    cbx_status status = cbx_fields_check(&model_table, spec, err);
    if (status)
        return status;
    const cbx_graph_data *d = cbx_graph_arrays(graph);
    if (d->num_classes < 2)
        return cbx_fail(
            err, CBX_INVALID,
            "a classifier needs at least two classes, the data has %d: tables have them in a "
            "column called label, or in one that label_column names",
            d->num_classes);
    const cbx_layer_ops *conv = cbx_layer_at(spec->conv - 1);
    if (!conv) /* auto */
        conv = has_values_between(d) ? &cbx_layer_sage : &cbx_layer_gcn;
    int32_t widths[64];
    bool    gcn = conv == &cbx_layer_gcn;
    for (int32_t l = 0; l < spec->layers; l++)
        widths[l] = spec->hidden ? (int32_t)spec->hidden : gcn ? 128 : 64;
    cbx_head head = gcn && d->task == CBX_NODE ? CBX_HEAD_CAT : CBX_HEAD_LAST;
    if (spec->head > 0)
        head = (cbx_head)(spec->head - 1);
    cbx_architecture a = {.task = d->task,
                          .conv = conv,
                          .set = settings_of(spec),
                          .head = head,
                          .pool = (cbx_pool)spec->pool,
                          .dropout = spec->dropout,
                          .head_hidden = (int32_t)spec->head_hidden,
                          .num_features = d->num_features,
                          .num_classes = d->num_classes,
                          .num_layers = (int32_t)spec->layers,
                          .widths = widths};
    status = cbx_model_build(&a, out, err);
    if (!status)
        cbx_model_init(*out, seed);
    return status;
}

/* ---- looking at it */

/* Hops to look where a model depends on everything. */
enum { SOME_HOPS = 3 };

int32_t cbx_model_reach(const cbx_model *model)
{
    int32_t hops = 0;
    if (model->oracle)
        return model->oracle->hops == CBX_HOPS_ALL ? SOME_HOPS : model->oracle->hops;
    for (int32_t l = 0; l < model->num_layers; l++)
        hops += model->layers[l].ops->reach(&model->layers[l]);
    return hops;
}

int32_t cbx_model_factual_hops(const cbx_model *model)
{
    return (model->oracle ? cbx_model_reach(model) : model->num_layers) + 1;
}

int32_t cbx_model_products(const cbx_model *model, int32_t *widest)
{
    *widest = 0;
    return model->oracle ? 0 : cbx_layer_products(&model->layers[0], widest);
}

bool cbx_model_drops_columns(const cbx_model *model)
{
    return !model->oracle && cbx_layer_entry(&model->layers[0]) >= CBX_ENTRY_COLUMNS;
}

cbx_sight cbx_model_sight(const cbx_model *model)
{
    cbx_sight all = CBX_SIGHT_MESSAGES;
    if (model->oracle) /* a graph is seen whole */
        return model->oracle->hops == CBX_HOPS_ALL && model->task == CBX_NODE ? CBX_SIGHT_UNKNOWN
                                                                              : CBX_SIGHT_BOTH_WAYS;
    for (int32_t l = 0; l < model->num_layers; l++) {
        const cbx_layer *layer = &model->layers[l];
        cbx_sight        one = layer->ops->sight ? layer->ops->sight(layer) : CBX_SIGHT_UNKNOWN;
        if (one == CBX_SIGHT_UNKNOWN)
            return CBX_SIGHT_UNKNOWN;
        all = one > all ? one : all;
    }
    return all;
}

bool cbx_model_removes_marked_slots(const cbx_model *model)
{
    for (int32_t l = 0; l < model->num_layers; l++)
        if (!model->layers[l].ops->removes_marked_slots)
            return false;
    return true;
}

bool cbx_model_sees_further(const cbx_model *model)
{
    cbx_sight sight = cbx_model_sight(model);
    return model->task == CBX_NODE && (sight == CBX_SIGHT_UNKNOWN || sight == CBX_SIGHT_BOTH_WAYS ||
                                       cbx_model_reach(model) > model->num_layers);
}

cbx_model_info cbx_model_describe(const cbx_model *model)
{
    if (model->oracle)
        return (cbx_model_info){.reproducible = model->reproducible,
                                .task = model->task,
                                .conv = model->oracle->kind,
                                .head = "own",
                                .pool = "own",
                                .aggregation = "own",
                                .num_layers = cbx_model_reach(model),
                                .num_features = model->num_features,
                                .num_classes = model->num_classes};
    const cbx_layer *last = &model->layers[model->num_layers - 1];
    return (cbx_model_info){
        .task = model->task,
        .conv = last->ops->name,
        .head = cbx_head_names[model->head],
        .pool = model->task == CBX_GRAPH ? cbx_pool_names[model->pool] : "none",
        .aggregation = cbx_aggregation_names[last->set.aggregation],
        .num_layers = model->num_layers,
        .num_features = model->num_features,
        .num_classes = model->num_classes,
        .hidden = last->n_out,
        .order = (int32_t)last->set.order,
        .num_parameters = model->size,
        .dropout = model->dropout,
        .reproducible = model->reproducible,
    };
}

const char *cbx_model_class_name(const cbx_model *model, int32_t class_number)
{
    if (!model->oracle || class_number < 0 || class_number > 1)
        return NULL;
    const char *name = model->oracle->class_names[class_number];
    return *name ? name : NULL;
}

bool cbx_model_takes(const char *conv, const char *option)
{
    const cbx_layer_ops *ops = cbx_layer_find(conv);
    for (size_t i = 0; i < cbx_settings_table.count; i++)
        if (!strcmp(cbx_settings_table.options[i].name, option))
            return ops ? cbx_layer_has_setting(ops, option)
                       : cbx_layer_has_setting(&cbx_layer_gcn, option) &&
                             cbx_layer_has_setting(&cbx_layer_sage, option);
    return true;
}

/* What stands around layers is worth a word where it is there: files and hashes of models without
 * it do not know that it could be. */
static bool says_something(const cbx_layer *l, const cbx_option *o)
{
    if (!cbx_layer_has_setting(l->ops, o->name))
        return false;
    for (int i = 0; cbx_block_settings[i]; i++)
        if (!strcmp(cbx_block_settings[i], o->name))
            return *(const bool *)((const char *)&l->set + o->offset);
    return true;
}

const cbx_option *cbx_model_setting(const cbx_model *model, size_t i, const void **values,
                                    const char **key)
{
    if (model->oracle)
        return NULL;
    *values = &model->layers[0].set;
    for (size_t k = 0; k < cbx_settings_table.count; k++) {
        const cbx_option *o = &cbx_settings_table.options[k];
        *key = cbx_setting_keys[k];
        if (says_something(&model->layers[0], o) && i-- == 0)
            return o;
    }
    return NULL;
}

void cbx_model_set_reproducible(cbx_model *model, bool reproducible)
{
    model->reproducible = reproducible;
}

cbx_status cbx_model_fits(const cbx_model *model, const cbx_graph *graph, cbx_error *err)
{
    cbx_status status = cbx_model_check_names(model, cbx_graph_arrays(graph), err);
    return status ? status : cbx_model_fits_sizes(model, graph, err);
}

cbx_status cbx_model_fits_sizes(const cbx_model *model, const cbx_graph *graph, cbx_error *err)
{
    const cbx_graph_data    *d = cbx_graph_arrays(graph);
    static const char *const tasks[] = {"node", "graph"};
    if (model->oracle && model->reproducible)
        return cbx_fail(err, CBX_INVALID,
                        "a model of the kind '%s' is not run in a fixed order: it cannot be "
                        "reproducible",
                        model->oracle->kind);
    if (model->task != d->task)
        return cbx_fail(err, CBX_INVALID,
                        "the model is for %s classification, the data for %s classification",
                        tasks[model->task], tasks[d->task]);
    if (model->num_features != d->num_features)
        return cbx_fail(err, CBX_INVALID, "the model takes %d features, the data has %d",
                        model->num_features, d->num_features);
    if (model->oracle && model->oracle->edge_dim && model->oracle->edge_dim != d->edge_dim)
        return cbx_fail(err, CBX_INVALID,
                        "the model takes %d attributes of each edge, the data has %d",
                        model->oracle->edge_dim, d->edge_dim);
    bool numbers = model->oracle && model->num_classes == 1; /* and no classes */
    if (d->num_classes > model->num_classes && !numbers)
        return cbx_fail(err, CBX_INVALID, "the model knows %d classes, the data has %d",
                        model->num_classes, d->num_classes);
    return CBX_OK;
}

bool cbx_model_parameter(const cbx_model *model, size_t i, const char **name, int32_t *rows,
                         int32_t *cols)
{
    if (i >= (size_t)model->num_parameters)
        return false;
    const cbx_named_parameter *p = &model->parameters[i];
    *name = p->name;
    *rows = p->shape.cols;
    *cols = p->shape.rows ? p->shape.rows : 1;
    return true;
}

int cbx_model_parameter_shape(const cbx_model *model, size_t i, int64_t shape[3])
{
    return i < (size_t)model->num_parameters
               ? cbx_parameter_shape(&model->parameters[i].shape, shape)
               : 0;
}

static cbx_status check_parameter(const cbx_model *model, size_t i, int64_t count, cbx_error *err)
{
    if (i >= (size_t)model->num_parameters)
        return cbx_fail(err, CBX_INVALID, "parameter %zu does not exist: the model has %d", i,
                        model->num_parameters);
    const cbx_named_parameter *p = &model->parameters[i];
    int64_t                    size = (int64_t)(p->shape.rows ? p->shape.rows : 1) * p->shape.cols;
    if (count != size)
        return cbx_fail(err, CBX_INVALID, "%s has %lld values, not %lld", p->name, (long long)size,
                        (long long)count);
    return CBX_OK;
}

cbx_status cbx_model_get(const cbx_model *model, size_t i, float *values, int64_t count,
                         cbx_error *err)
{
    cbx_status status = check_parameter(model, i, count, err);
    if (status)
        return status;
    const cbx_parameter *shape = &model->parameters[i].shape;
    const float         *from = model->theta + model->parameters[i].offset;
    int32_t              in = shape->rows ? shape->rows : 1, out = shape->cols;
    for (int32_t r = 0; r < out; r++)
        for (int32_t c = 0; c < in; c++)
            values[(int64_t)r * in + c] = from[(int64_t)c * out + r];
    return CBX_OK;
}

cbx_status cbx_model_set(cbx_model *model, size_t i, const float *values, int64_t count,
                         cbx_error *err)
{
    cbx_status status = check_parameter(model, i, count, err);
    if (status)
        return status;
    const cbx_named_parameter *p = &model->parameters[i];
    int32_t                    in = p->shape.rows ? p->shape.rows : 1, out = p->shape.cols;
    for (int64_t k = 0; k < count; k++)
        if (!isfinite(values[k]))
            return cbx_fail(err, CBX_INVALID,
                            "%s has the value %g at %lld; parameters must be finite", p->name,
                            (double)values[k], (long long)k);
        else if (p->shape.not_negative && values[k] < 0)
            return cbx_fail(err, CBX_INVALID, "%s has the value %g at %lld; it cannot be negative",
                            p->name, (double)values[k], (long long)k);
    float *to = model->theta + p->offset;
    for (int32_t r = 0; r < out; r++)
        for (int32_t c = 0; c < in; c++)
            to[(int64_t)c * out + r] = values[(int64_t)r * in + c];
    if (model->mean)
        find_shift(model);
    return CBX_OK;
}

/* ---- notes */

const char *cbx_model_note(const cbx_model *model, const char *key)
{
    for (const cbx_note *n = model->notes; n; n = n->next)
        if (!strcmp(n->key, key))
            return n->value;
    return NULL;
}

cbx_status cbx_model_set_note(cbx_model *model, const char *key, const char *value, cbx_error *err)
{
    if (!strcmp(key, "arch") || !strcmp(key, "format"))
        return cbx_fail(err, CBX_INVALID, "the note '%s' is the model file's own", key);
    const char *copy = cbx_arena_strdup(&model->arena, value);
    if (!copy)
        return cbx_fail_memory(err);
    cbx_note **at = &model->notes;
    for (; *at; at = &(*at)->next)
        if (!strcmp((*at)->key, key)) {
            (*at)->value = copy;
            return CBX_OK;
        }
    cbx_note *note = CBX_NEW0(&model->arena, cbx_note, 1);
    if (!note || !(note->key = cbx_arena_strdup(&model->arena, key)))
        return cbx_fail_memory(err);
    note->value = copy;
    *at = note;
    return CBX_OK;
}
