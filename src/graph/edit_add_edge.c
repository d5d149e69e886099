/* SPDX-License-Identifier: Apache-2.0 */
/* edit_add_edge.c: two nodes get an edge, or one each way. added.c puts it into a graph. */
#include <math.h>

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
    return (a->source > b->source) - (a->source < b->source);
}

static cbx_status fits(const cbx_edit *e, int64_t k, const cbx_graph_data *d, cbx_error *err)
{
    int32_t larger = e->source > e->target ? e->source : e->target;
    return larger < d->num_nodes ? CBX_OK
                                 : cbx_fail(err, CBX_INVALID, "edit %lld: the data has no node %d",
                                            (long long)k, larger);
}

/* It removes nothing, and whether it can be is asked where it is added. */
static cbx_status mark(const cbx_edit *e, int64_t k, const cbx_graph *graph,
                       const cbx_places *places, uint8_t *drop, cbx_error *err)
{
    (void)e, (void)k, (void)graph, (void)places, (void)drop, (void)err;
    return CBX_OK;
}

void cbx_edit_put_added(const cbx_edit *e, const char *source, const char *target,
                        cbx_json_writer *w)
{
    cbx_json_put_int(w, source, e->source);
    cbx_json_put_int(w, target, e->target);
    cbx_json_put_bool(w, "undirected", e->undirected);
    if (e->weight != 0)
        cbx_json_put_real(w, "weight", (double)e->weight);
}

cbx_status cbx_edit_read_added(const cbx_json *o, const char *source, const char *target,
                               cbx_edit *e, cbx_error *err)
{
    int64_t    from = 0, to = 0;
    cbx_status status = cbx_json_bool(o, "undirected", &e->undirected, err);
    if (!status)
        status = cbx_json_whole(o, source, INT32_MAX, CBX_JSON_REQUIRED, &from, err);
    if (!status)
        status = cbx_json_whole(o, target, INT32_MAX, CBX_JSON_REQUIRED, &to, err);
    if (!status && cbx_json_get(o, "weight"))
        status = cbx_json_float(o, "weight", &e->weight, err);
    e->source = (int32_t)from;
    e->target = (int32_t)to;
    e->edge = -1;
    return status;
}

static void put(const cbx_edit *e, cbx_json_writer *w)
{
    cbx_edit_put_added(e, "source", "target", w);
}

static cbx_status read(const cbx_json *o, cbx_edit *e, cbx_error *err)
{
    return cbx_edit_read_added(o, "source", "target", e, err);
}

const cbx_edit_kind cbx_edit_add_edge = {.name = "add_edge",
                                         .nodes = nodes,
                                         .compare = compare,
                                         .fits = fits,
                                         .mark = mark,
                                         .put = put,
                                         .read = read};
