/* SPDX-License-Identifier: Apache-2.0 */
/* Features that no node has are left out of searches, and nobody can tell but by the memory. */
#include "used.h"

#include <math.h>

#include "explainer.h"
#include "oracle.h"
#include "test.h"

enum { USED = 5, WIDE = 90000, STRIDE = 17000, FIRST = 123 };

static int32_t wide_number(int32_t j)
{
    return FIRST + j * STRIDE;
}

/* The data and the model of `small`, with its features far apart among many. */
typedef struct pair {
    oracle      small;
    bag         bag;
    cbx_graph  *graph;
    cbx_model  *model;
    const char *names[WIDE];
} pair;

static void widen_graph(pair *p, bool names)
{
    const cbx_graph_data *from = &p->small.graph->data;
    cbx_graph_data        d = *from;
    cbx_error             err = {0};
    int32_t              *column = TAKE(&p->bag, int32_t, from->num_x_values);
    float                *lo = TAKE(&p->bag, float, WIDE), *hi = TAKE(&p->bag, float, WIDE);
    uint8_t              *discrete = TAKE(&p->bag, uint8_t, WIDE);
    for (int64_t k = 0; k < from->num_x_values; k++)
        column[k] = wide_number(from->x_indices[k]);
    for (int32_t j = 0; j < WIDE; j++) {
        lo[j] = hi[j] = 0;
        discrete[j] = 1;
        p->names[j] = j ? "unused, too" : "unused";
    }
    for (int32_t j = 0; j < USED; j++) {
        lo[wide_number(j)] = from->feat_min[j];
        hi[wide_number(j)] = from->feat_max[j];
        discrete[wide_number(j)] = from->discrete[j];
    }
    p->names[wide_number(2)] = "third";
    d.num_features = WIDE;
    d.x_indices = column;
    d.feat_min = lo;
    d.feat_max = hi;
    d.discrete = discrete;
    d.feature_names = names ? p->names : NULL;
    oracle_must(cbx_graph_new(&d, &p->graph, &err), &err);
}

static void widen_model(pair *p)
{
    const cbx_model *m = p->small.model;
    int32_t          widths[8];
    cbx_error        err = {0};
    for (int32_t l = 0; l < m->num_layers; l++)
        widths[l] = m->layers[l].n_out;
    cbx_architecture a = {.task = m->task,
                          .conv = m->layers[0].ops,
                          .set = m->layers[0].set,
                          .head = m->head,
                          .pool = m->pool,
                          .dropout = m->dropout,
                          .num_features = WIDE,
                          .num_classes = m->num_classes,
                          .num_layers = m->num_layers,
                          .widths = widths};
    oracle_must(cbx_model_build(&a, &p->model, &err), &err);
    for (int64_t k = 0; k < p->model->size; k++)
        p->model->theta[k] = 77; /* of features that nobody has: it must not matter */
    for (int32_t i = 0; i < m->num_parameters; i++) {
        const cbx_parameter *s = &m->parameters[i].shape;
        const float         *from = m->theta + m->parameters[i].offset;
        float               *to = p->model->theta + p->model->parameters[i].offset;
        bool                 wide = p->model->parameters[i].shape.rows == WIDE;
        for (int32_t r = 0; r < (s->rows ? s->rows : 1); r++)
            memcpy(to + (int64_t)(wide ? wide_number(r) : r) * s->cols, from + (int64_t)r * s->cols,
                   (size_t)s->cols * sizeof *to);
    }
}

static pair *pair_make(oracle_shape shape, bool names)
{
    pair *p = calloc(1, sizeof *p);
    if (!p)
        exit(1);
    shape.sparse = true;
    shape.features = USED;
    p->small = oracle_make(shape);
    widen_graph(p, names);
    widen_model(p);
    return p;
}

static void pair_free(pair *p)
{
    cbx_graph_free(p->graph);
    cbx_model_free(p->model);
    bag_free(&p->bag);
    oracle_free(&p->small);
    free(p);
}

static cbx_explain_options defaults(const char *explainer)
{
    cbx_explain_options o;
    cbx_error           err = {0};
    cbx_fields_default(cbx_explain_table(), &o);
    oracle_must(cbx_fields_set(cbx_explain_table(), &o, "explainer", explainer, &err), &err);
    o.target = "any";
    o.threads = 1;
    o.epochs = 40;
    return o;
}

