/* SPDX-License-Identifier: Apache-2.0 */
/* callback.c: a model that the caller runs.
 *
 * Each question is a graph as it would be: slots that a search has taken away are not in the edge
 * list, so a model that knows nothing of weights answers for the graph without them. Where there is
 * no gradient, or none by edges, differences of its answers stand in for it. They cost a question
 * each and serve for choosing what to try first, which is all that is done with them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "combinex/extend.h"
#include "deadline.h"
#include "error.h"
#include "model.h"
#include "model_output.h"
#include "sha256.h"

typedef struct model {
    cbx_oracle       oracle;
    cbx_model_output reading;
    void            *owned;  /* what the reading points to */
    bool             shared; /* the oracle is another's to free */
    char             hash[65];
} model;

/* Questions that a gradient by differences takes at most; nearest nodes come first. */
enum { MOST_DIFFERENCES = 4096 };

typedef struct run {
    const model    *model;
    const cbx_view *view;
    int32_t         rows, num_classes;
    int32_t         features;
    float          *x, *w; /* as last given: dense, and by slot */
    /* what is asked: the view's slots that are left, in order */
    int64_t *source, *target, *edge, *slot, *node, *graph_of;
    float   *weight;
    float   *scores;                /* rows x num_scores */
    double  *row;                   /* num_scores, and their gradient */
    float   *logp;                  /* rows x num_classes: of the last forward */
    float   *by_weight, *direction; /* what the gradient function writes and reads */
    bool     failed;                /* the last forward has no answer */
    /* rows x num_classes each: of the first so many slots, and of feature values from the first on
     */
    float  *differences;
    int64_t num_differences, num_by_edge, most_differences;
} run;

/* ---- asking */

static bool is_gone(const run *r, const float *w, int64_t e)
{
    bool nothing = cbx_view_weight(r->view, e) == 0; /* an edge all the same */
    return (r->view->removed && r->view->removed[e]) || (w[e] == 0 && !nothing);
}

/* The edges that are left, `without` (a slot; -1: none) apart. */
static cbx_asked_graph graph_of(run *r, int64_t without)
{
    const cbx_view *v = r->view;
    cbx_asked_graph g = {.num_nodes = v->n,
                         .num_features = r->features,
                         .num_graphs = r->graph_of ? v->num_graphs : 0,
                         .x = r->x,
                         .edge_source = r->source,
                         .edge_target = r->target,
                         .edge_weight = r->weight,
                         .graph_of = r->graph_of,
                         .node = r->node,
                         .edge = r->edge,
                         .num_rows = r->rows};
    for (int32_t i = 0; i < v->n; i++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
            if (e == without || is_gone(r, r->w, e))
                continue;
            r->source[g.num_edges] = v->source[e];
            r->target[g.num_edges] = i;
            r->weight[g.num_edges] = r->w[e];
            r->edge[g.num_edges] = v->edge ? v->edge[e] : e;
            r->slot[g.num_edges++] = e;
        }
    return g;
}

/* What the caller's function does is none of the thread's work, but its failure ends that. */
static bool stopped_by(int failure, cbx_deadline *here)
{
    cbx_deadline_here = here;
    if (failure)
        cbx_deadline_cancel();
    return failure != 0;
}

/* The log-probabilities of what is there now; false: none, and the work is over. */
static bool ask(run *r, int64_t without, float *logp)
{
    if (cbx_time_is_up()) {
        for (int64_t k = 0; k < (int64_t)r->rows * r->num_classes; k++)
            logp[k] = NAN;
        return false;
    }
    cbx_asked_graph   g = graph_of(r, without);
    const cbx_oracle *o = &r->model->oracle;
    cbx_deadline     *here = cbx_deadline_here;
    cbx_deadline_here = NULL;
    bool failed = stopped_by(o->predict(o->user, &g, r->scores), here);
    for (int32_t i = 0; i < r->rows; i++) {
        for (int32_t c = 0; c < o->num_scores; c++)
            r->row[c] = failed ? NAN : (double)r->scores[(int64_t)i * o->num_scores + c];
        cbx_model_output_forward(&r->model->reading, r->view, i, r->row,
                                 logp + (int64_t)i * r->num_classes);
    }
    return !failed && !cbx_out_of_time(CBX_LOOK_EVERY);
}

