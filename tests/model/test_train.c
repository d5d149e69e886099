/* SPDX-License-Identifier: Apache-2.0 */
/* Training: it learns, takes the steps that Adam takes, gives the same bits at any
 * number of threads, keeps the best epoch, and leaves the model alone when it fails. */
#include "train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "samples.h"
#include "test.h"
#include "reference.h"

static sample nodes(void)
{
    return make_sample((sample_shape){.nodes = 120, .features = 8, .classes = 3, .seed = 1});
}

static sample graphs(void)
{
    return make_sample(
        (sample_shape){.nodes = 300, .features = 6, .classes = 2, .graphs = 60, .seed = 2});
}

/* ---- it learns */

typedef struct losses {
    int64_t calls, total;
    double  first, last;
    int64_t stop_after; /* 0: never */
} losses;

static int record(void *user, int64_t done, int64_t total, const char *text)
{
    losses *l = user;
    char   *end = NULL;
    CHECK_INT(done, ++l->calls);
    CHECK(!strncmp(text, "loss ", 5));
    double loss = cbx_read_number(text + 5, &end);
    CHECK(end > text + 5 && !*end);
    l->first = done == 1 ? loss : l->first;
    l->last = loss;
    l->total = total;
    return l->stop_after && done >= l->stop_after;
}

static void check_learns(sample s, const char *conv, double accuracy)
{
    cbx_model        *m = MODEL(s.graph, 1, "model", conv, "hidden", "16", "dropout", "0.2");
    cbx_train_options o = OPTIONS("epochs", "150", "learning-rate", "0.02", "threads", "1");
    losses            l = {0};
    cbx_train_result  r;
    cbx_error         err = {0};
    CHECK_OK(cbx_train_with(m, s.graph, &o, record, &l, &r, &err), err);
    CHECK(l.calls == 150 && l.total == 150 && r.epochs == 150 && r.best_epoch == 149);
    CHECK(l.last < 0.5 * l.first);
    CHECK_NEAR(r.loss, l.last, 1e-4);
    if (!CHECK(r.train_accuracy > accuracy && r.test_accuracy > accuracy))
        printf("  (%s: train %g, test %g)\n", conv, r.train_accuracy, r.test_accuracy);
    CHECK(isnan(r.val_accuracy) && r.num_val == 0);
    CHECK(r.seconds > 0 && r.seconds < 100);
    cbx_model_free(m);
    free_sample(&s);
}

TEST(the_loss_falls_and_the_test_rows_are_learned)
{
    check_learns(nodes(), "gcn", 0.8);
    check_learns(nodes(), "cheb", 0.7);
    check_learns(nodes(), "graphconv", 0.8);
    check_learns(graphs(), "gcn", 0.8);
    check_learns(graphs(), "graphconv", 0.8);
    check_learns(nodes(), "sage", 0.8);
}

TEST(four_labels_of_the_karate_club_tell_most_of_the_others)
{
    cbx_graph *g = NULL;
    double     sum = 0;
    cbx_error  err = {0};
    if (!CHECK_OK(cbx_graph_builtin_with("karate", NULL, &g, &err), err))
        return;
    for (int64_t seed = 0; seed < 3; seed++) {
        cbx_model        *m = MODEL(g, seed, "hidden", "16");
        cbx_train_options o = OPTIONS("split", "public", "epochs", "200", "learning-rate", "0.01");
        cbx_train_result  r;
        o.seed = seed;
        CHECK_OK(cbx_train_with(m, g, &o, NULL, NULL, &r, &err), err);
        CHECK(r.num_train == 4 && r.num_val == 0 && r.num_test == 30);
        CHECK(r.train_accuracy == 1);
        sum += r.test_accuracy;
        cbx_model_free(m);
    }
    CHECK(sum / 3 > 0.7);
    cbx_graph_free(g);
}

/* ---- the result */

