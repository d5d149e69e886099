/* SPDX-License-Identifier: Apache-2.0 */
/* load.c: a model from a file, whatever kind it is of. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "error.h"
#include "model_file.h"
#include "program_oracle.h"
#include "model_output.h"
#include "sha256.h"

/* Exported programs are zips. What cannot be looked at, or is no file, is left to the reader of
 * layers, who says so. */
static bool is_zip(const char *path)
{
    char        start[4];
    struct stat st;
    FILE       *file = !stat(path, &st) && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    if (!file)
        return false;
    bool zip = fread(start, 1, sizeof start, file) == sizeof start && !memcmp(start, "PK\3\4", 4);
    (void)fclose(file);
    return zip;
}

static cbx_status hash_file(const char *path, char hex[65], cbx_error *err)
{
    char       buffer[1 << 14];
    size_t     count;
    cbx_sha256 sha;
    FILE      *file = fopen(path, "rb");
    if (!file)
        return cbx_fail_errno(err, path, "open");
    cbx_sha256_init(&sha);
    while ((count = fread(buffer, 1, sizeof buffer, file)) > 0)
        cbx_sha256_add(&sha, buffer, count);
    cbx_status status = ferror(file) ? cbx_fail_errno(err, path, "read") : CBX_OK;
    (void)fclose(file);
    cbx_sha256_hex(&sha, hex);
    return status;
}

static const cbx_option options[] = {
    {"inputs", CBX_OPTION_TEXT, offsetof(cbx_open_options, inputs), NULL, 0, 0, NULL,
     "of a program: which input is which, as x=NAME,edge_index=NAME; default: by their names"},
    {"scores", CBX_OPTION_CHOICE, offsetof(cbx_open_options, scores), "auto", 0, 0,
     cbx_meaning_names,
     "of a program: what it gives: scores or probabilities of classes that exclude each other, "
     "log-odds (labels) or chances of labels that do not, or a number"},
    {"label", CBX_OPTION_TEXT, offsetof(cbx_open_options, label), NULL, 0, 0, NULL,
     "of a program that gives several labels or numbers: the one that is asked about"},
    {"classes", CBX_OPTION_TEXT, offsetof(cbx_open_options, classes), NULL, 0, 0, NULL,
     "of a program that gives labels: names of the two classes; default: no,yes"},
};

static const cbx_option_table table =
    CBX_OPTION_TABLE("Reading a program", options, cbx_open_options);

const cbx_option_table *cbx_open_table(void)
{
    return &table;
}

/* One file can be read in several ways, and then it is several models. */
static void add_reading(const cbx_open_options *o, char hex[65])
{
    cbx_sha256  sha;
    const char *label = o && o->label ? o->label : "";
    if (!o || (!o->scores && !*label))
        return;
    cbx_sha256_init(&sha);
    cbx_sha256_add(&sha, hex, 64);
    cbx_sha256_add(&sha, cbx_meaning_names[o->scores], strlen(cbx_meaning_names[o->scores]));
    cbx_sha256_add(&sha, label, strlen(label));
    cbx_sha256_hex(&sha, hex);
}

static cbx_status refuse_options(const char *path, const cbx_open_options *o, cbx_error *err)
{
    return !o || (!o->inputs && !o->scores && !o->label && !o->classes)
               ? CBX_OK
               : cbx_fail(
                     err, CBX_INVALID,
                     "%s: is a chain of layers: its inputs and its scores are known, and %s is "
                     "for programs%s",
                     path,
                     o->inputs   ? "inputs"
                     : o->scores ? "scores"
                     : o->label  ? "label"
                                 : "classes",
                     o->label && !o->inputs && !o->scores
                         ? "; a table's column of classes is label-column"
                         : "");
}

cbx_status cbx_model_open_with(const char *path, const cbx_open_options *o, cbx_model **out,
                               cbx_error *err)
{
    char                hex[65];
    cbx_program        *program;
    cbx_program_options how = {.roles = o ? o->inputs : NULL};
    *out = NULL;
    cbx_status status = o ? cbx_fields_check(&table, o, err) : CBX_OK;
    if (!status && !is_zip(path)) {
        status = refuse_options(path, o, err);
        return status ? status : cbx_model_load_layers(path, out, err);
    }
    if (!status)
        status = hash_file(path, hex, err);
    if (!status)
        status = cbx_program_load(path, &how, &program, err);
    if (status)
        return status;
    add_reading(o, hex);
    return cbx_model_of_program(program, hex, o, out, err);
}

cbx_status cbx_model_load(const char *path, cbx_model **out, cbx_error *err)
{
    return cbx_model_open_with(path, NULL, out, err);
}

cbx_status cbx_model_open(const char *path, const cbx_options *by_name, cbx_model **out,
                          cbx_error *err)
{
    const void *fields;
    *out = NULL;
    cbx_status status = cbx_options_fields(by_name, cbx_open_table(), &fields, err);
    return status ? status : cbx_model_open_with(path, fields, out, err);
}
