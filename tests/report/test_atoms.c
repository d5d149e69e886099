/* SPDX-License-Identifier: Apache-2.0 */
/* What the nodes of molecules are called. */
#include <string.h>

#include "combinex/kit.h"
#include "test.h"

enum { NODES = 24, FEATURES = 4 };

/* Two graphs of atoms; feature 0 is a charge, the others are `names` and `group`. */
static cbx_graph *atoms(cbx_task task, const char *const *names, const int32_t *group)
{
    static const int64_t none[] = {0}, ends[] = {0, 10, NODES};
    static float         x[NODES * FEATURES];
    memset(x, 0, sizeof x);
    for (int i = 0; i < NODES; i++) {
        x[i * FEATURES] = (float)i / 3;
        x[i * FEATURES + 1 + i % 3] = 1;
    }
    cbx_graph_data d = {.task = task,
                        .num_nodes = NODES,
                        .num_features = FEATURES,
                        .num_classes = 2,
                        .num_graphs = task == CBX_GRAPH ? 2 : 0,
                        .edge_source = none,
                        .edge_target = none,
                        .x = x,
                        .graph_ptr = task == CBX_GRAPH ? ends : NULL,
                        .feature_names = names,
                        .feature_group = group,
                        .num_groups = group ? 1 : 0};
    cbx_graph     *g = NULL;
    cbx_error      err = {0};
    CHECK_OK(cbx_graph_new(&d, &g, &err), err);
    return g;
}

/* Those of the first three nodes, with a blank behind each; "-": none. */
static void check_symbols(cbx_task task, const char *const *names, const int32_t *group,
                          const char *expected)
{
    cbx_graph *g = atoms(task, names, group);
    cbx_atoms *known = NULL;
    char       said[32] = "";
    cbx_error  err = {0};
    CHECK_OK(cbx_atoms_new(g, NULL, &known, &err), err);
    for (int32_t i = 0; i < 3; i++) {
        const char *symbol = known ? cbx_atoms_node(known, i) : NULL;
        strcat(said, symbol ? symbol : "-");
        strcat(said, " ");
    }
    CHECK(!strcmp(said, expected));
    cbx_atoms_free(known);
    cbx_graph_free(g);
}

TEST(atoms_have_the_letters_of_their_elements)
{
    static const char *const plain[] = {"charge", "C", "N", "Cl"};
    static const char *const column[] = {"charge", "atom=C", "atom=N", "atom=Cl"};
    static const int32_t     group[] = {-1, 0, 0, 0};
    check_symbols(CBX_GRAPH, plain, group, "C N Cl ");
    check_symbols(CBX_GRAPH, column, group, "C N Cl ");
    check_symbols(CBX_GRAPH, plain, NULL, "C N Cl "); /* a group that the data shows */
}

TEST(other_names_are_no_elements)
{
    static const char *const words[] = {"charge", "tin can", "N", "Cl"};
    check_symbols(CBX_GRAPH, words, NULL, "- - - ");
    check_symbols(CBX_GRAPH, NULL, NULL, "- - - ");
}
