/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c: a model's identity: architecture and parameters, not its notes. */
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "sha256.h"

void cbx_model_hash(const cbx_model *model, char hex[65])
{
    if (model->oracle) {
        model->oracle->hash(model->oracle->model, hex);
        return;
    }
    cbx_model_info i = cbx_model_describe(model);
    char           text[256];
    cbx_sha256     sha;
    (void)snprintf(text, sizeof text, "%d %s %s %s %s %d %d %d %d", (int)i.task, i.conv, i.head,
                   i.pool, i.aggregation, i.num_layers, i.num_features, i.num_classes, i.order);
    cbx_sha256_init(&sha);
    cbx_sha256_add(&sha, text, strlen(text));
    cbx_sha256_add(&sha, model->theta, (size_t)model->size * sizeof *model->theta);
    cbx_sha256_hex(&sha, hex);
}