static void forward(void *self, const cbx_matrix *X, const float *w, float *log_probs)
{
    run *r = self;
    cbx_matrix_expand(X, r->view->n, r->x);
    if (r->view->m)
        memcpy(r->w, w, (size_t)r->view->m * sizeof *w);
    r->failed = !ask(r, -1, r->logp);
    memcpy(log_probs, r->logp, (size_t)r->rows * (size_t)r->num_classes * sizeof *log_probs);
}

/* ---- gradients */

/* What the caller's gradient function says; false: it failed. */
static bool ask_gradient(run *r, const float *dlogp, float *dX, float *dw)
{
    cbx_asked_graph   g = graph_of(r, -1);
    const cbx_oracle *o = &r->model->oracle;
    for (int32_t i = 0; i < r->rows; i++) {
        int64_t at = (int64_t)i * r->num_classes;
        double *by = r->row + o->num_scores;
        for (int32_t c = 0; c < o->num_scores; c++)
            r->row[c] = (double)r->scores[(int64_t)i * o->num_scores + c];
        cbx_model_output_backward(&r->model->reading, r->view, i, r->row, r->logp + at, dlogp + at,
                                  by);
        for (int32_t c = 0; c < o->num_scores; c++)
            r->direction[(int64_t)i * o->num_scores + c] = (float)by[c];
    }
    cbx_deadline *here = cbx_deadline_here;
    cbx_deadline_here = NULL;
    if (stopped_by(o->gradient(o->user, &g, r->direction, dX, dw ? r->by_weight : NULL), here))
        return false;
    for (int64_t k = 0; dw && k < g.num_edges; k++)
        dw[r->slot[k]] = r->by_weight[k];
    return true;
}

/* The next difference: what the question beside the last forward's changed, by a step. */
static bool differ(run *r, int64_t without, double step)
{
    int64_t size = (int64_t)r->rows * r->num_classes;
    float  *to = r->differences + r->num_differences * size;
    if (!ask(r, without, to))
        return false;
    for (int64_t k = 0; k < size; k++) {
        double moved = ((double)to[k] - (double)r->logp[k]) / step;
        to[k] = isfinite(moved) ? (float)moved : 0;
    }
    r->num_differences++;
    return true;
}

/* A step of a feature: a whole one for whole numbers, which may be codes, and towards 0 from
 * elsewhere; a small one else. */
static float step_of(float x)
{
    if (x != rintf(x))
        return 0.01F * fmaxf(1, fabsf(x));
    return x > 0 ? -1 : 1;
}

/* Differences at the first point where they are wanted. They are used at later ones as well: what
 * promises most is tried there anyway, and asking again for all of them would cost more than that.
 * An edge's is that of its removal. */
static void take_differences(run *r)
{
    int64_t count = (int64_t)r->view->n * r->features;
    bool    more = true;
    for (int64_t e = 0; more && e < r->num_by_edge; e++)
        more = differ(r, e, r->w[e] != 0 ? -(double)r->w[e] : -1);
    for (int64_t k = 0; more && k < count && r->num_differences < r->most_differences; k++) {
        float before = r->x[k], step = step_of(before);
        r->x[k] = before + step;
        more = differ(r, -1, (double)step);
        r->x[k] = before;
    }
}

static float slope(const run *r, int64_t difference, const float *dlogp)
{
    int64_t      size = (int64_t)r->rows * r->num_classes;
    const float *by = r->differences + difference * size;
    double       sum = 0;
    for (int64_t k = 0; k < size; k++)
        sum += (double)dlogp[k] * (double)by[k];
    return (float)sum;
}

