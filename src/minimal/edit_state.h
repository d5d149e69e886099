/* SPDX-License-Identifier: Apache-2.0 */
/* edit_state.h: the factual graph with some moves made, and what the oracle says of it.
 *
 * Moves (move.h) are made and undone in any order; the first layer's product follows them row by
 * row, so that asking the oracle costs the later layers only. */
#ifndef CBX_EDIT_STATE_H
#define CBX_EDIT_STATE_H

#include "columns.h"
#include "links.h"
#include "newcomers.h"
#include "rules.h"

struct cbx_move; /* move.h */

typedef struct cbx_edit_state {
    cbx_search       *s;
    const cbx_rules  *rules;
    int32_t           rows, f; /* rows of features that count */
    cbx_view          view;    /* the factual graph, with what it has lost counted */
    int32_t           own;     /* nodes of it; behind them are newcomers */
    float            *x0, *x;  /* rows x f: as it is, and as edited */
    float            *w;       /* by slot */
    float            *lost;    /* by node: edges into it that are gone */
    uint8_t          *removed; /* by slot: likewise */
    int64_t           pairs;
    const int64_t    *pair_of, *slot_of;   /* by slot; one of each pair */
    int64_t          *slots, *slots_begin; /* of a pair; begin: pairs + 1 */
    int32_t          *target_of;           /* by slot */
    uint8_t          *gone;                /* by pair; what is offered, to begin with */
    uint8_t          *absent; /* by node of the view: it is gone, or has not come; NULL: none may */
    int32_t           num_absent;   /* of its own */
    float            *set_weight;   /* by slot: the view's, of a model that somebody else runs */
    float            *by_weight;    /* by slot: derivatives of the lead by weights */
    float            *weight;       /* by pair: its new one, NaN: its own; NULL: none may change */
    uint8_t          *weighable;    /* by pair: may it get another? NULL: none may */
    float            *set_attr;     /* by slot and attribute: the view's; NULL: none may change */
    float            *by_attr;      /* likewise: derivatives of the lead */
    float            *attr;         /* by pair and attribute: its new one, NaN: its own */
    uint8_t          *attributable; /* likewise: may it get another? NULL: none may */
    uint8_t          *allowed_node; /* by node of the view: may it go? NULL: none may */
    bool              leads_out;    /* nodes go, some must be left, and an edge leads out */
    uint8_t          *allowed_row, *allowed_pair;
    float            *lo, *hi; /* by feature: where a move may lead for now, within the rules */
    float             reach;   /* scales (columns.h) that a value may go for now */
    uint8_t          *matters; /* by pair: can it change the class at all? */
    int32_t          *values;  /* by feature: how many it can take; 0: not countable */
    int64_t          *room;    /* by node: edges that may still come; NULL: no limit */
    int64_t           added, taken; /* pairs, by the moves that are made */
    uint8_t          *one_hot;      /* by row and group: is it, to begin with? */
    cbx_links        *links;        /* where a rule asks for them, else NULL */
    cbx_matrix        X;
    cbx_product_cache cache;
    int64_t           most_changes, changes; /* room for; made since the last full product */
    cbx_pass          pass, gradient;
    float            *dX, *dw, *dlogp;
    float *leaving;      /* by node: what its leaving or entering a pooling does; NULL: none can */
    bool   exact;        /* asking here is asking the edited whole graph, and there are no
                          * moves but those that are here */
    bool    proof_tried; /* that nothing flips, on the way; … */
    bool    nothing_flips; /* … no set of these moves does */
    int64_t asked;
} cbx_edit_state;

cbx_status cbx_edit_state_init(cbx_edit_state *W, cbx_search *s, const cbx_rules *rules,
                               cbx_error *err);

/* The graph's number of the view's node i. */
static inline int32_t cbx_edit_state_node(const cbx_edit_state *W, int32_t i)
{
    return W->s->view->node ? W->s->view->node[i] : i;
}

/* Keeps features to their usual values (columns.h) from now on, or lets them go as far as the rules
 * do. A value that is not usual may come nearer. */
void cbx_edit_state_stay_usual(cbx_edit_state *W, bool usual);

/* The value of a feature before any move. */
static inline float cbx_edit_state_original(const cbx_edit_state *W, int32_t row, int32_t column)
{
    return W->x0[(int64_t)row * W->f + column];
}

/* Do features of row i change without what they may change with? Until that is so as well, the
 * graph does not count as flipped. */
static inline bool cbx_edit_state_lacks(const cbx_edit_state *W, int32_t i,
                                        const cbx_relation *relation)
{
    int64_t at = (int64_t)i * W->f;
    return !cbx_rules_relation(W->rules, relation, W->x0 + at, W->x + at);
}

/* What moves are made of; rules are not looked at. */
void cbx_edit_state_set_feature(cbx_edit_state *W, int32_t row, int32_t column, float to);
void cbx_edit_state_set_pair(cbx_edit_state *W, int64_t pair, bool gone);
void cbx_edit_state_set_node(cbx_edit_state *W, int32_t node, bool gone);
void cbx_edit_state_set_attr(cbx_edit_state *W, int64_t pair, int32_t column, float value); /* " */
void cbx_edit_state_set_weight(cbx_edit_state *W, int64_t pair, float weight); /* NaN: its own */

/* Is the view's node there? And both ends of a pair? */
static inline bool cbx_edit_state_has_node(const cbx_edit_state *W, int32_t node)
{
    return !W->absent || !W->absent[node];
}

/* Are there moves at nodes? */
static inline bool cbx_edit_state_moves_nodes(const cbx_edit_state *W)
{
    return W->allowed_node || W->s->newcomers;
}

/* Is it the edge of a newcomer, which comes with it and does nothing else? */
static inline bool cbx_edit_state_is_new(const cbx_edit_state *W, int64_t pair)
{
    int64_t slot = W->slot_of[pair];
    return W->s->view->source[slot] >= W->own || W->target_of[slot] >= W->own;
}

static inline bool cbx_edit_state_has_ends(const cbx_edit_state *W, int64_t pair)
{
    int64_t slot = W->slot_of[pair];
    return cbx_edit_state_has_node(W, W->s->view->source[slot]) &&
           cbx_edit_state_has_node(W, W->target_of[slot]);
}

/* Asks the oracle: by how much the class that is sought leads all others, in
 * log-probability, or is short of the probability that is asked for. Above 0: flipped. Where time
 * is up nothing is known, and -INFINITY is said, here and below. */
double cbx_edit_state_ask(cbx_edit_state *W);

/* The same of log-probabilities from elsewhere. */
double cbx_edit_state_score(const cbx_edit_state *W, const float *logp);

/* Asks, with the derivatives of that lead in dX and dw. */
double cbx_edit_state_slopes(cbx_edit_state *W);

/* The score of the whole graph with these moves made, and nothing taken on trust. */
cbx_status cbx_edit_state_verify(const cbx_edit_state *W, const struct cbx_move *moves,
                                 int64_t count, double *score, cbx_error *err);

#endif
