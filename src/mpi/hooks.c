/*
 * librtlmpi.so, which `rtl trace --sync mpi` preloads: it stands in front of MPI_Init,
 * MPI_Init_thread and MPI_Finalize, from C and from Fortran, and compares the clocks of the job's
 * hosts after the one and before the other. Without RTL_SYNC_MPI in the environment it does
 * nothing else than the library.
 */
#include "common/boot.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/why.h"
#include "mpi/exchange.h"
#include "mpi/found.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* Whether there is a job to compare clocks with. Fortran's functions may call C's: each of the two
 * moments is one, whichever comes first. MPI has one thread that may begin and end it. */
static struct rtl_mpi_job job;
static bool begun, joined, ended;

static bool is_wanted(void)
{
    return secure_getenv("RTL_SYNC_MPI") && secure_getenv("RTL_SESSION");
}

static void tell_waits(void)
{
    rtl_complain("MPI_Init has waited for 10 s for ranks that have not come: with --sync mpi each "
                 "rank of the job has to be started by rtl trace --sync mpi, and may have no other "
                 "tool that calls PMPI_Init in front of RTL");
}

static void compare(void)
{
    struct rtl_exchange kept[2];
    char why[RTL_WHY_SIZE];
    size_t count;
    if (!rtl_mpi_exchange(&job, kept, &count))
        rtl_complain(
            "--sync mpi: the clocks of the hosts are not compared: MPI has refused, or rank 0 "
            "is short of memory, or cannot read its boot_id");
    else if (!rtl_mpi_found_leave(secure_getenv("RTL_SESSION"), kept, count))
        rtl_complain("--sync mpi: what was found about the clocks of the hosts is lost: %s",
                     rtl_why(errno, why));
}

static void begin(void)
{
    char why[256];
    if (!is_wanted())
        return;
    if (!rtl_mpi_find(&job.mpi, why, sizeof why)) {
        rtl_complain("--sync mpi: the clocks of the hosts are not compared: %s", why);
        return;
    }
    (void)rtl_clock_begin();
    (void)rtl_boot(job.boot, sizeof job.boot);
    (void)gethostname(job.host, sizeof job.host - 1);
    joined = rtl_mpi_join(&job, tell_waits);
    if (joined)
        compare();
    else
        rtl_complain("--sync mpi: the clocks of the hosts are not compared: MPI has refused");
}

static void after_init(int result)
{
    int saved = errno;
    if (result == RTL_MPI_SUCCESS && !begun) {
        begun = true;
        begin();
    }
    errno = saved;
}

static void before_finalize(void)
{
    int saved = errno;
    if (joined && !ended) {
        ended = true;
        compare();
        rtl_mpi_leave(&job);
    }
    errno = saved;
}

static int missing(const char *name)
{
    rtl_complain("--sync mpi: the program calls %s, and no MPI library is loaded", name);
    return RTL_MPI_FAILED;
}

EXPORTED int MPI_Init(int *argc, char ***argv)
{
    int (*next)(int *, char ***);
    int result = rtl_mpi_next("MPI_Init", (void *)&next) ? next(argc, argv) : missing("MPI_Init");
    after_init(result);
    return result;
}

EXPORTED int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int (*next)(int *, char ***, int, int *);
    int result = rtl_mpi_next("MPI_Init_thread", (void *)&next)
                     ? next(argc, argv, required, provided)
                     : missing("MPI_Init_thread");
    after_init(result);
    return result;
}

EXPORTED int MPI_Finalize(void)
{
    int (*next)(void);
    before_finalize();
    return rtl_mpi_next("MPI_Finalize", (void *)&next) ? next() : missing("MPI_Finalize");
}

/* Fortran: mpif.h and `use mpi` call the first of each pair, `use mpi_f08` the second, whose error
 * may be absent. */

static void init_fortran(const char *name, int *error)
{
    void (*next)(int *);
    int result = RTL_MPI_SUCCESS;
    int *to = error ? error : &result;
    if (rtl_mpi_next(name, (void *)&next))
        next(to);
    else
        *to = missing(name);
    after_init(*to);
}

static void init_thread_fortran(const char *name, const int *required, int *provided, int *error)
{
    void (*next)(const int *, int *, int *);
    int result = RTL_MPI_SUCCESS;
    int *to = error ? error : &result;
    if (rtl_mpi_next(name, (void *)&next))
        next(required, provided, to);
    else
        *to = missing(name);
    after_init(*to);
}

static void finalize_fortran(const char *name, int *error)
{
    void (*next)(int *);
    int result = RTL_MPI_SUCCESS;
    int *to = error ? error : &result;
    before_finalize();
    if (rtl_mpi_next(name, (void *)&next))
        next(to);
    else
        *to = missing(name);
}

EXPORTED void mpi_init_(int *error)
{
    init_fortran("mpi_init_", error);
}

EXPORTED void mpi_init_f08_(int *error)
{
    init_fortran("mpi_init_f08_", error);
}

EXPORTED void mpi_init_thread_(const int *required, int *provided, int *error)
{
    init_thread_fortran("mpi_init_thread_", required, provided, error);
}

EXPORTED void mpi_init_thread_f08_(const int *required, int *provided, int *error)
{
    init_thread_fortran("mpi_init_thread_f08_", required, provided, error);
}

EXPORTED void mpi_finalize_(int *error)
{
    finalize_fortran("mpi_finalize_", error);
}

EXPORTED void mpi_finalize_f08_(int *error)
{
    finalize_fortran("mpi_finalize_f08_", error);
}
