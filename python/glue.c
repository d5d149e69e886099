/* SPDX-License-Identifier: Apache-2.0 */
/* glue.c: the four things that the Python package cannot do from Python.
 *
 * It sees the public header, what the command line offers for its words, and how to be sure
 * of a locale. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "explain.h"
#include "number.h"

/* A search reports every epoch; Python wants to hear of it a few times a second,
 * because each call waits for its interpreter's lock. */
typedef struct cbx_python_watch {
    cbx_progress inner;
    double       interval; /* seconds */
    double       next;     /* 0: not begun */
} cbx_python_watch;

CBX_API int cbx_python_progress(void *user, int64_t done, int64_t total, const char *text);

/* A cbx_progress whose `user` is a cbx_python_watch. */
int cbx_python_progress(void *user, int64_t done, int64_t total, const char *text)
{
    cbx_python_watch *w = user;
    struct timespec   t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    if (w->next == 0)
        w->next = now + w->interval;
    if (now < w->next)
        return 0;
    w->next = now + w->interval;
    return w->inner(user, done, total, text);
}

CBX_API char *cbx_python_text(cbx_graph *graph, const cbx_options *options,
                              const cbx_counterfactual *c, bool details);

/* The sentences of `combinex explain`, to be freed; NULL when memory runs out. */
char *cbx_python_text(cbx_graph *graph, const cbx_options *options, const cbx_counterfactual *c,
                      bool details)
{
    explain_args asked = {.details = details, .options = (cbx_options *)options};
    explain_job  job = {.args = &asked, .source = {.graph = graph, .name = ""}};
    char        *text = NULL;
    size_t       size = 0;
    job.source.view = cbx_graph_arrays(graph);
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    (void)cbx_atoms_new(graph, options, &job.atoms, NULL); /* nodes have numbers, too */
    cbx_locale locale = cbx_locale_begin();                /* the interpreter's may be any */
    explain_print(out, &job, c, 0, 1);
    cbx_locale_end(locale);
    cbx_atoms_free(job.atoms);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

CBX_API char *cbx_python_show(const char *text);

/* The whole of a text as cbx_text_next shows it, to be freed; NULL when memory runs out. */
char *cbx_python_show(const char *text)
{
    char   next[CBX_SHOWN_SIZE], *shown = malloc(strlen(text) * CBX_SHOWN_SIZE + 1);
    size_t at = 0, length;
    if (!shown)
        return NULL;
    while ((length = cbx_text_next(&text, next))) {
        memcpy(shown + at, next, length);
        at += length;
    }
    shown[at] = '\0';
    return shown;
}

CBX_API void cbx_python_free(void *block);

void cbx_python_free(void *block)
{
    free(block);
}

int         cbx_python_main(int argc, char **argv); /* main.c's */
CBX_API int cbx_python_run(int argc, char **argv);

/* The command line. Closes standard output. */
int cbx_python_run(int argc, char **argv)
{
    return cbx_python_main(argc, argv);
}
