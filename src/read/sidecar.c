/* SPDX-License-Identifier: Apache-2.0 */
/* sidecar.c: see sidecar.h. */
#include "sidecar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "combinex/extend.h"
#include "error.h"
#include "feature_list.h"
#include "graph.h"
#include "json.h"

typedef struct sidecar {
    cbx_graph       *graph;
    const char      *path;
    cbx_error       *err;
    cbx_feature_list features;
} sidecar;

/* What a value says of a feature. */
typedef cbx_status (*says)(sidecar *s, int32_t feature, const cbx_json *value);

/* ---- features by name, number or range */

static cbx_status unknown(sidecar *s, const char *key, const char *text)
{
    const cbx_graph_data *d = &s->graph->data;
    cbx_nearest           near;
    cbx_did_you_mean      suggestion;
    cbx_nearest_begin(&near, text);
    for (int32_t j = 0; d->feature_names && j < d->num_features; j++)
        cbx_nearest_try(&near, d->feature_names[j]);
    for (int32_t j = 0; d->group_names && j < d->num_groups; j++)
        cbx_nearest_try(&near, d->group_names[j]);
    return cbx_fail(s->err, CBX_INVALID, "%s: '%s' names the feature '%.60s'; they are 0 to %d%s%s",
                    s->path, key, text, d->num_features - 1,
                    d->feature_names ? ", or have names" : "", cbx_suggest(suggestion, near.best));
}

static cbx_status find(sidecar *s, const char *key, const char *text, cbx_feature_range *out)
{
    cbx_named named = cbx_feature_list_find(&s->features, text, out);
    if (named == CBX_NAMED_NO_MEMORY)
        return cbx_fail_memory(s->err);
    return named == CBX_NAMED_NONE ? unknown(s, key, text) : CBX_OK;
}

/* The number of a group of this name, unless a feature has it; -1: none. */
static int32_t find_group(sidecar *s, const char *text)
{
    const cbx_graph_data *d = &s->graph->data;
    cbx_feature_range     range;
    for (int32_t k = 0; d->group_names && k < d->num_groups; k++)
        if (!strcmp(d->group_names[k], text) &&
            cbx_feature_list_find(&s->features, text, &range) == CBX_NAMED_NONE)
            return k;
    return -1;
}

/* Notes the features that `text` stands for, which may be those of a group, with what is said of
 * them. */
static cbx_status note(sidecar *s, const char *key, const char *text, const cbx_json *value)
{
    const cbx_graph_data *d = &s->graph->data;
    int32_t               group = find_group(s, text);
    cbx_feature_range     range = {0};
    cbx_status            status = group < 0 ? find(s, key, text, &range) : CBX_OK;
    range.value = value;
    for (int32_t j = 0; group >= 0 && j < d->num_features; j++)
        if (d->feature_group[j] == group &&
            !cbx_feature_ranges_add(&s->features.ranges, (cbx_feature_range){j, j, value}))
            return cbx_fail_memory(s->err);
    if (!status && group < 0 && !cbx_feature_ranges_add(&s->features.ranges, range))
        return cbx_fail_memory(s->err);
    return status;
}

/* The entry of a list as text: a name, a range or a number; `number` has room for that. */
static cbx_status entry_text(sidecar *s, const char *key, const cbx_json *one, char number[32],
                             const char **out)
{
    *out = one->text;
    if (one->kind == CBX_JSON_INTEGER) {
        (void)snprintf(number, 32, "%lld", (long long)one->integer);
        *out = number;
    }
    return *out ? CBX_OK
                : cbx_fail(s->err, CBX_INVALID, "%s: '%s' has an entry that is no feature", s->path,
                           key);
}

typedef struct saying {
    sidecar *s;
    says     say;
} saying;

static void say_one(void *user, int32_t feature, const void *value)
{
    const saying *it = user;
    (void)it->say(it->s, feature, value); /* which passed when the list was made */
}

/* An object of features: `say` for each of them; of several for one feature the last counts. */
static cbx_status each_member(sidecar *s, const char *key, const cbx_json *object, says say)
{
    saying     it = {s, say};
    cbx_status status = CBX_OK;
    for (const cbx_json *one = object->first; !status && one; one = one->next) {
        size_t before = s->features.ranges.count;
        status = note(s, key, one->key, one);
        if (!status && s->features.ranges.count > before)
            status = say(s, s->features.ranges.at[before].first, one);
    }
    if (!status && !cbx_feature_list_apply(&s->features, say_one, &it))
        status = cbx_fail_memory(s->err);
    return status;
}

