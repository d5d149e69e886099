/* SPDX-License-Identifier: Apache-2.0 */
/* json_edits.c: a list of edits as JSON. */
#include "report.h"

static void put_edge(cbx_json_writer *w, const cbx_edit *e)
{
    cbx_json_put_text(w, "op", "remove_edge");
    cbx_json_put_int(w, "source", e->source);
    cbx_json_put_int(w, "target", e->target);
    cbx_json_put_bool(w, "undirected", e->undirected);
    if (e->edge >= 0) /* tells apart edges with the same ends */
        cbx_json_put_int(w, "edge", e->edge);
}

static void put_feature(cbx_json_writer *w, const cbx_edit *e)
{
    cbx_json_put_text(w, "op", "set_feature");
    cbx_json_put_int(w, "node", e->node);
    cbx_json_put_int(w, "feature", e->feature);
    cbx_json_put_real(w, "from", (double)e->from);
    cbx_json_put_real(w, "to", (double)e->to);
    if (e->group > 0)
        cbx_json_put_int(w, "group", e->group - 1);
}

void cbx_json_put_edits(cbx_json_writer *w, const cbx_counterfactual *c, const cbx_graph_data *d)
{
    cbx_json_open(w, "edits", '[');
    for (int64_t k = 0; k < c->num_edits; k++) {
        const cbx_edit *e = &c->edits[k];
        bool            feature = e->op == CBX_SET_FEATURE;
        cbx_json_open(w, NULL, '{');
        if (feature)
            put_feature(w, e);
        else
            put_edge(w, e);
        cbx_json_put_real(w, "influence", (double)e->influence);
        if (feature && d->feature_names && e->feature < d->num_features)
            cbx_json_put_name(w, d->feature_names[e->feature]);
        cbx_json_close(w, '}');
    }
    cbx_json_close(w, ']');
}
