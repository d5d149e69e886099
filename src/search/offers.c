/* SPDX-License-Identifier: Apache-2.0 */
/* offers.c: see offers.h. */
#include "offers.h"

#include <math.h>

#include "addable.h"
#include "deadline.h"
#include "edit.h"
#include "error.h"
#include "promise.h"
#include "sort.h"
#include "widen.h"

/* Candidates whose derivatives are taken together. */
enum { CHUNK = 1024 };

static int by_gain(const void *a, const void *b)
{
    const cbx_edit *x = a, *y = b;
    if (x->influence != y->influence)
        return x->influence > y->influence ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->target > y->target) - (x->target < y->target);
}

/* ---- derivatives on the wider factual graph */

/* The slot of an offered edge; -1: the view has none. */
static int64_t find_slot(const cbx_search *wide, int32_t source, int32_t target)
{
    const cbx_view *v = wide->view;
    for (int64_t k = target >= 0 ? v->offset[target] : 0;
         source >= 0 && target >= 0 && k < v->offset[target + 1]; k++)
        if (v->source[k] == source && wide->offered[k])
            return k;
    return -1;
}

/* What each would do, to first order, as its influence. */
static cbx_status measure(const cbx_search *s, cbx_edit *edits, int64_t count, cbx_arena *arena,
                          cbx_error *err)
{
    cbx_search here = *s, wide;
    cbx_hiding hiding;
    cbx_places places;
    cbx_derivatives slopes;
    here.arena = arena;
    cbx_status status = cbx_widen(&here, edits, count, &wide, err);
    if (!status)
        status = cbx_hiding_slopes(&wide, &hiding, &slopes, err);
    if (!status && cbx_places_init(&places, wide.view))
        status = cbx_fail_late(err);
    if (status)
        return status;
    for (int64_t k = 0; k < count; k++) {
        int32_t ends[2] = {cbx_places_find(&places, edits[k].source),
                           cbx_places_find(&places, edits[k].target)};
        double  sum = 0;
        bool    there = false;
        for (int way = 0; way < (edits[k].undirected ? 2 : 1); way++) {
            int64_t slot = find_slot(&wide, ends[way], ends[!way]);
            there = there || slot >= 0;
            sum +=
                slot >= 0 ? cbx_hiding_gain(&hiding, slopes.dw, slopes.mean, ends[!way], slot) : 0;
        }
        edits[k].influence = there ? (float)sum : -1e30F;
    }
    cbx_places_free(&places);
    return CBX_OK;
}

/* Chunk by chunk, the best so far in front. */
static cbx_status measure_all(cbx_addable *walk, cbx_offers *out, int64_t most, cbx_error *err)
{
    const cbx_search *s = walk->s;
    cbx_arena         work = {0};
    cbx_status        status = CBX_OK;
    out->count = 0;
    for (bool more = true; more && !status;) {
        int64_t n = 0;
        while (n < CHUNK && (more = cbx_addable_next(walk, &out->edits[out->count + n])))
            n++;
        status = n ? measure(s, out->edits + out->count, n, &work, err) : CBX_OK;
        if (!status && cbx_sort(out->edits, out->count + n, sizeof *out->edits, by_gain, &work))
            status = cbx_fail_late(err);
        if (!status)
            out->count = out->count + n < most ? out->count + n : most;
        cbx_arena_free(&work);
        work = (cbx_arena){0};
    }
    return status;
}

/* ---- the best of all by what they promise */

/* Multiplications in the time of looking at one, beside its products. */
static const double LOOK = 40;

/* Pairs in the factual graph that are looked at: those nearest to the target. */
static const int64_t MOST_PAIRS = 4000000;

typedef struct best {
    cbx_addable *walk;
    cbx_promise  promise;
    cbx_edit    *edits; /* up to 2 CHUNK */
    int64_t      count;
    float        least;   /* that is worth a look: what has been dropped promised no more */
    uint8_t     *is_near; /* by node: it is in the view */
    cbx_arena    work;
} best;

/* Half of them go. */
static int drop_the_worst(best *b)
{
    if (cbx_sort(b->edits, b->count, sizeof *b->edits, by_gain, &b->work))
        return -1;
    cbx_arena_free(&b->work);
    b->work = (cbx_arena){0};
    b->count = b->count < CHUNK ? b->count : CHUNK;
    b->least = b->count == CHUNK ? b->edits[CHUNK - 1].influence : -INFINITY;
    return 0;
}

static int keep(best *b, const cbx_edit *e, double gain)
{
    if ((float)gain <= b->least)
        return 0;
    b->edits[b->count] = *e;
    b->edits[b->count++].influence = (float)gain;
    return b->count == (int64_t)2 * CHUNK ? drop_the_worst(b) : 0;
}

/* The edges that join the walk's node with this one. `there`, `here`: what one into each of the two
 * promises. */
static int consider(best *b, int32_t node, double here, double there)
{
    cbx_edit e[2];
    double   gain = b->promise.directed ? fmax(here, there) : here + there;
    int      failed = 0;
    if ((float)gain <= b->least)
        return 0;
    int64_t count = cbx_addable_join(b->walk, node, e);
    for (int64_t k = 0; k < count && !failed; k++)
        failed = keep(b, &e[k],
                      !b->promise.directed           ? gain
                      : e[k].target == b->walk->from ? here
                                                     : there);
    return failed;
}

