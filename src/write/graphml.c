/* SPDX-License-Identifier: Apache-2.0 */
/* graphml.c: GraphML, for Gephi, Cytoscape, yEd, NetworkX and igraph. Zeros are left
 * to the attributes' defaults. */
#include "attributes.h"

#include <stdio.h>

static void key(cbx_text_out *out, const char *id, const char *of, const char *name,
                const char *type, const char *fallback)
{
    cbx_text_print(out, "  <key id=\"%s\" for=\"%s\" attr.name=\"", id, of);
    cbx_text_xml(out, name);
    cbx_text_print(out, "\" attr.type=\"%s\">%s%s%s</key>\n", type, fallback ? "<default>" : "",
                   fallback ? fallback : "", fallback ? "</default>" : "");
}

static void keys(const cbx_writing *w, cbx_text_out *out)
{
    const cbx_graph_data *d = &w->graph->data;
    cbx_label             buffer, id;
    for (int32_t j = 0; j < d->num_features; j++) {
        (void)snprintf(id, sizeof id, "f%d", j);
        key(out, id, "node", cbx_writing_feature(w, j, buffer), "double", "0");
    }
    if (d->node_names)
        key(out, "name", "node", "label", "string", NULL);
    if (d->y)
        key(out, "class", "node", "class", "string", NULL);
    if (d->num_splits == 1 && d->task == CBX_NODE)
        key(out, "split", "node", "split", "string", NULL);
    if (d->task == CBX_GRAPH)
        key(out, "graph", "node", "graph", "int", NULL);
    if (cbx_writing_weighted(w))
        key(out, "weight", "edge", "weight", "double", NULL);
    if (w->removed) {
        key(out, "changed", "node", "changed", "boolean", "false");
        key(out, "changes", "node", "changes", "string", "");
        key(out, "removed", "edge", "removed", "boolean", "false");
        if (w->lost)
            key(out, "lost", "node", "removed", "boolean", "false");
        if (w->came)
            key(out, "came", "node", "added", "boolean", "false");
        if (w->num_added || w->num_came)
            key(out, "added", "edge", "added", "boolean", "false");
    }
}

static void put_feature(cbx_text_out *out, int32_t feature, float value)
{
    cbx_text_print(out, "<data key=\"f%d\">", feature);
    cbx_text_float(out, value);
    cbx_text_put(out, "</data>");
}

static void put_text(cbx_text_out *out, const char *id, const char *text)
{
    if (!text)
        return;
    cbx_text_print(out, "<data key=\"%s\">", id);
    cbx_text_xml(out, text);
    cbx_text_put(out, "</data>");
}

static void node(const cbx_writing *w, cbx_text_out *out, int32_t i)
{
    const cbx_graph_data *d = &w->graph->data;
    const cbx_edit       *edits;
    cbx_label             buffer;
    cbx_text_print(out, "    <node id=\"n%d\">", i);
    if (d->node_names)
        put_text(out, "name", d->node_names[i]);
    put_text(out, "class", cbx_writing_class(w, i, buffer));
    put_text(out, "split", cbx_writing_split(w, i));
    if (d->task == CBX_GRAPH)
        cbx_text_print(out, "<data key=\"graph\">%d</data>", cbx_graph_of_node(w->graph, i));
    cbx_each_feature(w, out, i, put_feature);
    if (cbx_writing_lost(w, i))
        cbx_text_put(out, "<data key=\"lost\">true</data>");
    if (cbx_writing_came(w, i))
        cbx_text_put(out, "<data key=\"came\">true</data>");
    if (cbx_writing_edits(w, i, &edits)) {
        cbx_text_put(out, "<data key=\"changed\">true</data><data key=\"changes\">");
        cbx_put_changes(w, out, i, cbx_text_xml, "; ");
        cbx_text_put(out, "</data>");
    }
    cbx_text_put(out, "</node>\n");
}

static void edge(const cbx_writing *w, cbx_text_out *out, int64_t e)
{
    cbx_written_edge it;
    if (!cbx_writing_edge(w, e, &it))
        return;
    cbx_text_print(out, "    <edge source=\"n%lld\" target=\"n%lld\">", (long long)it.source,
                   (long long)it.target);
    if (cbx_writing_weighted(w)) {
        cbx_text_put(out, "<data key=\"weight\">");
        cbx_text_float(out, it.weight);
        cbx_text_put(out, "</data>");
    }
    if (it.removed)
        cbx_text_put(out, "<data key=\"removed\">true</data>");
    if (it.added)
        cbx_text_put(out, "<data key=\"added\">true</data>");
    cbx_text_put(out, "</edge>\n");
}

static cbx_status write(const cbx_writing *w)
{
    cbx_text_out out;
    cbx_status   status = cbx_text_open(&out, w->path, w->err);
    if (status)
        return status;
    cbx_text_put(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                       "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n");
    keys(w, &out);
    cbx_text_print(&out, "  <graph edgedefault=\"%s\">\n", w->pairs ? "undirected" : "directed");
    for (int32_t i = 0; i < w->graph->data.num_nodes; i++)
        node(w, &out, i);
    for (int64_t e = 0; e < cbx_writing_edges(w); e++)
        edge(w, &out, e);
    cbx_text_put(&out, "  </graph>\n</graphml>\n");
    return cbx_text_close(&out);
}

const cbx_writer cbx_writer_graphml = {
    .name = "graphml",
    .about = "GraphML, for Gephi, Cytoscape, yEd, NetworkX and igraph",
    .ending = ".graphml",
    .write = write,
};
