/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_branch.c: see pattern_branch.h. */
#include "pattern_branch.h"

#include <math.h>
#include <string.h>

#include "pattern_cache.h"

/* Bounds are made closer where that promises to take off what they are above 0: so many times what
 * it took off before, and once in so many bounds whatever it promises. None of this is part of a
 * proof. */
static const double HOPE = 1.25;
enum { WAITS = 16 };

/* So often it is settled how many edges a node has: for each node, of all together. */
enum { MOST_SPLITS = 8 };

/* What was settled: an edge stays first, and then goes; or, of a node with many, more than `at`
 * edges are left first, and then no more. */
typedef struct step {
    int32_t choice; /* -1: it is about a node */
    bool    goes;
    int32_t node, at, fewest, most; /* as they were before */
} step;

/* The open choice that is nearest, and of these one at the node with the most; -1: none is within
 * reach. `open`: by node, scratch. */
static int32_t nearest(const cbx_partial_graph *g, const int32_t *hops, int32_t *open,
                       int32_t *node)
{
    int32_t best = -1, hop = INT32_MAX, most = 0;
    memset(open, 0, (size_t)g->view->n * sizeof *open);
    for (int32_t c = 0; c < g->count; c++)
        for (int64_t k = g->choices[c].begin; cbx_choice_is_open(g, c) && k < g->choices[c].end;
             k++)
            open[g->target_of[g->slots[k]]]++;
    for (int32_t c = 0; c < g->count; c++)
        for (int64_t k = g->choices[c].begin; cbx_choice_is_open(g, c) && k < g->choices[c].end;
             k++) {
            int32_t v = g->target_of[g->slots[k]];
            if (hops[v] < hop || (hops[v] == hop && hop < INT32_MAX && open[v] > most)) {
                best = c;
                *node = v;
                hop = hops[v];
                most = open[v];
            }
        }
    return best;
}

/* What may be left of nodes' edges. */
typedef struct numbers {
    int32_t *fewest, *most;
} numbers;

static void undo_step(cbx_partial_graph *g, numbers *left, const step *last)
{
    if (last->choice < 0) {
        left->fewest[last->node] = last->fewest;
        left->most[last->node] = last->most;
    } else if (last->goes) {
        cbx_partial_graph_unmake(g, last->choice);
    } else {
        g->fate[last->choice] = CBX_FREE;
    }
}

/* The step is taken the other way, where it was taken the first; else it is as it was, and the step
 * before is looked at. */
static int64_t turn(cbx_partial_graph *g, numbers *left, step *steps, int64_t count)
{
    while (count > 0) {
        step *last = &steps[count - 1];
        undo_step(g, left, last);
        if (!last->goes) {
            last->goes = true;
            if (last->choice < 0)
                left->most[last->node] = last->at;
            else
                cbx_partial_graph_make(g, last->choice);
            return count;
        }
        count--;
    }
    return 0;
}

/* Boxes of the first row's last layer, from a branch to those that are part of it: lows, then
 * highs.
 */
typedef struct handed {
    double *box;
    bool    holds; /* the row is settled, and they are of the branch at hand */
    int64_t age;   /* edges settled since they were bounded more closely; 0: they never were */
} handed;

typedef struct tree {
    step    *steps;
    int64_t  count, room;
    numbers  left;
    uint8_t *asked; /* by step, and by class: which may lead in this branch */
    int32_t *hops, *open;
    double  *lead;
    /* of the first row, as the root has it: the choices that its open edges are, and which of its
     * patterns may make a class lead */
    uint8_t   *may;
    int32_t   *first;
    int32_t    num_first; /* 0: it has too many */
    handed    *boxes;     /* by step */
    cbx_arena *arena;
    /* by whether boxes come from a branch that was bounded more closely: what doing so took off,
     * about, and then for each root of a settled edge; 0: it was not tried yet. And bounds since.
     */
    double  drop[2];
    int64_t waited[2];
} tree;

