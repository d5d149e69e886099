/* SPDX-License-Identifier: Apache-2.0 */
/* op_view.c: operations that move no element: they look at what is there in another way. Those
 * that change the shape copy where steps do not allow that. */
#include <string.h>

#include "op.h"

/* ---- parts of a dimension */

static void drop_dim(cbx_array *a, int32_t dim)
{
    a->rank--;
    for (int32_t i = dim; i < a->rank; i++) {
        a->size[i] = a->size[i + 1];
        a->stride[i] = a->stride[i + 1];
    }
}

static void count(cbx_array *a)
{
    a->count = 1;
    for (int32_t i = 0; i < a->rank; i++)
        a->count *= a->size[i]; /* at most what it looks at, or checked by the caller */
}

static cbx_status select_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0];
    int32_t          dim;
    int64_t          at = cbx_call_int(c, 2);
    cbx_status       status = cbx_call_dim(c, 1, x->rank, &dim, err);
    if (status)
        return status;
    int64_t size = x->rank ? x->size[dim] : 0;
    if (at < -size || at >= size)
        return cbx_call_fail(c, err, "index %lld of dimension %d, which has %lld", (long long)at,
                             dim, (long long)size);
    cbx_array *y = cbx_out_view(c, 0, 0);
    y->offset += (at < 0 ? at + size : at) * y->stride[dim];
    drop_dim(y, dim);
    count(y);
    return CBX_OK;
}

/* As Python slices: from the end where negative, and never beyond. */
static int64_t bound(int64_t at, int64_t size)
{
    at = at < 0 ? at + size : at;
    return at < 0 ? 0 : at > size ? size : at;
}

static cbx_status slice_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0];
    int32_t          dim;
    cbx_status       status = cbx_call_dim(c, 1, x->rank, &dim, err);
    if (status)
        return status;
    int64_t size = x->rank ? x->size[dim] : 0, step = cbx_call_int(c, 4);
    int64_t begin = bound(cbx_call_int(c, 2), size);
    int64_t end = c->node->arg[3].kind == CBX_ARG_NONE ? size : bound(cbx_call_int(c, 3), size);
    if (step < 1 || !x->rank)
        return cbx_call_fail(c, err, "a step of %lld", (long long)step);
    cbx_array *y = cbx_out_view(c, 0, 0);
    y->offset += begin < size ? begin * y->stride[dim] : 0;
    y->size[dim] = end > begin ? (end - begin - 1) / step + 1 : 0;
    y->stride[dim] = y->size[dim] > 1 ? y->stride[dim] * step : y->stride[dim];
    count(y);
    return CBX_OK;
}

/* Parts of these sizes, one after the other. */
static cbx_status split(cbx_call *c, int32_t dim, const int64_t *size, cbx_error *err)
{
    int64_t at = 0, whole = c->in[0]->size[dim];
    for (int32_t k = 0; k < c->node->num_outputs; k++) {
        if (size[k] < 0 || size[k] > whole - at)
            return cbx_call_fail(c, err, "part %d of size %lld, where %lld are left", k,
                                 (long long)size[k], (long long)(whole - at));
        cbx_array *y = cbx_out_view(c, k, 0);
        y->offset += size[k] ? at * y->stride[dim] : 0;
        y->size[dim] = size[k];
        count(y);
        at += size[k];
    }
    return CBX_OK;
}

static cbx_status split_sizes_shape(cbx_call *c, cbx_error *err)
{
    int64_t    size[CBX_RANKS];
    int32_t    dim, parts = cbx_call_ints(c, 1, size);
    cbx_status status = cbx_call_dim(c, 2, c->in[0]->rank, &dim, err);
    if (status)
        return status;
    if (parts > CBX_RANKS || parts != c->node->num_outputs || !c->in[0]->rank)
        return cbx_call_fail(c, err, "%d sizes for %d parts, at most %d expected", parts,
                             c->node->num_outputs, CBX_RANKS);
    return split(c, dim, size, err);
}

