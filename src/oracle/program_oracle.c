/* SPDX-License-Identifier: Apache-2.0 */
/* program_oracle.c: see program_oracle.h.
 *
 * A view becomes the program's inputs: its nodes are the rows of x, its slots the columns of
 * edge_index, its graphs the numbers of batch. A slot's weight w is what the search makes of the
 * graph's own, so the program's weight of that edge is their ratio: 1 for an edge as it is, 0 for
 * one that is gone. Weights and attributes of edges that the program takes are inputs of their own,
 * read each time where the view says that a search sets them. What its scores mean, a reading says.
 */
#include "program_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "model_output.h"

typedef struct model {
    cbx_program     *program;
    char             hash[65];
    int32_t          x, edges, batch, edge_weight, edge_attr; /* inputs; -1: it has none */
    cbx_model_output reading;
    void            *owned;  /* what the reading points to */
    bool             shared; /* the program is another's */
    bool             graphs; /* a row is a graph's, and not a node's */
} model;

typedef struct run {
    const model    *model;
    const cbx_view *view;
    cbx_runner     *runner;
    int32_t         rows, num_classes; /* of the answer */
    double         *scores;            /* of one row, and their gradient */
    float          *logp;              /* of the last forward: rows x num_classes */
    void           *scores_grad;       /* a row for each that the program gives, in its type */
    int64_t         num_scores;        /* of all rows */
} run;

/* ---- making ready */

static void free_runner(void *runner)
{
    cbx_runner_free(runner);
}

static int64_t *list_edges(const cbx_view *v, cbx_arena *arena)
{
    int64_t *ends = CBX_NEW(arena, int64_t, 2 * v->m);
    for (int32_t i = 0; i < v->n && ends; i++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
            ends[e] = v->source[e];
            ends[v->m + e] = i;
        }
    return ends;
}

static int64_t *list_graphs(const cbx_view *v, cbx_arena *arena)
{
    int64_t *batch = CBX_NEW0(arena, int64_t, v->n);
    for (int32_t g = 0; g < v->num_graphs && v->graph_ptr && batch; g++)
        for (int64_t i = v->graph_ptr[g]; i < v->graph_ptr[g + 1]; i++)
            batch[i] = g;
    return batch;
}

/* The i-th of some numbers of a type. */
static void put_real(void *to, cbx_type type, int64_t i, double value)
{
    if (type == CBX_INTEGER)
        ((int64_t *)to)[i] = (int64_t)value;
    else if (type == CBX_REAL64)
        ((double *)to)[i] = value;
    else
        ((float *)to)[i] = (float)value;
}

static double real_at(const void *from, cbx_type type, int64_t i)
{
    return type == CBX_REAL64 ? ((const double *)from)[i] : (double)((const float *)from)[i];
}

/* The edges' weights, in the type that the program takes. */
static void put_weights(const cbx_view *v, cbx_type type, void *to)
{
    for (int64_t e = 0; e < v->m; e++)
        put_real(to, type, e, cbx_view_weight(v, e));
}

/* Their attributes, likewise. */
static void put_attr(const cbx_view *v, cbx_type type, void *to)
{
    for (int64_t e = 0; e < v->m; e++)
        for (int64_t k = 0; k < v->edge_dim; k++)
            put_real(to, type, e * v->edge_dim + k, cbx_view_attr(v, e)[k]);
}

/* An input that has so many numbers of each edge; `set`: a search sets them. */
static cbx_status plan_edges(const run *r, int32_t input, int64_t wide, bool set, bool gradient,
                             void (*put)(const cbx_view *v, cbx_type type, void *to),
                             cbx_runner_input *in, cbx_arena *arena, cbx_error *err)
{
    if (input < 0)
        return CBX_OK;
    const cbx_view *v = r->view;
    cbx_type        type = cbx_program_describe(r->model->program)->inputs[input].type;
    void           *own = CBX_NEW(arena, double, v->m *wide);
    if (!own)
        return cbx_fail_memory(err);
    put(v, type, own);
    in[input] = (cbx_runner_input){.data = own,
                                   .size = {v->m, wide},
                                   .live = set,
                                   .gradient = set && gradient && cbx_is_real(type)};
    return CBX_OK;
}

