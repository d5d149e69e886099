/* SPDX-License-Identifier: Apache-2.0 */
/* trained.c: see trained.h. */
#include "trained.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "deadline.h"
#include "error.h"
#include "json.h"
#include "number.h"
#include "safetensors.h"
#include "sha256.h"

/* Grows when the same options come to train something else. */
static const char VERSION[] = "2";

/* Common options that training depends on. */
static bool counts(const char *name)
{
    static const char *const names[] = {"seed", "edges", "kinds", "budget"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

static void add_text(cbx_sha256 *sha, const char *text)
{
    cbx_sha256_add(sha, text, strlen(text) + 1);
}

/* The hash of all that decides what comes out. */
static void find_key(const cbx_setup *setup, char key[65])
{
    const cbx_option *o;
    const void       *of;
    cbx_sha256        sha;
    char              hex[65], text[96];
    cbx_sha256_init(&sha);
    add_text(&sha, VERSION);
    add_text(&sha, setup->explainer->name);
    add_text(&sha, setup->model->reproducible ? "reproducible" : "");
    cbx_model_hash(setup->model, hex);
    add_text(&sha, hex);
    cbx_graph_hash(setup->named, hex);
    add_text(&sha, hex);
    for (size_t i = 0; (o = cbx_fields_at(cbx_explain_table(), setup->options, i, &of)); i++) {
        if (of != setup->settings && !counts(o->name))
            continue;
        cbx_json value = cbx_json_option(o, of);
        (void)cbx_print(text, sizeof text, "%s %lld %.17g", o->name, (long long)value.integer,
                        value.number);
        add_text(&sha, text);
        add_text(&sha, value.text ? value.text : "");
    }
    /* what features may be, which a graph's hash does not tell */
    size_t f = (size_t)setup->graph->data.num_features;
    cbx_sha256_add(&sha, setup->lo, f * sizeof *setup->lo);
    cbx_sha256_add(&sha, setup->hi, f * sizeof *setup->hi);
    cbx_sha256_add(&sha, setup->discrete, f * sizeof *setup->discrete);
    cbx_sha256_hex(&sha, key);
}

/* FOLDER/METHOD-HASH.safetensors, to be freed; NULL: no memory. */
static char *path_in(const char *folder, const char *method, const char key[65])
{
    enum { DIGITS = 16 };
    static const char ending[] = ".safetensors";
    size_t            size = strlen(folder) + strlen(method) + DIGITS + sizeof ending + 2;
    char             *path = malloc(size);
    if (path)
        (void)snprintf(path, size, "%s/%s-%.*s%s", folder, method, DIGITS, key, ending);
    return path;
}

static bool all_finite(const cbx_tensor *t)
{
    const float *value = t->data;
    for (int64_t k = 0; k < t->count; k++)
        if (!isfinite(value[k]))
            return false;
    return true;
}

/* Takes what the file has, if it is what would be trained. A file that is not, or that is damaged,
 * is as good as none: it will be written anew. */
static bool read_file(const char *path, const char key[65], cbx_trained *out)
{
    cbx_tensor_file *file = NULL;
    if (cbx_tensors_copy(path, &file, NULL))
        return false;
    const char       *was = cbx_tensors_meta(file, "key");
    const char       *seconds = cbx_tensors_meta(file, "seconds");
    const cbx_tensor *t = cbx_tensors_find(file, "theta");
    bool              taken = was && seconds && t && !strcmp(was, key) && t->dtype == CBX_F32 &&
                 t->count == out->size && all_finite(t);
    if (taken) {
        memcpy(out->theta, t->data, (size_t)out->size * sizeof *out->theta);
        out->seconds = cbx_read_number(seconds, NULL);
    }
    cbx_tensors_close(file);
    return taken;
}

static cbx_status write_file(const char *path, const char key[65], const char *method,
                             const cbx_trained *trained, cbx_error *err)
{
    char             seconds[32];
    const cbx_tensor theta = {.name = "theta",
                              .dtype = CBX_F32,
                              .rank = 1,
                              .shape = {trained->size},
                              .data = trained->theta};
    (void)cbx_print(seconds, sizeof seconds, "%.6g", trained->seconds);
    const cbx_meta meta[] = {{"explainer", method}, {"key", key}, {"seconds", seconds}};
    return cbx_tensors_write(path, &theta, 1, meta, sizeof meta / sizeof *meta, err);
}

static cbx_status train_and_write(const cbx_setup *setup, const char *path, const char key[65],
                                  cbx_trainer train, void *user, cbx_trained *out, cbx_error *err)
{
    double      began = cbx_clock();
    struct stat about;
    errno = 0;
    bool folder = path && !stat(setup->options->trained, &about) && S_ISDIR(about.st_mode);
    if (path && !folder && !errno)
        errno = ENOTDIR;
    if (path && (!folder || access(setup->options->trained, W_OK)))
        return cbx_fail_option(err, "trained", "the folder '%s' cannot be written to: %s",
                               setup->options->trained, strerror(errno));
    cbx_status status = train(user, out->theta, err);
    out->seconds = cbx_clock() - began;
    return status || !path ? status : write_file(path, key, setup->explainer->name, out, err);
}

cbx_status cbx_trained_get(const cbx_setup *setup, int64_t size, cbx_trainer train, void *user,
                           cbx_arena *arena, cbx_trained *out, cbx_error *err)
{
    const char *folder = setup->options->trained;
    char        key[65] = "", *path = NULL;
    *out = (cbx_trained){.theta = CBX_NEW(arena, float, size), .size = size};
    if (!out->theta)
        return cbx_fail_memory(err);
    if (folder && folder[0]) {
        find_key(setup, key);
        path = path_in(folder, setup->explainer->name, key);
        if (!path)
            return cbx_fail_memory(err);
    }
    cbx_status status = CBX_OK;
    if (!path || !read_file(path, key, out))
        status = train_and_write(setup, path, key, train, user, out, err);
    free(path);
    return status;
}

bool cbx_training_is_over(int64_t done, int64_t total)
{
    cbx_deadline *d = cbx_deadline_here;
    return d && (cbx_deadline_tell(d, done, total, "training") || cbx_deadline_look(d));
}
