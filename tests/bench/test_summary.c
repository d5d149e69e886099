/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a few rows that can be worked out by hand. */
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "../search/own_options.h"

typedef struct bench {
    cbx_graph        *graph;
    cbx_bench_data    data;
    cbx_bench_options options;
    cbx_bench_plan    plan;
} bench;

static bench make(const char *explainers)
{
    bench     b = {0};
    cbx_error err = {0};
    CHECK_OK(cbx_graph_builtin_with("karate", NULL, &b.graph, &err), err);
    b.data = (cbx_bench_data){"karate", b.graph};
    cbx_fields_default(cbx_bench_table(), &b.options);
    b.options.models = "gcn";
    b.options.explainers = explainers;
    b.options.folds = 2;
    b.options.samples = 3;
    return b;
}

static void plan(bench *b)
{
    cbx_error err = {0};
    CHECK_OK(cbx_bench_plan_init(&b->plan, &b->options, &b->data, 1, &err), err);
}

static void drop(bench *b)
{
    cbx_bench_plan_free(&b->plan);
    cbx_graph_free(b->graph);
}

static cbx_bench_row answer(int32_t fold, int32_t method, int32_t row, double fidelity,
                            int64_t features, int64_t edges)
{
    return (cbx_bench_row){
        .fold = fold,
        .method = method,
        .row = row,
        .outcome = CBX_FOUND,
        .accuracy = fold ? 0.5 : 1,
        .seconds = row,
        .measures = {fidelity, (double)features / 100, (double)edges / 10, 1, 2, features, edges}};
}

static cbx_bench_row nothing(int32_t fold, int32_t method, int32_t row, cbx_outcome outcome)
{
    cbx_bench_row r = answer(fold, method, row, NAN, 0, 0);
    r.outcome = outcome;
    r.measures = (cbx_measures){NAN, NAN, NAN, NAN, NAN, 0, 0};
    return r;
}

TEST(measures_are_averaged_over_targets_and_then_over_folds)
{
    bench b = make("combinex-lin,ego");
    plan(&b);
    cbx_bench_row     list[] = {answer(0, 0, 1, 1, 4, 0),        answer(0, 0, 2, 0, 2, 2),
                                nothing(0, 0, 3, CBX_NOT_FOUND), nothing(0, 0, 4, CBX_SKIPPED),
                                nothing(0, 1, 1, CBX_NOT_FOUND), answer(1, 0, 5, 1, 6, 1)};
    cbx_bench_rows    rows = {list, 6};
    cbx_bench_summary s;
    cbx_error         err = {0};
    CHECK_OK(cbx_bench_summary_init(&s, &b.plan, &rows, &err), err);
    CHECK_INT(s.num_cells, 1);
    const cbx_bench_line *line = &s.cells[0].lines[0];
    CHECK_INT(line->targets, 5);
    CHECK_INT(line->found, 3);
    CHECK_INT(line->skipped, 1);
    /* Folds: 2 of 4, the skipped one among them, and 1 of 1; a deviation of two values is
     * their gap over √2. */
    CHECK_NEAR(line->figures[CBX_VALIDITY].mean, (2.0 / 4 + 1) / 2, 1e-12);
    CHECK_NEAR(line->figures[CBX_VALIDITY].std, (1.0 / 2) / sqrt(2), 1e-12);
    CHECK_NEAR(line->figures[CBX_FIDELITY].mean, (0.5 + 1) / 2, 1e-12);
    CHECK_NEAR(line->figures[CBX_NODE_SPARSITY].mean, (0.03 + 0.06) / 2, 1e-12);
    CHECK_NEAR(line->edits.mean, (4 + 4 + 7) / 3.0, 1e-12);
    CHECK_NEAR(line->edits.median, 4, 1e-12);
    CHECK_NEAR(line->edits.most, 7, 1e-12);
    CHECK_NEAR(line->seconds.mean, (1 + 2 + 3 + 5) / 4.0, 1e-12); /* failures count */
    CHECK_NEAR(s.cells[0].accuracy, 0.75, 1e-12);
    line = &s.cells[0].lines[1];
    CHECK_NEAR(line->figures[CBX_VALIDITY].mean, 0, 0);
    CHECK(isnan(line->figures[CBX_VALIDITY].std)); /* one fold only has any */
    CHECK(isnan(line->figures[CBX_FIDELITY].mean) && isnan(line->edits.mean));
    cbx_bench_summary_free(&s);
    drop(&b);
}

TEST(counts_as_large_as_a_file_can_say_are_added_up)
{
    bench b = make("combinex-lin");
    plan(&b);
    cbx_bench_row     list[] = {answer(0, 0, 1, 1, INT64_MAX, INT64_MAX)};
    cbx_bench_rows    rows = {list, 1};
    cbx_bench_summary s;
    cbx_error         err = {0};
    CHECK_OK(cbx_bench_summary_init(&s, &b.plan, &rows, &err), err);
    CHECK_NEAR(s.cells[0].lines[0].edits.mean, 0x1p64, 0);
    cbx_bench_summary_free(&s);
    drop(&b);
}

