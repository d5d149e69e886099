/* SPDX-License-Identifier: Apache-2.0 */
/* What is proved to be out of reach is not reached by any of many random tries. */
#include <math.h>

#include "infeasible.h"
#include "number.h"
#include "../search/oracle.h"
#include "test.h"
#include "../search/own_options.h"

/* Features 1 and 4 of a node may move by `near`, and nothing else may. */
static cbx_explain_options near_by(const oracle *o, int32_t row, float near, char *range,
                                   size_t size)
{
    cbx_explain_options options;
    float               x1 = data_feature(&o->data, row, 1), x4 = data_feature(&o->data, row, 4);
    cbx_fields_default(cbx_explain_table(), &options);
    (void)cbx_print(range, size, "1:%.7g:%.7g,4:%.7g:%.7g", x1 - near, x1 + near, x4 - near,
                    x4 + near);
    options.target = "any";
    options.keep_edges = options.own_features = true;
    options.features_to_vary = "1,4";
    options.permitted_range = range;
    options.epochs = 30;
    return options;
}

/* The share of random values within the range that change the class. */
static int tries_that_flip(const oracle *o, int32_t row, float near, cbx_rng *rng)
{
    int count = 0;
    int32_t class = -1;
    for (int i = 0; i < 100; i++) {
        cbx_edit edits[2];
        float    logp[8];
        for (int k = 0; k < 2; k++) {
            int32_t j = k ? 4 : 1;
            float   x = data_feature(&o->data, row, j);
            double  step = i == 0  ? 0
                           : i < 5 ? 2 * ((i - 1) >> k & 1) - 1
                                   : 2 * cbx_rng_uniform(rng) - 1;
            edits[k] = (cbx_edit){.op = CBX_SET_FEATURE,
                                  .node = row,
                                  .feature = j,
                                  .from = x,
                                  .to = x + near * (float)step};
        }
        cbx_error err = {0};
        oracle_must(cbx_check_edits(o->model, o->graph, row, edits, i ? 2 : 0, logp, &err), &err);
        if (i == 0)
            class = best_of(logp, 3);
        count += best_of(logp, 3) != class;
    }
    return count;
}

static bool is_infeasible(const oracle *o, int32_t row, const cbx_explain_options *options)
{
    cbx_arena      arena = {0};
    cbx_error      err = {0};
    cbx_setup      setup;
    cbx_view       view;
    cbx_edit_state W;
    bool           proved = false;
    oracle_must(cbx_setup_init(&setup, o->model, o->graph, options, &err), &err);
    const cbx_minimal_shared *shared = setup.shared;
    cbx_search                s = {.model = o->model,
                                   .graph = o->graph,
                                   .options = options,
                                   .settings = minimal_of(options),
                                   .row = row,
                                   .view = &view,
                                   .complete = true,
                                   .lo = setup.lo,
                                   .hi = setup.hi,
                                   .discrete = setup.discrete,
                                   .target = -1,
                                   .arena = &arena,
                                   .shared = shared};
    oracle_must(cbx_view_around(o->graph, row, 3, &arena, &view, &err), &err);
    oracle_must(cbx_view_features(o->graph, &view, &arena, &s.X, &err), &err);
    oracle_must(cbx_edit_state_init(&W, &s, &shared->rules, &err), &err);
    oracle_must(cbx_infeasible(&s, &W, &proved, &err), &err);
    cbx_arena_free(&arena);
    cbx_setup_free(&setup);
    return proved;
}

TEST(no_value_within_the_range_flips_what_is_out_of_reach)
{
    const char *convs[] = {"gcn", "graphconv", "cheb"};
    int         proved = 0, flipped = 0;
    char        range[96];
    for (uint64_t k = 0; k < 6; k++) {
        oracle  o = oracle_make((oracle_shape){
             .nodes = 40, .kind = 'c', .conv = convs[k % 3], .order = 1, .seed = 40 + k});
        cbx_rng rng = cbx_rng_stream(9, k, 0, 0);
        for (int32_t row = 0; row < 20; row++)
            for (float near = 0.02f; near < 3; near *= 5) {
                cbx_explain_options options = near_by(&o, row, near, range, sizeof range);
                bool                out = is_infeasible(&o, row, &options);
                int                 flips = tries_that_flip(&o, row, near, &rng);
                proved += out;
                flipped += flips > 0;
                CHECK(!out || flips == 0);
            }
        oracle_free(&o);
    }
    CHECK(proved > 100 && flipped > 30);
}

