/* SPDX-License-Identifier: Apache-2.0 */
/* options.c: the options of explaining and their presets. */
#include <stddef.h>
#include <string.h>

#include "error.h"
#include "explain_options.h"
#include "explainer.h"

static const char *const edge_modes[] = {"directed", "undirected", NULL};
static const char *const kind_sources[] = {"data", "auto", NULL};
static const char *const askers[] = {"anybody", "self", NULL};
static const char *const keeps[] = {"any", "no-isolated", "connected", "molecule", NULL};
static const char *const adding_places[] = {"any", "target", NULL};
static const char *const optimisers[] = {"adam", "sgd", "adadelta", NULL};

#define AT(field) offsetof(cbx_explain_options, field)
static const cbx_option explain_options[] = {
    {"explainer", CBX_OPTION_CHOICE, AT(explainer), "minimal", 0, 0, cbx_explainer_names,
     "the method"},
    {"target", CBX_OPTION_TEXT, AT(target), "any", 0, 0, NULL,
     "class to reach: any other, a class by name or number, or next (prediction + 1), as the "
     "paper has it"},
    {"epochs", CBX_OPTION_INT, AT(epochs), "500", 1, 1e9, NULL,
     "steps of the search; of the random methods, draws"},
    {"patience", CBX_OPTION_INT, AT(patience), "0", 0, 1e9, NULL,
     "combinex, cf-gnn and cff: end after so many epochs that brought no better answer, which can "
     "be another answer then; 0: never"},
    {"lr", CBX_OPTION_REAL, AT(learning_rate), "0.1", 1e-12, 1e6, NULL,
     "learning rate of combinex and cf-gnn"},
    {"optimiser", CBX_OPTION_CHOICE, AT(optimiser), "adam", 0, 0, optimisers,
     "how steps of combinex and cf-gnn follow gradients"},
    {"momentum", CBX_OPTION_REAL, AT(momentum), "0", 0, 0.999, NULL,
     "optimiser sgd: Nesterov momentum"},
    {"edges", CBX_OPTION_CHOICE, AT(edges), "undirected", 0, 0, edge_modes,
     "what removing an edge removes, and adding one adds: one direction or both"},
    {"edits", CBX_OPTION_TEXT, AT(edits), "remove,features", 0, 0, NULL,
     "kinds of edit: remove (edges), add (edges), features, remove-nodes, add-nodes (copies of a "
     "graph's own), weights and attributes (of edges); all: those that the model and the data can "
     "have"},
    {"add-weight", CBX_OPTION_REAL, AT(add_weight), "0", -1e30, 1e30, NULL,
     "weight of an added edge; 0: the median of the data's, or 1 where edges have none"},
    {"add-candidates", CBX_OPTION_INT, AT(add_candidates), "256", 1, 1e6, NULL,
     "added edges, and added nodes, that a search has at hand: where the rules allow more, the "
     "most "
     "promising ones"},
    {"kinds", CBX_OPTION_CHOICE, AT(kinds), "data", 0, 0, kind_sources,
     "which features are discrete: as the data says, or those with whole numbers only"},
    {"min-edges", CBX_OPTION_INT, AT(min_edges), "0", 0, 9e15, NULL,
     "targets whose neighbourhood has fewer edges are skipped; the paper's protocol: 2"},
    {"budget", CBX_OPTION_INT, AT(budget), "32000000", 1, 9e15, NULL,
     "feature values a search may hold; of a larger neighbourhood it sees the nearest nodes only"},
    {"time-limit", CBX_OPTION_REAL, AT(time_limit), "500", 0, 1e9, NULL,
     "seconds per target, verifying included; the best so far is the answer; 0: no limit"},
    {"threads", CBX_OPTION_INT, AT(threads), "0", 0, 1024, NULL,
     "targets explained at once, and where there is one, branches of its proof; 0: all cores"},
    {"seed", CBX_OPTION_INT, AT(seed), "0", 0, 9007199254740992.0, NULL,
     "of the methods that draw at random"},
    {"total-cfs", CBX_OPTION_INT, AT(total_cfs), "1", 1, 1000, NULL,
     "minimal, moexp: different answers to look for, the best first"},
    {"trained", CBX_OPTION_TEXT, AT(trained), NULL, 0, 0, NULL,
     "folder in which methods that train first keep what they trained, for the next call; by "
     "default the command takes the model's, if it can write there; empty: none"},
    {"stopping-threshold", CBX_OPTION_REAL, AT(stopping_threshold), "0", 0, 0.999999, NULL,
     "rule: probability that the class must reach"},
    {"max-edits", CBX_OPTION_INT, AT(max_edits), "0", 0, 1e6, NULL,
     "rule: at most so many edits, of which a group that points elsewhere is one; 0: no limit"},
    {"features-to-vary", CBX_OPTION_TEXT, AT(features_to_vary), "all", 0, 0, NULL,
     "rule: only these features, by number, range or name: 3,7-9,age; all; none"},
    {"immutable-features", CBX_OPTION_TEXT, AT(immutable_features), NULL, 0, 0, NULL,
     "rule: not these features; the name of a group means all of it, in every rule"},
    {"permitted-range", CBX_OPTION_TEXT, AT(permitted_range), NULL, 0, 0, NULL,
     "rule: values of features: FEATURE:LOW:HIGH,…"},
    {"only-up", CBX_OPTION_TEXT, AT(only_up), NULL, 0, 0, NULL,
     "rule: these features do not get smaller: age,years"},
    {"only-down", CBX_OPTION_TEXT, AT(only_down), NULL, 0, 0, NULL,
     "rule: these features do not get larger"},
    {"step", CBX_OPTION_TEXT, AT(step), NULL, 0, 0, NULL,
     "rule: new values are multiples: amount:50; whole numbers: amount:1"},
    {"if-changed", CBX_OPTION_TEXT, AT(if_changed), NULL, 0, 0, NULL,
     "rule: features that change only in nodes where another does, too: city:address"},
    {"one-hot", CBX_OPTION_TEXT, AT(one_hot), "auto", 0, 0, NULL,
     "rule: groups of features of which one is on: 0-6,7-11; auto: those of which all rows have "
     "exactly one; none; those that the data names are always"},
    {"immutable-nodes", CBX_OPTION_TEXT, AT(immutable_nodes), NULL, 0, 0, NULL,
     "rule: neither features nor edges of these nodes"},
    {"protected-edges", CBX_OPTION_TEXT, AT(protected_edges), NULL, 0, 0, NULL,
     "rule: not these edges: 3-7,4-9"},
    {"own-features", CBX_OPTION_BOOL, AT(own_features), "false", 0, 0, NULL,
     "rule: only features of the explained node"},
    {"own-edges", CBX_OPTION_BOOL, AT(own_edges), "false", 0, 0, NULL,
     "rule: only edges at the explained node"},
    {"as", CBX_OPTION_CHOICE, AT(as), "anybody", 0, 0, askers,
     "rule: who would make the edits; self: the explained node, by its own features and edges"},
    {"keep-edges", CBX_OPTION_BOOL, AT(keep_edges), "false", 0, 0, NULL, "rule: no edge goes"},
    {"keep", CBX_OPTION_CHOICE, AT(keep), "any", 0, 0, keeps,
     "rule: what edits must leave: no node without an edge; what was connected connected; or a "
     "molecule: connected, and atoms that become others of the same valence"},
    {"elements", CBX_OPTION_TEXT, AT(elements), "", 0, 0, NULL,
     "rule: with --keep molecule, what the columns of the one-hot group of atoms stand for, in "
     "order: C,N,O,F; by default their names say so"},
    {"bonds", CBX_OPTION_TEXT, AT(bonds), "auto", 0, 0, NULL,
     "rule: with --keep molecule, what tells the order of a bond: weight; or what the columns of "
     "the edges' attributes stand for, in order: single,double,triple,aromatic; or none; auto: "
     "weights, or the only attribute, that are all 1, 1.5, 2 or 3"},
    {"plausible", CBX_OPTION_REAL, AT(plausible), "0", 0, 1e6, NULL,
     "rule: rows that change are from real rows of the class at most so many times as far as those "
     "are from each other; 0: no limit"},
    {"add-at", CBX_OPTION_CHOICE, AT(add_at), "any", 0, 0, adding_places,
     "rule: edges are added at the explained node only; any: also between two nodes of its "
     "neighbourhood"},
    {"add-within", CBX_OPTION_INT, AT(add_within), "0", 0, 1e6, NULL,
     "rule: an added edge joins nodes that are at most so many hops apart; 0: any, and 2 where as "
     "is self"},
    {"add-to", CBX_OPTION_TEXT, AT(add_to), NULL, 0, 0, NULL,
     "rule: added edges lead to these nodes: 3,7 or class:NAME; same-type: to nodes of the type "
     "of the other end, by the data's one-hot group, or where it has not just one by the label; "
     "same-type:GROUP"},
    {"max-degree", CBX_OPTION_INT, AT(max_degree), "0", 0, 1e9, NULL,
     "rule: a node that gets an edge has no more than so many into it; 0: no limit"},
    {"max-added", CBX_OPTION_INT, AT(max_added), "0", 0, 1e6, NULL,
     "rule: at most so many edges are added; 0: no limit"},
    {"max-removed", CBX_OPTION_INT, AT(max_removed), "0", 0, 1e6, NULL,
     "rule: at most so many edges are removed; 0: no limit"},
    {"trace", CBX_OPTION_BOOL, AT(trace), "false", 0, 0, NULL, NULL},
};
#undef AT

