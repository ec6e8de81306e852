/**
 * Sentences about processes for whoever records (private to the collector): the first of a kind is
 * told at once, and at the end of how many others the same holds.
 */
#ifndef RTL_COLLECT_TOLD_H
#define RTL_COLLECT_TOLD_H

#include "collect/collect.h"

#include <stddef.h>
#include <stdint.h>

/** Pids that a sentence names at most. */
#define TOLD_PIDS 8u

/** Zeroed memory, but for who is told. One thread. */
struct told {
    rtl_collector_say say; /* NULL: nobody is told */
    void *context;
    struct told_kind *kinds; /* in the order in which they came */
    size_t count;
};

/** Tells a sentence that begins with "process PID", or with something else, once: others that
 * differ from it in the pid alone, or in numbers (rtl_compare_but_numbers), are counted. */
void told_process(struct told *told, uint32_t pid, const char *sentence);

/** Tells of the others, and forgets all. */
void told_end(struct told *told);

#endif
