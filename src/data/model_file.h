/* SPDX-License-Identifier: Apache-2.0 */
/* model_file.h: layered models in safetensors files. */
#ifndef CBX_MODEL_FILE_H
#define CBX_MODEL_FILE_H

#include "model.h"

cbx_status cbx_model_load_layers(const char *path, cbx_model **out, cbx_error *err);

#endif
