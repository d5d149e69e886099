/* SPDX-License-Identifier: Apache-2.0 */
/* JSON: what was read is written, and read again, the same. */
#include <string.h>

#include "fuzz.h"
#include "json_writer.h"
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

static bool same(const cbx_json *a, const cbx_json *b)
{
    if (a->kind != b->kind || a->count != b->count || a->integer != b->integer ||
        a->number != b->number || (a->text && strcmp(a->text, b->text) != 0) ||
        (a->key && strcmp(a->key, b->key) != 0))
        return false;
    a = a->first;
    for (b = b->first; a && b && same(a, b); b = b->next)
        a = a->next;
    return !a && !b;
}

static void write_and_read(const cbx_json *json, bool ascii, cbx_arena *arena)
{
    cbx_json_writer w = {.digits = 17, .ascii = ascii};
    cbx_json_error  why = {0};
    const cbx_json *again = NULL;
    cbx_json_put(&w, NULL, json);
    if (w.out.failed || cbx_json_parse(w.out.text, w.out.size, arena, &again, &why))
        fuzz_stop("what was written is not read: %s", why.text);
    if (!same(json, again))
        fuzz_stop("what was written is read as something else");
    cbx_buffer_free(&w.out);
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
        walk(json);
        write_and_read(json, false, &arena);
        write_and_read(json, true, &arena);
    }
    cbx_arena_free(&arena);
    return 0;
}