TEST(accuracies_are_those_of_predicting_afterwards)
{
    for (int task = 0; task < 2; task++) {
        sample            s = task ? graphs() : nodes();
        cbx_model        *m = MODEL(s.graph, 1, "hidden", "8");
        cbx_train_options o = OPTIONS("epochs", "5", "val-share", "0.2", "threads", "1");
        cbx_train_result  r;
        uint8_t           part[120];
        float             logp[360];
        int               right[4] = {0}, count[4] = {0};
        CHECK_INT(cbx_train_with(m, s.graph, &o, NULL, NULL, &r, NULL), CBX_OK);
        CHECK_INT(cbx_split_with(s.graph, &o, part, NULL), CBX_OK);
        CHECK_INT(cbx_predict(m, s.graph, 1, logp, NULL), CBX_OK);
        for (int32_t i = 0; i < cbx_graph_label_rows(s.graph); i++) {
            int32_t best = 0, C = m->num_classes;
            for (int32_t k = 1; k < C; k++)
                best = logp[i * C + k] > logp[i * C + best] ? k : best;
            count[part[i]]++;
            right[part[i]] += best == s.data.y[i];
        }
        CHECK(r.num_train == count[0] && r.num_val == count[1] && r.num_test == count[2]);
        CHECK_NEAR(r.train_accuracy, (double)right[0] / count[0], 1e-12);
        CHECK_NEAR(r.val_accuracy, (double)right[1] / count[1], 1e-12);
        CHECK_NEAR(r.test_accuracy, (double)right[2] / count[2], 1e-12);
        cbx_model_free(m);
        free_sample(&s);
    }
}

TEST(no_options_mean_the_defaults_and_the_result_may_be_left_out)
{
    sample     s = make_sample((sample_shape){.nodes = 20, .features = 3, .classes = 2, .seed = 1});
    cbx_model *a = MODEL(s.graph, 1, "hidden", "4"), *b = MODEL(s.graph, 1, "hidden", "4");
    cbx_train_options o;
    cbx_fields_default(cbx_train_table(), &o);
    CHECK_INT(cbx_train_with(a, s.graph, NULL, NULL, NULL, NULL, NULL), CBX_OK);
    CHECK_INT(cbx_train_with(b, s.graph, &o, NULL, NULL, NULL, NULL), CBX_OK);
    CHECK(same_theta(a, b->theta));
    CHECK_INT(o.epochs, 500);
    cbx_model_free(a);
    cbx_model_free(b);
    free_sample(&s);
}

/* ---- the steps, against a calculation in double precision */

/* dL/dtheta of the mean loss of the training rows, by central differences. */
static void slopes(reference *t, double *grad)
{
    for (int64_t i = 0; i < t->model->size; i++)
        grad[i] = reference_slope(t, t->theta + i);
}

static void adam_in_double(reference *t, const cbx_train_options *o)
{
    int64_t size = t->model->size;
    double *grad = reference_array(size), *m = reference_array(size), *v = reference_array(size);
    for (int step = 1; step <= o->epochs; step++) {
        double norm = 0;
        slopes(t, grad);
        for (int64_t i = 0; i < size; i++)
            norm += grad[i] * grad[i];
        norm = sqrt(norm);
        for (int64_t i = 0; i < size; i++) {
            double g = grad[i];
            if (o->clip > 0 && norm > o->clip)
                g *= o->clip / (norm + 1e-6);
            g += o->weight_decay * t->theta[i];
            m[i] = 0.9 * m[i] + 0.1 * g;
            v[i] = 0.999 * v[i] + 0.001 * g * g;
            t->theta[i] -= o->learning_rate * (m[i] / (1 - pow(0.9, step))) /
                           (sqrt(v[i] / (1 - pow(0.999, step))) + 1e-8);
        }
    }
    free(grad);
    free(m);
    free(v);
}

