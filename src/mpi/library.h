/**
 * The MPI library of a program, without its headers: found among what is loaded, whichever it is.
 *
 * Handles (communicators, datatypes, requests) are pointers in Open MPI and 32-bit numbers in MPICH
 * and those that have its ABI (Intel MPI, Cray MPICH, MVAPICH). Here they are words, of which such
 * a number is the lower half, as x86-64 passes it. The names are those of MPI's profiling interface
 * (PMPI), which nobody stands in front of.
 */
#ifndef RTL_MPI_LIBRARY_H
#define RTL_MPI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RTL_MPI_SUCCESS 0
/** For who asks for a function that is not there: Open MPI's MPI_ERR_OTHER, and MPICH's
 * MPI_ERR_INTERN. */
#define RTL_MPI_FAILED 16

typedef uintptr_t rtl_mpi_handle;

/** Room for an MPI_Status: 24 bytes in Open MPI, 20 in MPICH. */
struct rtl_mpi_status {
    uint64_t words[8];
};

struct rtl_mpi {
    rtl_mpi_handle world, byte, errors_return;
    int (*Ibarrier)(rtl_mpi_handle comm, rtl_mpi_handle *request);
    int (*Test)(rtl_mpi_handle *request, int *flag, struct rtl_mpi_status *status);
    int (*Comm_dup)(rtl_mpi_handle comm, rtl_mpi_handle *made);
    int (*Comm_free)(rtl_mpi_handle *comm);
    int (*Comm_set_errhandler)(rtl_mpi_handle comm, rtl_mpi_handle handler);
    int (*Comm_rank)(rtl_mpi_handle comm, int *rank);
    int (*Comm_size)(rtl_mpi_handle comm, int *size);
    int (*Bcast)(void *data, int count, rtl_mpi_handle type, int root, rtl_mpi_handle comm);
    int (*Gather)(const void *data, int count, rtl_mpi_handle type, void *all, int each,
                  rtl_mpi_handle all_type, int root, rtl_mpi_handle comm);
    int (*Scatter)(const void *all, int each, rtl_mpi_handle all_type, void *data, int count,
                   rtl_mpi_handle type, int root, rtl_mpi_handle comm);
    int (*Send)(const void *data, int count, rtl_mpi_handle type, int to, int tag,
                rtl_mpi_handle comm);
    int (*Recv)(void *data, int count, rtl_mpi_handle type, int from, int tag, rtl_mpi_handle comm,
                struct rtl_mpi_status *status);
};

/** Finds it; false, with one sentence for the user in `why`, if there is none that is known. */
bool rtl_mpi_find(struct rtl_mpi *mpi, char *why, size_t size);

/** Puts the function of that name that comes after RTL's own, another tool's or the library's, into
 * the pointer to a function at `place`. False if there is none. */
bool rtl_mpi_next(const char *name, void *place);

#endif
