/* SPDX-License-Identifier: Apache-2.0 */
/* page.c: the data of a benchmark's page; the report room's page/bench.js shows it. It is
 * summary.json and timing.csv in one, with the ranks. */
#include <jansson.h>
#include <math.h>

#include "error.h"
#include "page.h"
#include "report.h"
#include "summary.h"

/* [mean, std, published, published std, verdict, place] */
static json_t *figure(const cbx_bench_figure *f)
{
    return json_pack("[o, o, o, o, i, i]", cbx_json_number(f->mean), cbx_json_number(f->std),
                     cbx_json_number(f->published), cbx_json_number(f->published_std),
                     (int)f->verdict, f->place);
}

/* [mean, median, nine in ten] */
static json_t *spread(cbx_bench_spread v)
{
    return json_pack("[o, o, o]", cbx_json_number(v.mean), cbx_json_number(v.median),
                     cbx_json_number(v.most));
}

static json_t *line(int32_t method, const cbx_bench_line *l)
{
    json_t *figures = json_array();
    int     failed = !figures;
    for (int k = 0; k < CBX_BENCH_MEASURES && !failed; k++)
        failed = json_array_append_new(figures, figure(&l->figures[k]));
    if (failed) {
        json_decref(figures);
        return NULL;
    }
    return json_pack("{s:i, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "method", (int)method,
                     "targets", (json_int_t)l->targets, "found", (json_int_t)l->found, "skipped",
                     (json_int_t)l->skipped, "figures", figures, "features", spread(l->features),
                     "edges", spread(l->edges), "edits", spread(l->edits), "seconds",
                     spread(l->seconds), "peak_mb", cbx_json_number(l->peak_mb));
}

static json_t *cell(const cbx_bench_summary *s, const cbx_bench_cell *c)
{
    const cbx_bench_plan *p = s->plan;
    json_t               *lines = json_array();
    int                   failed = !lines;
    for (int32_t i = 0; i < p->num_methods && !failed; i++)
        if (c->lines[i].asked)
            failed = json_array_append_new(lines, line(i, &c->lines[i]));
    if (failed) {
        json_decref(lines);
        return NULL;
    }
    return json_pack(
        "{s:s, s:o, s:s, s:o, s:o, s:i, s:i, s:o}", "task", cbx_bench_task_name(p, c->data), "data",
        cbx_json_string(p->data[c->data].name), "model", p->models[c->model], "accuracy",
        cbx_json_number(c->accuracy), "accuracy_std", cbx_json_number(c->accuracy_std), "winner",
        (int)c->winner, "second", (int)c->second, "lines", lines);
}

static int add_measures(json_t *page)
{
    json_t *list = json_array();
    int     failed = !list;
    for (int k = 0; k < CBX_BENCH_MEASURES && !failed; k++) {
        const cbx_bench_measure_info *info = &cbx_bench_measure_infos[k];
        failed =
            json_array_append_new(list, json_pack("{s:s, s:s, s:b}", "name", info->name, "title",
                                                  info->title, "higher", (int)info->higher));
    }
    failed = failed || json_object_set(page, "measures", list);
    json_decref(list);
    return failed;
}

/* By method: a rank for each measure, or null. */
static int add_methods(json_t *page, const cbx_bench_plan *p, const double *ranks)
{
    json_t *list = json_array();
    int     failed = !list;
    for (int32_t i = 0; i < p->num_methods && !failed; i++) {
        json_t *mine = json_array();
        failed = json_array_append_new(
            list, json_pack("{s:s, s:O?}", "name", p->methods[i]->name, "ranks", mine));
        for (int k = 0; k < CBX_BENCH_MEASURES && !failed; k++)
            failed = json_array_append_new(
                mine, cbx_json_number(ranks[(int64_t)i * CBX_BENCH_MEASURES + k]));
        json_decref(mine);
    }
    failed = failed || json_object_set(page, "methods", list);
    json_decref(list);
    return failed;
}

static int add_cells(json_t *page, const cbx_bench_summary *s)
{
    json_t *list = json_array();
    int     failed = !list;
    for (int32_t c = 0; c < s->num_cells && !failed; c++)
        failed = json_array_append_new(list, cell(s, &s->cells[c]));
    failed = failed || json_object_set(page, "cells", list);
    json_decref(list);
    return failed;
}

cbx_status cbx_bench_page(const cbx_bench_summary *s, const double *ranks, const char *path,
                          cbx_error *err)
{
    const cbx_bench_plan    *p = s->plan;
    const cbx_bench_options *o = p->options;
    json_t                  *page =
        json_pack("{s:s, s:i, s:I, s:I, s:I, s:I, s:[s, s, s, s], s:o}", "version", cbx_version(),
                  "folds", (int)p->folds, "samples", (json_int_t)o->samples, "epochs",
                  (json_int_t)o->epochs, "train_epochs", (json_int_t)o->train_epochs, "seed",
                  (json_int_t)o->seed, "verdicts", cbx_bench_verdicts[0], cbx_bench_verdicts[1],
                  cbx_bench_verdicts[2], cbx_bench_verdicts[3], "plan", cbx_json_string(p->text));
    cbx_status status = CBX_OK;
    if (!page || add_measures(page) || add_methods(page, p, ranks) || add_cells(page, s))
        status = cbx_fail_memory(err);
    else
        status = cbx_page_write(
            &(cbx_page){.kind = "bench", .title = "Benchmark of explainers", .data = page}, path,
            err);
    json_decref(page);
    return status;
}
