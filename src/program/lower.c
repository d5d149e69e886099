/* SPDX-License-Identifier: Apache-2.0 */
/* lower.c: what happens to each node between the file and the program: types are converted where
 * an operation wants them equal, layouts where its loops want them even. */
#include "error.h"
#include "ir.h"

static bool replace(cbx_builder *b, cbx_node *n, int32_t k, const char *op)
{
    int32_t v = n->input[k];
    if (v < 0)
        return true;
    n->input[k] = cbx_build_call(b, op, 1, &v, NULL, v, b->program->values[v].type);
    return n->input[k] >= 0;
}

/* Bits of inputs beyond the last go to all further ones. */
static bool has(uint32_t bits, int32_t k)
{
    return bits >> (k < 31 ? k : 31) & 1;
}

static cbx_status make_layouts(cbx_builder *b, cbx_node *n, cbx_error *err)
{
    for (int32_t k = 0; k < n->num_inputs; k++)
        if ((has(n->op->dense, k) && !replace(b, n, k, "cbx.dense")) ||
            (has(n->op->rows, k) && !replace(b, n, k, "cbx.rows")) ||
            (has(n->op->matrices, k) && !replace(b, n, k, "cbx.matrix")))
            return cbx_fail_memory(err);
    return CBX_OK;
}

static cbx_status cast_inputs(cbx_builder *b, cbx_node *n, int32_t first, cbx_type type,
                              cbx_error *err)
{
    for (int32_t k = first; k < n->num_inputs; k++) {
        if (n->input[k] < 0)
            continue;
        n->input[k] = cbx_build_cast(b, n->input[k], type);
        if (n->input[k] < 0)
            return cbx_fail_memory(err);
    }
    return CBX_OK;
}

/* The type that two become when they meet: reals before integers before logicals. Tensors
 * without dimensions, and numbers, raise the kind but not the precision. */
static cbx_type common_type(const cbx_builder *b, const cbx_node *n)
{
    static const int kind[CBX_TYPES] = {[CBX_REAL32] = 2, [CBX_REAL64] = 2, [CBX_INTEGER] = 1};
    cbx_type         best = CBX_LOGICAL;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < n->num_inputs; k++) {
            const cbx_value *v = n->input[k] < 0 ? NULL : &b->program->values[n->input[k]];
            if (!v || (v->rank == 0) != (pass == 1))
                continue;
            if (kind[v->type] > kind[best])
                best = pass && v->made && kind[v->type] == 2 ? CBX_REAL32 : v->type;
            else if (!pass && v->type == CBX_REAL64)
                best = CBX_REAL64;
        }
    return best;
}

static cbx_status apply_typing(cbx_builder *b, cbx_node *n, cbx_error *err)
{
    cbx_type out = n->num_outputs ? b->program->values[n->output[0]].type : CBX_REAL32;
    switch (n->op->typing) {
    case CBX_TYPING_PROMOTE:
        return cast_inputs(b, n, 0, out, err);
    case CBX_TYPING_CHOICE:
        return cast_inputs(b, n, 1, out, err);
    case CBX_TYPING_COMPARE:
        if (out != CBX_LOGICAL)
            return cbx_build_fail(b, n, err, "gives %s, bool expected", cbx_type_name(out));
        return cast_inputs(b, n, 0, common_type(b, n), err);
    case CBX_TYPING_SAME: {
        int32_t first = n->num_inputs ? n->input[0] : -1;
        if (first >= 0 && n->num_outputs && b->program->values[first].type != out)
            return cbx_build_fail(b, n, err, "makes %s of %s", cbx_type_name(out),
                                  cbx_type_name(b->program->values[first].type));
        return CBX_OK;
    }
    default:
        return CBX_OK;
    }
}

cbx_status cbx_build_lowered(cbx_builder *b, cbx_node *n, cbx_error *err)
{
    cbx_status status = apply_typing(b, n, err);
    if (!status && n->op->lower)
        status = n->op->lower(b, n, err);
    if (!status)
        status = make_layouts(b, n, err);
    return status ? status : cbx_build_node(b, n, err);
}
