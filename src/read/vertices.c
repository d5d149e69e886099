/* SPDX-License-Identifier: Apache-2.0 */
/* vertices.c: see vertices.h. */
#include "vertices.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "number.h"
#include "word.h"

/* ---- while it is read */

int32_t cbx_vertices_attribute(cbx_vertices *v, const char *name)
{
    cbx_attribute a = {.name = cbx_arena_strdup(&v->arena, name),
                       .fallback = {.text = -1, .number = NAN}};
    if (!a.name || v->attributes.count == INT32_MAX || !cbx_attributes_add(&v->attributes, a))
        return -1;
    return (int32_t)v->attributes.count - 1;
}

bool cbx_vertices_number(cbx_vertices *v, int64_t vertex, int32_t attribute, double number)
{
    return cbx_said_list_add(&v->said, (cbx_said){vertex, attribute, -1, number});
}

bool cbx_vertices_text(cbx_vertices *v, int64_t vertex, int32_t attribute, const char *text)
{
    cbx_attribute *a = &v->attributes.at[attribute];
    int64_t        number = cbx_names_add(&a->texts, text);
    a->is_text = true;
    return number >= 0 && cbx_said_list_add(&v->said, (cbx_said){vertex, attribute, number, NAN});
}

bool cbx_vertices_default_text(cbx_vertices *v, int32_t attribute, const char *text)
{
    cbx_attribute *a = &v->attributes.at[attribute];
    a->is_text = true;
    a->fallback.text = cbx_names_add(&a->texts, text);
    return a->fallback.text >= 0;
}

void cbx_vertices_free(cbx_vertices *v)
{
    for (size_t a = 0; a < v->attributes.count; a++)
        cbx_names_free(&v->attributes.at[a].texts);
    cbx_names_free(&v->ids);
    cbx_attributes_free(&v->attributes);
    cbx_said_list_free(&v->said);
    cbx_longs_free(&v->source);
    cbx_longs_free(&v->target);
    cbx_floats_free(&v->weight);
    cbx_arena_free(&v->arena);
}

/* ---- in the order of vertices, each attribute once */

/* Where the attribute is of texts, numbers said before the first text become texts, too. */
static bool make_texts(cbx_vertices *v)
{
    for (size_t k = 0; k < v->said.count; k++) {
        cbx_said      *s = &v->said.at[k];
        cbx_attribute *a = &v->attributes.at[s->attribute];
        char           text[40];
        if (!a->is_text || s->text >= 0)
            continue;
        (void)cbx_print(text, sizeof text, "%.15g", s->number);
        s->text = cbx_names_add(&a->texts, text);
        if (s->text < 0)
            return false;
    }
    return true;
}

/* begin[i] to begin[i + 1] of v->said become those of vertex i. */
static bool sort_said(cbx_vertices *v, int64_t *begin)
{
    int64_t       n = v->ids.count;
    cbx_said_list sorted = {0};
    if (!cbx_said_list_reserve(&sorted, v->said.count + 1))
        return false;
    memset(begin, 0, ((size_t)n + 2) * sizeof *begin);
    for (size_t k = 0; k < v->said.count; k++)
        begin[v->said.at[k].vertex + 2]++;
    for (int64_t i = 0; i < n; i++)
        begin[i + 2] += begin[i + 1];
    for (size_t k = 0; k < v->said.count; k++)
        sorted.at[begin[v->said.at[k].vertex + 1]++] = v->said.at[k];
    sorted.count = v->said.count;
    cbx_said_list_free(&v->said);
    v->said = sorted;
    return true;
}

/* Of what is said twice of a vertex only the last stays. */
static bool drop_repeats(cbx_vertices *v, int64_t *begin)
{
    size_t   to = 0, count = v->attributes.count;
    int64_t *seen = CBX_NEW0(&v->arena, int64_t, count); /* the last vertex met, from 1 */
    uint8_t *drop = CBX_NEW0(&v->arena, uint8_t, v->said.count);
    if (!seen || !drop)
        return false;
    for (int64_t i = 0; i < v->ids.count; i++)
        for (int64_t k = begin[i + 1] - 1; k >= begin[i]; k--) {
            int32_t a = v->said.at[k].attribute;
            drop[k] = seen[a] == i + 1;
            v->attributes.at[a].said += !drop[k];
            seen[a] = i + 1;
        }
    for (int64_t i = 0, k = 0; i < v->ids.count; i++) {
        int64_t end = begin[i + 1];
        begin[i] = (int64_t)to;
        for (; k < end; k++)
            if (!drop[k])
                v->said.at[to++] = v->said.at[k];
    }
    begin[v->ids.count] = (int64_t)to;
    v->said.count = to;
    return true;
}

