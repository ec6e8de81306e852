/**
 * How long kernels ran on each GPU in each minute of a recording: time in which one ran or more.
 */
#ifndef RTL_TOOLS_FLEET_BUSY_H
#define RTL_TOOLS_FLEET_BUSY_H

#include "fleet/rows.h"

struct busy;

/** NULL with the reader's status. Memory: 8 bytes for each GPU and minute. */
struct busy *busy_new(struct run *run, rtl_status_t *status);

/** What tells a GPU of a host from its others, as a name of the run's: its uuid, where it has one
 * of its own, else its place on the bus, else (no agent is known) the number that the process has
 * for it. Two processes that each see their own GPU as number 0 have two. */
uint32_t busy_device(struct busy *busy, uint32_t process, uint32_t gpu);

/** Adds a kernel; those that started earlier have come before. Times on the trace's clock. */
void busy_add(struct busy *busy, uint32_t process, uint32_t gpu, uint64_t start, uint64_t end);

/** Writes all rows. */
void busy_put(struct busy *busy, struct fill *fill);

void busy_free(struct busy *busy);

#endif
