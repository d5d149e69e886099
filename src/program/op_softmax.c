/* SPDX-License-Identifier: Apache-2.0 */
/* op_softmax.c: softmax and its logarithm along a dimension. */
#include <math.h>

#include "kernel.h"
#include "op.h"
#include "real_math.h"

/* The input as outer x terms x inner elements. */
typedef struct softmax {
    int64_t outer, terms, inner;
} softmax;

static cbx_status softmax_shape(cbx_call *c, cbx_error *err)
{
    softmax         *s = c->state;
    const cbx_array *x = c->in[0];
    int32_t          dim;
    cbx_status       status = cbx_call_dim(c, 1, x->rank, &dim, err);
    if (!status && !cbx_is_real(x->type))
        return cbx_call_fail(c, err, "of %s", cbx_type_name(x->type));
    if (!status)
        status = cbx_out_new(c, 0, x->rank, x->size, err);
    if (status)
        return status;
    *s = (softmax){1, 1, 1};
    for (int32_t i = 0; i < x->rank; i++)
        *(i < dim ? &s->outer : i == dim ? &s->terms : &s->inner) *= x->size[i];
    return CBX_OK;
}

#define SOFTMAX(suffix, T)                                                                         \
    /* One row: terms that lie `step` apart. */                                                    \
    CBX_HOT static void softmax_##suffix(int64_t n, int64_t step, const T *x, T *y)                \
    {                                                                                              \
        T top = -INFINITY, sum = 0;                                                                \
        for (int64_t k = 0; k < n; k++)                                                            \
            top = x[k * step] > top || x[k * step] != x[k * step] ? x[k * step] : top;             \
        for (int64_t k = 0; k < n; k++) {                                                          \
            y[k * step] = EXP(x[k * step] - top);                                                  \
            sum += y[k * step];                                                                    \
        }                                                                                          \
        for (int64_t k = 0; k < n; k++)                                                            \
            y[k * step] /= sum;                                                                    \
    }                                                                                              \
    CBX_HOT static void log_softmax_##suffix(int64_t n, int64_t step, const T *x, T *y)            \
    {                                                                                              \
        T top = -INFINITY, sum = 0;                                                                \
        for (int64_t k = 0; k < n; k++)                                                            \
            top = x[k * step] > top || x[k * step] != x[k * step] ? x[k * step] : top;             \
        for (int64_t k = 0; k < n; k++)                                                            \
            sum += EXP(x[k * step] - top);                                                         \
        T shift = LOG(sum);                                                                        \
        for (int64_t k = 0; k < n; k++)                                                            \
            y[k * step] = x[k * step] - top - shift;                                               \
    }                                                                                              \
    /* d = y (g - <g, y>), or of the logarithm g - e^y <g, 1> */                                   \
    CBX_HOT static void softmax_back_##suffix(int64_t n, int64_t step, const T *y, const T *g,     \
                                              T *d, bool add)                                      \
    {                                                                                              \
        T sum = 0;                                                                                 \
        for (int64_t k = 0; k < n; k++)                                                            \
            sum += g[k * step] * y[k * step];                                                      \
        for (int64_t k = 0; k < n; k++)                                                            \
            d[k * step] = (add ? d[k * step] : 0) + y[k * step] * (g[k * step] - sum);             \
    }                                                                                              \
    CBX_HOT static void log_softmax_back_##suffix(int64_t n, int64_t step, const T *y, const T *g, \
                                                  T *d, bool add)                                  \
    {                                                                                              \
        T sum = 0;                                                                                 \
        for (int64_t k = 0; k < n; k++)                                                            \
            sum += g[k * step];                                                                    \
        for (int64_t k = 0; k < n; k++)                                                            \
            d[k * step] = (add ? d[k * step] : 0) + g[k * step] - EXP(y[k * step]) * sum;          \
    }

#define SINGLE 1
#include "math_names.h"
SOFTMAX(32, float)
#undef SINGLE
#define SINGLE 0
#include "math_names.h"
SOFTMAX(64, double)

/* Calls `call` for each row, `at` being its first element. */
#define EACH_ROW(s, call)                                 \
    for (int64_t o = 0; o < (s)->outer; o++)              \
        for (int64_t i = 0; i < (s)->inner; i++) {        \
            int64_t at = o * (s)->terms * (s)->inner + i; \
            call;                                         \
        }

#define RUN(id)                                                                              \
    static cbx_status id##_run(cbx_call *c, cbx_error *err)                                  \
    {                                                                                        \
        softmax *s = c->state;                                                               \
        void    *x = c->in[0]->data, *y = c->out[0]->data;                                   \
        (void)err;                                                                           \
        if (c->out[0]->type == CBX_REAL32)                                                   \
            EACH_ROW(s, id##_32(s->terms, s->inner, (float *)x + at, (float *)y + at))       \
        else                                                                                 \
            EACH_ROW(s, id##_64(s->terms, s->inner, (double *)x + at, (double *)y + at))     \
        return CBX_OK;                                                                       \
    }                                                                                        \
    static void id##_reverse(cbx_call *c)                                                    \
    {                                                                                        \
        softmax *s = c->state;                                                               \
        void    *y = c->out[0]->data, *g = c->out[0]->grad, *d = c->in[0]->grad;             \
        bool     add = c->mode[0] == CBX_GRAD_ADD;                                           \
        if (c->out[0]->type == CBX_REAL32)                                                   \
            EACH_ROW(s, id##_back_32(s->terms, s->inner, (float *)y + at, (float *)g + at,   \
                                     (float *)d + at, add))                                  \
        else                                                                                 \
            EACH_ROW(s, id##_back_64(s->terms, s->inner, (double *)y + at, (double *)g + at, \
                                     (double *)d + at, add))                                 \
    }

RUN(softmax)
RUN(log_softmax)

#define ENTRY(file_name, id, last)                                                                 \
    {                                                                                              \
        .name = file_name,                                                                         \
        .args = {{"self", CBX_ARG_ARRAY}, {"dim", CBX_ARG_INT}, {last, CBX_ARG_LOGIC, true}},      \
        .dense = CBX_IN(0), .state = sizeof(softmax), .shape = softmax_shape, .forward = id##_run, \
        .backward = id##_reverse, .reads = {CBX_OUT(0)}, .reach = CBX_REACH_OVER, .reach_arg = 1   \
    }

const cbx_op cbx_ops_softmax[] = {
    ENTRY("_softmax.default", softmax, "half_to_float"),
    ENTRY("_log_softmax.default", log_softmax, "half_to_float"),
    {0},
};
