/* SPDX-License-Identifier: Apache-2.0 */
/* read_molecule.c: see read_molecule.h. */
#include "read_molecule.h"

#include <string.h>

#include "elements.h"
#include "error.h"

static int32_t size_of(const cbx_rules *rules, int32_t group)
{
    int32_t size = 0;
    for (int32_t j = 0; j < rules->graph->data.num_features; j++)
        size += rules->group[j] == group;
    return size;
}

/* ---- by name */

static bool is_named_after_elements(const cbx_rules *rules, const cbx_setup *setup, int32_t group)
{
    const char *const *names = setup->named->data.feature_names;
    for (int32_t j = 0; j < rules->graph->data.num_features && names; j++)
        if (rules->group[j] == group &&
            cbx_element_valence_of_column(names[cbx_used_number(setup->used, j)]) == CBX_NO_ELEMENT)
            return false;
    return names && size_of(rules, group) > 0;
}

static cbx_status read_names(cbx_rules *rules, const cbx_setup *setup, cbx_error *err)
{
    int32_t group = 0;
    while (group < rules->groups && !is_named_after_elements(rules, setup, group))
        group++;
    if (group == rules->groups)
        return cbx_fail_option(err, "keep",
                               "molecule needs to know what each atom is, and there is no one-hot "
                               "group whose columns are all named after elements; 'elements' says "
                               "what they stand for, and 'one-hot' which they are");
    rules->elements = group;
    for (int32_t j = 0; j < rules->graph->data.num_features; j++)
        if (rules->group[j] == group)
            rules->valence[j] = (int8_t)cbx_element_valence_of_column(
                setup->named->data.feature_names[cbx_used_number(setup->used, j)]);
    return CBX_OK;
}

/* ---- by the option */

static int32_t count_symbols(const char *text)
{
    int32_t count = 1;
    for (; *text; text++)
        count += *text == ',';
    return count;
}

/* The only group of this size. */
static cbx_status find_group(cbx_rules *rules, int32_t size, cbx_error *err)
{
    int32_t found = 0;
    for (int32_t g = 0; g < rules->groups; g++)
        if (size_of(rules, g) == size) {
            rules->elements = g;
            found++;
        }
    if (found == 1)
        return CBX_OK;
    return cbx_fail_option(err, "elements",
                           "%d symbols, and %s one-hot group has so many columns; expected one "
                           "symbol for each column of the group of atoms",
                           size, found ? "more than one" : "no");
}

static cbx_status read_symbols(cbx_rules *rules, const cbx_setup *setup, const char *text,
                               cbx_error *err)
{
    if (setup->used) /* which columns are left is not the order that was told */
        return cbx_fail_option(err, "elements",
                               "this data set has many columns that are 0 everywhere; name the "
                               "columns after their elements instead");
    cbx_status status = find_group(rules, count_symbols(text), err);
    for (int32_t j = 0; j < rules->graph->data.num_features && !status; j++) {
        if (rules->group[j] != rules->elements)
            continue;
        size_t length = strcspn(text, ",");
        int    valence = cbx_element_valence(text, length);
        if (valence == CBX_NO_ELEMENT)
            status = cbx_fail_option(err, "elements",
                                     "'%.*s' is not the symbol of an element; expected some such "
                                     "as C, N, Cl",
                                     (int)(length < 40 ? length : 40), text);
        rules->valence[j] = (int8_t)valence;
        text += length + (text[length] == ',');
    }
    return status;
}

cbx_status cbx_rules_read_molecule(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                                   cbx_error *err)
{
    const char *text = setup->options->elements;
    bool        told = text && *text;
    rules->elements = -1;
    if (rules->keep != CBX_KEEP_MOLECULE)
        return !told ? CBX_OK
                     : cbx_fail_option(err, "elements", "is for the rule 'keep molecule' only");
    rules->valence = CBX_NEW0(arena, int8_t, rules->graph->data.num_features);
    if (!rules->valence)
        return cbx_fail_memory(err);
    return told ? read_symbols(rules, setup, text, err) : read_names(rules, setup, err);
}
