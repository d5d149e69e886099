/* SPDX-License-Identifier: Apache-2.0 */
/* op_matmul.c: products of matrices, one or a stack of them. The second may lie transposed, as
 * weights do: a product reads it as it is. */
#include <string.h>

#include "error.h"
#include "ir.h"
#include "kernel.h"

/* y = alpha A B + beta C, for each of `stack` matrices. */
typedef struct product {
    int32_t m, n, k;
    int64_t stack, step_a, step_b; /* elements from one matrix of the stack to the next */
    bool    turned;                /* B lies transposed */
    double  alpha, beta;
} product;

/* Does the last pair of dimensions lie as columns? */
static bool is_turned(const cbx_array *a)
{
    return a->stride[a->rank - 1] != 1 && a->size[a->rank - 1] > 1;
}

static cbx_status product_shape(cbx_call *c, const cbx_array *a, const cbx_array *b, cbx_error *err)
{
    product *s = c->state;
    int32_t  r = a->rank;
    char     x[96], y[96];
    if (r < 2 || r > 3 || b->rank != r || a->size[r - 1] != b->size[r - 2] ||
        (r == 3 && a->size[0] != b->size[0]))
        return cbx_call_fail(c, err, "of %s and %s", cbx_array_shape(a, x, sizeof x),
                             cbx_array_shape(b, y, sizeof y));
    if (!cbx_is_real(a->type) || b->type != a->type || c->out[0]->type != a->type)
        return cbx_call_fail(c, err, "of %s and %s", cbx_type_name(a->type),
                             cbx_type_name(b->type));
    if (a->size[r - 2] > INT32_MAX || a->size[r - 1] > INT32_MAX || b->size[r - 1] > INT32_MAX)
        return cbx_call_fail(c, err, "of more than 2^31 rows or columns");
    *s = (product){.m = (int32_t)a->size[r - 2],
                   .n = (int32_t)b->size[r - 1],
                   .k = (int32_t)a->size[r - 1],
                   .stack = r == 3 ? a->size[0] : 1,
                   .step_a = r == 3 ? a->stride[0] : 0,
                   .step_b = r == 3 ? b->stride[0] : 0,
                   .turned = is_turned(b),
                   .alpha = 1};
    int64_t size[] = {s->stack, s->m, s->n};
    return cbx_out_new(c, 0, r, r == 3 ? size : size + 1, err);
}

/* A matrix of weights, once as it is and once transposed: products without transposition are the
 * fastest, forwards and backwards. Both are made when the program is read. */
static cbx_status lower_product(cbx_builder *b, cbx_node *n, cbx_error *err)
{
    cbx_program    *p = b->program;
    int32_t         place = n->num_inputs - 1, weight = n->input[place];
    const cbx_node *by = p->values[weight].node < 0 ? NULL : &p->nodes[p->values[weight].node];
    bool            seen = by && by->num_inputs == 1 && p->values[by->input[0]].constant;
    if (!p->values[weight].constant && !seen)
        return CBX_OK;
    cbx_type type = p->values[weight].type;
    cbx_arg  args[CBX_ARGS] = {[1] = cbx_build_int(b, 0), [2] = cbx_build_int(b, 1)};
    int32_t  turned = cbx_build_call(b, "transpose.int", 1, &weight, args, weight, type);
    if (turned >= 0)
        turned = cbx_build_call(b, "cbx.dense", 1, &turned, NULL, turned, type);
    int32_t  dense = cbx_build_call(b, "cbx.dense", 1, &weight, NULL, weight, type);
    int32_t *input = CBX_NEW(b->arena, int32_t, place + 2);
    if (turned < 0 || dense < 0 || !input)
        return cbx_fail_memory(err);
    memcpy(input, n->input, (size_t)place * sizeof *input);
    input[place] = dense;
    input[place + 1] = turned;
    n->input = input;
    n->num_inputs = place + 2;
    return CBX_OK;
}

typedef enum layout { NN, NT, TN } layout; /* which operand is read transposed */

