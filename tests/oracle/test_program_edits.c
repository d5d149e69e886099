/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of edit beside removals and features, of exported programs: nodes that go, edges that get
 * other weights or attributes. What a search asks its own view is what a graph made with the edits
 * says; answers hold there and go no further than they must; what is proved is what trying
 * everything shows. */
#include <math.h>

#include "../minimal/edited.h"
#include "golden_program.h"
#include "receptive.h"
#include "settable.h"

static oracle oracle_of(const golden *g)
{
    return (oracle){.data = *cbx_graph_arrays(g->graph), .graph = g->graph, .model = g->model};
}

static bool takes_weights(const golden *g)
{
    return g->model->oracle->takes_weights;
}

static bool takes_attributes(const golden *g)
{
    return g->model->oracle->edge_dim > 0;
}

/* Of the two graphs of a program, the one that much can be tried on. */
static bool is_small(const golden *g)
{
    return !strcmp(g->size, "b");
}

/* What attributes are: as torch had them, whole numbers, or one that is 1 and others that are 0. */
enum { AS_THEY_ARE, WHOLE, ONE_HOT, ATTRIBUTES };

/* The same both ways, so that edges between two nodes are alike. */
static void make_attributes(golden *g, int as)
{
    const cbx_graph_data *d = cbx_graph_arrays(g->graph);
    float                *attr = (float *)d->edge_attr; /* in the bag */
    int64_t               wide = d->edge_dim;
    for (int64_t e = 0; as != AS_THEY_ARE && e < d->num_edges; e++) {
        uint64_t kind = (uint64_t)(d->edge_source[e] * 3 + d->edge_target[e] * 3 +
                                   d->edge_source[e] * d->edge_target[e]);
        for (int64_t j = 0; j < wide; j++)
            attr[e * wide + j] = as == WHOLE ? (float)((kind + (uint64_t)j) % 3)
                                             : (float)(kind % (uint64_t)wide == (uint64_t)j);
    }
}

static bool applied_flips(const oracle *o, const cbx_counterfactual *c, const cbx_edit *edits,
                          int64_t count)
{
    float logp[64];
    ask_applied(o, c->row, edits, count, logp);
    return cbx_is_flip(logp, c->num_classes, c->prediction, -1, 0);
}

/* ---- asking */

static int64_t moves_met;

/* Is the view all that the class depends on? */
static bool sees_all(const golden *g)
{
    return g->model->task == CBX_GRAPH || cbx_receptive_is_known(g->model);
}

/* Of every move of the kind, and two at a time. */
static void compare_moves(golden *g, const char *edits, unsigned further, const cbx_move_kind *kind)
{
    oracle              o = oracle_of(g);
    edited_view         v;
    cbx_move_walk       at = {0};
    cbx_move            m, before = {0};
    int64_t             met = 0;
    cbx_edit            made[4];
    cbx_explain_options options = ASK("explainer", "minimal", "target", "any", "edges", "directed");
    set_option(&options, "edits", edits);
    edited_view_open(&v, &o, 0, &options, further);
    v.wide.offered = NULL;
    edited_view_ready(&v);
    while (cbx_moves_walk(&v.W, &at, &m) && met < 40) {
        if (m.kind != kind)
            continue;
        cbx_move pair[2] = {m, before};
        bool     both = before.kind && met % 2 && before.pair != m.pair;
        if (before.kind && met % 2 && kind->site == CBX_AT_NODES)
            both = v.W.view.n > 2;
        edited_view_compare(&v, pair, both ? 2 : 1, made);
        before = m;
        met++;
    }
    moves_met += met;
    edited_view_close(&v);
}

static void compare_nodes(golden *g)
{
    if (sees_all(g))
        compare_moves(g, "remove-nodes", CBX_EDITS_REMOVE_NODES, &cbx_move_remove_node);
}

TEST(asking_the_view_is_asking_a_graph_without_those_nodes)
{
    moves_met = 0;
    (void)everywhere(compare_nodes);
    CHECK(moves_met > (test_shared("programs") ? 20 : 0));
}

static void compare_weights(golden *g)
{
    if (takes_weights(g))
        compare_moves(g, "weights", CBX_EDITS_WEIGHTS, &cbx_move_set_edge);
}

