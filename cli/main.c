/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: from argv to a sub-command, and the state of stdout at the end. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "help.h"
#include "text.h"

/* Started with a standard stream closed, the next file opened would take its
 * number, and a message would land in it. Put something harmless there: it
 * cannot be written to, so output that was wanted still fails. */
static bool reserve_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", O_RDONLY) != fd)
            return false;
    }
    return true;
}

/* Who asked for help with -h has not written a word of it. */
static bool has_long_option(char **argv)
{
    for (; *argv; argv++)
        if (!strcmp(*argv, "--help"))
            return true;
    return false;
}

static int run_command(const command *c, char **argv)
{
    general_options *args = calloc(1, c->args_size);
    if (!args)
        return fail("out of memory");
    int status = args_parse(c, argv, args);
    if (status == EXIT_DONE && args->help)
        (c->basics && !has_long_option(argv) ? help_basics : help_command)(stdout, c);
    else if (status == EXIT_DONE)
        status = c->run(args);
    args_free(c, args);
    free(args);
    return status;
}

static bool is_option(const char *word, const char *name, char letter)
{
    return (word[0] == '-' && word[1] == letter && !word[2]) ||
           (!strncmp(word, "--", 2) && !strcmp(word + 2, name));
}

static int dispatch(int argc, char **argv)
{
    int words;
    if (argc == 0) {
        help_overview(stderr, NULL);
        return EXIT_USAGE;
    }
    if (is_option(argv[0], "version", 'V')) {
        (void)printf("combinex %s\n", cbx_version());
        return EXIT_DONE;
    }
    if (is_option(argv[0], "help", 'h')) {
        help_overview(stdout, NULL);
        return EXIT_DONE;
    }
    if (argv[0][0] == '-')
        return usage_error("", "'%s': options come after the command", argv[0]);
    const command *c = command_find(argc, argv, &words);
    if (c)
        return run_command(c, argv + words);
    if (command_is_group(argv[0]) && argc > 1 && is_option(argv[1], "help", 'h')) {
        help_overview(stdout, argv[0]);
        return EXIT_DONE;
    }
    if (command_is_group(argv[0]) && (argc == 1 || argv[1][0] == '-')) {
        help_overview(stderr, argv[0]);
        return EXIT_USAGE;
    }
    return command_unknown(argc, argv);
}

/* Output may fail as late as here, where the last of it leaves the buffer. */
static int close_stdout(int status)
{
    int  code = 0;
    bool failed = ferror(stdout) != 0;
    if (fflush(stdout) || fclose(stdout)) {
        code = errno;
        failed = true;
    }
    if (!failed || status != EXIT_DONE)
        return status;
    if (code == EPIPE) /* nobody is reading any more: no need to tell anybody */
        return EXIT_FAILED;
    return fail("cannot write to standard output: %s", code ? strerror(code) : "write error");
}

int main(int argc, char **argv)
{
    if (!reserve_standard_streams())
        return EXIT_FAILED;
    (void)setlocale(LC_ALL, "C");   /* in a Python process it may be another; programs read this */
    (void)signal(SIGXFSZ, SIG_IGN); /* a limit on files is an error like a full disk */
    return close_stdout(argc > 0 ? dispatch(argc - 1, argv + 1) : EXIT_USAGE);
}
