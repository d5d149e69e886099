/* SPDX-License-Identifier: Apache-2.0 */
/* op_scatter.c: entries brought to the rows that an index names: summed, multiplied, averaged, the
 * highest or lowest of them, or written over what was there.
 *
 * This is where edge weights count. Input 3, where it is there, holds a weight for each entry
 * (op_index.c finds it from tags). An entry of weight 0 is left out, forwards and backwards: that
 * is more than a product with 0, which would pass on the infinity of a degree of 0 as NaN. */
#include <math.h>
#include <string.h>

#include "index.h"
#include "kernel.h"

typedef struct scatter {
    cbx_rows r;
    int64_t  row, step; /* of what is brought: 0 where one number stands for all */
    int64_t  self_step; /* the same of what was there */
    bool     include;   /* what was there counts */
    bool     lowest;    /* rather than the highest */
    bool     detached;  /* the shift inside a softmax: weights do not count */
} scatter;

#define SUM_PRAGMA _Pragma("omp simd reduction(+ : sum)")
#define T float
#define WEIGHT float
#define TIMES(x, w) ((x) * (w))
#define NAME(id) id##_32
#define DIFFERENTIABLE 1
#include "scatter_kernels.h"
#undef ENTRIES
#undef T
#undef WEIGHT
#undef NAME
#define T double
#define WEIGHT double
#define NAME(id) id##_64
#include "scatter_kernels.h"
#undef ENTRIES
#undef T
#undef WEIGHT
#undef NAME
#undef TIMES
#undef DIFFERENTIABLE
/* Integers are as they are: a weight leaves them out or does not. */
#define T int64_t
#define WEIGHT float
#define TIMES(x, w) (x)
#define NAME(id) id##_integer
#define DIFFERENTIABLE 0
#include "scatter_kernels.h"
#undef ENTRIES
#undef T
#undef NAME
#define T uint8_t
#define NAME(id) id##_logical
#include "scatter_kernels.h"

/* ---- shapes. Arguments: self, index, src, weights, dim, shape, include */

enum { SELF_ARRAY, INDEX_ARRAY, SRC_ARRAY, WEIGHTS_ARRAY };

static const void *weights_of(const cbx_call *c)
{
    return c->in[WEIGHTS_ARRAY] ? c->in[WEIGHTS_ARRAY]->data : NULL;
}

static cbx_status scatter_shape(cbx_call *c, cbx_error *err)
{
    scatter         *s = c->state;
    const cbx_array *self = c->in[0], *src = c->in[SRC_ARRAY], *shape = cbx_call_array(c, 5);
    int32_t          dim;
    cbx_status       status = cbx_call_dim(c, 4, self->rank, &dim, err);
    if (status)
        return status;
    s->r.wraps = cbx_call_real(c, 7) != 0;
    s->include = cbx_call_real(c, 6) != 0;
    s->detached = c->node->detached;
    status =
        cbx_rows_shape(c, &s->r, 0, 1, dim, cbx_rows_are_each(self, c->in[1], shape, dim), err);
    if (status)
        return status;
    if (src->count != s->r.outer * s->r.entries * s->r.inner || src->type != c->out[0]->type ||
        self->type != src->type) {
        char a[96], b[96];
        return cbx_call_fail(c, err, "%s of %s brought to %s of %s by %lld indices",
                             cbx_array_shape(src, a, sizeof a), cbx_type_name(src->type),
                             cbx_array_shape(self, b, sizeof b), cbx_type_name(c->out[0]->type),
                             (long long)s->r.entries);
    }
    s->step = cbx_array_is_uniform(src) ? 0 : 1;
    s->row = s->step ? s->r.inner : 0;
    s->self_step = cbx_array_is_uniform(self) ? 0 : 1;
    for (int32_t k = 0; k < c->node->num_outputs && !status; k++)
        status = cbx_out_new(c, k, self->rank, self->size, err);
    return status;
}

