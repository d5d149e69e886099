/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h: what the data has of each feature: how far its values reach, which of them are usual,
 * and by how much they differ.
 *
 * A feature that can take many values should not jump to the end of its range where a part of the
 * way does (take_back.h), and should not leave the values that people have met. Features that are
 * 0 or 1 have neither question, and of data that has no others nothing is worked out here. */
#ifndef CBX_COLUMNS_H
#define CBX_COLUMNS_H

#include "column_values.h"
#include "setup.h"

typedef struct cbx_column {
    /* How far it goes back at a time: a hundredth of its range in the data, or 1 of a feature that
     * has whole numbers only. 0: it has no values between, or may not change. */
    float step;
    bool  whole;
    /* The middle 98 % of its values other than 0, and 0 too where a row in a hundred has it. */
    float lo, hi;
    /* Median absolute deviation; the standard deviation where that is 0; 1 where both are. */
    float scale;
} cbx_column;

typedef struct cbx_columns {
    cbx_column       *of; /* by feature */
    cbx_column_values values;
} cbx_columns;

/* `fixed`, `group`, `lo`, `hi` are those of the rules (rules.h). *out is NULL where no feature has
 * values between. */
cbx_status cbx_columns_find(const cbx_setup *setup, const uint8_t *fixed, const int32_t *group,
                            const float *lo, const float *hi, cbx_arena *arena, cbx_columns **out,
                            cbx_error *err);

/* A value of the data about halfway, by rank, between two values of a feature. `to` where there
 * is none between. */
float cbx_columns_between(const cbx_columns *columns, int32_t feature, float from, float to);

/* Does the feature lose its usual values on the way from one value to the other? One that comes
 * nearer to them does not. */
bool cbx_column_is_left(const cbx_column *column, float from, float to);

#endif
