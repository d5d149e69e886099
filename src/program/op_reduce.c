/* SPDX-License-Identifier: Apache-2.0 */
/* op_reduce.c: sums, means, norms and extremes over dimensions.
 *
 * The output is seen with the input's dimensions, those that are reduced having size 1 and no
 * step. A sum is then an addition of the input to it, and its gradient a copy the other way. */
#include <math.h>
#include <string.h>

#include "error.h"
#include "ir.h"
#include "kernel.h"
#include "real_math.h"

typedef struct reduce {
    cbx_array kept;  /* the output, of the input's rank */
    int64_t   terms; /* that make up one element */
    cbx_loops loops, back;
} reduce;

/* Arguments: self, dim, keepdim. */
static cbx_status reduce_shape(cbx_call *c, cbx_error *err)
{
    reduce          *s = c->state;
    const cbx_array *x = c->in[0];
    uint32_t         bits;
    int64_t          size[CBX_RANKS];
    int32_t          rank = 0;
    bool             keep = cbx_call_real(c, 2) != 0;
    cbx_status       status = cbx_call_dims(c, 1, x->rank, &bits, err);
    if (status)
        return status;
    s->terms = 1;
    for (int32_t i = 0; i < x->rank; i++) {
        bool reduced = bits >> i & 1;
        s->terms *= reduced ? x->size[i] : 1;
        if (!reduced || keep)
            size[rank++] = reduced ? 1 : x->size[i];
    }
    status = cbx_out_new(c, 0, rank, size, err);
    if (status)
        return status;
    s->kept = *c->out[0];
    s->kept.rank = x->rank;
    for (int32_t i = 0; i < x->rank; i++)
        s->kept.size[i] = bits >> i & 1 ? 1 : x->size[i];
    (void)cbx_array_pack(&s->kept);
    cbx_loops_make(&s->loops, x, 2, (const cbx_array *const[]){&s->kept, x});
    cbx_loops_make(&s->back, x, 4, (const cbx_array *const[]){x, &s->kept, x, &s->kept});
    return CBX_OK;
}

static void run_loops(cbx_call *c, cbx_inner kernel)
{
    reduce *s = c->state;
    size_t  size = cbx_type_size(c->out[0]->type);
    cbx_loops_run(&s->loops, kernel, 2, (void *const[]){c->out[0]->data, c->in[0]->data},
                  (const size_t[]){size, size}, NULL);
}

