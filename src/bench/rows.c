/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c: reading, gathering and appending answers. */
#include "rows.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "number.h"

#define HEADER                                                                               \
    "data,model,fold,explainer,row,outcome,label,prediction,target,result,fidelity,"         \
    "node_sparsity,edge_sparsity,distribution_distance,embedding_distance,features_changed," \
    "edges_removed,nodes,edges,epoch,certificate,best_lead,oracle_accuracy,seconds,peak_mb\n"
#define GATHERED "rows.csv.gz"
enum { FIELDS = 25, LINE_MAX_BYTES = 1024 };

/* ----------------------------------------------------------------- a line */

static void put_real(char *text, size_t size, double value)
{
    if (isfinite(value))
        (void)cbx_print(text, size, "%.9g", value);
    else
        text[0] = '\0';
}

static int put_row(char *line, const cbx_bench_plan *plan, const cbx_bench_row *r)
{
    const cbx_measures *m = &r->measures;
    double              real[] = {
                     m->fidelity,           m->node_sparsity, m->edge_sparsity, m->distribution_distance,
                     m->embedding_distance, r->best_lead,     r->accuracy};
    char text[7][32];
    for (int i = 0; i < 7; i++)
        put_real(text[i], sizeof text[i], real[i]);
    return cbx_print(
        line, LINE_MAX_BYTES,
        "%s,%s,%d,%s,%d,%s,%lld,%d,%d,%d,%s,%s,%s,%s,%s,%lld,%lld,%d,%lld,%lld,%s,"
        "%s,%s,%.6g,%.6g\n",
        plan->data[r->data].name, plan->models[r->model], r->fold, plan->methods[r->method]->name,
        r->row, cbx_outcome_name(r->outcome), (long long)r->label, r->prediction, r->target,
        r->result, text[0], text[1], text[2], text[3], text[4], (long long)m->features_changed,
        (long long)m->edges_removed, r->nodes, (long long)r->edges, (long long)r->epoch,
        cbx_certificate_name(r->certificate), text[5], text[6], r->seconds, r->peak_mb);
}

/* Cuts the line at its commas; false unless there are FIELDS fields. */
static bool cut(char *line, char **field)
{
    int count = 0;
    for (; count < FIELDS; line++) {
        field[count++] = line;
        line += strcspn(line, ",");
        if (!*line)
            break;
        *line = '\0';
    }
    return count == FIELDS && !*line;
}

static bool get_int(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return end != text && !*end && !errno;
}

static bool is_int32(int64_t value)
{
    return value >= INT32_MIN && value <= INT32_MAX;
}

static bool get_real(const char *text, double *out)
{
    char *end;
    *out = NAN;
    if (!*text)
        return true;
    *out = cbx_read_number(text, &end);
    return !*end;
}

static bool get_names(const cbx_bench_plan *plan, char **field, cbx_bench_row *r)
{
    r->data = r->model = r->method = -1;
    for (int32_t i = 0; i < plan->num_data; i++)
        if (!strcmp(plan->data[i].name, field[0]))
            r->data = i;
    for (int32_t i = 0; i < plan->num_models; i++)
        if (!strcmp(plan->models[i], field[1]))
            r->model = i;
    for (int32_t i = 0; i < plan->num_methods; i++)
        if (!strcmp(plan->methods[i]->name, field[3]))
            r->method = i;
    int outcome = CBX_FOUND, certificate = CBX_NO_CERTIFICATE;
    while (outcome <= CBX_SKIPPED && strcmp(cbx_outcome_name((cbx_outcome)outcome), field[5]) != 0)
        outcome++;
    while (certificate <= CBX_PROVED_NONE &&
           strcmp(cbx_certificate_name((cbx_certificate)certificate), field[20]) != 0)
        certificate++;
    r->outcome = (cbx_outcome)outcome;
    r->certificate = (cbx_certificate)certificate;
    return r->data >= 0 && r->model >= 0 && r->method >= 0 && outcome <= CBX_SKIPPED &&
           certificate <= CBX_PROVED_NONE;
}

static const char foreign[] = "it is not of this benchmark";

