/* SPDX-License-Identifier: Apache-2.0 */
/* registered.c: methods from outside as explainers among the others.
 *
 * Each has a slot, and each slot a search function of its own, because that is how a search knows
 * which method it is. */
#include "registered.h"

#include <string.h>

#include "error.h"
#include "verify.h"

typedef struct slot {
    cbx_method    method;
    cbx_explainer explainer;
} slot;

static slot slots[CBX_METHODS_MOST];
static int  num_slots;

static cbx_search *inside(cbx_method_search *search)
{
    return (cbx_search *)search;
}

/* An edit for everything that can be removed: each pair of nodes once, or each edge. */
static cbx_status list_removals(cbx_search *s, cbx_method_task *task, cbx_error *err)
{
    const cbx_view *v = s->view;
    bool            pairs = s->options->edges == CBX_EDGES_UNDIRECTED;
    cbx_edit       *edits = CBX_NEW(s->arena, cbx_edit, s->num_removable);
    if (!edits)
        return cbx_fail_memory(err);
    for (int32_t target = 0; target < v->n; target++) {
        for (int64_t e = v->offset[target]; e < v->offset[target + 1]; e++) {
            if (pairs && s->slot_of[s->pair_of[e]] != e)
                continue;
            edits[task->num_removals++] = cbx_search_edit_of_slot(s, target, e, pairs);
        }
    }
    task->removals = edits;
    return CBX_OK;
}

static cbx_status search_slot(cbx_search *s, const slot *at, cbx_error *err)
{
    cbx_method_task task = {.size = sizeof task,
                            .model = s->model,
                            .graph = s->graph,
                            .row = s->row,
                            .prediction = s->prediction,
                            .target = s->target,
                            .epochs = s->options->epochs,
                            .seed = s->options->seed,
                            .settings = s->settings,
                            .user = at->method.user};
    cbx_status      status = list_removals(s, &task, err);
    return status ? status : at->method.search((cbx_method_search *)s, &task, err);
}

#define EACH(X) \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define X(i)                                                    \
    static cbx_status search_##i(cbx_search *s, cbx_error *err) \
    {                                                           \
        return search_slot(s, &slots[i], err);                  \
    }
EACH(X)
#undef X

static cbx_status (*const searches[])(cbx_search *, cbx_error *) = {
#define X(i) search_##i,
    EACH(X)
#undef X
};
_Static_assert(sizeof searches / sizeof *searches == CBX_METHODS_MOST, "a search for each slot");

const cbx_explainer *cbx_registered_at(int i)
{
    return i < num_slots ? &slots[i].explainer : NULL;
}

/* No option may hide another. */
static cbx_status check_options(const cbx_method *m, cbx_error *err)
{
    const cbx_option *own, *other;
    for (size_t i = 0; m->options && (own = cbx_option_at(m->options, i)); i++)
        for (size_t k = 0; (other = cbx_option_at(cbx_explain_table(), k)); k++)
            if (!strcmp(own->name, other->name))
                return cbx_fail(err, CBX_INVALID, "method '%s': there is an option '%s' already",
                                m->name, own->name);
    return CBX_OK;
}

static cbx_status check(const cbx_method *m, cbx_error *err)
{
    if (m->size != sizeof *m)
        return cbx_fail(err, CBX_INVALID,
                        "a method of %zu bytes was built for another version: it has %zu here",
                        m->size, sizeof *m);
    if (!m->name || !*m->name || !m->search)
        return cbx_fail(err, CBX_INVALID, "a method needs a name and a search function");
    for (const char *const *name = cbx_explainer_names; *name; name++)
        if (!strcmp(*name, m->name))
            return cbx_fail(err, CBX_INVALID, "there is a method '%s' already", m->name);
    if (num_slots == CBX_METHODS_MOST)
        return cbx_fail(err, CBX_INVALID, "method '%s': there are %d from outside already", m->name,
                        num_slots);
    if (m->options && m->options->size > cbx_explainers_room())
        return cbx_fail(err, CBX_INVALID,
                        "method '%s': its options take %zu bytes, and %zu are left", m->name,
                        m->options->size, cbx_explainers_room());
    if (m->options && m->options->part)
        return cbx_fail(err, CBX_INVALID, "method '%s': its options are in parts", m->name);
    return check_options(m, err);
}

cbx_status cbx_method_register(const cbx_method *method, cbx_error *err)
{
    cbx_status status = check(method, err);
    if (status)
        return status;
    slot *at = &slots[num_slots];
    at->method = *method;
    at->explainer = (cbx_explainer){
        .name = method->name, .search = searches[num_slots], .options = method->options};
    cbx_explainers_name(num_slots, method->name);
    num_slots++;
    return CBX_OK;
}

/* ---- what a method may ask */

cbx_status cbx_method_try(cbx_method_search *search, const cbx_edit *edits, int64_t count,
                          float *log_probs, bool *flips, cbx_error *err)
{
    const cbx_search *s = inside(search);
    cbx_status status = cbx_verify_edits(s->model, s->graph, s->row, edits, count, log_probs, err);
    *flips = !status && !cbx_time_is_up() && cbx_search_hits(s, cbx_search_class(s, log_probs));
    return status;
}

bool cbx_method_should_stop(cbx_method_search *search, int64_t step)
{
    cbx_search *s = inside(search);
    s->epochs = step;
    return cbx_search_should_stop_at(s, step) || cbx_search_is_late(s);
}

cbx_status cbx_method_answer(cbx_method_search *search, const cbx_edit *edits, int64_t count,
                             double loss, cbx_error *err)
{
    cbx_search *s = inside(search);
    cbx_status  status = cbx_search_make_edits(s, count, err);
    if (status)
        return status;
    if (count)
        memcpy(s->edits, edits, (size_t)count * sizeof *edits);
    s->num_edits = count;
    s->found = true;
    s->epoch = s->epochs;
    s->loss = loss;
    cbx_search_reserve(s, count);
    return CBX_OK;
}
