/* SPDX-License-Identifier: Apache-2.0 */
/* op_unary.c: operations on one tensor, element by element. unary.def lists them. */
#include <math.h>
#include <string.h>

#include "error.h"
#include "kernel.h"
#include "op.h"
#include "real_math.h"

typedef struct unary {
    cbx_loops forward, backward;
    bool      add; /* to the gradient */
    double    real[3];
    int64_t   integer[3];
} unary;

/* ---- functions of several */

#define GELU_ERF(x) ((REAL)0.5 * x * (1 + ERF(x * (REAL)0.70710678118654752)))
#define GELU_ERF_SLOPE(x)                                   \
    ((REAL)0.5 * (1 + ERF(x * (REAL)0.70710678118654752)) + \
     x * EXP(x * x * (REAL)-0.5) * (REAL)0.39894228040143268)
#define GELU_INNER(x) (TANH((REAL)0.79788456080286536 * (x + (REAL)0.044715 * x * x * x)))
#define GELU_TANH(x) ((REAL)0.5 * x * (1 + GELU_INNER(x)))
#define GELU_TANH_SLOPE(x)                                                                   \
    ((REAL)0.5 * (1 + GELU_INNER(x)) + (REAL)0.5 * x * (1 - GELU_INNER(x) * GELU_INNER(x)) * \
                                           (REAL)0.79788456080286536 *                       \
                                           (1 + (REAL)0.134145 * x * x))
/* x^0 is level everywhere, also at 0, where the slope of others is infinite. */
#define POWER_SLOPE(x, p, g) (p == 0 ? 0 : g * p * POW(x, p - 1))

#define PARAMETER(u, k) ((REAL)((const unary *)(u))->real[k])
#define INTEGER_KERNELS 0
#define REAL float
#define SINGLE 1
#define NAME(id) id##_32
#include "unary_kernels.h"
#undef REAL
#undef SINGLE
#undef NAME
#define REAL double
#define SINGLE 0
#define NAME(id) id##_64
#include "unary_kernels.h"
#undef REAL
#undef NAME
#undef PARAMETER
#undef INTEGER_KERNELS
#define PARAMETER(u, k) (((const unary *)(u))->integer[k])
#define INTEGER_KERNELS 1
#define REAL int64_t
#define NAME(id) id##_integer
#include "unary_kernels.h"

/* ---- what all of them do */

static cbx_status shape(cbx_call *c, cbx_error *err)
{
    unary           *u = c->state;
    const cbx_array *x = c->in[0], *y = c->out[0];
    cbx_status       status = cbx_out_new(c, 0, x->rank, x->size, err);
    if (status)
        return status;
    for (int32_t k = 0; k < 3; k++) {
        double v = c->node->arg[k + 1].kind == CBX_ARG_TEXT
                       ? strcmp(cbx_call_text(c, k + 1), "tanh") == 0
                       : cbx_call_real(c, k + 1);
        u->real[k] = v;
        u->integer[k] = v >= 0x1p63 ? INT64_MAX : v <= -0x1p63 ? INT64_MIN : (int64_t)v;
    }
    cbx_loops_make(&u->forward, y, 2, (const cbx_array *const[]){y, x});
    cbx_loops_make(&u->backward, y, 4, (const cbx_array *const[]){x, y, x, y});
    return CBX_OK;
}

static cbx_status run(cbx_call *c, const cbx_inner kernels[CBX_TYPES], cbx_error *err)
{
    unary     *u = c->state;
    cbx_array *x = c->in[0], *y = c->out[0];
    size_t     size = cbx_type_size(y->type);
    if (!kernels[y->type])
        return cbx_call_fail(c, err, "of a tensor of %s", cbx_type_name(y->type));
    cbx_loops_run(&u->forward, kernels[y->type], 2, (void *const[]){y->data, x->data},
                  (const size_t[]){size, size}, u);
    return CBX_OK;
}

static void reverse(cbx_call *c, const cbx_inner kernels[CBX_TYPES])
{
    unary     *u = c->state;
    cbx_array *x = c->in[0], *y = c->out[0];
    size_t     size = cbx_type_size(y->type);
    u->add = c->mode[0] == CBX_GRAD_ADD;
    cbx_loops_run(&u->backward, kernels[y->type], 4,
                  (void *const[]){x->grad, y->grad, x->data, y->data},
                  (const size_t[]){size, size, size, size}, u);
}

#define REVERSE(id)                                                                       \
    static void id##_reverse(cbx_call *c)                                                 \
    {                                                                                     \
        static const cbx_inner kernels[CBX_TYPES] = {id##_backward_32, id##_backward_64}; \
        reverse(c, kernels);                                                              \
    }
#define RUN(id, integers)                                                                         \
    static cbx_status id##_run(cbx_call *c, cbx_error *err)                                       \
    {                                                                                             \
        static const cbx_inner kernels[CBX_TYPES] = {id##_forward_32, id##_forward_64, integers}; \
        return run(c, kernels, err);                                                              \
    }
#define X(id, name, args, reads, value, slope) RUN(id, NULL) REVERSE(id)
#define STEPS(id, name, args, reads, value, slope) RUN(id, NULL)
#define INTEGERS(id, name, args, reads, value, slope) RUN(id, id##_forward_integer) REVERSE(id)
#include "unary.def"
#undef X
#undef STEPS
#undef INTEGERS

#define SELF CBX_SPEC("self", CBX_ARG_ARRAY)
#define NUMBER(name, value) CBX_SPEC(name, CBX_ARG_REAL, true, value)
#define NO_ARGS CBX_SPEC(SELF)
#define ARGS1(a, av) CBX_SPEC(SELF, NUMBER(a, av))
#define ARGS2(a, av, b, bv) CBX_SPEC(SELF, NUMBER(a, av), NUMBER(b, bv))
#define ARGS3(a, av, b, bv, c, cv) CBX_SPEC(SELF, NUMBER(a, av), NUMBER(b, bv), NUMBER(c, cv))
#define ARGS_TEXT(a) CBX_SPEC(SELF, CBX_SPEC(a, CBX_ARG_TEXT, true))
#define ENTRY(id, file_name, arguments, needs, back, tagging) \
    {.name = file_name,                                       \
     .args = arguments,                                       \
     .state = sizeof(unary),                                  \
     .shape = shape,                                          \
     .forward = id##_run,                                     \
     .backward = back,                                        \
     .reads = {needs},                                        \
     .tags = tagging},
#define UNPACK(...) __VA_ARGS__
#define X(id, name, args, reads, value, slope) \
    ENTRY(id, name, UNPACK(args), reads, id##_reverse, CBX_TAGS_NONE)
#define STEPS(id, name, args, reads, value, slope) \
    ENTRY(id, name, UNPACK(args), reads, NULL, CBX_TAGS_NONE)
#define INTEGERS(id, name, args, reads, value, slope) \
    ENTRY(id, name, UNPACK(args), reads, id##_reverse, CBX_TAGS_MERGE)

const cbx_op cbx_ops_unary[] = {
#include "unary.def"
    {0},
};
