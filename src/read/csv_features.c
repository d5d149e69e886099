/* SPDX-License-Identifier: Apache-2.0 */
/* csv_features.c: the table of features, read three times, so that only what goes
 * into the graph is held: which columns are numbers; which texts the others have;
 * and then the values. A column of texts becomes a group of one-hot features. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cell.h"
#include "csv.h"
#include "error.h"

const char *const cbx_csv_id_words[] = {"id", "node", "node_id", "nodeid", "name", "index", NULL};
const char *const cbx_csv_label_words[] = {"label", "class", "y", "target", NULL};
const char *const cbx_csv_split_words[] = {"split", "part", "set", NULL};

typedef struct column {
    bool       feature, numeric;
    bool       days;             /* the numbers are days: all fields say one */
    int64_t    numbers, missing; /* fields */
    int64_t    text_line;        /* of the first field that is no number; 0: none */
    char       text[44];         /* and what it says */
    cbx_floats known;            /* where some are missing: the others, for */
    float      middle;           /* their median, which stands for those */
    cbx_names  texts;
    int64_t   *order; /* of the texts: alphabetical */
    int64_t   *rank;
    int64_t    first; /* its first feature */
} column;

typedef struct features {
    cbx_csv  *c;
    column   *columns;
    size_t    count;
    int       id, label, split;
    cbx_arena arena;
} features;

typedef cbx_status (*each_row)(features *f, cbx_table *t);

static void say_nothing(void *user, cbx_problem_kind kind, const char *message)
{
    (void)user, (void)kind, (void)message;
}

/* While checking, only the last pass tells of problems: once is enough. */
static cbx_status pass(features *f, const char *name, each_row call, bool last)
{
    cbx_reading   *r = f->c->r;
    cbx_table      t = {0};
    bool           more = false;
    cbx_on_problem told = r->on_problem;
    int64_t        problems = r->problems;
    if (told && !last)
        r->on_problem = say_nothing;
    cbx_status status = cbx_table_open(&t, r, name);
    while (!status && !(status = cbx_table_next(&t, &more)) && more)
        status = call(f, &t);
    cbx_table_close(&t);
    r->on_problem = told;
    r->problems = last ? r->problems : problems;
    return status;
}

static cbx_status read_header(features *f, const char *name)
{
    cbx_table  t = {0};
    cbx_status status = cbx_table_open(&t, f->c->r, name);
    if (!status && (t.num_columns < 2 || cbx_table_headless(&t)))
        status = cbx_fail(f->c->r->err, CBX_INVALID,
                          "%s, line %lld: a header with an id and the names of features expected",
                          t.lines.path, (long long)t.lines.number);
    if (!status) {
        f->count = t.num_columns;
        f->id = cbx_table_column(&t, cbx_csv_id_words);
        f->id = f->id < 0 ? 0 : f->id;
        status = cbx_csv_label_column(f->c, &t, &f->label);
        f->split = cbx_table_column(&t, cbx_csv_split_words);
        if (f->label == f->id)
            f->label = -1;
        f->columns = CBX_NEW0(&f->arena, column, f->count);
        status = status ? status : f->columns ? CBX_OK : CBX_MEMORY(f->c->r);
    }
    for (size_t k = 0; !status && k < f->count; k++) {
        f->columns[k].feature = (int)k != f->id && (int)k != f->label && (int)k != f->split;
        f->columns[k].numeric = true;
    }
    cbx_table_close(&t);
    return status;
}

/* What is missing decides nothing here. Days and numbers together are texts. */
static cbx_status find_kinds(features *f, cbx_table *t)
{
    double v;
    for (size_t k = 0; k < f->count; k++) {
        column  *c = &f->columns[k];
        cbx_cell cell = cbx_cell_read(t->fields[k], &v);
        bool     counted = cell == CBX_CELL_NUMBER || cell == CBX_CELL_DAY;
        if (counted && c->numeric && !c->numbers)
            c->days = cell == CBX_CELL_DAY;
        c->missing += cell == CBX_CELL_MISSING;
        c->numbers += counted;
        if (cell == CBX_CELL_MISSING || (counted && c->days == (cell == CBX_CELL_DAY)))
            continue;
        c->numeric = false;
        if (!c->text_line) {
            c->text_line = t->lines.number;
            (void)snprintf(c->text, sizeof c->text, "%.40s", t->fields[k]);
        }
    }
    return CBX_OK;
}

/* A text of a group: all that is missing is one. */
static const char *group_text(const char *field)
{
    double v;
    return cbx_cell_read(field, &v) == CBX_CELL_MISSING ? "missing" : field;
}