/* `model` after training moved as the reference of its former self did. */
static void check_steps(sample s, const char *const *settings, const cbx_train_options *o)
{
    cbx_model *m = make_model(s.graph, 6, settings);
    cbx_arena  arena = {0};
    cbx_view   view;
    cbx_matrix X;
    uint8_t    part[64];
    int32_t    rows = cbx_graph_label_rows(s.graph), C = m->num_classes, count = 0;
    CHECK_INT(cbx_view_whole(s.graph, &arena, &view, NULL), CBX_OK);
    CHECK_INT(cbx_view_features(s.graph, &view, &arena, &X, NULL), CBX_OK);
    CHECK_INT(cbx_split_with(s.graph, o, part, NULL), CBX_OK);
    reference t = reference_new(m, &view, &X);
    float    *before = copy_theta(m);
    for (int32_t i = 0; i < rows; i++)
        count += part[i] == 0;
    for (int32_t i = 0; i < rows; i++)
        if (part[i] == 0)
            t.coef[i * C + s.data.y[i]] = -1.0 / count;
    adam_in_double(&t, o);
    CHECK_INT(cbx_train_with(m, s.graph, o, NULL, NULL, NULL, NULL), CBX_OK);
    int moved = 0;
    for (int64_t i = 0; i < m->size; i++) {
        moved += m->theta[i] != before[i];
        if (!CHECK_NEAR(m->theta[i], t.theta[i], 2e-3 * o->learning_rate))
            printf("  (parameter %lld, was %g)\n", (long long)i, (double)before[i]);
    }
    CHECK(moved > m->size / 2);
    free(before);
    reference_free(&t);
    cbx_arena_free(&arena);
    cbx_model_free(m);
    free_sample(&s);
}

static sample few_nodes(void)
{
    return make_sample((sample_shape){
        .nodes = 14, .features = 4, .classes = 3, .weighted = true, .full = true, .seed = 5});
}

static sample few_graphs(void)
{
    return make_sample((sample_shape){
        .nodes = 20, .features = 4, .classes = 2, .graphs = 6, .full = true, .seed = 5});
}

#define SMALL(...) \
    ((const char *const[]){"layers", "2", "hidden", "4", "dropout", "0", __VA_ARGS__, NULL})

TEST(the_first_step_moves_every_parameter_against_its_gradient)
{
    cbx_train_options o =
        OPTIONS("epochs", "1", "learning-rate", "0.01", "clip", "0", "threads", "1");
    check_steps(few_nodes(), SMALL("model", "gcn"), &o);
    check_steps(few_nodes(), SMALL("model", "cheb", "order", "2"), &o);
    check_steps(few_graphs(), SMALL("model", "graphconv"), &o);
    check_steps(few_graphs(), SMALL("pool", "max"), &o);
    check_steps(few_nodes(), SMALL("model", "sage", "residual", "true"), &o);
    check_steps(few_graphs(), SMALL("head-hidden", "3"), &o);
}

/* Moments are observed, whatever the penalty of weights; everything else is trained. */
TEST(running_moments_are_those_of_the_steps_and_not_decayed)
{
    sample            s = few_nodes();
    cbx_train_options o = OPTIONS("epochs", "200", "learning-rate", "1e-12", "weight-decay", "10",
                                  "threads", "1", "train-share", "1");
    cbx_model        *m = MODEL(s.graph, 1, "layers", "1", "hidden", "4", "batch-norm", "true");
    cbx_arena         arena = {0};
    cbx_view          view;
    cbx_matrix        X;
    cbx_pass          pass;
    cbx_error         err = {0};
    CHECK_OK(cbx_train_with(m, s.graph, &o, NULL, NULL, NULL, &err), err);
    CHECK_INT(cbx_view_whole(s.graph, &arena, &view, NULL), CBX_OK);
    CHECK_INT(cbx_view_features(s.graph, &view, &arena, &X, NULL), CBX_OK);
    CHECK_INT(cbx_pass_init(&pass, m, &view, &X, false, 1, &arena, NULL), CBX_OK);
    /* Behind 200 steps of the same weights: normalised rows have mean 0 and variance 1. */
    cbx_layer_ops conv = *m->layers[0].ops;
    cbx_pass_start(&pass, &X, NULL);
    cbx_pass_layer(&pass, 0);
    float *centred = pass.steps[0].saved;
    pass.steps[0].X = &X;
    centred += conv.saved(&m->layers[0], &pass.steps[0]);
    for (int32_t k = 0; k < 4; k++) {
        double mean = 0, squares = 0;
        for (int32_t i = 0; i < view.n; i++) {
            mean += (double)centred[i * 4 + k] / view.n;
            squares += (double)centred[i * 4 + k] * centred[i * 4 + k] / (view.n - 1);
        }
        CHECK_NEAR(mean, 0, 1e-3);
        CHECK_NEAR(squares, 1, 1e-3);
    }
    cbx_arena_free(&arena);
    cbx_model_free(m);
    free_sample(&s);
}

