/* SPDX-License-Identifier: Apache-2.0 */
/* rc_train.h: training RCExplainer's network for an oracle and a data set. */
#ifndef CBX_RC_TRAIN_H
#define CBX_RC_TRAIN_H

#include "rc_mask.h"
#include "trained.h"

typedef struct cbx_rc_settings {
    int64_t epochs, patience, batch, rows, walks;
    double  lr, size, entropy;
} cbx_rc_settings;

/* What all searches of a call share. */
typedef struct cbx_rc_shared {
    cbx_rc_net  net;
    cbx_trained trained;
    float      *Z; /* embeddings: the last layer's output of every node of the graph */
} cbx_rc_shared;

cbx_status cbx_rc_train(const cbx_setup *setup, cbx_arena *arena, cbx_rc_shared *shared,
                        cbx_error *err);

#endif
