/* SPDX-License-Identifier: Apache-2.0 */
/* self_test.c: see self_test.h. */
#include "self_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "judge.h"
#include "lie.h"
#include "radius.h"

enum { MODELS = 2000, LIARS = 600 };

static bool check(bool holds, const char *what)
{
    printf("%s %s\n", holds ? "ok    " : "FAILED", what);
    return holds;
}

/* The naive model's log-probabilities are the library's, for every row. */
static double largest_difference(question *q)
{
    edited      as_it_is;
    asked       a;
    naive_graph graph;
    float       told[MAX_NODES * MAX_CLASSES];
    double      largest = 0;
    edit_nothing(q, &as_it_is);
    build_graph(q, &as_it_is, &graph);
    if (!ask_prepare(q, &a) || cbx_predict(a.model, a.graph, 1, told, &a.error)) {
        printf("  case %lld: %s\n", (long long)q->number, a.error.message);
        largest = INFINITY;
    }
    int rows = q->world.task == CBX_GRAPH ? q->world.graphs : q->world.nodes;
    for (q->row = 0; q->row < rows && largest < INFINITY; q->row++) {
        outcome o = ask_naive(q, &graph, 0, -1);
        for (int c = 0; c < q->gnn.classes; c++) {
            double size = o.blur / ROUNDING;
            double difference = fabs((double)told[q->row * q->gnn.classes + c] - o.log_probs[c]);
            largest = fmax(largest, difference / size);
        }
    }
    ask_free(&a);
    return largest;
}

/* What is not in the space has no influence: without it all the row is what it was. */
static bool leaves_nothing_out(question *q)
{
    bool        influence[MAX_NODES];
    edited      e;
    naive_graph graph;
    dice        d = dice_of(q->seed, (uint64_t)q->number);
    edit_nothing(q, &e);
    build_graph(q, &e, &graph);
    outcome before = ask_naive(q, &graph, 0, -1);
    find_influence(q, influence);
    for (int i = 0; i < q->world.nodes; i++)
        for (int j = 0; j < q->world.features && !influence[i]; j++)
            e.x[i * q->world.features + j] = (float)dice_real(&d, -9, 9);
    for (int k = 0; k < q->world.edges; k++)
        e.gone[k] = !edge_counts(q, influence, k) && dice_chance(&d, 0.7);
    build_graph(q, &e, &graph);
    outcome after = ask_naive(q, &graph, 0, -1);
    return !memcmp(before.log_probs, after.log_probs,
                   (size_t)q->gnn.classes * sizeof *before.log_probs);
}

/* Without rules on what is kept and on kinds of edges every set is tried once. */
static bool tries_all(question *q)
{
    dice      d = {0};
    space     s;
    found_set set;
    q->keep = KEEP_ANY;
    q->max_added = q->max_removed = q->max_degree = 0;
    q->threshold = 2; /* which no probability is */
    find_space(q, &d, &s);
    double all = count_sets(&s, q->max_edits);
    if (all > 5000 || !s.whole)
        return true;
    return find_set(q, &s, 0, -1, INFINITY, 5000, &d, &set) == VERDICT_NONE &&
           (double)set.tried == all - 1;
}

/* Answers that many lies are told of: each starts from the library's own words. */
typedef struct told {
    asked              a;
    bool               answered, measured; /* by explain; by robust */
    cbx_counterfactual answer;
    cbx_edit          *edits;
    radius_question    question;
    cbx_radius         radius;
} told;

/* Asks as it is done before the lie. */
static void ask_once(lie kind, int64_t number, question *q, told *t)
{
    memset(t, 0, sizeof *t);
    draw_question(q, 7, number);
    lie_before(kind, q);
    t->answered = ask_prepare(q, &t->a) && ask_explain(q, &t->a);
    if (t->answered) {
        size_t size = (size_t)t->a.answer->num_edits * sizeof *t->edits;
        t->answer = *t->a.answer;
        t->edits = malloc(size + 1);
        if (!t->edits)
            abort();
        if (size)
            memcpy(t->edits, t->answer.edits, size);
    }
    draw_radius(q, &t->question);
    t->measured = kind == LIE_NONE && t->a.model && /* lies about radii are told of these */
                  ask_radius(&t->question, q, &t->a, &t->radius);
}

/* The library's own words again, after a lie. */
static void take_back(told *t)
{
    if (!t->answered)
        return;
    *t->a.answer = t->answer;
    if (t->answer.num_edits)
        memcpy((cbx_edit *)t->answer.edits, t->edits, /* the answer's own memory */
               (size_t)t->answer.num_edits * sizeof *t->edits);
}

