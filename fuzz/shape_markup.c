/* SPDX-License-Identifier: Apache-2.0 */
/* shape_markup.c: GraphML and GML. */
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
             (long long)fuzz_tell(s, k), fuzz_tell_word(s, "node", places),
             fuzz_tell_word(s, "f", names), (long long)fuzz_tell(s, k),
             fuzz_tell_word(s, k % 2 ? "string" : "double", types));
    if (fuzz_below(s, 2))
        fuzz_put(s, "<default>%s</default>", fuzz_tell_text(s, 0.5, text));
    fuzz_put(s, "</key>\n");
}

void fuzz_shape_graphml(fuzz_sheet *s)
{
    static const char *const elements[] = {"node", "edge", "graph",   "data",
                                           "key",  "y:a",  "default", NULL};
    int64_t                  n = 1 + fuzz_below(s, 8), keys = 1 + fuzz_below(s, 4);
    char                     text[40];
    fuzz_part(s, "g.graphml");
    fuzz_put(s, "<graphml>\n");
    for (int64_t k = 0; k < keys; k++)
        put_key(s, k);
    fuzz_put(s,
             "<key id=\"w\" for=\"edge\" attr.name=\"weight\" attr.type=\"%s\"/>\n<graph "
             "edgedefault=\"%s\">\n",
             fuzz_tell_word(s, "double", types), fuzz_below(s, 2) ? "directed" : "undirected");
    for (int64_t i = 0; i < n; i++) {
        const char *element = fuzz_tell_word(s, "node", elements);
        fuzz_put(s, "<%s id=\"n%lld\">", element, (long long)fuzz_tell(s, i));
        for (int64_t k = 0; k < keys; k++)
            if (!fuzz_lies(s))
                fuzz_put(s, "<data key=\"k%lld\">%s</data>", (long long)fuzz_tell(s, k),
                         k % 2 ? fuzz_tell_word(s, "a", texts) : fuzz_tell_text(s, 1.5, text));
        if (fuzz_lies(s))
            fuzz_put(s, "<graph><node id=\"n%lld\"/></graph>", (long long)fuzz_below(s, n));
        fuzz_put(s, "</%s>\n", element);
    }
    for (int64_t e = fuzz_below(s, 2 * n); e > 0; e--)
        fuzz_put(s, "<edge source=\"n%lld\" target=\"n%lld\"><data key=\"%s\">%s</data></edge>\n",
                 (long long)fuzz_tell(s, fuzz_below(s, n)),
                 (long long)fuzz_tell(s, fuzz_below(s, n)), fuzz_lies(s) ? "k0" : "w",
                 fuzz_tell_text(s, 0.5, text));
    fuzz_put(s, "</graph></graphml>\n");
}

static void put_word(fuzz_sheet *s, int64_t k)
{
    char text[40];
    if (fuzz_lies(s))
        fuzz_put(s, " %s [ x 1 y [ z \"%s\" ] ]", fuzz_tell_word(s, "graphics", names),
                 fuzz_tell_word(s, "a", texts));
    else if (k % 2)
        fuzz_put(s, " t%lld \"%s\"", (long long)k, fuzz_tell_word(s, "a", texts));
    else
        fuzz_put(s, " v%lld %s", (long long)k, fuzz_tell_text(s, 1.5, text));
}

void fuzz_shape_gml(fuzz_sheet *s)
{
    int64_t n = 1 + fuzz_below(s, 8), words = fuzz_below(s, 4);
    char    text[40];
    fuzz_part(s, "g.gml");
    fuzz_put(s, "Creator \"f\"\ngraph [ directed %lld\n",
             (long long)fuzz_tell(s, fuzz_below(s, 2)));
    for (int64_t i = 0; i < n; i++) {
        fuzz_put(s, "node [");
        if (!fuzz_lies(s))
            fuzz_put(s, " id %lld", (long long)fuzz_tell(s, i));
        for (int64_t k = 0; k < words; k++)
            put_word(s, fuzz_lies(s) ? k + 1 : k);
        fuzz_put(s, " ]\n");
    }
    for (int64_t e = fuzz_below(s, 2 * n); e > 0; e--)
        fuzz_put(s, "edge [ source %lld target %lld weight %s ]\n",
                 (long long)fuzz_tell(s, fuzz_below(s, n)),
                 (long long)fuzz_tell(s, fuzz_below(s, n)), fuzz_tell_text(s, 0.5, text));
    fuzz_put(s, "]\n");
}
