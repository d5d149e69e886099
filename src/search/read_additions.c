/* SPDX-License-Identifier: Apache-2.0 */
/* read_additions.c: see read_additions.h. */
#include "read_additions.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "added.h"
#include "combinex/extend.h"
#include "error.h"
#include "number.h"
#include "rule_list.h"

/* ---- kinds of edit */

static const struct {
    const char *word;
    unsigned    bit;
} kinds[] = {{"remove", CBX_EDITS_REMOVE},       {"add", CBX_EDITS_ADD},
             {"features", CBX_EDITS_FEATURES},   {"remove-nodes", CBX_EDITS_REMOVE_NODES},
             {"add-nodes", CBX_EDITS_ADD_NODES}, {"weights", CBX_EDITS_WEIGHTS},
             {"attributes", CBX_EDITS_ATTRIBUTES}};

/* Those that are named; `all` stands for these. */
static cbx_status read_kinds(const char *text, unsigned all, unsigned *out, cbx_error *err)
{
    *out = 0;
    for (const char *at = text ? text : "remove,features"; at;) {
        size_t length = strcspn(at, ",");
        bool   known = length == strlen("all") && !strncmp(at, "all", length);
        *out |= known ? all : 0;
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (strlen(kinds[k].word) == length && !strncmp(at, kinds[k].word, length)) {
                *out |= kinds[k].bit;
                known = true;
            }
        if (!known)
            return cbx_fail_option(err, "edits",
                                   "'%.*s' is no kind of edit: remove, add, features, "
                                   "remove-nodes, add-nodes, weights, attributes or all "
                                   "expected, with commas between them",
                                   (int)(length < 40 ? length : 40), at);
        at = at[length] ? at + length + 1 : NULL;
    }
    return CBX_OK;
}

cbx_status cbx_edits_read(const char *text, unsigned *out, cbx_error *err)
{
    return read_kinds(text, CBX_EDITS_REMOVE | CBX_EDITS_FEATURES | CBX_EDITS_FURTHER, out, err);
}

void cbx_edits_write(unsigned edits, char text[CBX_EDITS_TEXT])
{
    size_t at = 0;
    text[0] = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (edits & kinds[k].bit)
            at += (size_t)cbx_print(text + at, CBX_EDITS_TEXT - at, "%s%s", at ? "," : "",
                                    kinds[k].word);
}

bool cbx_edits_allow(const char *edits, cbx_edit_op op)
{
    static const unsigned bits[] = {[CBX_REMOVE_EDGE] = CBX_EDITS_REMOVE,
                                    [CBX_SET_FEATURE] = CBX_EDITS_FEATURES,
                                    [CBX_ADD_EDGE] = CBX_EDITS_ADD,
                                    [CBX_REMOVE_NODE] = CBX_EDITS_REMOVE_NODES,
                                    [CBX_SET_EDGE] = CBX_EDITS_WEIGHTS | CBX_EDITS_ATTRIBUTES,
                                    [CBX_ADD_NODE] = CBX_EDITS_ADD_NODES};
    unsigned              all = 0;
    return !cbx_edits_read(edits, &all, NULL) && (all & bits[op]);
}

bool cbx_edits_are_all(const char *edits)
{
    unsigned with = 0, without = 0;
    return !read_kinds(edits, UINT_MAX, &with, NULL) && !read_kinds(edits, 0, &without, NULL) &&
           with != without;
}

/* Which are not all the same. */
static bool have_weights(const cbx_graph *g)
{
    bool differ = false;
    for (int64_t e = 1; g->slot_weight && e < g->data.num_edges && !differ; e++)
        differ = g->slot_weight[e] != g->slot_weight[0];
    return differ;
}

static bool takes_weights(const cbx_model *model)
{
    return !model->oracle || model->oracle->takes_weights;
}

/* NULL: those of edges can be changed. */
static const char *why_no_attributes(const cbx_setup *setup)
{
    const cbx_graph_data *d = &setup->graph->data;
    const cbx_driver     *oracle = setup->model->oracle;
    if (!setup->explainer->sets_weights)
        return "this explainer changes none; 'minimal' does";
    if (!oracle || !oracle->edge_dim)
        return "this model takes none";
    if (!d->edge_attr || d->edge_dim > INT16_MAX - 1)
        return "edges of this data have none, or too many";
    if (setup->options->keep == CBX_KEEP_MOLECULE)
        return "with keep molecule, bonds stay of the kind that they are";
    return NULL;
}

/* Does it say what an edge does that is not there yet? */
static bool takes_new_edges(const cbx_model *model)
{
    return !model->oracle;
}

