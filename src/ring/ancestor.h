/**
 * The session that a process belongs to which has lost all that tells of it.
 *
 * A process that was started with an empty environment descends from the one that records all the
 * same: it is looked for among the sessions of this user, as stale_sessions.h looks for them.
 */
#ifndef RTL_RING_ANCESTOR_H
#define RTL_RING_ANCESTOR_H

#include <stdbool.h>
#include <stddef.h>

/** Finds the session in /dev/shm, TMPDIR or /tmp that is collected by the nearest ancestor of this
 * process, an `rtl trace`, and of this version of the wire: its path. False if there is none that
 * can be seen: an ancestor has ended, say, or is in another pid namespace. What others can write to
 * is not looked at (common/private.h). Allocates nothing; some system calls for each ancestor and
 * session. Keeps errno. Any thread. */
bool rtl_ring_dir_of_ancestor(char *path, size_t size);

#endif
