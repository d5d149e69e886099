/* SPDX-License-Identifier: Apache-2.0 */
/* asking.c: see asking.h. */
#include "asking.h"

#include "deadline.h"

static bool may(void *user, int32_t choice)
{
    const cbx_asking *a = user;
    return cbx_move_may(a->W, &a->moves[choice]);
}

/* What was made last is undone first. */
static void make(void *user, int32_t choice, bool made)
{
    cbx_asking *a = user;
    if (made) {
        cbx_move_do(a->W, &a->moves[choice]);
        a->made[a->num_made++] = a->moves[choice];
    } else {
        cbx_move_undo(a->W, &a->moves[choice]);
        a->num_made--;
    }
}

/* What flips here must flip on the whole graph. */
static double lead(void *user)
{
    cbx_asking *a = user;
    double      score = cbx_edit_state_ask(a->W);
    if (!(score > 0) || a->status)
        return score;
    a->status = cbx_edit_state_verify(a->W, a->made, a->num_made, &score, a->err);
    return score;
}

bool cbx_asking_stops(cbx_asking *a)
{
    return a->status || cbx_clock() > a->until || cbx_search_should_stop_at(a->s, a->s->epochs);
}

static bool stop(void *user)
{
    return cbx_asking_stops(user);
}

/* Where one class is sought another one may lead both; rules may want more than a lead. */
static bool is_all_a_lead(const cbx_search *s, const cbx_rules *r)
{
    return (s->target < 0 || s->model->num_classes == 2) && !(s->options->stopping_threshold > 0) &&
           r->num_relations == 0 && !(r->most_unusual > 0);
}

cbx_branch_asked cbx_asking_of(cbx_asking *a)
{
    return (cbx_branch_asked){.user = a,
                              .may = may,
                              .make = make,
                              .lead = lead,
                              .stop = stop,
                              .leads_flip = is_all_a_lead(a->s, a->W->rules)};
}
