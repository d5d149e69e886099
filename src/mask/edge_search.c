/* SPDX-License-Identifier: Apache-2.0 */
/* edge_search.c: see edge_search.h. */
#include "edge_search.h"

#include "deadline.h"

cbx_status cbx_edge_search(const cbx_edge_mask *E, cbx_search *s, const cbx_edge_steps *steps,
                           void *method, cbx_error *err)
{
    int64_t T = s->options->epochs;
    for (int64_t t = 0; t < T; t++) {
        const cbx_epoch *now = steps->evaluate(method, t == 0);
        if (cbx_time_is_up() || cbx_search_diverged(s, now->loss))
            break;
        if (cbx_search_record(s, now))
            steps->keep(method);
        if (cbx_search_should_stop(s, t + 1, T) || cbx_search_gives_up(s, t))
            break;
        if (t + 1 < T)
            steps->step(method, t);
    }
    return cbx_edge_mask_collect(E, s, err);
}
