/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c: from rows to figures. */
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

const cbx_bench_measure_info cbx_bench_measure_infos[CBX_BENCH_MEASURES] = {
    {"validity", "Validity", true},
    {"fidelity", "Fidelity", true},
    {"distribution_distance", "Distribution distance", false},
    {"node_sparsity", "Node sparsity", false},
    {"edge_sparsity", "Edge sparsity", false},
    {"embedding_distance", "Embedding distance", false},
};

const char *const cbx_bench_verdicts[] = {"", "better", "equal", "worse"};

const char *cbx_bench_task_name(const cbx_bench_plan *plan, int32_t data)
{
    return cbx_graph_arrays(plan->data[data].graph)->task == CBX_GRAPH ? "graph" : "node";
}

/* ------------------------------------------------------------- statistics */

/* Mean and deviation of what is not NaN. */
static void mean_std(const double *v, int64_t count, double *mean, double *std)
{
    double  sum = 0, squares = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++)
        if (!isnan(v[i])) {
            sum += v[i];
            n++;
        }
    *mean = n ? sum / (double)n : NAN;
    for (int64_t i = 0; i < count; i++)
        if (!isnan(v[i]))
            squares += (v[i] - *mean) * (v[i] - *mean);
    *std = n > 1 ? sqrt(squares / (double)(n - 1)) : NAN;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static cbx_bench_spread spread(double *v, int64_t count)
{
    double sum = 0;
    if (!count)
        return (cbx_bench_spread){NAN, NAN, NAN};
    qsort(v, (size_t)count, sizeof *v, ascending);
    for (int64_t i = 0; i < count; i++)
        sum += v[i];
    return (cbx_bench_spread){sum / (double)count, (v[(count - 1) / 2] + v[count / 2]) / 2,
                              v[(9 * count + 9) / 10 - 1]};
}

/* ------------------------------------------------------------------ a line */

/* Does the row count at all? The published program leaves some out. */
static bool counts(const cbx_bench_plan *plan, const cbx_bench_row *r)
{
    return !(plan->faults & CBX_BENCH_FAULT_SKIPS) || r->edges >= 2;
}

/* One fold's mean of each measure; rows [begin, end) are the fold's. A row that was skipped
 * has no counterfactual. */
static void fold_means(const cbx_bench_row *const *begin, const cbx_bench_row *const *end,
                       double means[CBX_BENCH_MEASURES])
{
    double  sum[CBX_BENCH_MEASURES] = {0};
    int64_t count[CBX_BENCH_MEASURES] = {0};
    for (const cbx_bench_row *const *r = begin; r < end; r++) {
        const cbx_measures *m = &(*r)->measures;
        double              v[CBX_BENCH_MEASURES] = {(*r)->outcome == CBX_FOUND, m->fidelity,
                                                     m->distribution_distance,   m->node_sparsity,
                                                     m->edge_sparsity,           m->embedding_distance};
        for (int k = 0; k < CBX_BENCH_MEASURES; k++)
            if (!isnan(v[k])) {
                sum[k] += v[k];
                count[k]++;
            }
    }
    for (int k = 0; k < CBX_BENCH_MEASURES; k++)
        means[k] = count[k] ? sum[k] / (double)count[k] : NAN;
}

static void count_edits(cbx_bench_line *line, const cbx_bench_row *const *rows, int64_t count,
                        double *room)
{
    cbx_bench_spread *out[] = {&line->features, &line->edges, &line->edits, &line->seconds};
    for (int what = 0; what < 4; what++) {
        int64_t n = 0;
        for (int64_t i = 0; i < count; i++) {
            const cbx_measures *m = &rows[i]->measures;
            double              v[] = {(double)m->features_changed, (double)m->edges_removed,
                                       (double)m->features_changed + (double)m->edges_removed, rows[i]->seconds};
            if (what == 3 ? rows[i]->outcome != CBX_SKIPPED : rows[i]->outcome == CBX_FOUND)
                room[n++] = v[what];
        }
        *out[what] = spread(room, n);
    }
}

