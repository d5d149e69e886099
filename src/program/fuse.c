/* SPDX-License-Identifier: Apache-2.0 */
/* fuse.c: a sum over edges of gathered rows, as one operation. Looked for is
 *
 *     scatter_sum(self, index, rows of a gather)
 *     scatter_sum(self, index, factor * rows of a gather)
 *
 * along the first dimension, whatever changes of shape lie between. The shapes in the file must
 * say that rows stay rows: the first dimension is open, the others are the same numbers. What the
 * product was is still there for others, and goes if there are none. */
#include <string.h>

#include "index.h"

static const cbx_node *maker(const cbx_program *p, int32_t value)
{
    int32_t node = value < 0 ? -1 : p->values[value].node;
    return node < 0 ? NULL : &p->nodes[node];
}

static bool is(const cbx_node *n, const char *op)
{
    return n && !strcmp(n->op->name, op);
}

/* Elements of a row: of all dimensions but the first, which must be open; -1: not known. */
static int64_t row_of(const cbx_value *v)
{
    int64_t row = 1;
    if (v->rank < 1 || !(v->symbolic & 1) || v->symbolic >> 1)
        return -1;
    for (int32_t i = 1; i < v->rank; i++)
        if (__builtin_mul_overflow(row, v->size[i], &row))
            return -1;
    return row;
}

/* Goes back through what changes the shape and keeps rows. */
static int32_t through_views(const cbx_program *p, int32_t value)
{
    static const char *const views[] = {
        "cbx.rows",      "cbx.crop",          "cbx.spread",
        "cbx.dense",     "view.default",      "_unsafe_view.default",
        "clone.default", "unsqueeze.default", "reshape.default"};
    for (;;) {
        const cbx_node *n = maker(p, value);
        size_t          i = 0;
        while (i < sizeof views / sizeof *views && !is(n, views[i]))
            i++;
        if (i == sizeof views / sizeof *views || row_of(&p->values[value]) < 0 ||
            row_of(&p->values[value]) != row_of(&p->values[n->input[0]]))
            return value;
        value = n->input[0];
    }
}

static bool is_first(const cbx_arg *dim, int32_t rank)
{
    int64_t at = dim->ints && dim->count ? dim->ints[0].literal : 0;
    bool    literal = !dim->ints || !dim->count || dim->ints[0].value < 0;
    return literal && (at == 0 || at + rank == 0);
}

/* A gather along the first dimension of rows of this size. */
static const cbx_node *gather_of(const cbx_program *p, int32_t value, int64_t row)
{
    const cbx_node  *n = maker(p, value);
    const cbx_value *self = n && n->num_inputs ? &p->values[n->input[0]] : NULL;
    if (!self || (!is(n, "index_select.default") && !is(n, "cbx.index")))
        return NULL;
    return is_first(&n->arg[2], self->rank) && row_of(self) == row &&
                   p->values[n->input[1]].rank == 1
               ? n
               : NULL;
}

/* One number for each block of a row: [edges, 3, 1] beside [edges, 3, 4]; or for each element. */
static bool is_factor(const cbx_value *factor, const cbx_value *product)
{
    int32_t i = 1;
    if (factor->rank != product->rank || row_of(factor) < 0)
        return false;
    while (i < factor->rank && factor->size[i] == product->size[i])
        i++;
    for (; i < factor->rank; i++)
        if (factor->size[i] != 1)
            return false;
    return true;
}

/* Does an index name whole rows: a list, or one that is the same for all elements of a row? */
static bool is_by_rows(const cbx_program *p, int32_t shape, const cbx_value *self)
{
    const cbx_value *v = shape < 0 ? NULL : &p->values[shape];
    const cbx_node  *n = maker(p, shape);
    if (!v || v->rank == 1)
        return true;
    if (!is(n, "expand.default") || v->rank != self->rank)
        return false;
    const cbx_value *from = &p->values[n->input[0]];
    for (int32_t i = 1; i < v->rank; i++)
        if (v->size[i] < 0 || v->size[i] != self->size[i] || from->rank != v->rank ||
            from->size[i] != 1)
            return false;
    return true;
}

/* The factor and the gather of a product. */
static const cbx_node *split_product(const cbx_program *p, int32_t value, int32_t *factor)
{
    const cbx_node *n = maker(p, value);
    if (!is(n, "mul.Tensor"))
        return NULL;
    for (int32_t k = 0; k < 2; k++) {
        const cbx_node *gather = gather_of(p, n->input[k], row_of(&p->values[value]));
        *factor = n->input[1 - k];
        if (gather && is_factor(&p->values[*factor], &p->values[value]))
            return gather;
    }
    return NULL;
}

bool cbx_fuse_find(const cbx_program *p, int32_t self, int32_t src, int32_t shape,
                   const cbx_arg *dim, cbx_gathered *out)
{
    const cbx_value *to = &p->values[self];
    *out = (cbx_gathered){.factor = -1};
    if (!cbx_is_real(to->type) || !is_first(dim, to->rank) || !is_by_rows(p, shape, to))
        return false;
    src = through_views(p, src);
    const cbx_node *gather = gather_of(p, src, row_of(&p->values[src]));
    if (!gather)
        gather = split_product(p, src, &out->factor);
    if (!gather)
        return false;
    out->rows = gather->input[0];
    out->sources = gather->input[1];
    out->wraps = gather->arg[4];
    return true;
}
