/**
 * The ring in shared memory between a profiled process (many writers) and the collector (one
 * reader).
 *
 * A writer reserves slots by moving `head`, fills them, and commits with one release store. It
 * takes no lock and never waits: if the reader has not made room, the push fails and the caller
 * counts the loss. It makes no system call either, but in the ring's first lap if it has overtaken
 * whoever reserves memory for that ahead of need (rtl_ring_reserve_ahead).
 *
 * Where the file system has no more memory, the ring lives on what it has: the writer that comes to
 * its end goes on with the next lap, and says in `gap` where it left this one. Memory may come
 * later, in any lap; it is tried for now and then, not by writers. A writer that dies between
 * reservation and commit leaves a hole that the reader skips once the process is gone. What was
 * committed survives a kill -9 of the process.
 *
 * Kernels and copies are first written as a *draft*, which the reader of a living process does not
 * look at, then claimed, each by one of the threads that may be at it, then committed. So what is
 * claimed is in the ring already, and survives a kill too, whoever has claimed it: of a dead
 * process the reader takes drafts for what they are, records that may also be there another time.
 *
 * A session is a folder (mode 0700) that the collector makes, in /dev/shm where there is one; it
 * holds the file `session` and one `ring.PID.N` for each process image, N being the first number
 * that is free: an exec puts another image in the place of one, with a ring of its own (images.c).
 * PID is what the process takes for its pid, and processes of several pid namespaces may take the
 * same: they have different N, and the head of the ring tells whose it is (maker.h).
 * The number of an image whose ring was removed may come again; what tells the images of a process
 * apart is when they made their rings. The folder's path travels in RTL_SESSION. `session` has the
 * version of the wire, that of the program, and pid and start time of the process that made the
 * folder; the collector adds a line and holds locks on it (collect/stale_sessions.h). All of it is
 * opened as common/private.h says.
 */
#ifndef RTL_RING_H
#define RTL_RING_H

#include "ring/wire.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/** What somebody outside wants of a process (rtl ctl); the process takes it within some ms and sets
 * the word back. */
enum rtl_ring_request {
    RTL_RING_REQUEST_NONE = 0,
    RTL_RING_REQUEST_START = 1,
    RTL_RING_REQUEST_STOP = 2
};

enum rtl_ring_state {
    RTL_RING_OPEN = 1,
    RTL_RING_CLOSED = 2,
    RTL_RING_REPLACED =
        3, /**< the image that made it is gone: the next one of its process says so */
};

#define RTL_RING_MAGIC UINT64_C(0x31474e49524c5452) /* "RTLRING1" */

/** Head of the file; offsets are the same in every process. Fields without _Atomic are written
 * before the file gets its final name and never again. */
struct rtl_ring_header {
    uint64_t magic;
    uint32_t wire_version;
    uint32_t slots; /**< power of two */
    uint32_t pid;
    uint32_t ordinal;       /**< N of the file's name */
    uint64_t process_start; /**< start time of pid in clock ticks since boot (/proc/PID/stat, field
                               22) */
    char library_version[32];
    _Atomic uint32_t state;   /**< enum rtl_ring_state */
    _Atomic uint32_t queues;  /**< ledger rows in use */
    _Atomic uint64_t usable;  /**< slots of a lap, from its begin, whose memory is reserved */
    _Atomic uint32_t request; /**< enum rtl_ring_request, written from outside */
    _Atomic uint32_t stopped; /**< 1 while the process records nothing */
    uint64_t image;           /**< rtl_process_facts, of the image that made it */
    uint64_t made_ns;         /**< when it did so, CLOCK_BOOTTIME */
    _Atomic uint64_t gap;     /**< where writers last went on with the next lap, 0 if they never
                                 did so: memory ended there, and there was no more */
    _Atomic uint32_t exited;  /**< 1: the process is about to end by _exit, _Exit or quick_exit */
    uint32_t inner;           /**< rtl_process_id_own, of the process that made it */
    uint64_t space;
    uint32_t locked; /**< 1: the file has a lock as long as somebody has the maker's mapping
                        (maker.h) */
    _Alignas(RTL_FALSE_SHARING_BYTES) _Atomic uint64_t head; /**< next slot to reserve */
    _Alignas(RTL_FALSE_SHARING_BYTES) _Atomic uint64_t tail; /**< next slot to read */
    _Alignas(RTL_FALSE_SHARING_BYTES) struct rtl_wire_ledger ledger[RTL_LEDGER_ROWS];
    struct {
        _Alignas(RTL_FALSE_SHARING_BYTES) struct rtl_wire_kind account;
    } kinds[RTL_KINDS];
    struct {
        _Alignas(RTL_FALSE_SHARING_BYTES) struct rtl_wire_lane lane;
    } lanes[RTL_LANES];
};

/** Bytes of a ring's path, with the zero at its end. */
#define RTL_RING_PATH 512

