/* SPDX-License-Identifier: Apache-2.0 */
/* runner.c: a program made ready for one graph. Nodes are gone through in order: what depends on
 * the graph alone is computed at once, the others become the list of calls of a run. */
#include "runner.h"

#include <stdlib.h>
#include <string.h>

#include "deadline.h"
#include "error.h"

int32_t cbx_runner_storage(cbx_runner *r, cbx_type type, int64_t count)
{
    if (r->num_storages == r->room_storages) {
        int32_t      room = r->room_storages ? r->room_storages * 2 : 64;
        cbx_storage *more = CBX_NEW(&r->arena, cbx_storage, room);
        if (!more)
            return -1;
        if (r->num_storages)
            memcpy(more, r->storage, (size_t)r->num_storages * sizeof *more);
        r->storage = more;
        r->room_storages = room;
    }
    r->storage[r->num_storages] = (cbx_storage){
        .type = type, .count = count, .born = -1, .dies = -1, .grad_born = -1, .grad_dies = -1};
    return r->num_storages++;
}

cbx_status cbx_runner_alloc(cbx_runner *r, int64_t count, size_t size, void **out, cbx_error *err)
{
    size_t bytes = (size_t)count * size; /* arrays are small enough for this: see cbx_array_pack */
    if (r->most && (bytes > r->most || r->bytes > r->most - bytes))
        return cbx_fail(err, CBX_INVALID, "%s: takes more than the %zu bytes that it may",
                        r->program->info.path, r->most);
    r->bytes += bytes;
    *out = cbx_arena_zalloc(&r->arena, (size_t)count, size);
    return *out ? CBX_OK : cbx_fail_memory(err);
}

void cbx_runner_resolve(const cbx_runner *r, cbx_array *a)
{
    if (a->storage < 0)
        return;
    const cbx_storage *s = &r->storage[a->storage];
    size_t             at = (size_t)a->offset * cbx_type_size(a->type);
    a->data = s->data ? (char *)s->data + at : NULL;
    a->grad = s->grad ? (char *)s->grad + at : NULL;
    a->tag = s->tag ? s->tag + a->offset : NULL;
}

/* Memory for a storage that is not laid out with the live ones. */
/* Multiplications in the time of an element of an output, more or less. */
static const double ELEMENT = 20;

static cbx_status fill_storage(cbx_runner *r, int32_t storage, cbx_error *err)
{
    cbx_storage *s = &r->storage[storage];
    void        *tag = NULL;
    cbx_status   status = cbx_runner_alloc(r, s->count, cbx_type_size(s->type), &s->data, err);
    if (!status && s->tagged)
        status = cbx_runner_alloc(r, s->count, sizeof *s->tag, &tag, err);
    s->tag = tag;
    return status;
}

/* ---- calls */

static bool is_live(const cbx_runner *r, const cbx_node *n, bool *dynamic)
{
    bool live = false;
    *dynamic = false;
    for (int32_t k = 0; k < n->num_inputs; k++) {
        if (n->input[k] < 0 || r->mark[n->input[k]].absent)
            continue;
        live |= r->mark[n->input[k]].live && !(n->op->shape_inputs >> (k < 31 ? k : 31) & 1);
        *dynamic |= r->array[n->input[k]].dynamic;
    }
    for (int32_t k = 0; k < CBX_ARGS; k++)
        for (int32_t i = 0; n->arg[k].ints && i < n->arg[k].count; i++)
            if (n->arg[k].ints[i].value >= 0)
                *dynamic |= r->mark[n->arg[k].ints[i].value].dynamic;
    return live || *dynamic;
}

