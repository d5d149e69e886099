/* SPDX-License-Identifier: Apache-2.0 */
/* gexf.c: GEXF 1.3, for Gephi: removed edges and changed nodes are red, added edges
 * and nodes green. */
#include "attributes.h"

#include <stdio.h>

static void attribute(cbx_text_out *out, const char *id, const char *title, const char *type,
                      const char *fallback)
{
    cbx_text_print(out, "      <attribute id=\"%s\" title=\"", id);
    cbx_text_xml(out, title);
    cbx_text_print(out, "\" type=\"%s\">%s%s%s</attribute>\n", type, fallback ? "<default>" : "",
                   fallback ? fallback : "", fallback ? "</default>" : "");
}

static void attributes(const cbx_writing *w, cbx_text_out *out)
{
    const cbx_graph_data *d = &w->graph->data;
    cbx_label             buffer, id;
    cbx_text_put(out, "    <attributes class=\"node\">\n");
    for (int32_t j = 0; j < d->num_features; j++) {
        (void)snprintf(id, sizeof id, "f%d", j);
        attribute(out, id, cbx_writing_feature(w, j, buffer), "double", "0");
    }
    if (d->y)
        attribute(out, "class", "class", "string", NULL);
    if (d->task == CBX_GRAPH)
        attribute(out, "graph", "graph", "integer", NULL);
    if (w->removed) {
        attribute(out, "changed", "changed", "boolean", "false");
        attribute(out, "changes", "changes", "string", NULL);
        if (w->lost)
            attribute(out, "lost", "removed", "boolean", "false");
        if (w->came)
            attribute(out, "came", "added", "boolean", "false");
    }
    cbx_text_put(out, "    </attributes>\n");
    if (w->removed) {
        cbx_text_put(out, "    <attributes class=\"edge\">\n");
        attribute(out, "removed", "removed", "boolean", "false");
        if (w->num_added || w->num_came)
            attribute(out, "added", "added", "boolean", "false");
        cbx_text_put(out, "    </attributes>\n");
    }
}

static void put_value(cbx_text_out *out, int32_t feature, float value)
{
    cbx_text_print(out, "<attvalue for=\"f%d\" value=\"", feature);
    cbx_text_float(out, value);
    cbx_text_put(out, "\"/>");
}

static void node(const cbx_writing *w, cbx_text_out *out, int32_t i)
{
    const cbx_edit *edits;
    cbx_label       buffer;
    const char *class = cbx_writing_class(w, i, buffer);
    bool      changed = cbx_writing_edits(w, i, &edits) > 0;
    cbx_label number;
    cbx_text_print(out, "      <node id=\"%d\" label=\"", i);
    cbx_text_xml(out, cbx_writing_node(w, i, number));
    cbx_text_put(out, "\"><attvalues>");
    if (class) {
        cbx_text_put(out, "<attvalue for=\"class\" value=\"");
        cbx_text_xml(out, class);
        cbx_text_put(out, "\"/>");
    }
    if (w->graph->data.task == CBX_GRAPH)
        cbx_text_print(out, "<attvalue for=\"graph\" value=\"%d\"/>",
                       cbx_graph_of_node(w->graph, i));
    cbx_each_feature(w, out, i, put_value);
    if (changed) {
        cbx_text_put(out, "<attvalue for=\"changed\" value=\"true\"/>"
                          "<attvalue for=\"changes\" value=\"");
        cbx_put_changes(w, out, i, cbx_text_xml, "; ");
        cbx_text_put(out, "\"/>");
    }
    if (cbx_writing_lost(w, i))
        cbx_text_put(out, "<attvalue for=\"lost\" value=\"true\"/>");
    if (cbx_writing_came(w, i))
        cbx_text_put(out, "<attvalue for=\"came\" value=\"true\"/>");
    cbx_text_put(out, "</attvalues>");
    if (cbx_writing_came(w, i))
        cbx_text_put(out, "<viz:color r=\"44\" g=\"160\" b=\"44\"/>");
    if (changed || cbx_writing_lost(w, i))
        cbx_text_put(out, "<viz:color r=\"214\" g=\"39\" b=\"40\"/>");
    cbx_text_put(out, "</node>\n");
}

static void edge(const cbx_writing *w, cbx_text_out *out, int64_t e)
{
    cbx_written_edge it;
    if (!cbx_writing_edge(w, e, &it))
        return;
    cbx_text_print(out, "      <edge id=\"%lld\" source=\"%lld\" target=\"%lld\"", (long long)e,
                   (long long)it.source, (long long)it.target);
    if (cbx_writing_weighted(w)) {
        cbx_text_put(out, " weight=\"");
        cbx_text_float(out, it.weight);
        cbx_text_put(out, "\"");
    }
    if (it.added)
        cbx_text_put(out, "><attvalues><attvalue for=\"added\" value=\"true\"/></attvalues>"
                          "<viz:color r=\"44\" g=\"160\" b=\"44\"/></edge>\n");
    else if (it.removed)
        cbx_text_put(out, "><attvalues><attvalue for=\"removed\" value=\"true\"/></attvalues>"
                          "<viz:color r=\"214\" g=\"39\" b=\"40\"/></edge>\n");
    else
        cbx_text_put(out, "/>\n");
}

static cbx_status write(const cbx_writing *w)
{
    cbx_text_out out;
    cbx_status   status = cbx_text_open(&out, w->path, w->err);
    if (status)
        return status;
    cbx_text_put(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                       "<gexf xmlns=\"http://gexf.net/1.3\" xmlns:viz=\"http://gexf.net/1.3/viz\" "
                       "version=\"1.3\">\n");
    cbx_text_print(&out, "  <graph defaultedgetype=\"%s\">\n",
                   w->pairs ? "undirected" : "directed");
    attributes(w, &out);
    cbx_text_put(&out, "    <nodes>\n");
    for (int32_t i = 0; i < w->graph->data.num_nodes; i++)
        node(w, &out, i);
    cbx_text_put(&out, "    </nodes>\n    <edges>\n");
    for (int64_t e = 0; e < cbx_writing_edges(w); e++)
        edge(w, &out, e);
    cbx_text_put(&out, "    </edges>\n  </graph>\n</gexf>\n");
    return cbx_text_close(&out);
}

const cbx_writer cbx_writer_gexf = {
    .name = "gexf",
    .about = "GEXF, for Gephi",
    .ending = ".gexf",
    .write = write,
};
