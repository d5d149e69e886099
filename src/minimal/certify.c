/* SPDX-License-Identifier: Apache-2.0 */
/* certify.c: see certify.h. */
#include "certify.h"

#include <string.h>

#include "deadline.h"
#include "error.h"
#include "take_back.h"
#include "verify.h"

typedef struct certifying {
    cbx_beam *F;
    cbx_edit *edits, *rest;
    float    *logp;
} certifying;

/* Does the whole graph say so of these edits? */
static cbx_status reaches(const certifying *c, const cbx_edit *edits, int64_t count, bool *out,
                          cbx_error *err)
{
    const cbx_search *s = c->F->s;
    cbx_status status = cbx_verify_edits(s->model, s->graph, s->row, edits, count, c->logp, err);
    bool flips = !status && cbx_is_flip(c->logp, s->model->num_classes, s->prediction, s->target,
                                        s->options->stopping_threshold);
    *out = false;
    if (flips)
        status = cbx_rules_check_together(c->F->W->rules, cbx_search_peers(s, c->logp), edits,
                                          count, out, err);
    return status;
}

/* Is the k-th move not needed? */
static cbx_status reaches_without(const certifying *c, int64_t k, bool *out, cbx_error *err)
{
    const cbx_move_set *best = &c->F->best;
    int64_t count = cbx_moves_edits(c->F->W, best->moves, best->count, c->edits), begin = 0;
    for (int64_t before = 0; before < k; before++)
        begin += best->moves[before].kind->edits;
    int64_t end = begin + best->moves[k].kind->edits;
    memcpy(c->rest, c->edits, (size_t)begin * sizeof *c->rest);
    memcpy(c->rest + begin, c->edits + end, (size_t)(count - end) * sizeof *c->rest);
    return reaches(c, c->rest, count - (end - begin), out, err);
}

/* Was what the whole graph said last a tie, which the first class wins? */
static bool is_tie(const certifying *c)
{
    int32_t C = c->F->s->model->num_classes, best = cbx_best_class(c->logp, C, -1);
    return c->logp[best] == c->logp[cbx_best_class(c->logp, C, best)];
}

/* Does the whole graph say so of the best, as it is now? */
static cbx_status best_reaches(const certifying *c, bool *out, cbx_error *err)
{
    const cbx_move_set *best = &c->F->best;
    int64_t             count = cbx_moves_edits(c->F->W, best->moves, best->count, c->edits);
    return reaches(c, c->edits, count, out, err);
}

/* Can the k-th move's value go back? Then it does, and if that is a tie a little less. */
static cbx_status goes_back(const certifying *c, int64_t k, bool *out, cbx_error *err)
{
    cbx_move  *m = &c->F->best.moves[k];
    cbx_move   at = *m;
    bool       clear = false;
    cbx_status status = CBX_OK;
    *out = false;
    for (int i = 0; !*out && !status && cbx_take_back_value(c->F->W, &at, i, &m->to); i++)
        status = best_reaches(c, out, err);
    float to = *out ? m->to : at.to;
    if (!status && *out && is_tie(c)) {
        m->to = cbx_take_back_less(c->F->W, m, at.to);
        status = best_reaches(c, &clear, err);
        to = clear ? m->to : to;
    }
    m->to = to;
    return status;
}

cbx_status cbx_certify(cbx_beam *F, bool *irreducible, cbx_error *err)
{
    *irreducible = false;
    if (F->best.count > CBX_BEAM_HUGE)
        return CBX_OK;
    certifying c = {.F = F,
                    .edits = CBX_NEW(F->s->arena, cbx_edit, 2 * CBX_MOVE_EDITS * F->best.count),
                    .logp = CBX_NEW(F->s->arena, float, F->s->model->num_classes)};
    if (!c.edits || !c.logp)
        return cbx_fail_memory(err);
    c.rest = c.edits + CBX_MOVE_EDITS * F->best.count;
    int64_t k = F->best.count - 1, needed = 0;
    while (needed < F->best.count) {
        bool       needless = false, back = false;
        cbx_status status = CBX_OK;
        if (F->best.count > 1)
            status = reaches_without(&c, k, &needless, err);
        if (!status && !needless)
            status = goes_back(&c, k, &back, err);
        if (status || cbx_beam_out_of_time(F, F->s->epochs))
            return cbx_search_status(status);
        needed = needless || back ? 0 : needed + 1;
        if (needless)
            cbx_move_set_take_out(&F->best, k);
        k = k > 0 ? k - 1 : F->best.count - 1;
    }
    *irreducible = true;
    return CBX_OK;
}