/* All inputs but x, whose values come with each run; here only how many there are. */
static cbx_status plan(run *r, int32_t features, bool gradient, cbx_arena *arena, cbx_error *err)
{
    const model            *m = r->model;
    const cbx_view         *v = r->view;
    const cbx_program_info *info = cbx_program_describe(m->program);
    cbx_runner_input       *in = CBX_NEW0(arena, cbx_runner_input, info->num_inputs);
    int64_t                *edges = list_edges(v, arena), *batch = list_graphs(v, arena);
    double                 *zeros = CBX_NEW0(arena, double, (size_t)v->n *(size_t)features);
    if (!in || !edges || !batch || !zeros)
        return cbx_fail_memory(err);
    in[m->x] = (cbx_runner_input){
        .data = zeros, .size = {v->n, features}, .live = true, .gradient = gradient};
    in[m->edges] = (cbx_runner_input){.data = edges, .size = {2, v->m}, .weighted = true};
    if (m->batch >= 0)
        in[m->batch] = (cbx_runner_input){.data = batch, .size = {v->n}};
    cbx_status status = plan_edges(r, m->edge_weight, 1, v->set_weight != NULL, gradient,
                                   put_weights, in, arena, err);
    if (!status)
        status = plan_edges(r, m->edge_attr, v->edge_dim, v->set_attr != NULL, gradient, put_attr,
                            in, arena, err);
    cbx_runner_options options = {.gradient = gradient};
    return status ? status : cbx_runner_plan(r->runner, in, &options, err);
}

/* Room for probabilities and gradients of what the program gives: a row for each node or graph. */
static cbx_status make_rows(run *r, cbx_arena *arena, cbx_error *err)
{
    const cbx_array *out = cbx_runner_output(r->runner);
    int64_t          given = r->model->graphs ? r->view->num_graphs : r->view->n;
    r->num_scores = given * r->model->reading.num_scores;
    if (out->count != r->num_scores)
        return cbx_fail(err, CBX_INVALID,
                        "%s: the output has %lld numbers for %lld %s, where %lld were expected",
                        cbx_program_describe(r->model->program)->path, (long long)out->count,
                        (long long)given, r->model->graphs ? "graphs" : "nodes",
                        (long long)r->num_scores);
    r->scores = CBX_NEW0(arena, double, 2 * (size_t)r->model->reading.num_scores);
    r->logp = CBX_NEW0(arena, float, (size_t)r->rows *(size_t)r->num_classes);
    r->scores_grad = CBX_NEW0(arena, double, r->num_scores);
    return r->scores && r->logp && r->scores_grad ? CBX_OK : cbx_fail_memory(err);
}

static cbx_status open(const void *self, const cbx_view *view, const cbx_matrix *X, bool gradient,
                       cbx_arena *arena, void **out, cbx_error *err)
{
    const model *m = self;
    run         *r = CBX_NEW0(arena, run, 1);
    if (!r)
        return cbx_fail_memory(err);
    r->model = m;
    r->view = view;
    r->rows = m->graphs ? view->num_graphs : cbx_view_rows(view, 0);
    r->num_classes = cbx_model_output_classes(&m->reading);
    cbx_status status = cbx_runner_new(m->program, &r->runner, err);
    if (!status && cbx_arena_defer(arena, free_runner, r->runner))
        status = cbx_fail_memory(err);
    if (!status)
        status = plan(r, X->cols, gradient, arena, err);
    if (!status)
        status = make_rows(r, arena, err);
    *out = r;
    return status;
}

/* ---- forward */