static cbx_status split_shape(cbx_call *c, cbx_error *err)
{
    int64_t    size[CBX_RANKS] = {0}, each = cbx_call_int(c, 1);
    int32_t    dim, parts = c->node->num_outputs;
    cbx_status status = cbx_call_dim(c, 2, c->in[0]->rank, &dim, err);
    if (status)
        return status;
    if (each < 1 || parts < 1 || parts > CBX_RANKS || !c->in[0]->rank)
        return cbx_call_fail(c, err, "%d parts of %lld, at most %d expected", parts,
                             (long long)each, CBX_RANKS);
    for (int32_t k = 0; k < parts; k++) {
        int64_t left = c->in[0]->size[dim] - (k ? (int64_t)k * each : 0);
        size[k] = left < each ? left : each;
    }
    return split(c, dim, size, err);
}

static cbx_status unbind_shape(cbx_call *c, cbx_error *err)
{
    int32_t    dim;
    cbx_status status = cbx_call_dim(c, 1, c->in[0]->rank, &dim, err);
    if (status)
        return status;
    if (!c->in[0]->rank || c->node->num_outputs != c->in[0]->size[dim])
        return cbx_call_fail(c, err, "%d parts of a dimension of another size",
                             c->node->num_outputs);
    for (int32_t k = 0; k < c->node->num_outputs; k++) {
        cbx_array *y = cbx_out_view(c, k, 0);
        y->offset += k * y->stride[dim];
        drop_dim(y, dim);
        count(y);
    }
    return CBX_OK;
}

/* ---- the order of dimensions */

static cbx_status permute_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0];
    int64_t          dims[CBX_RANKS];
    int32_t          rank = cbx_call_ints(c, 1, dims);
    uint32_t         seen = 0;
    if (rank != x->rank)
        return cbx_call_fail(c, err, "%d dimensions of a tensor that has %d", rank, x->rank);
    cbx_array *y = cbx_out_view(c, 0, 0);
    for (int32_t i = 0; i < rank; i++) {
        int64_t from = dims[i] < 0 ? dims[i] + rank : dims[i];
        if (from < 0 || from >= rank || seen >> from & 1)
            return cbx_call_fail(c, err, "dimension %lld, each of %d once expected",
                                 (long long)dims[i], rank);
        seen |= 1u << from;
        y->size[i] = x->size[from];
        y->stride[i] = x->stride[from];
    }
    return CBX_OK;
}

static cbx_status swap_dims(cbx_call *c, int32_t a, int32_t b)
{
    cbx_array *y = cbx_out_view(c, 0, 0);
    int64_t    size = y->size[a], stride = y->stride[a];
    y->size[a] = y->size[b];
    y->stride[a] = y->stride[b];
    y->size[b] = size;
    y->stride[b] = stride;
    return CBX_OK;
}

static cbx_status transpose_shape(cbx_call *c, cbx_error *err)
{
    int32_t    a, b;
    cbx_status status = cbx_call_dim(c, 1, c->in[0]->rank, &a, err);
    if (!status)
        status = cbx_call_dim(c, 2, c->in[0]->rank, &b, err);
    return status ? status : swap_dims(c, a, b);
}

static cbx_status t_shape(cbx_call *c, cbx_error *err)
{
    if (c->in[0]->rank > 2)
        return cbx_call_fail(c, err, "of %d dimensions, at most 2 expected", c->in[0]->rank);
    return swap_dims(c, 0, c->in[0]->rank == 2 ? 1 : 0);
}

/* ---- dimensions of size 1 */

static cbx_status unsqueeze_shape(cbx_call *c, cbx_error *err)
{
    int32_t    dim, rank = c->in[0]->rank;
    cbx_status status = cbx_call_dim(c, 1, rank + 1, &dim, err);
    if (status)
        return status;
    if (rank == CBX_RANKS)
        return cbx_call_fail(c, err, "more than %d dimensions", CBX_RANKS);
    cbx_array *y = cbx_out_view(c, 0, 0);
    for (int32_t i = rank; i > dim; i--) {
        y->size[i] = y->size[i - 1];
        y->stride[i] = y->stride[i - 1];
    }
    y->size[dim] = 1;
    y->stride[dim] = 1;
    y->rank++;
    return CBX_OK;
}

/* Also for squeeze.default and squeeze.dim, which name none or one. */
static cbx_status squeeze_shape(cbx_call *c, cbx_error *err)
{
    uint32_t   bits;
    cbx_status status = cbx_call_dims(c, 1, c->in[0]->rank, &bits, err);
    if (status)
        return status;
    cbx_array *y = cbx_out_view(c, 0, 0);
    for (int32_t i = y->rank; i-- > 0;)
        if (bits >> i & 1 && y->size[i] == 1)
            drop_dim(y, i);
    return CBX_OK;
}