/* ---- the keys */

/* A copy that may be written to: the values may lie in a mapped file. */
static void *own(sidecar *s, const void *from, size_t size)
{
    size_t count = (size_t)s->graph->data.num_features;
    void  *to = cbx_arena_zalloc(&s->graph->arena, count, size);
    if (to && from)
        memcpy(to, from, count * size);
    return to;
}

static cbx_status set_kind(sidecar *s, int32_t feature, const cbx_json *value)
{
    bool discrete = value->text && !strcmp(value->text, "discrete");
    if (!discrete && (!value->text || strcmp(value->text, "continuous") != 0))
        return cbx_fail(s->err, CBX_INVALID,
                        "%s: a kind of feature %d that is neither 'discrete' nor 'continuous'",
                        s->path, feature);
    ((uint8_t *)s->graph->data.discrete)[feature] = discrete;
    return CBX_OK;
}

static cbx_status read_kinds(sidecar *s, const cbx_json *value)
{
    cbx_status status = CBX_OK;
    s->graph->data.discrete = own(s, s->graph->data.discrete, 1);
    if (!s->graph->data.discrete)
        return cbx_fail_memory(s->err);
    if (value->text)
        for (int32_t j = 0; !status && j < s->graph->data.num_features; j++)
            status = set_kind(s, j, value);
    else if (value->kind != CBX_JSON_OBJECT)
        status = cbx_fail(s->err, CBX_INVALID,
                          "%s: 'kinds' is neither a kind nor an object of features", s->path);
    else
        status = each_member(s, "kinds", value, set_kind);
    return status;
}

static cbx_status set_bounds(sidecar *s, int32_t feature, const cbx_json *value)
{
    const cbx_json *lo = value->first, *hi = lo ? lo->next : NULL;
    bool            numbers = value->kind == CBX_JSON_LIST && value->count == 2 && lo && hi &&
                   (lo->kind == CBX_JSON_INTEGER || lo->kind == CBX_JSON_REAL) &&
                   (hi->kind == CBX_JSON_INTEGER || hi->kind == CBX_JSON_REAL);
    if (!numbers || !isfinite((float)lo->number) || !isfinite((float)hi->number) ||
        lo->number > hi->number)
        return cbx_fail(s->err, CBX_INVALID,
                        "%s: the bounds of feature %d are not [smallest, largest]", s->path,
                        feature);
    ((float *)s->graph->data.feat_min)[feature] = (float)lo->number;
    ((float *)s->graph->data.feat_max)[feature] = (float)hi->number;
    return CBX_OK;
}

static cbx_status read_bounds(sidecar *s, const cbx_json *value)
{
    s->graph->data.feat_min = own(s, s->graph->data.feat_min, sizeof(float));
    s->graph->data.feat_max = own(s, s->graph->data.feat_max, sizeof(float));
    if (!s->graph->data.feat_min || !s->graph->data.feat_max)
        return cbx_fail_memory(s->err);
    if (value->kind != CBX_JSON_OBJECT)
        return cbx_fail(s->err, CBX_INVALID, "%s: 'bounds' is not an object of features", s->path);
    return each_member(s, "bounds", value, set_bounds);
}

static cbx_status not_a_list(sidecar *s, const char *key)
{
    return cbx_fail(s->err, CBX_INVALID, "%s: '%s' is not a list of features", s->path, key);
}

static cbx_status set_immutable(sidecar *s, int32_t feature, const cbx_json *value)
{
    (void)value;
    ((uint8_t *)s->graph->data.immutable)[feature] = 1;
    return CBX_OK;
}

static cbx_status read_immutable(sidecar *s, const cbx_json *value)
{
    saying     it = {s, set_immutable};
    cbx_status status = CBX_OK;
    s->graph->data.immutable = own(s, NULL, 1);
    if (!s->graph->data.immutable)
        return cbx_fail_memory(s->err);
    if (value->kind != CBX_JSON_LIST)
        return not_a_list(s, "immutable");
    for (const cbx_json *one = value->first; !status && one; one = one->next) {
        char        number[32];
        const char *text;
        status = entry_text(s, "immutable", one, number, &text);
        if (!status)
            status = note(s, "immutable", text, NULL);
    }
    if (!status && !cbx_feature_list_apply(&s->features, say_one, &it))
        status = cbx_fail_memory(s->err);
    return status;
}