static const cbx_option_table explain_table = {"Search", explain_options,
                                               sizeof explain_options / sizeof *explain_options,
                                               sizeof(cbx_explain_options), cbx_explainer_part};

const cbx_option_table *cbx_explain_table(void)
{
    return &explain_table;
}

/* ---- presets: names for sets of options */

typedef struct setting {
    const char *option, *value;
} setting;

static const setting minimal[] = {
    {"explainer", "minimal"}, {"edges", "undirected"}, {"select", "loss"}, {NULL, NULL}};

static const setting paper[] = {
    {"explainer", "combinex"}, {"target", "next"},  {"policy", "linear"}, {"alpha", "1"},
    {"decay", "0.1"},          {"epochs", "500"},   {"lr", "0.1"},        {"optimiser", "adam"},
    {"edges", "directed"},     {"kinds", "data"},   {"min-edges", "2"},   {"time-limit", "500"},
    {"select", "loss"},        {"one-hot", "none"}, {NULL, NULL}};

/* What CF-GNNExplainer's authors ran on their synthetic graphs: steps of plain gradient
 * descent, any other class, edges without direction. */
static const setting cf_gnn_trees[] = {
    {"explainer", "cf-gnn"}, {"target", "any"},           {"epochs", "500"},
    {"lr", "0.1"},           {"optimiser", "sgd"},        {"momentum", "0"},
    {"edges", "undirected"}, {"cf-gnn-beta", "0.5"},      {"cf-gnn-clip", "2"},
    {"cf-gnn-pull", "away"}, {"cf-gnn-distance", "hard"}, {NULL, NULL}};

