/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that 'explain --json' may have written, about the graph that the target has: six nodes,
 * three features, three classes. Facts, of each line: row, outcome, target, classes before and
 * after, edits; of each edit its numbers. */
#include "shapes.h"

enum { NODES = 6, CLASSES = 3 };

static const char *const outcomes[] = {"found", "not_found", "skipped", "cancelled",
                                       "lost",  "",          NULL};
static const char *const sums[] = {
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde",
    "0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF", "", NULL};

static void put_side(fuzz_sheet *s, const char *key, int64_t class)
{
    char    text[40];
    int64_t count = fuzz_lies(s) ? fuzz_below(s, 5) : CLASSES;
    fuzz_put(s, ",\"%s\":{\"class\":%lld,\"name\":\"%s\",\"probabilities\":[", key,
             (long long)class, fuzz_tell_name(s, "a"));
    for (int64_t k = 0; k < count; k++)
        fuzz_put(s, "%s%s", k ? "," : "", fuzz_tell_text(s, k == class ? 0.5 : 0.25, text));
    fuzz_put(s, "]}");
}

static void put_edge(fuzz_sheet *s)
{
    int64_t near = fuzz_below(s, NODES), undirected = fuzz_below(s, 2);
    int64_t node = fuzz_tell_fact(s, near), to = fuzz_tell_fact(s, (near + 1) % NODES);
    fuzz_fact(s, (double)undirected);
    fuzz_put(s, "{\"op\":\"%s_edge\",\"source\":%lld,\"target\":%lld,\"undirected\":%s",
             fuzz_below(s, 4) ? "remove" : "add", (long long)node, (long long)to,
             fuzz_lies(s) ? "1"
             : undirected ? "true"
                          : "false");
    if (fuzz_lies(s))
        fuzz_put(s, ",\"edge\":%lld", (long long)fuzz_tell(s, fuzz_below(s, 14)));
}

static void put_change(fuzz_sheet *s)
{
    int64_t node = fuzz_tell_fact(s, fuzz_below(s, NODES));
    int64_t column = fuzz_tell_fact(s, fuzz_below(s, 3));
    double  from = (double)fuzz_below(s, 9) / 4, to = (double)fuzz_below(s, 9) / 4;
    char    text[2][40];
    fuzz_fact(s, from);
    fuzz_fact(s, to);
    fuzz_put(s, "{\"op\":\"set_feature\",\"node\":%lld,\"feature\":%lld,\"from\":%s,\"to\":%s",
             (long long)node, (long long)column, fuzz_tell_text(s, from, text[0]),
             fuzz_tell_text(s, to, text[1]));
    if (fuzz_lies(s))
        fuzz_put(s, ",\"group\":%lld", (long long)fuzz_tell(s, 0));
}

static void put_edits(fuzz_sheet *s, int64_t count)
{
    char text[40];
    fuzz_put(s, ",\"edits\":%s", fuzz_lies(s) ? "{}" : "[");
    for (int64_t k = 0; k < count; k++) {
        fuzz_put(s, "%s", k ? "," : "");
        if (fuzz_below(s, 2))
            put_edge(s);
        else
            put_change(s);
        fuzz_put(s, ",\"influence\":%s}", fuzz_lies(s) ? "null" : fuzz_tell_text(s, 0.5, text));
    }
    fuzz_put(s, "]");
}

static void put_answer(fuzz_sheet *s)
{
    int64_t row = fuzz_tell_fact(s, fuzz_below(s, NODES)), outcome = fuzz_below(s, 4);
    int64_t class = fuzz_below(s, CLASSES), edits = outcome ? 0 : 1 + fuzz_below(s, 3);
    bool any = fuzz_below(s, 2);
    fuzz_fact(s, (double)outcome);
    int64_t target = any ? -1 : fuzz_tell(s, (class + 1) % CLASSES);
    fuzz_fact(s, (double)target);
    int64_t before = fuzz_tell_fact(s, class);
    int64_t after = outcome ? before : fuzz_tell(s, (class + 1) % CLASSES);
    fuzz_fact(s, (double)after);
    fuzz_fact(s, (double)edits);
    fuzz_put(s, "{\"%s\":%lld,\"status\":\"%s\"", fuzz_lies(s) ? "graph" : "node", (long long)row,
             fuzz_tell_word(s, outcomes[outcome], outcomes));
    if (any)
        fuzz_put(s, ",\"target\":\"%s\"", fuzz_tell_name(s, "any"));
    else
        fuzz_put(s, ",\"target\":%lld", (long long)target);
    if (!fuzz_lies(s))
        put_side(s, "before", before);
    if (!outcome || fuzz_lies(s))
        put_side(s, fuzz_lies(s) ? "before" : "after", after);
    put_edits(s, edits);
    fuzz_put(s, ",\"data_sha256\":\"%s\",\"model_sha256\":\"%s\"}\n",
             fuzz_tell_word(s, sums[0], sums), fuzz_tell_word(s, sums[0], sums));
}

void fuzz_shape_replay(fuzz_sheet *s)
{
    for (int64_t lines = 1 + fuzz_below(s, 3); lines > 0; lines--)
        put_answer(s);
}
