/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in texts: what strtod and printf say in the "C" locale, whatever the locale is. The
 * locales are those of tests/locale/run.sh, where it runs this test; without it the one that
 * the program has is tried alone. */
#include "number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "test.h"

/* ---- in the "C" locale: strtod is right there, and must be agreed with to the bit */

static const char *in_c;

static void begin_c(void)
{
    static char before[256];
    (void)snprintf(before, sizeof before, "%s", setlocale(LC_ALL, NULL));
    in_c = before;
    (void)setlocale(LC_ALL, "C");
}

static void end_c(void)
{
    (void)setlocale(LC_ALL, in_c);
}

static void same_as_strtod(const char *text)
{
    char  *expected_end, *end = NULL;
    double expected = strtod(text, &expected_end), value = cbx_read_number(text, &end);
    if (!CHECK(!memcmp(&value, &expected, sizeof value) || (isnan(value) && isnan(expected))) ||
        !CHECK(end == expected_end))
        printf("  '%s' is %a, expected %a; %td characters, expected %td\n", text, value, expected,
               end - text, expected_end - text);
}

TEST(numbers_are_read_as_strtod_reads_them)
{
    static const char *const texts[] = {"",
                                        "0",
                                        "-0",
                                        "+0",
                                        "1",
                                        "-1",
                                        "+1",
                                        "1.",
                                        ".5",
                                        "-.5",
                                        ".",
                                        "-",
                                        "+",
                                        "e5",
                                        ".e5",
                                        "1e",
                                        "1e+",
                                        "1e-",
                                        "1e5",
                                        "1E5",
                                        "1e+5",
                                        "1e-5",
                                        "1.5e3x",
                                        "1e22",
                                        "1e23",
                                        "1e-22",
                                        "1e-23",
                                        "9007199254740992",
                                        "9007199254740993",
                                        "9007199254740993e1",
                                        "12345678901234567890",
                                        "123456789012345678",
                                        "1234567890123456789",
                                        "0.1",
                                        "0.3",
                                        "2.675",
                                        "3.4e38",
                                        "1e308",
                                        "1e309",
                                        "-1e309",
                                        "1e-400",
                                        "4.9e-324",
                                        "2.2250738585072011e-308",
                                        "0x10",
                                        "0x1p-3",
                                        "0X",
                                        "0x",
                                        "-0x1.8p1",
                                        "nan",
                                        "NAN",
                                        "nan(1)",
                                        "inf",
                                        "-inf",
                                        "infinity",
                                        "infinit",
                                        " 1",
                                        "\t1",
                                        "\n1",
                                        "1 ",
                                        "1,5",
                                        "1;5",
                                        "--1",
                                        "1..2",
                                        "1.5.2",
                                        "1e5.5",
                                        "00012",
                                        "0.00000000000000001",
                                        "100000000000000000000000",
                                        "1e0000000000000000000001",
                                        "1e99999999999999999999"};
    begin_c();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        same_as_strtod(texts[i]);
    end_c();
}

TEST(a_hundred_thousand_random_numbers_are_read_to_the_last_bit)
{
    begin_c();
    for (uint64_t k = 0; k < 100000 && !test_failures(); k++) {
        cbx_rng rng = cbx_rng_stream(7, k, 0, 0);
        char    text[64];
        double  mantissa = (double)(int64_t)cbx_rng_next(&rng) / 9.3e18;
        int     exponent = (int)cbx_rng_below(&rng, 60) - 30, digits = (int)cbx_rng_below(&rng, 20);
        (void)snprintf(text, sizeof text, k % 2 ? "%.*g" : "%.*e", digits,
                       mantissa * pow(10, exponent));
        same_as_strtod(text);
    }
    end_c();
}

TEST(texts_of_many_digits_are_read_to_their_end)
{
    char text[4000], *end;
    memset(text, '7', sizeof text);
    text[1] = '.';
    text[sizeof text - 1] = '\0';
    CHECK(cbx_read_number(text, &end) == 7.0 + 7.0 / 9 && !*end);
}

/* ---- in any locale */

static void in_locale(const char *name, const char *point)
{
    char   text[64], *end;
    double value;
    if (name && !CHECK(setlocale(LC_ALL, name) != NULL)) {
        printf("  no locale %s\n", name);
        return;
    }
    /* the locale is what it is taken for, or nothing is tested */
    (void)snprintf(text, sizeof text, "%.1f", 0.5);
    CHECK(!point || (text[0] == '0' && !strncmp(text + 1, point, strlen(point))));

    value = cbx_read_number("0.5", &end);
    CHECK(value == 0.5 && !*end);
    value = cbx_read_number("0.12345678901234567890123", &end); /* too long for the short way */
    CHECK(value == 0.12345678901234567890123 && !*end);
    value = cbx_read_number("0,5", &end);
    CHECK(value == 0 && *end == ',');
    value = cbx_read_number("0x1.8p0", &end);
    CHECK(value == 1.5 && !*end);

    CHECK_INT(cbx_print(text, sizeof text, "%g %s %.3f", 0.5, "a,b", 1234567.25), 19);
    CHECK(!strcmp(text, "0.5 a,b 1234567.250"));
    CHECK(!strcmp(cbx_print_float(text, 0.1f), "0.1"));
    CHECK(!strcmp(cbx_print_float(text, 16777217.0f / 3), "5592405.5"));
    CHECK(!strcmp(cbx_print_float(text, 3.40282347e38f), "3.4028235e+38"));

    FILE *file = tmpfile();
    if (CHECK(file != NULL)) {
        CHECK_INT(cbx_fprint(file, "%.2e", 1.5), 8);
        rewind(file);
        CHECK(fgets(text, sizeof text, file) && !strcmp(text, "1.50e+00"));
        (void)fclose(file);
    }
}

TEST(numbers_are_the_same_in_the_locale_of_the_program)
{
    in_locale(NULL, NULL);
}

TEST(numbers_are_the_same_in_locales_with_other_decimal_points)
{
    static const char *const others[][2] = {
        {"de_DE.UTF-8", ","}, {"ps_AF.UTF-8", "\xd9\xab"}, {"tr_TR.UTF-8", ","}};
    char before[256];
    if (!getenv("CBX_TEST_LOCALES")) {
        test_skip("no locales: tests/locale/run.sh makes them");
        return;
    }
    (void)snprintf(before, sizeof before, "%s", setlocale(LC_ALL, NULL));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        in_locale(others[i][0], others[i][1]);
    (void)setlocale(LC_ALL, before);
}

TEST(the_threads_own_locale_is_as_it_was)
{
    locale_t own = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
    if (!own)
        own = duplocale(LC_GLOBAL_LOCALE);
    locale_t before = uselocale(own);
    char     text[40];
    (void)cbx_read_number("0.12345678901234567890123", NULL);
    (void)cbx_print(text, sizeof text, "%g", 0.5);
    (void)cbx_print_float(text, 0.5f);
    CHECK(uselocale((locale_t)0) == own);
    (void)uselocale(before);
    (void)cbx_print(text, sizeof text, "%g", 0.5);
    CHECK(uselocale((locale_t)0) == before);
    freelocale(own);
}

TEST(reading_and_writing_allocate_nothing)
{
    char text[40];
    long before = test_allocations();
    (void)cbx_read_number("0.12345678901234567890123", NULL);
    (void)cbx_print(text, sizeof text, "%g", 0.5);
    (void)cbx_print_float(text, 0.1f);
    CHECK_INT(test_allocations(), before);
}
