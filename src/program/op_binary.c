/* SPDX-License-Identifier: Apache-2.0 */
/* op_binary.c: operations on two tensors, element by element. binary.def lists them. */
#include <math.h>

#include "kernel.h"
#include "op.h"
#include "real_math.h"

typedef struct binary {
    cbx_loops forward, of_a, of_b;
    bool      add; /* to the gradient */
    double    third;
} binary;

/* Towards minus infinity, as Python does; of 0 and of what overflows: 0. */
static inline int64_t floor_divide(int64_t a, int64_t b)
{
    if (b == 0 || (b == -1 && a == INT64_MIN))
        return 0;
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
#define FLOOR_DIVIDE floor_divide

#define INTEGER_KERNELS 0
#define REAL float
#define SINGLE 1
#define NAME(id) id##_32
#include "binary_kernels.h"
#undef REAL
#undef SINGLE
#undef NAME
#define REAL double
#define SINGLE 0
#define NAME(id) id##_64
#include "binary_kernels.h"
#undef REAL
#undef NAME
#undef INTEGER_KERNELS
#define INTEGER_KERNELS 1
#define REAL int64_t
#define NAME(id) id##_integer
#include "binary_kernels.h"

static cbx_status shape(cbx_call *c, cbx_error *err)
{
    binary          *s = c->state;
    const cbx_array *a = c->in[0], *b = c->in[1], *y = c->out[0];
    cbx_status       status = cbx_out_broadcast(c, 2, c->in, err);
    if (status)
        return status;
    s->third = cbx_call_real(c, 2);
    cbx_loops_make(&s->forward, y, 3, (const cbx_array *const[]){y, a, b});
    cbx_loops_make(&s->of_a, y, 4, (const cbx_array *const[]){a, y, a, b});
    cbx_loops_make(&s->of_b, y, 4, (const cbx_array *const[]){b, y, b, a});
    return CBX_OK;
}

static cbx_status run(cbx_call *c, const cbx_inner kernels[CBX_TYPES], cbx_error *err)
{
    binary    *s = c->state;
    cbx_array *a = c->in[0], *b = c->in[1], *y = c->out[0];
    size_t     size = cbx_type_size(y->type);
    if (!kernels[y->type])
        return cbx_call_fail(c, err, "of tensors of %s", cbx_type_name(y->type));
    cbx_loops_run(&s->forward, kernels[y->type], 3, (void *const[]){y->data, a->data, b->data},
                  (const size_t[]){size, size, size}, s);
    return CBX_OK;
}

static void reverse(cbx_call *c, const cbx_inner of_a[CBX_TYPES], const cbx_inner of_b[CBX_TYPES])
{
    binary      *s = c->state;
    cbx_array   *y = c->out[0];
    size_t       size = cbx_type_size(y->type);
    const size_t bytes[] = {size, size, size, size};
    for (int32_t k = 0; k < 2; k++) {
        cbx_array *own = c->in[k], *other = c->in[1 - k];
        if (c->mode[k] == CBX_GRAD_NONE)
            continue;
        s->add = c->mode[k] == CBX_GRAD_ADD || own->count < y->count;
        if (own->count < y->count)
            cbx_grad_open(c, k); /* sums, in several places of the loops */
        cbx_loops_run(k ? &s->of_b : &s->of_a, k ? of_b[y->type] : of_a[y->type], 4,
                      (void *const[]){own->grad, y->grad, own->data, other->data}, bytes, s);
    }
}

#define RUN(id, reals, doubles, integers)                                       \
    static cbx_status id##_run(cbx_call *c, cbx_error *err)                     \
    {                                                                           \
        static const cbx_inner kernels[CBX_TYPES] = {reals, doubles, integers}; \
        return run(c, kernels, err);                                            \
    }
#define REVERSE(id)                                                            \
    static void id##_reverse(cbx_call *c)                                      \
    {                                                                          \
        static const cbx_inner of_a[CBX_TYPES] = {id##_of_a_32, id##_of_a_64}; \
        static const cbx_inner of_b[CBX_TYPES] = {id##_of_b_32, id##_of_b_64}; \
        reverse(c, of_a, of_b);                                                \
    }
#define X(id, value, da, reads_a, db, reads_b)      \
    RUN(id, id##_forward_32, id##_forward_64, NULL) \
    REVERSE(id)                                     \
    enum { id##_reads_a = reads_a, id##_reads_b = reads_b };
#define BOTH(id, value, da, reads_a, db, reads_b)                   \
    RUN(id, id##_forward_32, id##_forward_64, id##_forward_integer) \
    REVERSE(id)                                                     \
    enum { id##_reads_a = reads_a, id##_reads_b = reads_b };
#define INTEGERS(id, value, da, reads_a, db, reads_b) RUN(id, NULL, NULL, id##_forward_integer)
#include "binary.def"
#undef X
#undef BOTH
#undef INTEGERS

#define ENTRY(file_name, id, ...)                                                             \
    {                                                                                         \
        .name = file_name, .args = {{"self", CBX_ARG_NUMBER}, __VA_ARGS__},                   \
        .typing = CBX_TYPING_PROMOTE, .state = sizeof(binary), .shape = shape,                \
        .forward = id##_run, .backward = id##_reverse, .reads = {id##_reads_a, id##_reads_b}, \
        .tags = CBX_TAGS_MERGE                                                                \
    }
#define OTHER CBX_SPEC("other", CBX_ARG_NUMBER)
#define ALPHA CBX_SPEC("alpha", CBX_ARG_REAL, true, 1)

const cbx_op cbx_ops_binary[] = {
    ENTRY("add.Tensor", add, OTHER, ALPHA),
    ENTRY("add.Scalar", add, OTHER, ALPHA),
    ENTRY("sub.Tensor", sub, OTHER, ALPHA),
    ENTRY("sub.Scalar", sub, OTHER, ALPHA),
    ENTRY("rsub.Scalar", rsub, OTHER, ALPHA),
    ENTRY("mul.Tensor", mul, OTHER),
    ENTRY("mul.Scalar", mul, OTHER),
    ENTRY("div.Tensor", div, OTHER),
    ENTRY("div.Scalar", div, OTHER),
    ENTRY("maximum.default", maximum, OTHER),
    ENTRY("minimum.default", minimum, OTHER),
    ENTRY("pow.Tensor_Tensor", power, {"exponent", CBX_ARG_NUMBER}),
    ENTRY("pow.Scalar", power, {"exponent", CBX_ARG_NUMBER}),
    {.name = "floor_divide.default",
     .args = {{"self", CBX_ARG_NUMBER}, OTHER},
     .typing = CBX_TYPING_PROMOTE,
     .state = sizeof(binary),
     .shape = shape,
     .forward = floor_divide_run,
     .tags = CBX_TAGS_MERGE},
    {.name = "remainder.Scalar",
     .args = {{"self", CBX_ARG_NUMBER}, OTHER},
     .typing = CBX_TYPING_PROMOTE,
     .state = sizeof(binary),
     .shape = shape,
     .forward = remainder_run,
     .tags = CBX_TAGS_MERGE},
    {.name = "remainder.Tensor",
     .args = {{"self", CBX_ARG_NUMBER}, OTHER},
     .typing = CBX_TYPING_PROMOTE,
     .state = sizeof(binary),
     .shape = shape,
     .forward = remainder_run,
     .tags = CBX_TAGS_MERGE},
    {0},
};
