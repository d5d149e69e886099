/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c: the oracle on the edited graph, with edges really removed.
 *
 * Graph tasks run on the whole graph, node tasks on the whole of it too while it
 * is of moderate size. For one node of a large graph that would be mostly idle
 * work: there the oracle runs on exactly what the node's class depends on
 * (cbx_view_cone), which gives the same numbers; a model without layers, which may look along edges
 * either way, on all that lies around it. It shares no code with the search
 * but the model itself. */
#include "verify.h"

#include <math.h>
#include <string.h>

#include "added.h"
#include "blas.h"
#include "column_names.h"
#include "deadline.h"
#include "edit_kind.h"
#include "error.h"
#include "class_order.h"
#include "order.h"
#include "pass.h"
#include "receptive.h"
#include "sort.h"
#include "with_nodes.h"
#include "without_nodes.h"

/* Nodes up to which the whole graph is run. */
enum { MODERATE = 64 };

/* Multiplications in the time of an edit, and of an edge that is looked at. */
static const double EDIT = 200, SLOT = 2;

/* Some edits of the view, in two lists (which may be one): those by which edges and nodes go, and
 * those by which features change; the other kind is ignored in each. And nodes that come. */
typedef struct edit_lists {
    const cbx_edit *edges, *features;
    int64_t         num_edges, num_features;
    cbx_new_node   *new_nodes; /* by the graph's numbers */
    int32_t         num_new_nodes;
} edit_lists;

/* What is left once the nodes that go are gone. `row` becomes its new number. */
static cbx_status take_nodes_out(const cbx_places *places, const edit_lists *edits, cbx_view *view,
                                 cbx_matrix *X, int32_t *row, cbx_arena *arena, cbx_error *err)
{
    const cbx_view   all = *view;
    const cbx_matrix rows = *X;
    uint8_t         *gone = CBX_NEW(arena, uint8_t, all.n);
    int32_t          before = 0;
    if (!gone)
        return cbx_fail_memory(err);
    if (!cbx_edits_mark_nodes(places, edits->edges, edits->num_edges, gone))
        return CBX_OK;
    cbx_status status = cbx_view_without_nodes(&all, gone, NULL, arena, view, err);
    if (!status)
        status = cbx_matrix_without_rows(&rows, gone, all.n, arena, X, err);
    for (int32_t i = 0; !all.graph_ptr && i < *row; i++)
        before += gone[i];
    *row -= before;
    return status;
}

/* And with those that come, which hang on nodes that stay. */
static cbx_status put_nodes_in(const cbx_graph *graph, const edit_lists *edits, cbx_view *view,
                               cbx_matrix *X, cbx_arena *arena, cbx_error *err)
{
    const cbx_view   before = *view;
    const cbx_matrix rows = *X;
    int32_t          count = edits->num_new_nodes;
    cbx_new_node    *nodes = CBX_NEW(arena, cbx_new_node, count);
    if (!nodes)
        return cbx_fail_memory(err);
    for (int32_t k = 0; k < count; k++) {
        nodes[k] = edits->new_nodes[k];
        nodes[k].at = 0;
        while (before.node[nodes[k].at] != edits->new_nodes[k].at)
            nodes[k].at++;
    }
    cbx_status status =
        cbx_view_with_nodes(&before, nodes, count, cbx_graph_num_edges(graph), arena, view, err);
    return status ? status : cbx_features_with_nodes(graph, view, &rows, arena, X, err);
}

