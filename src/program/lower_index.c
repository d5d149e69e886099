/* SPDX-License-Identifier: Apache-2.0 */
/* lower_index.c: every way of indexing as a list of rows along one dimension, and every scatter as
 * one of those of op_scatter.c, with the weights of the edges that its index stands for. */
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "index.h"

/* Argument k of a node as a value; -1: absent. */
static int32_t value_at(const cbx_node *n, int32_t k)
{
    return n->arg[k].kind == CBX_ARG_ARRAY ? n->input[n->arg[k].first] : -1;
}

/* Makes the node a call of another operation, for the outputs that it has: inputs go to the
 * arguments that are arrays, in order, -1 leaving one out; `arg` has all others. */
static cbx_status become(cbx_builder *b, cbx_node *n, const char *op, int32_t count,
                         const int32_t *input, const cbx_arg *arg, cbx_error *err)
{
    n->op = cbx_op_find(op);
    n->num_inputs = count;
    n->input = CBX_NEW(b->arena, int32_t, count);
    if (!n->input)
        return cbx_fail_memory(err);
    memcpy(n->input, input, (size_t)count * sizeof *input);
    for (int32_t k = 0, at = 0; k < CBX_ARGS; k++) {
        n->arg[k] = arg[k];
        if (n->op->args[k].name && n->op->args[k].kind == CBX_ARG_ARRAY && at < count) {
            n->arg[k] = (cbx_arg){.kind = input[at] < 0 ? CBX_ARG_NONE : CBX_ARG_ARRAY,
                                  .first = at,
                                  .count = input[at] < 0 ? 0 : 1};
            at++;
        }
    }
    return CBX_OK;
}

/* ---- lists of indices, as Python has them between brackets */

typedef struct place {
    int32_t self, index; /* values: what is indexed, its dimensions joined where several are */
    int64_t dim;
    bool    masked, joined;
} place;

/* The indices that are there, which must follow each other; the dimension of the first. */
static cbx_status indices_of(cbx_builder *b, const cbx_node *n, int32_t k, int32_t *found,
                             int32_t *count, place *p, cbx_error *err)
{
    const cbx_arg *list = &n->arg[k];
    int32_t        last = -1;
    *count = 0;
    for (int32_t i = 0; i < list->count; i++) {
        int32_t v = n->input[list->first + i];
        if (v < 0)
            continue;
        if (*count == CBX_RANKS || (*count && last != i - 1))
            return cbx_build_fail(b, n, err, "indices with a gap between them");
        p->dim = *count ? p->dim : i;
        found[(*count)++] = v;
        last = i;
    }
    return *count ? CBX_OK : cbx_build_fail(b, n, err, "no index at all");
}

/* A mask becomes the positions that are true, of its dimensions joined. */
static bool from_mask(cbx_builder *b, place *p, int32_t *index)
{
    const cbx_value mask = b->program->values[*index];
    cbx_value       list = {.name = mask.name, .type = CBX_INTEGER, .rank = 1, .symbolic = 1};
    int32_t         like = cbx_build_value(b, &list);
    int32_t         dense =
        like < 0 ? -1 : cbx_build_call(b, "cbx.dense", 1, index, NULL, *index, CBX_LOGICAL);
    if (dense < 0)
        return false;
    *index = cbx_build_call(b, "cbx.positions", 1, &dense, NULL, like, CBX_INTEGER);
    if (mask.rank > 1 && *index >= 0) {
        cbx_arg args[CBX_ARGS] = {
            [1] = cbx_build_int(b, p->dim), [2] = cbx_build_int(b, mask.rank)};
        p->self = cbx_build_call(b, "cbx.merge", 1, &p->self, args, p->self,
                                 b->program->values[p->self].type);
        p->joined = true;
    }
    return *index >= 0 && p->self >= 0;
}

/* Several indices become one into their dimensions joined. */
static bool join(cbx_builder *b, place *p, const int32_t *indices, int32_t count)
{
    int32_t  all[CBX_RANKS + 1] = {p->self};
    cbx_node n = {.op = cbx_op_find("cbx.join"), .num_inputs = count + 1, .num_outputs = 1};
    memcpy(all + 1, indices, (size_t)count * sizeof *indices);
    n.name = b->program->values[indices[0]].name;
    n.input = CBX_NEW(b->arena, int32_t, count + 1);
    n.output = CBX_NEW(b->arena, int32_t, 1);
    if (!n.input || !n.output)
        return false;
    memcpy(n.input, all, (size_t)(count + 1) * sizeof *all);
    n.arg[0] = (cbx_arg){.kind = CBX_ARG_ARRAY, .first = 0, .count = 1};
    n.arg[1] = cbx_build_int(b, p->dim);
    n.arg[2] = (cbx_arg){.kind = CBX_ARG_ARRAYS, .first = 1, .count = count};
    cbx_value like = b->program->values[indices[0]];
    like.type = CBX_INTEGER;
    like.made = true;
    n.output[0] = cbx_build_value(b, &like);
    if (n.output[0] < 0 || cbx_build_node(b, &n, NULL))
        return false;
    cbx_arg args[CBX_ARGS] = {[1] = cbx_build_int(b, p->dim), [2] = cbx_build_int(b, count)};
    p->index = n.output[0];
    p->self = cbx_build_call(b, "cbx.merge", 1, &p->self, args, p->self,
                             b->program->values[p->self].type);
    p->joined = true;
    return p->self >= 0;
}