/* Nearer than two deviations, ours or theirs, or than what three digits can tell. */
static cbx_bench_verdict judge(const cbx_bench_figure *f, bool higher)
{
    if (isnan(f->mean) || isnan(f->published))
        return CBX_NO_VERDICT;
    double ours = isnan(f->std) ? 0 : f->std,
           theirs = isnan(f->published_std) ? 0 : f->published_std;
    double gap = f->mean - f->published, most = 2 * (ours > theirs ? ours : theirs) + 0.0005;
    if (fabs(gap) <= most)
        return CBX_EQUAL;
    return (gap > 0) == higher ? CBX_BETTER : CBX_WORSE;
}

/* What a method cannot change says nothing about it: the paper prints n.d. there. */
static bool can_have(const cbx_bench_method *m, int measure)
{
    return !(measure == CBX_NODE_SPARSITY && !m->features) &&
           !(measure == CBX_EDGE_SPARSITY && !m->edges);
}

static void set_figures(const cbx_bench_summary *s, const cbx_bench_cell *cell, int32_t method,
                        const double *means)
{
    const cbx_bench_plan   *p = s->plan;
    const cbx_bench_method *m = p->methods[method];
    for (int k = 0; k < CBX_BENCH_MEASURES; k++) {
        cbx_bench_figure *f = &cell->lines[method].figures[k];
        mean_std(means + (int64_t)k * p->folds, p->folds, &f->mean, &f->std);
        if (!can_have(m, k))
            f->mean = f->std = NAN;
        (void)cbx_bench_published(cbx_graph_arrays(p->data[cell->data].graph)->task,
                                  p->data[cell->data].name, p->models[cell->model], m->name,
                                  (cbx_bench_measure)k, &f->published, &f->published_std);
        f->verdict = judge(f, cbx_bench_measure_infos[k].higher);
    }
}

/* ------------------------------------------------------------------ a cell */

double cbx_bench_printed(double value)
{
    return round(value * 1000) / 1000 + 0.0;
}

/* What a method has to show when places are given out; NaN: nothing. */
static double shown(const cbx_bench_summary *s, const cbx_bench_cell *cell, int32_t method, int k)
{
    if (!cbx_bench_compared(s->plan->methods[method]))
        return NAN;
    return cbx_bench_printed(cell->lines[method].figures[k].mean);
}

static void find_best(const cbx_bench_summary *s, cbx_bench_cell *cell)
{
    for (int k = 0; k < CBX_BENCH_MEASURES; k++) {
        double best = NAN;
        for (int place = 1; place <= 2; place++) {
            double next = NAN, sign = cbx_bench_measure_infos[k].higher ? 1 : -1;
            for (int32_t i = 0; i < s->plan->num_methods; i++) {
                double v = shown(s, cell, i, k);
                if (isnan(v) || (place == 2 && v == best))
                    continue;
                if (isnan(next) || sign * v > sign * next)
                    next = v;
            }
            for (int32_t i = 0; i < s->plan->num_methods; i++)
                if (shown(s, cell, i, k) == next)
                    cell->lines[i].figures[k].place = place;
            best = next;
        }
    }
}

typedef struct scratch {
    double               *means; /* measures * folds */
    double               *accuracy;
    double               *values;
    const cbx_bench_row **rows;
} scratch;

static void sum_up_line(cbx_bench_summary *s, cbx_bench_cell *cell, int32_t method,
                        const cbx_bench_rows *rows, const scratch *w)
{
    int32_t         folds = s->plan->folds;
    cbx_bench_line *line = &cell->lines[method];
    int64_t         count = 0;
    line->asked = cbx_bench_applies(s->plan, cell->data, method);
    for (int64_t i = 0; i < (int64_t)CBX_BENCH_MEASURES * folds; i++)
        w->means[i] = NAN;
    for (int64_t i = 0; i < rows->count;) { /* rows are grouped by cell, fold and method */
        const cbx_bench_row *r = &rows->rows[i];
        int64_t              end = i;
        double               means[CBX_BENCH_MEASURES];
        while (end < rows->count && rows->rows[end].data == r->data &&
               rows->rows[end].model == r->model && rows->rows[end].fold == r->fold &&
               rows->rows[end].method == r->method)
            end++;
        if (r->data == cell->data && r->model == cell->model && r->method == method) {
            int64_t before = count;
            for (int64_t j = i; j < end; j++)
                if (counts(s->plan, &rows->rows[j]))
                    w->rows[count++] = &rows->rows[j];
            fold_means(w->rows + before, w->rows + count, means);
            w->accuracy[r->fold] = r->accuracy;
            for (int k = 0; k < CBX_BENCH_MEASURES; k++)
                w->means[(int64_t)k * folds + r->fold] = means[k];
        }
        i = end;
    }
    for (int64_t i = 0; i < count; i++) {
        line->skipped += w->rows[i]->outcome == CBX_SKIPPED;
        line->found += w->rows[i]->outcome == CBX_FOUND;
        if (w->rows[i]->peak_mb > line->peak_mb)
            line->peak_mb = w->rows[i]->peak_mb;
    }
    line->targets = count;
    count_edits(line, w->rows, count, w->values);
    set_figures(s, cell, method, w->means);
}