TEST(asking_the_view_is_asking_a_graph_with_those_weights)
{
    moves_met = 0;
    (void)everywhere(compare_weights);
    CHECK(moves_met > 20 || !test_shared("programs"));
}

static void compare_attributes(golden *g)
{
    for (int as = 0; takes_attributes(g) && as < ATTRIBUTES; as++) {
        make_attributes(g, as);
        compare_moves(g, "attributes", CBX_EDITS_ATTRIBUTES, &cbx_move_set_attribute);
        compare_moves(g, "attributes,remove-nodes", CBX_EDITS_ATTRIBUTES | CBX_EDITS_REMOVE_NODES,
                      &cbx_move_remove_node);
    }
}

TEST(asking_the_view_is_asking_a_graph_with_those_attributes)
{
    moves_met = 0;
    (void)everywhere(compare_attributes);
    CHECK(moves_met > 100 || !test_shared("programs"));
}

/* What an attribute becomes goes along where a node goes. */
static void compare_together(golden *g)
{
    oracle              o = oracle_of(g);
    edited_view         v;
    cbx_move_walk       at = {0};
    cbx_move            m, pair[2] = {{0}};
    cbx_edit            made[2];
    cbx_explain_options options = ASK("explainer", "minimal", "target", "any", "edits",
                                      "attributes,remove-nodes", "edges", "directed");
    if (!takes_attributes(g))
        return;
    edited_view_open(&v, &o, 0, &options, CBX_EDITS_ATTRIBUTES | CBX_EDITS_REMOVE_NODES);
    v.wide.offered = NULL;
    edited_view_ready(&v);
    while (cbx_moves_walk(&v.W, &at, &m)) {
        if (m.kind == &cbx_move_set_attribute)
            pair[0] = m;
        if (m.kind != &cbx_move_remove_node || !pair[0].kind)
            continue;
        int64_t slot = v.W.slot_of[pair[0].pair];
        pair[1] = m;
        if (v.W.target_of[slot] == m.row || v.W.s->view->source[slot] == m.row || v.W.view.n < 3)
            continue;
        edited_view_compare(&v, pair, 2, made);
        moves_met++;
    }
    edited_view_close(&v);
}

TEST(an_attribute_that_is_set_stays_so_where_a_node_goes)
{
    moves_met = 0;
    (void)everywhere(compare_together);
    CHECK(moves_met > 3 || !test_shared("programs"));
}

/* ---- answers */

static int asked, found, wanted;

/* They hold on a graph of their own, keep the class without any one edit if they are irreducible,
 * and are of the kind. Very many edits at once, which take long to find nothing, are sought for one
 * in three. */
static cbx_counterfactual *answer(golden *g, int32_t row, const char *edits, cbx_edit_op op)
{
    oracle              o = oracle_of(g);
    cbx_explain_options options =
        ASK("explainer", "minimal", "target", "any", "robustness", "0", "edges", "directed");
    set_option(&options, "edits", edits);
    if (asked % (3 * test_every(2)))
        set_option(&options, "max-edits", "8");
    cbx_counterfactual *c = explain(&o, row, &options);
    asked++;
    found += c->outcome == CBX_FOUND;
    for (int64_t k = 0; k < c->num_edits; k++) {
        cbx_edit rest[64];
        wanted += c->edits[k].op == op;
        if (c->certificate == CBX_NO_CERTIFICATE || c->num_edits > 64)
            continue;
        for (int64_t i = 0, at = 0; i < c->num_edits; i++)
            if (i != k)
                rest[at++] = c->edits[i];
        CHECK(!applied_flips(&o, c, rest, c->num_edits - 1));
    }
    if (c->outcome == CBX_FOUND)
        CHECK(applied_flips(&o, c, c->edits, c->num_edits));
    return c;
}

static void explain_nodes(golden *g)
{
    for (int32_t row = 0; is_small(g) && row < 2 && row < cbx_graph_label_rows(g->graph);
         row += test_every(3)) {
        cbx_counterfactual *c = answer(g, row, "remove-nodes", CBX_REMOVE_NODE);
        CHECK_INT(c->num_edits, c->num_nodes_removed);
        cbx_counterfactual_free(c);
    }
}

