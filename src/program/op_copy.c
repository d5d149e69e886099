/* SPDX-License-Identifier: Apache-2.0 */
/* op_copy.c: operations that put elements elsewhere: joining, repeating, turning round, writing
 * over a part, and converting. */
#include <string.h>

#include "kernel.h"
#include "op.h"

/* The part of `a` that begins at `at` of a dimension and has `size` there. */
static cbx_array part_of(const cbx_array *a, int32_t dim, int64_t at, int64_t size)
{
    cbx_array p = *a;
    p.size[dim] = size;
    p.count = a->size[dim] ? a->count / a->size[dim] * size : 0;
    p.offset = at * a->stride[dim]; /* from the array's first element */
    return p;
}

static void *at_offset(void *data, const cbx_array *part)
{
    return (char *)data + part->offset * (int64_t)cbx_type_size(part->type);
}

/* ---- cat */

/* An empty vector may stand beside anything: it is left out. */
static bool is_left_out(const cbx_array *a)
{
    return a->rank == 1 && a->size[0] == 0;
}

static cbx_status cat_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *first = NULL;
    int64_t          size[CBX_RANKS], joined = 0;
    int32_t          dim = 0;
    for (int32_t k = 0; k < c->node->num_inputs; k++)
        if (c->in[k] && !first && !is_left_out(c->in[k]))
            first = c->in[k];
    first = first ? first : c->node->num_inputs ? c->in[0] : NULL;
    if (!first || !first->rank)
        return cbx_call_fail(c, err, "of nothing, or of numbers");
    cbx_status status = cbx_call_dim(c, 1, first->rank, &dim, err);
    for (int32_t k = 0; k < c->node->num_inputs && !status; k++) {
        const cbx_array *a = c->in[k];
        if (!a || is_left_out(a))
            continue;
        cbx_array like = *a;
        like.size[dim] = first->rank == a->rank ? first->size[dim] : 0;
        if (!cbx_array_same_shape(&like, first) || a->type != c->out[0]->type) {
            char x[96], y[96];
            return cbx_call_fail(c, err, "%s of %s beside %s of %s",
                                 cbx_array_shape(a, x, sizeof x), cbx_type_name(a->type),
                                 cbx_array_shape(first, y, sizeof y),
                                 cbx_type_name(c->out[0]->type));
        }
        joined += a->size[dim];
    }
    if (status)
        return status;
    memcpy(size, first->size, sizeof size);
    size[dim] = joined;
    return cbx_out_new(c, 0, first->rank, size, err);
}

/* Visits the part of the output that each input fills. */
typedef enum cat_what { CAT_VALUES, CAT_TAGS, CAT_GRADIENTS } cat_what;

static cbx_status cat_each(cbx_call *c, cat_what what)
{
    cbx_array *y = c->out[0];
    int32_t    dim;
    int64_t    at = 0;
    (void)cbx_call_dim(c, 1, y->rank, &dim, NULL);
    for (int32_t k = 0; k < c->node->num_inputs; k++) {
        cbx_array *a = c->in[k];
        if (!a || is_left_out(a))
            continue;
        cbx_array part = part_of(y, dim, at, a->size[dim]);
        at += a->size[dim];
        if (what == CAT_VALUES) {
            cbx_array_copy(&part, at_offset(y->data, &part), a, a->data);
        } else if (what == CAT_TAGS) {
            cbx_array tags = cbx_tags_of(a);
            cbx_array_copy(&part, at_offset(y->tag, &part), &tags, tags.data);
        } else {
            cbx_grad_put(c, k, &part, at_offset(y->grad, &part));
        }
    }
    return CBX_OK;
}

static cbx_status cat_run(cbx_call *c, cbx_error *err)
{
    (void)err;
    return cat_each(c, CAT_VALUES);
}

static cbx_status cat_tags(cbx_call *c, cbx_error *err)
{
    (void)err;
    return cat_each(c, CAT_TAGS);
}

static void cat_reverse(cbx_call *c)
{
    (void)cat_each(c, CAT_GRADIENTS);
}

/* ---- repeat: the output seen as [times, size, times, size, …] */

typedef struct tiles {
    cbx_array tiled, source; /* the output, and the input repeated without steps */
} tiles;

