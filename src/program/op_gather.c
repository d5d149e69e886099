/* SPDX-License-Identifier: Apache-2.0 */
/* op_gather.c: rows that an index names. */
#include <string.h>

#include "index.h"
#include "kernel.h"

cbx_status cbx_rows_shape(const cbx_call *c, cbx_rows *r, int32_t self_place, int32_t index_place,
                          int32_t dim, bool each, cbx_error *err)
{
    const cbx_array *self = c->in[self_place], *index = c->in[index_place];
    r->place = index_place;
    if (index->type != CBX_INTEGER)
        return cbx_call_fail(c, err, "an index of %s, int64 expected", cbx_type_name(index->type));
    r->outer = r->inner = r->rows = 1;
    for (int32_t i = 0; i < self->rank; i++)
        *(each || i == dim ? &r->rows : i < dim ? &r->outer : &r->inner) *= self->size[i];
    r->entries = index->count;
    r->step = index->rank == 1 ? index->stride[0] : 1; /* else it is packed */
    /* An index that stays is looked at once. */
    if (cbx_call_is_live(c, index_place) || (c->planned && !c->dynamic))
        return CBX_OK;
    return cbx_rows_open(c, r, err);
}

cbx_status cbx_rows_open(const cbx_call *c, cbx_rows *r, cbx_error *err)
{
    int64_t least = r->wraps ? -r->rows : 0;
    r->index = c->in[r->place]->data;
    for (int64_t i = 0; i < r->entries; i++)
        if (r->index[i * r->step] < least || r->index[i * r->step] >= r->rows)
            return cbx_call_fail(c, err, "index %lld, from %lld to %lld expected",
                                 (long long)r->index[i * r->step], (long long)least,
                                 (long long)r->rows - 1);
    return CBX_OK;
}

bool cbx_rows_are_each(const cbx_array *self, const cbx_array *index, const cbx_array *shape,
                       int32_t dim)
{
    for (int32_t i = 0; shape && i < shape->rank; i++)
        if (i != dim && shape->size[i] != self->size[i])
            return true;
    return shape && shape->rank && index->count != shape->size[dim];
}

/* Arguments: self, index, dim, shape, wraps. */
static cbx_status gather_shape(cbx_call *c, cbx_error *err)
{
    cbx_rows        *r = c->state;
    const cbx_array *self = c->in[0], *index = c->in[1], *shape = cbx_call_array(c, 3);
    int64_t          size[2 * CBX_RANKS];
    int32_t          dim, rank = 0;
    cbx_status       status = cbx_call_dim(c, 2, self->rank, &dim, err);
    if (!status && self->type != c->out[0]->type)
        return cbx_call_fail(c, err, "%s out of %s", cbx_type_name(c->out[0]->type),
                             cbx_type_name(self->type));
    if (status)
        return status;
    for (int32_t i = 0; shape && i < shape->rank; i++)
        size[rank++] = shape->size[i];
    for (int32_t i = 0; !shape && i < dim; i++)
        size[rank++] = self->size[i];
    for (int32_t i = 0; !shape && i < index->rank; i++)
        size[rank++] = index->size[i];
    for (int32_t i = dim + 1; !shape && i < self->rank; i++)
        size[rank++] = self->size[i];
    r->wraps = cbx_call_real(c, 4) != 0;
    status = cbx_rows_shape(c, r, 0, 1, dim, cbx_rows_are_each(self, index, shape, dim), err);
    return status ? status : cbx_out_new(c, 0, rank, size, err);
}

/* Rows of `size` bytes. */
static void gather_bytes(const cbx_rows *r, size_t size, const char *from, char *to)
{
    size_t row = (size_t)r->inner * size;
    for (int64_t o = 0; o < r->outer; o++, from += (size_t)r->rows * row)
        for (int64_t e = 0; e < r->entries; e++, to += row)
            memcpy(to, from + (size_t)cbx_rows_at(r, e) * row, row);
}

/* Single elements, and rows that are worth a loop of their own. */
#define GATHER(suffix, T)                                                                          \
    CBX_HOT static void gather_##suffix(const cbx_rows *r, const T *restrict from, T *restrict to) \
    {                                                                                              \
        const int64_t inner = r->inner;                                                            \
        for (int64_t o = 0; o < r->outer; o++, from += r->rows * inner)                            \
            for (int64_t e = 0; e < r->entries; e++, to += inner) {                                \
                const T *row = from + cbx_rows_at(r, e) * inner;                                   \
                for (int64_t k = 0; k < inner; k++)                                                \
                    to[k] = row[k];                                                                \
            }                                                                                      \
    }                                                                                              \
    CBX_HOT static void gather_back_##suffix(const cbx_rows *r, const T *restrict g,               \
                                             T *restrict d)                                        \
    {                                                                                              \
        const int64_t inner = r->inner;                                                            \
        for (int64_t o = 0; o < r->outer; o++, d += r->rows * inner)                               \
            for (int64_t e = 0; e < r->entries; e++, g += inner) {                                 \
                T *row = d + cbx_rows_at(r, e) * inner;                                            \
                for (int64_t k = 0; k < inner; k++)                                                \
                    row[k] += g[k];                                                                \
            }                                                                                      \
    }
