/**
 * Whether the tables have a process of a run in another run, too: a trace that rtl merge made and
 * those that it was made of are different runs of the same kernels, which would count twice.
 */
#ifndef RTL_TOOLS_FLEET_OTHERS_H
#define RTL_TOOLS_FLEET_OTHERS_H

#include "fleet/rows.h"
#include "fleet/server.h"

/** The first other run, and the process that it has, and how many there are. */
struct others {
    bool whole;
    size_t place; /**< of the process, in the run's `processes` */
    char trace[512];
    uint64_t *runs; /**< of whoever asked, to free; the first first */
    size_t count;
};

enum others_outcome {
    OTHERS_NONE,
    OTHERS_FOUND,
    OTHERS_FAILED /**< `server` tells why */
};

/** Asks for all of them, whole or not. A process is the same if its host and pid are, and if it
 * began at the same ns of the same boot; where one of the two has no boot, within a second by the
 * time of day. A pid of 0 is that of a process that nobody knows. It is as rtl merge has it. */
enum others_outcome others_find(struct server *server, const struct run *run, struct others *found);

#endif
