/* SPDX-License-Identifier: Apache-2.0 */
/* model.h: a model file, and the data as that model sees it. */
#ifndef CBX_CLI_MODEL_H
#define CBX_CLI_MODEL_H

#include "source.h"

typedef struct asked_model {
    cbx_model *model; /* what is asked */
    cbx_model
        *numbers; /* it says whether this one's numbers are in a range; NULL: nothing of that */
} asked_model;

/* Opens it for the data. A label is found by its name among the data's classes; classes that are
 * the model's own, such as no and yes, are the data's from then on. `target` (or NULL: nothing is
 * sought): of a model of numbers a range, which becomes the class that stands for it. Returns an
 * exit status. */
int  model_open(asked_model *m, const char *path, cbx_options *options, source *s,
                const char **target);
void model_close(asked_model *m);

#endif
