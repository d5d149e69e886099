/* SPDX-License-Identifier: Apache-2.0 */
/* node_json.c: one node of model.json. Its arguments are matched by name with those of the
 * operation's table entry; what is left out there has its default. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "graph_json.h"
#include "number.h"

typedef struct node_reader {
    cbx_graph_reader *r;
    const char       *name, *target;
    cbx_node          node;
    int32_t           room; /* for inputs */
} node_reader;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static cbx_status
fail(const node_reader *n, const char *format, ...)
{
    char    what[CBX_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    (void)cbx_vprint(what, sizeof what, format, args);
    va_end(args);
    return cbx_fail(n->r->err, CBX_INVALID,
                    "%s: models/model.json: node %lld, '%.80s' (%.80s): %.240s", n->r->parts->path,
                    (long long)n->r->at, n->name, n->target, what);
}

#ifdef CBX_ANALYZE /* see error.h */
#define fail(...) (fail(__VA_ARGS__), CBX_INVALID)
#endif

/* ---- tensors and numbers, which earlier nodes have made */

static cbx_status find_value(node_reader *n, const char *name, bool number, int32_t *out)
{
    int64_t value = name ? cbx_name_get(&n->r->value, name) : -1;
    if (value < 0)
        return fail(n, "'%.80s' is not known", name ? name : "(no name)");
    if (n->r->b->program->values[value].number != number)
        return fail(n, "'%.80s' is %s", name,
                    number ? "a tensor, a number expected" : "a number, a tensor expected");
    *out = (int32_t)value;
    return CBX_OK;
}

static cbx_status add_input(node_reader *n, int32_t value)
{
    if (n->node.num_inputs == n->room) {
        int32_t  room = n->room ? 2 * n->room : 8;
        int32_t *more = CBX_NEW(n->r->b->arena, int32_t, room);
        if (!more)
            return cbx_fail_memory(n->r->err);
        if (n->node.num_inputs)
            memcpy(more, n->node.input, (size_t)n->node.num_inputs * sizeof *more);
        n->node.input = more;
        n->room = room;
    }
    n->node.input[n->node.num_inputs++] = value;
    return CBX_OK;
}

static cbx_status read_array(node_reader *n, const char *name, cbx_arg *arg)
{
    int32_t    value = -1;
    cbx_status status = find_value(n, name, false, &value);
    *arg = (cbx_arg){.kind = CBX_ARG_ARRAY, .first = n->node.num_inputs, .count = 1};
    return status ? status : add_input(n, value);
}

static cbx_status read_arrays(node_reader *n, const cbx_json *json, cbx_arg *arg)
{
    const cbx_json *plain = cbx_json_get(json, "as_tensors");
    const cbx_json *list = plain ? plain : cbx_json_get(json, "as_optional_tensors");
    cbx_status      status = CBX_OK;
    if (!list || list->kind != CBX_JSON_LIST)
        return fail(n, "a list of tensors expected");
    *arg = (cbx_arg){.kind = CBX_ARG_ARRAYS, .first = n->node.num_inputs};
    for (const cbx_json *v = list->first; v && !status; v = v->next, arg->count++) {
        int32_t     value = -1;
        const char *name = plain ? cbx_text_of(v, "name") : cbx_name_of(v);
        if (plain || !cbx_json_get(v, "as_none"))
            status = find_value(n, name, false, &value);
        if (!status)
            status = add_input(n, value);
    }
    return status;
}

/* An integer: 7, {"as_int": 7} or {"as_name": "sym_size_int"}. */
static cbx_status read_int(node_reader *n, const cbx_json *v, cbx_int *out)
{
    const cbx_json *literal = v->kind == CBX_JSON_INTEGER ? v : cbx_json_get(v, "as_int");
    *out = (cbx_int){.value = -1};
    if (!literal)
        return find_value(n, cbx_text_of(v, "as_name"), true, &out->value);
    if (literal->kind != CBX_JSON_INTEGER)
        return fail(n, "an integer expected");
    out->literal = literal->integer;
    return CBX_OK;
}

static cbx_status read_ints(node_reader *n, const cbx_json *json, cbx_arg *arg)
{
    static const char *const kinds[] = {"as_int", "as_sym_int", "as_ints", "as_sym_ints"};
    const cbx_json          *v = NULL;
    size_t                   kind = 0;
    for (; kind < 4 && !(v = cbx_json_get(json, kinds[kind])); kind++)
        ;
    bool list = kind >= 2;
    if (!v || (list && (v->kind != CBX_JSON_LIST || v->count > INT16_MAX)))
        return fail(n, "an integer or a list of them expected");
    cbx_int *ints = CBX_NEW(n->r->b->arena, cbx_int, list ? v->count : 1);
    if (!ints)
        return cbx_fail_memory(n->r->err);
    *arg = (cbx_arg){.kind = list ? CBX_ARG_INTS : CBX_ARG_INT, .ints = ints};
    if (!list) {
        arg->count = 1;
        return read_int(n, v, ints);
    }
    cbx_status status = CBX_OK;
    for (const cbx_json *one = v->first; one && !status; one = one->next)
        status = read_int(n, one, &ints[arg->count++]);
    return status;
}

/* ---- plain values */

/* A float, which may be the text Infinity, -Infinity or NaN; an int; or a bool. */
static cbx_status read_real(node_reader *n, const cbx_json *json, cbx_arg *arg)
{
    const cbx_json *real = cbx_json_get(json, "as_float"), *whole = cbx_json_get(json, "as_int");
    const cbx_json *logic = cbx_json_get(json, "as_bool"), *v = real ? real : whole ? whole : logic;
    *arg = (cbx_arg){.kind = CBX_ARG_REAL, .whole = !real};
    if (!v)
        return fail(n, "a number that is written in the file expected");
    if (v->kind == CBX_JSON_INTEGER || v->kind == CBX_JSON_REAL)
        arg->real = v->number;
    else if (v->kind == CBX_JSON_BOOL)
        arg->real = (double)v->integer;
    else if (v->text && !strcmp(v->text, "Infinity"))
        arg->real = INFINITY;
    else if (v->text && !strcmp(v->text, "-Infinity"))
        arg->real = -INFINITY;
    else if (v->text && !strcmp(v->text, "NaN"))
        arg->real = NAN;
    else
        return fail(n, "a number expected");
    return CBX_OK;
}

/* A tensor, or a number that becomes one without dimensions. */
static cbx_status read_number(node_reader *n, const cbx_json *json, cbx_arg *arg)
{
    cbx_builder    *b = n->r->b;
    const cbx_json *symbol = cbx_json_get(json, "as_sym_int");
    int32_t         value = -1;
    cbx_arg         number;
    if (cbx_json_get(json, "as_tensor"))
        return read_array(n, cbx_name_of(json), arg);
    cbx_status status = symbol ? read_ints(n, json, &number) : read_real(n, json, &number);
    if (status)
        return status;
    if (symbol) {
        cbx_arg   args[CBX_ARGS] = {number};
        cbx_value blank = {.name = n->node.name, .type = CBX_INTEGER};
        int32_t   like = cbx_build_value(b, &blank);
        value = like < 0 ? -1 : cbx_build_call(b, "cbx.number", 0, NULL, args, like, CBX_INTEGER);
    } else {
        bool logic = cbx_json_get(json, "as_bool") != NULL;
        value = cbx_build_scalar(b, number.real,
                                 logic          ? CBX_LOGICAL
                                 : number.whole ? CBX_INTEGER
                                                : CBX_REAL64);
    }
    *arg = (cbx_arg){.kind = CBX_ARG_ARRAY, .first = n->node.num_inputs, .count = 1};
    return value < 0 ? cbx_fail_memory(n->r->err) : add_input(n, value);
}

static cbx_status read_plain(node_reader *n, const cbx_arg_spec *spec, const cbx_json *json,
                             cbx_arg *arg)
{
    *arg = (cbx_arg){.kind = spec->kind};
    if (spec->kind == CBX_ARG_TEXT) {
        const char *text = cbx_text_of(json, "as_string");
        arg->text = text ? cbx_arena_strdup(n->r->b->arena, text) : NULL;
        return arg->text ? CBX_OK : text ? cbx_fail_memory(n->r->err) : fail(n, "a text expected");
    }
    const char     *key = spec->kind == CBX_ARG_LOGIC ? "as_bool" : "as_scalar_type";
    const cbx_json *v = cbx_json_get(json, key);
    if (!v || v->text)
        return fail(n, "'%s' for '%s' expected", key, spec->name);
    arg->real = (double)v->integer;
    return CBX_OK;
}

/* ---- arguments */

static cbx_status read_arg(node_reader *n, const cbx_arg_spec *spec, const cbx_json *json,
                           cbx_arg *arg)
{
    *arg = (cbx_arg){.kind = CBX_ARG_NONE};
    if (!json || cbx_json_get(json, "as_none"))
        return spec->optional ? CBX_OK : fail(n, "no argument '%s'", spec->name);
    switch (spec->kind) {
    case CBX_ARG_ARRAY:
        return read_array(n, cbx_json_get(json, "as_tensor") ? cbx_name_of(json) : NULL, arg);
    case CBX_ARG_ARRAYS:
        return read_arrays(n, json, arg);
    case CBX_ARG_NUMBER:
        return read_number(n, json, arg);
    case CBX_ARG_INT:
    case CBX_ARG_INTS:
        return read_ints(n, json, arg);
    case CBX_ARG_REAL:
        return read_real(n, json, arg);
    default:
        return read_plain(n, spec, json, arg);
    }
}

/* What says where a tensor lies, not what it is. */
static bool is_ignored(const char *name)
{
    static const char *const names[] = {"layout", "device", "pin_memory", "memory_format"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

static cbx_status read_args(node_reader *n)
{
    const cbx_json *inputs = cbx_json_get(n->r->node[n->r->at], "inputs");
    const cbx_json *given[CBX_ARGS] = {NULL};
    const cbx_op   *op = n->node.op;
    for (const cbx_json *v = inputs ? inputs->first : NULL; v; v = v->next) {
        const char *name = cbx_text_of(v, "name");
        int32_t     k = name && !strncmp(name, "cbx.", 4) ? CBX_ARGS : 0; /* our own */
        while (name && k < CBX_ARGS && op->args[k].name && strcmp(op->args[k].name, name) != 0)
            k++;
        if (name && k < CBX_ARGS && op->args[k].name)
            given[k] = cbx_json_get(v, "arg");
        else if (!name || !is_ignored(name))
            return fail(n, "the argument '%.40s' is not known here", name ? name : "(no name)");
    }
    cbx_status status = CBX_OK;
    for (int32_t k = 0; k < CBX_ARGS && op->args[k].name && !status; k++)
        status = read_arg(n, &op->args[k], given[k], &n->node.arg[k]);
    return status;
}

/* ---- outputs */

static cbx_status add_output(node_reader *n, int32_t value, int32_t room)
{
    if (value < 0)
        return n->r->err->status;
    if (n->node.num_outputs == room)
        return fail(n, "more than %d outputs", room);
    n->node.output[n->node.num_outputs++] = value;
    return CBX_OK;
}

static cbx_status read_outputs(node_reader *n, const char **names, int32_t room)
{
    const cbx_json *outputs = cbx_json_get(n->r->node[n->r->at], "outputs");
    cbx_status      status = CBX_OK;
    for (const cbx_json *v = outputs ? outputs->first : NULL; v && !status; v = v->next) {
        const cbx_json *list = cbx_json_get(v, "as_tensors");
        for (const cbx_json *t = list ? list->first : NULL; t && !status; t = t->next) {
            const char *name = cbx_text_of(t, "name");
            if (n->node.num_outputs < room)
                names[n->node.num_outputs] = name;
            status = name ? add_output(n, cbx_graph_tensor(n->r, name), room)
                          : fail(n, "an output without a name");
        }
        const char *name = list ? NULL : cbx_name_of(v);
        if (!name)
            continue;
        bool number = !cbx_json_get(v, "as_tensor");
        if (n->node.num_outputs < room)
            names[n->node.num_outputs] = name;
        cbx_value blank = {.name = n->node.name, .type = CBX_INTEGER, .number = true};
        status = add_output(
            n, number ? cbx_build_value(n->r->b, &blank) : cbx_graph_tensor(n->r, name), room);
    }
    return status;
}

/* ---- the node */

static cbx_status find_op(node_reader *n)
{
    static const char aten[] = "torch.ops.aten.";
    const char       *name = n->target;
    if (!strncmp(name, aten, sizeof aten - 1))
        name += sizeof aten - 1;
    n->node.op = strncmp(name, "cbx.", 4) ? cbx_op_find(name) : NULL;
    if (n->node.op)
        return CBX_OK;
    return fail(n, "this operation is not known here. Was the program saved after "
                   ".run_decompositions()? A callback needs no export (cx.explain takes any "
                   "function)");
}

cbx_status cbx_node_read(cbx_graph_reader *r)
{
    enum { ROOM = 64 };
    const cbx_json *json = r->node[r->at];
    const char     *names[ROOM] = {NULL};
    node_reader     n = {.r = r, .name = cbx_text_of(json, "name")};
    n.target = cbx_text_of(json, "target");
    n.name = n.name ? n.name : "(no name)";
    n.target = n.target ? n.target : "(no target)";
    n.node.name = cbx_arena_strdup(r->b->arena, n.name);
    n.node.output = CBX_NEW(r->b->arena, int32_t, ROOM);
    if (!n.node.name || !n.node.output)
        return cbx_fail_memory(r->err);
    cbx_status status = find_op(&n);
    if (!status)
        status = read_args(&n);
    if (!status)
        status = read_outputs(&n, names, ROOM);
    if (!status && n.node.num_outputs == 0)
        status = fail(&n, "no outputs");
    int32_t count = n.node.num_outputs;
    if (!status)
        status = cbx_build_lowered(r->b, &n.node, r->err);
    for (int32_t k = 0; k < count && !status; k++) /* an earlier node may have made the same */
        if (!cbx_name_put(&r->value, names[k], n.node.output[k]))
            status = cbx_fail_memory(r->err);
    return status;
}
