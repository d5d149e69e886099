/* SPDX-License-Identifier: Apache-2.0 */
/* feature_list.h: features as people list them, by name, number or range of numbers, each
 * perhaps many times over. Looking one up and doing something for all of them take time by the
 * length of the list and the number of features, not by their product. */
#ifndef CBX_FEATURE_LIST_H
#define CBX_FEATURE_LIST_H

#include "combinex/kit.h"
#include "vectors.h"

typedef struct cbx_feature_range {
    int32_t     first, last;
    const void *value; /* what is said of them; the caller's */
} cbx_feature_range;

CBX_VECTOR(cbx_feature_ranges, cbx_feature_range)

typedef struct cbx_named_feature {
    const char *name;
    int32_t     feature;
} cbx_named_feature;

typedef struct cbx_feature_list {
    const cbx_graph_data *data;
    cbx_named_feature    *by_name; /* NULL: no name was asked for yet */
    cbx_feature_ranges    ranges;
} cbx_feature_list;

typedef enum cbx_named { CBX_NAMED_NONE, CBX_NAMED_ONE, CBX_NAMED_NO_MEMORY } cbx_named;

/* The features that `text` stands for: a name goes before a number. */
cbx_named cbx_feature_list_find(cbx_feature_list *list, const char *text, cbx_feature_range *out);

/* Calls `each` once for every feature of the list's ranges, with the value of the last range
 * that has it, and empties the list. False: no memory. */
bool cbx_feature_list_apply(cbx_feature_list *list,
                            void (*each)(void *user, int32_t feature, const void *value),
                            void *user);

void cbx_feature_list_free(cbx_feature_list *list);

#endif
