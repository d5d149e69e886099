/* SPDX-License-Identifier: Apache-2.0 */
/* graphml.c: GraphML, through expat.
 *
 * Keys of vertices are attributes (see vertices.h): int, long, float, double and boolean are
 * numbers, string a text; a key of another type, or of none, is passed over, and so is what
 * other programs put in: graphics, ports, graphs within vertices. A vertex without a number has
 * the key's default, or none; a boolean's is false. Edges have the attribute weight. Of several
 * graphs the first is read. A document type is refused: it could define entities, and those
 * unfold to any length. */
#include <expat.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "number.h"
#include "vertices.h"
#include "word.h"

/* Where in the document: what an element means depends on it. */
typedef enum place {
    OUTSIDE,
    IN_GRAPHML,
    IN_KEY,
    IN_DEFAULT,
    IN_GRAPH,
    IN_NODE,
    IN_NODE_DATA,
    IN_EDGE,
    IN_EDGE_DATA
} place;

typedef enum kind { KIND_NUMBER, KIND_BOOLEAN, KIND_TEXT } kind;

typedef struct key {
    kind    kind;
    int32_t attribute; /* of vertices, or -1 */
    bool    weight;    /* of edges */
} key;

CBX_VECTOR(keys, key)

typedef struct graphml {
    XML_Parser   parser;
    cbx_reading *r;
    const char  *path;
    cbx_vertices v;
    cbx_status   status;
    place        place;
    int64_t      passed_over; /* elements open within one that means nothing here */
    bool         graph_read;
    cbx_names    key_ids;
    keys         keys;    /* by number of its id */
    int64_t      key;     /* of the default or data that is open, or -1 */
    int64_t      vertex;  /* that is open */
    double       weight;  /* of the edge that is open */
    double       missing; /* weight: the key's default */
    bool         weighted;
    cbx_bytes    text; /* of the default or data that is open */
} graphml;

/* ---- failing */

static void stop(graphml *g, cbx_status status)
{
    g->status = status;
    (void)XML_StopParser(g->parser, XML_FALSE);
}

static void no_memory(graphml *g)
{
    stop(g, CBX_MEMORY(g->r));
}

CBX_FORMAT(2, 3)
static void fail(graphml *g, const char *format, ...)
{
    char    what[CBX_MESSAGE_SIZE / 2];
    va_list values;
    va_start(values, format);
    (void)cbx_vprint(what, sizeof what, format, values);
    va_end(values);
    stop(g, cbx_fail(g->r->err, CBX_INVALID, "%.200s, line %llu: %s", g->path,
                     (unsigned long long)XML_GetCurrentLineNumber(g->parser), what));
}

/* ---- elements */

/* Without the prefix of a namespace. */
static const char *local_name(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

static const char *attribute(const char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (!strcmp(local_name(attributes[0]), name))
            return attributes[1];
    return NULL;
}

static bool kind_of(const char *type, kind *out)
{
    static const struct {
        const char *type;
        kind        kind;
    } known[] = {{"int", KIND_NUMBER},    {"long", KIND_NUMBER},     {"float", KIND_NUMBER},
                 {"double", KIND_NUMBER}, {"boolean", KIND_BOOLEAN}, {"string", KIND_TEXT}};
    for (size_t i = 0; type && i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].type, type)) {
            *out = known[i].kind;
            return true;
        }
    return false;
}

static bool start_attribute(graphml *g, key *k, const char *name)
{
    k->attribute = cbx_vertices_attribute(&g->v, name);
    if (k->attribute < 0)
        return false;
    cbx_attribute *a = &g->v.attributes.at[k->attribute];
    a->is_text = k->kind == KIND_TEXT;
    if (k->kind == KIND_BOOLEAN)
        a->fallback.number = 0;
    return true;
}

