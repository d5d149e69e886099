/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows train, validate and test. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "samples.h"
#include "test.h"
#include "train.h"

enum { TRAIN, VAL, TEST_PART, UNUSED, PARTS };

static void count_parts(const uint8_t *part, int32_t rows, int counts[PARTS])
{
    memset(counts, 0, PARTS * sizeof *counts);
    for (int32_t i = 0; i < rows; i++)
        if (CHECK(part[i] < PARTS))
            counts[part[i]]++;
}

static void split(const sample *s, const cbx_train_options *o, uint8_t *part)
{
    cbx_error err = {0};
    memset(part, 0xee, 1000);
    CHECK_OK(cbx_split_with(s->graph, o, part, &err), err);
}

static void check_counts(const sample *s, const cbx_train_options *o, int train, int val, int test)
{
    uint8_t part[1000];
    int     counts[PARTS];
    int32_t rows = cbx_graph_label_rows(s->graph);
    split(s, o, part);
    count_parts(part, rows, counts);
    CHECK_INT(counts[TRAIN], train);
    CHECK_INT(counts[VAL], val);
    CHECK_INT(counts[TEST_PART], test);
    CHECK_INT(counts[UNUSED], rows - train - val - test);
    CHECK_INT(part[rows], 0xee); /* and no further */
}

static sample nodes(void)
{
    return make_sample((sample_shape){.nodes = 200, .features = 3, .classes = 2, .seed = 1});
}

TEST(a_random_split_trains_on_four_fifths)
{
    const char *const none[] = {NULL};
    sample            s = nodes();
    cbx_train_options o = make_options(none);
    check_counts(&s, &o, 160, 0, 40);
    o.train_share = 0.5;
    check_counts(&s, &o, 100, 0, 100);
    o.train_share = 1;
    check_counts(&s, &o, 200, 0, 0);
    o.train_share = 0.01;
    check_counts(&s, &o, 2, 0, 198);
    free_sample(&s);
}

TEST(a_random_split_is_of_graphs_in_graph_tasks)
{
    const char *const none[] = {NULL};
    sample_shape      shape = {.nodes = 200, .features = 3, .classes = 2, .graphs = 50, .seed = 1};
    sample            s = make_sample(shape);
    cbx_train_options o = make_options(none);
    check_counts(&s, &o, 40, 0, 10);
    free_sample(&s);
}

TEST(the_seed_and_the_fold_make_the_shuffle)
{
    const char *const none[] = {NULL};
    sample            s = nodes();
    cbx_train_options o = make_options(none);
    uint8_t           one[1000], two[1000];
    split(&s, &o, one);
    split(&s, &o, two);
    CHECK(!memcmp(one, two, 200));
    o.seed = 1;
    split(&s, &o, two);
    CHECK(memcmp(one, two, 200) != 0);
    o.seed = 0;
    o.fold = 1;
    split(&s, &o, two);
    CHECK(memcmp(one, two, 200) != 0);
    /* It is a shuffle: rows of both halves are among the tested. */
    int low = 0, high = 0;
    for (int i = 0; i < 200; i++)
        *(i < 100 ? &low : &high) += one[i] == TEST_PART;
    CHECK(low > 5 && high > 5);
    free_sample(&s);
}

TEST(validation_rows_come_from_the_training_part)
{
    sample            s = nodes();
    cbx_train_options o = OPTIONS("val-share", "0.1");
    uint8_t           with[1000], without[1000];
    check_counts(&s, &o, 140, 20, 40);
    split(&s, &o, with);
    o.val_share = 0;
    split(&s, &o, without);
    for (int i = 0; i < 200; i++)
        CHECK((with[i] == TEST_PART) == (without[i] == TEST_PART));
    o = OPTIONS("split", "kfold", "folds", "5", "val-share", "0.25");
    check_counts(&s, &o, 110, 50, 40);
    free_sample(&s);
}

static void check_folds(const sample *s, int64_t folds, int64_t seed)
{
    cbx_train_options o = OPTIONS("split", "kfold");
    int32_t           rows = cbx_graph_label_rows(s->graph);
    int               tested[1000] = {0};
    o.folds = folds;
    o.seed = seed;
    for (o.fold = 0; o.fold < folds; o.fold++) {
        uint8_t part[1000];
        int     counts[PARTS];
        split(s, &o, part);
        count_parts(part, rows, counts);
        CHECK(counts[TEST_PART] >= rows / folds && counts[TEST_PART] <= rows / folds + 1);
        CHECK_INT(counts[TRAIN], rows - counts[TEST_PART]);
        for (int32_t i = 0; i < rows; i++)
            tested[i] += part[i] == TEST_PART;
    }
    for (int32_t i = 0; i < rows; i++)
        CHECK_INT(tested[i], 1);
}

TEST(the_folds_test_every_row_exactly_once)
{
    sample s = nodes();
    sample g = make_sample(
        (sample_shape){.nodes = 90, .features = 2, .classes = 2, .graphs = 30, .seed = 2});
    check_folds(&s, 4, 0);
    check_folds(&s, 7, 3); /* does not divide 200 */
    check_folds(&s, 200, 0);
    check_folds(&g, 2, 0);
    check_folds(&g, 29, 0);
    free_sample(&s);
    free_sample(&g);
}

/* ---- published splits */

/* Nodes 0-9 train, 10-19 validate, 20-49 test in column 0; the other way round in the
 * last of three columns. */
