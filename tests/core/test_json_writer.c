/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer: bytes worked out by hand, and values at random that must come back. */
#include "json_writer.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parsed.h"
#include "rng.h"
#include "utf8.h"

/* Checks what was written, and forgets it. */
static void check_written(cbx_json_writer *w, const char *expected)
{
    char *text = cbx_json_take(w);
    if (!CHECK(text && !strcmp(text, expected)))
        printf("  %s\n  %s expected\n", text ? text : "nothing", expected);
    free(text);
}

static void check_text(const char *text, bool ascii, const char *expected)
{
    cbx_json_writer w = {.ascii = ascii};
    cbx_json_put_text(&w, NULL, text);
    check_written(&w, expected);
}

static void check_real(double value, int digits, const char *expected)
{
    cbx_json_writer w = {.digits = digits};
    cbx_json_put_real(&w, NULL, value);
    check_written(&w, expected);
}

/* ---- texts */

TEST(quotes_and_backslashes_are_escaped_and_slashes_are_not)
{
    check_text("", false, "\"\"");
    check_text("a\"b\\c/d", false, "\"a\\\"b\\\\c/d\"");
    check_text("\"", false, "\"\\\"\"");
}

TEST(every_control_character_is_escaped_and_nothing_else_of_ascii)
{
    for (int c = 1; c < 0x80; c++) {
        char text[] = {'x', (char)c, 'y', '\0'}, expected[16];
        switch (c) {
        case '\b':
            strcpy(expected, "\"x\\by\"");
            break;
        case '\f':
            strcpy(expected, "\"x\\fy\"");
            break;
        case '\n':
            strcpy(expected, "\"x\\ny\"");
            break;
        case '\r':
            strcpy(expected, "\"x\\ry\"");
            break;
        case '\t':
            strcpy(expected, "\"x\\ty\"");
            break;
        case '"':
            strcpy(expected, "\"x\\\"y\"");
            break;
        case '\\':
            strcpy(expected, "\"x\\\\y\"");
            break;
        default:
            (void)snprintf(expected, sizeof expected, c < 0x20 ? "\"x\\u%04Xy\"" : "\"x%cy\"", c);
        }
        check_text(text, false, expected);
        check_text(text, true, expected);
    }
}

TEST(other_characters_stand_as_they_are_or_as_utf_16_in_ascii)
{
    check_text("é€木", false, "\"é€木\"");
    check_text("é€木", true, "\"\\u00E9\\u20AC\\u6728\"");
    check_text("\xc2\x80|\xef\xbf\xbf", true, "\"\\u0080|\\uFFFF\"");
    check_text("🎉", false, "\"🎉\"");
    check_text("🎉", true, "\"\\uD83C\\uDF89\"");
    check_text("\xf0\x90\x80\x80", true, "\"\\uD800\\uDC00\""); /* U+10000 */
    check_text("\xf4\x8f\xbf\xbf", true, "\"\\uDBFF\\uDFFF\""); /* U+10FFFF */
}

TEST(bytes_that_are_not_utf_8_become_a_sign_for_it)
{
    check_text("\xff", false, "\"\xef\xbf\xbd\"");
    check_text("a\xc3", true, "\"a\\uFFFD\"");
    check_text("\xed\xa0\x80z", false, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\"");
    check_text("\xffé\"", true, "\"\\uFFFD\\u00E9\\\"\"");
}

TEST(no_text_is_null_and_keys_are_texts_too)
{
    cbx_json_writer w = {.ascii = true};
    cbx_json_open(&w, NULL, '{');
    cbx_json_put_text(&w, "\n\"ä", NULL);
    cbx_json_put_text(&w, "", "");
    cbx_json_close(&w, '}');
    check_written(&w, "{\"\\n\\\"\\u00E4\":null,\"\":\"\"}");
}

/* ---- numbers */

TEST(reals_have_a_point_or_an_exponent)
{
    check_real(0, 0, "0.0");
    check_real(-0.0, 0, "-0.0");
    check_real(1, 0, "1.0");
    check_real(-1, 0, "-1.0");
    check_real(100, 0, "100.0");
    check_real(0.5, 0, "0.5");
    check_real(123456789, 0, "123456789.0");
    check_real(1234567890, 0, "1.23456789e9");
    check_real(1e20, 0, "1e20");
    check_real(-1e20, 0, "-1e20");
    check_real(1e100, 0, "1e100");
    check_real(1e-5, 0, "1e-5");
    check_real(1e-4, 0, "0.0001");
    check_real(-2.5e-10, 0, "-2.5e-10");
    check_real(1e-100, 0, "1e-100");
    check_real(0x1p-149, 0, "1.40129846e-45");
    check_real(5e-324, 0, "4.94065646e-324");
    check_real(DBL_MIN, 0, "2.22507386e-308");
    check_real(DBL_MAX, 0, "1.79769313e308");
}