GATHER(32, float)
GATHER(64, double)

static cbx_status gather_run(cbx_call *c, cbx_error *err)
{
    cbx_rows  *r = c->state;
    cbx_status status = cbx_call_is_live(c, 1) ? cbx_rows_open(c, r, err) : CBX_OK;
    if (status)
        return status;
    if (c->out[0]->type == CBX_REAL32)
        gather_32(r, c->in[0]->data, c->out[0]->data);
    else if (c->out[0]->type == CBX_REAL64)
        gather_64(r, c->in[0]->data, c->out[0]->data);
    else
        gather_bytes(r, cbx_type_size(c->out[0]->type), c->in[0]->data, c->out[0]->data);
    return CBX_OK;
}

static void gather_reverse(cbx_call *c)
{
    cbx_grad_open(c, 0);
    if (c->out[0]->type == CBX_REAL32)
        gather_back_32(c->state, c->out[0]->grad, c->in[0]->grad);
    else
        gather_back_64(c->state, c->out[0]->grad, c->in[0]->grad);
}

/* An index that stands for edges hands its tags on; else tags move as the values do. */
static cbx_status gather_tags(cbx_call *c, cbx_error *err)
{
    const cbx_rows *r = c->state;
    int64_t        *to = c->out[0]->tag;
    (void)err;
    if (!c->in[1]->tag) {
        gather_bytes(r, sizeof *to, (const char *)c->in[0]->tag, (char *)to);
        return CBX_OK;
    }
    for (int64_t o = 0; o < r->outer; o++)
        for (int64_t e = 0; e < r->entries; e++)
            for (int64_t k = 0; k < r->inner; k++)
                *to++ = c->in[1]->tag[e * r->step];
    return CBX_OK;
}

#define SELF CBX_SPEC("self", CBX_ARG_ARRAY)
#define INDEX CBX_SPEC("index", CBX_ARG_ARRAY)
#define DIM CBX_SPEC("dim", CBX_ARG_INT, true, 0)
#define SHAPE CBX_SPEC("cbx.shape", CBX_ARG_ARRAY, true)
#define WRAPS CBX_SPEC("cbx.wraps", CBX_ARG_LOGIC, true, 0)
#define GATHERS(how_far)                                                                          \
    .dense = CBX_IN(0) | CBX_IN(1), .state = sizeof(cbx_rows), .shape = gather_shape,             \
    .forward = gather_run, .backward = gather_reverse, .passes = CBX_IN(0), .reads = {CBX_IN(1)}, \
    .tags = CBX_TAGS_GATHER, .move_tags = gather_tags, .shape_inputs = CBX_IN(2),                 \
    .reach = how_far, .reach_arg = 2

const cbx_op cbx_ops_gather[] = {
    {.name = "index_select.default", .args = {SELF, INDEX, DIM}, GATHERS(CBX_REACH_GATHER)},
    {.name = "embedding.default",
     .args = {{"weight", CBX_ARG_ARRAY},
              {"indices", CBX_ARG_ARRAY},
              DIM,
              SHAPE,
              WRAPS,
              {"padding_idx", CBX_ARG_INT, true, -1}},
     GATHERS(CBX_REACH_GATHER)},
    {.name = "index.Tensor",
     .args = {SELF, {"indices", CBX_ARG_ARRAYS}},
     .typing = CBX_TYPING_FREE,
     .lower = cbx_lower_index},
    {.name = "gather.default",
     .args = {SELF, DIM, INDEX, {"sparse_grad", CBX_ARG_LOGIC, true}},
     .typing = CBX_TYPING_FREE,
     .lower = cbx_lower_gather},
    {.name = "cbx.index", .args = {SELF, INDEX, DIM, SHAPE, WRAPS}, GATHERS(CBX_REACH_GATHER)},
    /* By a mask: rows stay what they are. */
    {.name = "cbx.select", .args = {SELF, INDEX, DIM, SHAPE, WRAPS}, GATHERS(CBX_REACH_ROWS)},
    {.name = "cbx.gather", .args = {SELF, INDEX, DIM, SHAPE, WRAPS}, GATHERS(CBX_REACH_GATHER)},
    {0},
};
