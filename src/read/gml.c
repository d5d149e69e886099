/* SPDX-License-Identifier: Apache-2.0 */
/* gml.c: GML: words, each with a value behind it: a number, a "text", or [ more words ].
 *
 *     graph [ directed 1  node [ id 7 label "a" size 2.5 ]  edge [ source 7 target 7 ] ]
 *
 * Words of a node but its id are attributes (see vertices.h); an attribute of numbers and texts
 * is one of texts. Lists within nodes, such as graphics, and words that are not known are passed
 * over. Of several graphs the first is read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "number.h"
#include "utf8.h"
#include "vertices.h"
#include "word.h"

enum { DEEPEST = 64 };

typedef struct word {
    char  *text; /* not cut off: what follows may stick to it */
    size_t length;
} word;

typedef enum kind { KIND_NUMBER, KIND_TEXT, KIND_LIST } kind;

typedef struct gml_value {
    kind        kind; /* of a list only the bracket has been read */
    double      number;
    const char *text;
} gml_value;

typedef struct edge {
    int64_t source, target; /* ids */
    double  weight;         /* NaN: none */
    int64_t line;
} edge;

CBX_VECTOR(edges, edge)

typedef struct gml {
    cbx_reading *r;
    cbx_place    path;
    char        *at;
    int64_t      line;
    cbx_vertices v;
    cbx_names    words; /* of attributes, by number */
    edges        edges;
    bool         graph_read, weighted, text_weights;
} gml;

CBX_FORMAT(3, 4)
static cbx_status fail(const gml *g, int64_t line, const char *format, ...)
{
    char    what[CBX_MESSAGE_SIZE / 2];
    va_list values;
    va_start(values, format);
    (void)cbx_vprint(what, sizeof what, format, values);
    va_end(values);
    return cbx_fail(g->r->err, CBX_INVALID, "%.200s, line %lld: %s", g->path, (long long)line,
                    what);
}

/* ---- words */

/* Past blanks, and past comments, which go from # to the end of the line. */
static void skip_blanks(gml *g)
{
    for (;; g->at++) {
        if (*g->at == '#')
            g->at += strcspn(g->at, "\n");
        if (*g->at == '\n')
            g->line++;
        else if (*g->at != ' ' && *g->at != '\t' && *g->at != '\r')
            return;
    }
}

static bool is_letter(char c)
{
    return (cbx_lower(c) >= 'a' && cbx_lower(c) <= 'z') || c == '_';
}

/* The next word of a list, or of the file; of length 0 where that ends. */
static cbx_status next_word(gml *g, bool in_list, word *out)
{
    skip_blanks(g);
    *out = (word){g->at, 0};
    if (in_list && *g->at == ']') {
        g->at++;
        return CBX_OK;
    }
    if (!*g->at && !in_list)
        return CBX_OK;
    if (!is_letter(*g->at))
        return *g->at ? fail(g, g->line, "'%.1s', where a word was expected", g->at)
                      : fail(g, g->line, "the end of the file, where ']' was expected");
    while (is_letter(*g->at) || cbx_is_digit(*g->at))
        g->at++;
    out->length = (size_t)(g->at - out->text);
    return CBX_OK;
}

static bool is(const word *w, const char *name)
{
    return w->length == strlen(name) && !memcmp(w->text, name, w->length);
}

/* ---- values */