static cbx_status repeat_shape(cbx_call *c, cbx_error *err)
{
    tiles           *t = c->state;
    const cbx_array *x = c->in[0];
    int64_t          times[CBX_RANKS], size[CBX_RANKS];
    int32_t          rank = cbx_call_ints(c, 1, times), more = rank - x->rank;
    if (rank > CBX_RANKS / 2 || more < 0)
        return cbx_call_fail(c, err, "%d repeats of a tensor of %d dimensions, at most %d expected",
                             rank, x->rank, CBX_RANKS / 2);
    for (int32_t i = 0; i < rank; i++) {
        int64_t own = i >= more ? x->size[i - more] : 1;
        if (times[i] < 0 || __builtin_mul_overflow(own, times[i], &size[i]))
            return cbx_call_fail(c, err, "%lld repeats", (long long)times[i]);
    }
    cbx_status status = cbx_out_new(c, 0, rank, size, err);
    if (status)
        return status;
    t->tiled = t->source = *c->out[0];
    t->tiled.rank = t->source.rank = 2 * rank;
    for (int32_t i = 0; i < rank; i++) {
        int64_t own = i >= more ? x->size[i - more] : 1;
        t->tiled.size[2 * i] = t->source.size[2 * i] = times[i];
        t->tiled.size[2 * i + 1] = t->source.size[2 * i + 1] = own;
        t->source.stride[2 * i] = 0;
        t->source.stride[2 * i + 1] = i >= more ? x->stride[i - more] : 0;
    }
    return cbx_array_pack(&t->tiled) ? CBX_OK : cbx_call_fail(c, err, "too many elements");
}

static cbx_status repeat_run(cbx_call *c, cbx_error *err)
{
    tiles *t = c->state;
    (void)err;
    cbx_array_copy(&t->tiled, c->out[0]->data, &t->source, c->in[0]->data);
    return CBX_OK;
}

static cbx_status repeat_tags(cbx_call *c, cbx_error *err)
{
    tiles *t = c->state;
    (void)err;
    cbx_array_copy(&t->tiled, c->out[0]->tag, &t->source, c->in[0]->tag);
    return CBX_OK;
}

static void repeat_reverse(cbx_call *c)
{
    tiles *t = c->state;
    cbx_grad_open(c, 0);
    cbx_array_add(&t->tiled, &t->source, c->in[0]->grad, &t->tiled, c->out[0]->grad);
}

/* ---- flip: the output walked through backwards */

typedef struct turned {
    cbx_array from_end; /* the output, from its last element in the turned dimensions */
} turned;

static cbx_status flip_shape(cbx_call *c, cbx_error *err)
{
    turned    *t = c->state;
    uint32_t   bits = 0;
    cbx_status status = cbx_out_new(c, 0, c->in[0]->rank, c->in[0]->size, err);
    if (!status && c->node->arg[1].count)
        status = cbx_call_dims(c, 1, c->in[0]->rank, &bits, err);
    if (status)
        return status;
    t->from_end = *c->out[0];
    for (int32_t i = 0; i < t->from_end.rank; i++)
        if (bits >> i & 1 && t->from_end.size[i] > 0) {
            t->from_end.offset += (t->from_end.size[i] - 1) * t->from_end.stride[i];
            t->from_end.stride[i] = -t->from_end.stride[i];
        }
    return CBX_OK;
}

static cbx_status flip_run(cbx_call *c, cbx_error *err)
{
    turned *t = c->state;
    (void)err;
    cbx_array_copy(&t->from_end, at_offset(c->out[0]->data, &t->from_end), c->in[0],
                   c->in[0]->data);
    return CBX_OK;
}

static cbx_status flip_tags(cbx_call *c, cbx_error *err)
{
    turned *t = c->state;
    (void)err;
    cbx_array_copy(&t->from_end, at_offset(c->out[0]->tag, &t->from_end), c->in[0], c->in[0]->tag);
    return CBX_OK;
}

static void flip_reverse(cbx_call *c)
{
    turned *t = c->state;
    cbx_grad_put(c, 0, &t->from_end, at_offset(c->out[0]->grad, &t->from_end));
}

/* ---- slice_scatter, select_scatter: a copy with a part written over */

typedef struct over {
    cbx_array part; /* of the output */
} over;

static cbx_status over_shape(cbx_call *c, cbx_array part, cbx_error *err)
{
    over *o = c->state;
    if (!cbx_array_same_shape(&part, c->in[1])) {
        char a[96], b[96];
        return cbx_call_fail(c, err, "%s written over %s", cbx_array_shape(c->in[1], a, sizeof a),
                             cbx_array_shape(&part, b, sizeof b));
    }
    o->part = part;
    return CBX_OK;
}

static cbx_status slice_scatter_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0];
    int32_t          dim;
    cbx_status       status = cbx_out_new(c, 0, x->rank, x->size, err);
    if (!status)
        status = cbx_call_dim(c, 2, x->rank, &dim, err);
    if (status)
        return status;
    int64_t size = x->rank ? x->size[dim] : 0, begin = cbx_call_int(c, 3),
            step = cbx_call_int(c, 5);
    int64_t end = cbx_call_has(c, 4) ? cbx_call_int(c, 4) : size;
    begin = begin < 0 ? begin + size : begin;
    end = end < 0 ? end + size : end > size ? size : end;
    if (begin < 0 || begin > size || end < begin || step != 1 || !x->rank)
        return cbx_call_fail(c, err, "over %lld to %lld of %lld in steps of %lld", (long long)begin,
                             (long long)end, (long long)size, (long long)step);
    return over_shape(c, part_of(c->out[0], dim, begin, end - begin), err);
}

