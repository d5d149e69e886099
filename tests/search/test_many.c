/* SPDX-License-Identifier: Apache-2.0 */
/* Many rows at once: the results of one at a time, in order, at any number of
 * threads. */
#include <time.h>

#include "oracle.h"
#include "test.h"

/* ---- every field but the time */

static bool same_edit(const cbx_edit *a, const cbx_edit *b)
{
    return a->op == b->op && a->source == b->source && a->target == b->target &&
           a->edge == b->edge && a->undirected == b->undirected && a->node == b->node &&
           a->feature == b->feature && same_bits(1, &a->from, &b->from) &&
           same_bits(1, &a->to, &b->to) && same_bits(1, &a->influence, &b->influence);
}

static bool same_epoch(const cbx_epoch *a, const cbx_epoch *b)
{
    return !memcmp(&a->loss, &b->loss, sizeof a->loss) && !memcmp(&a->ce, &b->ce, sizeof a->ce) &&
           a->edge_loss == b->edge_loss && a->feature_loss == b->feature_loss &&
           a->alpha == b->alpha && a->eta == b->eta && a->hit == b->hit &&
           a->changed_features == b->changed_features && a->removed_edges == b->removed_edges;
}

static bool same_lists(const cbx_counterfactual *a, const cbx_counterfactual *b)
{
    bool same = a->num_edits == b->num_edits && a->num_trace == b->num_trace &&
                !a->after == !b->after && same_bits(a->num_classes, a->before, b->before) &&
                (!a->after || same_bits(a->num_classes, a->after, b->after));
    for (int64_t k = 0; k < a->num_edits && same; k++)
        same = same_edit(&a->edits[k], &b->edits[k]);
    for (int64_t t = 0; t < a->num_trace && same; t++)
        same = same_epoch(&a->trace[t], &b->trace[t]);
    return same;
}

static bool same_result(const cbx_counterfactual *a, const cbx_counterfactual *b)
{
    return a->task == b->task && a->row == b->row && a->outcome == b->outcome &&
           !strcmp(a->reason, b->reason) && a->prediction == b->prediction &&
           a->target == b->target && a->result == b->result && a->num_classes == b->num_classes &&
           a->num_edges_removed == b->num_edges_removed &&
           a->num_features_changed == b->num_features_changed && a->num_nodes == b->num_nodes &&
           a->num_features == b->num_features && a->num_edges == b->num_edges &&
           a->num_removable == b->num_removable && a->epoch == b->epoch && a->epochs == b->epochs &&
           !memcmp(&a->loss, &b->loss, sizeof a->loss) && same_lists(a, b);
}

/* ---- comparing with one at a time */

typedef struct listener {
    const oracle              *o;
    const cbx_explain_options *a;
    const int32_t             *rows;
    int64_t                    calls, stop_at; /* stop_at -1: never */
    int64_t                    found;
    bool                       compare;
} listener;

static int listen(void *user, int64_t i, const cbx_counterfactual *r)
{
    listener *l = user;
    CHECK_INT(i, l->calls); /* in order, each once */
    CHECK_INT(r->row, l->rows[i]);
    CHECK(r->outcome != CBX_NOT_FINISHED);
    if (l->compare) {
        cbx_counterfactual *alone = explain_row(l->o, r->row, l->a);
        if (!CHECK(same_result(r, alone)))
            printf("  (row %d)\n", r->row);
        cbx_counterfactual_free(alone);
    }
    l->found += r->outcome == CBX_FOUND;
    l->calls++;
    if (l->stop_at == i) /* others may finish theirs meanwhile */
        (void)nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
    return l->stop_at == i;
}

static void check_many(oracle_shape shape, cbx_explain_options a)
{
    static const int64_t threads[] = {1, 2, 4};
    oracle               o = oracle_make(shape);
    int32_t              rows[40], count = oracle_rows(&o);
    cbx_error            err = {0};
    for (int32_t i = 0; i < count; i++)
        rows[i] = (i * 7 + 3) % count; /* not in the order of numbers */
    rows[count - 1] = rows[0];         /* and one of them twice */
    for (int k = 0; k < 3; k++) {
        listener l = {.o = &o, .a = &a, .rows = rows, .stop_at = -1, .compare = true};
        a.threads = threads[k];
        CHECK_OK(cbx_explain_many_with(o.model, o.graph, rows, count, &a, listen, NULL, &l, &err),
                 err);
        CHECK_INT(l.calls, count);
        CHECK(l.found > 0);
    }
    oracle_free(&o);
}

