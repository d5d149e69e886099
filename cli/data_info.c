/* SPDX-License-Identifier: Apache-2.0 */
/* data_info.c: combinex data info. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apart.h"
#include "cli.h"
#include "help.h"
#include "json.h"
#include "source.h"
#include "text.h"

enum { CLASSES_SHOWN = 12, SPLITS_SHOWN = 3, GROUPS_SHOWN = 6 };

typedef struct info_args {
    general_options general;
    const char     *data;
    cbx_options    *read;
} info_args;

typedef struct summary {
    source          source;
    cbx_graph_stats stats;
    double          fill;        /* share of the features that are not 0 */
    double          mean_degree; /* edges into a node */
    int64_t         unlabelled;
    int64_t        *class_counts;
    int32_t        *group; /* of each feature, or -1: named by the data, or found */
    int32_t         num_groups;
    int32_t        *first; /* feature of each group, or -1 */
    int32_t        *next;  /* feature of the same group, or -1 */
    const char     *format;
} summary;

/* The data's own groups of features that exclude each other, or one-hot ones. */
static int find_groups(summary *s)
{
    const cbx_graph_data *v = s->source.view;
    cbx_error             err;
    s->group = calloc((size_t)v->num_features + 1, sizeof *s->group);
    if (!s->group)
        return fail("out of memory");
    s->num_groups = v->num_groups;
    if (v->num_groups)
        memcpy(s->group, v->feature_group, (size_t)v->num_features * sizeof *s->group);
    else if (cbx_graph_one_hot(s->source.graph, s->group, &s->num_groups, &err))
        return fail_with(&err);
    s->first = malloc(((size_t)s->num_groups + 1) * sizeof *s->first);
    s->next = malloc(((size_t)v->num_features + 1) * sizeof *s->next);
    if (!s->first || !s->next)
        return fail("out of memory");
    for (int32_t g = 0; g < s->num_groups; g++)
        s->first[g] = -1;
    for (int32_t k = v->num_features - 1; k >= 0; k--) {
        int32_t g = s->group[k];
        if (g >= 0 && g < s->num_groups) {
            s->next[k] = s->first[g];
            s->first[g] = k;
        }
    }
    return EXIT_DONE;
}

static int summarise(summary *s)
{
    const cbx_graph_data *v = s->source.view;
    cbx_error             err;
    if (cbx_graph_measure(s->source.graph, &s->stats, &err))
        return fail_with(&err);
    double entries = (double)v->num_nodes * v->num_features;
    s->fill = entries > 0 ? (double)s->stats.nonzero_features / entries : 0;
    s->mean_degree = v->num_nodes ? (double)v->num_edges / v->num_nodes : 0;
    s->class_counts = calloc((size_t)v->num_classes + 1, sizeof *s->class_counts);
    if (!s->class_counts)
        return fail("out of memory");
    for (int64_t i = 0; i < source_rows(&s->source); i++) {
        int64_t label = v->y ? v->y[i] : -1;
        if (label >= 0 && label < v->num_classes)
            s->class_counts[label]++;
        else
            s->unlabelled++;
    }
    return find_groups(s);
}

/* Rows in one part of a published split; masks are rows x splits. */
static int64_t mask_count(const source *s, const uint8_t *mask, int32_t split)
{
    int64_t count = 0;
    for (int64_t i = 0; mask && i < source_rows(s); i++)
        count += mask[i * s->view->num_splits + split] != 0;
    return count;
}

static void line(const char *label)
{
    (void)printf("  %-14s", label);
}

/* A bar a power of two, as long as its share of the nodes. */
static void print_degrees(const summary *s)
{
    static const char full[] = "########################################";
    int64_t           most = 1;
    int               last = 0;
    number_text       n;
    for (int k = 0; k < CBX_DEGREE_BINS; k++) {
        most = s->stats.degrees[k] > most ? s->stats.degrees[k] : most;
        last = s->stats.degrees[k] ? k : last;
    }
    for (int k = 0; k <= last; k++) {
        char    range[48];
        int64_t low = k ? (int64_t)1 << (k - 1) : 0, high = k ? ((int64_t)1 << k) - 1 : 0;
        int     bar = (int)(s->stats.degrees[k] * (int64_t)(sizeof full - 1) / most);
        bar = s->stats.degrees[k] && !bar ? 1 : bar;
        if (low == high)
            (void)snprintf(range, sizeof range, "%lld", (long long)low);
        else
            (void)snprintf(range, sizeof range, "%lld-%lld", (long long)low, (long long)high);
        line("");
        (void)printf("%9s  %-*.*s %s\n", range, bar, bar, full, text_count(n, s->stats.degrees[k]));
    }
}

