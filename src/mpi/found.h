/**
 * What a process of an MPI job has found out about its host's clock, on its way to who records: a
 * file of the session's folder each time. Both ends are of the same build.
 */
#ifndef RTL_MPI_FOUND_H
#define RTL_MPI_FOUND_H

#include "common/exchange.h"

#include <stdbool.h>
#include <stddef.h>

/** Leaves up to two exchanges; none tells that this process has taken part. False with errno if
 * there is no room, or no such session. */
bool rtl_mpi_found_leave(const char *session, const struct rtl_exchange *exchanges, size_t count);

/** Calls `take` for each exchange that was left in the session and removes the files. Returns how
 * many there were of them. What has been damaged is passed over. */
size_t rtl_mpi_found_take(const char *session,
                          void (*take)(void *context, const struct rtl_exchange *exchange),
                          void *context);

#endif
