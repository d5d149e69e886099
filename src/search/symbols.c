/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.c: see symbols.h. */
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "error.h"
#include "read_molecule.h"
#include "read_rules.h"

/* The symbol of a column of the group: the k-th of those that were told, or the end of its name. */
static void name_column(const cbx_setup *setup, int32_t j, int32_t k, cbx_symbol to)
{
    const char *text = setup->options->elements;
    size_t      length;
    if (text && *text) {
        while (k-- > 0)
            text += strcspn(text, ",") + 1;
        length = strcspn(text, ",");
    } else {
        text = cbx_element_of_column(setup->named->data.feature_names[j]);
        length = strlen(text);
    }
    length = length < sizeof(cbx_symbol) ? length : sizeof(cbx_symbol) - 1;
    memcpy(to, text, length);
    to[length] = 0;
}

/* The group that tells them; -1: none. Cheap where no column is named after an element. */
static int32_t find_atoms(cbx_rules *rules, const cbx_setup *setup)
{
    if (rules->elements >= 0)
        return rules->elements;
    for (int32_t g = 0; g < rules->groups; g++)
        if (cbx_molecule_names_atoms(rules, setup, g))
            return g;
    return -1;
}

static bool may_be_molecule(const cbx_graph *graph, const cbx_explain_options *options)
{
    const char *const *names = graph->data.feature_names;
    bool               any = options->keep == CBX_KEEP_MOLECULE;
    for (int32_t j = 0; names && !any && j < graph->data.num_features; j++)
        any = cbx_element_valence_of_column(names[j]) != CBX_NO_ELEMENT;
    return any;
}

cbx_status cbx_molecule_symbols(const cbx_graph *graph, const cbx_explain_options *options,
                                cbx_symbol **out, cbx_error *err)
{
    cbx_setup setup;
    cbx_rules rules;
    *out = NULL;
    if (!may_be_molecule(graph, options))
        return CBX_OK;
    cbx_status status = cbx_setup_for_rules(&setup, graph, options, err);
    if (!status)
        status = cbx_rules_init(&rules, &setup, &setup.arena, err);
    int32_t group = status ? -1 : find_atoms(&rules, &setup), k = 0;
    if (group >= 0 && !(*out = calloc((size_t)graph->data.num_features, sizeof(cbx_symbol))))
        status = cbx_fail_memory(err);
    for (int32_t j = 0; *out && j < graph->data.num_features; j++)
        if (rules.group[j] == group)
            name_column(&setup, j, k++, (*out)[j]);
    cbx_setup_free(&setup);
    return status;
}
