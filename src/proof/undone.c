/* SPDX-License-Identifier: Apache-2.0 */
/* undone.c: see undone.h. */
#include "undone.h"

#include <string.h>

#include "spread_parts.h"

int cbx_gains_init(cbx_gains *g, int64_t count, cbx_arena *arena)
{
    *g = (cbx_gains){.common = CBX_NEW(arena, double, count),
                     .charged = {CBX_NEW(arena, double, count), CBX_NEW(arena, double, count)},
                     .paired = CBX_NEW(arena, double, count)};
    return g->common && g->charged[0] && g->charged[1] && g->paired ? 0 : -1;
}

bool cbx_gains_of(const cbx_gains *g, int64_t count, int share, double *out)
{
    double to_others = (double)share / CBX_SHARES;
    int    last = g->both ? CBX_SHARES : 0;
    if (share > last + g->are_paired)
        return false;
    if (share > last) {
        memcpy(out, g->paired, (size_t)count * sizeof *out);
        return true;
    }
    for (int64_t c = 0; c < count; c++)
        out[c] = g->common[c] + (1 - to_others) * g->charged[CBX_TO_ITSELF][c] +
                 to_others * g->charged[CBX_TO_OTHERS][c];
    return true;
}

static int make_list(cbx_undone_list *list, int64_t count, cbx_arena *arena)
{
    *list = (cbx_undone_list){.choice = CBX_NEW(arena, int32_t, count),
                              .has = CBX_NEW0(arena, uint8_t, count)};
    return list->choice && list->has ? 0 : -1;
}

int cbx_undone_init(cbx_undone *u, int64_t count, cbx_arena *arena)
{
    *u = (cbx_undone){.here = CBX_NEW0(arena, double, count),
                      .most = CBX_NEW0(arena, double, CBX_FEW *count)};
    return u->here && u->most && !make_list(&u->edge, count, arena) &&
                   !make_list(&u->row, count, arena)
               ? 0
               : -1;
}

static void put(cbx_undone_list *list, int32_t choice)
{
    if (list->has[choice])
        return;
    list->has[choice] = 1;
    list->choice[list->count++] = choice;
}

void cbx_undone_add(cbx_undone *u, int32_t choice, double little)
{
    if (!(little > 0))
        return;
    put(&u->edge, choice);
    u->here[choice] += little;
}

/* Of more than a few all are summed, which is no less than the largest of them. */
static void keep(double *most, int64_t others, double value)
{
    if (others > CBX_FEW) {
        most[0] += value;
        return;
    }
    for (int64_t k = 0; k < others; k++)
        if (value > most[k]) {
            double before = most[k];
            most[k] = value;
            value = before;
        }
}

void cbx_undone_end_edge(cbx_undone *u, int64_t others)
{
    for (int64_t k = 0; k < u->edge.count; k++) {
        int32_t c = u->edge.choice[k];
        put(&u->row, c);
        keep(u->most + c * (int64_t)CBX_FEW, others, u->here[c]);
        u->here[c] = 0;
        u->edge.has[c] = 0;
    }
    u->edge.count = 0;
}

void cbx_undone_end_row(cbx_undone *u, double *gain, cbx_edge_sum *sum)
{
    for (int64_t k = 0; k < u->row.count; k++) {
        int32_t c = u->row.choice[k];
        double *most = u->most + c * (int64_t)CBX_FEW, all = 0;
        for (int64_t i = 0; i < CBX_FEW; i++) {
            all += most[i];
            most[i] = 0;
        }
        gain[c] += all;
        if (sum->kept) {
            cbx_edge_sum_add(sum, c, 0);
            sum->more[CBX_TO_OTHERS][c] += all;
        }
        u->row.has[c] = 0;
    }
    u->row.count = 0;
}
