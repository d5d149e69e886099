/* SPDX-License-Identifier: Apache-2.0 */
/* show.c: see show.h. */
#include "show.h"

#include <stdio.h>
#include <string.h>

static const char *const conv_names[] = {
    "gcn", "graphconv add", "graphconv mean", "graphconv max", "gin", "gat", "cheb"};
static const char *const pool_names[] = {"mean", "sum", "max", "none"};

static void show_settings(const question *q, const char *dashes)
{
    for (int k = 0; k < q->num_settings; k++) {
        const char *value = q->settings[k][1];
        bool        flag = !strcmp(value, "true");
        printf(" %s%s%s%s", dashes, q->settings[k][0], flag ? "" : " ", flag ? "" : value);
    }
}

void show_question(const question *q)
{
    const naive_gnn *g = &q->gnn;
    printf("%s, %d %s%s of %s; %s %d of %d;", q->world.shape, g->layers, conv_names[g->conv],
           g->layers > 1 ? " layers" : " layer", q->world.task == CBX_GRAPH ? "graphs" : "nodes",
           q->world.task == CBX_GRAPH ? "graph" : "node", q->row,
           q->world.task == CBX_GRAPH ? q->world.graphs : q->world.nodes);
    if (g->conv == NAIVE_CHEB)
        printf(" order %d;", g->order);
    if (g->head_hidden)
        printf(" %d hidden units in the head;", g->head_hidden);
    printf("%s%s%s", g->sage ? " sage;" : "", g->residual ? " skip connections;" : "",
           g->norm ? " batch normalisation;" : "");
    show_settings(q, "");
    printf("\n");
}

static void show_world(const question *q)
{
    const world *w = &q->world;
    printf("  head %s, pool %s, hidden %d, classes %d\n  edges:", q->gnn.cat ? "cat" : "last",
           pool_names[q->gnn.pool], q->gnn.hidden, w->classes);
    for (int e = 0; e < w->edges; e++)
        printf(" %d->%d", (int)w->source[e], (int)w->target[e]);
    for (int e = w->edges; e < w->edges + w->offered; e++)
        printf(" (%d->%d)", (int)w->source[e], (int)w->target[e]);
    for (int e = 0; e < w->edges && w->weighted; e++)
        printf("%s%g", e ? " " : "\n  weights: ", (double)w->edge_weight[e]);
    for (int j = 0; j < w->features; j++)
        printf("\n  feature %d: %s, %g to %g%s%s", j, q->discrete[j] ? "discrete" : "continuous",
               (double)q->lo[j], (double)q->hi[j], q->fixed[j] ? ", fixed" : "",
               q->group[j] >= 0 ? ", of a one-hot group" : "");
    for (int i = 0; i < w->nodes; i++) {
        printf("\n  x[%d]:", i);
        for (int j = 0; j < w->features; j++)
            printf(" %g", (double)feature_of(w, i, j));
    }
    printf("\n");
}

static void show_answer(const cbx_counterfactual *c)
{
    printf("  %s, certificate %s, class %d, target %d, result %d, cost %g, left out %d. %s\n",
           cbx_outcome_name(c->outcome), cbx_certificate_name(c->certificate), c->prediction,
           c->target, c->result, c->cost, c->num_left_out, c->reason);
    for (int64_t k = 0; k < c->num_edits; k++) {
        const cbx_edit *e = &c->edits[k];
        if (e->op == CBX_REMOVE_EDGE)
            printf("    edit %lld: %d%s%d gone (edge %lld)\n", (long long)k, e->source,
                   e->undirected ? "-" : "->", e->target, (long long)e->edge);
        else if (e->op == CBX_ADD_EDGE)
            printf("    edit %lld: %d%s%d added\n", (long long)k, e->source,
                   e->undirected ? "-" : "->", e->target);
        else if (e->op == CBX_SET_EDGE)
            printf("    edit %lld: %d%s%d (edge %lld) weighs %.9g\n", (long long)k, e->source,
                   e->undirected ? "-" : "->", e->target, (long long)e->edge, (double)e->weight);
        else if (e->op == CBX_REMOVE_NODE)
            printf("    edit %lld: node %d gone\n", (long long)k, e->node);
        else if (e->op == CBX_ADD_NODE)
            printf("    edit %lld: a copy of node %d%s%d\n", (long long)k, e->source,
                   e->undirected ? "-" : "->", e->target);
        else
            printf("    edit %lld: x[%d][%d] = %g, was %g\n", (long long)k, e->node, e->feature,
                   (double)e->to, (double)e->from);
    }
}

void show_all(const question *q, const asked *a)
{
    show_question(q);
    show_world(q);
    if (!a->answer)
        printf("  refused: %s\n", a->error.message);
    for (const cbx_counterfactual *c = a->answer; c; c = c->next)
        show_answer(c);
}

void show_command(const question *q, const asked *a, const char *folder)
{
    char      graph[512], model[512];
    cbx_error err = {0};
    (void)snprintf(graph, sizeof graph, "%s/graph-%lld.safetensors", folder, (long long)q->number);
    (void)snprintf(model, sizeof model, "%s/model-%lld.safetensors", folder, (long long)q->number);
    if (cbx_graph_save(a->graph, graph, &err) || cbx_model_save(a->model, model, &err)) {
        printf("  %s\n", err.message);
        return;
    }
    printf("  combinex explain %s %s --%s %d", graph, model,
           q->world.task == CBX_GRAPH ? "graph" : "node", q->row);
    show_settings(q, "--");
    printf("\n");
}
