/* SPDX-License-Identifier: Apache-2.0 */
/* newcomers.c: see newcomers.h. */
#include "newcomers.h"

#include <string.h>

#include "error.h"
#include "explain.h"
#include "sort.h"

/* Newcomers whose derivatives are taken together; and that are looked at, or little more. */
enum { CHUNK = 512, LOOK = 4096 };

/* ---- kinds of row */

typedef struct kind_of_row {
    uint64_t hash;
    int32_t  row;
} kind_of_row;

static int by_hash(const void *a, const void *b)
{
    const kind_of_row *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static uint64_t hash_of(const float *row, int32_t f)
{
    uint64_t hash = 14695981039346656037U;
    for (int32_t j = 0; j < f; j++) {
        uint32_t bits;
        memcpy(&bits, &row[j], sizeof bits);
        hash = (hash ^ bits) * 1099511628211U;
    }
    return hash;
}

/* The first of each kind, ascending: the view's numbers. -1: no memory, or no time. */
static int32_t find_kinds(const cbx_search *s, cbx_arena *arena, int32_t *kinds)
{
    int32_t      n = s->view->n, f = s->X.cols, count = 0;
    size_t       values = (size_t)n * (size_t)f, size = (size_t)f * sizeof(float);
    float       *x = CBX_NEW(arena, float, values);
    kind_of_row *rows = CBX_NEW(arena, kind_of_row, n);
    uint8_t     *is_first = CBX_NEW0(arena, uint8_t, n);
    if (!x || !rows || !is_first)
        return -1;
    cbx_matrix_expand(&s->X, n, x);
    for (size_t k = 0; k < values; k++)
        x[k] += 0.0F; /* never -0 */
    for (int32_t i = 0; i < n; i++)
        rows[i] = (kind_of_row){hash_of(x + (int64_t)i * f, f), i};
    if (cbx_sort(rows, n, sizeof *rows, by_hash, arena))
        return -1;
    for (int32_t i = 0, begin = 0; i < n; i++) {
        bool again = false;
        begin = rows[begin].hash == rows[i].hash ? begin : i;
        for (int32_t k = begin; k < i && !again; k++)
            again = is_first[rows[k].row] &&
                    !memcmp(x + (int64_t)rows[k].row * f, x + (int64_t)rows[i].row * f, size);
        is_first[rows[i].row] = !again;
    }
    for (int32_t i = 0; i < n; i++)
        if (is_first[i])
            kinds[count++] = i;
    return cbx_time_is_up() ? -1 : count;
}

/* ---- the wider factual graph */

static int by_place(const void *a, const void *b)
{
    const cbx_new_node *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->copied > y->copied) - (x->copied < y->copied);
}

/* In order of their places, with where those of each begin. */
static int put_in_order(const cbx_search *s, cbx_newcomers *out)
{
    out->first = s->view->n;
    out->begin = CBX_NEW(s->arena, int32_t, (size_t)out->first + 1);
    if (!out->begin || cbx_sort(out->nodes, out->count, sizeof *out->nodes, by_place, s->arena))
        return -1;
    for (int32_t i = 0, k = 0; i <= out->first; i++) {
        while (k < out->count && out->nodes[k].at < i)
            k++;
        out->begin[i] = k;
    }
    return 0;
}

cbx_status cbx_newcomers_of_edits(const cbx_search *s, const cbx_edit *edits, int64_t count,
                                  cbx_newcomers *out, cbx_error *err)
{
    *out = (cbx_newcomers){0};
    cbx_status status =
        cbx_edits_new_nodes(s->graph, edits, count, s->arena, &out->nodes, &out->count, err);
    for (int32_t k = 0; k < out->count && !status; k++)
        out->nodes[k].at -= s->view->node ? s->view->node[0] : 0;
    return !status && put_in_order(s, out) ? cbx_fail_late(err) : status;
}

