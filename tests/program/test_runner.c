/* SPDX-License-Identifier: Apache-2.0 */
/* Runners: a search calls one thousands of times, so nothing may be allocated there, nothing may be
 * left from the call before, and what is planned anew must be as if it were the first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "test.h"

enum { NODES = 6, EDGES = 9, FEATURES = 3 };

static const float   x[NODES * FEATURES] = {1, -2, 3, 0.5f, 0, 1,  -1, 2, 0.25f,
                                            2, 1,  0, -3,   1, -1, 0,  0, 1};
static const int64_t edges[2 * EDGES] = {0, 1, 2, 3, 1, 1, 4, 2, 2, 1, 2, 0, 1, 1, 3, 2, 4, 4};
static const float attributes[EDGES * 2] = {1, 0, 0, 1, 1, 1, -1, 0, 2, 1, 0, -1, 1, 2, 0, 0, 1, 1};
static const int64_t batch[NODES] = {0, 0, 1, 1, 2, 2};

static cbx_program *load(const char *name)
{
    char         path[128];
    cbx_program *p = NULL;
    cbx_error    err = {0};
    (void)snprintf(path, sizeof path, "tests/golden/programs/%s.pt2", name);
    const char *file = test_source(path);
    if (CHECK(file != NULL))
        CHECK_OK(cbx_program_load(file, NULL, &p, &err), err);
    return p;
}

/* What a program is given: the graph above, or its first `count` edges. */
static void fill(const cbx_program *p, int64_t count, cbx_runner_input *inputs, int64_t *kept)
{
    const cbx_program_info *info = cbx_program_describe(p);
    memcpy(kept, edges, (size_t)count * sizeof *kept);
    memcpy(kept + count, edges + EDGES, (size_t)count * sizeof *kept);
    for (int32_t i = 0; i < info->num_inputs; i++) {
        inputs[i] = (cbx_runner_input){0};
        switch (info->inputs[i].role) {
        case CBX_ROLE_X:
            inputs[i] = (cbx_runner_input){.data = x, .size = {NODES, FEATURES}, .gradient = true};
            break;
        case CBX_ROLE_EDGE_INDEX:
            inputs[i] = (cbx_runner_input){.data = kept, .size = {2, count}, .weighted = true};
            break;
        case CBX_ROLE_EDGE_ATTR:
            inputs[i] = (cbx_runner_input){.data = attributes, .size = {count, 2}};
            break;
        default:
            inputs[i] = (cbx_runner_input){.data = batch, .size = {NODES}};
        }
    }
}

static cbx_runner *plan(const cbx_program *p, int64_t count, bool gradient)
{
    cbx_runner_input   inputs[8];
    int64_t            kept[2 * EDGES];
    cbx_runner        *r = NULL;
    cbx_error          err = {0};
    cbx_runner_options options = {.gradient = gradient};
    fill(p, count, inputs, kept);
    CHECK_OK(cbx_runner_new(p, &r, &err), err);
    CHECK_OK(cbx_runner_plan(r, inputs, &options, &err), err);
    return r;
}

static float *weights(cbx_runner *r, const cbx_program *p)
{
    return cbx_runner_weights(r, cbx_program_find(p, CBX_ROLE_EDGE_INDEX));
}

static const float *run(cbx_runner *r)
{
    cbx_error err = {0};
    CHECK_OK(cbx_runner_forward(r, &err), err);
    return cbx_runner_output(r)->data;
}

static const char *const names[] = {"gcn", "gat", "pool"};

TEST(a_run_allocates_nothing)
{
    float direction[64] = {1, -1, 2};
    for (int k = 0; k < 3; k++) {
        cbx_program *p = load(names[k]);
        cbx_runner  *r = p ? plan(p, EDGES, true) : NULL;
        long         before = test_allocations();
        for (int i = 0; r && i < 10; i++) {
            weights(r, p)[i % EDGES] *= 0.5f;
            (void)run(r);
            cbx_runner_backward(r, direction);
        }
        CHECK_INT(test_allocations() - before, 0);
        cbx_runner_free(r);
        cbx_program_free(p);
    }
}

TEST(a_run_does_not_depend_on_the_one_before)
{
    for (int k = 0; k < 3; k++) {
        cbx_program *p = load(names[k]);
        cbx_runner  *r = p ? plan(p, EDGES, true) : NULL;
        float        first[64], gradient[NODES * FEATURES], direction[64] = {1, -1, 2, 0.5f};
        if (!r)
            return;
        size_t size = (size_t)cbx_runner_output(r)->count * sizeof *first;
        memcpy(first, run(r), size);
        cbx_runner_backward(r, direction);
        memcpy(gradient, cbx_runner_gradient(r, 0), sizeof gradient);
        memset(weights(r, p), 0, EDGES * sizeof(float));
        CHECK(memcmp(first, run(r), size) != 0);
        cbx_runner_backward(r, direction);
        for (int e = 0; e < EDGES; e++)
            weights(r, p)[e] = 1;
        CHECK(!memcmp(first, run(r), size));
        cbx_runner_backward(r, direction);
        CHECK(!memcmp(gradient, cbx_runner_gradient(r, 0), sizeof gradient));
        cbx_runner_free(r);
        cbx_program_free(p);
    }
}