TEST(digits_are_as_many_as_are_asked_for)
{
    check_real(1.0 / 3, 0, "0.333333333");
    check_real(1.0 / 3, 12, "0.333333333333");
    check_real(0.1, 17, "0.10000000000000001");
    check_real(1e9, 12, "1000000000.0");
    check_real(1e12, 12, "1e12");
    check_real(-DBL_MAX, 17, "-1.7976931348623157e308");
}

TEST(what_is_no_number_is_null)
{
    check_real((double)NAN, 0, "null");
    check_real((double)INFINITY, 0, "null");
    check_real((double)-INFINITY, 0, "null");
}

TEST(integers_are_whole_to_the_ends_of_their_range)
{
    cbx_json_writer w = {.digits = 0};
    cbx_json_open(&w, NULL, '[');
    cbx_json_put_int(&w, NULL, INT64_MIN);
    cbx_json_put_int(&w, NULL, -1);
    cbx_json_put_int(&w, NULL, 0);
    cbx_json_put_int(&w, NULL, INT64_MAX);
    cbx_json_close(&w, ']');
    check_written(&w, "[-9223372036854775808,-1,0,9223372036854775807]");
}

/* ---- lists and objects */

TEST(members_come_in_order_with_commas_between_them)
{
    cbx_json_writer w = {.digits = 0};
    cbx_json_open(&w, NULL, '{');
    cbx_json_open(&w, "b", '[');
    cbx_json_open(&w, NULL, '[');
    cbx_json_close(&w, ']');
    cbx_json_open(&w, NULL, '{');
    cbx_json_close(&w, '}');
    cbx_json_put_bool(&w, NULL, true);
    cbx_json_put_bool(&w, NULL, false);
    cbx_json_put_null(&w, NULL);
    cbx_json_close(&w, ']');
    cbx_json_put_int(&w, "a", 7);
    cbx_json_open(&w, "c", '{');
    cbx_json_put_real(&w, "d", 0.25);
    cbx_json_close(&w, '}');
    cbx_json_close(&w, '}');
    check_written(&w, "{\"b\":[[],{},true,false,null],\"a\":7,\"c\":{\"d\":0.25}}");
    cbx_json_put_int(&w, NULL, 1); /* a writer whose text was taken starts anew */
    check_written(&w, "1");
}

TEST(what_was_read_is_written_whole)
{
    static const char text[] = "{\"a\":[1,-2.5,\"x\\n\",{},[]],\"b\":{\"c\":[true,false,null]}}";
    cbx_arena         arena = {0};
    cbx_json_writer   w = {.digits = 0};
    cbx_json_put(&w, NULL, parsed(&arena, text, strlen(text)));
    check_written(&w, text);
    cbx_json_open(&w, NULL, '{');
    cbx_json_put(&w, "none", NULL);
    cbx_json_put(&w, "other", cbx_json_get(parsed(&arena, text, strlen(text)), "b"));
    cbx_json_close(&w, '}');
    check_written(&w, "{\"none\":null,\"other\":{\"c\":[true,false,null]}}");
    cbx_arena_free(&arena);
}

TEST(what_another_writer_has_is_one_value)
{
    cbx_json_writer w = {.digits = 0}, other = {.digits = 0};
    cbx_json_open(&other, NULL, '[');
    cbx_json_put_int(&other, NULL, 1);
    cbx_json_put_int(&other, NULL, 2);
    cbx_json_close(&other, ']');
    cbx_json_open(&w, NULL, '{');
    cbx_json_put_written(&w, "a", &other);
    cbx_json_put_written(&w, "b", &other);
    cbx_json_close(&w, '}');
    check_written(&w, "{\"a\":[1,2],\"b\":[1,2]}");
    other.out.failed = true;
    cbx_json_put_written(&w, NULL, &other);
    CHECK(w.out.failed && !cbx_json_take(&w));
    cbx_buffer_free(&other.out);
}

/* ---- at random, there and back */

/* Characters of every length, those that are escaped more often than others. */
static const char *random_text(cbx_rng *rng, char text[64])
{
    char *at = text;
    for (uint64_t n = cbx_rng_below(rng, 12); n > 0; n--) {
        static const uint32_t limits[] = {0x20, 0x80, 0x800, 0x10000, 0x110000};
        uint32_t code = 1 + (uint32_t)cbx_rng_below(rng, limits[cbx_rng_below(rng, 5)] - 1);
        at = cbx_utf8_put(at, code >= 0xd800 && code < 0xe000 ? '"' : code);
    }
    *at = '\0';
    return text;
}

