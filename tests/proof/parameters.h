/* SPDX-License-Identifier: Apache-2.0 */
/* parameters.h: a small model's parameters by name. */
#ifndef PARAMETERS_H
#define PARAMETERS_H

#include <string.h>

#include "combinex.h"
#include "test.h"

enum { MOST_NUMBERS = 64 }; /* of one parameter */

/* Its number; -1: there is none of that name. */
static inline int64_t find_parameter(const cbx_model *model, const char *of, int32_t *rows,
                                     int32_t *cols)
{
    const char *name;
    for (size_t i = 0; cbx_model_parameter(model, i, &name, rows, cols); i++)
        if (strcmp(name, of) == 0 && (int64_t)*rows * *cols <= MOST_NUMBERS)
            return (int64_t)i;
    CHECK(!"a parameter of that name");
    return -1;
}

static inline void get_parameter(const cbx_model *model, const char *of, float *values)
{
    cbx_error err = {0};
    int32_t   rows, cols;
    int64_t   i = find_parameter(model, of, &rows, &cols);
    if (i >= 0)
        CHECK_OK(cbx_model_get(model, (size_t)i, values, (int64_t)rows * cols, &err), err);
}

static inline void set_parameter(cbx_model *model, const char *of, const float *values)
{
    cbx_error err = {0};
    int32_t   rows, cols;
    int64_t   i = find_parameter(model, of, &rows, &cols);
    if (i >= 0)
        CHECK_OK(cbx_model_set(model, (size_t)i, values, (int64_t)rows * cols, &err), err);
}

static inline void add_to_parameter(cbx_model *model, const char *of, float by)
{
    float values[MOST_NUMBERS] = {0};
    get_parameter(model, of, values);
    for (int k = 0; k < MOST_NUMBERS; k++)
        values[k] += by;
    set_parameter(model, of, values);
}

#endif
