/* SPDX-License-Identifier: Apache-2.0 */
/* number.c: see number.h. */
#include "number.h"

#include <float.h>
#include <stdint.h>
#include <stdlib.h>

#include "word.h"

/* ---- the locale */

/* glibc and musl hand out a constant for "C": nothing is allocated, nothing fails. Where it
 * does fail the thread keeps the locale that it has. */
cbx_locale cbx_locale_begin(void)
{
    cbx_locale locale = {.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    locale.before = uselocale(locale.plain);
    return locale;
}

void cbx_locale_end(cbx_locale locale)
{
    if (!locale.plain)
        return;
    (void)uselocale(locale.before);
    freelocale(locale.plain);
}

/* ---- reading */

/* Past all digits; of the first 19, which fit, their value and number. */
static const char *take_digits(const char *at, uint64_t *digits, int *count)
{
    for (; cbx_is_digit(*at); at++) {
        if (*count == 19)
            continue;
        *digits = 10 * *digits + (uint64_t)(*at - '0');
        ++*count;
    }
    return at;
}

/* A whole number below 2^53 and a power of ten up to 22 are doubles, and so their product or
 * quotient is rounded once: the nearest double. Most numbers in files are such. */
static bool read_short(const char *text, double *value, const char **end)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    bool                negative = *text == '-';
    uint64_t            digits = 0;
    int                 count = 0, exponent = 0;
    const char         *at = take_digits(text + (negative || *text == '+'), &digits, &count);
    if (*at == '.') {
        int whole = count;
        at = take_digits(at + 1, &digits, &count);
        exponent = whole - count;
    }
    if (*at == 'e' || *at == 'E') {
        bool     down = at[1] == '-';
        uint64_t shift = 0;
        int      places = 0;
        at = take_digits(at + 1 + (down || at[1] == '+'), &shift, &places);
        if (places < 1 || places > 3)
            return false;
        exponent += down ? -(int)shift : (int)shift;
    }
    if (count < 1 || count > 18 || digits > (uint64_t)1 << 53 || exponent < -22 || exponent > 22 ||
        *at == 'x' || *at == 'X' || FLT_EVAL_METHOD != 0)
        return false;
    double scaled =
        exponent < 0 ? (double)digits / powers[-exponent] : (double)digits * powers[exponent];
    *value = negative ? -scaled : scaled;
    *end = at;
    return true;
}

double cbx_read_number(const char *text, char **end)
{
    double      value;
    const char *past;
    if (read_short(text, &value, &past)) {
        if (end)
            *end = (char *)past; /* as strtod: what was const stays so to the caller */
        return value;
    }
    cbx_locale locale = cbx_locale_begin();
    value = strtod(text, end);
    cbx_locale_end(locale);
    return value;
}

/* ---- writing */

int cbx_vprint(char *text, size_t size, const char *format, va_list values)
{
    cbx_locale locale = cbx_locale_begin();
    int        length = vsnprintf(text, size, format, values);
    cbx_locale_end(locale);
    return length;
}

int cbx_print(char *text, size_t size, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int length = cbx_vprint(text, size, format, values);
    va_end(values);
    return length;
}

int cbx_fprint(FILE *out, const char *format, ...)
{
    va_list    values;
    cbx_locale locale = cbx_locale_begin();
    va_start(values, format);
    int length = vfprintf(out, format, values);
    va_end(values);
    cbx_locale_end(locale);
    return length;
}

const char *cbx_print_float(char text[CBX_NUMBER_SIZE], float value)
{
    cbx_locale locale = cbx_locale_begin();
    for (int digits = 6; digits <= 9; digits++) {
        (void)snprintf(text, CBX_NUMBER_SIZE, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    cbx_locale_end(locale);
    return text;
}