TEST(several_steps_are_those_of_adam_with_clipping_and_weight_decay)
{
    cbx_train_options o = OPTIONS("epochs", "4", "learning-rate", "0.01", "clip", "0.1",
                                  "weight-decay", "0.05", "threads", "1");
    check_steps(few_nodes(), SMALL("model", "gcn"), &o);
    check_steps(few_graphs(), SMALL("model", "gcn", "head", "cat"), &o);
    o.clip = 0; /* then the decay is weighed against the gradient as it is */
    check_steps(few_nodes(), SMALL("model", "graphconv", "aggregation", "mean"), &o);
}

TEST(an_epoch_takes_a_step_for_every_batch)
{
    sample               s = graphs();
    cbx_train_options    o = OPTIONS("epochs", "2", "threads", "1", "train-share", "1");
    cbx_model           *m[4];
    static const int64_t batches[4] = {60, 1000, 59, 1};
    for (int i = 0; i < 4; i++) {
        m[i] = MODEL(s.graph, 1, "hidden", "4", "dropout", "0");
        o.batch = batches[i];
        CHECK_INT(cbx_train_with(m[i], s.graph, &o, NULL, NULL, NULL, NULL), CBX_OK);
    }
    float *start = copy_theta(m[0]);
    cbx_model_init(m[0], 1);
    float *fresh = copy_theta(m[0]);
    double far[4] = {0};
    for (int i = 1; i < 4; i++)
        for (int64_t k = 0; k < m[i]->size; k++)
            far[i] = fmax(far[i], fabs((double)m[i]->theta[k] - fresh[k]));
    CHECK(same_theta(m[1], start)); /* all 60 at once */
    CHECK(!same_theta(m[2], start));
    CHECK(far[1] < 2.1e-3); /* 2 steps of 0.001 */
    CHECK(far[2] > 2.1e-3 && far[2] < 4.1e-3);
    CHECK(far[3] > 10e-3);
    free(start);
    free(fresh);
    for (int i = 0; i < 4; i++)
        cbx_model_free(m[i]);
    free_sample(&s);
}

TEST(every_epoch_shuffles_the_batches)
{
    sample            s = graphs();
    cbx_model        *m[2];
    cbx_train_options o = OPTIONS("threads", "1", "train-share", "1", "batch", "7", "epochs", "1");
    for (int i = 0; i < 2; i++) {
        m[i] = MODEL(s.graph, 1, "hidden", "4", "dropout", "0");
        o.seed = i; /* which nothing else depends on here */
        CHECK_INT(cbx_train_with(m[i], s.graph, &o, NULL, NULL, NULL, NULL), CBX_OK);
    }
    CHECK(!same_theta(m[0], m[1]->theta));
    cbx_model_free(m[0]);
    cbx_model_free(m[1]);
    free_sample(&s);
}

TEST(the_loss_is_the_mean_over_the_training_rows)
{
    for (int task = 0; task < 2; task++) {
        sample            s = task ? graphs() : nodes();
        cbx_model        *m = MODEL(s.graph, 1, "hidden", "8", "dropout", "0");
        cbx_train_options o = OPTIONS("epochs", "1", "learning-rate", "1e-12", "batch", "7");
        cbx_train_result  r;
        uint8_t           part[120];
        float             logp[360];
        double            sum = 0;
        CHECK_INT(cbx_predict(m, s.graph, 1, logp, NULL), CBX_OK);
        CHECK_INT(cbx_train_with(m, s.graph, &o, NULL, NULL, &r, NULL), CBX_OK);
        CHECK_INT(cbx_split_with(s.graph, &o, part, NULL), CBX_OK);
        for (int32_t i = 0; i < cbx_graph_label_rows(s.graph); i++)
            sum -= part[i] == 0 ? logp[i * m->num_classes + s.data.y[i]] : 0;
        CHECK_NEAR(r.loss, sum / r.num_train, 1e-5);
        cbx_model_free(m);
        free_sample(&s);
    }
}