static cbx_status find_place(cbx_builder *b, const cbx_node *n, place *p, cbx_error *err)
{
    int32_t found[CBX_RANKS] = {0}, count;
    *p = (place){.self = value_at(n, 0)};
    cbx_status status = indices_of(b, n, 1, found, &count, p, err);
    if (status)
        return status;
    for (int32_t i = 0; i < count; i++) {
        cbx_type type = b->program->values[found[i]].type;
        if (type != CBX_INTEGER && type != CBX_LOGICAL)
            return cbx_build_fail(b, n, err, "an index of %s", cbx_type_name(type));
        if (type == CBX_LOGICAL && count > 1 && b->program->values[found[i]].rank != 1)
            return cbx_build_fail(b, n, err, "a mask of several dimensions beside another index");
        p->masked |= type == CBX_LOGICAL;
        if (type == CBX_LOGICAL && !from_mask(b, p, &found[i]))
            return cbx_fail_memory(err);
    }
    p->index = found[0];
    return count == 1 || join(b, p, found, count) ? CBX_OK : cbx_fail_memory(err);
}

cbx_status cbx_lower_index(cbx_builder *b, cbx_node *n, cbx_error *err)
{
    place      p;
    cbx_status status = find_place(b, n, &p, err);
    if (status)
        return status;
    cbx_arg args[CBX_ARGS] = {
        [2] = cbx_build_int(b, p.dim), [4] = {.kind = CBX_ARG_LOGIC, .real = 1}};
    return become(b, n, p.masked ? "cbx.select" : "cbx.index", 2, (int32_t[]){p.self, p.index},
                  args, err);
}

cbx_status cbx_lower_gather(cbx_builder *b, cbx_node *n, cbx_error *err)
{
    int32_t self = value_at(n, 0), index = value_at(n, 2);
    cbx_arg args[CBX_ARGS] = {[2] = n->arg[1]};
    int32_t linear =
        cbx_build_call(b, "cbx.linear", 2, (int32_t[]){index, self}, args, index, CBX_INTEGER);
    if (linear < 0)
        return cbx_fail_memory(err);
    return become(b, n, "cbx.gather", 3, (int32_t[]){self, linear, index}, args, err);
}

cbx_status cbx_lower_nonzero(cbx_builder *b, cbx_node *n, cbx_error *err)
{
    n->input[0] = cbx_build_cast(b, n->input[0], CBX_LOGICAL);
    return n->input[0] < 0 ? cbx_fail_memory(err) : CBX_OK;
}

/* ---- scatters */

typedef struct bring {
    int32_t     self, index, src, shape; /* values; the shape of an index for each element, or -1 */
    cbx_arg     dim;
    bool        include, wraps;
    bool        detached; /* the shift inside a softmax, of which no gradient is wanted */
    const char *reduce;
} bring;

static cbx_status scatter(cbx_builder *b, cbx_node *n, const bring *s, cbx_error *err)
{
    static const char *const kinds[] = {"sum", "amax", "amin", "mean", "prod", "put"};
    static const int32_t     outputs[] = {1, 2, 2, 2, 4, 2};
    const cbx_value         *values = b->program->values;
    char                     op[32];
    size_t                   kind = 0;
    while (kind < 6 && strcmp(kinds[kind], s->reduce) != 0)
        kind++;
    if (kind == 6)
        return cbx_build_fail(b, n, err, "reduces by '%.40s', which is not known here", s->reduce);
    (void)snprintf(op, sizeof op, "cbx.scatter_%s", kinds[kind]);
    cbx_type type = values[s->src].type, out = values[n->output[0]].type;
    int32_t  index =
        cbx_build_call(b, "cbx.dense", 1, &s->index, NULL, s->index, values[s->index].type);
    int32_t weights =
        index < 0 ? -1
                  : cbx_build_call(b, "cbx.weights", 2, (int32_t[]){index, b->program->weights},
                                   NULL, index, cbx_is_real(type) ? type : CBX_REAL32);
    n->detached = s->detached && (kind == 1 || kind == 2);
    if (n->detached && weights >= 0)
        weights = cbx_build_call(b, "detach.default", 1, &weights, NULL, weights,
                                 b->program->values[weights].type);
    if (weights < 0)
        return cbx_fail_memory(err);
    cbx_gathered g;
    if (kind == 0 && s->include &&
        cbx_fuse_find(b->program, s->self, s->src, s->shape, &s->dim, &g)) {
        int32_t all[] = {s->self, index, g.rows, g.sources, weights, g.factor};
        cbx_arg more[CBX_ARGS] = {[6] = {.kind = CBX_ARG_LOGIC, .real = s->wraps}, [7] = g.wraps};
        return become(b, n, "cbx.propagate", 6, all, more, err);
    }
    int32_t    inputs[] = {s->self, index, s->src, weights, s->shape};
    cbx_arg    args[CBX_ARGS] = {[4] = s->dim,
                                 [6] = {.kind = CBX_ARG_LOGIC, .real = s->include},
                                 [7] = {.kind = CBX_ARG_LOGIC, .real = s->wraps}};
    cbx_status status = become(b, n, op, 5, inputs, args, err);
    /* what is left of integers that are written over is a real, too */
    cbx_type extra = kind == 5 && !cbx_is_real(out) ? CBX_REAL32 : out;
    return status ? status : cbx_build_outputs(b, n, outputs[kind], extra, err);
}