TEST(answers_without_some_nodes_hold)
{
    asked = found = wanted = 0;
    (void)everywhere(explain_nodes);
    printf("  %d of %d found\n", found, asked);
    CHECK(found > 0 && wanted > 0);
}

/* By a lead that is no rounding error: a search asks for that. */
static bool surely_flips(const oracle *o, const cbx_counterfactual *c, const cbx_edit *edits,
                         int64_t count)
{
    float logp[64];
    ask_applied(o, c->row, edits, count, logp);
    int32_t best = cbx_best_class(logp, c->num_classes, c->prediction);
    return logp[best] - logp[c->prediction] > 2e-4F;
}

/* Nearer to what it was by a hundredth of a range at most, one alone, the k-th is no flip: there
 * may be one again further on. */
static void check_no_nearer(const oracle *o, const cbx_counterfactual *c, int64_t k, float own,
                            float range)
{
    cbx_edit edits[64];
    bool     always = true;
    float    to = c->edits[k].weight;
    memcpy(edits, c->edits, (size_t)c->num_edits * sizeof *edits);
    for (int i = 1; i <= 5 && fabsf(to - own) > range / 100 && always; i++) {
        edits[k].weight = to + (to > own ? -1 : 1) * (float)i * range / 500;
        always = surely_flips(o, c, edits, c->num_edits);
    }
    CHECK(!always || fabsf(to - own) <= range / 100);
}

/* Within the data's range. */
static void check_nearest(const oracle *o, const cbx_counterfactual *c)
{
    float lo = INFINITY, hi = -INFINITY;
    for (int64_t e = 0; e < o->data.num_edges; e++) {
        lo = fminf(lo, o->data.edge_weight[e]);
        hi = fmaxf(hi, o->data.edge_weight[e]);
    }
    for (int64_t k = 0; k < c->num_edits && c->num_edits <= 64; k++) {
        float own = o->data.edge_weight[c->edits[k].edge], to = c->edits[k].weight;
        CHECK(to >= lo && to <= hi && to != own);
        check_no_nearer(o, c, k, own, hi - lo);
    }
}

static void explain_weights(golden *g)
{
    for (int32_t row = 0; takes_weights(g) && row < cbx_graph_label_rows(g->graph);
         row += test_every(6)) {
        oracle              o = oracle_of(g);
        cbx_counterfactual *c = answer(g, row, "weights", CBX_SET_EDGE);
        CHECK_INT(c->num_edits, c->num_edges_reweighted);
        CHECK(c->certificate != CBX_PROVED_NONE);
        check_nearest(&o, c);
        cbx_counterfactual_free(c);
    }
}

TEST(answers_with_other_weights_hold_and_go_no_further_than_they_must)
{
    asked = found = wanted = 0;
    (void)everywhere(explain_weights);
    printf("  %d of %d found\n", found, asked);
    CHECK((found > 0 && wanted > 0) || !test_shared("programs"));
}

/* Values that the data has, and nearer to what they were, one alone, no flip. */
static void check_nearest_attribute(const oracle *o, const cbx_counterfactual *c, int as)
{
    const cbx_graph_data *d = &o->data;
    for (int64_t k = 0; k < c->num_edits && c->num_edits <= 64; k++) {
        cbx_edit edits[64], *e = &edits[k];
        memcpy(edits, c->edits, (size_t)c->num_edits * sizeof *edits);
        int64_t j = (e->attribute < 0 ? -e->attribute : e->attribute) - 1;
        float   lo = INFINITY, hi = -INFINITY;
        for (int64_t i = 0; i < d->num_edges; i++) {
            lo = fminf(lo, d->edge_attr[i * d->edge_dim + j]);
            hi = fmaxf(hi, d->edge_attr[i * d->edge_dim + j]);
        }
        float own = d->edge_attr[e->edge * d->edge_dim + j], to = e->weight;
        CHECK(to >= lo && to <= hi && to != own);
        CHECK_INT(e->attribute < 0, as == ONE_HOT);
        CHECK(as == AS_THEY_ARE || to == rintf(to));
        CHECK(as != ONE_HOT || to == 1);
        if (as == AS_THEY_ARE)
            check_no_nearer(o, c, k, own, hi - lo);
        if (as != WHOLE || fabsf(to - own) <= 1)
            continue;
        e->weight = to > own ? to - 1 : to + 1;
        CHECK(!surely_flips(o, c, edits, c->num_edits));
    }
}

