/* SPDX-License-Identifier: Apache-2.0 */
/* karate.c: Zachary's karate club (1977), who met whom outside the club.
 *
 * A node has one feature, that it is itself, and its class is the community
 * that maximising modularity puts it in. The first member of each community is
 * the published training set. */
#include "builtin.h"

#include <stdio.h>

#include "error.h"

enum { MEMBERS = 34, TIES = 78, COMMUNITIES = 4, ENTRIES = MEMBERS * MEMBERS };

static const cbx_pair ties[TIES] = {
    {0, 1},   {0, 2},   {0, 3},   {0, 4},   {0, 5},   {0, 6},   {0, 7},   {0, 8},   {0, 10},
    {0, 11},  {0, 12},  {0, 13},  {0, 17},  {0, 19},  {0, 21},  {0, 31},  {1, 2},   {1, 3},
    {1, 7},   {1, 13},  {1, 17},  {1, 19},  {1, 21},  {1, 30},  {2, 3},   {2, 7},   {2, 8},
    {2, 9},   {2, 13},  {2, 27},  {2, 28},  {2, 32},  {3, 7},   {3, 12},  {3, 13},  {4, 6},
    {4, 10},  {5, 6},   {5, 10},  {5, 16},  {6, 16},  {8, 30},  {8, 32},  {8, 33},  {9, 33},
    {13, 33}, {14, 32}, {14, 33}, {15, 32}, {15, 33}, {18, 32}, {18, 33}, {19, 33}, {20, 32},
    {20, 33}, {22, 32}, {22, 33}, {23, 25}, {23, 27}, {23, 29}, {23, 32}, {23, 33}, {24, 25},
    {24, 27}, {24, 31}, {25, 31}, {26, 29}, {26, 33}, {27, 33}, {28, 31}, {28, 33}, {29, 32},
    {29, 33}, {30, 32}, {30, 33}, {31, 32}, {31, 33}, {32, 33},
};

static const int64_t communities[MEMBERS] = {
    1, 1, 1, 1, 3, 3, 3, 1, 0, 1, 3, 1, 1, 1, 0, 0, 3,
    1, 0, 1, 0, 1, 0, 0, 2, 2, 0, 0, 2, 0, 0, 2, 0, 0,
};

static const char *const community_names[COMMUNITIES] = {"community 0", "community 1",
                                                         "community 2", "community 3"};

/* The two leaders go by the names that papers give them. */
static cbx_status name_members(cbx_graph *g, cbx_error *err)
{
    enum { LENGTH = 24 };
    const char **nodes = CBX_NEW(&g->arena, const char *, MEMBERS);
    const char **features = CBX_NEW(&g->arena, const char *, MEMBERS);
    char(*text)[LENGTH] = cbx_arena_alloc(&g->arena, (size_t)2 * MEMBERS, sizeof *text);
    if (!nodes || !features || !text)
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < MEMBERS; i++) {
        nodes[i] = text[2 * i];
        features[i] = text[2 * i + 1];
        (void)snprintf(text[2 * i], LENGTH, "member %d", i);
        (void)snprintf(text[2 * i + 1], LENGTH, "is member %d", i);
    }
    nodes[0] = "Mr. Hi";
    nodes[MEMBERS - 1] = "John A";
    g->data.node_names = nodes;
    g->data.feature_names = features;
    return CBX_OK;
}

static cbx_status make(cbx_graph *g, const cbx_generate_options *o, cbx_error *err)
{
    (void)o;
    float   *x = CBX_NEW0(&g->arena, float, ENTRIES);
    uint8_t *train = CBX_NEW0(&g->arena, uint8_t, MEMBERS);
    if (!x || !train)
        return cbx_fail_memory(err);
    bool met[COMMUNITIES] = {false};
    for (int32_t i = 0; i < MEMBERS; i++) {
        x[i * MEMBERS + i] = 1;
        train[i] = !met[communities[i]];
        met[communities[i]] = true;
    }
    g->data.num_nodes = MEMBERS;
    g->data.num_features = MEMBERS;
    g->data.num_classes = COMMUNITIES;
    g->data.x = x;
    g->data.y = communities;
    g->data.num_splits = 1;
    g->data.train_mask = train;
    g->data.class_names = community_names;
    cbx_status status = name_members(g, err);
    if (!status)
        status = cbx_builtin_connect(g, ties, TIES, err);
    return status;
}

const cbx_builtin cbx_builtin_karate = {
    .name = "karate",
    .about = "Zachary's karate club: 34 members, 78 ties, 4 communities",
    .options = (const char *const[]){NULL},
    .make = make,
};
