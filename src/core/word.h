/* SPDX-License-Identifier: Apache-2.0 */
/* word.h: letters and digits as ASCII has them. The C library goes by the locale: to a Turkish
 * program "ID" is not "id". */
#ifndef CBX_WORD_H
#define CBX_WORD_H

#include <stdbool.h>
#include <stddef.h>

#include "internal.h"

/* Without regard to case. */
CBX_INTERNAL bool cbx_same_word(const char *a, const char *b);
/* Of the first `count` characters. */
CBX_INTERNAL bool cbx_same_start(const char *a, const char *b, size_t count);

CBX_INTERNAL char cbx_lower(char c);

static inline bool cbx_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

#endif
