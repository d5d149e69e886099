/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c: where live storages lie. Each lives from the call that computes it to the last that
 * reads it, forwards or backwards; what is dead makes room for what is born. */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "runner.h"

enum { ALIGN = 64 };

typedef enum part { VALUES, TAGS, GRADIENT } part;

/* One thing to place. */
typedef struct item {
    size_t  bytes, at;
    int32_t born, dies;
    int32_t storage;
    part    of;
} item;

typedef struct gap {
    size_t at, bytes;
} gap;

typedef struct layout {
    item   *items;
    int32_t count;
    gap    *gaps; /* by their place */
    int32_t num_gaps;
    size_t  end;
} layout;

static void use(cbx_runner *r, const cbx_array *a, int32_t time)
{
    if (a && a->storage >= 0 && r->storage[a->storage].dies < time)
        r->storage[a->storage].dies = time;
}

/* What backward reads of a call: what its operation says, for each gradient that is wanted. */
static void use_backwards(cbx_runner *r, const cbx_call *c, int32_t time)
{
    const cbx_node *n = c->node;
    for (int32_t k = 0; k < n->num_inputs; k++) {
        if (c->mode[k] == CBX_GRAD_NONE)
            continue;
        uint32_t reads = n->op->reads[k < CBX_READS ? k : CBX_READS - 1];
        for (int32_t i = 0; i < n->num_inputs && i < 16; i++)
            if (reads & CBX_IN(i))
                use(r, c->in[i], time);
        for (int32_t i = 0; i < n->num_outputs && i < 16; i++)
            if (reads & CBX_OUT(i))
                use(r, c->out[i], time);
        r->storage[c->in[k]->storage].grad_dies = time;
    }
    for (int32_t k = 0; k < n->num_outputs; k++)
        if (c->out[k]->storage >= 0)
            r->storage[c->out[k]->storage].grad_dies = time;
}

static void find_lifetimes(cbx_runner *r)
{
    int32_t end = r->num_calls + r->num_back;
    for (int32_t i = 0; i < r->num_calls; i++) {
        for (int32_t k = 0; k < r->calls[i].node->num_inputs; k++)
            if (!(r->calls[i].node->op->shape_inputs >> (k < 31 ? k : 31) & 1))
                use(r, r->calls[i].in[k], i);
        for (int32_t k = 0; k < r->calls[i].node->num_outputs; k++)
            use(r, r->calls[i].out[k], i);
    }
    for (int32_t i = 0; i < r->num_back; i++)
        if (r->back[i].call)
            use_backwards(r, r->back[i].call, r->num_calls + i);
    use(r, &r->array[r->program->output], end);
    for (int32_t i = 0; i < r->num_storages; i++) {
        if (r->keep)
            r->storage[i].dies = end;
        if (r->storage[i].grad_pinned) {
            r->storage[i].grad_born = 0;
            r->storage[i].grad_dies = end;
        }
    }
}

/* ---- placing */

static int by_birth(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->born != y->born)
        return x->born < y->born ? -1 : 1;
    return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1) : 0;
}

static int by_death(const void *a, const void *b)
{
    const item *x = *(const item *const *)a, *y = *(const item *const *)b;
    return x->dies != y->dies ? (x->dies < y->dies ? -1 : 1) : 0;
}

/* The smallest gap that is large enough, or the end. */
static size_t take(layout *l, size_t bytes)
{
    int32_t best = -1;
    for (int32_t i = 0; i < l->num_gaps; i++)
        if (l->gaps[i].bytes >= bytes && (best < 0 || l->gaps[i].bytes < l->gaps[best].bytes))
            best = i;
    if (best < 0) {
        size_t at = l->end;
        l->end += bytes;
        return at;
    }
    size_t at = l->gaps[best].at;
    l->gaps[best].at += bytes;
    l->gaps[best].bytes -= bytes;
    if (l->gaps[best].bytes == 0)
        memmove(&l->gaps[best], &l->gaps[best + 1],
                (size_t)(--l->num_gaps - best) * sizeof *l->gaps);
    return at;
}

