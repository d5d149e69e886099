/* SPDX-License-Identifier: Apache-2.0 */
/* The published program's list of predictions, made by hand, and what a benchmark does with it. */
#include "mixed_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../search/oracle.h"
#include "rows.h"
#include "test.h"

TEST(batches_of_eight_come_in_reversed_order_and_graphs_within_them_do_not)
{
    /* 19 graphs: batches 0-7, 8-15, 16-18. */
    static const int32_t list[] = {16, 17, 18, 8, 9, 10, 11, 12, 13, 14,
                                   15, 0,  1,  2, 3, 4,  5,  6,  7};
    for (int32_t i = 0; i < 19; i++)
        CHECK_INT(cbx_mixed_up(i, 19), list[i]);
    for (int32_t i = 0; i < 16; i++)
        CHECK_INT(cbx_mixed_up(i, 16), i < 8 ? 8 + i : i - 8);
    CHECK_INT(cbx_mixed_up(0, 1), 0);
}

typedef struct bench {
    oracle            o;
    cbx_bench_data    data;
    cbx_bench_options options;
} bench;

static bench make(const char *faults)
{
    bench b = {.o = oracle_make((oracle_shape){.nodes = 150, .graphs = 30, .seed = 4})};
    b.data = (cbx_bench_data){"rings", b.o.graph};
    cbx_fields_default(cbx_bench_table(), &b.options);
    b.options.models = "gcn";
    b.options.explainers = "random-edges,minimal-any";
    b.options.folds = 2;
    b.options.train_epochs = 400;
    b.options.epochs = 20;
    b.options.jobs = 1;
    b.options.published_faults = faults;
    return b;
}

/* The folder's rows by method and place in the fold. */
static void load(const bench *b, const char *folder, cbx_bench_plan *plan, cbx_bench_rows *rows)
{
    cbx_error err = {0};
    CHECK_OK(cbx_bench_run_with(&b->options, &b->data, 1, folder, false, NULL, NULL, NULL, &err),
             err);
    CHECK_OK(cbx_bench_plan_init(plan, &b->options, &b->data, 1, &err), err);
    CHECK_OK(cbx_bench_rows_load(plan, folder, rows, &err), err);
}

TEST(a_graph_is_asked_for_the_class_after_that_of_another_and_is_explained_if_it_has_it)
{
    bench          b = make("targets");
    cbx_bench_plan plan;
    cbx_bench_rows rows;
    cbx_error      err = {0};
    char           folder[512], path[600];
    int            given = 0, other = 0;
    (void)snprintf(folder, sizeof folder, "%s", test_path("mixed"));
    load(&b, folder, &plan, &rows);
    CHECK_INT(rows.count, 2 * 2 * 6);
    for (int32_t fold = 0; fold < 2; fold++) {
        cbx_model *model = NULL;
        float     *logp = calloc(30 * 3, sizeof *logp);
        (void)snprintf(path, sizeof path, "%s/models/rings-gcn-%d.model.safetensors", folder, fold);
        CHECK_OK(cbx_model_load(path, &model, &err), err);
        CHECK_OK(cbx_predict(model, b.o.graph, 1, logp, &err), err);
        for (int32_t k = 0; k < plan.num_targets[fold]; k++) {
            cbx_bench_row        key = {.fold = fold, .row = plan.targets[fold][k]};
            const cbx_bench_row *r = cbx_bench_rows_find(&rows, &key);
            const float         *l = logp + 3 * (size_t)cbx_mixed_up(k + 1, 30);
            int32_t              best = l[1] > l[0] ? 1 : 0;
            best = l[2] > l[best] ? 2 : best;
            if (!CHECK(r != NULL))
                continue;
            CHECK_INT(r->target, (best + 1) % 3);
            other += r->target != (r->prediction + 1) % 3;
            if (r->target == r->prediction) {
                given++;
                CHECK_INT(r->outcome, CBX_FOUND);
                CHECK_INT(r->measures.edges_removed + r->measures.features_changed, 0);
                CHECK_NEAR(r->measures.fidelity, 0, 0);
            }
            key.method = 1; /* for any class: there is nothing to mix up */
            r = cbx_bench_rows_find(&rows, &key);
            CHECK(r && r->target == -1);
        }
        free(logp);
        cbx_model_free(model);
    }
    CHECK(given > 0 && other > 0);
    cbx_bench_rows_free(&rows);
    cbx_bench_plan_free(&plan);
    oracle_free(&b.o);
}

TEST(without_the_fault_every_graph_is_asked_for_its_own_next_class)
{
    bench          b = make("rounding,any-class");
    cbx_bench_plan plan;
    cbx_bench_rows rows;
    load(&b, test_path("straight"), &plan, &rows);
    for (int64_t i = 0; i < rows.count; i++)
        if (rows.rows[i].method == 0)
            CHECK_INT(rows.rows[i].target, (rows.rows[i].prediction + 1) % 3);
    cbx_bench_rows_free(&rows);
    cbx_bench_plan_free(&plan);
    oracle_free(&b.o);
}