/* &amp; and the like, and &#N;: the character, and the length of what stands for it; or 0. */
static uint32_t entity(const char *at, size_t *length)
{
    static const struct {
        const char *name;
        char        character;
    } known[] = {{"&amp;", '&'}, {"&quot;", '"'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&apos;", '\''}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        *length = strlen(known[i].name);
        if (!strncmp(at, known[i].name, *length))
            return (uint32_t)known[i].character;
    }
    if (at[1] != '#' || !cbx_is_digit(at[2]))
        return 0;
    char         *end;
    unsigned long code = strtoul(at + 2, &end, 10);
    *length = (size_t)(end - at) + 1;
    return *end == ';' && code < 0x110000 && (code < 0xd800 || code >= 0xe000) ? (uint32_t)code : 0;
}

/* From behind the first quote to the last, which is passed. It is written over: nothing that a
 * character is written as is shorter than that character. */
static cbx_status read_text(gml *g, gml_value *out)
{
    int64_t line = g->line;
    char   *to = g->at;
    *out = (gml_value){.kind = KIND_TEXT, .text = g->at};
    while (*g->at && *g->at != '"') {
        size_t   length = 1;
        uint32_t code = *g->at == '&' ? entity(g->at, &length) : 0;
        g->line += *g->at == '\n';
        if (code)
            to = cbx_utf8_put(to, code);
        else
            *to++ = *g->at;
        g->at += code ? length : 1;
    }
    if (!*g->at)
        return fail(g, line, "a text without an end");
    g->at++;
    *to = '\0';
    return CBX_OK;
}

static cbx_status next_value(gml *g, const word *w, gml_value *out)
{
    int64_t line = g->line;
    skip_blanks(g);
    if (*g->at == '[') {
        g->at++;
        *out = (gml_value){.kind = KIND_LIST};
        return CBX_OK;
    }
    if (*g->at == '"') {
        g->at++;
        return read_text(g, out);
    }
    char *end;
    *out = (gml_value){.kind = KIND_NUMBER, .number = cbx_read_number(g->at, &end)};
    if (end == g->at || (*end && !strchr(" \t\r\n[]#", *end)))
        return fail(g, line, "a value expected behind '%.*s'",
                    (int)(w->length < 60 ? w->length : 60), w->text);
    g->at = end;
    return CBX_OK;
}

/* Past the end of a list whose bracket has been read. */
static cbx_status skip_list(gml *g)
{
    cbx_status status = CBX_OK;
    for (int depth = 1; !status && depth > 0;) {
        word      w;
        gml_value v = {.kind = KIND_NUMBER};
        status = next_word(g, true, &w);
        if (!status && w.length)
            status = next_value(g, &w, &v);
        depth += w.length == 0 ? -1 : v.kind == KIND_LIST;
        if (!status && depth > DEEPEST)
            status = fail(g, g->line, "lists within lists, more than %d deep", DEEPEST);
    }
    return status;
}

/* ---- nodes and edges */

static cbx_status whole(const gml *g, const word *w, const gml_value *v, int64_t *out)
{
    if (v->kind != KIND_NUMBER || !(fabs(v->number) <= 9007199254740992.0) ||
        v->number != rint(v->number))
        return fail(g, g->line, "'%.*s' is not a whole number",
                    (int)(w->length < 60 ? w->length : 60), w->text);
    *out = (int64_t)v->number;
    return CBX_OK;
}

static cbx_status say(gml *g, int64_t node, const word *w, const gml_value *v)
{
    w->text[w->length] = '\0'; /* its value has been read */
    int64_t number = cbx_names_find(&g->words, w->text);
    if (number < 0) {
        number = cbx_names_add(&g->words, w->text);
        if (number < 0 || cbx_vertices_attribute(&g->v, w->text) < 0)
            return CBX_MEMORY(g->r);
    }
    bool ok = v->kind == KIND_TEXT ? cbx_vertices_text(&g->v, node, (int32_t)number, v->text)
                                   : cbx_vertices_number(&g->v, node, (int32_t)number, v->number);
    return ok ? CBX_OK : CBX_MEMORY(g->r);
}

static cbx_status read_node(gml *g)
{
    int64_t    line = g->line, node = g->v.ids.count, id = 0;
    bool       named = false;
    word       w = {.length = 1};
    cbx_status status = CBX_OK;
    while (!status && !(status = next_word(g, true, &w)) && w.length) {
        gml_value v;
        status = next_value(g, &w, &v);
        if (status)
            break;
        if (v.kind == KIND_LIST) {
            status = skip_list(g);
        } else if (is(&w, "id")) {
            status = whole(g, &w, &v, &id);
            named = true;
        } else {
            status = say(g, node, &w, &v);
        }
    }
    if (status)
        return status;
    if (!named)
        return fail(g, line, "a node without an id");
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)id);
    int64_t number = cbx_names_add(&g->v.ids, text);
    if (number < 0)
        return CBX_MEMORY(g->r);
    return number == node ? CBX_OK : fail(g, line, "node %lld is there already", (long long)id);
}