/* Any bits that are a finite number. */
static double random_real(cbx_rng *rng)
{
    double value;
    do {
        uint64_t bits = cbx_rng_below(rng, (uint64_t)1 << 32) << 32;
        bits |= cbx_rng_below(rng, (uint64_t)1 << 32);
        memcpy(&value, &bits, sizeof value);
    } while (!isfinite(value));
    return value;
}

static cbx_json *random_value(cbx_rng *rng, cbx_arena *arena, int depth)
{
    cbx_json        *value = CBX_NEW0(arena, cbx_json, 1);
    const cbx_json **last = &value->first;
    char             text[64];
    value->kind = (cbx_json_kind)cbx_rng_below(rng, depth < 4 ? 7 : 5);
    if (value->kind == CBX_JSON_BOOL)
        value->integer = (int64_t)cbx_rng_below(rng, 2);
    else if (value->kind == CBX_JSON_INTEGER)
        value->integer = (int64_t)(cbx_rng_below(rng, UINT64_MAX) >> cbx_rng_below(rng, 64));
    else if (value->kind == CBX_JSON_REAL)
        value->number = random_real(rng);
    else if (value->kind == CBX_JSON_TEXT)
        value->text = cbx_arena_strdup(arena, random_text(rng, text));
    if (value->kind < CBX_JSON_LIST)
        return value;
    value->count = (size_t)cbx_rng_below(rng, 5);
    for (size_t i = 0; i < value->count; i++) {
        cbx_json *member = random_value(rng, arena, depth + 1);
        char      key[96];
        (void)snprintf(key, sizeof key, "%zu%s", i, random_text(rng, text)); /* never twice */
        if (value->kind == CBX_JSON_OBJECT)
            member->key = cbx_arena_strdup(arena, key);
        *last = member;
        last = &member->next;
    }
    return value;
}

TEST(random_values_come_back_bit_for_bit)
{
    cbx_rng rng = cbx_rng_stream(1, 2, 3, 4);
    size_t  bytes = 0;
    for (int i = 0; i < 5000; i++) {
        cbx_arena       arena = {0};
        cbx_json_writer w = {.digits = 17, .ascii = i % 2};
        const cbx_json *value = random_value(&rng, &arena, 0);
        cbx_json_put(&w, NULL, value);
        const cbx_json *again = parsed(&arena, w.out.text, w.out.size);
        if (!CHECK(again && same_json(value, again)))
            printf("  %s\n", w.out.text);
        for (const char *at = w.out.text; w.ascii && *at; at++)
            CHECK((unsigned char)*at < 0x80);
        bytes += w.out.size;
        cbx_buffer_free(&w.out);
        cbx_arena_free(&arena);
    }
    CHECK(bytes > 200000); /* most are more than a number */
}

TEST(nine_digits_bring_back_every_float)
{
    cbx_rng rng = cbx_rng_stream(5, 6, 7, 8);
    for (int i = 0; i < 5000; i++) {
        uint32_t        bits = (uint32_t)cbx_rng_below(&rng, (uint64_t)1 << 32);
        cbx_arena       arena = {0};
        cbx_json_writer w = {.digits = 0};
        float           value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        cbx_json_put_real(&w, NULL, (double)value);
        const cbx_json *again = parsed(&arena, w.out.text, w.out.size);
        if (!CHECK(again && again->kind == CBX_JSON_REAL && (float)again->number == value))
            printf("  %s\n", w.out.text);
        cbx_buffer_free(&w.out);
        cbx_arena_free(&arena);
    }
}

/* ---- memory */

static cbx_status write_much(void *user)
{
    cbx_json_writer w = {.ascii = true};
    cbx_json_open(&w, NULL, '[');
    for (int i = 0; i < 300; i++) {
        cbx_json_open(&w, NULL, '{');
        cbx_json_put_text(&w, "text \n", user);
        cbx_json_put_real(&w, "real", i / 7.0);
        cbx_json_put_int(&w, "whole", i);
        cbx_json_close(&w, '}');
    }
    cbx_json_close(&w, ']');
    char *text = cbx_json_take(&w);
    CHECK(!w.out.text && !w.out.failed);
    bool made = text != NULL;
    free(text);
    return made ? CBX_OK : CBX_NO_MEMORY;
}

TEST(a_failing_allocation_is_told_at_the_end)
{
    static char text[] = "é 🎉";
    test_each_allocation(write_much, text);
}
