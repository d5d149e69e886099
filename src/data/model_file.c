/* SPDX-License-Identifier: Apache-2.0 */
/* model_file.c: models as safetensors files with PyG's parameter names; the
 * architecture is JSON in the metadata. Sizes are not repeated there: they are
 * read off the tensors. docs/formats.md has the layout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "json_writer.h"
#include "model.h"
#include "safetensors.h"
#include "model_file.h"
#include "version.h"

enum { MOST_LAYERS = 64 };

/* ---- reading */

static cbx_status read_choice(const cbx_tensor_file *f, const cbx_json *arch, const char *key,
                              const char *const *names, int *out, cbx_error *err)
{
    const cbx_json *value = cbx_json_get(arch, key);
    if (!value)
        return CBX_OK;
    const char *text = value->text;
    for (int i = 0; text && names[i]; i++)
        if (!strcmp(names[i], text)) {
            *out = i;
            return CBX_OK;
        }
    return cbx_fail(err, CBX_INVALID, "%s: arch: %s is '%.40s', which is not supported", f->path,
                    key, text ? text : "(not a text)");
}

/* A setting that is there; false where it is of another type. */
static bool take_setting(const cbx_json *value, const cbx_option *o, void *at)
{
    bool number = value->kind == CBX_JSON_INTEGER || value->kind == CBX_JSON_REAL;
    if (o->type == CBX_OPTION_INT)
        *(int64_t *)at = value->integer;
    if (o->type == CBX_OPTION_REAL)
        *(double *)at = value->number;
    if (o->type == CBX_OPTION_BOOL)
        *(bool *)at = value->integer;
    return o->type == CBX_OPTION_INT    ? value->kind == CBX_JSON_INTEGER
           : o->type == CBX_OPTION_REAL ? number
                                        : value->kind == CBX_JSON_BOOL;
}

static cbx_status read_settings(const cbx_tensor_file *f, const cbx_json *arch,
                                cbx_layer_settings *set, cbx_error *err)
{
    cbx_status status = CBX_OK;
    *set = cbx_settings_default();
    for (size_t i = 0; i < cbx_settings_table.count && !status; i++) {
        const cbx_option *o = &cbx_settings_table.options[i];
        const char       *key = cbx_setting_keys[i];
        const cbx_json   *value = key ? cbx_json_get(arch, key) : NULL;
        void             *at = (char *)set + o->offset;
        if (value && o->type == CBX_OPTION_CHOICE)
            status = read_choice(f, arch, key, o->choices, at, err);
        else if (value && !take_setting(value, o, at))
            status = cbx_fail(err, CBX_INVALID, "%s: arch: %s is not %s", f->path, key,
                              o->type == CBX_OPTION_BOOL  ? "true or false"
                              : o->type == CBX_OPTION_INT ? "a whole number"
                                                          : "a number");
    }
    if (!status && (status = cbx_fields_check(&cbx_settings_table, set, err)))
        cbx_error_prefix(err, f->path);
    return status;
}

static cbx_status read_arch(const cbx_tensor_file *f, const cbx_json *arch, cbx_architecture *a,
                            cbx_error *err)
{
    static const char *const tasks[] = {"node", "graph", NULL};
    static const char *const pools[] = {"mean", "sum", "max", "none", NULL};
    const cbx_json *named = cbx_json_get(arch, "conv"), *dropout = cbx_json_get(arch, "dropout");
    const char     *conv = named ? named->text : NULL;
    int             task = -1, head = CBX_HEAD_LAST, pool = CBX_POOL_MEAN;
    a->conv = conv ? cbx_layer_find(conv) : NULL;
    if (!a->conv)
        return cbx_fail(err, CBX_INVALID, "%s: arch: conv is '%.40s', which is not a known layer",
                        f->path, conv ? conv : "(missing)");
    cbx_status status = read_choice(f, arch, "task", tasks, &task, err);
    if (!status && task < 0)
        status = cbx_fail(err, CBX_INVALID, "%s: arch: task is missing", f->path);
    if (!status)
        status = read_choice(f, arch, "jk", cbx_head_names, &head, err);
    if (!status)
        status = read_choice(f, arch, "pool", pools, &pool, err);
    if (!status)
        status = read_settings(f, arch, &a->set, err);
    a->dropout = dropout ? dropout->number : 0;
    bool number = !dropout || dropout->kind == CBX_JSON_INTEGER || dropout->kind == CBX_JSON_REAL;
    if (!status && !(number && a->dropout >= 0 && a->dropout < 1))
        status = cbx_fail(err, CBX_INVALID, "%s: arch: dropout is not a number from 0 to below 1",
                          f->path);
    if (!status && task == CBX_GRAPH && pool == 3)
        status = cbx_fail(err, CBX_INVALID, "%s: arch: a graph task needs a pool: mean, sum or max",
                          f->path);
    a->task = (cbx_task)task;
    a->head = (cbx_head)head;
    a->pool = pool == 3 ? CBX_POOL_MEAN : (cbx_pool)pool;
    return status;
}

