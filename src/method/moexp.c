/* SPDX-License-Identifier: Apache-2.0 */
/* moexp.c: GNN-MOExp (Liu et al. 2021): small trees around the target that say what the whole
 * neighbourhood says, and to which each edge matters.
 *
 * A candidate is a tree of edges that lead, one behind the other, to the target; in a graph task
 * to any node. It has two objectives. P is the oracle's distribution on the factual graph, P_S
 * that on the tree alone, ∅ the factual graph without edges:
 *
 *     simulatability   ν(S) = -KL(P ‖ P_S) - KL(P_S ‖ P)
 *     relevance        μ(S) = max of ν(S) - ν(S \ e), over the edges e that leave a tree or ∅
 *
 * Candidates that no other beats in both, the Pareto front, come first, and then the others; each
 * of the two by the sum of a candidate's places in both objectives, then by its number of edges.
 * The answer is the first of them without whose edges the class is the target's. Further ones of
 * the front are further answers, as many as are asked for.
 *
 * Trees are built edge by edge, those of one size after those of the size before. There may be too
 * many: a size gets an equal share of what is left of --moexp-most, and of more trees than that
 * those with the smallest lots stay. A lot is a function of the seed, the target row and the
 * tree's edges, so that the order of work has no say. Half of the time is for looking at trees,
 * the other half for asking without them.
 *
 * In the record of a question, loss is CE(target) + the number of edges. */
#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "explainers.h"
#include "order.h"
#include "project.h"
#include "rng.h"
#include "sort.h"

/* Multiplications in the time of a slot that is looked at or set, and of naming a pair. */
static const double SLOT = 30, PAIR = 100;

typedef struct settings {
    int64_t size; /* edges of a tree */
    int64_t most; /* trees */
} settings;

typedef struct tree {
    uint64_t key;    /* the same for the same edges */
    uint64_t lot;    /* by which trees are drawn; no two keys have the same */
    int64_t  parent; /* the tree without `slot`; -1: that is its only edge */
    int64_t  slot;
    double   simulatability, relevance;
} tree;

/* A tree among all. */
typedef struct candidate {
    double   simulatability, relevance;
    int64_t  places; /* the sum of both; 0 is the best */
    bool     front;
    int64_t  size; /* edges */
    uint64_t key;
    int64_t  tree;
} candidate;

typedef struct state {
    cbx_search     *s;
    const settings *own;
    cbx_pairs       pairs; /* what one removal takes, with their slots */
    int64_t        *begin, *slots;
    int32_t        *target_of;
    uint64_t       *value; /* by pair: what it adds to a key */
    uint64_t        draw;
    /* the view with some of its edges */
    cbx_view   view;
    cbx_pass   pass;
    float     *w;
    uint8_t   *gone;
    uint8_t   *goes; /* by pair, for working; NULL: there are no rules */
    cbx_shape *shape;
    /* trees, by size and then by lot; those of the last size begin at `last` */
    tree    *trees;
    int64_t  count, last, measured;
    uint8_t *inside;  /* by node: the tree that grows has it */
    double   nothing; /* simulatability of no edge */
    /* those of the size that is being made */
    tree     *pool;
    int64_t   pooled, room;
    uint64_t  highest; /* lots above are too many */
    cbx_arena sorting;
    int64_t   done; /* passes */
} state;

/* ---- the view with some of its edges */

static void put_slot(state *st, int64_t e, bool there)
{
    const cbx_view *v = st->s->view;
    st->gone[e] = !there;
    st->w[e] = !there ? 0 : v->weight ? v->weight[e] : 1;
}

/* All edges, or none but loops, which are their nodes' own. */
static void put_all(state *st, bool there)
{
    const cbx_view *v = st->s->view;
    for (int64_t e = 0; e < v->m && !cbx_out_of_time_at(e, SLOT); e++)
        put_slot(st, e, there || v->source[e] == st->target_of[e]);
}

/* The tree's edges; returns how many of the view's slots those are. */
static int64_t put_tree(state *st, int64_t t, bool there)
{
    int64_t count = 0;
    for (; t >= 0; t = st->trees[t].parent) {
        int64_t p = st->pairs.pair_of[st->trees[t].slot];
        for (int64_t k = st->begin[p]; k < st->begin[p + 1]; k++, count++)
            put_slot(st, st->slots[k], there);
    }
    return count;
}

