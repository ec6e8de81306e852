/**
 * Writing into the tables of addresses that the dynamic linker keeps for an object.
 */
#ifndef RTL_INTERCEPT_HIP_SLOTS_H
#define RTL_INTERCEPT_HIP_SLOTS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/** An object whose tables are written to; begin with {info}. */
struct rtl_slots {
    const struct dl_phdr_info *info;
    bool looked;  /* whether its protected part has been looked at */
    bool guarded; /* the linker has write-protected that part */
    bool open;    /* we have opened it */
};

/** Writes an address, which the memory's protection may not be in the way of. False: it is not
 * written. While the object cannot go away. */
bool rtl_slots_write(struct rtl_slots *slots, uintptr_t *slot, uintptr_t value);

/** Puts the protection back. */
void rtl_slots_end(struct rtl_slots *slots);

#endif
