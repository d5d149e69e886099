/* SPDX-License-Identifier: Apache-2.0 */
/* Which methods a benchmark is about. */
#include "plan.h"

#include <string.h>

#include "../search/oracle.h"
#include "test.h"

/* The plan refers to the data. */
static cbx_bench_plan plan_of(const cbx_bench_options *options, const cbx_bench_data *data)
{
    cbx_bench_plan plan;
    cbx_error      err = {0};
    oracle_must(cbx_bench_plan_init(&plan, options, data, 1, &err), &err);
    return plan;
}

TEST(all_is_what_it_was_before_there_were_methods_that_are_run_by_name_only)
{
    static const char *const all[] = {
        "combinex-def", "combinex-feat", "combinex-dyn", "combinex-exp",    "combinex-lin",
        "combinex-sin", "ego",           "random-edges", "random-features", "cff",
        "cf-gnn",       "unr",           "minimal",      "minimal-any"};
    oracle               o = oracle_make((oracle_shape){.nodes = 0});
    const cbx_bench_data data = {"club", o.graph};
    cbx_bench_options    options;
    cbx_fields_default(cbx_bench_table(), &options);
    cbx_bench_plan plan = plan_of(&options, &data);
    if (CHECK_INT(plan.num_methods, sizeof all / sizeof *all))
        for (int32_t i = 0; i < plan.num_methods; i++)
            CHECK(!strcmp(plan.methods[i]->name, all[i]));
    cbx_bench_plan_free(&plan);
    options.explainers = "moexp,unr,clear";
    plan = plan_of(&options, &data);
    if (CHECK_INT(plan.num_methods, 3)) {
        CHECK(!strcmp(plan.methods[0]->name, "moexp") && !strcmp(plan.methods[1]->name, "unr"));
        CHECK(cbx_bench_applies(&plan, 0, 1) && !cbx_bench_applies(&plan, 0, 2)); /* of nodes */
    }
    cbx_bench_plan_free(&plan);
    oracle_free(&o);
}
