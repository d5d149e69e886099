/* SPDX-License-Identifier: Apache-2.0 */
/* What --prove says where features may change and edges go, against all sets of one and of two
 * edits; and of features with values between, against values drawn from all of their ranges. */
#include "test.h"

#include "rng.h"

enum { NODES = 10, FEATURES = 4, CLASSES = 2, MOST = 64 };

typedef struct world {
    cbx_rng    rng;
    float      x[NODES * FEATURES];
    uint8_t    discrete[FEATURES];
    int64_t    source[2 * NODES + 8], target[2 * NODES + 8], y[NODES];
    int64_t    edges;
    cbx_graph *graph;
    cbx_model *model;
} world;

static void set(cbx_options *o, const char *name, const char *value)
{
    cbx_error err = {0};
    CHECK_OK(cbx_options_set(o, name, value, &err), err);
}

static void link_nodes(world *w, int64_t a, int64_t b)
{
    for (int back = 0; back < 2; back++) {
        w->source[w->edges] = back ? b : a;
        w->target[w->edges++] = back ? a : b;
    }
}

/* A ring with chords; the classes are as the first feature says. */
static void make_world(world *w, uint64_t seed, bool discrete, const char *layer)
{
    cbx_error    err = {0};
    cbx_options *shape, *training;
    *w = (world){.rng = cbx_rng_stream(seed, 2, 0, 0)};
    for (int64_t i = 0; i < NODES; i++)
        link_nodes(w, i, (i + 1) % NODES);
    link_nodes(w, 0, 5);
    link_nodes(w, 2, 7);
    for (int32_t k = 0; k < NODES * FEATURES; k++) {
        double u = cbx_rng_uniform(&w->rng);
        w->x[k] = discrete ? u < 0.5 ? 0 : 1 : (float)u;
        w->discrete[k % FEATURES] = discrete;
    }
    for (int32_t i = 0; i < NODES; i++)
        w->y[i] = w->x[i * FEATURES] > 0.5f;
    cbx_graph_data d = {.task = CBX_NODE,
                        .num_nodes = NODES,
                        .num_features = FEATURES,
                        .num_classes = CLASSES,
                        .num_edges = w->edges,
                        .edge_source = w->source,
                        .edge_target = w->target,
                        .discrete = w->discrete,
                        .x = w->x,
                        .y = w->y};
    CHECK_OK(cbx_graph_new(&d, &w->graph, &err), err);
    CHECK_OK(cbx_options_new(cbx_model_table(), &shape, &err), err);
    CHECK_OK(cbx_options_new(cbx_train_table(), &training, &err), err);
    set(shape, "model", layer);
    set(shape, "layers", "2");
    set(shape, "hidden", "8");
    set(training, "epochs", "60");
    CHECK_OK(cbx_model_new(w->graph, shape, (int64_t)seed, &w->model, &err), err);
    CHECK_OK(cbx_train(w->model, w->graph, training, NULL, NULL, NULL, &err), err);
    cbx_options_free(shape);
    cbx_options_free(training);
}

static void free_world(world *w)
{
    cbx_graph_free(w->graph);
    cbx_model_free(w->model);
}

static bool flips(const world *w, int32_t row, int32_t class, const cbx_edit *edits, int64_t count)
{
    float     logp[CLASSES];
    cbx_error err = {0};
    CHECK_OK(cbx_check_edits(w->model, w->graph, row, edits, count, logp, &err), err);
    return cbx_is_flip(logp, CLASSES, class, -1, 0);
}

static cbx_edit change(const world *w, int32_t k, float to)
{
    return (cbx_edit){.op = CBX_SET_FEATURE,
                      .node = k / FEATURES,
                      .feature = k % FEATURES,
                      .from = w->x[k],
                      .to = to};
}

static int64_t list_all(const world *w, cbx_edit *edits)
{
    int64_t count = 0;
    for (int32_t k = 0; k < NODES * FEATURES; k++)
        edits[count++] = change(w, k, 1 - w->x[k]);
    for (int64_t e = 0; e < w->edges; e += 2)
        edits[count++] = (cbx_edit){.op = CBX_REMOVE_EDGE,
                                    .source = (int32_t)w->source[e],
                                    .target = (int32_t)w->target[e],
                                    .edge = -1,
                                    .undirected = true};
    return count;
}