static cbx_status select_scatter_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0];
    int32_t          dim;
    cbx_status       status = cbx_out_new(c, 0, x->rank, x->size, err);
    if (!status)
        status = cbx_call_dim(c, 2, x->rank, &dim, err);
    if (status)
        return status;
    int64_t size = x->rank ? x->size[dim] : 0, at = cbx_call_int(c, 3);
    at = at < 0 ? at + size : at;
    if (at < 0 || at >= size)
        return cbx_call_fail(c, err, "index %lld of %lld", (long long)at, (long long)size);
    cbx_array part = part_of(c->out[0], dim, at, 1);
    part.rank--;
    for (int32_t i = dim; i < part.rank; i++) {
        part.size[i] = part.size[i + 1];
        part.stride[i] = part.stride[i + 1];
    }
    return over_shape(c, part, err);
}

static cbx_status over_run(cbx_call *c, cbx_error *err)
{
    over      *o = c->state;
    cbx_array *y = c->out[0];
    (void)err;
    cbx_array_copy(y, y->data, c->in[0], c->in[0]->data);
    cbx_array_copy(&o->part, at_offset(y->data, &o->part), c->in[1], c->in[1]->data);
    return CBX_OK;
}

static cbx_status over_tags(cbx_call *c, cbx_error *err)
{
    over      *o = c->state;
    cbx_array *y = c->out[0], under = cbx_tags_of(c->in[0]), above = cbx_tags_of(c->in[1]);
    (void)err;
    cbx_array_copy(y, y->tag, &under, under.data);
    cbx_array_copy(&o->part, at_offset(y->tag, &o->part), &above, above.data);
    return CBX_OK;
}

/* The part's gradient is the source's; then nothing is left of it, and the rest is the first's.
 * Both may be views of one storage, which the first is to set. */
static void over_reverse(cbx_call *c)
{
    over        *o = c->state;
    cbx_array   *y = c->out[0], nothing = o->part;
    const double zero = 0;
    uint8_t      mode = c->mode[0];
    void        *part = at_offset(y->grad, &o->part);
    cbx_grad_open(c, 0);
    c->mode[0] = mode == CBX_GRAD_SET ? CBX_GRAD_ADD : mode;
    cbx_grad_put(c, 1, &o->part, part);
    memset(nothing.stride, 0, sizeof nothing.stride);
    cbx_array_copy(&o->part, part, &nothing, &zero);
    cbx_grad_put(c, 0, y, y->grad);
    c->mode[0] = mode;
}

/* ---- conversion */

#define CONVERT(id, FROM, TO, VALUE)                                                         \
    CBX_HOT static void id(const cbx_loops *l, void *const *at, const void *u)               \
    {                                                                                        \
        (void)u;                                                                             \
        for (int64_t i = 0; i < l->size[1]; i++)                                             \
            for (int64_t k = 0; k < l->size[0]; k++) {                                       \
                const FROM x = ((const FROM *)at[1])[i * l->step[1][1] + k * l->step[1][0]]; \
                ((TO *)at[0])[i * l->step[0][1] + k * l->step[0][0]] = VALUE;                \
            }                                                                                \
    }
/* What does not fit, and NaN, has no integer of its own in C. */
#define TO_INTEGER(x) ((x) >= -0x1p63 && (x) < 0x1p63 ? (int64_t)(x) : INT64_MIN)
CONVERT(f32_to_f64, float, double, x)
CONVERT(f64_to_f32, double, float, (float)x)
CONVERT(f32_to_integer, float, int64_t, TO_INTEGER(x))
CONVERT(f64_to_integer, double, int64_t, TO_INTEGER(x))
CONVERT(integer_to_f32, int64_t, float, (float)x)
CONVERT(integer_to_f64, int64_t, double, (double)x)
CONVERT(logical_to_f32, uint8_t, float, (float)x)
CONVERT(logical_to_f64, uint8_t, double, (double)x)
CONVERT(logical_to_integer, uint8_t, int64_t, x)
CONVERT(f32_to_logical, float, uint8_t, x != 0)
CONVERT(f64_to_logical, double, uint8_t, x != 0)
CONVERT(integer_to_logical, int64_t, uint8_t, x != 0)
CONVERT(add_f32_to_f64, float, double,
        ((double *)at[0])[i * l->step[0][1] + k * l->step[0][0]] + (double)x)
CONVERT(add_f64_to_f32, double, float,
        ((float *)at[0])[i * l->step[0][1] + k * l->step[0][0]] + (float)x)