TEST(many_nodes_give_the_results_of_one_at_a_time_at_any_number_of_threads)
{
    cbx_explain_options a = ASK("epochs", "40", "lr", "0.3", "target", "any");
    a.trace = true;
    check_many((oracle_shape){0}, a); /* 34 nodes: counts are prime to 7 */
    a = ASK("epochs", "30", "policy", "dynamic", "edges", "undirected", "lr", "0.3");
    check_many((oracle_shape){"graphconv", .nodes = 20, .directed = true, .sparse = true}, a);
}

TEST(many_graphs_give_the_results_of_one_at_a_time_at_any_number_of_threads)
{
    cbx_explain_options a = ASK("epochs", "40", "lr", "0.3", "target", "any", "kinds", "auto");
    check_many((oracle_shape){"gcn", .nodes = 60, .graphs = 12, .sparse = true}, a);
}

TEST(no_options_are_the_default_options)
{
    oracle        o = oracle_make((oracle_shape){.nodes = 12});
    const int32_t rows[] = {4, 2};
    listener      l = {.o = &o, .rows = rows, .stop_at = -1, .compare = true};
    cbx_error     err = {0};
    CHECK_OK(cbx_explain_many_with(o.model, o.graph, rows, 2, NULL, listen, NULL, &l, &err), err);
    CHECK_INT(l.calls, 2);
    oracle_free(&o);
}

TEST(no_rows_are_no_results)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 12});
    cbx_explain_options a = ASK("threads", "4");
    listener            l = {.o = &o, .a = &a, .stop_at = -1};
    cbx_error           err = {0};
    CHECK_OK(cbx_explain_many_with(o.model, o.graph, NULL, 0, &a, listen, NULL, &l, &err), err);
    CHECK_INT(l.calls, 0);
    a.target = "nowhere"; /* what is wrong is wrong without rows too */
    CHECK_INT(cbx_explain_many_with(o.model, o.graph, NULL, 0, &a, listen, NULL, &l, &err),
              CBX_INVALID);
    CHECK_CONTAINS(err.message, "nowhere");
    oracle_free(&o);
}

/* ---- one among many that cannot be answered */

TEST(a_target_that_is_the_prediction_is_skipped_among_many_and_refused_alone)
{
    oracle              o = oracle_make((oracle_shape){0});
    cbx_explain_options a = ASK("epochs", "5"), plain = a;
    cbx_counterfactual *first = explain_row(&o, 3, &plain);
    char                number[8];
    int32_t             rows[] = {3, 4, 3};
    listener            l = {.o = &o, .a = &a, .rows = rows, .stop_at = -1};
    cbx_error           err = {0};
    (void)snprintf(number, sizeof number, "%d", first->prediction);
    a.target = number;
    CHECK_OK(cbx_explain_many_with(o.model, o.graph, rows, 3, &a, listen, NULL, &l, &err), err);
    CHECK_INT(l.calls, 3);
    l.calls = 0;
    CHECK_INT(cbx_explain_many_with(o.model, o.graph, rows, 1, &a, listen, NULL, &l, &err),
              CBX_INVALID);
    CHECK_CONTAINS(err.message, "member 3: the prediction is community");
    CHECK_INT(l.calls, 0);
    cbx_counterfactual_free(first);
    oracle_free(&o);
}

static int keep_reason(void *user, int64_t i, const cbx_counterfactual *r)
{
    char *text = user;
    CHECK(r->outcome == CBX_SKIPPED || i > 0);
    if (i == 0)
        (void)snprintf(text, 128, "%s", r->reason);
    return 0;
}