/* ---- the same bits */

static void check_threads(sample s, const char *const *settings, const cbx_train_options *options)
{
    cbx_train_options o = *options;
    cbx_model        *one = make_model(s.graph, 3, settings);
    o.threads = 1;
    CHECK_INT(cbx_train_with(one, s.graph, &o, NULL, NULL, NULL, NULL), CBX_OK);
    static const int64_t threads[] = {2, 4, 7};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        cbx_model *m = make_model(s.graph, 3, settings);
        o.threads = threads[i];
        CHECK_INT(cbx_train_with(m, s.graph, &o, NULL, NULL, NULL, NULL), CBX_OK);
        if (!CHECK(same_theta(m, one->theta)))
            printf("  (%s, %lld threads)\n", settings[1], (long long)threads[i]);
        cbx_model_free(m);
    }
    /* another seed drops other units and splits otherwise */
    cbx_model *m = make_model(s.graph, 3, settings);
    o.seed = 1;
    CHECK_INT(cbx_train_with(m, s.graph, &o, NULL, NULL, NULL, NULL), CBX_OK);
    CHECK(!same_theta(m, one->theta));
    cbx_model_free(m);
    cbx_model_free(one);
    free_sample(&s);
}

/* Large enough for every loop to be divided among threads. */
static sample many_nodes(bool sparse)
{
    return make_sample((sample_shape){
        .nodes = 450, .features = 50, .classes = 5, .sparse = sparse, .weighted = true, .seed = 7});
}

TEST(nodes_train_to_the_same_bits_at_any_number_of_threads)
{
    cbx_train_options o = OPTIONS("epochs", "3", "learning-rate", "0.01");
    for (int sparse = 0; sparse < 2; sparse++) {
        check_threads(many_nodes(sparse), (const char *const[]){"model", "gcn", NULL}, &o);
        check_threads(many_nodes(sparse),
                      (const char *const[]){"model", "cheb", "order", "3", NULL}, &o);
        check_threads(many_nodes(sparse), (const char *const[]){"model", "graphconv", NULL}, &o);
        check_threads(many_nodes(sparse),
                      (const char *const[]){"model", "graphconv", "aggregation", "max", NULL}, &o);
    }
}

TEST(graphs_train_to_the_same_bits_at_any_number_of_threads)
{
    cbx_train_options        o = OPTIONS("epochs", "2", "learning-rate", "0.01", "batch", "80",
                                         "val-share", "0.1", "patience", "5");
    static const char *const pools[] = {"mean", "sum", "max"};
    static const char *const convs[] = {"gcn", "graphconv", "cheb"};
    for (int i = 0; i < 3; i++)
        check_threads(make_sample((sample_shape){
                          .nodes = 1600, .features = 20, .classes = 2, .graphs = 160, .seed = 8}),
                      (const char *const[]){"model", convs[i], "pool", pools[i], NULL}, &o);
}

/* ---- early stopping */

/* Labels of the training rows that say nothing about the others: the validation loss
 * soon rises. */
static sample noise(void)
{
    sample   s = nodes();
    int64_t *y = CBX_NEW(&s.arena, int64_t, 120);
    cbx_rng  rng = cbx_rng_stream(9, 9, 9, 9);
    for (int i = 0; i < 120; i++)
        y[i] = (int64_t)cbx_rng_below(&rng, 3);
    s.data.y = y;
    cbx_graph_free(s.graph);
    CHECK_INT(cbx_graph_new(&s.data, &s.graph, NULL), CBX_OK);
    return s;
}