/* Gives a place back, joined with the gaps beside it. */
static void give(layout *l, size_t at, size_t bytes)
{
    int32_t i = 0;
    if (!bytes)
        return;
    while (i < l->num_gaps && l->gaps[i].at < at)
        i++;
    bool left = i > 0 && l->gaps[i - 1].at + l->gaps[i - 1].bytes == at;
    bool right = i < l->num_gaps && at + bytes == l->gaps[i].at;
    if (left && right) {
        l->gaps[i - 1].bytes += bytes + l->gaps[i].bytes;
        memmove(&l->gaps[i], &l->gaps[i + 1], (size_t)(--l->num_gaps - i) * sizeof *l->gaps);
    } else if (left) {
        l->gaps[i - 1].bytes += bytes;
    } else if (right) {
        l->gaps[i] = (gap){at, l->gaps[i].bytes + bytes};
    } else {
        memmove(&l->gaps[i + 1], &l->gaps[i], (size_t)(l->num_gaps++ - i) * sizeof *l->gaps);
        l->gaps[i] = (gap){at, bytes};
    }
}

static void place_all(layout *l, item **dying)
{
    int32_t dead = 0;
    for (int32_t i = 0; i < l->count; i++)
        dying[i] = &l->items[i];
    qsort(dying, (size_t)l->count, sizeof *dying, by_death);
    for (int32_t i = 0; i < l->count; i++) {
        for (; dead < l->count && dying[dead]->dies < l->items[i].born; dead++)
            give(l, dying[dead]->at, dying[dead]->bytes);
        l->items[i].at = take(l, l->items[i].bytes);
    }
}

static void add_item(layout *l, const cbx_runner *r, int32_t storage, part of)
{
    const cbx_storage *s = &r->storage[storage];
    size_t             size = of == TAGS ? sizeof *s->tag : cbx_type_size(s->type);
    int32_t            born = of == GRADIENT ? s->grad_born : s->born;
    int32_t            dies = of == GRADIENT ? s->grad_dies : s->dies;
    l->items[l->count++] = (item){.bytes = ((size_t)s->count * size + ALIGN - 1) / ALIGN * ALIGN,
                                  .born = born,
                                  .dies = dies < born ? born : dies,
                                  .storage = storage,
                                  .of = of};
}

cbx_status cbx_runner_plan_memory(cbx_runner *r, cbx_error *err)
{
    layout l = {.items = CBX_NEW(&r->arena, item, 3 * (size_t)r->num_storages)};
    item **dying = CBX_NEW(&r->arena, item *, 3 * (size_t)r->num_storages);
    l.gaps = CBX_NEW(&r->arena, gap, 3 * (size_t)r->num_storages + 1);
    if (!l.items || !l.gaps || !dying)
        return cbx_fail_memory(err);
    find_lifetimes(r);
    for (int32_t i = 0; i < r->num_storages; i++) {
        const cbx_storage *s = &r->storage[i];
        if (!s->constant && !s->pinned)
            add_item(&l, r, i, VALUES);
        if (!s->constant && !s->pinned && s->tagged)
            add_item(&l, r, i, TAGS);
        if (s->grad_wanted || s->grad_pinned)
            add_item(&l, r, i, GRADIENT);
    }
    qsort(l.items, (size_t)l.count, sizeof *l.items, by_birth);
    place_all(&l, dying);
    void      *block;
    cbx_status status = cbx_runner_alloc(r, (int64_t)l.end, 1, &block, err);
    for (int32_t i = 0; i < l.count && !status; i++) {
        cbx_storage *s = &r->storage[l.items[i].storage];
        void        *at = (char *)block + l.items[i].at;
        if (l.items[i].of == VALUES)
            s->data = at;
        else if (l.items[i].of == TAGS)
            s->tag = at;
        else
            s->grad = at;
    }
    return status;
}
