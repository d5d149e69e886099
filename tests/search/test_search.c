/* SPDX-License-Identifier: Apache-2.0 */
/* What a search may cost: once it has begun, it allocates nothing. */
#include "oracle.h"
#include "own_options.h"
#include "test.h"

typedef struct meter {
    int64_t calls;
    long    at_first, last;
} meter;

static int read_meter(void *user, int64_t done, int64_t total, const char *text)
{
    meter *m = user;
    (void)done;
    (void)total;
    (void)text;
    m->last = test_allocations();
    if (m->calls++ == 0)
        m->at_first = m->last;
    return 0;
}

/* Allocations between the first epoch and the last. */
static long during(const oracle *o, const cbx_explain_options *a)
{
    meter               m = {0};
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    CHECK_OK(cbx_explain_with(o->model, o->graph, 0, a, read_meter, &m, &r, &err), err);
    CHECK(m.calls > 1 && m.at_first > 0);
    cbx_counterfactual_free(r);
    return m.last - m.at_first;
}

TEST(no_epoch_allocates)
{
    static const oracle_shape shapes[] = {{.conv = "gcn"},
                                          {"gcn", .nodes = 30, .directed = true},
                                          {"gcn", .nodes = 60, .graphs = 12, .sparse = true},
                                          {"cheb", 3, .nodes = 30, .sparse = true},
                                          {"graphconv", 1, "add", .nodes = 30},
                                          {"graphconv", 1, "mean", .nodes = 30, .sparse = true},
                                          {"graphconv", 1, "max", .nodes = 30, .directed = true}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        oracle              o = oracle_make(shapes[i]);
        cbx_explain_options a = ASK("epochs", "150", "target", "any");
        a.trace = i & 1;
        int *policy = &combinex_of(&a)->policy.shape;
        for (*policy = 0; *policy < 7; (*policy)++)
            for (a.edges = 0; a.edges < 2; a.edges++)
                CHECK_INT(during(&o, &a), 0);
        for (*policy = a.edges = a.optimiser = 0; a.optimiser < 3; a.optimiser++)
            CHECK_INT(during(&o, &a), 0);
        oracle_free(&o);
    }
}

TEST(two_hundred_epochs_allocate_as_often_as_ten)
{
    oracle o = oracle_make((oracle_shape){0});
    long   cost[2];
    for (int k = 0; k < 2; k++) { /* with steps so small that nothing is ever found */
        cbx_explain_options a = ASK("epochs", k ? "200" : "10", "lr", "1e-9");
        long                before = test_allocations();
        cbx_counterfactual *r = explain_row(&o, 5, &a);
        cost[k] = test_allocations() - before;
        CHECK_INT(r->outcome, CBX_NOT_FOUND);
        CHECK_INT(r->epochs, k ? 200 : 10);
        cbx_counterfactual_free(r);
    }
    CHECK(cost[0] > 0);
    CHECK_INT(cost[1], cost[0]);
    oracle_free(&o);
}