TEST(best_and_second_best_are_told_by_three_digits)
{
    bench b = make("combinex-lin,combinex-def,ego,cff");
    plan(&b);
    cbx_bench_row list[] = {answer(0, 0, 1, 1, 4, 1), answer(0, 1, 1, 1, 4, 1),
                            answer(0, 2, 1, 1, 0, 3), answer(0, 3, 1, 1, 0, 7)};
    list[1].measures.edge_sparsity += 0.0001;
    cbx_bench_rows    rows = {list, 4};
    cbx_bench_summary s;
    cbx_error         err = {0};
    CHECK_OK(cbx_bench_summary_init(&s, &b.plan, &rows, &err), err);
    const int places[] = {1, 1, 2, 0};
    for (int i = 0; i < 4; i++)
        CHECK_INT(s.cells[0].lines[i].figures[CBX_EDGE_SPARSITY].place, places[i]);
    /* ego changes no feature, so that it changes few is no merit. */
    CHECK(isnan(s.cells[0].lines[2].figures[CBX_NODE_SPARSITY].mean));
    CHECK_INT(s.cells[0].lines[2].figures[CBX_NODE_SPARSITY].place, 0);
    double ranks[4 * CBX_BENCH_MEASURES];
    cbx_bench_ranks(&s, ranks);
    CHECK_NEAR(ranks[CBX_EDGE_SPARSITY], 1, 1e-12);
    CHECK_NEAR(ranks[2 * CBX_BENCH_MEASURES + CBX_EDGE_SPARSITY], 3, 1e-12);
    CHECK_NEAR(ranks[CBX_VALIDITY], 2.5, 1e-12); /* all four alike */
    CHECK(isnan(ranks[2 * CBX_BENCH_MEASURES + CBX_NODE_SPARSITY]));
    cbx_bench_summary_free(&s);
    drop(&b);
}

TEST(the_winner_has_the_highest_validity_and_among_equals_the_fewest_edits)
{
    bench b = make("combinex-lin,minimal,ego,minimal-any");
    plan(&b);
    cbx_bench_row     list[] = {answer(0, 0, 1, 1, 9, 1), answer(0, 0, 2, 1, 9, 1),
                                answer(0, 1, 1, 1, 1, 1), answer(0, 1, 2, 1, 2, 1),
                                answer(0, 2, 1, 1, 0, 1), nothing(0, 2, 2, CBX_SKIPPED),
                                answer(0, 3, 1, 1, 0, 1), answer(0, 3, 2, 1, 0, 1)};
    cbx_bench_rows    rows = {list, 8};
    cbx_bench_summary s;
    cbx_error         err = {0};
    CHECK_OK(cbx_bench_summary_init(&s, &b.plan, &rows, &err), err);
    CHECK_INT(s.cells[0].winner, 1); /* 2.5 edits where combinex-lin needs 10; ego flips half */
    CHECK_INT(s.cells[0].second, 0);
    cbx_bench_summary_free(&s);
    list[2].outcome = CBX_NOT_FOUND;
    CHECK_OK(cbx_bench_summary_init(&s, &b.plan, &rows, &err), err);
    CHECK_INT(s.cells[0].winner, 0);
    CHECK_INT(s.cells[0].second, 2); /* ego, with one edit for minimal's three */
    cbx_bench_summary_free(&s);
    for (int i = 0; i < 8; i++)
        list[i].outcome = CBX_NOT_FOUND;
    CHECK_OK(cbx_bench_summary_init(&s, &b.plan, &rows, &err), err);
    CHECK_INT(s.cells[0].winner, -1);
    CHECK_INT(s.cells[0].second, -1);
    cbx_bench_summary_free(&s);
    drop(&b);
}

TEST(who_may_lead_to_any_class_is_not_compared_with_who_may_not)
{
    bench b = make("combinex-lin,minimal,minimal-any");
    plan(&b);
    cbx_bench_row     list[] = {answer(0, 0, 1, 1, 9, 2), answer(0, 1, 1, 1, 8, 3),
                                answer(0, 2, 1, 1, 1, 1)};
    cbx_bench_rows    rows = {list, 3};
    cbx_bench_summary s;
    cbx_error         err = {0};
    CHECK_OK(cbx_bench_summary_init(&s, &b.plan, &rows, &err), err);
    const int places[] = {2, 1, 0};
    for (int i = 0; i < 3; i++)
        CHECK_INT(s.cells[0].lines[i].figures[CBX_NODE_SPARSITY].place, places[i]);
    double ranks[3 * CBX_BENCH_MEASURES];
    cbx_bench_ranks(&s, ranks);
    CHECK_NEAR(ranks[CBX_NODE_SPARSITY], 2, 1e-12);
    CHECK_NEAR(ranks[CBX_BENCH_MEASURES + CBX_NODE_SPARSITY], 1, 1e-12);
    CHECK(isnan(ranks[2 * CBX_BENCH_MEASURES + CBX_NODE_SPARSITY]));
    cbx_bench_summary_free(&s);
    drop(&b);
}

