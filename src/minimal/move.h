/* SPDX-License-Identifier: Apache-2.0 */
/* move.h: what a person would call one change: two nodes lose their edges, a node goes, a feature
 * takes another value, a one-hot group points elsewhere.
 *
 * One file per kind, behind one table. Searching, polishing and proving know moves by it alone, so
 * that a further kind is one more file: docs/adding-a-move.md. */
#ifndef CBX_MOVE_H
#define CBX_MOVE_H

#include "edit.h"
#include "rng.h"
#include "edit_state.h"
#include "minimal_options.h"

typedef struct cbx_move_kind cbx_move_kind;

/* What a kind has no use for is the same in all of its moves. */
typedef struct cbx_move {
    const cbx_move_kind *kind;
    int32_t row, column, other; /* features; a group: from `column` to `other`; a node; one that
                                 * comes: at `row`, the newcomer `other` */
    int64_t pair;               /* edges */
    float   to;                 /* feature: its new value */
    double  cost;
    double  gain;       /* expected of the move: rise of the score, to first order */
    bool    taken_back; /* feature: from a further value (take_back.h) */
} cbx_move;

/* Where a kind's moves are: at pairs of nodes with an edge, at nodes of the view, or at entries
 * (row, column) of X. */
typedef enum cbx_move_site { CBX_AT_PAIRS, CBX_AT_NODES, CBX_AT_ENTRIES } cbx_move_site;

/* A walk over all moves. Zeroed to begin. */
typedef struct cbx_move_walk {
    int64_t pair;
    int32_t node;
    int32_t row, column;
    int32_t kind, stage; /* of the site; `stage` is the kind's own, 0 to begin */
} cbx_move_walk;

/* The best moves so far, best first. */
typedef struct cbx_move_list {
    cbx_move *moves;
    int64_t   count, most;
} cbx_move_list;

/* The gain of a move that others wait for, which has to come first. */
#define CBX_AWAITED 1e6

/* The most edits of the graph that one move is. */
enum { CBX_MOVE_EDITS = 2 };

struct cbx_move_kind {
    cbx_move_site site;
    int64_t       edits; /* of the graph that one of them is */

    /* Works out what it needs to know of the factual graph, into its members of W. 0 on success;
     * -1: no memory, or no time. */
    int (*prepare)(cbx_edit_state *W, cbx_arena *arena);

    /* The least that one costs. */
    double (*cost)(const cbx_edit_state *W);

    /* Is the move within the rules, as things are now? */
    bool (*may)(const cbx_edit_state *W, const cbx_move *m);
    void (*apply)(cbx_edit_state *W, const cbx_move *m);
    void (*undo)(cbx_edit_state *W, const cbx_move *m);

    /* Its edits of the graph; returns how many were written, which is `edits`. */
    int64_t (*write)(const cbx_edit_state *W, const cbx_move *m, cbx_edit *edits);

    /* Lists, with cbx_move_list_add, the moves at one site (a pair, a node, or a row of X) that
     * have a gain by the derivatives in W. */
    void (*offer)(const cbx_edit_state *W, int64_t site, cbx_move_list *list);

    /* The next move at at->pair, at->node, or (at->row, at->column), that can change the class;
     * false: there are no more here. Whether it may be made is asked afterwards. */
    bool (*next)(const cbx_edit_state *W, cbx_move_walk *at, cbx_move *m);

    /* Does the walk pass every move there is? NULL: it does. A proof takes that. */
    bool (*is_listed)(const cbx_edit_state *W);

    /* NULL: what it can do is bounded by the features' ranges. Else: is any allowed, of which the
     * model's bounds know nothing? */
    bool (*is_unbounded)(const cbx_edit_state *W);

    /* The move that is this edit, if it is of this kind. NULL: none is a single edit. */
    bool (*of_edit)(const cbx_edit_state *W, const cbx_edit *e, const cbx_places *places,
                    cbx_move *m);

