/* SPDX-License-Identifier: Apache-2.0 */
/* edits.c: see edits.h. */
#include "edits.h"

#include <math.h>
#include <string.h>

#include "costs.h"

/* ---- edits, as the answer has them */

static bool removes(const world *w, const cbx_edit *e, int edge)
{
    bool forth = w->source[edge] == e->source && w->target[edge] == e->target;
    bool back = w->source[edge] == e->target && w->target[edge] == e->source;
    return e->undirected ? forth || back : forth && (e->edge < 0 || e->edge == edge);
}

static bool are_alike(const world *w, int a, int b)
{
    bool alike = true;
    for (int j = 0; j < w->features; j++)
        alike = alike && feature_of(w, a, j) == feature_of(w, b, j);
    return alike;
}

/* Which newcomer the edit adds; -1: none. */
static int newcomer_of(const question *q, const cbx_edit *e)
{
    const world *w = &q->world;
    bool         own = e->source >= first_node(q) && e->source < end_node(q);
    for (int k = 0; k < w->newcomers && own; k++)
        if (w->at[k] == e->target && are_alike(w, w->copied[k], e->source))
            return k;
    return -1;
}

/* A one-hot group that points elsewhere is one change of two edits. */
static bool same_change(const question *q, const cbx_edit *a, const cbx_edit *b)
{
    return a == b || (a->op == CBX_SET_FEATURE && b->op == CBX_SET_FEATURE && a->node == b->node &&
                      q->group[a->feature] >= 0 && q->group[a->feature] == q->group[b->feature]);
}

void make_edits(const question *q, const cbx_counterfactual *a, int64_t but, edited *out)
{
    const world *w = &q->world;
    edit_nothing(q, out);
    for (int64_t k = 0; k < a->num_edits; k++) {
        const cbx_edit *e = &a->edits[k];
        if (but >= 0 && same_change(q, e, &a->edits[but]))
            continue;
        if (e->op == CBX_SET_FEATURE)
            out->x[e->node * w->features + e->feature] = e->to;
        if (e->op == CBX_REMOVE_NODE && e->node >= 0 && e->node < w->nodes)
            out->lost[e->node] = 1;
        if (e->op == CBX_ADD_NODE && newcomer_of(q, e) >= 0)
            out->came[newcomer_of(q, e)] = 1;
        for (int i = 0; i < w->edges && e->op == CBX_SET_EDGE; i++)
            out->weight[i] = removes(w, e, i) ? e->weight : out->weight[i];
        for (int i = 0; i < w->edges && e->op == CBX_REMOVE_EDGE; i++)
            out->gone[i] |= removes(w, e, i);
        for (int i = w->edges; i < w->edges + w->offered && e->op == CBX_ADD_EDGE; i++)
            out->gone[i] |= removes(w, e, i);
    }
}

outcome ask_edited(const question *q, const cbx_counterfactual *a, const edited *e)
{
    naive_graph graph;
    build_graph(q, e, &graph);
    return ask_naive(q, &graph, a->prediction, a->target);
}

/* ---- is every edit one that may be made? NULL: yes. */

static const char *wrong_edge(const question *q, const cbx_edit *e)
{
    const world *w = &q->world;
    bool         there = false;
    for (int i = 0; i < w->edges; i++)
        there = there || removes(w, e, i);
    if (!there)
        return "removes an edge that is not there";
    if (e->undirected == q->directed)
        return "removes an edge the other way than was asked for";
    return may_lose_edges(q, e->source, e->target) ? NULL : "removes an edge that must stay";
}

static const char *wrong_addition(const question *q, const cbx_edit *e)
{
    const world *w = &q->world;
    bool         offered = false;
    for (int i = w->edges; i < w->edges + w->offered; i++)
        offered = offered || (removes(w, e, i) && e->weight == w->edge_weight[i]);
    if (!offered || !may_get_edge(q, e->source, e->target))
        return "adds an edge that may not be added";
    return e->undirected == q->directed ? "adds an edge the other way than was asked for" : NULL;
}

static const char *wrong_weight(const question *q, const cbx_edit *e)
{
    const world *w = &q->world;
    float        lo = INFINITY, hi = -INFINITY, own = NAN;
    for (int i = 0; i < w->edges; i++) {
        lo = fminf(lo, w->edge_weight[i]);
        hi = fmaxf(hi, w->edge_weight[i]);
        own = removes(w, e, i) ? w->edge_weight[i] : own;
    }
    if (isnan(own))
        return "weighs an edge that is not there";
    if (e->undirected == q->directed)
        return "weighs an edge the other way than was asked for";
    if (!(e->weight >= lo && e->weight <= hi))
        return "gives an edge a weight that no other has come near";
    return may_weigh(q, e->source, e->target) ? NULL : "weighs an edge that must stay as it is";
}

static const char *wrong_node(const question *q, const cbx_edit *e)
{
    if (e->node < 0 || e->node >= q->world.nodes)
        return "removes a node that is not there";
    return may_lose_node(q, e->node) ? NULL : "removes a node that must stay";
}

