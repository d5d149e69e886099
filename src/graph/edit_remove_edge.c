/* SPDX-License-Identifier: Apache-2.0 */
/* edit_remove_edge.c: an edge goes, or all edges between two nodes. */
#include "edit_kind.h"
#include "error.h"
#include "json_fields.h"

static void nodes(const cbx_edit *e, int32_t ends[2])
{
    ends[0] = e->source;
    ends[1] = e->target;
}

static int compare(const cbx_edit *a, const cbx_edit *b)
{
    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return (a->edge > b->edge) - (a->edge < b->edge);
}

static cbx_status fits(const cbx_edit *e, int64_t k, const cbx_graph_data *d, cbx_error *err)
{
    int32_t larger = e->source > e->target ? e->source : e->target;
    return larger < d->num_nodes ? CBX_OK
                                 : cbx_fail(err, CBX_INVALID, "edit %lld: the data has no node %d",
                                            (long long)k, larger);
}

static int64_t mark_slots(const cbx_view *v, int32_t source, int32_t target, int64_t edge,
                          uint8_t *drop)
{
    int64_t found = 0;
    for (int64_t o = cbx_view_find_target(v, source, target);
         o < v->out_offset[source + 1] && v->out_target[o] == target; o++) {
        int64_t e = v->out_slot[o];
        if (edge < 0 || (v->edge ? v->edge[e] : e) == edge) {
            drop[e] = 1;
            found++;
        }
    }
    return found;
}

static cbx_status mark(const cbx_edit *e, int64_t k, const cbx_graph *graph,
                       const cbx_places *places, uint8_t *drop, cbx_error *err)
{
    const cbx_view *view = places->view;
    int32_t         s = cbx_places_find(places, e->source), t = cbx_places_find(places, e->target);
    int64_t found = s < 0 || t < 0 ? 0 : mark_slots(view, s, t, e->undirected ? -1 : e->edge, drop);
    (void)graph;
    if (e->undirected && s >= 0 && t >= 0)
        found += mark_slots(view, t, s, -1, drop);
    return found ? CBX_OK
                 : cbx_fail(err, CBX_INVALID,
                            "edit %lld: there is no edge from node %d to node %d here",
                            (long long)k, e->source, e->target);
}

static void put(const cbx_edit *e, cbx_json_writer *w)
{
    cbx_json_put_int(w, "source", e->source);
    cbx_json_put_int(w, "target", e->target);
    cbx_json_put_bool(w, "undirected", e->undirected);
    if (e->edge >= 0) /* tells apart edges with the same ends */
        cbx_json_put_int(w, "edge", e->edge);
}

static cbx_status read(const cbx_json *o, cbx_edit *e, cbx_error *err)
{
    int64_t    source = 0, target = 0, id = -1;
    cbx_status status = cbx_json_bool(o, "undirected", &e->undirected, err);
    if (!status)
        status = cbx_json_whole(o, "source", INT32_MAX, CBX_JSON_REQUIRED, &source, err);
    if (!status)
        status = cbx_json_whole(o, "target", INT32_MAX, CBX_JSON_REQUIRED, &target, err);
    if (!status)
        status = cbx_json_whole(o, "edge", INT64_MAX, -1, &id, err);
    e->source = (int32_t)source;
    e->target = (int32_t)target;
    e->edge = e->undirected ? -1 : id;
    return status;
}

const cbx_edit_kind cbx_edit_remove_edge = {.name = "remove_edge",
                                            .nodes = nodes,
                                            .compare = compare,
                                            .fits = fits,
                                            .mark = mark,
                                            .put = put,
                                            .read = read};
