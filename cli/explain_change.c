/* SPDX-License-Identifier: Apache-2.0 */
/* explain_change.c: what is to be different, change by change, in the words of the data.
 *
 *     remove edge member 8–John A
 *     income: 30,800 instead of 18,200
 *     city of C-8: Rome → Milan
 *     replace the Cl at atom 7 by F
 *     add another N at atom 3
 *
 * Names go through text_put; numbers stand in for them where there are none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "text.h"

#define ARROW "\u2192"
#define DASH "\u2013"

enum { CHANGES_SHOWN = 10 };

/* ---- numbers as a person writes them */

/* To so many significant digits. */
static double rounded(double value, int digits)
{
    char text[40];
    (void)snprintf(text, sizeof text, "%.*e", digits - 1, value);
    return strtod(text, NULL);
}

bool text_rounded(rounded_text buffer, double value, double other)
{
    enum { DIGITS = 3, MOST = 9 };
    int    digits = DIGITS;
    double shown = value;
    bool   whole = value == floor(value) && fabs(value) < 1e15;
    while (!whole && digits < MOST && rounded(value, digits) == rounded(other, digits))
        digits++;
    if (!whole)
        shown = rounded(value, digits);
    if (shown == floor(shown) && fabs(shown) < 1e15) {
        number_text count;
        (void)snprintf(buffer, sizeof(rounded_text), "%s", text_count(count, (int64_t)shown));
    } else {
        (void)snprintf(buffer, sizeof(rounded_text), "%.*g", digits, shown);
    }
    return (float)shown != (float)value;
}

/* ---- names */

void explain_put_node(FILE *out, const source *s, const cbx_counterfactual *c, int32_t node,
                      bool bare)
{
    int64_t first = c->task == CBX_GRAPH ? s->view->graph_ptr[c->row] : 0;
    if (s->view->node_names)
        text_put(out, s->view->node_names[node], 0);
    else
        (void)fprintf(out, "%s%d", bare ? "" : "node ", (int)(node - first));
}

static void put_feature(FILE *out, const source *s, int32_t feature)
{
    if (s->view->feature_names)
        text_put(out, s->view->feature_names[feature], 0);
    else
        (void)fprintf(out, "feature %d", (int)feature);
}

/* "city=Rome" of the group city is Rome. */
static void put_member(FILE *out, const source *s, const char *group, int32_t feature)
{
    const char *name = s->view->feature_names ? s->view->feature_names[feature] : NULL;
    size_t      length = group ? strlen(group) : 0;
    if (name && length && !strncmp(name, group, length) && name[length] == '=')
        text_put(out, name + length + 1, 0);
    else
        put_feature(out, s, feature);
}

/* Whose feature it is, unless that is clear. */
static void put_owner(FILE *out, const source *s, const cbx_counterfactual *c, int32_t node)
{
    if (c->task == CBX_NODE && node == c->row)
        return;
    (void)fputs(" of ", out);
    explain_put_node(out, s, c, node, false);
}

/* ---- molecules */

/* "C3": an atom without a name of its own. */
static void put_atom(FILE *out, const explain_job *job, const cbx_counterfactual *c, int32_t node)
{
    const char *symbol = cbx_atoms_node(job->atoms, node);
    if (symbol && !job->source.view->node_names)
        (void)fputs(symbol, out);
    explain_put_node(out, &job->source, c, node, true);
}

/* "replace the Cl at atom 7 by F"; false: it is not about an element. */
static bool put_replacement(FILE *out, const explain_job *job, const cbx_counterfactual *c,
                            const cbx_edit *off, const cbx_edit *on)
{
    const char *from = job->atoms && off ? cbx_atoms_feature(job->atoms, off->feature) : NULL;
    const char *to = job->atoms && on ? cbx_atoms_feature(job->atoms, on->feature) : NULL;
    if (!from || !to)
        return false;
    (void)fprintf(out, "replace the %s at atom ", from);
    explain_put_node(out, &job->source, c, on->node, true);
    (void)fprintf(out, " by %s", to);
    return true;
}

/* ---- changes */

/* Are both edits about one group of features of one node, of which one is on? */
static bool same_group(const cbx_edit *a, const cbx_edit *b)
{
    return a->op == CBX_SET_FEATURE && b->op == CBX_SET_FEATURE && a->group > 0 &&
           a->group == b->group && a->node == b->node;
}

/* Is the edit told with an earlier one? */
static bool is_told(const cbx_counterfactual *c, int64_t i)
{
    bool told = false;
    for (int64_t k = 0; k < i && !told && c->edits[i].op == CBX_SET_FEATURE && c->edits[i].group;
         k++)
        told = same_group(&c->edits[k], &c->edits[i]);
    return told;
}

