/* SPDX-License-Identifier: Apache-2.0 */
/* option_table.h: structs that are set, checked and defaulted through their tables.
 *
 * Outside, options are a cbx_options and have names. Inside they are fields of a struct that only
 * the rooms which use it know; its table joins the two. */
#ifndef CBX_OPTION_TABLE_H
#define CBX_OPTION_TABLE_H

#include "combinex/extend.h"
#include "internal.h"

/* The table of a struct of this type, the options of which `list` has. */
#define CBX_OPTION_TABLE(title, list, type)                              \
    {                                                                    \
        title, (list), sizeof(list) / sizeof *(list), sizeof(type), NULL \
    }

/* Sets every field to its default; fields that have none become 0. */
CBX_INTERNAL void cbx_fields_default(const cbx_option_table *table, void *fields);

/* Sets one field from text; what cbx_options_set says of names and messages holds. Texts are
 * borrowed. */
CBX_INTERNAL cbx_status cbx_fields_set(const cbx_option_table *table, void *fields,
                                       const char *name, const char *value, cbx_error *err);

/* Checks every field against its bounds, for structs that were filled in by hand. */
CBX_INTERNAL cbx_status cbx_fields_check(const cbx_option_table *table, const void *fields,
                                         cbx_error *err);

/* The i-th option of a table and its parts, as cbx_option_at counts them, and in `of` that one of
 * the structs in `fields` which it is a field of; NULL past the last. */
CBX_INTERNAL const cbx_option *cbx_fields_at(const cbx_option_table *table, const void *fields,
                                             size_t i, const void **of);

/* Whether the option's field holds what cbx_fields_default puts there. */
CBX_INTERNAL bool cbx_field_is_default(const cbx_option *option, const void *fields);

/* Fails with "NAME: …", the name being the option's field: time_limit for time-limit. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
CBX_INTERNAL cbx_status
cbx_fail_option(cbx_error *err, const char *name, const char *format, ...);

/* The struct behind options, which must be of this table; of NULL it is NULL. */
CBX_INTERNAL cbx_status cbx_options_fields(const cbx_options      *options,
                                           const cbx_option_table *table, const void **fields,
                                           cbx_error *err);

#endif