/* Is the first output's storage one that carries tags? */
static bool gets_tags(const cbx_call *c)
{
    const cbx_op *op = c->node->op;
    uint32_t      from = op->tags == CBX_TAGS_MERGE    ? ~0u
                         : op->tags == CBX_TAGS_GATHER ? CBX_IN(0) | CBX_IN(1)
                         : op->tags == CBX_TAGS_NONE   ? 0
                         : op->tagged_inputs           ? op->tagged_inputs
                                                       : CBX_IN(0);
    if (c->node->num_outputs == 0 || c->out[0]->type != CBX_INTEGER)
        return false;
    for (int32_t k = 0; k < c->node->num_inputs; k++)
        if (c->in[k] && from >> (k < 31 ? k : 31) & 1 && c->in[k]->storage >= 0 &&
            c->runner->storage[c->in[k]->storage].tagged)
            return true;
    return false;
}

static cbx_status fill_call(cbx_runner *r, const cbx_node *n, cbx_call *c, cbx_error *err)
{
    *c = (cbx_call){.node = n, .runner = r};
    c->live = is_live(r, n, &c->dynamic);
    c->known = !c->live;
    c->dynamic |= c->live && n->op->data_sized;
    c->in = CBX_NEW(&r->arena, cbx_array *, n->num_inputs);
    c->out = CBX_NEW(&r->arena, cbx_array *, n->num_outputs);
    c->mode = CBX_NEW0(&r->arena, uint8_t, n->num_inputs);
    c->state = cbx_arena_zalloc(&r->arena, 1, n->op->state ? n->op->state : 1);
    if (!c->in || !c->out || !c->mode || !c->state)
        return cbx_fail_memory(err);
    for (int32_t k = 0; k < n->num_inputs; k++)
        c->in[k] = n->input[k] < 0 || r->mark[n->input[k]].absent ? NULL : &r->array[n->input[k]];
    for (int32_t k = 0; k < n->num_outputs; k++)
        c->out[k] = &r->array[n->output[k]];
    return CBX_OK;
}

/* What a call computes: values and their tags. */
static cbx_status run_call(cbx_call *c, cbx_error *err)
{
    const cbx_op *op = c->node->op;
    cbx_status    status = op->forward ? op->forward(c, err) : CBX_OK;
    if (status || op->tags == CBX_TAGS_NONE || !c->out[0]->tag)
        return status;
    return op->tags == CBX_TAGS_MERGE ? cbx_tags_merge(c, err) : op->move_tags(c, err);
}

/* What the file says of outputs must be what the operation gives. */
static cbx_status check_outputs(const cbx_call *c, cbx_error *err)
{
    for (int32_t k = 0; k < c->node->num_outputs; k++) {
        const cbx_value *v = &c->runner->program->values[c->node->output[k]];
        if (v->number || c->runner->mark[c->node->output[k]].absent)
            continue;
        if (c->out[k]->storage < 0)
            return cbx_call_fail(c, err, "output %d, which it does not have", k);
        if (c->out[k]->type != v->type)
            return cbx_call_fail(c, err, "output %d is %s, the file says %s", k,
                                 cbx_type_name(c->out[k]->type), cbx_type_name(v->type));
    }
    return CBX_OK;
}

/* Elements that a call goes through, products counting less. */
static cbx_status count_work(const cbx_call *c, cbx_error *err)
{
    cbx_runner   *r = c->runner;
    const cbx_op *op = c->node->op;
    double        work = 0;
    for (int32_t k = 0; k < c->node->num_inputs; k++)
        work +=
            c->in[k] && !(op->shape_inputs >> (k < 31 ? k : 31) & 1) ? (double)c->in[k]->count : 0;
    for (int32_t k = 0; k < c->node->num_outputs; k++)
        work += (double)c->out[k]->count;
    if (op->reach == CBX_REACH_PRODUCT) {
        const cbx_array *a = c->in[op->reach_arg];
        work += (double)c->out[0]->count * (double)a->size[a->rank - 1] / 16;
    }
    r->work += op->forward ? work : 0;
    if (r->most && r->work > (double)r->most)
        return cbx_call_fail(c, err, "goes through more than %zu elements", r->most);
    return CBX_OK;
}