/* C = A B or C += A B, C being m x n, everything packed. */
static void multiply(cbx_type type, layout how, int32_t m, int32_t n, int32_t k, const void *A,
                     const void *B, void *C, bool add)
{
    if (type == CBX_REAL64)
        cbx_dgemm(how == TN, how == NT, m, n, k, A, B, C, add);
    else if (how == NN)
        cbx_gemm_nn(m, n, k, A, B, C, add, 1);
    else if (how == NT)
        cbx_gemm_nt(m, n, k, A, B, C, add, 1);
    else
        cbx_gemm_tn(m, n, k, A, B, C, add, 1);
}

/* Matrix i of a stack. */
static void *matrix(void *first, int64_t i, int64_t step, cbx_type type)
{
    return (char *)first + i * step * (int64_t)cbx_type_size(type);
}

static void run_all(const product *s, const cbx_array *a, const cbx_array *b, cbx_array *y,
                    bool add)
{
    for (int64_t i = 0; i < s->stack; i++)
        multiply(y->type, s->turned ? NT : NN, s->m, s->n, s->k,
                 matrix(a->data, i, s->step_a, a->type), matrix(b->data, i, s->step_b, b->type),
                 matrix(y->data, i, (int64_t)s->m * s->n, y->type), add);
}

/* dA = G B' and dB = A' G; of a B that lies transposed, dB' = G' A. */
static void reverse_all(cbx_call *c, int32_t place_a, int32_t place_b)
{
    const product   *s = c->state;
    const cbx_array *a = c->in[place_a], *b = c->in[place_b], *y = c->out[0];
    cbx_type         type = y->type;
    const cbx_array *turned = place_b + 1 < c->node->num_inputs ? c->in[place_b + 1] : NULL;
    if (turned) { /* of weights, which have no gradient */
        if (c->mode[place_a])
            multiply(type, NN, s->m, s->k, s->n, y->grad, turned->data, a->grad,
                     c->mode[place_a] == CBX_GRAD_ADD);
        return;
    }
    for (int64_t i = 0; i < s->stack && c->mode[place_a]; i++)
        multiply(type, s->turned ? NN : NT, s->m, s->k, s->n,
                 matrix(y->grad, i, (int64_t)s->m * s->n, type),
                 matrix(b->data, i, s->step_b, type), matrix(a->grad, i, s->step_a, type),
                 c->mode[place_a] == CBX_GRAD_ADD);
    bool shared = s->stack > 1 && s->step_b == 0; /* one B for all */
    if (shared)
        cbx_grad_open(c, place_b);
    for (int64_t i = 0; i < s->stack && c->mode[place_b]; i++) {
        bool  add = shared || c->mode[place_b] == CBX_GRAD_ADD;
        void *G = matrix(y->grad, i, (int64_t)s->m * s->n, type);
        void *A = matrix(a->data, i, s->step_a, type), *D = matrix(b->grad, i, s->step_b, type);
        if (s->turned)
            multiply(type, TN, s->n, s->k, s->m, G, A, D, add);
        else
            multiply(type, TN, s->k, s->n, s->m, A, G, D, add);
    }
}

/* ---- mm and bmm */

static cbx_status mm_shape(cbx_call *c, cbx_error *err)
{
    return product_shape(c, c->in[0], c->in[1], err);
}

static cbx_status mm_run(cbx_call *c, cbx_error *err)
{
    (void)err;
    run_all(c->state, c->in[0], c->in[1], c->out[0], false);
    return CBX_OK;
}

static void mm_reverse(cbx_call *c)
{
    reverse_all(c, 0, 1);
}

/* ---- addmm: beta self + alpha mat1 mat2 */