static cbx_status set_group(sidecar *s, int32_t feature, int32_t group)
{
    int32_t *groups = (int32_t *)s->graph->data.feature_group;
    if (groups[feature] >= 0)
        return cbx_fail(s->err, CBX_INVALID, "%s: feature %d is in two groups", s->path, feature);
    groups[feature] = group;
    return CBX_OK;
}

static cbx_status read_group(sidecar *s, const cbx_json *list, int32_t group)
{
    cbx_status status = CBX_OK;
    if (list->kind != CBX_JSON_LIST)
        return not_a_list(s, "groups");
    for (const cbx_json *one = list->first; !status && one; one = one->next) {
        cbx_feature_range range = {0};
        char              number[32];
        const char       *text;
        status = entry_text(s, "groups", one, number, &text);
        if (!status)
            status = find(s, "groups", text, &range);
        for (int32_t j = 0; !status && j <= range.last - range.first; j++)
            status = set_group(s, range.first + j, group);
    }
    return status;
}

static cbx_status read_groups(sidecar *s, const cbx_json *value)
{
    cbx_graph_data *d = &s->graph->data;
    cbx_status      status = CBX_OK;
    int32_t        *groups = own(s, NULL, sizeof *groups), count = 0;
    if (value->kind != CBX_JSON_OBJECT)
        return cbx_fail(s->err, CBX_INVALID, "%s: 'groups' is not an object of lists of features",
                        s->path);
    const char **names = CBX_NEW(&s->graph->arena, const char *, value->count);
    if (!groups || !names)
        return cbx_fail_memory(s->err);
    for (int32_t j = 0; j < d->num_features; j++)
        groups[j] = -1;
    d->feature_group = groups;
    for (const cbx_json *one = value->first; !status && one; one = one->next) {
        names[count] = one->key;
        status = read_group(s, one, count++);
    }
    d->num_groups = count;
    d->group_names = names;
    return status;
}

static cbx_status read_names(sidecar *s, const char *key, const cbx_json *value, int64_t count,
                             const char *const **out)
{
    if (value->kind != CBX_JSON_LIST || (int64_t)value->count != count)
        return cbx_fail(s->err, CBX_INVALID, "%s: '%s' is not a list of %lld names", s->path, key,
                        (long long)count);
    const char **names = CBX_NEW(&s->graph->arena, const char *, count);
    int64_t      i = 0;
    if (!names)
        return cbx_fail_memory(s->err);
    for (const cbx_json *one = value->first; one; one = one->next) {
        if (!one->text)
            return cbx_fail(s->err, CBX_INVALID, "%s: entry %lld of '%s' is not a text", s->path,
                            (long long)i, key);
        names[i++] = one->text;
    }
    *out = names;
    return CBX_OK;
}

static cbx_status apply_key(sidecar *s, const char *key, const cbx_json *value)
{
    cbx_graph_data *d = &s->graph->data;
    if (!strcmp(key, "name") && value->text) {
        d->name = value->text;
        return CBX_OK;
    }
    if (!strcmp(key, "feature_names"))
        return read_names(s, key, value, d->num_features, &d->feature_names);
    if (!strcmp(key, "class_names"))
        return read_names(s, key, value, d->num_classes, &d->class_names);
    if (!strcmp(key, "node_names"))
        return read_names(s, key, value, d->num_nodes, &d->node_names);
    if (!strcmp(key, "kinds"))
        return read_kinds(s, value);
    if (!strcmp(key, "bounds"))
        return read_bounds(s, value);
    if (!strcmp(key, "immutable"))
        return read_immutable(s, value);
    return read_groups(s, value);
}