static const setting cf_gnn_ba_shapes[] = {
    {"explainer", "cf-gnn"}, {"target", "any"},           {"epochs", "500"},
    {"lr", "0.01"},          {"optimiser", "sgd"},        {"momentum", "0.9"},
    {"edges", "undirected"}, {"cf-gnn-beta", "0.5"},      {"cf-gnn-clip", "2"},
    {"cf-gnn-pull", "away"}, {"cf-gnn-distance", "hard"}, {NULL, NULL}};

static const struct {
    const char    *name;
    const setting *settings;
} presets[] = {{"paper", paper},
               {"minimal", minimal},
               {"cf-gnn-trees", cf_gnn_trees},
               {"cf-gnn-ba-shapes", cf_gnn_ba_shapes}};

const char *cbx_explain_preset_name(size_t i)
{
    return i < sizeof presets / sizeof *presets ? presets[i].name : NULL;
}

cbx_status cbx_explain_preset_with(cbx_explain_options *options, const char *preset, cbx_error *err)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        if (strcmp(presets[i].name, preset) != 0)
            continue;
        for (const setting *s = presets[i].settings; s->option; s++) {
            cbx_status status = cbx_fields_set(&explain_table, options, s->option, s->value, err);
            if (status)
                return status;
        }
        return CBX_OK;
    }
    return cbx_fail(err, CBX_INVALID,
                    "no preset '%s': there are 'paper', 'minimal', 'cf-gnn-trees' and '"
                    "cf-gnn-ba-shapes'",
                    preset);
}

/* ---- the public functions: options by name become the struct */

cbx_status cbx_explain_preset(cbx_options *options, const char *preset, cbx_error *err)
{
    const void *fields;
    cbx_status  status = cbx_options_fields(options, &explain_table, &fields, err);
    return status ? status : cbx_explain_preset_with((cbx_explain_options *)fields, preset, err);
}

cbx_status cbx_explain(const cbx_model *model, const cbx_graph *graph, int32_t row,
                       const cbx_options *options, cbx_progress progress, void *user,
                       cbx_counterfactual **out, cbx_error *err)
{
    const void *fields;
    *out = NULL;
    cbx_status status = cbx_options_fields(options, &explain_table, &fields, err);
    if (!status)
        status = cbx_explain_with(model, graph, row, fields, progress, user, out, err);
    if (!status && (*out)->outcome == CBX_NOT_FINISHED)
        status =
            cbx_fail(err, CBX_CANCELLED, "cancelled after %lld epochs", (long long)(*out)->epochs);
    return status;
}

cbx_status cbx_explain_many(const cbx_model *model, const cbx_graph *graph, const int32_t *rows,
                            int64_t count, const cbx_options *options, cbx_on_result on_result,
                            cbx_progress progress, void *user, cbx_error *err)
{
    const void *fields;
    cbx_status  status = cbx_options_fields(options, &explain_table, &fields, err);
    return status ? status
                  : cbx_explain_many_with(model, graph, rows, count, fields, on_result, progress,
                                          user, err);
}
