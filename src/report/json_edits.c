/* SPDX-License-Identifier: Apache-2.0 */
/* json_edits.c: a list of edits as JSON. */
#include <math.h>

#include "edge_columns.h"
#include "edit_kind.h"
#include "report.h"

void cbx_json_put_edits(cbx_json_writer *w, const cbx_counterfactual *c, const cbx_graph_data *d)
{
    cbx_json_open(w, "edits", '[');
    for (int64_t k = 0; k < c->num_edits; k++) {
        const cbx_edit      *e = &c->edits[k];
        const cbx_edit_kind *kind = cbx_edit_kind_of(e);
        const char          *name = kind->label ? kind->label(e, d) : NULL;
        cbx_json_open(w, NULL, '{');
        cbx_json_put_text(w, "op", kind->name);
        if (e->op == CBX_SET_EDGE && e->attribute) {
            float before = cbx_edit_attribute_before(e, d);
            if (!isnan(before))
                cbx_json_put_real(w, "from", (double)before);
        }
        kind->put(e, w);
        cbx_json_put_real(w, "influence", (double)e->influence);
        if (name)
            cbx_json_put_name(w, name);
        cbx_json_close(w, '}');
    }
    cbx_json_close(w, ']');
}