/* -KL(P ‖ P_S) - KL(P_S ‖ P) on the view as it is; -INFINITY where numbers overflowed. */
static double simulatability(state *st)
{
    cbx_search *s = st->s;
    double      sum = 0;
    cbx_pass_forward(&st->pass, &s->X, st->w, 0, 0);
    for (int32_t c = 0; c < s->model->num_classes; c++) {
        double a = (double)s->before[c], b = (double)st->pass.logp[c];
        sum += a == b ? 0 : (cbx_exp(a) - cbx_exp(b)) * (a - b);
    }
    return isfinite(sum) ? -sum : -INFINITY;
}

/* ---- trees of one edge more */

static int by_lot(const void *a, const void *b)
{
    const tree *x = a, *y = b;
    if (x->lot != y->lot)
        return x->lot < y->lot ? -1 : 1;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static uint64_t lot_of(const state *st, uint64_t key)
{
    return cbx_mix64(key ^ st->draw);
}

/* Of the pool each tree once, and no more of them than there is room for. 0 on success. */
static int thin(state *st)
{
    int64_t kept = 0;
    cbx_arena_reset(&st->sorting);
    if (cbx_sort(st->pool, st->pooled, sizeof *st->pool, by_lot, &st->sorting))
        return -1;
    for (int64_t k = 0; k < st->pooled && kept < st->room; k++)
        if (kept == 0 || st->pool[k].lot != st->pool[kept - 1].lot)
            st->pool[kept++] = st->pool[k];
    st->pooled = kept;
    if (kept == st->room)
        st->highest = st->pool[kept - 1].lot;
    return 0;
}

/* Every edge that leads to `node` from outside of the tree makes a further one. */
static int grow_at(state *st, int64_t parent, int32_t node)
{
    const cbx_view *v = st->s->view;
    for (int64_t e = v->offset[node]; e < v->offset[node + 1]; e++) {
        if (cbx_out_of_time(SLOT))
            return -1;
        if (v->source[e] == node || st->inside[v->source[e]] ||
            (st->goes && !cbx_project_may_go(st->s, v->source[e], node)))
            continue;
        uint64_t key = parent < 0 ? 0 : st->trees[parent].key;
        key ^= st->value[st->pairs.pair_of[e]];
        if (lot_of(st, key) > st->highest)
            continue;
        if (st->pooled == 2 * st->room && thin(st))
            return -1;
        st->pool[st->pooled++] =
            (tree){.key = key, .lot = lot_of(st, key), .parent = parent, .slot = e};
    }
    return 0;
}

/* The node that the tree's edges lead to. */
static int32_t root_of(const state *st, int64_t t)
{
    while (st->trees[t].parent >= 0)
        t = st->trees[t].parent;
    return st->target_of[st->trees[t].slot];
}

static int grow(state *st, int64_t t)
{
    const int32_t *source = st->s->view->source;
    int32_t        root = root_of(st, t);
    st->inside[root] = 1;
    for (int64_t k = t; k >= 0; k = st->trees[k].parent)
        st->inside[source[st->trees[k].slot]] = 1;
    int failed = grow_at(st, t, root);
    for (int64_t k = t; k >= 0 && !failed; k = st->trees[k].parent)
        failed = grow_at(st, t, source[st->trees[k].slot]);
    st->inside[root] = 0;
    for (int64_t k = t; k >= 0; k = st->trees[k].parent)
        st->inside[source[st->trees[k].slot]] = 0;
    return failed;
}

/* The trees of so many edges, from those of one less. */
static cbx_status make_trees(state *st, int64_t size, cbx_error *err)
{
    const cbx_search *s = st->s;
    int64_t           left = st->own->most - st->count, sizes = st->own->size - size + 1;
    int32_t           starts = s->graph->data.task == CBX_GRAPH ? s->view->n : 1;
    int               failed = 0;
    st->room = (left + sizes - 1) / sizes;
    st->pooled = 0;
    st->highest = UINT64_MAX;
    for (int32_t i = 0; size == 1 && i < starts && !failed; i++)
        failed = grow_at(st, -1, i);
    for (int64_t t = st->last; t < st->count && !failed; t++)
        failed = grow(st, t);
    if (failed || thin(st))
        return cbx_fail_late(err);
    st->last = st->count;
    for (int64_t k = 0; k < st->pooled; k++)
        st->trees[st->count++] = st->pool[k];
    return CBX_OK;
}

/* ---- what trees are worth */

/* The simulatability of a tree in trees[from] to trees[to - 1]; NaN: it is not there. */
static double find(const state *st, uint64_t key, int64_t from, int64_t to)
{
    uint64_t lot = lot_of(st, key);
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (st->trees[middle].lot == lot)
            return st->trees[middle].simulatability;
        if (st->trees[middle].lot < lot)
            from = middle + 1;
        else
            to = middle;
    }
    return NAN;
}

