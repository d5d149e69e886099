/* SPDX-License-Identifier: Apache-2.0 */
/* hops.c: how far the output of one node looks, in features and in edges.
 *
 * A tensor over nodes looks `node` steps far. Over edges it looks `source` far from the source and
 * `target` far from the target of an edge. Gathering by the source turns node into source;
 * scattering to the target turns source into node + 1, and target into node, for a target looks
 * at what is at hand. What works row by row looks as far as its inputs do. What mixes rows,
 * in a sum over nodes or by an index that stands for no edge, looks at the whole graph.
 *
 * Which end of an edge an index holds is in its tags, so the program is run once. */
#include <string.h>

#include "error.h"
#include "pt2.h"
#include "runner.h"
#include "sample.h"

enum { NEVER = -1, WHOLE = CBX_WHOLE_GRAPH };

typedef struct look {
    int32_t node, source, target;
} look;

typedef struct looks {
    look of[2]; /* features, edges */
} looks;

static const looks nothing = {{{NEVER, NEVER, NEVER}, {NEVER, NEVER, NEVER}}};

static int32_t most(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t further(int32_t far, bool step)
{
    return far == NEVER || far == WHOLE ? far : far + step;
}

static int32_t furthest(const look *l)
{
    return most(l->node, most(l->source, l->target));
}

/* ---- does a node mix rows? */

static bool is_symbolic(const cbx_value *v, int64_t dim)
{
    dim = dim < 0 ? dim + v->rank : dim;
    return dim >= 0 && dim < v->rank && v->symbolic >> dim & 1;
}

static int64_t first_int(const cbx_node *n, int32_t k)
{
    return n->arg[k].ints && n->arg[k].count && n->arg[k].ints[0].value < 0
               ? n->arg[k].ints[0].literal
               : 0;
}

static bool mixes(const cbx_program *p, const cbx_node *n, const looks *of)
{
    const cbx_op    *op = n->op;
    const cbx_value *self = n->num_inputs ? &p->values[n->input[0]] : NULL;
    const cbx_arg   *arg = &n->arg[op->reach_arg];
    bool             any = false;
    if (!self)
        return false;
    switch (op->reach) {
    case CBX_REACH_OVER:
        for (int32_t i = 0; arg->ints && i < arg->count; i++)
            any |= is_symbolic(self, arg->ints[i].literal);
        return arg->ints && arg->count ? any : self->symbolic != 0;
    case CBX_REACH_ALL:
        return self->symbolic != 0;
    case CBX_REACH_TAIL:
        for (int32_t i = 1; i <= arg->count; i++)
            any |= is_symbolic(self, -i);
        return any;
    case CBX_REACH_PRODUCT:
        return is_symbolic(&p->values[n->input[op->reach_arg]], -1);
    case CBX_REACH_GATHER:
        return is_symbolic(self, first_int(n, op->reach_arg)) &&
               (of[n->input[0]].of[0].node > NEVER || of[n->input[0]].of[1].node > NEVER ||
                !strcmp(op->name, "cbx.index"));
    case CBX_REACH_SCATTER:
        return is_symbolic(self, first_int(n, op->reach_arg)) ||
               is_symbolic(&p->values[n->input[1]], 0);
    default:
        return false;
    }
}

/* ---- ends of edges */

/* Bit 0: some integers of an index are sources of edges; bit 1: some are targets. 0: it stands for
 * no edges, or what it indexes is itself integers that do. */
static uint32_t ends_of(const cbx_runner *r, int32_t self, int32_t value)
{
    const cbx_array *index = &r->array[value];
    uint32_t         ends = 0;
    if (r->array[self].tag || !index->tag)
        return 0;
    for (int64_t i = 0; i < index->count; i++) {
        int64_t tag = index->tag[index->rank == 1 ? i * index->stride[0] : i];
        ends |= tag >= 0 ? 1u << (tag % 2) : 0;
    }
    return ends ? ends : 3;
}

static look join(look a, look b)
{
    return (look){most(a.node, b.node), most(a.source, b.source), most(a.target, b.target)};
}

static look gather(look l, uint32_t ends)
{
    return (look){NEVER, most(l.source, ends & 1 ? l.node : NEVER),
                  most(l.target, ends & 2 ? l.node : NEVER)};
}

/* A node looks at the edges that come in, whatever they bring. */
static look scatter(look l, uint32_t ends, bool of_edges)
{
    int32_t far = most(further(l.source, ends & 2), further(l.target, ends & 1));
    return (look){most(most(l.node, of_edges ? 0 : NEVER), far), NEVER, NEVER};
}

static const look whole = {WHOLE, NEVER, NEVER};

static look look_of_propagate(const cbx_runner *r, const cbx_node *n, const looks *of, int32_t k)
{
    const cbx_program *p = r->program;
    look               rows = of[n->input[2]].of[k], l = of[n->input[0]].of[k];
    uint32_t           ends = ends_of(r, n->input[2], n->input[3]);
    if (ends)
        rows = gather(rows, ends);
    else if (rows.node > NEVER && is_symbolic(&p->values[n->input[2]], 0))
        rows = whole;
    l = join(l, rows);
    if (n->num_inputs > 5 && n->input[5] >= 0)
        l = join(l, of[n->input[5]].of[k]);
    ends = ends_of(r, n->input[0], n->input[1]);
    return ends ? scatter(l, ends, k) : furthest(&l) > NEVER ? whole : l;
}

static look look_of(const cbx_runner *r, const cbx_node *n, const looks *of, int32_t k)
{
    const cbx_op *op = n->op;
    look          l = {NEVER, NEVER, NEVER};
    bool          by_index = op->reach == CBX_REACH_GATHER || op->reach == CBX_REACH_SCATTER;
    if (op->reach == CBX_REACH_NOTHING)
        return l;
    if (op->reach == CBX_REACH_PROPAGATE)
        return look_of_propagate(r, n, of, k);
    for (int32_t i = 0; i < n->num_inputs; i++)
        if (n->input[i] >= 0 && !(op->shape_inputs >> (i < 31 ? i : 31) & 1))
            l = join(l, of[n->input[i]].of[k]);
    uint32_t ends = by_index ? ends_of(r, n->input[0], n->input[1]) : 0;
    if (ends)
        return op->reach == CBX_REACH_SCATTER ? scatter(l, ends, k) : gather(l, ends);
    return furthest(&l) > NEVER && mixes(r->program, n, of) ? whole : l;
}

/* ---- the program */

static void find(const cbx_runner *r, looks *of)
{
    const cbx_program *p = r->program;
    for (int32_t v = 0; v < p->num_values; v++)
        of[v] = nothing;
    for (int32_t i = 0; i < p->info.num_inputs; i++)
        if (p->inputs[i].role == CBX_ROLE_X)
            of[p->input_value[i]].of[0].node = 0;
    for (int32_t i = 0; i < p->num_nodes; i++) {
        const cbx_node *n = &p->nodes[i];
        looks           now = {{look_of(r, n, of, 0), look_of(r, n, of, 1)}};
        for (int32_t k = 0; k < n->num_outputs; k++)
            of[n->output[k]] = now;
    }
}

/* The file's word for the output is what callers make room by. */
static cbx_status check_output(const cbx_runner *r, cbx_error *err)
{
    const cbx_program_info *info = &r->program->info;
    const cbx_array        *y = cbx_runner_output(r);
    if (y->rank != info->output_rank)
        return cbx_fail(err, CBX_INVALID, "%s: output '%.80s' has %d dimensions, the file says %d",
                        info->path, info->output, y->rank, info->output_rank);
    for (int32_t i = 0; i < y->rank; i++)
        if (info->output_size[i] >= 0 && info->output_size[i] != y->size[i])
            return cbx_fail(err, CBX_INVALID,
                            "%s: output '%.80s' has size %lld in dimension %d, the file says %lld",
                            info->path, info->output, (long long)y->size[i], i,
                            (long long)info->output_size[i]);
    return CBX_OK;
}

cbx_status cbx_hops_find(cbx_program *p, cbx_error *err)
{
    cbx_runner r = {.program = p, .keep = true};
    cbx_arena  arena = {0};
    cbx_sample sample;
    looks     *of = CBX_NEW(&arena, looks, p->num_values);
    cbx_status status = of ? cbx_sample_make(p, &arena, &sample, err) : cbx_fail_memory(err);
    for (int32_t i = 0; i < p->info.num_inputs && !status; i++) {
        sample.inputs[i].live = cbx_is_real(p->inputs[i].type);
        sample.inputs[i].weighted =
            p->inputs[i].type == CBX_INTEGER && p->inputs[i].rank == 2 && p->inputs[i].size[0] == 2;
    }
    cbx_runner_options options = {.most = CBX_SAMPLE_MOST};
    if (!status)
        status = cbx_runner_plan(&r, sample.inputs, &options, err);
    if (!status)
        status = cbx_runner_forward(&r, err);
    if (!status)
        status = check_output(&r, err);
    if (!status) {
        find(&r, of);
        p->info.hops_x = furthest(&of[p->output].of[0]);
        p->info.hops_edges = furthest(&of[p->output].of[1]);
    }
    cbx_arena_free(&r.arena);
    cbx_arena_free(&arena);
    return status;
}