static const cbx_inner converters[CBX_TYPES][CBX_TYPES] = {
    [CBX_REAL32] = {NULL, f32_to_f64, f32_to_integer, f32_to_logical},
    [CBX_REAL64] = {f64_to_f32, NULL, f64_to_integer, f64_to_logical},
    [CBX_INTEGER] = {integer_to_f32, integer_to_f64, NULL, integer_to_logical},
    [CBX_LOGICAL] = {logical_to_f32, logical_to_f64, logical_to_integer, NULL}};

static cbx_status convert_shape(cbx_call *c, cbx_error *err)
{
    if (c->in[0]->type != c->out[0]->type)
        return cbx_out_new(c, 0, c->in[0]->rank, c->in[0]->size, err);
    (void)cbx_out_view(c, 0, 0);
    return CBX_OK;
}

static cbx_status convert_run(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0], *y = c->out[0];
    cbx_loops        loops;
    (void)err;
    if (x->type == y->type)
        return CBX_OK;
    cbx_loops_make(&loops, y, 2, (const cbx_array *const[]){y, x});
    cbx_loops_run(&loops, converters[x->type][y->type], 2, (void *const[]){y->data, x->data},
                  (const size_t[]){cbx_type_size(y->type), cbx_type_size(x->type)}, NULL);
    return CBX_OK;
}

static void convert_reverse(cbx_call *c)
{
    const cbx_array *x = c->in[0], *y = c->out[0];
    cbx_loops        loops;
    if (!cbx_is_real(x->type) || x->type == y->type)
        return;
    cbx_grad_open(c, 0);
    cbx_loops_make(&loops, y, 2, (const cbx_array *const[]){x, y});
    cbx_loops_run(&loops, y->type == CBX_REAL32 ? add_f32_to_f64 : add_f64_to_f32, 2,
                  (void *const[]){x->grad, y->grad},
                  (const size_t[]){cbx_type_size(x->type), cbx_type_size(y->type)}, NULL);
}

#define SELF CBX_SPEC("self", CBX_ARG_ARRAY)

const cbx_op cbx_ops_copy[] = {
    {.name = "cat.default",
     .args = {{"tensors", CBX_ARG_ARRAYS}, {"dim", CBX_ARG_INT, true, 0}},
     .typing = CBX_TYPING_PROMOTE,
     .shape = cat_shape,
     .forward = cat_run,
     .backward = cat_reverse,
     .tags = CBX_TAGS_MOVE,
     .tagged_inputs = ~0u,
     .move_tags = cat_tags},
    {.name = "repeat.default",
     .args = {SELF, {"repeats", CBX_ARG_INTS}},
     .state = sizeof(tiles),
     .shape = repeat_shape,
     .forward = repeat_run,
     .backward = repeat_reverse,
     .tags = CBX_TAGS_MOVE,
     .move_tags = repeat_tags},
    {.name = "flip.default",
     .args = {SELF, {"dims", CBX_ARG_INTS}},
     .state = sizeof(turned),
     .shape = flip_shape,
     .forward = flip_run,
     .backward = flip_reverse,
     .tags = CBX_TAGS_MOVE,
     .move_tags = flip_tags,
     .reach = CBX_REACH_OVER,
     .reach_arg = 1},
    {.name = "slice_scatter.default",
     .args = {SELF,
              {"src", CBX_ARG_ARRAY},
              {"dim", CBX_ARG_INT, true, 0},
              {"start", CBX_ARG_INT, true, 0},
              {"end", CBX_ARG_INT, true, 0},
              {"step", CBX_ARG_INT, true, 1}},
     .typing = CBX_TYPING_PROMOTE,
     .state = sizeof(over),
     .shape = slice_scatter_shape,
     .forward = over_run,
     .backward = over_reverse,
     .tags = CBX_TAGS_MOVE,
     .tagged_inputs = CBX_IN(0) | CBX_IN(1),
     .move_tags = over_tags},
    {.name = "select_scatter.default",
     .args = {SELF, {"src", CBX_ARG_ARRAY}, {"dim", CBX_ARG_INT}, {"index", CBX_ARG_INT}},
     .typing = CBX_TYPING_PROMOTE,
     .state = sizeof(over),
     .shape = select_scatter_shape,
     .forward = over_run,
     .backward = over_reverse,
     .tags = CBX_TAGS_MOVE,
     .tagged_inputs = CBX_IN(0) | CBX_IN(1),
     .move_tags = over_tags},
    {.name = "_to_copy.default",
     .args = {SELF, {"dtype", CBX_ARG_TYPE, true}, {"non_blocking", CBX_ARG_LOGIC, true}},
     .typing = CBX_TYPING_FREE,
     .shape = convert_shape,
     .forward = convert_run,
     .backward = convert_reverse,
     .reshapes = true},
    {0},
};
