/* SPDX-License-Identifier: Apache-2.0 */
/* scope.c: what a proof is a proof of.
 *
 * "There is none" and "there is none cheaper" are said of the edits that were looked at: those
 * kinds, within those rules. The words name both. */
#include "scope.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "number.h"
#include "rule_options.h"
#include "rules.h"

typedef struct words {
    char  *text;
    size_t size, room; /* room 0: they are only measured */
} words;

static void say(words *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = cbx_vprint(w->room ? w->text + w->size : NULL, w->room ? w->room - w->size : 0,
                            format, args);
    va_end(args);
    w->size += length > 0 ? (size_t)length : 0;
}

/* Lists can be long; the options themselves are part of every record. */
static void say_value(words *w, const cbx_option *o, const void *at)
{
    enum { MOST = 60 };
    const char *text;
    switch (o->type) {
    case CBX_OPTION_INT:
        say(w, " %lld", (long long)*(const int64_t *)at);
        break;
    case CBX_OPTION_REAL:
        say(w, " %g", *(const double *)at);
        break;
    case CBX_OPTION_CHOICE:
        say(w, " %s", o->choices[*(const int *)at]);
        break;
    case CBX_OPTION_TEXT:
        text = *(const char *const *)at;
        say(w, " %.*s%s", MOST, text, strlen(text) > MOST ? "..." : "");
        break;
    default:
        break;
    }
}

static void say_rules(words *w, const cbx_search *s)
{
    const cbx_option_table *table = cbx_explain_table();
    const cbx_graph_data   *d = &s->graph->data;
    const char             *comma = "; rules: ";
    const cbx_option       *o;
    const void             *of;
    for (size_t i = 0; (o = cbx_fields_at(table, s->options, i, &of)); i++) {
        if (!cbx_rule_is_given(o, of))
            continue;
        say(w, "%s%s", comma, o->name);
        say_value(w, o, (const char *)of + o->offset);
        comma = ", ";
    }
    const char *one_hot = s->options->one_hot;
    bool        shown = one_hot && !strcmp(one_hot, "auto"), immutable = false, groups = false;
    for (int32_t j = 0; j < d->num_features; j++) {
        immutable = immutable || (d->immutable && d->immutable[j]);
        groups = groups || (d->feature_group && d->feature_group[j] >= 0) ||
                 (shown && s->rules->group[j] >= 0);
    }
    if (immutable) {
        say(w, "%s%s", comma, "the data's immutable features");
        comma = ", ";
    }
    if (groups)
        say(w, "%s%s", comma, "the data's one-hot groups");
}

/* The k-th of the kinds, in words; NULL: it is not among them. */
enum { REMOVALS, NODES, ADDITIONS, NEW_NODES, WEIGHTS, ATTRIBUTES, FEATURES, KINDS };

static const char *kind_in_words(const cbx_search *s, int k)
{
    const cbx_explain_options *o = s->options;
    const cbx_rules           *r = s->rules;
    bool                       features = (r->edits & CBX_EDITS_FEATURES) &&
                    (!o->features_to_vary || strcmp(o->features_to_vary, "none") != 0);
    switch (k) {
    case REMOVALS:
        return r->keep_edges ? NULL
               : o->edges == CBX_EDGES_UNDIRECTED
                   ? "removals of edges (all between two nodes at once)"
                   : "removals of edges (one by one)";
    case NODES:
        return r->edits & CBX_EDITS_REMOVE_NODES ? "removals of nodes with all their edges" : NULL;
    case ADDITIONS:
        if (!(r->edits & CBX_EDITS_ADD))
            return NULL;
        return s->graph->data.task == CBX_GRAPH ? "additions of edges"
               : r->add_at_target
                   ? "additions of edges at the explained node"
                   : "additions of edges at the explained node or in its factual graph";
    case NEW_NODES:
        return r->edits & CBX_EDITS_ADD_NODES
                   ? "additions of copies of nodes (no two alike at one node)"
                   : NULL;
    case WEIGHTS:
        return !(r->edits & CBX_EDITS_WEIGHTS)    ? NULL
               : o->edges == CBX_EDGES_UNDIRECTED ? "changes of edges' weights (all between two "
                                                    "nodes at once, if they weigh the same)"
                                                  : "changes of edges' weights (one by one)";
    case ATTRIBUTES:
        return !(r->edits & CBX_EDITS_ATTRIBUTES) ? NULL
               : o->edges == CBX_EDGES_UNDIRECTED ? "changes of edges' attributes (all between "
                                                    "two nodes at once, if they have the same)"
                                                  : "changes of edges' attributes (one by one)";
    default:
        return features ? "changes of features" : NULL;
    }
}

static void say_scope(words *w, const cbx_search *s)
{
    int count = 0, said = 0;
    for (int k = 0; k < KINDS; k++)
        count += kind_in_words(s, k) != NULL;
    for (int k = 0; k < KINDS; k++) {
        const char *kind = kind_in_words(s, k);
        if (!kind)
            continue;
        said++;
        say(w, "%s%s", said == 1 ? "" : said == count ? " and " : ", ", kind);
    }
    if (!count)
        say(w, "no edits");
    if (s->certificate == CBX_OPTIMAL && s->l1_mad > 0)
        say(w, ", however far values go");
    say_rules(w, s);
}

const char *cbx_scope_of_proof(const cbx_search *s)
{
    words w = {0};
    bool  bound = s->lower_bound > 0 && !s->bound_is_plain;
    if (s->certificate != CBX_OPTIMAL && s->certificate != CBX_PROVED_NONE && !bound)
        return "";
    if (s->never)
        return "all inputs";
    say_scope(&w, s);
    w.room = w.size + 1;
    w.size = 0;
    w.text = CBX_NEW(s->arena, char, w.room);
    if (!w.text)
        return NULL;
    say_scope(&w, s);
    return w.text;
}
