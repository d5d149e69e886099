/* SPDX-License-Identifier: Apache-2.0 */
/* word.c: see word.h. */
#include "word.h"

#include <stdint.h>

char cbx_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool cbx_same_start(const char *a, const char *b, size_t count)
{
    for (; count && *a && cbx_lower(*a) == cbx_lower(*b); a++, b++)
        count--;
    return !count || cbx_lower(*a) == cbx_lower(*b);
}

bool cbx_same_word(const char *a, const char *b)
{
    return cbx_same_start(a, b, SIZE_MAX);
}
