/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c: runs commands one after the other in one process, under valgrind's callgrind, which
 * writes down how many instructions each took. A line of the input is a label and the words of
 * a command, with tabs between; a command that fails is told of with its label. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

#include "cli.h"

enum { MOST_WORDS = 32 };

static int run_words(char **words, const char *label)
{
    int            taken = 0, count = 0;
    const command *c;
    while (words[count])
        count++;
    c = count ? command_find(count, words, &taken) : NULL;
    void *args = c ? calloc(1, c->args_size) : NULL;
    if (!args)
        return EXIT_USAGE;
    int status = args_parse(c, words + taken, args);
    if (status == EXIT_DONE) {
        CALLGRIND_ZERO_STATS;
        status = c->run(args);
        CALLGRIND_DUMP_STATS_AT(label);
    }
    args_free(c, args);
    free(args);
    return status;
}

int main(void)
{
    char  *line = NULL;
    size_t room = 0;
    int    failed = 0;
    if (!freopen("/dev/null", "w", stdout))
        return 1;
    while (getline(&line, &room, stdin) > 0) {
        char *words[MOST_WORDS + 2] = {0}, *rest = NULL;
        int   count = 0;
        for (char *word = strtok_r(line, "\t\n", &rest); word && count <= MOST_WORDS;
             word = strtok_r(NULL, "\t\n", &rest))
            words[count++] = word;
        if (count < 2)
            continue;
        int status = run_words(words + 1, words[0]);
        failed += status != EXIT_DONE;
        if (status != EXIT_DONE)
            (void)fprintf(stderr, "%s: exit status %d\n", words[0], status);
    }
    free(line);
    return failed ? 1 : 0;
}
