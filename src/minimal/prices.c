/* SPDX-License-Identifier: Apache-2.0 */
/* prices.c: see prices.h. */
#include "prices.h"

#include "error.h"
#include "minimal_options.h"
#include "read_rules.h"
#include "rule_list.h"

cbx_status cbx_prices_read(const cbx_setup *setup, cbx_arena *arena, double **out, cbx_error *err)
{
    const cbx_minimal_options *own = setup->settings;
    const cbx_graph_data      *d = &setup->graph->data;
    cbx_rule_list              list;
    cbx_feature_set            set;
    double                     price = 1, *prices = CBX_NEW(arena, double, d->num_features);
    *out = prices;
    if (!prices)
        return cbx_fail_memory(err);
    for (int32_t j = 0; j < d->num_features; j++)
        prices[j] = 1;
    cbx_status status =
        cbx_rule_list_begin(&list, setup->named, "feature-cost", own->feature_cost, arena, err);
    for (; !status && cbx_rule_list_more(&list); cbx_rule_list_next(&list)) {
        status = cbx_rule_list_price(&list, &set, &price);
        if (status)
            break;
        cbx_rules_renumber(setup, &set);
        for (int32_t j = set.first; j <= set.last; j++)
            if (cbx_rules_has(&setup->rules, &set, j))
                prices[j] = price;
    }
    return status;
}
