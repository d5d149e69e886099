/* SPDX-License-Identifier: Apache-2.0 */
/* winner.c: who does best in a cell, in a word.
 *
 * An explainer is for getting answers, and an answer is the better the less it changes. So
 * the highest validity wins, as printed, and among equals the fewest edits in the mean. Time,
 * distances and the rest are in the tables. */
#include "summary.h"

/* Does one answer better than the other? -1: nobody. */
static bool beats(const cbx_bench_cell *cell, int32_t one, int32_t other)
{
    if (other < 0)
        return true;
    const cbx_bench_line *a = &cell->lines[one], *b = &cell->lines[other];
    double                x = cbx_bench_printed(a->figures[CBX_VALIDITY].mean);
    double                y = cbx_bench_printed(b->figures[CBX_VALIDITY].mean);
    return x > y || (x == y && a->edits.mean < b->edits.mean);
}

/* Of those that found anything, without `but`. */
static int32_t best(const cbx_bench_summary *s, const cbx_bench_cell *cell, int32_t but)
{
    int32_t first = -1;
    for (int32_t i = 0; i < s->plan->num_methods; i++)
        if (i != but && cell->lines[i].found && cbx_bench_compared(s->plan->methods[i]) &&
            beats(cell, i, first))
            first = i;
    return first;
}

void cbx_bench_find_winners(cbx_bench_summary *summary)
{
    for (int32_t c = 0; c < summary->num_cells; c++) {
        cbx_bench_cell *cell = &summary->cells[c];
        cell->winner = best(summary, cell, -1);
        cell->second = cell->winner < 0 ? -1 : best(summary, cell, cell->winner);
    }
}

cbx_bench_winner cbx_bench_winner_of(const cbx_bench_summary *summary, const cbx_bench_cell *cell)
{
    const cbx_bench_plan *p = summary->plan;
    cbx_bench_winner      w = {.data = p->data[cell->data].name, .model = p->models[cell->model]};
    if (cell->winner >= 0) {
        const cbx_bench_line *line = &cell->lines[cell->winner];
        w.method = p->methods[cell->winner]->name;
        w.validity = line->figures[CBX_VALIDITY].mean;
        w.edits = line->edits.mean;
    }
    if (cell->second >= 0) {
        const cbx_bench_line *line = &cell->lines[cell->second];
        w.second = p->methods[cell->second]->name;
        w.second_validity = line->figures[CBX_VALIDITY].mean;
        w.second_edits = line->edits.mean;
    }
    return w;
}
