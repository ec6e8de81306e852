/**
 * Openings of the GPU runtime against the processes that have it (private to the collector), where
 * Linux does not tell who has opened it: to any user but root, and where it does not tell of forks.
 *
 * The linker opens the library once for each image. What was opened more often than processes were
 * seen with it, or have a ring, was opened by some that were over before anybody looked. Of
 * openings at the same moment Linux may tell as of one: there are at least so many.
 *
 * For the collector's one thread.
 */
#ifndef RTL_COLLECT_TALLY_H
#define RTL_COLLECT_TALLY_H

#include "collect/openings.h"
#include "collect/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_stranger;

struct tally {
    uint64_t heard; /**< openings of files that were watched by then */
    uint64_t seen;  /**< images that were seen with one of these files */
    uint64_t begun; /**< when, as start times of processes are */
    bool told;      /**< what is to be said of it is said */
    bool blind;  /**< a process of the program was over, and its last image may be an unseen one */
    bool veiled; /**< another process may have: one of somebody else's has opened it meanwhile, it
                    may not be looked into, whose it is is not known, or it is in another pid
                    namespace
                  */
    struct tally_stranger *strangers; /**< that are counted in `seen` */
    size_t stranger_count;
};

/** Zeroed, and now. */
void tally_begin(struct tally *tally);

/** Whether there are openings that nobody who was seen explains. */
static inline bool tally_is_short(const struct tally *tally)
{
    return tally->heard > tally->seen;
}

/** Looks through the processes outside of the program that have begun since, for who has opened one
 * of the files that are watched. Reads /proc, some milliseconds on a busy machine. */
void tally_strangers(struct tally *tally, const struct tree *tree, struct openings *openings);

void tally_end(struct tally *tally);

#endif
