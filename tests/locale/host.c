/* SPDX-License-Identifier: Apache-2.0 */
/* host.c: preloaded, it makes of the command line what a program is that speaks its user's
 * language: the locale in CBX_TEST_LOCALE is set before main. Other programs, such as those
 * that a test's script runs, stay as they are. */
#define _GNU_SOURCE
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void take_locale(void)
{
    const char *name = getenv("CBX_TEST_LOCALE");
    if (!name || strcmp(program_invocation_short_name, "combinex") != 0 || setlocale(LC_ALL, name))
        return;
    (void)fprintf(stderr, "there is no locale %s\n", name);
    exit(3);
}