static void start_key(graphml *g, const char **attributes)
{
    const char *id = attribute(attributes, "id"), *of = attribute(attributes, "for");
    const char *name = attribute(attributes, "attr.name");
    key         k = {.attribute = -1};
    bool        all = !of || !strcmp(of, "all");
    g->key = -1;
    g->place = IN_KEY;
    if (!id || !kind_of(attribute(attributes, "attr.type"), &k.kind))
        return;
    name = name ? name : id;
    if (cbx_names_find(&g->key_ids, id) >= 0) {
        fail(g, "the key '%.60s' is there already", id);
        return;
    }
    k.weight = (all || !strcmp(of, "edge")) && !strcmp(name, "weight") && k.kind == KIND_NUMBER;
    if (k.weight) {
        g->weighted = true;
        g->missing = NAN;
    }
    if ((all || !strcmp(of, "node")) && !start_attribute(g, &k, name)) {
        no_memory(g);
        return;
    }
    g->key = cbx_names_add(&g->key_ids, id);
    if (g->key < 0 || !keys_add(&g->keys, k))
        no_memory(g);
}

static void start_node(graphml *g, const char **attributes)
{
    const char *id = attribute(attributes, "id");
    g->place = IN_NODE;
    if (!id)
        fail(g, "a node without an id");
    else if ((g->vertex = cbx_names_add(&g->v.ids, id)) < 0)
        no_memory(g);
}

static void start_edge(graphml *g, const char **attributes)
{
    const char *source = attribute(attributes, "source"), *to = attribute(attributes, "target");
    g->place = IN_EDGE;
    g->weight = g->missing;
    if (!source || !to) {
        fail(g, "an edge without a %s", source ? "target" : "source");
        return;
    }
    int64_t a = cbx_names_add(&g->v.ids, source), b = cbx_names_add(&g->v.ids, to);
    if (a < 0 || b < 0 || !cbx_longs_add(&g->v.source, a) || !cbx_longs_add(&g->v.target, b))
        no_memory(g);
}

static void start_data(graphml *g, const char **attributes, place where)
{
    const char *id = attribute(attributes, "key");
    g->place = where;
    g->text.count = 0;
    g->key = id ? cbx_names_find(&g->key_ids, id) : -1;
}

static void start_graph(graphml *g, const char **attributes)
{
    const char *edges = attribute(attributes, "edgedefault");
    g->place = IN_GRAPH;
    g->graph_read = true;
    g->v.directed = edges && !strcmp(edges, "directed");
}

/* False: it means nothing here. */
static bool start_known(graphml *g, const char *name, const char **attributes)
{
    if (g->place == IN_GRAPHML && !strcmp(name, "key"))
        start_key(g, attributes);
    else if (g->place == IN_GRAPHML && !strcmp(name, "graph") && !g->graph_read)
        start_graph(g, attributes);
    else if (g->place == IN_GRAPH && !strcmp(name, "node"))
        start_node(g, attributes);
    else if (g->place == IN_GRAPH && !strcmp(name, "edge"))
        start_edge(g, attributes);
    else if (g->place == IN_NODE && !strcmp(name, "data"))
        start_data(g, attributes, IN_NODE_DATA);
    else if (g->place == IN_EDGE && !strcmp(name, "data"))
        start_data(g, attributes, IN_EDGE_DATA);
    else if (g->place == IN_KEY && !strcmp(name, "default")) {
        g->place = IN_DEFAULT;
        g->text.count = 0;
    } else
        return false;
    return true;
}

static void XMLCALL on_start(void *user, const char *name, const char **attributes)
{
    graphml *g = user;
    name = local_name(name);
    if (g->status)
        return;
    if (g->passed_over)
        g->passed_over++;
    else if (g->place == OUTSIDE && strcmp(name, "graphml") != 0)
        fail(g, "the element <%.40s>, where <graphml> was expected", name);
    else if (g->place == OUTSIDE)
        g->place = IN_GRAPHML;
    else if (!start_known(g, name, attributes))
        g->passed_over = 1;
}

