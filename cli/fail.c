/* SPDX-License-Identifier: Apache-2.0 */
/* fail.c: what goes to stderr when something goes wrong. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "text.h"

/* A message may quote a file that somebody else wrote: what would steer a terminal is not
 * sent to it. */
static void say(const char *format, va_list args)
{
    char   text[8192], *clean = NULL;
    size_t size;
    (void)vsnprintf(text, sizeof text, format, args);
    FILE *out = open_memstream(&clean, &size); /* in one piece: others may write there, too */
    if (out)
        text_put(out, text, 0);
    bool whole = out && !fclose(out);
    (void)fprintf(stderr, "combinex: %s\n", whole ? clean : "out of memory");
    free(clean);
}

int fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    return EXIT_FAILED;
}

int fail_with(const cbx_error *err)
{
    char text[2 * CBX_MESSAGE_SIZE];
    if (err->status == CBX_CANCELLED) {
        (void)fail("interrupted, nothing was written");
        return EXIT_INTERRUPTED;
    }
    return fail("%s", flags_in(err->message, err->option[0], text));
}

int usage_error(const char *command_name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    (void)fprintf(stderr, "Try 'combinex %s%s--help'.\n", command_name, *command_name ? " " : "");
    return EXIT_USAGE;
}
