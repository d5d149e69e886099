/* SPDX-License-Identifier: Apache-2.0 */
/* graph_json.c: model.json. Inputs, weights and nodes refer to each other by name; a node may use
 * only what comes before it. Nodes that the output does not need, such as assertions, are not
 * looked at, so that operations that are not known here do no harm there. */
#include "graph_json.h"

#include <stdio.h>
#include <string.h>

#include "error.h"

enum { SCHEMA = 8, MOST_NODES = 16384 };

static cbx_status fail(const cbx_graph_reader *r, const char *what)
{
    return cbx_fail(r->err, CBX_INVALID, "%s: models/model.json: %s", r->parts->path, what);
}

const char *cbx_text_of(const cbx_json *object, const char *key)
{
    const cbx_json *v = cbx_json_get(object, key);
    return v ? v->text : NULL;
}

const char *cbx_name_of(const cbx_json *arg)
{
    static const char *const kinds[] = {"as_tensor", "as_sym_int", "as_sym_bool", "as_sym_float"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const cbx_json *v = cbx_json_get(arg, kinds[i]);
        if (v)
            return cbx_text_of(v, i ? "as_name" : "name");
    }
    return NULL;
}

cbx_status cbx_each_name(cbx_graph_reader *r, const cbx_json *arg,
                         cbx_status (*visit)(cbx_graph_reader *r, const char *name))
{
    static const char *const lists[] = {"as_tensors", "as_optional_tensors", "as_sym_ints"};
    const char              *own = cbx_name_of(arg);
    cbx_status               status = own ? visit(r, own) : CBX_OK;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !status; i++) {
        const cbx_json *list = cbx_json_get(arg, lists[i]);
        for (const cbx_json *v = list ? list->first : NULL; v && !status; v = v->next) {
            const char *name = i == 1 ? cbx_name_of(v) : cbx_text_of(v, i ? "as_name" : "name");
            status = name ? visit(r, name) : CBX_OK;
        }
    }
    return status;
}

/* The members of a list as an array. */
static const cbx_json **to_array(cbx_graph_reader *r, const cbx_json *list)
{
    const cbx_json **all = CBX_NEW(r->scratch, const cbx_json *, list->count + 1);
    size_t           at = 0;
    for (const cbx_json *v = all ? list->first : NULL; v; v = v->next)
        all[at++] = v;
    return all;
}

/* ---- who makes what, and what of it is needed */

static cbx_status note_maker(cbx_graph_reader *r, const char *name)
{
    if (cbx_name_get(&r->made_by, name) >= 0)
        return cbx_fail(r->err, CBX_INVALID, "%s: models/model.json: '%.80s' is made twice",
                        r->parts->path, name);
    return cbx_name_put(&r->made_by, name, r->at) ? CBX_OK : cbx_fail_memory(r->err);
}

static cbx_status need(cbx_graph_reader *r, const char *name)
{
    int64_t maker = cbx_name_get(&r->made_by, name);
    if (maker < 0 || (maker < r->num_nodes && maker >= r->at))
        return cbx_fail(r->err, CBX_INVALID,
                        "%s: models/model.json: node %lld uses '%.80s', which nothing before it "
                        "makes",
                        r->parts->path, (long long)r->at, name);
    r->needed[maker] = true;
    return CBX_OK;
}

/* The name that an input_spec gives its tensor; NULL: it gives none. */
static const char *spec_name(const cbx_json *spec)
{
    const cbx_json *inside = spec->first, *arg = cbx_json_get(inside, "arg");
    const char     *name = cbx_text_of(arg, "name");
    return name ? name : cbx_name_of(arg);
}

static cbx_status note_makers(cbx_graph_reader *r)
{
    cbx_status status = CBX_OK;
    for (int64_t i = 0; i < r->num_specs && !status; i++) {
        const char *name = spec_name(r->spec[i]);
        r->at = r->num_nodes + i;
        status = name ? note_maker(r, name) : CBX_OK;
    }
    for (r->at = 0; r->at < r->num_nodes && !status; r->at++) {
        const cbx_json *outputs = cbx_json_get(r->node[r->at], "outputs");
        for (const cbx_json *v = outputs ? outputs->first : NULL; v && !status; v = v->next)
            status = cbx_each_name(r, v, note_maker);
    }
    return status;
}