static cbx_status collect(features *f, cbx_table *t)
{
    double v;
    for (size_t k = 0; k < f->count; k++) {
        column *c = &f->columns[k];
        if (!c->feature)
            continue;
        if (!c->numeric && cbx_names_add(&c->texts, group_text(t->fields[k])) < 0)
            return CBX_MEMORY(f->c->r);
        if (c->numeric && c->missing && cbx_cell_read(t->fields[k], &v) != CBX_CELL_MISSING &&
            !cbx_floats_add(&c->known, (float)v))
            return CBX_MEMORY(f->c->r);
    }
    return CBX_OK;
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The lower one of two, so that whole numbers stay whole. */
static void find_middles(features *f)
{
    for (size_t k = 0; k < f->count; k++) {
        column *c = &f->columns[k];
        if (!c->known.count)
            continue;
        qsort(c->known.at, c->known.count, sizeof *c->known.at, by_value);
        c->middle = c->known.at[(c->known.count - 1) / 2];
    }
}

/* The field's number, or what stands for it. */
static bool field_number(const column *c, const char *field, double *v)
{
    cbx_cell cell = cbx_cell_read(field, v);
    if (cell == CBX_CELL_MISSING)
        *v = (double)c->middle;
    return (cell == CBX_CELL_MISSING && c->numbers) ||
           (cell != CBX_CELL_MISSING && isfinite((float)*v));
}

static cbx_status add_row(features *f, cbx_table *t)
{
    cbx_reading *r = f->c->r;
    int64_t      before = f->c->nodes.count;
    int64_t      node = cbx_names_add(&f->c->nodes, t->fields[f->id]);
    if (node < 0)
        return CBX_MEMORY(r);
    if (f->c->nodes.count == before)
        return cbx_bad_line(&t->lines, "node '%.60s' is there already", t->fields[f->id]);
    if (!cbx_graph_builder_row(r->builder))
        return CBX_MEMORY(r);
    for (size_t k = 0; k < f->count; k++) {
        const column *c = &f->columns[k];
        double        v = 1;
        int64_t       at = c->first;
        if (!c->feature)
            continue;
        if (c->numeric && !field_number(c, t->fields[k], &v))
            return cbx_bad_line(&t->lines, "column '%.60s' is '%.40s', a number was expected",
                                t->columns[k], t->fields[k]);
        if (!c->numeric)
            at += c->rank[cbx_names_find(&c->texts, group_text(t->fields[k]))];
        if (v != 0 && !cbx_graph_builder_entry(r->builder, (int32_t)at, (float)v))
            return CBX_MEMORY(r);
    }
    return cbx_csv_label(f->c, t, node, f->label, f->split);
}

/* Columns that can be no features: texts that are all different, or a slip among numbers. */
static cbx_status check_column(const features *f, const cbx_table *t, size_t k, int64_t rows)
{
    enum { FEW = 10, MANY = 64 };
    const column *c = &f->columns[k];
    int64_t       many = c->texts.count, texts = rows - c->numbers - c->missing;
    if (many > FEW && texts * 10 <= c->numbers)
        return cbx_fail(f->c->r->err, CBX_INVALID,
                        "%s, line %lld: column '%.60s' is '%s', a number was expected, as in %lld "
                        "other rows; what is not known is an empty field or n/a",
                        t->lines.path, (long long)c->text_line, t->columns[k], c->text,
                        (long long)c->numbers);
    if (many > MANY && many > rows / 2)
        return cbx_fail(f->c->r->err, CBX_INVALID,
                        "%s: column '%.60s' has %lld different texts in %lld rows: neither "
                        "numbers nor categories; leave it out",
                        f->c->files[CBX_CSV_FEATURES], t->columns[k], (long long)many,
                        (long long)rows);
    return CBX_OK;
}

/* Numbers the features, and sorts the texts of columns that have some. */
static cbx_status lay_out(features *f, const cbx_table *t, int64_t rows)
{
    cbx_graph_builder *d = f->c->r->builder;
    int64_t            total = 0;
    int32_t            groups = 0;
    for (size_t k = 0; k < f->count; k++) {
        column *c = &f->columns[k];
        int64_t many = c->texts.count;
        c->first = total;
        if (!c->feature)
            continue;
        total += c->numeric ? 1 : many;
        groups += !c->numeric;
        if (c->numeric)
            continue;
        cbx_status status = check_column(f, t, k, rows);
        if (status)
            return status;
        c->order = CBX_NEW(&f->arena, int64_t, many);
        c->rank = CBX_NEW(&f->arena, int64_t, many);
        if (!c->order || !c->rank || !cbx_names_sort(&c->texts, c->order))
            return CBX_MEMORY(f->c->r);
        for (int64_t i = 0; i < many; i++)
            c->rank[c->order[i]] = i;
    }
    d->num_features = total;
    d->num_groups = groups;
    return CBX_OK;
}

/* The name of a column of days says what its numbers are. */
static char *column_name(cbx_graph_builder *d, const column *c, const char *header)
{
    static const char unit[] = " (days since 1970-01-01)";
    size_t            size = strlen(header) + sizeof unit;
    char             *name = CBX_NEW(&d->arena, char, size);
    if (name)
        (void)snprintf(name, size, "%s%s", header, c->numeric && c->days ? unit : "");
    return name;
}

static cbx_status name_features(features *f, const cbx_table *t)
{
    cbx_graph_builder *d = f->c->r->builder;
    int32_t            group = 0;
    d->feature_names = CBX_NEW(&d->arena, const char *, d->num_features);
    d->group_names = CBX_NEW(&d->arena, const char *, d->num_groups);
    if (!d->feature_names || !d->group_names ||
        (d->num_groups && !cbx_ints_fill(&d->group, (size_t)d->num_features, -1)))
        return CBX_MEMORY(f->c->r);
    for (size_t k = 0; k < f->count; k++) {
        const column *c = &f->columns[k];
        int64_t       many = c->numeric ? 1 : c->texts.count;
        char         *name = column_name(d, c, t->columns[k]);
        if (!name)
            return CBX_MEMORY(f->c->r);
        for (int64_t i = 0; c->feature && i < many; i++) {
            const char *text = c->numeric ? NULL : c->texts.at[c->order[i]];
            size_t      size = strlen(name) + (text ? strlen(text) : 0) + 2;
            char       *full = text ? CBX_NEW(&d->arena, char, size) : name;
            if (!full)
                return CBX_MEMORY(f->c->r);
            if (text) {
                (void)snprintf(full, size, "%s=%s", name, text);
                d->group.at[c->first + i] = group;
            }
            d->feature_names[c->first + i] = full;
        }
        if (c->feature && !c->numeric)
            d->group_names[group++] = name;
    }
    return CBX_OK;
}

static cbx_status count_row(features *f, cbx_table *t)
{
    f->c->r->builder->num_nodes++;
    return collect(f, t);
}

/* What was made of fields that say nothing. */
static void tell_missing(const features *f, const cbx_table *t, size_t k)
{
    const column *c = &f->columns[k];
    bool          one = c->missing == 1;
    const char   *are = one ? "value is" : "values are";
    cbx_error     what = {0};
    if (c->numeric)
        (void)cbx_fail(&what, CBX_INVALID,
                       "%s: column '%.60s': %lld %s missing; the median, %g, stands for %s",
                       t->lines.path, t->columns[k], (long long)c->missing, are, (double)c->middle,
                       one ? "it" : "them");
    else
        (void)cbx_fail(&what, CBX_INVALID,
                       "%s: column '%.60s': %lld %s missing, which is a category", t->lines.path,
                       t->columns[k], (long long)c->missing, are);
    f->c->r->on_problem(f->c->r->user, CBX_PROBLEM_WARNING, what.message);
}

/* Numbers that count as texts because of a few that are none. */
static void tell_slip(const features *f, const cbx_table *t, size_t k)
{
    const column *c = &f->columns[k];
    cbx_error     what = {0};
    (void)cbx_fail(
        &what, CBX_INVALID,
        "%s, line %lld: column '%.60s' is '%s', which is no %s as most others are: all of "
        "the column counts as texts; what is not known is an empty field or n/a",
        t->lines.path, (long long)c->text_line, t->columns[k], c->text,
        c->days ? "day (2024-03-15)" : "number");
    f->c->r->on_problem(f->c->r->user, CBX_PROBLEM_WARNING, what.message);
}

/* What was made of columns that are not as they were meant, perhaps. */
static void tell_columns(const features *f, const cbx_table *t)
{
    int64_t rows = f->c->r->builder->num_nodes;
    for (size_t k = 0; k < f->count && f->c->r->on_problem; k++) {
        const column *c = &f->columns[k];
        if (c->feature && c->missing)
            tell_missing(f, t, k);
        if (c->feature && !c->numeric && 2 * c->numbers > rows - c->missing)
            tell_slip(f, t, k);
    }
}

cbx_status cbx_csv_features(cbx_csv *c, const char *name)
{
    features   f = {.c = c};
    cbx_table  t = {0};
    cbx_status status = read_header(&f, name);
    if (!status)
        status = pass(&f, name, find_kinds, false);
    c->r->builder->num_nodes = 0;
    if (!status)
        status = pass(&f, name, count_row, false);
    if (!status)
        status = cbx_table_open(&t, c->r, name);
    if (!status)
        status = lay_out(&f, &t, c->r->builder->num_nodes);
    if (!status)
        find_middles(&f);
    if (!status)
        tell_columns(&f, &t);
    if (!status)
        status = name_features(&f, &t);
    cbx_table_close(&t);
    if (!status)
        status = pass(&f, name, add_row, true);
    c->nodes_known = true;
    for (size_t k = 0; k < f.count && f.columns; k++) {
        cbx_names_free(&f.columns[k].texts);
        cbx_floats_free(&f.columns[k].known);
    }
    cbx_arena_free(&f.arena);
    return status;
}
