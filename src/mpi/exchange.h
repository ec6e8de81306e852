/**
 * Compares the clocks of the hosts of an MPI job: one rank of each host asks rank 0, by messages
 * there and back. All ranks of MPI_COMM_WORLD have to call what is here, at the same place; from
 * the thread that calls MPI. Messages go over a communicator of RTL's own, so that the program's
 * receives cannot take them.
 */
#ifndef RTL_MPI_EXCHANGE_H
#define RTL_MPI_EXCHANGE_H

#include "common/exchange.h"
#include "mpi/library.h"

#include <stdbool.h>
#include <stddef.h>

struct rtl_mpi_job {
    struct rtl_mpi mpi;
    rtl_mpi_handle comm; /**< RTL's own */
    int rank, size;
    char boot[RTL_EXCHANGE_BOOT];
    char host[RTL_EXCHANGE_HOST];
};

/** Waits until all ranks are here, and makes the communicator. `waits` is called once if that takes
 * longer than ten seconds. False if MPI refuses. */
bool rtl_mpi_join(struct rtl_mpi_job *job, void (*waits)(void));

/** Compares the clocks now. Puts what is worth keeping, none, one or two, into `kept`, and their
 * number into `count`: this rank is of rank 0's host, or another one asks for its host, or
 * exchanges were made. False if MPI refuses, or rank 0 is short of memory or has no `boot`. Times
 * are rtl_now's, ns. */
bool rtl_mpi_exchange(const struct rtl_mpi_job *job, struct rtl_exchange kept[2], size_t *count);

/** Frees the communicator. */
void rtl_mpi_leave(struct rtl_mpi_job *job);

#endif
