/* SPDX-License-Identifier: Apache-2.0 */
/* op_index.c: what indices are made of. When a program is read, every way of indexing becomes one:
 * a list of rows along one dimension (op_gather.c, op_scatter.c). These operations make that list
 * out of masks, of several indices and of indices of their own for each element. */
#include "index.h"

#include <string.h>

/* ---- masks: the positions of what is true */

static cbx_status positions_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0];
    int64_t          count = x->count; /* at most */
    if (c->known) {
        count = 0;
        for (int64_t i = 0; i < x->count; i++)
            count += ((const uint8_t *)x->data)[i] != 0;
    }
    return cbx_out_new(c, 0, 1, &count, err);
}

static cbx_status positions_run(cbx_call *c, cbx_error *err)
{
    const uint8_t *x = c->in[0]->data;
    int64_t       *y = c->out[0]->data;
    (void)err;
    for (int64_t i = 0; i < c->in[0]->count; i++)
        if (x[i])
            *y++ = i;
    return CBX_OK;
}

/* The same as rows of one index for each dimension. */
static cbx_status nonzero_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0];
    int64_t          size[2] = {x->count, x->rank};
    if (c->out[0]->type != CBX_INTEGER)
        return cbx_call_fail(c, err, "to %s", cbx_type_name(c->out[0]->type));
    if (c->known) {
        size[0] = 0;
        for (int64_t i = 0; i < x->count; i++)
            size[0] += ((const uint8_t *)x->data)[i] != 0;
    }
    return cbx_out_new(c, 0, 2, size, err);
}

static cbx_status nonzero_run(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0];
    int64_t         *y = c->out[0]->data;
    (void)err;
    for (int64_t i = 0; i < x->count; i++) {
        if (!((const uint8_t *)x->data)[i])
            continue;
        int64_t rest = i;
        for (int32_t d = x->rank; d-- > 0; rest /= x->size[d])
            y[d] = rest % x->size[d];
        y += x->rank;
    }
    return CBX_OK;
}

/* ---- several indices: one into the dimensions that they index, joined */

static cbx_status join_shape(cbx_call *c, cbx_error *err)
{
    int64_t dim = cbx_call_int(c, 1), count = c->node->num_inputs - 1;
    if (dim < 0 || dim > c->in[0]->rank - count)
        return cbx_call_fail(c, err, "%lld indices from dimension %lld of %d", (long long)count,
                             (long long)dim, c->in[0]->rank);
    return cbx_out_broadcast(c, c->node->num_inputs - 1, c->in + 1, err);
}

static cbx_status join_run(cbx_call *c, cbx_error *err)
{
    cbx_array *y = c->out[0];
    int64_t    dim = cbx_call_int(c, 1), *Y = y->data;
    memset(Y, 0, (size_t)y->count * sizeof *Y);
    for (int32_t k = 1; k < c->node->num_inputs; k++) {
        const cbx_array *x = c->in[k];
        int64_t          size = c->in[0]->size[dim + k - 1];
        for (int64_t i = 0; i < y->count; i++) {
            int64_t from = 0, rest = i;
            for (int32_t d = y->rank; d-- > 0; rest /= y->size[d]) {
                int32_t at = d - y->rank + x->rank;
                if (at >= 0 && x->size[at] != 1)
                    from += rest % y->size[d] * x->stride[at];
            }
            int64_t index = ((const int64_t *)x->data)[from];
            if (index < -size || index >= size)
                return cbx_call_fail(c, err, "index %lld of %lld", (long long)index,
                                     (long long)size);
            Y[i] = Y[i] * size + (index < 0 ? index + size : index);
        }
    }
    return CBX_OK;
}

/* ---- an index for each element: one for each row, or for each element of everything */

typedef struct linear {
    bool each; /* element, not row */
} linear;

static bool is_by_rows(const cbx_array *index, int32_t dim)
{
    for (int32_t i = 0; i < index->rank; i++)
        if (i != dim && index->size[i] != 1 && index->stride[i] != 0)
            return false;
    return true;
}

static cbx_status linear_shape(cbx_call *c, cbx_error *err)
{
    linear          *s = c->state;
    const cbx_array *index = c->in[0], *self = c->in[1];
    int32_t          dim;
    cbx_status       status = cbx_call_dim(c, 2, self->rank, &dim, err);
    if (status)
        return status;
    if (index->rank != self->rank)
        return cbx_call_fail(c, err, "an index of %d dimensions into %d", index->rank, self->rank);
    bool whole = true; /* rows are indexed in full */
    for (int32_t i = 0; i < index->rank; i++) {
        whole &= i == dim || index->size[i] == self->size[i];
        if (i != dim && index->size[i] > self->size[i])
            return cbx_call_fail(c, err, "an index of size %lld into %lld",
                                 (long long)index->size[i], (long long)self->size[i]);
    }
    if (!c->planned)
        s->each = !whole || !is_by_rows(index, dim);
    if (s->each)
        return cbx_out_new(c, 0, 1, &index->count, err);
    cbx_array *y = cbx_out_view(c, 0, 0);
    y->size[0] = index->rank ? index->size[dim] : 1;
    y->stride[0] = index->rank ? index->stride[dim] : 1;
    y->rank = 1;
    y->count = y->size[0];
    return CBX_OK;
}

