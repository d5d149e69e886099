/* SPDX-License-Identifier: Apache-2.0 */
/* call.c: what an operation sees of the runner: its arguments, its outputs, its gradients. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "number.h"
#include "runner.h"

cbx_array *cbx_call_array(const cbx_call *c, int32_t k)
{
    const cbx_arg *a = &c->node->arg[k];
    return a->kind == CBX_ARG_ARRAY ? c->in[a->first] : NULL;
}

int32_t cbx_call_place(const cbx_call *c, int32_t k)
{
    return c->node->arg[k].first;
}

bool cbx_call_has(const cbx_call *c, int32_t k)
{
    return c->node->arg[k].kind != CBX_ARG_NONE;
}

bool cbx_call_is_live(const cbx_call *c, int32_t place)
{
    return c->runner->mark[c->node->input[place]].live;
}

bool cbx_call_is_tagged(const cbx_call *c, int32_t place)
{
    return c->in[place]->storage >= 0 && c->runner->storage[c->in[place]->storage].tagged;
}

static int64_t value_of(const cbx_call *c, const cbx_int *i)
{
    return i->value < 0 ? i->literal : c->runner->number[i->value];
}

int64_t cbx_call_int(const cbx_call *c, int32_t k)
{
    const cbx_arg *a = &c->node->arg[k];
    return a->ints && a->count > 0 ? value_of(c, a->ints) : (int64_t)c->node->op->args[k].fallback;
}

double cbx_call_real(const cbx_call *c, int32_t k)
{
    const cbx_arg *a = &c->node->arg[k];
    return a->kind == CBX_ARG_NONE ? c->node->op->args[k].fallback : a->real;
}

const char *cbx_call_text(const cbx_call *c, int32_t k)
{
    const cbx_arg *a = &c->node->arg[k];
    return a->text ? a->text : "";
}

int32_t cbx_call_ints(const cbx_call *c, int32_t k, int64_t out[CBX_RANKS])
{
    const cbx_arg *a = &c->node->arg[k];
    for (int32_t i = 0; a->ints && i < a->count && i < CBX_RANKS; i++)
        out[i] = value_of(c, &a->ints[i]);
    return a->ints ? a->count : 0;
}

static cbx_status to_dim(const cbx_call *c, int64_t asked, int32_t rank, int32_t *dim,
                         cbx_error *err)
{
    int32_t most = rank > 0 ? rank : 1; /* a number has dimension 0, and -1 */
    if (asked < -most || asked >= most)
        return cbx_call_fail(c, err, "dimension %lld of a tensor that has %d", (long long)asked,
                             rank);
    *dim = (int32_t)(asked < 0 ? asked + most : asked);
    return CBX_OK;
}

cbx_status cbx_call_dim(const cbx_call *c, int32_t k, int32_t rank, int32_t *dim, cbx_error *err)
{
    return to_dim(c, cbx_call_int(c, k), rank, dim, err);
}

cbx_status cbx_call_dims(const cbx_call *c, int32_t k, int32_t rank, uint32_t *bits, cbx_error *err)
{
    int64_t    asked[CBX_RANKS];
    int32_t    count = cbx_call_ints(c, k, asked), dim = 0;
    cbx_status status = CBX_OK;
    *bits = count ? 0 : (1u << rank) - 1;
    if (count > CBX_RANKS)
        return cbx_call_fail(c, err, "%d dimensions, at most %d expected", count, CBX_RANKS);
    for (int32_t i = 0; i < count && !status; i++) {
        status = to_dim(c, asked[i], rank, &dim, err);
        if (!status)
            *bits |= 1u << dim;
    }
    return status;
}

/* ---- outputs */

