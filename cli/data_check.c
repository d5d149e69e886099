/* SPDX-License-Identifier: Apache-2.0 */
/* data_check.c: combinex data check. */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "help.h"
#include "json.h"
#include "source.h"
#include "text.h"

typedef struct check_args {
    general_options general;
    const char     *data;
    cbx_options    *read;
} check_args;

typedef struct tally {
    const check_args *args;
    int64_t           errors, warnings;
} tally;

static void tell(void *user, cbx_problem_kind kind, const char *message)
{
    tally      *t = user;
    bool        error = kind == CBX_PROBLEM_ERROR;
    const char *word = error ? "error" : "warning";
    char        flags[2 * CBX_MESSAGE_SIZE];
    message = flags_in(message, false, flags);
    t->errors += error;
    t->warnings += !error;
    if (t->args->general.json) {
        json j = {.out = stdout};
        json_open(&j, NULL, '{');
        json_text(&j, "kind", word);
        json_text(&j, "message", message);
        json_close(&j, '}');
        json_line(&j);
        return;
    }
    if (t->args->general.quiet && !error)
        return;
    (void)printf("%s: ", word);
    text_put(stdout, message, 0);
    (void)printf("\n");
}

static int run(void *args)
{
    const check_args *a = args;
    tally             t = {.args = a};
    cbx_error         err;
    count_text        errors, warnings;
    char             *path;
    int               status = source_find(a->data, &path);
    if (status == EXIT_DONE && !path)
        status = source_check_builtin(a->data, a->read);
    if (status)
        return status;
    if (!path)
        return a->general.quiet || a->general.json
                   ? EXIT_DONE
                   : (printf("%s is built in, and sound\n", a->data), EXIT_DONE);
    cbx_status checked = cbx_graph_check(path, a->read, tell, &t, &err);
    free(path);
    if (checked)
        return fail_with(&err);
    if (!a->general.quiet && !a->general.json)
        (void)printf("%s, %s\n", text_counted(errors, t.errors, "error"),
                     text_counted(warnings, t.warnings, "warning"));
    return t.errors ? EXIT_FAILED : EXIT_DONE;
}

const command command_data_check = {
    .name = "data check",
    .summary = "find all problems of a data set, not only the first",
    .about = "Reads a data set and tells of everything that is wrong with it, with file and line, "
             "and of what is allowed but perhaps not meant. Exit status 1 if there was an error. "
             "With --json, one object per line.",
    .args_size = sizeof(check_args),
    .operands =
        (const operand[]){{"DATA", OPERAND_DATA, offsetof(check_args, data), false, HELP_DATA},
                          {.name = NULL}},
    .groups =
        (const option_group[]){
            {.table = cbx_read_table, .by_name = true, .offset = offsetof(check_args, read)},
            {.table = NULL}},
    .examples =
        (const example[]){{"tables of your own", "combinex data check friends/"}, {.why = NULL}},
    .run = run,
};
