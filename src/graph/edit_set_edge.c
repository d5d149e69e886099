/* SPDX-License-Identifier: Apache-2.0 */
/* edit_set_edge.c: an edge, or all edges between two nodes, gets another weight. reweighted.c gives
 * it to a graph. */
#include "edit_kind.h"
#include "error.h"
#include "json_fields.h"

static void nodes(const cbx_edit *e, int32_t ends[2])
{
    cbx_edit_remove_edge.nodes(e, ends);
}

static int compare(const cbx_edit *a, const cbx_edit *b)
{
    return cbx_edit_remove_edge.compare(a, b);
}

static cbx_status fits(const cbx_edit *e, int64_t k, const cbx_graph_data *d, cbx_error *err)
{
    return cbx_edit_remove_edge.fits(e, k, d, err);
}

/* It removes nothing, and whether it can be is asked where the weight is given. */
static cbx_status mark(const cbx_edit *e, int64_t k, const cbx_graph *graph,
                       const cbx_places *places, uint8_t *drop, cbx_error *err)
{
    (void)e, (void)k, (void)graph, (void)places, (void)drop, (void)err;
    return CBX_OK;
}

static void put(const cbx_edit *e, cbx_json_writer *w)
{
    cbx_edit_remove_edge.put(e, w);
    cbx_json_put_real(w, "weight", (double)e->weight);
}

static cbx_status read(const cbx_json *o, cbx_edit *e, cbx_error *err)
{
    cbx_status status = cbx_edit_remove_edge.read(o, e, err);
    return status ? status : cbx_json_float(o, "weight", &e->weight, err);
}

const cbx_edit_kind cbx_edit_set_edge = {.name = "set_edge",
                                         .nodes = nodes,
                                         .compare = compare,
                                         .fits = fits,
                                         .mark = mark,
                                         .put = put,
                                         .read = read};
