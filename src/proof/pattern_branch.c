/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_branch.c: see pattern_branch.h. */
#include "pattern_branch.h"

#include <string.h>

/* What was settled: the edge stays first, and then goes. */
typedef struct step {
    int32_t choice;
    bool    goes;
} step;

/* The open choice that is nearest, and of these one at the node with the most; -1: none is within
 * reach. `open`: by node, scratch. */
static int32_t nearest(const cbx_partial_graph *g, const int32_t *hops, int32_t *open)
{
    int32_t best = -1, hop = INT32_MAX, most = 0;
    memset(open, 0, (size_t)g->view->n * sizeof *open);
    for (int32_t c = 0; c < g->count; c++)
        for (int64_t k = g->choices[c].begin; cbx_choice_is_open(g, c) && k < g->choices[c].end;
             k++)
            open[g->target_of[g->slots[k]]]++;
    for (int32_t c = 0; c < g->count; c++)
        for (int64_t k = g->choices[c].begin; cbx_choice_is_open(g, c) && k < g->choices[c].end;
             k++) {
            int32_t v = g->target_of[g->slots[k]];
            if (hops[v] < hop || (hops[v] == hop && hop < INT32_MAX && open[v] > most)) {
                best = c;
                hop = hops[v];
                most = open[v];
            }
        }
    return best;
}

/* The step's edge goes, where it stayed; else it is as it was, and the step before is looked at. */
static int64_t turn(cbx_partial_graph *g, step *steps, int64_t count)
{
    while (count > 0) {
        step *last = &steps[count - 1];
        if (!last->goes) {
            g->fate[last->choice] = CBX_FREE;
            cbx_partial_graph_make(g, last->choice);
            last->goes = true;
            return count;
        }
        cbx_partial_graph_unmake(g, last->choice);
        count--;
    }
    return 0;
}

static void undo(cbx_partial_graph *g, const step *steps, int64_t count)
{
    while (count-- > 0) {
        if (steps[count].goes)
            cbx_partial_graph_unmake(g, steps[count].choice);
        else
            g->fate[steps[count].choice] = CBX_FREE;
    }
}

bool cbx_pattern_none(cbx_pattern_branch *b, int32_t ahead, int32_t behind, cbx_arena *arena)
{
    cbx_partial_graph *g = b->graph;
    int64_t            count = 0;
    step              *steps = CBX_NEW(arena, step, (int64_t)g->count + 1);
    int32_t           *hops = CBX_NEW(arena, int32_t, g->view->n);
    int32_t           *open = CBX_NEW(arena, int32_t, g->view->n);
    if (!steps || !hops || !open)
        return false;
    while (!b->question.stop || !b->question.stop(b->question.user)) {
        b->bounds++;
        if (cbx_pattern_lead(&b->question, ahead, behind) < 0) {
            count = turn(g, steps, count);
            if (count == 0)
                return true;
            continue;
        }
        cbx_pattern_hops(&b->question, hops);
        int32_t choice = nearest(g, hops, open);
        if (choice < 0)
            break;
        g->fate[choice] = CBX_BARRED;
        steps[count++] = (step){choice, false};
    }
    undo(g, steps, count);
    return false;
}
