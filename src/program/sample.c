/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c: a made-up graph. Sizes follow from roles; inputs without a role take the size of one
 * that has the same symbol in the file. */
#include "sample.h"

#include <string.h>

#include "error.h"
#include "rng.h"

enum { NODES = 12, EDGES = 30, GRAPHS = 3, PAIRS = 4 };

static bool begins(const char *name, const char *part)
{
    return !strncmp(name, part, strlen(part));
}

static int64_t size_by_role(cbx_role role)
{
    return role == CBX_ROLE_X || role == CBX_ROLE_BATCH ? NODES
           : role == CBX_ROLE_OTHER                     ? -1
                                                        : EDGES;
}

/* The size behind a symbol that an input with a role has in its open dimension; -1: none. */
static int64_t size_by_symbol(const cbx_program *p, const char *symbol)
{
    for (int32_t i = 0; symbol && i < p->info.num_inputs; i++) {
        const cbx_program_input *in = &p->inputs[i];
        int32_t                  dim = in->role == CBX_ROLE_EDGE_INDEX ? 1 : 0;
        if (in->role != CBX_ROLE_OTHER && in->rank > dim && in->symbol[dim] &&
            !strcmp(in->symbol[dim], symbol))
            return size_by_role(in->role);
    }
    return -1;
}

static int64_t open_size(const cbx_program *p, const cbx_program_input *in, int32_t dim)
{
    int64_t size = size_by_role(in->role);
    if (size < 0)
        size = size_by_symbol(p, in->symbol[dim]);
    if (size < 0 && in->type == CBX_INTEGER && in->rank == 2)
        size = PAIRS; /* such as the ends of links */
    if (size < 0)
        size = begins(in->name, "edge") ? EDGES : NODES;
    return size;
}

int32_t cbx_sample_edge_dim(const cbx_program *p, int32_t input)
{
    const cbx_program_input *in = &p->inputs[input];
    if (in->role == CBX_ROLE_EDGE_INDEX)
        return 1;
    if (in->role == CBX_ROLE_EDGE_ATTR || in->role == CBX_ROLE_EDGE_WEIGHT)
        return 0;
    return in->role == CBX_ROLE_OTHER && in->rank > 0 && in->size[0] < 0 &&
                   open_size(p, in, 0) == EDGES
               ? 0
               : -1;
}

static void fill_integers(const cbx_program_input *in, int64_t count, cbx_rng *rng, int64_t *to)
{
    for (int64_t i = 0; i < count; i++) {
        if (in->role == CBX_ROLE_BATCH)
            to[i] = i * GRAPHS / count;
        else if (in->role == CBX_ROLE_EDGE_INDEX) /* the last node stays alone */
            to[i] = (int64_t)cbx_rng_below(rng, NODES - 1);
        else
            to[i] = 0;
    }
    int64_t half = count / 2;
    if (in->role == CBX_ROLE_EDGE_INDEX && half > 3) {
        to[1] = to[half + 1]; /* a loop, and an edge that is there twice */
        to[2] = to[3];
        to[half + 2] = to[half + 3];
    }
}

static cbx_status fill(const cbx_program_input *in, int64_t count, cbx_rng *rng, cbx_arena *arena,
                       const void **out, cbx_error *err)
{
    void *data = cbx_arena_zalloc(arena, (size_t)count, cbx_type_size(in->type));
    *out = data;
    if (!data)
        return cbx_fail_memory(err);
    if (in->type == CBX_INTEGER) {
        fill_integers(in, count, rng, data);
        return CBX_OK;
    }
    for (int64_t i = 0; i < count; i++) {
        double value = cbx_rng_uniform(rng);
        value = in->role == CBX_ROLE_EDGE_WEIGHT ? 0.5 + value : 2 * value - 1;
        if (in->type == CBX_REAL32)
            ((float *)data)[i] = (float)value;
        else if (in->type == CBX_REAL64)
            ((double *)data)[i] = value;
        else
            ((uint8_t *)data)[i] = 1;
    }
    return CBX_OK;
}

cbx_status cbx_sample_make(const cbx_program *p, cbx_arena *arena, cbx_sample *out, cbx_error *err)
{
    cbx_rng    rng = cbx_rng_stream(1, 2, 3, 4);
    cbx_status status = CBX_OK;
    out->edges = EDGES;
    out->inputs = CBX_NEW0(arena, cbx_runner_input, p->info.num_inputs);
    if (!out->inputs)
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < p->info.num_inputs && !status; i++) {
        const cbx_program_input *in = &p->inputs[i];
        cbx_array                shape = {.rank = in->rank};
        for (int32_t d = 0; d < in->rank; d++)
            out->inputs[i].size[d] = shape.size[d] =
                in->size[d] < 0 ? open_size(p, in, d) : in->size[d];
        if (!cbx_array_pack(&shape) || (size_t)shape.count > CBX_SAMPLE_MOST / 8)
            return cbx_fail(err, CBX_INVALID, "%s: input '%s' is too large", p->info.path,
                            in->name);
        status = fill(in, shape.count, &rng, arena, &out->inputs[i].data, err);
    }
    return status;
}