/** A writer's or the reader's mapping of a ring. */
struct rtl_ring {
    struct rtl_ring_header *header;
    unsigned char *slots;
    uint64_t mask;
    size_t size;               /**< of the mapping, bytes */
    _Atomic uint64_t end;      /**< slots before it may be reserved, as far as the writers know */
    _Atomic uint64_t read_end; /**< likewise, were there memory for all: what must stay free is
                                  counted from here */
    _Atomic uint64_t retry_ns; /**< 0, or there was no more memory: the worker tries again then */
    uint64_t few;   /**< slots that records of which the program decides how many there are
                       leave free */
    bool in_memory; /**< the file is in memory (tmpfs) */
    char path[RTL_RING_PATH]; /**< of the writer's file */
};

/** A piece of a record: body or text. */
struct rtl_piece {
    const void *data;
    size_t size;
};

/** Makes a session folder and writes its path to `path`. 0, or -1 with errno set. */
int rtl_ring_dir_create(char *path, size_t path_size);

/** The same for rings of so many bytes, of which it makes one ready (files.h). A folder is chosen
 * where there is room for one: /dev/shm, TMPDIR (if it is an absolute path), /tmp. Nothing is left
 * in those that will not do; `why` (may be NULL) then says what is the matter with each, as a part
 * of a sentence, and errno is the first one's. */
int rtl_ring_dir_create_for(char *path, size_t path_size, size_t ring_bytes, char *why,
                            size_t why_size);

/** Bytes of a ring where nobody says how many. */
#define RTL_RING_BYTES ((size_t)16 << 20)

/** Tells whether the session at `path` was made by a collector of the same wire version. 1 yes, 0
 * another version (its number in *version), -1 with errno set if there is no session, or not one of
 * this user's alone (EPERM; common/private.h). */
int rtl_ring_dir_check(const char *path, uint32_t *version);

/** The same of the text of a file `session` (EINVAL: it is none). */
int rtl_ring_dir_read(const char *text, uint32_t *version);

/** Removes the session's files and its folder, if they are this user's. */
void rtl_ring_dir_remove(const char *path);

/** Leaves in the session's folder where its trace is, for rtl ctl: a link `trace`, which nobody
 * follows. Where it cannot be made nobody finds the trace by it. Keeps errno. */
void rtl_ring_dir_leave_trace(const char *session, const char *trace);

/** Makes the ring of this process in the session, with at least `bytes` of slots. 0, or -1 with
 * errno set. */
int rtl_ring_create(struct rtl_ring *ring, const char *session, size_t bytes);

/** Tells of the rings that earlier images of this process made in the session that they were
 * replaced: by an exec, this one took their place. Called when an image begins, and makes a few
 * system calls. What cannot be looked at stays as it is. Keeps errno. */
void rtl_ring_replace_former(const char *session);

/** True if this image has mapped a ring of its process in the session, as this copy of the library
 * or another does. Makes some system calls. Keeps errno. */
bool rtl_ring_is_here(const char *session);

/** Makes a ring that no other process can read, in memory of this one. 0, or -1 with errno set. */
int rtl_ring_create_private(struct rtl_ring *ring, size_t bytes);

/** Reserves memory for at most so many bytes more of the ring's slots, a multiple of a page, so
 * that a full /dev/shm shows here and not as a SIGBUS in the program, and maps it, so that writers
 * do not wait for that page by page (as rtl_prefault, pages.h). rtl_ring_create reserves a
 * small piece, and a writer that comes to the end of what is reserved reserves a small piece
 * itself. 1: more to do, 0: all reserved, -1: no memory now (the ring is short, and laps end where
 * it is). Any thread, several at once; errno says what failed. */
int rtl_ring_reserve_piece(struct rtl_ring *ring, size_t most);

/** Reserves a small piece where less than half a megabyte lies between what writers have reached
 * and what is reserved, for the worker: a program that writes little takes little, and has not to
 * wait while memory is zeroed that it never uses. If the ring is short it tries so some 20 times a
 * second. 1: there may be more to do, 0: enough is reserved, or all, or it is no time to try, -1:
 * no memory, as rtl_ring_reserve_piece. Any thread, several at once. */
int rtl_ring_reserve_ahead(struct rtl_ring *ring);

/** Reserves memory for the header, before it is written to. 0, or -1 with errno. */
int rtl_ring_reserve_header(struct rtl_ring *ring);

/** True while the ring has not all its memory because there was no more. Any thread. */
static inline bool rtl_ring_is_short(const struct rtl_ring *ring)
{
    return atomic_load_explicit(&ring->retry_ns, memory_order_relaxed) != 0;
}

/** Slots that the ring can hold: those that it has memory for if it is short, else all. */
uint64_t rtl_ring_capacity(const struct rtl_ring *ring);

/** A small piece. */
#define RTL_RING_SMALL_PIECE ((size_t)256 << 10)

/** Maps a ring file for reading, if it is this user's alone: who else could write to it could cut
 * it short under the mapping. Returns 0; -1 with errno set; -2 when the ring is of another wire
 * version (`*version` and `library_version`, 32 bytes, say which). */
