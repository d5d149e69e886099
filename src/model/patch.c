/* SPDX-License-Identifier: Apache-2.0 */
/* patch.c: what removing edges does to an embedding; see embedding.h.
 *
 * Removing edges changes degrees at their ends, and with them the values of slots into
 * and out of those nodes: V is the set of rows of A that are not what they were. A layer
 * that looks r hops then changes the rows within r - 1 steps (with the arrows) of V and
 * within r steps of the rows that the layer before changed. Those rows, and no others, are
 * computed, by the layer's own code on a small view: they come first, and the nodes that
 * they are computed from behind them, by hop. */
#include <string.h>

#include "deadline.h"
#include "embedding.h"
#include "error.h"

/* Multiplications in the time of an edge that is followed. */
static const double EDGE = 20;

/* ---- sets of nodes */

static int make_set(cbx_fresh_rows *set, int32_t n, cbx_arena *arena)
{
    set->nodes = CBX_NEW(arena, int32_t, n);
    set->place = CBX_NEW0(arena, int32_t, n);
    return set->nodes && set->place ? 0 : -1;
}

static void add(cbx_fresh_rows *set, int32_t node)
{
    if (set->place[node])
        return;
    set->nodes[set->count++] = node;
    set->place[node] = set->count;
}

static void clear(cbx_fresh_rows *set)
{
    for (int32_t i = 0; i < set->count; i++)
        set->place[set->nodes[i]] = 0;
    set->count = 0;
}

/* Adds what is within `steps` steps, with the arrows. */
static void spread(cbx_fresh_rows *set, const cbx_view *v, int32_t steps)
{
    for (int32_t begin = 0; steps > 0; steps--) {
        int32_t end = set->count;
        for (int32_t i = begin; i < end; i++) {
            int32_t j = set->nodes[i];
            if (cbx_out_of_time(EDGE * (double)(v->out_offset[j + 1] - v->out_offset[j])))
                return;
            for (int64_t o = v->out_offset[j]; o < v->out_offset[j + 1]; o++)
                add(set, v->out_target[o]);
        }
        begin = end;
    }
}

static void add_all(cbx_fresh_rows *set, const cbx_fresh_rows *others)
{
    for (int32_t i = 0; i < others->count; i++)
        add(set, others->nodes[i]);
}

/* ---- memory */

static int copy_floats(float **to, const float *from, int64_t count, cbx_arena *arena)
{
    if (!from)
        return 0;
    *to = CBX_NEW(arena, float, count);
    if (*to)
        memcpy(*to, from, (size_t)count * sizeof **to);
    return *to ? 0 : -1;
}

static int copy_norm(cbx_patch *P, const cbx_norm *base, cbx_arena *arena)
{
    cbx_norm *norm = &P->norms[base->kind];
    int32_t   n = P->view.n;
    *norm = *base;
    norm->view = &P->view;
    if (base->kind == CBX_NORM_NONE) { /* its values are the weights */
        norm->value = P->w;
        return 0;
    }
    return copy_floats(&norm->value, base->value, P->view.m, arena) ||
           copy_floats(&norm->root, base->root, n, arena) ||
           copy_floats(&norm->diag, base->diag, n, arena) ||
           copy_floats(&norm->loop, base->loop, n, arena);
}

cbx_status cbx_patch_init(cbx_patch *P, const cbx_embedding *E, cbx_arena *arena, cbx_error *err)
{
    int32_t n = E->view.n, L = E->model->num_layers;
    int64_t m = E->view.m;
    *P = (cbx_patch){.E = E, .view = E->view};
    P->gone = CBX_NEW0(arena, uint8_t, m);
    P->outside_count = CBX_NEW0(arena, float, n);
    P->fresh = CBX_NEW0(arena, cbx_fresh_rows, L);
    bool ok = P->gone && P->outside_count && P->fresh && !make_set(&P->touched, n, arena) &&
              !make_set(&P->rows, n, arena) && !make_set(&P->local, n, arena);
    for (int32_t l = 0; l < L && ok; l++)
        ok = !make_set(&P->fresh[l], n, arena);
    ok = ok && !copy_floats(&P->w, E->pass.unit, m, arena);
    for (int k = 0; k < CBX_NORM_COUNT && ok; k++)
        ok = !E->pass.uses[k] || !copy_norm(P, &E->pass.norms[k], arena);
    P->view.outside_count = P->outside_count;
    return ok ? CBX_OK : cbx_fail_memory(err);
}

void cbx_patch_free(cbx_patch *P)
{
    cbx_arena_free(&P->scratch);
}

/* ---- the adjacency */

/* Puts the weights and degrees right again, or makes them those without the edges. */
static void toggle(cbx_patch *P, const cbx_lost_edge *edges, int64_t count, bool gone)
{
    for (int64_t k = 0; k < count; k++) {
        int64_t e = edges[k].slot;
        P->gone[e] = gone;
        P->w[e] = gone ? 0 : P->E->pass.unit[e];
        P->outside_count[edges[k].target] += gone ? -1 : 1;
    }
    for (int k = 0; k < CBX_NORM_COUNT; k++) {
        if (!P->E->pass.uses[k])
            continue;
        for (int32_t i = 0; i < P->touched.count; i++)
            cbx_norm_update_degree(&P->norms[k], P->w, P->touched.nodes[i]);
        for (int32_t i = 0; i < P->rows.count; i++)
            cbx_norm_update_values(&P->norms[k], P->w, P->rows.nodes[i]);
    }
}