static void forget(told *t)
{
    take_back(t); /* or what is freed would be the lie's */
    free(t->edits);
    ask_free(&t->a);
}

/* Adds up how many claims of each kind are found to be false; `answer`, `radius`: which are
 * judged. */
static void count_broken(lie kind, bool answer, bool radius, const question *q, told *t,
                         int broken[CLAIMS])
{
    judged j = {0};
    if (answer && t->answered) {
        lie_after(kind, q, t->a.answer);
        judge(q, t->a.answer, &j);
        take_back(t);
    }
    if (radius && t->measured) {
        cbx_radius lied = t->radius;
        lie_of_radius(kind, &lied);
        judge_radius(q, &t->question, &lied, &j);
    }
    for (int k = 0; k < j.count; k++)
        broken[j.at[k].claim] += j.at[k].ruling == BROKEN;
}

/* Lies that are told of the same answers: one of them stands for all. */
static lie asked_as(lie kind)
{
    if (kind == LIE_OPTIMAL || kind == LIE_PROVED_NONE)
        return kind;
    return kind == LIE_NODE || kind == LIE_NEWCOMER ? LIE_NODE : LIE_NONE;
}

static bool finds_lies_out(question *q)
{
    static const struct {
        lie         lie;
        claim       claim;
        const char *what;
    } lies[] = {
        {LIE_FOUND, CLAIM_FOUND, "answers that miss an edit are found out"},
        {LIE_IRREDUCIBLE, CLAIM_IRREDUCIBLE, "answers with a needless edit are found out"},
        {LIE_STEP, CLAIM_IRREDUCIBLE, "values that go too far are found out"},
        {LIE_OPTIMAL, CLAIM_OPTIMAL, "false claims of being optimal are found out"},
        {LIE_LOWER_BOUND, CLAIM_LOWER_BOUND, "lower bounds that are too high are found out"},
        {LIE_PROVED_NONE, CLAIM_PROVED_NONE, "false proofs of absence are found out"},
        {LIE_WAY, CLAIM_FOUND, "ways that are told too short are found out"},
        {LIE_COST, CLAIM_FOUND, "costs that are not those of the edits are found out"},
        {LIE_RADIUS, CLAIM_RADIUS, "radii that are too large are found out"},
        {LIE_ROBUST, CLAIM_RADIUS, "false claims of being robust are found out"},
        {LIE_FLIPS_WITH, CLAIM_FLIPS_WITH, "flips with edits that do not flip are found out"},
        {LIE_NODE, CLAIM_FOUND, "nodes that are not the ones that must go are found out"},
        {LIE_WEIGHT, CLAIM_FOUND, "weights that no edge has are found out"},
        {LIE_NEWCOMER, CLAIM_FOUND, "nodes that are not the ones that must come are found out"}};
    enum { COUNT = sizeof lies / sizeof *lies };
    static const lie ways[] = {LIE_NONE, LIE_OPTIMAL, LIE_PROVED_NONE, LIE_NODE};
    int              honest[CLAIMS] = {0}, lying[COUNT][CLAIMS] = {{0}};
    bool             fine = true;
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
        for (int64_t number = 0; number < LIARS; number++) {
            told t;
            ask_once(ways[way], number, q, &t);
            if (ways[way] == LIE_NONE)
                count_broken(LIE_NONE, true, true, q, &t, honest);
            for (size_t k = 0; k < COUNT; k++) {
                bool radius = lies[k].claim == CLAIM_RADIUS || lies[k].claim == CLAIM_FLIPS_WITH;
                if (asked_as(lies[k].lie) == ways[way])
                    count_broken(lies[k].lie, !radius, radius, q, &t, lying[k]);
            }
            forget(&t);
        }
    for (size_t k = 0; k < COUNT; k++)
        fine &= check(lying[k][lies[k].claim] >= honest[lies[k].claim] + 10, lies[k].what);
    return fine;
}

int self_test(void)
{
    question *q = malloc(sizeof *q);
    double    difference = 0;
    bool      nothing_left_out = true, all_tried = true;
    if (!q)
        return 1;
    for (int64_t number = 0; number < MODELS; number++) {
        draw_question(q, 5, number);
        nothing_left_out = nothing_left_out && leaves_nothing_out(q);
        all_tried = all_tried && tries_all(q);
        difference = fmax(difference, largest_difference(q));
    }
    bool fine = check(difference < 1e-5, "the naive model agrees with the library");
    printf("       (largest difference %.2g, for scores of size 1)\n", difference);
    fine &= check(nothing_left_out, "what cannot be edited here has no influence");
    fine &= check(all_tried, "every set of edits is tried once");
    fine &= finds_lies_out(q);
    free(q);
    return !fine;
}
