/* SPDX-License-Identifier: Apache-2.0 */
/* explain_common_edits.c: says what the flips of many targets have in common. */
#include "explain.h"
#include "json.h"
#include "text.h"

enum { SHOWN = 5 };

static void put_feature(FILE *out, const source *s, int32_t feature)
{
    if (s->view->feature_names)
        text_put(out, s->view->feature_names[feature], 0);
    else
        (void)fprintf(out, "feature %d", (int)feature);
}

void explain_print_common_edits(FILE *out, cbx_common_edits *common_edits, const source *s)
{
    const cbx_common *c;
    count_text        counted;
    number_text       covered;
    if (cbx_common_edits_find(common_edits, &c, NULL) || !c->covered)
        return; /* a summary is no reason to lose results */
    if (c->covered == c->flips)
        (void)fputs("every flip changes ", out);
    else
        (void)fprintf(out, "%s of %s change ", text_count(covered, c->covered),
                      text_counted(counted, c->flips, "flip"));
    (void)fputs(c->num_core > 1 ? "at least one of " : "", out);
    for (int64_t k = 0; k < c->num_core && k < SHOWN; k++) {
        (void)fputs(k ? ", " : "", out);
        put_feature(out, s, c->core[k]);
    }
    (void)fputs(c->num_core > SHOWN ? ", \u2026\n" : "\n", out);
}

static void put_core(json *j, const cbx_common *c, const source *s)
{
    json_int(j, "flips_covered", c->covered);
    json_bool(j, "features_known", c->core_known); /* not of answers with many edits */
    json_open(j, "features", '[');
    for (int64_t k = 0; k < c->num_core; k++) {
        json_open(j, NULL, '{');
        json_int(j, "feature", c->core[k]);
        if (s->view->feature_names)
            json_text(j, "name", s->view->feature_names[c->core[k]]);
        json_int(j, "flips", c->core_flips[k]);
        json_close(j, '}');
    }
    json_close(j, ']');
}

int explain_write_summary(output *out, const char *path, const explain_summary *summary,
                          cbx_common_edits *common_edits, const source *s)
{
    const cbx_common *c;
    cbx_error         err;
    if (cbx_common_edits_find(common_edits, &c, &err))
        return fail_with(&err);
    int status = output_open(out, path);
    if (status)
        return status;
    json j = {.out = out->file};
    json_open(&j, NULL, '{');
    json_int(&j, "targets", summary->done);
    json_int(&j, "found", summary->found);
    json_int(&j, "skipped", summary->skipped);
    json_double(&j, "mean_edits",
                summary->found ? (double)summary->edits / (double)summary->found : 0);
    put_core(&j, c, s);
    json_close(&j, '}');
    json_line(&j);
    return output_finish(out);
}