cbx_status cbx_runner_plan_node(cbx_runner *r, const cbx_node *n, cbx_error *err)
{
    cbx_call   c;
    int32_t    before = r->num_storages;
    cbx_status status = fill_call(r, n, &c, err);
    if (!status)
        status = n->op->shape(&c, err);
    if (!status)
        status = check_outputs(&c, err);
    if (!status)
        status = count_work(&c, err);
    if (status)
        return status;
    bool own = false, some = false; /* an output that is no view; one that is there */
    for (int32_t k = 0; k < n->num_outputs; k++) {
        cbx_mark *m = &r->mark[n->output[k]];
        m->live = c.live;
        m->dynamic = c.dynamic;
        some |= !m->absent;
        if (m->absent || r->program->values[n->output[k]].number || c.out[k]->storage < before)
            continue;
        cbx_storage *s = &r->storage[c.out[k]->storage];
        own = true;
        s->tagged = k == 0 && gets_tags(&c);
        s->constant = !c.live;
        s->born = r->num_calls;
        if (!c.live)
            status = fill_storage(r, c.out[k]->storage, err);
        if (status)
            return status;
    }
    c.planned = true;
    if (c.live) {
        if (own || (c.dynamic && some))
            r->calls[r->num_calls++] = c;
        return CBX_OK;
    }
    for (int32_t k = 0; k < n->num_outputs; k++)
        if (!r->mark[n->output[k]].absent)
            cbx_runner_resolve(r, c.out[k]);
    return own ? run_call(&c, err) : CBX_OK;
}

/* ---- inputs */

cbx_status cbx_runner_reset(cbx_runner *r, cbx_error *err)
{
    const cbx_program *p = r->program;
    cbx_arena_reset(&r->arena);
    r->num_storages = r->room_storages = r->num_calls = r->num_back = 0;
    r->bytes = 0;
    r->work = 0;
    r->array = CBX_NEW0(&r->arena, cbx_array, p->num_values);
    r->mark = CBX_NEW0(&r->arena, cbx_mark, p->num_values);
    r->number = CBX_NEW0(&r->arena, int64_t, p->num_values);
    r->calls = CBX_NEW(&r->arena, cbx_call, p->num_nodes);
    r->back = CBX_NEW(&r->arena, cbx_back, 2 * (size_t)p->num_nodes + 2);
    r->weight_base = CBX_NEW(&r->arena, int64_t, p->info.num_inputs);
    if (!r->array || !r->mark || !r->number || !r->calls || !r->back || !r->weight_base)
        return cbx_fail_memory(err);
    for (int32_t v = 0; v < p->num_values; v++) {
        const cbx_value *value = &p->values[v];
        r->array[v].type = value->type;
        r->array[v].storage = -1;
        if (!value->constant)
            continue;
        r->array[v] = *value->constant;
        r->array[v].whole = false;
        r->array[v].storage = cbx_runner_storage(r, value->type, value->constant->count);
        if (r->array[v].storage < 0)
            return cbx_fail_memory(err);
        r->storage[r->array[v].storage].constant = true;
        r->storage[r->array[v].storage].data = value->constant->data;
    }
    return CBX_OK;
}

/* A storage that is there from the start to the end, and its array. */
static cbx_status pin(cbx_runner *r, int32_t value, int32_t rank, const int64_t *size, bool tagged,
                      cbx_error *err)
{
    cbx_array *a = &r->array[value];
    a->rank = rank;
    memcpy(a->size, size, (size_t)rank * sizeof *size);
    for (int32_t i = 0; i < rank; i++)
        if (size[i] < 0)
            return cbx_fail(err, CBX_INVALID, "%s: input '%s' of size %lld", r->program->info.path,
                            r->program->values[value].name, (long long)size[i]);
    if (!cbx_array_pack(a))
        return cbx_fail(err, CBX_INVALID, "%s: input '%s' is too large", r->program->info.path,
                        r->program->values[value].name);
    a->whole = true;
    a->storage = cbx_runner_storage(r, a->type, a->count);
    if (a->storage < 0)
        return cbx_fail_memory(err);
    r->storage[a->storage].pinned = true;
    r->storage[a->storage].tagged = tagged;
    cbx_status status = fill_storage(r, a->storage, err);
    cbx_runner_resolve(r, a);
    return status;
}

