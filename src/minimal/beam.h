/* SPDX-License-Identifier: Apache-2.0 */
/* beam.h: few moves that flip, by building sets of them up instead of cutting down.
 *
 * From the factual graph, step by step: the derivatives of the sought class's lead rank
 * all moves, the most promising are tried, and the best few sets of moves go on
 * together, until one flips. */
#ifndef CBX_BEAM_H
#define CBX_BEAM_H

#include "forbidden.h"
#include "move_set.h"

/* Answers of more moves than LARGE are worth more work; see polish.c. */
enum { CBX_BEAM_WIDTH = 64, CBX_BEAM_MOVES = 400, CBX_BEAM_LARGE = 6 };

/* An answer of more is none that anybody reads: whether all are needed is not worth minutes. */
enum { CBX_BEAM_HUGE = 2000 };

/* How much harder it is tried where nothing was found. */
enum { CBX_BEAM_EFFORT = 8 };

/* A lead that rounding could not take away. */
#define CBX_BEAM_SURE 1e-4

/* Answers that are noted for shortest.h, and their moves at most. */
enum { CBX_SHORTEST_NOTED = 8, CBX_SHORTEST_MOVES = 4 };

typedef struct cbx_beam {
    cbx_search     *s;
    cbx_edit_state *W;
    cbx_move_set    here; /* the moves that are made now */
    cbx_move_set    sets[2][CBX_BEAM_WIDTH + 1];
    int64_t         num_sets[2];
    cbx_move_set    best; /* flips; cost INFINITY: none yet */
    cbx_move_set    work;
    cbx_move       *promising;
    struct {
        cbx_move_set set;
        double       way;
    } noted[CBX_SHORTEST_NOTED];
    int64_t              num_noted;
    int64_t              effort;   /* how much harder it may be tried: CBX_BEAM_EFFORT or 1 */
    double               cheapest; /* cost of a move */
    const cbx_forbidden *forbidden;
} cbx_beam;

/* Makes room for sets, in memory of the search's arena. 0 on success. */
int cbx_beam_init(cbx_beam *F, cbx_search *s, cbx_edit_state *W, const cbx_forbidden *forbidden);

/* For sets of so many moves. 0 on success. */
int cbx_beam_make_room(cbx_beam *F, int64_t moves);

/* Makes the graph what the set says. */
void cbx_beam_go_to(cbx_beam *F, const cbx_move_set *to);

/* Does a set with this score flip? Where asking the factual graph is not asking the
 * whole graph, that is done. */
cbx_status cbx_beam_flips(cbx_beam *F, const cbx_move_set *set, bool *out, cbx_error *err);

/* How near to a flip the search has come, should it find none. */
void cbx_beam_note_lead(cbx_beam *F, double score);

/* It becomes the best, if it flips and is better. */
cbx_status cbx_beam_offer(cbx_beam *F, const cbx_move_set *set, cbx_error *err);

/* Would the move keep the set within the number of edits that is allowed? */
bool cbx_beam_has_room(const cbx_beam *F, const cbx_move_set *s);

/* Tries the promising moves from a set: the cheapest that flips becomes the best, those
 * that do not are shortlisted in `next` (NULL: not). */
cbx_status cbx_beam_expand(cbx_beam *F, const cbx_move_set *from, int64_t tried, cbx_move_set *next,
                           int64_t *num_next, int64_t width, cbx_error *err);

/* From the factual graph, with `effort` times as many moves tried, and sets followed, as the
 * options say. */
cbx_status cbx_beam_build_up(cbx_beam *F, int64_t effort, cbx_error *err);

/* Every single move of a kind (NULL: of any), whatever derivatives say of it, up to a few thousand.
 */
cbx_status cbx_beam_try_each(cbx_beam *F, const cbx_move_kind *kind, cbx_error *err);

/* Where any other class will do, the first steps choose one, and another may be nearer. So a
 * large answer is sought once more, for the likeliest classes one by one. */
cbx_status cbx_beam_build_for_each_class(cbx_beam *F, cbx_error *err);

bool cbx_beam_out_of_time(cbx_beam *F, int64_t step);

#endif
