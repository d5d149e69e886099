/* SPDX-License-Identifier: Apache-2.0 */
/* edit_set_edge.c: an edge, or all edges between two nodes, gets another weight, or another value
 * of one of its attributes; where these tell kinds of edge apart, by one that is 1 and others that
 * are 0, it becomes one of another kind. reweighted.c gives it to a graph. */
#include "edge_columns.h"
#include "edit_kind.h"
#include "error.h"
#include "json_fields.h"

static void nodes(const cbx_edit *e, int32_t ends[2])
{
    cbx_edit_remove_edge.nodes(e, ends);
}

static int compare(const cbx_edit *a, const cbx_edit *b)
{
    int ends = cbx_edit_remove_edge.compare(a, b);
    return ends ? ends : (a->attribute > b->attribute) - (a->attribute < b->attribute);
}

static cbx_status fits(const cbx_edit *e, int64_t k, const cbx_graph_data *d, cbx_error *err)
{
    cbx_status status = cbx_edit_remove_edge.fits(e, k, d, err);
    if (!status && e->attribute && cbx_edit_column(e) >= (d->edge_attr ? d->edge_dim : 0))
        status = cbx_fail(err, CBX_INVALID,
                          "edit %lld sets attribute %d of an edge, and edges of this data have %d",
                          (long long)k, cbx_edit_column(e), d->edge_attr ? d->edge_dim : 0);
    return status;
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
    if (e->attribute)
        cbx_json_put_int(w, "attribute", cbx_edit_column(e));
    if (e->attribute < 0)
        cbx_json_put_bool(w, "one_hot", true);
    cbx_json_put_real(w, e->attribute ? "to" : "weight", (double)e->weight);
}

static cbx_status read(const cbx_json *o, cbx_edit *e, cbx_error *err)
{
    bool       one_hot = false;
    int64_t    column = -1;
    cbx_status status = cbx_edit_remove_edge.read(o, e, err);
    if (!status)
        status = cbx_json_whole(o, "attribute", INT16_MAX - 1, -1, &column, err);
    if (!status)
        status = cbx_json_bool(o, "one_hot", &one_hot, err);
    e->attribute = (int16_t)(one_hot ? -(column + 1) : column + 1);
    return status ? status : cbx_json_float(o, column >= 0 ? "to" : "weight", &e->weight, err);
}

const cbx_edit_kind cbx_edit_set_edge = {.name = "set_edge",
                                         .nodes = nodes,
                                         .compare = compare,
                                         .fits = fits,
                                         .mark = mark,
                                         .put = put,
                                         .read = read};
