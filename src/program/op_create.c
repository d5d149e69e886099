/* SPDX-License-Identifier: Apache-2.0 */
/* op_create.c: tensors out of nothing but sizes and numbers. */
#include <math.h>
#include <string.h>

#include "op.h"

static void put_number(cbx_array *y, double number)
{
    if (y->type == CBX_REAL32)
        *(float *)y->data = (float)number;
    else if (y->type == CBX_REAL64)
        *(double *)y->data = number;
    else if (y->type == CBX_INTEGER)
        *(int64_t *)y->data = number >= -0x1p63 && number < 0x1p63 ? (int64_t)number : INT64_MIN;
    else
        *(uint8_t *)y->data = number != 0;
}

/* One number that stands for all elements: its storage holds one, and no step moves. */
static cbx_status uniform(cbx_call *c, int32_t rank, const int64_t *size, cbx_error *err)
{
    cbx_array *y = c->out[0], check = {.rank = rank};
    if (rank > CBX_RANKS)
        return cbx_call_fail(c, err, "%d dimensions, at most %d expected", rank, CBX_RANKS);
    for (int32_t i = 0; i < rank; i++) {
        if (size[i] < 0)
            return cbx_call_fail(c, err, "size %lld", (long long)size[i]);
        check.size[i] = size[i];
    }
    if (!cbx_array_pack(&check))
        return cbx_call_fail(c, err, "more than %lld elements", (long long)CBX_MOST_ELEMENTS);
    cbx_status status = cbx_out_new(c, 0, 0, NULL, err);
    if (status)
        return status;
    y->rank = rank;
    memcpy(y->size, check.size, sizeof y->size);
    memset(y->stride, 0, sizeof y->stride);
    y->count = check.count;
    y->whole = false;
    return CBX_OK;
}

static cbx_status full_shape(cbx_call *c, cbx_error *err)
{
    int64_t size[CBX_RANKS];
    int32_t rank = cbx_call_ints(c, 0, size);
    return uniform(c, rank, size, err);
}

static cbx_status like_shape(cbx_call *c, cbx_error *err)
{
    return uniform(c, c->in[0]->rank, c->in[0]->size, err);
}

static cbx_status scalar_shape(cbx_call *c, cbx_error *err)
{
    return uniform(c, 0, NULL, err);
}

static cbx_status full_run(cbx_call *c, cbx_error *err)
{
    (void)err;
    put_number(c->out[0], cbx_call_real(c, 1));
    return CBX_OK;
}

static cbx_status scalar_run(cbx_call *c, cbx_error *err)
{
    (void)err;
    put_number(c->out[0], cbx_call_real(c, 0));
    return CBX_OK;
}

static cbx_status number_run(cbx_call *c, cbx_error *err)
{
    (void)err;
    *(int64_t *)c->out[0]->data = cbx_call_int(c, 0);
    return CBX_OK;
}

static cbx_status zero_run(cbx_call *c, cbx_error *err)
{
    (void)err;
    put_number(c->out[0], 0);
    return CBX_OK;
}

static cbx_status one_run(cbx_call *c, cbx_error *err)
{
    (void)err;
    put_number(c->out[0], 1);
    return CBX_OK;
}

/* ---- counting */

static cbx_status arange(cbx_call *c, int64_t start, int64_t end, int64_t step, cbx_error *err)
{
    int64_t span;
    if (c->out[0]->type != CBX_INTEGER || step < 1 || __builtin_sub_overflow(end, start, &span))
        return cbx_call_fail(c, err, "%s from %lld to %lld in steps of %lld",
                             cbx_type_name(c->out[0]->type), (long long)start, (long long)end,
                             (long long)step);
    int64_t size = span > 0 ? (span - 1) / step + 1 : 0;
    return cbx_out_new(c, 0, 1, &size, err);
}

static cbx_status arange_shape(cbx_call *c, cbx_error *err)
{
    return arange(c, cbx_call_int(c, 0), cbx_call_int(c, 1), cbx_call_int(c, 2), err);
}

static cbx_status arange_end_shape(cbx_call *c, cbx_error *err)
{
    return arange(c, 0, cbx_call_int(c, 0), 1, err);
}

static void count_up(cbx_array *y, int64_t start, int64_t step)
{
    for (int64_t i = 0; i < y->count; i++)
        ((int64_t *)y->data)[i] = start + i * step;
}

static cbx_status arange_run(cbx_call *c, cbx_error *err)
{
    (void)err;
    count_up(c->out[0], cbx_call_int(c, 0), cbx_call_int(c, 2));
    return CBX_OK;
}

static cbx_status arange_end_run(cbx_call *c, cbx_error *err)
{
    (void)err;
    count_up(c->out[0], 0, 1);
    return CBX_OK;
}

#define TYPE CBX_SPEC("dtype", CBX_ARG_TYPE, true)
#define SIZE CBX_SPEC("size", CBX_ARG_INTS)
#define SELF CBX_SPEC("self", CBX_ARG_ARRAY)
#define ENTRY(file_name, shape_function, run, ...)                           \
    {                                                                        \
        .name = file_name, .args = {__VA_ARGS__}, .typing = CBX_TYPING_FREE, \
        .shape = shape_function, .forward = run, .shape_inputs = CBX_IN(0),  \
        .reach = CBX_REACH_NOTHING                                           \
    }

const cbx_op cbx_ops_create[] = {
    ENTRY("full.default", full_shape, full_run, SIZE, {"fill_value", CBX_ARG_REAL}, TYPE),
    ENTRY("full_like.default", like_shape, full_run, SELF, {"fill_value", CBX_ARG_REAL}, TYPE),
    ENTRY("new_full.default", full_shape, full_run, SIZE, {"fill_value", CBX_ARG_REAL}, TYPE, SELF),
    ENTRY("zeros.default", full_shape, zero_run, SIZE, TYPE),
    ENTRY("ones.default", full_shape, one_run, SIZE, TYPE),
    ENTRY("new_zeros.default", full_shape, zero_run, SIZE, TYPE, SELF),
    ENTRY("new_ones.default", full_shape, one_run, SIZE, TYPE, SELF),
    ENTRY("zeros_like.default", like_shape, zero_run, SELF, TYPE),
    ENTRY("ones_like.default", like_shape, one_run, SELF, TYPE),
    /* What is there before it is written over matters to nobody. */
    ENTRY("empty.memory_format", full_shape, zero_run, SIZE, TYPE),
    ENTRY("empty_like.default", like_shape, zero_run, SELF, TYPE),
    ENTRY("scalar_tensor.default", scalar_shape, scalar_run, {"s", CBX_ARG_REAL}, TYPE),
    ENTRY("cbx.number", scalar_shape, number_run, {"number", CBX_ARG_INT}),
    ENTRY("arange.start_step", arange_shape, arange_run, {"start", CBX_ARG_INT, true, 0},
          {"end", CBX_ARG_INT}, {"step", CBX_ARG_INT, true, 1}, TYPE),
    ENTRY("arange.start", arange_shape, arange_run, {"start", CBX_ARG_INT, true, 0},
          {"end", CBX_ARG_INT}, {"step", CBX_ARG_INT, true, 1}, TYPE),
    ENTRY("arange.default", arange_end_shape, arange_end_run, {"end", CBX_ARG_INT}, TYPE),
    {0},
};