/* Sets all elements of output k. */
static void fill(cbx_call *c, int32_t k, double value)
{
    cbx_array *y = c->out[k];
    if (value == 0)
        memset(y->data, 0, (size_t)y->count * cbx_type_size(y->type));
    for (int64_t i = 0; i < y->count && value != 0; i++) {
        if (y->type == CBX_REAL32)
            ((float *)y->data)[i] = (float)value;
        else if (y->type == CBX_REAL64)
            ((double *)y->data)[i] = value;
        else if (y->type == CBX_INTEGER)
            ((int64_t *)y->data)[i] = (int64_t)value;
        else
            ((uint8_t *)y->data)[i] = value != 0;
    }
}

static cbx_status open(cbx_call *c, cbx_error *err)
{
    scatter *s = c->state;
    return cbx_call_is_live(c, INDEX_ARRAY) ? cbx_rows_open(c, &s->r, err) : CBX_OK;
}

static void start_from_self(cbx_call *c)
{
    cbx_array_copy(c->out[0], c->out[0]->data, c->in[0], c->in[0]->data);
}

/* Calls the kernel for the type of the output: s, what is brought, weights, further arguments. */
#define KERNEL(c, id, ...)                                                              \
    switch ((c)->out[0]->type) {                                                        \
    case CBX_REAL32:                                                                    \
        id##_32((c)->state, (c)->in[SRC_ARRAY]->data, weights_of(c), __VA_ARGS__);      \
        break;                                                                          \
    case CBX_REAL64:                                                                    \
        id##_64((c)->state, (c)->in[SRC_ARRAY]->data, weights_of(c), __VA_ARGS__);      \
        break;                                                                          \
    case CBX_INTEGER:                                                                   \
        id##_integer((c)->state, (c)->in[SRC_ARRAY]->data, weights_of(c), __VA_ARGS__); \
        break;                                                                          \
    default:                                                                            \
        id##_logical((c)->state, (c)->in[SRC_ARRAY]->data, weights_of(c), __VA_ARGS__); \
    }

/* The gradients of what is brought and of weights, both of which are added to; NULL: unwanted. */
static void *open_gradient(cbx_call *c, int32_t k)
{
    if (!c->in[k] || c->mode[k] == CBX_GRAD_NONE)
        return NULL;
    cbx_grad_open(c, k);
    return c->in[k]->grad;
}

/* ---- sums */

/* Where what was there does not count, it gives way to whatever is brought. */
static void clear_rows(cbx_call *c, void *rows)
{
    switch (c->out[0]->type) {
    case CBX_REAL32:
        clear_32(c->state, weights_of(c), rows);
        break;
    case CBX_REAL64:
        clear_64(c->state, weights_of(c), rows);
        break;
    case CBX_INTEGER:
        clear_integer(c->state, weights_of(c), rows);
        break;
    default:
        clear_logical(c->state, weights_of(c), rows);
    }
}

static cbx_status sum_run(cbx_call *c, cbx_error *err)
{
    const scatter *s = c->state;
    cbx_status     status = open(c, err);
    if (status)
        return status;
    start_from_self(c);
    if (!s->include)
        clear_rows(c, c->out[0]->data);
    KERNEL(c, sum, c->out[0]->data)
    return CBX_OK;
}

