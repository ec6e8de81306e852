/**
 * AMD's aqlprofile, as the HSA runtime offers it (hsa_system_get_major_extension_table): it knows a
 * device's counters and makes the packets that start, read and stop them.
 *
 * Source of the contract: hsa_ven_amd_aqlprofile.h, which counters/aqlprofile.c alone includes (it
 * defines an object); and ROCr 5.2.3, which loads libhsa-amd-aqlprofile64.so when asked for the
 * table.
 */
#ifndef RTL_INTERCEPT_COUNTERS_AQLPROFILE_H
#define RTL_INTERCEPT_COUNTERS_AQLPROFILE_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

/** A counter of all instances of a block. */
struct rtl_aql_event {
    uint32_t block, event;
    uint32_t instances; /**< of the block */
};

/** Packets and memory with which one set of counters is counted, and several such. */
struct rtl_aql_profile;
struct rtl_aql_block;

/** Loads the library. False if the runtime has none, or one that lacks a function. Any thread. */
bool rtl_aql_open(void);

/** True if the device has this counter. */
bool rtl_aql_is_valid(hsa_agent_t agent, uint32_t block, uint32_t event);

/** How many counters of a block can count at once, and how many instances of it the device has; 0
 * if it cannot be told. `block_name` as rtl_block_name has it. */
uint32_t rtl_aql_slots(hsa_agent_t agent, uint32_t block, uint32_t event);
uint32_t rtl_aql_instances(hsa_agent_t agent, const char *block_name);

/** Makes profiles of `count` counters, each with buffers of its own, in memory that the agent may
 * access. `events` must stay. NULL: the library refuses, or there is no memory. Slow. */
struct rtl_aql_block *rtl_aql_make(hsa_agent_t agent, const struct rtl_aql_event *events,
                                   uint32_t count, uint32_t profiles);

/** One of them. */
struct rtl_aql_profile *rtl_aql_profile(struct rtl_aql_block *block, uint32_t index);

/** Frees profiles; nothing of them may be in a queue any more. */
void rtl_aql_free(struct rtl_aql_block *block);

/** An AQL packet. */
struct rtl_aql_packet {
    _Alignas(64) unsigned char bytes[64];
};

/** Makes a packet that has a queue's kernels counted from then on: waves, where a start packet was
 * in another queue. Returns the memory that it needs (rtl_aql_free_enable); NULL: the library has
 * none. As rtl_aql_make. */
void *rtl_aql_enable(hsa_agent_t agent, struct rtl_aql_packet *packet);
void rtl_aql_free_enable(void *memory);

/** The packets of a profile: with the barrier bit, fences of the system's scope, and no signal.
 * `read` leaves the counters' values in the profile's memory; `stop` reads nothing. */
const struct rtl_aql_packet *rtl_aql_start(const struct rtl_aql_profile *profile);
const struct rtl_aql_packet *rtl_aql_read(const struct rtl_aql_profile *profile);
const struct rtl_aql_packet *rtl_aql_stop(const struct rtl_aql_profile *profile);

/** What the counters stood at when the last read was executed, each summed over the
 * instances of its block, in the order of rtl_aql_make's events. False if the library fails. One
 * thread at a time for a profile. */
bool rtl_aql_values(const struct rtl_aql_profile *profile, uint64_t *values);

/** A barrier-AND packet with the barrier bit: waits for everything before it in its queue and for
 * `dependency` (0: none) to reach 0, then completes `signal` (0: none). */
void rtl_aql_barrier(void *packet, uint64_t dependency, uint64_t signal);

/** Sets the completion signal of a packet. */
void rtl_aql_set_signal(void *packet, uint64_t signal);

/** Sets the barrier bit of a packet of any type. */
void rtl_aql_set_barrier(void *packet);

#endif
