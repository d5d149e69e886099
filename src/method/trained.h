/* SPDX-License-Identifier: Apache-2.0 */
/* trained.h: what a method has to train before it can search.
 *
 * It is trained once for an oracle, a data set, the method's options and a seed, before the first
 * target of a call. Where the option `trained` names a folder it is kept there, as safetensors, in
 * a file that is named by a hash of all these: whatever of them changes, it is another file, and a
 * file that says otherwise inside is not believed. Without a folder nothing is read or written. */
#ifndef CBX_TRAINED_H
#define CBX_TRAINED_H

#include "setup.h"

typedef struct cbx_trained {
    float  *theta;
    int64_t size;
    double  seconds; /* that training took, whenever that was */
} cbx_trained;

/* Who trains: draws theta and goes down. Runs on one thread, tells the progress by
 * cbx_training_is_over, and fails with cbx_fail_late where that is true. */
typedef cbx_status (*cbx_trainer)(void *user, float *theta, cbx_error *err);

/* From the file, or by training, and then to the file. */
cbx_status cbx_trained_get(const cbx_setup *setup, int64_t size, cbx_trainer train, void *user,
                           cbx_arena *arena, cbx_trained *out, cbx_error *err);

/* So many of so many steps are done: is time up, or has the caller had enough? */
bool cbx_training_is_over(int64_t done, int64_t total);

/* The answer says what had to be trained for it. */
static inline void cbx_trained_tell(const cbx_trained *trained, cbx_search *s)
{
    s->num_trained = trained->size;
    s->trained_seconds = trained->seconds;
}

#endif
