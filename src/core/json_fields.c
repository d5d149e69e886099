/* SPDX-License-Identifier: Apache-2.0 */
/* json_fields.c: see json_fields.h. */
#include "json_fields.h"

#include <math.h>

#include "error.h"

cbx_status cbx_json_whole(const cbx_json *o, const char *key, int64_t most, int64_t missing,
                          int64_t *out, cbx_error *err)
{
    const cbx_json *v = cbx_json_get(o, key);
    *out = v ? v->integer : missing;
    if ((!v && missing >= -1) || (v && v->kind == CBX_JSON_INTEGER && *out >= 0 && *out <= most))
        return CBX_OK;
    return cbx_fail(err, CBX_INVALID, "'%s' is %s, a whole number from 0 to %lld expected", key,
                    v ? "something else" : "missing", (long long)most);
}

bool cbx_json_is_number(const cbx_json *v)
{
    return v && (v->kind == CBX_JSON_INTEGER || v->kind == CBX_JSON_REAL);
}

cbx_status cbx_json_float(const cbx_json *o, const char *key, float *out, cbx_error *err)
{
    const cbx_json *v = cbx_json_get(o, key);
    *out = cbx_json_is_number(v) ? (float)v->number : 0;
    if (cbx_json_is_number(v) && isfinite(*out))
        return CBX_OK;
    return cbx_fail(err, CBX_INVALID, "'%s' is not a finite number", key);
}

cbx_status cbx_json_bool(const cbx_json *o, const char *key, bool *out, cbx_error *err)
{
    const cbx_json *v = cbx_json_get(o, key);
    *out = v && v->integer != 0;
    if (!v || v->kind == CBX_JSON_BOOL)
        return CBX_OK;
    return cbx_fail(err, CBX_INVALID, "'%s' is something else, true or false expected", key);
}

const char *cbx_json_text(const cbx_json *o, const char *key)
{
    const cbx_json *v = cbx_json_get(o, key);
    return v ? v->text : NULL;
}