/* y = INIT, then y = STEP of y and x for each term. */
#define REDUCTION(id, T, INIT, STEP)                                                    \
    CBX_HOT static void id##_kernel(const cbx_loops *l, void *const *at, const void *u) \
    {                                                                                   \
        const int64_t n = l->size[0], sy = l->step[0][0], sx = l->step[1][0];           \
        (void)u;                                                                        \
        for (int64_t i = 0; i < l->size[1]; i++) {                                      \
            T       *Y = (T *)at[0] + i * l->step[0][1];                                \
            const T *X = (const T *)at[1] + i * l->step[1][1];                          \
            if (sy == 0) {                                                              \
                T y = *Y;                                                               \
                for (int64_t k = 0; k < n; k++) {                                       \
                    const T x = X[k * sx];                                              \
                    y = STEP;                                                           \
                }                                                                       \
                *Y = y;                                                                 \
            } else {                                                                    \
                for (int64_t k = 0; k < n; k++) {                                       \
                    const T x = X[k * sx], y = Y[k * sy];                               \
                    Y[k * sy] = STEP;                                                   \
                }                                                                       \
            }                                                                           \
        }                                                                               \
    }                                                                                   \
    static void id(cbx_call *c)                                                         \
    {                                                                                   \
        T *y = c->out[0]->data;                                                         \
        for (int64_t i = 0; i < c->out[0]->count; i++)                                  \
            y[i] = INIT;                                                                \
        run_loops(c, id##_kernel);                                                      \
    }

/* ---- sums and means */

REDUCTION(sum_integer, int64_t, 0, y + x)

static void scale(cbx_array *a, void *data, double factor)
{
    for (int64_t i = 0; i < a->count; i++) {
        if (a->type == CBX_REAL32)
            ((float *)data)[i] *= (float)factor;
        else
            ((double *)data)[i] *= factor;
    }
}

static cbx_status sum_run(cbx_call *c, cbx_error *err)
{
    reduce    *s = c->state;
    cbx_array *y = c->out[0];
    if (y->type == CBX_LOGICAL)
        return cbx_call_fail(c, err, "to bool");
    if (y->type == CBX_INTEGER) {
        sum_integer(c);
        return CBX_OK;
    }
    memset(y->data, 0, (size_t)y->count * cbx_type_size(y->type));
    cbx_array_add(c->in[0], &s->kept, y->data, c->in[0], c->in[0]->data);
    return CBX_OK;
}

static void sum_reverse(cbx_call *c)
{
    reduce *s = c->state;
    cbx_grad_put(c, 0, &s->kept, c->out[0]->grad);
}

/* What a sum is divided by; argument 3 is taken off the number of terms. */
static double share(const cbx_call *c)
{
    double terms = (double)((const reduce *)c->state)->terms - cbx_call_real(c, 3);
    return 1 / (terms > 0 ? terms : 0);
}

static cbx_status mean_run(cbx_call *c, cbx_error *err)
{
    if (!cbx_is_real(c->out[0]->type))
        return cbx_call_fail(c, err, "of %s", cbx_type_name(c->out[0]->type));
    cbx_status status = sum_run(c, err);
    scale(c->out[0], c->out[0]->data, share(c));
    return status;
}

static void mean_reverse(cbx_call *c)
{
    scale(c->out[0], c->out[0]->grad, share(c));
    sum_reverse(c);
}

/* The mean of squared distances from the mean. */
static cbx_status lower_variance(cbx_builder *b, cbx_node *n, cbx_error *err)
{
    int32_t  x = n->input[0];
    cbx_type type = b->program->values[n->output[0]].type;
    cbx_arg  args[CBX_ARGS] = {[1] = n->arg[1], [2] = {.kind = CBX_ARG_LOGIC, .real = 1}};
    int32_t  mean = cbx_build_call(b, "mean.dim", 1, &x, args, x, type);
    int32_t  off =
        mean < 0 ? -1 : cbx_build_call(b, "sub.Tensor", 2, (int32_t[]){x, mean}, NULL, x, type);
    int32_t square =
        off < 0 ? -1 : cbx_build_call(b, "mul.Tensor", 2, (int32_t[]){off, off}, NULL, x, type);
    if (square < 0)
        return cbx_fail_memory(err);
    double correction = n->arg[2].kind == CBX_ARG_NONE ? 1 : n->arg[2].real;
    bool   root = !strncmp(n->op->name, "std", 3);
    args[2] = n->arg[3];
    args[3] = (cbx_arg){.kind = CBX_ARG_REAL, .real = correction};
    if (!root) {
        n->op = cbx_op_find("mean.dim");
        n->input[0] = square;
        memcpy(&n->arg[1], &args[1], 3 * sizeof *args);
        return CBX_OK;
    }
    int32_t variance = cbx_build_call(b, "mean.dim", 1, &square, args, n->output[0], type);
    if (variance < 0)
        return cbx_fail_memory(err);
    n->op = cbx_op_find("sqrt.default");
    n->input[0] = variance;
    memset(&n->arg[1], 0, 3 * sizeof *args);
    return CBX_OK;
}

/* ---- the Euclidean norm */

REDUCTION(squares_32, float, 0, y + x * x)
REDUCTION(squares_64, double, 0, y + x * x)

static cbx_status norm_shape(cbx_call *c, cbx_error *err)
{
    if (cbx_call_real(c, 3) != 2 || !cbx_is_real(c->out[0]->type))
        return cbx_call_fail(c, err, "of order %g, 2 expected", cbx_call_real(c, 3));
    return reduce_shape(c, err);
}

static cbx_status norm_run(cbx_call *c, cbx_error *err)
{
    cbx_array *y = c->out[0];
    (void)err;
    if (y->type == CBX_REAL32) {
        squares_32(c);
        for (int64_t i = 0; i < y->count; i++)
            ((float *)y->data)[i] = sqrtf(((float *)y->data)[i]);
    } else {
        squares_64(c);
        for (int64_t i = 0; i < y->count; i++)
            ((double *)y->data)[i] = sqrt(((double *)y->data)[i]);
    }
    return CBX_OK;
}

/* The direction of x; of 0 there is none. */
#define NORM_BACK(id, T)                                                                       \
    CBX_HOT static void id(const cbx_loops *l, void *const *at, const void *u)                 \
    {                                                                                          \
        (void)u;                                                                               \
        for (int64_t i = 0; i < l->size[1]; i++)                                               \
            for (int64_t k = 0; k < l->size[0]; k++) {                                         \
                T y = ((const T *)at[3])[i * l->step[3][1] + k * l->step[3][0]];               \
                T g = ((const T *)at[1])[i * l->step[1][1] + k * l->step[1][0]];               \
                T x = ((const T *)at[2])[i * l->step[2][1] + k * l->step[2][0]];               \
                ((T *)at[0])[i * l->step[0][1] + k * l->step[0][0]] += y == 0 ? 0 : g * x / y; \
            }                                                                                  \
    }
NORM_BACK(norm_back_32, float)
NORM_BACK(norm_back_64, double)

static void norm_reverse(cbx_call *c)
{
    reduce    *s = c->state;
    cbx_array *x = c->in[0], *y = c->out[0];
    size_t     size = cbx_type_size(y->type);
    cbx_grad_open(c, 0);
    cbx_loops_run(&s->back, y->type == CBX_REAL32 ? norm_back_32 : norm_back_64, 4,
                  (void *const[]){x->grad, y->grad, x->data, y->data},
                  (const size_t[]){size, size, size, size}, NULL);
}

/* ---- extremes */

#define HIGHEST (x > y || x != x ? x : y)
#define LOWEST (x < y || x != x ? x : y)
REDUCTION(amax_32, float, -INFINITY, HIGHEST)
REDUCTION(amax_64, double, -INFINITY, HIGHEST)
REDUCTION(amax_integer, int64_t, INT64_MIN, HIGHEST)
REDUCTION(amax_logical, uint8_t, 0, HIGHEST)
REDUCTION(amin_32, float, INFINITY, LOWEST)
REDUCTION(amin_64, double, INFINITY, LOWEST)
REDUCTION(amin_integer, int64_t, INT64_MAX, LOWEST)
REDUCTION(amin_logical, uint8_t, 1, LOWEST)

static cbx_status extreme_run(cbx_call  *c, void (*const kernels[CBX_TYPES])(cbx_call *),
                              cbx_error *err)
{
    cbx_type type = c->out[0]->type;
    if (((reduce *)c->state)->terms == 0 && c->out[0]->count && type != CBX_LOGICAL)
        return cbx_call_fail(c, err, "of no elements");
    kernels[type](c);
    return CBX_OK;
}

static cbx_status amax_run(cbx_call *c, cbx_error *err)
{
    static void (*const kernels[])(cbx_call *) = {amax_32, amax_64, amax_integer, amax_logical};
    return extreme_run(c, kernels, err);
}

static cbx_status amin_run(cbx_call *c, cbx_error *err)
{
    static void (*const kernels[])(cbx_call *) = {amin_32, amin_64, amin_integer, amin_logical};
    return extreme_run(c, kernels, err);
}

/* Equal extremes share the gradient. They are counted where the gradient is shared out: twice
 * through the terms of each element. */
#define EXTREME_BACK(id, T)                                                           \
    static void id##_count(const cbx_loops *l, void *const *at, const void *u)        \
    {                                                                                 \
        T y = *(const T *)at[1];                                                      \
        for (int64_t i = 0; i < l->size[1]; i++)                                      \
            for (int64_t k = 0; k < l->size[0]; k++)                                  \
                **(int64_t *const *)u +=                                              \
                    ((const T *)at[0])[i * l->step[0][1] + k * l->step[0][0]] == y;   \
    }                                                                                 \
    static void id##_share(const cbx_loops *l, void *const *at, const void *u)        \
    {                                                                                 \
        T y = *(const T *)at[1], g = *(const T *)u;                                   \
        for (int64_t i = 0; i < l->size[1]; i++)                                      \
            for (int64_t k = 0; k < l->size[0]; k++)                                  \
                if (((const T *)at[0])[i * l->step[0][1] + k * l->step[0][0]] == y)   \
                    ((T *)at[2])[i * l->step[2][1] + k * l->step[2][0]] += g;         \
    }                                                                                 \
    static void id(cbx_call *c, const cbx_loops *terms, int64_t from, int64_t to)     \
    {                                                                                 \
        int64_t        ties = 0;                                                      \
        int64_t *const where = &ties;                                                 \
        const size_t   bytes[] = {sizeof(T), sizeof(T), sizeof(T)};                   \
        void          *at[] = {(T *)c->in[0]->data + from, (T *)c->out[0]->data + to, \
                               (T *)c->in[0]->grad + from};                           \
        cbx_loops_run(terms, id##_count, 2, at, bytes, &where);                       \
        T g = ((const T *)c->out[0]->grad)[to] / (T)(ties ? ties : 1);                \
        cbx_loops_run(terms, id##_share, 3, at, bytes, &g);                           \
    }
EXTREME_BACK(extreme_back_32, float)
EXTREME_BACK(extreme_back_64, double)

static void extreme_reverse(cbx_call *c)
{
    reduce   *s = c->state;
    cbx_array x = *c->in[0], terms = x; /* the terms of one element */
    cbx_loops loops;
    cbx_grad_open(c, 0);
    for (int32_t i = 0; i < x.rank; i++)
        terms.size[i] = s->kept.size[i] == 1 ? x.size[i] : 1;
    cbx_loops_make(&loops, &terms, 3, (const cbx_array *const[]){&terms, NULL, &terms});
    for (int64_t at = 0; at < c->out[0]->count; at++) {
        int64_t from = 0, rest = at;
        for (int32_t i = x.rank; i-- > 0; rest /= s->kept.size[i])
            from += rest % s->kept.size[i] * (s->kept.size[i] == 1 ? 0 : x.stride[i]);
        if (x.type == CBX_REAL32)
            extreme_back_32(c, &loops, from, at);
        else
            extreme_back_64(c, &loops, from, at);
    }
}

#define SELF CBX_SPEC("self", CBX_ARG_ARRAY)
#define DIMS CBX_SPEC("dim", CBX_ARG_INTS, true)
#define KEEP CBX_SPEC("keepdim", CBX_ARG_LOGIC, true, 0)
#define TYPE CBX_SPEC("dtype", CBX_ARG_TYPE, true)
#define ENTRY(file_name, run, reverse, needs, ...)                                           \
    {                                                                                        \
        .name = file_name, .args = {SELF, __VA_ARGS__}, .typing = CBX_TYPING_PROMOTE,        \
        .state = sizeof(reduce), .shape = reduce_shape, .forward = run, .backward = reverse, \
        .reads = {needs}, .reach = CBX_REACH_OVER, .reach_arg = 1                            \
    }
#define EXTREME CBX_IN(0) | CBX_OUT(0)

const cbx_op cbx_ops_reduce[] = {
    ENTRY("sum.dim_IntList", sum_run, sum_reverse, 0, DIMS, KEEP, TYPE),
    ENTRY("sum.default", sum_run, sum_reverse, 0, DIMS, KEEP, TYPE),
    ENTRY("mean.dim", mean_run, mean_reverse, 0, DIMS, KEEP,
          {"cbx.correction", CBX_ARG_REAL, true, 0}, TYPE),
    ENTRY("mean.default", mean_run, mean_reverse, 0, DIMS, KEEP,
          {"cbx.correction", CBX_ARG_REAL, true, 0}, TYPE),
    {.name = "var.correction",
     .args = {SELF, DIMS, {"correction", CBX_ARG_REAL, true, 1}, KEEP},
     .lower = lower_variance,
     .reach = CBX_REACH_OVER,
     .reach_arg = 1},
    {.name = "std.correction",
     .args = {SELF, DIMS, {"correction", CBX_ARG_REAL, true, 1}, KEEP},
     .lower = lower_variance,
     .reach = CBX_REACH_OVER,
     .reach_arg = 1},
    {.name = "linalg_vector_norm.default",
     .args = {SELF, DIMS, KEEP, {"ord", CBX_ARG_REAL, true, 2}, TYPE},
     .typing = CBX_TYPING_PROMOTE,
     .state = sizeof(reduce),
     .shape = norm_shape,
     .forward = norm_run,
     .backward = norm_reverse,
     .reads = {CBX_IN(0) | CBX_OUT(0)},
     .reach = CBX_REACH_OVER,
     .reach_arg = 1},
    ENTRY("amax.default", amax_run, extreme_reverse, EXTREME, DIMS, KEEP),
    ENTRY("amin.default", amin_run, extreme_reverse, EXTREME, DIMS, KEEP),
    ENTRY("max.default", amax_run, extreme_reverse, EXTREME, DIMS, KEEP),
    ENTRY("min.default", amin_run, extreme_reverse, EXTREME, DIMS, KEEP),
    ENTRY("any.dim", amax_run, NULL, 0, DIMS, KEEP),
    ENTRY("any.default", amax_run, NULL, 0, DIMS, KEEP),
    ENTRY("all.default", amin_run, NULL, 0, DIMS, KEEP),
    {0},
};