static void backward(void *self, const float *dlogp, float *dX, float *dw)
{
    run              *r = self;
    const cbx_oracle *o = &r->model->oracle;
    if (dX)
        memset(dX, 0, (size_t)r->view->n * (size_t)r->features * sizeof *dX);
    if (dw)
        memset(dw, 0, (size_t)r->view->m * sizeof *dw);
    if (r->failed || cbx_time_is_up())
        return;
    float *by_weight = o->follows_weights ? dw : NULL;
    if (o->gradient && (dX || by_weight) && !ask_gradient(r, dlogp, dX, by_weight))
        return;
    if (r->most_differences && !r->num_differences)
        take_differences(r);
    for (int64_t k = 0; k < r->num_differences; k++)
        if (k < r->num_by_edge && dw)
            dw[k] = slope(r, k, dlogp);
        else if (k >= r->num_by_edge && dX)
            dX[k - r->num_by_edge] = slope(r, k, dlogp);
}

/* ---- making ready */

static bool list_nodes(run *r, bool graphs, cbx_arena *arena)
{
    const cbx_view *v = r->view;
    r->node = CBX_NEW(arena, int64_t, v->n);
    r->graph_of = graphs ? CBX_NEW0(arena, int64_t, v->n) : NULL;
    if (!r->node || (graphs && !r->graph_of))
        return false;
    for (int32_t i = 0; i < v->n; i++)
        r->node[i] = v->node ? v->node[i] : i;
    for (int32_t g = 0; graphs && v->graph_ptr && g < v->num_graphs; g++)
        for (int32_t i = v->graph_ptr[g]; i < v->graph_ptr[g + 1]; i++)
            r->graph_of[i] = g;
    return true;
}

/* How many questions stand in for a gradient: of edges where it has none by these, of features
 * where it has none at all. */
static void plan_differences(run *r, bool gradient)
{
    const cbx_oracle *o = &r->model->oracle;
    int64_t           values = (int64_t)r->view->n * r->features, m = r->view->m;
    if (!gradient || (o->gradient && o->follows_weights))
        return;
    r->num_by_edge = m < MOST_DIFFERENCES ? m : MOST_DIFFERENCES;
    int64_t left = MOST_DIFFERENCES - r->num_by_edge;
    r->most_differences = r->num_by_edge + (o->gradient ? 0 : values < left ? values : left);
}

static cbx_status open(const void *self, const cbx_view *view, const cbx_matrix *X, bool gradient,
                       cbx_arena *arena, void **out, cbx_error *err)
{
    const model *m = self;
    bool         graphs = m->oracle.task == CBX_GRAPH;
    size_t       n = (size_t)view->n, slots = (size_t)view->m;
    run         *r = CBX_NEW0(arena, run, 1);
    *out = r;
    if (!r)
        return cbx_fail_memory(err);
    *r = (run){.model = m,
               .view = view,
               .rows = graphs ? view->num_graphs : cbx_view_rows(view, 0),
               .num_classes = cbx_model_output_classes(&m->reading),
               .features = X->cols};
    size_t rows = (size_t)r->rows, S = (size_t)m->oracle.num_scores, C = (size_t)r->num_classes;
    r->x = CBX_NEW(arena, float, n *(size_t)r->features);
    r->w = CBX_NEW(arena, float, slots);
    r->source = CBX_NEW(arena, int64_t, slots);
    r->target = CBX_NEW(arena, int64_t, slots);
    r->edge = CBX_NEW(arena, int64_t, slots);
    r->slot = CBX_NEW(arena, int64_t, slots);
    r->weight = CBX_NEW(arena, float, slots);
    r->by_weight = CBX_NEW(arena, float, gradient ? slots : 0);
    r->scores = CBX_NEW(arena, float, rows *S);
    r->direction = CBX_NEW(arena, float, rows *S);
    r->row = CBX_NEW(arena, double, 2 * S);
    r->logp = CBX_NEW(arena, float, rows *C);
    plan_differences(r, gradient);
    r->differences = CBX_NEW(arena, float, (size_t)r->most_differences *rows *C);
    bool made = r->x && r->w && r->source && r->target && r->edge && r->slot && r->weight &&
                r->by_weight && r->scores && r->direction && r->row && r->logp && r->differences;
    return made && list_nodes(r, graphs, arena) ? CBX_OK : cbx_fail_memory(err);
}