static void give_features(run *r, const cbx_matrix *X)
{
    void    *to = cbx_runner_values(r->runner, r->model->x);
    cbx_type type = cbx_program_describe(r->model->program)->inputs[r->model->x].type;
    int64_t  f = X->cols, n = r->view->n;
    if (type == CBX_REAL32) {
        cbx_matrix_expand(X, (int32_t)n, to);
        return;
    }
    memset(to, 0, (size_t)(n * f) * sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; X->dense && j < f; j++)
            put_real(to, type, i * f + j, X->dense[i * f + j]);
        for (int64_t k = X->dense ? 0 : X->csr.offset[i]; !X->dense && k < X->csr.offset[i + 1];
             k++)
            put_real(to, type, i * f + X->csr.column[k], X->csr.value[k]);
    }
}

static void give_weights(run *r, const float *w)
{
    void    *to = cbx_runner_weights(r->runner, r->model->edges);
    cbx_type type = cbx_runner_real(r->runner);
    for (int64_t e = 0; e < r->view->m; e++) {
        float own = cbx_view_weight(r->view, e);
        float share = own != 0 ? w[e] / own : 1; /* a weight of 0 is an edge all the same */
        if (r->view->removed && r->view->removed[e])
            share = 0;
        put_real(to, type, e, share);
    }
}

/* What a search has set of the edges. */
static void give_edges(run *r)
{
    const model             *m = r->model;
    const cbx_program_input *inputs = cbx_program_describe(m->program)->inputs;
    if (m->edge_weight >= 0 && r->view->set_weight)
        put_weights(r->view, inputs[m->edge_weight].type,
                    cbx_runner_values(r->runner, m->edge_weight));
    if (m->edge_attr >= 0 && r->view->set_attr)
        put_attr(r->view, inputs[m->edge_attr].type, cbx_runner_values(r->runner, m->edge_attr));
}

static void forward(void *self, const cbx_matrix *X, const float *w, float *log_probs)
{
    run          *r = self;
    const int32_t C = r->num_classes, S = r->model->reading.num_scores;
    cbx_error     err = {0};
    give_features(r, X);
    give_weights(r, w);
    give_edges(r);
    if (cbx_runner_forward(r->runner, &err)) { /* an index out of range: there is no answer */
        for (int64_t i = 0; i < (int64_t)r->rows * C; i++)
            log_probs[i] = NAN;
        return;
    }
    const cbx_array *out = cbx_runner_output(r->runner);
    for (int32_t i = 0; i < r->rows; i++) {
        for (int32_t c = 0; c < S; c++)
            r->scores[c] = real_at(out->data, out->type, (int64_t)i * S + c);
        cbx_model_output_forward(&r->model->reading, r->view, i, r->scores,
                                 log_probs + (int64_t)i * C);
    }
    memcpy(r->logp, log_probs, (size_t)r->rows * (size_t)C * sizeof *r->logp);
}

/* ---- backward */

/* Of the scores, from that of their log-probabilities. */
static void find_scores_grad(run *r, const float *dlogp)
{
    const int32_t    C = r->num_classes, S = r->model->reading.num_scores;
    const cbx_array *out = cbx_runner_output(r->runner);
    for (int32_t i = 0; i < r->rows; i++) {
        double *by = r->scores + S;
        for (int32_t c = 0; c < S; c++)
            r->scores[c] = real_at(out->data, out->type, (int64_t)i * S + c);
        cbx_model_output_backward(&r->model->reading, r->view, i, r->scores,
                                  r->logp + (int64_t)i * C, dlogp + (int64_t)i * C, by);
        for (int32_t c = 0; c < S; c++)
            put_real(r->scores_grad, out->type, (int64_t)i * S + c, by[c]);
    }
}

