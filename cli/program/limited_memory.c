/* SPDX-License-Identifier: Apache-2.0 */
/* limited_memory.c: starting where memory is limited, as by `ulimit -v`.
 *
 * OpenBLAS starts a thread for every core when it is loaded, long before main, and each takes a
 * stack and a buffer. Where there is no room for them it waits for ever, or raises SIGINT. It
 * can be asked for one thread by the environment only, and reads that in a constructor. So where
 * memory is limited, and only there, the program starts itself again with that in its
 * environment. What stands in .preinit_array runs before every constructor. */
#if defined(__linux__) && defined(__ELF__)
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static bool is_limited(void)
{
    struct rlimit space, data;
    return !getrlimit(RLIMIT_AS, &space) && !getrlimit(RLIMIT_DATA, &data) &&
           (space.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY);
}

static void start_again(int argc, char **argv, char **environment)
{
    static char       one_thread[] = "OPENBLAS_NUM_THREADS=1";
    static const char name[] = "OPENBLAS_NUM_THREADS=";
    size_t            count = 0;
    (void)argc;
    if (!is_limited())
        return;
    for (; environment[count]; count++)
        if (!strncmp(environment[count], name, sizeof name - 1)) /* also the second time */
            return;
    char **with = malloc((count + 2) * sizeof *with);
    if (!with)
        return;
    memcpy(with, environment, count * sizeof *with);
    with[count] = one_thread;
    with[count + 1] = NULL;
    (void)execve("/proc/self/exe", argv, with);
    free(with); /* it could not be: as it is, then */
}

__attribute__((section(".preinit_array"),
               used)) static void (*const before_constructors)(int, char **, char **) = start_again;
#endif
