/* SPDX-License-Identifier: Apache-2.0 */
/* edit_add_node.c: a graph gets one node more: a copy of the node `source`, as it was before any
 * edit, with an edge to the node `target`, or one each way. with_nodes.c puts it into a graph. */
#include "edit_kind.h"
#include "error.h"
#include "json_fields.h"

static void nodes(const cbx_edit *e, int32_t ends[2])
{
    cbx_edit_add_edge.nodes(e, ends);
}

static int compare(const cbx_edit *a, const cbx_edit *b)
{
    return cbx_edit_add_edge.compare(a, b);
}

static cbx_status fits(const cbx_edit *e, int64_t k, const cbx_graph_data *d, cbx_error *err)
{
    return cbx_edit_add_edge.fits(e, k, d, err);
}

/* It removes nothing, and whether it can be is asked where it is added. */
static cbx_status mark(const cbx_edit *e, int64_t k, const cbx_graph *graph,
                       const cbx_places *places, uint8_t *drop, cbx_error *err)
{
    return cbx_edit_add_edge.mark(e, k, graph, places, drop, err);
}

static void put(const cbx_edit *e, cbx_json_writer *w)
{
    cbx_json_put_int(w, "copy_of", e->source);
    cbx_json_put_int(w, "to", e->target);
    cbx_json_put_bool(w, "undirected", e->undirected);
    if (e->weight != 0)
        cbx_json_put_real(w, "weight", (double)e->weight);
}

static cbx_status read(const cbx_json *o, cbx_edit *e, cbx_error *err)
{
    int64_t    copied = 0, to = 0;
    cbx_status status = cbx_json_bool(o, "undirected", &e->undirected, err);
    if (!status)
        status = cbx_json_whole(o, "copy_of", INT32_MAX, CBX_JSON_REQUIRED, &copied, err);
    if (!status)
        status = cbx_json_whole(o, "to", INT32_MAX, CBX_JSON_REQUIRED, &to, err);
    if (!status && cbx_json_get(o, "weight"))
        status = cbx_json_float(o, "weight", &e->weight, err);
    e->source = (int32_t)copied;
    e->target = (int32_t)to;
    e->edge = -1;
    return status;
}

const cbx_edit_kind cbx_edit_add_node = {.name = "add_node",
                                         .nodes = nodes,
                                         .compare = compare,
                                         .fits = fits,
                                         .mark = mark,
                                         .put = put,
                                         .read = read};
