/**
 * The way out: from this process into its ring.
 *
 * Kernels and copies are pushed by whoever harvests them. While the ring is full the worker leaves
 * them pending (queue/round.c); who harvests all the same counts as lost what finds no room.
 * Definitions (process, agents, queues, symbols, clocks, notes) must not be lost: what finds no
 * room is kept and sent later by the worker. Readers resolve ids when they read, so a late
 * definition does no harm. Ranges that find no room are kept as well, but only so many. What waits,
 * and what is lost without an account of its own, is counted (account.h).
 */
#ifndef RTL_INTERCEPT_BASE_EMIT_H
#define RTL_INTERCEPT_BASE_EMIT_H

#include "ring/ring.h"

/** Sets the ring that everything goes to; NULL: everything is dropped. */
void rtl_emit_open(struct rtl_ring *ring);

/** Sets the tee: a ring that gets everything as well that the first one gets; NULL: there is none.
 * Before anything is sent. */
void rtl_emit_tee(struct rtl_ring *ring);

/** How many records have found no room in the tee, so far. Any thread. */
uint64_t rtl_emit_missed(void);

/** Sends a definition, or keeps it for later. Any thread but not a harvester: may take a lock and
 * allocate. */
void rtl_emit_definition(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count);

/** Sends one sentence for the reader of the trace; `queue` RTL_NONE: about the process. As
 * rtl_emit_definition. */
void rtl_emit_note(uint32_t queue, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Sends what was kept. Any thread but not a harvester. False if something is still waiting: what
 * waits when the process ends is lost. */
bool rtl_emit_flush(void);

/** Sends a record now or not at all. Any thread, lock-free. */
bool rtl_emit_try(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count);

/** Sends a record while one of RTL_SPARE_FEW eighths stays free, or keeps it for later. False: as
 * much is kept as may be, or memory is short; nothing is counted then. Any thread but not a
 * harvester: may take a lock for a moment, and allocate. Keeps errno. */
bool rtl_emit_or_keep(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count);

/** Of the ring, in eighths: what records other than kernels leave to these. Of a small ring, FEW is
 * up to a half (rtl_ring's `few`). */
#define RTL_SPARE_FEW  1u /* of which the program decides how many there are */
#define RTL_SPARE_MOST 4u /* that are of use only if there is plenty of room */

/** As rtl_emit_try, but so that so many eighths of the ring stay free. */
bool rtl_emit_try_spare(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count,
                        unsigned eighths);

/** A record that is being written in the ring itself. */
struct rtl_emit_place {
    struct rtl_ring *ring;
    struct rtl_ring_place at;
};

/** Room for a record of `size` bytes, for the caller to write at once, aligned to 8; so that so
 * many eighths of the ring stay free. NULL: not so easily; rtl_emit_try_spare finds out. Any
 * thread, lock-free. */
void *rtl_emit_begin(size_t size, unsigned eighths, struct rtl_emit_place *place);

/** The record is written. */
void rtl_emit_end(enum rtl_wire_type type, const struct rtl_emit_place *place);

/** Sends kernels now or not at all; returns how many went. A sixteenth of the ring stays free of
 * them, for definitions. Any thread, lock-free. */
unsigned rtl_emit_kernels(const struct rtl_wire_kernel *kernels, unsigned count);

/** A draft (ring.h) in the ring that everything goes to, and one in the tee: who reads there waits
 * as well for what has been claimed. */
struct rtl_emit_draft {
    struct rtl_ring *ring, *other; /**< `other`: the tee, or NULL */
    struct rtl_ring_draft draft, second;
    unsigned in_second; /**< records in the tee's draft; 0: there is none */
};

/** Drafts kernels, as many of the first ones as go into one draft; returns how many, 0: now there
 * is no room. A sixteenth of the ring stays free, as with rtl_emit_kernels. Any thread, lock-free.
 */
unsigned rtl_emit_draft_kernels(const struct rtl_wire_kernel *kernels, unsigned count,
                                struct rtl_emit_draft *draft);

/** Drafts one record, so that so many eighths of the ring stay free; false: there is no room. Any
 * thread, lock-free. */
bool rtl_emit_draft(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count,
                    unsigned eighths, struct rtl_emit_draft *draft);

/** Sends what was drafted: these kernels, or this record. */
void rtl_emit_commit_kernels(const struct rtl_emit_draft *draft,
                             const struct rtl_wire_kernel *kernels, unsigned count);
void rtl_emit_commit(const struct rtl_emit_draft *draft, enum rtl_wire_type type,
                     const struct rtl_piece *pieces, unsigned count);

/** Sends nothing of what was drafted. */
void rtl_emit_give_up(const struct rtl_emit_draft *draft);

/** True while so many eighths of the ring are free; a hint. */
bool rtl_emit_has_spare(unsigned eighths);

/** True while the ring, and the tee, has room for `slots` more with kernels; a hint. */
bool rtl_emit_room(uint64_t slots);

/** Why a record that was refused just now was: RTL_LOST_RING, or RTL_LOST_SPACE while the ring is
 * short of memory. Any thread, lock-free. */
enum rtl_lost rtl_emit_why(void);

/** In a forked child: the ring belongs to the parent; drop everything from now on.
 * Async-signal-safe. */
void rtl_emit_forked(void);

#endif
