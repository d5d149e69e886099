/* SPDX-License-Identifier: Apache-2.0 */
/* symmetry.c: see symmetry.h. */
#include "symmetry.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"

/* Views of more nodes are not looked through. */
enum { MOST_NODES = 5000 };

/* ---- links */

static int by_other_end(const void *x, const void *y)
{
    const cbx_incidence *a = x, *b = y;
    if (a->other != b->other)
        return a->other < b->other ? -1 : 1;
    return (int)a->out - (int)b->out;
}

static void put(cbx_symmetry *s, int32_t node, int32_t other, bool out, int64_t slot)
{
    s->links[s->begin[node + 1]++] = (cbx_incidence){other, out, slot};
}

static cbx_status list_links(cbx_symmetry *s, cbx_arena *arena, cbx_error *err)
{
    const cbx_partial_graph *g = s->graph;
    const cbx_view          *v = g->view;
    s->begin = CBX_NEW0(arena, int64_t, v->n + 2);
    s->links = CBX_NEW(arena, cbx_incidence, 2 * v->m);
    if (!s->begin || !s->links)
        return cbx_fail_memory(err);
    for (int64_t e = 0; e < v->m; e++) {
        s->begin[g->target_of[e] + 2]++;
        s->begin[v->source[e] + 2]++;
    }
    for (int32_t i = 0; i < v->n; i++)
        s->begin[i + 2] += s->begin[i + 1];
    for (int64_t e = 0; e < v->m; e++) {
        put(s, g->target_of[e], v->source[e], false, e);
        put(s, v->source[e], g->target_of[e], true, e);
    }
    for (int32_t i = 0; i < v->n; i++)
        qsort(s->links + s->begin[i], (size_t)(s->begin[i + 1] - s->begin[i]), sizeof *s->links,
              by_other_end);
    return CBX_OK;
}

/* ---- twins */

static bool same_row(const cbx_matrix *X, int32_t a, int32_t b)
{
    if (X->dense)
        return !memcmp(X->dense + (int64_t)a * X->cols, X->dense + (int64_t)b * X->cols,
                       (size_t)X->cols * sizeof *X->dense);
    int64_t at = X->csr.offset[a], other = X->csr.offset[b], count = X->csr.offset[a + 1] - at;
    if (count != X->csr.offset[b + 1] - other)
        return false;
    for (int64_t k = 0; k < count; k++)
        if (X->csr.column[at + k] != X->csr.column[other + k] ||
            X->csr.value[at + k] != X->csr.value[other + k])
            return false;
    return true;
}

static bool same_outside(const cbx_view *v, int32_t a, int32_t b)
{
    return (!v->outside_count || v->outside_count[a] == v->outside_count[b]) &&
           (!v->outside_weight || v->outside_weight[a] == v->outside_weight[b]);
}

static bool same_link(const cbx_partial_graph *g, int64_t a, int64_t b)
{
    return g->present[a] == g->present[b] && (g->choice_of[a] < 0) == (g->choice_of[b] < 0) &&
           g->paired[a] == g->paired[b] &&
           (!g->view->weight || g->view->weight[a] == g->view->weight[b]);
}

/* Walks through the links of a and b side by side: those to third nodes, and those between the two,
 * of which one way is the counterpart of the other. `same` says whether two slots are alike. */
static bool links_match(const cbx_symmetry *s, int32_t a, int32_t b,
                        bool (*same)(const void *user, int64_t x, int64_t y), const void *user)
{
    int64_t i = s->begin[a], k = s->begin[b], between[2][2] = {{-1, -1}, {-1, -1}};
    while (i < s->begin[a + 1] || k < s->begin[b + 1]) {
        const cbx_incidence *x = i < s->begin[a + 1] ? &s->links[i] : NULL;
        const cbx_incidence *y = k < s->begin[b + 1] ? &s->links[k] : NULL;
        if (x && x->other == b) {
            between[0][x->out] = x->slot;
            i++;
        } else if (y && y->other == a) {
            between[1][y->out] = y->slot;
            k++;
        } else if (!x || !y || x->other != y->other || x->out != y->out || x->other == a ||
                   y->other == b || !same(user, x->slot, y->slot)) {
            return false;
        } else {
            i++;
            k++;
        }
    }
    for (int out = 0; out < 2; out++)
        if ((between[0][out] < 0) != (between[1][out] < 0) ||
            (between[0][out] >= 0 && !same(user, between[0][out], between[1][out])))
            return false;
    return true;
}

static bool looks_alike(const void *user, int64_t x, int64_t y)
{
    return same_link(user, x, y);
}