/* The parameter that tells a layer's units: the first that has as many columns, however many
 * these are. The layer's first parameter tells that it is there. */
static void find_telling(const cbx_architecture *a, cbx_parameter *first, cbx_parameter *telling)
{
    const int32_t few = 1024 * 1024, many = 3 * few;
    cbx_layer     small = {.ops = a->conv, .n_in = 1, .n_out = few, .set = a->set}, large = small;
    cbx_parameter more;
    large.n_out = many;
    (void)a->conv->parameter(&small, 0, first);
    for (int32_t i = 0; a->conv->parameter(&small, i, telling); i++)
        if (telling->cols == few && a->conv->parameter(&large, i, &more) && more.cols == many)
            return;
    *telling = *first;
}

/* The tensor of that name, as long as the parameter's columns ask for; `in`: its second size, if
 * it has one; -1: any. */
static cbx_status sized_tensor(const cbx_tensor_file *f, int32_t layer, const cbx_parameter *p,
                               int64_t in, const cbx_tensor **t, cbx_error *err)
{
    char name[64];
    (void)snprintf(name, sizeof name, "layers.%d.%s", layer, p->name);
    cbx_status status =
        cbx_tensors_get(f, name, CBX_F32, p->rows ? 2 : 1, (int64_t[]){-1, in}, t, err);
    if (status || !*t)
        return status;
    int64_t cols = p->rows ? (*t)->shape[1] : 1;
    if (layer == MOST_LAYERS || (*t)->shape[0] < 1 || cols < 1 || (*t)->shape[0] > INT32_MAX ||
        cols > INT32_MAX)
        return cbx_fail(err, CBX_INVALID,
                        "%s: tensor '%s' has the shape [%lld, %lld], or more than %d layers",
                        f->path, name, (long long)(*t)->shape[0], (long long)cols, MOST_LAYERS);
    return CBX_OK;
}

/* Rows of a linear layer's weight, which has so many columns; 0: it is not there. */
static cbx_status read_linear(const cbx_tensor_file *f, const char *name, int64_t cols,
                              bool required, int32_t *rows, cbx_error *err)
{
    const cbx_tensor *t;
    *rows = 0;
    cbx_status status = cbx_tensors_get(f, name, CBX_F32, 2, (int64_t[]){-1, cols}, &t, err);
    if (status || (!t && !required))
        return status;
    if (!t || t->shape[0] < 1 || t->shape[0] > INT32_MAX || cols > INT32_MAX)
        return cbx_fail(err, CBX_INVALID, "%s: tensor '%s' is missing, empty or too large", f->path,
                        name);
    *rows = (int32_t)t->shape[0];
    return CBX_OK;
}

static cbx_status read_head(const cbx_tensor_file *f, int64_t seen, cbx_architecture *a,
                            cbx_error *err)
{
    cbx_status status = read_linear(f, "hidden_layer.weight", seen, false, &a->head_hidden, err);
    return status ? status
                  : read_linear(f, "output_layer.weight", a->head_hidden ? a->head_hidden : seen,
                                true, &a->num_classes, err);
}

