/* SPDX-License-Identifier: Apache-2.0 */
/* program.c: from a file to a program that is ready to run. */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "pt2.h"
#include "runner.h"

/* ---- what depends on weights alone is computed once */

static bool is_constant(const cbx_program *p, const cbx_node *n)
{
    for (int32_t k = 0; k < n->num_inputs; k++)
        if (n->input[k] >= 0 && !p->values[n->input[k]].constant)
            return false;
    for (int32_t k = 0; k < CBX_ARGS; k++)
        for (int32_t i = 0; n->arg[k].ints && i < n->arg[k].count; i++)
            if (n->arg[k].ints[i].value >= 0)
                return false;
    for (int32_t k = 0; k < n->num_outputs; k++)
        if (p->values[n->output[k]].number)
            return false;
    return true;
}

/* Keeps what a call gave, with memory of the program's. */
static cbx_status keep(cbx_program *p, const cbx_runner *r, int32_t value, cbx_error *err)
{
    const cbx_array *a = &r->array[value];
    cbx_array       *copy = CBX_NEW(&p->arena, cbx_array, 1);
    if (!copy)
        return cbx_fail_memory(err);
    *copy = *a;
    copy->storage = -1;
    copy->offset = 0;
    copy->tag = NULL;
    copy->grad = NULL;
    p->values[value].constant = copy;
    return CBX_OK;
}

/* Memory beyond which weights are not worked on when a program is read: what is larger is not
 * what a model would do with its own weights. */
static const size_t most_folded = (size_t)1 << 28;

cbx_status cbx_program_fold(cbx_program *p, cbx_error *err)
{
    cbx_runner r = {.program = p, .most = most_folded};
    int32_t    kept = 0;
    cbx_status status = cbx_runner_reset(&r, err);
    for (int32_t i = 0; i < p->num_nodes && !status; i++) {
        const cbx_node n = p->nodes[i];
        if (!is_constant(p, &n)) {
            p->nodes[kept++] = n;
            continue;
        }
        status = cbx_runner_plan_node(&r, &n, err);
        for (int32_t k = 0; k < n.num_outputs && !status; k++)
            status = keep(p, &r, n.output[k], err);
    }
    p->num_nodes = kept;
    /* what was computed lives on */
    p->folded = r.arena;
    return status;
}

/* ---- reading */

static cbx_status check_formats(const cbx_parts *parts, cbx_error *err)
{
    static const char *const expected[][2] = {
        {"archive_format", "pt2"}, {"archive_version", "0"}, {"byteorder", "little"}};
    for (size_t i = 0; i < 3; i++) {
        const cbx_part *part = cbx_parts_find(parts, expected[i][0]);
        size_t          length = strlen(expected[i][1]);
        if (!part || part->size < length || memcmp(part->bytes, expected[i][1], length) != 0)
            return cbx_fail(err, CBX_INVALID, "%s: %s: '%.*s', %s expected", parts->path,
                            expected[i][0], part ? (int)(part->size < 20 ? part->size : 20) : 0,
                            part ? (const char *)part->bytes : "", expected[i][1]);
    }
    return CBX_OK;
}

/* models/NAME.json: one, whatever its name. */
static cbx_status find_model(const cbx_parts *parts, const cbx_part **out, cbx_error *err)
{
    *out = NULL;
    for (size_t i = 0; i < parts->count; i++) {
        if (strncmp(parts->part[i].name, "models/", 7) != 0)
            continue;
        if (*out)
            return cbx_fail(err, CBX_INVALID, "%s: %s and %s: one model expected", parts->path,
                            (*out)->name, parts->part[i].name);
        *out = &parts->part[i];
    }
    return *out ? CBX_OK
                : cbx_fail(err, CBX_INVALID,
                           "%s: no models/model.json: is it a file of torch.export.save?",
                           parts->path);
}

static cbx_status build(cbx_builder *b, const cbx_parts *parts, const cbx_program_options *options,
                        cbx_error *err)
{
    cbx_program    *p = b->program;
    const cbx_part *model;
    const cbx_json *json;
    cbx_status      status = check_formats(parts, err);
    if (!status)
        status = find_model(parts, &model, err);
    if (!status)
        status = cbx_parts_json(parts, model, &b->scratch, &json, err);
    if (!status)
        status = cbx_model_json_read(b, parts, json, options, err);
    if (!status)
        status = cbx_build_prune(b, err);
    if (!status)
        status = cbx_program_fold(p, err);
    p->info.num_operations = p->num_nodes;
    return status;
}

cbx_status cbx_program_build(const cbx_parts *parts, const cbx_program_options *options,
                             cbx_program **out, cbx_error *err)
{
    cbx_program *p = calloc(1, sizeof *p);
    *out = NULL;
    if (!p)
        return cbx_fail_memory(err);
    cbx_builder b = {.program = p, .arena = &p->arena};
    p->info.path = cbx_arena_strdup(&p->arena, parts->path);
    cbx_status status = p->info.path ? build(&b, parts, options, err) : cbx_fail_memory(err);
    cbx_arena_free(&b.scratch);
    if (status)
        cbx_program_free(p);
    else
        *out = p;
    return status;
}

cbx_status cbx_program_from_parts(const cbx_parts *parts, const cbx_program_options *options,
                                  cbx_program **out, cbx_error *err)
{
    cbx_status status = cbx_program_build(parts, options, out, err);
    if (!status)
        status = cbx_roles_find(*out, options ? options->roles : NULL, err);
    if (!status)
        status = cbx_hops_find(*out, err);
    if (!status && !(options && options->unchecked))
        status = cbx_removal_check(*out, err);
    if (status) {
        cbx_program_free(*out);
        *out = NULL;
    }
    return status;
}

cbx_status cbx_program_load(const char *path, const cbx_program_options *options, cbx_program **out,
                            cbx_error *err)
{
    cbx_arena arena = {0};
    cbx_parts parts = {0};
    *out = NULL;
    cbx_status status = cbx_pt2_open(path, &arena, &parts, err);
    if (!status)
        status = cbx_parts_index(&parts, &arena, err);
    if (!status)
        status = cbx_program_from_parts(&parts, options, out, err);
    cbx_arena_free(&arena);
    return status;
}

void cbx_program_free(cbx_program *p)
{
    if (!p)
        return;
    cbx_arena_free(&p->arena);
    cbx_arena_free(&p->folded);
    free(p);
}

const cbx_program_info *cbx_program_describe(const cbx_program *p)
{
    return &p->info;
}

int32_t cbx_program_find(const cbx_program *p, cbx_role role)
{
    for (int32_t i = 0; i < p->info.num_inputs; i++)
        if (p->inputs[i].role == role)
            return i;
    return -1;
}
