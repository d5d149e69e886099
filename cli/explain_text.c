/* SPDX-License-Identifier: Apache-2.0 */
/* explain_text.c: a counterfactual in words.
 *
 *     C-1003: refused, would be granted
 *       now    refused 93 % (fairly sure), granted 7 %
 *       if     remove edge C-1003–C-873
 *              income: 30,800 instead of 18,200
 *       then   granted 61 % (rather likely), refused 39 %
 *       2 changes · verified on the whole graph · each is needed
 *
 * Names come from the data and go through text_put, numbers stand in for them
 * where there are none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "text.h"

#define DOT "\u00b7"

static void put_class(FILE *out, const source *s, int32_t label)
{
    class_text buffer;
    if (!s->view->class_names || label >= s->view->num_classes)
        (void)fputs("class ", out);
    text_put(out, source_class(s, buffer, label), 0);
}

/* "member 8: ", or "node 8: " where that is all there is to call it; of several answers which. */
static void put_head(FILE *out, const explain_job *job, const cbx_counterfactual *c, int which,
                     int answers)
{
    const source *s = &job->source;
    const char   *name =
        c->task == CBX_NODE && s->view->node_names ? s->view->node_names[c->row] : "";
    if (name[strspn(name, "0123456789")]) {
        text_put(out, name, 0);
    } else {
        (void)fprintf(out, "%s ", source_row(s));
        if (*name)
            text_put(out, name, 0);
        else
            (void)fprintf(out, "%d", (int)c->row);
    }
    if (answers > 1)
        (void)fprintf(out, ", answer %d of %d", which + 1, answers);
    (void)fputs(": ", out);
    if (c->prediction >= 0)
        put_class(out, s, c->prediction);
    else
        (void)fputs("class not known", out);
}

/* Percent, without claiming a certainty that rounding made. */
static void put_probability(FILE *out, const source *s, const float *log_probs, int32_t label)
{
    double p = exp((double)log_probs[label]);
    put_class(out, s, label);
    if (p < 0.005)
        (void)fputs(" <1 %", out);
    else if (p >= 0.995)
        (void)fputs(" >99 %", out);
    else
        (void)fprintf(out, " %.0f %%", 100 * p);
}

/* How sure the model is, for who does not think in percent. */
static const char *how_sure(double p)
{
    return p >= 0.95  ? "almost certain"
           : p >= 0.8 ? "fairly sure"
           : p >= 0.6 ? "rather likely"
                      : "a close call";
}