/* Values between are not tried: nothing is proved of them, unless they make no difference. */
static void check_not_proved(const oracle *o, const cbx_counterfactual *c)
{
    const cbx_graph_data *d = &o->data;
    float                 before[64], after[64];
    for (int64_t e = 0; c->certificate == CBX_PROVED_NONE && e < d->num_edges; e++) {
        cbx_edit edit = {.op = CBX_SET_EDGE,
                         .source = (int32_t)d->edge_source[e],
                         .target = (int32_t)d->edge_target[e],
                         .edge = e,
                         .attribute = 1,
                         .weight = d->edge_attr[e * d->edge_dim] + 0.5F};
        ask_applied(o, c->row, NULL, 0, before);
        ask_applied(o, c->row, &edit, 1, after);
        CHECK(test_difference(c->num_classes, before, after) < 1e-5);
    }
}

static void explain_attributes(golden *g)
{
    if (!takes_attributes(g) || (!is_small(g) && test_every(2) > 1))
        return;
    for (int as = 0; as < ATTRIBUTES; as++) {
        make_attributes(g, as);
        oracle o = oracle_of(g);
        for (int32_t row = is_small(g) ? 0 : 4; row < 6 && row < cbx_graph_label_rows(g->graph);
             row += test_every(2)) {
            cbx_counterfactual *c = answer(g, row, "attributes", CBX_SET_EDGE);
            CHECK_INT(c->num_edits, c->num_edges_reweighted);
            check_nearest_attribute(&o, c, as);
            cbx_counterfactual_free(c);
        }
    }
}

TEST(answers_with_other_attributes_hold_and_go_no_further_than_they_must)
{
    asked = found = wanted = 0;
    (void)everywhere(explain_attributes);
    printf("  %d of %d found\n", found, asked);
    CHECK((found > 0 && wanted > 0) || !test_shared("programs"));
}

/* Of nodes that may not change, and of edges that are protected, nothing is set. */
static void keep_rules(golden *g)
{
    static const char *const rules[][2] = {
        {"immutable-nodes", "1,2"}, {"protected-edges", "0-1"}, {"max-edits", "1"}};
    for (size_t i = 0; takes_attributes(g) && is_small(g) && i < sizeof rules / sizeof *rules; i++)
        for (int32_t row = 0; row < 4 && row < cbx_graph_label_rows(g->graph);
             row += test_every(3)) {
            oracle              o = oracle_of(g);
            int64_t             first = o.data.task == CBX_GRAPH ? o.data.graph_ptr[row] : 0;
            cbx_explain_options options = ASK("explainer", "minimal", "target", "any", "edits",
                                              "attributes", "edges", "directed");
            set_option(&options, rules[i][0], rules[i][1]);
            cbx_counterfactual *c = explain(&o, row, &options);
            CHECK(!strstr(c->reason, "breaks a rule"));
            for (int64_t k = 0; k < c->num_edits; k++) {
                int64_t a = c->edits[k].source - first, b = c->edits[k].target - first;
                CHECK(i != 0 || (a != 1 && a != 2 && b != 1 && b != 2));
                CHECK(i != 1 || !((a == 0 && b == 1) || (a == 1 && b == 0)));
                wanted++;
            }
            CHECK(i != 2 || c->num_edits <= 1);
            cbx_counterfactual_free(c);
        }
}

TEST(answers_keep_the_rules_about_attributes)
{
    wanted = 0;
    (void)everywhere(keep_rules);
    CHECK(wanted > 0 || !test_shared("programs"));
}

/* ---- derivatives */

static double lead(cbx_pass *p, const cbx_matrix *X, const float *dlogp)
{
    double sum = 0;
    cbx_pass_forward(p, X, p->view->set_weight, 0, 0);
    for (int64_t k = 0; k < (int64_t)p->rows_out * p->model->num_classes; k++)
        sum += (double)dlogp[k] * p->logp[k];
    return sum;
}

static int slopes_met;

