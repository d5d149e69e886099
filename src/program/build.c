/* SPDX-License-Identifier: Apache-2.0 */
/* build.c: values and nodes are appended; equal nodes are built once. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "number.h"
#include "ir.h"
#include "rng.h"

/* Room for one more of `count`; the old array stays in the arena, which doubling bounds. */
static bool grow(cbx_arena *arena, void **items, int32_t count, int32_t *room, size_t size)
{
    if (count < *room)
        return true;
    int32_t wanted = *room ? *room * 2 : 64;
    void   *more = cbx_arena_alloc(arena, (size_t)wanted, size);
    if (!more)
        return false;
    if (count)
        memcpy(more, *items, (size_t)count * size);
    *items = more;
    *room = wanted;
    return true;
}

int32_t cbx_build_value(cbx_builder *b, const cbx_value *like)
{
    cbx_program *p = b->program;
    void        *values = p->values;
    cbx_value    copy = like ? *like : (cbx_value){0};
    if (!grow(b->arena, &values, p->num_values, &b->room_values, sizeof *p->values))
        return -1;
    p->values = values;
    copy.node = copy.input = -1;
    copy.constant = NULL;
    p->values[p->num_values] = copy;
    return p->num_values++;
}

/* ---- the same again */

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_arg(uint64_t hash, const cbx_arg *a)
{
    int32_t shape[] = {(int32_t)a->kind, a->first, a->count};
    hash = mix(hash, shape, sizeof shape);
    for (int32_t i = 0; a->ints && i < a->count; i++) {
        hash = mix(hash, &a->ints[i].literal, sizeof a->ints[i].literal);
        hash = mix(hash, &a->ints[i].value, sizeof a->ints[i].value);
    }
    hash = mix(hash, &a->real, sizeof a->real);
    return a->text ? mix(hash, a->text, strlen(a->text)) : hash;
}

static uint64_t hash_node(const cbx_node *n)
{
    uint64_t hash = mix(0xcbf29ce484222325u, &n->op, sizeof n->op);
    hash = mix(hash, n->input, (size_t)n->num_inputs * sizeof *n->input);
    for (int32_t k = 0; k < CBX_ARGS; k++)
        hash = hash_arg(hash, &n->arg[k]);
    return cbx_mix64(hash);
}

/* So that NaN is NaN and -0 is not 0. */
static bool same_bits(double a, double b)
{
    uint64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x == y;
}

static bool same_arg(const cbx_arg *a, const cbx_arg *b)
{
    if (a->kind != b->kind || a->first != b->first || a->count != b->count ||
        !same_bits(a->real, b->real) || !a->text != !b->text ||
        (a->text && strcmp(a->text, b->text) != 0))
        return false;
    for (int32_t i = 0; a->ints && i < a->count; i++)
        if (a->ints[i].literal != b->ints[i].literal || a->ints[i].value != b->ints[i].value)
            return false;
    return true;
}

static bool same_node(const cbx_program *p, const cbx_node *a, const cbx_node *b)
{
    if (a->op != b->op || a->num_inputs != b->num_inputs || a->num_outputs != b->num_outputs ||
        a->detached != b->detached)
        return false;
    if (a->num_inputs && memcmp(a->input, b->input, (size_t)a->num_inputs * sizeof *a->input) != 0)
        return false;
    for (int32_t k = 0; k < a->num_outputs; k++)
        if (p->values[a->output[k]].type != p->values[b->output[k]].type ||
            p->values[a->output[k]].number != p->values[b->output[k]].number)
            return false;
    for (int32_t k = 0; k < CBX_ARGS; k++)
        if (!same_arg(&a->arg[k], &b->arg[k]))
            return false;
    return true;
}

/* Keeps the table of hashes at most half full. */
static bool grow_seen(cbx_builder *b)
{
    uint32_t room = b->room_seen ? b->room_seen * 2 : 256;
    int32_t *seen = CBX_NEW(&b->scratch, int32_t, room);
    if (!seen)
        return false;
    memset(seen, 0xff, room * sizeof *seen);
    for (int32_t i = 0; i < b->program->num_nodes; i++) {
        uint32_t at = (uint32_t)hash_node(&b->program->nodes[i]) & (room - 1);
        while (seen[at] >= 0)
            at = (at + 1) & (room - 1);
        seen[at] = i;
    }
    b->seen = seen;
    b->room_seen = room;
    return true;
}

cbx_status cbx_build_node(cbx_builder *b, cbx_node *node, cbx_error *err)
{
    cbx_program *p = b->program;
    void        *nodes = p->nodes;
    if ((uint32_t)p->num_nodes * 2 >= b->room_seen && !grow_seen(b))
        return cbx_fail_memory(err);
    uint32_t at = (uint32_t)hash_node(node) & (b->room_seen - 1);
    for (; b->seen[at] >= 0; at = (at + 1) & (b->room_seen - 1)) {
        const cbx_node *old = &p->nodes[b->seen[at]];
        if (same_node(p, old, node)) {
            memcpy(node->output, old->output, (size_t)old->num_outputs * sizeof *old->output);
            return CBX_OK;
        }
    }
    if (!grow(b->arena, &nodes, p->num_nodes, &b->room_nodes, sizeof *p->nodes))
        return cbx_fail_memory(err);
    p->nodes = nodes;
    for (int32_t k = 0; k < node->num_outputs; k++)
        p->values[node->output[k]].node = p->num_nodes;
    b->seen[at] = p->num_nodes;
    p->nodes[p->num_nodes++] = *node;
    return CBX_OK;
}