static void backward(void *self, const float *dlogp, float *dX, float *dw)
{
    run                     *r = self;
    const cbx_program_input *x = &cbx_program_describe(r->model->program)->inputs[r->model->x];
    find_scores_grad(r, dlogp);
    cbx_runner_backward(r->runner, r->scores_grad);
    const void *of_x = cbx_runner_gradient(r->runner, r->model->x);
    const void *of_w = cbx_runner_weight_gradient(r->runner, r->model->edges);
    /* NULL: the scores do not depend on it */
    for (int64_t k = 0; dX && k < r->view->n * x->size[1]; k++)
        dX[k] = of_x ? (float)real_at(of_x, x->type, k) : 0;
    for (int64_t e = 0; dw && e < r->view->m; e++) {
        float own = cbx_view_weight(r->view, e);
        dw[e] = of_w && own != 0 ? (float)(real_at(of_w, cbx_runner_real(r->runner), e) / own) : 0;
    }
}

/* Of an input with so many numbers of each edge. An index has none, nor what nothing depends on. */
static void edges_gradient(const run *r, int32_t input, int64_t wide, bool set, float *to)
{
    const void *of = NULL;
    cbx_type    type = CBX_INTEGER;
    if (input >= 0 && set)
        type = cbx_program_describe(r->model->program)->inputs[input].type;
    if (cbx_is_real(type))
        of = cbx_runner_gradient(r->runner, input);
    for (int64_t k = 0; to && k < r->view->m * wide; k++)
        to[k] = of ? (float)real_at(of, type, k) : 0;
}

static void backward_edges(void *self, float *by_weight, float *by_attr)
{
    const run      *r = self;
    const cbx_view *v = r->view;
    edges_gradient(r, r->model->edge_weight, 1, v->set_weight != NULL, by_weight);
    edges_gradient(r, r->model->edge_attr, v->edge_dim, v->set_attr != NULL, by_attr);
}

/* ---- the model */

static void hash(const void *self, char hex[65])
{
    memcpy(hex, ((const model *)self)->hash, 65);
}