static double validation_loss(const cbx_model *m, const sample *s, const cbx_train_options *o)
{
    uint8_t part[120];
    float   logp[360];
    double  loss = 0;
    CHECK_INT(cbx_split_with(s->graph, o, part, NULL), CBX_OK);
    CHECK_INT(cbx_predict(m, s->graph, 1, logp, NULL), CBX_OK);
    for (int i = 0; i < 120; i++)
        loss -= part[i] == 1 ? logp[i * 3 + s->data.y[i]] : 0;
    return loss;
}

TEST(early_stopping_keeps_the_epoch_of_the_lowest_validation_loss)
{
    sample            s = noise();
    cbx_train_options o = OPTIONS("epochs", "200", "learning-rate", "0.01", "val-share", "0.3",
                                  "patience", "12", "threads", "1");
    cbx_model        *m = MODEL(s.graph, 2, "hidden", "16");
    cbx_train_result  r;
    losses            l = {0};
    CHECK_INT(cbx_train_with(m, s.graph, &o, record, &l, &r, NULL), CBX_OK);
    CHECK(r.epochs < 200 && l.calls == r.epochs && r.best_epoch > 0);
    CHECK_INT(r.epochs - 1 - r.best_epoch, 12);
    /* Training to each epoch by itself gives the model that was kept, and no better one. */
    double best = validation_loss(m, &s, &o);
    o.patience = 0;
    for (int64_t t = 0; t < r.epochs; t++) {
        cbx_model *other = MODEL(s.graph, 2, "hidden", "16");
        o.epochs = t + 1;
        CHECK_INT(cbx_train_with(other, s.graph, &o, NULL, NULL, NULL, NULL), CBX_OK);
        CHECK((t == r.best_epoch) == same_theta(other, m->theta));
        CHECK(t == r.best_epoch || validation_loss(other, &s, &o) >= best);
        cbx_model_free(other);
    }
    cbx_model_free(m);
    free_sample(&s);
}