/* Smallest and largest bounds of each kind, and groups. */
static void print_ranges(const summary *s)
{
    const cbx_graph_data *v = s->source.view;
    for (int kind = 1; kind >= 0; kind--) {
        float   lo = 0, hi = 0;
        int32_t count = 0;
        for (int32_t j = 0; j < v->num_features; j++) {
            if (v->discrete[j] != kind)
                continue;
            lo = !count || v->feat_min[j] < lo ? v->feat_min[j] : lo;
            hi = !count || v->feat_max[j] > hi ? v->feat_max[j] : hi;
            count++;
        }
        if (!count)
            continue;
        line("");
        (void)printf("%s: %g to %g\n", kind ? "discrete" : "continuous", (double)lo, (double)hi);
    }
    int32_t fixed = 0;
    for (int32_t j = 0; v->immutable && j < v->num_features; j++)
        fixed += v->immutable[j] != 0;
    if (fixed) {
        line("");
        (void)printf("%d cannot be changed\n", (int)fixed);
    }
}

static void print_groups(const summary *s)
{
    const cbx_graph_data *v = s->source.view;
    for (int32_t g = 0; g < s->num_groups && g < GROUPS_SHOWN; g++) {
        int32_t last = -1, count = 0;
        for (int32_t j = s->first[g]; j >= 0; j = s->next[j]) {
            last = j;
            count++;
        }
        line(g ? "" : "one of");
        if (v->group_names && v->num_groups) {
            text_put(stdout, v->group_names[g], 0);
            (void)printf(": ");
        }
        (void)printf("features %d to %d, %d in all\n", (int)s->first[g], (int)last, (int)count);
    }
    if (s->num_groups > GROUPS_SHOWN) {
        line("");
        (void)printf("and %d more groups\n", (int)s->num_groups - GROUPS_SHOWN);
    }
}

static void print_graph(const summary *s)
{
    const cbx_graph_data *v = s->source.view;
    number_text           a, b;
    line("nodes");
    (void)printf("%s (%s without edges)\n", text_count(a, v->num_nodes),
                 text_count(b, s->stats.isolated_nodes));
    line("edges");
    (void)printf("%s, %s%s", text_count(a, v->num_edges),
                 s->stats.undirected ? "undirected: each is stored in both directions" : "directed",
                 v->edge_weight ? ", weighted" : "");
    if (s->stats.self_loops)
        (void)printf(", %s to the node itself", text_count(a, s->stats.self_loops));
    if (s->stats.duplicate_edges)
        (void)printf(", %s duplicate", text_count(a, s->stats.duplicate_edges));
    (void)printf("\n");
    line("degree");
    (void)printf("mean %.2f, largest %s\n", s->mean_degree, text_count(a, s->stats.max_in_degree));
    print_degrees(s);
    if (s->stats.homophily == s->stats.homophily) {
        line("homophily");
        (void)printf("%.1f%% of edges join nodes of one class\n", 100 * s->stats.homophily);
    }
    line("features");
    (void)printf("%s (%s discrete, ", text_count(a, v->num_features),
                 text_count(b, s->stats.discrete_features));
    (void)printf("%s continuous), %s, %.3g%% not zero\n",
                 text_count(a, v->num_features - s->stats.discrete_features),
                 v->x ? "dense" : "sparse", 100 * s->fill);
    print_ranges(s);
    print_groups(s);
}

