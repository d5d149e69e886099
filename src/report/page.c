/* SPDX-License-Identifier: Apache-2.0 */
/* page.c: see page.h. The shell has {{marks}}, each replaced by what put_mark says. */
#include "page.h"

#include <stdio.h>
#include <string.h>

#include "atomic_file.h"
#include "error.h"
#include "sha256.h"

typedef struct writing {
    const cbx_page       *page;
    const cbx_page_asset *style, *own_style; /* the second may be NULL */
    cbx_atomic_file       file;
    cbx_error            *err;
} writing;

static const cbx_page_asset *asset(const char *name)
{
    for (const cbx_page_asset *a = cbx_page_assets; a->name; a++)
        if (!strcmp(a->name, name))
            return a;
    return NULL;
}

/* The scripts of a kind of page: common.js, KIND-*.js in the order of names, KIND.js. */
static const cbx_page_asset *next_script(const cbx_page *page, const cbx_page_asset *last)
{
    size_t length = strlen(page->kind);
    if (!last)
        return asset("common.js");
    for (const cbx_page_asset *a = strcmp(last->name, "common.js") ? last + 1 : cbx_page_assets;
         a->name; a++)
        if (!strncmp(a->name, page->kind, length) &&
            (a->name[length] == '-' || !strcmp(a->name + length, ".js")))
            return a;
    return NULL;
}

/* ------------------------------------------------------------------ pieces */

static cbx_status put(writing *w, const char *text, size_t size)
{
    return cbx_atomic_write(&w->file, text, size, w->err);
}

/* With the bytes that `named` knows replaced by its text for them. */
static cbx_status put_escaped(writing *w, const char *text, size_t size,
                              const char *(*named)(char c))
{
    cbx_status status = CBX_OK;
    size_t     from = 0;
    for (size_t i = 0; i < size && !status; i++) {
        const char *instead = named(text[i]);
        if (!instead)
            continue;
        status = put(w, text + from, i - from);
        if (!status)
            status = put(w, instead, strlen(instead));
        from = i + 1;
    }
    return status ? status : put(w, text + from, size - from);
}

static const char *html_name(char c)
{
    return c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : NULL;
}

/* JSON has this byte in texts only, and there may say it otherwise: then no name in the
 * data can end the script element that holds it. */
static const char *json_name(char c)
{
    return c == '<' ? "\\u003c" : NULL;
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* 'sha256-…' in base 64, as a policy names what may run. */
static cbx_status put_hash(writing *w, cbx_sha256 *sha)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char     hex[65], text[64] = "'sha256-";
    size_t   at = strlen(text);
    unsigned bits = 0, have = 0;
    cbx_sha256_hex(sha, hex);
    for (int i = 0; i < 64; i++) {
        bits = (bits << 4 | digit(hex[i])) & 0xfff;
        have += 4;
        if (have >= 6) {
            have -= 6;
            text[at++] = letters[bits >> have & 63];
        }
    }
    text[at++] = letters[bits << (6 - have) & 63]; /* 256 bits: four are left */
    memcpy(text + at, "='", 3);
    return put(w, text, at + 2);
}

/* ------------------------------------------------------------------- marks */

static bool is(const char *mark, size_t length, const char *name)
{
    return strlen(name) == length && !memcmp(mark, name, length);
}

static cbx_status put_mark(writing *w, const char *mark, size_t length)
{
    cbx_sha256 sha;
    cbx_sha256_init(&sha);
    if (is(mark, length, "title"))
        return put_escaped(w, w->page->title, strlen(w->page->title), html_name);
    if (is(mark, length, "kind"))
        return put(w, w->page->kind, strlen(w->page->kind));
    if (is(mark, length, "style")) {
        cbx_status status = put(w, w->style->text, w->style->size);
        return status || !w->own_style ? status : put(w, w->own_style->text, w->own_style->size);
    }
    if (is(mark, length, "data"))
        return put_escaped(w, w->page->data->text, w->page->data->size, json_name);
    if (is(mark, length, "script")) {
        cbx_status status = CBX_OK;
        for (const cbx_page_asset *a = NULL; !status && (a = next_script(w->page, a));)
            status = put(w, a->text, a->size);
        return status;
    }
    if (is(mark, length, "style-hash")) {
        cbx_sha256_add(&sha, w->style->text, w->style->size);
        if (w->own_style)
            cbx_sha256_add(&sha, w->own_style->text, w->own_style->size);
        return put_hash(w, &sha);
    }
    if (is(mark, length, "script-hash")) {
        for (const cbx_page_asset *a = NULL; (a = next_script(w->page, a));)
            cbx_sha256_add(&sha, a->text, a->size);
        return put_hash(w, &sha);
    }
    return cbx_fail(w->err, CBX_INVALID, "the shell of pages has an unknown mark");
}

static cbx_status put_shell(writing *w, const cbx_page_asset *shell)
{
    const char *at = shell->text;
    cbx_status  status = CBX_OK;
    while (!status) {
        const char *mark = strstr(at, "{{"), *end = mark ? strstr(mark, "}}") : NULL;
        if (!end)
            return put(w, at, strlen(at));
        status = put(w, at, (size_t)(mark - at));
        if (!status)
            status = put_mark(w, mark + 2, (size_t)(end - mark) - 2);
        at = end + 2;
    }
    return status;
}

/* ------------------------------------------------------------------- whole */

cbx_status cbx_page_write(const cbx_page *page, const char *path, cbx_error *err)
{
    writing               w = {.page = page, .err = err};
    const cbx_page_asset *shell = asset("shell.html");
    char                  script[64], style[64];
    (void)snprintf(script, sizeof script, "%s.js", page->kind);
    (void)snprintf(style, sizeof style, "%s.css", page->kind);
    w.style = asset("style.css");
    w.own_style = asset(style);
    if (!asset(script))
        return cbx_fail(err, CBX_INVALID, "there is no kind of page called '%s'", page->kind);
    if (page->data->failed)
        return cbx_fail_memory(err);
    cbx_status status = cbx_atomic_open(&w.file, path, err);
    if (!status) {
        status = put_shell(&w, shell);
        if (status)
            cbx_atomic_abandon(&w.file);
        else
            status = cbx_atomic_commit(&w.file, err);
    }
    return status;
}