TEST(early_stopping_needs_rows_to_validate_with)
{
    sample            s = nodes();
    cbx_model        *m = MODEL(s.graph, 2, "hidden", "4");
    float            *before = copy_theta(m);
    cbx_train_options o = OPTIONS("epochs", "30", "patience", "3");
    cbx_error         err = {0};
    CHECK_INT(cbx_train_with(m, s.graph, &o, NULL, NULL, NULL, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "patience");
    o.val_share = 0.001; /* of 120 rows: none */
    CHECK_INT(cbx_train_with(m, s.graph, &o, NULL, NULL, NULL, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "patience");
    uint8_t *mask = CBX_NEW0(&s.arena, uint8_t, 120), *none = CBX_NEW0(&s.arena, uint8_t, 120);
    memset(mask, 1, 50);
    cbx_graph_free(s.graph);
    s.data.train_mask = mask;
    s.data.val_mask = none; /* there, and empty */
    s.data.num_splits = 1;
    CHECK_INT(cbx_graph_new(&s.data, &s.graph, NULL), CBX_OK);
    o = OPTIONS("epochs", "30", "patience", "3", "split", "public", "val-share", "0.2");
    CHECK_INT(cbx_train_with(m, s.graph, &o, NULL, NULL, NULL, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "patience");
    CHECK(same_theta(m, before));
    memset(none + 60, 1, 20);
    CHECK_OK(cbx_train_with(m, s.graph, &o, NULL, NULL, NULL, &err), err);
    free(before);
    cbx_model_free(m);
    free_sample(&s);
}

/* ---- failing */

TEST(a_cancelled_run_leaves_the_model_as_it_was)
{
    for (int task = 0; task < 2; task++) {
        sample            s = task ? graphs() : nodes();
        cbx_model        *m = MODEL(s.graph, 1, "hidden", "8");
        float            *before = copy_theta(m);
        cbx_train_options o =
            OPTIONS("epochs", "50", "threads", "1", "val-share", "0.2", "patience", "9");
        losses    l = {.stop_after = 3};
        cbx_error err = {0};
        CHECK_INT(cbx_train_with(m, s.graph, &o, record, &l, NULL, &err), CBX_CANCELLED);
        CHECK_INT(l.calls, 3);
        CHECK_CONTAINS(err.message, "3 of 50");
        CHECK(same_theta(m, before));
        free(before);
        cbx_model_free(m);
        free_sample(&s);
    }
}

TEST(a_run_that_diverges_is_an_error_and_leaves_the_model_as_it_was)
{
    static const char *const epochs[] = {"1", "2", "100"};
    for (int i = 0; i < 6; i++) {
        sample            s = nodes();
        cbx_model        *m = MODEL(s.graph, 1, "layers", "20", "hidden", "32", "dropout", "0");
        float            *before = copy_theta(m);
        cbx_train_options o = OPTIONS("epochs", epochs[i % 3], "learning-rate", "1000", "clip", "0",
                                      "threads", "1", "val-share", "0.2");
        cbx_error         err = {0};
        o.patience = i < 3 ? 0 : 5;
        if (!CHECK_INT(cbx_train_with(m, s.graph, &o, NULL, NULL, NULL, &err), CBX_INVALID))
            printf("  (%s epochs, patience %d)\n", epochs[i % 3], (int)o.patience);
        CHECK_CONTAINS(err.message, "diverged");
        CHECK_CONTAINS(err.message, "learning_rate");
        CHECK(same_theta(m, before));
        free(before);
        cbx_model_free(m);
        free_sample(&s);
    }
}

static void check_refused(const cbx_model *model, const cbx_graph *g, const cbx_train_options *o,
                          const char *message)
{
    cbx_model *m = (cbx_model *)model;
    float     *before = copy_theta(m);
    losses     l = {0};
    cbx_error  err = {0};
    CHECK_INT(cbx_train_with(m, g, o, record, &l, NULL, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, message);
    CHECK_INT(cbx_train_with(m, g, o, record, &l, NULL, NULL), CBX_INVALID);
    CHECK_INT(l.calls, 0);
    CHECK(same_theta(m, before));
    free(before);
}

TEST(every_option_out_of_bounds_is_an_error_that_names_it)
{
    const char *const none[] = {NULL};
    sample            s = nodes();
    cbx_model        *m = MODEL(s.graph, 1, "hidden", "4");
    for (size_t i = 0; i < cbx_train_table()->count; i++) {
        const cbx_option *option = &cbx_train_table()->options[i];
        cbx_train_options low = make_options(none), high = low, odd = low;
        char              name[64];
        (void)snprintf(name, sizeof name, "%s: ", option->name);
        for (char *at = name; *at; at++)
            *at = *at == '-' ? '_' : *at;
        if (option->type == CBX_OPTION_INT) {
            *(int64_t *)((char *)&low + option->offset) = (int64_t)option->min - 1;
            *(int64_t *)((char *)&high + option->offset) = (int64_t)option->max + 2;
            odd = low;
        } else if (option->type == CBX_OPTION_REAL) {
            *(double *)((char *)&low + option->offset) = option->min - 1;
            *(double *)((char *)&high + option->offset) = option->max * 1.1;
            *(double *)((char *)&odd + option->offset) = NAN;
        } else {
            *(int *)((char *)&low + option->offset) = -1;
            *(int *)((char *)&high + option->offset) = 3;
            odd = low;
        }
        check_refused(m, s.graph, &low, name);
        check_refused(m, s.graph, &high, name);
        check_refused(m, s.graph, &odd, name);
    }
    cbx_model_free(m);
    free_sample(&s);
}

TEST(data_that_cannot_be_trained_on_is_an_error_and_leaves_the_model_as_it_was)
{
    sample s = nodes();
    sample wide = make_sample((sample_shape){.nodes = 20, .features = 9, .classes = 3, .seed = 1});
    cbx_model        *m = MODEL(s.graph, 1, "hidden", "4");
    cbx_train_options o = OPTIONS("epochs", "3", "split", "public");
    check_refused(m, s.graph, &o, "no published split");
    o = OPTIONS("epochs", "3", "train-share", "0");
    check_refused(m, s.graph, &o, "no row is left");
    o = OPTIONS("epochs", "3", "split", "kfold", "fold", "9");
    check_refused(m, s.graph, &o, "fold: 9");
    o = OPTIONS("epochs", "3");
    check_refused(m, wide.graph, &o, "the model takes 8 features, the data has 9");
    cbx_graph_free(s.graph);
    s.data.y = NULL;
    CHECK_INT(cbx_graph_new(&s.data, &s.graph, NULL), CBX_OK);
    check_refused(m, s.graph, &o, "no labels");
    cbx_model_free(m);
    free_sample(&s);
    free_sample(&wide);
}

TEST(rows_without_a_label_do_not_train)
{
    /* Two graphs that differ only in the features of an unlabelled, isolated node. */
    sample   s = make_sample((sample_shape){.nodes = 20, .features = 3, .classes = 2, .seed = 1});
    int64_t *y = CBX_NEW(&s.arena, int64_t, 20);
    memcpy(y, s.data.y, 20 * sizeof *y);
    y[19] = -1;
    s.data.y = y;
    s.data.num_edges = 0;
    cbx_model *m[2];
    for (int i = 0; i < 2; i++) {
        cbx_train_options o = OPTIONS("epochs", "5", "threads", "1", "train-share", "1");
        cbx_graph_free(s.graph);
        ((float *)s.data.x)[19 * 3] = (float)(i * 100);
        CHECK_INT(cbx_graph_new(&s.data, &s.graph, NULL), CBX_OK);
        m[i] = MODEL(s.graph, 1, "hidden", "4");
        cbx_train_result r;
        CHECK_INT(cbx_train_with(m[i], s.graph, &o, NULL, NULL, &r, NULL), CBX_OK);
        CHECK(r.num_train == 19 && r.num_test == 0 && isnan(r.test_accuracy));
    }
    CHECK(same_theta(m[0], m[1]->theta));
    cbx_model_free(m[0]);
    cbx_model_free(m[1]);
    free_sample(&s);
}

/* ---- memory */

typedef struct training {
    cbx_model        *model;
    cbx_graph        *graph;
    cbx_train_options o;
    float            *before, *after;
} training;

static cbx_status train_once(void *user)
{
    training  *t = user;
    cbx_error  err = {0};
    cbx_status status = cbx_train_with(t->model, t->graph, &t->o, NULL, NULL, NULL, &err);
    CHECK(status == err.status);
    CHECK(same_theta(t->model, status ? t->before : t->after));
    memcpy(t->model->theta, t->before, (size_t)t->model->size * sizeof *t->before);
    /* An arena that finds no memory to start afresh in one block goes on in several. */
    return status == CBX_OK && test_allocation_failed() && t->model->task == CBX_GRAPH
               ? CBX_NO_MEMORY
               : status;
}

static void check_memory(sample s, const char *const *settings)
{
    training t = {.model = make_model(s.graph, 1, settings), .graph = s.graph};
    t.o =
        OPTIONS("epochs", "2", "threads", "1", "val-share", "0.2", "patience", "3", "batch", "20");
    t.before = copy_theta(t.model);
    CHECK_INT(cbx_train_with(t.model, s.graph, &t.o, NULL, NULL, NULL, NULL), CBX_OK);
    t.after = copy_theta(t.model);
    memcpy(t.model->theta, t.before, (size_t)t.model->size * sizeof *t.before);
    test_each_allocation(train_once, &t);
    free(t.before);
    free(t.after);
    cbx_model_free(t.model);
    free_sample(&s);
}

TEST(training_survives_every_failing_allocation_and_leaves_the_model_as_it_was)
{
    check_memory(nodes(), (const char *const[]){"hidden", "8", NULL});
    check_memory(many_nodes(true),
                 (const char *const[]){"model", "cheb", "order", "2", "hidden", "4", NULL});
    check_memory(graphs(), (const char *const[]){"model", "graphconv", "hidden", "8", NULL});
}