/* ---- values */

static void XMLCALL on_text(void *user, const char *text, int length)
{
    graphml *g = user;
    bool wanted = g->place == IN_DEFAULT || g->place == IN_NODE_DATA || g->place == IN_EDGE_DATA;
    if (g->status || g->passed_over || !wanted || g->key < 0)
        return;
    if (!cbx_bytes_reserve(&g->text, g->text.count + (size_t)length + 1)) {
        no_memory(g);
        return;
    }
    memcpy(g->text.at + g->text.count, text, (size_t)length);
    g->text.count += (size_t)length;
}

/* The text that was gathered, without blanks around it where it is to be a number. */
static const char *gathered(graphml *g, kind wanted)
{
    static const char blanks[] = " \t\r\n";
    if (!cbx_bytes_reserve(&g->text, g->text.count + 1)) {
        no_memory(g);
        return NULL;
    }
    char *text = (char *)g->text.at, *end = text + g->text.count;
    *end = '\0';
    if (wanted == KIND_TEXT)
        return text;
    text += strspn(text, blanks);
    while (end > text && strchr(blanks, end[-1]))
        *--end = '\0';
    return text;
}

/* NaN where there is nothing; a text that is no number stops the reading. */
static double number_of(graphml *g, kind wanted, const char *text)
{
    char  *end;
    double value = cbx_read_number(text, &end);
    if (!*text)
        return wanted == KIND_BOOLEAN ? 0 : NAN;
    if (wanted == KIND_BOOLEAN && (cbx_same_word(text, "true") || cbx_same_word(text, "yes")))
        return 1;
    if (wanted == KIND_BOOLEAN && (cbx_same_word(text, "false") || cbx_same_word(text, "no")))
        return 0;
    if (*end)
        fail(g, "'%.40s' is not %s, as the key '%.60s' wants it", text,
             wanted == KIND_BOOLEAN ? "true or false" : "a number", g->key_ids.at[g->key]);
    return wanted == KIND_BOOLEAN ? value != 0 : value;
}

static void end_default(graphml *g)
{
    const key  *k = g->key < 0 ? NULL : &g->keys.at[g->key];
    const char *text = k ? gathered(g, k->kind) : NULL;
    if (!text)
        return;
    if (k->kind == KIND_TEXT) {
        if (k->attribute >= 0 && !cbx_vertices_default_text(&g->v, k->attribute, text))
            no_memory(g);
        return;
    }
    double value = number_of(g, k->kind, text);
    if (k->attribute >= 0)
        g->v.attributes.at[k->attribute].fallback.number = value;
    if (k->weight)
        g->missing = value;
}

static void end_node_data(graphml *g)
{
    const key  *k = g->key < 0 ? NULL : &g->keys.at[g->key];
    const char *text = k && k->attribute >= 0 ? gathered(g, k->kind) : NULL;
    if (!text)
        return;
    if (k->kind == KIND_TEXT
            ? !cbx_vertices_text(&g->v, g->vertex, k->attribute, text)
            : !cbx_vertices_number(&g->v, g->vertex, k->attribute, number_of(g, k->kind, text)))
        no_memory(g);
}

static void end_edge_data(graphml *g)
{
    const key  *k = g->key < 0 ? NULL : &g->keys.at[g->key];
    const char *text = k && k->weight ? gathered(g, k->kind) : NULL;
    if (text)
        g->weight = number_of(g, k->kind, text);
}

static void end_edge(graphml *g)
{
    if (g->weighted && !cbx_floats_add(&g->v.weight, (float)g->weight))
        no_memory(g);
}