cbx_status cbx_newcomers_widen(const cbx_search *s, const cbx_newcomers *newcomers,
                               cbx_search *wide, cbx_error *err)
{
    cbx_view *view = CBX_NEW(s->arena, cbx_view, 1);
    int64_t   own = s->graph->data.num_edges, first_id = own + s->view->m;
    *wide = *s;
    wide->keep = s->arena;
    wide->view = view;
    wide->newcomers = newcomers;
    wide->newcomers_all = newcomers->all;
    if (!view)
        return cbx_fail_memory(err);
    cbx_status status = cbx_view_with_nodes(s->view, newcomers->nodes, newcomers->count, first_id,
                                            s->arena, view, err);
    if (!status)
        status = cbx_view_features(s->graph, view, s->arena, &wide->X, err);
    if (!status)
        status = cbx_search_count_removable(wide, err);
    if (status || !s->offered)
        return status;
    uint8_t *offered = CBX_NEW(s->arena, uint8_t, view->m);
    wide->offered = offered;
    for (int64_t e = 0; offered && e < view->m; e++)
        offered[e] = view->edge[e] >= own && view->edge[e] < first_id;
    return offered ? CBX_OK : cbx_fail_memory(err);
}

int32_t cbx_newcomers_find(const cbx_newcomers *newcomers, int32_t copied, int32_t at)
{
    for (int32_t k = newcomers->begin[at]; k < newcomers->begin[at + 1]; k++)
        if (newcomers->nodes[k].copied == copied)
            return k;
    return -1;
}

double cbx_newcomers_gain(const cbx_newcomers *newcomers, int32_t k, const cbx_hiding *hiding,
                          const cbx_derivatives *slopes)
{
    const cbx_view *v = &hiding->view;
    int32_t         at = newcomers->nodes[k].at, node = newcomers->first + k;
    int64_t         slot = v->offset[at + 1] - 1;
    while (v->source[slot] != node)
        slot--;
    return cbx_hiding_gain(hiding, slopes->dw, slopes->mean, at, slot) +
           (slopes->pooling ? (double)slopes->pooling[node] : 0);
}

/* ---- choosing */

/* What may come, one after the other. */
typedef struct walk {
    const cbx_search *s;
    const cbx_rules  *rules;
    const int32_t    *kinds; /* the view's numbers */
    int32_t           num_kinds, at, kind;
    int64_t           room; /* at that node */
} walk;

static int32_t number_of(const cbx_search *s, int32_t node)
{
    return s->view->node ? s->view->node[node] : node;
}

static cbx_new_node make(const walk *w, int32_t kind, int32_t at)
{
    return (cbx_new_node){number_of(w->s, kind), at, w->rules->add_weight,
                          w->s->options->edges == CBX_EDGES_UNDIRECTED};
}

static bool next(walk *w, cbx_new_node *out)
{
    const cbx_search *s = w->s;
    for (; w->at < s->view->n; w->at++, w->kind = 0) {
        if (w->kind == 0)
            w->room = cbx_rules_limit_degree(w->rules)
                          ? cbx_rules_room(w->rules, number_of(s, w->at))
                          : 1;
        while (w->room > 0 && w->kind < w->num_kinds) {
            *out = make(w, w->kinds[w->kind++], w->at);
            if (cbx_rules_new_node(w->rules, s->row, out->copied, number_of(s, out->at)))
                return true;
        }
    }
    return false;
}

typedef struct measured {
    cbx_new_node node;
    double       gain;
} measured;

static int by_gain(const void *a, const void *b)
{
    const measured *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    return by_place(&x->node, &y->node);
}

/* What each would do, to first order. */
static cbx_status measure(const cbx_search *s, measured *list, int64_t count, cbx_error *err)
{
    cbx_arena       arena = {0};
    cbx_search      here = *s, wide;
    cbx_hiding      hiding;
    cbx_derivatives slopes;
    cbx_newcomers   some = {.count = (int32_t)count, .nodes = CBX_NEW(&arena, cbx_new_node, count)};
    here.arena = &arena;
    for (int64_t k = 0; some.nodes && k < count; k++)
        some.nodes[k] = list[k].node;
    cbx_status status = !some.nodes || put_in_order(&here, &some) ? cbx_fail_late(err) : CBX_OK;
    if (!status)
        status = cbx_newcomers_widen(&here, &some, &wide, err);
    if (!status)
        status = cbx_hiding_slopes(&wide, &hiding, &slopes, err);
    for (int32_t k = 0; some.nodes && k < some.count && !status; k++)
        list[k] = (measured){some.nodes[k], cbx_newcomers_gain(&some, k, &hiding, &slopes)};
    cbx_arena_free(&arena);
    return status;
}

