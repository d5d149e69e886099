/* SPDX-License-Identifier: Apache-2.0 */
/* fault.c: see fault.h. The handler calls only what POSIX lets handlers call. */
#include "fault.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "unfinished.h"

/* A handler has no other way to learn of them. More than these go without a name. */
enum { WATCHED_MAX = 8 };
static _Atomic(const char *) watched[WATCHED_MAX];

/* Threads that read the same file can all meet the fault. One tells, the others wait to end. */
static atomic_flag told = ATOMIC_FLAG_INIT;

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody is left to tell */
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code == BUS_ADRALN) { /* a mistake of ours, not the file's */
        (void)signal(number, SIG_DFL);
        (void)raise(number);
        return;
    }
    while (atomic_flag_test_and_set(&told))
        (void)pause();
    unfinished_remove();
    say("\ncombinex: ");
    const char *between = "";
    for (int i = 0; i < WATCHED_MAX; i++) {
        const char *path = atomic_load(&watched[i]);
        if (!path)
            continue;
        say(between);
        say(path);
        between = " or ";
    }
    say(": was cut short, or could not be read, while it was in use; --copy reads it into "
        "memory first\n");
    _exit(EXIT_FAILED);
}

void fault_watch(const char *path)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGBUS, &action, NULL);
    for (int i = 0; i < WATCHED_MAX; i++) {
        if (atomic_load(&watched[i]))
            continue;
        atomic_store(&watched[i], path);
        return;
    }
}

void fault_forget(const char *path)
{
    for (int i = 0; i < WATCHED_MAX; i++)
        if (path && atomic_load(&watched[i]) == path)
            atomic_store(&watched[i], NULL);
}
