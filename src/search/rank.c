/* SPDX-License-Identifier: Apache-2.0 */
/* rank.c: which edits matter most.
 *
 * An edit's influence is what it alone would move the log-odds of the new class
 * against the old, to first order at the factual graph: one backward pass ranks
 * thousands of edits. */
#include "rank.h"

#include "deadline.h"
#include "edge_columns.h"
#include "edit_kind.h"
#include "error.h"
#include "newcomers.h"
#include "settable.h"
#include "sort.h"

static int by_influence(const void *a, const void *b)
{
    const cbx_edit *x = a, *y = b;
    if (x->influence != y->influence)
        return x->influence > y->influence ? -1 : 1;
    return cbx_edit_compare(x, y);
}

/* Derivatives at the factual graph. */
typedef struct slopes {
    int32_t           rows; /* of dX */
    float            *dX, *dw;
    float            *by_attr;   /* of attributes that are set; NULL: none is */
    float            *by_weight; /* of weights that are set; dw of a model of layers */
    float            *leaving;   /* cbx_pass's; NULL: nothing is pooled */
    bool              mean;      /* the model divides by the number of edges */
    const cbx_hiding *hiding;
} slopes;

/* Sum of dw over the slots source -> target that the edit removes or adds. */
static double edge_gradient(const cbx_view *v, int32_t source, int32_t target, int64_t edge,
                            const float *dw)
{
    double sum = 0;
    for (int64_t o = cbx_view_find_target(v, source, target);
         o < v->out_offset[source + 1] && v->out_target[o] == target; o++) {
        int64_t e = v->out_slot[o];
        if (edge < 0 || (v->edge ? v->edge[e] : e) == edge)
            sum += dw[e] * (v->weight ? v->weight[e] : 1);
    }
    return sum;
}

/* What a node's edges do, and its part in a pooling. */
static double node_influence(const cbx_view *v, int32_t i, const slopes *by)
{
    double sum = by->leaving ? by->leaving[i] : 0;
    for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
        sum -= by->dw[e] * (v->weight ? v->weight[e] : 1);
    for (int64_t o = v->out_offset[i]; o < v->out_offset[i + 1]; o++)
        if (v->out_target[o] != i) {
            int64_t e = v->out_slot[o];
            sum -= by->dw[e] * (v->weight ? v->weight[e] : 1);
        }
    return sum;
}

/* What a node does that comes. */
static double newcomer_influence(const cbx_search *s, const cbx_places *places, const cbx_edit *e,
                                 const slopes *by)
{
    const cbx_derivatives all = {by->dw, by->leaving, by->mean};
    int32_t          at = cbx_places_find(places, e->target);
    int32_t          k = at >= 0 ? cbx_newcomers_find(s->newcomers, e->source, at) : -1;
    return k >= 0 ? cbx_newcomers_gain(s->newcomers, k, by->hiding, &all) : 0;
}

/* Of the slots source -> target that the edit gives another weight. */
static double weight_influence(const cbx_view *v, int32_t source, int32_t target,
                               const cbx_edit *edit, const float *dw)
{
    double sum = 0;
    for (int64_t o = cbx_view_find_target(v, source, target);
         o < v->out_offset[source + 1] && v->out_target[o] == target; o++) {
        int64_t e = v->out_slot[o];
        if (edit->undirected || edit->edge < 0 || (v->edge ? v->edge[e] : e) == edit->edge)
            sum += (double)dw[e] * (edit->weight - (v->weight ? v->weight[e] : 1));
    }
    return sum;
}

/* The same of the slots that get another attribute; where these tell kinds, all of them. */
static double attribute_influence(const cbx_view *v, int32_t source, int32_t target,
                                  const cbx_edit *edit, const float *by_attr)
{
    double  sum = 0;
    int32_t column = cbx_edit_column(edit);
    for (int64_t o = cbx_view_find_target(v, source, target);
         by_attr && o < v->out_offset[source + 1] && v->out_target[o] == target; o++) {
        int64_t      e = v->out_slot[o];
        const float *own = cbx_view_attr(v, e);
        if (!(edit->undirected || edit->edge < 0 || (v->edge ? v->edge[e] : e) == edit->edge))
            continue;
        for (int32_t j = 0; j < v->edge_dim; j++)
            if (edit->attribute < 0 || j == column)
                sum += (double)by_attr[e * v->edge_dim + j] *
                       ((j == column ? edit->weight : 0) - own[j]);
    }
    return sum;
}

static double set_edge_influence(const cbx_view *v, int32_t source, int32_t target,
                                 const cbx_edit *e, const slopes *by)
{
    return e->attribute ? attribute_influence(v, source, target, e, by->by_attr)
                        : weight_influence(v, source, target, e, by->by_weight);
}

