/* SPDX-License-Identifier: Apache-2.0 */
/* activation.c: what a program does to its scores last.
 *
 * A softmax or a sigmoid at the end says what the scores mean: classes that exclude each other, or
 * labels, each for itself. It also hides them: a probability of 1 in single precision is that of
 * every score beyond 17. So it is taken off, and what it was is told. */
#include <string.h>

#include "ir.h"

static const struct {
    const char    *op;
    cbx_activation what;
} known[] = {
    {"sigmoid.default", CBX_ACTIVATION_SIGMOID},
    {"_softmax.default", CBX_ACTIVATION_SOFTMAX},
    {"_log_softmax.default", CBX_ACTIVATION_SOFTMAX},
};

static cbx_activation activation_of(const cbx_node *n)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(n->op->name, known[i].op))
            return known[i].what;
    return CBX_ACTIVATION_NONE;
}

/* Is a softmax one over the classes, which are the last dimension? One over nodes says nothing of
 * classes, and is part of the model. */
static bool is_of_classes(const cbx_program *p, const cbx_node *n)
{
    const cbx_value *in = &p->values[n->input[0]], *out = &p->values[p->output];
    const cbx_arg   *dim = &n->arg[1];
    if (dim->kind != CBX_ARG_INT || !dim->ints || dim->ints[0].value >= 0 || in->rank < 1)
        return false;
    int64_t last = in->rank - 1, along = dim->ints[0].literal;
    return (along < 0 ? along + in->rank : along) == last && out->rank > 0 &&
           in->size[last] == out->size[out->rank - 1];
}

/* How often a value is read. */
static int32_t readers(const cbx_program *p, int32_t value)
{
    int32_t count = 0;
    for (int32_t i = 0; i < p->num_nodes; i++)
        for (int32_t k = 0; k < p->nodes[i].num_inputs; k++)
            count += p->nodes[i].input[k] == value;
    return count;
}

/* Behind it there may be views, such as one that drops a dimension of 1, which nothing else
 * reads. */
cbx_activation cbx_program_strip(cbx_program *p)
{
    int32_t  value = p->output;
    int32_t *place = &p->output; /* where `value` is read */
    for (;;) {
        cbx_node *n = p->values[value].node >= 0 ? &p->nodes[p->values[value].node] : NULL;
        if (!n || n->num_inputs < 1 || n->input[0] < 0)
            return CBX_ACTIVATION_NONE;
        cbx_activation what = activation_of(n);
        if (what == CBX_ACTIVATION_SOFTMAX && !is_of_classes(p, n))
            return CBX_ACTIVATION_NONE;
        if (what != CBX_ACTIVATION_NONE) {
            *place = n->input[0];
            return what;
        }
        if (!n->op->reshapes || readers(p, value) > (place == &p->output ? 0 : 1))
            return CBX_ACTIVATION_NONE;
        place = &n->input[0];
        value = n->input[0];
    }
}
