/* SPDX-License-Identifier: Apache-2.0 */
/* What a benchmark reads: its options, lines "NAME VALUE" up to an empty one, "data NAME"
 * among them; and then rows.csv, as --resume finds it, of which tables are made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "rows.h"
#include "summary.h"

static void put_tables(const cbx_bench_plan *plan, const cbx_bench_rows *rows)
{
    static FILE      *out;
    cbx_bench_summary s;
    cbx_error         err = {0};
    cbx_status        status = cbx_bench_summary_init(&s, plan, rows, &err);
    fuzz_check(status, &err);
    if (!out && !(out = fopen("/dev/null", "w")))
        fuzz_stop("no /dev/null");
    double *ranks = calloc((size_t)plan->num_methods * CBX_BENCH_MEASURES, sizeof *ranks);
    if (!status && ranks) {
        cbx_bench_ranks(&s, ranks);
        cbx_bench_put_csv(out, &s);
        cbx_bench_put_timing(out, &s);
        cbx_bench_put_markdown(out, &s);
        cbx_bench_put_latex(out, &s);
        cbx_bench_put_json(out, &s);
        cbx_bench_put_svg(out, &s, ranks);
    }
    free(ranks);
    cbx_bench_summary_free(&s);
}

static void read_rows(const cbx_bench_plan *plan, const char *text)
{
    cbx_bench_rows rows;
    cbx_error      err = {0};
    (void)fuzz_file("rows.csv", (const uint8_t *)text, strlen(text));
    cbx_status status = cbx_bench_rows_load(plan, fuzz_folder(), &rows, &err);
    fuzz_check(status, &err);
    if (status)
        return;
    for (int64_t i = 0; i < rows.count; i++)
        if (cbx_bench_rows_find(&rows, &rows.rows[i]) != &rows.rows[i])
            fuzz_stop("row %lld is not found", (long long)i);
    if (rows.count)
        put_tables(plan, &rows);
    cbx_bench_rows_free(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cbx_bench_plan plan;
    cbx_error      err = {0};
    char          *text = fuzz_text(bytes, size), *rest = text;
    cbx_status     status = fuzz_plan(&rest, &plan, &err);
    fuzz_check(status, &err);
    if (!status) {
        read_rows(&plan, rest);
        cbx_bench_plan_free(&plan);
    }
    free(text);
    return 0;
}
