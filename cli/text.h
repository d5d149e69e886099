/* SPDX-License-Identifier: Apache-2.0 */
/* text.h: text for people: aligned, wrapped, counted, and safe on a terminal. */
#ifndef CBX_CLI_TEXT_H
#define CBX_CLI_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The code point at *text, which moves past it. What is not UTF-8 gives
 * U+FFFD, a byte at a time. At the end of the text: 0, and it stays. */
uint32_t utf8_next(const char **text);
void     utf8_put(FILE *out, uint32_t point);

/* Columns that `text` takes as text_put writes it, one per character. */
size_t text_columns(const char *text);

/* Writes names that come from files as cbx_text_next shows them: nothing in them steers
 * a terminal. Padded with blanks to `width` columns. */
void text_put(FILE *out, const char *text, size_t width);

/* Writes `text` broken at blanks so that no line passes column 80. The cursor
 * is at column `at`; later lines start at column `indent`. Ends the line. */
void text_wrap(FILE *out, const char *text, size_t indent, size_t at);

/* 118,496: with thousands separators. Returns `buffer`. */
typedef char number_text[32];
const char  *text_count(number_text buffer, int64_t number);

/* "12 nodes", "1 node". Returns `buffer`. */
typedef char count_text[64];
const char  *text_counted(count_text buffer, int64_t number, const char *noun);

#endif
