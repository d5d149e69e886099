/* SPDX-License-Identifier: Apache-2.0 */
/* edit_remove_node.c: a node goes, and all its edges with it. Numbers of nodes, in this edit and in
 * those beside it, are those of the graph as it was. without_nodes.c takes it out. */
#include "edit_kind.h"
#include "error.h"
#include "json_fields.h"

static void nodes(const cbx_edit *e, int32_t ends[2])
{
    ends[0] = ends[1] = e->node;
}

static int compare(const cbx_edit *a, const cbx_edit *b)
{
    return (a->node > b->node) - (a->node < b->node);
}

static cbx_status fits(const cbx_edit *e, int64_t k, const cbx_graph_data *d, cbx_error *err)
{
    return e->node < d->num_nodes ? CBX_OK
                                  : cbx_fail(err, CBX_INVALID, "edit %lld: the data has no node %d",
                                             (long long)k, e->node);
}

static cbx_status mark(const cbx_edit *e, int64_t k, const cbx_graph *graph,
                       const cbx_places *places, uint8_t *drop, cbx_error *err)
{
    const cbx_view *v = places->view;
    int32_t         i = e->node < 0 ? -1 : cbx_places_find(places, e->node);
    (void)graph;
    if (i < 0)
        return cbx_fail(err, CBX_INVALID, "edit %lld: there is no node %d here", (long long)k,
                        e->node);
    for (int64_t s = v->offset[i]; s < v->offset[i + 1]; s++)
        drop[s] = 1;
    for (int64_t o = v->out_offset[i]; o < v->out_offset[i + 1]; o++)
        drop[v->out_slot[o]] = 1;
    return CBX_OK;
}

static void put(const cbx_edit *e, cbx_json_writer *w)
{
    cbx_json_put_int(w, "node", e->node);
}

static cbx_status read(const cbx_json *o, cbx_edit *e, cbx_error *err)
{
    int64_t    node = 0;
    cbx_status status = cbx_json_whole(o, "node", INT32_MAX, CBX_JSON_REQUIRED, &node, err);
    e->node = (int32_t)node;
    return status;
}

const cbx_edit_kind cbx_edit_remove_node = {.name = "remove_node",
                                            .nodes = nodes,
                                            .compare = compare,
                                            .fits = fits,
                                            .mark = mark,
                                            .put = put,
                                            .read = read};