static double influence(const cbx_search *s, const cbx_places *places, const cbx_edit *e,
                        const slopes *by)
{
    int32_t      a, b, i;
    double       sum = 0;
    const float *dX = by->dX, *dw = by->dw;
    switch (e->op) {
    case CBX_REMOVE_EDGE:
    case CBX_ADD_EDGE:
        a = cbx_places_find(places, e->source);
        b = cbx_places_find(places, e->target);
        if (a < 0 || b < 0) /* too far away to be seen */
            return 0;
        sum = edge_gradient(s->view, a, b, e->undirected ? -1 : e->edge, dw);
        if (e->undirected && a != b)
            sum += edge_gradient(s->view, b, a, -1, dw);
        return e->op == CBX_REMOVE_EDGE ? -sum : sum;
    case CBX_SET_FEATURE:
        i = cbx_places_find(places, e->node);
        if (dX && i < by->rows)
            sum = (double)dX[(int64_t)i * s->X.cols + e->feature] * (e->to - e->from);
        break;
    case CBX_REMOVE_NODE:
        i = cbx_places_find(places, e->node);
        sum = i >= 0 ? node_influence(s->view, i, by) : 0;
        break;
    case CBX_SET_EDGE:
        a = cbx_places_find(places, e->source);
        b = cbx_places_find(places, e->target);
        sum = a >= 0 && b >= 0 ? set_edge_influence(s->view, a, b, e, by) : 0;
        if (e->undirected && a >= 0 && b >= 0 && a != b)
            sum += set_edge_influence(s->view, b, a, e, by);
        break;
    case CBX_ADD_NODE:
        sum = newcomer_influence(s, places, e, by);
        break;
    }
    return sum;
}

static bool has_some(const cbx_search *s, cbx_edit_op op)
{
    bool any = false;
    for (int64_t k = 0; k < s->num_edits && !any; k++)
        any = s->edits[k].op == op;
    return any;
}

/* The factual graph, where edges or nodes are added with them as they are before: not there. */
static cbx_status look_at(const cbx_search *s, cbx_search *at, cbx_newcomers *newcomers,
                          cbx_hiding *hiding, cbx_error *err)
{
    const cbx_driver *oracle = s->model->oracle;
    bool              edges = has_some(s, CBX_ADD_EDGE), nodes = has_some(s, CBX_ADD_NODE);
    cbx_search        with = *s;
    cbx_status        status = CBX_OK;
    *at = *s;
    *hiding = (cbx_hiding){.view = *s->view};
    if (oracle && oracle->backward_edges && has_some(s, CBX_SET_EDGE) &&
        (!cbx_view_settable_weights(&hiding->view, s->arena) ||
         (oracle->edge_dim && !cbx_view_settable_attrs(&hiding->view, s->arena))))
        return cbx_fail_memory(err);
    if (!edges && !nodes)
        return CBX_OK;
    if (edges)
        status = cbx_widen(s, s->edits, s->num_edits, &with, err);
    *at = with;
    if (!status && nodes)
        status = cbx_newcomers_of_edits(&with, s->edits, s->num_edits, newcomers, err);
    if (!status && nodes)
        status = cbx_newcomers_widen(&with, newcomers, at, err);
    if (!status && cbx_hiding_init(hiding, at, s->arena))
        status = cbx_fail_memory(err);
    return status;
}

cbx_status cbx_rank_edits(cbx_search *s, int32_t result, cbx_error *err)
{
    if (s->num_edits == 0)
        return CBX_OK;
    cbx_hiding      hiding;
    const cbx_view *v = &hiding.view;
    cbx_search      at;
    cbx_newcomers   newcomers;
    cbx_pass        pass;
    cbx_places      places;
    int32_t         C = s->model->num_classes;
    const double    edit = 200; /* multiplications in the time of one */
    cbx_status      status = look_at(s, &at, &newcomers, &hiding, err);
    if (!status)
        status = cbx_pass_init(&pass, s->model, v, &at.X, true, 1, s->arena, err);
    if (status)
        return status;
    int32_t rows = cbx_pass_input_rows(&pass);
    bool    features = has_some(s, CBX_SET_FEATURE);
    bool    pooled = s->model->task == CBX_GRAPH && !s->model->oracle;
    float  *dX = features ? CBX_NEW(s->arena, float, (size_t)rows *(size_t)s->X.cols) : NULL;
    float  *dw = CBX_NEW(s->arena, float, v->m), *dlogp = CBX_NEW0(s->arena, float, C);
    float  *leaving = pooled ? CBX_NEW0(s->arena, float, v->n) : NULL;
    pass.by_weight = v->set_weight ? CBX_NEW(s->arena, float, v->m) : NULL;
    pass.by_attr = v->set_attr ? CBX_NEW(s->arena, float, v->m * v->edge_dim) : NULL;
    if ((v->set_weight && !pass.by_weight) || (v->set_attr && !pass.by_attr) || (features && !dX) ||
        !dw || !dlogp || (pooled && !leaving) || cbx_places_init(&places, v))
        return cbx_fail_late(err);
    const slopes by = {rows,
                       dX,
                       dw,
                       pass.by_attr,
                       pass.by_weight ? pass.by_weight : dw,
                       leaving,
                       pass.uses[CBX_NORM_MEAN],
                       &hiding};
    pass.leaving = leaving;
    dlogp[s->prediction] = -1;
    dlogp[result] = 1;
    cbx_pass_forward(&pass, &at.X, hiding.w, 0, 0);
    cbx_pass_backward(&pass, dlogp, dX, dw, NULL);
    for (int64_t k = 0; k < s->num_edits && !cbx_out_of_time_at(k, edit); k++)
        s->edits[k].influence = (float)influence(&at, &places, &s->edits[k], &by);
    cbx_places_free(&places);
    if (cbx_time_is_up() ||
        cbx_sort(s->edits, s->num_edits, sizeof *s->edits, by_influence, s->arena))
        return cbx_fail_late(err);
    return CBX_OK;
}