static cbx_status expand_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0];
    int64_t          size[CBX_RANKS];
    int32_t          rank = cbx_call_ints(c, 1, size), more = rank - x->rank;
    if (rank > CBX_RANKS || more < 0)
        return cbx_call_fail(c, err,
                             "to %d dimensions of a tensor that has %d, at most %d expected", rank,
                             x->rank, CBX_RANKS);
    cbx_array *y = cbx_out_view(c, 0, 0);
    cbx_array  check = {.rank = rank};
    y->rank = rank;
    for (int32_t i = 0; i < rank; i++) {
        int64_t own = i >= more ? x->size[i - more] : 1;
        if (size[i] < -1 || (size[i] != -1 && own != 1 && size[i] != own) ||
            (size[i] == -1 && i < more))
            return cbx_call_fail(c, err, "size %lld of dimension %d, where there are %lld",
                                 (long long)size[i], i, (long long)own);
        y->size[i] = check.size[i] = size[i] == -1 ? own : size[i];
        y->stride[i] = own == y->size[i] && i >= more ? x->stride[i - more] : 0;
    }
    if (!cbx_array_pack(&check))
        return cbx_call_fail(c, err, "to more than %lld elements", (long long)CBX_MOST_ELEMENTS);
    y->count = check.count;
    return CBX_OK;
}

/* ---- another shape for the same elements */

typedef struct reshape {
    bool      copies;
    cbx_array packed; /* the input's shape, as it lies in the output */
} reshape;

/* Steps for `to`'s sizes over the elements of `from`, if there are such. Runs of dimensions that
 * `from` walks through evenly are split again into dimensions of `to`. */
static bool view_steps(const cbx_array *from, cbx_array *to)
{
    int32_t d = to->rank - 1;
    int64_t run = 1, step = 1;
    if (from->count == 0)
        return true; /* packed steps will do */
    for (int32_t i = from->rank; i-- > 0;) {
        if (from->size[i] == 1 && i > 0)
            continue;
        step = run == 1 ? from->stride[i] : step;
        run *= from->size[i];
        int32_t next = i - 1;
        while (next > 0 && from->size[next] == 1)
            next--;
        if (next >= 0 && from->size[next] != 1 && from->stride[next] == step * run)
            continue; /* goes on evenly */
        int64_t got = 1;
        for (; d >= 0 && (got < run || to->size[d] == 1); d--) {
            to->stride[d] = step * got;
            got *= to->size[d];
        }
        if (got != run)
            return false;
        run = 1;
    }
    for (; d >= 0; d--) {
        if (to->size[d] != 1)
            return false;
        to->stride[d] = 1;
    }
    return true;
}

static cbx_status finish_view(cbx_call *c, int32_t rank, const int64_t *size, cbx_error *err)
{
    reshape   *s = c->state;
    cbx_array *x = c->in[0], *y, like = *x;
    like.rank = rank;
    memcpy(like.size, size, (size_t)rank * sizeof *size);
    if (!cbx_array_pack(&like) || like.count != x->count) {
        char a[96], b[96];
        return cbx_call_fail(c, err, "shape %s for %s", cbx_array_shape(&like, a, sizeof a),
                             cbx_array_shape(x, b, sizeof b));
    }
    bool views = view_steps(x, &like);
    if (!c->planned)
        s->copies = !views;
    if (!s->copies) {
        if (!views)
            return cbx_call_fail(c, err, "a shape that steps do not allow any more");
        y = cbx_out_view(c, 0, 0);
        y->rank = rank;
        memcpy(y->size, like.size, sizeof y->size);
        memcpy(y->stride, like.stride, sizeof y->stride);
        return CBX_OK;
    }
    s->packed = *x;
    (void)cbx_array_pack(&s->packed);
    return cbx_out_new(c, 0, rank, size, err);
}

