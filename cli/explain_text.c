/* SPDX-License-Identifier: Apache-2.0 */
/* explain_text.c: a counterfactual in words.
 *
 *     node 14: Neural_Networks, would be Theory
 *       now    Neural_Networks 0.93   Theory 0.04
 *       if     remove edge 14–873
 *              word_1203 of node 14: 0 → 1
 *       then   Theory 0.61   Neural_Networks 0.30
 *       2 edits (1 of 210 edges, 1 of 118,496 feature values) · 12 ms · verified on the whole graph
 *
 * Names come from the data and go through text_put, numbers stand in for them
 * where there are none. */
#include <math.h>
#include <stdlib.h>

#include "explain.h"
#include "text.h"

#define ARROW "\u2192"
#define DASH "\u2013"
#define DOT "\u00b7"

enum { EDITS_SHOWN = 10 };

static void put_class(FILE *out, const source *s, int32_t label)
{
    class_text buffer;
    if (!s->view->class_names || label >= s->view->num_classes)
        (void)fputs("class ", out);
    text_put(out, source_class(s, buffer, label), 0);
}

/* "node 14", or "14" where `bare`; or the node's name. */
static void put_node(FILE *out, const source *s, int32_t node, bool bare)
{
    if (s->view->node_names)
        text_put(out, s->view->node_names[node], 0);
    else
        (void)fprintf(out, "%s%d", bare ? "" : "node ", (int)node);
}

/* "node 14: ", with the name if it has one. */
static void put_head(FILE *out, const source *s, const cbx_counterfactual *c)
{
    (void)fprintf(out, "%s %d", source_row(s), (int)c->row);
    if (c->task == CBX_NODE && s->view->node_names) {
        (void)fputs(" (", out);
        put_node(out, s, c->row, true);
        (void)fputc(')', out);
    }
    (void)fputs(": ", out);
    if (c->prediction >= 0)
        put_class(out, s, c->prediction);
    else
        (void)fputs("class not known", out);
}

/* Two digits, without claiming a certainty that rounding made. */
static void put_probability(FILE *out, const source *s, const float *log_probs, int32_t label)
{
    double p = exp((double)log_probs[label]);
    put_class(out, s, label);
    if (p < 0.005)
        (void)fputs(" <0.01", out);
    else if (p >= 0.995)
        (void)fputs(" >0.99", out);
    else
        (void)fprintf(out, " %.2f", p);
}

static void put_probabilities(FILE *out, const char *when, const source *s, const float *log_probs,
                              int32_t first, int32_t second)
{
    (void)fprintf(out, "  %-6s ", when);
    put_probability(out, s, log_probs, first);
    (void)fputs("   ", out);
    put_probability(out, s, log_probs, second);
    (void)fputc('\n', out);
}

/* Before (`now`) or after: the likeliest class, and the other one; or the number. */
static void put_state(FILE *out, const char *when, const source *s, const cbx_counterfactual *c,
                      const float *log_probs)
{
    bool before = log_probs == c->before;
    if (c->has_numbers)
        (void)fprintf(out, "  %-6s %g\n", when, before ? c->number_before : c->number_after);
    else
        put_probabilities(out, when, s, log_probs, before ? c->prediction : c->result,
                          before ? c->result : c->prediction);
}

/* Where an edge has no direction, the explained node comes first. */
static void put_edit(FILE *out, const source *s, const cbx_counterfactual *c, const cbx_edit *e)
{
    if (e->op == CBX_REMOVE_EDGE) {
        bool own = c->task == CBX_NODE && (e->source == c->row || e->target == c->row);
        bool swap = e->undirected && (own ? e->target == c->row : e->target < e->source);
        (void)fputs("remove edge ", out);
        put_node(out, s, swap ? e->target : e->source, true);
        (void)fputs(e->undirected ? DASH : ARROW, out);
        put_node(out, s, swap ? e->source : e->target, true);
        (void)fputc('\n', out);
        return;
    }
    if (s->view->feature_names)
        text_put(out, s->view->feature_names[e->feature], 0);
    else
        (void)fprintf(out, "feature %d", (int)e->feature);
    (void)fputs(" of ", out);
    put_node(out, s, e->node, false);
    (void)fprintf(out, ": %g " ARROW " %g\n", (double)e->from, (double)e->to);
}

static void put_edits(FILE *out, const source *s, const cbx_counterfactual *c)
{
    int64_t shown = c->num_edits > EDITS_SHOWN ? EDITS_SHOWN : c->num_edits;
    for (int64_t i = 0; i < shown; i++) {
        (void)fprintf(out, "  %-6s ", i ? "" : "if");
        put_edit(out, s, c, &c->edits[i]);
    }
    if (shown < c->num_edits) {
        number_text n;
        (void)fprintf(out, "  %-6s \u2026 and %s more\n", "", text_count(n, c->num_edits - shown));
    }
}

static void put_time(FILE *out, double seconds)
{
    if (seconds < 0.00995)
        (void)fprintf(out, "%.1f ms", 1e3 * seconds);
    else if (seconds < 0.9995)
        (void)fprintf(out, "%.0f ms", 1e3 * seconds);
    else
        (void)fprintf(out, seconds < 99.95 ? "%.2f s" : "%.0f s", seconds);
}