static cbx_status run(const cbx_model *model, const cbx_graph *graph, const cbx_view *view,
                      const edit_lists *edits, int32_t row, cbx_arena *arena, float *log_probs,
                      cbx_error *err)
{
    cbx_places places;
    cbx_view   edited;
    cbx_matrix X, X_edited;
    cbx_pass   pass;
    uint8_t   *drop = CBX_NEW(arena, uint8_t, view->m);
    if (!drop || cbx_places_init(&places, view))
        return cbx_fail_late(err);
    cbx_status status = cbx_view_features(graph, view, arena, &X, err);
    if (!status)
        status = cbx_edits_mark(graph, &places, edits->edges, edits->num_edges, drop, err);
    if (!status)
        status = cbx_view_without(view, drop, arena, &edited, err);
    if (!status)
        status = cbx_features_edited(&places, &X, edits->features, edits->num_features, arena,
                                     &X_edited, err);
    if (!status)
        status = take_nodes_out(&places, edits, &edited, &X_edited, &row, arena, err);
    if (!status && edits->num_new_nodes)
        status = put_nodes_in(graph, edits, &edited, &X_edited, arena, err);
    if (!status)
        status = cbx_pass_init(&pass, model, &edited, &X_edited, false, 1, arena, err);
    if (!status) {
        cbx_pass_forward(&pass, &X_edited, NULL, 0, 0);
        memcpy(log_probs, pass.logp + (int64_t)row * model->num_classes,
               (size_t)model->num_classes * sizeof *log_probs);
        status = cbx_time_is_up() ? cbx_fail_late(err) : CBX_OK;
    }
    cbx_places_free(&places);
    return status;
}

/* An edge into the last hop that is removed: its slot in the graph, and the node in
 * the cone. */
typedef struct lost_edge {
    int64_t slot;
    int32_t at;
} lost_edge;

