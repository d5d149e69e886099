/* SPDX-License-Identifier: Apache-2.0 */
/* removal.c: is a weight of 0 the same as a removal? Weights count in scatters only. A program
 * that reduces over edges in another way, with a softmax over all of them or by sorting them,
 * would still see removed ones, and every answer about it could be wrong. So each program is run
 * once with weights of 0 and once on the graph without these edges. */
#include <math.h>
#include <string.h>

#include "error.h"
#include "pt2.h"
#include "sample.h"

static bool is_removed(int64_t edge)
{
    return edge % 3 == 1; /* loops and repeated edges among them */
}

/* The entries of an input that belong to edges that stay. */
static cbx_status reduce(const cbx_program *p, int32_t input, cbx_runner_input *in,
                         cbx_arena *arena, cbx_error *err)
{
    int32_t dim = cbx_sample_edge_dim(p, input);
    int64_t kept = 0, outer = 1, inner = 1;
    size_t  size = cbx_type_size(p->inputs[input].type);
    if (dim < 0)
        return CBX_OK;
    for (int64_t e = 0; e < in->size[dim]; e++)
        kept += !is_removed(e);
    for (int32_t i = 0; i < p->inputs[input].rank; i++)
        *(i < dim ? &outer : &inner) *= i == dim ? 1 : in->size[i];
    char       *to = cbx_arena_alloc(arena, (size_t)(outer * kept * inner), size);
    const char *from = in->data;
    if (!to)
        return cbx_fail_memory(err);
    size_t entry = (size_t)inner * size;
    in->data = to;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t e = 0; e < in->size[dim]; e++, from += entry)
            if (!is_removed(e)) {
                memcpy(to, from, entry);
                to += entry;
            }
    in->size[dim] = kept;
    return CBX_OK;
}

static double element(const cbx_array *a, int64_t i)
{
    return a->type == CBX_REAL32 ? (double)((const float *)a->data)[i]
                                 : ((const double *)a->data)[i];
}

/* The largest difference, against the largest value; what is no number on both sides is equal. */
static cbx_status compare(const cbx_program *p, const cbx_array *a, const cbx_array *b,
                          cbx_error *err)
{
    double largest = 1, worst = 0;
    bool   same = cbx_array_same_shape(a, b);
    for (int64_t i = 0; same && i < a->count; i++) {
        double x = element(a, i), y = element(b, i);
        if (isfinite(x) && isfinite(y)) {
            largest = fmax(largest, fabs(y));
            worst = fmax(worst, fabs(x - y));
        } else if (isnan(x) != isnan(y) || (!isnan(x) && x != y)) {
            worst = INFINITY;
        }
    }
    if (same && worst <= 1e-4 * largest)
        return CBX_OK;
    return cbx_fail(
        err, CBX_INVALID,
        "%s: without some edges of a made-up graph the output is another than with "
        "weight 0 for them (by %g). The model reduces over edges by something else "
        "than sums, means or extremes of each node's, such as an order or a norm of all "
        "edges, and cannot be explained here",
        p->info.path, worst);
}

/* The output with weights of 0, or without the edges. */
static cbx_status run(cbx_runner *r, const cbx_program *p, const cbx_runner_input *inputs,
                      bool weighted, cbx_error *err)
{
    cbx_runner_options options = {.most = CBX_SAMPLE_MOST};
    cbx_status         status = cbx_runner_plan(r, inputs, &options, err);
    for (int32_t i = 0; i < p->info.num_inputs && !status && weighted; i++) {
        void *w = cbx_runner_weights(r, i);
        for (int64_t e = 0; w && e < inputs[i].size[1]; e++) {
            if (cbx_runner_real(r) == CBX_REAL32)
                ((float *)w)[e] = !is_removed(e);
            else
                ((double *)w)[e] = !is_removed(e);
        }
    }
    return status ? status : cbx_runner_forward(r, err);
}

cbx_status cbx_removal_check(const cbx_program *p, cbx_error *err)
{
    cbx_arena   arena = {0};
    cbx_runner *weighted = NULL, *removed = NULL;
    cbx_sample  sample;
    cbx_status  status = cbx_sample_make(p, &arena, &sample, err);
    for (int32_t i = 0; i < p->info.num_inputs && !status; i++)
        sample.inputs[i].weighted = p->inputs[i].role == CBX_ROLE_EDGE_INDEX;
    if (!status)
        status = cbx_runner_new(p, &weighted, err);
    if (!status)
        status = cbx_runner_new(p, &removed, err);
    if (!status)
        status = run(weighted, p, sample.inputs, true, err);
    for (int32_t i = 0; i < p->info.num_inputs && !status; i++)
        status = reduce(p, i, &sample.inputs[i], &arena, err);
    if (!status)
        status = run(removed, p, sample.inputs, false, err);
    if (!status)
        status = compare(p, cbx_runner_output(weighted), cbx_runner_output(removed), err);
    cbx_runner_free(weighted);
    cbx_runner_free(removed);
    cbx_arena_free(&arena);
    return status;
}
