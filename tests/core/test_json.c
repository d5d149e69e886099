/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader: what it takes, what it refuses and where, and that it agrees
 * with Python's on texts that were damaged at random. */
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parsed.h"

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

/* ---- against Python's (json_damaged.py) */

/* Bytes out of hexadecimal digits, up to a blank or the end. */
static size_t take_hex(const char **at, char *bytes)
{
    size_t length = 0;
    for (; **at && **at != ' '; *at += 2) {
        char digits[3] = {(*at)[0], (*at)[1], '\0'};
        bytes[length++] = (char)strtoul(digits, NULL, 16);
    }
    return length;
}

static void check_line(const char *line, int *taken)
{
    char            text[256];
    cbx_arena       arena = {0};
    const cbx_json *value = NULL;
    cbx_json_error  why;
    const char     *at = line;
    size_t          length = take_hex(&at, text);
    cbx_status      status = cbx_json_parse(text, length, &arena, &value, &why);
    if (!CHECK_INT(status, *at ? CBX_OK : CBX_INVALID) ||
        (*at && !CHECK(value && same_json(value, parse(&arena, at)))))
        printf("  (%.*s)\n", (int)length, text);
    *taken += *at != '\0';
    cbx_arena_free(&arena);
}

TEST(it_agrees_with_python_on_damaged_texts)
{
    const char *path = test_source("tests/core/json_damaged.txt");
    size_t      size = 0;
    char       *lines = path ? (char *)test_read_file(path, &size) : NULL;
    int         taken = 0, all = 0;
    if (!CHECK(lines != NULL))
        return;
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"), all++)
        check_line(line, &taken);
    CHECK(taken > 150 && all - taken > 500);
    free(lines);
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
