/* SPDX-License-Identifier: Apache-2.0 */
/* shown_text.c: texts from outside, for terminals. */
#include "combinex/kit.h"
#include "utf8.h"

_Static_assert((int)CBX_SHOWN_SIZE == (int)CBX_UTF8_SHOWN, "one size");

size_t cbx_text_next(const char **text, char shown[CBX_SHOWN_SIZE])
{
    return cbx_utf8_show_next(text, shown);
}
