/* SPDX-License-Identifier: Apache-2.0 */
/* put_html.c: everything on one page that needs nothing else, time and memory included. */
#include <math.h>

#include "summary.h"

static const char style[] =
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:78em;padding:0 1em;"
    "color:#222}table{border-collapse:collapse;margin:.6em 0 2em;font-variant-numeric:"
    "tabular-nums}th,td{padding:.25em .7em;text-align:right;border-bottom:1px solid #ddd;"
    "white-space:nowrap}th:first-child,td:first-child{text-align:left}.best{font-weight:700}"
    ".second{text-decoration:underline}small{color:#666;display:block}.better{color:#0b6e4f}"
    ".worse{color:#a5380b}.wide{overflow-x:auto}";

static void put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            (void)fputs("&lt;", out);
        else if (*text == '&')
            (void)fputs("&amp;", out);
        else
            (void)fputc(*text, out);
    }
}

static void put_pair(FILE *out, double mean, double std)
{
    if (isnan(mean))
        (void)fputs("n.d.", out);
    else if (isnan(std))
        (void)fprintf(out, "%.3f", mean);
    else
        (void)fprintf(out, "%.3f ± %.3f", mean, std);
}

static void put_figure(FILE *out, const cbx_bench_figure *f)
{
    static const char *const places[] = {"", "best", "second"};
    (void)fprintf(out, "<td><span class=\"%s\">", places[f->place]);
    put_pair(out, f->mean, f->std);
    (void)fputs("</span>", out);
    if (!isnan(f->published)) {
        (void)fprintf(out, "<small class=\"%s\">", cbx_bench_verdicts[f->verdict]);
        put_pair(out, f->published, f->published_std);
        (void)fprintf(out, " %s</small>", cbx_bench_verdicts[f->verdict]);
    }
    (void)fputs("</td>", out);
}

static void put_line(FILE *out, const char *name, const cbx_bench_line *line)
{
    (void)fprintf(out, "<tr><td>%s</td><td>%lld</td>", name, (long long)line->targets);
    for (int k = 0; k < CBX_BENCH_MEASURES; k++)
        put_figure(out, &line->figures[k]);
    if (isnan(line->edits.mean))
        (void)fputs("<td>n.d.</td>", out);
    else
        (void)fprintf(out, "<td>%.1f<small>%.1f + %.1f</small></td>", line->edits.mean,
                      line->features.mean, line->edges.mean);
    if (isnan(line->seconds.mean))
        (void)fputs("<td>n.d.</td><td>n.d.</td></tr>\n", out);
    else
        (void)fprintf(out, "<td>%.4g<small>median %.4g</small></td><td>%.0f</td></tr>\n",
                      line->seconds.mean, line->seconds.median, line->peak_mb);
}

static void put_cell(FILE *out, const cbx_bench_summary *s, const cbx_bench_cell *cell)
{
    const cbx_bench_plan *p = s->plan;
    (void)fputs("<h2>", out);
    put_text(out, p->data[cell->data].name);
    (void)fprintf(out, ", %s</h2>\n<p>A class for each %s. Oracle accuracy ",
                  p->models[cell->model], cbx_bench_task_name(p, cell->data));
    put_pair(out, cell->accuracy, cell->accuracy_std);
    (void)fputs(".</p>\n<div class=\"wide\"><table>\n<tr><th>explainer</th><th>targets</th>", out);
    for (int k = 0; k < CBX_BENCH_MEASURES; k++)
        (void)fprintf(out, "<th>%s %s</th>", cbx_bench_measure_infos[k].title,
                      cbx_bench_measure_infos[k].higher ? "↑" : "↓");
    (void)fputs("<th>edits<small>features + edges</small></th><th>seconds</th>"
                "<th>peak MB</th></tr>\n",
                out);
    for (int32_t i = 0; i < p->num_methods; i++)
        if (cell->lines[i].asked)
            put_line(out, p->methods[i]->name, &cell->lines[i]);
    (void)fputs("</table></div>\n", out);
}

void cbx_bench_put_html(FILE *out, const cbx_bench_summary *s, const double *ranks)
{
    (void)fprintf(out,
                  "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width\">\n"
                  "<title>combinex bench</title>\n<style>%s</style>\n<h1>Benchmark</h1>\n"
                  "<p>%d folds, at most %lld targets each, %lld epochs a search. Mean ± standard "
                  "deviation over folds; bold: the best of a cell, underlined: the second. Small: "
                  "the published figure, and whether ours is better, equal (within two standard "
                  "deviations) or worse. Seconds are per target, found or not; memory is the "
                  "process's peak.</p>\n<h2>Mean ranks</h2>\n<div class=\"wide\">",
                  style, s->plan->folds, (long long)s->plan->options->samples,
                  (long long)s->plan->options->epochs);
    cbx_bench_put_svg(out, s, ranks);
    (void)fputs("</div>\n", out);
    for (int32_t c = 0; c < s->num_cells; c++)
        put_cell(out, s, &s->cells[c]);
    (void)fputs("</html>\n", out);
}
