/* SPDX-License-Identifier: Apache-2.0 */
/* attributes.c: see attributes.h. */
#include "attributes.h"

#include "number.h"

void cbx_each_feature(const cbx_writing *w, cbx_text_out *out, int32_t node, cbx_each_value each)
{
    const cbx_graph_data *d = &w->edited->data;
    if (d->x) {
        const float *row = d->x + (int64_t)node * d->num_features;
        for (int32_t j = 0; j < d->num_features; j++)
            if (row[j] != 0)
                each(out, j, row[j]);
        return;
    }
    for (int64_t k = d->x_indptr[node]; k < d->x_indptr[node + 1]; k++)
        if (d->x_values[k] != 0)
            each(out, d->x_indices[k], d->x_values[k]);
}

void cbx_put_changes(const cbx_writing *w, cbx_text_out *out, int32_t node,
                     void (*put)(cbx_text_out *, const char *), const char *between)
{
    const cbx_edit *edit;
    int64_t         count = cbx_writing_edits(w, node, &edit);
    for (int64_t i = 0; i < count; i++, edit++) {
        cbx_label buffer;
        char      text[80];
        (void)cbx_print(text, sizeof text, ": %.6g -> %.6g", (double)edit->from, (double)edit->to);
        if (i)
            cbx_text_put(out, between);
        put(out, cbx_writing_feature(w, edit->feature, buffer));
        put(out, text);
    }
}
