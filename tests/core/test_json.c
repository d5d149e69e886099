/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader: what it takes, what it refuses and where, and that it agrees
 * with jansson on texts that were damaged at random. */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "test.h"

static const cbx_json *parse(cbx_arena *arena, const char *text)
{
    const cbx_json *value = NULL;
    cbx_json_error  why;
    if (!CHECK_INT(cbx_json_parse(text, strlen(text), arena, &value, &why), CBX_OK))
        printf("  (%s: byte %zu: %s)\n", text, why.position, why.text);
    return value;
}

static void check_refused(const char *text, size_t position, const char *reason)
{
    cbx_arena       arena = {0};
    const cbx_json *value = (const cbx_json *)&arena;
    cbx_json_error  why;
    bool ok = CHECK_INT(cbx_json_parse(text, strlen(text), &arena, &value, &why), CBX_INVALID);
    CHECK(value == NULL);
    ok = CHECK_INT((int64_t)why.position, (int64_t)position) && ok;
    ok = CHECK_CONTAINS(why.text, reason) && ok;
    if (!ok)
        printf("  (%s)\n", text);
    cbx_arena_free(&arena);
}

TEST(an_object_has_its_members_in_order)
{
    cbx_arena       arena = {0};
    const cbx_json *o =
        parse(&arena, " {\"b\" : [1, -2.5, \"x\"],\n\t\"a\":{}, \"\":null,\r\"t\":true} ");
    if (!o)
        return;
    const cbx_json *list = cbx_json_get(o, "b"), *t = cbx_json_get(o, "t");
    CHECK(o->kind == CBX_JSON_OBJECT && o->count == 4 && o->first == list);
    CHECK(list->kind == CBX_JSON_LIST && list->count == 3);
    CHECK(list->first->kind == CBX_JSON_INTEGER && list->first->integer == 1);
    CHECK(list->first->next->kind == CBX_JSON_REAL && list->first->next->number == -2.5);
    CHECK(!strcmp(list->first->next->next->text, "x") && !list->first->next->next->next);
    CHECK(cbx_json_get(o, "a")->kind == CBX_JSON_OBJECT && !cbx_json_get(o, "a")->first);
    CHECK(cbx_json_get(o, "")->kind == CBX_JSON_NULL);
    CHECK(t->kind == CBX_JSON_BOOL && t->integer == 1 && t->text == NULL);
    CHECK(!cbx_json_get(o, "c") && !cbx_json_get(list, "b") && !cbx_json_get(NULL, "b"));
    cbx_arena_free(&arena);
}

TEST(escapes_become_the_characters_they_stand_for)
{
    cbx_arena       arena = {0};
    const cbx_json *v =
        parse(&arena, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t \\u0041\\u00e9\\u20AC\\ud83d\\ude00 é€\"");
    if (v)
        CHECK(!strcmp(v->text, "\"\\/\b\f\n\r\t Aé€😀 é€"));
    cbx_arena_free(&arena);
}

TEST(numbers_are_exact_to_the_ends_of_their_range)
{
    cbx_arena       arena = {0};
    const cbx_json *v =
        parse(&arena, "[9223372036854775807, -9223372036854775808, 0, -0, 0.1, 1e22, "
                      "12.5e-1, 0.123456789012, 5E+3, 1e-5000]");
    static const int64_t integers[] = {INT64_MAX, INT64_MIN, 0, 0};
    static const double  reals[] = {0.1, 1e22, 1.25, 0.123456789012, 5000, 0};
    if (!v)
        return;
    const cbx_json *at = v->first;
    for (int i = 0; i < 4; i++, at = at->next)
        CHECK(at->kind == CBX_JSON_INTEGER && at->integer == integers[i]);
    for (int i = 0; i < 6; i++, at = at->next)
        CHECK(at->kind == CBX_JSON_REAL && at->number == reals[i]);
    cbx_arena_free(&arena);
}

TEST(what_is_no_json_is_refused_with_its_place)
{
    check_refused("", 0, "value expected");
    check_refused("  ", 2, "value expected");
    check_refused("nul", 0, "value expected");
    check_refused("{\"a\":1,}", 7, "text in quotes");
    check_refused("{\"a\" 1}", 5, "':' expected");
    check_refused("{\"a\":1 \"b\":2}", 7, "',' or '}'");
    check_refused("[1 2]", 3, "',' or ']'");
    check_refused("[1,]", 3, "value expected");
    check_refused("1 2", 2, "end expected");
    check_refused("01", 0, "starts with 0");
    check_refused("1.", 2, "digit");
    check_refused("1e+", 3, "digit");
    check_refused("-", 1, "digit");
    check_refused("9223372036854775808", 0, "64 bits");
    check_refused("[-9223372036854775809]", 1, "64 bits");
    check_refused("1e999", 0, "64 bits");
    check_refused("\"abc", 4, "without an end");
    check_refused("\"a\x01\"", 2, "control");
    check_refused("\"\\x\"", 2, "escape");
    check_refused("\"\\u00g0\"", 5, "stands for no character");
    check_refused("\"\\u0000\"", 7, "stands for no character");
    check_refused("\"\\udc00\"", 7, "stands for no character");
    check_refused("\"\\ud800x\"", 7, "half a character");
    check_refused("\"\\ud800\\u0041\"", 13, "half a character");
    check_refused("\"\xc3\"", 1, "UTF-8");
    check_refused("\"\xf8\x88\x80\x80\x80\"", 1, "UTF-8");
    check_refused("{\"a\":1,\"b\":2,\"a\":3}", 14, "duplicate name 'a'");
}

