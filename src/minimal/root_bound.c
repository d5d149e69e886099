/* SPDX-License-Identifier: Apache-2.0 */
/* root_bound.c: see root_bound.h. */
#include "root_bound.h"

#include <math.h>

#include "deadline.h"
#include "prove_edges.h"

static const double SHARE = 0.1;

/* All moves, where each takes an edge away; 0: others may be made. -1: no memory, or no time. */
static int64_t list_removals(const cbx_search *s, const cbx_edit_state *W, cbx_move **out)
{
    int64_t count = 0;
    for (int writing = 0; writing < 2; writing++) {
        cbx_move_walk at = {0};
        cbx_move      m;
        count = 0;
        while (cbx_moves_walk(W, &at, &m)) {
            if (m.kind != &cbx_move_remove_edge)
                return 0;
            if (writing)
                (*out)[count] = m;
            count++;
        }
        if (!writing && !(*out = CBX_NEW(s->arena, cbx_move, count)))
            return -1;
    }
    return cbx_time_is_up() ? -1 : count;
}

static cbx_status bound_removals(cbx_search *s, cbx_minimal *found, double cheapest, cbx_error *err)
{
    cbx_move      *moves = NULL;
    cbx_minimal    asked = *found; /* which stays as it is */
    cbx_edge_proof edges = {
        .count = list_removals(s, found->state, &moves), .cheapest = cheapest, .share = SHARE};
    if (edges.count <= 0)
        return CBX_OK;
    edges.moves = moves;
    edges.until = INFINITY;
    cbx_status status = cbx_prove_edges(s, &asked, &edges, err);
    if (!status && edges.applies)
        found->lower_bound = fmax(found->lower_bound, asked.lower_bound);
    return cbx_search_status(status);
}

cbx_status cbx_root_bound(cbx_search *s, cbx_minimal *found, bool *plain, cbx_error *err)
{
    double     cheapest = cbx_moves_cheapest(found->state);
    cbx_status status = CBX_OK;
    bool       settled = found->count && found->cost <= cheapest;
    if (!(found->lower_bound > cheapest))
        found->lower_bound = found->count ? fmin(cheapest, found->cost) : cheapest;
    if (found->state->exact && !settled && !(cbx_minimal_of(s)->prove > 0) &&
        !cbx_search_is_late(s))
        status = bound_removals(s, found, cheapest, err);
    *plain = !(found->lower_bound > cheapest);
    return status;
}