/* The fewest edits that change the class; 3: more than two. */
static int64_t fewest(const world *w, int32_t row, int32_t class)
{
    cbx_edit all[MOST], two[2];
    int64_t  count = list_all(w, all);
    for (int64_t i = 0; i < count; i++)
        if (flips(w, row, class, &all[i], 1))
            return 1;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = i + 1; k < count; k++) {
            two[0] = all[i];
            two[1] = all[k];
            if (flips(w, row, class, two, 2))
                return 2;
        }
    return 3;
}

static cbx_options *ask_for_proofs(void)
{
    cbx_error    err = {0};
    cbx_options *o;
    CHECK_OK(cbx_options_new(cbx_explain_table(), &o, &err), err);
    set(o, "max-edits", "2");
    set(o, "beam", "1"); /* so that there is something for the proof to find */
    set(o, "candidates", "1");
    set(o, "rebuilds", "0");
    set(o, "prove", "1000");
    set(o, "time-limit", "0");
    return o;
}

TEST(what_is_proved_of_features_and_edges_is_what_trying_all_finds)
{
    static const char *const layers[] = {"gcn", "graphconv", "sage"};
    cbx_options             *o = ask_for_proofs();
    int64_t                  met[4] = {0};
    for (uint64_t seed = 0; seed < 9; seed++) {
        world w;
        make_world(&w, seed, true, layers[seed % 3]);
        for (int32_t row = 0; row < NODES; row += 2) {
            cbx_error           err = {0};
            cbx_counterfactual *c = NULL;
            CHECK_OK(cbx_explain(w.model, w.graph, row, o, NULL, NULL, &c, &err), err);
            int64_t truth = fewest(&w, row, c->prediction);
            met[truth]++;
            if (truth < 3) {
                CHECK(c->certificate == CBX_OPTIMAL);
                CHECK_INT(c->num_edits, truth);
                CHECK_NEAR(c->lower_bound, (double)truth, 0);
            } else {
                CHECK(c->certificate == CBX_PROVED_NONE);
            }
            cbx_counterfactual_free(c);
        }
        free_world(&w);
    }
    CHECK(met[2] > 0 && met[3] > 0);
    cbx_options_free(o);
}

/* Values between are excluded by bounds alone, and then nowhere in their ranges does one flip. */
TEST(a_bound_of_values_between_holds_for_values_drawn_from_their_ranges)
{
    cbx_options *o = ask_for_proofs();
    int64_t      told = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        world w;
        make_world(&w, seed, false, "gcn");
        float low[FEATURES], high[FEATURES];
        for (int32_t k = 0; k < NODES * FEATURES; k++) {
            int32_t j = k % FEATURES;
            low[j] = k < FEATURES || w.x[k] < low[j] ? w.x[k] : low[j];
            high[j] = k < FEATURES || w.x[k] > high[j] ? w.x[k] : high[j];
        }
        for (int32_t row = 0; row < NODES; row++) {
            cbx_error           err = {0};
            cbx_counterfactual *c = NULL;
            CHECK_OK(cbx_explain(w.model, w.graph, row, o, NULL, NULL, &c, &err), err);
            told += c->lower_bound >= 2;
            for (int32_t k = 0; k < NODES * FEATURES && c->lower_bound >= 2; k++)
                for (int times = 0; times < 4; times++) {
                    int32_t  j = k % FEATURES;
                    double   u = times < 2 ? times : cbx_rng_uniform(&w.rng);
                    cbx_edit e = change(&w, k, (float)(low[j] + u * ((double)high[j] - low[j])));
                    CHECK(!flips(&w, row, c->prediction, &e, 1));
                }
            cbx_counterfactual_free(c);
        }
        free_world(&w);
    }
    CHECK(told > 0);
    cbx_options_free(o);
}