cbx_status cbx_out_new(cbx_call *c, int32_t k, int32_t rank, const int64_t *size, cbx_error *err)
{
    cbx_array *a = c->out[k];
    int32_t    storage = a->storage;
    if (rank > CBX_RANKS)
        return cbx_call_fail(c, err, "a tensor of %d dimensions, at most %d expected", rank,
                             CBX_RANKS);
    a->rank = rank;
    for (int32_t i = 0; i < rank; i++) {
        if (size[i] < 0)
            return cbx_call_fail(c, err, "dimension %d would have size %lld", i,
                                 (long long)size[i]);
        a->size[i] = size[i];
    }
    if (!cbx_array_pack(a))
        return cbx_call_fail(c, err, "a tensor of more than %lld elements",
                             (long long)CBX_MOST_ELEMENTS);
    a->offset = 0;
    a->whole = true;
    a->dynamic = c->dynamic;
    if (c->planned) {
        if (a->count <= c->runner->storage[storage].count)
            return CBX_OK;
        return cbx_call_fail(c, err, "%lld elements, more than the %lld that were planned",
                             (long long)a->count, (long long)c->runner->storage[storage].count);
    }
    a->storage = cbx_runner_storage(c->runner, a->type, a->count);
    return a->storage < 0 ? cbx_fail_memory(err) : CBX_OK;
}

cbx_status cbx_out_broadcast(cbx_call *c, int32_t count, cbx_array *const *of, cbx_error *err)
{
    int64_t size[CBX_RANKS];
    int32_t rank = 0;
    for (int32_t i = 0; i < count; i++)
        rank = of[i]->rank > rank ? of[i]->rank : rank;
    for (int32_t d = 0; d < rank; d++) {
        size[d] = 1;
        for (int32_t i = 0; i < count; i++) {
            int32_t at = d - rank + of[i]->rank;
            int64_t own = at >= 0 ? of[i]->size[at] : 1;
            if (own != 1 && size[d] != 1 && own != size[d]) {
                char a[96], b[96];
                return cbx_call_fail(c, err, "shapes %s and %s do not fit",
                                     cbx_array_shape(of[0], a, sizeof a),
                                     cbx_array_shape(of[i], b, sizeof b));
            }
            size[d] = own != 1 ? own : size[d];
        }
    }
    return cbx_out_new(c, 0, rank, size, err);
}

cbx_array *cbx_out_view(cbx_call *c, int32_t k, int32_t of)
{
    cbx_array *a = c->out[k];
    *a = *c->in[of];
    a->dynamic = c->dynamic;
    a->whole = a->whole && c->node->op->reshapes;
    return a;
}

void cbx_out_number(cbx_call *c, int32_t k, int64_t number)
{
    c->runner->number[c->node->output[k]] = number;
}

void cbx_out_absent(cbx_call *c, int32_t k)
{
    c->runner->mark[c->node->output[k]].absent = true;
}

/* ---- gradients */

void cbx_grad_put(cbx_call *c, int32_t k, const cbx_array *from, const void *data)
{
    const cbx_array *to = c->in[k];
    bool             sums = to->count < from->count;
    if (c->mode[k] == CBX_GRAD_NONE)
        return;
    if (c->mode[k] == CBX_GRAD_SET && !sums) {
        cbx_array_copy(to, to->grad, from, data);
        return;
    }
    cbx_grad_open(c, k);
    cbx_array_add(sums ? from : to, to, to->grad, from, data);
}

void cbx_grad_open(cbx_call *c, int32_t k)
{
    const cbx_array *to = c->in[k];
    if (c->mode[k] != CBX_GRAD_SET || to->count == 0)
        return;
    /* What is set is a whole storage, in whatever order. */
    const cbx_storage *s = &c->runner->storage[to->storage];
    memset(s->grad, 0, (size_t)s->count * cbx_type_size(s->type));
}

cbx_status(cbx_call_fail)(const cbx_call *c, cbx_error *err, const char *format, ...)
{
    char    what[CBX_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    (void)cbx_vprint(what, sizeof what, format, args);
    va_end(args);
    return cbx_fail(err, CBX_INVALID, "%s: '%.80s' (%s): %.300s", c->runner->program->info.path,
                    c->node->name, c->node->op->name, what);
}
