/* SPDX-License-Identifier: Apache-2.0 */
/* planted_race.c: what whoever looks for races must find, and what not.
 *
 * racy, locked: one number that four threads of OpenMP add to, without a lock and with one.
 * many: cbx_explain_many on four threads of its own. It is sound; but this is built a second
 * time, as planted_race_unlocked, with a copy of many.c in which the lock is left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "combinex/kit.h"

static int loop(bool racy)
{
    long sum = 0, each[64];
#pragma omp parallel for schedule(static, 1) num_threads(4)
    for (int i = 0; i < 64; i++) {
        each[i] = i;
        if (racy) {
            sum += each[i];
        } else {
#pragma omp critical(cbx_planted)
            sum += each[i];
        }
    }
    for (int i = 0; i < 64; i++) /* what a barrier makes safe to read */
        sum -= each[i];
    (void)printf("%ld\n", sum);
    return EXIT_SUCCESS;
}

/* One call at a time, as combinex.h promises: so it needs no lock of its own. */
static int count(void *user, int64_t i, const cbx_counterfactual *result)
{
    (void)i, (void)result;
    ++*(long *)user;
    return 0;
}

static int many(void)
{
    cbx_options *options = NULL;
    cbx_graph   *graph = NULL;
    cbx_model   *model = NULL;
    cbx_error    err = {0};
    long         answers = 0;
    int32_t      rows[34];
    for (int32_t i = 0; i < 34; i++)
        rows[i] = i;
    static const char *const settings[][2] = {
        {"threads", "4"}, {"target", "any"}, {"epochs", "5"}, {"explainer", "cf-gnn"}};
    cbx_status status = cbx_options_new(cbx_explain_table(), &options, &err);
    for (size_t i = 0; i < sizeof settings / sizeof *settings && !status; i++)
        status = cbx_options_set(options, settings[i][0], settings[i][1], &err);
    if (!status)
        status = cbx_graph_builtin("karate", NULL, &graph, &err);
    if (!status)
        status = cbx_model_new(graph, NULL, 1, &model, &err);
    if (!status)
        status = cbx_explain_many(model, graph, rows, 34, options, count, NULL, &answers, &err);
    cbx_options_free(options);
    cbx_model_free(model);
    cbx_graph_free(graph);
    (void)printf("%ld answers %s\n", answers, err.message);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "";
    return !strcmp(which, "many") ? many() : loop(!strcmp(which, "racy"));
}