static cbx_status apply(sidecar *s, const cbx_json *json)
{
    static const char *const keys[] = {"name",       "feature_names", "class_names",
                                       "node_names", "groups",        "kinds",
                                       "bounds",     "immutable",     NULL};
    if (json->kind != CBX_JSON_OBJECT)
        return cbx_fail(s->err, CBX_INVALID, "%s: not a JSON object", s->path);
    for (const cbx_json *one = json->first; one; one = one->next) {
        bool known = false;
        for (int k = 0; keys[k]; k++)
            known = known || !strcmp(keys[k], one->key);
        cbx_did_you_mean suggestion;
        if (!known)
            return cbx_fail(s->err, CBX_INVALID, "%s: '%.60s' is not a key of a sidecar%s", s->path,
                            one->key, cbx_suggest(suggestion, cbx_nearest_of(one->key, keys)));
        if (!strcmp(one->key, "name") && !one->text)
            return cbx_fail(s->err, CBX_INVALID, "%s: 'name' is not a text", s->path);
    }
    for (int k = 0; keys[k]; k++) { /* names first: the others go by them */
        const cbx_json *value = cbx_json_get(json, keys[k]);
        cbx_status      status = value ? apply_key(s, keys[k], value) : CBX_OK;
        if (status)
            return status;
    }
    return CBX_OK;
}

/* ---- finding it */

static cbx_status parse(cbx_reading *r, cbx_graph *graph, const char *path,
                        const unsigned char *bytes, size_t size)
{
    sidecar         s = {graph, path, r->err, {.data = &graph->data}};
    const cbx_json *json;
    cbx_json_error  why;
    cbx_status      status = cbx_json_parse((const char *)bytes, size, &graph->arena, &json, &why);
    if (status == CBX_NO_MEMORY)
        return CBX_MEMORY(r);
    if (status) {
        int64_t line = 1;
        for (size_t i = 0; i < why.position && i < size; i++)
            line += bytes[i] == '\n';
        return cbx_fail(r->err, CBX_INVALID, "%s, line %lld: %s", path, (long long)line, why.text);
    }
    status = apply(&s, json);
    cbx_feature_list_free(&s.features);
    return status;
}

static cbx_status apply_file(cbx_reading *r, cbx_graph *graph, cbx_bundle *bundle, const char *name,
                             const char *path)
{
    unsigned char *bytes = NULL;
    size_t         size = 0;
    cbx_status     status = cbx_bundle_slurp(bundle, name, &bytes, &size, r->err);
    if (!status)
        status = parse(r, graph, path, bytes, size);
    free(bytes);
    return status;
}

static cbx_status apply_path(cbx_reading *r, cbx_graph *graph, const char *path)
{
    cbx_bundle *bundle;
    cbx_status  status = cbx_bundle_open(path, &bundle, r->err);
    if (status)
        return status;
    if (!cbx_bundle_chosen(bundle))
        status = cbx_fail(r->err, CBX_INVALID, "%s: not a JSON file", path);
    else
        status = apply_file(r, graph, bundle, cbx_bundle_chosen(bundle), path);
    if (!status)
        status = cbx_reading_came_from(r, bundle, graph);
    cbx_bundle_close(bundle);
    return status;
}

/* NAME.combinex.json beside an archive NAME.zip. */
static bool beside_archive(const cbx_bundle *bundle, char *path, size_t size)
{
    const char *archive = cbx_bundle_path(bundle), *slash = strrchr(archive, '/');
    const char *dot = strrchr(archive, '.');
    size_t      stem = dot && (!slash || dot > slash) ? (size_t)(dot - archive) : strlen(archive);
    if (cbx_bundle_is_folder(bundle) || cbx_bundle_chosen(bundle) || stem + 20 > size)
        return false;
    (void)snprintf(path, size, "%.*s.combinex.json", (int)stem, archive);
    return access(path, R_OK) == 0;
}

cbx_status cbx_sidecar_apply(cbx_reading *r, cbx_graph *graph)
{
    char        name[256], path[CBX_MESSAGE_SIZE];
    const char *chosen = cbx_bundle_chosen(r->bundle);
    const char *found;
    if (r->options->sidecar)
        return apply_path(r, graph, r->options->sidecar);
    if (beside_archive(r->bundle, path, sizeof path))
        return apply_path(r, graph, path);
    (void)snprintf(name, sizeof name, "combinex.json");
    if (chosen) {
        const char *dot = strrchr(chosen, '.');
        size_t      stem = dot ? (size_t)(dot - chosen) : strlen(chosen);
        (void)snprintf(name, sizeof name, "%.*s.combinex.json", (int)(stem < 200 ? stem : 200),
                       chosen);
    }
    found = cbx_bundle_find(r->bundle, name);
    if (!found || strchr(found, '/'))
        return CBX_OK;
    (void)snprintf(path, sizeof path, "%.300s: %.180s", cbx_bundle_path(r->bundle), found);
    return apply_file(r, graph, r->bundle, found, path);
}