static int make_tree(cbx_pattern_branch *b, tree *t, cbx_arena *arena)
{
    const cbx_partial_graph *g = b->graph;
    const cbx_view          *v = g->view;
    int64_t                  classes = b->question.net->model->num_classes;
    int64_t                  degree = v->offset[1] - v->offset[0];
    int64_t                  room = g->count + (int64_t)MOST_SPLITS * v->n;
    *t = (tree){.steps = CBX_NEW(arena, step, room + 1),
                .asked = CBX_NEW(arena, uint8_t, (room + 2) * classes),
                .boxes = CBX_NEW0(arena, handed, room + 2),
                .room = room,
                .left = {CBX_NEW0(arena, int32_t, v->n), CBX_NEW(arena, int32_t, v->n)},
                .arena = arena,
                .hops = CBX_NEW(arena, int32_t, v->n),
                .open = CBX_NEW(arena, int32_t, v->n),
                .lead = CBX_NEW(arena, double, classes),
                .may = CBX_NEW(arena, uint8_t, ((int64_t)1 << b->question.most) + degree + 1),
                .first = CBX_NEW(arena, int32_t, degree)};
    if (!t->steps || !t->asked || !t->boxes || !t->hops || !t->open || !t->lead || !t->may ||
        !t->first || !t->left.fewest || !t->left.most)
        return -1;
    for (int32_t i = 0; i < v->n; i++)
        t->left.most[i] = INT32_MAX;
    b->question.fewest = t->left.fewest;
    b->question.most_left = t->left.most;
    memcpy(t->asked, b->asked, (size_t)classes);
    for (int64_t e = v->offset[0]; e < v->offset[1]; e++)
        if (g->present[e] && v->source[e] != 0 && g->choice_of[e] >= 0 &&
            cbx_choice_is_open(g, g->choice_of[e]))
            t->first[t->num_first++] = g->choice_of[e];
    t->num_first = t->num_first > b->question.most ? 0 : t->num_first;
    return 0;
}

/* Is every edge of the first row settled? */
static bool is_settled(const cbx_partial_graph *g)
{
    const cbx_view *v = g->view;
    for (int64_t e = v->offset[0]; e < v->offset[1]; e++)
        if (g->present[e] && g->choice_of[e] >= 0 && cbx_choice_is_open(g, g->choice_of[e]))
            return false;
    return true;
}

/* Where the branch's boxes go, for the branches that are part of it; and those of the branch it is
 * part of itself. */
static int hand_on_boxes(const cbx_pattern_branch *b, tree *t, cbx_pattern_leads *leads)
{
    const cbx_net *net = b->question.net;
    int64_t        width = net->layers[net->num_layers - 1].n_out;
    handed        *before = &t->boxes[t->count], *own = before + 1;
    if (before->holds) {
        leads->known_low = before->box;
        leads->known_high = before->box + width;
    }
    if (!(own->holds = is_settled(b->graph)))
        return 0;
    if (!own->box && !(own->box = CBX_NEW(t->arena, double, 2 * width)))
        return -1;
    leads->low = own->box;
    leads->high = own->box + width;
    return 0;
}

typedef enum verdict { EXCLUDED, MAY_LEAD, NOT_KNOWN } verdict;

/* Boxes that are passed on become less close with each edge that is settled, by less and less. */
static double roots(int64_t age)
{
    return age > 0 ? sqrt((double)age) : 1;
}

/* What closer boxes took off. Where it was enough, it was stopped as soon as it was, and might have
 * been more. */
static void learn(tree *t, const cbx_pattern_leads *leads, int32_t classes, int64_t age)
{
    bool    enough = true;
    double *drop = &t->drop[age > 0], took = leads->drop / roots(age);
    for (int32_t c = 0; c < classes; c++)
        enough = enough && (!leads->asked[c] || leads->lead[c] < 0);
    if (!(took > 0))
        return;
    t->waited[age > 0] = 0;
    if (*drop > 0 && enough)
        *drop = fmax(*drop, took);
    else
        *drop = *drop > 0 ? 0.7 * *drop + 0.3 * took : took;
}

/* A bound of the branch, of the classes that the one it is part of is about. */
static verdict bound(cbx_pattern_branch *b, tree *t, const uint8_t *before, uint8_t *asked,
                     uint8_t *may)
{
    const handed     *box = &t->boxes[t->count];
    int64_t           age = box->holds ? box->age : 0;
    double            drop = t->drop[age > 0] * roots(age);
    bool              any = false, tries = drop == 0 || ++t->waited[age > 0] >= WAITS;
    cbx_pattern_leads leads = {.behind = b->behind,
                               .asked = before,
                               .lead = t->lead,
                               .may = may,
                               .narrow = tries ? INFINITY : drop * HOPE};
    b->bounds++;
    if (hand_on_boxes(b, t, &leads) || !cbx_pattern_find_leads(&b->question, &leads))
        return NOT_KNOWN;
    learn(t, &leads, b->question.net->model->num_classes, age);
    t->boxes[t->count + 1].age = leads.drop > 0 ? 1 : age + (age > 0);
    for (int32_t c = 0; c < b->question.net->model->num_classes; c++) {
        asked[c] = before[c] && !(t->lead[c] < 0); /* of two that are equal, either may lead */
        any = any || asked[c];
    }
    return any ? MAY_LEAD : EXCLUDED;
}

/* While edges of the first row are being settled: are there patterns that may lead among those that
 * the branch has? Their bounds were found at the root, all at once. */