/* Along a random direction of what edges have: the derivative is the difference, where the model
 * is smooth. */
static void check_slopes(golden *g, cbx_pass *pass, const cbx_matrix *X, float *set,
                         const float *by, int64_t count, cbx_arena *arena)
{
    cbx_rng      rng = cbx_rng_stream(5, 6, 7, 8);
    const double h = 1e-3;
    int64_t      scores = (int64_t)pass->rows_out * g->model->num_classes;
    float       *dlogp = CBX_NEW(arena, float, scores), *along = CBX_NEW(arena, float, count);
    float       *own = CBX_NEW(arena, float, count);
    double       at[5], slope = 0, size = 0;
    for (int64_t k = 0; k < scores; k++)
        dlogp[k] = draw(&rng, -1, 1);
    for (int64_t k = 0; k < count; k++) {
        own[k] = set[k];
        along[k] = draw(&rng, -1, 1);
    }
    for (int k = 2; k >= -2; k--) {
        for (int64_t i = 0; i < count; i++)
            set[i] = own[i] + (float)(k * h) * along[i];
        at[k + 2] = lead(pass, X, dlogp);
    }
    memcpy(set, own, (size_t)count * sizeof *set);
    (void)lead(pass, X, dlogp);
    cbx_pass_backward(pass, dlogp, NULL, NULL, NULL);
    for (int64_t i = 0; i < count; i++) {
        slope += (double)by[i] * along[i];
        size += fabs((double)by[i] * along[i]);
    }
    double wide = (at[4] - at[0]) / (4 * h), near = (at[3] - at[1]) / (2 * h);
    if (fabs(wide - near) >= 0.01 * size)
        return;
    slopes_met++;
    CHECK_NEAR(slope, near, 0.03 * size);
}

static void check_weight_slopes(golden *g)
{
    cbx_arena  arena = {0};
    cbx_view   view;
    cbx_matrix X;
    cbx_pass   pass;
    cbx_error  err = {0};
    if (!takes_weights(g))
        return;
    CHECK_OK(cbx_view_whole(g->graph, &arena, &view, &err), err);
    CHECK_OK(cbx_view_features(g->graph, &view, &arena, &X, &err), err);
    float *set = cbx_view_settable_weights(&view, &arena);
    CHECK_OK(cbx_pass_init(&pass, g->model, &view, &X, true, 1, &arena, &err), err);
    pass.by_weight = CBX_NEW(&arena, float, view.m);
    check_slopes(g, &pass, &X, set, pass.by_weight, view.m, &arena);
    cbx_arena_free(&arena);
}

TEST(derivatives_by_weights_are_derivatives)
{
    slopes_met = 0;
    (void)everywhere(check_weight_slopes);
    CHECK(slopes_met > 0 || !test_shared("programs"));
}

static void check_attribute_slopes(golden *g)
{
    cbx_arena  arena = {0};
    cbx_view   view;
    cbx_matrix X;
    cbx_pass   pass;
    cbx_error  err = {0};
    if (!takes_attributes(g))
        return;
    CHECK_OK(cbx_view_whole(g->graph, &arena, &view, &err), err);
    CHECK_OK(cbx_view_features(g->graph, &view, &arena, &X, &err), err);
    float  *set = cbx_view_settable_attrs(&view, &arena);
    int64_t count = view.m * view.edge_dim;
    CHECK_OK(cbx_pass_init(&pass, g->model, &view, &X, true, 1, &arena, &err), err);
    pass.by_attr = CBX_NEW(&arena, float, count);
    check_slopes(g, &pass, &X, set, pass.by_attr, count, &arena);
    cbx_arena_free(&arena);
}

TEST(derivatives_by_attributes_are_derivatives)
{
    slopes_met = 0;
    (void)everywhere(check_attribute_slopes);
    CHECK(slopes_met > 0 || !test_shared("programs"));
}

/* ---- proofs */

static int proofs, seen;

