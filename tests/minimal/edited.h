/* SPDX-License-Identifier: Apache-2.0 */
/* edited.h: what tests of a kind of edit have in common: an answer, the edits made into a graph of
 * its own, and the state in which a search asks its view about moves. */
#ifndef EDITED_H
#define EDITED_H

#include <math.h>

#include "../search/oracle.h"
#include "../search/own_options.h"
#include "explain.h"
#include "minimal.h"
#include "test.h"
#include "widen.h"

static inline cbx_counterfactual *explain(const oracle *o, int32_t row,
                                          const cbx_explain_options *options)
{
    cbx_counterfactual *c = NULL;
    cbx_error           err = {0};
    CHECK_OK(cbx_explain_with(o->model, o->graph, row, options, NULL, NULL, &c, &err), err);
    return c;
}

/* The scores of a row of a graph that was made with the edits: nothing is left to edit. */
static inline void ask_applied(const oracle *o, int32_t row, const cbx_edit *edits, int64_t count,
                               float *logp)
{
    cbx_graph *made = NULL;
    cbx_error  err = {0};
    int32_t    at = row; /* nodes are numbered anew where some go */
    for (int64_t k = 0; k < count; k++)
        at -= o->data.task != CBX_GRAPH && edits[k].op == CBX_REMOVE_NODE && edits[k].node < row;
    CHECK_OK(cbx_graph_apply(o->graph, edits, count, &made, &err), err);
    CHECK_OK(cbx_check_edits(o->model, made, at, NULL, 0, logp, &err), err);
    cbx_graph_free(made);
}

typedef struct edited_view {
    const oracle  *o;
    cbx_setup      setup;
    cbx_arena      arena;
    cbx_view       view;
    cbx_search     s, wide; /* the second: with what is offered */
    cbx_edit_state W;
} edited_view;

/* A search about the row, whose view is its factual graph; what is offered comes before
 * edited_view_ready. */
static inline void edited_view_open(edited_view *v, const oracle *o, int32_t row,
                                    const cbx_explain_options *options, unsigned further)
{
    cbx_error err = {0};
    *v = (edited_view){.o = o};
    oracle_must(cbx_setup_init(&v->setup, o->model, o->graph, options, &err), &err);
    v->s = (cbx_search){.model = o->model,
                        .graph = o->graph,
                        .options = options,
                        .settings = minimal_of(options),
                        .row = row,
                        .view = &v->view,
                        .whole = v->setup.whole,
                        .rules = &v->setup.rules,
                        .target = -1,
                        .arena = &v->arena,
                        .keep = &v->arena,
                        .further = further,
                        .shared = v->setup.shared};
    oracle_must(cbx_widen(&v->s, NULL, 0, &v->wide, &err), &err);
}

static inline const cbx_rules *edited_view_rules(const edited_view *v)
{
    return &((const cbx_minimal_shared *)v->setup.shared)->rules;
}

static inline void edited_view_ready(edited_view *v)
{
    cbx_error err = {0};
    oracle_must(cbx_edit_state_init(&v->W, &v->wide, edited_view_rules(v), &err), &err);
}

/* With these moves made, the view is asked and the graph with their edits in it; then they are
 * undone, not the last first. */
static inline void edited_view_compare(edited_view *v, const cbx_move *moves, int64_t count,
                                       cbx_edit *edits)
{
    float logp[8];
    for (int64_t k = 0; k < count; k++)
        cbx_move_do(&v->W, &moves[k]);
    CHECK_INT(cbx_moves_edits(&v->W, moves, count, edits), count);
    ask_applied(v->o, v->s.row, edits, count, logp);
    double score = cbx_edit_state_score(&v->W, logp);
    CHECK_NEAR(cbx_edit_state_ask(&v->W), score, 2e-4 * fmax(1, fabs(score)));
    CHECK_NEAR(cbx_edit_state_slopes(&v->W), score, 2e-4 * fmax(1, fabs(score)));
    for (int64_t k = 0; k < count; k++)
        cbx_move_undo(&v->W, &moves[k]);
}

static inline void edited_view_close(edited_view *v)
{
    cbx_arena_free(&v->arena);
    cbx_setup_free(&v->setup);
}

/* With kinds[0] alone, with one kind more, with another, and with all: no answer has more edits
 * than one with fewer kinds, by either way of counting costs. Where distances count as well, an
 * answer of fewer edits may go further, and cost more. */
static inline void check_never_larger(const oracle_shape *shapes, int count,
                                      const char *const kinds[4])
{
    for (int k = 0; k < count; k++) {
        oracle o = oracle_make(shapes[k]);
        for (int32_t row = 0; row < 3; row++) {
            cbx_counterfactual *c[4];
            bool                by_edits = row == 1;
            for (int i = 0; i < 4; i++) {
                cbx_explain_options options = ASK("explainer", "minimal", "target", "any");
                set_option(&options, "cost", by_edits ? "edits" : "both");
                set_option(&options, "edges", row % 2 ? "directed" : "undirected");
                set_option(&options, "edits", kinds[i]);
                c[i] = explain(&o, row, &options);
                for (int j = 0; j < i; j++) {
                    if (!(i == 3 || j == 0) || c[j]->outcome != CBX_FOUND ||
                        !CHECK(c[i]->outcome == CBX_FOUND))
                        continue;
                    CHECK(c[i]->num_edits <= c[j]->num_edits);
                    CHECK(!by_edits || c[i]->cost <= c[j]->cost + 1e-9);
                }
            }
            for (int i = 0; i < 4; i++)
                cbx_counterfactual_free(c[i]);
        }
        oracle_free(&o);
    }
}

#endif