/* Those of the walk that promise most, up to `most`, which come first in `list`; it has room for
 * CHUNK more. */
static cbx_status measure_all(walk *w, measured *list, int64_t most, int64_t *count, cbx_error *err)
{
    cbx_status status = CBX_OK;
    *count = 0;
    for (bool more = true; more && !status;) {
        int64_t n = 0;
        while (n < CHUNK && (more = next(w, &list[*count + n].node)))
            n++;
        status = n ? measure(w->s, list + *count, n, err) : CBX_OK;
        if (!status && cbx_sort(list, *count + n, sizeof *list, by_gain, w->s->arena))
            status = cbx_fail_late(err);
        if (!status)
            *count = *count + n < most ? *count + n : most;
    }
    return status;
}

/* Of more kinds of row than can be looked at everywhere, those that promise most where they are
 * already. `kinds` has the others behind them. */
static cbx_status keep_some_kinds(walk *w, int32_t *kinds, measured *list, cbx_error *err)
{
    int64_t    kept = LOOK / w->s->view->n + 1, count = 0;
    cbx_status status = CBX_OK;
    for (int32_t k = 0; k < w->num_kinds && !status;) {
        int64_t n = 0;
        for (; n < CHUNK && k < w->num_kinds; n++, k++)
            list[count + n].node = make(w, kinds[k], kinds[k]);
        status = measure(w->s, list + count, n, err);
        if (!status && cbx_sort(list, count + n, sizeof *list, by_gain, w->s->arena))
            status = cbx_fail_late(err);
        count = count + n < kept ? count + n : kept;
    }
    for (int64_t k = 0; k < count && !status; k++)
        kinds[k] = list[k].node.at;
    w->num_kinds = (int32_t)count;
    return status;
}

/* Of more than `most`. */
static cbx_status choose_by_gain(walk *w, int32_t *kinds, int64_t most, cbx_newcomers *out,
                                 cbx_error *err)
{
    const cbx_search *s = w->s;
    int64_t           room = (most > LOOK ? most : LOOK) + CHUNK + 1, count = 0;
    measured         *list = CBX_NEW(s->arena, measured, room);
    cbx_status        status = list ? CBX_OK : cbx_fail_memory(err);
    if (!status && (int64_t)w->num_kinds * s->view->n > LOOK)
        status = keep_some_kinds(w, kinds, list, err);
    if (!status)
        status = measure_all(w, list, most, &count, err);
    for (int64_t k = 0; k < count && !status; k++)
        out->nodes[k] = list[k].node;
    out->count = status ? 0 : (int32_t)count;
    return status;
}

cbx_status cbx_newcomers_choose(const cbx_search *s, const cbx_rules *rules, int64_t most,
                                cbx_newcomers *out, cbx_error *err)
{
    int32_t *kinds = CBX_NEW(s->arena, int32_t, s->view->n);
    walk     w = {.s = s, .rules = rules, .kinds = kinds};
    *out = (cbx_newcomers){.nodes = CBX_NEW(s->arena, cbx_new_node, most + 1)};
    if (!kinds || !out->nodes || (w.num_kinds = find_kinds(s, s->arena, kinds)) < 0)
        return cbx_search_status(cbx_fail_late(err));
    walk again = w;
    while (out->count <= most && next(&w, &out->nodes[out->count]))
        out->count++;
    out->all = out->count <= most && !cbx_time_is_up();
    cbx_status status = out->all ? CBX_OK : choose_by_gain(&again, kinds, most, out, err);
    if (!status && put_in_order(s, out))
        status = cbx_fail_late(err);
    out->count = status ? 0 : out->count;
    return cbx_search_status(status);
}