/* Trees of one edge less are trees[from] to trees[to - 1]; from == to: there is ∅. */
static double relevance(const state *st, int64_t t, int64_t from, int64_t to)
{
    const tree *whole = &st->trees[t];
    double      most = -INFINITY;
    for (int64_t k = t; k >= 0; k = st->trees[k].parent) {
        uint64_t key = whole->key ^ st->value[st->pairs.pair_of[st->trees[k].slot]];
        double   without = from == to ? st->nothing : find(st, key, from, to);
        most = fmax(most, whole->simulatability - without);
    }
    return isfinite(whole->simulatability) ? most : -INFINITY;
}

/* Both objectives of the last trees; `from`: where those of one edge less begin. */
static void measure(state *st, int64_t from)
{
    cbx_search *s = st->s;
    for (int64_t t = st->last; t < st->count; t++) {
        (void)put_tree(st, t, true);
        double value = simulatability(st);
        (void)put_tree(st, t, false);
        if (cbx_time_is_up())
            return;
        s->diverged |= !isfinite(value);
        st->trees[t].simulatability = value;
        st->trees[t].relevance = relevance(st, t, from, st->last);
        st->measured = t + 1;
        if (cbx_search_should_stop(s, ++st->done, 2 * st->own->most))
            return;
    }
}

/* Makes and measures trees, small ones first, until there are no more or time for them is up. */
static cbx_status look_at_trees(state *st, cbx_error *err)
{
    cbx_status status = CBX_OK;
    put_all(st, false);
    st->nothing = simulatability(st);
    for (int64_t size = 1; size <= st->own->size && st->count < st->own->most; size++) {
        int64_t from = st->last;
        status = make_trees(st, size, err);
        if (status || st->last == st->count)
            break;
        measure(st, from);
    }
    return cbx_search_status(status);
}

/* ---- in which order they are tried */

static int by_simulatability(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->simulatability != y->simulatability)
        return x->simulatability > y->simulatability ? -1 : 1;
    return (x->relevance < y->relevance) - (x->relevance > y->relevance);
}

static int by_relevance(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return (x->relevance < y->relevance) - (x->relevance > y->relevance);
}

static int by_merit(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->front != y->front)
        return x->front ? -1 : 1;
    if (x->places != y->places)
        return x->places < y->places ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

/* A place is the number of candidates that are better. They are in order. */
static void add_places(candidate *all, int64_t count, double (*objective)(const candidate *))
{
    for (int64_t i = 0, place = 0; i < count; i++) {
        if (i > 0 && objective(&all[i]) != objective(&all[i - 1]))
            place = i;
        all[i].places += place;
    }
}

static double its_simulatability(const candidate *c)
{
    return c->simulatability;
}

static double its_relevance(const candidate *c)
{
    return c->relevance;
}

/* Candidates are by simulatability, and of the same by relevance: one is beaten by any before it
 * that is as relevant, unless that is its equal. */
static void mark_front(candidate *all, int64_t count)
{
    int64_t last = 0; /* of the front so far */
    for (int64_t i = 0; i < count; i++) {
        all[i].front = i == 0 || all[i].relevance > all[last].relevance ||
                       by_simulatability(&all[i], &all[last]) == 0;
        last = all[i].front ? i : last;
    }
}

static int64_t size_of(const state *st, int64_t t)
{
    int64_t size = 0;
    for (; t >= 0; t = st->trees[t].parent)
        size++;
    return size;
}

