/* SPDX-License-Identifier: Apache-2.0 */
/* op_compare.c: comparisons, logic, and choosing between two tensors. */
#include <math.h>

#include "kernel.h"
#include "op.h"

typedef struct compare {
    cbx_loops loops;
} compare;

static cbx_status shape(cbx_call *c, cbx_error *err)
{
    compare         *s = c->state;
    int32_t          operands = c->node->num_inputs;
    const cbx_array *all[CBX_OPERANDS] = {c->out[0]};
    if (operands < 3 && c->out[0]->type != CBX_LOGICAL) /* three: where */
        return cbx_call_fail(c, err, "to %s, bool expected", cbx_type_name(c->out[0]->type));
    cbx_status status = cbx_out_broadcast(c, operands, c->in, err);
    for (int32_t k = 0; k < operands; k++)
        all[k + 1] = c->in[k];
    if (!status)
        cbx_loops_make(&s->loops, c->out[0], operands + 1, all);
    return status;
}

/* One kernel for each type of what is compared. */
#define KERNEL(id, suffix, T, VALUE)                                                      \
    CBX_HOT static void id##_##suffix(const cbx_loops *l, void *const *at, const void *u) \
    {                                                                                     \
        (void)u;                                                                          \
        for (int64_t i = 0; i < l->size[1]; i++) {                                        \
            uint8_t *restrict Y = (uint8_t *)at[0] + i * l->step[0][1];                   \
            const T *restrict A = (const T *)at[1] + i * l->step[1][1];                   \
            const T *restrict B = (const T *)at[2] + i * l->step[2][1];                   \
            for (int64_t k = 0; k < l->size[0]; k++) {                                    \
                const T a = A[k * l->step[1][0]], b = B[k * l->step[2][0]];               \
                Y[k * l->step[0][0]] = VALUE;                                             \
            }                                                                             \
        }                                                                                 \
    }
