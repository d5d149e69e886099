/* SPDX-License-Identifier: Apache-2.0 */
/* prove_none.c: see prove_none.h. */
#include "prove_none.h"

#include "deadline.h"
#include "pattern_branch.h"

/* Of the time there is: the rest is for sizes one after the other. */
static const double SHARE = 0.8;
/* Open edges at a node all patterns of which are told apart. */
enum { MOST_OPEN = 6 };
/* Of others: the factor by which degrees differ at most that are one pattern. */
static const double WIDEST = 1.2;
/* Of these, how many are left is settled first, where it is between numbers that differ so much. */
static const double WIDE = 4;

static bool stop(void *user)
{
    return cbx_asking_stops(user);
}

bool cbx_prove_none(const cbx_asking *a, const cbx_net *net, cbx_partial_graph *graph,
                    cbx_lead_bound *bound)
{
    const cbx_search  *s = a->s;
    double             now = cbx_clock();
    cbx_asking         own = *a;
    uint8_t           *asked = CBX_NEW(s->arena, uint8_t, s->model->num_classes);
    cbx_pattern_branch b = {.question = {.net = net,
                                         .graph = graph,
                                         .spread = &bound->spread,
                                         .most = MOST_OPEN,
                                         .widest = WIDEST,
                                         .stop = stop,
                                         .user = &own},
                            .graph = graph,
                            .behind = s->prediction,
                            .asked = asked,
                            .wide = WIDE};
    own.until = now + SHARE * (a->until - now);
    if (!asked || !cbx_pattern_is_known(net, graph))
        return false;
    for (int32_t c = 0; c < s->model->num_classes; c++)
        asked[c] = c != s->prediction && (s->target < 0 || c == s->target);
    return cbx_pattern_none(&b, s->arena) && !cbx_asking_stops(&own);
}
