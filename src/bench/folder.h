/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h: the folder of a benchmark: whose it is, and what ran there when. */
#ifndef CBX_BENCH_FOLDER_H
#define CBX_BENCH_FOLDER_H

#include "plan.h"

/* Makes the folder, or opens the one of a benchmark with the same plan, if `resume`; locks it
 * for as long as *lock is open, and removes what a killed process left. */
cbx_status cbx_bench_folder_open(const cbx_bench_plan *plan, const char *folder, bool resume,
                                 int *lock, cbx_error *err);

/* A line of manifest.jsonl: one when a process, or the first of a team, begins to work in the
 * folder and one when it is done. A killed one has no second line. */
typedef struct cbx_bench_event {
    const char *what; /* "begun", "ended", "cancelled", "failed" */
    int64_t     processes, jobs;
    int64_t     answers; /* in the folder */
    int64_t     asked;   /* of those, by the process that writes */
    double      seconds; /* since it began */
} cbx_bench_event;

/* Of the sources that this program is made of; "": not known. Made by cmake/commit.cmake. */
extern const char cbx_bench_commit[];

cbx_status cbx_bench_manifest_add(const char *folder, const cbx_bench_event *event, cbx_error *err);

#endif