/* 0 on success */
static int order(state *st, candidate *all)
{
    cbx_arena *arena = st->s->arena;
    int64_t    count = st->measured;
    for (int64_t t = 0; t < count; t++)
        all[t] = (candidate){.simulatability = st->trees[t].simulatability,
                             .relevance = st->trees[t].relevance,
                             .size = size_of(st, t),
                             .key = st->trees[t].key,
                             .tree = t};
    if (cbx_sort(all, count, sizeof *all, by_relevance, arena))
        return -1;
    add_places(all, count, its_relevance);
    if (cbx_sort(all, count, sizeof *all, by_simulatability, arena))
        return -1;
    add_places(all, count, its_simulatability);
    mark_front(all, count);
    return cbx_sort(all, count, sizeof *all, by_merit, arena);
}

/* ---- answers */

static void record(cbx_search *s, const cbx_epoch *step)
{
    if (step->hit && !s->found) {
        s->found = true;
        s->epoch = s->epochs;
        s->loss = step->loss;
    }
    s->epochs++;
    if (s->trace)
        s->trace[s->num_trace++] = *step;
}

/* May the tree's edges go together? */
static bool may_go(state *st, const candidate *c)
{
    int64_t most = st->s->options->max_edits;
    if (most > 0 && c->size > most)
        return false;
    if (!st->shape)
        return true;
    memset(st->goes, 0, (size_t)st->pairs.count);
    for (int64_t t = c->tree; t >= 0; t = st->trees[t].parent)
        st->goes[st->pairs.pair_of[st->trees[t].slot]] = 1;
    return !cbx_shape_keep(st->shape, st->goes);
}

/* Is the class the target's without the tree? */
static bool ask(state *st, const candidate *c)
{
    cbx_search *s = st->s;
    if (st->goes && !may_go(st, c))
        return false;
    cbx_epoch step = {.eta = 1, .edge_loss = (double)c->size};
    step.removed_edges = put_tree(st, c->tree, false);
    cbx_pass_forward(&st->pass, &s->X, st->w, 0, 0);
    (void)put_tree(st, c->tree, true);
    if (cbx_time_is_up())
        return false;
    const float *logp = st->pass.logp;
    step.ce = -(double)logp[cbx_search_aim(s, logp)];
    step.loss = step.ce + step.edge_loss;
    if (cbx_search_diverged(s, step.loss))
        return false;
    step.hit = cbx_search_hits(s, cbx_search_class(s, logp));
    record(s, &step);
    return step.hit;
}

static void write_edits(const state *st, int64_t t, cbx_edit *edits)
{
    const cbx_search *s = st->s;
    bool              undirected = s->options->edges == CBX_EDGES_UNDIRECTED;
    for (; t >= 0; t = st->trees[t].parent) {
        int64_t slot = st->pairs.slot_of[st->pairs.pair_of[st->trees[t].slot]];
        *edits++ = cbx_search_edit_of_slot(s, st->target_of[slot], slot, undirected);
    }
}

/* As the answer, or as one more. */
static cbx_status keep(state *st, const candidate *c, cbx_error *err)
{
    cbx_search *s = st->s;
    if (!s->edits) {
        cbx_status status = cbx_search_make_edits(s, c->size, err);
        if (status)
            return status;
        s->num_edits = c->size;
        write_edits(st, c->tree, s->edits);
    } else {
        cbx_edit *edits = CBX_NEW(s->keep, cbx_edit, c->size);
        if (!edits)
            return cbx_fail_memory(err);
        write_edits(st, c->tree, edits);
        s->others[s->num_others++] =
            (cbx_alternative){.edits = edits, .num_edits = c->size, .robustness = -1};
    }
    cbx_search_reserve(s, s->num_edits + s->num_others * st->own->size);
    return CBX_OK;
}

static cbx_status try_all(state *st, const candidate *all, cbx_error *err)
{
    cbx_search *s = st->s;
    int64_t     wanted = s->options->total_cfs;
    cbx_status  status = CBX_OK;
    put_all(st, true);
    for (int64_t i = 0; i < st->measured && !status; i++) {
        if (s->found && (!all[i].front || s->num_others + 1 == wanted))
            break;
        if (ask(st, &all[i]))
            status = keep(st, &all[i], err);
        if (cbx_search_should_stop(s, st->measured + i + 1, 2 * st->own->most))
            break;
    }
    return status;
}

