/**
 * Tells when a process opens the GPU runtime or the GPU (private to the collector): inotify on the
 * library's files and on /dev/kfd. Which process it was, fanotify alone tells: as root, and since
 * Linux 5.1. Elsewhere an opening is only a reason to look through the processes. For the
 * collector's one thread.
 */
#ifndef RTL_COLLECT_OPENINGS_H
#define RTL_COLLECT_OPENINGS_H

#include <stdbool.h>
#include <stdint.h>

#define OPENINGS_LEARNT 16u

struct openings {
    int file;    /* -1: none */
    int who;     /* fanotify, -1: none */
    bool device; /* it is about /dev/kfd alone */
    bool lost;   /* Linux had no memory to keep who has opened something */
    char *learnt[OPENINGS_LEARNT];
    unsigned count;
    int last;          /* the highest number of a watch */
    uint64_t runtimes; /* a bit for each watch of libhsa-runtime64.so, by its number */
    uint64_t heard;    /* openings of these, at the least: Linux tells of those at the same moment
                          as of one */
};

/** Watches the files that programs of this machine find: what the linker's cache names, and the
 * folders where ROCm is. */
void openings_begin(struct openings *openings);

/** Watches another one, of which a process was seen to use it. True if it is libhsa-runtime64.so
 * and was watched before: that process is among `heard`. */
bool openings_learn(struct openings *openings, const char *path);

/** True if something was opened, or closed after it was read, since the last call. Does not wait.
 */
bool openings_any(struct openings *openings);

/** Takes who has opened /dev/kfd or, where there is none, the library, without waiting: a process
 * that may be over by now. Some thousands at a time: true if there may be more. Nothing where Linux
 * does not tell. */
typedef void openings_by(void *context, uint32_t pid);
bool openings_who(struct openings *openings, openings_by *by, void *context);

/** Watches nothing any more. Linux takes some milliseconds to forget a file, for which
 * openings_end would wait: it does so meanwhile. */
void openings_stop(struct openings *openings);

void openings_end(struct openings *openings);

#endif
