/* SPDX-License-Identifier: Apache-2.0 */
/* How unusual a row is: numbers that can be worked out by hand. */
#include "plausible.h"

#include <math.h>
#include <string.h>

#include "test.h"

/* Rows 2, 4, … 24 of one feature, in class 0 but the last six, which are in class 1, and a town
 * that is one of two. The feature's median is 14, and half of the rows are within 6 of it. */
enum { NODES = 12, FEATURES = 3, AMOUNT = 0, ROME, MILAN };

typedef struct town {
    cbx_graph     *graph;
    cbx_plausible *plausible;
    cbx_arena      arena;
    float          x[NODES * FEATURES];
    int32_t        indices[NODES * FEATURES], group[FEATURES];
    int64_t        indptr[NODES + 1], y[NODES];
} town;

static void make(town *t, int32_t nodes, bool classes, bool sparse)
{
    cbx_error err;
    memset(t, 0, sizeof *t);
    for (int i = 0; i < nodes; i++) {
        const float row[] = {2 * (float)(i + 1), i % 2 == 0, i % 2 == 1};
        memcpy(&t->x[i * FEATURES], row, sizeof row);
        t->y[i] = classes && i >= 6;
        t->indptr[i + 1] = (i + 1) * FEATURES;
        for (int j = 0; j < FEATURES; j++)
            t->indices[i * FEATURES + j] = j;
    }
    memcpy(t->group, (int32_t[]){-1, 0, 0}, sizeof t->group);
    cbx_graph_data d = {.num_nodes = nodes, .num_features = FEATURES, .num_classes = 3, .y = t->y};
    if (sparse) {
        d.x_indptr = t->indptr;
        d.x_indices = t->indices;
        d.x_values = t->x;
        d.num_x_values = t->indptr[nodes];
    } else {
        d.x = t->x;
    }
    CHECK_INT(cbx_graph_new(&d, &t->graph, &err), CBX_OK);
    CHECK((t->plausible = cbx_plausible_new(t->graph, t->group, &t->arena)) != NULL);
}

static double ask(const town *t, int32_t class, const cbx_edit *edits, int64_t count)
{
    double out = -1;
    CHECK_INT(cbx_plausible_edits(t->plausible, class, edits, count, &out, NULL), CBX_OK);
    return out;
}

static void end(town *t)
{
    cbx_graph_free(t->graph);
    cbx_arena_free(&t->arena);
}

static cbx_edit set_to(int32_t node, int32_t feature, float to)
{
    return (cbx_edit){.op = CBX_SET_FEATURE, .node = node, .feature = feature, .to = to};
}

/* A town apart is 1, six of the amount are 1. Of rows in the middle, those at 4 and 8 are in the
 * same town, and those at 2, 6 and 10 in the other: 2 (1/3 + 2/3) + 3 (1 + 2/6) and the like. */
static double usual_among_all(void)
{
    return (4.0 / 6 + 4.0 / 6 + 8.0 / 6 + 8.0 / 6 + 8.0 / 6) / 5;
}

TEST(a_row_far_from_all_is_many_times_as_far_as_rows_are_from_each_other)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        town t;
        make(&t, NODES, false, sparse);
        /* from 100 in Rome: 22, 18, 14 in Rome, 24 and 20 in Milan */
        const cbx_edit far = set_to(0, AMOUNT, 100);
        double         off = (78.0 / 6 + 82.0 / 6 + 86.0 / 6 + 76.0 / 6 + 1 + 80.0 / 6 + 1) / 5;
        CHECK_NEAR(ask(&t, 0, &far, 1), off / usual_among_all(), 1e-6);
        end(&t);
    }
}

TEST(a_row_of_the_data_is_as_usual_as_any)
{
    town t;
    make(&t, NODES, false, false);
    const cbx_edit same = set_to(5, AMOUNT, 12);
    CHECK_NEAR(ask(&t, 0, &same, 1), 1, 1e-6);
    end(&t);
}

TEST(only_rows_with_the_label_of_the_class_are_compared)
{
    town t;
    make(&t, NODES, true, false);
    const cbx_edit small = set_to(0, AMOUNT, 6); /* as class 0 has them */
    CHECK(ask(&t, 0, &small, 1) < 1.2);
    CHECK(ask(&t, 1, &small, 1) > 1.5);
    /* nobody has class 2, and models may know classes of their own */
    CHECK_NEAR(ask(&t, 2, &small, 1), ask(&t, -1, &small, 1), 0);
    end(&t);
}

TEST(of_several_rows_the_most_unusual_counts)
{
    town t;
    make(&t, NODES, false, false);
    const cbx_edit both[] = {set_to(0, AMOUNT, 100), set_to(1, AMOUNT, 6), set_to(0, ROME, 0),
                             set_to(0, MILAN, 1)};
    const cbx_edit far[] = {both[0], both[2], both[3]};
    CHECK_NEAR(ask(&t, 0, both, 4), ask(&t, 0, far, 3), 0);
    CHECK(ask(&t, 0, &both[1], 1) < ask(&t, 0, far, 3));
    end(&t);
}

TEST(nothing_is_said_without_changed_features_or_without_rows_to_compare)
{
    town           t;
    const cbx_edit some = set_to(0, AMOUNT, 100);
    make(&t, NODES, false, false);
    CHECK(isnan(ask(&t, 0, NULL, 0)));
    end(&t);
    make(&t, 5, false, false);
    CHECK(isnan(ask(&t, 0, &some, 1)));
    end(&t);
}
