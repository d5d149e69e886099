/* SPDX-License-Identifier: Apache-2.0 */
/* load.c: a model from a file, whatever kind it is of. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "model_file.h"
#include "program_oracle.h"
#include "sha256.h"

/* The file's hash, and whether it begins like a zip, as exported programs do. */
static cbx_status look(const char *path, bool *zip, char hex[65], cbx_error *err)
{
    char       buffer[1 << 14];
    size_t     count;
    bool       first = true;
    cbx_sha256 sha;
    FILE      *file = fopen(path, "rb");
    if (!file)
        return cbx_fail(err, CBX_IO, "%s: %s", path, strerror(errno));
    cbx_sha256_init(&sha);
    *zip = false;
    while ((count = fread(buffer, 1, sizeof buffer, file)) > 0) {
        if (first && !(*zip = count >= 4 && !memcmp(buffer, "PK\3\4", 4)))
            break;
        first = false;
        cbx_sha256_add(&sha, buffer, count);
    }
    bool failed = ferror(file);
    (void)fclose(file);
    cbx_sha256_hex(&sha, hex);
    return failed ? cbx_fail(err, CBX_IO, "%s: cannot be read", path) : CBX_OK;
}

cbx_status cbx_model_load(const char *path, cbx_model **out, cbx_error *err)
{
    bool         zip;
    char         hex[65];
    cbx_program *program;
    *out = NULL;
    cbx_status status = look(path, &zip, hex, err);
    if (status)
        return status;
    if (!zip)
        return cbx_model_load_layers(path, out, err);
    status = cbx_program_load(path, NULL, &program, err);
    return status ? status : cbx_model_of_program(program, hex, out, err);
}