static void print_classes(const summary *s)
{
    const cbx_graph_data *v = s->source.view;
    int32_t               shown = v->num_classes <= CLASSES_SHOWN ? v->num_classes : CLASSES_SHOWN;
    size_t                width = 0;
    class_text            buffer;
    number_text           n;

    line("classes");
    (void)printf("%s\n", text_count(n, v->num_classes));
    for (int32_t c = 0; c < shown; c++) {
        size_t columns = text_columns(source_class(&s->source, buffer, c));
        width = columns > width ? columns : width;
    }
    for (int32_t c = 0; c < shown; c++) {
        line("");
        text_put(stdout, source_class(&s->source, buffer, c), width);
        (void)printf("  %9s\n", text_count(n, s->class_counts[c]));
    }
    if (shown < v->num_classes) {
        int64_t least = INT64_MAX, most = 0;
        for (int32_t c = shown; c < v->num_classes; c++) {
            least = s->class_counts[c] < least ? s->class_counts[c] : least;
            most = s->class_counts[c] > most ? s->class_counts[c] : most;
        }
        line("");
        (void)printf("and %s more, of %s", text_count(n, v->num_classes - shown),
                     text_count((number_text){0}, least));
        (void)printf(" to %s\n", text_count(n, most));
    }
    if (s->unlabelled) {
        line("");
        (void)printf("without a class: %s\n", text_count(n, s->unlabelled));
    }
}

static void print_splits(const source *s)
{
    const cbx_graph_data *v = s->view;
    int32_t               shown = v->num_splits <= SPLITS_SHOWN ? v->num_splits : SPLITS_SHOWN;
    number_text           a, b, c;
    line("splits");
    (void)printf("%s\n", v->num_splits ? text_count(a, v->num_splits) : "none published");
    for (int32_t i = 0; i < shown; i++) {
        line("");
        (void)printf("%d: %s training, %s validation, %s test\n", (int)i,
                     text_count(a, mask_count(s, v->train_mask, i)),
                     text_count(b, mask_count(s, v->val_mask, i)),
                     text_count(c, mask_count(s, v->test_mask, i)));
    }
    if (shown < v->num_splits) {
        line("");
        (void)printf("and %s more\n", text_count(a, v->num_splits - shown));
    }
}

static void print_text(const summary *s)
{
    number_text n;
    text_put(stdout, s->source.name, 0);
    (void)printf(": a class for each %s\n", source_row(&s->source));
    line("from");
    text_put(stdout, s->source.path ? s->source.path : "built in", 0);
    (void)printf("%s%s%s\n", s->format ? " (" : "", s->format ? s->format : "",
                 s->format ? ")" : "");
    if (s->source.view->task == CBX_GRAPH) {
        line("graphs");
        (void)printf("%s\n", text_count(n, s->source.view->num_graphs));
    }
    print_graph(s);
    print_classes(s);
    print_splits(&s->source);
}

