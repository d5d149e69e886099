/* SPDX-License-Identifier: Apache-2.0 */
/* peak.c: see peak.h. */
#include "peak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

void cbx_peak_reset(void)
{
#ifdef __linux__
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file) {
        (void)fputs("5", file); /* proc(5): resets the peak resident set size */
        (void)fclose(file);
    }
#endif
}

double cbx_peak_mb(void)
{
#ifdef __linux__
    FILE *file = fopen("/proc/self/status", "r");
    char  line[128];
    long  kb = 0;
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "VmHWM:", 6)) {
            kb = strtol(line + 6, NULL, 10);
            break;
        }
    if (file)
        (void)fclose(file);
    if (kb)
        return (double)kb * 1024 / 1e6;
#endif
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage))
        return 0;
#ifdef __APPLE__
    return (double)usage.ru_maxrss / 1e6; /* bytes there */
#else
    return (double)usage.ru_maxrss * 1024 / 1e6;
#endif
}
