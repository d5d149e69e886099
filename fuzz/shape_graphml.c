/* SPDX-License-Identifier: Apache-2.0 */
/* GraphML with keys of numbers and of texts. */
#include "shapes.h"

static const char *const types[] = {"double", "int", "boolean", "string", "float",
                                    "long",   "",    "table",   NULL};
static const char *const names[] = {"age",   "class",  "label", "name", "id",
                                    "split", "weight", "y",     "",     NULL};
static const char *const places[] = {"node", "edge", "all", "graph", "port", "", NULL};
static const char *const texts[] = {"a",           "",    "true",  "no", "1",
                                    "&amp;&#228;", "nan", "train", NULL};

static void put_key(fuzz_sheet *s, int64_t k)
{
    char text[40];
    fuzz_put(s, "<key id=\"k%lld\" for=\"%s\" attr.name=\"%s%lld\" attr.type=\"%s\">",
             (long long)fuzz_tell_key(s, k), fuzz_tell_word(s, "node", places),
             fuzz_tell_word(s, "f", names), (long long)fuzz_tell_key(s, k),
             fuzz_tell_word(s, k % 2 ? "string" : "double", types));
    if (fuzz_below(s, 2))
        fuzz_put(s, "<default>%s</default>",
                 k % 2 ? fuzz_tell_word(s, "a", texts) : fuzz_tell_text(s, 0.5, text));
    fuzz_put(s, "</key>\n");
}

/* Of even keys numbers, of odd ones a text, which becomes a column for each that occurs. */
static void put_data(fuzz_sheet *s, int64_t node, int64_t k, int64_t column)
{
    double value = (double)fuzz_below(s, 9) / 4;
    char   text[40];
    if (k % 2)
        fuzz_true_x(s, node, column + node % 2, 1);
    else
        fuzz_true_x(s, node, column, value);
    if (!fuzz_lies(s))
        fuzz_put(s, "<data key=\"k%lld\">%s</data>", (long long)fuzz_tell_key(s, k),
                 k % 2 ? fuzz_tell_word(s, node % 2 ? "b" : "a", texts)
                       : fuzz_tell_text(s, value, text));
}

static void put_nodes(fuzz_sheet *s, int64_t n, int64_t keys)
{
    static const char *const elements[] = {"node", "edge", "graph",   "data",
                                           "key",  "y:a",  "default", NULL};
    for (int64_t i = 0; i < n; i++) {
        const char *element = fuzz_tell_word(s, "node", elements);
        fuzz_put(s, "<%s id=\"n%lld\">", element, (long long)fuzz_tell_key(s, i));
        for (int64_t k = 0, column = 0; k < keys; column += 1 + k % 2, k++)
            put_data(s, i, k, column);
        if (fuzz_lies(s))
            fuzz_put(s, "<graph><node id=\"n%lld\"/></graph>", (long long)fuzz_below(s, n));
        if (fuzz_lies(s))
            fuzz_put(s, "<data key=\"k0\">%s</data>", fuzz_tell_name(s, "1"));
        fuzz_true_y(s, i, i % 2);
        fuzz_put(s, "<data key=\"c\">%lld</data></%s>\n", (long long)fuzz_tell_key(s, i % 2),
                 element);
    }
}

static void put_edges(fuzz_sheet *s, int64_t n, bool directed)
{
    char text[40];
    for (int64_t e = fuzz_below(s, 2 * n); e > 0; e--) {
        int64_t from = fuzz_below(s, n), to = fuzz_below(s, n);
        double  weight = (double)(1 + fuzz_below(s, 8)) / 4;
        from = fuzz_tell_key(s, from); /* what only edges name is a node, too */
        to = fuzz_tell_key(s, to);
        fuzz_true_edge(s, from, to, weight);
        if (!directed && from != to)
            fuzz_true_edge(s, to, from, weight);
        fuzz_put(s, "<edge source=\"n%lld\" target=\"n%lld\"><data key=\"%s\">%s</data></edge>\n",
                 (long long)from, (long long)to, fuzz_lies(s) ? "k0" : "w",
                 fuzz_tell_text(s, weight, text));
    }
}

void fuzz_shape_graphml(fuzz_sheet *s)
{
    int64_t n = 2 + fuzz_below(s, 8), keys = 1 + fuzz_below(s, 4);
    bool    directed = fuzz_below(s, 2);
    fuzz_part(s, "g.graphml");
    fuzz_put(s, "<graphml>\n");
    for (int64_t k = 0; k < keys; k++)
        put_key(s, k);
    fuzz_put(s, "<key id=\"c\" for=\"node\" attr.name=\"class\" attr.type=\"%s\"/>\n",
             fuzz_tell_word(s, "int", types));
    fuzz_put(s, "<key id=\"w\" for=\"edge\" attr.name=\"weight\" attr.type=\"%s\"/>\n",
             fuzz_tell_word(s, "double", types));
    fuzz_put(s, "<graph edgedefault=\"%s\">\n", directed ? "directed" : "undirected");
    put_nodes(s, n, keys);
    put_edges(s, n, directed);
    fuzz_put(s, "</graph></graphml>\n");
    fuzz_true_size(s, n, keys + keys / 2);
}