/* Removals of up to two nodes, all of them tried on a new graph. */
static void check_proof(golden *g)
{
    oracle                o = oracle_of(g);
    const cbx_graph_data *d = &o.data;
    bool                  graphs = d->task == CBX_GRAPH;
    cbx_explain_options   options = ASK("explainer", "minimal", "target", "any", "edits",
                                        "remove-nodes", "max-edits", "2", "prove", "100");
    if (!is_small(g) || seen++ % test_every(3) != 0)
        return;
    cbx_counterfactual *c = explain(&o, 0, &options);
    int32_t             first = graphs ? (int32_t)d->graph_ptr[0] : 1;
    int32_t             end = graphs ? (int32_t)d->graph_ptr[1] : d->num_nodes;
    int64_t             fewest = 3;
    for (int32_t i = first; i < end; i++)
        for (int32_t k = i; k < end; k++) {
            cbx_edit set[2] = {{.op = CBX_REMOVE_NODE, .node = i},
                               {.op = CBX_REMOVE_NODE, .node = k}};
            int64_t  size = k > i ? 2 : 1;
            if (size < fewest && size < end - (graphs ? first : 0) &&
                applied_flips(&o, c, set, size))
                fewest = size;
        }
    bool proved = c->certificate == CBX_OPTIMAL || c->certificate == CBX_PROVED_NONE;
    proofs += proved;
    if (c->certificate == CBX_PROVED_NONE)
        CHECK_INT(fewest, 3);
    if (c->certificate == CBX_OPTIMAL)
        CHECK_INT(c->num_edits, fewest);
    if (proved)
        CHECK_CONTAINS(c->scope, "removals of nodes with all their edges");
    CHECK_INT(proved || (c->outcome == CBX_FOUND && c->num_edits == 1), sees_all(g) || proved);
    cbx_counterfactual_free(c);
}

TEST(what_is_proved_of_nodes_is_what_trying_all_of_them_shows)
{
    proofs = seen = 0;
    (void)everywhere(check_proof);
    printf("  %d proofs\n", proofs);
    CHECK(proofs > 0);
}

/* All values of an attribute of an edge, or all kinds, as edits. */
static int64_t list_values(const oracle *o, int as, int32_t row, cbx_edit *edits, int64_t most)
{
    const cbx_graph_data *d = &o->data;
    int64_t               count = 0;
    for (int64_t e = 0; e < d->num_edges; e++)
        for (int64_t j = 0; j < d->edge_dim; j++)
            for (int value = as == ONE_HOT ? 1 : 0; value < (as == ONE_HOT ? 2 : 3); value++) {
                float    own = d->edge_attr[e * d->edge_dim + j];
                bool     here = d->task != CBX_GRAPH || (d->edge_source[e] >= d->graph_ptr[row] &&
                                                     d->edge_source[e] < d->graph_ptr[row + 1]);
                cbx_edit edit = {.op = CBX_SET_EDGE,
                                 .source = (int32_t)d->edge_source[e],
                                 .target = (int32_t)d->edge_target[e],
                                 .edge = e,
                                 .attribute = (int16_t)(as == ONE_HOT ? -(j + 1) : j + 1),
                                 .weight = (float)value};
                if (own != (float)value && here && count < most)
                    edits[count++] = edit;
            }
    return count;
}

/* One edge gets another attribute, or becomes of another kind: all of them tried on a new graph. */
static void check_attribute_proof(golden *g)
{
    enum { MOST = 2000 };
    static cbx_edit     edits[MOST];
    cbx_explain_options options =
        ASK("explainer", "minimal", "target", "any", "edits", "attributes", "edges", "directed",
            "max-edits", "1", "prove", "100");
    for (int as = 0; takes_attributes(g) && as < ATTRIBUTES; as++) {
        make_attributes(g, as);
        oracle o = oracle_of(g);
        for (int32_t row = 0; row < 3 && row < cbx_graph_label_rows(g->graph);
             row += test_every(3)) {
            cbx_counterfactual *c = explain(&o, row, &options);
            int64_t count = as == AS_THEY_ARE ? 0 : list_values(&o, as, row, edits, MOST);
            bool    any = false;
            for (int64_t k = 0; k < count && !any; k++)
                any = applied_flips(&o, c, &edits[k], 1);
            bool known = sees_all(g) && c->outcome != CBX_SKIPPED; /* where there is no edge */
            if (as == AS_THEY_ARE)
                check_not_proved(&o, c);
            CHECK(as == AS_THEY_ARE || (c->outcome == CBX_FOUND) == any);
            CHECK(as == AS_THEY_ARE || (c->certificate == CBX_PROVED_NONE) == (!any && known));
            proofs += c->certificate == CBX_PROVED_NONE;
            if (c->certificate == CBX_PROVED_NONE)
                CHECK_CONTAINS(c->scope, "changes of edges' attributes (one by one)");
            cbx_counterfactual_free(c);
        }
    }
}