TEST(the_answer_says_that_it_is_out_of_reach)
{
    oracle o = oracle_make((oracle_shape){.nodes = 40, .kind = 'c', .seed = 40});
    char   range[96];
    int    said = 0;
    for (int32_t row = 0; row < 20; row++) {
        cbx_explain_options options = near_by(&o, row, 0.02f, range, sizeof range);
        cbx_counterfactual *r = explain_row(&o, row, &options);
        if (is_infeasible(&o, row, &options)) {
            CHECK_INT(r->outcome, CBX_NOT_FOUND);
            CHECK_INT(r->certificate, CBX_PROVED_NONE);
            said++;
        }
        cbx_counterfactual_free(r);
    }
    CHECK(said > 0);
    oracle_free(&o);
}

/* Three nodes in a row, each with an edge to the next and back. */
static cbx_graph_data path_of_three(int32_t features, const float *x, const float *lo,
                                    const float *hi)
{
    static const int64_t source[] = {0, 1, 1, 2}, target[] = {1, 0, 2, 1}, y[] = {0, 1, 0};
    return (cbx_graph_data){.num_nodes = 3,
                            .num_features = features,
                            .num_edges = 4,
                            .num_classes = 2,
                            .edge_source = source,
                            .edge_target = target,
                            .x = x,
                            .y = y,
                            .feat_min = lo,
                            .feat_max = hi};
}

/* The feature times 4 is more than a float holds, and infinity times a weight of nearly 0 is more
 * than the bias of the other class, whatever doubles say. */
TEST(what_is_too_large_for_the_model_is_not_proved)
{
    static const float lo[] = {0}, x[] = {1, 1, 1};
    for (int huge = 0; huge < 2; huge++) {
        float          hi[] = {huge ? 1e38F : 1e36F};
        cbx_graph_data path = path_of_three(1, x, lo, hi);
        oracle         o = oracle_by_hand(&path, "graphconv", "add", 1);
        oracle_set(&o, "layers.0.lin_rel.weight", (float[]){0});
        oracle_set(&o, "layers.0.lin_rel.bias", (float[]){0});
        oracle_set(&o, "layers.0.lin_root.weight", (float[]){4});
        oracle_set(&o, "output_layer.weight", (float[]){-1e-39F, 0});
        oracle_set(&o, "output_layer.bias", (float[]){1, 0});
        for (int edges = 0; edges < 2; edges++) {
            cbx_explain_options options = ASK("explainer", "minimal", "target", "any");
            options.keep_edges = !edges;
            CHECK_INT(is_infeasible(&o, 0, &options), !huge);
        }
        oracle_free(&o);
    }
}

TEST(where_edges_may_go_as_well_ranges_alone_do_not_tell)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 40, .kind = 'c', .seed = 40});
    char                range[96];
    cbx_explain_options options = near_by(&o, 3, 1e-6f, range, sizeof range);
    CHECK(is_infeasible(&o, 3, &options));
    options.keep_edges = false;
    CHECK(!is_infeasible(&o, 3, &options));
    oracle_free(&o);
}

/* ---- oracles that say the same of everything */

enum { UNITS = 4, MOST_FEATURES = 6 };

/* Units of the first layer are weights x features, of the third `last` x those of the first; some
 * of them above 0 would make it the other class. Features are between 0 and 100. */
