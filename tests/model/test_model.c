/* SPDX-License-Identifier: Apache-2.0 */
/* Models: sizes from a spec, parameters by PyG's names and shapes, how they are drawn,
 * and notes. */
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"
#include "test.h"

static const sample_shape nodes = {.nodes = 12, .features = 7, .classes = 3, .seed = 1};
static const sample_shape graphs = {
    .nodes = 12, .features = 7, .classes = 3, .graphs = 4, .seed = 1};

/* ---- from spec to sizes */

static void check_info(sample_shape shape, const char *const *settings, cbx_model_info want)
{
    sample         s = make_sample(shape);
    cbx_model     *m = make_model(s.graph, 0, settings);
    cbx_model_info i = cbx_model_describe(m);
    CHECK(i.task == want.task);
    CHECK(!strcmp(i.conv, want.conv) && !strcmp(i.head, want.head) && !strcmp(i.pool, want.pool));
    CHECK(!strcmp(i.aggregation, want.aggregation));
    CHECK_INT(i.num_layers, want.num_layers);
    CHECK_INT(i.num_features, 7);
    CHECK_INT(i.num_classes, 3);
    CHECK_INT(i.hidden, want.hidden);
    CHECK_INT(i.order, want.order);
    CHECK_INT(i.num_parameters, want.num_parameters);
    CHECK(i.dropout == want.dropout);
    cbx_model_free(m);
    free_sample(&s);
}

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

TEST(defaults_depend_on_the_convolution_and_the_task)
{
    const char *const none[] = {NULL};
    cbx_model_info    gcn = {CBX_NODE, "gcn", "cat", "none", "add", 3, 0, 0, 128, 1, 0, 0.5, false};
    gcn.num_parameters = 7 * 128 + 128 + 2 * (128 * 128 + 128) + 384 * 3 + 3;
    check_info(nodes, none, gcn);
    gcn.task = CBX_GRAPH; /* the head sees the last layer only */
    gcn.head = "last";
    gcn.pool = "mean";
    gcn.num_parameters = 7 * 128 + 128 + 2 * (128 * 128 + 128) + 128 * 3 + 3;
    check_info(graphs, none, gcn);
    cbx_model_info cheb = {CBX_NODE, "cheb", "last", "none", "add", 3, 0, 0, 64, 1, 0, 0.5, false};
    cheb.num_parameters = 7 * 64 + 64 + 2 * (64 * 64 + 64) + 64 * 3 + 3;
    check_info(nodes, SETTINGS("model", "cheb"), cheb);
    cbx_model_info conv = {CBX_NODE, "graphconv", "last", "none", "add", 3,    0,
                           0,        64,          1,      0,      0.5,   false};
    conv.num_parameters = 2 * 7 * 64 + 64 + 2 * (2 * 64 * 64 + 64) + 64 * 3 + 3;
    check_info(nodes, SETTINGS("model", "graphconv"), conv);
}

TEST(a_spec_is_followed)
{
    cbx_model_info cheb = {CBX_NODE, "cheb", "cat", "none", "add", 2, 0, 0, 5, 4, 0, 0.25, false};
    cheb.num_parameters = 4 * 7 * 5 + 5 + 4 * 5 * 5 + 5 + 10 * 3 + 3;
    check_info(nodes,
               SETTINGS("model", "cheb", "order", "4", "layers", "2", "hidden", "5", "head", "cat",
                        "dropout", "0.25"),
               cheb);
    cbx_model_info conv = {CBX_GRAPH, "graphconv", "last", "max", "mean", 1,    0,
                           0,         9,           1,      0,     0,      false};
    conv.num_parameters = 2 * 7 * 9 + 9 + 9 * 3 + 3;
    check_info(graphs,
               SETTINGS("model", "graphconv", "layers", "1", "hidden", "9", "pool", "max",
                        "aggregation", "mean", "dropout", "0"),
               conv);
    cbx_model_info gcn = {CBX_NODE, "gcn", "last", "none", "add", 64, 0, 0, 1, 1, 0, 0.5, false};
    gcn.num_parameters = 7 + 1 + 63 * 2 + 3 + 3;
    check_info(nodes, SETTINGS("layers", "64", "hidden", "1", "head", "last"), gcn);
}