cbx_status cbx_bench_summary_init(cbx_bench_summary *s, const cbx_bench_plan *plan,
                                  const cbx_bench_rows *rows, cbx_error *err)
{
    *s = (cbx_bench_summary){.plan = plan, .num_cells = plan->num_data * plan->num_models};
    s->cells = CBX_NEW0(&s->arena, cbx_bench_cell, s->num_cells);
    scratch w = {CBX_NEW(&s->arena, double, CBX_BENCH_MEASURES * plan->folds),
                 CBX_NEW(&s->arena, double, plan->folds), CBX_NEW(&s->arena, double, rows->count),
                 CBX_NEW(&s->arena, const cbx_bench_row *, rows->count)};
    bool    failed = !s->cells || !w.means || !w.accuracy || !w.values || !w.rows;
    for (int32_t c = 0; !failed && c < s->num_cells; c++) {
        cbx_bench_cell *cell = &s->cells[c];
        cell->data = c / plan->num_models;
        cell->model = c % plan->num_models;
        cell->lines = CBX_NEW0(&s->arena, cbx_bench_line, plan->num_methods);
        if (!cell->lines) {
            failed = true;
            break;
        }
        for (int32_t f = 0; f < plan->folds; f++)
            w.accuracy[f] = NAN;
        for (int32_t i = 0; i < plan->num_methods; i++)
            sum_up_line(s, cell, i, rows, &w);
        mean_std(w.accuracy, plan->folds, &cell->accuracy, &cell->accuracy_std);
        find_best(s, cell);
    }
    if (!failed) {
        cbx_bench_find_winners(s);
        return CBX_OK;
    }
    cbx_bench_summary_free(s);
    return cbx_fail_memory(err);
}

void cbx_bench_summary_free(cbx_bench_summary *summary)
{
    cbx_arena_free(&summary->arena);
}

/* ------------------------------------------------------------------- ranks */

/* Does the method have a rank in this measure? */
static bool has_rank(const cbx_bench_summary *s, const cbx_bench_cell *cell, int32_t method,
                     int measure)
{
    const cbx_bench_method *m = s->plan->methods[method];
    return cell->lines[method].targets && can_have(m, measure) && cbx_bench_compared(m);
}

/* 1 + those that are better + half of those that are as good. */
static double rank_in(const cbx_bench_summary *s, const cbx_bench_cell *cell, int32_t method,
                      int measure)
{
    double v = cell->lines[method].figures[measure].mean, rank = 1;
    double sign = cbx_bench_measure_infos[measure].higher ? 1 : -1;
    for (int32_t i = 0; i < s->plan->num_methods; i++) {
        double other = cell->lines[i].figures[measure].mean;
        if (i == method || !has_rank(s, cell, i, measure))
            continue;
        if (isnan(v) && isnan(other))
            rank += 0.5;
        else if (isnan(v) || sign * other > sign * v)
            rank += 1;
        else if (other == v)
            rank += 0.5;
    }
    return rank;
}

void cbx_bench_ranks(const cbx_bench_summary *s, double *ranks)
{
    for (int32_t i = 0; i < s->plan->num_methods; i++)
        for (int k = 0; k < CBX_BENCH_MEASURES; k++) {
            double  sum = 0;
            int64_t count = 0;
            for (int32_t c = 0; c < s->num_cells; c++)
                if (has_rank(s, &s->cells[c], i, k)) {
                    sum += rank_in(s, &s->cells[c], i, k);
                    count++;
                }
            ranks[(int64_t)i * CBX_BENCH_MEASURES + k] = count ? sum / (double)count : NAN;
        }
}
