/* SPDX-License-Identifier: Apache-2.0 */
/* Measures of answers that are worked out by hand, and of found ones by brute force. */
#include <math.h>

#include "../search/oracle.h"
#include "test.h"

/* 0 -> 1 -> 2, and node 3 alone. The one layer adds the first features of a node and of
 * its sources: hidden rows are 1, 3, 6 and 5. The means of the data set are 3 and 1 for
 * the features and 15/4 for the hidden layer. */
static oracle path_oracle(void)
{
    static const int64_t source[] = {0, 1}, target[] = {1, 2}, y[] = {0, 1, 1, -1};
    static const float   x[] = {1, 0, 2, 0, 4, 1, 5, 3};
    const cbx_graph_data data = {.num_nodes = 4,
                                 .num_features = 2,
                                 .num_edges = 2,
                                 .num_classes = 2,
                                 .edge_source = source,
                                 .edge_target = target,
                                 .x = x,
                                 .y = y};
    oracle               o = oracle_by_hand(&data, "graphconv", "add", 1);
    oracle_set(&o, "layers.0.lin_rel.weight", (float[]){1, 0});
    oracle_set(&o, "layers.0.lin_rel.bias", (float[]){0});
    oracle_set(&o, "layers.0.lin_root.weight", (float[]){1, 0});
    return o;
}

static const cbx_edit two_edits[] = {
    {.op = CBX_REMOVE_EDGE, .source = 1, .target = 2, .edge = 1},
    {.op = CBX_SET_FEATURE, .node = 1, .feature = 0, .from = 2, .to = 0},
};

static cbx_counterfactual path_answer(void)
{
    return (cbx_counterfactual){.row = 2,
                                .outcome = CBX_FOUND,
                                .prediction = 1,
                                .result = 0,
                                .num_classes = 2,
                                .num_edits = 2,
                                .num_edges_removed = 1,
                                .num_features_changed = 1,
                                .edits = two_edits,
                                .num_nodes = 3,
                                .num_features = 2,
                                .num_edges = 2};
}

TEST(the_measures_of_a_path_are_those_worked_out_by_hand)
{
    oracle             o = path_oracle();
    cbx_counterfactual c = path_answer();
    cbx_dataset_means *y = NULL;
    cbx_measures       m;
    cbx_error          err = {0};
    CHECK_OK(cbx_dataset_means_new(o.model, o.graph, 1, &y, &err), err);
    CHECK_OK(cbx_measure(y, &c, &m, &err), err);
    CHECK_NEAR(m.fidelity, 1, 0); /* it was right and no longer is */
    CHECK_NEAR(m.node_sparsity, 1.0 / 6, 1e-12);
    CHECK_NEAR(m.edge_sparsity, 0.5, 1e-12);
    /* Mean features (5/3, 1/3) against (3, 1). */
    CHECK_NEAR(m.distribution_distance, sqrt(20.0 / 9), 1e-7);
    /* Hidden rows 1, 1 and 4: from the edited features, and without the edge. */
    CHECK_NEAR(m.embedding_distance, 15.0 / 4 - 2, 1e-7);
    CHECK_INT(m.features_changed, 1);
    CHECK_INT(m.edges_removed, 1);
    c.prediction = 0, c.result = 1;
    CHECK_OK(cbx_measure(y, &c, &m, &err), err);
    CHECK_NEAR(m.fidelity, -1, 0);
    cbx_dataset_means_free(y);
    oracle_free(&o);
}

TEST(what_was_not_found_has_no_measures)
{
    oracle             o = path_oracle();
    cbx_counterfactual c = path_answer();
    cbx_dataset_means *y = NULL;
    cbx_measures       m;
    cbx_error          err = {0};
    c.outcome = CBX_NOT_FOUND;
    CHECK_OK(cbx_dataset_means_new(o.model, o.graph, 1, &y, &err), err);
    CHECK_OK(cbx_measure(y, &c, &m, &err), err);
    CHECK(isnan(m.fidelity) && isnan(m.node_sparsity) && isnan(m.edge_sparsity));
    CHECK(isnan(m.distribution_distance) && isnan(m.embedding_distance));
    CHECK_INT(m.features_changed + m.edges_removed, 0);
    cbx_dataset_means_free(y);
    oracle_free(&o);
}

