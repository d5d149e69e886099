/* SPDX-License-Identifier: Apache-2.0 */
/* Exported models of many architectures: outputs, gradients, weights of 0 and hops, as PyTorch
 * Geometric and the reference have them. A few lie in the source tree, all of them in shared. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "order.h"
#include "program.h"
#include "safetensors.h"
#include "test.h"

enum { MOST_INPUTS = 16 };

typedef struct names {
    int32_t     count;
    const char *name[MOST_INPUTS];
} names;

/* A list of texts in the file's metadata. */
static names list_of(const cbx_tensor_file *file, const char *key, cbx_arena *arena)
{
    names           out = {0};
    const cbx_json *json = NULL;
    cbx_json_error  why;
    const char     *text = cbx_tensors_meta(file, key);
    if (text && !cbx_json_parse(text, strlen(text), arena, &json, &why))
        for (const cbx_json *v = json->first; v && out.count < MOST_INPUTS; v = v->next)
            out.name[out.count++] = v->text;
    return out;
}

static bool is_in(const names *list, const char *name)
{
    for (int32_t i = 0; i < list->count; i++)
        if (!strcmp(list->name[i], name))
            return true;
    return false;
}

static const cbx_tensor *find(const cbx_tensor_file *file, const char *size, const char *which,
                              const char *what, const char *name)
{
    char key[256];
    (void)snprintf(key, sizeof key, "%s.%s%s%s%s%s", size, which, *what ? "." : "", what,
                   *name ? "." : "", name);
    return cbx_tensors_find(file, key);
}