/* ---- the search */

/* A number for every pair, whatever the view's order. */
static uint64_t value_of(const state *st, int64_t p)
{
    const cbx_view *v = st->s->view;
    int64_t         id = INT64_MAX;
    for (int64_t k = st->begin[p]; k < st->begin[p + 1]; k++) {
        int64_t edge = v->edge ? v->edge[st->slots[k]] : st->slots[k];
        id = edge < id ? edge : id;
    }
    cbx_rng rng = cbx_rng_stream(0, 0, 0, (uint64_t)id);
    return cbx_rng_next(&rng);
}

static cbx_status init(state *st, cbx_search *s, cbx_error *err)
{
    const cbx_view *v = s->view;
    const settings *own = s->settings;
    cbx_rng         rng = cbx_rng_stream((uint64_t)s->options->seed, (uint64_t)s->row, 0, 0);
    *st = (state){.s = s, .own = own, .view = *v, .draw = cbx_rng_next(&rng)};
    st->target_of = cbx_pairs_targets(v, s->arena);
    if (!st->target_of || cbx_pairs_removed_at_once(s, &st->pairs) ||
        cbx_pairs_group(&st->pairs, v->m, s->arena, &st->begin, &st->slots))
        return cbx_fail_late(err);
    st->value = CBX_NEW(s->arena, uint64_t, st->pairs.count);
    st->w = CBX_NEW(s->arena, float, v->m);
    st->gone = CBX_NEW(s->arena, uint8_t, v->m);
    st->inside = CBX_NEW0(s->arena, uint8_t, v->n);
    st->trees = CBX_NEW(s->arena, tree, own->most);
    st->pool = CBX_NEW(s->arena, tree, 2 * own->most);
    s->others = CBX_NEW(s->keep, cbx_alternative, s->options->total_cfs);
    if (!st->value || !st->w || !st->gone || !st->inside || !st->trees || !st->pool || !s->others)
        return cbx_fail_memory(err);
    for (int64_t p = 0; p < st->pairs.count; p++) {
        if (cbx_out_of_time_at(p, PAIR))
            return cbx_fail_late(err);
        st->value[p] = value_of(st, p);
    }
    st->view.removed = st->gone;
    if (cbx_project_is_needed(s)) {
        st->goes = CBX_NEW(s->arena, uint8_t, st->pairs.count);
        cbx_status status =
            st->goes ? cbx_shape_new(s, &st->pairs, &st->shape, err) : cbx_fail_memory(err);
        if (status)
            return status;
    }
    return cbx_pass_init(&st->pass, s->model, &st->view, &s->X, false, 1, s->arena, err);
}

static cbx_status search(cbx_search *s, cbx_error *err)
{
    state      st;
    cbx_status status = init(&st, s, err);
    if (status)
        return status;
    if (s->deadline)
        cbx_deadline_hold(s->deadline, 0.5);
    status = look_at_trees(&st, err);
    if (s->deadline)
        s->late = cbx_deadline_release(s->deadline);
    cbx_arena_free(&st.sorting);
    if (status)
        return status;
    candidate *all = CBX_NEW(s->arena, candidate, st.measured);
    if (!all)
        return cbx_fail_memory(err);
    return order(&st, all) ? cbx_fail_late(err) : try_all(&st, all, err);
}

static int64_t steps(const void *own)
{
    return ((const settings *)own)->most;
}

#define AT(field) offsetof(settings, field)
static const cbx_option own_options[] = {
    {"moexp-size", CBX_OPTION_INT, AT(size), "5", 1, 1000, NULL,
     "moexp: edges of a candidate, at most"},
    {"moexp-most", CBX_OPTION_INT, AT(most), "1000", 1, 1e6, NULL,
     "moexp: candidates looked at, at most; of more, some of every size are drawn"},
};
#undef AT

static const cbx_option_table own_table = CBX_OPTION_TABLE("moexp", own_options, settings);

const cbx_explainer cbx_explainer_moexp = {.name = "moexp",
                                           .search = search,
                                           .options = &own_table,
                                           .steps = steps,
                                           .uncounted = true,
                                           .edges_only = true};
