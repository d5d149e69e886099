/* SPDX-License-Identifier: Apache-2.0 */
/* put_json.c: the summary as JSON. It is laid out for people too, with a line for each row of
 * its tables, which the compact json_writer.h is not for. */
#include <math.h>

#include "number.h"
#include "summary.h"

/* Names may hold anything that a file name may, but no quotes (plan.c). */
static void put_text(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (; *text; text++) {
        if (*text == '\\' || *text == '"')
            (void)fputc('\\', out);
        if ((unsigned char)*text < 0x20)
            (void)fprintf(out, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            (void)fputc(*text, out);
    }
    (void)fputc('"', out);
}

static void put_number(FILE *out, const char *name, double value)
{
    if (isfinite(value))
        (void)cbx_fprint(out, "\"%s\": %.9g", name, value);
    else
        (void)fprintf(out, "\"%s\": null", name);
}

static void put_spread(FILE *out, const char *name, cbx_bench_spread v)
{
    (void)fprintf(out, ", \"%s\": {", name);
    put_number(out, "mean", v.mean);
    (void)fputs(", ", out);
    put_number(out, "median", v.median);
    (void)fputs(", ", out);
    put_number(out, "90", v.most);
    (void)fputc('}', out);
}

/* Names of methods need no escapes. */
static void put_winner(FILE *out, const char *key, const char *method)
{
    if (method)
        (void)fprintf(out, ", \"%s\": \"%s\"", key, method);
    else
        (void)fprintf(out, ", \"%s\": null", key);
}

static void put_line(FILE *out, const char *name, const cbx_bench_line *line)
{
    (void)fputs("      {\"explainer\": ", out);
    put_text(out, name);
    (void)fprintf(out, ", \"targets\": %lld, \"skipped\": %lld, \"found\": %lld",
                  (long long)line->targets, (long long)line->skipped, (long long)line->found);
    for (int k = 0; k < CBX_BENCH_MEASURES; k++) {
        const cbx_bench_figure *f = &line->figures[k];
        (void)fprintf(out, ", \"%s\": {", cbx_bench_measure_infos[k].name);
        put_number(out, "mean", f->mean);
        (void)fputs(", ", out);
        put_number(out, "std", f->std);
        (void)fputs(", ", out);
        put_number(out, "published", f->published);
        (void)fputs(", ", out);
        put_number(out, "published_std", f->published_std);
        if (f->verdict)
            (void)fprintf(out, ", \"verdict\": \"%s\"", cbx_bench_verdicts[f->verdict]);
        (void)fputc('}', out);
    }
    put_spread(out, "features", line->features);
    put_spread(out, "edges", line->edges);
    put_spread(out, "edits", line->edits);
    (void)fputc('}', out);
}

void cbx_bench_put_json(FILE *out, const cbx_bench_summary *s)
{
    const cbx_bench_plan    *p = s->plan;
    const cbx_bench_options *o = p->options;
    (void)fprintf(out,
                  "{\n  \"version\": \"%s\", \"folds\": %d, \"samples\": %lld, \"epochs\": %lld, "
                  "\"train_epochs\": %lld, \"seed\": %lld,\n  \"cells\": [",
                  cbx_version(), p->folds, (long long)o->samples, (long long)o->epochs,
                  (long long)o->train_epochs, (long long)o->seed);
    for (int32_t c = 0; c < s->num_cells; c++) {
        const cbx_bench_cell *cell = &s->cells[c];
        bool                  any = false;
        (void)fprintf(out, "%s\n    {\"task\": \"%s\", \"data\": ", c ? "," : "",
                      cbx_bench_task_name(p, cell->data));
        put_text(out, p->data[cell->data].name);
        (void)fprintf(out, ", \"model\": \"%s\", ", p->models[cell->model]);
        put_number(out, "oracle_accuracy", cell->accuracy);
        (void)fputs(", ", out);
        put_number(out, "oracle_accuracy_std", cell->accuracy_std);
        put_winner(out, "winner", cell->winner < 0 ? NULL : p->methods[cell->winner]->name);
        put_winner(out, "second", cell->second < 0 ? NULL : p->methods[cell->second]->name);
        (void)fputs(", \"explainers\": [\n", out);
        for (int32_t i = 0; i < p->num_methods; i++) {
            if (!cell->lines[i].asked)
                continue;
            (void)fputs(any ? ",\n" : "", out);
            put_line(out, p->methods[i]->name, &cell->lines[i]);
            any = true;
        }
        (void)fputs("]}", out);
    }
    (void)fputs("]\n}\n", out);
}
