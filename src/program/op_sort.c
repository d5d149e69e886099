/* SPDX-License-Identifier: Apache-2.0 */
/* op_sort.c: order along a dimension: sorting, the extreme and where it is, running sums. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir.h"

/* The input as outer x terms x inner elements. */
typedef struct lines {
    int64_t outer, terms, inner;
} lines;

static void split_lines(lines *s, const cbx_array *x, int32_t dim)
{
    *s = (lines){1, 1, 1};
    for (int32_t i = 0; i < x->rank; i++)
        *(i < dim ? &s->outer : i == dim ? &s->terms : &s->inner) *= x->size[i];
}

/* Each line's first element. */
#define EACH_LINE(s)                         \
    for (int64_t o = 0; o < (s)->outer; o++) \
        for (int64_t i = 0, at = o * (s)->terms * (s)->inner; i < (s)->inner; i++, at++)

/* An element as a real: integers here number nodes and edges, which doubles hold exactly. */
static double element(const cbx_array *x, int64_t i)
{
    switch (x->type) {
    case CBX_REAL32:
        return (double)((const float *)x->data)[i];
    case CBX_REAL64:
        return ((const double *)x->data)[i];
    case CBX_INTEGER:
        return (double)((const int64_t *)x->data)[i];
    default:
        return ((const uint8_t *)x->data)[i];
    }
}

static void move_element(const cbx_array *x, int64_t from, const cbx_array *y, int64_t to)
{
    size_t size = cbx_type_size(x->type);
    memcpy((char *)y->data + (size_t)to * size, (const char *)x->data + (size_t)from * size, size);
}

/* ---- sort: stable. Arguments: self, dim, descending. Output 2 is room for two lines of indices */

static cbx_status lower_sort(cbx_builder *b, cbx_node *n, cbx_error *err)
{
    if (n->num_outputs != 2 || b->program->values[n->output[1]].type != CBX_INTEGER)
        return cbx_build_fail(b, n, err, "2 outputs, values and integers, expected");
    return cbx_build_outputs(b, n, 3, CBX_INTEGER, err);
}

static cbx_status sort_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0];
    int32_t          dim;
    cbx_status       status = cbx_call_dim(c, 1, x->rank, &dim, err);
    for (int32_t k = 0; k < 2 && !status; k++)
        status = cbx_out_new(c, k, x->rank, x->size, err);
    if (status)
        return status;
    lines *s = c->state;
    split_lines(s, x, dim);
    return cbx_out_new(c, 2, 1, (int64_t[]){2 * s->terms}, err);
}

/* Does `a` stand before `b`? NaN counts as the highest. */
static bool before(double a, double b, bool descending)
{
    if (a != a || b != b)
        return descending ? a != a && b == b : a == a && b != b;
    return descending ? a > b : a < b;
}

/* Sorts the index of one line by merging runs of 1, 2, 4, …, through `spare`. */
static void sort_line(const cbx_array *x, const lines *s, int64_t at, bool descending,
                      int64_t *index, int64_t *spare)
{
    for (int64_t run = 1; run < s->terms; run *= 2) {
        for (int64_t begin = 0; begin < s->terms; begin += 2 * run) {
            int64_t middle = begin + run < s->terms ? begin + run : s->terms;
            int64_t end = begin + 2 * run < s->terms ? begin + 2 * run : s->terms;
            int64_t a = begin, b = middle;
            for (int64_t k = begin; k < end; k++) {
                bool second = a == middle ||
                              (b < end && before(element(x, at + index[b] * s->inner),
                                                 element(x, at + index[a] * s->inner), descending));
                spare[k] = index[second ? b++ : a++];
            }
        }
        memcpy(index, spare, (size_t)s->terms * sizeof *index);
    }
}

static cbx_status sort_run(cbx_call *c, cbx_error *err)
{
    lines     *s = c->state;
    cbx_array *x = c->in[0], *y = c->out[0];
    int64_t   *order = c->out[1]->data, *index = c->out[2]->data, *spare = index + s->terms;
    (void)err;
    EACH_LINE(s)
    {
        for (int64_t k = 0; k < s->terms; k++)
            index[k] = k;
        sort_line(x, s, at, cbx_call_real(c, 2) != 0, index, spare);
        for (int64_t k = 0; k < s->terms; k++) {
            order[at + k * s->inner] = index[k];
            move_element(x, at + index[k] * s->inner, y, at + k * s->inner);
        }
    }
    return CBX_OK;
}

