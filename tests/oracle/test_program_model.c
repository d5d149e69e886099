/* SPDX-License-Identifier: Apache-2.0 */
/* Exported programs as models. Truth is torch's: golden files hold graphs, what the exported
 * module says of them, and what it says once edges are gone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden_program.h"
#include "pass.h"
#include "receptive.h"
#include "setup.h"
#include "verify.h"
#include "../search/own_options.h"

/* ---- what is expected */

/* What a case expects of row i as log-probabilities, in double precision. */
static void expected_row(const golden *g, const char *which, int64_t i, double *logp)
{
    char key[64];
    (void)snprintf(key, sizeof key, "%s.out", which);
    const cbx_tensor *out = tensor(g, key);
    int32_t           C = g->model->num_classes;
    int64_t           scores = out->rank == 2 ? out->shape[1] : 1;
    double            most = -INFINITY, sum = 0;
    for (int32_t c = 0; c < C; c++) {
        int64_t k = i * scores + (scores == 1 ? 0 : c);
        logp[c] = out->dtype == CBX_F32 ? (double)((const float *)out->data)[k]
                                        : ((const double *)out->data)[k];
        if (scores == 1 && c == 0)
            logp[c] = 0;
        else if (g->probability) /* a sigmoid's; which is log-odds in truth */
            logp[c] = log(logp[c] / (1 - logp[c]));
        most = fmax(most, logp[c]);
    }
    for (int32_t c = 0; c < C; c++)
        sum += exp(logp[c] - most);
    for (int32_t c = 0; c < C; c++)
        logp[c] -= most + log(sum);
}

/* ---- what a model says */

static void check_predictions(golden *g)
{
    int32_t   rows = cbx_graph_label_rows(g->graph), C = g->model->num_classes;
    float    *logp = calloc((size_t)rows * (size_t)C, sizeof *logp);
    double   *expected = calloc((size_t)C, sizeof *expected);
    cbx_error err = {0};
    CHECK_OK(cbx_predict(g->model, g->graph, 1, logp, &err), err);
    for (int32_t i = 0; i < rows && !g->cut; i++) {
        expected_row(g, "ones", i, expected);
        for (int32_t c = 0; c < C; c++)
            CHECK_NEAR(logp[(int64_t)i * C + c], expected[c], 1e-4 * (1 + fabs(expected[c])));
    }
    free(logp);
    free(expected);
}

TEST(a_program_predicts_what_torch_predicts)
{
    printf("  %d programs and graphs\n", everywhere(check_predictions));
}

static int64_t removed;

/* Edges that a case has removed are removed by edits, and the model asked. Row by row, as it is
 * for nodes; a graph has edges of its own. */
static void check_removal(golden *g)
{
    char              text[64];
    const cbx_tensor *edges = tensor(g, "in.edge_index");
    (void)snprintf(text, sizeof text, "removed.w.edge_index");
    const cbx_tensor *w = tensor(g, text);
    int32_t           rows = cbx_graph_label_rows(g->graph), C = g->model->num_classes;
    int64_t           m = edges->shape[1], count = 0;
    cbx_edit         *edits = calloc((size_t)m + 1, sizeof *edits);
    float            *logp = calloc((size_t)C, sizeof *logp);
    double           *expected = calloc((size_t)C, sizeof *expected);
    cbx_error         err = {0};
    const int64_t    *ends = edges->data;
    if (w && g->model->task == CBX_NODE) {
        for (int64_t e = 0; e < m; e++)
            if ((w->dtype == CBX_F32 ? (double)((const float *)w->data)[e]
                                     : ((const double *)w->data)[e]) == 0)
                edits[count++] = (cbx_edit){.op = CBX_REMOVE_EDGE,
                                            .source = (int32_t)ends[e],
                                            .target = (int32_t)ends[m + e],
                                            .edge = e};
        removed += count;
        for (int32_t i = 0; i < rows; i++) {
            CHECK_OK(cbx_check_edits(g->model, g->graph, i, edits, count, logp, &err), err);
            expected_row(g, "removed", i, expected);
            for (int32_t c = 0; c < C; c++)
                CHECK_NEAR(logp[c], expected[c], 1e-4 * (1 + fabs(expected[c])));
        }
    }
    free(edits);
    free(logp);
    free(expected);
}