TEST(an_answer_for_another_graph_is_refused)
{
    oracle             o = path_oracle();
    cbx_counterfactual c = path_answer();
    cbx_dataset_means *y = NULL;
    cbx_measures       m;
    cbx_error          err = {0};
    CHECK_OK(cbx_dataset_means_new(o.model, o.graph, 1, &y, &err), err);
    c.num_edges = 7;
    CHECK_INT(cbx_measure(y, &c, &m, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "3 nodes and 7 edges");
    c.row = 4;
    CHECK_INT(cbx_measure(y, &c, &m, &err), CBX_INVALID);
    c.row = 2, c.task = CBX_GRAPH;
    CHECK_INT(cbx_measure(y, &c, &m, &err), CBX_INVALID);
    cbx_dataset_means_free(y);
    oracle_free(&o);
}

/* Graph tasks: the edited graph is one of the graphs of cbx_graph_apply, so its mean
 * features can be read off there. */
TEST(answers_for_graphs_are_measured_on_the_graph_with_the_edits_applied)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 60, .graphs = 9, .seed = 4});
    cbx_explain_options options = ASK("epochs", "80", "target", "any");
    cbx_dataset_means  *y = NULL;
    cbx_error           err = {0};
    int                 found = 0;
    oracle_must(cbx_dataset_means_new(o.model, o.graph, 2, &y, &err), &err);
    for (int32_t g = 0; g < 9; g++) {
        cbx_counterfactual *c = explain_row(&o, g, &options);
        cbx_measures        m;
        cbx_graph          *edited = NULL;
        CHECK_OK(cbx_measure(y, c, &m, &err), err);
        CHECK_OK(cbx_graph_apply(o.graph, c->edits, c->num_edits, &edited, &err), err);
        const cbx_graph_data *d = cbx_graph_arrays(edited);
        double                total = 0;
        for (int32_t j = 0; j < d->num_features; j++) {
            double whole = 0, mine = 0;
            for (int32_t i = 0; i < d->num_nodes; i++)
                whole += data_feature(&o.data, i, j);
            for (int64_t i = d->graph_ptr[g]; i < d->graph_ptr[g + 1]; i++)
                mine += data_feature(d, (int32_t)i, j);
            double gap = mine / (double)(d->graph_ptr[g + 1] - d->graph_ptr[g]) - whole / 60;
            total += gap * gap;
        }
        if (c->outcome == CBX_FOUND) {
            found++;
            CHECK_NEAR(m.distribution_distance, sqrt(total), 1e-6);
            CHECK_NEAR(m.edge_sparsity,
                       (double)(o.data.num_edges - d->num_edges) / (double)c->num_edges, 1e-12);
        }
        cbx_graph_free(edited);
        cbx_counterfactual_free(c);
    }
    CHECK(found > 3);
    cbx_dataset_means_free(y);
    oracle_free(&o);
}

static cbx_status measure_path(void *user)
{
    oracle            *o = user;
    cbx_counterfactual c = path_answer();
    cbx_dataset_means *y = NULL;
    cbx_measures       m;
    cbx_status         status = cbx_dataset_means_new(o->model, o->graph, 1, &y, NULL);
    if (!status)
        status = cbx_measure(y, &c, &m, NULL);
    cbx_dataset_means_free(y);
    return status;
}

TEST(measuring_survives_every_allocation_that_fails)
{
    oracle o = path_oracle();
    test_each_allocation(measure_path, &o);
    oracle_free(&o);
}