static cbx_status sort_tags(cbx_call *c, cbx_error *err)
{
    lines         *s = c->state;
    const int64_t *order = c->out[1]->data;
    (void)err;
    EACH_LINE(s)
    for (int64_t k = 0; k < s->terms; k++)
        c->out[0]->tag[at + k * s->inner] = c->in[0]->tag[at + order[at + k * s->inner] * s->inner];
    return CBX_OK;
}

/* dx at `to` += g at `from` */
static void pass_gradient(cbx_call *c, int64_t from, int64_t to)
{
    if (c->in[0]->type == CBX_REAL32)
        ((float *)c->in[0]->grad)[to] += ((const float *)c->out[0]->grad)[from];
    else
        ((double *)c->in[0]->grad)[to] += ((const double *)c->out[0]->grad)[from];
}

static void sort_reverse(cbx_call *c)
{
    lines         *s = c->state;
    const int64_t *order = c->out[1]->data;
    if (!c->out[0]->grad)
        return;
    cbx_grad_open(c, 0);
    EACH_LINE(s)
    for (int64_t k = 0; k < s->terms; k++)
        pass_gradient(c, at + k * s->inner, at + order[at + k * s->inner] * s->inner);
}

/* ---- the highest or lowest of each line, and where it is. Arguments: self, dim, keepdim */

static cbx_status best_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0];
    lines           *s = c->state;
    int64_t          size[CBX_RANKS];
    int32_t          dim, rank = 0;
    bool             keep = cbx_call_real(c, 2) != 0;
    cbx_status       status = cbx_call_dim(c, 1, x->rank, &dim, err);
    if (status)
        return status;
    if (c->out[c->node->num_outputs > 1 ? 1 : 0]->type != CBX_INTEGER)
        return cbx_call_fail(c, err, "places of another type than int64");
    split_lines(s, x, dim);
    if (s->terms == 0 && s->outer > 0 && s->inner > 0)
        return cbx_call_fail(c, err, "of no elements");
    for (int32_t i = 0; i < x->rank; i++)
        if (i != dim || keep)
            size[rank++] = i == dim ? 1 : x->size[i];
    for (int32_t k = 0; k < c->node->num_outputs && !status; k++)
        status = cbx_out_new(c, k, rank, size, err);
    return status;
}

/* The place of the first that no other beats. */
static int64_t best_of(const cbx_array *x, const lines *s, int64_t at, bool highest)
{
    int64_t best = 0;
    for (int64_t k = 1; k < s->terms; k++) {
        double now = element(x, at + k * s->inner), then = element(x, at + best * s->inner);
        if (then == then && (highest ? now > then : now < then || now != now))
            best = k;
        else if (then == then && now != now)
            best = k;
    }
    return best;
}

static cbx_status best_run(cbx_call *c, bool highest)
{
    lines   *s = c->state;
    bool     values = c->node->num_outputs > 1;
    int64_t *place = c->out[values ? 1 : 0]->data;
    EACH_LINE(s)
    {
        int64_t best = best_of(c->in[0], s, at, highest), to = o * s->inner + i;
        place[to] = best;
        if (values)
            move_element(c->in[0], at + best * s->inner, c->out[0], to);
    }
    return CBX_OK;
}

static cbx_status max_run(cbx_call *c, cbx_error *err)
{
    (void)err;
    return best_run(c, true);
}

static cbx_status min_run(cbx_call *c, cbx_error *err)
{
    (void)err;
    return best_run(c, false);
}

static void best_reverse(cbx_call *c)
{
    lines         *s = c->state;
    const int64_t *place = c->out[1]->data;
    if (!c->out[0]->grad)
        return;
    cbx_grad_open(c, 0);
    EACH_LINE(s)
    pass_gradient(c, o * s->inner + i, at + place[o * s->inner + i] * s->inner);
}

/* ---- running sums. Arguments: self, dim, dtype */

static cbx_status cumsum_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0];
    int32_t          dim;
    cbx_status       status = cbx_call_dim(c, 1, x->rank, &dim, err);
    if (!status && x->type == CBX_LOGICAL)
        return cbx_call_fail(c, err, "to bool");
    split_lines(c->state, x, dim);
    return status ? status : cbx_out_new(c, 0, x->rank, x->size, err);
}

