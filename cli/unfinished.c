/* SPDX-License-Identifier: Apache-2.0 */
/* unfinished.c: see unfinished.h. The handler calls only what POSIX lets handlers call. */
#include "unfinished.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
enum { DEADLY = sizeof deadly / sizeof *deadly, NAMES_MAX = 8 };

/* A signal handler has no other way to learn of them. */
static char *volatile names[NAMES_MAX];
static volatile sig_atomic_t held, waiting;
static struct sigaction      before[DEADLY];
static int                   count; /* of the names */

void unfinished_remove(void)
{
    for (int i = 0; i < NAMES_MAX; i++)
        if (names[i])
            (void)unlink(names[i]);
}

static void remove_and_die(int number)
{
    if (held) { /* it comes back */
        waiting = number;
        return;
    }
    unfinished_remove();
    (void)raise(number); /* SA_RESETHAND put the default action back */
}

static void listen(void)
{
    struct sigaction action = {.sa_handler = remove_and_die, .sa_flags = (int)SA_RESETHAND};
    (void)sigemptyset(&action.sa_mask);
    for (int i = 0; i < DEADLY; i++) {
        /* nohup and background jobs ignore some of these: leave them ignored */
        if (!sigaction(deadly[i], NULL, &before[i]) && before[i].sa_handler != SIG_IGN)
            (void)sigaction(deadly[i], &action, NULL);
    }
}

void unfinished_add(char *name)
{
    if (count == 0)
        listen();
    for (int i = 0; i < NAMES_MAX; i++) {
        if (names[i])
            continue;
        names[i] = name;
        count++;
        return;
    }
}

void unfinished_forget(const char *name)
{
    bool known = false;
    for (int i = 0; i < NAMES_MAX; i++) {
        if (!name || names[i] != name)
            continue;
        names[i] = NULL;
        count--;
        known = true;
    }
    for (int i = 0; known && count == 0 && i < DEADLY; i++)
        (void)sigaction(deadly[i], &before[i], NULL);
}

void unfinished_hold(void)
{
    held = 1;
}

void unfinished_release(void)
{
    held = 0;
    if (waiting)
        (void)raise(waiting);
}