TEST(minimal_is_asked_by_default_for_the_next_class_and_for_any)
{
    bench b = make("all");
    plan(&b);
    const char *const targets[] = {"next", "any"};
    cbx_error         err = {0};
    for (int i = 0; i < 2; i++) {
        cbx_explain_options options;
        int32_t             method = b.plan.num_methods - 2 + i;
        CHECK_OK(cbx_bench_search(&b.plan, method, &options, &err), err);
        CHECK(!strcmp(b.plan.methods[method]->explainer, "minimal"));
        CHECK(!strcmp(options.target, targets[i]));
    }
    CHECK_INT(b.plan.num_methods, 14);
    drop(&b);
}

TEST(the_published_program_leaves_out_targets_with_fewer_than_two_edges)
{
    bench b = make("ego");
    b.options.published_faults = "skips";
    plan(&b);
    cbx_bench_row list[] = {answer(0, 0, 1, 1, 0, 1), nothing(0, 0, 2, CBX_NOT_FOUND),
                            nothing(0, 0, 3, CBX_SKIPPED), answer(0, 0, 4, 1, 0, 1)};
    list[0].edges = list[1].edges = 2;
    list[2].edges = 1; /* and the last has none */
    cbx_bench_rows    rows = {list, 4};
    cbx_bench_summary s;
    cbx_error         err = {0};
    CHECK_OK(cbx_bench_summary_init(&s, &b.plan, &rows, &err), err);
    CHECK_INT(s.cells[0].lines[0].targets, 2);
    CHECK_INT(s.cells[0].lines[0].skipped, 0);
    CHECK_NEAR(s.cells[0].lines[0].figures[CBX_VALIDITY].mean, 0.5, 1e-12);
    cbx_bench_summary_free(&s);
    drop(&b);
}

static cbx_explain_options search_of(bench *b, int32_t method)
{
    cbx_explain_options options = {0};
    cbx_error           err = {0};
    CHECK_OK(cbx_bench_search(&b->plan, method, &options, &err), err);
    return options;
}

static bool search_has(bench *b, int32_t method, const char *option, const char *value)
{
    cbx_explain_options o = search_of(b, method);
    return option_is(&o, option, value);
}