#define CUMSUM(suffix, T)                                           \
    static void cumsum_##suffix(const lines *s, const T *x, T *y)   \
    {                                                               \
        EACH_LINE(s)                                                \
        {                                                           \
            T sum = 0;                                              \
            for (int64_t k = 0; k < s->terms; k++)                  \
                y[at + k * s->inner] = sum += x[at + k * s->inner]; \
        }                                                           \
    }
#define CUMSUM_BACK(suffix, T)                                         \
    static void cumsum_back_##suffix(const lines *s, const T *g, T *d) \
    {                                                                  \
        EACH_LINE(s)                                                   \
        {                                                              \
            T sum = 0;                                                 \
            for (int64_t k = s->terms; k-- > 0;)                       \
                d[at + k * s->inner] += sum += g[at + k * s->inner];   \
        }                                                              \
    }
CUMSUM(32, float)
CUMSUM(64, double)
CUMSUM(integer, int64_t)
CUMSUM_BACK(32, float)
CUMSUM_BACK(64, double)

static cbx_status cumsum_run(cbx_call *c, cbx_error *err)
{
    (void)err;
    if (c->out[0]->type == CBX_REAL32)
        cumsum_32(c->state, c->in[0]->data, c->out[0]->data);
    else if (c->out[0]->type == CBX_REAL64)
        cumsum_64(c->state, c->in[0]->data, c->out[0]->data);
    else
        cumsum_integer(c->state, c->in[0]->data, c->out[0]->data);
    return CBX_OK;
}

static void cumsum_reverse(cbx_call *c)
{
    cbx_grad_open(c, 0);
    if (c->out[0]->type == CBX_REAL32)
        cumsum_back_32(c->state, c->out[0]->grad, c->in[0]->grad);
    else
        cumsum_back_64(c->state, c->out[0]->grad, c->in[0]->grad);
}

#define SELF CBX_SPEC("self", CBX_ARG_ARRAY)
#define LAST CBX_SPEC("dim", CBX_ARG_INT, true, -1)
#define KEEP CBX_SPEC("keepdim", CBX_ARG_LOGIC, true, 0)
#define DESCENDING CBX_SPEC("descending", CBX_ARG_LOGIC, true, 0)
#define SORT(file_name, ...)                                                                   \
    {                                                                                          \
        .name = file_name, .args = {SELF, LAST, DESCENDING, __VA_ARGS__}, .dense = CBX_IN(0),  \
        .lower = lower_sort, .state = sizeof(lines), .shape = sort_shape, .forward = sort_run, \
        .backward = sort_reverse, .reads = {CBX_OUT(1)}, .tags = CBX_TAGS_MOVE,                \
        .move_tags = sort_tags, .reach = CBX_REACH_OVER, .reach_arg = 1                        \
    }
#define BEST(file_name, run)                                                                   \
    {                                                                                          \
        .name = file_name, .args = {SELF, {"dim", CBX_ARG_INT}, KEEP}, .dense = CBX_IN(0),     \
        .state = sizeof(lines), .shape = best_shape, .forward = run, .backward = best_reverse, \
        .reads = {CBX_OUT(1)}, .reach = CBX_REACH_OVER, .reach_arg = 1                         \
    }
#define WHERE(file_name, run)                                                                     \
    {                                                                                             \
        .name = file_name, .args = {SELF, {"dim", CBX_ARG_INT}, KEEP}, .typing = CBX_TYPING_FREE, \
        .dense = CBX_IN(0), .state = sizeof(lines), .shape = best_shape, .forward = run,          \
        .reach = CBX_REACH_OVER, .reach_arg = 1                                                   \
    }

const cbx_op cbx_ops_sort[] = {
    SORT("sort.default", {0}),
    SORT("sort.stable", {"stable", CBX_ARG_LOGIC, true}),
    BEST("max.dim", max_run),
    BEST("min.dim", min_run),
    WHERE("argmax.default", max_run),
    WHERE("argmin.default", min_run),
    {.name = "cumsum.default",
     .args = {SELF, {"dim", CBX_ARG_INT}, {"dtype", CBX_ARG_TYPE, true}},
     .typing = CBX_TYPING_PROMOTE,
     .dense = CBX_IN(0),
     .state = sizeof(lines),
     .shape = cumsum_shape,
     .forward = cumsum_run,
     .backward = cumsum_reverse,
     .reach = CBX_REACH_OVER,
     .reach_arg = 1},
    {0},
};