/* NULL, or what is wrong with the line. */
static const char *get_row(const cbx_bench_plan *plan, char *line, cbx_bench_row *r)
{
    static const int whole[] = {2, 4, 6, 7, 8, 9, 15, 16, 17, 18, 19};
    static const int narrow[] = {0, 1, 3, 4, 5, 8}; /* of `whole`: int32_t */
    static const int real[] = {10, 11, 12, 13, 14, 21, 22, 23, 24};
    char            *field[FIELDS];
    int64_t          n[11];
    double           x[9];
    if (!cut(line, field))
        return "it does not have 25 fields";
    if (!get_names(plan, field, r))
        return foreign;
    for (int i = 0; i < 11; i++)
        if (!get_int(field[whole[i]], &n[i]))
            return "one of its fields is not a whole number";
    for (int i = 0; i < 6; i++)
        if (!is_int32(n[narrow[i]]))
            return "one of its whole numbers is out of range";
    for (int i = 0; i < 9; i++)
        if (!get_real(field[real[i]], &x[i]))
            return "one of its fields is not a number";
    r->fold = (int32_t)n[0];
    r->row = (int32_t)n[1];
    r->label = n[2];
    r->prediction = (int32_t)n[3];
    r->target = (int32_t)n[4];
    r->result = (int32_t)n[5];
    r->measures = (cbx_measures){x[0], x[1], x[2], x[3], x[4], n[6], n[7]};
    r->nodes = (int32_t)n[8];
    r->edges = n[9];
    r->epoch = n[10];
    r->best_lead = x[5];
    r->accuracy = x[6];
    r->seconds = x[7];
    r->peak_mb = x[8];
    return r->fold < 0 || r->fold >= plan->folds ? foreign : NULL;
}

/* ---------------------------------------------------------------- reading */

static int by_key(const void *a, const void *b)
{
    const cbx_bench_row *x = a, *y = b;
    int32_t              one[] = {x->data, x->model, x->fold, x->method, x->row};
    int32_t              two[] = {y->data, y->model, y->fold, y->method, y->row};
    for (int i = 0; i < 5; i++)
        if (one[i] != two[i])
            return one[i] < two[i] ? -1 : 1;
    return 0;
}

typedef struct reading {
    const cbx_bench_plan *plan;
    const bool           *wanted; /* by data set; NULL: all, and there must be no others */
    cbx_bench_rows       *out;
    int64_t               room;
} reading;

static cbx_status add_line(reading *r, const char *path, int64_t number, char *line, cbx_error *err)
{
    cbx_bench_rows *out = r->out;
    if (out->count == r->room) {
        int64_t        larger = 2 * r->room + 256;
        cbx_bench_row *more = realloc(out->rows, (size_t)larger * sizeof *more);
        if (!more)
            return cbx_fail_memory(err);
        out->rows = more;
        r->room = larger;
    }
    cbx_bench_row *row = &out->rows[out->count];
    const char    *wrong = get_row(r->plan, line, row);
    if (wrong && !(r->wanted && wrong == foreign))
        return cbx_fail(err, CBX_INVALID, "%s: line %lld: %s", path, (long long)number, wrong);
    out->count += !wrong && (!r->wanted || r->wanted[row->data]);
    return CBX_OK;
}

/* A part's last line may have been cut short: it does not count unless it ends. */
static cbx_status read_file(reading *r, const char *path, cbx_error *err)
{
    char      *text;
    cbx_status status = cbx_bench_read_packed(path, &text, err);
    int64_t    number = 0;
    char      *rest = text, *line;
    while (!status && (line = cbx_line_next(&rest))) {
        number++;
        bool header = !strncmp(line, HEADER, strlen(HEADER) - 1);
        if (!header && *line)
            status = add_line(r, path, number, line, err);
    }
    free(text);
    return status;
}

static bool is_part(const char *name)
{
    size_t length = strlen(name);
    return length > 10 && !strncmp(name, "rows.", 5) && !strcmp(name + length - 5, ".part");
}

/* Calls `each` for what was gathered, where asked, and for every part. A rows.csv is there
 * where somebody has unpacked it. */
