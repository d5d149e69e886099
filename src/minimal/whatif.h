/* SPDX-License-Identifier: Apache-2.0 */
/* whatif.h: trying edits on the factual graph, one by one, and taking them back.
 *
 * A *move* is what a person would call one change: a feature takes another value, a
 * one-hot group points elsewhere, two nodes lose their edges. Moves are made and undone
 * in any order; the first layer's product follows them row by row, so that asking the
 * oracle costs the later layers only. */
#ifndef CBX_WHATIF_H
#define CBX_WHATIF_H

#include "links.h"
#include "rules.h"

typedef enum cbx_move_kind { CBX_MOVE_FEATURE, CBX_MOVE_GROUP, CBX_MOVE_PAIR } cbx_move_kind;

typedef struct cbx_move {
    cbx_move_kind kind;
    int32_t       row, column, other; /* features; group: from `column` to `other` */
    int64_t       pair;               /* edges */
    float         to;                 /* feature: its new value */
    double        cost;
    double        gain; /* expected of the move: rise of the score, to first order */
} cbx_move;

/* How many edits of the graph it is: a group that points elsewhere is two. */
static inline int64_t cbx_move_edits(const cbx_move *m)
{
    return m->kind == CBX_MOVE_GROUP ? 2 : 1;
}

typedef struct cbx_whatif {
    cbx_search       *s;
    const cbx_rules  *rules;
    int32_t           rows, f; /* rows of features that count */
    cbx_view          view;    /* the factual graph, with what it has lost counted */
    float            *x0, *x;  /* rows x f: as it is, and as edited */
    float            *w;       /* by slot */
    float            *lost;    /* by node: edges into it that are gone */
    uint8_t          *removed; /* by slot: likewise */
    int64_t           pairs;
    const int64_t    *pair_of, *slot_of;   /* by slot; one of each pair */
    int64_t          *slots, *slots_begin; /* of a pair; begin: pairs + 1 */
    int32_t          *target_of;           /* by slot */
    uint8_t          *gone;                /* by pair */
    uint8_t          *allowed_row, *allowed_pair;
    uint8_t          *matters; /* by pair: can it change the class at all? */
    int32_t          *values;  /* by feature: how many it can take; 0: not countable */
    uint8_t          *one_hot; /* by row and group: is it, to begin with? */
    cbx_links        *links;   /* where a rule asks for them, else NULL */
    cbx_matrix        X;
    cbx_product_cache cache;
    int64_t           most_changes, changes; /* room for; made since the last full product */
    cbx_pass          pass, gradient;
    float            *dX, *dw, *dlogp;
    bool              exact; /* asking here is asking the edited whole graph, and there are no
                              * moves but those that are here */
    int64_t asked;
} cbx_whatif;

cbx_status cbx_whatif_init(cbx_whatif *W, cbx_search *s, const cbx_rules *rules, cbx_error *err);

/* Is the move within the rules, as things are now? */
bool cbx_whatif_may(const cbx_whatif *W, const cbx_move *move);

void cbx_whatif_do(cbx_whatif *W, const cbx_move *move);
void cbx_whatif_undo(cbx_whatif *W, const cbx_move *move);

/* Asks the oracle: by how much the class that is sought leads all others, in
 * log-probability, or is short of the probability that is asked for. Above 0: flipped. Where time
 * is up nothing is known, and -INFINITY is said, here and below. */
double cbx_whatif_ask(cbx_whatif *W);

/* The same of log-probabilities from elsewhere. */
double cbx_whatif_score(const cbx_whatif *W, const float *logp);

/* Asks, with the derivatives of that lead in dX and dw. */
double cbx_whatif_slopes(cbx_whatif *W);

/* The `most` moves of largest gain for their cost by those derivatives, best first, to
 * `moves`; returns how many there are. Entries that are edited already are left out. */
int64_t cbx_whatif_promising(const cbx_whatif *W, cbx_move *moves, int64_t most);

/* Every move there is that can change the class, in order; false past the last, or when time is
 * up. Zeroed state to
 * begin. */
typedef struct cbx_move_walk {
    int32_t row, column, other, stage;
    int64_t pair;
} cbx_move_walk;
bool cbx_whatif_walk(const cbx_whatif *W, cbx_move_walk *at, cbx_move *move);

/* Edits of the graph: one move makes one or two. Returns how many were written. */
int64_t cbx_whatif_edits(const cbx_whatif *W, const cbx_move *moves, int64_t count,
                         cbx_edit *edits);

/* The score of the whole graph with these moves made, and nothing taken on trust. */
cbx_status cbx_whatif_verify(const cbx_whatif *W, const cbx_move *moves, int64_t count,
                             double *score, cbx_error *err);

#endif