static cbx_status linear_run(cbx_call *c, cbx_error *err)
{
    linear          *s = c->state;
    const cbx_array *index = c->in[0], *self = c->in[1];
    int32_t          dim;
    int64_t         *Y = c->out[0]->data;
    if (!s->each)
        return CBX_OK;
    (void)cbx_call_dim(c, 2, self->rank, &dim, err);
    for (int64_t i = 0; i < index->count; i++) {
        int64_t from = 0, rest = i, at[CBX_RANKS];
        for (int32_t d = index->rank; d-- > 0; rest /= index->size[d]) {
            at[d] = rest % index->size[d];
            from += at[d] * index->stride[d];
        }
        at[dim] = ((const int64_t *)index->data)[from];
        if (at[dim] < 0 || at[dim] >= self->size[dim])
            return cbx_call_fail(c, err, "index %lld of %lld", (long long)at[dim],
                                 (long long)self->size[dim]);
        Y[i] = 0;
        for (int32_t d = 0; d < self->rank; d++)
            Y[i] = Y[i] * self->size[d] + at[d];
    }
    return CBX_OK;
}

static cbx_status linear_tags(cbx_call *c, cbx_error *err)
{
    linear   *s = c->state;
    cbx_array packed = *c->in[0];
    (void)err;
    (void)cbx_array_pack(&packed);
    if (s->each)
        cbx_array_copy(&packed, c->out[0]->tag, c->in[0], c->in[0]->tag);
    return CBX_OK;
}

/* ---- what is scattered, in the shape of the index or of the rows that it names */

/* A number is repeated. */
static cbx_status crop_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *index = c->in[1];
    if (c->in[0]->rank == 0) {
        cbx_array *y = cbx_out_view(c, 0, 0);
        y->rank = index->rank;
        memcpy(y->size, index->size, sizeof y->size);
        memset(y->stride, 0, sizeof y->stride);
        y->count = index->count;
        return CBX_OK;
    }
    if (index->rank != c->in[0]->rank)
        return cbx_call_fail(c, err, "an index of %d dimensions for %d", index->rank,
                             c->in[0]->rank);
    for (int32_t i = 0; i < index->rank; i++)
        if (index->size[i] > c->in[0]->size[i])
            return cbx_call_fail(c, err, "an index of size %lld for %lld",
                                 (long long)index->size[i], (long long)c->in[0]->size[i]);
    cbx_array *y = cbx_out_view(c, 0, 0);
    memcpy(y->size, index->size, sizeof y->size);
    y->count = index->count;
    return CBX_OK;
}

/* Values in the shape of the rows that an index names: repeated where they are smaller. */
static cbx_status spread_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0], *self = c->in[1], *index = c->in[2];
    int64_t          dim = cbx_call_int(c, 3);
    cbx_array        rows = {.rank = self->rank - 1 + index->rank};
    if (dim < 0 || dim >= self->rank)
        return cbx_call_fail(c, err, "an index of dimension %lld of %d", (long long)dim,
                             self->rank);
    if (rows.rank > CBX_RANKS || rows.rank < x->rank)
        return cbx_call_fail(c, err, "%d dimensions for %d", x->rank, rows.rank);
    for (int32_t i = 0, d = 0; i < rows.rank; i++) {
        bool inside = i >= dim && i < dim + index->rank;
        rows.size[i] = inside ? index->size[i - dim] : self->size[d];
        d += !inside || i == dim + index->rank - 1;
    }
    if (!cbx_array_pack(&rows))
        return cbx_call_fail(c, err, "more than %lld elements", (long long)CBX_MOST_ELEMENTS);
    cbx_array *y = cbx_out_view(c, 0, 0);
    y->rank = rows.rank;
    y->count = rows.count;
    for (int32_t i = 0; i < rows.rank; i++) {
        int32_t at = i - rows.rank + x->rank;
        if (at >= 0 && x->size[at] != 1 && x->size[at] != rows.size[i]) {
            char a[96], b[96];
            return cbx_call_fail(c, err, "values of shape %s for %s", cbx_array_shape(x, a, 96),
                                 cbx_array_shape(&rows, b, 96));
        }
        y->size[i] = rows.size[i];
        y->stride[i] = at >= 0 && x->size[at] != 1 ? x->stride[at] : 0;
    }
    return CBX_OK;
}

/* ---- the weights of the edges that an index stands for */