#define COMPARISON(id, VALUE)                                                        \
    KERNEL(id, 32, float, VALUE)                                                     \
    KERNEL(id, 64, double, VALUE)                                                    \
    KERNEL(id, integer, int64_t, VALUE)                                              \
    KERNEL(id, logical, uint8_t, VALUE)                                              \
    static cbx_status id##_run(cbx_call *c, cbx_error *err)                          \
    {                                                                                \
        static const cbx_inner kernels[CBX_TYPES] = {id##_32, id##_64, id##_integer, \
                                                     id##_logical};                  \
        const cbx_array       *a = c->in[0], *b = c->in[1];                          \
        size_t                 size = cbx_type_size(a->type);                        \
        (void)err;                                                                   \
        cbx_loops_run(&((compare *)c->state)->loops, kernels[a->type], 3,            \
                      (void *const[]){c->out[0]->data, a->data, b->data},            \
                      (const size_t[]){1, size, size}, NULL);                        \
        return CBX_OK;                                                               \
    }

COMPARISON(eq, a == b)
COMPARISON(ne, a != b)
COMPARISON(lt, a < b)
COMPARISON(le, a <= b)
COMPARISON(gt, a > b)
COMPARISON(ge, a >= b)
COMPARISON(both, a != 0 && b != 0)
COMPARISON(either, a != 0 || b != 0)
COMPARISON(differ, (a != 0) != (b != 0))

/* ---- not */

#define NOT(suffix, T)                                                              \
    static void not_##suffix(const cbx_loops *l, void *const *at, const void *u)    \
    {                                                                               \
        (void)u;                                                                    \
        for (int64_t i = 0; i < l->size[1]; i++)                                    \
            for (int64_t k = 0; k < l->size[0]; k++)                                \
                ((uint8_t *)at[0])[i * l->step[0][1] + k * l->step[0][0]] =         \
                    ((const T *)at[1])[i * l->step[1][1] + k * l->step[1][0]] == 0; \
    }

NOT(32, float)
NOT(64, double)
NOT(integer, int64_t)
NOT(logical, uint8_t)

static cbx_status not_run(cbx_call *c, cbx_error *err)
{
    static const cbx_inner kernels[CBX_TYPES] = {not_32, not_64, not_integer, not_logical};
    const cbx_array       *a = c->in[0];
    (void)err;
    cbx_loops_run(&((compare *)c->state)->loops, kernels[a->type], 2,
                  (void *const[]){c->out[0]->data, a->data},
                  (const size_t[]){1, cbx_type_size(a->type)}, NULL);
    return CBX_OK;
}

/* Bits of integers are another thing, and not done here. */
static cbx_status logical_shape(cbx_call *c, cbx_error *err)
{
    for (int32_t k = 0; k < c->node->num_inputs; k++)
        if (c->in[k]->type != CBX_LOGICAL)
            return cbx_call_fail(c, err, "of %s, bool expected", cbx_type_name(c->in[k]->type));
    return shape(c, err);
}

/* ---- where */

#define WHERE(suffix, T)                                                                   \
    CBX_HOT static void where_##suffix(const cbx_loops *l, void *const *at, const void *u) \
    {                                                                                      \
        (void)u;                                                                           \
        for (int64_t i = 0; i < l->size[1]; i++) {                                         \
            T *restrict Y = (T *)at[0] + i * l->step[0][1];                                \
            const uint8_t *restrict C = (const uint8_t *)at[1] + i * l->step[1][1];        \
            const T *restrict A = (const T *)at[2] + i * l->step[2][1];                    \
            const T *restrict B = (const T *)at[3] + i * l->step[3][1];                    \
            for (int64_t k = 0; k < l->size[0]; k++)                                       \
                Y[k * l->step[0][0]] =                                                     \
                    C[k * l->step[1][0]] ? A[k * l->step[2][0]] : B[k * l->step[3][0]];    \
        }                                                                                  \
    }

WHERE(bytes, uint8_t)
WHERE(halves, uint32_t)
WHERE(words, uint64_t)

/* Of three arrays of the type of the first, by a condition. */
static void choose(const cbx_loops *l, cbx_type type, void *y, void *condition, void *a, void *b)
{
    size_t size = cbx_type_size(type);
    cbx_loops_run(l,
                  size == 1   ? where_bytes
                  : size == 4 ? where_halves
                              : where_words,
                  4, (void *const[]){y, condition, a, b}, (const size_t[]){size, 1, size, size},
                  NULL);
}

static cbx_status where_run(cbx_call *c, cbx_error *err)
{
    compare *s = c->state;
    (void)err;
    choose(&s->loops, c->out[0]->type, c->out[0]->data, c->in[0]->data, c->in[1]->data,
           c->in[2]->data);
    return CBX_OK;
}

static cbx_status where_tags(cbx_call *c, cbx_error *err)
{
    cbx_array a = cbx_tags_of(c->in[1]), b = cbx_tags_of(c->in[2]);
    cbx_loops loops;
    (void)err;
    cbx_loops_make(&loops, c->out[0], 4, (const cbx_array *const[]){c->out[0], c->in[0], &a, &b});
    choose(&loops, CBX_INTEGER, c->out[0]->tag, c->in[0]->data, a.data, b.data);
    return CBX_OK;
}

/* D += G where the condition is that of `wanted`. */
#define WHERE_BACK(suffix, T)                                                                   \
    CBX_HOT static void where_back_##suffix(const cbx_loops *l, void *const *at, const void *u) \
    {                                                                                           \
        const bool wanted = *(const bool *)u;                                                   \
        for (int64_t i = 0; i < l->size[1]; i++) {                                              \
            T             *D = (T *)at[0] + i * l->step[0][1];                                  \
            const T       *G = (const T *)at[1] + i * l->step[1][1];                            \
            const uint8_t *C = (const uint8_t *)at[2] + i * l->step[2][1];                      \
            for (int64_t k = 0; k < l->size[0]; k++)                                            \
                D[k * l->step[0][0]] +=                                                         \
                    (C[k * l->step[2][0]] != 0) == wanted ? G[k * l->step[1][0]] : 0;           \
        }                                                                                       \
    }

WHERE_BACK(32, float)
WHERE_BACK(64, double)

static void where_reverse(cbx_call *c)
{
    const cbx_array *y = c->out[0];
    size_t           size = cbx_type_size(y->type);
    for (int32_t k = 1; k < 3; k++) {
        cbx_loops loops;
        bool      wanted = k == 1;
        if (c->mode[k] == CBX_GRAD_NONE)
            continue;
        cbx_grad_open(c, k);
        cbx_loops_make(&loops, y, 3, (const cbx_array *const[]){c->in[k], y, c->in[0]});
        cbx_loops_run(&loops, y->type == CBX_REAL32 ? where_back_32 : where_back_64, 3,
                      (void *const[]){c->in[k]->grad, y->grad, c->in[0]->data},
                      (const size_t[]){size, size, 1}, &wanted);
    }
}

static cbx_status where_shape(cbx_call *c, cbx_error *err)
{
    if (c->in[0]->type != CBX_LOGICAL || c->in[1]->type != c->in[2]->type)
        return cbx_call_fail(c, err, "a condition of %s for tensors of %s and %s",
                             cbx_type_name(c->in[0]->type), cbx_type_name(c->in[1]->type),
                             cbx_type_name(c->in[2]->type));
    return shape(c, err);
}

#define SELF CBX_SPEC("self", CBX_ARG_NUMBER)
#define OTHER CBX_SPEC("other", CBX_ARG_NUMBER)
#define TWO CBX_SPEC(SELF, OTHER)
#define ENTRY(file_name, id)                                                                    \
    {                                                                                           \
        .name = file_name, .args = TWO, .typing = CBX_TYPING_COMPARE, .state = sizeof(compare), \
        .shape = shape, .forward = id##_run                                                     \
    }
#define LOGIC(file_name, id)                                                                 \
    {                                                                                        \
        .name = file_name, .args = TWO, .typing = CBX_TYPING_FREE, .state = sizeof(compare), \
        .shape = logical_shape, .forward = id##_run                                          \
    }
#define UNARY(file_name, check)                                                          \
    {                                                                                    \
        .name = file_name, .args = {{"self", CBX_ARG_ARRAY}}, .typing = CBX_TYPING_FREE, \
        .state = sizeof(compare), .shape = check, .forward = not_run                     \
    }

const cbx_op cbx_ops_compare[] = {
    ENTRY("eq.Tensor", eq),
    ENTRY("eq.Scalar", eq),
    ENTRY("ne.Tensor", ne),
    ENTRY("ne.Scalar", ne),
    ENTRY("lt.Tensor", lt),
    ENTRY("lt.Scalar", lt),
    ENTRY("le.Tensor", le),
    ENTRY("le.Scalar", le),
    ENTRY("gt.Tensor", gt),
    ENTRY("gt.Scalar", gt),
    ENTRY("ge.Tensor", ge),
    ENTRY("ge.Scalar", ge),
    ENTRY("logical_and.default", both),
    ENTRY("logical_or.default", either),
    ENTRY("logical_xor.default", differ),
    LOGIC("bitwise_and.Tensor", both),
    LOGIC("bitwise_or.Tensor", either),
    LOGIC("bitwise_xor.Tensor", differ),
    UNARY("logical_not.default", shape),
    UNARY("bitwise_not.default", logical_shape),
    {.name = "where.self",
     .args = {{"condition", CBX_ARG_ARRAY}, {"self", CBX_ARG_NUMBER}, {"other", CBX_ARG_NUMBER}},
     .typing = CBX_TYPING_CHOICE,
     .state = sizeof(compare),
     .shape = where_shape,
     .forward = where_run,
     .backward = where_reverse,
     .passes = CBX_IN(1) | CBX_IN(2),
     .reads = {0, CBX_IN(0), CBX_IN(0)},
     .tags = CBX_TAGS_MOVE,
     .tagged_inputs = CBX_IN(1) | CBX_IN(2),
     .move_tags = where_tags},
    {0},
};