TEST(a_skipped_row_says_which_class_it_has_already)
{
    oracle              o = oracle_make((oracle_shape){0});
    cbx_explain_options a = ASK("epochs", "5", "threads", "1");
    cbx_counterfactual *r = explain_row(&o, 3, &a);
    char                number[8], text[128] = "", expected[64];
    const int32_t       rows[] = {3, 33};
    cbx_error           err = {0};
    (void)snprintf(number, sizeof number, "%d", r->prediction);
    (void)snprintf(expected, sizeof expected, "the prediction is community %d already", r->prediction);
    a.target = number;
    CHECK_OK(cbx_explain_many_with(o.model, o.graph, rows, 2, &a, keep_reason, NULL, text, &err),
             err);
    CHECK_CONTAINS(text, expected);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

TEST(an_error_in_one_row_is_reported_and_ends_the_call)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 12});
    cbx_explain_options a = ASK("epochs", "5");
    const int32_t       rows[] = {1, 2, 99, 3, 4, 5};
    for (a.threads = 1; a.threads <= 4; a.threads++) {
        listener  l = {.o = &o, .a = &a, .rows = rows, .stop_at = -1};
        cbx_error err = {0};
        CHECK_INT(cbx_explain_many_with(o.model, o.graph, rows, 6, &a, listen, NULL, &l, &err),
                  CBX_INVALID);
        CHECK_INT(err.status, CBX_INVALID);
        CHECK_CONTAINS(err.message, "node 99 does not exist");
        CHECK(l.calls <= 2); /* none from behind the error */
        CHECK(a.threads > 1 || l.calls == 2);
        CHECK_INT(cbx_explain_many_with(o.model, o.graph, rows, 6, &a, listen, NULL,
                                        &(listener){.rows = rows, .stop_at = -1}, NULL),
                  CBX_INVALID);
    }
    oracle_free(&o);
}

/* ---- stopping */

TEST(the_listener_can_stop)
{
    oracle              o = oracle_make((oracle_shape){0});
    cbx_explain_options a = ASK("epochs", "5");
    int32_t             rows[34];
    for (int32_t i = 0; i < 34; i++)
        rows[i] = i;
    for (a.threads = 1; a.threads <= 4; a.threads++)
        for (int64_t stop = 0; stop < 34; stop += 11) {
            listener  l = {.o = &o, .a = &a, .rows = rows, .stop_at = stop};
            cbx_error err = {0};
            CHECK_INT(cbx_explain_many_with(o.model, o.graph, rows, 34, &a, listen, NULL, &l, &err),
                      CBX_CANCELLED);
            CHECK_INT(err.status, CBX_CANCELLED);
            CHECK_CONTAINS(err.message, "cancelled after");
            CHECK_INT(l.calls, stop + 1); /* and nothing after it */
        }
    oracle_free(&o);
}

static int stop_after_some(void *user, int64_t done, int64_t total, const char *text)
{
    (void)user;
    CHECK(done >= 0 && done <= total && total == 34 && text != NULL);
    return done >= 3;
}

TEST(progress_can_stop)
{
    oracle              o = oracle_make((oracle_shape){0});
    cbx_explain_options a = ASK("epochs", "3000"); /* long enough for the first thread to ask */
    int32_t             rows[34];
    for (int32_t i = 0; i < 34; i++)
        rows[i] = i;
    for (a.threads = 1; a.threads <= 4; a.threads++) {
        listener  l = {.o = &o, .a = &a, .rows = rows, .stop_at = -1};
        cbx_error err = {0};
        CHECK_INT(cbx_explain_many_with(o.model, o.graph, rows, 34, &a, listen, stop_after_some, &l,
                                        &err),
                  CBX_CANCELLED);
        CHECK_CONTAINS(err.message, "cancelled after");
        CHECK(l.calls >= 3 && l.calls < 34);
        CHECK(a.threads > 1 || l.calls == 3);
    }
    oracle_free(&o);
}

/* ---- memory */

/* An arena that cannot be made one block between rows goes on as it is. */
static cbx_status many_once(void *user)
{
    listener *l = user;
    cbx_error err = {0};
    l->calls = 0;
    cbx_status status =
        cbx_explain_many_with(l->o->model, l->o->graph, l->rows, 4, l->a, listen, NULL, l, &err);
    CHECK_INT(err.status, status);
    CHECK(status || l->calls == 4);
    return status == CBX_OK && test_allocation_failed() ? CBX_NO_MEMORY : status;
}

TEST(many_survive_the_failure_of_any_allocation)
{
    oracle              o = oracle_make((oracle_shape){"gcn", .nodes = 20, .directed = true});
    cbx_explain_options a = ASK("epochs", "20", "lr", "0.5", "target", "any");
    const int32_t       rows[] = {3, 1, 7, 5};
    listener            l = {.o = &o, .a = &a, .rows = rows, .stop_at = -1};
    for (a.threads = 1; a.threads <= 2; a.threads++)
        test_each_allocation(many_once, &l);
    oracle_free(&o);
}