/* Number of layers, their widths and the order, from names and shapes. */
static cbx_status read_sizes(const cbx_tensor_file *f, cbx_architecture *a, int32_t *widths,
                             cbx_error *err)
{
    char          name[64];
    cbx_parameter first, telling;
    for (;; a->set.order++) {
        (void)snprintf(name, sizeof name, "layers.0.lins.%lld.weight", (long long)a->set.order);
        if (!cbx_tensors_find(f, name))
            break;
    }
    find_telling(a, &first, &telling);
    for (a->num_layers = 0;; a->num_layers++) {
        const cbx_tensor *t, *u = NULL;
        int64_t           in = a->num_layers ? widths[a->num_layers - 1] : -1;
        cbx_status        status = sized_tensor(f, a->num_layers, &first, in, &t, err);
        if (!status && t)
            status = sized_tensor(f, a->num_layers, &telling, -1, &u, err);
        if (status)
            return status;
        if (!t)
            break;
        if (!u)
            return cbx_fail(err, CBX_INVALID, "%s: tensor 'layers.%d.%s' is missing", f->path,
                            a->num_layers, telling.name);
        if (a->num_layers == 0)
            a->num_features = (int32_t)t->shape[1];
        widths[a->num_layers] = (int32_t)u->shape[0];
        cbx_layer l = {.ops = a->conv, .n_in = 1, .n_out = widths[a->num_layers], .set = a->set};
        if ((status = cbx_layer_check(&l, err))) {
            cbx_error_prefix(err, f->path);
            return status;
        }
    }
    if (a->num_layers == 0)
        return cbx_fail(err, CBX_INVALID, "%s: tensor 'layers.0.%s' is missing", f->path,
                        first.name);
    int64_t seen = widths[a->num_layers - 1];
    for (int32_t l = 0; a->head == CBX_HEAD_CAT && l < a->num_layers - 1; l++)
        seen += widths[l];
    a->widths = widths;
    return read_head(f, seen, a, err);
}

static cbx_status check_tensor(const cbx_tensor_file *f, int32_t layer, const cbx_parameter *p,
                               cbx_error *err)
{
    char              name[64];
    const cbx_tensor *t;
    (void)snprintf(name, sizeof name, "layers.%d.%s", layer, p->name);
    int64_t    shape[3];
    int        rank = cbx_parameter_shape(p, shape);
    cbx_status status =
        cbx_tensors_get(f, layer < 0 ? p->name : name, CBX_F32, rank, shape, &t, err);
    if (!status && !t)
        status = cbx_fail(err, CBX_INVALID, "%s: tensor '%s' is missing", f->path,
                          layer < 0 ? p->name : name);
    return status;
}

/* Before anything is allocated: that every parameter is there makes the model no
 * larger than the file. */
static cbx_status check_tensors(const cbx_tensor_file *f, const cbx_architecture *a, cbx_error *err)
{
    cbx_status    status = CBX_OK;
    cbx_parameter p = {.name = "output_layer.bias", 0, a->num_classes, CBX_INIT_ZERO};
    cbx_parameter hidden = {.name = "hidden_layer.bias", 0, a->head_hidden, CBX_INIT_ZERO};
    cbx_parameter mean = {.name = "input.mean", 0, a->num_features, CBX_INIT_ZERO};
    cbx_layer     layer = {.ops = a->conv, .n_in = a->num_features, .set = a->set};
    for (int32_t l = 0; l < a->num_layers && !status; l++) {
        cbx_parameter own;
        layer.n_out = a->widths[l];
        for (int32_t i = 0; !status && cbx_block_parameter(&layer, i, &own); i++)
            status = check_tensor(f, l, &own, err);
        layer.n_in = layer.n_out;
    }
    if (!status && a->head_hidden)
        status = check_tensor(f, -1, &hidden, err);
    if (!status && a->centred)
        status = check_tensor(f, -1, &mean, err);
    return status ? status : check_tensor(f, -1, &p, err);
}

static cbx_status copy_parameters(const cbx_tensor_file *f, cbx_model *m, cbx_error *err)
{
    for (int32_t i = 0; i < m->num_parameters; i++) {
        const cbx_named_parameter *p = &m->parameters[i];
        const cbx_tensor          *t = cbx_tensors_find(f, p->name);
        cbx_status                 status = cbx_model_set(m, (size_t)i, t->data, t->count, err);
        if (status) {
            cbx_error_prefix(err, f->path);
            return status;
        }
    }
    /* All of ours were found, so any excess is something we would not compute. */
    for (size_t k = 0; k < f->count; k++) {
        bool known = false;
        for (int32_t i = 0; i < m->num_parameters && !known; i++)
            known = !strcmp(m->parameters[i].name, f->tensors[k].name);
        if (!known)
            return cbx_fail(err, CBX_INVALID,
                            "%s: tensor '%s' has no place in a %s model of %d layers", f->path,
                            f->tensors[k].name, m->layers[0].ops->name, m->num_layers);
    }
    return CBX_OK;
}

