/* SPDX-License-Identifier: Apache-2.0 */
/* page.c: the data of a benchmark's page; the report room's page/bench.js shows it. It is
 * summary.json and timing.csv in one, with the ranks. */
#include "page.h"

#include "json_writer.h"
#include "summary.h"

/* [mean, std, published, published std, verdict, place] */
static void put_figure(cbx_json_writer *w, const cbx_bench_figure *f)
{
    cbx_json_open(w, NULL, '[');
    cbx_json_put_real(w, NULL, f->mean);
    cbx_json_put_real(w, NULL, f->std);
    cbx_json_put_real(w, NULL, f->published);
    cbx_json_put_real(w, NULL, f->published_std);
    cbx_json_put_int(w, NULL, f->verdict);
    cbx_json_put_int(w, NULL, f->place);
    cbx_json_close(w, ']');
}

/* [mean, median, nine in ten] */
static void put_spread(cbx_json_writer *w, const char *key, cbx_bench_spread v)
{
    cbx_json_open(w, key, '[');
    cbx_json_put_real(w, NULL, v.mean);
    cbx_json_put_real(w, NULL, v.median);
    cbx_json_put_real(w, NULL, v.most);
    cbx_json_close(w, ']');
}

static void put_line(cbx_json_writer *w, int32_t method, const cbx_bench_line *l)
{
    cbx_json_open(w, NULL, '{');
    cbx_json_put_int(w, "method", method);
    cbx_json_put_int(w, "targets", l->targets);
    cbx_json_put_int(w, "found", l->found);
    cbx_json_put_int(w, "skipped", l->skipped);
    cbx_json_open(w, "figures", '[');
    for (int k = 0; k < CBX_BENCH_MEASURES; k++)
        put_figure(w, &l->figures[k]);
    cbx_json_close(w, ']');
    put_spread(w, "features", l->features);
    put_spread(w, "edges", l->edges);
    put_spread(w, "edits", l->edits);
    put_spread(w, "seconds", l->seconds);
    cbx_json_put_real(w, "peak_mb", l->peak_mb);
    cbx_json_close(w, '}');
}

static void put_cell(cbx_json_writer *w, const cbx_bench_plan *p, const cbx_bench_cell *c)
{
    cbx_json_open(w, NULL, '{');
    cbx_json_put_text(w, "task", cbx_bench_task_name(p, c->data));
    cbx_json_put_text(w, "data", p->data[c->data].name);
    cbx_json_put_text(w, "model", p->models[c->model]);
    cbx_json_put_real(w, "accuracy", c->accuracy);
    cbx_json_put_real(w, "accuracy_std", c->accuracy_std);
    cbx_json_put_int(w, "winner", c->winner);
    cbx_json_put_int(w, "second", c->second);
    cbx_json_open(w, "lines", '[');
    for (int32_t i = 0; i < p->num_methods; i++)
        if (c->lines[i].asked)
            put_line(w, i, &c->lines[i]);
    cbx_json_close(w, ']');
    cbx_json_close(w, '}');
}

static void put_measures(cbx_json_writer *w)
{
    cbx_json_open(w, "measures", '[');
    for (int k = 0; k < CBX_BENCH_MEASURES; k++) {
        const cbx_bench_measure_info *info = &cbx_bench_measure_infos[k];
        cbx_json_open(w, NULL, '{');
        cbx_json_put_text(w, "name", info->name);
        cbx_json_put_text(w, "title", info->title);
        cbx_json_put_bool(w, "higher", info->higher);
        cbx_json_close(w, '}');
    }
    cbx_json_close(w, ']');
}

/* By method: a rank for each measure, or null. */
static void put_methods(cbx_json_writer *w, const cbx_bench_plan *p, const double *ranks)
{
    cbx_json_open(w, "methods", '[');
    for (int32_t i = 0; i < p->num_methods; i++) {
        cbx_json_open(w, NULL, '{');
        cbx_json_put_text(w, "name", p->methods[i]->name);
        cbx_json_open(w, "ranks", '[');
        for (int k = 0; k < CBX_BENCH_MEASURES; k++)
            cbx_json_put_real(w, NULL, ranks[(int64_t)i * CBX_BENCH_MEASURES + k]);
        cbx_json_close(w, ']');
        cbx_json_close(w, '}');
    }
    cbx_json_close(w, ']');
}

static void put_plan(cbx_json_writer *w, const cbx_bench_plan *p)
{
    const cbx_bench_options *o = p->options;
    cbx_json_put_text(w, "version", cbx_version());
    cbx_json_put_int(w, "folds", p->folds);
    cbx_json_put_int(w, "samples", o->samples);
    cbx_json_put_int(w, "epochs", o->epochs);
    cbx_json_put_int(w, "train_epochs", o->train_epochs);
    cbx_json_put_int(w, "seed", o->seed);
    cbx_json_open(w, "verdicts", '[');
    for (int k = 0; k < 4; k++)
        cbx_json_put_text(w, NULL, cbx_bench_verdicts[k]);
    cbx_json_close(w, ']');
    cbx_json_put_text(w, "plan", p->text);
}

cbx_status cbx_bench_page(const cbx_bench_summary *s, const double *ranks, const char *path,
                          cbx_error *err)
{
    cbx_json_writer w = {.ascii = true};
    cbx_page        page = {.kind = "bench", .title = "Benchmark of explainers", .data = &w.out};
    cbx_json_open(&w, NULL, '{');
    put_plan(&w, s->plan);
    put_measures(&w);
    put_methods(&w, s->plan, ranks);
    cbx_json_open(&w, "cells", '[');
    for (int32_t c = 0; c < s->num_cells; c++)
        put_cell(&w, s->plan, &s->cells[c]);
    cbx_json_close(&w, ']');
    cbx_json_close(&w, '}');
    cbx_status status = cbx_page_write(&page, path, err);
    cbx_buffer_free(&w.out);
    return status;
}