static cbx_status mark_needed(cbx_graph_reader *r, const char *output)
{
    r->at = r->num_nodes;
    cbx_status status = need(r, output);
    for (r->at = r->num_nodes - 1; r->at >= 0 && !status; r->at--) {
        const cbx_json *inputs = cbx_json_get(r->node[r->at], "inputs");
        if (!r->needed[r->at])
            continue;
        for (const cbx_json *v = inputs ? inputs->first : NULL; v && !status; v = v->next)
            status = cbx_each_name(r, cbx_json_get(v, "arg"), need);
    }
    return status;
}

/* ---- tensors */

int32_t cbx_graph_tensor(cbx_graph_reader *r, const char *name)
{
    int64_t         at = cbx_name_get(&r->tensors, name);
    const cbx_json *about = at < 0 ? NULL : r->tensor[at], *sizes = cbx_json_get(about, "sizes");
    const cbx_json *type = cbx_json_get(about, "dtype");
    cbx_value       value = {.name = cbx_arena_strdup(r->b->arena, name)};
    char            buffer[32];
    if (!value.name) {
        (void)cbx_fail_memory(r->err);
        return -1;
    }
    if (!sizes || !type || sizes->count > CBX_RANKS ||
        !cbx_type_from_torch(type->integer, &value.type)) {
        (void)cbx_fail(r->err, CBX_INVALID,
                       "%s: models/model.json: '%.80s' is %s of %zu dimensions; float32, float64, "
                       "int64 or bool, and at most %d dimensions expected",
                       r->parts->path, name,
                       type ? cbx_torch_type_name(type->integer, buffer, sizeof buffer) : "nothing",
                       sizes ? sizes->count : 0, CBX_RANKS);
        return -1;
    }
    for (const cbx_json *s = sizes->first; s; s = s->next, value.rank++) {
        const cbx_json *literal = cbx_json_get(s, "as_int");
        value.symbolic |= literal ? 0 : 1u << value.rank;
        value.size[value.rank] = literal ? literal->integer : -1;
    }
    int32_t made = cbx_build_value(r->b, &value);
    if (made < 0 || !cbx_name_put(&r->value, value.name, made)) {
        (void)cbx_fail_memory(r->err);
        return -1;
    }
    return made;
}

/* A weight or a constant, from where the spec says. */
static cbx_status read_weight(cbx_graph_reader *r, const char *name, const cbx_json *inside)
{
    const char *keys[] = {"parameter_name", "buffer_name", "tensor_constant_name"}, *held = NULL;
    cbx_array  *array = NULL;
    int32_t     value = cbx_graph_tensor(r, name);
    for (size_t i = 0; i < 3 && !held; i++)
        held = cbx_text_of(inside, keys[i]);
    if (value < 0)
        return r->err ? r->err->status : CBX_INVALID;
    if (!held)
        return fail(r, "a weight without a name");
    cbx_status status = cbx_numbers_get(&r->weights, held, r->b->arena, &array, r->err);
    if (!status && !array)
        status = cbx_numbers_get(&r->constants, held, r->b->arena, &array, r->err);
    if (status)
        return status;
    cbx_value *v = &r->b->program->values[value];
    if (!array || array->type != v->type || array->rank != v->rank)
        return cbx_fail(r->err, CBX_INVALID, "%s: the weight '%.80s' is %s", r->parts->path, held,
                        array ? "of another type or rank than model.json says" : "missing");
    v->constant = array;
    v->symbolic = 0;
    return CBX_OK;
}

/* ---- inputs */

/* Sizes of an input: literal, or -1 and a text that is the same for equal sizes. */
static bool read_sizes(cbx_graph_reader *r, const char *name, cbx_program_input *in)
{
    const cbx_json *about = r->tensor[cbx_name_get(&r->tensors, name)];
    int32_t         i = 0;
    for (const cbx_json *s = cbx_json_get(about, "sizes")->first; s; s = s->next, i++) {
        const cbx_json *literal = cbx_json_get(s, "as_int");
        const char     *symbol = cbx_text_of(cbx_json_get(s, "as_expr"), "expr_str");
        in->size[i] = literal ? literal->integer : -1;
        in->symbol[i] = symbol ? cbx_arena_strdup(r->b->arena, symbol) : NULL;
        if (symbol && !in->symbol[i])
            return false;
    }
    return true;
}

