/* SPDX-License-Identifier: Apache-2.0 */
/* golden_program.h: exported programs, each with two graphs that its golden file has. */
#ifndef GOLDEN_PROGRAM_H
#define GOLDEN_PROGRAM_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "../core/bag.h"
#include "model.h"
#include "safetensors.h"
#include "test.h"

typedef struct golden {
    cbx_tensor_file *file;
    cbx_model       *model;
    cbx_graph       *graph;
    const char      *size;        /* "a" or "b": of the graph */
    bool             cut;         /* it is not quite that graph */
    bool             probability; /* expected outputs are a sigmoid's */
    bag              bag;         /* what the graph is made of */
} golden;

static inline const cbx_tensor *tensor(const golden *g, const char *what)
{
    char key[256];
    (void)snprintf(key, sizeof key, "%s.%s", g->size, what);
    return cbx_tensors_find(g->file, key);
}

/* Some models take what a graph here does not have, such as several edge lists. */
static inline bool is_for_us(const char *path, cbx_model **model)
{
    cbx_error err = {0};
    return !cbx_model_load(path, model, &err);
}

static inline float number_at(const cbx_tensor *t, int64_t i)
{
    return t->dtype == CBX_F32   ? ((const float *)t->data)[i]
           : t->dtype == CBX_I64 ? (float)((const int64_t *)t->data)[i]
                                 : (float)((const double *)t->data)[i];
}

/* The golden graph. Of a batch of graphs, edges between two of them are left out: torch does not
 * mind them, but then nothing is known of what it would say. */
static inline void make_graph(golden *g)
{
    const cbx_tensor *x = tensor(g, "in.x"), *edges = tensor(g, "in.edge_index");
    const cbx_tensor *batch = tensor(g, "in.batch"), *weight = tensor(g, "in.edge_weight");
    const cbx_tensor *attr = tensor(g, "in.edge_attr");
    if (!CHECK(x && edges))
        return;
    bool           graphs = g->model->task == CBX_GRAPH;
    int32_t        n = (int32_t)x->shape[0];
    int64_t        m = edges->shape[1], left = 0;
    const int64_t *of = batch ? batch->data : NULL, *ends = edges->data;
    int32_t        count = of ? (int32_t)of[n - 1] + 1 : 1;
    int32_t        wide = !attr ? 0 : attr->rank == 2 ? (int32_t)attr->shape[1] : 1;
    float         *values = TAKE(&g->bag, float, x->count), *kept = TAKE(&g->bag, float, m *wide);
    int64_t       *ptr = TAKE(&g->bag, int64_t, count + 1), *y = TAKE(&g->bag, int64_t, n);
    int64_t       *source = TAKE(&g->bag, int64_t, m), *target = TAKE(&g->bag, int64_t, m);
    for (int64_t i = 0; i < x->count; i++)
        values[i] = number_at(x, i);
    memset(ptr, 0, (size_t)(count + 1) * sizeof *ptr);
    for (int32_t i = 0; i < n; i++) {
        ptr[(of ? of[i] : 0) + 1]++;
        y[i] = i == 0; /* two classes at least */
    }
    for (int32_t k = 0; k < count; k++)
        ptr[k + 1] += ptr[k];
    for (int64_t e = 0; e < m; e++)
        if (!of || of[ends[e]] == of[ends[m + e]]) {
            for (int32_t k = 0; k < wide; k++)
                kept[left * wide + k] = number_at(attr, e * wide + k);
            source[left] = ends[e];
            target[left++] = ends[m + e];
        }
    g->cut = left < m;
    cbx_graph_data d = {.task = graphs ? CBX_GRAPH : CBX_NODE,
                        .num_nodes = n,
                        .num_features = (int32_t)x->shape[1],
                        .num_edges = left,
                        .edge_source = source,
                        .edge_target = target,
                        .edge_weight = weight ? weight->data : NULL,
                        .edge_attr = wide ? kept : NULL,
                        .edge_dim = wide,
                        .x = values,
                        .num_graphs = graphs ? count : 0,
                        .graph_ptr = graphs ? ptr : NULL,
                        .y = y};
    cbx_error      err = {0};
    CHECK_OK(cbx_graph_new(&d, &g->graph, &err), err);
}

static inline bool open_golden(golden *g, const char *folder, const char *stem, const char *size)
{
    char      path[1200];
    cbx_error err = {0};
    *g = (golden){.size = size, .probability = !strcmp(stem, "single_sigmoid")};
    (void)snprintf(path, sizeof path, "%s/%s.pt2", folder, stem);
    if (!is_for_us(path, &g->model))
        return false;
    (void)snprintf(path, sizeof path, "%s/%s.safetensors", folder, stem);
    if (CHECK_OK(cbx_tensors_open(path, &g->file, &err), err))
        make_graph(g);
    return g->graph && !cbx_model_fits(g->model, g->graph, &err);
}

static inline void close_golden(golden *g)
{
    cbx_graph_free(g->graph);
    cbx_model_free(g->model);
    cbx_tensors_close(g->file);
    bag_free(&g->bag);
}

/* Calls `check` for every program of a folder that is for us, on both graphs. */
static inline int for_each(const char *folder, void (*check)(golden *g))
{
    DIR *dir = opendir(folder);
    int  count = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char   stem[256];
        size_t length = strlen(e->d_name);
        if (length < 5 || length > sizeof stem || strcmp(e->d_name + length - 4, ".pt2") != 0)
            continue;
        (void)snprintf(stem, sizeof stem, "%.*s", (int)length - 4, e->d_name);
        for (int k = 0; k < 2; k++) {
            golden g;
            int    before = test_failures();
            if (open_golden(&g, folder, stem, k ? "b" : "a")) {
                check(&g);
                count++;
            }
            if (test_failures() > before)
                printf("  (%s, %s)\n", stem, k ? "b" : "a");
            close_golden(&g);
        }
    }
    if (dir)
        (void)closedir(dir);
    return count;
}

static inline int everywhere(void (*check)(golden *g))
{
    int         count = for_each(test_source("tests/golden/programs"), check);
    const char *shared = test_shared("programs");
    CHECK_INT(count, 6);
    if (shared) {
        count += for_each(shared, check);
        CHECK(count >= 50); /* the others take what a graph here does not have */
    }
    return count;
}

#endif
