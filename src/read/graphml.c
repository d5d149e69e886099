/* SPDX-License-Identifier: Apache-2.0 */
/* graphml.c: GraphML and GML, through igraph.
 *
 * Vertex attributes become features: numbers and truth values as they are, texts
 * one-hot. Some names have a meaning: class, y and target are the class; id, name
 * and label name the vertex; split is train, val or test. Edges have the attribute
 * weight. An undirected graph's edges go both ways. */
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "names.h"
#include "number.h"
#include "reading.h"
#include "word.h"

static const char *file_of(cbx_bundle *bundle, const char *ending)
{
    const char *name = cbx_bundle_ending(bundle, ending);
    return name && !strchr(name, '/') ? name : NULL;
}

static bool detect_graphml(cbx_bundle *bundle)
{
    return file_of(bundle, ".graphml") != NULL;
}

static bool detect_gml(cbx_bundle *bundle)
{
    return file_of(bundle, ".gml") != NULL;
}

#ifdef CBX_HAVE_IGRAPH
#include <igraph/igraph.h>

/* igraph reads from a FILE, so what may be packed goes through an unnamed one. */
static cbx_status spool(cbx_reading *r, const char *name, FILE **out)
{
    cbx_stream *s;
    char        chunk[1 << 14];
    size_t      got;
    cbx_status  status = cbx_stream_open(r->bundle, name, &s, r->err);
    if (status)
        return status;
    *out = tmpfile();
    if (!*out)
        status = cbx_fail_errno(r->err, name, "make a temporary file for");
    do {
        got = 0;
        if (!status)
            status = cbx_stream_read(s, chunk, sizeof chunk, &got, r->err);
        if (!status && fwrite(chunk, 1, got, *out) != got)
            status = cbx_fail_errno(r->err, name, "make a temporary file for");
    } while (!status && got == sizeof chunk);
    cbx_stream_close(s);
    if (status && *out) {
        (void)fclose(*out);
        *out = NULL;
    }
    if (*out)
        rewind(*out);
    return status;
}

static _Thread_local char complaint[256]; /* igraph's handler has no argument of ours */

static void on_error(const char *reason, const char *file, int line, igraph_error_t code)
{
    (void)file, (void)line, (void)code;
    (void)snprintf(complaint, sizeof complaint, "%s", reason);
    IGRAPH_FINALLY_FREE();
}

static void on_warning(const char *reason, const char *file, int line)
{
    (void)reason, (void)file, (void)line;
}

static cbx_status parse(cbx_reading *r, const char *name, bool gml, igraph_t *graph)
{
    FILE      *file = NULL;
    cbx_status status = spool(r, name, &file);
    if (status)
        return status;
    complaint[0] = '\0';
    cbx_locale                locale = cbx_locale_begin();
    igraph_error_handler_t   *error = igraph_set_error_handler(on_error);
    igraph_warning_handler_t *warning = igraph_set_warning_handler(on_warning);
    igraph_error_t            code =
        gml ? igraph_read_graph_gml(graph, file) : igraph_read_graph_graphml(graph, file, 0);
    igraph_set_error_handler(error);
    igraph_set_warning_handler(warning);
    cbx_locale_end(locale);
    (void)fclose(file);
    if (code == IGRAPH_ENOMEM)
        return CBX_MEMORY(r);
    if (code)
        return cbx_fail(r->err, CBX_INVALID, "%.250s: %s",
                        cbx_bundle_place(r->bundle, name, (cbx_place){0}),
                        complaint[0] ? complaint : igraph_strerror(code));
    return CBX_OK;
}

typedef enum role { ROLE_FEATURE, ROLE_CLASS, ROLE_NAME, ROLE_SPLIT, ROLE_NONE } role;

