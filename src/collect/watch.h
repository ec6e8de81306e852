/**
 * Looks after the processes of a recorded program that have the GPU runtime and say nothing
 * (private to the collector): those that librtl.so is not in, since their environment was cleared,
 * say; those in which it reaches neither the session nor the report socket; and those that go on
 * when the recording ends.
 *
 * A look finds out which processes there are (tree.h) and reads what those have mapped that have no
 * ring (maps.h). Looks come when somebody opens the runtime (openings.h), and else from time to
 * time. They take one part in ten of a core at the most, and one in fifty where nobody opens
 * anything, but for one look a second.
 *
 * What is judged is what was seen: a process that comes and goes between two looks was not, but
 * where Linux tells who has opened the runtime. Where it tells who makes a process, and not that,
 * as to other users than root, it is known that somebody has, and how often (tally.h): if no
 * process explains it, whether all of the program's are recorded is not known. A process is judged
 * when it is over, since librtl.so may still be loaded, and only if no ring and no refusal has come
 * from it.
 *
 * For the collector's one thread.
 */
#ifndef RTL_COLLECT_WATCH_H
#define RTL_COLLECT_WATCH_H

#include "collect/absent.h"
#include "collect/openings.h"
#include "collect/tally.h"
#include "collect/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct finding;

struct watch {
    struct absent *absent;
    /** Whether there is a ring of that image of a process; 0: not known which image, or which
     * start. */
    bool (*has_ring)(void *context, uint32_t pid, uint64_t start, uint64_t image);
    /** A ring of that image is of a process that was seen. */
    void (*meet)(void *context, uint32_t pid, uint64_t start, uint64_t image);
    /** Whether a process of that pid, now or before, has made a ring; how many rings are of
     * processes that were not seen. */
    bool (*had_ring)(void *context, uint32_t pid);
    unsigned (*unmet)(void *context);
    void *context;
    bool on;
    struct tree tree;
    struct openings openings;
    struct tally tally;
    struct finding *findings; /* what is to be judged */
    size_t finding_count;
    bool finished;
    bool more;                      /* a look is under way */
    bool looking;                   /* it has come to the members, ... */
    size_t at;                      /* ... and this one is next */
    uint64_t cost, due, not_before; /* ns */
    unsigned echo;                  /* looks since the last opening */
    unsigned strange;               /* openers that may be members: Linux has lost who made them */
    unsigned hidden;                /* members without a ring that this user may not look into */
    uint32_t hidden_pid;
    char hidden_command[96];
};

/** Begins to listen, before the program is made: from its first opening on it is heard. `watch` is
 * zeroed but for the pointers. */
void watch_begin(struct watch *watch);

/** The program has been made. */
void watch_program(struct watch *watch, uint32_t pid);

/** What wakes a sleeping collector when there may be something to see: a descriptor to be polled,
 * or -1. */
int watch_descriptor(const struct watch *watch);

/** Looks if it is time, some milliseconds at the most. True if there is something to judge. */
bool watch_look(struct watch *watch);

/** How long to wait, of so many ms, until there is something to look at. */
unsigned watch_wait(const struct watch *watch, unsigned wait_ms);

/** Judges what was found. Rings are looked for before. */
void watch_judge(struct watch *watch);

/** This process and its descendants are of another recording. */
void watch_disown(struct watch *watch, uint32_t pid);

/** The recording ends: looks at all once more, and judges all. Once; later calls do nothing. */
void watch_finish(struct watch *watch);

/** Judges openings that no process explains which was seen, when all others have told of themselves
 * (absent_take_starts). */
void watch_reckon(struct watch *watch);

/** Takes up who has been made by now, where Linux tells. */
void watch_refresh(struct watch *watch);

/** Whether a living process is of the program. */
bool watch_has(const struct watch *watch, uint32_t pid);

/** Stops listening and frees what was seen; `absent` is the caller's. */
void watch_end(struct watch *watch);

#endif
