/* SPDX-License-Identifier: Apache-2.0 */
/* op_number.c: integers that are computed on the way: sizes, sums of them, and elements that
 * become sizes. */
#include "op.h"

static cbx_status size_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0];
    int32_t          dim;
    cbx_status       status = cbx_call_dim(c, 1, x->rank, &dim, err);
    if (!status && !x->rank)
        return cbx_call_fail(c, err, "of a tensor without dimensions");
    if (!status)
        cbx_out_number(c, 0, x->size[dim]);
    return status;
}

static cbx_status numel_shape(cbx_call *c, cbx_error *err)
{
    (void)err;
    cbx_out_number(c, 0, c->in[0]->count);
    return CBX_OK;
}

static cbx_status item_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0];
    if (x->type != CBX_INTEGER || x->count != 1)
        return cbx_call_fail(c, err, "of %lld elements of %s, one integer expected",
                             (long long)x->count, cbx_type_name(x->type));
    if (c->live && !c->known)
        return cbx_call_fail(c, err,
                             "a size that depends on features or edge weights: it cannot "
                             "be known before the program runs");
    cbx_out_number(c, 0, *(const int64_t *)x->data);
    return CBX_OK;
}

#define ARITHMETIC(id, CALL)                                                                       \
    static cbx_status id##_shape(cbx_call *c, cbx_error *err)                                      \
    {                                                                                              \
        int64_t a = cbx_call_int(c, 0), b = cbx_call_int(c, 1), y = 0;                             \
        if (CALL)                                                                                  \
            return cbx_call_fail(c, err, "of %lld and %lld does not fit in 64 bits", (long long)a, \
                                 (long long)b);                                                    \
        cbx_out_number(c, 0, y);                                                                   \
        return CBX_OK;                                                                             \
    }

/* Towards minus infinity; true where that is impossible. */
static bool divide(int64_t a, int64_t b, int64_t *quotient, int64_t *rest)
{
    if (b == 0 || (b == -1 && a == INT64_MIN))
        return true;
    int64_t down = a % b != 0 && (a < 0) != (b < 0);
    *quotient = a / b - down;
    *rest = a % b + (down ? b : 0);
    return false;
}

ARITHMETIC(add, __builtin_add_overflow(a, b, &y))
ARITHMETIC(sub, __builtin_sub_overflow(a, b, &y))
ARITHMETIC(mul, __builtin_mul_overflow(a, b, &y))
ARITHMETIC(floordiv, divide(a, b, &y, &(int64_t){0}))
ARITHMETIC(mod, divide(a, b, &(int64_t){0}, &y))
ARITHMETIC(max, (y = a > b ? a : b, false))
ARITHMETIC(min, (y = a < b ? a : b, false))

static cbx_status neg_shape(cbx_call *c, cbx_error *err)
{
    int64_t y;
    if (__builtin_sub_overflow((int64_t)0, cbx_call_int(c, 0), &y))
        return cbx_call_fail(c, err, "does not fit in 64 bits");
    cbx_out_number(c, 0, y);
    return CBX_OK;
}

#define SELF CBX_SPEC("self", CBX_ARG_ARRAY)
#define ENTRY(file_name, function, ...)                                                        \
    {                                                                                          \
        .name = file_name, .args = {__VA_ARGS__}, .typing = CBX_TYPING_FREE, .shape = function \
    }
#define FIRST CBX_SPEC("a", CBX_ARG_INT)
#define SECOND CBX_SPEC("b", CBX_ARG_INT)

const cbx_op cbx_ops_number[] = {
    {.name = "sym_size.int",
     .args = {SELF, {"dim", CBX_ARG_INT}},
     .typing = CBX_TYPING_FREE,
     .shape = size_shape,
     .shape_inputs = CBX_IN(0),
     .reach = CBX_REACH_NOTHING},
    {.name = "sym_numel.default",
     .args = {SELF},
     .typing = CBX_TYPING_FREE,
     .shape = numel_shape,
     .shape_inputs = CBX_IN(0),
     .reach = CBX_REACH_NOTHING},
    ENTRY("_local_scalar_dense.default", item_shape, SELF),
    ENTRY("_operator.add", add_shape, FIRST, SECOND),
    ENTRY("_operator.sub", sub_shape, FIRST, SECOND),
    ENTRY("_operator.mul", mul_shape, FIRST, SECOND),
    ENTRY("_operator.floordiv", floordiv_shape, FIRST, SECOND),
    ENTRY("_operator.mod", mod_shape, FIRST, SECOND),
    ENTRY("_operator.neg", neg_shape, {"a", CBX_ARG_INT}),
    ENTRY("torch.sym_max", max_shape, FIRST, SECOND),
    ENTRY("torch.sym_min", min_shape, FIRST, SECOND),
    {0},
};
