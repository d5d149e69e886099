/* SPDX-License-Identifier: Apache-2.0 */
/* edit_add_node.c: a graph gets one node more: a copy of the node `source`, as it was before any
 * edit, with an edge to the node `target`, or one each way. with_nodes.c puts it into a graph. */
#include "edit_kind.h"

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
    cbx_edit_put_added(e, "copy_of", "to", w);
}

static cbx_status read(const cbx_json *o, cbx_edit *e, cbx_error *err)
{
    return cbx_edit_read_added(o, "copy_of", "to", e, err);
}

const cbx_edit_kind cbx_edit_add_node = {.name = "add_node",
                                         .nodes = nodes,
                                         .compare = compare,
                                         .fits = fits,
                                         .mark = mark,
                                         .put = put,
                                         .read = read};