static cbx_status read_model(const cbx_tensor_file *f, const cbx_json *arch, cbx_model **out,
                             cbx_error *err)
{
    cbx_architecture a = {0};
    int32_t          widths[MOST_LAYERS];
    cbx_status       status = read_arch(f, arch, &a, err);
    if (!status)
        status = read_sizes(f, &a, widths, err);
    a.centred = cbx_tensors_find(f, "input.mean") != NULL;
    if (!status)
        status = check_tensors(f, &a, err);
    if (!status)
        status = cbx_model_build(&a, out, err);
    if (!status)
        status = copy_parameters(f, *out, err);
    for (size_t i = 0; i < f->meta_count && !status; i++)
        if (strcmp(f->meta[i].key, "arch") != 0 && strcmp(f->meta[i].key, "format") != 0)
            status = cbx_model_set_note(*out, f->meta[i].key, f->meta[i].value, err);
    return status;
}

cbx_status cbx_model_load_layers(const char *path, cbx_model **out, cbx_error *err)
{
    *out = NULL;
    cbx_tensor_file *f;
    cbx_status       status = cbx_tensors_copy(path, &f, err);
    if (status)
        return status;
    const char     *text = cbx_tensors_meta(f, "arch");
    const cbx_json *arch = NULL;
    cbx_json_error  why;
    if (text && cbx_json_parse(text, strlen(text), &f->arena, &arch, &why) == CBX_NO_MEMORY)
        status = cbx_fail_memory(err);
    else if (!arch || arch->kind != CBX_JSON_OBJECT)
        status = cbx_fail(err, CBX_INVALID,
                          "%s: not a model file: its metadata has no 'arch' that is a JSON object",
                          path);
    else
        status = read_model(f, arch, out, err);
    cbx_tensors_close(f);
    if (status) {
        cbx_model_free(*out);
        *out = NULL;
    }
    return status;
}

/* ---- writing */

static char *arch_text(const cbx_model *model)
{
    cbx_model_info  i = cbx_model_describe(model);
    cbx_json_writer w = {.digits = 12};
    cbx_json_open(&w, NULL, '{');
    cbx_json_put_text(&w, "task", i.task == CBX_GRAPH ? "graph" : "node");
    cbx_json_put_text(&w, "conv", i.conv);
    cbx_json_put_text(&w, "jk", i.head);
    cbx_json_put_text(&w, "pool", i.pool);
    cbx_json_put_real(&w, "dropout", i.dropout);
    const cbx_option *o;
    const void       *values;
    const char       *key;
    for (size_t k = 0; (o = cbx_model_setting(model, k, &values, &key)); k++) {
        cbx_json value = cbx_json_option(o, values);
        if (key)
            cbx_json_put(&w, key, &value);
    }
    cbx_json_close(&w, '}');
    return cbx_json_take(&w);
}

cbx_status cbx_model_save(const cbx_model *model, const char *path, cbx_error *err)
{
    if (model->oracle)
        return cbx_fail(err, CBX_INVALID, "%s: a model of the kind '%s' has no layers to save",
                        path, model->oracle->kind);
    cbx_arena  arena = {0};
    size_t     count = (size_t)model->num_parameters, notes = 0, meta_count = 0;
    cbx_status status = CBX_OK;
    for (const cbx_note *n = model->notes; n; n = n->next)
        notes++;
    cbx_tensor *tensors = CBX_NEW0(&arena, cbx_tensor, count);
    cbx_meta   *meta = CBX_NEW0(&arena, cbx_meta, notes + 3);
    float      *values = CBX_NEW(&arena, float, model->size);
    char       *arch = arch_text(model);
    if (!tensors || !meta || !values || !arch) {
        status = cbx_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < count; i++) {
        const cbx_named_parameter *p = &model->parameters[i];
        tensors[i] = (cbx_tensor){.name = p->name, .dtype = CBX_F32, .data = values + p->offset};
        tensors[i].rank = cbx_parameter_shape(&p->shape, tensors[i].shape);
        int64_t size = (int64_t)(p->shape.rows ? p->shape.rows : 1) * p->shape.cols;
        status = cbx_model_get(model, i, values + p->offset, size, err);
        if (status)
            goto done;
    }
    meta[meta_count++] = (cbx_meta){"format", "pt"};
    meta[meta_count++] = (cbx_meta){"arch", arch};
    for (const cbx_note *n = model->notes; n; n = n->next)
        meta[meta_count++] = (cbx_meta){n->key, n->value};
    status = cbx_tensors_write(path, tensors, count, meta, meta_count, err);
done:
    free(arch);
    cbx_arena_free(&arena);
    return status;
}
