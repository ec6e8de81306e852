/**
 * The files in a session's folder: how rings are named, ring files that are ready before a process
 * needs one, and what a process leaves that could not have a ring.
 *
 * A process may not be able to make a file as large as a ring (RLIMIT_FSIZE), or find no memory for
 * the first of it: so the collector keeps some ready, `spare.N`, of which a process takes one
 * by giving it another name. The first of them has memory for the header and a small piece. A
 * process that gets no ring all the same leaves a link, `refused.PID.N`, whose target says why:
 * that takes no descriptor and, in memory, no space.
 */
#ifndef RTL_RING_FILES_H
#define RTL_RING_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** True for the name of a file that belongs into a session's folder. */
bool rtl_session_owns(const char *name);

/** Slots, a power of two, of the largest ring within `bytes`. */
uint32_t rtl_ring_slots(size_t bytes);

/** The same within a quarter of what the session's file system has left, too, and of no more than a
 * file may have (RLIMIT_FSIZE); at least the smallest there is. */
uint32_t rtl_ring_slots_that_fit(const char *session, size_t bytes);

/** Size of a ring's file. */
size_t rtl_ring_file_size(uint32_t slots);

/** Makes up to `most` of the spare rings of so many slots that are not there, the first of them
 * with memory. 0, or -1 with errno for the last that could not be made. The collector's. */
int rtl_spares_make(const char *session, uint32_t slots, unsigned most);

/** Spare rings of a size that there are at most. */
#define RTL_SPARES 8u

/** Takes a spare ring that has from `least` to `most` slots (powers of two), if there is one: its
 * path is `name` then. The descriptor, or -1 with errno. Any process and thread. */
int rtl_spare_take(const char *session, const char *name, uint32_t least, uint32_t most,
                   uint32_t *slots);

/** Makes the file `name` for a ring of so many slots. The descriptor, or -1 with errno: EFBIG where
 * RLIMIT_FSIZE does not allow it. No signal comes of it. */
int rtl_ring_file_make(const char *name, uint32_t slots);

/** What kept a process from having a ring. */
struct rtl_refusal {
    uint32_t pid;
    int error;       /**< errno */
    uint64_t needed; /**< bytes */
    uint64_t free;   /**< ENOSPC: bytes that the file system had left */
    uint64_t limit;  /**< EFBIG: RLIMIT_FSIZE, EMFILE: RLIMIT_NOFILE, ENOMEM: RLIMIT_AS;
                          UINT64_MAX: there was none */
};

/** Fills in what belongs to `error`, for this process and a ring of so many bytes. */
void rtl_refusal_fill(struct rtl_refusal *refusal, const char *session, int error,
                      size_t ring_bytes);

/** Leaves that in the session's folder. False if it could not be. Keeps errno. */
bool rtl_refusal_leave(const char *session, int error, size_t ring_bytes);

/** Reads what a process left under that name in the session's folder. False: the name is none such,
 * or it says nothing. */
bool rtl_refusal_read(const char *session, const char *name, struct rtl_refusal *refusal);

/** Says in a part of a sentence why the process has no ring: "/dev/shm/rtl.1 has no room …". */
void rtl_refusal_text(const struct rtl_refusal *refusal, const char *session, char *text,
                      size_t size);

#endif
