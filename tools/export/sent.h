/**
 * Which host calls are in the part that is being written, and which of them have an arrow: of each
 * process the last SENT_WINDOW correlations, so that memory stays bounded. What is older counts as
 * not there.
 */
#ifndef RTL_TOOLS_EXPORT_SENT_H
#define RTL_TOOLS_EXPORT_SENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SENT_WINDOW 262144u

/** Zeroed memory is empty. */
struct sent {
    struct sent_process *list;
    size_t count;
};

/** The part has the call. False when memory is short. */
bool sent_add(struct sent *sent, uint32_t process, uint64_t correlation);

/** True if the part has the call. */
bool sent_has(const struct sent *sent, uint32_t process, uint64_t correlation);

/** True if the part has the call, for the first time. */
bool sent_first(struct sent *sent, uint32_t process, uint64_t correlation);

/** A new part, with nothing in it. */
void sent_clear(struct sent *sent);

void sent_free(struct sent *sent);

#endif