static sample published(int32_t columns, bool val, bool test)
{
    sample   s = nodes();
    uint8_t *mask[3];
    for (int k = 0; k < 3; k++) {
        mask[k] = CBX_NEW0(&s.arena, uint8_t, 200 * columns);
        for (int32_t i = 0; i < 50; i++) {
            int part = i < 10 ? TRAIN : i < 20 ? VAL : TEST_PART;
            mask[k][i * columns] = part == k;
            if (columns > 1)
                mask[k][(199 - i) * columns + columns - 1] = part == k;
        }
    }
    cbx_graph_free(s.graph);
    s.data.num_splits = columns;
    s.data.train_mask = mask[0];
    s.data.val_mask = val ? mask[1] : NULL;
    s.data.test_mask = test ? mask[2] : NULL;
    CHECK_INT(cbx_graph_new(&s.data, &s.graph, NULL), CBX_OK);
    return s;
}

TEST(a_published_split_is_taken_as_it_is)
{
    sample            s = published(1, true, true);
    cbx_train_options o = OPTIONS("split", "public", "seed", "5");
    uint8_t           part[1000];
    check_counts(&s, &o, 10, 10, 30);
    split(&s, &o, part);
    for (int i = 0; i < 200; i++)
        CHECK_INT(part[i], i < 10 ? TRAIN : i < 20 ? VAL : i < 50 ? TEST_PART : UNUSED);
    free_sample(&s);
}

TEST(without_a_test_mask_the_rest_is_tested)
{
    sample            s = published(1, true, false);
    cbx_train_options o = OPTIONS("split", "public");
    check_counts(&s, &o, 10, 10, 180);
    free_sample(&s);
    s = published(1, false, false);
    check_counts(&s, &o, 10, 0, 190);
    free_sample(&s);
    s = published(1, false, true);
    check_counts(&s, &o, 10, 0, 30);
    free_sample(&s);
}

TEST(a_fold_is_a_column_of_the_published_masks)
{
    sample            s = published(3, true, true);
    cbx_train_options o = OPTIONS("split", "public", "fold", "2");
    uint8_t           part[1000];
    cbx_error         err = {0};
    split(&s, &o, part);
    for (int i = 0; i < 200; i++)
        CHECK_INT(part[199 - i], i < 10 ? TRAIN : i < 20 ? VAL : i < 50 ? TEST_PART : UNUSED);
    o.fold = 1; /* that column is empty */
    CHECK_INT(cbx_split_with(s.graph, &o, part, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "no row is left to train on");
    o.fold = 3;
    CHECK_INT(cbx_split_with(s.graph, &o, part, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "fold: 3: the data has 3 published splits");
    free_sample(&s);
}

/* ---- labels */

TEST(rows_without_a_label_are_not_used)
{
    sample   s = published(1, true, true);
    int64_t *y = CBX_NEW(&s.arena, int64_t, 200);
    for (int i = 0; i < 200; i++)
        y[i] = i % 5 == 2 ? -1 : s.data.y[i];
    s.data.y = y;
    cbx_graph_free(s.graph);
    CHECK_INT(cbx_graph_new(&s.data, &s.graph, NULL), CBX_OK);
    static const char *const kinds[] = {"random", "kfold", "public"};
    static const int         sizes[][3] = {{112, 16, 32}, {104, 16, 40}, {8, 8, 24}};
    for (int k = 0; k < 3; k++) {
        cbx_train_options o = OPTIONS("split", kinds[k], "val-share", "0.1");
        uint8_t           part[1000];
        check_counts(&s, &o, sizes[k][0], sizes[k][1], sizes[k][2]);
        split(&s, &o, part);
        for (int i = 2; i < 200; i += 5)
            CHECK_INT(part[i], UNUSED);
    }
    free_sample(&s);
}

TEST(data_without_labels_cannot_be_split)
{
    const char *const none[] = {NULL};
    sample            s = nodes();
    cbx_train_options o = make_options(none);
    uint8_t           part[1000];
    cbx_error         err = {0};
    cbx_graph_free(s.graph);
    s.data.y = NULL;
    CHECK_INT(cbx_graph_new(&s.data, &s.graph, NULL), CBX_OK);
    CHECK_INT(cbx_split_with(s.graph, &o, part, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "no labels");
    free_sample(&s);
}

TEST(a_split_that_cannot_be_is_an_error_that_says_why)
{
    sample            s = nodes();
    cbx_train_options o = OPTIONS("split", "public");
    uint8_t           part[1000];
    cbx_error         err = {0};
    CHECK_INT(cbx_split_with(s.graph, &o, part, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "no published split");
    o = OPTIONS("split", "kfold", "folds", "4", "fold", "4");
    CHECK_INT(cbx_split_with(s.graph, &o, part, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "fold: 4 of 4");
    o = OPTIONS("train-share", "0");
    CHECK_INT(cbx_split_with(s.graph, &o, part, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "no row is left to train on: 200 rows");
    o = OPTIONS("train-share", "0.5", "val-share", "0.5"); /* all of them validate */
    CHECK_INT(cbx_split_with(s.graph, &o, part, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "no row is left to train on");
    o = OPTIONS("fold", "0");
    o.train_share = 1.5;
    CHECK_INT(cbx_split_with(s.graph, &o, part, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "train_share");
    o.train_share = NAN;
    CHECK_INT(cbx_split_with(s.graph, &o, part, &err), CBX_INVALID);
    o = OPTIONS("fold", "0");
    o.split = 3;
    CHECK_INT(cbx_split_with(s.graph, &o, part, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "split");
    free_sample(&s);
}

/* ---- memory */

static cbx_status split_once(void *graph)
{
    const char *const none[] = {NULL};
    cbx_train_options o = make_options(none);
    uint8_t           part[1000];
    cbx_error         err = {0};
    cbx_status        status = cbx_split_with(graph, &o, part, &err);
    CHECK(status == err.status);
    return status;
}

TEST(splitting_survives_every_failing_allocation)
{
    sample s = nodes();
    test_each_allocation(split_once, s.graph);
    free_sample(&s);
}