static cbx_status read_edge(gml *g)
{
    edge       e = {.weight = NAN, .line = g->line};
    bool       from = false, to = false;
    word       w = {.length = 1};
    cbx_status status = CBX_OK;
    while (!status && !(status = next_word(g, true, &w)) && w.length) {
        gml_value v;
        status = next_value(g, &w, &v);
        if (status)
            break;
        if (v.kind == KIND_LIST) {
            status = skip_list(g);
        } else if (is(&w, "source")) {
            status = whole(g, &w, &v, &e.source);
            from = true;
        } else if (is(&w, "target")) {
            status = whole(g, &w, &v, &e.target);
            to = true;
        } else if (is(&w, "weight")) {
            g->weighted = true;
            g->text_weights = g->text_weights || v.kind == KIND_TEXT;
            e.weight = v.number;
        }
    }
    if (!status && (!from || !to))
        return fail(g, e.line, "an edge without a %s", from ? "target" : "source");
    if (!status && !edges_add(&g->edges, e))
        return CBX_MEMORY(g->r);
    return status;
}

static cbx_status read_graph(gml *g)
{
    word       w = {.length = 1};
    cbx_status status = CBX_OK;
    g->graph_read = true;
    while (!status && !(status = next_word(g, true, &w)) && w.length) {
        gml_value v;
        status = next_value(g, &w, &v);
        if (!status && v.kind == KIND_LIST)
            status = is(&w, "node") ? read_node(g) : is(&w, "edge") ? read_edge(g) : skip_list(g);
        else if (!status && is(&w, "directed"))
            g->v.directed = v.number != 0;
    }
    return status;
}

/* ---- all of it */

static cbx_status read_words(gml *g)
{
    word       w = {.length = 1};
    cbx_status status = CBX_OK;
    while (!status && !(status = next_word(g, false, &w)) && w.length) {
        gml_value v;
        status = next_value(g, &w, &v);
        if (!status && v.kind == KIND_LIST)
            status = is(&w, "graph") && !g->graph_read ? read_graph(g) : skip_list(g);
    }
    return status;
}

static cbx_status find_end(gml *g, const edge *e, int64_t id, cbx_longs *to)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)id);
    int64_t node = cbx_names_find(&g->v.ids, text);
    if (node < 0)
        return fail(g, e->line, "an edge of node %s, which is not there", text);
    return cbx_longs_add(to, node) ? CBX_OK : CBX_MEMORY(g->r);
}

static cbx_status add_edges(gml *g)
{
    cbx_status status = CBX_OK;
    for (size_t k = 0; !status && k < g->edges.count; k++) {
        const edge *e = &g->edges.at[k];
        status = find_end(g, e, e->source, &g->v.source);
        if (!status)
            status = find_end(g, e, e->target, &g->v.target);
        if (!status && g->weighted && !g->text_weights &&
            !cbx_floats_add(&g->v.weight, (float)e->weight))
            status = CBX_MEMORY(g->r);
    }
    return status;
}

static cbx_status read_file(cbx_reading *r, const char *name)
{
    gml            g = {.r = r, .line = 1, .v = {.r = r}};
    unsigned char *bytes = NULL;
    size_t         size = 0;
    (void)cbx_bundle_place(r->bundle, name, g.path);
    cbx_status status = cbx_bundle_slurp(r->bundle, name, &bytes, &size, r->err);
    if (!status && memchr(bytes, '\0', size))
        status = cbx_fail(r->err, CBX_INVALID, "%.400s: not text: it has a 0 byte", g.path);
    g.at = (char *)bytes;
    if (!status)
        status = read_words(&g);
    if (!status && !g.graph_read)
        status = fail(&g, g.line, "the end of the file, and no graph in it");
    if (!status)
        status = add_edges(&g);
    if (!status)
        status = cbx_vertices_finish(&g.v);
    free(bytes);
    cbx_vertices_free(&g.v);
    cbx_names_free(&g.words);
    edges_free(&g.edges);
    return status;
}

static bool detect(cbx_bundle *bundle)
{
    return cbx_bundle_alone(bundle, ".gml") != NULL;
}

static cbx_status read(cbx_reading *r)
{
    const char *name;
    cbx_status  status = cbx_bundle_need_alone(r->bundle, ".gml", &name, r->err);
    return status ? status : read_file(r, name);
}

const cbx_reader cbx_reader_gml = {
    .name = "gml",
    .about = "GML: NAME.gml",
    .detect = detect,
    .read = read,
};