static double value_at(const void *data, bool single, int64_t i)
{
    return single ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

/* Of values by edge, the mean over the edges from the same node to the same node: a maximum may be
 * of either of two that are equal, and BLAS makes rows that are equal unequal. Without edges the
 * value. */
static double value_of_copies(const void *data, bool single, const cbx_tensor *edges, int64_t i)
{
    double         sum = 0;
    int64_t        copies = 0, count = edges ? edges->count / 2 : 0;
    const int64_t *node = edges ? edges->data : NULL;
    for (int64_t k = 0; k < count; k++)
        if (node[k] == node[i] && node[count + k] == node[count + i]) {
            sum += value_at(data, single, k);
            copies++;
        }
    return copies > 0 ? sum / (double)copies : value_at(data, single, i);
}

/* The largest difference, against the largest expected value; with edges, of means over copies. */
static double difference(const cbx_tensor *expected, const void *got, const cbx_tensor *edges)
{
    double worst = 0, largest = 1;
    bool   single = expected->dtype == CBX_F32;
    for (int64_t i = 0; i < expected->count; i++) {
        double e = value_of_copies(expected->data, single, edges, i);
        double g = value_of_copies(got, single, edges, i);
        if (isnan(e) != isnan(g))
            return INFINITY;
        worst = isnan(e) ? worst : fmax(worst, fabs(e - g));
        largest = isnan(e) ? largest : fmax(largest, fabs(e));
    }
    return worst / largest;
}

typedef struct worst {
    double output, gradient;
    int    cases;
} worst;

/* Weights of a case: as the file says, 1 where it says nothing. */
static void set_weights(cbx_runner *r, const cbx_program_info *info, const cbx_tensor_file *file,
                        const char *size, const char *which)
{
    for (int32_t i = 0; i < info->num_inputs; i++) {
        const cbx_tensor *w = find(file, size, which, "w", info->inputs[i].name);
        if (w && CHECK(cbx_runner_weights(r, i) != NULL))
            memcpy(cbx_runner_weights(r, i), w->data,
                   (size_t)w->count * cbx_type_size(cbx_runner_real(r)));
    }
}

static void check_case(cbx_runner *r, const cbx_program_info *info, const cbx_tensor_file *file,
                       const char *size, const char *which, worst *w)
{
    const cbx_tensor *out = find(file, size, which, "out", ""), *c = find(file, size, "c", "", "");
    cbx_error         err = {0};
    if (!out || !CHECK(c != NULL))
        return;
    set_weights(r, info, file, size, which);
    if (!CHECK_OK(cbx_runner_forward(r, &err), err))
        return;
    w->cases++;
    const cbx_array *got = cbx_runner_output(r);
    CHECK_INT(got->count, out->count);
    double d = difference(out, got->data, NULL), worst_gradient = 0;
    cbx_runner_backward(r, c->data);
    for (int32_t i = 0; i < info->num_inputs; i++) {
        const cbx_tensor *dx = find(file, size, which, "dx", info->inputs[i].name);
        const cbx_tensor *dw = find(file, size, which, "dw", info->inputs[i].name);
        const cbx_tensor *edges = find(file, size, "in", info->inputs[i].name, "");
        if (cbx_order_is_fixed() || !dw || edges->count != 2 * dw->count)
            edges = NULL; /* to the letter, or not by edge */
        if (dx)
            worst_gradient = fmax(worst_gradient, difference(dx, cbx_runner_gradient(r, i), NULL));
        if (dw)
            worst_gradient = fmax(worst_gradient,
                                  difference(dw, cbx_runner_weight_gradient(r, i), edges));
    }
    if (!CHECK(d <= 1e-5) || !CHECK(worst_gradient <= 1e-4))
        printf("  (%s.%s: output %.2g, gradient %.2g)\n", size, which, d, worst_gradient);
    w->output = fmax(w->output, d);
    w->gradient = fmax(w->gradient, worst_gradient);
}

/* All cases of one size of graph; `nodes` has weights for the batch, too. */
static void check_size(const cbx_program *p, const cbx_tensor_file *file, const char *size,
                       worst *w)
{
    static const char *const cases[] = {"ones", "removed", "none", "fraction", "nodes"};
    const cbx_program_info  *info = cbx_program_describe(p);
    cbx_runner_input         inputs[MOST_INPUTS] = {0};
    cbx_arena                arena = {0};
    names                    graphs = list_of(file, "graphs", &arena);
    cbx_runner              *r = NULL;
    cbx_error                err = {0};
    if (!CHECK_OK(cbx_runner_new(p, &r, &err), err))
        return;
    for (int k = 0; k < 5; k++) {
        for (int32_t i = 0; i < info->num_inputs; i++) {
            const cbx_tensor *t = find(file, size, "in", info->inputs[i].name, "");
            if (!CHECK(t != NULL))
                break;
            inputs[i] = (cbx_runner_input){.data = t->data};
            memcpy(inputs[i].size, t->shape, sizeof inputs[i].size);
            inputs[i].gradient = cbx_is_real(info->inputs[i].type);
            inputs[i].weighted = is_in(&graphs, info->inputs[i].name) ||
                                 find(file, size, cases[k], "w", info->inputs[i].name);
        }
        cbx_runner_options options = {.gradient = true};
        if (!find(file, size, cases[k], "out", ""))
            continue;
        if (CHECK_OK(cbx_runner_plan(r, inputs, &options, &err), err))
            check_case(r, info, file, size, cases[k], w);
    }
    cbx_runner_free(r);
    cbx_arena_free(&arena);
}

static int32_t hops_of(const cbx_tensor_file *file, const char *key)
{
    const char *text = cbx_tensors_meta(file, key);
    if (!text)
        return -2;
    return !strcmp(text, "inf") ? CBX_WHOLE_GRAPH : !strcmp(text, "-inf") ? -1 : atoi(text);
}

static void check_program(const char *folder, const char *stem, worst *w)
{
    char             path[1200], expected[1200];
    cbx_program     *p = NULL;
    cbx_tensor_file *file = NULL;
    cbx_error        err = {0};
    int              before = test_failures();
    worst            own = {0};
    (void)snprintf(path, sizeof path, "%s/%s.pt2", folder, stem);
    (void)snprintf(expected, sizeof expected, "%s/%s.safetensors", folder, stem);
    if (CHECK_OK(cbx_program_load(path, NULL, &p, &err), err) &&
        CHECK_OK(cbx_tensors_open(expected, &file, &err), err)) {
        CHECK_INT(cbx_program_describe(p)->hops_x, hops_of(file, "hops_x"));
        CHECK_INT(cbx_program_describe(p)->hops_edges, hops_of(file, "hops_edges"));
        check_size(p, file, "a", &own);
        check_size(p, file, "b", &own);
    }
    if (test_failures() > before)
        printf("  (%s)\n", stem);
    if (getenv("CBX_VERBOSE"))
        printf("  %-28s %3d cases  output %.1e  gradient %.1e  %d operations\n", stem, own.cases,
               own.output, own.gradient, p ? cbx_program_describe(p)->num_operations : 0);
    w->output = fmax(w->output, own.output);
    w->gradient = fmax(w->gradient, own.gradient);
    w->cases += own.cases;
    cbx_tensors_close(file);
    cbx_program_free(p);
}

static int check_folder(const char *folder, worst *w)
{
    DIR *dir = opendir(folder);
    int  count = 0;
    char stem[256];
    for (struct dirent *e; dir && (e = readdir(dir));) {
        size_t length = strlen(e->d_name);
        if (length < 5 || length > sizeof stem || strcmp(e->d_name + length - 4, ".pt2") != 0)
            continue;
        (void)snprintf(stem, sizeof stem, "%.*s", (int)length - 4, e->d_name);
        check_program(folder, stem, w);
        count++;
    }
    if (dir)
        (void)closedir(dir);
    return count;
}

TEST(committed_programs_give_what_torch_gives)
{
    const char *folder = test_source("tests/golden/programs");
    worst       w = {0};
    CHECK_INT(folder ? check_folder(folder, &w) : 0, 3);
    CHECK_INT(w.cases, 3 * 2 * 4);
}

TEST(every_shared_program_gives_what_torch_gives)
{
    const char *folder = test_shared("programs");
    worst       w = {0};
    if (!folder) {
        test_skip("no shared programs");
        return;
    }
    int count = check_folder(folder, &w);
    CHECK(count >= 43);
    printf("  %d programs, %d cases: outputs to %.1e, gradients to %.1e\n", count, w.cases,
           w.output, w.gradient);
}