TEST(faults_go_to_the_methods_that_have_them_and_are_part_of_the_plan)
{
    bench b = make("combinex-lin,cff,unr,minimal");
    plan(&b);
    for (int32_t i = 0; i < 4; i++)
        CHECK(search_has(&b, i, "faults", "0"));
    CHECK(strstr(b.plan.text, "fault") == NULL);
    cbx_bench_plan_free(&b.plan);
    b.options.published_faults = "shift,any-class,complement";
    plan(&b);
    CHECK(search_has(&b, 0, "faults", "2"));
    CHECK(search_has(&b, 1, "cff-complement", "whole"));
    CHECK(!strcmp(search_of(&b, 2).target, "any"));
    CHECK(search_has(&b, 3, "faults", "0"));
    CHECK(!strcmp(search_of(&b, 3).target, "next"));
    CHECK_CONTAINS(b.plan.text, "published-fault shift\npublished-fault any-class\n");
    drop(&b);
    b = make("ego");
    cbx_error err = {0};
    b.options.published_faults = "roundin";
    CHECK_INT(cbx_bench_plan_init(&b.plan, &b.options, &b.data, 1, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message,
                   "published_faults: there is no 'roundin'; did you mean 'rounding'?");
    cbx_graph_free(b.graph);
}

TEST(kinds_are_the_data_sets_where_published_and_found_where_meant)
{
    bench b = make("combinex-lin");
    plan(&b);
    CHECK_INT(search_of(&b, 0).kinds, 0);
    CHECK_CONTAINS(b.plan.text, "protocol published\n");
    cbx_bench_plan_free(&b.plan);
    b.options.protocol = CBX_PROTOCOL_MEANT;
    plan(&b);
    CHECK_INT(search_of(&b, 0).kinds, 1);
    CHECK_CONTAINS(b.plan.text, "protocol meant\n");
    drop(&b);
}

/* karate, gcn, random-edges: validity 0.321 ± 0.244, fidelity 0.639 ± 0.127. */
TEST(the_verdict_compares_with_the_published_figure)
{
    bench b = make("random-edges");
    plan(&b);
    cbx_bench_row     list[] = {answer(0, 0, 1, 1, 0, 1), answer(1, 0, 1, 1, 0, 1)};
    cbx_bench_rows    rows = {list, 2};
    cbx_bench_summary s;
    cbx_error         err = {0};
    CHECK_OK(cbx_bench_summary_init(&s, &b.plan, &rows, &err), err);
    const cbx_bench_figure *f = s.cells[0].lines[0].figures;
    CHECK_NEAR(f[CBX_VALIDITY].published, 0.321, 1e-12);
    CHECK_INT(f[CBX_VALIDITY].verdict, CBX_BETTER); /* 1, and 0.321 + 2 * 0.244 is less */
    CHECK_INT(f[CBX_FIDELITY].verdict, CBX_BETTER);
    CHECK_INT(f[CBX_EDGE_SPARSITY].verdict, CBX_BETTER); /* 0.1 for 0.505: less is better */
    CHECK_INT(f[CBX_DISTRIBUTION].verdict, CBX_WORSE);   /* 1 for 0.011 */
    CHECK_INT(f[CBX_EMBEDDING].verdict, CBX_NO_VERDICT);
    cbx_bench_summary_free(&s);
    list[0].outcome = list[1].outcome = CBX_NOT_FOUND;
    CHECK_OK(cbx_bench_summary_init(&s, &b.plan, &rows, &err), err);
    CHECK_INT(s.cells[0].lines[0].figures[CBX_VALIDITY].verdict, CBX_EQUAL); /* 0 */
    cbx_bench_summary_free(&s);
    drop(&b);
}

static cbx_status summarise(void *user)
{
    bench            *b = user;
    cbx_bench_row     list[] = {answer(0, 0, 1, 1, 4, 1)};
    cbx_bench_rows    rows = {list, 1};
    cbx_bench_summary s;
    cbx_status        status = cbx_bench_summary_init(&s, &b->plan, &rows, NULL);
    if (!status)
        cbx_bench_summary_free(&s);
    return status;
}

TEST(a_summary_survives_every_allocation_that_fails)
{
    bench b = make("all");
    plan(&b);
    test_each_allocation(summarise, &b);
    drop(&b);
}

static cbx_status write_page(void *user)
{
    bench            *b = user;
    cbx_bench_row     list[] = {answer(0, 0, 1, 1, 4, 1)};
    cbx_bench_rows    rows = {list, 1};
    cbx_bench_summary s;
    cbx_status        status = cbx_bench_summary_init(&s, &b->plan, &rows, NULL);
    if (status)
        return status;
    double *ranks = CBX_NEW(&s.arena, double, b->plan.num_methods *CBX_BENCH_MEASURES);
    if (ranks)
        cbx_bench_ranks(&s, ranks);
    status = ranks ? cbx_bench_page(&s, ranks, test_path("bench.html"), NULL) : CBX_NO_MEMORY;
    cbx_bench_summary_free(&s);
    return status;
}

TEST(so_does_its_page)
{
    bench b = make("combinex-lin,ego");
    plan(&b);
    test_each_allocation(write_page, &b);
    drop(&b);
}

TEST(names_that_do_not_exist_are_refused_with_the_nearest)
{
    bench     b = make("combinex-lim");
    cbx_error err = {0};
    CHECK_INT(cbx_bench_plan_init(&b.plan, &b.options, &b.data, 1, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "did you mean 'combinex-lin'?");
    b.options.explainers = "ego,ego";
    CHECK_INT(cbx_bench_plan_init(&b.plan, &b.options, &b.data, 1, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "'ego' is there twice");
    b.options.explainers = "ego";
    b.data.name = "a,b";
    CHECK_INT(cbx_bench_plan_init(&b.plan, &b.options, &b.data, 1, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "'a,b'");
    cbx_graph_free(b.graph);
}

TEST(targets_are_test_rows_and_the_same_for_the_same_seed)
{
    bench b = make("ego"), c = make("cff,unr");
    b.options.samples = c.options.samples = 4;
    plan(&b), plan(&c);
    for (int32_t f = 0; f < 2; f++) {
        cbx_model_spec    spec;
        cbx_train_options train;
        uint8_t           part[34];
        cbx_error         err = {0};
        CHECK_OK(cbx_bench_training(&b.plan, 0, f, &spec, &train, &err), err);
        CHECK_OK(cbx_split_with(b.graph, &train, part, &err), err);
        CHECK_INT(b.plan.num_targets[f], 4);
        for (int32_t i = 0; i < 4; i++) {
            CHECK_INT(part[b.plan.targets[f][i]], 2);
            CHECK_INT(b.plan.targets[f][i], c.plan.targets[f][i]);
        }
    }
    drop(&b), drop(&c);
}
