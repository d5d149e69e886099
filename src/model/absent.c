/* SPDX-License-Identifier: Apache-2.0 */
/* absent.c: see absent.h. */
#include "absent.h"

#include <math.h>
#include <string.h>

#include "without_nodes.h"

bool cbx_is_anyone_absent(const cbx_view *view)
{
    return view->absent && memchr(view->absent, 1, (size_t)view->n);
}

static cbx_status ask(cbx_pass *p, cbx_arena *arena)
{
    const cbx_driver *o = p->model->oracle;
    cbx_view          left;
    cbx_matrix        X;
    void             *run;
    cbx_error         why = {0};
    cbx_status status = cbx_view_without_nodes(p->view, p->view->absent, p->w, arena, &left, &why);
    if (!status)
        status = cbx_matrix_without_rows(&p->X, p->view->absent, p->view->n, arena, &X, &why);
    if (!status)
        status = o->open(o->model, &left, &X, false, arena, &run, &why);
    if (!status)
        o->forward(run, &X, left.weight, p->logp);
    return status;
}

void cbx_forward_without_absent(cbx_pass *p)
{
    cbx_arena arena = {0};
    if (ask(p, &arena))
        for (int64_t k = 0; k < (int64_t)p->rows_out * p->model->num_classes; k++)
            p->logp[k] = NAN;
    cbx_arena_free(&arena);
}
