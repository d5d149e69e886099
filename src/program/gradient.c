/* SPDX-License-Identifier: Apache-2.0 */
/* gradient.c: the reverse of a list of calls.
 *
 * A gradient belongs to a storage, and views of the storage are views of it: what selects,
 * slices or expands has no backward. The first call that touches a gradient sets it, if it
 * covers all of it; else it is cleared first. Later calls add. */
#include "error.h"
#include "runner.h"

static bool passes(const cbx_op *op, int32_t k)
{
    return op->backward && (!op->passes || op->passes >> (k < 31 ? k : 31) & 1);
}

/* Views and calls alike, in the order of nodes: which values need a gradient? */
static cbx_status mark_needs(cbx_runner *r, cbx_error *err)
{
    const cbx_program *p = r->program;
    for (int32_t i = 0; i < p->num_nodes; i++) {
        const cbx_node *n = &p->nodes[i];
        bool            any = false;
        for (int32_t k = 0; k < n->num_inputs; k++) {
            int32_t v = n->input[k];
            if (v < 0 || r->mark[v].absent || !r->mark[v].needs_grad)
                continue;
            bool view = r->array[n->output[0]].storage == r->array[v].storage;
            if (!view && n->op->backward && !passes(n->op, k))
                return cbx_fail(err, CBX_INVALID,
                                "%s: '%.80s' (%s): the gradient of argument %d is not known here",
                                p->info.path, n->name, n->op->name, k);
            any |= view || passes(n->op, k);
        }
        for (int32_t k = 0; k < n->num_outputs; k++)
            r->mark[n->output[k]].needs_grad = any && !n->op->stops &&
                                               !p->values[n->output[k]].number &&
                                               cbx_is_real(p->values[n->output[k]].type);
    }
    return CBX_OK;
}

/* And backwards: which of them does the output depend on? */
static void mark_reached(cbx_runner *r)
{
    const cbx_program *p = r->program;
    r->mark[p->output].reached = r->mark[p->output].needs_grad;
    for (int32_t i = p->num_nodes; i-- > 0;) {
        const cbx_node *n = &p->nodes[i];
        bool            any = false;
        for (int32_t k = 0; k < n->num_outputs; k++)
            any |= r->mark[n->output[k]].reached;
        for (int32_t k = 0; any && k < n->num_inputs; k++) {
            int32_t v = n->input[k];
            if (v >= 0 && !r->mark[v].absent && r->mark[v].needs_grad &&
                (passes(n->op, k) || r->array[n->output[0]].storage == r->array[v].storage))
                r->mark[v].reached = true;
        }
    }
}

static bool is_reached(const cbx_call *c)
{
    for (int32_t k = 0; k < c->node->num_outputs; k++)
        if (c->runner->mark[c->node->output[k]].reached)
            return true;
    return false;
}

/* Inputs of one call: set, add, or clear first and add. */
static void choose_modes(cbx_runner *r, cbx_call *c, int32_t time)
{
    const cbx_node *n = c->node;
    for (int32_t k = 0; k < n->num_inputs; k++) {
        if (!c->in[k] || !r->mark[n->input[k]].reached || !passes(n->op, k))
            continue;
        cbx_storage *s = &r->storage[c->in[k]->storage];
        c->mode[k] = CBX_GRAD_ADD;
        if (!s->grad_wanted) {
            s->grad_wanted = true;
            s->grad_born = time;
            if (c->in[k]->whole)
                c->mode[k] = CBX_GRAD_SET;
            else
                r->back[r->num_back++] = (cbx_back){.clear = c->in[k]->storage};
        }
    }
}

cbx_status cbx_runner_plan_gradient(cbx_runner *r, cbx_error *err)
{
    cbx_status status = mark_needs(r, err);
    if (status)
        return status;
    mark_reached(r);
    const cbx_array *out = &r->array[r->program->output];
    if (!r->mark[r->program->output].reached)
        return CBX_OK; /* all gradients are 0 */
    cbx_storage *s = &r->storage[out->storage];
    s->grad_wanted = s->grad_pinned = true;
    r->clear_output = !out->whole;
    for (int32_t i = r->num_calls; i-- > 0;) {
        cbx_call *c = &r->calls[i];
        if (!c->node->op->backward || !is_reached(c))
            continue;
        int32_t time = r->num_calls + r->num_back;
        choose_modes(r, c, time);
        r->back[r->num_back++] = (cbx_back){.call = c};
    }
    return CBX_OK;
}
