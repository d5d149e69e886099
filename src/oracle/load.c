/* SPDX-License-Identifier: Apache-2.0 */
/* load.c: a model from a file, whatever kind it is of. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "error.h"
#include "model_file.h"
#include "program_oracle.h"
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

cbx_status cbx_model_load(const char *path, cbx_model **out, cbx_error *err)
{
    char         hex[65];
    cbx_program *program;
    *out = NULL;
    if (!is_zip(path))
        return cbx_model_load_layers(path, out, err);
    cbx_status status = hash_file(path, hex, err);
    if (!status)
        status = cbx_program_load(path, NULL, &program, err);
    return status ? status : cbx_model_of_program(program, hex, out, err);
}
