/* SPDX-License-Identifier: Apache-2.0 */
/* A command line, a word a line: the sub-command is found, its words are read, and its
 * help is made. Nothing is run. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "fuzz.h"

enum { MOST_WORDS = 64 };

/* In place of report.c: silent. */
int fail(const char *format, ...)
{
    if (!format[0])
        fuzz_stop("an error without a message");
    return EXIT_FAILED;
}

int fail_with(const cbx_error *err)
{
    if (!err->message[0])
        fuzz_stop("an error without a message");
    return EXIT_FAILED;
}

int usage_error(const char *command_name, const char *format, ...)
{
    if (!command_name || !format[0])
        fuzz_stop("an error without a message");
    return EXIT_USAGE;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = fuzz_text(bytes, size), *rest = text, *words[MOST_WORDS + 1] = {0};
    int   count = 0, taken = 0;
    for (char *line; count < MOST_WORDS && (line = fuzz_line(&rest));)
        words[count++] = line;
    const command *c = count ? command_find(count, words, &taken) : NULL;
    if (count && !c)
        (void)command_is_group(words[0]);
    void *args = c ? calloc(1, c->args_size) : NULL;
    if (args) {
        (void)args_parse(c, words + taken, args);
        args_free(c, args);
    }
    free(args);
    free(text);
    return 0;
}
