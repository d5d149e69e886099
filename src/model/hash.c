/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c: a model's identity: architecture and parameters, not its notes. */
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "model.h"
#include "number.h"
#include "sha256.h"

/* Every setting of the model's layers, but for the two that stand in the text of all models. */
static void add_settings(const cbx_model *model, cbx_sha256 *sha)
{
    const cbx_option *o;
    const void       *values;
    const char       *key;
    for (size_t i = 0; (o = cbx_model_setting(model, i, &values, &key)); i++) {
        char     text[96];
        cbx_json value = cbx_json_option(o, values);
        if (!strcmp(o->name, "order") || !strcmp(o->name, "aggregation"))
            continue;
        (void)cbx_print(text, sizeof text, " %s %lld %.9g %s", o->name, (long long)value.integer,
                        value.number, value.text ? value.text : "");
        cbx_sha256_add(sha, text, strlen(text));
    }
}

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
    add_settings(model, &sha);
    if (model->head_hidden) {
        (void)snprintf(text, sizeof text, " head-hidden %d", model->head_hidden);
        cbx_sha256_add(&sha, text, strlen(text));
    }
    cbx_sha256_add(&sha, model->theta, (size_t)model->size * sizeof *model->theta);
    cbx_sha256_hex(&sha, hex);
}