static int by_slot(const void *a, const void *b)
{
    const lost_edge *x = a, *y = b;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

/* Counts the edges source -> target that the edit removes, and adds those into the
 * last hop's node `at` (-1: it is none) to `lost` (NULL: they are only counted). */
static int64_t find_slots(const cbx_graph *g, const cbx_edit *e, int32_t source, int32_t target,
                          int32_t at, lost_edge *lost, int64_t *num_lost)
{
    int64_t found = 0;
    for (int64_t s = g->in_offset[target]; s < g->in_offset[target + 1]; s++) {
        if (g->in_source[s] != source ||
            (!e->undirected && e->edge >= 0 && e->edge != cbx_graph_edge_id(g, s)))
            continue;
        found++;
        if (at >= 0 && lost)
            lost[*num_lost] = (lost_edge){s, at};
        *num_lost += at >= 0;
    }
    return found;
}

/* The same among the edges of the cone, which has all that lead to a node before the last hop.
 * `from` and `at`: its numbers of the edge's ends. */
static int64_t count_inside(const cbx_view *cone, const cbx_edit *e, int32_t from, int32_t at)
{
    int64_t found = 0;
    for (int64_t o = from < 0 ? 0 : cbx_view_find_target(cone, from, at);
         from >= 0 && o < cone->out_offset[from + 1] && cone->out_target[o] == at; o++)
        found += e->undirected || e->edge < 0 || e->edge == cone->edge[cone->out_slot[o]];
    return found;
}

/* What is left of the edges that the last hop's nodes have outside the cone. Edits
 * may name an edge more than once; it is lost once. -1: no memory, or no time. */
static int lose_edges(const cbx_graph *g, const cbx_view *cone, lost_edge *lost, int64_t count,
                      cbx_arena *arena)
{
    float *weights = (float *)cone->outside_weight, *numbers = (float *)cone->outside_count;
    if (cbx_sort(lost, count, sizeof *lost, by_slot, arena))
        return -1;
    for (int64_t k = 0; k < count;) { /* node by node: slots are grouped by target */
        int32_t      at = lost[k].at, v = cone->node[at];
        double       weight = 0, number = 0;
        cbx_in_edges in = cbx_graph_in_edges(g, v);
        if (cbx_out_of_time(SLOT * (double)in.count))
            return -1;
        for (int64_t i = 0; i < in.count; i++) {
            cbx_in_edge e = cbx_in_edges_at(g, &in, i);
            bool        stays = e.source != v; /* loops are inside */
            for (; i < in.own && k < count && lost[k].slot == in.begin + i; k++)
                stays = false;
            weight += stays ? (double)e.weight : 0;
            number += stays;
        }
        weights[at] = (float)weight;
        numbers[at] = (float)number;
    }
    return 0;
}

static double in_degree(const cbx_graph *g, int32_t node)
{
    return (double)(g->in_offset[node + 1] - g->in_offset[node]);
}

static cbx_status check_feature(const cbx_graph *g, const cbx_edit *e, int64_t k, cbx_error *err)
{
    if (e->node < 0 || e->node >= g->data.num_nodes)
        return cbx_fail(err, CBX_INVALID, "edit %lld: there is no node %d", (long long)k, e->node);
    if (e->feature < 0 || e->feature >= g->data.num_features)
        return cbx_fail(err, CBX_INVALID, "edit %lld: there is no feature %d of node %d",
                        (long long)k, e->feature, e->node);
    if (!isfinite(e->to))
        return cbx_fail(err, CBX_INVALID, "edit %lld sets feature %d of node %d to %g",
                        (long long)k, e->feature, e->node, (double)e->to);
    return CBX_OK;
}

static cbx_status check_node(const cbx_graph *g, const cbx_edit *e, int64_t k, cbx_error *err)
{
    return e->node >= 0 && e->node < g->data.num_nodes
               ? CBX_OK
               : cbx_fail(err, CBX_INVALID, "edit %lld: there is no node %d", (long long)k,
                          e->node);
}

/* In a cone an edge that goes can be inside, and goes like any other; lead into the last
 * hop, where that changes a degree; or be without influence. The first kind goes to `inside`
 * and the second to `lost` (NULL: they are only counted). Nodes that go are marked, too: their
 * edges into the last hop are lost. */
typedef struct sorted {
    cbx_edit  *inside;
    lost_edge *lost;
    int64_t    num_inside, num_lost;
    uint8_t   *gone; /* by the graph's node; NULL: none goes */
} sorted;

static void sort_node(const cbx_places *places, const cbx_edit *e, sorted *to)
{
    to->gone[e->node] = 1;
    if (cbx_places_find(places, e->node) >= 0)
        to->inside[to->num_inside++] = (cbx_edit){.op = CBX_REMOVE_NODE, .node = e->node};
}

/* The edges into the last hop that go with the node that they come from. */
static cbx_status lose_with_nodes(const cbx_graph *g, const cbx_view *cone, sorted *to,
                                  cbx_error *err)
{
    for (int32_t at = cone->prefix[cone->hops - 1]; to->gone && at < cone->n; at++) {
        int32_t v = cone->node[at];
        if (cbx_out_of_time(SLOT * in_degree(g, v)))
            return cbx_fail_late(err);
        for (int64_t s = g->in_offset[v]; s < g->in_offset[v + 1]; s++)
            if (to->gone[g->in_source[s]] && g->in_source[s] != v) {
                if (to->lost)
                    to->lost[to->num_lost] = (lost_edge){s, at};
                to->num_lost++;
            }
    }
    return CBX_OK;
}

static cbx_status sort_removal(const cbx_graph *g, const cbx_view *cone, const cbx_places *places,
                               const cbx_edit *e, int64_t k, sorted *to, cbx_error *err)
{
    int32_t last = cone->prefix[cone->hops - 1], n = g->data.num_nodes;
    int64_t found = 0;
    int     ways = e->undirected && e->source != e->target ? 2 : 1;
    for (int back = 0; back < ways; back++) {
        int32_t source = back ? e->target : e->source, target = back ? e->source : e->target;
        if (source < 0 || source >= n || target < 0 || target >= n)
            continue;
        int32_t at = cbx_places_find(places, target);
        bool    is_inside = at >= 0 && (at < last || source == target);
        if (cbx_out_of_time(is_inside ? EDIT : EDIT + SLOT * in_degree(g, target)))
            return cbx_fail_late(err);
        int64_t here = is_inside ? count_inside(cone, e, cbx_places_find(places, source), at)
                                 : find_slots(g, e, source, target, at, to->lost, &to->num_lost);
        found += here;
        if (here && is_inside)
            to->inside[to->num_inside++] = (cbx_edit){.op = CBX_REMOVE_EDGE,
                                                      .source = source,
                                                      .target = target,
                                                      .edge = e->undirected ? -1 : e->edge};
    }
    return found ? CBX_OK
                 : cbx_fail(err, CBX_INVALID, "edit %lld: there is no edge from node %d to node %d",
                            (long long)k, e->source, e->target);
}

/* Features are only looked at. */
static cbx_status sort_edits(const cbx_graph *g, const cbx_view *cone, const cbx_places *places,
                             const cbx_edit *edits, int64_t count, sorted *to, cbx_error *err)
{
    to->num_inside = to->num_lost = 0;
    for (int64_t k = 0; k < count; k++) {
        cbx_status status = cbx_edit_kind_check(&edits[k], k, err);
        if (status)
            return status;
        switch (edits[k].op) {
        case CBX_REMOVE_EDGE:
            status = sort_removal(g, cone, places, &edits[k], k, to, err);
            break;
        case CBX_SET_FEATURE:
            status = check_feature(g, &edits[k], k, err);
            break;
        case CBX_ADD_EDGE: /* the graph has it already */
        case CBX_SET_EDGE:
        case CBX_ADD_NODE: /* to graphs with a class, which have no cone */
            break;
        case CBX_REMOVE_NODE:
            status = check_node(g, &edits[k], k, err);
            if (!status)
                sort_node(places, &edits[k], to);
            break;
        }
        if (status)
            return status;
    }
    return lose_with_nodes(g, cone, to, err);
}

static cbx_status check_cone(const cbx_model *model, const cbx_graph *graph, int32_t row,
                             const cbx_edit *edits, int64_t count, cbx_arena *arena,
                             float *log_probs, cbx_error *err)
{
    cbx_view   cone;
    cbx_places places;
    sorted     to = {0};
    int64_t    num_removals = 0;
    bool       nodes = false;
    for (int64_t k = 0; k < count; k++) {
        nodes = nodes || edits[k].op == CBX_REMOVE_NODE;
        num_removals += edits[k].op == CBX_REMOVE_EDGE || edits[k].op == CBX_REMOVE_NODE;
    }
    to.inside = CBX_NEW(arena, cbx_edit, 2 * num_removals);
    to.gone = nodes ? CBX_NEW0(arena, uint8_t, graph->data.num_nodes) : NULL;
    if (!to.inside || (nodes && !to.gone))
        return cbx_fail_memory(err);
    cbx_status status = cbx_view_cone(graph, row, cbx_model_reach(model), arena, &cone, err);
    if (status)
        return status;
    if (cbx_places_init(&places, &cone))
        return cbx_fail_late(err);
    for (int pass = 0; pass < 2 && !status; pass++) { /* first to count, then to write */
        status = sort_edits(graph, &cone, &places, edits, count, &to, err);
        if (!status && !to.lost && !(to.lost = CBX_NEW(arena, lost_edge, to.num_lost)))
            status = cbx_fail_memory(err);
    }
    cbx_places_free(&places);
    if (status)
        return status;
    if (lose_edges(graph, &cone, to.lost, to.num_lost, arena))
        return cbx_fail_late(err);
    const edit_lists lists = {to.inside, edits, to.num_inside, count, NULL, 0};
    return run(model, graph, &cone, &lists, 0, arena, log_probs, err);
}

/* A cone knows incoming edges only; and a model that looks nowhere has none. */
static bool has_cone(const cbx_model *model)
{
    cbx_sight sight = cbx_model_sight(model);
    return (sight == CBX_SIGHT_MESSAGES || sight == CBX_SIGHT_DEGREES) &&
           cbx_model_reach(model) > 0;
}

/* Edges that go, as far as both their ends are in the view; the others must be there, too, but
 * touch nothing that the class depends on. */
static cbx_status keep_inside(const cbx_graph *g, const cbx_places *places, const cbx_edit *edits,
                              int64_t count, cbx_edit *inside, int64_t *num_inside, cbx_error *err)
{
    int32_t n = g->data.num_nodes;
    int64_t ignored = 0;
    *num_inside = 0;
    for (int64_t k = 0; k < count; k++) {
        const cbx_edit *e = &edits[k];
        cbx_status      status = cbx_edit_kind_check(e, k, err);
        if (!status && e->op == CBX_SET_FEATURE)
            status = check_feature(g, e, k, err);
        if (!status && e->op == CBX_REMOVE_NODE)
            status = check_node(g, e, k, err);
        if (status)
            return status;
        if (e->op == CBX_REMOVE_NODE && cbx_places_find(places, e->node) >= 0)
            inside[(*num_inside)++] = *e;
        if (e->op != CBX_REMOVE_EDGE)
            continue;
        bool known = e->source >= 0 && e->source < n && e->target >= 0 && e->target < n;
        if (known && cbx_places_find(places, e->source) >= 0 &&
            cbx_places_find(places, e->target) >= 0) {
            inside[(*num_inside)++] = *e;
            continue;
        }
        if (known && cbx_out_of_time(EDIT + SLOT * in_degree(g, e->target)))
            return cbx_fail_late(err);
        int64_t found = known ? find_slots(g, e, e->source, e->target, -1, NULL, &ignored) : 0;
        if (known && e->undirected)
            found += find_slots(g, e, e->target, e->source, -1, NULL, &ignored);
        if (!found)
            return cbx_fail(err, CBX_INVALID, "edit %lld: there is no edge from node %d to node %d",
                            (long long)k, e->source, e->target);
    }
    return CBX_OK;
}

/* A model that somebody else runs: the part of the graph that the class depends on, whichever way
 * edges lead, and one step more, so that all edges at its nodes are there. */
static cbx_status check_part(const cbx_model *model, const cbx_graph *graph, int32_t row,
                             const cbx_edit *edits, int64_t count, cbx_arena *arena,
                             float *log_probs, cbx_error *err)
{
    cbx_view   whole, part;
    cbx_places places;
    int64_t    num_inside = 0;
    cbx_edit  *inside = CBX_NEW(arena, cbx_edit, count);
    if (!inside)
        return cbx_fail_memory(err);
    cbx_status status = cbx_view_whole(graph, arena, &whole, err);
    if (!status)
        status = cbx_receptive_view(model, graph, &whole, row, INT32_MAX, arena, &part, err);
    if (status)
        return status;
    if (cbx_places_init(&places, &part))
        return cbx_fail_late(err);
    status = keep_inside(graph, &places, edits, count, inside, &num_inside, err);
    cbx_places_free(&places);
    const edit_lists lists = {inside, edits, num_inside, count, NULL, 0};
    return status ? status : run(model, graph, &part, &lists, 0, arena, log_probs, err);
}

cbx_status cbx_verify_row(const cbx_graph *graph, int32_t row, cbx_error *err)
{
    int32_t rows = cbx_graph_label_rows(graph);
    if (row >= 0 && row < rows)
        return CBX_OK;
    return cbx_fail(err, CBX_INVALID, "%s %d does not exist: there are 0 to %d",
                    graph->data.task == CBX_GRAPH ? "graph" : "node", row, rows - 1);
}

/* The class of one of many graphs. Nodes come to others without a part in it. */
static cbx_status check_graph(const cbx_model *model, const cbx_graph *graph, int32_t row,
                              edit_lists *lists, cbx_arena *arena, float *log_probs, cbx_error *err)
{
    cbx_view   view;
    int32_t    count = 0;
    cbx_status status = cbx_view_graphs(graph, &row, 1, arena, &view, err);
    for (int32_t k = 0; k < lists->num_new_nodes; k++)
        if (cbx_graph_of_node(graph, lists->new_nodes[k].at) == row)
            lists->new_nodes[count++] = lists->new_nodes[k];
    lists->num_new_nodes = count;
    return status ? status : run(model, graph, &view, lists, 0, arena, log_probs, err);
}

/* On a graph that has the edges which the edits add. */
static cbx_status check_rest(const cbx_model *model, const cbx_graph *graph, int32_t row,
                             edit_lists *lists, int32_t moderate, cbx_arena *arena,
                             float *log_probs, cbx_error *err)
{
    cbx_view        view;
    int32_t         rows = cbx_graph_label_rows(graph);
    const cbx_edit *edits = lists->edges;
    int64_t         count = lists->num_edges;
    if (graph->data.task == CBX_GRAPH)
        return check_graph(model, graph, row, lists, arena, log_probs, err);
    if (rows > moderate && has_cone(model))
        return check_cone(model, graph, row, edits, count, arena, log_probs, err);
    if (rows > moderate && model->oracle && cbx_receptive_is_known(model))
        return check_part(model, graph, row, edits, count, arena, log_probs, err);
    cbx_status status = cbx_view_whole(graph, arena, &view, err);
    return status ? status : run(model, graph, &view, lists, row, arena, log_probs, err);
}

/* A class cannot be that of a node that is gone. */
static cbx_status check_stays(const cbx_graph *graph, int32_t row, const cbx_edit *edits,
                              int64_t count, cbx_error *err)
{
    for (int64_t k = 0; k < count && graph->data.task != CBX_GRAPH; k++)
        if (edits[k].op == CBX_REMOVE_NODE && edits[k].node == row)
            return cbx_fail(err, CBX_INVALID,
                            "edit %lld removes node %d, which is the one that is explained",
                            (long long)k, row);
    return CBX_OK;
}

cbx_status cbx_verify_within(const cbx_model *model, const cbx_graph *graph, int32_t row,
                             const cbx_edit *edits, int64_t count, int32_t moderate,
                             float *log_probs, cbx_error *err)
{
    cbx_arena  arena = {0};
    cbx_graph  with;
    edit_lists lists = {edits, edits, count, count, NULL, 0};
    cbx_status status = cbx_model_fits_sizes(model, graph, err);
    if (!status)
        status = cbx_verify_row(graph, row, err);
    if (!status)
        status = check_stays(graph, row, edits, count, err);
    if (!status)
        status = cbx_blas_begin(err);
    if (status)
        return status;
    cbx_deadline deadline;
    bool         alone = cbx_deadline_begin_alone(&deadline);
    bool         before = cbx_order_fix(model->reproducible);
    status = cbx_graph_with_edges(graph, edits, count, &arena, &with, err);
    if (!status)
        status = cbx_edits_new_nodes(graph, edits, count, &arena, &lists.new_nodes,
                                     &lists.num_new_nodes, err);
    if (!status)
        status = check_rest(model, &with, row, &lists, moderate, &arena, log_probs, err);
    (void)cbx_order_fix(before);
    if (alone)
        cbx_deadline_end(&deadline);
    cbx_arena_free(&arena);
    return status;
}

cbx_status cbx_verify_edits(const cbx_model *model, const cbx_graph *graph, int32_t row,
                            const cbx_edit *edits, int64_t count, float *log_probs, cbx_error *err)
{
    return cbx_verify_within(model, graph, row, edits, count, MODERATE, log_probs, err);
}

cbx_status cbx_check_edits(const cbx_model *model, const cbx_graph *graph, int32_t row,
                           const cbx_edit *edits, int64_t count, float *log_probs, cbx_error *err)
{
    cbx_status status = cbx_verify_edits(model, graph, row, edits, count, log_probs, err);
    return !status && isnan(log_probs[0]) ? cbx_fail_overflow(graph, row, err) : status;
}

bool cbx_is_flip(const float *log_probs, int32_t num_classes, int32_t prediction, int32_t target,
                 double threshold)
{
    int32_t best = cbx_best_class(log_probs, num_classes, -1);
    return !isnan(log_probs[0]) && (target < 0 ? best != prediction : best == target) &&
           (threshold <= 0 || cbx_exp((double)log_probs[best]) >= threshold);
}
