/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of any kind. Facts, of each value: its kind, then the number, or the length of the text,
 * or how many members there are, and theirs. */
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "shapes.h"

enum { DEEPEST = 4 };

static void put_text(fuzz_sheet *s, const char *truth)
{
    static const char *const others[] = {
        "\\u12",    "\\ud800", "\\udc00\\ud800", "\\x", "\xff", "\n", "\\u0000",
        "\xc0\x80", "\\",      "\xed\xa0\x80",   NULL};
    fuzz_put(s, "\"%s\"", fuzz_tell_word(s, truth, others));
}

static void put_leaf(fuzz_sheet *s)
{
    static const char *const texts[] = {"", "abc", "\\u00e4\\n", "\\ud83d\\ude00"};
    static const size_t      lengths[] = {0, 3, 3, 4};
    int64_t                  which = fuzz_below(s, 4), whole = fuzz_below(s, 1000) - 500;
    double                   real = (double)whole + 0.5;
    char                     text[40];
    switch (fuzz_below(s, 4)) {
    case 0:
        fuzz_fact(s, CBX_JSON_TEXT);
        fuzz_fact(s, (double)lengths[which]);
        put_text(s, texts[which]);
        break;
    case 1:
        fuzz_fact(s, CBX_JSON_INTEGER);
        fuzz_put(s, "%lld", (long long)fuzz_tell_fact(s, whole));
        break;
    case 2:
        fuzz_fact(s, CBX_JSON_REAL);
        fuzz_fact(s, real);
        fuzz_put(s, "%s", fuzz_tell_text(s, real, text));
        break;
    default:
        fuzz_fact(s, CBX_JSON_BOOL);
        fuzz_fact(s, (double)(which % 2));
        fuzz_put(s, "%s", which % 2 ? "true" : "false");
    }
}

static void put_value(fuzz_sheet *s, int depth)
{
    int64_t kind = depth < DEEPEST ? fuzz_below(s, 3) : 0, count = fuzz_below(s, 4);
    char    key[24];
    if (kind == 0) {
        put_leaf(s);
        return;
    }
    bool object = kind == 2;
    fuzz_fact(s, object ? CBX_JSON_OBJECT : CBX_JSON_LIST);
    fuzz_fact(s, (double)count);
    fuzz_put(s, object ? "{" : "[");
    for (int64_t k = 0; k < count; k++) {
        fuzz_put(s, "%s", !k || fuzz_lies(s) ? "" : ", ");
        if (object) {
            (void)snprintf(key, sizeof key, "k%lld", (long long)(fuzz_lies(s) ? 0 : k));
            put_text(s, key);
            fuzz_put(s, "%s", fuzz_lies(s) ? "" : ":");
        }
        put_value(s, depth + 1);
    }
    fuzz_put(s, "%s", object == !fuzz_lies(s) ? "}" : "]");
}

void fuzz_shape_json(fuzz_sheet *s)
{
    put_value(s, 0);
}
