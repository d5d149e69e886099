/* SPDX-License-Identifier: Apache-2.0 */
/* shape_text.c: data sets whose files are lines of text. */
#include <stdio.h>

#include "shapes.h"

/* A line ends, or does not, or comes twice. */
static void end_line(fuzz_sheet *s)
{
    fuzz_put(s, "%s", fuzz_lies(s) ? (fuzz_below(s, 2) ? "" : "\n\n") : "\n");
}

/* As many lines as there are, or some more or less. */
static int64_t count_lines(fuzz_sheet *s, int64_t truth)
{
    return fuzz_lies(s) ? fuzz_below(s, truth + 3) : truth;
}

/* `first`: the number of the first node. */
static void put_edges(fuzz_sheet *s, int64_t nodes, int64_t first, const char *between)
{
    for (int64_t e = count_lines(s, 2 * nodes); e > 0; e--) {
        fuzz_put(s, "%lld%s%lld", (long long)fuzz_tell(s, first + fuzz_below(s, nodes)), between,
                 (long long)fuzz_tell(s, first + fuzz_below(s, nodes)));
        end_line(s);
    }
}

static void put_values(fuzz_sheet *s, int64_t columns, const char *between)
{
    char text[40];
    columns = count_lines(s, columns);
    for (int64_t j = 0; j < columns; j++)
        fuzz_put(s, "%s%s", j ? between : "",
                 fuzz_tell_text(s, (double)fuzz_below(s, 9) / 4, text));
}

void fuzz_shape_tu(fuzz_sheet *s)
{
    int64_t n = 2 + fuzz_below(s, 8), graphs = 1 + fuzz_below(s, 2), columns = 1 + fuzz_below(s, 3);
    int64_t half = graphs > 1 ? n / 2 : n;
    fuzz_part(s, "DS_A.txt");
    for (int64_t e = count_lines(s, n); e > 0; e--) { /* within the first graph */
        fuzz_put(s, "%lld, %lld", (long long)fuzz_tell(s, 1 + fuzz_below(s, half)),
                 (long long)fuzz_tell(s, 1 + fuzz_below(s, half)));
        end_line(s);
    }
    fuzz_part(s, "DS_graph_indicator.txt");
    for (int64_t i = 0; i < n; i++) {
        fuzz_put(s, "%lld", (long long)fuzz_tell(s, i < half ? 1 : 2));
        end_line(s);
    }
    fuzz_part(s, "DS_graph_labels.txt");
    for (int64_t g = count_lines(s, graphs); g > 0; g--) {
        fuzz_put(s, "%lld", (long long)fuzz_tell(s, g % 2));
        end_line(s);
    }
    if (fuzz_below(s, 2)) {
        fuzz_part(s, "DS_node_labels.txt");
        for (int64_t i = count_lines(s, n); i > 0; i--) {
            fuzz_put(s, "%lld", (long long)fuzz_tell(s, i % 3));
            end_line(s);
        }
    }
    fuzz_part(s, "DS_node_attributes.txt");
    for (int64_t i = count_lines(s, n); i > 0; i--) {
        put_values(s, columns, ", ");
        end_line(s);
    }
}

void fuzz_shape_csv(fuzz_sheet *s)
{
    static const char *const headings[] = {"id", "label",  "split", "x0", "",
                                           "\"", "target", "t0",    NULL};
    static const char *const kinds[] = {"Rome", "\"Oslo, \"\"NO\"\"\"", "", "1", "\"", "\xff\xfe",
                                        NULL};
    static const char *const splits[] = {"train", "val", "test", "", "tset", NULL};
    int64_t                  n = 2 + fuzz_below(s, 8), columns = 1 + fuzz_below(s, 3);
    char                     text[40], name[24];
    fuzz_part(s, "edges.csv");
    fuzz_put(s, "source,target%s\n", fuzz_below(s, 2) ? ",weight" : ",note");
    for (int64_t e = count_lines(s, n); e > 0; e--) {
        fuzz_put(s, "n%lld,n%lld,%s", (long long)fuzz_tell(s, fuzz_below(s, n)),
                 (long long)fuzz_tell(s, fuzz_below(s, n)), fuzz_tell_text(s, 0.5, text));
        end_line(s);
    }
    fuzz_part(s, "features.csv");
    fuzz_put(s, "%s", fuzz_tell_word(s, "id", headings));
    for (int64_t j = 0; j < columns; j++) {
        (void)snprintf(name, sizeof name, "x%lld", (long long)j);
        fuzz_put(s, ",%s", fuzz_tell_word(s, name, headings));
    }
    fuzz_put(s, ",%s,%s,%s\n", fuzz_tell_word(s, "town", headings),
             fuzz_tell_word(s, "label", headings), fuzz_tell_word(s, "split", headings));
    int64_t rows = count_lines(s, n);
    for (int64_t i = 0; i < rows; i++) {
        fuzz_put(s, "n%lld,", (long long)fuzz_tell(s, i));
        put_values(s, columns, ",");
        fuzz_put(s, ",%s,%s,%s", fuzz_tell_word(s, kinds[i % 2], kinds),
                 fuzz_tell_word(s, i % 2 ? "a" : "b", kinds),
                 fuzz_tell_word(s, splits[i % 3], splits));
        end_line(s);
    }
}

