/* SPDX-License-Identifier: Apache-2.0 */
/* explain_recurring.c: what the flips of many targets have in common.
 *
 * Features are taken one after the other, each time the one that is edited in most of the
 * flips not accounted for yet, until four flips in five are. */
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "json.h"
#include "output.h"
#include "text.h"

/* Answers of more edits than MOST have too many features for any to stand out, and
 * noting them all would take more memory than the search. */
enum { ENOUGH_PERCENT = 80, SHOWN = 5, MOST = 100 };

void explain_note(explain_recurring *r, const cbx_counterfactual *c)
{
    if (c->outcome != CBX_FOUND)
        return;
    r->incomplete = r->incomplete || c->num_edits > MOST;
    if (r->incomplete)
        return;
    for (int64_t k = 0; k < c->num_edits; k++) {
        const cbx_edit *e = &c->edits[k];
        if (e->op != CBX_SET_FEATURE)
            continue;
        if (r->count == r->room) {
            int64_t room = r->room ? 2 * r->room : 1024;
            void   *more = realloc(r->notes, (size_t)room * sizeof *r->notes);
            if (!more) { /* a summary is no reason to lose results */
                r->incomplete = true;
                break;
            }
            r->notes = more;
            r->room = room;
        }
        r->notes[r->count++] = (explain_noted){r->flips, e->feature};
    }
    r->flips++;
}

void explain_recurring_free(explain_recurring *r)
{
    free(r->notes);
    free(r->features);
    free(r->in_flips);
}

/* Fills in features and in_flips. */
static int find_features(explain_recurring *r, int32_t num_features)
{
    int64_t *times = calloc((size_t)num_features + 1, sizeof *times);
    int64_t *last = malloc(((size_t)num_features + 1) * sizeof *last);
    uint8_t *covered = calloc((size_t)r->flips + 1, 1);
    int64_t  done = 0;
    r->features = calloc((size_t)num_features + 1, sizeof *r->features);
    r->in_flips = calloc((size_t)num_features + 1, sizeof *r->in_flips);
    bool there = times && last && covered && r->features && r->in_flips;
    while (there && 100 * done < ENOUGH_PERCENT * r->flips) {
        int32_t best = 0;
        memset(times, 0, (size_t)num_features * sizeof *times);
        for (int32_t j = 0; j < num_features; j++)
            last[j] = -1;
        for (int64_t k = 0; k < r->count; k++) { /* a feature counts once a flip */
            const explain_noted *n = &r->notes[k];
            times[n->feature] += !covered[n->flip] && last[n->feature] != n->flip;
            last[n->feature] = n->flip;
        }
        for (int32_t j = 1; j < num_features; j++)
            best = times[j] > times[best] ? j : best;
        if (!times[best])
            break; /* the rest is edges */
        for (int64_t k = 0; k < r->count; k++)
            if (r->notes[k].feature == best)
                covered[r->notes[k].flip] = 1;
        done += times[best];
        r->in_flips[r->num_features] = times[best];
        r->features[r->num_features++] = best;
    }
    r->covered = done;
    free(times);
    free(last);
    free(covered);
    return there ? 0 : -1;
}

static void put_feature(FILE *out, const source *s, int32_t feature)
{
    if (s->view->feature_names)
        text_put(out, s->view->feature_names[feature], 0);
    else
        (void)fprintf(out, "feature %d", (int)feature);
}

void explain_print_recurring(FILE *out, explain_recurring *r, const source *s)
{
    count_text counted;
    if (r->incomplete || !r->count || find_features(r, s->view->num_features) || !r->covered)
        return;
    (void)fprintf(
        out,
        "%s %s part in %.0f %% of the flips: ", text_counted(counted, r->num_features, "feature"),
        r->num_features == 1 ? "takes" : "take", 100.0 * (double)r->covered / (double)r->flips);
    for (int64_t k = 0; k < r->num_features && k < SHOWN; k++) {
        (void)fputs(k ? ", " : "", out);
        put_feature(out, s, r->features[k]);
    }
    (void)fputs(r->num_features > SHOWN ? ", \u2026\n" : "\n", out);
}

int explain_write_summary(const char *path, const explain_summary *summary, explain_recurring *r,
                          const source *s)
{
    output out;
    int    status = output_open(&out, path);
    if (status)
        return status;
    if (!r->features && r->count && !r->incomplete && find_features(r, s->view->num_features)) {
        output_abandon(&out);
        return fail("out of memory");
    }
    json    j = {.out = out.file};
    int64_t edits = 0;
    for (int64_t k = 0; k < summary->found; k++)
        edits += summary->edits[k];
    json_open(&j, NULL, '{');
    json_int(&j, "targets", summary->done);
    json_int(&j, "found", summary->found);
    json_int(&j, "skipped", summary->skipped);
    json_double(&j, "mean_edits", summary->found ? (double)edits / (double)summary->found : 0);
    json_int(&j, "flips_covered", r->covered);
    json_bool(&j, "features_known", !r->incomplete); /* not of answers with many edits */
    json_open(&j, "features", '[');
    for (int64_t k = 0; r->features && k < r->num_features; k++) {
        json_open(&j, NULL, '{');
        json_int(&j, "feature", r->features[k]);
        if (s->view->feature_names)
            json_text(&j, "name", s->view->feature_names[r->features[k]]);
        json_int(&j, "flips", r->in_flips[k]);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    json_line(&j);
    return output_commit(&out);
}