static cbx_counterfactual *explain(const cbx_model *model, const cbx_graph *graph, int32_t row,
                                   const cbx_explain_options *options)
{
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    CHECK_OK(cbx_explain_with(model, graph, row, options, NULL, NULL, &r, &err), err);
    return r;
}

/* Of methods that remove edges only: the others weigh features by how many there are. */
static bool same_answer(const cbx_counterfactual *small, const cbx_counterfactual *wide)
{
    size_t C = (size_t)small->num_classes * sizeof(float);
    bool   same = CHECK_INT(wide->outcome, small->outcome) && CHECK_INT(wide->num_features, WIDE) &&
                CHECK_INT(wide->num_edits, small->num_edits) &&
                CHECK(!memcmp(wide->before, small->before, C)) &&
                CHECK(!small->after || !memcmp(wide->after, small->after, C));
    for (int64_t k = 0; same && k < small->num_edits; k++) {
        const cbx_edit *a = &small->edits[k], *b = &wide->edits[k];
        same = CHECK(b->op == a->op && b->source == a->source && b->target == a->target);
    }
    return same;
}

static void compare_all(const char *layer, const char *explainer)
{
    pair *p = pair_make((oracle_shape){.conv = layer, .order = 2, .nodes = 20, .seed = 3}, false);
    bool  same = true;
    for (int32_t row = 0; row < 20 && same; row += 3) {
        cbx_explain_options o = defaults(explainer);
        cbx_counterfactual *a = explain(p->small.model, p->small.graph, row, &o);
        cbx_counterfactual *b = explain(p->model, p->graph, row, &o);
        same = a && b && same_answer(a, b);
        if (!same)
            printf("  (%s, %s, node %d)\n", layer, explainer, row);
        cbx_counterfactual_free(a);
        cbx_counterfactual_free(b);
    }
    pair_free(p);
}

TEST(answers_are_those_of_the_data_without_the_features)
{
    static const char *const layers[] = {"gcn", "cheb", "graphconv"};
    for (size_t l = 0; l < sizeof layers / sizeof *layers; l++)
        for (int e = 0; cbx_explainer_names[e]; e++)
            if (cbx_explainer_at(e)->edges_only && !cbx_explainer_at(e)->graphs_only)
                compare_all(layers[l], cbx_explainer_names[e]);
}

TEST(found_answers_hold_on_the_data_itself)
{
    static const char *const explainers[] = {"minimal", "combinex", "random-features"};
    pair                    *p = pair_make((oracle_shape){.nodes = 24, .seed = 5}, false);
    for (int e = 0; e < 3; e++) {
        int64_t found = 0, features = 0;
        for (int32_t row = 0; row < 24; row++) {
            cbx_explain_options o = defaults(explainers[e]);
            cbx_counterfactual *r = explain(p->model, p->graph, row, &o);
            float               logp[8];
            cbx_error           err = {0};
            if (r && r->outcome == CBX_FOUND &&
                CHECK_OK(
                    cbx_check_edits(p->model, p->graph, row, r->edits, r->num_edits, logp, &err),
                    err)) {
                CHECK(cbx_is_flip(logp, r->num_classes, r->prediction, -1, 0));
                for (int32_t c = 0; c < r->num_classes; c++)
                    CHECK_NEAR(logp[c], r->after[c], 1e-6);
                found++;
                features += r->num_features_changed;
            }
            cbx_counterfactual_free(r);
        }
        CHECK(found > 0 && features > 0);
    }
    pair_free(p);
}

/* What a model takes from every feature it takes from those that nobody has, too. */
TEST(means_of_features_that_nobody_has_count)
{
    pair               *p = pair_make((oracle_shape){.nodes = 40, .seed = 5}, false);
    float              *mean = TAKE(&p->bag, float, WIDE);
    float              *logp = TAKE(&p->bag, float, 40 * p->model->num_classes);
    cbx_error           err = {0};
    cbx_explain_options o = defaults("minimal");
    for (int32_t j = 0; j < WIDE; j++)
        mean[j] = 1e-5f * (float)(j % 7 - 3);
    for (int32_t j = 0; j < USED; j++)
        mean[wide_number(j)] = 0.1f * (float)(j + 1);
    CHECK_OK(cbx_model_centre(p->model, mean, &err), err);
    CHECK_OK(cbx_predict(p->model, p->graph, 1, logp, &err), err);
    for (int32_t row = 0; row < 6; row++) {
        cbx_counterfactual *r = explain(p->model, p->graph, row, &o);
        for (int32_t c = 0; r && c < r->num_classes; c++)
            CHECK_NEAR(r->before[c], logp[row * r->num_classes + c], 1e-4);
        cbx_counterfactual_free(r);
    }
    pair_free(p);
}