static role role_of(const char *name)
{
    static const struct {
        const char *name;
        role        role;
    } known[] = {{"class", ROLE_CLASS}, {"y", ROLE_CLASS},    {"target", ROLE_CLASS},
                 {"name", ROLE_NAME},   {"label", ROLE_NAME}, {"id", ROLE_NAME},
                 {"split", ROLE_SPLIT}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (cbx_same_word(known[i].name, name))
            return known[i].role;
    return ROLE_FEATURE;
}

typedef struct vertices {
    cbx_reading        *r;
    const igraph_t     *graph;
    int64_t             n;
    igraph_strvector_t  names;
    igraph_vector_int_t types;
    cbx_names          *texts; /* of each attribute that is one-hot */
    int64_t           **rank;
    int64_t            *first;
    cbx_arena           arena;
} vertices;

/* The attribute as text; numbers as people write them. */
static const char *text_of(const vertices *v, igraph_integer_t a, int64_t i, char buffer[40])
{
    const char *name = igraph_strvector_get(&v->names, a);
    if (VECTOR(v->types)[a] == IGRAPH_ATTRIBUTE_STRING)
        return igraph_cattribute_VAS(v->graph, name, i);
    double value = VECTOR(v->types)[a] == IGRAPH_ATTRIBUTE_BOOLEAN
                       ? igraph_cattribute_VAB(v->graph, name, i)
                       : igraph_cattribute_VAN(v->graph, name, i);
    (void)cbx_print(buffer, 40, "%.15g", value);
    return buffer;
}

static bool is_text(const vertices *v, igraph_integer_t a)
{
    return VECTOR(v->types)[a] == IGRAPH_ATTRIBUTE_STRING;
}

/* Texts of an attribute numbered in alphabetical order. */
static cbx_status number_texts(vertices *v, igraph_integer_t a, cbx_names *names, int64_t **rank,
                               int64_t **order)
{
    char buffer[40];
    for (int64_t i = 0; i < v->n; i++)
        if (cbx_names_add(names, text_of(v, a, i, buffer)) < 0)
            return CBX_MEMORY(v->r);
    *order = CBX_NEW(&v->arena, int64_t, names->count);
    *rank = CBX_NEW(&v->arena, int64_t, names->count);
    if (!*order || !*rank || !cbx_names_sort(names, *order))
        return CBX_MEMORY(v->r);
    for (int64_t k = 0; k < names->count; k++)
        (*rank)[(*order)[k]] = k;
    return CBX_OK;
}

static cbx_status read_classes(vertices *v, igraph_integer_t a)
{
    cbx_draft *d = v->r->draft;
    cbx_names  names = {0}, sorted = {0};
    int64_t   *rank, *order;
    char       buffer[40];
    cbx_status status = number_texts(v, a, &names, &rank, &order);
    for (int64_t i = 0; !status && i < v->n; i++)
        if (!cbx_longs_add(&d->y, rank[cbx_names_find(&names, text_of(v, a, i, buffer))]))
            status = CBX_MEMORY(v->r);
    if (!status) {
        for (int64_t k = 0; !status && k < names.count; k++)
            if (cbx_names_add(&sorted, names.at[order[k]]) < 0)
                status = CBX_MEMORY(v->r);
        d->num_classes = names.count;
        if (!status && !cbx_names_are_numbers(&sorted)) {
            d->class_names = cbx_names_copy(&names, order, &d->arena);
            status = d->class_names ? CBX_OK : CBX_MEMORY(v->r);
        }
    }
    cbx_names_free(&names);
    cbx_names_free(&sorted);
    return status;
}

/* "label" goes before "name", which goes before the "id" that igraph invents. */
static cbx_status read_names(vertices *v)
{
    static const char *const wanted[] = {"label", "name", "id"};
    cbx_draft               *d = v->r->draft;
    for (int w = 0; w < 3; w++)
        for (igraph_integer_t a = 0; a < igraph_strvector_size(&v->names); a++) {
            if (!cbx_same_word(igraph_strvector_get(&v->names, a), wanted[w]))
                continue;
            cbx_names  names = {0};
            char       buffer[40];
            cbx_status status = CBX_OK;
            for (int64_t i = 0; !status && i < v->n; i++)
                if (cbx_names_add(&names, text_of(v, a, i, buffer)) < 0)
                    status = CBX_MEMORY(v->r);
            if (!status && names.count == v->n && !cbx_names_are_numbers(&names)) {
                d->node_names = cbx_names_copy(&names, NULL, &d->arena);
                status = d->node_names ? CBX_OK : CBX_MEMORY(v->r);
            }
            cbx_names_free(&names);
            if (status || d->node_names)
                return status;
        }
    return CBX_OK;
}

static cbx_status read_split(vertices *v, igraph_integer_t a)
{
    static const char *const parts[] = {"train", "val", "test"};
    cbx_draft               *d = v->r->draft;
    char                     buffer[40];
    d->num_splits = 1;
    for (int part = 0; part < CBX_PARTS; part++)
        for (int64_t i = 0; i < v->n; i++)
            if (!cbx_bytes_add(&d->mask[part],
                               cbx_same_word(text_of(v, a, i, buffer), parts[part])))
                return CBX_MEMORY(v->r);
    return CBX_OK;
}

/* Where each attribute's features begin, and what they are called. */
static cbx_status lay_out(vertices *v)
{
    cbx_draft       *d = v->r->draft;
    igraph_integer_t count = igraph_strvector_size(&v->names);
    int64_t          total = 0, **order = CBX_NEW0(&v->arena, int64_t *, count + 1);
    v->texts = CBX_NEW0(&v->arena, cbx_names, count + 1);
    v->rank = CBX_NEW0(&v->arena, int64_t *, count + 1);
    v->first = CBX_NEW0(&v->arena, int64_t, count + 1);
    if (!order || !v->texts || !v->rank || !v->first)
        return CBX_MEMORY(v->r);
    for (igraph_integer_t a = 0; a < count; a++) {
        const char *name = igraph_strvector_get(&v->names, a);
        v->first[a] = total;
        if (role_of(name) != ROLE_FEATURE)
            continue;
        cbx_status status =
            is_text(v, a) ? number_texts(v, a, &v->texts[a], &v->rank[a], &order[a]) : CBX_OK;
        if (status)
            return status;
        if (v->texts[a].count > 64 && v->texts[a].count > v->n / 2)
            return cbx_fail(v->r->err, CBX_INVALID,
                            "%s: attribute '%.60s' has %lld different texts: neither numbers nor "
                            "categories; leave it out",
                            cbx_bundle_path(v->r->bundle), name, (long long)v->texts[a].count);
        total += is_text(v, a) ? v->texts[a].count : 1;
        d->num_groups += is_text(v, a);
    }
    d->num_features = total ? total : 1; /* nothing known: one that is 1 */
    d->feature_names = CBX_NEW(&d->arena, const char *, d->num_features);
    d->group_names = CBX_NEW(&d->arena, const char *, d->num_groups);
    if (!d->feature_names || !d->group_names ||
        (d->num_groups && !cbx_ints_fill(&d->group, (size_t)d->num_features, -1)))
        return CBX_MEMORY(v->r);
    d->feature_names[0] = "constant";
    int32_t group = 0;
    for (igraph_integer_t a = 0; a < count; a++) {
        char *name = cbx_arena_strdup(&d->arena, igraph_strvector_get(&v->names, a));
        if (!name)
            return CBX_MEMORY(v->r);
        if (role_of(name) != ROLE_FEATURE)
            continue;
        if (!is_text(v, a)) {
            d->feature_names[v->first[a]] = name;
            continue;
        }
        for (int64_t k = 0; k < v->texts[a].count; k++) {
            const char *text = v->texts[a].at[order[a][k]];
            size_t      size = strlen(name) + strlen(text) + 2;
            char       *full = CBX_NEW(&d->arena, char, size);
            if (!full)
                return CBX_MEMORY(v->r);
            (void)snprintf(full, size, "%s=%s", name, text);
            d->feature_names[v->first[a] + k] = full;
            d->group.at[v->first[a] + k] = group;
        }
        d->group_names[group++] = name;
    }
    return CBX_OK;
}

static cbx_status read_features(vertices *v)
{
    cbx_draft       *d = v->r->draft;
    igraph_integer_t count = igraph_strvector_size(&v->names);
    bool             any = false;
    char             buffer[40];
    for (igraph_integer_t a = 0; a < count; a++)
        any = any || role_of(igraph_strvector_get(&v->names, a)) == ROLE_FEATURE;
    for (int64_t i = 0; i < v->n; i++) {
        bool ok = cbx_draft_row(d) && (any || cbx_draft_entry(d, 0, 1));
        for (igraph_integer_t a = 0; ok && a < count; a++) {
            const char *name = igraph_strvector_get(&v->names, a);
            if (role_of(name) != ROLE_FEATURE)
                continue;
            double  value = 1;
            int64_t at = v->first[a];
            if (is_text(v, a))
                at += v->rank[a][cbx_names_find(&v->texts[a], text_of(v, a, i, buffer))];
            else if (VECTOR(v->types)[a] == IGRAPH_ATTRIBUTE_BOOLEAN)
                value = igraph_cattribute_VAB(v->graph, name, i);
            else
                value = igraph_cattribute_VAN(v->graph, name, i);
            if (value != value)
                return cbx_fail(v->r->err, CBX_INVALID,
                                "%s: vertex %lld has no attribute '%.60s', or it is not a number",
                                cbx_bundle_path(v->r->bundle), (long long)i, name);
            ok = value == 0 || cbx_draft_entry(d, (int32_t)at, (float)value);
        }
        if (!ok)
            return CBX_MEMORY(v->r);
    }
    return cbx_draft_fit_features(d) ? CBX_OK : CBX_MEMORY(v->r);
}

static cbx_status read_edges(vertices *v)
{
    bool directed = igraph_is_directed(v->graph);
    bool weighted = igraph_cattribute_has_attr(v->graph, IGRAPH_ATTRIBUTE_EDGE, "weight");
    igraph_vector_t weights;
    if (igraph_vector_init(&weights, 0))
        return CBX_MEMORY(v->r);
    if (weighted &&
        igraph_cattribute_EANV(v->graph, "weight", igraph_ess_all(IGRAPH_EDGEORDER_ID), &weights))
        weighted = false; /* texts are no weights */
    cbx_status status = CBX_OK;
    for (igraph_integer_t e = 0; !status && e < igraph_ecount(v->graph); e++) {
        int64_t from = IGRAPH_FROM(v->graph, e), to = IGRAPH_TO(v->graph, e);
        for (int way = 0; !status && way < (directed || from == to ? 1 : 2); way++)
            if (!cbx_draft_edge(v->r->draft, way ? to : from, way ? from : to) ||
                (weighted && !cbx_floats_add(&v->r->draft->weight, (float)VECTOR(weights)[e])))
                status = CBX_MEMORY(v->r);
    }
    igraph_vector_destroy(&weights);
    return status;
}

static cbx_status read_vertices(vertices *v)
{
    cbx_status status = lay_out(v);
    v->r->draft->num_nodes = v->n;
    if (!status)
        status = read_features(v);
    for (igraph_integer_t a = 0; !status && a < igraph_strvector_size(&v->names); a++) {
        role as = role_of(igraph_strvector_get(&v->names, a));
        if (as == ROLE_CLASS && !v->r->draft->y.count)
            status = read_classes(v, a);
        else if (as == ROLE_SPLIT && !v->r->draft->num_splits)
            status = read_split(v, a);
    }
    if (!status)
        status = read_names(v);
    return status ? status : read_edges(v);
}

static cbx_status read_file(cbx_reading *r, const char *name, bool gml)
{
    igraph_t graph;
    vertices v = {.r = r, .graph = &graph};
    /* igraph's settings are put back: other code in the program may use it too */
    igraph_attribute_table_t *table = igraph_set_attribute_table(&igraph_cattribute_table);
    cbx_status                status = parse(r, name, gml, &graph);
    if (status) {
        igraph_set_attribute_table(table);
        return status;
    }
    v.n = igraph_vcount(&graph);
    igraph_error_handler_t *error = igraph_set_error_handler(igraph_error_handler_ignore);
    if (igraph_strvector_init(&v.names, 0)) {
        status = CBX_MEMORY(r);
    } else {
        if (igraph_vector_int_init(&v.types, 0))
            status = CBX_MEMORY(r);
        else {
            if (igraph_cattribute_list(&graph, NULL, NULL, &v.names, &v.types, NULL, NULL))
                status = CBX_MEMORY(r);
            else
                status = read_vertices(&v);
            igraph_vector_int_destroy(&v.types);
        }
        for (igraph_integer_t a = 0; v.texts && a < igraph_strvector_size(&v.names); a++)
            cbx_names_free(&v.texts[a]);
        igraph_strvector_destroy(&v.names);
    }
    igraph_destroy(&graph);
    igraph_set_attribute_table(table);
    igraph_set_error_handler(error);
    cbx_arena_free(&v.arena);
    return status;
}
#else
static cbx_status read_file(cbx_reading *r, const char *name, bool gml)
{
    (void)gml;
    return cbx_fail(r->err, CBX_INVALID,
                    "%s: this combinex was built without igraph, which reads GraphML and GML",
                    name);
}
#endif

static cbx_status read_ending(cbx_reading *r, const char *ending, bool gml)
{
    const char *name = file_of(r->bundle, ending);
    if (!name)
        name = cbx_bundle_chosen(r->bundle); /* --format says it is one */
    if (!name)
        return cbx_fail(r->err, CBX_INVALID, "%s: no file called NAME%s",
                        cbx_bundle_path(r->bundle), ending);
    return read_file(r, name, gml);
}

static cbx_status read_graphml(cbx_reading *r)
{
    return read_ending(r, ".graphml", false);
}

static cbx_status read_gml(cbx_reading *r)
{
    return read_ending(r, ".gml", true);
}

const cbx_reader cbx_reader_graphml = {
    .name = "graphml",
    .about = "GraphML: NAME.graphml",
    .detect = detect_graphml,
    .read = read_graphml,
};

const cbx_reader cbx_reader_gml = {
    .name = "gml",
    .about = "GML: NAME.gml",
    .detect = detect_gml,
    .read = read_gml,
};