    /* Do two different moves share an edit? NULL: they never do. */
    bool (*overlaps)(const cbx_move *a, const cbx_move *b);

    /* For drawing at random: in how many ways, and the move of one of them. NULL: never drawn. */
    int64_t (*ways)(const cbx_edit_state *W);
    cbx_move (*draw)(const cbx_edit_state *W, int64_t way, cbx_rng *rng);
};

#define X(word) extern const cbx_move_kind cbx_move_##word;
#include "moves.def"
#undef X

/* Of a node that is gone nothing can be changed. */
static inline bool cbx_move_site_is_there(const cbx_edit_state *W, cbx_move_site site, int64_t at)
{
    return site == CBX_AT_PAIRS ? cbx_edit_state_has_ends(W, at)
                                : cbx_edit_state_has_node(W, (int32_t)at);
}

static inline bool cbx_move_may(const cbx_edit_state *W, const cbx_move *m)
{
    return cbx_move_site_is_there(W, m->kind->site,
                                  m->kind->site == CBX_AT_PAIRS ? m->pair : m->row) &&
           m->kind->may(W, m);
}

static inline void cbx_move_do(cbx_edit_state *W, const cbx_move *m)
{
    m->kind->apply(W, m);
}

static inline void cbx_move_undo(cbx_edit_state *W, const cbx_move *m)
{
    m->kind->undo(W, m);
}

/* Has a node been added at this one? */
bool cbx_move_add_node_is_at(const cbx_edit_state *W, int32_t node);

/* ---- of all kinds together */

/* What each needs to know, into W. 0 on success. */
int cbx_moves_prepare(cbx_edit_state *W, cbx_arena *arena);

/* The cost of the cheapest move. */
double cbx_moves_cheapest(const cbx_edit_state *W);

/* The `most` moves of largest gain for their cost by W's derivatives, best first, to `moves`;
 * returns how many there are. Entries that are edited already are left out. */
int64_t cbx_moves_promising(const cbx_edit_state *W, cbx_move *moves, int64_t most);

/* Every move there is that can change the class, in order; false past the last, or when time is
 * up. */
bool cbx_moves_walk(const cbx_edit_state *W, cbx_move_walk *at, cbx_move *m);

/* Is there any? */
bool cbx_moves_any(const cbx_edit_state *W);

/* Does it pass all that may be made? */
bool cbx_moves_are_listed(const cbx_edit_state *W);

/* Does it, but for values of features that cannot be counted? Of these it passes the ends. */
bool cbx_moves_are_listed_but_features(const cbx_edit_state *W);

/* Is any allowed whose effect the features' ranges do not bound? */
bool cbx_moves_are_unbounded(const cbx_edit_state *W);

/* Is there none but those that remove edges? */
bool cbx_moves_are_bounded_but_removals(const cbx_edit_state *W);

/* The edits of these moves. Returns how many were written, at most CBX_MOVE_EDITS each. */
int64_t cbx_moves_edits(const cbx_edit_state *W, const cbx_move *moves, int64_t count,
                        cbx_edit *edits);

/* The move that is this edit; false: there is none, or it may not be made. */
bool cbx_moves_of_edit(const cbx_edit_state *W, const cbx_edit *e, const cbx_places *places,
                       cbx_move *m);

/* A move at random, which need not be allowed. */
cbx_move cbx_moves_draw(const cbx_edit_state *W, cbx_rng *rng);

/* ---- for offering */

/* Adds the move, if it is among the best. */
void cbx_move_list_add(cbx_move_list *list, const cbx_move *m);

/* Worse than this, by gain for cost, is not looked at twice: no gain, or the list is full of
 * better. */
static inline double cbx_move_list_least(const cbx_move_list *list)
{
    return list->count < list->most
               ? 0
               : list->moves[list->most - 1].gain / list->moves[list->most - 1].cost;
}

#endif