static bool are_twins(const cbx_symmetry *s, const cbx_matrix *X, int32_t a, int32_t b)
{
    const cbx_partial_graph *g = s->graph;
    return s->begin[a + 1] - s->begin[a] == s->begin[b + 1] - s->begin[b] &&
           g->local[a] == g->local[b] && same_outside(g->view, a, b) &&
           links_match(s, a, b, looks_alike, g) && same_row(X, a, b);
}

/* Has it a choice at all? */
static bool is_chosen_at(const cbx_symmetry *s, int32_t v)
{
    for (int64_t k = s->begin[v]; k < s->begin[v + 1]; k++)
        if (s->graph->choice_of[s->links[k].slot] >= 0)
            return true;
    return false;
}

/* Rings of twins: each of a kind is compared with one that is in its ring already. */
static void find_rings(cbx_symmetry *s, const cbx_matrix *X, int32_t apart, int32_t *firsts)
{
    int32_t num_firsts = 0;
    for (int32_t v = 0; v < s->graph->view->n; v++) {
        s->next[v] = v;
        if (v == apart || !is_chosen_at(s, v))
            continue;
        int32_t k = 0;
        while (k < num_firsts && !are_twins(s, X, firsts[k], v))
            k++;
        if (k == num_firsts) {
            firsts[num_firsts++] = v;
            continue;
        }
        s->next[v] = s->next[firsts[k]];
        s->next[firsts[k]] = v;
        s->any = true;
    }
}

static bool has_edges_only(const cbx_partial_graph *g)
{
    for (int32_t c = 0; c < g->count; c++)
        if (g->choices[c].row >= 0)
            return false;
    return g->simple && !g->view->edge_attr && g->view->n <= MOST_NODES;
}

cbx_status cbx_symmetry_find(cbx_symmetry *s, const cbx_partial_graph *graph, const cbx_matrix *X,
                             int32_t apart, cbx_arena *arena, cbx_error *err)
{
    *s = (cbx_symmetry){.graph = graph};
    if (!has_edges_only(graph))
        return CBX_OK;
    int32_t  n = graph->view->n;
    int32_t *firsts = CBX_NEW(arena, int32_t, n);
    s->next = CBX_NEW(arena, int32_t, n);
    s->sides[0] = CBX_NEW(arena, int32_t, n);
    s->sides[1] = CBX_NEW(arena, int32_t, n);
    if (!firsts || !s->next || !s->sides[0] || !s->sides[1])
        return cbx_fail_memory(err);
    cbx_status status = list_links(s, arena, err);
    if (!status)
        find_rings(s, X, apart, firsts);
    return status;
}

/* ---- orbits */

typedef struct settled {
    const cbx_partial_graph *graph;
    const uint8_t           *fate;
} settled;

static bool has_same_fate(const void *user, int64_t x, int64_t y)
{
    const settled *s = user;
    int32_t        a = s->graph->choice_of[x], b = s->graph->choice_of[y];
    return a < 0 || s->fate[a] == s->fate[b];
}

/* The twins of a node at which the same was made and barred, and itself. */
static int32_t list_side(const cbx_symmetry *s, const uint8_t *fate, int32_t node, int32_t *out)
{
    settled as = {s->graph, fate};
    int32_t count = 0;
    out[count++] = node;
    for (int32_t v = s->next[node]; v != node; v = s->next[v])
        if (links_match(s, node, v, has_same_fate, &as))
            out[count++] = v;
    return count;
}

/* The choice with the edge from u to v, or -1. */
static int32_t choice_between(const cbx_symmetry *s, int32_t u, int32_t v)
{
    for (int64_t k = s->begin[u]; k < s->begin[u + 1]; k++)
        if (s->links[k].other == v && s->links[k].out)
            return s->graph->choice_of[s->links[k].slot];
    return -1;
}

int64_t cbx_symmetry_orbit(const cbx_symmetry *s, const uint8_t *fate, int32_t choice, int32_t *out)
{
    const cbx_partial_graph *g = s->graph;
    int64_t                  slot = g->slots[g->choices[choice].begin], count = 0;
    int32_t                  from = g->view->source[slot], to = g->target_of[slot];
    out[count++] = choice;
    if (!s->any || from == to || (s->next[from] == from && s->next[to] == to))
        return count;
    int32_t num_from = list_side(s, fate, from, s->sides[0]);
    int32_t num_to = list_side(s, fate, to, s->sides[1]);
    for (int32_t i = 0; i < num_from; i++)
        for (int32_t k = 0; k < num_to; k++) {
            int32_t c = choice_between(s, s->sides[0][i], s->sides[1][k]);
            bool    met = c < 0;
            for (int64_t at = 0; at < count && !met; at++)
                met = out[at] == c;
            if (!met)
                out[count++] = c;
        }
    return count;
}
