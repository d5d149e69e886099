/* SPDX-License-Identifier: Apache-2.0 */
/* JSON, with jansson to compare: what our parser takes, jansson takes. */
#include <string.h>

#include "fuzz.h"
#include "json.h"
#include "utf8.h"

/* Members are as many as were counted, and of a kind that there is. */
static void walk(const cbx_json *json)
{
    size_t count = 0;
    if ((unsigned)json->kind > CBX_JSON_OBJECT)
        fuzz_stop("a value of the kind %d", (int)json->kind);
    if ((json->kind == CBX_JSON_TEXT) != (json->text != NULL))
        fuzz_stop("a text that is none");
    if (json->text && !cbx_is_utf8(json->text))
        fuzz_stop("a text that is not UTF-8");
    for (const cbx_json *one = json->first; one; one = one->next, count++) {
        if (json->kind == CBX_JSON_OBJECT && cbx_json_get(json, one->key) != one)
            fuzz_stop("'%s' is there twice", one->key);
        walk(one);
    }
    if (count != json->count)
        fuzz_stop("%zu members, and %zu counted", count, json->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cbx_arena       arena = {0};
    cbx_json_error  why = {0};
    const cbx_json *json = NULL;
    cbx_status      status = cbx_json_parse((const char *)bytes, size, &arena, &json, &why);
    if (status == CBX_NO_MEMORY)
        fuzz_stop("a small input took too much memory");
    if (status && (!why.text[0] || why.position > size))
        fuzz_stop("an error that says nothing");
    if (!status) {
        json_error_t theirs;
        json_t      *same = json_loadb((const char *)bytes, size, JSON_DECODE_ANY, &theirs);
        if (!same)
            fuzz_stop("jansson says: %s", theirs.text);
        json_decref(same);
        walk(json);
    }
    cbx_arena_free(&arena);
    return 0;
}