/* Sizes that the export fixed must be these. */
static cbx_status check_size(const cbx_runner *r, const cbx_program_input *i, const int64_t *size,
                             cbx_error *err)
{
    for (int32_t d = 0; d < i->rank; d++)
        if (i->size[d] >= 0 && i->size[d] != size[d])
            return cbx_fail(
                err, CBX_INVALID, "%s: input '%s' has size %lld in dimension %d, %lld expected",
                r->program->info.path, i->name, (long long)size[d], d, (long long)i->size[d]);
    return CBX_OK;
}

/* Tags of an input: twice the number of the column's weight, and one more in the second row. */
static void put_tags(const cbx_array *a, int64_t base)
{
    int64_t columns = a->rank == 2 ? a->size[1] : a->count;
    for (int64_t i = 0; i < a->count; i++)
        a->tag[i] = 2 * (base + i % columns) + (a->rank == 2 ? i / columns : 1);
}

static cbx_status plan_inputs(cbx_runner *r, const cbx_runner_input *inputs, cbx_error *err)
{
    const cbx_program *p = r->program;
    int64_t            weights = 0;
    cbx_status         status = CBX_OK;
    for (int32_t i = 0; i < p->info.num_inputs && !status; i++) {
        const cbx_program_input *what = &p->inputs[i];
        const cbx_runner_input  *in = &inputs[i];
        int32_t                  value = p->input_value[i];
        cbx_array               *a = &r->array[value];
        bool                     weighted =
            in->weighted && what->type == CBX_INTEGER &&
            (what->rank == 1 || (what->rank == 2 && in->size[0] == 2)); /* tags tell two rows */
        if ((in->weighted && !weighted) || (in->gradient && !cbx_is_real(what->type)))
            return cbx_fail(err, CBX_INVALID, "%s: input '%s' cannot have %s", p->info.path,
                            what->name, in->weighted ? "weights" : "a gradient");
        status = check_size(r, what, in->size, err);
        if (!status)
            status = pin(r, value, what->rank, in->size, weighted, err);
        if (status)
            break;
        if (a->count)
            memcpy(a->data, in->data, (size_t)a->count * cbx_type_size(a->type));
        r->mark[value].live = in->live || in->gradient;
        r->mark[value].needs_grad = r->gradient && in->gradient;
        r->storage[a->storage].grad_pinned = r->mark[value].needs_grad;
        r->weight_base[i] = weighted ? weights : -1;
        if (weighted && a->count)
            put_tags(a, weights);
        weights += weighted ? a->size[a->rank - 1] : 0;
    }
    if (!status)
        status = pin(r, p->weights, 1, &weights, false, err);
    if (status)
        return status;
    r->mark[p->weights].live = true;
    r->mark[p->weights].needs_grad = r->gradient;
    r->storage[r->array[p->weights].storage].grad_pinned = r->gradient;
    return CBX_OK;
}

static void set_weights_to_one(cbx_runner *r)
{
    cbx_array *w = &r->array[r->program->weights];
    for (int64_t i = 0; i < w->count; i++) {
        if (w->type == CBX_REAL32)
            ((float *)w->data)[i] = 1;
        else
            ((double *)w->data)[i] = 1;
    }
}

/* ---- the interface */

cbx_status cbx_runner_new(const cbx_program *program, cbx_runner **out, cbx_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return cbx_fail_memory(err);
    (*out)->program = program;
    return CBX_OK;
}

