/* SPDX-License-Identifier: Apache-2.0 */
/* scale.c: see scale.h. */
#include "scale.h"

#include <math.h>

static bool is_loop(const cbx_partial_graph *g, int64_t slot)
{
    return g->view->source[slot] == g->target_of[slot];
}

bool cbx_scale_is_known(cbx_norm_kind kind, const cbx_partial_graph *g)
{
    const cbx_view *v = g->view;
    if (kind == CBX_NORM_NONE)
        return true;
    for (int64_t e = 0; e < v->m; e++)
        if ((v->weight && v->weight[e] != 1) || (is_loop(g, e) && g->choice_of[e] >= 0))
            return false;
    return g->simple;
}

/* 1 / degree^power. Nodes without a degree have no edges either. */
static double factor_of(double degree, double power)
{
    return degree <= 0 ? 0 : power == 0.5 ? 1 / sqrt(degree) : 1 / degree;
}

/* With degree d now, of which at most `gone` go and `come` come. The factor is convex in the
 * degree: a chord is above it, a step of one below. */
static cbx_factor bound_factor(double d, double power, int64_t gone, int64_t come)
{
    double     now = factor_of(d, power);
    cbx_factor f = {.now = now, .most = now, .least = now};
    if (gone > 0) {
        f.most = factor_of(d - (double)gone, power);
        f.rise = (f.most - now) / (double)gone;
        f.least_rise = factor_of(d - 1, power) - now;
    }
    if (come > 0) {
        f.least = factor_of(d + (double)come, power);
        f.fall = now - factor_of(d + 1, power);
    }
    return f;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

cbx_node_scale cbx_scale_of(cbx_norm_kind kind, const cbx_partial_graph *g, int32_t v)
{
    const cbx_view  *view = g->view;
    const cbx_factor one = {.now = 1, .most = 1, .least = 1};
    cbx_node_scale   s = {.source = one, .target = one, .paired = one, .coming = one};
    if (kind == CBX_NORM_NONE)
        return s;
    bool    gcn = kind == CBX_NORM_GCN;
    int64_t inside = 0, most = at_most(g->budget, g->local[v]);
    for (int64_t e = view->offset[v]; e < view->offset[v + 1]; e++)
        inside += g->present[e] && !(gcn && is_loop(g, e));
    for (int64_t k = g->at_begin[v]; k < g->at_begin[v + 1]; k++)
        if (cbx_choice_is_open(g, g->at[k]))
            *(g->choices[g->at[k]].adds ? &s.additions : &s.removals) += 1;
    s.removals = at_most(s.removals, most);
    s.additions = at_most(s.additions, most);
    s.whole = s.additions == 0 && inside > 0;
    double degree = (double)inside + (gcn ? 1 : 0);
    if (gcn && view->outside_weight)
        degree += view->outside_weight[v];
    if (!gcn && view->outside_count)
        degree += view->outside_count[v];
    s.degree = degree;
    /* where an edge into v stays, the others can go */
    int64_t others = at_most(s.removals, inside > 0 ? inside - 1 : 0);
    s.target = bound_factor(degree, gcn ? 0.5 : 1, others, s.additions);
    /* one that comes counts itself, whatever goes */
    s.coming.most = factor_of(degree - (double)at_most(s.removals, inside) + 1, gcn ? 0.5 : 1);
    s.coming.least = s.target.least;
    if (gcn) { /* an edge out of v need not have one back: all of those into it can go */
        s.paired = s.target;
        s.source = bound_factor(degree, 0.5, s.removals, s.additions);
        s.loop = bound_factor(degree, 1, s.removals, s.additions);
    }
    return s;
}

double cbx_scale_crossed(int64_t b)
{
    double half = floor((double)b / 2), rest = (double)b - half;
    return b > 0 ? half * rest / (double)b : 0;
}

double cbx_scale_gcn(double degree, int64_t k)
{
    return 1 / sqrt(degree - (double)k);
}

int64_t cbx_scale_others(const cbx_node_scale *v, bool paired)
{
    return at_most(v->removals, (int64_t)v->degree - (paired ? 2 : 1));
}

cbx_edge_gain cbx_scale_edge_gain(const cbx_node_scale *u, const cbx_node_scale *v, bool paired,
                                  int64_t budget, double low, double high)
{
    const cbx_factor *s = paired ? &u->paired : &u->source, *t = &v->target;
    cbx_edge_gain     gain = {0};
    if (high > 0) {
        double both = v->whole ? 0 : s->rise * t->rise * cbx_scale_crossed(budget);
        gain.removal_source = high * (s->rise * t->now + both);
        gain.removal_target = high * (t->rise * s->now + both);
    } else if (u->additions == 0 && v->additions == 0) {
        gain.removal_source = high * s->least_rise * t->now;
        gain.removal_target = high * t->least_rise * s->now;
    }
    if (low < 0) {
        gain.addition_source = -low * s->fall * t->now;
        gain.addition_target = -low * t->fall * s->now;
    }
    if (v->whole)
        gain.removal_target = gain.addition_target = 0;
    return gain;
}

void cbx_scale_loop_gain(const cbx_node_scale *v, double low, double high, double *removal,
                         double *addition)
{
    const cbx_factor *f = &v->loop;
    *removal = high > 0 ? high * f->rise : v->additions == 0 ? high * f->least_rise : 0;
    *addition = low < 0 ? -low * f->fall : 0;
}

/* What is lost where other choices at the same node were counted as if the edge stayed, and count
 * against it. */
static double make_good(int64_t others, double gain)
{
    return gain < 0 && others > 0 ? -gain * (double)others : 0;
}

double cbx_scale_removal_gain(const cbx_node_scale *u, const cbx_node_scale *v, bool paired,
                              bool others, const cbx_edge_gain *gain, double low)
{
    double itself = -u->source.now * v->target.now * low - gain->removal_target -
                    (paired ? gain->removal_source : 0);
    if (!others)
        return itself;
    return itself + make_good(paired ? u->removals - 1 : u->removals, gain->removal_source) +
           make_good(v->removals - 1, gain->removal_target);
}

double cbx_scale_addition_gain(const cbx_node_scale *u, const cbx_node_scale *v, double high)
{
    return high > 0 ? u->source.most * v->coming.most * high
                    : u->source.least * v->coming.least * high;
}