int64_t explain_count_changes(const cbx_counterfactual *c)
{
    int64_t count = 0;
    for (int64_t i = 0; i < c->num_edits; i++)
        count += !is_told(c, i);
    return count;
}

/* The column of its attributes that an edit of edges sets; -1: it sets the weight. */
static int column_of(const cbx_edit *e)
{
    return (e->attribute < 0 ? -e->attribute : e->attribute) - 1;
}

/* What the k-th edge has of what the edit sets; of kinds, which of them. */
static float value_of(const cbx_graph_data *v, int64_t k, const cbx_edit *e)
{
    const float *row = e->attribute ? v->edge_attr + k * v->edge_dim : &v->edge_weight[k];
    int          on = 0;
    while (e->attribute < 0 && on + 1 < v->edge_dim && row[on] != 1)
        on++;
    return e->attribute < 0 ? (float)on : row[e->attribute ? column_of(e) : 0];
}

/* ": 0.3 instead of 0.8", ": attribute 2 instead of 0" */
static void put_weight(FILE *out, const source *s, const cbx_edit *e)
{
    const cbx_graph_data *v = s->view;
    rounded_text          from, to;
    bool there = e->attribute ? v->edge_attr && column_of(e) < v->edge_dim : v->edge_weight != NULL;
    for (int64_t k = 0; there && k < v->num_edges; k++) {
        bool forth = v->edge_source[k] == e->source && v->edge_target[k] == e->target;
        bool back = v->edge_source[k] == e->target && v->edge_target[k] == e->source;
        if (!(e->undirected ? forth || back : forth && (e->edge < 0 || e->edge == k)))
            continue;
        double before = (double)value_of(v, k, e);
        double after = e->attribute < 0 ? column_of(e) : (double)e->weight;
        bool   about = text_rounded(to, after, before);
        (void)text_rounded(from, before, after);
        (void)fprintf(out, ": %s%s instead of %s", about ? "about " : "", to, from);
        return;
    }
    (void)fprintf(out, ": %g", (double)e->weight);
}

static void put_what_happens(FILE *out, const cbx_edit *e, bool bond)
{
    const char *words = bond ? "remove the bond " : "remove edge ";
    if (e->op == CBX_ADD_EDGE)
        words = bond ? "add a bond " : "add edge ";
    else if (e->op == CBX_SET_EDGE)
        words = bond ? "of the bond " : "of edge ";
    if (e->op == CBX_SET_EDGE && e->attribute > 0)
        (void)fprintf(out, "attribute %d ", column_of(e));
    else if (e->op == CBX_SET_EDGE)
        (void)fputs(e->attribute ? "kind (attribute) " : "weight ", out);
    (void)fputs(words, out);
}

/* Where an edge has no direction, the explained node comes first. */
static void put_edge(FILE *out, const explain_job *job, const cbx_counterfactual *c,
                     const cbx_edit *e)
{
    const source *s = &job->source;
    bool          own = c->task == CBX_NODE && (e->source == c->row || e->target == c->row);
    bool          swap = e->undirected && (own ? e->target == c->row : e->target < e->source);
    bool          bond = job->atoms && e->undirected;
    int32_t       ends[2] = {swap ? e->target : e->source, swap ? e->source : e->target};
    put_what_happens(out, e, bond);
    for (int k = 0; k < 2; k++) {
        if (k > 0)
            (void)fputs(e->undirected ? DASH : ARROW, out);
        if (bond)
            put_atom(out, job, c, ends[k]);
        else
            explain_put_node(out, s, c, ends[k], true);
    }
    if (e->op == CBX_SET_EDGE)
        put_weight(out, s, e);
}

/* "remove node 7", "remove the atom Cl7" */
static void put_node(FILE *out, const explain_job *job, const cbx_counterfactual *c,
                     const cbx_edit *e)
{
    (void)fputs(job->atoms ? "remove the atom " : "remove node ", out);
    if (job->atoms)
        put_atom(out, job, c, e->node);
    else
        explain_put_node(out, &job->source, c, e->node, true);
}

/* "add a copy of node 7 at node 3", "add another N at atom 3": which of them does not matter */
static void put_new_node(FILE *out, const explain_job *job, const cbx_counterfactual *c,
                         const cbx_edit *e)
{
    const char *symbol = job->atoms ? cbx_atoms_node(job->atoms, e->source) : NULL;
    if (symbol) {
        (void)fprintf(out, "add another %s at atom ", symbol);
    } else {
        (void)fputs("add a copy of ", out);
        explain_put_node(out, &job->source, c, e->source, false);
        (void)fputs(" at ", out);
    }
    explain_put_node(out, &job->source, c, e->target, symbol != NULL);
}