void cbx_runner_free(cbx_runner *runner)
{
    if (!runner)
        return;
    cbx_arena_free(&runner->arena);
    free(runner);
}

cbx_status cbx_runner_plan(cbx_runner *r, const cbx_runner_input *inputs,
                           const cbx_runner_options *options, cbx_error *err)
{
    const cbx_program *p = r->program;
    r->gradient = options && options->gradient;
    r->most = options ? options->most : 0;
    cbx_status status = cbx_runner_reset(r, err);
    if (!status)
        status = plan_inputs(r, inputs, err);
    for (int32_t i = 0; i < p->num_nodes && !status; i++)
        status = cbx_runner_plan_node(r, &p->nodes[i], err);
    if (!status && r->gradient)
        status = cbx_runner_plan_gradient(r, err);
    if (!status)
        status = cbx_runner_plan_memory(r, err);
    if (status)
        return status;
    for (int32_t v = 0; v < p->num_values; v++)
        cbx_runner_resolve(r, &r->array[v]);
    for (int32_t i = 0; i < r->num_calls; i++)
        r->calls[i].known = true;
    set_weights_to_one(r);
    return CBX_OK;
}

void *cbx_runner_values(cbx_runner *r, int32_t input)
{
    return r->array[r->program->input_value[input]].data;
}

void *cbx_runner_weights(cbx_runner *r, int32_t input)
{
    const cbx_array *w = &r->array[r->program->weights];
    return r->weight_base[input] < 0
               ? NULL
               : (char *)w->data + (size_t)r->weight_base[input] * cbx_type_size(w->type);
}

cbx_type cbx_runner_real(const cbx_runner *r)
{
    return r->program->real;
}

cbx_status cbx_runner_forward(cbx_runner *r, cbx_error *err)
{
    for (int32_t i = 0; i < r->num_calls; i++) {
        cbx_call  *c = &r->calls[i];
        cbx_status status = CBX_OK;
        if (cbx_out_of_time(ELEMENT * (double)c->out[0]->count))
            return cbx_fail_late(err);
        if (c->dynamic) {
            status = c->node->op->shape(c, err);
            for (int32_t k = 0; k < c->node->num_outputs; k++)
                cbx_runner_resolve(r, c->out[k]);
        }
        if (!status)
            status = run_call(c, err);
        if (status)
            return status;
    }
    return CBX_OK;
}

const cbx_array *cbx_runner_output(const cbx_runner *r)
{
    return &r->array[r->program->output];
}

static void clear_gradient(const cbx_runner *r, int32_t storage)
{
    const cbx_storage *s = &r->storage[storage];
    memset(s->grad, 0, (size_t)s->count * cbx_type_size(s->type));
}

void cbx_runner_backward(cbx_runner *r, const void *direction)
{
    const cbx_array *out = &r->array[r->program->output];
    if (!r->mark[r->program->output].reached)
        return; /* all gradients are 0, and stay so */
    if (r->clear_output)
        clear_gradient(r, out->storage);
    if (out->count)
        memcpy(out->grad, direction, (size_t)out->count * cbx_type_size(out->type));
    for (int32_t i = 0; i < r->num_back; i++) {
        const cbx_back *b = &r->back[i];
        if (b->call)
            b->call->node->op->backward(b->call);
        else
            clear_gradient(r, b->clear);
    }
}

const void *cbx_runner_gradient(const cbx_runner *r, int32_t input)
{
    return r->array[r->program->input_value[input]].grad;
}

const void *cbx_runner_weight_gradient(const cbx_runner *r, int32_t input)
{
    const cbx_array *w = &r->array[r->program->weights];
    return r->weight_base[input] < 0 || !w->grad
               ? NULL
               : (char *)w->grad + (size_t)r->weight_base[input] * cbx_type_size(w->type);
}

size_t cbx_runner_bytes(const cbx_runner *r)
{
    return r->bytes;
}