TEST(an_edge_that_is_removed_is_gone)
{
    removed = 0;
    (void)everywhere(check_removal);
    CHECK(removed > 0);
}

/* ---- the part of a graph that a class depends on */

static void check_field(golden *g)
{
    cbx_arena  arena = {0};
    cbx_view   whole, view;
    cbx_matrix X;
    cbx_pass   pass;
    cbx_error  err = {0};
    int32_t    rows = cbx_graph_label_rows(g->graph), C = g->model->num_classes;
    float     *logp = calloc((size_t)rows * (size_t)C, sizeof *logp);
    if (g->model->task == CBX_NODE && cbx_receptive_is_known(g->model)) {
        CHECK_OK(cbx_predict(g->model, g->graph, 1, logp, &err), err);
        for (int32_t i = 0; i < rows; i += 3) {
            CHECK_OK(cbx_view_whole(g->graph, &arena, &whole, &err), err);
            CHECK_OK(
                cbx_receptive_view(g->model, g->graph, &whole, i, INT32_MAX, &arena, &view, &err),
                err);
            CHECK_OK(cbx_view_features(g->graph, &view, &arena, &X, &err), err);
            CHECK_OK(cbx_pass_init(&pass, g->model, &view, &X, false, 1, &arena, &err), err);
            cbx_pass_forward(&pass, &X, NULL, 0, 0);
            for (int32_t c = 0; c < C; c++)
                CHECK_NEAR(pass.logp[c], logp[(int64_t)i * C + c], 1e-4 * (1 + fabs(pass.logp[c])));
            cbx_arena_reset(&arena);
        }
    }
    free(logp);
    cbx_arena_free(&arena);
}

TEST(a_node_s_class_is_the_same_in_the_part_that_it_depends_on)
{
    (void)everywhere(check_field);
}

/* ---- gradients */

static double value(cbx_pass *p, const cbx_matrix *X, const float *w, const float *dlogp)
{
    double sum = 0;
    cbx_pass_forward(p, X, w, 0, 0);
    for (int64_t k = 0; k < (int64_t)p->rows_out * p->model->num_classes; k++)
        sum += (double)dlogp[k] * p->logp[k];
    return sum;
}

/* Along a random direction of all features and weights at once, where the model is smooth. */
static void check_gradients(golden *g)
{
    cbx_arena   arena = {0};
    cbx_view    view;
    cbx_matrix  X;
    cbx_pass    pass;
    cbx_error   err = {0};
    cbx_rng     rng = cbx_rng_stream(1, 2, 3, 4);
    const float h = 1e-3f;
    CHECK_OK(cbx_view_whole(g->graph, &arena, &view, &err), err);
    CHECK_OK(cbx_view_features(g->graph, &view, &arena, &X, &err), err);
    CHECK_OK(cbx_pass_init(&pass, g->model, &view, &X, true, 1, &arena, &err), err);
    int64_t nx = (int64_t)X.rows * X.cols, scores = (int64_t)pass.rows_out * g->model->num_classes;
    float  *x = CBX_NEW(&arena, float, nx), *along_x = CBX_NEW(&arena, float, nx);
    float  *w = CBX_NEW(&arena, float, view.m), *along_w = CBX_NEW(&arena, float, view.m);
    float  *dX = CBX_NEW(&arena, float, nx), *dw = CBX_NEW(&arena, float, view.m);
    float  *dlogp = CBX_NEW(&arena, float, scores);
    float  *x0 = CBX_NEW(&arena, float, nx), *w0 = CBX_NEW(&arena, float, view.m);
    for (int64_t k = 0; k < nx; k++) {
        x0[k] = X.dense[k];
        along_x[k] = draw(&rng, -1, 1);
    }
    for (int64_t e = 0; e < view.m; e++) {
        w0[e] = draw(&rng, 0.3, 0.9) * (view.weight ? view.weight[e] : 1);
        along_w[e] = draw(&rng, -1, 1) * (view.weight ? view.weight[e] : 1);
    }
    for (int64_t k = 0; k < scores; k++)
        dlogp[k] = draw(&rng, -1, 1);
    cbx_matrix moved = cbx_matrix_dense(X.rows, X.cols, x);
    double     at[5];
    for (int k = -2; k <= 2; k++) {
        for (int64_t i = 0; i < nx; i++)
            x[i] = x0[i] + (float)k * h * along_x[i];
        for (int64_t e = 0; e < view.m; e++)
            w[e] = w0[e] + (float)k * h * along_w[e];
        at[k + 2] = value(&pass, &moved, w, dlogp);
    }
    memcpy(x, x0, (size_t)nx * sizeof *x);
    (void)value(&pass, &moved, w0, dlogp);
    cbx_pass_backward(&pass, dlogp, dX, dw, NULL);
    double slope = 0, size = 0;
    for (int64_t i = 0; i < nx; i++) {
        slope += (double)dX[i] * along_x[i];
        size += fabs((double)dX[i] * along_x[i]);
    }
    for (int64_t e = 0; e < view.m; e++) {
        slope += (double)dw[e] * along_w[e];
        size += fabs((double)dw[e] * along_w[e]);
    }
    /* at a kink, or where floats are too coarse, the two differences do not agree */
    double wide = (at[4] - at[0]) / (4 * h), near = (at[3] - at[1]) / (2 * h);
    if (fabs(wide - near) < 0.01 * size)
        CHECK_NEAR(slope, near, 0.03 * size);
    cbx_arena_free(&arena);
}