/* "city of C-8: ", or "C-8: " of a group without a name. */
static void put_group_head(FILE *out, const source *s, const cbx_counterfactual *c,
                           const char *group, int32_t node)
{
    bool own = c->task == CBX_NODE && node == c->row;
    if (group) {
        text_put(out, group, 0);
        put_owner(out, s, c, node);
    } else if (!own) {
        explain_put_node(out, s, c, node, false);
    }
    if (group || !own)
        (void)fputs(": ", out);
}

/* "city: Rome → Milan" */
static void put_group(FILE *out, const explain_job *job, const cbx_counterfactual *c, int64_t first)
{
    const source   *s = &job->source;
    const cbx_edit *e = &c->edits[first], *off = NULL, *on = NULL;
    int32_t         g = e->group - 1;
    const char     *group =
        s->view->group_names && g < s->view->num_groups ? s->view->group_names[g] : NULL;
    for (int64_t k = first; k < c->num_edits; k++) {
        const cbx_edit *other = &c->edits[k];
        off = same_group(e, other) && other->to == 0 ? other : off;
        on = same_group(e, other) && other->to != 0 ? other : on;
    }
    if (put_replacement(out, job, c, off, on))
        return;
    put_group_head(out, s, c, group, e->node);
    if (off)
        put_member(out, s, group, off->feature);
    (void)fputs(off ? " " ARROW " " : ARROW " ", out);
    if (on)
        put_member(out, s, group, on->feature);
    else
        (void)fputs("none", out);
}

/* "income: 30,800 instead of 18,200", "has a telephone: yes instead of no" */
static void put_value(FILE *out, const source *s, const cbx_counterfactual *c, const cbx_edit *e)
{
    const cbx_graph_data *v = s->view;
    bool                  yes_or_no = v->discrete[e->feature] && v->feat_min[e->feature] == 0 &&
                     v->feat_max[e->feature] == 1 && (e->from == 0 || e->from == 1) &&
                     (e->to == 0 || e->to == 1);
    rounded_text from, to;
    put_feature(out, s, e->feature);
    put_owner(out, s, c, e->node);
    if (yes_or_no) {
        (void)fprintf(out, ": %s instead of %s", e->to == 1 ? "yes" : "no",
                      e->from == 1 ? "yes" : "no");
        return;
    }
    bool about = text_rounded(to, (double)e->to, (double)e->from);
    (void)text_rounded(from, (double)e->from, (double)e->to);
    (void)fprintf(out, ": %s%s instead of %s", about ? "about " : "", to, from);
}

/* As it is in the answer, for who must know exactly. */
static void put_exactly(FILE *out, const cbx_edit *e)
{
    (void)fputs("   (", out);
    if (e->op == CBX_SET_FEATURE)
        (void)fprintf(out, "%.9g " ARROW " %.9g, ", (double)e->from, (double)e->to);
    if (e->op == CBX_SET_EDGE)
        (void)fprintf(out, "%.9g, ", (double)e->weight);
    (void)fprintf(out, "log-odds %+.3g)", (double)e->influence);
}

static void put_change(FILE *out, const explain_job *job, const cbx_counterfactual *c, int64_t i)
{
    const cbx_edit *e = &c->edits[i];
    if (e->op == CBX_REMOVE_NODE)
        put_node(out, job, c, e);
    else if (e->op == CBX_ADD_NODE)
        put_new_node(out, job, c, e);
    else if (e->op != CBX_SET_FEATURE)
        put_edge(out, job, c, e);
    else if (e->group > 0)
        put_group(out, job, c, i);
    else
        put_value(out, &job->source, c, e);
    if (job->args->details)
        put_exactly(out, e);
    (void)fputc('\n', out);
}

/* Where not all are shown, features come first: they are fewer, and what a person can act on. */
void explain_put_changes(FILE *out, const explain_job *job, const cbx_counterfactual *c)
{
    int64_t shown = 0, all = explain_count_changes(c);
    int64_t most = all == CHANGES_SHOWN + 1 ? all : CHANGES_SHOWN; /* not a line for one line */
    for (int turn = all > most ? 1 : 0; turn<3; turn += all> most ? 1 : 3)
        for (int64_t i = 0; i < c->num_edits && shown < most; i++) {
            bool edge = c->edits[i].op != CBX_SET_FEATURE;
            if (is_told(c, i) || (turn && edge != (turn == 2)))
                continue;
            (void)fprintf(out, "  %-6s ", shown++ ? "" : "if");
            put_change(out, job, c, i);
        }
    if (shown < all) {
        number_text n;
        (void)fprintf(out, "  %-6s \u2026 and %s more\n", "", text_count(n, all - shown));
    }
}
