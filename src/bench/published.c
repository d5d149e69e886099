/* SPDX-License-Identifier: Apache-2.0 */
/* published.c: looking up the paper's figures. */
#include <math.h>
#include <string.h>

#include "summary.h"
#include "word.h"

#define ND NAN
typedef struct published {
    const char *task, *data, *model, *method;
    double      figures[10]; /* mean and deviation, in the order of cbx_bench_measure */
} published;

static const published rows[] = {
#define X(task, data, model, method, ...) {task, data, model, method, {__VA_ARGS__}},
#include "published.def"
#undef X
};

/* "PROTEINS_full-graphs" -> "proteins" */
static void paper_name(const char *file, char *name, size_t size)
{
    static const char *const endings[] = {"-graphs", "_full"};
    size_t                   length = 0;
    for (; file[length] && length + 1 < size; length++)
        name[length] = cbx_lower(file[length]);
    name[length] = '\0';
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && !strcmp(name + length - ending, endings[i]))
            name[length -= ending] = '\0';
    }
}

bool cbx_bench_published(cbx_task task, const char *data, const char *model, const char *method,
                         cbx_bench_measure measure, double *mean, double *std)
{
    char        name[128];
    const char *kind = task == CBX_GRAPH ? "graph" : "node";
    *mean = *std = NAN;
    if (measure > CBX_EDGE_SPARSITY)
        return false;
    paper_name(data, name, sizeof name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const published *r = &rows[i];
        if (strcmp(r->task, kind) != 0 || strcmp(r->data, name) != 0 ||
            strcmp(r->model, model) != 0 || strcmp(r->method, method) != 0)
            continue;
        *mean = r->figures[2 * measure];
        *std = r->figures[2 * measure + 1];
        return !isnan(*mean);
    }
    return false;
}
