/* SPDX-License-Identifier: Apache-2.0 */
/* registered_layers.c: layers from outside as tables of functions like the others.
 *
 * They see a dense input and the edges' own weights. What they do with them is not known, so no
 * trait is declared for them. */
#include "registered_layers.h"

#include <stdio.h>
#include <string.h>

#include "error.h"
#include "matrix.h"
#include "traits.h"

typedef struct slot {
    cbx_layer_ops  ops; /* first: a layer's ops lead to its slot */
    cbx_layer_kind kind;
} slot;

static slot slots[CBX_LAYERS_MOST];
static int  num_slots;

static const cbx_layer_kind *kind_of(const cbx_layer *l)
{
    return &((const slot *)(const void *)l->ops)->kind;
}

static bool parameter(const cbx_layer *l, int32_t i, cbx_parameter *out)
{
    const cbx_layer_kind *kind = kind_of(l);
    cbx_layer_parameter   p = {.rows = 0};
    if (!kind->parameter(kind->user, i, l->n_in, l->n_out, &p))
        return false;
    *out = (cbx_parameter){
        .rows = p.rows, .cols = p.cols, .init = p.zero ? CBX_INIT_ZERO : CBX_INIT_LINEAR};
    memcpy(out->name, p.name, sizeof out->name);
    out->name[sizeof out->name - 1] = '\0';
    return true;
}

static size_t saved(const cbx_layer *l, const cbx_step *s)
{
    (void)l;
    (void)s;
    return 0;
}

/* The input, where it is sparse. */
static size_t scratch(const cbx_layer *l, const cbx_step *s)
{
    return s->X && s->X->dense ? 0 : (size_t)s->rows_in * (size_t)l->n_in;
}

static cbx_layer_call call_of(const cbx_layer *l, const cbx_step *s)
{
    if (!s->X->dense)
        cbx_matrix_expand(s->X, s->rows_in, s->tmp);
    return (cbx_layer_call){.size = sizeof(cbx_layer_call),
                            .n_in = l->n_in,
                            .n_out = l->n_out,
                            .rows_in = s->rows_in,
                            .rows_out = s->rows_out,
                            .offset = s->view->offset,
                            .source = s->view->source,
                            .weight = s->A.value,
                            .x = s->X->dense ? s->X->dense : s->tmp,
                            .parameters = l->theta,
                            .user = kind_of(l)->user};
}

static void forward(const cbx_layer *l, const cbx_step *s)
{
    cbx_layer_call call = call_of(l, s);
    kind_of(l)->forward(&call, s->Y);
}

static void backward(const cbx_layer *l, const cbx_step *s, const cbx_step_grad *g)
{
    cbx_layer_call call = call_of(l, s);
    if (g->dX)
        memset(g->dX, 0, (size_t)s->rows_in * (size_t)l->n_in * sizeof *g->dX);
    kind_of(l)->backward(&call, g->dY, g->dX, g->dvalue, g->dtheta);
}

const cbx_layer_ops *cbx_registered_layer_at(int i)
{
    return i < num_slots ? &slots[i].ops : NULL;
}

static cbx_status check(const cbx_layer_kind *k, cbx_error *err)
{
    if (k->size != sizeof *k)
        return cbx_fail(err, CBX_INVALID,
                        "a layer of %zu bytes was built for another version: it has %zu here",
                        k->size, sizeof *k);
    if (!k->name || !*k->name || !k->parameter || !k->forward || !k->backward)
        return cbx_fail(err, CBX_INVALID,
                        "a layer needs a name, its parameters, forward and backward");
    if (cbx_layer_find(k->name))
        return cbx_fail(err, CBX_INVALID, "there is a layer '%s' already", k->name);
    if (num_slots == CBX_LAYERS_MOST)
        return cbx_fail(err, CBX_INVALID, "layer '%s': there are %d from outside already", k->name,
                        num_slots);
    return CBX_OK;
}

cbx_status cbx_layer_register(const cbx_layer_kind *kind, cbx_error *err)
{
    cbx_status status = check(kind, err);
    if (status)
        return status;
    slots[num_slots] = (slot){.ops = {.name = kind->name,
                                      .norm = cbx_trait_no_norm,
                                      .reach = cbx_trait_one_hop,
                                      .parameter = parameter,
                                      .saved = saved,
                                      .scratch = scratch,
                                      .forward = forward,
                                      .backward = backward},
                              .kind = *kind};
    cbx_layers_name(num_slots, kind->name);
    num_slots++;
    return CBX_OK;
}
