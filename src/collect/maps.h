/**
 * What /proc tells of a process that RTL has no ring of (private to the collector): which of the
 * GPU's files it has mapped, what its environment was when it began, and what it is called.
 */
#ifndef RTL_COLLECT_MAPS_H
#define RTL_COLLECT_MAPS_H

#include "ring/files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maps {
    bool runtime;       /**< a library of the GPU runtime (HSA, HIP) */
    bool device;        /**< /dev/kfd: doorbells of queues, say */
    bool librtl;        /**< a librtl.so */
    bool ring;          /**< the ring that it made in the session */
    char elsewhere[64]; /**< the folder of another session that it made a ring in, or "" */
    char library[256];  /**< the path of the runtime's library, "" if there is none */
    char refusal[RTL_REFUSAL_TEXT]; /**< what librtl.so in it says that could not be told otherwise
                                       (ring/files.h), or "" */
};

enum maps_read { MAPS_READ, MAPS_GONE, MAPS_HIDDEN /**< this user may not see it */ };

/** Reads what a process has mapped; `session` is the folder of the rings. */
enum maps_read maps_read(uint32_t pid, const char *session, struct maps *maps);

/** What a process was told about librtl.so when it began. */
enum maps_told {
    MAPS_TOLD,         /**< HSA_TOOLS_LIB names it, and the preload does, or need not */
    MAPS_TOLD_NOTHING, /**< no variable at all */
    MAPS_TOLD_NO_TOOL, /**< HSA_TOOLS_LIB is not there */
    MAPS_TOLD_OTHERS,  /**< HSA_TOOLS_LIB names others only */
    MAPS_TOLD_UNKNOWN  /**< its environment cannot be read, or is not there any more */
};

/** `preloaded`: LD_PRELOAD names it. */
enum maps_told maps_told(uint32_t pid, bool *preloaded);

/** The command line, of what can be printed, cut to `size`. */
void maps_command(uint32_t pid, char *text, size_t size);

#endif
