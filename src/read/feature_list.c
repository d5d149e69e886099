/* SPDX-License-Identifier: Apache-2.0 */
/* feature_list.c: see feature_list.h. */
#include "feature_list.h"

#include <string.h>

#include "word.h"

static int by_name(const void *a, const void *b)
{
    const cbx_named_feature *x = a, *y = b;
    int                      order = strcmp(x->name, y->name);
    return order ? order : (x->feature > y->feature) - (x->feature < y->feature);
}

static bool sort_names(cbx_feature_list *list)
{
    const cbx_graph_data *d = list->data;
    list->by_name = malloc(((size_t)d->num_features + 1) * sizeof *list->by_name);
    if (!list->by_name)
        return false;
    for (int32_t j = 0; j < d->num_features; j++)
        list->by_name[j] = (cbx_named_feature){d->feature_names[j], j};
    qsort(list->by_name, (size_t)d->num_features, sizeof *list->by_name, by_name);
    return true;
}

/* The first feature of that name, or -1. */
static int32_t find_name(const cbx_feature_list *list, const char *name)
{
    int32_t lo = 0, hi = list->data->num_features;
    while (lo < hi) {
        int32_t middle = lo + (hi - lo) / 2;
        if (strcmp(list->by_name[middle].name, name) < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    bool there = lo < list->data->num_features && !strcmp(list->by_name[lo].name, name);
    return there ? list->by_name[lo].feature : -1;
}

cbx_named cbx_feature_list_find(cbx_feature_list *list, const char *text, cbx_feature_range *out)
{
    const cbx_graph_data *d = list->data;
    char                 *end;
    if (d->feature_names) {
        if (!list->by_name && !sort_names(list))
            return CBX_NAMED_NO_MEMORY;
        int32_t found = find_name(list, text);
        if (found >= 0) {
            *out = (cbx_feature_range){.first = found, .last = found};
            return CBX_NAMED_ONE;
        }
    }
    if (!cbx_is_digit(*text))
        return CBX_NAMED_NONE;
    long long first = strtoll(text, &end, 10), last = first;
    if (*end == '-' && cbx_is_digit(end[1]))
        last = strtoll(end + 1, &end, 10);
    if (*end || first > last || last >= d->num_features)
        return CBX_NAMED_NONE;
    *out = (cbx_feature_range){.first = (int32_t)first, .last = (int32_t)last};
    return CBX_NAMED_ONE;
}

/* The first feature from j on that is still to come; next[] is made shorter on the way. */
static int32_t still_to_come(int32_t *next, int32_t j)
{
    int32_t found = j;
    while (next[found] != found)
        found = next[found];
    while (next[j] != found) {
        int32_t after = next[j];
        next[j] = found;
        j = after;
    }
    return found;
}

/* From the last range to the first, so that a feature has come when an earlier one meets it. */
bool cbx_feature_list_apply(cbx_feature_list *list,
                            void (*each)(void *user, int32_t feature, const void *value),
                            void *user)
{
    int32_t  f = list->data->num_features;
    int32_t *next = malloc(((size_t)f + 1) * sizeof *next);
    if (!next)
        return false;
    for (int32_t j = 0; j <= f; j++)
        next[j] = j;
    for (size_t k = list->ranges.count; k > 0; k--) {
        const cbx_feature_range *r = &list->ranges.at[k - 1];
        for (int32_t j = still_to_come(next, r->first); j <= r->last; j = still_to_come(next, j)) {
            each(user, j, r->value);
            next[j] = j + 1;
        }
    }
    free(next);
    list->ranges.count = 0;
    return true;
}

void cbx_feature_list_free(cbx_feature_list *list)
{
    free(list->by_name);
    cbx_feature_ranges_free(&list->ranges);
    list->by_name = NULL;
}