int rtl_ring_open(struct rtl_ring *ring, const char *path, uint32_t *version,
                  char *library_version);

/** Copies the header of an open ring file, for who does not map it: the file may be anybody's. 0,
 * -1 with errno set, -2 when the ring is of another wire version. */
int rtl_ring_read_header(int file, struct rtl_ring_header *header);

/** Unmaps; the file stays. */
void rtl_ring_unmap(struct rtl_ring *ring);

/** Writes one record of `type` out of pieces. Any thread. False: no room (nothing was written), or
 * the record is larger than a quarter of the ring. */
bool rtl_ring_push(struct rtl_ring *ring, enum rtl_wire_type type, const struct rtl_piece *pieces,
                   unsigned count);

/** The same, but only while `spare` slots are free before it. */
bool rtl_ring_push_sparing(struct rtl_ring *ring, enum rtl_wire_type type,
                           const struct rtl_piece *pieces, unsigned count, uint64_t spare);

/** Where a record is that is being written in the ring itself. */
struct rtl_ring_place {
    uint64_t position;
    uint16_t slots;
};

/** Reserves room for a record of `size` bytes, as rtl_ring_push_sparing, for the caller to write
 * them, at once: the reader waits for rtl_ring_end. NULL (nothing was reserved): there is no room
 * as far as is known, or not in one piece; rtl_ring_push_sparing finds out. What it returns is
 * aligned to 8, and has what was there before. Any thread. */
void *rtl_ring_begin(struct rtl_ring *ring, size_t size, uint64_t spare,
                     struct rtl_ring_place *place);

/** The record is written. */
void rtl_ring_end(struct rtl_ring *ring, enum rtl_wire_type type,
                  const struct rtl_ring_place *place);

/** Records of one kind that are written and not committed: one of `slots` slots, or some of one
 * slot each. */
struct rtl_ring_draft {
    uint64_t position;
    uint16_t slots, records;
    uint16_t type; /**< enum rtl_wire_type */
};

/** Drafts kernels of one queue, one or more: as many of the first ones as go into one draft.
 * Returns how many, 0 if there is no room. Any thread. Until the draft is committed or given up,
 * the reader waits. */
unsigned rtl_ring_draft_kernels(struct rtl_ring *ring, const struct rtl_wire_kernel *kernels,
                                unsigned count, struct rtl_ring_draft *draft);

/** Drafts one record, as rtl_ring_push_sparing. */
bool rtl_ring_draft(struct rtl_ring *ring, enum rtl_wire_type type, const struct rtl_piece *pieces,
                    unsigned count, uint64_t spare, struct rtl_ring_draft *draft);

/** All that is in the draft is to be read. */
void rtl_ring_commit(struct rtl_ring *ring, const struct rtl_ring_draft *draft);

/** Nothing that is in the draft is to be read. */
void rtl_ring_give_up(struct rtl_ring *ring, const struct rtl_ring_draft *draft);

/** Writes up to `count` kernels, those of one queue that follow each other packed into common
 * records (rtl_wire_kernels). Any thread. Returns how many found room. */
unsigned rtl_ring_push_kernels(struct rtl_ring *ring, const struct rtl_wire_kernel *kernels,
                               unsigned count);

/** Says that no more records will come. */
void rtl_ring_close(struct rtl_ring *ring);

/** True once rtl_ring_close was called by the process. */
bool rtl_ring_closed(const struct rtl_ring *ring);

/** True once a later image of the process has told that it took the place of the one that made the
 * ring. */
bool rtl_ring_replaced(const struct rtl_ring *ring);

/** Slots written and not yet read, uncommitted ones included. */
uint64_t rtl_ring_pending(const struct rtl_ring *ring);

/** Takes a record; `body` is aligned to 8, valid during the call, `size` bytes long (padding up to
 * the slot included). Packed kernels are handed over one by one, as RTL_WIRE_KERNEL;
 * RTL_WIRE_KERNELS comes alone for a record of them that contradicts itself, behind those of its
 * kernels that could be told. Of a dead process come drafts too, as RTL_WIRE_DRAFT_KERNEL,
 * RTL_WIRE_DRAFT_COPY and RTL_WIRE_DRAFT_LAUNCH: another record of the ring may have the same
 * kernel, copy or launch. `body` NULL: memory was short for a record of that type, it is lost. */
typedef void (*rtl_ring_handler)(void *context, enum rtl_wire_type type, const void *body,
                                 size_t size);

/** Reads up to `most` slots' worth of committed records in ring order and hands each to `handler`.
 * One reader only. `dead`: the process is gone, so skip holes; skipped slots are added to *torn.
 * Returns the number of slots consumed. */
uint64_t rtl_ring_read(struct rtl_ring *ring, uint64_t most, bool dead, rtl_ring_handler handler,
                       void *context, uint64_t *torn);

#endif
