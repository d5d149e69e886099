/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h: asking the oracle about candidates, one after the other. */
#ifndef CBX_TRIAL_H
#define CBX_TRIAL_H

#include "explainer.h"

/* Methods that try candidates without a gradient. */
typedef struct cbx_trials {
    cbx_search *s;
    cbx_pass    pass;
    cbx_epoch   now; /* of the last candidate */
} cbx_trials;

/* X tells the kind of the candidates' features, as for cbx_pass_init. */
cbx_status cbx_trials_init(cbx_trials *T, cbx_search *s, const cbx_matrix *X, cbx_error *err);

/* Asks the oracle about features X and weights w (NULL: the graph's own), and records
 * the loss, which is the cross-entropy to the target plus now's two other losses. */
bool cbx_trials_judge(cbx_trials *T, const cbx_matrix *X, const float *w);

/* The same in two parts, for whom the other losses of a candidate cost more than to know
 * whether it hits (now.hit): only the loss of one that does counts, unless there is a trace. */
void cbx_trials_ask(cbx_trials *T, const cbx_matrix *X, const float *w);
bool cbx_trials_record(cbx_trials *T);

#endif