static cbx_status read_input(cbx_graph_reader *r, const char *name)
{
    cbx_program *p = r->b->program;
    int32_t      value = cbx_graph_tensor(r, name), at = p->info.num_inputs;
    if (value < 0)
        return r->err ? r->err->status : CBX_INVALID;
    const cbx_value *v = &p->values[value];
    p->inputs[at] = (cbx_program_input){.name = v->name, .type = v->type, .rank = v->rank};
    if (!read_sizes(r, name, &p->inputs[at]))
        return cbx_fail_memory(r->err);
    p->input_value[at] = value;
    p->values[value].input = at;
    p->info.num_inputs++;
    return CBX_OK;
}

static cbx_status read_specs(cbx_graph_reader *r)
{
    cbx_program *p = r->b->program;
    cbx_status   status = CBX_OK;
    p->inputs = CBX_NEW0(r->b->arena, cbx_program_input, r->num_specs);
    p->input_value = CBX_NEW0(r->b->arena, int32_t, r->num_specs);
    if (!p->inputs || !p->input_value)
        return cbx_fail_memory(r->err);
    p->info.inputs = p->inputs;
    for (int64_t i = 0; i < r->num_specs && !status; i++) {
        const cbx_json *inside = r->spec[i]->first;
        const char     *kind = inside && inside->key ? inside->key : "";
        const char     *name = inside ? spec_name(r->spec[i]) : NULL;
        if (!strcmp(kind, "constant_input"))
            continue;
        if (!strcmp(kind, "user_input") && cbx_json_get(cbx_json_get(inside, "arg"), "as_none"))
            continue;
        if (!strcmp(kind, "user_input") &&
            (!name || !cbx_json_get(cbx_json_get(inside, "arg"), "as_tensor")))
            return fail(r, "an input that is no tensor: only tensors can be given to a program");
        if (!strcmp(kind, "user_input"))
            status = read_input(r, name);
        else if (!name || (strcmp(kind, "parameter") != 0 && strcmp(kind, "buffer") != 0 &&
                           strcmp(kind, "tensor_constant") != 0))
            return cbx_fail(r->err, CBX_INVALID,
                            "%s: models/model.json: an input of the kind '%.40s', which is not "
                            "known here",
                            r->parts->path, kind);
        else if (r->needed[r->num_nodes + i])
            status = read_weight(r, name, inside);
    }
    return status;
}

/* ---- outputs */

static cbx_status find_output(cbx_graph_reader *r, const cbx_json *specs, const char **name)
{
    int32_t wanted = r->options ? r->options->output : 0, at = 0;
    for (const cbx_json *s = specs->first; s; s = s->next) {
        const cbx_json *inside = s->first, *arg = cbx_json_get(inside, "arg");
        if (!inside || !inside->key || strcmp(inside->key, "user_output") != 0)
            return cbx_fail(r->err, CBX_INVALID,
                            "%s: models/model.json: an output of the kind '%.40s': was the model "
                            "exported in training mode? Call .eval() before",
                            r->parts->path, inside && inside->key ? inside->key : "?");
        const char *own = cbx_json_get(arg, "as_tensor") ? cbx_name_of(arg) : NULL;
        if (own && at++ == wanted)
            *name = own;
    }
    if (*name)
        return CBX_OK;
    return cbx_fail(r->err, CBX_INVALID,
                    "%s: models/model.json: output %d, but there are %d tensors", r->parts->path,
                    wanted, at);
}

/* In rows without gaps, for whoever reads it. */
static cbx_status finish_output(cbx_graph_reader *r, const char *name)
{
    cbx_program *p = r->b->program;
    int32_t      value = (int32_t)cbx_name_get(&r->value, name);
    if (value < 0 || p->values[value].number)
        return fail(r, "an output that is no tensor");
    p->output = cbx_build_call(r->b, "cbx.dense", 1, &value, NULL, value, p->values[value].type);
    if (p->output < 0)
        return cbx_fail_memory(r->err);
    const cbx_value *v = &p->values[value];
    const cbx_json  *about = r->tensor[cbx_name_get(&r->tensors, name)];
    p->info.output = v->name;
    p->info.output_type = v->type;
    p->info.output_rank = v->rank;
    int32_t i = 0;
    for (const cbx_json *s = cbx_json_get(about, "sizes")->first; s; s = s->next, i++) {
        const cbx_json *literal = cbx_json_get(s, "as_int");
        if (literal && literal->integer < 0)
            return fail(r, "an output of a negative size");
        p->info.output_size[i] = literal ? literal->integer : -1;
    }
    return cbx_is_real(v->type) ? CBX_OK
                                : cbx_fail(r->err, CBX_INVALID,
                                           "%s: output '%s' is of %s, float32 "
                                           "or float64 expected",
                                           r->parts->path, v->name, cbx_type_name(v->type));
}