TEST(no_spec_means_the_defaults)
{
    sample     s = make_sample(nodes);
    cbx_model *a = MODEL(s.graph, 5, "model", "auto"), *b = NULL;
    CHECK_INT(cbx_model_new_with(s.graph, NULL, 5, &b, NULL), CBX_OK);
    CHECK(b && a->size == b->size && same_theta(b, a->theta));
    cbx_model_free(a);
    cbx_model_free(b);
    cbx_model_free(NULL);
    free_sample(&s);
}

/* Which kind is chosen for two nodes with these values of their one feature. */
static void check_chosen(const float *x, const uint8_t *discrete, const char *expected)
{
    static const float   lo = 0, hi = 1;
    static const int64_t y[] = {0, 1};
    cbx_graph_data       d = {.num_nodes = 2, .num_features = 1, .x = x, .y = y};
    cbx_graph           *g = NULL;
    cbx_error            err = {0};
    d.discrete = discrete;
    d.feat_min = discrete ? &lo : NULL;
    d.feat_max = discrete ? &hi : NULL;
    CHECK_OK(cbx_graph_new(&d, &g, &err), err);
    cbx_model *m = MODEL(g, 0, "model", "auto");
    CHECK(!strcmp(cbx_model_describe(m).conv, expected));
    cbx_model_free(m);
    cbx_graph_free(g);
}

TEST(a_kind_is_chosen_by_what_features_are)
{
    const uint8_t yes = 1, no = 0;
    check_chosen((float[]){0, 1}, NULL, "gcn");
    check_chosen((float[]){0, 1}, &yes, "gcn");
    check_chosen((float[]){0, 1}, &no, "sage"); /* there may be values between */
    check_chosen((float[]){0, 3}, NULL, "sage");
    check_chosen((float[]){0, 0.5F}, NULL, "sage");
    CHECK(cbx_model_takes("auto", "layers") && cbx_model_takes("auto", "residual"));
    CHECK(!cbx_model_takes("auto", "heads"));
}

TEST(the_reach_is_the_hops_of_all_layers)
{
    sample     s = make_sample(nodes);
    cbx_model *m = MODEL(s.graph, 0, "layers", "4");
    CHECK_INT(cbx_model_reach(m), 4);
    cbx_model_free(m);
    m = MODEL(s.graph, 0, "model", "cheb", "order", "1");
    CHECK_INT(cbx_model_reach(m), 0);
    cbx_model_free(m);
    m = MODEL(s.graph, 0, "model", "cheb", "order", "5", "layers", "2");
    CHECK_INT(cbx_model_reach(m), 8);
    cbx_model_free(m);
    free_sample(&s);
}

TEST(a_spec_out_of_bounds_is_an_error_that_names_the_option)
{
    sample         s = make_sample(nodes);
    cbx_model_spec good;
    cbx_fields_default(cbx_model_table(), &good);
    struct {
        const char    *name;
        cbx_model_spec spec;
    } bad[16] = {{"model", good},  {"model", good},  {"layers", good},  {"layers", good},
                 {"hidden", good}, {"hidden", good}, {"order", good},   {"aggregation", good},
                 {"head", good},   {"pool", good},   {"dropout", good}, {"dropout", good},
                 {"dropout", good}};
    bad[0].spec.conv = -1;
    while (cbx_layer_choices[bad[1].spec.conv])
        bad[1].spec.conv++;
    bad[2].spec.layers = 0;
    bad[3].spec.layers = 65;
    bad[4].spec.hidden = -1;
    bad[5].spec.hidden = 65537;
    bad[6].spec.order = 0;
    bad[7].spec.aggregation = 3;
    bad[8].spec.head = 3;
    bad[9].spec.pool = -1;
    bad[10].spec.dropout = 1;
    bad[11].spec.dropout = -0.1;
    bad[12].spec.dropout = NAN;
    for (int i = 0; i < 13; i++) {
        cbx_model *m = (cbx_model *)&s;
        cbx_error  err = {0};
        CHECK_INT(cbx_model_new_with(s.graph, &bad[i].spec, 0, &m, &err), CBX_INVALID);
        CHECK(m == NULL);
        CHECK_CONTAINS(err.message, bad[i].name);
    }
    free_sample(&s);
}

