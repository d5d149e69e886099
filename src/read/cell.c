/* SPDX-License-Identifier: Apache-2.0 */
/* cell.c: see cell.h. */
#include "cell.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "number.h"
#include "word.h"

static bool is_missing(const char *text)
{
    static const char *const words[] = {"", "n/a", "na", "n.a.", "#n/a", "null", "?", "-", NULL};
    for (const char *const *w = words; *w; w++)
        if (cbx_same_word(text, *w))
            return true;
    return false;
}

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* "-1,200.50": the same without commas, where there is one before every three digits. */
static bool without_commas(const char *text, char plain[64])
{
    size_t to = 0, length = strlen(text);
    if (length >= 64)
        return false;
    if (*text == '-' || *text == '+')
        plain[to++] = *text++;
    size_t first = digits(text);
    if (!first || first > 3 || text[first] != ',')
        return false;
    memcpy(plain + to, text, first);
    to += first;
    for (text += first; *text == ','; text += 4, to += 3) {
        if (digits(text + 1) < 3 || (text[4] >= '0' && text[4] <= '9'))
            return false;
        memcpy(plain + to, text + 1, 3);
    }
    if (*text && *text != '.')
        return false;
    (void)memcpy(plain + to, text, strlen(text) + 1);
    return true;
}

static bool read_plain(const char *text, double *value)
{
    char *end;
    *value = cbx_read_number(text, &end);
    return end != text && !*end;
}

static int two(const char *text)
{
    return 10 * (text[0] - '0') + text[1] - '0';
}

/* Days since 1970-01-01 in the Gregorian calendar, whose years are counted from March, so that a
 * leap day is the last of one. */
static int64_t days_since(int year, int month, int day)
{
    int64_t y = month > 2 ? year : year - 1;
    int64_t m = month > 2 ? month - 3 : month + 9;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static bool read_day(const char *text, double *value)
{
    static const int longest[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (digits(text) != 4 || text[4] != '-' || digits(text + 5) != 2 || text[7] != '-' ||
        digits(text + 8) != 2)
        return false;
    int  month = two(text + 5), day = two(text + 8);
    char behind = text[10];
    bool timed = (behind == 'T' || behind == ' ') && digits(text + 11) == 2 && text[13] == ':';
    if (month < 1 || month > 12 || day < 1 || day > longest[month - 1] || (behind && !timed))
        return false;
    *value = (double)days_since(100 * two(text) + two(text + 2), month, day);
    return true;
}

cbx_cell cbx_cell_read(const char *text, double *value)
{
    char plain[64];
    *value = 0;
    if (is_missing(text))
        return CBX_CELL_MISSING;
    if (read_plain(text, value) || (without_commas(text, plain) && read_plain(plain, value)))
        return CBX_CELL_NUMBER;
    *value = 0;
    return read_day(text, value) ? CBX_CELL_DAY : CBX_CELL_TEXT;
}