static cbx_status addmm_shape(cbx_call *c, cbx_error *err)
{
    product   *s = c->state;
    cbx_status status = product_shape(c, c->in[1], c->in[2], err);
    if (status)
        return status;
    cbx_array *y = c->out[0], *self = c->in[0];
    if (self->type != y->type)
        return cbx_call_fail(c, err, "adds %s to %s", cbx_type_name(self->type),
                             cbx_type_name(y->type));
    for (int32_t i = 1; i <= self->rank; i++)
        if (i > y->rank ||
            (self->size[self->rank - i] != 1 && self->size[self->rank - i] != y->size[y->rank - i]))
            return cbx_call_fail(c, err, "adds a tensor of another shape");
    s->beta = cbx_call_real(c, 3);
    s->alpha = cbx_call_real(c, 4);
    return CBX_OK;
}

static void scale(const cbx_array *a, void *data, double factor)
{
    for (int64_t i = 0; i < a->count && factor != 1; i++) {
        if (a->type == CBX_REAL32)
            ((float *)data)[i] *= (float)factor;
        else
            ((double *)data)[i] *= factor;
    }
}

static cbx_status addmm_run(cbx_call *c, cbx_error *err)
{
    product   *s = c->state;
    cbx_array *y = c->out[0];
    (void)err;
    if (s->alpha == 1 && s->beta == 1) {
        cbx_array_copy(y, y->data, c->in[0], c->in[0]->data);
        run_all(s, c->in[1], c->in[2], y, true);
        return CBX_OK;
    }
    /* y = beta (alpha / beta A B + self) would divide by 0 */
    run_all(s, c->in[1], c->in[2], y, false);
    if (s->beta == 0) {
        scale(y, y->data, s->alpha);
        return CBX_OK;
    }
    scale(y, y->data, s->alpha / s->beta);
    cbx_array_add(y, y, y->data, c->in[0], c->in[0]->data);
    scale(y, y->data, s->beta);
    return CBX_OK;
}

/* The output's gradient is scaled in place: it is read nowhere else. */
static void addmm_reverse(cbx_call *c)
{
    product   *s = c->state;
    cbx_array *y = c->out[0];
    if (s->beta == 0) {
        cbx_grad_open(c, 0);
        scale(y, y->grad, s->alpha);
    } else {
        scale(y, y->grad, s->beta);
        cbx_grad_put(c, 0, y, y->grad);
        scale(y, y->grad, s->alpha / s->beta);
    }
    reverse_all(c, 1, 2);
}

const cbx_op cbx_ops_matmul[] = {
    {.name = "mm.default",
     .args = {{"self", CBX_ARG_ARRAY}, {"mat2", CBX_ARG_ARRAY}},
     .lower = lower_product,
     .dense = CBX_IN(0),
     .matrices = CBX_IN(1),
     .state = sizeof(product),
     .shape = mm_shape,
     .forward = mm_run,
     .backward = mm_reverse,
     .reads = {CBX_IN(1) | CBX_IN(2), CBX_IN(0)},
     .reach = CBX_REACH_PRODUCT,
     .reach_arg = 0},
    {.name = "bmm.default",
     .args = {{"self", CBX_ARG_ARRAY}, {"mat2", CBX_ARG_ARRAY}},
     .dense = CBX_IN(0),
     .matrices = CBX_IN(1),
     .state = sizeof(product),
     .shape = mm_shape,
     .forward = mm_run,
     .backward = mm_reverse,
     .reads = {CBX_IN(1), CBX_IN(0)},
     .reach = CBX_REACH_PRODUCT,
     .reach_arg = 0},
    {.name = "addmm.default",
     .args = {{"self", CBX_ARG_ARRAY},
              {"mat1", CBX_ARG_ARRAY},
              {"mat2", CBX_ARG_ARRAY},
              {"beta", CBX_ARG_REAL, true, 1},
              {"alpha", CBX_ARG_REAL, true, 1}},
     .lower = lower_product,
     .dense = CBX_IN(1),
     .matrices = CBX_IN(2),
     .state = sizeof(product),
     .shape = addmm_shape,
     .forward = addmm_run,
     .backward = addmm_reverse,
     .reads = {0, CBX_IN(2) | CBX_IN(3), CBX_IN(1)},
     .reach = CBX_REACH_PRODUCT,
     .reach_arg = 1},
    {0},
};
