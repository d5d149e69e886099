/* SPDX-License-Identifier: Apache-2.0 */
/* json_edits.c: a list of edits as JSON.
 *
 * A published setting can find half a million edits. As jansson's objects they would take ten
 * times the memory of their text and most of the time of an explanation, so they are written
 * as they come. */
#include <math.h>
#include <stdlib.h>

#include "number.h"
#include "report.h"
#include "json.h"
#include "utf8.h"

/* A number in nine digits, with which every float comes back, and with a point or an exponent, as
 * jansson writes reals. */
static void put_number(cbx_buffer *b, float value)
{
    if (!isfinite(value)) {
        cbx_buffer_put(b, "null");
        return;
    }
    if (value == 0 || value == 1) { /* most of them */
        cbx_buffer_put(b, value == 1 ? "1.0" : signbit(value) ? "-0.0" : "0.0");
        return;
    }
    char text[40], out[48];
    (void)cbx_print(text, sizeof text, "%.9g", (double)value);
    size_t size = 0;
    bool   real = false;
    for (const char *c = text; *c; c++) {
        real = real || *c == '.' || *c == 'e';
        out[size++] = *c;
        if (*c == 'e') /* jansson has e20 and e-5 for e+20 and e-05 */
            for (; c[1] == '+' || c[1] == '-' || c[1] == '0'; c++)
                if (c[1] == '-')
                    out[size++] = '-';
    }
    if (!real) {
        out[size++] = '.';
        out[size++] = '0';
    }
    cbx_buffer_add(b, out, size);
}

/* JSON is UTF-8: a name that is not has no place in it. */
static void put_name(cbx_buffer *b, const char *name)
{
    if (!cbx_is_utf8(name))
        return;
    json_t *string = json_string(name);
    size_t  size;
    char   *text = cbx_json_text(string, JSON_ENCODE_ANY, &size);
    if (text) {
        cbx_buffer_put(b, ",\"name\":");
        cbx_buffer_add(b, text, size);
    } else {
        b->failed = true;
    }
    free(text);
    json_decref(string);
}

static void put_edge(cbx_buffer *b, const cbx_edit *e)
{
    cbx_buffer_print(b, "{\"op\":\"remove_edge\",\"source\":%d,\"target\":%d,\"undirected\":%s",
                     (int)e->source, (int)e->target, e->undirected ? "true" : "false");
    if (e->edge >= 0) /* tells apart edges with the same ends */
        cbx_buffer_print(b, ",\"edge\":%lld", (long long)e->edge);
}

static void put_feature(cbx_buffer *b, const cbx_edit *e)
{
    cbx_buffer_print(b,
                     "{\"op\":\"set_feature\",\"node\":%d,\"feature\":%d,\"from\":", (int)e->node,
                     (int)e->feature);
    put_number(b, e->from);
    cbx_buffer_put(b, ",\"to\":");
    put_number(b, e->to);
    if (e->group > 0)
        cbx_buffer_print(b, ",\"group\":%d", (int)e->group - 1);
}

void cbx_json_edits(cbx_buffer *b, const cbx_counterfactual *c, const cbx_graph_data *d)
{
    cbx_buffer_put(b, "[");
    for (int64_t k = 0; k < c->num_edits && !b->failed; k++) {
        const cbx_edit *e = &c->edits[k];
        bool            feature = e->op == CBX_SET_FEATURE;
        if (k > 0)
            cbx_buffer_put(b, ",");
        if (feature)
            put_feature(b, e);
        else
            put_edge(b, e);
        cbx_buffer_put(b, ",\"influence\":");
        put_number(b, e->influence);
        if (feature && d->feature_names && e->feature < d->num_features)
            put_name(b, d->feature_names[e->feature]);
        cbx_buffer_put(b, "}");
    }
    cbx_buffer_put(b, "]");
}
