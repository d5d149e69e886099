/* SPDX-License-Identifier: Apache-2.0 */
/* json_text.c: JSON as text. */
#include <stdlib.h>

#include "json.h"
#include "number.h"

/* Measured first, for what json_dumps would leave out in silence. */
char *cbx_json_text(const json_t *json, size_t flags, size_t *length)
{
    cbx_locale locale = cbx_locale_begin();
    flags |= JSON_COMPACT;
    size_t size = json ? json_dumpb(json, NULL, 0, flags) : 0;
    char  *text = size ? malloc(size + 1) : NULL;
    if (text && json_dumpb(json, text, size, flags) != size) {
        free(text);
        text = NULL;
    }
    cbx_locale_end(locale);
    if (text)
        text[size] = '\0';
    if (length)
        *length = size;
    return text;
}
