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
        char *line = cbx_counterfactual_json(&shown, job->source.graph, job->args->options,
                                             job->graph_hash, job->model_hash);
        if (line)
            add_line(pictures, line);
        else
            pictures->no_memory = true;
        free(line);
    }
}

void explain_pictures_tell(const explain_args *args)
{
    const char *paths[] = {args->html, args->svg, args->png};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (!paths[i])
            continue;
        (void)printf("written: ");
        text_put(stdout, paths[i], 0);
        (void)printf("\n");
    }
}

static int write_page(output *out, const char *path, const char *lines,
                      const cbx_report_source *shown)
{
    cbx_error err;
    int       status = path ? output_reserve(out, path) : EXIT_DONE;
    if (status == EXIT_DONE && path && cbx_report_write(lines, shown, out->temporary, &err))
        status = output_fail(out, &err);
    return status;
}

static int write_picture(output *out, const char *path, const char *format, const char *lines,
                         const cbx_report_source *shown)
{
    cbx_error err;
    int       status = path ? output_reserve(out, path) : EXIT_DONE;
    if (status == EXIT_DONE && path &&
        cbx_picture_write(lines, shown, format, out->temporary, &err))
        status = output_fail(out, &err);
    return status;
}

int explain_pictures_write(explain_pictures *pictures, const explain_job *job, output *outs,
                           const cbx_counterfactual *one, cbx_common_edits *common_edits)
{
    const explain_args *a = job->args;
    cbx_report_source   shown = {.model = job->model,
                                 .graph = job->source.graph,
                                 .data = a->data,
                                 .model_file = a->model,
                                 .trace = one ? one->trace : NULL,
                                 .num_trace = one ? one->num_trace : 0};
    cbx_error           err;
    if (pictures->no_memory)
        return fail("out of memory");
    if (a->html && job->count > 1 && cbx_common_edits_find(common_edits, &shown.common, &err))
        return fail_with(&err);
    int status = write_page(&outs[OUT_HTML], a->html, pictures->lines, &shown);
    if (status == EXIT_DONE)
        status = write_picture(&outs[OUT_SVG], a->svg, "svg", pictures->lines, &shown);
    if (status == EXIT_DONE)
        status = write_picture(&outs[OUT_PNG], a->png, "png", pictures->lines, &shown);
    return status;
}

void explain_pictures_free(explain_pictures *pictures)
{
    free(pictures->lines);
}