static cbx_status view_shape(cbx_call *c, cbx_error *err)
{
    int64_t size[CBX_RANKS], known = 1;
    int32_t rank = cbx_call_ints(c, 1, size), open = -1;
    if (rank > CBX_RANKS)
        return cbx_call_fail(c, err, "%d dimensions, at most %d expected", rank, CBX_RANKS);
    for (int32_t i = 0; i < rank; i++) {
        if (size[i] < -1 || (size[i] == -1 && open >= 0) ||
            (size[i] >= 0 && __builtin_mul_overflow(known, size[i], &known)))
            return cbx_call_fail(c, err, "size %lld of dimension %d", (long long)size[i], i);
        open = size[i] == -1 ? i : open;
    }
    if (open >= 0) {
        if (known == 0 || c->in[0]->count % known)
            return cbx_call_fail(c, err, "%lld elements in rows of %lld",
                                 (long long)c->in[0]->count, (long long)known);
        size[open] = c->in[0]->count / known;
    }
    return finish_view(c, rank, size, err);
}

/* In the shape of another tensor. */
static cbx_status view_as_shape(cbx_call *c, cbx_error *err)
{
    return finish_view(c, c->in[1]->rank, c->in[1]->size, err);
}

/* Some dimensions, one after the other, as one. */
static cbx_status merge_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0];
    int64_t          size[CBX_RANKS], dim = cbx_call_int(c, 1), merged = cbx_call_int(c, 2);
    int32_t          rank = 0;
    if (dim < 0 || merged < 1 || merged > x->rank || dim > x->rank - merged)
        return cbx_call_fail(c, err, "%lld indices from dimension %lld of %d", (long long)merged,
                             (long long)dim, x->rank);
    for (int32_t i = 0; i < x->rank; i++) {
        if (i > dim && i < dim + merged)
            size[rank - 1] *= x->size[i];
        else
            size[rank++] = x->size[i];
    }
    return finish_view(c, rank, size, err);
}

static cbx_status view_or_copy(cbx_call *c, bool views, cbx_error *err)
{
    reshape   *s = c->state;
    cbx_array *x = c->in[0];
    if (!c->planned)
        s->copies = !views;
    if (!s->copies) {
        (void)cbx_out_view(c, 0, 0);
        return CBX_OK;
    }
    s->packed = *x;
    (void)cbx_array_pack(&s->packed);
    return cbx_out_new(c, 0, x->rank, x->size, err);
}

/* In row-major order without gaps. */
static cbx_status dense_shape(cbx_call *c, cbx_error *err)
{
    return view_or_copy(c, cbx_array_is_packed(c->in[0]), err);
}

/* The same, or one number that stands for all, if it is constant: it has no gradient. */
static cbx_status rows_shape(cbx_call *c, cbx_error *err)
{
    const cbx_array *x = c->in[0];
    return view_or_copy(c, cbx_array_is_packed(x) || (!c->live && cbx_array_is_uniform(x)), err);
}

/* A matrix, or a stack of them, that a product can read: rows or columns without gaps. */
static cbx_status matrix_shape(cbx_call *c, cbx_error *err)
{
    cbx_array one = *c->in[0];
    for (; one.rank > 2; one.rank--) { /* the first of a stack: how far apart they lie is free */
        memmove(one.size, one.size + 1, (size_t)(one.rank - 1) * sizeof *one.size);
        memmove(one.stride, one.stride + 1, (size_t)(one.rank - 1) * sizeof *one.stride);
    }
    count(&one);
    bool fits = cbx_array_is_packed(&one);
    if (one.rank == 2 && !fits) {
        int64_t size = one.size[0], stride = one.stride[0];
        one.size[0] = one.size[1];
        one.stride[0] = one.stride[1];
        one.size[1] = size;
        one.stride[1] = stride;
        fits = cbx_array_is_packed(&one);
    }
    return view_or_copy(c, fits, err);
}

static cbx_status copy_run(cbx_call *c, cbx_error *err)
{
    reshape *s = c->state;
    (void)err;
    if (s->copies)
        cbx_array_copy(&s->packed, c->out[0]->data, c->in[0], c->in[0]->data);
    return CBX_OK;
}

static cbx_status copy_tags(cbx_call *c, cbx_error *err)
{
    reshape  *s = c->state;
    cbx_array from = cbx_tags_of(c->in[0]);
    (void)err;
    if (s->copies)
        cbx_array_copy(&s->packed, c->out[0]->tag, &from, from.data);
    return CBX_OK;
}

