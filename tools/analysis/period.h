/**
 * A block of items that repeats in a sequence: the layers in the kernels of a decoder's graph.
 * Pure.
 */
#ifndef RTL_TOOLS_PERIOD_H
#define RTL_TOOLS_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERIOD_LEAST_COUNT 3u /**< fewer repetitions may be chance */

/** Equal blocks, one right behind the other. */
struct period {
    size_t begin;  /**< place of the first item of the first block */
    size_t length; /**< items of a block */
    size_t count;  /**< blocks */
};

/** Finds the blocks that repeat exactly, PERIOD_LEAST_COUNT times or more, and hold at least half
 * of all items; false if there are none, and `period` is as it was. Of several runs of such blocks
 * the one whose blocks hold most items; of several lengths of block for the same run the shortest,
 * so that a block that is itself twice the same is two. Blocks begin where the run does: what is
 * left of it, less than a block, stands behind them. Time and memory are linear in `count`. Memory
 * that is short ends the program with a sentence. */
bool period_find(const uint32_t *items, size_t count, struct period *period);

/** Items right behind the last block that hold its items in their order and at most a quarter as
 * many others in between, as a decoder's last layer may: how many, 0 if there are no such ones. */
size_t period_odd_block(const uint32_t *items, size_t count, const struct period *period);

#endif