/* ---- roles */

typedef enum role {
    ROLE_FEATURE,
    ROLE_CLASS,
    ROLE_LABEL,
    ROLE_NAME,
    ROLE_ID,
    ROLE_SPLIT,
    ROLES
} role;

static role role_of(const char *name)
{
    static const struct {
        const char *name;
        role        role;
    } known[] = {{"class", ROLE_CLASS}, {"y", ROLE_CLASS}, {"target", ROLE_CLASS},
                 {"name", ROLE_NAME},   {"id", ROLE_ID},   {"label", ROLE_LABEL},
                 {"split", ROLE_SPLIT}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (cbx_same_word(known[i].name, name))
            return known[i].role;
    return ROLE_FEATURE;
}

/* The first attribute of a role, or -1. */
static int32_t first_of(const cbx_vertices *v, role wanted)
{
    for (size_t a = 0; a < v->attributes.count; a++)
        if (role_of(v->attributes.at[a].name) == wanted)
            return (int32_t)a;
    return -1;
}

/* What an attribute says of each vertex, or NULL where that is nothing. */
static const cbx_said **column_of(cbx_vertices *v, int32_t attribute)
{
    const cbx_said **column = CBX_NEW0(&v->arena, const cbx_said *, v->ids.count);
    for (size_t k = 0; column && k < v->said.count; k++)
        if (v->said.at[k].attribute == attribute)
            column[v->said.at[k].vertex] = &v->said.at[k];
    return column;
}

/* As text, numbers as people write them; NULL: nothing is said. */
static const char *text_of(const cbx_attribute *a, const cbx_said *said, char buffer[40])
{
    if (!said)
        said = &a->fallback;
    if (said->text >= 0)
        return a->texts.at[said->text];
    if (isnan(said->number))
        return NULL;
    (void)cbx_print(buffer, 40, "%.15g", said->number);
    return buffer;
}

static cbx_status read_classes(cbx_vertices *v, int32_t attribute)
{
    const cbx_attribute *a = &v->attributes.at[attribute];
    const cbx_said     **column = column_of(v, attribute);
    cbx_names            classes = {0};
    bool                 ok = column != NULL;
    for (int64_t i = 0; ok && i < v->ids.count; i++) {
        char        buffer[40];
        const char *text = text_of(a, column[i], buffer);
        int64_t class = text ? cbx_names_add(&classes, text) : -1;
        ok = (!text || class >= 0) && cbx_longs_add(&v->r->builder->y, class);
    }
    ok = ok && cbx_graph_builder_sort_classes(v->r->builder, &classes);
    cbx_names_free(&classes);
    return ok ? CBX_OK : CBX_MEMORY(v->r);
}

static cbx_status read_split(cbx_vertices *v, int32_t attribute)
{
    static const char *const parts[] = {"train", "val", "test"};
    cbx_graph_builder       *d = v->r->builder;
    const cbx_said         **column = column_of(v, attribute);
    bool                     ok = column != NULL;
    d->num_splits = 1;
    for (int64_t i = 0; ok && i < v->ids.count; i++) {
        char        buffer[40];
        const char *text = text_of(&v->attributes.at[attribute], column[i], buffer);
        for (int part = 0; part < CBX_PARTS; part++)
            ok = ok && cbx_bytes_add(&d->mask[part], text && cbx_same_word(text, parts[part]));
    }
    return ok ? CBX_OK : CBX_MEMORY(v->r);
}

/* The vertices' names, if every one has its own and they say more than its number. */
static cbx_status take_names(cbx_vertices *v, const cbx_names *names)
{
    cbx_graph_builder *d = v->r->builder;
    if (names->count != v->ids.count || cbx_names_are_numbers(names))
        return CBX_OK;
    d->node_names = cbx_names_copy(names, NULL, &d->arena);
    return d->node_names ? CBX_OK : CBX_MEMORY(v->r);
}

/* A label goes before a name, which goes before an id, and that before the file's own. */
static cbx_status read_names(cbx_vertices *v)
{
    cbx_status status = CBX_OK;
    for (role wanted = ROLE_LABEL; wanted <= ROLE_ID && !v->r->builder->node_names; wanted++) {
        int32_t attribute = first_of(v, wanted);
        if (attribute < 0)
            continue;
        cbx_names        names = {0};
        const cbx_said **column = column_of(v, attribute);
        bool             ok = column != NULL;
        for (int64_t i = 0; ok && i < v->ids.count; i++) {
            char        buffer[40];
            const char *text = text_of(&v->attributes.at[attribute], column[i], buffer);
            ok = cbx_names_add(&names, text ? text : "") >= 0;
        }
        status = ok ? take_names(v, &names) : CBX_MEMORY(v->r);
        cbx_names_free(&names);
        if (status)
            return status;
    }
    return v->r->builder->node_names ? CBX_OK : take_names(v, &v->ids);
}

/* ---- features */

/* Texts of an attribute numbered in alphabetical order. */
static cbx_status rank_texts(cbx_vertices *v, cbx_attribute *a)
{
    int64_t *order = CBX_NEW(&v->arena, int64_t, a->texts.count);
    a->rank = CBX_NEW(&v->arena, int64_t, a->texts.count);
    if (!order || !a->rank || !cbx_names_sort(&a->texts, order))
        return CBX_MEMORY(v->r);
    for (int64_t k = 0; k < a->texts.count; k++)
        a->rank[order[k]] = k;
    if (a->texts.count > 64 && a->texts.count > v->ids.count / 2)
        return cbx_fail(v->r->err, CBX_INVALID,
                        "%s: attribute '%.60s' has %lld different texts: neither numbers nor "
                        "categories; leave it out",
                        cbx_bundle_path(v->r->bundle), a->name, (long long)a->texts.count);
    return CBX_OK;
}

/* Where each attribute's features begin. */
static cbx_status lay_out(cbx_vertices *v)
{
    cbx_graph_builder *d = v->r->builder;
    int64_t            total = 0;
    for (size_t k = 0; k < v->attributes.count; k++) {
        cbx_attribute *a = &v->attributes.at[k];
        a->feature = role_of(a->name) == ROLE_FEATURE ? total : -1;
        if (a->feature < 0)
            continue;
        bool left_open = a->is_text && a->said < v->ids.count && a->fallback.text < 0;
        if (left_open && !cbx_vertices_default_text(v, (int32_t)k, ""))
            return CBX_MEMORY(v->r);
        cbx_status status = a->is_text ? rank_texts(v, a) : CBX_OK;
        if (status)
            return status;
        total += a->is_text ? a->texts.count : 1;
        d->num_groups += a->is_text;
    }
    d->num_features = total ? total : 1; /* nothing known: one that is 1 */
    return CBX_OK;
}

static bool name_texts(cbx_vertices *v, const cbx_attribute *a, const char *name, int32_t group)
{
    cbx_graph_builder *d = v->r->builder;
    for (int64_t t = 0; t < a->texts.count; t++) {
        size_t size = strlen(name) + strlen(a->texts.at[t]) + 2;
        char  *full = CBX_NEW(&d->arena, char, size);
        if (!full)
            return false;
        (void)snprintf(full, size, "%s=%s", name, a->texts.at[t]);
        d->feature_names[a->feature + a->rank[t]] = full;
        d->group.at[a->feature + a->rank[t]] = group;
    }
    d->group_names[group] = name;
    return true;
}

static bool name_features(cbx_vertices *v)
{
    cbx_graph_builder *d = v->r->builder;
    int32_t            group = 0;
    d->feature_names = CBX_NEW(&d->arena, const char *, d->num_features);
    d->group_names = CBX_NEW(&d->arena, const char *, d->num_groups);
    if (!d->feature_names || !d->group_names ||
        (d->num_groups && !cbx_ints_fill(&d->group, (size_t)d->num_features, -1)))
        return false;
    d->feature_names[0] = "constant";
    for (size_t k = 0; k < v->attributes.count; k++) {
        const cbx_attribute *a = &v->attributes.at[k];
        char                *name = a->feature < 0 ? NULL : cbx_arena_strdup(&d->arena, a->name);
        if (a->feature < 0)
            continue;
        if (!name || (a->is_text && !name_texts(v, a, name, group++)))
            return false;
        if (!a->is_text)
            d->feature_names[a->feature] = name;
    }
    return true;
}

/* Attributes that say something else than 0 of vertices of which nothing was said. They are
 * gone through for every vertex, and so held against the size of the file. */
static cbx_status find_implied(cbx_vertices *v, int32_t **implied, size_t *count)
{
    int64_t values = 0;
    *count = 0;
    *implied = CBX_NEW(&v->arena, int32_t, v->attributes.count);
    if (!*implied)
        return CBX_MEMORY(v->r);
    for (size_t k = 0; k < v->attributes.count; k++) {
        const cbx_attribute *a = &v->attributes.at[k];
        if (a->feature < 0 || a->said == v->ids.count || (!a->is_text && a->fallback.number == 0))
            continue;
        (*implied)[(*count)++] = (int32_t)k;
        if (a->is_text || !isnan(a->fallback.number))
            values += v->ids.count - a->said;
    }
    if (!cbx_bundle_believes(v->r->bundle, values))
        return cbx_fail(v->r->err, CBX_INVALID,
                        "%s: %lld values are not there but left to defaults, too many for so "
                        "short a file",
                        cbx_bundle_path(v->r->bundle), (long long)values);
    return CBX_OK;
}

static cbx_status add_value(cbx_vertices *v, int64_t vertex, int32_t attribute,
                            const cbx_said *said)
{
    const cbx_attribute *a = &v->attributes.at[attribute];
    if (a->feature < 0)
        return CBX_OK;
    if (!a->is_text && isnan(said->number))
        return cbx_fail(v->r->err, CBX_INVALID,
                        "%s: vertex %lld has no attribute '%.60s', or it is not a number",
                        cbx_bundle_path(v->r->bundle), (long long)vertex, a->name);
    int64_t at = a->feature + (a->is_text ? a->rank[said->text] : 0);
    float   value = a->is_text ? 1 : (float)said->number;
    if (value != 0 && !cbx_graph_builder_entry(v->r->builder, (int32_t)at, value))
        return CBX_MEMORY(v->r);
    return CBX_OK;
}

static cbx_status read_features(cbx_vertices *v, const int64_t *begin)
{
    cbx_graph_builder *d = v->r->builder;
    int32_t           *implied;
    size_t             count;
    int64_t           *seen = CBX_NEW0(&v->arena, int64_t, v->attributes.count);
    cbx_status         status = find_implied(v, &implied, &count);
    bool               plain = first_of(v, ROLE_FEATURE) < 0;
    if (!status && !seen)
        status = CBX_MEMORY(v->r);
    for (int64_t i = 0; !status && i < v->ids.count; i++) {
        if (!cbx_graph_builder_row(d) || (plain && !cbx_graph_builder_entry(d, 0, 1)))
            status = CBX_MEMORY(v->r);
        for (int64_t k = begin[i]; !status && k < begin[i + 1]; k++) {
            seen[v->said.at[k].attribute] = i + 1;
            status = add_value(v, i, v->said.at[k].attribute, &v->said.at[k]);
        }
        for (size_t k = 0; !status && k < count; k++)
            if (seen[implied[k]] != i + 1)
                status = add_value(v, i, implied[k], &v->attributes.at[implied[k]].fallback);
    }
    if (!status && !cbx_graph_builder_fit_features(d))
        status = CBX_MEMORY(v->r);
    return status;
}

/* ---- all of it */

/* Of an edge without direction the way from the later vertex to the earlier comes first,
 * whichever the file names first: results tell of edges by number. */
static cbx_status add_edges(cbx_vertices *v)
{
    cbx_graph_builder *d = v->r->builder;
    for (size_t e = 0; e < v->source.count; e++) {
        int64_t from = v->source.at[e], to = v->target.at[e];
        if (!v->directed && from < to) {
            from = v->target.at[e];
            to = v->source.at[e];
        }
        for (int way = 0; way < (v->directed || from == to ? 1 : 2); way++)
            if (!cbx_graph_builder_edge(d, way ? to : from, way ? from : to) ||
                (v->weight.count && !cbx_floats_add(&d->weight, v->weight.at[e])))
                return CBX_MEMORY(v->r);
    }
    return CBX_OK;
}

cbx_status cbx_vertices_finish(cbx_vertices *v)
{
    int64_t *begin = CBX_NEW(&v->arena, int64_t, v->ids.count + 2);
    v->r->builder->num_nodes = v->ids.count;
    if (!begin || !make_texts(v) || !sort_said(v, begin) || !drop_repeats(v, begin))
        return CBX_MEMORY(v->r);
    cbx_status status = lay_out(v);
    if (!status && !name_features(v))
        status = CBX_MEMORY(v->r);
    if (!status)
        status = read_features(v, begin);
    int32_t class = first_of(v, ROLE_CLASS), split = first_of(v, ROLE_SPLIT);
    if (!status && class >= 0)
        status = read_classes(v, class);
    if (!status && split >= 0)
        status = read_split(v, split);
    if (!status)
        status = read_names(v);
    return status ? status : add_edges(v);
}