TEST(rules_name_features_as_the_data_does)
{
    pair               *p = pair_make((oracle_shape){.nodes = 24, .seed = 5}, true);
    cbx_explain_options o = defaults("minimal");
    int64_t             changed = 0;
    o.features_to_vary = "0-20000,third,unused";
    o.permitted_range = "34123:0:1,7:-5:6"; /* the third; one that nobody has */
    for (int32_t row = 0; row < 24; row++) {
        cbx_counterfactual *r = explain(p->model, p->graph, row, &o);
        for (int64_t k = 0; r && k < r->num_edits; k++) {
            const cbx_edit *e = &r->edits[k];
            if (e->op != CBX_SET_FEATURE)
                continue;
            changed++;
            CHECK(e->feature == wide_number(0) || e->feature == wide_number(1) ||
                  (e->feature == wide_number(2) && e->to >= 0 && e->to <= 1));
        }
        cbx_counterfactual_free(r);
    }
    CHECK(changed > 0);

    cbx_error           err = {0};
    cbx_counterfactual *r = NULL;
    o.permitted_range = "7:5:6";
    CHECK_INT(cbx_explain_with(p->model, p->graph, 0, &o, NULL, NULL, &r, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "feature 7 (unused, too) takes whole numbers");
    o.permitted_range = NULL;
    o.features_to_vary = "90000";
    CHECK_INT(cbx_explain_with(p->model, p->graph, 0, &o, NULL, NULL, &r, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "feature 90000 does not exist: there are 0 to 89999");
    o.features_to_vary = "all";
    o.one_hot = "34123-51123,50000-60000";
    CHECK_INT(cbx_explain_with(p->model, p->graph, 0, &o, NULL, NULL, &r, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "feature 51123 (unused, too) is in two groups");
    pair_free(p);
}

TEST(time_that_is_up_while_a_call_is_prepared_is_told)
{
    pair               *p = pair_make((oracle_shape){.nodes = 40, .seed = 5}, false);
    cbx_explain_options o = defaults("rcexplainer");
    o.time_limit = 1e-6; /* training takes longer on any machine */
    for (int32_t row = 0; row < 3; row++) {
        cbx_counterfactual *r = explain(p->model, p->graph, row, &o);
        CHECK(r && r->outcome != CBX_FOUND);
        cbx_counterfactual_free(r);
    }
    pair_free(p);
}

TEST(rows_of_features_that_nobody_has_take_no_memory)
{
    static const char *const explainers[] = {"minimal", "combinex", "random-features", "cf-gnn"};
    pair                    *p = pair_make((oracle_shape){.nodes = 24, .seed = 5}, false);
    for (int e = 0; e < 4; e++) {
        cbx_explain_options o = defaults(explainers[e]);
        (void)test_largest_allocation();
        cbx_counterfactual *r = explain(p->model, p->graph, 1, &o);
        CHECK(r && r->num_nodes > 4); /* rows, of which two would be too large */
        CHECK(test_largest_allocation() < 2 * WIDE * sizeof(float));
        cbx_counterfactual_free(r);
    }
    pair_free(p);
}

TEST(bounds_that_are_broken_are_told_in_the_numbers_of_the_data)
{
    pair     *p = pair_make((oracle_shape){.nodes = 12, .seed = 5}, false);
    float    *lo = (float *)p->graph->data.feat_min, *hi = (float *)p->graph->data.feat_max;
    cbx_error err = {0};
    cbx_counterfactual *r = NULL;
    cbx_explain_options o = defaults("combinex");
    lo[wide_number(4)] = hi[wide_number(4)] = 100; /* behind the back of the checks */
    CHECK_INT(cbx_explain_with(p->model, p->graph, 0, &o, NULL, NULL, &r, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "feature 68123 of node");
    pair_free(p);
}

static cbx_status explain_again(void *user)
{
    const pair         *p = user;
    cbx_explain_options o = defaults("ego");
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    cbx_status          status = cbx_explain_with(p->model, p->graph, 1, &o, NULL, NULL, &r, &err);
    cbx_counterfactual_free(r);
    return status;
}

TEST(failing_allocations_are_reported)
{
    pair *p = pair_make((oracle_shape){.nodes = 12, .seed = 5}, true);
    test_each_allocation(explain_again, p);
    pair_free(p);
}
