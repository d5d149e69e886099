/* SPDX-License-Identifier: Apache-2.0 */
/* one_hot.c: see one_hot.h.
 *
 * Columns a … b are such a group if their values are 0 and 1, no node has two ones
 * among them, and there are as many ones as nodes. No node has two if, for every
 * column q of them, no node with a one at q has its previous one at a or later; so
 * one pass that notes the latest previous one of each column is enough. */
#include "one_hot.h"

typedef struct columns {
    uint8_t *binary;
    int64_t *ones;
    int32_t *previous; /* the latest column before it in which some node has a one, too; -1 */
} columns;

static void visit(columns *c, int32_t j, float v, int32_t *last)
{
    if (v == 0)
        return;
    if (v != 1) {
        c->binary[j] = 0;
        return;
    }
    c->ones[j]++;
    c->previous[j] = *last > c->previous[j] ? *last : c->previous[j];
    *last = j;
}

static void look(const cbx_graph_data *d, int32_t from, int32_t to, columns *c)
{
    for (int32_t i = from; i < to; i++) {
        int32_t last = -1;
        if (d->x)
            for (int32_t j = 0; j < d->num_features; j++)
                visit(c, j, d->x[(int64_t)i * d->num_features + j], &last);
        else
            for (int64_t k = d->x_indptr[i]; k < d->x_indptr[i + 1]; k++)
                visit(c, d->x_indices[k], d->x_values[k], &last);
    }
}

/* In few rows much is so by chance; and one feature for each node is a number, not a kind. */
static bool is_chance(const cbx_graph_data *d, const columns *c, int32_t a, int32_t b)
{
    enum { FEWEST_NODES = 20 };
    int64_t used = 0;
    for (int32_t j = a; j < b; j++)
        used += c->ones[j] > 0;
    return d->num_nodes < FEWEST_NODES || 2 * used > d->num_nodes;
}

/* Numbers the groups, from left to right. Columns a to b - 1 have no node with two ones among
 * them; what stops b there stops it for later a, too, until that has passed it, so that both
 * only ever move right. */
static int32_t find_groups(const cbx_graph_data *d, const columns *c, bool sure, int32_t first,
                           int32_t *group)
{
    int32_t count = 0;
    int64_t sum = 0; /* of the ones in a to b - 1 */
    for (int32_t a = 0, b = 0; a < d->num_features; a++) {
        if (b < a)
            b = a;
        while (b < d->num_features && sum < d->num_nodes && c->binary[b] && c->previous[b] < a)
            sum += c->ones[b++];
        if (sum == d->num_nodes && b > a + 1 && c->ones[a] && !(sure && is_chance(d, c, a, b))) {
            for (int32_t j = a; j < b; j++)
                group[j] = first + count;
            count++;
            a = b - 1;
            sum = 0;
        } else if (b > a) {
            sum -= c->ones[a];
        }
    }
    return count;
}

enum { SOME_NODES = 64 };

int32_t cbx_one_hot_find(const cbx_graph_data *d, bool sure, int32_t first, int32_t *group)
{
    cbx_arena arena = {0};
    size_t    f = (size_t)d->num_features;
    int32_t   count = 0, some = d->num_nodes < SOME_NODES ? d->num_nodes : SOME_NODES;
    int64_t   left = 0;
    columns   c = {CBX_NEW(&arena, uint8_t, f), CBX_NEW0(&arena, int64_t, f),
                   CBX_NEW(&arena, int32_t, f)};
    if (!c.binary || !c.ones || !c.previous)
        count = -1;
    for (size_t j = 0; j < f && !count; j++) {
        c.previous[j] = -1;
        c.binary[j] = group[j] < 0;
    }
    if (!count)
        look(d, 0, some, &c);
    for (size_t j = 0; j < f && !count; j++)
        left += c.binary[j];
    if (!count && left > 1) { /* few rows tell measurements from marks */
        look(d, some, d->num_nodes, &c);
        count = find_groups(d, &c, sure, first, group);
    }
    cbx_arena_free(&arena);
    return count;
}