/* ---- all of it */

static cbx_status open_graph(cbx_graph_reader *r, const cbx_json *json, const cbx_json **outputs)
{
    const cbx_json *module = cbx_json_get(json, "graph_module");
    const cbx_json *graph = cbx_json_get(module, "graph");
    const cbx_json *signature = cbx_json_get(module, "signature");
    const cbx_json *nodes = cbx_json_get(graph, "nodes");
    const cbx_json *specs = cbx_json_get(signature, "input_specs");
    const cbx_json *tensors = cbx_json_get(graph, "tensor_values");
    const cbx_json *major = cbx_json_get(cbx_json_get(json, "schema_version"), "major");
    *outputs = cbx_json_get(signature, "output_specs");
    if (!major || major->kind != CBX_JSON_INTEGER || major->integer != SCHEMA)
        return cbx_fail(r->err, CBX_INVALID,
                        "%s: models/model.json: schema version %lld, %d expected: it comes from a "
                        "version of torch that is not known here",
                        r->parts->path, major ? (long long)major->integer : -1LL, SCHEMA);
    if (!nodes || nodes->kind != CBX_JSON_LIST || !specs || specs->kind != CBX_JSON_LIST ||
        !tensors || tensors->kind != CBX_JSON_OBJECT || !*outputs ||
        (*outputs)->kind != CBX_JSON_LIST)
        return fail(r, "graph_module with a signature, and a graph with nodes and tensor_values, "
                       "expected");
    if (nodes->count > MOST_NODES || specs->count > MOST_NODES)
        return cbx_fail(r->err, CBX_INVALID,
                        "%s: models/model.json: %zu nodes, at most %d expected", r->parts->path,
                        nodes->count, MOST_NODES);
    r->num_nodes = (int64_t)nodes->count;
    r->num_specs = (int64_t)specs->count;
    r->node = to_array(r, nodes);
    r->spec = to_array(r, specs);
    r->tensor = to_array(r, tensors);
    r->needed = CBX_NEW0(r->scratch, bool, r->num_nodes + r->num_specs);
    r->made_by.arena = r->tensors.arena = r->value.arena = r->scratch;
    if (!r->node || !r->spec || !r->tensor || !r->needed)
        return cbx_fail_memory(r->err);
    for (size_t i = 0; i < tensors->count; i++)
        if (!cbx_name_put(&r->tensors, r->tensor[i]->key, (int64_t)i))
            return cbx_fail_memory(r->err);
    return CBX_OK;
}

/* The edge weights: an input that the file does not know. Its type is that of the features. */
static cbx_status add_weights(cbx_graph_reader *r)
{
    cbx_program *p = r->b->program;
    p->real = CBX_REAL32;
    for (int32_t i = p->info.num_inputs; i-- > 0;)
        if (cbx_is_real(p->inputs[i].type))
            p->real = p->inputs[i].type;
    cbx_value weights = {.name = "edge weights", .type = p->real, .rank = 1, .symbolic = 1};
    p->weights = cbx_build_value(r->b, &weights);
    return p->weights < 0 ? cbx_fail_memory(r->err) : CBX_OK;
}

cbx_status cbx_model_json_read(cbx_builder *b, const cbx_parts *parts, const cbx_json *json,
                               const cbx_program_options *options, cbx_error *err)
{
    cbx_error        unheard = {0};
    cbx_graph_reader r = {.b = b, .parts = parts, .options = options, .scratch = &b->scratch};
    const cbx_json  *outputs = NULL;
    const char      *output = NULL;
    r.err = err ? err : &unheard;
    cbx_status status = open_graph(&r, json, &outputs);
    if (!status)
        status = cbx_numbers_open(parts, "data/weights", "model_weights_config.json", r.scratch,
                                  &r.weights, err);
    if (!status)
        status = cbx_numbers_open(parts, "data/constants", "model_constants_config.json", r.scratch,
                                  &r.constants, err);
    if (!status)
        status = find_output(&r, outputs, &output);
    if (!status)
        status = note_makers(&r);
    if (!status)
        status = mark_needed(&r, output);
    if (!status)
        status = read_specs(&r);
    if (!status)
        status = add_weights(&r);
    for (r.at = 0; r.at < r.num_nodes && !status; r.at++) {
        b->current = (int32_t)r.at;
        if (r.needed[r.at])
            status = cbx_node_read(&r);
    }
    return status ? status : finish_output(&r, output);
}
