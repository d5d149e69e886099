/* SPDX-License-Identifier: Apache-2.0 */
/* rival.h: what every method must do, whichever it is. */
#ifndef CBX_TEST_RIVAL_H
#define CBX_TEST_RIVAL_H

#include "holds.h"

/* Methods that train first need not learn much to be tested. */
#define BRIEFLY                                                                                   \
    "rcexplainer-epochs", "2", "rcexplainer-rows", "12", "clear-epochs", "6", "clear-rows", "12", \
        "d4-epochs", "40", "d4-lr", "0.01", "d4-noise", "0.2", "d4-oracle", "0.1", "d4-width",    \
        "8", "d4-layers", "2"

/* Its counterfactuals hold on directed graphs with weights and loops and on undirected
 * ones, for all oracles, both kinds of edges and of targets; returns how many rows in a
 * hundred had one, all cases together. */
static inline int rival_on_nodes(const char *name, const char *epochs)
{
    static const char *const convs[] = {"gcn", "cheb", "graphconv", "graphconv", "graphconv"};
    static const char *const how[] = {"add", "add", "add", "mean", "max"};
    int                      sum = 0;
    for (int i = 0; i < 5; i++)
        for (int directed = 0; directed < 2; directed++) {
            oracle              o = oracle_make((oracle_shape){.conv = convs[i],
                                                               .order = 2,
                                                               .aggregation = how[i],
                                                               .nodes = 24,
                                                               .directed = directed,
                                                               .sparse = i % 2,
                                                               .seed = 7});
            cbx_explain_options any =
                ASK("explainer", name, "target", "any", "epochs", epochs, BRIEFLY);
            cbx_explain_options next = ASK("explainer", name, "target", "1", "edges", "undirected",
                                           "epochs", epochs, BRIEFLY);
            bool                same = i != 1 || !directed;
            sum += explain_rows(&o, &any, 2, same);
            for (int32_t row = 0; row < 24; row += 5) { /* a target may be the prediction */
                cbx_counterfactual *r = NULL;
                if (!cbx_explain_with(o.model, o.graph, row, &next, NULL, NULL, &r, NULL) &&
                    r->outcome == CBX_FOUND)
                    check_found(&o, r, &next);
                cbx_counterfactual_free(r);
            }
            oracle_free(&o);
        }
    return sum / 10;
}

static inline int rival_on_graphs(const char *name, const char *epochs)
{
    static const char *const convs[] = {"gcn", "cheb", "graphconv"};
    int                      sum = 0;
    for (int i = 0; i < 3; i++) {
        oracle o =
            oracle_make((oracle_shape){.conv = convs[i], .order = 2, .nodes = 60, .graphs = 12});
        cbx_explain_options any =
            ASK("explainer", name, "target", "any", "epochs", epochs, BRIEFLY);
        sum += explain_rows(&o, &any, 1, true);
        oracle_free(&o);
    }
    return sum / 3;
}

/* ---- the same at any number of threads, and for the same seed */

typedef struct rival_lines {
    const oracle *o;
    char         *text[64];
} rival_lines;

static inline int rival_line(void *user, int64_t i, const cbx_counterfactual *r)
{
    rival_lines       *lines = user;
    cbx_counterfactual timeless = *r;
    timeless.seconds = timeless.trained_seconds = 0;
    lines->text[i] = cbx_counterfactual_json_with(&timeless, lines->o->graph, NULL, NULL, NULL);
    return 0;
}

static inline void rival_explain_all(const oracle *o, cbx_explain_options options,
                                     rival_lines *lines)
{
    int32_t   rows[64], count = oracle_rows(o);
    cbx_error err = {0};
    for (int32_t i = 0; i < count; i++)
        rows[i] = i;
    *lines = (rival_lines){.o = o};
    CHECK_OK(cbx_explain_many_with(o->model, o->graph, rows, count, &options, rival_line, NULL,
                                   lines, &err),
             err);
}

static inline int rival_differences(const rival_lines *a, const rival_lines *b)
{
    int count = 0;
    for (int i = 0; i < 64 && a->text[i] && b->text[i]; i++)
        count += strcmp(a->text[i], b->text[i]) != 0;
    return count;
}

/* What the method can be asked about. */
static inline oracle_shape rival_shape(const char *name)
{
    for (int i = 0; cbx_explainer_names[i]; i++)
        if (!strcmp(cbx_explainer_names[i], name) && cbx_explainer_at(i)->graphs_only)
            return (oracle_shape){.conv = "graphconv", .nodes = 60, .graphs = 12};
    return (oracle_shape){.nodes = 0};
}

/* draws: another seed must give something else. */
static inline void rival_repeats(const char *name, bool draws)
{
    oracle              o = oracle_make(rival_shape(name));
    int32_t             last = oracle_rows(&o) - 1;
    cbx_explain_options options = ASK("explainer", name, "target", "any", "epochs", "40", "seed",
                                      "5", "threads", "1", BRIEFLY);
    rival_lines         one, four, other;
    rival_explain_all(&o, options, &one);
    options.threads = 4;
    rival_explain_all(&o, options, &four);
    options.seed = 6;
    rival_explain_all(&o, options, &other);
    CHECK(one.text[last] && four.text[last] && other.text[last]);
    CHECK_INT(rival_differences(&one, &four), 0);
    CHECK(draws == (rival_differences(&one, &other) > 0));
    for (int i = 0; i < 64; i++) {
        free(one.text[i]);
        free(four.text[i]);
        free(other.text[i]);
    }
    oracle_free(&o);
}

/* ---- memory */

typedef struct rival_case {
    const oracle              *o;
    const cbx_explain_options *options;
} rival_case;

static inline cbx_status rival_explain(void *user)
{
    const rival_case   *c = user;
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    cbx_status          status =
        cbx_explain_with(c->o->model, c->o->graph, 2, c->options, NULL, NULL, &r, &err);
    CHECK((r != NULL) == (status == CBX_OK));
    cbx_counterfactual_free(r);
    /* An arena that is reset can do without the block that it wished for. */
    return status || !test_allocation_failed() ? status : CBX_NO_MEMORY;
}

static inline void rival_survives(const char *name)
{
    oracle              o = oracle_make(rival_shape(name));
    cbx_explain_options options =
        ASK("explainer", name, "target", "any", "epochs", "5", "edges", "undirected", BRIEFLY);
    options.trace = true;
    test_each_allocation(rival_explain, &(rival_case){&o, &options});
    oracle_free(&o);
}

#define RIVAL_TESTS(word, name, draws)                           \
    TEST(word##_is_the_same_for_a_seed_at_any_number_of_threads) \
    {                                                            \
        rival_repeats(name, draws);                              \
    }                                                            \
    TEST(word##_survives_every_failing_allocation)               \
    {                                                            \
        rival_survives(name);                                    \
    }

#endif
