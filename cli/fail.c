/* SPDX-License-Identifier: Apache-2.0 */
/* fail.c: what goes to stderr when something goes wrong. */
#include <stdarg.h>
#include <stdio.h>

#include "cli.h"

int fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fputs("combinex: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    return EXIT_FAILED;
}

int fail_with(const cbx_error *err)
{
    if (err->status == CBX_CANCELLED) {
        (void)fail("interrupted, nothing was written");
        return EXIT_INTERRUPTED;
    }
    return fail("%s", err->message);
}

int usage_error(const char *command_name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fputs("combinex: ", stderr);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fprintf(stderr, "\nTry 'combinex %s%s--help'.\n", command_name, *command_name ? " " : "");
    return EXIT_USAGE;
}
