/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c: the bar and Ctrl-C. */
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const double FIRST = 0.2;    /* work shorter than this needs no bar */
static const double INTERVAL = 0.1; /* at most ten a second */
enum { BAR_MAX = 30, OTHER_COLUMNS = 50, WIDTH_UNKNOWN = 80 };

static volatile sig_atomic_t interrupted;
static struct sigaction      before;

/* The second one finds what was in force before: as a rule, the end. */
static void on_interrupt(int number)
{
    if (interrupted) {
        (void)sigaction(number, &before, NULL);
        (void)raise(number);
    }
    interrupted = 1;
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_begin(progress *p, const char *what, bool quiet)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    interrupted = 0;
    if (!sigaction(SIGINT, NULL, &before) && before.sa_handler != SIG_IGN)
        (void)sigaction(SIGINT, &action, NULL);
    *p = (progress){.what = what, .shown = !quiet && isatty(STDERR_FILENO), .started = now()};
    p->drawn_at = p->started + FIRST - INTERVAL;
}

static int columns(void)
{
#ifdef TIOCGWINSZ
    struct winsize size;
    if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col > 0)
        return size.ws_col;
#endif
    return WIDTH_UNKNOWN;
}

static void time_left(char *text, size_t size, double seconds)
{
    long whole = (long)(seconds + 0.5);
    if (!(seconds < 360000.0)) /* NaN too */
        (void)snprintf(text, size, "-:--");
    else if (whole >= 3600)
        (void)snprintf(text, size, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
    else
        (void)snprintf(text, size, "%ld:%02ld", whole / 60, whole % 60);
}

static void draw(progress *p, int64_t done, int64_t total, const char *text, double time)
{
    char   eta[32], bar[BAR_MAX + 1], line[512];
    double share = total > 0 ? (double)done / (double)total : 0;
    int    wide = columns(), length = wide - OTHER_COLUMNS;

    share = share > 1 ? 1 : share < 0 ? 0 : share;
    length = length > BAR_MAX ? BAR_MAX : length < 0 ? 0 : length;
    int full = (int)(share * length);
    memset(bar, '#', (size_t)full);
    memset(bar + full, '.', (size_t)(length - full));
    bar[length] = '\0';
    time_left(eta, sizeof eta, (time - p->started) * (1 - share) / share);
    int wrote = snprintf(line, sizeof line, "%s %s %3d%%  %s left  %s", p->what, bar,
                         (int)(100 * share), eta, text ? text : "");
    if (wrote >= (int)sizeof line)
        wrote = (int)sizeof line - 1;
    if (wrote >= wide) /* a line that wraps could not be cleared */
        wrote = wide - 1;
    (void)fprintf(stderr, "\r%.*s\033[K", wrote, line);
    (void)fflush(stderr);
    p->drawn = true;
}

int progress_update(void *user, int64_t done, int64_t total, const char *text)
{
    progress *p = user;
    if (p->shown) {
        double time = now();
        if (time - p->drawn_at >= INTERVAL) {
            p->drawn_at = time;
            draw(p, done, total, text, time);
        }
    }
    return interrupted;
}

int progress_stop(void *user, int64_t done, int64_t total, const char *text)
{
    (void)user;
    (void)done;
    (void)total;
    (void)text;
    return interrupted;
}

void progress_hide(progress *p)
{
    if (p->drawn) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        p->drawn = false;
    }
}

void progress_end(progress *p)
{
    progress_hide(p);
    (void)sigaction(SIGINT, &before, NULL);
}
