/* SPDX-License-Identifier: Apache-2.0 */
/* layer_settings.c: see layer_settings.h. */
#include "layer_settings.h"

#include <stddef.h>

const char *const cbx_aggregation_names[] = {"add", "mean", "max", NULL};

static const cbx_option options[] = {
#define X(type, field, kind, name, key, fallback, min, max, choices, help) \
    {name, kind, offsetof(cbx_layer_settings, field), fallback, min, max, choices, help},
#include "layer_settings.def"
#undef X
};

const cbx_option_table cbx_settings_table = CBX_OPTION_TABLE("Layers", options, cbx_layer_settings);

const char *const cbx_setting_keys[] = {
#define X(type, field, kind, name, key, ...) key,
#include "layer_settings.def"
#undef X
};

cbx_layer_settings cbx_settings_default(void)
{
    cbx_layer_settings settings;
    cbx_fields_default(&cbx_settings_table, &settings);
    return settings;
}
