/**
 * What pending records are kept in: slabs of some, which all queues take from here.
 *
 * A queue takes a slab when it has none whose records are all done, and keeps it for its next
 * records. There is memory ahead for slabs that no queue has yet: the worker sees to that, so that
 * a thread that submits does not pay for pages that are written to for the first time.
 *
 * Without locks. Slabs have numbers above 0, and are not unmapped while there are queues: a
 * harvester may look where a record was at any time, and `state`, which has the record's number,
 * tells what it has found (pending.c). Number 0 is a slab in which there is never a record.
 */
#ifndef RTL_INTERCEPT_QUEUE_SLABS_H
#define RTL_INTERCEPT_QUEUE_SLABS_H

#include "common/lines.h"
#include "pool/stack.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** Records of a slab; a power of two. */
#define RTL_SLAB 64u

/** One record, one cache line. All fields are atomics because a late harvester may read them while
 * the place is being used again; its claim then fails. What it tells of a kernel it has in the
 * words that a dispatch packet has it in, so that to record one takes few instructions; the halves
 * in which a packet has something else have the program's signal. */
struct rtl_record {
    _Atomic uint64_t state;  /**< sequence * 4 + phase; 0: there was none yet */
    _Atomic uint64_t packet; /**< index in the queue << 16 | flags << 6 | place of its origin */
    _Atomic uint64_t tag;    /**< pool id (borrowed: baseline end) | code epoch << 32 */
    _Atomic uint64_t block;  /**< low half of the program's signal, block x << 32, y << 48 */
    _Atomic uint64_t block_z_grid_x; /**< << 0, << 32 */
    _Atomic uint64_t grid_y_z;       /**< << 0, << 32 */
    _Atomic uint64_t group;          /**< high half of the program's signal, group size << 32 */
    _Atomic uint64_t kernel_object;
};

_Static_assert(sizeof(struct rtl_record) == 64, "one cache line");

/** Where the packets of records that follow each other came from. */
struct rtl_record_origin {
    _Atomic uint64_t correlation;
    _Atomic uint64_t launch_base; /**< launch | (ordinal - packet index) << 32 */
};

/** Records that follow each other, and their origins, at most one for each. */
struct rtl_record_slab {
    struct rtl_record records[RTL_SLAB];
    struct rtl_record_origin origins[RTL_SLAB];
};

/** Slabs that memory is taken for at once, and how often: for as many records as one queue may
 * have at most. */
#define RTL_SLABS_REGION  32u
#define RTL_SLABS_REGIONS ((1u << 24) / RTL_SLAB / RTL_SLABS_REGION + 1)

struct rtl_slabs {
    struct rtl_record_slab *_Atomic *regions; /**< NULL beyond those that there are */
    struct rtl_stack unused;                  /**< no queue has them; there is memory for them */
    _Alignas(RTL_FALSE_SHARING_BYTES) _Atomic uint32_t region_count;
    _Atomic uint32_t unused_count; /**< may lag for a moment */
};

/** Those of the library's queues. */
extern struct rtl_slabs rtl_slabs;

/** Makes room for the numbers of all that there may be; there are none yet. False without memory.
 */
bool rtl_slabs_init(struct rtl_slabs *slabs);

/** Gives all memory back, that of slabs which somebody still has too. */
void rtl_slabs_end(struct rtl_slabs *slabs);

/** Takes `count` slabs, which are the caller's until it gives them back, with states of zero.
 * Takes memory if there are none. Returns how many: fewer without memory. Any thread; keeps errno.
 */
unsigned rtl_slabs_take(struct rtl_slabs *slabs, uint32_t *numbers, unsigned count);

/** Gives one back; its records are forgotten, and nobody may look for them any more. Any thread. */
void rtl_slabs_give(struct rtl_slabs *slabs, uint32_t number);

/** Sees to it that there are so many at least that no queue has, and that have memory: a page that
 * is written to for the first time costs microseconds, and the submitter should find it there. Any
 * thread; keeps errno. */
void rtl_slabs_reserve(struct rtl_slabs *slabs, uint32_t ahead);

/** The slab with a number that was taken once, or 0. Any thread that comes after the one that took
 * it. */
static inline struct rtl_record_slab *rtl_slabs_at(const struct rtl_slabs *slabs, uint32_t number)
{
    struct rtl_record_slab *region =
        atomic_load_explicit(&slabs->regions[number / RTL_SLABS_REGION], memory_order_relaxed);
    return region + number % RTL_SLABS_REGION;
}

#endif
