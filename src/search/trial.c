/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c: see trial.h. */
#include "trial.h"

#include "deadline.h"

cbx_status cbx_trials_init(cbx_trials *T, cbx_search *s, const cbx_matrix *X, cbx_error *err)
{
    *T = (cbx_trials){.s = s};
    return cbx_pass_init(&T->pass, s->model, s->view, X, false, 1, s->arena, err);
}

void cbx_trials_ask(cbx_trials *T, const cbx_matrix *X, const float *w)
{
    cbx_search *s = T->s;
    cbx_epoch  *e = &T->now;
    cbx_pass_forward(&T->pass, X, w, 0, 0);
    const float *logp = T->pass.logp;
    e->eta = 1;
    e->ce = -(double)logp[cbx_search_aim(s, logp)];
    e->hit = cbx_search_hits(s, cbx_search_class(s, logp));
}

bool cbx_trials_record(cbx_trials *T)
{
    cbx_epoch *e = &T->now;
    e->loss = e->ce + e->edge_loss + e->feature_loss;
    if (cbx_time_is_up() || cbx_search_diverged(T->s, e->loss) || !cbx_search_record(T->s, e))
        return false;
    cbx_search_reserve(T->s, e->changed_features + e->removed_edges);
    return true;
}

bool cbx_trials_judge(cbx_trials *T, const cbx_matrix *X, const float *w)
{
    cbx_trials_ask(T, X, w);
    return cbx_trials_record(T);
}
