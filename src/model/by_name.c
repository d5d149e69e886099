/* SPDX-License-Identifier: Apache-2.0 */
/* by_name.c: the public functions that take options, which become structs here. */
#include "model_options.h"

cbx_status cbx_model_new(const cbx_graph *graph, const cbx_options *model_options, int64_t seed,
                         cbx_model **out, cbx_error *err)
{
    const void *spec;
    *out = NULL;
    cbx_status status = cbx_options_fields(model_options, cbx_model_table(), &spec, err);
    return status ? status : cbx_model_new_with(graph, spec, seed, out, err);
}

cbx_status cbx_train(cbx_model *model, const cbx_graph *graph, const cbx_options *options,
                     cbx_progress progress, void *user, cbx_train_result *result, cbx_error *err)
{
    const void *fields;
    cbx_status  status = cbx_options_fields(options, cbx_train_table(), &fields, err);
    return status ? status : cbx_train_with(model, graph, fields, progress, user, result, err);
}

cbx_status cbx_split(const cbx_graph *graph, const cbx_options *options, uint8_t *part,
                     cbx_error *err)
{
    const void *fields;
    cbx_status  status = cbx_options_fields(options, cbx_train_table(), &fields, err);
    return status ? status : cbx_split_with(graph, fields, part, err);
}