/* Edges of the target from where it sees nothing yet: the other end does not count. */
static int look_far(best *b)
{
    const cbx_search *s = b->walk->s;
    int32_t           n = s->graph->data.num_nodes, target = b->walk->from;
    double            work = LOOK;
    for (int32_t l = 0; l < s->model->num_layers; l++)
        work += s->model->layers[l].n_in;
    for (int32_t u = 0; u < n; u++) {
        if (cbx_out_of_time(work))
            return -1;
        if (!b->is_near[u] && consider(b, u, cbx_promise_into(&b->promise, 0, target, u),
                                       b->promise.directed ? -INFINITY : 0))
            return -1;
    }
    return 0;
}

static int look_near(best *b, int32_t row)
{
    const cbx_search *s = b->walk->s;
    const int32_t    *nodes = s->view->node;
    for (int32_t i = row + 1; i < s->view->n; i++) {
        int32_t here = b->walk->from, there = nodes ? nodes[i] : i;
        if (cbx_out_of_time(LOOK + 2 * s->X.cols))
            return -1;
        if (consider(b, there, cbx_promise_into(&b->promise, row, here, there),
                     cbx_promise_into(&b->promise, i, there, here)))
            return -1;
    }
    return 0;
}

static int look_at_all(best *b)
{
    const cbx_search *s = b->walk->s;
    int32_t           rows = cbx_addable_rows(b->walk), known = b->promise.rows;
    int64_t           pairs = 0;
    for (int32_t row = 0; row < rows && row < known && pairs < MOST_PAIRS; row++) {
        cbx_addable_look_at(b->walk, row);
        if (look_near(b, row) || (row == 0 && look_far(b)))
            return -1;
        pairs += s->view->n - row;
    }
    return drop_the_worst(b);
}

/* ---- what they bring along */

/* Nodes that an edge to a far node brings into the factual graph, or a few more. */
static int64_t brings(const cbx_graph *g, int32_t node)
{
    int64_t count = 1;
    for (int64_t e = g->in_offset[node]; e < g->in_offset[node + 1]; e++)
        count += 1 + g->in_offset[g->in_source[e] + 1] - g->in_offset[g->in_source[e]];
    return count;
}

/* How many of them a search can look at with all that they bring along. */
static int64_t affordable(const best *b)
{
    const int64_t    few = 8, most_nodes = 100000;
    const cbx_graph *g = b->walk->s->graph;
    int64_t          nodes = 0, k = 0;
    for (; k < b->count && (k < few || nodes < most_nodes); k++) {
        int32_t ends[2] = {b->edits[k].source, b->edits[k].target};
        for (int way = 0; way < 2; way++)
            nodes += b->is_near[ends[way]] ? 0 : brings(g, ends[way]);
    }
    return k;
}

static cbx_status choose_by_promise(cbx_addable *walk, cbx_offers *out, int64_t most,
                                    cbx_error *err)
{
    const cbx_search *s = walk->s;
    best              b = {.walk = walk,
                           .edits = out->edits,
                           .least = -INFINITY,
                           .is_near = CBX_NEW0(s->arena, uint8_t, s->graph->data.num_nodes)};
    if (!b.is_near)
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < s->view->n; i++)
        b.is_near[s->view->node ? s->view->node[i] : i] = 1;
    cbx_status status =
        cbx_promise_init(&b.promise, s, (double)walk->rules->add_weight, s->arena, err);
    if (!status && look_at_all(&b))
        status = cbx_fail_late(err);
    int64_t count = status ? 0 : affordable(&b);
    if (count > most)
        status = measure(s, out->edits, count, &b.work, err);
    if (!status && count > most &&
        cbx_sort(out->edits, count, sizeof *out->edits, by_gain, &b.work))
        status = cbx_fail_late(err);
    out->count = count < most ? count : most;
    cbx_arena_free(&b.work);
    return status;
}

cbx_status cbx_offers_choose(const cbx_search *s, const cbx_rules *rules, int64_t most,
                             cbx_offers *out, cbx_error *err)
{
    cbx_addable walk;
    *out = (cbx_offers){.edits = CBX_NEW(s->arena, cbx_edit, most + 2 * CHUNK)};
    if (!out->edits || cbx_addable_start(&walk, s, rules, s->arena))
        return cbx_fail_memory(err);
    while (out->count <= most && cbx_addable_next(&walk, &out->edits[out->count]))
        out->count++;
    out->all = out->count <= most && !cbx_time_is_up();
    if (out->all || cbx_time_is_up())
        return CBX_OK;
    if (cbx_addable_start(&walk, s, rules, s->arena))
        return cbx_fail_memory(err);
    return cbx_search_status(s->inputs ? choose_by_promise(&walk, out, most, err)
                                       : measure_all(&walk, out, most, err));
}

cbx_status cbx_offers_widen(const cbx_search *s, cbx_search *wide, cbx_error *err)
{
    const int64_t few = 32; /* more would blur what is there */
    int64_t       most = s->options->add_candidates;
    cbx_offers    offers = {0};
    cbx_status    status = CBX_OK;
    *wide = *s;
    if (s->rules->edits & CBX_EDITS_ADD)
        status = cbx_offers_choose(s, s->rules, most < few ? most : few, &offers, err);
    if (!status && offers.count > 0)
        status = cbx_widen(s, offers.edits, offers.count, wide, err);
    wide->keep = s->keep;
    return status;
}
