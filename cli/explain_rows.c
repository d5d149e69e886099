/* SPDX-License-Identifier: Apache-2.0 */
/* explain_rows.c: which nodes or graphs to explain. */
#include <stdlib.h>
#include <string.h>

#include "explain.h"

enum { TEST_PART = 2 }; /* of cbx_split */

static bool skip_mark(const char **at, char mark)
{
    *at += strspn(*at, " \t\r\n");
    if (**at != mark)
        return false;
    (*at)++;
    return true;
}

/* A JSON text without escapes, or a number. */
static bool take_word(const char **at, char *word, size_t size)
{
    bool   quoted = skip_mark(at, '"');
    size_t length = strcspn(*at, quoted ? "\"\\" : " \t\r\n,:{}[]\"\\");
    if (!length || length >= size || (quoted && (*at)[length] != '"'))
        return false;
    memcpy(word, *at, length);
    word[length] = '\0';
    *at += length + quoted;
    return true;
}

/* Sets the train options that the note names: train.c writes it, as a JSON
 * object without anything nested. */
static bool read_note(const char *note, cbx_options *options)
{
    char name[64], value[64];
    bool good = skip_mark(&note, '{');
    do {
        good = good && take_word(&note, name, sizeof name) && skip_mark(&note, ':') &&
               take_word(&note, value, sizeof value) &&
               !cbx_options_set(options, name, value, NULL);
    } while (good && skip_mark(&note, ','));
    return good && skip_mark(&note, '}');
}

/* Which rows the options of a training make test rows. */
static int find_test_rows(explain_job *job, const char *note, cbx_options *options, uint8_t *part)
{
    cbx_error err;
    if (!read_note(note, options))
        return fail("%s: cannot read the note on its split: %.200s", job->args->model, note);
    if (cbx_split(job->source.graph, options, part, &err))
        return fail("the split that %s was trained with: %s", job->args->model, err.message);
    for (int64_t i = 0; i < source_rows(&job->source); i++) {
        if (part[i] == TEST_PART)
            job->rows[job->count++] = (int32_t)i;
    }
    if (!job->count)
        return fail("%s: the model was trained with an empty test set", job->args->model);
    return EXIT_DONE;
}

static int choose_test_set(explain_job *job)
{
    const char  *note = cbx_model_note(job->model, "split");
    cbx_options *options = NULL;
    cbx_error    err;
    if (!note)
        return fail("%s: the model does not say which %ss it was tested on; 'combinex train' "
                    "makes models that do",
                    job->args->model, source_row(&job->source));
    if (cbx_options_new(cbx_train_table(), &options, &err))
        return fail_with(&err);
    uint8_t *part = malloc((size_t)source_rows(&job->source) + 1);
    int      status = part ? find_test_rows(job, note, options, part) : fail("out of memory");
    free(part);
    cbx_options_free(options);
    return status;
}

int explain_choose_rows(explain_job *job)
{
    const explain_args *a = job->args;
    size_t              rows = (size_t)source_rows(&job->source), asked = 0;
    int32_t            *chosen;
    int status = source_asked(&job->source, &a->nodes, &a->graphs, &job->rows, &asked);
    if (status)
        return status;
    job->count = (int64_t)asked;
    chosen = realloc(job->rows, (asked + rows + 1) * sizeof *chosen);
    if (!chosen)
        return fail("out of memory for %zu targets", rows);
    job->rows = chosen;
    if (a->test_set)
        status = choose_test_set(job);
    for (size_t i = 0; a->all && i < rows; i++)
        job->rows[job->count++] = (int32_t)i;
    if (a->limit && job->count > a->limit)
        job->count = a->limit;
    if (status == EXIT_DONE && !job->count)
        return fail("%s has no %s to explain", job->source.name, source_row(&job->source));
    return status;
}
