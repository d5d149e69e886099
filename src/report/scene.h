/* SPDX-License-Identifier: Apache-2.0 */
/* scene.h: the part of a graph that is worth drawing, and where its nodes go.
 *
 * A neighbourhood may have thousands of nodes, and a picture of all of them says nothing.
 * A scene has the target, the nodes that edits touch, the ways from them to the target, and
 * then, up to CBX_SCENE_MOST, the nodes nearest to the target and best tied to those. Before
 * and after are drawn from one scene: nothing moves but what changes. */
#ifndef CBX_SCENE_H
#define CBX_SCENE_H

#include "arena.h"
#include "report.h"

enum {
    CBX_SCENE_MOST = 60,   /* nodes */
    CBX_SCENE_WIDTH = 560, /* positions are within these, and labels fit there */
    CBX_SCENE_HEIGHT = 420,
    CBX_SCENE_MARGIN = 34
};

typedef enum cbx_label_side { CBX_BELOW, CBX_RIGHT, CBX_LEFT, CBX_ABOVE } cbx_label_side;

typedef struct cbx_scene_node {
    int32_t         id;     /* in the graph; of one that comes behind all of its nodes */
    const cbx_edit *comes;  /* the edit that it comes with; NULL: it is there */
    const char     *name;   /* or its number */
    const char     *symbol; /* is written into it; NULL: nothing */
    int32_t         hop;    /* steps from the target; 0 in graph tasks */
    bool            edited; /* its features, or an edge at it, by some answer */
    float           x, y;
    cbx_label_side  side; /* where its label is least in the way */
} cbx_scene_node;

typedef struct cbx_scene_edge {
    int32_t a, b;     /* places in `nodes`, a < b */
    bool    there[2]; /* a -> b, b -> a, before any edit */
    bool    added[2]; /* likewise: by an edit of some answer */
} cbx_scene_edge;

typedef struct cbx_scene {
    int32_t            num_nodes, num_edges;
    cbx_scene_node    *nodes; /* the most important first; in node tasks the target is 0 */
    cbx_scene_edge    *edges;
    int32_t            all_nodes; /* of the neighbourhood or the graph; 0: it is not known */
    bool               undirected;
    cbx_task           task;
    const char *const *symbols; /* of features, or NULL */
} cbx_scene;

/* The node of the graph whose features it has. */
static inline int32_t cbx_scene_like(const cbx_scene_node *node)
{
    return node->comes ? node->comes->source : node->id;
}

cbx_status cbx_scene_make(const cbx_report *report, cbx_arena *arena, cbx_scene *scene,
                          cbx_error *err);

/* The place of a node of the graph in the scene, or -1. */
int32_t cbx_scene_find(const cbx_scene *scene, int32_t id);

/* The edge of the scene between two nodes of the graph, or -1. */
int32_t cbx_scene_edge_find(const cbx_scene *scene, int32_t u, int32_t v);

/* ---- scene_edits.c: what of an answer is seen, and where */

/* A scene of nothing but the target and what the answers' edits name. */
cbx_status cbx_scene_from_edits(const cbx_report *report, cbx_arena *arena, cbx_scene *scene,
                                cbx_error *err);

/* Where the edit is drawn: a place in `edges` or in `nodes`, by its kind; -1: nowhere. */
int32_t cbx_scene_place_of(const cbx_scene *scene, const cbx_edit *edit);

/* Directions of the scene's edge that the answer removes: 1, a -> b; 2, b -> a. */
int cbx_scene_removed(const cbx_scene *scene, int32_t edge, const cbx_counterfactual *answer);

/* The same of what it adds. */
int cbx_scene_added(const cbx_scene *scene, int32_t edge, const cbx_counterfactual *answer);

/* The same of what gets another weight. */
int cbx_scene_reweighted(const cbx_scene *scene, int32_t edge, const cbx_counterfactual *answer);

/* Does the answer change features of this node of the graph? */
bool cbx_scene_changed(int32_t id, const cbx_counterfactual *answer);

/* What is written into the node once the answer's edits are made, or NULL. */
const char *cbx_scene_symbol_after(const cbx_scene *scene, int32_t node,
                                   const cbx_counterfactual *answer);
/* Is the scene's node there before or after the answer's edits? One that comes is, unless another
 * answer adds it. */
bool cbx_scene_shows(const cbx_scene *scene, int32_t node, const cbx_counterfactual *answer);

/* Does it remove the node? */
bool cbx_scene_lost(int32_t id, const cbx_counterfactual *answer);

/* An edge between two places, `added` by an edit or not; there is room for it. Loops, and places
 * that are -1, are not drawn. */
void cbx_scene_add_edge(cbx_scene *scene, int32_t from, int32_t to, bool added);

/* Do two edits add the same node? */
bool cbx_scene_same_node(const cbx_edit *a, const cbx_edit *b);

/* Edges with the same ends become one, with both directions. */
void cbx_scene_merge(cbx_scene *scene);

/* Whether its label is always shown: the target's and those of edited nodes are, and
 * all of a small scene. */
bool cbx_scene_labelled(const cbx_scene *scene, int32_t node);

/* Columns of a label, which is cut where it is long. */
enum { CBX_LABEL_MOST = 16 };

/* layout.c: x, y and side of all nodes. The same scene gives the same places. */
cbx_status cbx_scene_layout(cbx_scene *scene, cbx_arena *arena, cbx_error *err);

#endif