TEST(a_classifier_needs_two_classes)
{
    sample_shape one = nodes;
    cbx_model   *m = NULL;
    cbx_error    err = {0};
    one.classes = 1;
    sample s = make_sample(one);
    CHECK_INT(cbx_model_new_with(s.graph, NULL, 0, &m, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "at least two classes, the data has 1");
    free_sample(&s);
}

/* ---- parameters */

typedef struct named {
    const char *name;
    int32_t     rows, cols;
} named;

static void check_names(const char *const *settings, const named *want)
{
    sample      s = make_sample(nodes);
    cbx_model  *m = make_model(s.graph, 0, settings);
    const char *name;
    int32_t     rows, cols;
    size_t      i = 0;
    for (; want[i].name; i++) {
        if (!CHECK(cbx_model_parameter(m, i, &name, &rows, &cols)))
            break;
        if (!CHECK(!strcmp(name, want[i].name)))
            printf("  (%s, not %s)\n", name, want[i].name);
        CHECK_INT(rows, want[i].rows);
        CHECK_INT(cols, want[i].cols);
    }
    CHECK(!cbx_model_parameter(m, i, &name, &rows, &cols));
    cbx_model_free(m);
    free_sample(&s);
}

TEST(parameters_have_the_names_and_shapes_of_pyg)
{
    check_names(SETTINGS("layers", "2", "hidden", "4"),
                (const named[]){{"layers.0.lin.weight", 4, 7},
                                {"layers.0.bias", 4, 1},
                                {"layers.1.lin.weight", 4, 4},
                                {"layers.1.bias", 4, 1},
                                {"output_layer.weight", 3, 8},
                                {"output_layer.bias", 3, 1},
                                {0}});
    check_names(SETTINGS("model", "cheb", "order", "3", "layers", "1", "hidden", "4"),
                (const named[]){{"layers.0.lins.0.weight", 4, 7},
                                {"layers.0.lins.1.weight", 4, 7},
                                {"layers.0.lins.2.weight", 4, 7},
                                {"layers.0.bias", 4, 1},
                                {"output_layer.weight", 3, 4},
                                {"output_layer.bias", 3, 1},
                                {0}});
    check_names(SETTINGS("model", "graphconv", "layers", "1", "hidden", "4"),
                (const named[]){{"layers.0.lin_rel.weight", 4, 7},
                                {"layers.0.lin_rel.bias", 4, 1},
                                {"layers.0.lin_root.weight", 4, 7},
                                {"output_layer.weight", 3, 4},
                                {"output_layer.bias", 3, 1},
                                {0}});
}

TEST(set_and_get_are_out_by_in_and_the_block_is_in_by_out)
{
    sample     s = make_sample(nodes);
    cbx_model *m = MODEL(s.graph, 0, "layers", "1", "hidden", "4");
    float     *before = copy_theta(m), values[28], back[28], bias[4] = {1, 2, 3, 4};
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 7; c++)
            values[r * 7 + c] = (float)(10 * r + c);
    CHECK_INT(cbx_model_set(m, 0, values, 28, NULL), CBX_OK);
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 7; c++)
            CHECK(m->theta[c * 4 + r] == (float)(10 * r + c));
    CHECK(!memcmp(m->theta + 28, before + 28, (size_t)(m->size - 28) * sizeof *before));
    CHECK_INT(cbx_model_get(m, 0, back, 28, NULL), CBX_OK);
    CHECK(!memcmp(values, back, sizeof values));
    CHECK_INT(cbx_model_set(m, 1, bias, 4, NULL), CBX_OK);
    CHECK(!memcmp(m->theta + 28, bias, sizeof bias));
    CHECK_INT(cbx_model_get(m, 1, back, 4, NULL), CBX_OK);
    CHECK(!memcmp(back, bias, sizeof bias));
    CHECK(m->layers[0].theta == m->theta);
    free(before);
    cbx_model_free(m);
    free_sample(&s);
}