static void sum_reverse(cbx_call *c)
{
    scatter         *s = c->state;
    const cbx_array *y = c->out[0], *src = c->in[SRC_ARRAY];
    /* Self and what is brought may be views of one storage, which the first of them sets. */
    void *of_self = s->include ? NULL : open_gradient(c, 0);
    if (s->include)
        cbx_grad_put(c, 0, y, y->grad);
    bool add = c->mode[SRC_ARRAY] == CBX_GRAD_ADD;
    if (c->mode[SRC_ARRAY] != CBX_GRAD_NONE && y->type == CBX_REAL32)
        sum_of_src_32(s, y->grad, weights_of(c), src->grad, add);
    else if (c->mode[SRC_ARRAY] != CBX_GRAD_NONE)
        sum_of_src_64(s, y->grad, weights_of(c), src->grad, add);
    void *dm = open_gradient(c, WEIGHTS_ARRAY);
    if (dm && y->type == CBX_REAL32)
        sum_of_weight_32(s, y->grad, src->data, weights_of(c), dm);
    else if (dm)
        sum_of_weight_64(s, y->grad, src->data, weights_of(c), dm);
    if (!of_self)
        return;
    clear_rows(c, y->grad);
    cbx_array_add(y, c->in[0], of_self, y, y->grad);
}

/* ---- the highest and the lowest; output 1 counts those that are equal */

static cbx_status extreme_run(cbx_call *c, bool lowest, cbx_error *err)
{
    scatter   *s = c->state;
    cbx_status status = open(c, err);
    if (status)
        return status;
    s->lowest = lowest;
    start_from_self(c);
    fill(c, 1, s->include);
    KERNEL(c, extreme, c->out[0]->data, c->out[1]->data)
    return CBX_OK;
}

static cbx_status highest_run(cbx_call *c, cbx_error *err)
{
    return extreme_run(c, false, err);
}

static cbx_status lowest_run(cbx_call *c, cbx_error *err)
{
    return extreme_run(c, true, err);
}

/* The gradient of what was there: where it is the extreme or where nothing was brought. */
#define EXTREME_SELF(suffix, E)                                                           \
    static void extreme_of_self_##suffix(cbx_call *c)                                     \
    {                                                                                     \
        const scatter *s = c->state;                                                      \
        const E       *y = c->out[0]->data, *ties = c->out[1]->data;                      \
        E             *g = c->out[0]->grad;                                               \
        const E       *self = c->in[0]->data;                                             \
        for (int64_t i = 0; i < c->out[0]->count; i++) {                                  \
            bool counts = s->include ? self[s->self_step ? i : 0] == y[i] : ties[i] == 0; \
            g[i] = counts ? g[i] / (ties[i] > 0 ? ties[i] : 1) : 0;                       \
        }                                                                                 \
    }
EXTREME_SELF(32, float)
EXTREME_SELF(64, double)

static void extreme_reverse(cbx_call *c)
{
    const cbx_array *y = c->out[0], *src = c->in[SRC_ARRAY];
    void            *of_self = open_gradient(c, 0);
    void            *d = open_gradient(c, SRC_ARRAY), *dm = open_gradient(c, WEIGHTS_ARRAY);
    if (y->type == CBX_REAL32)
        extreme_back_32(c->state, y->grad, y->data, c->out[1]->data, src->data, weights_of(c), d,
                        dm);
    else
        extreme_back_64(c->state, y->grad, y->data, c->out[1]->data, src->data, weights_of(c), d,
                        dm);
    if (!of_self)
        return;
    if (y->type == CBX_REAL32) /* in the place of the output's, which nobody reads any more */
        extreme_of_self_32(c);
    else
        extreme_of_self_64(c);
    cbx_array_add(y, c->in[0], of_self, y, y->grad);
}

/* ---- means; output 1 is what each was divided by */

#define MEAN(suffix, E)                                                         \
    static void divide_##suffix(cbx_call *c)                                    \
    {                                                                           \
        const scatter *s = c->state;                                            \
        const E       *total = c->out[1]->data, *self = c->in[0]->data;         \
        E             *y = c->out[0]->data;                                     \
        for (int64_t i = 0; i < c->out[0]->count; i++)                          \
            y[i] = total[i] > 0 ? y[i] / total[i] : self[s->self_step ? i : 0]; \
    }                                                                           \
    static void mean_of_self_##suffix(cbx_call *c)                              \
    {                                                                           \
        const scatter *s = c->state;                                            \
        const E       *total = c->out[1]->data;                                 \
        E             *g = c->out[0]->grad;                                     \
        for (int64_t i = 0; i < c->out[0]->count; i++)                          \
            g[i] = total[i] > 0 ? (s->include ? g[i] / total[i] : 0) : g[i];    \
    }