/* "2 edits (1 of 210 edges, 1 of 118,496 feature values)" */
static void put_counts(FILE *out, const cbx_counterfactual *c)
{
    count_text  counted;
    number_text n;
    (void)fprintf(out, "%s (", text_counted(counted, c->num_edits, "edit"));
    if (c->num_edges_removed)
        (void)fprintf(out, "%s of %s", text_count(n, c->num_edges_removed),
                      text_counted(counted, c->num_removable, "edge"));
    if (c->num_features_changed) {
        int64_t values = (int64_t)c->num_nodes * c->num_features;
        (void)fprintf(out, "%s%s of %s", c->num_edges_removed ? ", " : "",
                      text_count(n, c->num_features_changed),
                      text_counted(counted, values, "feature value"));
    }
    (void)fputc(')', out);
}

/* Is it said of a value that it cannot go back? */
static bool has_steps(const cbx_counterfactual *c)
{
    bool any = false;
    for (int64_t k = 0; k < c->num_edits && !any; k++)
        any = c->edits[k].op == CBX_SET_FEATURE && c->edits[k].step > 0;
    return any;
}

static void print_found(FILE *out, const explain_job *job, const cbx_counterfactual *c)
{
    const source *s = &job->source;
    (void)fputs(", would be ", out);
    put_class(out, s, c->result);
    (void)fputc('\n', out);
    put_state(out, "now", s, c, c->before);
    put_edits(out, s, c);
    put_state(out, "then", s, c, c->after);
    (void)fputs("  ", out);
    put_counts(out, c);
    (void)fputs(" " DOT " ", out);
    put_time(out, c->seconds);
    (void)fputs(" " DOT " verified on the whole graph", out);
    if (c->certificate == CBX_IRREDUCIBLE)
        (void)fputs(has_steps(c) ? " " DOT " each edit is needed, and no value can go back"
                                 : " " DOT " each edit is needed",
                    out);
    else if (c->certificate == CBX_OPTIMAL)
        (void)fprintf(out, " " DOT " proved: nothing cheaper does, of all %s", c->scope);
    if (c->reason[0])
        (void)fprintf(out, " " DOT " %s", c->reason);
    (void)fputc('\n', out);
    if (c->num_unusual) {
        count_text values;
        (void)fprintf(
            out, "  %s outside the middle 98 %% of the data: nothing else takes as few edits\n",
            text_counted(values, c->num_unusual, "value"));
    }
    if (c->num_left_out) {
        number_text n;
        (void)fprintf(out, "  searched among the nearest %s", text_count(n, c->num_nodes));
        (void)fprintf(out, " nodes: %s links lead beyond --budget\n",
                      text_count(n, c->num_left_out));
    }
}

static void print_not_found(FILE *out, const explain_job *job, const cbx_counterfactual *c)
{
    count_text epochs;
    (void)fputs(", nothing found that makes it ", out);
    if (c->target >= 0)
        put_class(out, &job->source, c->target);
    else
        (void)fputs("another class", out);
    if (c->certificate == CBX_NO_CERTIFICATE)
        (void)fprintf(out, " in %s", text_counted(epochs, c->epochs, "epoch"));
    if (c->reason[0])
        (void)fprintf(out, ": %s", c->reason);
    (void)fputs(" " DOT " ", out);
    put_time(out, c->seconds);
    (void)fputc('\n', out);
}

void explain_print(FILE *out, const explain_job *job, const cbx_counterfactual *c)
{
    count_text epochs;
    put_head(out, &job->source, c);
    switch (c->outcome) {
    case CBX_FOUND:
        print_found(out, job, c);
        break;
    case CBX_NOT_FOUND:
        print_not_found(out, job, c);
        break;
    case CBX_SKIPPED:
        (void)fprintf(out, ", skipped: %s\n", c->reason);
        break;
    case CBX_NOT_FINISHED:
        (void)fprintf(out, ", cancelled after %s\n", text_counted(epochs, c->epochs, "epoch"));
        break;
    }
}

void explain_count(explain_summary *summary, const cbx_counterfactual *c)
{
    summary->done++;
    if (c->outcome == CBX_SKIPPED)
        summary->skipped++;
    else
        summary->seconds += c->seconds;
    if (c->outcome == CBX_FOUND)
        summary->edits[summary->found++] = c->num_edits;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void explain_print_summary(FILE *out, explain_summary *summary, double elapsed)
{
    int64_t     found = summary->found, tried = summary->done - summary->skipped;
    number_text n, all;
    (void)fprintf(out, "%s of %s found (%.0f %%)", text_count(n, found),
                  text_count(all, summary->done), 100.0 * (double)found / (double)summary->done);
    if (summary->skipped)
        (void)fprintf(out, ", %s skipped", text_count(n, summary->skipped));
    if (found) {
        qsort(summary->edits, (size_t)found, sizeof *summary->edits, by_size);
        int64_t low = summary->edits[(found - 1) / 2], high = summary->edits[found / 2];
        (void)fprintf(out, " " DOT " median %s%s edit%s", text_count(n, (low + high) / 2),
                      (low + high) % 2 ? ".5" : "", low + high == 2 ? "" : "s");
    }
    if (tried) {
        (void)fputs(" " DOT " mean ", out);
        put_time(out, summary->seconds / (double)tried);
    }
    (void)fputs(" " DOT " total ", out);
    put_time(out, elapsed);
    (void)fputc('\n', out);
}