TEST(gradients_are_derivatives)
{
    (void)everywhere(check_gradients);
}

/* ---- explaining */

/* Does the class change on a new graph with these edits? */
static bool flips(const golden *g, const cbx_counterfactual *c, const cbx_edit *edits,
                  int64_t count)
{
    cbx_graph *edited = NULL;
    cbx_error  err = {0};
    int32_t    C = g->model->num_classes, best = 0;
    float     *logp = calloc((size_t)cbx_graph_label_rows(g->graph) * (size_t)C, sizeof *logp);
    CHECK_OK(cbx_graph_apply(g->graph, edits, count, &edited, &err), err);
    if (edited)
        CHECK_OK(cbx_predict(g->model, edited, 1, logp, &err), err);
    const float *own = logp + (int64_t)c->row * C;
    for (int32_t k = 1; k < C; k++)
        best = own[k] > own[best] ? k : best;
    cbx_graph_free(edited);
    free(logp);
    return best != c->prediction;
}

/* No proper subset of up to eight edits does it: brute force. */
static void check_irreducible(const golden *g, const cbx_counterfactual *c)
{
    cbx_edit some[8];
    if (c->certificate != CBX_IRREDUCIBLE || c->num_edits > 8)
        return;
    for (unsigned set = 1; set + 1 < 1u << c->num_edits; set++) {
        int64_t count = 0;
        for (int64_t k = 0; k < c->num_edits; k++)
            if (set >> k & 1)
                some[count++] = c->edits[k];
        CHECK(!flips(g, c, some, count));
    }
}

static int found, asked, seen;

static void check_answers(golden *g)
{
    const int           every = test_every(2), turn = seen++ / 2; /* others of each program */
    cbx_explain_options o;
    cbx_error           err = {0};
    for (int k = 0; cbx_explainer_names[k]; k++)
        for (int32_t row = 0; row < 2 && row < cbx_graph_label_rows(g->graph);
             row += test_every(2)) {
            const char *method = cbx_explainer_names[k];
            if ((k + turn) % every != 0 || cbx_explainer_at(k)->embeds || /* it needs layers */
                !cbx_explainer_explains(cbx_explainer_at(k), cbx_graph_arrays(g->graph)->task))
                continue;
            cbx_counterfactual *c = NULL;
            cbx_fields_default(cbx_explain_table(), &o);
            CHECK_OK(cbx_fields_set(cbx_explain_table(), &o, "explainer", method, &err), err);
            CHECK_OK(cbx_fields_set(cbx_explain_table(), &o, "target", "any", &err), err);
            o.epochs = 60;
            CHECK_OK(cbx_fields_set(cbx_explain_table(), &o, "clear-epochs", "4", &err), err);
            CHECK_OK(cbx_fields_set(cbx_explain_table(), &o, "d4-epochs", "1", &err), err);
            CHECK_OK(cbx_fields_set(cbx_explain_table(), &o, "d4-width", "4", &err), err);
            if (!CHECK_OK(cbx_explain_with(g->model, g->graph, row, &o, NULL, NULL, &c, &err), err))
                continue;
            asked++;
            found += c->outcome == CBX_FOUND;
            if (c->outcome == CBX_FOUND && CHECK(flips(g, c, c->edits, c->num_edits)))
                check_irreducible(g, c);
            cbx_counterfactual_free(c);
        }
}