MEAN(32, float)
MEAN(64, double)

static cbx_status mean_run(cbx_call *c, cbx_error *err)
{
    scatter   *s = c->state;
    cbx_status status = open(c, err);
    if (status)
        return status;
    if (!cbx_is_real(c->out[0]->type))
        return cbx_call_fail(c, err, "a mean of %s", cbx_type_name(c->out[0]->type));
    if (s->include)
        start_from_self(c);
    else
        fill(c, 0, 0);
    fill(c, 1, s->include);
    KERNEL(c, sum, c->out[0]->data)
    if (c->out[0]->type == CBX_REAL32) {
        total_32(s, weights_of(c), c->out[1]->data);
        divide_32(c);
    } else {
        total_64(s, weights_of(c), c->out[1]->data);
        divide_64(c);
    }
    return CBX_OK;
}

static void mean_reverse(cbx_call *c)
{
    const cbx_array *y = c->out[0], *src = c->in[SRC_ARRAY];
    void            *of_self = open_gradient(c, 0);
    void            *d = open_gradient(c, SRC_ARRAY), *dm = open_gradient(c, WEIGHTS_ARRAY);
    if (y->type == CBX_REAL32) {
        mean_back_32(c->state, y->grad, y->data, c->out[1]->data, src->data, weights_of(c), d, dm);
        mean_of_self_32(c);
    } else {
        mean_back_64(c->state, y->grad, y->data, c->out[1]->data, src->data, weights_of(c), d, dm);
        mean_of_self_64(c);
    }
    if (of_self)
        cbx_array_add(y, c->in[0], of_self, y, y->grad);
}

/* ---- products; outputs 1, 2 and 3: of what is not 0, how much is 0, how much there is */

/* What was there as a factor, where it counts; and its gradient, where it or nothing else does. */
#define PRODUCT(suffix, E)                                                                      \
    static void first_factor_##suffix(cbx_call *c)                                              \
    {                                                                                           \
        const E *y = c->out[0]->data;                                                           \
        E       *nonzero = c->out[1]->data, *zeros = c->out[2]->data, *count = c->out[3]->data; \
        for (int64_t i = 0; i < c->out[0]->count; i++) {                                        \
            nonzero[i] = y[i] == 0 ? 1 : y[i];                                                  \
            zeros[i] = y[i] == 0;                                                               \
            count[i] = 1;                                                                       \
        }                                                                                       \
    }
#define PRODUCT_SELF(suffix, E)                                                                     \
    static void product_of_self_##suffix(cbx_call *c)                                               \
    {                                                                                               \
        const scatter *s = c->state;                                                                \
        const E       *self = c->in[0]->data, *nonzero = c->out[1]->data, *zeros = c->out[2]->data; \
        const E       *count = c->out[3]->data;                                                     \
        E             *g = c->out[0]->grad;                                                         \
        for (int64_t i = 0; i < c->out[0]->count; i++) {                                            \
            E x = self[s->self_step ? i : 0];                                                       \
            E others =                                                                              \
                x == 0 ? (zeros[i] == 1 ? nonzero[i] : 0) : (zeros[i] == 0 ? nonzero[i] / x : 0);   \
            g[i] *= s->include ? others : count[i] == 0;                                            \
        }                                                                                           \
    }
PRODUCT(32, float)
PRODUCT(64, double)
PRODUCT(integer, int64_t)
PRODUCT(logical, uint8_t)
PRODUCT_SELF(32, float)
PRODUCT_SELF(64, double)

