/* SPDX-License-Identifier: Apache-2.0 */
/* trained_oracle.c: see trained_oracle.h. A note in the file says how it was trained. */
#include "trained_oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "number.h"
#include "rows.h"
#include "standardise.h"

enum { KEY_SIZE = 256 };
#define NOTE_KEY "benchmark"
#define NOTE_ACCURACY "test_accuracy"

static char *file_of(const cbx_bench_plan *plan, const char *folder, int32_t data, int32_t model,
                     int32_t fold)
{
    char name[256];
    (void)snprintf(name, sizeof name, "models/%s-%s-%d.model.safetensors", plan->data[data].name,
                   plan->models[model], fold);
    return cbx_bench_path(folder, name);
}

/* All that decides the parameters: protocols share the oracles that they train alike. */
static void key_of(const cbx_bench_plan *plan, int32_t data, int32_t model, int32_t fold,
                   char key[KEY_SIZE])
{
    char hash[65];
    bool standardised = plan->options->protocol == CBX_PROTOCOL_MEANT &&
                        cbx_standard_applies(plan->data[data].graph, CBX_STANDARDISE_AUTO);
    cbx_graph_hash(plan->data[data].graph, hash);
    (void)snprintf(key, KEY_SIZE, "%s data %s model %s fold %d epochs %lld seed %lld%s%s",
                   cbx_version(), hash, plan->models[model], fold,
                   (long long)plan->options->train_epochs, (long long)plan->options->seed,
                   standardised ? " standardise auto" : "",
                   plan->options->reproducible ? " reproducible" : "");
}

static cbx_status load(const char *path, const char *key, cbx_model **out, cbx_error *err)
{
    cbx_status  status = cbx_model_load(path, out, err);
    const char *note = status ? NULL : cbx_model_note(*out, NOTE_KEY);
    if (status || (note && !strcmp(note, key)))
        return status;
    status = cbx_fail(err, CBX_INVALID, "%s: was trained otherwise: '%s', and not '%s'", path,
                      note ? note : "", key);
    cbx_model_free(*out);
    *out = NULL;
    return status;
}

static cbx_status train(const cbx_bench_plan *plan, const char *path, const char *key, int32_t data,
                        int32_t model, int32_t fold, cbx_progress progress, void *user,
                        cbx_error *err)
{
    cbx_model_spec    spec;
    cbx_train_options options;
    cbx_train_result  result = {0};
    cbx_model        *m = NULL;
    char              accuracy[32];
    const cbx_graph  *graph = plan->data[data].graph;
    cbx_status        status = cbx_bench_training(plan, model, fold, &spec, &options, err);
    if (!status)
        status = cbx_model_new_with(graph, &spec, options.seed + fold, &m, err);
    if (!status) {
        cbx_model_set_reproducible(m, plan->options->reproducible);
        status = cbx_train_with(m, graph, &options, progress, user, &result, err);
    }
    if (!status)
        status = cbx_model_set_note(m, "data", plan->data[data].name, err);
    if (!status)
        status = cbx_model_set_note(m, NOTE_KEY, key, err);
    if (!status && isfinite(result.test_accuracy)) {
        (void)cbx_print(accuracy, sizeof accuracy, "%.9g", result.test_accuracy);
        status = cbx_model_set_note(m, NOTE_ACCURACY, accuracy, err);
    }
    if (!status)
        status = cbx_model_save(m, path, err);
    cbx_model_free(m);
    return status;
}

cbx_status cbx_bench_oracle_make(const cbx_bench_plan *plan, const char *folder, int32_t data,
                                 int32_t model, int32_t fold, cbx_progress progress, void *user,
                                 cbx_error *err)
{
    cbx_model *there = NULL;
    char       key[KEY_SIZE];
    char      *path = file_of(plan, folder, data, model, fold);
    if (!path)
        return cbx_fail_memory(err);
    key_of(plan, data, model, fold, key);
    cbx_status status = CBX_OK;
    if (access(path, F_OK) != 0 || load(path, key, &there, NULL))
        status = train(plan, path, key, data, model, fold, progress, user, err);
    cbx_model_free(there);
    free(path);
    return status;
}

cbx_status cbx_bench_oracle_load(const cbx_bench_plan *plan, const char *folder, int32_t data,
                                 int32_t model, int32_t fold, cbx_model **out, double *accuracy,
                                 cbx_error *err)
{
    char  key[KEY_SIZE];
    char *path = file_of(plan, folder, data, model, fold);
    *out = NULL;
    if (!path)
        return cbx_fail_memory(err);
    key_of(plan, data, model, fold, key);
    cbx_status status = load(path, key, out, err);
    free(path);
    if (status)
        return status;
    cbx_model_set_reproducible(*out, plan->options->reproducible);
    const char *note = cbx_model_note(*out, NOTE_ACCURACY);
    *accuracy = note ? cbx_read_number(note, NULL) : NAN;
    return CBX_OK;
}