static void json_degrees(json *j, const summary *s)
{
    int last = 0;
    for (int k = 0; k < CBX_DEGREE_BINS; k++)
        last = s->stats.degrees[k] ? k : last;
    json_open(j, "degrees", '[');
    for (int k = 0; k <= last; k++) {
        json_open(j, NULL, '{');
        json_int(j, "from", k ? (int64_t)1 << (k - 1) : 0);
        json_int(j, "count", s->stats.degrees[k]);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void json_groups(json *j, const summary *s)
{
    json_open(j, "groups", '[');
    for (int32_t g = 0; g < s->num_groups; g++) {
        json_open(j, NULL, '{');
        if (s->source.view->num_groups && s->source.view->group_names)
            json_text(j, "name", s->source.view->group_names[g]);
        json_open(j, "features", '[');
        for (int32_t k = s->first[g]; k >= 0; k = s->next[k])
            json_int(j, NULL, k);
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void json_features(json *j, const summary *s)
{
    const cbx_graph_data *v = s->source.view;
    json_open(j, "features", '{');
    json_int(j, "count", v->num_features);
    json_int(j, "discrete", s->stats.discrete_features);
    json_int(j, "continuous", v->num_features - s->stats.discrete_features);
    json_bool(j, "sparse", !v->x);
    json_int(j, "nonzero", s->stats.nonzero_features);
    json_double(j, "fill", s->fill);
    json_groups(j, s);
    json_close(j, '}');
}

static void json_classes(json *j, const summary *s)
{
    const cbx_graph_data *v = s->source.view;
    json_open(j, "classes", '[');
    for (int32_t c = 0; c < v->num_classes; c++) {
        json_open(j, NULL, '{');
        json_int(j, "class", c);
        if (v->class_names)
            json_text(j, "name", v->class_names[c]);
        json_int(j, "count", s->class_counts[c]);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_int(j, "unlabelled", s->unlabelled);
}

static void json_splits(json *j, const source *s)
{
    json_open(j, "splits", '[');
    for (int32_t i = 0; i < s->view->num_splits; i++) {
        json_open(j, NULL, '{');
        json_int(j, "train", mask_count(s, s->view->train_mask, i));
        json_int(j, "val", mask_count(s, s->view->val_mask, i));
        json_int(j, "test", mask_count(s, s->view->test_mask, i));
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void print_json(const summary *s)
{
    const cbx_graph_data *v = s->source.view;
    json                  j = {.out = stdout};
    json_open(&j, NULL, '{');
    json_text(&j, "name", s->source.name);
    json_text(&j, "file", s->source.path);
    json_text(&j, "format", s->format);
    json_text(&j, "task", source_row(&s->source));
    json_int(&j, "graphs", v->num_graphs);
    json_int(&j, "nodes", v->num_nodes);
    json_int(&j, "isolated_nodes", s->stats.isolated_nodes);
    json_int(&j, "edges", v->num_edges);
    json_bool(&j, "undirected", s->stats.undirected);
    json_bool(&j, "weighted", v->edge_weight != NULL);
    json_int(&j, "self_loops", s->stats.self_loops);
    json_int(&j, "duplicate_edges", s->stats.duplicate_edges);
    json_double(&j, "mean_degree", s->mean_degree);
    json_int(&j, "max_degree", s->stats.max_in_degree);
    json_degrees(&j, s);
    json_double(&j, "homophily", s->stats.homophily);
    json_features(&j, s);
    json_classes(&j, s);
    json_splits(&j, &s->source);
    json_close(&j, '}');
    json_line(&j);
}

static const char *format_of(const char *path)
{
    const char *name;
    return cbx_format_detect(path, &name, NULL) ? NULL : name;
}

/* The format that --format names; NULL: none. */
static const char *format_asked(const cbx_options *read)
{
    for (size_t i = 0; cbx_format_name(i); i++)
        if (args_is(read, "format", cbx_format_name(i)))
            return cbx_format_name(i);
    return NULL;
}

static int run(void *args)
{
    const info_args *a = args;
    summary          s = {0};
    int              status = source_open(&s.source, a->data, a->read);
    if (status)
        return status;
    status = apart_check(NULL, 0, NULL, 0, &s.source, 1);
    if (status == EXIT_DONE && s.source.path)
        s.format = format_asked(a->read);
    if (status == EXIT_DONE && s.source.path && !s.format)
        s.format = format_of(s.source.path);
    if (status == EXIT_DONE)
        status = summarise(&s);
    if (status == EXIT_DONE && a->general.json)
        print_json(&s);
    else if (status == EXIT_DONE)
        print_text(&s);
    free(s.class_counts);
    free(s.group);
    free(s.first);
    free(s.next);
    source_close(&s.source);
    return status;
}

const command command_data_info = {
    .name = "data info",
    .summary = "describe a data set: sizes, features, classes, splits",
    .about =
        "Describes a data set: its task, nodes, edges, degrees, features, classes and published "
        "splits. Reading it checks all of it, so this also tells whether a file is sound.",
    .args_size = sizeof(info_args),
    .operands =
        (const operand[]){{"DATA", OPERAND_DATA, offsetof(info_args, data), false, HELP_DATA},
                          {.name = NULL}},
    .groups =
        (const option_group[]){
            {.table = cbx_read_table, .by_name = true, .offset = offsetof(info_args, read)},
            {.table = NULL}},
    .examples =
        (const example[]){{"a built-in data set", "combinex data info karate"},
                          {"a file, for a program", "combinex data info ./cora.safetensors --json"},
                          {.why = NULL}},
    .run = run,
};
