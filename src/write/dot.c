/* SPDX-License-Identifier: Apache-2.0 */
/* dot.c: Graphviz: names and classes, no features but those that edits change.
 * Removed edges are dashed and red, changed nodes red with their changes. */
#include "attributes.h"

static const char *const colours[] = {"#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6",
                                      "#ffff99", "#1f78b4", "#33a02c", "#ff7f00"};

static void put_quoted(cbx_text_out *out, const char *text)
{
    for (; *text; text++) {
        char one[3] = {*text, 0, 0};
        if (*text == '"' || *text == '\\') {
            one[0] = '\\';
            one[1] = *text;
        } else if ((unsigned char)*text < 32) {
            one[0] = ' ';
        }
        cbx_text_put(out, one);
    }
}

static void node(const cbx_writing *w, cbx_text_out *out, int32_t i)
{
    const cbx_graph_data *d = &w->graph->data;
    const cbx_edit       *edits;
    cbx_label             buffer, number;
    const char *class = cbx_writing_class(w, i, buffer);
    bool    changed = cbx_writing_edits(w, i, &edits) > 0;
    int32_t row = d->task == CBX_GRAPH ? cbx_graph_of_node(w->graph, i) : i;
    cbx_text_print(out, "  %d [label=\"", i);
    put_quoted(out, cbx_writing_node(w, i, number));
    if (changed) {
        cbx_text_put(out, "\\n");
        cbx_put_changes(w, out, i, put_quoted, "\\n");
    }
    cbx_text_put(out, "\"");
    if (class) {
        cbx_text_put(out, " class=\"");
        put_quoted(out, class);
        cbx_text_print(out, "\" fillcolor=\"%s\"",
                       colours[d->y[row] % (int64_t)(sizeof colours / sizeof *colours)]);
    }
    if (cbx_writing_lost(w, i))
        cbx_text_put(out, " style=dashed fontcolor=\"#d62728\"");
    if (cbx_writing_came(w, i))
        cbx_text_put(out, " color=\"#2ca02c\" penwidth=3");
    cbx_text_put(out,
                 changed || cbx_writing_lost(w, i) ? " color=\"#d62728\" penwidth=3];\n" : "];\n");
}

static cbx_status write(const cbx_writing *w)
{
    cbx_text_out          out;
    const cbx_graph_data *d = &w->graph->data;
    cbx_status            status = cbx_text_open(&out, w->path, w->err);
    if (status)
        return status;
    cbx_text_put(&out, w->pairs ? "graph {\n" : "digraph {\n");
    cbx_text_put(&out, "  overlap=false;\n  node [style=filled fillcolor=white];\n");
    for (int32_t i = 0; i < d->num_nodes; i++)
        node(w, &out, i);
    for (int64_t e = 0; e < cbx_writing_edges(w); e++) {
        cbx_written_edge edge;
        if (cbx_writing_edge(w, e, &edge))
            cbx_text_print(&out, "  %lld %s %lld%s;\n", (long long)edge.source,
                           w->pairs ? "--" : "->", (long long)edge.target,
                           edge.removed ? " [style=dashed color=\"#d62728\"]"
                           : edge.added ? " [style=bold color=\"#2ca02c\"]"
                                        : "");
    }
    cbx_text_put(&out, "}\n");
    return cbx_text_close(&out);
}

const cbx_writer cbx_writer_dot = {
    .name = "dot",
    .about = "Graphviz",
    .ending = ".dot",
    .write = write,
};
