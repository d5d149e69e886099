/* SPDX-License-Identifier: Apache-2.0 */
/* explain_show.c: --html, --svg and --png. All are made from the lines that --json
 * writes, so that what is seen is what is in them. */
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "text.h"

bool explain_pictures_wanted(const explain_args *args)
{
    return args->html || args->svg || args->png;
}

/* Of many targets a page lists some edits each. Keeping all, of which there may be thousands for
 * every target, would take more memory than the search. */
enum { EDITS_OF_MANY = 100 };

static void add_line(explain_pictures *p, const char *line)
{
    size_t size = strlen(line);
    if (p->size + size + 2 > p->room) {
        size_t room = 2 * (p->size + size + 2);
        char  *grown = realloc(p->lines, room);
        if (!grown) {
            p->no_memory = true;
            return;
        }
        p->lines = grown;
        p->room = room;
    }
    memcpy(p->lines + p->size, line, size);
    memcpy(p->lines + p->size + size, "\n", 2);
    p->size += size + 1;
}

void explain_pictures_add(explain_pictures *pictures, const explain_job *job,
                          const cbx_counterfactual *c)
{
    for (; c && !pictures->no_memory; c = c->next) {
        cbx_counterfactual shown = *c;
        if (job->count > 1 && shown.num_edits > EDITS_OF_MANY)
            shown.num_edits = EDITS_OF_MANY;
        char *line = cbx_counterfactual_json(&shown, job->source.graph, &job->args->options,
                                             job->graph_hash, job->model_hash);
        if (line)
            add_line(pictures, line);
        else
            pictures->no_memory = true;
        free(line);
    }
}

static int said(const explain_job *job, const char *path)
{
    const general_options *general = &job->args->general;
    if (!general->quiet && !general->json) {
        (void)printf("written: ");
        text_put(stdout, path, 0);
        (void)printf("\n");
    }
    return EXIT_DONE;
}

int explain_pictures_write(explain_pictures *pictures, const explain_job *job,
                           const cbx_counterfactual *one, cbx_recurring *recurring)
{
    const explain_args *a = job->args;
    cbx_report_source   shown = {.model = job->model,
                                 .graph = job->source.graph,
                                 .data = a->data,
                                 .model_file = a->model,
                                 .trace = one ? one->trace : NULL,
                                 .num_trace = one ? one->num_trace : 0};
    const struct {
        const char *format, *path;
    } pictures_of[] = {{"svg", a->svg}, {"png", a->png}};
    cbx_error err;
    if (pictures->no_memory)
        return fail("out of memory");
    if (a->html && job->count > 1 && cbx_recurring_find(recurring, &shown.common, &err))
        return fail_with(&err);
    if (a->html) {
        if (cbx_report_write(pictures->lines, &shown, a->html, &err))
            return fail_with(&err);
        (void)said(job, a->html);
    }
    for (int i = 0; i < 2; i++) {
        if (!pictures_of[i].path)
            continue;
        if (cbx_picture_write(pictures->lines, &shown, pictures_of[i].format, pictures_of[i].path,
                              &err))
            return fail_with(&err);
        (void)said(job, pictures_of[i].path);
    }
    return EXIT_DONE;
}

void explain_pictures_free(explain_pictures *pictures)
{
    free(pictures->lines);
}