/* Before (`now`) or after: the likeliest class, and the other one; or the number. */
static void put_state(FILE *out, const char *when, const source *s, const cbx_counterfactual *c,
                      const float *log_probs)
{
    bool    before = log_probs == c->before;
    int32_t first = before ? c->prediction : c->result, second = before ? c->result : c->prediction;
    rounded_text number;
    (void)fprintf(out, "  %-6s ", when);
    if (c->has_numbers) {
        double own = before ? c->number_before : c->number_after;
        (void)text_rounded(number, own, before ? c->number_after : c->number_before);
        (void)fprintf(out, "%s\n", number);
        return;
    }
    put_probability(out, s, log_probs, first);
    (void)fprintf(out, " (%s), ", how_sure(exp((double)log_probs[first])));
    put_probability(out, s, log_probs, second);
    (void)fputc('\n', out);
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

static bool sets_attributes(const cbx_counterfactual *c)
{
    bool any = false;
    for (int64_t k = 0; k < c->num_edits; k++)
        any = any || (c->edits[k].op == CBX_SET_EDGE && c->edits[k].attribute);
    return any;
}

/* "1 of 210 edges, 2 edges added, 1 of 60 nodes, 1 node added, 1 of 118,496 feature values" */
static void put_shares(FILE *out, const cbx_counterfactual *c)
{
    count_text  counted;
    number_text n;
    if (c->num_edges_removed)
        (void)fprintf(out, "%s of %s", text_count(n, c->num_edges_removed),
                      text_counted(counted, c->num_removable, "edge"));
    if (c->num_edges_added)
        (void)fprintf(out, "%s%s added", c->num_edges_removed ? ", " : "",
                      text_counted(counted, c->num_edges_added, "edge"));
    bool edges = c->num_edges_removed || c->num_edges_added;
    if (c->num_edges_reweighted)
        (void)fprintf(out, "%s%s %s", edges ? ", " : "",
                      text_counted(counted, c->num_edges_reweighted, "edge"),
                      sets_attributes(c) ? "changed" : "reweighted");
    edges = edges || c->num_edges_reweighted;
    if (c->num_nodes_removed)
        (void)fprintf(out, "%s%s of %s", edges ? ", " : "", text_count(n, c->num_nodes_removed),
                      text_counted(counted, c->num_nodes, "node"));
    bool before = edges || c->num_nodes_removed;
    if (c->num_nodes_added)
        (void)fprintf(out, "%s%s added", before ? ", " : "",
                      text_counted(counted, c->num_nodes_added, "node"));
    before = before || c->num_nodes_added;
    if (c->num_features_changed) {
        int64_t values = (int64_t)c->num_nodes * c->num_features;
        (void)fprintf(out, "%s%s of %s", before ? ", " : "",
                      text_count(n, c->num_features_changed),
                      text_counted(counted, values, "feature value"));
    }
}

/* --details: what few want to know, in the words of docs/quality.md. */
static void put_details(FILE *out, const explain_job *job, const cbx_counterfactual *c)
{
    (void)fprintf(out, "  %s %d " DOT " ", source_row(&job->source), (int)c->row);
    put_shares(out, c);
    (void)fprintf(out, " " DOT " cost %g", c->cost);
    if (c->lower_bound > 0 && c->certificate != CBX_OPTIMAL)
        (void)fprintf(out, ", at least %g", c->lower_bound);
    if (c->l1_mad > 0)
        (void)fprintf(out, " " DOT " values go %.3g deviations", c->l1_mad);
    if (c->plausibility >= 0)
        (void)fprintf(out, " " DOT " plausibility %.2g", c->plausibility);
    (void)fprintf(out, " " DOT " margin %.3g", c->margin);
    if (c->robustness >= 0)
        (void)fprintf(out, " " DOT " robustness %.2f", c->robustness);
    (void)fprintf(out, " " DOT " certificate %s " DOT " ", cbx_certificate_name(c->certificate));
    put_time(out, c->seconds);
    (void)fputc('\n', out);
}

/* Is it said of a value that it cannot go back? */
static bool has_steps(const cbx_counterfactual *c)
{
    bool any = false;
    for (int64_t k = 0; k < c->num_edits && !any; k++)
        any = c->edits[k].op == CBX_SET_FEATURE && c->edits[k].step > 0;
    return any;
}

/* Proved, but not to the end. That something must change is no news, and has no scope. */
static void put_lower_bound(FILE *out, const cbx_counterfactual *c)
{
    if (!(c->lower_bound > 0) || c->certificate == CBX_OPTIMAL || !c->scope[0])
        return;
    if (c->outcome == CBX_FOUND && !(c->l1_mad > 0) && c->lower_bound < c->cost)
        (void)fprintf(out, " " DOT " proved: it takes between %g and %g, of all %s", c->lower_bound,
                      c->cost, c->scope);
    else
        (void)fprintf(out, " " DOT " proved: no answer costs less than %g, of all %s",
                      c->lower_bound, c->scope);
}

/* One change is the least there is, which goes without saying where no proof was asked for. */
static bool is_plain(const explain_job *job, const cbx_counterfactual *c, int64_t changes)
{
    const cbx_options *asked = job->args->options; /* NULL: from elsewhere than the command line */
    bool               proof = asked && args_given(asked, "prove");
    return c->certificate == CBX_IRREDUCIBLE ||
           (c->certificate == CBX_OPTIMAL && changes == 1 && !proof);
}

/* What --edits all came to; of many targets that is said in JSON only. */
static void put_kinds(FILE *out, const explain_job *job, const cbx_counterfactual *c)
{
    const cbx_options *asked = job->args->options;
    char               edits[128];
    if (asked && job->count == 1 && cbx_options_get(asked, "edits", edits, sizeof edits) &&
        strstr(edits, "all") && c->kinds && c->kinds[0])
        (void)fprintf(out, "  all kinds of edit are here: %s\n", c->kinds);
}

static void print_found(FILE *out, const explain_job *job, const cbx_counterfactual *c)
{
    const source *s = &job->source;
    count_text    counted;
    int64_t       changes = explain_count_changes(c);
    (void)fputs(", would be ", out);
    put_class(out, s, c->result);
    (void)fputc('\n', out);
    put_state(out, "now", s, c, c->before);
    explain_put_changes(out, job, c);
    put_state(out, "then", s, c, c->after);
    (void)fprintf(out, "  %s " DOT " verified on the whole graph",
                  text_counted(counted, changes, "change"));
    if (is_plain(job, c, changes))
        (void)fprintf(out, " " DOT " %s%s", changes == 1 ? "it is needed" : "each is needed",
                      !has_steps(c)  ? ""
                      : changes == 1 ? ", and goes no further than it must"
                                     : ", and no value goes further than it must");
    else if (c->certificate == CBX_OPTIMAL)
        (void)fprintf(out, " " DOT " proved to be the cheapest of all %s", c->scope);
    put_lower_bound(out, c);
    if (c->reason[0])
        (void)fprintf(out, " " DOT " %s", c->reason);
    (void)fputc('\n', out);
    if (c->num_unusual) {
        count_text values;
        (void)fprintf(out,
                      "  %s %s outside the middle 98 %% of the data: nothing else was found that "
                      "takes as few "
                      "changes\n",
                      text_counted(values, c->num_unusual, "value"),
                      c->num_unusual == 1 ? "lies" : "lie");
    }
    if (c->num_left_out) {
        number_text n;
        (void)fprintf(out, "  searched among the nearest %s", text_count(n, c->num_nodes));
        (void)fprintf(out, " nodes: %s links lead beyond --budget\n",
                      text_count(n, c->num_left_out));
    }
    put_kinds(out, job, c);
    if (job->args->details)
        put_details(out, job, c);
}

static void print_not_found(FILE *out, const explain_job *job, const cbx_counterfactual *c)
{
    count_text epochs;
    (void)fputs(c->certificate == CBX_PROVED_NONE ? ", and nothing makes it "
                                                  : ", nothing found that makes it ",
                out);
    if (c->target >= 0)
        put_class(out, &job->source, c->target);
    else
        (void)fputs("another class", out);
    if (c->certificate == CBX_NO_CERTIFICATE)
        (void)fprintf(out, " in %s", text_counted(epochs, c->epochs, "epoch"));
    if (c->reason[0])
        (void)fprintf(out, ": %s", c->reason);
    put_lower_bound(out, c);
    (void)fputs(" " DOT " ", out);
    put_time(out, c->seconds);
    (void)fputc('\n', out);
    put_kinds(out, job, c);
}

void explain_print(FILE *out, const explain_job *job, const cbx_counterfactual *c, int which,
                   int answers)
{
    count_text epochs;
    put_head(out, job, c, which, answers);
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
    if (c->outcome == CBX_FOUND) {
        summary->changes[summary->found++] = explain_count_changes(c);
        summary->edits += c->num_edits;
    }
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
        qsort(summary->changes, (size_t)found, sizeof *summary->changes, by_size);
        int64_t low = summary->changes[(found - 1) / 2], high = summary->changes[found / 2];
        (void)fprintf(out, " " DOT " median %s%s change%s", text_count(n, (low + high) / 2),
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
