/* SPDX-License-Identifier: Apache-2.0 */
/* RCExplainer: stars in which one edge decides, which only a network that has learned can tell.
 * tests/torch checks its training step by step. */
#include "../search/rival.h"

RIVAL_TESTS(rcexplainer, "rcexplainer", true)

TEST(counterfactuals_of_rcexplainer_hold)
{
    CHECK(rival_on_nodes("rcexplainer", "100") > 10);
    CHECK(rival_on_graphs("rcexplainer", "100") > 0);
}

/* ---- stars
 *
 * A centre with four leaves, of which one has x = 4 and the others 1, 0 and 1. Two units: the sum
 * of the neighbours' x, which decides at 3, and a node's own x. */
enum { STARS = 10, LEAVES = 4, NODES = STARS * (LEAVES + 1), EDGES = 2 * STARS * LEAVES };

typedef struct stars {
    int64_t source[EDGES], target[EDGES], y[NODES];
    float   x[NODES];
    int32_t heavy[STARS]; /* the leaf with 4 */
    oracle  o;
} stars;

static stars *stars_make(void)
{
    static stars       s;
    static const float lo[] = {0}, hi[] = {9}, leaves[] = {4, 1, 0, 1};
    int64_t            m = 0;
    s = (stars){.heavy = {0}};
    for (int i = 0; i < STARS; i++) {
        int32_t centre = i * (LEAVES + 1);
        s.y[centre] = 1;
        for (int k = 0; k < LEAVES; k++) {
            int32_t leaf = centre + 1 + k;
            s.x[leaf] = leaves[(k + i) % LEAVES];
            s.heavy[i] = s.x[leaf] == 4 ? leaf : s.heavy[i];
            s.source[m] = s.target[m + 1] = leaf;
            s.target[m] = s.source[m + 1] = centre;
            m += 2;
        }
    }
    const cbx_graph_data d = {.num_nodes = NODES,
                              .num_edges = EDGES,
                              .num_features = 1,
                              .num_classes = 2,
                              .edge_source = s.source,
                              .edge_target = s.target,
                              .x = s.x,
                              .y = s.y,
                              .feat_min = lo,
                              .feat_max = hi};
    s.o = oracle_by_hand(&d, "graphconv", "add", 2);
    oracle_set(&s.o, "layers.0.lin_rel.weight", (float[]){1, 0});
    oracle_set(&s.o, "layers.0.lin_rel.bias", (float[]){0, 0});
    oracle_set(&s.o, "layers.0.lin_root.weight", (float[]){0, 1});
    oracle_set(&s.o, "output_layer.weight", (float[]){0, 0, 1, 0});
    oracle_set(&s.o, "output_layer.bias", (float[]){3, 0});
    return &s;
}

/* Centres whose answer is the heavy leaf's edge and nothing else. */
static int right_answers(const char *epochs)
{
    stars              *s = stars_make();
    int                 right = 0;
    cbx_explain_options ask =
        ASK("explainer", "rcexplainer", "target", "any", "edges", "undirected",
            "rcexplainer-epochs", epochs, "rcexplainer-patience", "200", "rcexplainer-lr", "0.01");
    for (int i = 0; i < STARS; i++) {
        cbx_counterfactual *r = explain_row(&s->o, i * (LEAVES + 1), &ask);
        CHECK_INT(r->num_trained, (3 * 2 + 1) * 64 + 65);
        right += r->outcome == CBX_FOUND && r->num_edits == 1 &&
                 (r->edits[0].source == s->heavy[i] || r->edits[0].target == s->heavy[i]);
        cbx_counterfactual_free(r);
    }
    oracle_free(&s->o);
    return right;
}

TEST(the_network_learns_which_edges_decide)
{
    CHECK_INT(right_answers("150"), STARS);
    CHECK(right_answers("0") < STARS);
}

TEST(there_are_no_more_removals_than_epochs)
{
    stars              *s = stars_make();
    cbx_explain_options ask = ASK("explainer", "rcexplainer", "target", "any", "epochs", "1",
                                  "rcexplainer-epochs", "0", "edges", "undirected");
    int                 found = 0;
    ask.trace = true;
    for (int i = 0; i < STARS; i++) {
        cbx_counterfactual *r = explain_row(&s->o, i * (LEAVES + 1), &ask);
        CHECK_INT(r->num_trace, 1);
        CHECK_INT(r->trace[0].removed_edges, 2);
        CHECK(r->num_edits <= 1);
        found += r->outcome == CBX_FOUND;
        cbx_counterfactual_free(r);
    }
    CHECK(found < STARS);
    oracle_free(&s->o);
}