TEST(a_parameter_is_copied_whole_or_not_at_all)
{
    sample     s = make_sample(nodes);
    cbx_model *m = MODEL(s.graph, 0, "layers", "1", "hidden", "4");
    float     *before = copy_theta(m), values[29] = {0};
    cbx_error  err = {0};
    for (int64_t count = 27; count <= 29; count += 2) {
        CHECK_INT(cbx_model_set(m, 0, values, count, &err), CBX_INVALID);
        CHECK_CONTAINS(err.message, "layers.0.lin.weight has 28 values, not 2");
        CHECK_INT(cbx_model_get(m, 0, values, count, &err), CBX_INVALID);
        CHECK(values[0] == 0 && values[27] == 0);
    }
    CHECK_INT(cbx_model_get(m, 4, values, 28, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "parameter 4 does not exist: the model has 4");
    CHECK(same_theta(m, before));
    free(before);
    cbx_model_free(m);
    free_sample(&s);
}

TEST(a_parameter_that_does_not_exist_or_is_not_finite_is_not_set)
{
    sample     s = make_sample(nodes);
    cbx_model *m = MODEL(s.graph, 0, "layers", "1", "hidden", "4");
    float     *before = copy_theta(m), values[28] = {0};
    cbx_error  err = {0};
    CHECK_INT(cbx_model_set(m, 4, values, 28, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "parameter 4 does not exist: the model has 4");
    values[9] = NAN;
    CHECK_INT(cbx_model_set(m, 0, values, 28, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "layers.0.lin.weight has the value");
    CHECK_CONTAINS(err.message, "at 9");
    values[9] = 0;
    values[27] = -INFINITY;
    CHECK_INT(cbx_model_set(m, 0, values, 28, NULL), CBX_INVALID);
    CHECK(same_theta(m, before));
    free(before);
    cbx_model_free(m);
    free_sample(&s);
}

/* ---- how they are drawn */

/* All of a parameter lies within ±bound, reaches near both ends, and has the mean and
 * the spread of a uniform draw. */
static void check_uniform(const cbx_model *m, const char *name, double bound)
{
    for (int32_t i = 0; i < m->num_parameters; i++) {
        const cbx_named_parameter *p = &m->parameters[i];
        if (strcmp(p->name, name) != 0)
            continue;
        int64_t count = cbx_parameter_size(&p->shape);
        double  lo = 0, hi = 0, sum = 0, squares = 0;
        for (int64_t k = 0; k < count; k++) {
            double v = m->theta[p->offset + k];
            lo = fmin(lo, v);
            hi = fmax(hi, v);
            sum += v;
            squares += v * v;
        }
        double reach = bound * (1 - 20.0 / (double)count), error = 4 / sqrt((double)count);
        bool   ok = CHECK(lo >= -bound && hi <= bound && lo <= -reach && hi >= reach);
        ok = CHECK_NEAR(sum / (double)count, 0, bound / sqrt(3) * error) && ok;
        ok =
            CHECK_NEAR(squares / (double)count, bound * bound / 3, bound * bound / 3 * error) && ok;
        if (!ok)
            printf("  (%s: %g to %g, bound %g)\n", name, lo, hi, bound);
        return;
    }
    CHECK(!"no such parameter");
}

static void check_zero(const cbx_model *m, const char *name)
{
    for (int32_t i = 0; i < m->num_parameters; i++) {
        const cbx_named_parameter *p = &m->parameters[i];
        for (int64_t k = 0; k < cbx_parameter_size(&p->shape) && !strcmp(p->name, name); k++)
            CHECK(m->theta[p->offset + k] == 0);
    }
}

TEST(gcn_and_cheb_draw_glorot_weights_and_zero_biases)
{
    sample     s = make_sample(nodes);
    cbx_model *m = MODEL(s.graph, 1, "hidden", "200");
    check_uniform(m, "layers.0.lin.weight", sqrt(6.0 / (7 + 200)));
    check_uniform(m, "layers.1.lin.weight", sqrt(6.0 / (200 + 200)));
    check_zero(m, "layers.0.bias");
    check_zero(m, "layers.2.bias");
    check_uniform(m, "output_layer.weight", 1 / sqrt(600.0));
    cbx_model_free(m);
    m = MODEL(s.graph, 1, "model", "cheb", "order", "3", "hidden", "200");
    check_uniform(m, "layers.0.lins.0.weight", sqrt(6.0 / (7 + 200)));
    check_uniform(m, "layers.1.lins.2.weight", sqrt(6.0 / (200 + 200)));
    check_zero(m, "layers.0.bias");
    check_uniform(m, "output_layer.weight", 1 / sqrt(200.0));
    cbx_model_free(m);
    free_sample(&s);
}

TEST(graphconv_and_the_head_draw_like_a_torch_linear)
{
    sample_shape many = {.nodes = 300, .features = 7, .classes = 150, .seed = 1};
    sample       s = make_sample(many);
    cbx_model   *m = MODEL(s.graph, 2, "model", "graphconv", "hidden", "200");
    check_uniform(m, "layers.0.lin_rel.weight", 1 / sqrt(7.0));
    check_uniform(m, "layers.0.lin_rel.bias", 1 / sqrt(7.0)); /* of the input, too */
    check_uniform(m, "layers.0.lin_root.weight", 1 / sqrt(7.0));
    check_uniform(m, "layers.2.lin_rel.weight", 1 / sqrt(200.0));
    check_uniform(m, "layers.2.lin_rel.bias", 1 / sqrt(200.0));
    check_uniform(m, "output_layer.weight", 1 / sqrt(200.0));
    check_uniform(m, "output_layer.bias", 1 / sqrt(200.0));
    cbx_model_free(m);
    free_sample(&s);
}

TEST(the_same_seed_gives_the_same_bits_and_another_seed_others)
{
    sample     s = make_sample(nodes);
    cbx_model *a = MODEL(s.graph, 9, "hidden", "8"), *b = MODEL(s.graph, 9, "hidden", "8");
    cbx_model *c = MODEL(s.graph, 10, "hidden", "8"),
              *d = MODEL(s.graph, 9, "hidden", "8", "layers", "4");
    CHECK(same_theta(a, b->theta));
    CHECK(!same_theta(a, c->theta));
    CHECK(!memcmp(a->theta, d->theta, (size_t)a->output_offset * sizeof(float))); /* layers agree */
    /* layers 1 and 2 have the same shape, and not the same values */
    CHECK(memcmp(a->layers[1].theta, a->layers[2].theta, 64 * sizeof(float)) != 0);
    cbx_model_free(a);
    cbx_model_free(b);
    cbx_model_free(c);
    cbx_model_free(d);
    free_sample(&s);
}

/* ---- notes */

TEST(notes_are_copied_kept_and_overwritten)
{
    sample     s = make_sample(nodes);
    cbx_model *m = MODEL(s.graph, 0, "hidden", "4");
    char       key[] = "data", value[] = "cora";
    CHECK(cbx_model_note(m, "data") == NULL);
    CHECK_INT(cbx_model_set_note(m, key, value, NULL), CBX_OK);
    CHECK_INT(cbx_model_set_note(m, "other", "", NULL), CBX_OK);
    key[0] = value[0] = 'x'; /* the model has its own */
    CHECK(!strcmp(cbx_model_note(m, "data"), "cora"));
    CHECK(!strcmp(cbx_model_note(m, "other"), ""));
    CHECK_INT(cbx_model_set_note(m, "data", "a rather longer text than before", NULL), CBX_OK);
    CHECK(!strcmp(cbx_model_note(m, "data"), "a rather longer text than before"));
    CHECK(!strcmp(cbx_model_note(m, "other"), ""));
    CHECK(cbx_model_note(m, "xata") == NULL);
    int count = 0;
    for (const cbx_note *n = m->notes; n; n = n->next)
        count++;
    CHECK_INT(count, 2);
    cbx_model_free(m);
    free_sample(&s);
}

/* ---- memory */

static cbx_status new_once(void *graph)
{
    cbx_model *m = NULL;
    cbx_error  err = {0};
    cbx_status status = cbx_model_new_with(graph, NULL, 0, &m, &err);
    CHECK((status == CBX_OK) == (m != NULL));
    CHECK(status == err.status);
    cbx_model_free(m);
    return status;
}

typedef struct noting {
    cbx_model  *model;
    const char *value;
} noting;

static cbx_status note_once(void *user)
{
    noting    *n = user;
    cbx_status status = cbx_model_set_note(n->model, "key", n->value, NULL);
    if (status)
        CHECK(cbx_model_note(n->model, "key") == NULL);
    return status;
}

TEST(making_a_model_and_noting_survive_every_failing_allocation)
{
    sample s = make_sample(nodes);
    test_each_allocation(new_once, s.graph);
    char *large = malloc(100000);
    memset(large, 'a', 99999);
    large[99999] = '\0';
    noting n = {MODEL(s.graph, 0, "hidden", "4"), large};
    test_each_allocation(note_once, &n);
    CHECK(!strcmp(cbx_model_note(n.model, "key"), large));
    cbx_model_free(n.model);
    free(large);
    free_sample(&s);
}