static void find_rows(cbx_patch *P, const cbx_lost_edge *edges, int64_t count)
{
    bool both_ends = P->E->pass.uses[CBX_NORM_GCN] || P->E->pass.uses[CBX_NORM_CHEB];
    clear(&P->touched);
    clear(&P->rows);
    for (int64_t k = 0; k < count; k++) {
        add(&P->touched, edges[k].target);
        if (both_ends)
            add(&P->touched, P->view.source[edges[k].slot]);
    }
    add_all(&P->rows, &P->touched);
    if (both_ends) /* a degree counts at the far end of a slot, too */
        spread(&P->rows, &P->view, 1);
}

/* ---- a layer */

/* A small view: the nodes of P->local, by hop, and their edges within `hops` hops. */
typedef struct small {
    cbx_view      view;
    cbx_adjacency A;
} small;

/* -1: no time. */
static int64_t take_edges(cbx_patch *P, const cbx_norm *norm, int32_t inner, int64_t *offset,
                          int32_t *source, float *value)
{
    const cbx_view *v = &P->view;
    int64_t         m = 0;
    for (int32_t i = 0; i < P->local.count; i++) {
        int32_t t = P->local.nodes[i];
        if (cbx_out_of_time(EDGE * (double)(v->offset[t + 1] - v->offset[t])))
            return -1;
        if (offset)
            offset[i] = m;
        for (int64_t e = v->offset[t]; e < v->offset[t + 1] && i < inner; e++) {
            if (P->gone[e])
                continue;
            if (source) {
                source[m] = P->local.place[v->source[e]] - 1;
                value[m] = norm->value[e];
            }
            m++;
        }
    }
    if (offset)
        offset[P->local.count] = m;
    return m;
}

static int make_small(cbx_patch *P, const cbx_norm *norm, const cbx_fresh_rows *wanted,
                      int32_t hops, small *out)
{
    const cbx_view *v = &P->view;
    int32_t        *prefix = CBX_NEW(&P->scratch, int32_t, hops + 1);
    if (!prefix)
        return -1;
    clear(&P->local);
    add_all(&P->local, wanted);
    prefix[0] = P->local.count;
    for (int32_t h = 1, begin = 0; h <= hops; h++) {
        int32_t end = P->local.count;
        for (int32_t i = begin; i < end; i++) {
            int32_t t = P->local.nodes[i];
            if (cbx_out_of_time(EDGE * (double)(v->offset[t + 1] - v->offset[t])))
                return -1;
            for (int64_t e = v->offset[t]; e < v->offset[t + 1]; e++)
                if (!P->gone[e])
                    add(&P->local, v->source[e]);
        }
        begin = end;
        prefix[h] = P->local.count;
    }
    int32_t n = P->local.count, inner = hops > 0 ? prefix[hops - 1] : 0;
    int64_t m = take_edges(P, norm, inner, NULL, NULL, NULL);
    if (m < 0)
        return -1;
    int64_t *offset = CBX_NEW(&P->scratch, int64_t, n + 1);
    int32_t *source = CBX_NEW(&P->scratch, int32_t, m);
    float   *value = CBX_NEW(&P->scratch, float, m);
    float   *diag = norm->diag ? CBX_NEW(&P->scratch, float, n) : NULL;
    if (!offset || !source || !value || (norm->diag && !diag))
        return -1;
    if (take_edges(P, norm, inner, offset, source, value) < 0)
        return -1;
    for (int32_t i = 0; i < n && diag; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): made where that is */
        diag[i] = norm->diag[P->local.nodes[i]];
    out->view = (cbx_view){
        .n = n, .m = m, .offset = offset, .source = source, .hops = hops, .prefix = prefix};
    out->A = (cbx_adjacency){.offset = offset, .source = source, .value = value, .diag = diag};
    return 0;
}

/* Rows of the small view out of a table of all nodes, or, where they are fresh, out of
 * those. */
static float *gather(cbx_patch *P, const float *table, const cbx_fresh_rows *fresh,
                     const float *values, int32_t width)
{
    int32_t n = P->local.count;
    float  *to = CBX_NEW(&P->scratch, float, (size_t)n *(size_t)width);
    for (int32_t i = 0; i < n && to; i++) {
        int32_t      node = P->local.nodes[i], at = fresh ? fresh->place[node] : 0;
        const float *from = at ? values + (int64_t)(at - 1) * width : table + (int64_t)node * width;
        memcpy(to + (int64_t)i * width, from, (size_t)width * sizeof *to);
    }
    return to;
}

