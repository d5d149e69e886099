/* SPDX-License-Identifier: Apache-2.0 */
/* ask_few.c: see ask_few.h. */
#include "ask_few.h"

#include <string.h>

#include "deadline.h"
#include "without_nodes.h"

bool cbx_ask_few_pays(const cbx_edit_state *W)
{
    return W->s->newcomers && W->s->newcomers->count > W->own;
}

static bool run(cbx_edit_state *W, cbx_arena *arena, float *logp)
{
    const cbx_model *m = W->s->model;
    cbx_view         view = W->view, left;
    cbx_matrix       X;
    cbx_pass         pass;
    view.outside_count = W->s->view->outside_count; /* what is gone is no longer there to count */
    if (cbx_view_without_nodes(&view, W->absent, W->w, arena, &left, NULL) ||
        cbx_matrix_without_rows(&W->X, W->absent, W->rows, arena, &X, NULL) ||
        cbx_pass_init(&pass, m, &left, &X, false, 1, arena, NULL))
        return false;
    cbx_pass_forward(&pass, &X, NULL, 0, 0);
    memcpy(logp, pass.logp, (size_t)m->num_classes * sizeof *logp);
    return !cbx_time_is_up();
}

bool cbx_ask_few(cbx_edit_state *W, float *logp)
{
    cbx_arena arena = {0};
    bool      done = run(W, &arena, logp);
    cbx_arena_free(&arena);
    return done;
}