static cbx_status each_file(const char *folder, bool gathered,
                            cbx_status (*each)(void *user, const char *path, cbx_error *err),
                            void *user, cbx_error *err)
{
    cbx_status status = CBX_OK;
    DIR       *all = opendir(folder);
    if (!all)
        return cbx_fail_errno(err, folder, "read");
    for (struct dirent *e = readdir(all); e && !status; e = readdir(all)) {
        if (!is_part(e->d_name) && strcmp(e->d_name, "rows.csv") != 0 &&
            !(gathered && !strcmp(e->d_name, GATHERED)))
            continue;
        char *path = cbx_bench_path(folder, e->d_name);
        status = path ? each(user, path, err) : cbx_fail_memory(err);
        free(path);
    }
    (void)closedir(all);
    return status;
}

static cbx_status read_one(void *user, const char *path, cbx_error *err)
{
    return read_file(user, path, err);
}

cbx_status cbx_bench_rows_load(const cbx_bench_plan *plan, const char *folder, cbx_bench_rows *out,
                               cbx_error *err)
{
    return cbx_bench_rows_load_of(plan, folder, NULL, out, err);
}

cbx_status cbx_bench_rows_load_of(const cbx_bench_plan *plan, const char *folder,
                                  const bool *wanted, cbx_bench_rows *out, cbx_error *err)
{
    *out = (cbx_bench_rows){0};
    reading    r = {plan, wanted, out, 0};
    cbx_status status = each_file(folder, true, read_one, &r, err);
    if (status) {
        cbx_bench_rows_free(out);
        return status;
    }
    if (out->count)
        qsort(out->rows, (size_t)out->count, sizeof *out->rows, by_key);
    int64_t kept = 0; /* a part that was gathered and not yet removed repeats its rows */
    for (int64_t i = 0; i < out->count; i++)
        if (!i || by_key(&out->rows[kept - 1], &out->rows[i]) != 0)
            out->rows[kept++] = out->rows[i];
    out->count = kept;
    return CBX_OK;
}

void cbx_bench_rows_free(cbx_bench_rows *rows)
{
    free(rows->rows);
    *rows = (cbx_bench_rows){0};
}

const cbx_bench_row *cbx_bench_rows_find(const cbx_bench_rows *rows, const cbx_bench_row *key)
{
    if (!rows->count)
        return NULL;
    return bsearch(key, rows->rows, (size_t)rows->count, sizeof *rows->rows, by_key);
}

/* -------------------------------------------------------------- gathering */

static cbx_status remove_one(void *user, const char *path, cbx_error *err)
{
    (void)user;
    return unlink(path) ? cbx_fail_errno(err, path, "remove") : CBX_OK;
}

cbx_status cbx_bench_rows_gather(const cbx_bench_plan *plan, const char *folder,
                                 const cbx_bench_rows *rows, cbx_error *err)
{
    char  *text = NULL, line[LINE_MAX_BYTES];
    size_t size = 0;
    FILE  *out = open_memstream(&text, &size);
    char  *path = cbx_bench_path(folder, GATHERED);
    if (out)
        (void)fputs(HEADER, out);
    for (int64_t i = 0; out && i < rows->count; i++) {
        (void)put_row(line, plan, &rows->rows[i]);
        (void)fputs(line, out);
    }
    bool       failed = !out || (ferror(out) | fclose(out)) || !path;
    cbx_status status =
        failed ? cbx_fail_memory(err) : cbx_bench_write_packed(path, text, size, err);
    if (!status)
        status = each_file(folder, false, remove_one, NULL, err);
    free(text);
    free(path);
    return status;
}

/* -------------------------------------------------------------- appending */

cbx_status cbx_bench_part_open(cbx_line_file *part, const char *folder, int rank, cbx_error *err)
{
    char name[48];
    (void)snprintf(name, sizeof name, "rows.%d.part", rank);
    char      *path = cbx_bench_path(folder, name);
    cbx_status status = path ? cbx_line_file_open(part, path, err) : cbx_fail_memory(err);
    if (!status) /* what was there has been gathered */
        status = cbx_line_file_clear(part, err);
    free(path);
    return status;
}

cbx_status cbx_bench_part_add(cbx_line_file *part, const cbx_bench_plan *plan,
                              const cbx_bench_row *row, cbx_error *err)
{
    char line[LINE_MAX_BYTES];
    int  size = put_row(line, plan, row);
    return cbx_line_file_add(part, line, (size_t)size, err);
}