unsigned cbx_edits_possible(const cbx_setup *setup, unsigned edits)
{
    const cbx_explainer *explainer = setup->explainer;
    unsigned             named = 0;
    if (!explainer || read_kinds(setup->options->edits, 0, &named, NULL))
        return edits;
    if (!explainer->adds_edges || !takes_new_edges(setup->model))
        edits &= ~(unsigned)CBX_EDITS_ADD;
    if (!explainer->removes_nodes)
        edits &= ~(unsigned)CBX_EDITS_REMOVE_NODES;
    if (!explainer->sets_weights || !takes_weights(setup->model) || !have_weights(setup->graph))
        edits &= ~(unsigned)CBX_EDITS_WEIGHTS;
    if (why_no_attributes(setup))
        edits &= ~(unsigned)CBX_EDITS_ATTRIBUTES;
    if (!explainer->adds_nodes || setup->model->oracle || setup->graph->data.task != CBX_GRAPH)
        edits &= ~(unsigned)CBX_EDITS_ADD_NODES;
    return edits | named;
}

/* ---- weights */

static void find_weights(cbx_rules *rules, const cbx_graph *g)
{
    for (int64_t e = 0; g->slot_weight && e < g->data.num_edges; e++) {
        float w = g->slot_weight[e];
        rules->weight_lo = e ? fminf(rules->weight_lo, w) : w;
        rules->weight_hi = e ? fmaxf(rules->weight_hi, w) : w;
    }
}

static cbx_status check_weights(const cbx_setup *setup, cbx_error *err)
{
    if (!(setup->rules.edits & CBX_EDITS_WEIGHTS))
        return CBX_OK;
    if (!setup->explainer->sets_weights)
        return cbx_fail_option(err, "edits",
                               "the explainer '%s' changes no weights of edges; 'minimal' does",
                               setup->explainer->name);
    if (!takes_weights(setup->model))
        return cbx_fail_option(err, "edits",
                               "weights: this %s takes none, as it has no input 'edge_weight'",
                               setup->model->oracle->kind);
    return have_weights(setup->graph)
               ? CBX_OK
               : cbx_fail_option(err, "edits",
                                 "weights: the edges of this data have none, or all the same");
}

/* ---- attributes */

static cbx_status check_attributes(const cbx_setup *setup, cbx_error *err)
{
    const char *why = setup->rules.edits & CBX_EDITS_ATTRIBUTES ? why_no_attributes(setup) : NULL;
    return why ? cbx_fail_option(err, "edits", "attributes: %s", why) : CBX_OK;
}

/* ---- edges that are added */

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* All nodes of a class, by the data's labels. */
static cbx_status read_class(cbx_rules *rules, const char *name, cbx_arena *arena, cbx_error *err)
{
    const cbx_graph_data *d = &rules->graph->data;
    int32_t class;
    cbx_error why = {0};
    if (d->task == CBX_GRAPH || !d->y)
        return cbx_fail_option(err, "add-to", "class:%.60s: nodes of this data have no class",
                               name);
    if (cbx_graph_find(rules->graph, CBX_PART_CLASS, name, &class, &why))
        return cbx_fail_option(err, "add-to", "%.300s", why.message);
    rules->add_to = CBX_NEW(arena, int32_t, d->num_nodes);
    if (!rules->add_to)
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < d->num_nodes; i++)
        if (d->y[i] == class)
            rules->add_to[rules->num_add_to++] = i;
    return CBX_OK;
}

/* ---- types */

/* The group that tells types: the one of that name; or that of a molecule's atoms, or the only one;
 * -1: there is none. */
static cbx_status find_types(const cbx_rules *rules, const char *name, int32_t *group,
                             cbx_error *err)
{
    const cbx_graph_data *d = &rules->graph->data;
    *group = rules->elements >= 0 ? rules->elements : rules->groups == 1 ? 0 : -1;
    if (!name)
        return CBX_OK;
    for (*group = 0; d->group_names && *group < d->num_groups; ++*group)
        if (!strcmp(d->group_names[*group], name))
            return CBX_OK;
    return cbx_fail_option(err, "add-to",
                           "same-type:%.60s: the data has no one-hot group of that name", name);
}

/* The feature of the group that is on; -1: not one. */
static int32_t type_of(const cbx_rules *rules, int32_t group, int32_t node)
{
    const cbx_graph_data *d = &rules->graph->data;
    int64_t               at = d->x ? (int64_t)node * d->num_features : d->x_indptr[node];
    int64_t               end = d->x ? at + d->num_features : d->x_indptr[node + 1];
    int32_t               found = -1;
    for (int64_t k = at; k < end; k++) {
        int32_t j = d->x ? (int32_t)(k - at) : d->x_indices[k];
        float   v = d->x ? d->x[k] : d->x_values[k];
        if (rules->group[j] != group || v == CBX_GROUP_OFF)
            continue;
        if (found >= 0 || v != CBX_GROUP_ON)
            return -1;
        found = j;
    }
    return found;
}

