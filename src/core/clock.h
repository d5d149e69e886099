/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h: seconds of a clock that never goes back. */
#ifndef CBX_CLOCK_H
#define CBX_CLOCK_H

#include <time.h>

static inline double cbx_clock(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