static verdict look_at_patterns(const cbx_pattern_branch *b, const tree *t)
{
    int64_t patterns = (int64_t)1 << t->num_first;
    for (int64_t p = 0; p < patterns; p++) {
        bool agrees = t->may[p];
        for (int32_t k = 0; k < t->num_first && agrees; k++) {
            uint8_t fate = b->graph->fate[t->first[k]];
            agrees = fate == CBX_FREE || (p >> k & 1) == (fate == CBX_BARRED);
        }
        if (agrees)
            return MAY_LEAD;
    }
    return EXCLUDED;
}

static verdict judge(cbx_pattern_branch *b, tree *t)
{
    int64_t  classes = b->question.net->model->num_classes;
    uint8_t *asked = t->asked + t->count * classes;
    uint8_t *may = t->may + (t->num_first > 0 ? (int64_t)1 << t->num_first : 0);
    if (t->count == 0)
        return bound(b, t, asked, asked + classes, t->may);
    if (t->count > t->num_first)
        return bound(b, t, asked, asked + classes, may);
    memcpy(asked + classes, asked, (size_t)classes);
    t->boxes[t->count + 1].holds = false;
    verdict v = look_at_patterns(b, t);
    return v == MAY_LEAD && t->count == t->num_first ? bound(b, t, asked, asked + classes, may) : v;
}

/* Edges of a node that stay, and those that may. */
static void count_edges(const cbx_partial_graph *g, int32_t node, int32_t *stay, int32_t *open)
{
    const cbx_view *v = g->view;
    *stay = *open = 0;
    for (int64_t e = v->offset[node]; e < v->offset[node + 1]; e++) {
        bool may = g->choice_of[e] >= 0 && cbx_choice_is_open(g, g->choice_of[e]);
        if (!g->present[e] || v->source[e] == node)
            continue;
        *stay += !may;
        *open += may;
    }
}

/* Of a node with many open edges: is it worth to tell apart how many are left? */
static bool split_numbers(const cbx_pattern_branch *b, const tree *t, int32_t node, step *out)
{
    int32_t stay, open, fewest = t->left.fewest[node], most = t->left.most[node];
    count_edges(b->graph, node, &stay, &open);
    int32_t low = fewest > stay ? fewest : stay, high = most < stay + open ? most : stay + open;
    double  at = sqrt((low + 1.0) * (high + 1.0)) - 1;
    if (node == 0 || open <= b->question.most || high + 1 < b->wide * (low + 1))
        return false;
    *out = (step){.choice = -1, .node = node, .at = (int32_t)at, .fewest = fewest, .most = most};
    out->at = out->at > 0 ? out->at : 1;
    return out->at < high;
}

/* The next edge to be settled: those of the first row before all others, then the nearest; or how
 * many its node has. False: none is left. */
static bool take_step(cbx_pattern_branch *b, tree *t)
{
    int32_t node = 0;
    step    next = {.choice = -1};
    if (t->count == t->room)
        return false;
    if (t->count < t->num_first) {
        next.choice = t->first[t->count];
    } else {
        cbx_pattern_hops(&b->question, t->hops);
        int32_t choice = nearest(b->graph, t->hops, t->open, &node);
        if (choice < 0)
            return false;
        if (!split_numbers(b, t, node, &next))
            next.choice = choice;
    }
    if (next.choice < 0)
        t->left.fewest[next.node] = next.at + 1;
    else
        b->graph->fate[next.choice] = CBX_BARRED;
    t->steps[t->count++] = next;
    return true;
}

static bool search(cbx_pattern_branch *b, cbx_arena *arena)
{
    cbx_partial_graph *g = b->graph;
    tree               t;
    if (make_tree(b, &t, arena))
        return false;
    while (!b->question.stop || !b->question.stop(b->question.user)) {
        verdict v = judge(b, &t);
        if (v == EXCLUDED && (t.count = turn(g, &t.left, t.steps, t.count)) == 0)
            return true;
        /* no time; or all is settled: by this set a class leads, or nearly so */
        if (v == NOT_KNOWN || (v == MAY_LEAD && !take_step(b, &t)))
            break;
    }
    while (t.count > 0)
        undo_step(g, &t.left, &t.steps[--t.count]);
    return false;
}

bool cbx_pattern_none(cbx_pattern_branch *b, cbx_arena *arena)
{
    cbx_pattern_cache cache;
    bool              none = false;
    if (!cbx_pattern_cache_init(&cache, b->graph->view->n, arena)) {
        b->question.cache = &cache;
        none = search(b, arena);
        b->question.cache = NULL;
        b->question.fewest = b->question.most_left = NULL;
    }
    cbx_pattern_cache_free(&cache);
    return none;
}
