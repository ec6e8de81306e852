/**
 * Kernels of one queue in one record (private to the ring): see rtl_wire_kernels.
 *
 * Everything that a kernel says comes out as it went in. What does not fit the packed form (another
 * queue, a leap in time or packets, a kernel of 2^32 ticks) ends the record before it.
 */
#ifndef RTL_RING_PACK_H
#define RTL_RING_PACK_H

#include "ring/ring.h"

/** A record on its way, in the parts that it is made of. */
struct rtl_pack {
    struct rtl_wire_kernels head;
    struct rtl_wire_packed kernels[RTL_PACKED_MOST]; /**< right behind the head, as in the ring */
    struct rtl_wire_origin origins[RTL_PACKED_MOST];
};

/** Slots of the largest record. */
#define RTL_PACK_MOST_SLOTS                                                                        \
    ((sizeof(struct rtl_wire_header) + sizeof(struct rtl_pack) + RTL_SLOT_SIZE - 1) / RTL_SLOT_SIZE)

/** Packs the first of `count` kernels (one or more), as many as fit into one record of at most
 * `slots` slots. Returns how many those are; 0: the first of them does not fit the form. They
 * never take more slots than they would take one by one. */
unsigned rtl_pack(struct rtl_pack *pack, const struct rtl_wire_kernel *kernels, unsigned count,
                  uint64_t slots);

/** Slots of the record, its header included. */
uint64_t rtl_pack_slots(const struct rtl_pack *pack);

/** Hands each kernel of a record's body, aligned to 8, to `handler` as RTL_WIRE_KERNEL. False if
 * the body contradicts itself; kernels before the place where that shows have been handed over. */
bool rtl_unpack(const void *body, size_t size, rtl_ring_handler handler, void *context);

#endif