TEST(answers_hold_on_the_edited_graph_and_no_part_of_an_irreducible_one_does)
{
    found = asked = seen = 0;
    (void)everywhere(check_answers);
    printf("  %d of %d found\n", found, asked);
    CHECK(3 * found > asked);
}

/* ---- proofs */

/* The pairs of nodes with an edge between them, as edits. */
static int64_t list_pairs(const golden *g, cbx_edit *pairs)
{
    const cbx_graph_data *d = cbx_graph_arrays(g->graph);
    int64_t               count = 0;
    for (int64_t e = 0; e < d->num_edges; e++) {
        int32_t a = (int32_t)d->edge_source[e], b = (int32_t)d->edge_target[e];
        bool    known = false;
        for (int64_t k = 0; k < count && !known; k++)
            known = (pairs[k].source == a && pairs[k].target == b) ||
                    (pairs[k].source == b && pairs[k].target == a);
        if (!known)
            pairs[count++] = (cbx_edit){
                .op = CBX_REMOVE_EDGE, .source = a, .target = b, .undirected = a != b, .edge = -1};
    }
    return count;
}

static int proofs;

/* Removals of up to two edges, all of them tried on a new graph. */
static void check_proof(golden *g)
{
    cbx_edit            pairs[256], set[2];
    cbx_explain_options o;
    cbx_error           err = {0};
    cbx_counterfactual *c = NULL;
    if (strcmp(g->size, "b") != 0 || cbx_graph_arrays(g->graph)->num_edges > 256 ||
        seen++ % test_every(4) != 0)
        return;
    int64_t count = list_pairs(g, pairs), fewest = 3;
    cbx_fields_default(cbx_explain_table(), &o);
    o.target = "any";
    o.features_to_vary = "none";
    o.max_edits = 2;
    set_option(&o, "prove", "100");
    if (!CHECK_OK(cbx_explain_with(g->model, g->graph, 0, &o, NULL, NULL, &c, &err), err))
        return;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = i; k < count; k++) {
            int64_t size = k > i ? 2 : 1;
            set[0] = pairs[i];
            set[1] = pairs[k];
            if (size < fewest && flips(g, c, set, size))
                fewest = size;
        }
    bool proved = c->certificate == CBX_OPTIMAL || c->certificate == CBX_PROVED_NONE;
    proofs += proved;
    if (c->certificate == CBX_PROVED_NONE)
        CHECK_INT(fewest, 3);
    if (c->certificate == CBX_OPTIMAL)
        CHECK_INT(c->num_edits, fewest);
    /* of a node that depends on everything, not everything was looked at */
    CHECK_INT(proved, g->model->task == CBX_GRAPH || cbx_receptive_is_known(g->model));
    cbx_counterfactual_free(c);
}

TEST(what_is_proved_of_removals_is_what_trying_all_of_them_shows)
{
    proofs = seen = 0;
    (void)everywhere(check_proof);
    printf("  %d proofs\n", proofs);
    CHECK(proofs > 0);
}

/* ---- verification on a part of the graph */

static int parts;

/* Removals all over the graph, and features, with the whole of it and with what is around a node.
 */
