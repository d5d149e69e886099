/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h: a progress bar with the time left, and a Ctrl-C that cancels.
 *
 *     progress bar;
 *     progress_begin(&bar, "training", quiet);
 *     cbx_train(…, progress_update, &bar, …);
 *     progress_end(&bar);
 *
 * The bar shows on a terminal only. Between begin and end the first Ctrl-C asks
 * the library to stop, and a second one kills as usual. */
#ifndef CBX_CLI_PROGRESS_H
#define CBX_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    const char *what;
    bool        shown;   /* there is a terminal and somebody wants to see it */
    bool        drawn;   /* there is something to clear */
    double      started; /* seconds of a clock that never goes back */
    double      drawn_at;
} progress;

void progress_begin(progress *p, const char *what, bool quiet);
int  progress_update(void *p, int64_t done, int64_t total, const char *text); /* a cbx_progress */
int  progress_stop(void *, int64_t, int64_t, const char *); /* one too: draws nothing */
void progress_hide(progress *p); /* until the next update: makes room for other output */
void progress_end(progress *p);

#endif
