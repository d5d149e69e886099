/* SPDX-License-Identifier: Apache-2.0 */
/* put_csv.c: the summary and the timing as CSV, a line a cell and method. */
#include <math.h>

#include "number.h"
#include "summary.h"

static void put(FILE *out, double value)
{
    if (isnan(value))
        (void)fputc(',', out);
    else
        (void)cbx_fprint(out, ",%.9g", value);
}

static void put_spread(FILE *out, cbx_bench_spread v)
{
    put(out, v.mean);
    put(out, v.median);
    put(out, v.most);
}

static void put_key(FILE *out, const cbx_bench_summary *s, const cbx_bench_cell *cell, int32_t i)
{
    const cbx_bench_plan *p = s->plan;
    (void)fprintf(out, "%s,%s,%s,%s,%d,%lld,%lld,%lld", cbx_bench_task_name(p, cell->data),
                  p->data[cell->data].name, p->models[cell->model], p->methods[i]->name, p->folds,
                  (long long)cell->lines[i].targets, (long long)cell->lines[i].skipped,
                  (long long)cell->lines[i].found);
}

void cbx_bench_put_csv(FILE *out, const cbx_bench_summary *s)
{
    (void)fputs("task,data,model,explainer,folds,targets,skipped,found,oracle_accuracy,"
                "oracle_accuracy_std",
                out);
    for (int k = 0; k < CBX_BENCH_MEASURES; k++) {
        const char *name = cbx_bench_measure_infos[k].name;
        (void)fprintf(out, ",%s,%s_std,%s_published,%s_published_std,%s_verdict", name, name, name,
                      name, name);
    }
    (void)fputs(",features_mean,features_median,features_90,edges_mean,edges_median,edges_90,"
                "edits_mean,edits_median,edits_90\n",
                out);
    for (int32_t c = 0; c < s->num_cells; c++)
        for (int32_t i = 0; i < s->plan->num_methods; i++) {
            const cbx_bench_cell *cell = &s->cells[c];
            const cbx_bench_line *line = &cell->lines[i];
            if (!line->asked)
                continue;
            put_key(out, s, cell, i);
            put(out, cell->accuracy);
            put(out, cell->accuracy_std);
            for (int k = 0; k < CBX_BENCH_MEASURES; k++) {
                const cbx_bench_figure *f = &line->figures[k];
                put(out, f->mean);
                put(out, f->std);
                put(out, f->published);
                put(out, f->published_std);
                (void)fprintf(out, ",%s", cbx_bench_verdicts[f->verdict]);
            }
            put_spread(out, line->features);
            put_spread(out, line->edges);
            put_spread(out, line->edits);
            (void)fputc('\n', out);
        }
}

void cbx_bench_put_timing(FILE *out, const cbx_bench_summary *s)
{
    (void)fputs("task,data,model,explainer,folds,targets,skipped,found,seconds_mean,"
                "seconds_median,seconds_90,peak_mb\n",
                out);
    for (int32_t c = 0; c < s->num_cells; c++)
        for (int32_t i = 0; i < s->plan->num_methods; i++) {
            if (!s->cells[c].lines[i].asked)
                continue;
            put_key(out, s, &s->cells[c], i);
            put_spread(out, s->cells[c].lines[i].seconds);
            put(out, s->cells[c].lines[i].peak_mb);
            (void)fputc('\n', out);
        }
}