/* ---- helpers of rewriting */

int32_t cbx_build_call(cbx_builder *b, const char *op, int32_t num_inputs, const int32_t *input,
                       const cbx_arg *arg, int32_t like, cbx_type type)
{
    cbx_node node = {.op = cbx_op_find(op), .num_inputs = num_inputs, .num_outputs = 1};
    node.name = b->program->values[like].name;
    node.input = CBX_NEW(b->arena, int32_t, num_inputs);
    node.output = CBX_NEW(b->arena, int32_t, 1);
    if (!node.input || !node.output)
        return -1;
    for (int32_t k = 0, used = 0; k < CBX_ARGS && node.op->args[k].name; k++) {
        cbx_arg_kind kind = node.op->args[k].kind;
        if (arg)
            node.arg[k] = arg[k];
        if (kind == CBX_ARG_ARRAY || kind == CBX_ARG_NUMBER) {
            bool there = used < num_inputs;
            node.arg[k] = (cbx_arg){.kind = there ? CBX_ARG_ARRAY : CBX_ARG_NONE, .first = used};
            node.arg[k].count = there ? 1 : 0;
            used += there;
        }
    }
    if (num_inputs)
        memcpy(node.input, input, (size_t)num_inputs * sizeof *input);
    cbx_value like_value = b->program->values[like];
    like_value.type = type;
    like_value.made = true;
    node.output[0] = cbx_build_value(b, &like_value);
    if (node.output[0] < 0 || cbx_build_node(b, &node, NULL))
        return -1;
    return node.output[0];
}

int32_t cbx_build_cast(cbx_builder *b, int32_t value, cbx_type type)
{
    cbx_arg to[CBX_ARGS] = {[1] = {.kind = CBX_ARG_TYPE, .real = type}};
    if (value < 0 || b->program->values[value].type == type)
        return value;
    return cbx_build_call(b, "_to_copy.default", 1, &value, to, value, type);
}

int32_t cbx_build_scalar(cbx_builder *b, double number, cbx_type type)
{
    /* A node, not a constant, so that equal numbers are one; it is computed once, when the
     * program is read. */
    cbx_arg   arg[CBX_ARGS] = {{.kind = CBX_ARG_REAL, .real = number},
                               {.kind = CBX_ARG_TYPE, .real = type}};
    cbx_value blank = {.name = "", .type = type};
    int32_t   like = cbx_build_value(b, &blank);
    return like < 0 ? -1 : cbx_build_call(b, "scalar_tensor.default", 0, NULL, arg, like, type);
}

cbx_arg cbx_build_int(cbx_builder *b, int64_t literal)
{
    cbx_int *one = CBX_NEW(b->arena, cbx_int, 1);
    if (one)
        *one = (cbx_int){.literal = literal, .value = -1};
    return (cbx_arg){.kind = one ? CBX_ARG_INT : CBX_ARG_NONE, .ints = one, .count = 1};
}

cbx_status cbx_build_outputs(cbx_builder *b, cbx_node *n, int32_t count, cbx_type type,
                             cbx_error *err)
{
    int32_t *outputs = CBX_NEW(b->arena, int32_t, count);
    if (!outputs)
        return cbx_fail_memory(err);
    memcpy(outputs, n->output, (size_t)n->num_outputs * sizeof *outputs);
    for (int32_t k = n->num_outputs; k < count; k++) {
        cbx_value like = b->program->values[n->output[0]];
        like.type = type;
        like.made = true;
        outputs[k] = cbx_build_value(b, &like);
        if (outputs[k] < 0)
            return cbx_fail_memory(err);
    }
    n->output = outputs;
    n->num_outputs = count;
    return CBX_OK;
}

cbx_status(cbx_build_fail)(const cbx_builder *b, const cbx_node *node, cbx_error *err,
                           const char *format, ...)
{
    char    what[CBX_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    (void)cbx_vprint(what, sizeof what, format, args);
    va_end(args);
    return cbx_fail(err, CBX_INVALID, "%s: node %d, '%.80s' (%s): %.300s", b->program->info.path,
                    b->current, node->name, node->op->name, what);
}

/* ---- what nobody reads */

cbx_status cbx_build_prune(cbx_builder *b, cbx_error *err)
{
    cbx_program *p = b->program;
    bool        *wanted = CBX_NEW0(&b->scratch, bool, p->num_values);
    int32_t      kept = 0;
    if (!wanted)
        return cbx_fail_memory(err);
    wanted[p->output] = true;
    for (int32_t i = p->num_nodes; i-- > 0;) {
        cbx_node *n = &p->nodes[i];
        bool      any = false;
        for (int32_t k = 0; k < n->num_outputs; k++)
            any |= wanted[n->output[k]];
        if (!any) {
            n->op = NULL;
            continue;
        }
        for (int32_t k = 0; k < n->num_inputs; k++)
            if (n->input[k] >= 0)
                wanted[n->input[k]] = true;
        for (int32_t k = 0; k < CBX_ARGS; k++)
            for (int32_t j = 0; n->arg[k].ints && j < n->arg[k].count; j++)
                if (n->arg[k].ints[j].value >= 0)
                    wanted[n->arg[k].ints[j].value] = true;
    }
    for (int32_t i = 0; i < p->num_nodes; i++) {
        if (!p->nodes[i].op)
            continue;
        for (int32_t k = 0; k < p->nodes[i].num_outputs; k++)
            p->values[p->nodes[i].output[k]].node = kept;
        p->nodes[kept++] = p->nodes[i];
    }
    p->num_nodes = kept;
    return CBX_OK;
}