static cbx_status weights_shape(cbx_call *c, cbx_error *err)
{
    if (cbx_call_is_tagged(c, 0))
        return cbx_out_new(c, 0, 1, &c->in[0]->count, err);
    cbx_out_absent(c, 0);
    return CBX_OK;
}

#define WEIGHTS(suffix, T, W)                                                           \
    static void weights_##suffix(const cbx_array *index, const W *w, T *y)              \
    {                                                                                   \
        const int64_t step = index->rank == 1 ? index->stride[0] : 1; /* else packed */ \
        for (int64_t i = 0; i < index->count; i++) {                                    \
            int64_t tag = index->tag[i * step];                                         \
            y[i] = tag < 0 ? 1 : (T)w[tag / 2];                                         \
        }                                                                               \
    }                                                                                   \
    static void weights_back_##suffix(const cbx_array *index, const T *g, W *dw)        \
    {                                                                                   \
        const int64_t step = index->rank == 1 ? index->stride[0] : 1;                   \
        for (int64_t i = 0; i < index->count; i++) {                                    \
            int64_t tag = index->tag[i * step];                                         \
            if (tag >= 0)                                                               \
                dw[tag / 2] += (W)g[i];                                                 \
        }                                                                               \
    }
WEIGHTS(32_32, float, float)
WEIGHTS(32_64, float, double)
WEIGHTS(64_32, double, float)
WEIGHTS(64_64, double, double)

static cbx_status weights_run(cbx_call *c, cbx_error *err)
{
    const cbx_array *index = c->in[0], *w = c->in[1], *y = c->out[0];
    (void)err;
    if (y->type == CBX_REAL32 && w->type == CBX_REAL32)
        weights_32_32(index, w->data, y->data);
    else if (y->type == CBX_REAL32)
        weights_32_64(index, w->data, y->data);
    else if (w->type == CBX_REAL32)
        weights_64_32(index, w->data, y->data);
    else
        weights_64_64(index, w->data, y->data);
    return CBX_OK;
}

static void weights_reverse(cbx_call *c)
{
    const cbx_array *index = c->in[0], *w = c->in[1], *y = c->out[0];
    cbx_grad_open(c, 1);
    if (y->type == CBX_REAL32 && w->type == CBX_REAL32)
        weights_back_32_32(index, y->grad, w->grad);
    else if (y->type == CBX_REAL32)
        weights_back_32_64(index, y->grad, w->grad);
    else if (w->type == CBX_REAL32)
        weights_back_64_32(index, y->grad, w->grad);
    else
        weights_back_64_64(index, y->grad, w->grad);
}

#define SELF CBX_SPEC("self", CBX_ARG_ARRAY)
#define INDEX CBX_SPEC("index", CBX_ARG_ARRAY)
#define DIM CBX_SPEC("dim", CBX_ARG_INT)

const cbx_op cbx_ops_index[] = {
    {.name = "cbx.positions",
     .args = {SELF},
     .typing = CBX_TYPING_FREE,
     .dense = CBX_IN(0),
     .shape = positions_shape,
     .forward = positions_run,
     .data_sized = true},
    {.name = "nonzero.default",
     .args = {SELF},
     .typing = CBX_TYPING_FREE,
     .lower = cbx_lower_nonzero,
     .dense = CBX_IN(0),
     .shape = nonzero_shape,
     .forward = nonzero_run,
     .data_sized = true},
    {.name = "cbx.join",
     .args = {SELF, DIM, {"indices", CBX_ARG_ARRAYS}},
     .typing = CBX_TYPING_FREE,
     .shape = join_shape,
     .shape_inputs = CBX_IN(0),
     .forward = join_run,
     .tags = CBX_TAGS_MERGE},
    {.name = "cbx.linear",
     .args = {INDEX, SELF, DIM},
     .typing = CBX_TYPING_FREE,
     .state = sizeof(linear),
     .shape = linear_shape,
     .shape_inputs = CBX_IN(1),
     .forward = linear_run,
     .tags = CBX_TAGS_MOVE,
     .move_tags = linear_tags},
    {.name = "cbx.crop", .args = {SELF, INDEX}, .shape = crop_shape, .shape_inputs = CBX_IN(1)},
    {.name = "cbx.spread",
     .args = {{"values", CBX_ARG_ARRAY}, SELF, INDEX, DIM},
     .typing = CBX_TYPING_FREE,
     .shape = spread_shape,
     .shape_inputs = CBX_IN(1) | CBX_IN(2)},
    {.name = "cbx.weights",
     .args = {INDEX, {"weights", CBX_ARG_ARRAY}},
     .typing = CBX_TYPING_FREE,
     .shape = weights_shape,
     .forward = weights_run,
     .backward = weights_reverse,
     .passes = CBX_IN(1),
     .reads = {0, CBX_IN(0)},
     .reach = CBX_REACH_NOTHING},
    {0},
};
