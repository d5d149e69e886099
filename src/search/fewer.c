/* SPDX-License-Identifier: Apache-2.0 */
/* fewer.c: see fewer.h. */
#include "fewer.h"

#include <string.h>

#include "error.h"
#include "rank.h"
#include "rules.h"
#include "verify.h"

typedef struct fewer {
    cbx_search *s;
    cbx_edit   *edits, *rest; /* change after change; without some of them */
    int64_t    *begin;        /* where each change begins, and one more: the end */
    int64_t     changes;
    float      *logp;
} fewer;

static bool is_same_change(const cbx_edit *a, const cbx_edit *b)
{
    return a->op == CBX_SET_FEATURE && b->op == CBX_SET_FEATURE && a->group > 0 &&
           a->group == b->group && a->node == b->node;
}

/* The edits in their order, each with those that are one change with it behind it. */
static void gather_changes(fewer *f)
{
    const cbx_edit *from = f->s->edits;
    int64_t         count = f->s->num_edits, at = 0;
    f->changes = 0;
    for (int64_t k = 0; k < count; k++) {
        bool taken = false;
        for (int64_t b = 0; b < k && !taken && from[k].op == CBX_SET_FEATURE && from[k].group; b++)
            taken = is_same_change(&from[b], &from[k]);
        if (taken)
            continue;
        f->begin[f->changes++] = at;
        f->edits[at++] = from[k];
        for (int64_t b = k + 1; b < count && from[k].op == CBX_SET_FEATURE && from[k].group; b++)
            if (is_same_change(&from[b], &from[k]))
                f->edits[at++] = from[b];
    }
    f->begin[f->changes] = at;
}

/* Does it flip, and keep what must change together, without changes `from` to `to` - 1? Then they
 * are taken out. */
static cbx_status try_without(fewer *f, int64_t from, int64_t to, bool *out, cbx_error *err)
{
    cbx_search *s = f->s;
    int64_t     head = f->begin[from], tail = f->begin[f->changes] - f->begin[to];
    int64_t     gone = f->begin[to] - head;
    memcpy(f->rest, f->edits, (size_t)head * sizeof *f->rest);
    memcpy(f->rest + head, f->edits + f->begin[to], (size_t)tail * sizeof *f->rest);
    *out = false;
    cbx_status status =
        cbx_verify_edits(s->model, s->graph, s->row, f->rest, head + tail, f->logp, err);
    if (!status && cbx_search_hits(s, cbx_search_class(s, f->logp)))
        status = cbx_rules_check_together(s->rules, cbx_search_peers(s, f->logp), f->rest,
                                          head + tail, out, err);
    if (status || !*out)
        return status;
    memcpy(f->edits, f->rest, (size_t)(head + tail) * sizeof *f->edits);
    for (int64_t k = to; k <= f->changes; k++)
        f->begin[k - (to - from)] = f->begin[k] - gone;
    f->changes -= to - from;
    return CBX_OK;
}

/* Are there more than the rules allow? Of all, or of a kind. */
static bool is_too_much(const fewer *f)
{
    const cbx_rules *r = f->s->rules;
    int64_t          added = 0, removed = 0;
    for (int64_t k = 0; k < f->begin[f->changes]; k++) {
        added += f->edits[k].op == CBX_ADD_EDGE;
        removed += f->edits[k].op == CBX_REMOVE_EDGE;
    }
    return (r->max_edits > 0 && f->changes > r->max_edits) ||
           (r->max_added > 0 && added > r->max_added) ||
           (r->max_removed > 0 && removed > r->max_removed);
}

/* Parts of a half, a quarter, … of the changes, and in the end one by one, from the last on. */
static cbx_status take_out(fewer *f, cbx_error *err)
{
    int64_t    most = f->s->rules->max_edits;
    bool       gone = false;
    cbx_status status = CBX_OK;
    if (most > 0 && f->changes > most)
        status = try_without(f, most, f->changes, &gone, err);
    for (int64_t size = f->changes / 2; size > 0 && is_too_much(f) && !status; size /= 2)
        for (int64_t end = f->changes; end > 0 && is_too_much(f) && !status; end -= size) {
            if (cbx_time_is_up())
                return CBX_OK;
            status = try_without(f, end > size ? end - size : 0, end, &gone, err);
        }
    return status;
}

static cbx_status rank(cbx_search *s, float *logp, cbx_error *err)
{
    cbx_status status =
        cbx_verify_edits(s->model, s->graph, s->row, s->edits, s->num_edits, logp, err);
    return status ? status : cbx_rank_edits(s, cbx_search_aim(s, logp), err);
}

cbx_status cbx_fewer_edits(cbx_search *s, cbx_error *err)
{
    size_t count = (size_t)s->num_edits;
    fewer  f = {.s = s,
                .edits = CBX_NEW(s->arena, cbx_edit, count),
                .rest = CBX_NEW(s->arena, cbx_edit, count),
                .begin = CBX_NEW(s->arena, int64_t, count + 1),
                .logp = CBX_NEW(s->arena, float, s->model->num_classes)};
    if (!f.edits || !f.rest || !f.begin || !f.logp)
        return cbx_fail_memory(err);
    cbx_status status = rank(s, f.logp, err);
    if (status)
        return cbx_search_status(status);
    gather_changes(&f);
    if (is_too_much(&f))
        status = take_out(&f, err);
    s->num_edits = f.begin[f.changes];
    memcpy(s->edits, f.edits, (size_t)s->num_edits * sizeof *f.edits);
    return cbx_search_status(status);
}
