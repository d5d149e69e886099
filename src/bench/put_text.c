/* SPDX-License-Identifier: Apache-2.0 */
/* put_text.c: the summary as Markdown and as LaTeX, a table a cell. */
#include <math.h>

#include "number.h"
#include "summary.h"

typedef char figure_text[96];

/* "0.123 ± 0.004" with the sign given. */
static const char *pair(figure_text text, double mean, double std, const char *sign)
{
    if (isnan(mean))
        (void)snprintf(text, sizeof(figure_text), "n.d.");
    else if (isnan(std))
        (void)cbx_print(text, sizeof(figure_text), "%.3f", mean);
    else
        (void)cbx_print(text, sizeof(figure_text), "%.3f %s %.3f", mean, sign, std);
    return text;
}

/* ---------------------------------------------------------------- Markdown */

static void markdown_one(FILE *out, const char *method, double validity, double edits)
{
    if (method)
        (void)cbx_fprint(out, " %s | %.3f | %.1f |", method, validity, edits);
    else
        (void)fputs(" nobody | | |", out);
}

static void markdown_winners(FILE *out, const cbx_bench_summary *s)
{
    (void)fputs("\n## Winners\n\nThe highest validity, and among equals the fewest edits.\n\n"
                "| cell | winner | validity | edits | second | validity | edits |\n"
                "|---|---|---|---|---|---|---|\n",
                out);
    for (int32_t c = 0; c < s->num_cells; c++) {
        cbx_bench_winner w = cbx_bench_winner_of(s, &s->cells[c]);
        (void)fprintf(out, "| %s, %s |", w.data, w.model);
        markdown_one(out, w.method, w.validity, w.edits);
        markdown_one(out, w.second, w.second_validity, w.second_edits);
        (void)fputc('\n', out);
    }
}

static void markdown_cell(FILE *out, const cbx_bench_summary *s, const cbx_bench_cell *cell)
{
    const cbx_bench_plan *p = s->plan;
    figure_text           text;
    (void)fprintf(out, "\n## %s, %s\n\nOracle accuracy %s. ", p->data[cell->data].name,
                  p->models[cell->model], pair(text, cell->accuracy, cell->accuracy_std, "±"));
    (void)fprintf(out, "Task: a class for each %s.\n\n| explainer | targets | skipped |",
                  cbx_bench_task_name(p, cell->data));
    for (int k = 0; k < CBX_BENCH_MEASURES; k++)
        (void)fprintf(out, " %s %s |", cbx_bench_measure_infos[k].title,
                      cbx_bench_measure_infos[k].higher ? "↑" : "↓");
    (void)fputs(" edits: mean, median, 90 % |\n|---|---|---|", out);
    for (int k = 0; k <= CBX_BENCH_MEASURES; k++)
        (void)fputs("---|", out);
    for (int32_t i = 0; i < p->num_methods; i++) {
        const cbx_bench_line *line = &cell->lines[i];
        if (!line->asked)
            continue;
        (void)fprintf(out, "\n| %s | %lld | %lld |", p->methods[i]->name, (long long)line->targets,
                      (long long)line->skipped);
        for (int k = 0; k < CBX_BENCH_MEASURES; k++) {
            static const char *const marks[] = {"", "**", "_"};
            const cbx_bench_figure  *f = &line->figures[k];
            (void)fprintf(out, " %s%s%s", marks[f->place], pair(text, f->mean, f->std, "±"),
                          marks[f->place]);
            if (!isnan(f->published))
                (void)fprintf(out, " (%s%s%s)", pair(text, f->published, f->published_std, "±"),
                              f->verdict ? ", " : "", cbx_bench_verdicts[f->verdict]);
            (void)fputs(" |", out);
        }
        if (isnan(line->edits.mean))
            (void)fputs(" n.d. |", out);
        else
            (void)cbx_fprint(out, " %.1f, %.0f, %.0f |", line->edits.mean, line->edits.median,
                             line->edits.most);
    }
    (void)fputc('\n', out);
}

void cbx_bench_put_markdown(FILE *out, const cbx_bench_summary *s)
{
    const cbx_bench_options *o = s->plan->options;
    (void)fprintf(out,
                  "# Benchmark\n\n%d fold%s, at most %lld targets each, %lld epochs a search, seed "
                  "%lld. Mean ± standard deviation over folds; **best** and _second best_ of each "
                  "cell; in parentheses the published figure, and whether ours is better, equal "
                  "(within two standard deviations, the larger of both) or worse. n.d.: nothing to "
                  "average, or nothing that the method could change. Targets that were skipped "
                  "count as not valid.\n",
                  s->plan->folds, s->plan->folds == 1 ? "" : "s", (long long)o->samples,
                  (long long)o->epochs, (long long)o->seed);
    markdown_winners(out, s);
    for (int32_t c = 0; c < s->num_cells; c++)
        markdown_cell(out, s, &s->cells[c]);
}

/* ------------------------------------------------------------------- LaTeX */

/* Names come from files: what LaTeX reads as a command is escaped. */
static void latex_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\\')
            (void)fputs("\\textbackslash{}", out);
        else if (*text == '~' || *text == '^')
            (void)fprintf(out, "\\%c{}", *text);
        else if (*text == '_' || *text == '&' || *text == '%' || *text == '#' || *text == '$' ||
                 *text == '{' || *text == '}')
            (void)fprintf(out, "\\%c", *text);
        else
            (void)fputc(*text, out);
    }
}

static void latex_cell(FILE *out, const cbx_bench_summary *s, const cbx_bench_cell *cell)
{
    static const char *const marks[] = {"", "\\textbf", "\\underline"};
    const cbx_bench_plan    *p = s->plan;
    figure_text              text;
    (void)fputs("\n\\begin{table}\n\\centering\\small\n\\caption{", out);
    latex_text(out, p->data[cell->data].name);
    (void)fprintf(out,
                  ", %s; oracle accuracy %s. In \\textbf{bold} the best result, the second best is "
                  "\\underline{underlined}; small: the published figure.}\n\\begin{tabular}{l|",
                  p->models[cell->model], pair(text, cell->accuracy, cell->accuracy_std, "$\\pm$"));
    for (int k = 0; k < CBX_BENCH_MEASURES; k++)
        (void)fputc('c', out);
    (void)fputs("}\n\\hline\nExplainer", out);
    for (int k = 0; k < CBX_BENCH_MEASURES; k++)
        (void)fprintf(out, " & %s $\\%sarrow$", cbx_bench_measure_infos[k].title,
                      cbx_bench_measure_infos[k].higher ? "up" : "down");
    (void)fputs(" \\\\\n\\hline\n", out);
    for (int32_t i = 0; i < p->num_methods; i++) {
        if (!cell->lines[i].asked)
            continue;
        latex_text(out, p->methods[i]->name);
        for (int k = 0; k < CBX_BENCH_MEASURES; k++) {
            const cbx_bench_figure *f = &cell->lines[i].figures[k];
            (void)fprintf(out, " & %s{%s}", marks[f->place], pair(text, f->mean, f->std, "$\\pm$"));
            if (!isnan(f->published))
                (void)cbx_fprint(out, " {\\scriptsize(%.3f)}", f->published);
        }
        (void)fputs(" \\\\\n", out);
    }
    (void)fputs("\\hline\n\\end{tabular}\n\\end{table}\n", out);
}

void cbx_bench_put_latex(FILE *out, const cbx_bench_summary *s)
{
    (void)fputs("% Tables for \\input; they need no package.\n", out);
    for (int32_t c = 0; c < s->num_cells; c++)
        latex_cell(out, s, &s->cells[c]);
}
