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

bool cbx_molecule_names_atoms(const cbx_rules *rules, const cbx_setup *setup, int32_t group)
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
    while (group < rules->groups && !cbx_molecule_names_atoms(rules, setup, group))
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

/* ---- bonds */

static const struct {
    const char *word;
    float       order;
} bonds[] = {{"single", 1}, {"double", 2}, {"triple", 3}, {"aromatic", 1.5F}};
enum { BONDS = sizeof bonds / sizeof *bonds };

/* Are these, `stride` apart, all orders of bonds? */
static bool are_orders(const float *values, int64_t count, int64_t stride)
{
    for (int64_t k = 0; k < count; k++) {
        bool known = false;
        for (size_t b = 0; b < BONDS; b++)
            known = known || values[k * stride] == bonds[b].order;
        if (!known)
            return false;
    }
    return values && count > 0;
}

static cbx_status copy_orders(cbx_rules *rules, const float *values, cbx_arena *arena,
                              cbx_error *err)
{
    int64_t m = rules->graph->data.num_edges;
    rules->bond = CBX_NEW(arena, float, m);
    for (int64_t k = 0; rules->bond && k < m; k++)
        rules->bond[k] = values[k];
    return rules->bond ? CBX_OK : cbx_fail_memory(err);
}

/* Columns that stand for bonds, of which each edge has one. */
static cbx_status read_columns(cbx_rules *rules, const char *text, cbx_arena *arena, cbx_error *err)
{
    const cbx_graph_data *d = &rules->graph->data;
    int32_t               columns = count_symbols(text), j = 0;
    rules->bond = CBX_NEW0(arena, float, d->num_edges);
    if (!rules->bond)
        return cbx_fail_memory(err);
    if (columns != d->edge_dim)
        return cbx_fail_option(err, "bonds",
                               "%d bonds, and edges have %d attributes; expected one for each",
                               columns, d->edge_dim);
    for (size_t length; j < columns; j++, text += length + (text[length] == ',')) {
        float order = 0;
        length = strcspn(text, ",");
        for (size_t b = 0; b < BONDS; b++)
            if (strlen(bonds[b].word) == length && !strncmp(text, bonds[b].word, length))
                order = bonds[b].order;
        if (order == 0)
            return cbx_fail_option(
                err, "bonds",
                "'%.*s' is no bond: single, double, triple or aromatic expected, "
                "or weight, none or auto",
                (int)(length < 40 ? length : 40), text);
        for (int64_t k = 0; k < d->num_edges; k++)
            rules->bond[k] += d->edge_attr[k * d->edge_dim + j] == 1 ? order : 0;
    }
    for (int64_t k = 0; k < d->num_edges; k++)
        if (!are_orders(&rules->bond[k], 1, 1))
            return cbx_fail_option(
                err, "bonds", "edge %lld (node %lld to node %lld) is not just one of them",
                (long long)k, (long long)d->edge_source[k], (long long)d->edge_target[k]);
    return CBX_OK;
}

static cbx_status read_bonds(cbx_rules *rules, const char *text, cbx_arena *arena, cbx_error *err)
{
    const cbx_graph_data *d = &rules->graph->data;
    bool                  any = !text || !*text || !strcmp(text, "auto");
    if (!any && !strcmp(text, "none"))
        return CBX_OK;
    rules->bond_is_weight = d->edge_weight && are_orders(d->edge_weight, d->num_edges, 1);
    if (rules->bond_is_weight && (any || !strcmp(text, "weight")))
        return copy_orders(rules, d->edge_weight, arena, err);
    rules->bond_is_weight = false;
    if (any)
        return d->edge_dim == 1 && are_orders(d->edge_attr, d->num_edges, 1)
                   ? copy_orders(rules, d->edge_attr, arena, err)
                   : CBX_OK;
    if (!strcmp(text, "weight"))
        return cbx_fail_option(err, "bonds", "weight: %s; expected 1, 1.5, 2 or 3 for each edge",
                               d->edge_weight ? "some edge has another" : "edges have none");
    return read_columns(rules, text, arena, err);
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
    cbx_status status = read_bonds(rules, setup->options->bonds, arena, err);
    if (status)
        return status;
    rules->valence = CBX_NEW0(arena, int8_t, rules->graph->data.num_features);
    if (!rules->valence)
        return cbx_fail_memory(err);
    return told ? read_symbols(rules, setup, text, err) : read_names(rules, setup, err);
}