static cbx_status product_run(cbx_call *c, cbx_error *err)
{
    static void (*const first[CBX_TYPES])(cbx_call *) = {
        first_factor_32, first_factor_64, first_factor_integer, first_factor_logical};
    scatter   *s = c->state;
    cbx_status status = open(c, err);
    if (status)
        return status;
    start_from_self(c);
    for (int32_t k = 1; k < 4; k++)
        fill(c, k, 0);
    if (s->include)
        first[c->out[0]->type](c);
    KERNEL(c, product, c->out[0]->data, c->out[1]->data, c->out[2]->data, c->out[3]->data)
    return CBX_OK;
}

static void product_reverse(cbx_call *c)
{
    const cbx_array *y = c->out[0], *src = c->in[SRC_ARRAY];
    void            *of_self = open_gradient(c, 0);
    void            *d = open_gradient(c, SRC_ARRAY), *dm = open_gradient(c, WEIGHTS_ARRAY);
    if (y->type == CBX_REAL32) {
        product_back_32(c->state, y->grad, c->out[1]->data, c->out[2]->data, src->data,
                        weights_of(c), d, dm);
        product_of_self_32(c);
    } else {
        product_back_64(c->state, y->grad, c->out[1]->data, c->out[2]->data, src->data,
                        weights_of(c), d, dm);
        product_of_self_64(c);
    }
    if (of_self)
        cbx_array_add(y, c->in[0], of_self, y, y->grad);
}

/* ---- writing over; output 1 is how much is left of what was there */

#define KEPT(suffix, E)                                         \
    static void forget_##suffix(cbx_array *kept, bool touched)  \
    {                                                           \
        E *k = kept->data;                                      \
        for (int64_t i = 0; i < kept->count; i++)               \
            k[i] = !touched ? (E)NAN : k[i] != k[i] ? 1 : k[i]; \
    }                                                           \
    static void times_kept_##suffix(cbx_call *c)                \
    {                                                           \
        const E *kept = c->out[1]->data;                        \
        E       *g = c->out[0]->grad;                           \
        for (int64_t i = 0; i < c->out[0]->count; i++)          \
            g[i] *= kept[i];                                    \
    }
KEPT(32, float)
KEPT(64, double)

static void forget(cbx_array *kept, bool touched)
{
    if (kept->type == CBX_REAL32)
        forget_32(kept, touched);
    else
        forget_64(kept, touched);
}

/* SELF comes before SRC in these kernels. */
static cbx_status put_run(cbx_call *c, cbx_error *err)
{
    scatter    *s = c->state;
    const void *self = c->in[0]->data, *src = c->in[SRC_ARRAY]->data, *m = weights_of(c);
    void       *y = c->out[0]->data, *kept = c->out[1]->data;
    cbx_status  status = open(c, err);
    if (status)
        return status;
    start_from_self(c);
    forget(c->out[1], false);
    switch (c->out[0]->type) {
    case CBX_REAL32:
        put_32(s, self, src, m, y, kept);
        break;
    case CBX_REAL64:
        put_64(s, self, src, m, y, kept);
        break;
    case CBX_INTEGER:
        put_integer(s, self, src, m, y, kept);
        break;
    default:
        put_logical(s, self, src, m, y, kept);
    }
    forget(c->out[1], true);
    return CBX_OK;
}

static void put_reverse(cbx_call *c)
{
    const cbx_array *y = c->out[0], *src = c->in[SRC_ARRAY];
    void            *of_self = open_gradient(c, 0);
    void            *d = open_gradient(c, SRC_ARRAY), *dm = open_gradient(c, WEIGHTS_ARRAY);
    if (y->type == CBX_REAL32) {
        put_back_32(c->state, y->grad, c->in[0]->data, src->data, weights_of(c), d, dm);
        times_kept_32(c);
    } else {
        put_back_64(c->state, y->grad, c->in[0]->data, src->data, weights_of(c), d, dm);
        times_kept_64(c);
    }
    if (of_self)
        cbx_array_add(y, c->in[0], of_self, y, y->grad);
}

