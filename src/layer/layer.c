/* SPDX-License-Identifier: Apache-2.0 */
/* layer.c: the table of layers: those of this room, and behind them those that were registered. */
#include "layer.h"

#include <string.h>

#include "registered_layers.h"

static const cbx_layer_ops *const all[] = {
#define X(name) &cbx_layer_##name,
#include "layers.def"
#undef X
};
enum { OWN = sizeof all / sizeof *all };

const char *cbx_layer_choices[1 + OWN + CBX_LAYERS_MOST + 1] = {
    "auto",
#define X(name) #name,
#include "layers.def"
#undef X
};

const cbx_layer_ops *cbx_layer_at(int i)
{
    if (i < 0)
        return NULL;
    return i < OWN ? all[i] : cbx_registered_layer_at(i - OWN);
}

const cbx_layer_ops *cbx_layer_find(const char *name)
{
    const cbx_layer_ops *ops;
    for (int i = 0; (ops = cbx_layer_at(i)); i++)
        if (!strcmp(ops->name, name))
            return ops;
    return NULL;
}

static bool is_among(const char *const *names, const char *name)
{
    for (int i = 0; names && names[i]; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

bool cbx_layer_has_setting(const cbx_layer_ops *ops, const char *option)
{
    return is_among(ops->settings, option) || is_among(cbx_block_settings, option);
}

cbx_status cbx_layer_check(const cbx_layer *l, cbx_error *err)
{
    return l->ops->check ? l->ops->check(l, err) : CBX_OK;
}

int cbx_parameter_shape(const cbx_parameter *p, int64_t shape[3])
{
    shape[0] = p->heads ? 1 : p->cols;
    shape[1] = p->heads ? p->heads : p->rows;
    shape[2] = p->heads ? p->cols / p->heads : 0;
    return p->heads ? 3 : p->rows ? 2 : 1;
}

void cbx_layers_name(int i, const char *name)
{
    cbx_layer_names[OWN + i] = name;
}

int64_t cbx_layer_size(const cbx_layer *l)
{
    int64_t       total = 0;
    cbx_parameter p;
    for (int32_t i = 0; cbx_block_parameter(l, i, &p); i++)
        total += cbx_parameter_size(&p);
    return total;
}

cbx_entry cbx_layer_entry(const cbx_layer *l)
{
    return l->ops->entry ? l->ops->entry(l) : CBX_ENTRY_UNKNOWN;
}

int32_t cbx_layer_products(const cbx_layer *l, int32_t *widest)
{
    int32_t       count = 0, most = 0;
    bool          declared = cbx_layer_entry(l) == CBX_ENTRY_PRODUCTS;
    cbx_parameter p;
    for (int32_t i = 0; declared && cbx_block_parameter(l, i, &p); i++) {
        count += p.of_input;
        most = p.of_input && p.cols > most ? p.cols : most;
    }
    if (widest)
        *widest = most;
    return count;
}
