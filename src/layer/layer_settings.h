/* SPDX-License-Identifier: Apache-2.0 */
/* layer_settings.h: what can be said of a layer beside its sizes (layer_settings.def), as a struct
 * and as the table of options that sets, checks and names it. Files, the model's options and what
 * is told of a model go through the table; none of them knows a setting by name. */
#ifndef CBX_LAYER_SETTINGS_H
#define CBX_LAYER_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "option_table.h"

typedef enum cbx_aggregation { CBX_ADD, CBX_MEAN, CBX_MAX } cbx_aggregation;

extern const char *const cbx_aggregation_names[];

typedef struct cbx_layer_settings {
#define X(type, field, ...) type field;
#include "layer_settings.def"
#undef X
} cbx_layer_settings;

extern const cbx_option_table cbx_settings_table;

/* By position in the table: the key in model files, or NULL. */
extern const char *const cbx_setting_keys[];

cbx_layer_settings cbx_settings_default(void);

#endif
