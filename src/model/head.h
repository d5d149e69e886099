/* SPDX-License-Identifier: Apache-2.0 */
/* head.h: pooling, the head and log-softmax of a pass. */
#ifndef CBX_HEAD_H
#define CBX_HEAD_H

#include "pass.h"

/* Of a head that has hidden units: pass->hidden from pass->out */
void cbx_head_hidden(cbx_pass *pass);

/* pass->logp from pass->hidden, or from pass->out where there are none */
void cbx_head_forward(cbx_pass *pass);

/* pass->scores_grad from dL/dlogp; adds the head's part to dtheta, if not NULL */
void cbx_head_scores_grad(cbx_pass *pass, const float *dlogp, float *dtheta);

/* What the head sees of layer l, by label row, and the rows of its first W for that. */
const float *cbx_head_input(const cbx_pass *pass, int32_t l);
const float *cbx_head_weight(const cbx_model *model, int32_t l);

/* adds the head's part to pass->dout[l] */
void cbx_head_backward(cbx_pass *pass, int32_t l);

#endif
