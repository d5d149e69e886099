/* SPDX-License-Identifier: Apache-2.0 */
/* tags.c: which edge an integer stands for. A tag is twice the number of the edge's weight, plus
 * one where the integer is from the second row of the edge list; -1 is no edge. */
#include "op.h"

static int64_t no_tag = -1; /* written by nobody */

cbx_array cbx_tags_of(const cbx_array *a)
{
    cbx_array t = *a;
    t.type = CBX_INTEGER;
    t.data = a->tag;
    if (!a->tag) {
        t.data = &no_tag;
        for (int32_t i = 0; i < t.rank; i++)
            t.stride[i] = 0;
    }
    return t;
}

/* Merges the tags of `from` into those of `to`: parameters get the first clash. */
static void merge(const cbx_loops *l, void *const *at, const void *parameters)
{
    bool *clash = *(bool *const *)parameters;
    for (int64_t i = 0; i < l->size[1]; i++) {
        int64_t       *to = (int64_t *)at[0] + i * l->step[0][1];
        const int64_t *from = (const int64_t *)at[1] + i * l->step[1][1];
        for (int64_t k = 0; k < l->size[0]; k++) {
            int64_t *t = to + k * l->step[0][0], f = from[k * l->step[1][0]];
            if (*t < 0)
                *t = f;
            else if (f >= 0 && f / 2 != *t / 2)
                *clash = true;
        }
    }
}

cbx_status cbx_tags_merge(cbx_call *c, cbx_error *err)
{
    cbx_array   *out = c->out[0];
    bool         clash = false;
    bool *const  where = &clash;
    const size_t bytes[] = {8, 8};
    for (int64_t i = 0; i < out->count; i++)
        out->tag[i] = -1;
    for (int32_t k = 0; k < c->node->num_inputs; k++) {
        cbx_loops loops;
        if (!c->in[k] || !c->in[k]->tag || c->in[k]->type != CBX_INTEGER ||
            c->node->op->shape_inputs & CBX_IN(k < 31 ? k : 31))
            continue;
        cbx_loops_make(&loops, out, 2, (const cbx_array *const[]){out, c->in[k]});
        cbx_loops_run(&loops, merge, 2, (void *const[]){out->tag, c->in[k]->tag}, bytes, &where);
    }
    return clash ? cbx_call_fail(c, err,
                                 "computes one integer out of two edges, so that it is "
                                 "not known whose weight counts")
                 : CBX_OK;
}
