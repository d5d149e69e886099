/* SPDX-License-Identifier: Apache-2.0 */
/* people.h: people with an income, an age and a rate, and models of which a test knows how far a
 * value has to go. */
#ifndef TEST_PEOPLE_H
#define TEST_PEOPLE_H

#include "../search/oracle.h"
#include "test.h"

enum { NODES = 200, FEATURES = 3 };

/* Incomes from 1,000 to 20,900 in steps of 100, ages from 20 to 69, and a rate between 0 and 1. */
typedef struct people {
    float   x[NODES * FEATURES], lo[FEATURES], hi[FEATURES];
    uint8_t discrete[FEATURES];
} people;

enum { INCOME, AGE, RATE };

static void make_people(people *p)
{
    for (int i = 0; i < NODES; i++) {
        float *x = &p->x[i * FEATURES];
        x[INCOME] = 1000 + 100 * (float)i;
        x[AGE] = 20 + (float)(i % 50);
        x[RATE] = (float)(i % 101) / 100;
    }
    memcpy(p->lo, (float[]){0, 0, 0}, sizeof p->lo);
    memcpy(p->hi, (float[]){500000, 120, 1}, sizeof p->hi);
    memcpy(p->discrete, (uint8_t[]){0, 1, 0}, sizeof p->discrete);
}

/* The class is 1 where the node's own features, weighed, come to more than this. */
static oracle make_oracle(const people *p, const float *weight, float more_than)
{
    static const int64_t source[] = {0, 1}, target[] = {1, 0};
    static const float   none[FEATURES];
    static int64_t       y[NODES];
    oracle               o = oracle_by_hand(&(cbx_graph_data){.num_nodes = NODES,
                                                              .num_features = FEATURES,
                                                              .num_edges = 2,
                                                              .num_classes = 2,
                                                              .edge_source = source,
                                                              .edge_target = target,
                                                              .x = p->x,
                                                              .y = y,
                                                              .feat_min = p->lo,
                                                              .feat_max = p->hi,
                                                              .discrete = p->discrete},
                                            "graphconv", "add", 1);
    oracle_set(&o, "layers.0.lin_rel.weight", none);
    oracle_set(&o, "layers.0.lin_rel.bias", none);
    oracle_set(&o, "layers.0.lin_root.weight", weight);
    oracle_set(&o, "output_layer.weight", (float[]){0, 1});
    oracle_set(&o, "output_layer.bias", (float[]){more_than, 0});
    return o;
}

#define EXPLAIN(o, row, ...) \
    explain_with(o, row, (const char *const[]){"target", "any", __VA_ARGS__})

static cbx_counterfactual *explain_with(const oracle *o, int32_t row, const char *const *settings)
{
    cbx_explain_options options;
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    cbx_fields_default(cbx_explain_table(), &options);
    options.threads = 1;
    for (; *settings; settings += 2)
        oracle_must(cbx_fields_set(cbx_explain_table(), &options, settings[0], settings[1], &err),
                    &err);
    oracle_must(cbx_explain_with(o->model, o->graph, row, &options, NULL, NULL, &r, &err), &err);
    return r;
}

#endif
