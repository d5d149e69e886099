/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c: see tally.h. */
#include "tally.h"

#include <stdio.h>

static const char *const oracle_names[ORACLES] = {
    "gcn", "graphconv add", "graphconv mean", "graphconv max", "gin",
    "gat", "cheb order 1",  "cheb order 2",   "cheb order 3"};

static const char *const trait_names[TRAITS] = {"sage", "skip connections", "batch normalisation",
                                                "hidden in head"};

static int oracle_of(const naive_gnn *g)
{
    return (int)g->conv + (g->conv == NAIVE_CHEB ? g->order - 1 : 0);
}

void tally_add(tally *t, const question *q, const judged *j)
{
    const naive_gnn *g = &q->gnn;
    const bool       traits[TRAITS] = {g->sage, g->residual, g->norm, g->head_hidden > 0};
    for (int k = 0; k < j->count; k++) {
        claim c = j->at[k].claim;
        bool  broken = j->at[k].ruling == BROKEN;
        t->claims[c][j->at[k].ruling]++;
        t->by_oracle[oracle_of(&q->gnn)][c]++;
        t->broken_by_oracle[oracle_of(&q->gnn)][c] += broken;
        for (int i = 0; i < TRAITS; i++) {
            t->by_trait[i][c] += traits[i];
            t->broken_by_trait[i][c] += broken && traits[i];
        }
        for (int r = 0; r < RULES; r++)
            if (has_rule(q, (rule)r)) {
                t->by_rule[r][c]++;
                t->broken_by_rule[r][c] += broken;
            }
    }
    t->cases++;
    t->tried += j->tried;
    t->without += j->count == 0;
}

void tally_merge(tally *to, const tally *from)
{
    int64_t       *a = (int64_t *)to;
    const int64_t *b = (const int64_t *)from;
    for (size_t k = 0; k < sizeof *to / sizeof *a; k++)
        a[k] += b[k];
}

int64_t tally_broken(const tally *t)
{
    int64_t broken = 0;
    for (int c = 0; c < CLAIMS; c++)
        broken += t->claims[c][BROKEN];
    return broken;
}

int64_t tally_claims(const tally *t)
{
    int64_t all = 0;
    for (int c = 0; c < CLAIMS; c++)
        for (int r = 0; r < RULINGS; r++)
            all += t->claims[c][r];
    return all;
}

static void show_row(const char *name, const int64_t *counts, const int64_t *broken)
{
    printf("%-20s", name);
    for (int c = 0; c < CLAIMS; c++) {
        char text[32];
        (void)snprintf(text, sizeof text, broken[c] ? "%lld (%lld)" : "%lld", (long long)counts[c],
                       (long long)broken[c]);
        printf(" %16s", text);
    }
    printf("\n");
}

static void show_head(const char *name)
{
    printf("\n%-20s", name);
    for (int c = 0; c < CLAIMS; c++)
        printf(" %16s", claim_names[c]);
    printf("\n");
}

void tally_show(const tally *t)
{
    static const char *const rulings[RULINGS] = {"hold, all tried", "hold, some tried",
                                                 "undecided, rounding", "broken"};
    int64_t                  none[CLAIMS] = {0};
    printf(
        "%lld questions, %lld refused, %lld answers that claim nothing; %lld sets of edits tried\n",
        (long long)t->cases, (long long)t->refused, (long long)t->without, (long long)t->tried);
    show_head("claims");
    for (int r = 0; r < RULINGS; r++) {
        int64_t row[CLAIMS];
        for (int c = 0; c < CLAIMS; c++)
            row[c] = t->claims[c][r];
        show_row(rulings[r], row, none);
    }
    show_head("rule (broken)");
    for (int r = 0; r < RULES; r++)
        show_row(rule_names[r], t->by_rule[r], t->broken_by_rule[r]);
    show_head("oracle (broken)");
    for (int o = 0; o < ORACLES; o++)
        show_row(oracle_names[o], t->by_oracle[o], t->broken_by_oracle[o]);
    for (int k = 0; k < TRAITS; k++)
        show_row(trait_names[k], t->by_trait[k], t->broken_by_trait[k]);
    printf("\n%lld claims, %lld broken\n", (long long)tally_claims(t), (long long)tally_broken(t));
}