static oracle constant_oracle(int32_t features, const float weights[UNITS][2],
                              const float last[UNITS])
{
    static float   x[3 * MOST_FEATURES], lo[MOST_FEATURES], hi[MOST_FEATURES];
    float          first[UNITS * MOST_FEATURES] = {0}, none[UNITS * MOST_FEATURES] = {0};
    float          same[UNITS * UNITS] = {0}, third[UNITS * UNITS] = {0};
    oracle         o = {0};
    cbx_model_spec spec;
    cbx_error      err = {0};
    for (int32_t j = 0; j < UNITS; j++) {
        same[j * UNITS + j] = 1;
        memcpy(third + (ptrdiff_t)j * UNITS, last, UNITS * sizeof *last);
        memcpy(first + (ptrdiff_t)j * features, weights[j], 2 * sizeof **weights);
    }
    for (int32_t j = 0; j < 3 * features; j++) {
        x[j] = (float)(7 * j % 50);
        hi[j % features] = 100;
    }
    o.data = path_of_three(features, x, lo, hi);
    oracle_must(cbx_graph_new(&o.data, &o.graph, &err), &err);
    cbx_fields_default(cbx_model_table(), &spec);
    oracle_must(cbx_fields_set(cbx_model_table(), &spec, "model", "graphconv", &err), &err);
    spec.layers = 3;
    spec.hidden = UNITS;
    oracle_must(cbx_model_new_with(o.graph, &spec, 1, &o.model, &err), &err);
    oracle_set(&o, "layers.0.lin_rel.weight", none);
    oracle_set(&o, "layers.0.lin_rel.bias", none);
    oracle_set(&o, "layers.0.lin_root.weight", first);
    oracle_set(&o, "layers.1.lin_rel.weight", none);
    oracle_set(&o, "layers.1.lin_rel.bias", none);
    oracle_set(&o, "layers.1.lin_root.weight", same);
    oracle_set(&o, "layers.2.lin_rel.weight", third);
    oracle_set(&o, "layers.2.lin_rel.bias", (float[]){-0.1F, -0.1F, -0.1F, -0.1F});
    oracle_set(&o, "layers.2.lin_root.weight", third);
    oracle_set(&o, "output_layer.weight", (float[]){0, 0, 0, 0, 1, 1, 1, 1});
    oracle_set(&o, "output_layer.bias", (float[]){0.01F, 0});
    return o;
}

static cbx_certificate certificate_of(oracle *o)
{
    cbx_explain_options options;
    cbx_fields_default(cbx_explain_table(), &options);
    options.target = "any";
    cbx_counterfactual *r = explain_row(o, 1, &options);
    cbx_certificate     is = r->outcome == CBX_NOT_FOUND ? r->certificate : CBX_NO_CERTIFICATE;
    cbx_counterfactual_free(r);
    oracle_free(o);
    return is;
}

/* Each unit by itself is between 0 and 100, so that boxes leave 100 for the sum. */
TEST(units_that_rise_together_are_bounded_together)
{
    static const float weights[UNITS][2] = {{1, 0}, {1, 0}, {0, 1}, {0, 1}};
    oracle dead = constant_oracle(MOST_FEATURES, weights, (float[]){1, -1.1F, 1, -1.1F});
    oracle alive = constant_oracle(MOST_FEATURES, weights, (float[]){1, -0.9F, 1, -1.1F});
    CHECK_INT(certificate_of(&dead), CBX_PROVED_NONE);
    CHECK(certificate_of(&alive) != CBX_PROVED_NONE);
}

/* |a - b| is never 1.5 times as much as a + b; but a line through its ends says 100 where both are
 * 0. */
TEST(of_few_features_units_are_told_to_be_dead_where_lines_do_not)
{
    static const float weights[UNITS][2] = {{1, -1}, {-1, 1}, {1, 0}, {0, 1}};
    oracle             dead = constant_oracle(2, weights, (float[]){1, 1, -1.5F, -1.5F});
    oracle             alive = constant_oracle(2, weights, (float[]){1, 1, -0.9F, -1.5F});
    CHECK_INT(certificate_of(&dead), CBX_PROVED_NONE);
    CHECK(certificate_of(&alive) != CBX_PROVED_NONE);
}