TEST(numbers_are_the_nearest_doubles_however_long_they_are)
{
    static const struct {
        const char *text;
        double      value;
    } numbers[] = {{"0.1234567890123456789", 0.1234567890123456789},
                   {"1e23", 1e23},
                   {"5e-324", 5e-324},
                   {"2.2250738585072014e-308", 2.2250738585072014e-308},
                   {"123456789012345678", 123456789012345678.0}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        cbx_arena       arena = {0};
        const cbx_json *value = NULL;
        cbx_json_error  why;
        size_t          length = strlen(numbers[i].text);
        CHECK_INT(cbx_json_parse(numbers[i].text, length, &arena, &value, &why), CBX_OK);
        if (!CHECK(value && value->number == numbers[i].value))
            printf("  %s\n", numbers[i].text);
        cbx_arena_free(&arena);
    }
}

TEST(sixty_four_levels_are_the_most)
{
    char text[160];
    for (int depth = 64; depth <= 65; depth++) {
        cbx_arena       arena = {0};
        const cbx_json *value;
        cbx_json_error  why;
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        CHECK_INT(cbx_json_parse(text, 2 * (size_t)depth, &arena, &value, &why),
                  depth == 64 ? CBX_OK : CBX_INVALID);
        cbx_arena_free(&arena);
    }
}

/* ---- against jansson */

static bool same(const cbx_json *a, json_t *b)
{
    size_t i = 0;
    switch (json_typeof(b)) {
    case JSON_OBJECT:
        if (a->kind != CBX_JSON_OBJECT || a->count != json_object_size(b))
            return false;
        for (const cbx_json *m = a->first; m; m = m->next) {
            json_t *other = json_object_get(b, m->key);
            if (!other || !same(m, other))
                return false;
        }
        return true;
    case JSON_ARRAY:
        if (a->kind != CBX_JSON_LIST || a->count != json_array_size(b))
            return false;
        for (const cbx_json *m = a->first; m; m = m->next)
            if (!same(m, json_array_get(b, i++)))
                return false;
        return true;
    case JSON_STRING:
        return a->kind == CBX_JSON_TEXT && !strcmp(a->text, json_string_value(b));
    case JSON_INTEGER:
        return a->kind == CBX_JSON_INTEGER && a->integer == json_integer_value(b);
    case JSON_REAL:
        return a->kind == CBX_JSON_REAL && /* a long one may be off in its last bit */
               fabs(a->number - json_real_value(b)) <= 1e-15 * fabs(json_real_value(b));
    default:
        return a->kind == (json_is_null(b) ? CBX_JSON_NULL : CBX_JSON_BOOL) &&
               a->integer == json_is_true(b);
    }
}

/* Some bytes replaced, dropped or put in; from an alphabet that JSON reacts to. */
static size_t damage(cbx_rng *rng, char *text, size_t length)
{
    static const char alphabet[] = "{}[]\",:\\u0123e.-+ tfn\xc3\xa9\x80\x01";
    for (uint64_t n = 1 + cbx_rng_below(rng, 3); n > 0; n--) {
        size_t at = (size_t)cbx_rng_below(rng, length);
        char   c = alphabet[cbx_rng_below(rng, sizeof alphabet - 1)];
        switch (cbx_rng_below(rng, 3)) {
        case 0:
            text[at] = c;
            break;
        case 1:
            memmove(text + at, text + at + 1, --length - at);
            break;
        default:
            memmove(text + at + 1, text + at, length++ - at);
            text[at] = c;
        }
    }
    return length;
}

TEST(it_agrees_with_jansson_on_damaged_texts)
{
    static const char good[] =
        "{\"__metadata__\":{\"k\\n\":\"caf\\u00e9 é \\ud83d\\ude00\"},\"w\":{\"dtype\":"
        "\"F32\",\"shape\":[2, 30],\"data_offsets\":[0,240]},\"z\":[null,true,"
        "false,-0.5,1e3,12]}";
    cbx_rng rng = cbx_rng_stream(1, 2, 3, 4);
    int     accepted = 0;
    for (int i = 0; i < 40000; i++) {
        char            text[sizeof good + 8];
        cbx_arena       arena = {0};
        const cbx_json *a = NULL;
        cbx_json_error  why;
        memcpy(text, good, sizeof good - 1);
        size_t     length = damage(&rng, text, sizeof good - 1);
        cbx_status status = cbx_json_parse(text, length, &arena, &a, &why);
        json_t    *b = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
        if (!CHECK(b ? status == CBX_OK && same(a, b) : status == CBX_INVALID))
            printf("  (%.*s)\n", (int)length, text);
        accepted += b != NULL;
        json_decref(b);
        cbx_arena_free(&arena);
    }
    CHECK(accepted > 1000);
}

static cbx_status parse_once(void *text)
{
    cbx_arena       arena = {0};
    const cbx_json *value = NULL;
    cbx_json_error  why;
    cbx_status      status = cbx_json_parse(text, strlen(text), &arena, &value, &why);
    CHECK((status == CBX_OK) == (value != NULL));
    cbx_arena_free(&arena);
    return status;
}

TEST(parsing_survives_every_failing_allocation)
{
    char  *text = malloc(20000);
    size_t at = 0;
    text[at++] = '{';
    for (int i = 0; i < 500; i++)
        at += (size_t)sprintf(text + at, "%s\"name %d\":[1,2]", i ? "," : "", i);
    memcpy(text + at, "}", 2);
    test_each_allocation(parse_once, text);
    free(text);
}