TEST(a_weight_of_0_is_the_graph_without_the_edge)
{
    for (int k = 0; k < 3; k++) {
        cbx_program *p = load(names[k]);
        cbx_runner  *all = p ? plan(p, EDGES, false) : NULL,
                   *less = p ? plan(p, EDGES - 3, false) : NULL;
        if (!all || !less)
            return;
        for (int e = EDGES - 3; e < EDGES; e++)
            weights(all, p)[e] = 0;
        int64_t      count = cbx_runner_output(all)->count;
        const float *a = run(all), *b = run(less);
        CHECK_INT(cbx_runner_output(less)->count, count);
        CHECK_NEAR(test_difference(count, a, b), 0, 1e-6);
        cbx_runner_free(all);
        cbx_runner_free(less);
        cbx_program_free(p);
    }
}

TEST(the_gradient_of_a_weight_of_0_is_0)
{
    cbx_program *p = load("gcn");
    cbx_runner  *r = p ? plan(p, EDGES, true) : NULL;
    float        direction[64];
    if (!r)
        return;
    for (int i = 0; i < 64; i++)
        direction[i] = (float)(i % 5) - 1.5f;
    weights(r, p)[0] = 0;
    (void)run(r);
    cbx_runner_backward(r, direction);
    const float *dw = cbx_runner_weight_gradient(r, cbx_program_find(p, CBX_ROLE_EDGE_INDEX));
    CHECK(dw[0] == 0);
    CHECK(dw[1] != 0);
    cbx_runner_free(r);
    cbx_program_free(p);
}

TEST(a_runner_that_is_planned_again_is_as_new)
{
    cbx_program *p = load("gat");
    cbx_runner  *fresh = p ? plan(p, EDGES - 2, true) : NULL,
               *used = p ? plan(p, EDGES, true) : NULL;
    cbx_runner_input inputs[8];
    int64_t          kept[2 * EDGES];
    cbx_error        err = {0};
    if (!fresh || !used)
        return;
    (void)run(used);
    fill(p, EDGES - 2, inputs, kept);
    CHECK_OK(cbx_runner_plan(used, inputs, &(cbx_runner_options){.gradient = true}, &err), err);
    const float *a = run(fresh), *b = run(used);
    CHECK(!memcmp(a, b, (size_t)cbx_runner_output(fresh)->count * sizeof *a));
    cbx_runner_free(fresh);
    cbx_runner_free(used);
    cbx_program_free(p);
}

TEST(memory_is_used_again_where_no_gradient_is_wanted)
{
    cbx_program *p = load("pool");
    cbx_runner *with = p ? plan(p, EDGES, true) : NULL, *without = p ? plan(p, EDGES, false) : NULL;
    if (with && without)
        CHECK(cbx_runner_bytes(without) < cbx_runner_bytes(with));
    cbx_runner_free(with);
    cbx_runner_free(without);
    cbx_program_free(p);
}

TEST(a_graph_without_edges_runs)
{
    for (int k = 0; k < 3; k++) {
        cbx_program *p = load(names[k]);
        cbx_runner  *r = p ? plan(p, 0, true) : NULL;
        float        direction[64] = {1};
        if (r) {
            const float *y = run(r);
            CHECK(y[0] == y[0]);
            cbx_runner_backward(r, direction);
        }
        cbx_runner_free(r);
        cbx_program_free(p);
    }
}

TEST(an_edge_that_ends_nowhere_is_refused)
{
    cbx_program *p = load("gcn");
    cbx_runner  *r = NULL;
    cbx_error    err = {0};
    int64_t      wrong[4] = {0, 1, 1, NODES};
    if (!p || !CHECK_OK(cbx_runner_new(p, &r, &err), err))
        return;
    cbx_runner_input inputs[2] = {{.data = x, .size = {NODES, FEATURES}, .gradient = true},
                                  {.data = wrong, .size = {2, 2}, .weighted = true}};
    CHECK_INT(cbx_runner_plan(r, inputs, NULL, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "gcn.pt2");
    CHECK_CONTAINS(err.message, "index 6, from ");
    inputs[0].size[1] = FEATURES + 1;
    CHECK_INT(cbx_runner_plan(r, inputs, NULL, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "input 'x' has size 4 in dimension 1, 3 expected");
    cbx_runner_free(r);
    cbx_program_free(p);
}

TEST(a_plan_keeps_within_its_bound)
{
    cbx_program     *p = load("gcn");
    cbx_runner      *r = NULL;
    cbx_error        err = {0};
    cbx_runner_input inputs[8];
    int64_t          kept[2 * EDGES];
    if (!p || !CHECK_OK(cbx_runner_new(p, &r, &err), err))
        return;
    fill(p, EDGES, inputs, kept);
    CHECK_INT(cbx_runner_plan(r, inputs, &(cbx_runner_options){.most = 100}, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "more than");
    cbx_runner_free(r);
    cbx_program_free(p);
}

static cbx_status plan_once(void *user)
{
    cbx_runner_input   inputs[8];
    int64_t            kept[2 * EDGES];
    cbx_runner        *r = NULL;
    cbx_runner_options options = {.gradient = true};
    fill(user, EDGES, inputs, kept);
    cbx_status status = cbx_runner_new(user, &r, NULL);
    if (!status)
        status = cbx_runner_plan(r, inputs, &options, NULL);
    cbx_runner_free(r);
    return status;
}

TEST(running_out_of_memory_while_planning_is_told)
{
    cbx_program *p = load("pool");
    if (p)
        test_each_allocation(plan_once, p);
    cbx_program_free(p);
}