/* The input as products with the layer's matrices, of which only fresh rows are new. */
static int gather_products(cbx_patch *P, int32_t l, cbx_product_cache *cache)
{
    const cbx_embedding  *E = P->E;
    const cbx_layer      *layer = &E->model->layers[l];
    const cbx_fresh_rows *before = l > 0 ? &P->fresh[l - 1] : NULL;
    const float          *W = layer->theta;
    cbx_parameter         p;
    int32_t               k = 0, count = before ? before->count : 0;
    *cache = (cbx_product_cache){.products = CBX_NEW(&P->scratch, cbx_product, E->matrices[l]),
                                 .count = E->matrices[l]};
    if (!cache->products)
        return -1;
    for (int32_t i = 0; cbx_block_parameter(layer, i, &p); i++) {
        if (p.of_input) {
            float *fresh = CBX_NEW(&P->scratch, float, (size_t)count *(size_t)p.cols);
            if (!fresh)
                return -1;
            if (count)
                cbx_gemm_nn(count, p.cols, layer->n_in, before->values, W, fresh, false, 1);
            float *H = gather(P, E->product[l][k], before, fresh, p.cols);
            if (!H)
                return -1;
            cache->products[k++] =
                (cbx_product){.W = W, .H = H, .rows = P->local.count, .width = p.cols};
        }
        W += cbx_parameter_size(&p);
    }
    return 0;
}

/* The input's rows themselves. */
static float *gather_input(cbx_patch *P, int32_t l)
{
    const cbx_embedding *E = P->E;
    int32_t              f = E->model->layers[l].n_in, n = P->local.count;
    if (l > 0)
        return gather(P, E->pass.out[l - 1], &P->fresh[l - 1], P->fresh[l - 1].values, f);
    if (E->X.dense)
        return gather(P, E->X.dense, NULL, NULL, f);
    float *to = CBX_NEW0(&P->scratch, float, (size_t)n *(size_t)f);
    for (int32_t i = 0; i < n && to; i++) {
        int32_t node = P->local.nodes[i];
        for (int64_t e = E->X.csr.offset[node]; e < E->X.csr.offset[node + 1]; e++)
            to[(int64_t)i * f + E->X.csr.column[e]] = E->X.csr.value[e];
    }
    return to;
}

static int run_layer(cbx_patch *P, int32_t l)
{
    const cbx_embedding *E = P->E;
    const cbx_layer     *layer = &E->model->layers[l];
    cbx_fresh_rows      *fresh = &P->fresh[l];
    small                part;
    cbx_product_cache    cache;
    if (make_small(P, &P->norms[layer->ops->norm(layer)], fresh, layer->ops->reach(layer), &part))
        return -1;
    cbx_matrix X = cbx_matrix_dense(part.view.n, layer->n_in, NULL);
    cbx_step   s = {.view = &part.view,
                    .A = part.A,
                    .rows_out = fresh->count,
                    .rows_in = part.view.n,
                    .X = &X,
                    .threads = 1};
    if (E->matrices[l]) {
        if (gather_products(P, l, &cache))
            return -1;
        X.cache = &cache;
        X.dense = cache.products[0].H; /* says "dense"; nobody reads it */
    } else if (!(X.dense = gather_input(P, l))) {
        return -1;
    }
    int64_t size = (int64_t)fresh->count * layer->n_out;
    s.saved = CBX_NEW(&P->scratch, float, cbx_block_saved(layer, &s));
    s.Y = fresh->values = CBX_NEW(&P->scratch, float, size);
    if (!s.saved || !s.Y)
        return -1;
    cbx_block_forward(layer, &s);
    cbx_relu(size, s.Y, 1);
    return 0;
}

/* ---- all of it */

cbx_status cbx_patch_remove(cbx_patch *P, const cbx_lost_edge *edges, int64_t count, cbx_error *err)
{
    const cbx_model *model = P->E->model;
    int              failed = 0;
    cbx_arena_reset(&P->scratch);
    find_rows(P, edges, count);
    toggle(P, edges, count, true);
    for (int32_t l = 0; l < model->num_layers; l++)
        clear(&P->fresh[l]);
    for (int32_t l = 0; l < model->num_layers && !failed; l++) {
        int32_t         reach = model->layers[l].ops->reach(&model->layers[l]);
        cbx_fresh_rows *fresh = &P->fresh[l];
        if (l > 0) {
            add_all(fresh, &P->fresh[l - 1]);
            spread(fresh, &P->view, reach);
        }
        if (reach > 0) { /* where layers are alike the one before has reached these */
            add_all(fresh, &P->rows);
            spread(fresh, &P->view, reach - 1);
        }
        failed = fresh->count ? run_layer(P, l) : 0;
    }
    toggle(P, edges, count, false);
    return failed ? cbx_fail_late(err) : CBX_OK;
}

const float *cbx_patch_row(const cbx_patch *P, int32_t node)
{
    const cbx_fresh_rows *last = &P->fresh[P->E->model->num_layers - 1];
    int32_t               at = last->place[node];
    return at ? last->values + (int64_t)(at - 1) * P->E->width : cbx_embedding_row(P->E, node);
}