/* ---- the model */

static void hash(const void *self, char hex[65])
{
    memcpy(hex, ((const model *)self)->hash, 65);
}

static void free_model(void *self)
{
    model *m = self;
    if (m->oracle.free && !m->shared)
        m->oracle.free(m->oracle.user);
    free(m->owned);
    free(m);
}

static const cbx_model_output *reading_of(const void *self)
{
    return &((const model *)self)->reading;
}

static void *read_as(const void *self, const cbx_model_output *reading, void *owned)
{
    model *m = malloc(sizeof *m);
    if (!m)
        return NULL;
    *m = *(const model *)self;
    m->reading = *reading;
    m->owned = owned;
    m->shared = true;
    return m;
}

static cbx_status check(const cbx_oracle *o, cbx_error *err)
{
    if (o->task != CBX_NODE && o->task != CBX_GRAPH)
        return cbx_fail(err, CBX_INVALID, "oracle: task is %d, expected CBX_NODE or CBX_GRAPH",
                        (int)o->task);
    if (o->num_features < 0 || o->num_scores < 1 || o->num_scores > INT32_MAX / 2)
        return cbx_fail(err, CBX_INVALID,
                        "oracle: %d features and %d scores of a row, expected at least 0 and 1",
                        o->num_features, o->num_scores);
    if (o->hops < -1 || o->hops > INT32_MAX / 4)
        return cbx_fail(err, CBX_INVALID, "oracle: hops is %d, expected a number of steps, or -1",
                        o->hops);
    if (!o->predict)
        return cbx_fail(err, CBX_INVALID, "oracle: there is no function predict");
    return CBX_OK;
}

cbx_status cbx_model_of_oracle(const cbx_oracle *oracle, cbx_model **out, cbx_error *err)
{
    *out = NULL;
    cbx_model_output reading;
    const void      *said = NULL;
    cbx_status       status = check(oracle, err);
    if (!status)
        status = cbx_options_fields(oracle->reading, cbx_open_table(), &said, err);
    if (!status)
        status = cbx_model_output_make(said, CBX_MEANS_AUTO, oracle->num_scores, "oracle", &reading,
                                       err);
    if (status)
        return status;
    model *m = calloc(1, sizeof *m);
    if (!m)
        return cbx_fail_memory(err);
    cbx_sha256 sha;
    cbx_sha256_init(&sha);
    cbx_sha256_add(&sha, oracle->name, oracle->name ? strlen(oracle->name) : 0);
    cbx_sha256_hex(&sha, m->hash);
    m->oracle = *oracle;
    m->oracle.name = NULL; /* borrowed */
    m->oracle.free = NULL; /* until nothing can fail any more */
    m->reading = reading;
    m->oracle.reading = NULL; /* borrowed, too */
    cbx_driver driver = {.kind = "callback",
                         .model = m,
                         .hops = oracle->hops < 0 ? CBX_HOPS_ALL : oracle->hops,
                         .takes_weights = true,
                         .one_graph = oracle->one_graph,
                         .estimates = !oracle->gradient || !oracle->follows_weights,
                         .open = open,
                         .forward = forward,
                         .backward = backward,
                         .reading = reading_of,
                         .read_as = read_as,
                         .hash = hash,
                         .free = free_model};
    status = cbx_model_output_name(&reading, said, "oracle", driver.class_names, err);
    if (status) {
        free_model(m);
        return status;
    }
    status = cbx_model_run_by(&driver, oracle->task, oracle->num_features,
                              cbx_model_output_classes(&m->reading), out, err);
    if (!status)
        m->oracle.free = oracle->free;
    return status;
}
