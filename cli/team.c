/* SPDX-License-Identifier: Apache-2.0 */
/* team.c: see team.h.
 *
 * Work is given out by counters that live in the memory of rank 0 and that every rank
 * adds to by itself (MPI_Fetch_and_op): nobody has to wait for a master. */
#include "team.h"

#include <pthread.h>
#include <stdlib.h>

#include "cli.h"

/* Set by the launchers of Open MPI, MPICH and its kin, and Slurm. */
static bool was_launched(void)
{
    static const char *const signs[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK",
                                        "MV2_COMM_WORLD_SIZE"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (getenv(signs[i]))
            return true;
    return false;
}

#ifdef CBX_HAVE_MPI
#include <mpi.h>

enum { COUNTERS = 8 };
static MPI_Win   window = MPI_WIN_NULL;
static pthread_t main_thread;

static int64_t take(void *user, int phase)
{
    int64_t one = 1, before = 0;
    (void)user;
    (void)MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, phase, MPI_SUM, window);
    (void)MPI_Win_flush(0, window);
    return before;
}

static void meet(void *user)
{
    (void)user;
    (void)MPI_Barrier(MPI_COMM_WORLD);
}

int team_begin(cbx_bench_team *team)
{
    int      provided;
    int64_t *counters;
    *team = (cbx_bench_team){.size = 1};
    if (!was_launched())
        return EXIT_DONE;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided))
        return fail("MPI does not start");
    main_thread = pthread_self();
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &team->rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &team->size);
    team->take = take;
    team->meet = meet;
    (void)MPI_Win_allocate(team->rank == 0 ? COUNTERS * (MPI_Aint)sizeof *counters : 0,
                           sizeof *counters, MPI_INFO_NULL, MPI_COMM_WORLD, &counters, &window);
    (void)MPI_Win_lock_all(0, window);
    for (int i = 0; team->rank == 0 && i < COUNTERS; i++)
        counters[i] = 0;
    (void)MPI_Win_sync(window);
    (void)MPI_Barrier(MPI_COMM_WORLD);
    return EXIT_DONE;
}

/* Some networks move nothing while rank 0 is outside of MPI. */
void team_serve(const cbx_bench_team *team)
{
    int there;
    if (team->size > 1 && team->rank == 0 && pthread_equal(pthread_self(), main_thread))
        (void)MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
}

int64_t team_sum(const cbx_bench_team *team, int64_t value)
{
    int64_t sum = value;
    if (team->size > 1)
        (void)MPI_Allreduce(&value, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

int team_end(const cbx_bench_team *team, bool together, int status)
{
    if (window == MPI_WIN_NULL)
        return status;
    if (team->size > 1 && !together)
        (void)MPI_Abort(MPI_COMM_WORLD, status);
    (void)MPI_Win_unlock_all(window);
    (void)MPI_Win_free(&window);
    (void)MPI_Finalize();
    return status;
}

#else

int team_begin(cbx_bench_team *team)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    size = size ? size : getenv("PMI_SIZE");
    *team = (cbx_bench_team){.size = 1};
    /* Several that know nothing of each other would write over one another's files. */
    if (was_launched() && !(size && atoi(size) == 1))
        return fail("started by mpirun or srun, but built without MPI");
    return EXIT_DONE;
}

void team_serve(const cbx_bench_team *team)
{
    (void)team;
}

int64_t team_sum(const cbx_bench_team *team, int64_t value)
{
    (void)team;
    return value;
}

int team_end(const cbx_bench_team *team, bool together, int status)
{
    (void)team, (void)together;
    return status;
}

#endif
