/* SPDX-License-Identifier: Apache-2.0 */
/* undo.c: see undo.h. */
#include "undo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

int cbx_undo_free(const cbx_counterfactual *c)
{
    enum { MOST = 10, VALUES = 20000, WORK = 2000000 };
    int count = 0;
    while (count < MOST && count < c->num_edits &&
           ((int64_t)2 << count) * c->num_classes <= VALUES &&
           ((int64_t)2 << count) * c->num_edits <= WORK)
        count++;
    return count;
}

typedef struct undoing {
    const cbx_report         *report;
    const cbx_counterfactual *answer;
    const cbx_json           *line; /* the same as it was written */
    cbx_json_writer          *w;
    cbx_edit                 *rest;
    float                    *log_probs;
    char                     *flips; /* '1' where the class is still reached */
    size_t                    count;
} undoing;

/* What the line itself says of the class before or after, digit by digit. */
static void put_said(const undoing *u, const char *when)
{
    cbx_json_put(u->w, NULL, cbx_json_get(cbx_json_get(u->line, when), "probabilities"));
}

static void put_asked(const undoing *u)
{
    cbx_json_open(u->w, NULL, '[');
    for (int32_t k = 0; k < u->answer->num_classes; k++)
        cbx_json_put_real(u->w, NULL, exp((double)u->log_probs[k]));
    cbx_json_close(u->w, ']');
}

/* The edits but those that `out` says are undone, on the whole graph. */
static cbx_status ask(undoing *u, bool (*out)(int64_t edit, uint64_t which), uint64_t which,
                      cbx_error *err)
{
    const cbx_counterfactual *c = u->answer;
    const float              *answer = u->log_probs;
    int64_t                   count = 0;
    cbx_status                status = CBX_OK;
    for (int64_t i = 0; i < c->num_edits; i++)
        if (!out(i, which))
            u->rest[count++] = c->edits[i];
    if (count && count < c->num_edits)
        status = cbx_check_edits(u->report->source.model, u->report->source.graph, c->row, u->rest,
                                 count, u->log_probs, err);
    else
        answer = count ? c->after : c->before;
    if (status)
        return status;
    u->flips[u->count++] =
        (char)('0' + cbx_is_flip(answer, c->num_classes, c->prediction, c->target, c->threshold));
    if (answer == u->log_probs)
        put_asked(u);
    else
        put_said(u, count ? "after" : "before");
    return CBX_OK;
}

/* `which` has a bit for every edit that stays; edits past its end stay. */
static bool not_in(int64_t edit, uint64_t which)
{
    return edit < 64 && !(which >> edit & 1);
}

static bool is_it(int64_t edit, uint64_t which)
{
    return (uint64_t)edit == which;
}

static cbx_status put_all(undoing *u, int free_edits, int64_t shown, cbx_error *err)
{
    uint64_t   sets = (uint64_t)1 << free_edits, others = ~(sets - 1);
    cbx_status status = CBX_OK;
    cbx_json_open(u->w, "undo", '{');
    cbx_json_put_int(u->w, "free", free_edits);
    cbx_json_open(u->w, "probabilities", '[');
    for (uint64_t set = 0; set < sets && !status; set++)
        status = ask(u, not_in, set | others, err);
    for (int64_t i = free_edits; i < shown && !status; i++)
        status = ask(u, is_it, (uint64_t)i, err);
    cbx_json_close(u->w, ']');
    u->flips[u->count] = '\0';
    cbx_json_put_text(u->w, "flips", u->flips);
    cbx_json_close(u->w, '}');
    return status;
}

cbx_status cbx_undo_put(cbx_json_writer *w, const cbx_report *report, size_t which, int64_t shown,
                        cbx_error *err)
{
    const cbx_counterfactual *answer = report->answers[which];
    int                       free_edits = cbx_undo_free(answer);
    undoing u = {.report = report, .answer = answer, .line = report->lines[which], .w = w};
    u.rest = malloc((size_t)(answer->num_edits + 1) * sizeof *u.rest);
    u.log_probs = malloc((size_t)answer->num_classes * sizeof *u.log_probs);
    u.flips = malloc(((size_t)1 << free_edits) + (size_t)shown + 1);
    cbx_status status = u.rest && u.log_probs && u.flips ? put_all(&u, free_edits, shown, err)
                                                         : cbx_fail_memory(err);
    free(u.rest);
    free(u.log_probs);
    free(u.flips);
    return status;
}
