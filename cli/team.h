/* SPDX-License-Identifier: Apache-2.0 */
/* team.h: the processes that mpirun or srun started together.
 *
 * Started otherwise, or built without MPI, a process is a team of one. */
#ifndef CBX_CLI_TEAM_H
#define CBX_CLI_TEAM_H

#include "combinex/kit.h"

/* Returns an exit status, after saying what is wrong. */
int team_begin(cbx_bench_team *team);

/* Lets the others be served while this process is busy. Cheap; call it now and then. */
void team_serve(const cbx_bench_team *team);

/* The sum over all processes. */
int64_t team_sum(const cbx_bench_team *team, int64_t value);

/* The end. A process that did not get there `together` with the others stops them: they
 * would wait for it. Returns `status`. */
int team_end(const cbx_bench_team *team, bool together, int status);

#endif