static void free_model(void *self)
{
    model *m = self;
    if (!m->shared)
        cbx_program_free(m->program);
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

static cbx_status refuse(const cbx_program_info *info, cbx_error *err, const char *input,
                         const char *why)
{
    return cbx_fail(err, CBX_INVALID, "%s: the input '%s' %s", info->path, input, why);
}

/* Numbers that an edge brings; a program may take a single one without a column for it. */
static int64_t edge_dim(const model *m)
{
    const cbx_program_input *in = &cbx_program_describe(m->program)->inputs[m->edge_attr];
    return in->rank == 1 ? 1 : in->rank == 2 ? in->size[1] : -1;
}

/* Which input is which. Every one must be something that a graph has. */
static cbx_status find_inputs(model *m, cbx_error *err)
{
    const cbx_program_info *info = cbx_program_describe(m->program);
    m->x = cbx_program_find(m->program, CBX_ROLE_X);
    m->edges = cbx_program_find(m->program, CBX_ROLE_EDGE_INDEX);
    m->batch = cbx_program_find(m->program, CBX_ROLE_BATCH);
    m->edge_weight = cbx_program_find(m->program, CBX_ROLE_EDGE_WEIGHT);
    m->edge_attr = cbx_program_find(m->program, CBX_ROLE_EDGE_ATTR);
    for (int32_t i = 0; i < info->num_inputs; i++) {
        const cbx_program_input *in = &info->inputs[i];
        if (i != m->x && i != m->edges && i != m->batch && i != m->edge_weight && i != m->edge_attr)
            return refuse(
                info, err, in->name,
                "is none of x, edge_index, edge_weight, edge_attr and batch, or a second one of "
                "them: say which input is which, as inputs=x=NAME,edge_index=NAME (--inputs), or "
                "explain the model "
                "by a callback (cx.explain takes any function)");
    }
    if (m->x < 0 || m->edges < 0)
        return cbx_fail(err, CBX_INVALID, "%s: there is no input '%s'", info->path,
                        m->x < 0 ? "x" : "edge_index");
    if (info->inputs[m->x].rank != 2 || info->inputs[m->x].size[1] < 1 ||
        info->inputs[m->x].size[1] > INT32_MAX)
        return refuse(info, err, info->inputs[m->x].name, "must have a fixed number of columns");
    if (m->edge_attr >= 0 && (edge_dim(m) < 1 || edge_dim(m) > INT32_MAX))
        return refuse(info, err, info->inputs[m->edge_attr].name,
                      "must have a fixed number of columns");
    return CBX_OK;
}

static cbx_status find_scores(model *m, const cbx_open_options *said, cbx_error *err)
{
    const cbx_program_info *info = cbx_program_describe(m->program);
    int64_t scores = info->output_rank == 2 ? info->output_size[1] : info->output_rank == 1;
    if (!cbx_is_real(info->output_type) || scores < 1 || scores > INT32_MAX / 2)
        return cbx_fail(err, CBX_INVALID,
                        "%s: the output must be a row of scores for each node or graph, or one "
                        "score",
                        info->path);
    m->graphs = m->batch >= 0 || info->output_size[0] == 1;
    cbx_open_options as = said ? *said : (cbx_open_options){0};
    cbx_meaning      seen = CBX_MEANS_AUTO;
    if (as.scores != CBX_MEANS_NUMBERS) { /* of which a sigmoid would be a part */
        cbx_activation last = cbx_program_strip(m->program);
        bool           none = last == CBX_ACTIVATION_NONE;
        seen = last == CBX_ACTIVATION_SIGMOID   ? CBX_MEANS_LABELS
               : last == CBX_ACTIVATION_SOFTMAX ? CBX_MEANS_CLASSES
                                                : CBX_MEANS_AUTO;
        /* what was taken off made probabilities of scores */
        if (!none && as.scores == CBX_MEANS_CHANCES)
            as.scores = CBX_MEANS_LABELS;
        if (!none && as.scores == CBX_MEANS_PROBABILITIES)
            as.scores = CBX_MEANS_CLASSES;
    }
    return cbx_model_output_make(&as, seen, (int32_t)scores, info->path, &m->reading, err);
}

cbx_status cbx_model_of_program(cbx_program *program, const char hash_text[65],
                                const cbx_open_options *said, cbx_model **out, cbx_error *err)
{
    const cbx_program_info *info = cbx_program_describe(program);
    model                  *m = calloc(1, sizeof *m);
    *out = NULL;
    if (!m) {
        cbx_program_free(program);
        return cbx_fail_memory(err);
    }
    m->program = program;
    memcpy(m->hash, hash_text, 65);
    cbx_status status = find_inputs(m, err);
    if (!status)
        status = find_scores(m, said, err);
    if (status) {
        free_model(m);
        return status;
    }
    int32_t    hops = info->hops_x > info->hops_edges ? info->hops_x : info->hops_edges;
    cbx_driver oracle = {.kind = "program",
                         .model = m,
                         .hops = hops == CBX_WHOLE_GRAPH ? CBX_HOPS_ALL
                                 : hops < 0              ? 0
                                                         : hops,
                         .edge_dim = m->edge_attr >= 0 ? (int32_t)edge_dim(m) : 0,
                         .takes_weights = m->edge_weight >= 0,
                         .one_graph = m->graphs && m->batch < 0,
                         .open = open,
                         .forward = forward,
                         .backward = backward,
                         .backward_edges = backward_edges,
                         .reading = reading_of,
                         .read_as = read_as,
                         .hash = hash,
                         .free = free_model};
    status = cbx_model_output_name(&m->reading, said, info->path, oracle.class_names, err);
    if (status) {
        free_model(m);
        return status;
    }
    status = cbx_model_run_by(&oracle, m->graphs ? CBX_GRAPH : CBX_NODE,
                              (int32_t)info->inputs[m->x].size[1],
                              cbx_model_output_classes(&m->reading), out, err);
    if (!status && (status = cbx_hops_prove(*out, err))) {
        cbx_model_free(*out);
        *out = NULL;
    }
    return status;
}