static cbx_status read_types(cbx_rules *rules, const char *name, cbx_arena *arena, cbx_error *err)
{
    const cbx_graph_data *d = &rules->graph->data;
    int32_t               group;
    cbx_status            status = find_types(rules, name, &group, err);
    if (status)
        return status;
    if (group < 0 && (d->task == CBX_GRAPH || !d->y))
        return cbx_fail_option(
            err, "add-to",
            "same-type: nodes of this data have no type: neither just one one-hot "
            "group nor labels");
    rules->type = CBX_NEW(arena, int32_t, d->num_nodes);
    for (int32_t i = 0; rules->type && i < d->num_nodes; i++)
        rules->type[i] = group >= 0 ? type_of(rules, group, i) : d->y[i];
    return rules->type ? CBX_OK : cbx_fail_memory(err);
}

static cbx_status read_add_to(cbx_rules *rules, const char *text, cbx_arena *arena, cbx_error *err)
{
    static const char prefix[] = "class:", same[] = "same-type";
    const size_t      length = sizeof same - 1;
    cbx_rule_list     list;
    if (!text || !*text)
        return CBX_OK;
    if (!strncmp(text, same, length) && (!text[length] || text[length] == ':'))
        return read_types(rules, text[length] ? text + length + 1 : NULL, arena, err);
    rules->add_to_some = true;
    if (!strncmp(text, prefix, sizeof prefix - 1))
        return read_class(rules, text + sizeof prefix - 1, arena, err);
    cbx_status status = cbx_rule_list_begin(&list, rules->graph, "add-to", text, arena, err);
    rules->add_to = CBX_NEW(arena, int32_t, strlen(text) + 1);
    if (!rules->add_to)
        return cbx_fail_memory(err);
    for (; !status && cbx_rule_list_more(&list); cbx_rule_list_next(&list))
        status = cbx_rule_list_node(&list, &rules->add_to[rules->num_add_to++]);
    qsort(rules->add_to, (size_t)rules->num_add_to, sizeof *rules->add_to, by_number);
    return status;
}

cbx_status cbx_additions_read(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                              cbx_error *err)
{
    const cbx_explain_options *o = setup->options;
    const int64_t              near = 2; /* hops, where somebody makes friends */
    rules->add_at_target = o->add_at != 0 && setup->graph->data.task != CBX_GRAPH;
    rules->add_within = o->add_within ? o->add_within : o->as == CBX_AS_SELF ? near : 0;
    rules->max_degree = o->max_degree;
    find_weights(rules, setup->graph);
    if ((rules->edits & CBX_EDITS_ATTRIBUTES) && setup->graph->data.edge_attr &&
        !(rules->attributes = cbx_edge_columns_find(&setup->graph->data, arena)))
        return cbx_fail_memory(err);
    if (!cbx_edits_add(rules) && !(rules->edits & CBX_EDITS_ADD_NODES))
        return CBX_OK;
    rules->add_weight =
        o->add_weight != 0 ? (float)o->add_weight : cbx_graph_usual_weight(setup->graph);
    return isnan(rules->add_weight) ? cbx_fail_memory(err)
                                    : read_add_to(rules, o->add_to, arena, err);
}

static cbx_status check_new_nodes(const cbx_setup *setup, cbx_error *err)
{
    if (!(setup->rules.edits & CBX_EDITS_ADD_NODES))
        return CBX_OK;
    if (setup->graph->data.task != CBX_GRAPH)
        return cbx_fail_option(err, "edits",
                               "add-nodes is for data with a class for each graph; this data has "
                               "one for each node");
    if (!setup->explainer->adds_nodes)
        return cbx_fail_option(err, "edits", "the explainer '%s' adds no nodes; 'minimal' does",
                               setup->explainer->name);
    return setup->model->oracle
               ? cbx_fail_option(err, "edits",
                                 "nodes cannot be added for a model of the kind '%s': it does not "
                                 "say what a node does that is not there yet",
                                 setup->model->oracle->kind)
               : CBX_OK;
}

cbx_status cbx_additions_check(const cbx_setup *setup, cbx_error *err)
{
    const cbx_model *model = setup->model;
    if ((setup->rules.edits & CBX_EDITS_REMOVE_NODES) && !setup->explainer->removes_nodes)
        return cbx_fail_option(err, "edits", "the explainer '%s' removes no nodes; 'minimal' does",
                               setup->explainer->name);
    cbx_status status = check_weights(setup, err);
    if (!status)
        status = check_attributes(setup, err);
    if (!status)
        status = check_new_nodes(setup, err);
    if (status || !cbx_edits_add(&setup->rules))
        return status;
    if (!setup->explainer->adds_edges)
        return cbx_fail_option(err, "edits",
                               "the explainer '%s' only removes edges; 'minimal', 'combinex' and "
                               "'random-edges' add some",
                               setup->explainer->name);
    if (!takes_new_edges(model))
        return cbx_fail_option(err, "edits",
                               "edges cannot be added for a model of the kind '%s': it does not "
                               "say what an edge does that is not there yet",
                               model->oracle->kind);
    return CBX_OK;
}