static const char *wrong_newcomer(const question *q, const cbx_edit *e)
{
    int newcomer = newcomer_of(q, e);
    if (newcomer < 0 || !may_get_node(q, newcomer))
        return "adds a node that may not be added";
    if (e->undirected == q->directed)
        return "adds a node with an edge the other way than was asked for";
    return e->weight == middle_weight(&q->world) ? NULL : "adds a node with an unusual edge";
}

static const char *wrong_feature(const question *q, const cbx_edit *e)
{
    const world *w = &q->world;
    if (e->node < 0 || e->node >= w->nodes || e->feature < 0 || e->feature >= w->features)
        return "sets a feature that is not there";
    if (e->from != feature_of(w, e->node, e->feature))
        return "says that a feature was what it was not";
    if (e->to == e->from)
        return "sets a feature to what it is";
    if (!may_change_node(q, e->node) || q->fixed[e->feature])
        return "sets a feature that must stay";
    if (q->discrete[e->feature] && e->to != rintf(e->to))
        return "sets a discrete feature to a fraction";
    if (e->group != 0 && q->group[e->feature] < 0)
        return "names a one-hot group where there is none";
    return may_become(q, e->node, e->feature, e->to) ? NULL
                                                     : "sets a feature to what is not permitted";
}

bool same_place(const cbx_edit *a, const cbx_edit *b)
{
    if (a->op != b->op)
        return false;
    if (a->op == CBX_SET_FEATURE)
        return a->node == b->node && a->feature == b->feature;
    if (a->op == CBX_REMOVE_NODE)
        return a->node == b->node;
    bool back =
        a->op != CBX_ADD_NODE && a->undirected && a->source == b->target && a->target == b->source;
    return back || (a->source == b->source && a->target == b->target && a->edge == b->edge);
}

/* Of every group that is edited exactly one feature is on. */
static bool one_hot_holds(const question *q, const cbx_counterfactual *a, const edited *e)
{
    const world *w = &q->world;
    for (int64_t k = 0; k < a->num_edits; k++) {
        const cbx_edit *edit = &a->edits[k];
        int             on = 0, off = 0, size = 0;
        if (edit->op != CBX_SET_FEATURE || q->group[edit->feature] < 0)
            continue;
        for (int j = 0; j < w->features; j++)
            if (q->group[j] == q->group[edit->feature]) {
                on += e->x[edit->node * w->features + j] == 1;
                off += e->x[edit->node * w->features + j] == 0;
                size++;
            }
        if (on != 1 || off != size - 1)
            return false;
    }
    return true;
}

static bool atoms_hold(const question *q, const edited *e)
{
    const world *w = &q->world;
    for (int i = 0; i < w->nodes; i++)
        for (int was = 0; was < w->features; was++)
            for (int is = 0; is < w->features && q->atoms >= 0; is++)
                if (q->group[was] == q->atoms && q->group[is] == q->atoms && was != is &&
                    feature_of(w, i, was) == 1 && feature_of(w, i, is) == 0 &&
                    e->x[i * w->features + is] == 1 && !are_exchangeable(q, was, is))
                    return false;
    return true;
}

static int64_t changes_of(const question *q, const cbx_counterfactual *a)
{
    int64_t changes = 0;
    for (int64_t k = 0; k < a->num_edits; k++)
        changes += a->edits[k].op != CBX_SET_FEATURE || q->group[a->edits[k].feature] < 0 ||
                   a->edits[k].to != 0;
    return changes;
}

/* Of a limit, by which two ways to work something out may differ. */
static const double SLACK = 1e-5;

bool change_together(const question *q, const edited *e)
{
    for (int i = 0; i < q->world.nodes; i++)
        if (!changes_together(q, i, e->x + (size_t)i * (size_t)q->world.features))
            return false;
    return is_plausible(q, e->x, -SLACK) && keeps(q, e->gone, e->lost, e->came);
}

static int64_t count_of(const cbx_counterfactual *a, cbx_edit_op op)
{
    int64_t count = 0;
    for (int64_t k = 0; k < a->num_edits; k++)
        count += a->edits[k].op == op;
    return count;
}

