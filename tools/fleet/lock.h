/**
 * Who loads a run, or begins one, of all that want to: one at a time.
 *
 * A ClickHouse runs one query of an id at a time. The lock is an INSERT whose id is the run's and
 * whose data never end until it is given back; it goes with its connection, so one that was killed
 * leaves no lock behind.
 */
#ifndef RTL_TOOLS_FLEET_LOCK_H
#define RTL_TOOLS_FLEET_LOCK_H

#include "fleet/server.h"

#include <stdint.h>

struct lock;

enum lock_outcome {
    LOCK_TAKEN,
    LOCK_OTHERS, /**< somebody else has it */
    LOCK_FAILED  /**< `server` tells why */
};

/** Stands for a run: the lock of who begins one, whichever that is. */
#define LOCK_OF_BEGINNING 0u

/** Tries to take it, by an INSERT with `settings` (tables.h). `server` asks whether it is ours. On
 * LOCK_TAKEN `*lock` is to be given back. */
enum lock_outcome lock_take(struct server *server, const char *settings, uint64_t run,
                            struct lock **lock);

/** Who has it, in words that tell owners apart, until the next query; "": nobody. NULL: `server`
 * tells why. It costs the server less than to try. */
const char *lock_owner(struct server *server, uint64_t run);

/** Whether it is still ours, as far as is known; any thread. */
bool lock_held(struct lock *lock);

/** Gives it back and frees; NULL is allowed. */
void lock_give_back(struct lock *lock);

#endif
