/* SPDX-License-Identifier: Apache-2.0 */
/* GML. */
#include "shapes.h"

static const char *const names[] = {"age",   "class",  "label", "name", "id",
                                    "split", "weight", "y",     "",     NULL};
static const char *const texts[] = {"a",           "",    "true",  "no", "1",
                                    "&amp;&#228;", "nan", "train", NULL};

/* Of even words numbers, of odd ones a text, which becomes a column for each that occurs. */
static void put_word(fuzz_sheet *s, int64_t node, int64_t k, int64_t column)
{
    double value = (double)fuzz_below(s, 9) / 4;
    char   text[40];
    if (k % 2)
        fuzz_true_x(s, node, column + node % 2, 1);
    else
        fuzz_true_x(s, node, column, value);
    if (fuzz_lies(s))
        fuzz_put(s, " %s [ x 1 y [ z \"%s\" ] ]", fuzz_tell_word(s, "graphics", names),
                 fuzz_tell_name(s, "a"));
    else if (k % 2)
        fuzz_put(s, " t%lld \"%s\"", (long long)k, fuzz_tell_word(s, node % 2 ? "b" : "a", texts));
    else
        fuzz_put(s, " v%lld %s", (long long)fuzz_tell_key(s, k), fuzz_tell_text(s, value, text));
}

void fuzz_shape_gml(fuzz_sheet *s)
{
    int64_t n = 2 + fuzz_below(s, 8), words = 1 + fuzz_below(s, 4), directed = fuzz_below(s, 2);
    char    text[40];
    fuzz_part(s, "g.gml");
    fuzz_put(s, "Creator \"f\"\ngraph [ directed %lld\n", (long long)fuzz_tell_key(s, directed));
    for (int64_t i = 0; i < n; i++) {
        fuzz_put(s, "node [");
        if (!fuzz_lies(s))
            fuzz_put(s, " id %lld", (long long)fuzz_tell_key(s, i));
        for (int64_t k = 0, column = 0; k < words; column += 1 + k % 2, k++)
            put_word(s, i, k, column);
        fuzz_true_y(s, i, i % 2);
        fuzz_put(s, " class %lld ]\n", (long long)fuzz_tell_key(s, i % 2));
    }
    for (int64_t e = fuzz_below(s, 2 * n); e > 0; e--) {
        int64_t from = fuzz_below(s, n), to = fuzz_below(s, n);
        double  weight = (double)(1 + fuzz_below(s, 8)) / 4;
        from = fuzz_tell(s, from);
        to = fuzz_tell(s, to);
        fuzz_true_edge(s, from, to, weight);
        if (!directed && from != to)
            fuzz_true_edge(s, to, from, weight);
        fuzz_put(s, "edge [ source %lld target %lld weight %s ]\n", (long long)from, (long long)to,
                 fuzz_tell_text(s, weight, text));
    }
    fuzz_put(s, "]\n");
    fuzz_true_size(s, n, words + words / 2);
}