static void check_part(golden *g)
{
    const cbx_graph_data *d = cbx_graph_arrays(g->graph);
    cbx_error             err = {0};
    if (g->model->task != CBX_NODE || !cbx_receptive_is_known(g->model))
        return;
    for (int32_t row = 0; row < d->num_nodes; row += 3) {
        cbx_edit edits[8];
        float    part[64], whole[64];
        for (int64_t k = 0; k < 6; k++) {
            int64_t e = (row * 7 + k * 5) % d->num_edges;
            edits[k] = (cbx_edit){.op = CBX_REMOVE_EDGE,
                                  .source = (int32_t)d->edge_source[e],
                                  .target = (int32_t)d->edge_target[e],
                                  .edge = k % 2 ? e : -1,
                                  .undirected = k % 2 == 0};
        }
        for (int64_t k = 6; k < 8; k++)
            edits[k] = (cbx_edit){.op = CBX_SET_FEATURE,
                                  .node = (int32_t)((row + k * 11) % d->num_nodes),
                                  .to = 0.25F};
        CHECK_OK(cbx_verify_within(g->model, g->graph, row, edits, 8, 0, part, &err), err);
        CHECK_OK(cbx_verify_within(g->model, g->graph, row, edits, 8, INT32_MAX, whole, &err), err);
        CHECK(test_difference(g->model->num_classes, part, whole) < 1e-4);
        parts++;
    }
    cbx_edit none = {.op = CBX_REMOVE_EDGE, .source = 0, .target = d->num_nodes, .edge = -1};
    float    logp[64];
    CHECK_INT(cbx_verify_within(g->model, g->graph, 0, &none, 1, 0, logp, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "there is no edge from node 0");
}

TEST(what_is_around_a_node_says_what_the_whole_graph_says)
{
    parts = 0;
    (void)everywhere(check_part);
    printf("  %d nodes\n", parts);
    CHECK(parts > 0);
}

/* ---- what such a model cannot do */

TEST(labels_that_do_not_exclude_each_other_are_not_taken_for_classes)
{
    const char *path = test_shared("programs/multilabel_sigmoid.pt2");
    cbx_model  *model = NULL;
    cbx_error   err = {0};
    if (!path) {
        test_skip("no shared programs");
        return;
    }
    CHECK_INT(cbx_model_load(path, &model, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "is a label of its own, and not a class among them");
    CHECK_CONTAINS(err.message, "Say label=0 to label=");
}

TEST(what_needs_layers_is_refused_in_words)
{
    golden              g;
    cbx_error           err = {0};
    cbx_explain_options o;
    cbx_counterfactual *c = NULL;
    if (!CHECK(open_golden(&g, test_source("tests/golden/programs"), "gcn", "a")))
        return;
    cbx_fields_default(cbx_explain_table(), &o);
    o.target = "next";
    CHECK_OK(cbx_fields_set(cbx_explain_table(), &o, "explainer", "unr", &err), err);
    CHECK_INT(cbx_explain_with(g.model, g.graph, 0, &o, NULL, NULL, &c, &err), CBX_INVALID);
    CHECK(strstr(err.message, "'program' has none") != NULL);
    CHECK_INT(cbx_model_save(g.model, "/nonexistent/m", &err), CBX_INVALID);
    CHECK(strstr(err.message, "has no layers to save") != NULL);
    CHECK_INT(cbx_train_with(g.model, g.graph, NULL, NULL, NULL, NULL, &err), CBX_INVALID);
    CHECK(strstr(err.message, "cannot be trained") != NULL);
    CHECK_INT((int)cbx_model_describe(g.model).num_parameters, 0);
    cbx_model_set_reproducible(g.model, true);
    cbx_fields_default(cbx_explain_table(), &o);
    o.target = "next";
    CHECK_INT(cbx_explain_with(g.model, g.graph, 0, &o, NULL, NULL, &c, &err), CBX_INVALID);
    CHECK(strstr(err.message, "cannot be reproducible") != NULL);
    char hex[2][65];
    cbx_model_hash(g.model, hex[0]);
    close_golden(&g);
    CHECK(open_golden(&g, test_source("tests/golden/programs"), "pool", "a"));
    cbx_model_hash(g.model, hex[1]);
    CHECK(strlen(hex[0]) == 64 && strcmp(hex[0], hex[1]) != 0);
    close_golden(&g);
}