const char *wrong_edits(const question *q, const cbx_counterfactual *a, const edited *e)
{
    for (int64_t k = 0; k < a->num_edits; k++) {
        const cbx_edit *edit = &a->edits[k];
        const char     *wrong = edit->op == CBX_REMOVE_EDGE   ? wrong_edge(q, edit)
                                : edit->op == CBX_ADD_EDGE    ? wrong_addition(q, edit)
                                : edit->op == CBX_REMOVE_NODE ? wrong_node(q, edit)
                                : edit->op == CBX_SET_EDGE    ? wrong_weight(q, edit)
                                : edit->op == CBX_ADD_NODE    ? wrong_newcomer(q, edit)
                                                              : wrong_feature(q, edit);
        if (wrong)
            return wrong;
        for (int64_t b = 0; b < k; b++) {
            const cbx_edit *other = &a->edits[b];
            bool            told = edit->op == CBX_SET_FEATURE && other->op == CBX_SET_FEATURE &&
                        edit->group > 0 && edit->group == other->group;
            if (same_place(edit, other))
                return "has an edit twice";
            if (same_change(q, edit, other) != (told && edit->node == other->node))
                return "does not tell which edits are one change";
        }
    }
    if (q->max_edits && changes_of(q, a) > q->max_edits)
        return "has more edits than are allowed";
    if ((q->max_added && count_of(a, CBX_ADD_EDGE) + count_of(a, CBX_ADD_NODE) > q->max_added) ||
        (q->max_removed && count_of(a, CBX_REMOVE_EDGE) > q->max_removed))
        return "adds or removes more edges than are allowed";
    if (!one_hot_holds(q, a, e))
        return "leaves a one-hot group that is not one-hot";
    if (!atoms_hold(q, e))
        return "makes an atom one of another valence";
    if (!is_plausible(q, e->x, SLACK))
        return "is more unusual than is allowed";
    for (int i = 0; i < q->world.nodes; i++)
        if (!changes_together(q, i, e->x + (size_t)i * (size_t)q->world.features))
            return "changes a feature without what it may change with";
    if (!is_possible(q, e->gone, e->lost, e->came))
        return "leaves no node, or adds something to one that it removes";
    return keeps(q, e->gone, e->lost, e->came) ? NULL : "takes away what was to be kept";
}

/* A hundredth of what the values of the data span, or 1 where they are counted; none where there is
 * nothing between, or the way back leads out of what is permitted. */
static float step_of(const question *q, const cbx_edit *e)
{
    const world *w = &q->world;
    float        lo = INFINITY, hi = -INFINITY, room = q->hi[e->feature] - q->lo[e->feature];
    bool         whole = true;
    for (int i = 0; i < w->nodes; i++) {
        float v = feature_of(w, i, e->feature);
        lo = fminf(lo, v);
        hi = fmaxf(hi, v);
        whole = whole && v == rintf(v);
    }
    bool counted = q->kinds_auto ? whole : w->discrete[e->feature];
    if (!has_between(q, e->feature) || e->from < q->lo[e->feature] || e->from > q->hi[e->feature] ||
        q->step[e->feature] > 0)
        return 0;
    return counted ? 1 : (hi > lo ? hi - lo : room) / 100;
}

int64_t wrong_step(const question *q, const cbx_counterfactual *a)
{
    for (int64_t k = 0; k < a->num_edits; k++) {
        const cbx_edit *e = &a->edits[k];
        if (e->op == CBX_SET_FEATURE && fabsf(e->step - step_of(q, e)) > 1e-6F * e->step)
            return k;
    }
    return -1;
}

/* ---- are the numbers right? NULL: yes. */

bool are_close(const question *q, const float *told, const outcome *o)
{
    for (int c = 0; c < q->gnn.classes; c++)
        if (fabs((double)told[c] - o->log_probs[c]) > 100 * o->blur)
            return false;
    return true;
}

double lead_of(const question *q, const outcome *o, int class)
{
    double others = -INFINITY;
    for (int c = 0; c < q->gnn.classes; c++)
        others = c == class ? others : fmax(others, o->log_probs[c]);
    return o->log_probs[class] - others;
}

/* It may be missing where there was no time for it. */
static bool plausibility_is_right(const question *q, const cbx_counterfactual *a)
{
    edited e;
    make_edits(q, a, -1, &e);
    double is = plausibility_of(q, e.x);
    if (isnan(a->plausibility))
        return isnan(is) || has_rule(q, RULE_TIME_LIMIT) || a->reason[0];
    return fabs(a->plausibility - is) <= 1e-4 * fmax(1, is);
}

const char *wrong_numbers(const question *q, const cbx_counterfactual *a, const outcome *o)
{
    int64_t edges = 0, added = 0, nodes = 0, weights = 0, came = 0;
    for (int64_t k = 0; k < a->num_edits; k++) {
        edges += a->edits[k].op == CBX_REMOVE_EDGE;
        added += a->edits[k].op == CBX_ADD_EDGE;
        nodes += a->edits[k].op == CBX_REMOVE_NODE;
        weights += a->edits[k].op == CBX_SET_EDGE;
        came += a->edits[k].op == CBX_ADD_NODE;
    }
    if (a->num_edits < 1 || nodes != a->num_nodes_removed || weights != a->num_edges_reweighted ||
        edges != a->num_edges_removed || added != a->num_edges_added ||
        came != a->num_nodes_added ||
        a->num_edits - edges - added - nodes - weights - came != a->num_features_changed)
        return "counts its edits wrongly";
    if (!a->after || !are_close(q, a->after, o))
        return "has other log-probabilities than the edited graph";
    if (a->result != o->best && o->lead > o->blur)
        return "names another class than the edited graph's";
    if (fabs(a->margin - lead_of(q, o, a->result)) > 100 * o->blur)
        return "has another margin than the edited graph";
    if (a->threshold != q->threshold)
        return "has another threshold than was asked for";
    if (!plausibility_is_right(q, a))
        return "has another plausibility than its rows";
    return has_rule(q, RULE_METHOD) ? NULL : wrong_cost(q, a);
}