cbx_status cbx_lower_scatter(cbx_builder *b, cbx_node *n, cbx_error *err)
{
    bool    reduces = !strcmp(n->op->name, "scatter_reduce.two");
    bool    adds = !strcmp(n->op->name, "scatter_add.default");
    int32_t index = value_at(n, 2), src = value_at(n, 3);
    cbx_arg args[CBX_ARGS] = {[2] = n->arg[1]};
    bring   s = {.self = value_at(n, 0), .shape = index, .dim = n->arg[1], .include = true};
    s.reduce = reduces ? n->arg[4].text : adds ? "sum" : "put";
    s.include = reduces && n->arg[5].kind != CBX_ARG_NONE ? n->arg[5].real != 0 : true;
    cbx_type type = b->program->values[n->output[0]].type;
    int32_t  from = b->program->values[src].node;
    s.detached = from >= 0 && b->program->nodes[from].op->stops;
    src = cbx_build_cast(b, src, type);
    s.index =
        cbx_build_call(b, "cbx.linear", 2, (int32_t[]){index, s.self}, args, index, CBX_INTEGER);
    s.src =
        src < 0 ? -1 : cbx_build_call(b, "cbx.crop", 2, (int32_t[]){src, index}, NULL, src, type);
    if (s.index < 0 || s.src < 0)
        return cbx_fail_memory(err);
    return scatter(b, n, &s, err);
}

/* index_add and index_reduce: an index of rows. */
cbx_status cbx_lower_index_add(cbx_builder *b, cbx_node *n, cbx_error *err)
{
    bool     reduces = !strcmp(n->op->name, "index_reduce.default");
    bring    s = {.self = value_at(n, 0),
                  .index = value_at(n, 2),
                  .src = value_at(n, 3),
                  .shape = -1,
                  .dim = n->arg[1],
                  .include = true,
                  .reduce = "sum"};
    cbx_type type = b->program->values[n->output[0]].type;
    if (reduces) {
        s.reduce = n->arg[4].text;
        s.include = n->arg[5].kind == CBX_ARG_NONE || n->arg[5].real != 0;
    } else if (n->arg[4].kind != CBX_ARG_NONE && n->arg[4].real != 1) {
        int32_t alpha = cbx_build_scalar(b, n->arg[4].real, type);
        s.src = alpha < 0 ? -1
                          : cbx_build_call(b, "mul.Tensor", 2, (int32_t[]){s.src, alpha}, NULL,
                                           s.src, type);
    }
    return s.src < 0 ? cbx_fail_memory(err) : scatter(b, n, &s, err);
}

cbx_status cbx_lower_index_put(cbx_builder *b, cbx_node *n, cbx_error *err)
{
    place      p;
    int32_t    whole = value_at(n, 0), values = value_at(n, 2);
    cbx_type   type = b->program->values[n->output[0]].type;
    bool       adds = n->arg[3].kind != CBX_ARG_NONE && n->arg[3].real != 0;
    cbx_status status = find_place(b, n, &p, err);
    if (status)
        return status;
    cbx_arg args[CBX_ARGS] = {[3] = cbx_build_int(b, p.dim)};
    values = cbx_build_cast(b, values, type);
    if (values < 0)
        return cbx_fail_memory(err);
    int32_t src = cbx_build_call(b, "cbx.spread", 3, (int32_t[]){values, p.self, p.index}, args,
                                 values, type);
    if (src < 0)
        return cbx_fail_memory(err);
    bring s = {.self = p.self, .index = p.index, .src = src, .shape = -1, .include = true};
    s.dim = cbx_build_int(b, p.dim);
    s.wraps = true;
    s.reduce = adds ? "sum" : "put";
    if (!p.joined)
        return scatter(b, n, &s, err);
    /* Dimensions that were joined are taken apart again. */
    cbx_value like = b->program->values[p.self];
    cbx_node  inner = {.op = n->op, .name = n->name, .num_outputs = 1};
    inner.output = CBX_NEW(b->arena, int32_t, 1);
    if (!inner.output || (inner.output[0] = cbx_build_value(b, &like)) < 0)
        return cbx_fail_memory(err);
    status = scatter(b, &inner, &s, err);
    if (!status)
        status = cbx_build_lowered(b, &inner, err);
    if (status)
        return status;
    const cbx_arg none[CBX_ARGS] = {{0}};
    return become(b, n, "cbx.view_as", 2, (int32_t[]){inner.output[0], whole}, none, err);
}
