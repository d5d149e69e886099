/* SPDX-License-Identifier: Apache-2.0 */
/* number.h: numbers out of texts and into them, the same in every locale.
 *
 * strtod and printf go by the locale of the program that uses the library, where one half may
 * be "0,5". Nothing else in src/ calls them for numbers with a fraction
 * (tests/lint/locale_free.py). Safe on any number of threads: what is changed, for the time of a
 * call, belongs to the calling thread. */
#ifndef CBX_NUMBER_H
#define CBX_NUMBER_H

#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include "internal.h"

#if defined(__GNUC__)
#define CBX_FORMAT(at, first) __attribute__((format(printf, at, first)))
#else
#define CBX_FORMAT(at, first)
#endif

/* strtod: the nearest double to the number that `text` begins with, and where it ends. */
CBX_INTERNAL double cbx_read_number(const char *text, char **end);

/* snprintf, vsnprintf and fprintf. */
CBX_FORMAT(3, 4)
CBX_INTERNAL int cbx_print(char *text, size_t size, const char *format, ...);
CBX_FORMAT(3, 0)
CBX_INTERNAL int cbx_vprint(char *text, size_t size, const char *format, va_list values);
CBX_FORMAT(2, 3)
CBX_INTERNAL int cbx_fprint(FILE *out, const char *format, ...);

enum { CBX_NUMBER_SIZE = 32 };
/* With as few digits as read back as the same float, from six on. Returns `text`. */
CBX_INTERNAL const char *cbx_print_float(char text[CBX_NUMBER_SIZE], float value);

/* For libraries that read and write numbers as the locale has it: between begin and end
 * the calling thread's is "C". */
typedef struct cbx_locale {
    locale_t plain, before;
} cbx_locale;

cbx_locale cbx_locale_begin(void);
void       cbx_locale_end(cbx_locale locale);

#endif