/* ---- the table: what files have, and what it becomes */

#define SELF CBX_SPEC("self", CBX_ARG_ARRAY)
#define DIM CBX_SPEC("dim", CBX_ARG_INT, true, 0)
#define INDEX CBX_SPEC("index", CBX_ARG_ARRAY)
#define SRC CBX_SPEC("src", CBX_ARG_ARRAY)
#define REDUCE CBX_SPEC("reduce", CBX_ARG_TEXT)
#define INCLUDE CBX_SPEC("include_self", CBX_ARG_LOGIC, true, 1)
#define FILE_NAME(file_name, function, ...)                                        \
    {                                                                              \
        .name = file_name, .args = {SELF, __VA_ARGS__}, .typing = CBX_TYPING_FREE, \
        .lower = function                                                          \
    }
#define SCATTER(inside, run, reverse, ...)                                                     \
    {                                                                                          \
        .name = inside, .args = {SELF,    INDEX,                                               \
                                 SRC,     {"weights", CBX_ARG_ARRAY, true},                    \
                                 DIM,     {"shape", CBX_ARG_ARRAY, true},                      \
                                 INCLUDE, {"wraps", CBX_ARG_LOGIC, true}},                     \
        .typing = CBX_TYPING_FREE, .dense = CBX_IN(1), .rows = CBX_IN(0) | CBX_IN(2),          \
        .state = sizeof(scatter), .shape = scatter_shape, .forward = run, .backward = reverse, \
        .reads = {__VA_ARGS__}, .shape_inputs = CBX_IN(4), .reach = CBX_REACH_SCATTER,         \
        .reach_arg = 4                                                                         \
    }
#define SOME (CBX_IN(1) | CBX_IN(3))
#define ALL (CBX_IN(0) | SOME | CBX_IN(2) | CBX_OUT(0) | CBX_OUT(1) | CBX_OUT(2) | CBX_OUT(3))

const cbx_op cbx_ops_scatter[] = {
    FILE_NAME("scatter_add.default", cbx_lower_scatter, DIM, INDEX, SRC),
    FILE_NAME("scatter_reduce.two", cbx_lower_scatter, DIM, INDEX, SRC, REDUCE, INCLUDE),
    FILE_NAME("scatter.src", cbx_lower_scatter, DIM, INDEX, SRC),
    FILE_NAME("scatter.value", cbx_lower_scatter, DIM, INDEX, {"value", CBX_ARG_NUMBER}),
    FILE_NAME("index_add.default", cbx_lower_index_add, DIM, INDEX, {"source", CBX_ARG_ARRAY},
              {"alpha", CBX_ARG_REAL, true, 1}),
    FILE_NAME("index_reduce.default", cbx_lower_index_add, DIM, INDEX, {"source", CBX_ARG_ARRAY},
              REDUCE, INCLUDE),
    FILE_NAME("index_put.default", cbx_lower_index_put, {"indices", CBX_ARG_ARRAYS},
              {"values", CBX_ARG_ARRAY}, {"accumulate", CBX_ARG_LOGIC, true, 0}),
    SCATTER("cbx.scatter_sum", sum_run, sum_reverse, SOME, 0, SOME, CBX_IN(2) | SOME),
    SCATTER("cbx.scatter_amax", highest_run, extreme_reverse, ALL, 0, ALL, ALL),
    SCATTER("cbx.scatter_amin", lowest_run, extreme_reverse, ALL, 0, ALL, ALL),
    SCATTER("cbx.scatter_mean", mean_run, mean_reverse, ALL, 0, ALL, ALL),
    SCATTER("cbx.scatter_prod", product_run, product_reverse, ALL, 0, ALL, ALL),
    SCATTER("cbx.scatter_put", put_run, put_reverse, ALL, 0, ALL, ALL),
    {0},
};
