/* SPDX-License-Identifier: Apache-2.0 */
/* op_propagate.c: what most layers do with a graph: rows are gathered by one end of each edge,
 * times a number or a few, and summed at the other end. Files have three operations for that, which
 * write a row for each edge between them; fuse.c finds them, and they become this one, which writes
 * none. */
#include <string.h>

#include "index.h"
#include "kernel.h"

typedef struct propagate {
    cbx_rows to, from;
    int64_t  heads, block; /* factors of a row, and elements that each is for */
} propagate;

#define SUM_PRAGMA _Pragma("omp simd reduction(+ : sum)")
#define T float
#define NAME(id) id##_32
#include "propagate_kernels.h"
#undef T
#undef NAME
#define T double
#define NAME(id) id##_64
#include "propagate_kernels.h"

/* Arguments: self, index, rows, sources, weights, factor, wraps_index, wraps_sources. */
enum { SELF_ARRAY, INDEX_ARRAY, ROWS_ARRAY, SOURCES_ARRAY, WEIGHTS_ARRAY, FACTOR_ARRAY };

static const void *data_of(const cbx_call *c, int32_t place)
{
    return place < c->node->num_inputs && c->in[place] ? c->in[place]->data : NULL;
}

static cbx_status propagate_shape(cbx_call *c, cbx_error *err)
{
    propagate       *s = c->state;
    const cbx_array *self = c->in[0], *rows = c->in[ROWS_ARRAY], *factor = c->in[FACTOR_ARRAY];
    s->to.wraps = cbx_call_real(c, 6) != 0;
    s->from.wraps = cbx_call_real(c, 7) != 0;
    cbx_status status = cbx_rows_shape(c, &s->to, SELF_ARRAY, INDEX_ARRAY, 0, false, err);
    if (!status)
        status = cbx_rows_shape(c, &s->from, ROWS_ARRAY, SOURCES_ARRAY, 0, false, err);
    if (status)
        return status;
    s->heads = factor && s->to.entries ? factor->count / s->to.entries : 1;
    s->block = s->heads ? s->to.inner / s->heads : 0;
    if (s->to.inner != s->from.inner || s->to.entries != s->from.entries ||
        s->heads * s->block != s->to.inner || rows->type != self->type ||
        (factor && (factor->count != s->heads * s->to.entries || factor->type != self->type)))
        return cbx_call_fail(c, err, "%lld rows of %lld brought to %lld of %lld",
                             (long long)s->from.entries, (long long)s->from.inner,
                             (long long)s->to.entries, (long long)s->to.inner);
    return cbx_out_new(c, 0, self->rank, self->size, err);
}

static cbx_status propagate_run(cbx_call *c, cbx_error *err)
{
    propagate *s = c->state;
    cbx_array *y = c->out[0];
    cbx_status status = CBX_OK;
    if (cbx_call_is_live(c, INDEX_ARRAY))
        status = cbx_rows_open(c, &s->to, err);
    if (!status && cbx_call_is_live(c, SOURCES_ARRAY))
        status = cbx_rows_open(c, &s->from, err);
    if (status)
        return status;
    cbx_array_copy(y, y->data, c->in[0], c->in[0]->data);
    const void *F = data_of(c, FACTOR_ARRAY), *M = data_of(c, WEIGHTS_ARRAY);
    if (y->type == CBX_REAL32)
        forward_32(s, c->in[ROWS_ARRAY]->data, F, M, y->data);
    else
        forward_64(s, c->in[ROWS_ARRAY]->data, F, M, y->data);
    return CBX_OK;
}

/* A gradient that is added to; NULL: it is not wanted. */
static void *open_gradient(cbx_call *c, int32_t k)
{
    if (!c->in[k] || c->mode[k] == CBX_GRAD_NONE)
        return NULL;
    cbx_grad_open(c, k);
    return c->in[k]->grad;
}

static void propagate_reverse(cbx_call *c)
{
    propagate  *s = c->state;
    cbx_array  *y = c->out[0];
    const void *F = data_of(c, FACTOR_ARRAY), *M = data_of(c, WEIGHTS_ARRAY);
    const void *H = c->in[ROWS_ARRAY]->data;
    cbx_grad_put(c, 0, y, y->grad);
    void *dh = open_gradient(c, ROWS_ARRAY), *dm = open_gradient(c, WEIGHTS_ARRAY);
    void *df = open_gradient(c, FACTOR_ARRAY);
    if (dh && (df || dm) && s->heads == 1) {
        if (y->type == CBX_REAL32)
            of_all_32(s, y->grad, H, F, M, dh, df, dm);
        else
            of_all_64(s, y->grad, H, F, M, dh, df, dm);
        return;
    }
    if (y->type == CBX_REAL32) {
        if (dh)
            of_rows_32(s, y->grad, F, M, dh);
        if (df || dm)
            of_factors_32(s, y->grad, H, F, M, df, dm);
    } else {
        if (dh)
            of_rows_64(s, y->grad, F, M, dh);
        if (df || dm)
            of_factors_64(s, y->grad, H, F, M, df, dm);
    }
}

#define ENDS (CBX_IN(INDEX_ARRAY) | CBX_IN(SOURCES_ARRAY) | CBX_IN(WEIGHTS_ARRAY))

const cbx_op cbx_ops_propagate[] = {
    {.name = "cbx.propagate",
     .args = {{"self", CBX_ARG_ARRAY},
              {"index", CBX_ARG_ARRAY},
              {"rows", CBX_ARG_ARRAY},
              {"sources", CBX_ARG_ARRAY},
              {"weights", CBX_ARG_ARRAY, true},
              {"factor", CBX_ARG_ARRAY, true},
              {"wraps_index", CBX_ARG_LOGIC, true},
              {"wraps_sources", CBX_ARG_LOGIC, true}},
     .typing = CBX_TYPING_FREE,
     .dense =
         CBX_IN(INDEX_ARRAY) | CBX_IN(ROWS_ARRAY) | CBX_IN(SOURCES_ARRAY) | CBX_IN(FACTOR_ARRAY),
     .rows = CBX_IN(SELF_ARRAY),
     .state = sizeof(propagate),
     .shape = propagate_shape,
     .forward = propagate_run,
     .backward = propagate_reverse,
     .reads = {0, 0, ENDS | CBX_IN(FACTOR_ARRAY), 0,
               ENDS | CBX_IN(ROWS_ARRAY) | CBX_IN(FACTOR_ARRAY)},
     .reach = CBX_REACH_PROPAGATE},
    {0},
};