static void XMLCALL on_end(void *user, const char *name)
{
    static const place back[] = {OUTSIDE,  OUTSIDE, IN_GRAPHML, IN_KEY, IN_GRAPHML,
                                 IN_GRAPH, IN_NODE, IN_GRAPH,   IN_EDGE};
    graphml           *g = user;
    (void)name;
    if (g->status)
        return;
    if (g->passed_over) {
        g->passed_over--;
        return;
    }
    if (g->place == IN_DEFAULT)
        end_default(g);
    else if (g->place == IN_NODE_DATA)
        end_node_data(g);
    else if (g->place == IN_EDGE_DATA)
        end_edge_data(g);
    else if (g->place == IN_EDGE)
        end_edge(g);
    g->place = back[g->place];
}

static void XMLCALL on_document_type(void *user, const char *name, const char *system,
                                     const char *public, int has_subset)
{
    (void)name, (void)system, (void)public, (void)has_subset;
    fail(user, "a document type (DOCTYPE), which is not read: take that line out");
}

/* ---- all of it */

/* What the parser says, unless one of the functions above has said why it stopped. */
static cbx_status outcome(graphml *g)
{
    enum XML_Error code = XML_GetErrorCode(g->parser);
    if (g->status)
        return g->status;
    if (code == XML_ERROR_NO_MEMORY)
        return CBX_MEMORY(g->r);
    return cbx_fail(g->r->err, CBX_INVALID, "%.200s, line %llu: %s", g->path,
                    (unsigned long long)XML_GetCurrentLineNumber(g->parser), XML_ErrorString(code));
}

/* Pieces become larger: some versions of the parser look at a long text from its beginning
 * again with every piece of it. */
static cbx_status parse(graphml *g, cbx_stream *stream)
{
    size_t size = 1 << 16, got;
    do {
        void *piece = XML_GetBuffer(g->parser, (int)size);
        if (!piece)
            return outcome(g);
        cbx_status status = cbx_stream_read(stream, piece, size, &got, g->r->err);
        if (status)
            return status;
        if (!XML_ParseBuffer(g->parser, (int)got, got < size))
            return outcome(g);
        if (got < size)
            return CBX_OK;
        size = size < (1 << 24) ? 2 * size : size;
    } while (true);
}

static cbx_status read_file(cbx_reading *r, const char *name)
{
    static const XML_Memory_Handling_Suite memory = {malloc, realloc, free};
    graphml                                g = {.r = r, .v = {.r = r}, .key = -1, .missing = NAN};
    cbx_stream                            *stream = NULL;
    cbx_status status = cbx_stream_open(r->bundle, name, &stream, r->err);
    if (!status) {
        g.path = cbx_stream_path(stream);
        g.parser = XML_ParserCreate_MM(NULL, &memory, NULL);
        status = g.parser ? CBX_OK : CBX_MEMORY(r);
    }
    if (!status) {
        XML_SetUserData(g.parser, &g);
        XML_SetElementHandler(g.parser, on_start, on_end);
        XML_SetCharacterDataHandler(g.parser, on_text);
        XML_SetStartDoctypeDeclHandler(g.parser, on_document_type);
        status = parse(&g, stream);
    }
    if (!status && !g.graph_read)
        status = cbx_fail(r->err, CBX_INVALID, "%.400s: there is no <graph> in it", g.path);
    if (!status)
        status = cbx_vertices_finish(&g.v);
    if (g.parser)
        XML_ParserFree(g.parser);
    cbx_stream_close(stream);
    cbx_vertices_free(&g.v);
    cbx_names_free(&g.key_ids);
    keys_free(&g.keys);
    cbx_bytes_free(&g.text);
    return status;
}

static bool detect(cbx_bundle *bundle)
{
    return cbx_bundle_alone(bundle, ".graphml") != NULL;
}

static cbx_status read(cbx_reading *r)
{
    const char *name;
    cbx_status  status = cbx_bundle_need_alone(r->bundle, ".graphml", &name, r->err);
    return status ? status : read_file(r, name);
}

const cbx_reader cbx_reader_graphml = {
    .name = "graphml",
    .about = "GraphML: NAME.graphml",
    .detect = detect,
    .read = read,
};
