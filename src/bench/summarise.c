/* SPDX-License-Identifier: Apache-2.0 */
/* summarise.c: every table of a benchmark, each a file in its folder. */
#include <stdlib.h>

#include "error.h"
#include "summary.h"

typedef struct table {
    const char *file;
    void (*put)(FILE *out, const cbx_bench_summary *s);
    void (*put_ranks)(FILE *out, const cbx_bench_summary *s, const double *ranks);
} table;

static const table tables[] = {
    {"summary.csv", cbx_bench_put_csv, NULL},     {"summary.json", cbx_bench_put_json, NULL},
    {"summary.md", cbx_bench_put_markdown, NULL}, {"summary.tex", cbx_bench_put_latex, NULL},
    {"timing.csv", cbx_bench_put_timing, NULL},   {"ranks.svg", NULL, cbx_bench_put_svg},
};

static cbx_status write_table(const table *t, const cbx_bench_summary *s, const double *ranks,
                              const char *folder, cbx_error *err)
{
    char  *text = NULL, *path = cbx_bench_path(folder, t->file);
    size_t size = 0;
    FILE  *out = open_memstream(&text, &size);
    if (out && t->put)
        t->put(out, s);
    else if (out)
        t->put_ranks(out, s, ranks);
    bool       failed = !out || (ferror(out) | fclose(out)) || !path;
    cbx_status status = failed ? cbx_fail_memory(err) : cbx_bench_write(path, text, size, err);
    free(text);
    free(path);
    return status;
}

static cbx_status write_page(const cbx_bench_summary *s, const double *ranks, const char *folder,
                             cbx_error *err)
{
    char      *path = cbx_bench_path(folder, "report.html");
    cbx_status status = path ? cbx_bench_page(s, ranks, path, err) : cbx_fail_memory(err);
    free(path);
    return status;
}

cbx_status cbx_bench_summarise(cbx_bench_summary *s, const char *folder, cbx_error *err)
{
    cbx_status status = CBX_OK;
    double    *ranks = CBX_NEW(&s->arena, double, s->plan->num_methods *CBX_BENCH_MEASURES);
    if (!ranks)
        return cbx_fail_memory(err);
    cbx_bench_ranks(s, ranks);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !status; i++)
        status = write_table(&tables[i], s, ranks, folder, err);
    return status ? status : write_page(s, ranks, folder, err);
}
