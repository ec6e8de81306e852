/**
 * Runs in a sequence: a block of items that repeats, one block right behind the other. Unlike
 * period.h, which looks for one block in a whole sequence, this cuts a sequence into runs of
 * different blocks: the steps of a server, whose batches come and go. Pure.
 */
#ifndef RTL_TOOLS_RUNS_H
#define RTL_TOOLS_RUNS_H

#include <stddef.h>
#include <stdint.h>

#define RUNS_LEAST_COUNT 3u  /**< fewer repetitions may be chance */
#define RUNS_MOST_LENGTH 64u /**< items of a block */

struct run {
    size_t begin;    /**< place of the first item of the first block */
    uint32_t length; /**< items of a block */
    uint32_t count;  /**< blocks */
};

/** Cuts `items` into runs, from left to right: at each place the shortest block that repeats
 * RUNS_LEAST_COUNT times or more, for as long as it does. A block in which a shorter one repeats so
 * often is none: a request of one prefill and thirty equal tokens is no step, its tokens are. Items
 * between runs are in none. Puts the
 * runs into `*runs`, which the caller frees (NULL if there are none), and returns how many there
 * are. Memory that is short ends the program with a sentence. */
size_t runs_find(const uint32_t *items, size_t count, struct run **runs);

/** Where the least rotation of a block begins: the place in it from which on, wrapping around, its
 * items are the first in the order of numbers. Blocks that are rotations of each other have the
 * same least rotation. */
uint32_t runs_least_rotation(const uint32_t *block, uint32_t length);

#endif
