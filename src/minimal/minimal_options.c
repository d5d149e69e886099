/* SPDX-License-Identifier: Apache-2.0 */
/* minimal_options.c: see minimal_options.h. */
#include "minimal_options.h"

static const char *const starts[] = {"factual", "both", NULL};
static const char *const costs[] = {"edits", "distance", "both", NULL};

#define AT(field) offsetof(cbx_minimal_options, field)
static const cbx_option own_options[] = {
    {"beam", CBX_OPTION_INT, AT(beam), "3", 1, 64, NULL,
     "minimal: sets of edits that are built up together"},
    {"candidates", CBX_OPTION_INT, AT(candidates), "32", 1, 4096, NULL,
     "minimal: edits tried from each of them"},
    {"rebuilds", CBX_OPTION_INT, AT(rebuilds), "12", 0, 1e6, NULL,
     "minimal: times in a row that a part of the answer is taken back and built up anew in vain"},
    {"start", CBX_OPTION_CHOICE, AT(start), "factual", 0, 0, starts,
     "minimal: where the search begins: at the factual graph, and at combinex's answer if that "
     "leads nowhere, or at both"},
    {"cost", CBX_OPTION_CHOICE, AT(cost), "both", 0, 0, costs,
     "minimal: what answers are compared by: how many edits they have, how far their values go as "
     "well, where an edit more may save more than it costs, or both, the number first"},
    {"edge-cost", CBX_OPTION_REAL, AT(edge_cost), "1", 1e-6, 1e6, NULL,
     "minimal: what removing an edge costs, adding one, and changing its weight"},
    {"node-cost", CBX_OPTION_REAL, AT(node_cost), "1", 1e-6, 1e6, NULL,
     "minimal: what removing a node with all its edges costs, and adding one"},
    {"feature-cost", CBX_OPTION_TEXT, AT(feature_cost), "1", 0, 0, NULL,
     "minimal: what changing a feature costs, of all of them or by name: 2,income:5,age:100"},
    {"diverse", CBX_OPTION_BOOL, AT(diverse), "false", 0, 0, NULL,
     "minimal: answers share no edit"},
    {"prove", CBX_OPTION_REAL, AT(prove), "0", 0, 1e9, NULL,
     "minimal: seconds for proving that nothing cheaper, or nothing at all, does"},
    {"prove-gap", CBX_OPTION_REAL, AT(prove_gap), "0", 0, 1e9, NULL,
     "minimal: a proof stops when the answer costs no more than this above what is proved"},
    {"robustness", CBX_OPTION_INT, AT(robustness), "50", 0, 1e6, NULL,
     "minimal: small random changes tried on an answer"},
};
#undef AT

const cbx_option_table cbx_minimal_table =
    CBX_OPTION_TABLE("minimal", own_options, cbx_minimal_options);