static void copy_reverse(cbx_call *c)
{
    reshape *s = c->state;
    if (s->copies)
        cbx_grad_put(c, 0, &s->packed, c->out[0]->grad);
}

/* Nothing happens to a tensor here: a copy is a view, because nothing is ever written to. */
static cbx_status same_shape(cbx_call *c, cbx_error *err)
{
    (void)err;
    if (c->in[0])
        (void)cbx_out_view(c, 0, 0);
    else
        cbx_out_absent(c, 0);
    return CBX_OK;
}

#define SELF CBX_SPEC("self", CBX_ARG_ARRAY)
#define VIEW(file_name, function, ...)                                    \
    {                                                                     \
        .name = file_name, .args = {SELF, __VA_ARGS__}, .shape = function \
    }
#define RESHAPE(file_name, function, ...)                                                   \
    {                                                                                       \
        .name = file_name, .args = {SELF, __VA_ARGS__}, .shape = function, .reshapes = true \
    }
#define COPY(file_name, function, ...)                                                           \
    {                                                                                            \
        .name = file_name, .args = {SELF, __VA_ARGS__}, .state = sizeof(reshape),                \
        .shape = function, .forward = copy_run, .backward = copy_reverse, .tags = CBX_TAGS_MOVE, \
        .move_tags = copy_tags, .reshapes = true                                                 \
    }
#define DIM(value)                      \
    {                                   \
        "dim", CBX_ARG_INT, true, value \
    }

const cbx_op cbx_ops_view[] = {
    VIEW("select.int", select_shape, {"dim", CBX_ARG_INT}, {"index", CBX_ARG_INT}),
    VIEW("slice.Tensor", slice_shape, DIM(0), {"start", CBX_ARG_INT, true, 0},
         {"end", CBX_ARG_INT, true, 0}, {"step", CBX_ARG_INT, true, 1}),
    VIEW("split_with_sizes.default", split_sizes_shape, {"split_sizes", CBX_ARG_INTS}, DIM(0)),
    VIEW("split.Tensor", split_shape, {"split_size", CBX_ARG_INT}, DIM(0)),
    VIEW("unbind.int", unbind_shape, DIM(0)),
    VIEW("expand.default", expand_shape, {"size", CBX_ARG_INTS}, {"implicit", CBX_ARG_LOGIC, true}),
    RESHAPE("permute.default", permute_shape, {"dims", CBX_ARG_INTS}),
    RESHAPE("transpose.int", transpose_shape, {"dim0", CBX_ARG_INT}, {"dim1", CBX_ARG_INT}),
    RESHAPE("t.default", t_shape, {0}),
    RESHAPE("unsqueeze.default", unsqueeze_shape, {"dim", CBX_ARG_INT}),
    RESHAPE("squeeze.default", squeeze_shape, {0}),
    RESHAPE("squeeze.dim", squeeze_shape, {"dim", CBX_ARG_INT}),
    RESHAPE("squeeze.dims", squeeze_shape, {"dim", CBX_ARG_INTS}),
    RESHAPE("clone.default", same_shape, {0}),
    RESHAPE("contiguous.default", same_shape, {0}),
    RESHAPE("lift_fresh_copy.default", same_shape, {0}),
    {.name = "alias.default", .args = {SELF}, .shape = same_shape, .stops = true},
    {.name = "detach.default", .args = {SELF}, .shape = same_shape, .stops = true},
    COPY("view.default", view_shape, {"size", CBX_ARG_INTS}),
    COPY("_unsafe_view.default", view_shape, {"size", CBX_ARG_INTS}),
    COPY("reshape.default", view_shape, {"shape", CBX_ARG_INTS}),
    COPY("cbx.merge", merge_shape, {"dim", CBX_ARG_INT}, {"count", CBX_ARG_INT}),
    {.name = "cbx.view_as",
     .args = {SELF, {"other", CBX_ARG_ARRAY}},
     .state = sizeof(reshape),
     .shape = view_as_shape,
     .forward = copy_run,
     .backward = copy_reverse,
     .shape_inputs = CBX_IN(1),
     .tags = CBX_TAGS_MOVE,
     .move_tags = copy_tags,
     .reshapes = true},
    COPY("cbx.dense", dense_shape, {0}),
    COPY("cbx.rows", rows_shape, {0}),
    COPY("cbx.matrix", matrix_shape, {0}),
    {0},
};