TEST(what_is_proved_of_attributes_is_what_trying_all_of_them_shows)
{
    proofs = 0;
    (void)everywhere(check_attribute_proof);
    printf("  %d proofs\n", proofs);
    CHECK(proofs > 0 || !test_shared("programs"));
}

/* ---- all kinds */

/* Those that the model takes, and an error names what it does not. */
static void check_all(golden *g)
{
    oracle              o = oracle_of(g);
    cbx_explain_options options = ASK("explainer", "minimal", "target", "any", "edits", "all",
                                      "edges", "directed", "robustness", "0");
    cbx_counterfactual *c = NULL, *fewer;
    cbx_error           err = {0};
    if (!is_small(g))
        return;
    if (!CHECK_OK(cbx_explain_with(g->model, g->graph, 0, &options, NULL, NULL, &c, &err), err))
        return;
    CHECK_CONTAINS(c->kinds, "remove,features,remove-nodes");
    CHECK(!strstr(c->kinds, "add"));
    CHECK_INT(strstr(c->kinds, "weights") != NULL, takes_weights(g));
    CHECK_INT(strstr(c->kinds, "attributes") != NULL, takes_attributes(g));
    if (c->outcome == CBX_FOUND)
        CHECK(applied_flips(&o, c, c->edits, c->num_edits));
    set_option(&options, "edits", "remove,features");
    fewer = explain(&o, 0, &options);
    CHECK(!strcmp(fewer->kinds, "remove,features"));
    if (fewer->outcome == CBX_FOUND && CHECK(c->outcome == CBX_FOUND))
        CHECK(c->cost <= fewer->cost + 1e-9);
    cbx_counterfactual_free(fewer);
    cbx_counterfactual_free(c);
    set_option(&options, "edits", "all,add");
    CHECK_INT(cbx_explain_with(g->model, g->graph, 0, &options, NULL, NULL, &c, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "edges cannot be added for a model of the kind 'program'");
    if (takes_attributes(g)) {
        set_option(&options, "edits", "attributes");
        set_option(&options, "explainer", "cf-gnn");
        CHECK_INT(cbx_explain_with(g->model, g->graph, 0, &options, NULL, NULL, &c, &err),
                  CBX_INVALID);
        CHECK_CONTAINS(err.message, "attributes: this explainer changes none");
        return;
    }
    set_option(&options, "edits", "attributes");
    CHECK_INT(cbx_explain_with(g->model, g->graph, 0, &options, NULL, NULL, &c, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "attributes: this model takes none");
    if (takes_weights(g))
        return;
    set_option(&options, "edits", "weights");
    CHECK_INT(cbx_explain_with(g->model, g->graph, 0, &options, NULL, NULL, &c, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "weights: this program takes none, as it has no input");
}

TEST(all_kinds_are_those_that_the_model_takes)
{
    (void)everywhere(check_all);
}

/* ---- memory */

typedef struct question {
    const oracle        *o;
    cbx_explain_options *options;
} question;

static cbx_status ask_once(void *user)
{
    const question     *q = user;
    cbx_counterfactual *c = NULL;
    cbx_error           err = {0};
    cbx_status          status =
        cbx_explain_with(q->o->model, q->o->graph, 5, q->options, NULL, NULL, &c, &err);
    cbx_counterfactual_free(c);
    return status;
}

TEST(every_allocation_may_fail)
{
    golden g;
    if (!CHECK(open_golden(&g, test_source("tests/golden/programs"), "gat", "a")))
        return;
    CHECK(takes_attributes(&g));
    oracle              o = oracle_of(&g);
    cbx_explain_options options = ASK("explainer", "minimal", "target", "any", "edits",
                                      "attributes", "edges", "directed", "robustness", "0");
    test_each_allocation(ask_once, &(question){&o, &options});
    close_golden(&g);
}
