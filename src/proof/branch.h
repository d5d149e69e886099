/* SPDX-License-Identifier: Apache-2.0 */
/* branch.h: is there a set of choices that flips? By branch and bound.
 *
 * Sets are built up choice by choice, the one that gains most first; what a bound excludes is not
 * tried, and what is left is asked of the model itself. A choice that has been tried is barred from
 * the sets that follow, so that no set is met twice, and so are its counterparts (symmetry.h).
 *
 * Bounds are computed in *waves*: those of the next so many branches at once, by as many threads as
 * there are. What a wave is does not depend on their number, and what comes of it is looked at in
 * order: the answer, and the number of bounds it took, are the same with any. */
#ifndef CBX_BRANCH_H
#define CBX_BRANCH_H

#include "lead_bound.h"
#include "symmetry.h"

/* Branches in a wave at most. */
enum { CBX_WAVE = 32 };

/* Choices that a branch is split by at once, at most. */
enum { CBX_SPLIT = 8 };

/* Who knows the model, and whether sets keep the rules. */
typedef struct cbx_branch_asked {
    void *user;
    /* May the choice be made as well? NULL: all may. What may not, may not with more made either.
     */
    bool (*may)(void *user, int32_t choice);
    /* What was made last is undone first. */
    void (*make)(void *user, int32_t choice, bool made);
    /* With those that are made: above 0, flipped. */
    double (*lead)(void *user);
    bool (*stop)(void *user); /* NULL: never */
    bool alike; /* nodes that the graph does not tell apart are not told apart by these either */
    /* A set by which a class that is sought leads the prediction flips. Without this it may lead
     * and not flip: a third class leads both, or more than a lead is asked for. */
    bool leads_flip;
} cbx_branch_asked;

typedef struct cbx_ranked {
    double  gain;
    int32_t choice;
} cbx_ranked;

/* Sets with these choices made and those barred. */
typedef struct cbx_open_branch {
    uint8_t *fate; /* by choice */
    int32_t *made; /* in order */
    int64_t  num_made;
} cbx_open_branch;

/* What was found of one. */
typedef struct cbx_branch_bound {
    double       lead; /* with all that is left, at most; INFINITY: not known */
    double       now, rounding;
    double       goal;           /* that the lead and `now` are above by so much */
    double       blur;           /* by which the model may tell counterparts apart */
    double      *gain, *promise; /* by choice: see lead_bound.h */
    cbx_gains    gains;
    cbx_partners partners; /* of those that promise most, where pairs are told */
    bool         late, out_of_memory;
} cbx_branch_bound;

/* Who computes bounds: one for each thread. */
typedef struct cbx_bounder {
    cbx_partial_graph *graph;
    cbx_lead_bound    *bound;
    cbx_arena          arena;
} cbx_bounder;

typedef struct cbx_branch {
    cbx_partial_graph *graph; /* as the user has it */
    cbx_lead_bound    *bound; /* of it */
    const cbx_matrix  *X;
    cbx_branch_asked   asked;
    int32_t            ahead, behind; /* classes: which one would have to lead which */
    cbx_arena         *arena;
    cbx_symmetry       symmetry;
    bool               use_symmetry;
    bool skipped, near;        /* counterparts were left out; a lead was too near to 0 for it */
    cbx_partial_graph *root;   /* the graph before any choice, with its whole budget */
    uint8_t           *start;  /* by choice: what is barred of it from the start, and what is not */
    double             goal;   /* leads below it are not of interest: 0, or less */
    int64_t            budget; /* what the sets at hand have */
    int                threads;
    cbx_bounder       *bounders; /* the first is the user's */
    int                num_bounders;
    cbx_ranked        *ranked;  /* scratch */
    double            *best;    /* scratch */
    double            *mixed;   /* scratch, by choice */
    int32_t           *orbit;   /* scratch */
    uint8_t           *is_same; /* scratch, by choice */
    cbx_open_branch   *open;    /* the next one last */
    int64_t            num_open, room;
    cbx_branch_bound   wave[CBX_WAVE];
    cbx_open_branch    taken[CBX_WAVE];
    int32_t           *made;           /* as the user has it */
    int64_t            num_made, most; /* room for */
    int32_t           *flip;           /* a set that flips */
    int64_t            num_flip;       /* 0: none was met */
    bool               stopped, out_of_memory;
    double             furthest;     /* that sets which were asked about lead, by their bounds */
    int64_t            bounds, asks; /* how often */
    int64_t            limit;        /* of bounds, for what goes on now */
    int64_t            work;         /* of all bounds: see cbx_branch_work */
} cbx_branch;

/* For sets of up to `most` choices; X are the features of the graph's view. */
cbx_status cbx_branch_init(cbx_branch *b, cbx_partial_graph *graph, cbx_lead_bound *bound,
                           const cbx_matrix *X, const cbx_branch_asked *asked, int64_t most,
                           int threads, cbx_arena *arena, cbx_error *err);
void       cbx_branch_free(cbx_branch *b);

/* What a bound takes: choices that are open, and as much as CBX_STEADY of them for all else. */
enum { CBX_STEADY = 100 };
int64_t cbx_branch_work(const cbx_branch *b, const uint8_t *fate);

/* Has it been stopped, was a set met that flips, or are there no bounds left? */
bool cbx_branch_is_over(cbx_branch *b);

/* b->bound, updated, is of all sets of up to `size` that are not barred from the start; until it
 * ends. */
void cbx_branch_begin(cbx_branch *b, int64_t size);
void cbx_branch_end(cbx_branch *b);

/* The best of sets of these choices and one more, of those `most` that gain most: asks the model.
 * -1: none may be made. */
int32_t cbx_branch_best_more(cbx_branch *b, const int32_t *made, int64_t count, const double *gain,
                             int64_t most);

/* How far `ahead` leads with just these choices, by the formulas. */
double cbx_branch_lead_of(cbx_branch *b, const int32_t *made, int64_t count);

/* The model's lead with just these made; -INFINITY where they may not be. A set that flips is kept.
 */
double cbx_branch_ask(cbx_branch *b, const int32_t *made, int64_t count);

/* Nothing is barred from the start. */
void cbx_branch_unbar(cbx_branch *b);

/* Looks for a set of `size` choices by which `ahead` comes to lead, where no smaller one flips.
 * True: there is none. Else one was found, num_flip > 0, or it was stopped. */
bool cbx_branch_none_of(cbx_branch *b, int64_t size);

/* And then: no set of that size leads by more, of those that may be made. */
double cbx_branch_furthest(const cbx_branch *b);

/* The same of all sizes up to the graph's budget at once, which takes one tree and not one for
 * each, with so many bounds at most. False: there is one, or it was stopped, or that was not
 * enough. */
bool cbx_branch_none_at_all(cbx_branch *b, int64_t bounds);

/* Makes the best choice again and again, up to the graph's budget: finds some set that flips, or
 * none. */
void cbx_branch_dive(cbx_branch *b);

#endif
