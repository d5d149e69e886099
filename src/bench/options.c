/* SPDX-License-Identifier: Apache-2.0 */
/* options.c: the options of a benchmark, and the data sets of the paper. */
#include <stddef.h>

#include "bench_options.h"
#include "combinex/kit.h"

static const char *const presets[] = {"paper", "none", NULL};
static const char *const protocols[] = {"published", "meant", NULL};

#define AT(field) offsetof(cbx_bench_options, field)
static const cbx_option bench_options[] = {
    {"models", CBX_OPTION_TEXT, AT(models), "all", 0, 0, NULL,
     "oracles, separated by commas: gcn, cheb, graphconv; all"},
    {"explainers", CBX_OPTION_TEXT, AT(explainers), "all", 0, 0, NULL,
     "methods, separated by commas: combinex-def, combinex-feat, combinex-dyn, combinex-exp, "
     "combinex-lin, combinex-sin, ego, random-edges, random-features, cff, cf-gnn, unr, minimal, "
     "minimal-any (minimal, for any other class); all of these; moexp, rcexplainer, clear, d4"},
    {"folds", CBX_OPTION_INT, AT(folds), "4", 1, 1000, NULL,
     "times that the data is split and an oracle trained"},
    {"samples", CBX_OPTION_INT, AT(samples), "150", 1, 1e9, NULL,
     "test rows explained in each fold, at most"},
    {"protocol", CBX_OPTION_CHOICE, AT(protocol), "published", 0, 0, protocols,
     "published: features are discrete as the data sets say, which follow the authors, and oracles "
     "take them as they are; meant: those with whole numbers only are discrete, and oracles are "
     "trained with --standardise auto"},
    {"preset", CBX_OPTION_CHOICE, AT(preset), "paper", 0, 0, presets,
     "settings of the searches: those published, or the program's own"},
    {"epochs", CBX_OPTION_INT, AT(epochs), "500", 1, 1e9, NULL,
     "steps of a search; of the random methods, draws"},
    {"train-epochs", CBX_OPTION_INT, AT(train_epochs), "500", 1, 1e9, NULL,
     "passes over the training rows of an oracle"},
    {"time-limit", CBX_OPTION_REAL, AT(time_limit), "500", 0, 1e9, NULL,
     "seconds per target; 0: no limit. A search that meets it depends on the machine"},
    {"unr-rollouts", CBX_OPTION_INT, AT(unr_rollouts), "1000", 1, 1e7, NULL,
     "unr: subgraphs looked at, at most"},
    {"published-faults", CBX_OPTION_TEXT, AT(published_faults), "none", 0, 0, NULL,
     "faults of the published program to repeat, separated by commas, to see what they do: "
     "rounding (combinex rounds discrete features, and not only their moves), shift (and adds "
     "their lower bound), loss (L_X knows neither bounds nor kinds), targets (a graph is asked "
     "for another graph's target), any-class (unr counts every other class), complement (cff's "
     "counterfactual term sees the whole graph), skips (targets with fewer than two edges "
     "are left out); all; none"},
    {"seed", CBX_OPTION_INT, AT(seed), "0", 0, 9007199254740992.0, NULL,
     "of splits, oracles, samples and the methods that draw"},
    {"jobs", CBX_OPTION_INT, AT(jobs), "0", 0, 1024, NULL,
     "threads: targets explained at once; 0: all cores"},
    {"rows-of", CBX_OPTION_TEXT, AT(rows_of), NULL, 0, 0, NULL,
     "folder of a benchmark under the other protocol, otherwise with the same settings: rows of "
     "data sets whose features are all discrete and 0 or 1, of which both protocols ask the same, "
     "are taken from there"},
    {"tables-only", CBX_OPTION_BOOL, AT(tables_only), "false", 0, 0, NULL,
     "make the tables of the answers that are there; train nothing and ask nothing"},
    {"reproducible", CBX_OPTION_BOOL, AT(reproducible), "false", 0, 0, NULL,
     "the same bits on every x86-64 and arm64 processor, which takes longer"},
};
#undef AT

static const cbx_option_table bench_table =
    CBX_OPTION_TABLE("Benchmark", bench_options, cbx_bench_options);

const cbx_option_table *cbx_bench_table(void)
{
    return &bench_table;
}

static const char *const paper_data[] = {
    "cora",           "citeseer",    "pubmed",         "cornell",
    "texas",          "wisconsin",   "facebook",       "wiki",
    "AIDS",           "ENZYMES",     "PROTEINS",       "karate",
    "actor",          "AIDS-graphs", "ENZYMES-graphs", "PROTEINS_full-graphs",
    "COIL-DEL-graphs"};

const char *cbx_bench_paper_data(size_t i)
{
    return i < sizeof paper_data / sizeof *paper_data ? paper_data[i] : NULL;
}