void fuzz_shape_ogb(fuzz_sheet *s)
{
    static const char *const parts[] = {"train", "valid", "test"};
    int64_t                  n = 2 + fuzz_below(s, 8), columns = 1 + fuzz_below(s, 3);
    char                     name[40];
    fuzz_part(s, "raw/edge.csv");
    put_edges(s, n, 0, ",");
    fuzz_part(s, "raw/num-node-list.csv");
    fuzz_put(s, "%lld\n", (long long)fuzz_tell(s, n));
    fuzz_part(s, "raw/node-feat.csv");
    for (int64_t i = count_lines(s, n); i > 0; i--) {
        put_values(s, columns, ",");
        end_line(s);
    }
    fuzz_part(s, "raw/node-label.csv");
    for (int64_t i = count_lines(s, n); i > 0; i--) {
        fuzz_put(s, "%lld", (long long)fuzz_tell(s, i % 2));
        end_line(s);
    }
    for (int part = 0; part < 3; part++) {
        (void)snprintf(name, sizeof name, "split/time/%s.csv", parts[part]);
        fuzz_part(s, name);
        for (int64_t i = part; i < n; i += 3) {
            fuzz_put(s, "%lld", (long long)fuzz_tell(s, i));
            end_line(s);
        }
    }
}

void fuzz_shape_linqs(fuzz_sheet *s)
{
    int64_t n = 2 + fuzz_below(s, 8), columns = 1 + fuzz_below(s, 3);
    fuzz_part(s, "c.content");
    for (int64_t i = 0; i < n; i++) {
        fuzz_put(s, "%lld\t", (long long)fuzz_tell(s, 10 + i));
        put_values(s, columns, "\t");
        fuzz_put(s, "%s", fuzz_lies(s) ? "" : i % 2 ? "\tAI" : "\tML");
        end_line(s);
    }
    fuzz_part(s, "c.cites");
    put_edges(s, n, 10, "\t");
}

void fuzz_shape_attributed(fuzz_sheet *s)
{
    int64_t n = 2 + fuzz_below(s, 8), columns = 1 + fuzz_below(s, 5);
    char    text[40];
    fuzz_part(s, "edgelist.txt");
    put_edges(s, n, 0, " ");
    fuzz_part(s, "labels.txt");
    for (int64_t i = 0; i < n; i++) {
        fuzz_put(s, "%lld %lld", (long long)fuzz_tell(s, i), (long long)fuzz_tell(s, 1 + i % 2));
        end_line(s);
    }
    fuzz_part(s, "tfidf.txt");
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < columns; j++) {
            fuzz_put(s, "%lld\t%lld\t%s", (long long)fuzz_tell(s, i), (long long)fuzz_tell(s, j),
                     fuzz_tell_text(s, 0.5, text));
            end_line(s);
        }
}

void fuzz_shape_geom_gcn(fuzz_sheet *s)
{
    int64_t n = 2 + fuzz_below(s, 8), columns = 1 + fuzz_below(s, 4);
    bool    listed = fuzz_below(s, 2);
    fuzz_part(s, "out1_node_feature_label.txt");
    fuzz_put(
        s, listed ? "node_id\tfeature(feature_amount:%lld)\tlabel\n" : "node_id\tfeature\tlabel\n",
        (long long)fuzz_tell(s, columns));
    for (int64_t i = 0; i < n; i++) {
        fuzz_put(s, "%lld\t", (long long)fuzz_tell(s, i));
        if (listed)
            fuzz_put(s, "%lld", (long long)fuzz_tell(s, fuzz_below(s, columns)));
        else
            put_values(s, columns, ",");
        fuzz_put(s, "\t%lld", (long long)fuzz_tell(s, i % 2));
        end_line(s);
    }
    fuzz_part(s, "out1_graph_edges.txt");
    fuzz_put(s, "node_id\tnode_id\n");
    put_edges(s, n, 0, "\t");
}
